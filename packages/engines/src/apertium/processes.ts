/**
 * A chain of processes, each stage's output the next one's input, spawned from here: a stage that dies shows at once
 * as its own `exit`. When this process dies, however it dies, the first stage reads the end of its input and the
 * chain ends by itself.
 */

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import type { Stage } from './chain.ts';

export interface Processes {
  readonly pids: readonly number[];
  readonly input: Writable;
  readonly output: Readable;
  /** Kills every stage at once (SIGKILL). Harmless when they are dead. */
  kill(): void;
  /** Resolves when every stage has ended. */
  readonly ended: Promise<void>;
}

export interface ProcessEvents {
  /**
   * A stage ended, or could not be started: `lt-proc ended by SIGSEGV`. Called for each; the stages behind the one
   * at fault end in good order (`clean`), and may be told of first.
   */
  onDeath(detail: string, clean: boolean): void;
  onOutput(chunk: Buffer): void;
  /** The last stage's output has ended: nothing more will come. */
  onEnd(): void;
}

/**
 * @param stages at least one
 * @param niceness how far other work of the machine goes before theirs, up to 19
 * @param env the whole environment of every stage; nothing is inherited, nor any file but stdin and stdout
 */
export function spawnChain(
  stages: readonly Stage[],
  env: Record<string, string>,
  events: ProcessEvents,
  niceness = 0,
): Processes {
  const children: ChildProcess[] = [];
  const endings: Promise<void>[] = [];
  for (const stage of stages) {
    const before = children.at(-1)?.stdout;
    let child: ChildProcess;
    try {
      child = spawn(stage.command, stage.args, {
        env,
        cwd: '/',
        stdio: [before ?? 'pipe', 'pipe', 'ignore'],
      });
    } catch (error) {
      for (const each of children) each.kill('SIGKILL');
      throw error;
    }
    // Our own copy of the pipe between two stages; while it is open, the end of one is not seen by the next.
    before?.destroy();
    children.push(child);
    if (niceness > 0 && child.pid !== undefined) lowerPriority(child.pid, niceness);
    endings.push(
      new Promise((resolve) => {
        child.once('exit', (code, signal) => {
          const how = signal === null ? `with status ${code}` : `by ${signal}`;
          events.onDeath(`${nameOf(stage)} ended ${how}`, code === 0);
          resolve();
        });
        child.once('error', (error: NodeJS.ErrnoException) => {
          events.onDeath(`${nameOf(stage)} could not be started (${error.code ?? error.message})`, false);
          if (child.pid === undefined) resolve();
        });
      }),
    );
  }
  const input = children[0]!.stdin!;
  const output = children.at(-1)!.stdout!;
  // A write to a stage that has just died fails with EPIPE; its exit event tells the story, so this is not news.
  input.on('error', () => {});
  output.on('error', () => {});
  output.on('data', events.onOutput);
  output.on('end', events.onEnd);
  return {
    pids: children.flatMap((child) => child.pid ?? []),
    input,
    output,
    kill: () => {
      input.destroy();
      for (const child of children) child.kill('SIGKILL');
      output.destroy();
    },
    ended: Promise.all(endings).then(() => {}),
  };
}

const nameOf = (stage: Stage): string => stage.command.slice(stage.command.lastIndexOf('/') + 1);

function lowerPriority(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // It has ended already, which its exit tells; or the machine does not let us: then it has its share like others.
  }
}
