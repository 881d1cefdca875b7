/**
 * A chain of processes in which each stage's output is the next stage's input. Each stage is a child of this
 * process, so that its death causes an `exit` event. If this process dies, the first stage reads the end of
 * its input, and the chain ends.
 */

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Stage } from './chain.ts';

export interface Processes {
  readonly pids: readonly number[];
  readonly input: Writable;
  readonly output: Readable;
  /** Kills every stage with SIGKILL. Dead stages are ignored. */
  kill(): void;
  /** Resolves when every stage has ended. */
  readonly ended: Promise<void>;
}

export interface ProcessEvents {
  /**
   * Called once per stage, when the stage has ended or could not start, for example with `lt-proc ended by SIGSEGV`.
   * `clean` means exit status 0. When a stage dies, the stages after it exit with status 0, perhaps even before its
   * own exit is reported.
   */
  onDeath(detail: string, clean: boolean): void;
  onOutput(chunk: Buffer): void;
  /** Called when the output of the last stage has ended. */
  onEnd(): void;
}

/**
 * Starts the chain.
 * @param stages at least one stage
 * @param env the whole environment of every stage; stages inherit no variables, and no files except stdin, stdout
 * and their data
 * @param niceness nice value of the stages, 0 to 19
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
    let data: number | undefined;
    try {
      data = stage.data && openTemporary(stage.data);
      child = spawn(stage.command, stage.args, {
        env,
        cwd: '/',
        // The fourth entry is file descriptor 3, which the stage opens as its data file.
        stdio: [before ?? 'pipe', 'pipe', 'ignore', data],
      });
    } catch (error) {
      for (const each of children) each.kill('SIGKILL');
      throw error;
    } finally {
      if (data !== undefined) closeSync(data);
    }
    // This process closes its copy of the pipe. Otherwise the next stage would never see the end of its input.
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
  // A write to a stage that has just died fails with EPIPE. The stage's exit event reports the death.
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

/**
 * Returns a read-only file descriptor of a temporary file with this content. The file has already been deleted, so that
 * it disappears with the last process that uses it.
 */
function openTemporary(content: Buffer): number {
  const path = join(tmpdir(), `dragoman-${randomUUID()}`);
  try {
    writeFileSync(path, content, { flag: 'wx', mode: 0o600 });
    return openSync(path, 'r');
  } finally {
    rmSync(path, { force: true });
  }
}

const nameOf = (stage: Stage): string => stage.command.slice(stage.command.lastIndexOf('/') + 1);

function lowerPriority(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // The stage has already ended, or the system does not allow the change. Then the stage keeps its normal priority.
  }
}
