/** The parent's side of the lanes: starts them, gives them work, ends one that hangs and starts another. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { LaneAnswer, LaneRequest } from './lane.ts';

const LANE = new URL('lane.ts', import.meta.url).pathname;
const START_MILLISECONDS = 120_000;
const END_MILLISECONDS = 20_000;

export interface Lane {
  /** @returns undefined where it took too long, or the process died of it */
  ask(request: LaneRequest, patienceMilliseconds: number): Promise<LaneAnswer | undefined>;
  stop(): Promise<void>;
}

export function createLane(directory: string): Lane {
  let child: ChildProcess | undefined;

  async function start(): Promise<ChildProcess> {
    // A group of its own, so that its test processes end with it.
    const started = spawn(process.execPath, [LANE, directory], {
      ...{ stdio: ['ignore', 'ignore', 'inherit', 'ipc'], detached: true },
    });
    if ((await answerOf(started, START_MILLISECONDS)) !== 'ready') {
      kill(started);
      throw new Error('a lane did not start');
    }
    return started;
  }

  /** PostgreSQL is in no group of ours: it ends where the lane is asked to end. */
  async function stop(): Promise<void> {
    if (child === undefined) return;
    const ended = child;
    child = undefined;
    if (ended.exitCode !== null || ended.signalCode !== null) return;
    const gone = once(ended, 'exit');
    ended.kill('SIGTERM');
    const late = setTimeout(() => kill(ended), END_MILLISECONDS);
    await gone;
    clearTimeout(late);
  }

  return {
    stop,
    async ask(request, patience) {
      child ??= await start();
      child.send(request);
      const answer = (await answerOf(child, patience)) as LaneAnswer | undefined;
      if (answer === undefined) await stop();
      return answer;
    },
  };
}

function answerOf(child: ChildProcess, milliseconds: number): Promise<unknown> {
  return new Promise((resolve) => {
    const end = (answer: unknown) => {
      clearTimeout(late);
      child.off('message', end);
      child.off('exit', died);
      resolve(answer);
    };
    const died = () => end(undefined);
    const late = setTimeout(died, milliseconds);
    child.on('message', end);
    child.on('exit', died);
  });
}

function kill(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
