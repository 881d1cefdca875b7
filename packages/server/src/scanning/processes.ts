/**
 * A few processes of our own that do tasks, each one at a time. Processes and not threads, since a thread that the
 * engine gives up on (its memory is full, or a fault in the engine's own bookkeeping of compiled code, which all
 * threads share) takes the whole program with it. They are given no secrets: their environment is empty.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Answer, Asked, Tasks } from './process.ts';

export interface Processes {
  /**
   * Does the task when its turn comes. One whose process died is given to another once: the fault may be another's.
   * Task and answer are copied on their way.
   * @throws what the task throws; an `Error` when its second process died as well, or when they were closed
   */
  run<Name extends keyof Tasks>(
    name: Name,
    task: Parameters<Tasks[Name]>[0],
  ): Promise<ReturnType<Tasks[Name]>>;
  /** Ends them at once; what is still to be done fails. */
  close(): Promise<void>;
}

export interface ProcessesOptions {
  /** How many at once. */
  most: number;
  /** After this time without a task one ends. */
  idleMilliseconds: number;
  /** What the heap of each may hold. */
  memoryMebibytes: number;
}

/** Of a task: how many processes it may end. */
const MOST_DEATHS = 2;

interface Work {
  asked: Asked;
  deaths: number;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Where it was begun at all. */
function kill(child: ChildProcess) {
  if (child.pid !== undefined) child.kill('SIGKILL');
}

export function createProcesses({ most, idleMilliseconds, memoryMebibytes }: ProcessesOptions): Processes {
  const waiting: Work[] = [];
  const inWork = new Map<ChildProcess, Work>();
  const idle = new Map<ChildProcess, NodeJS.Timeout>();
  const all = new Set<ChildProcess>();
  let closed = false;

  function begin(): ChildProcess {
    // Compiling is most of a start, so what the program keeps of it is theirs, too.
    const compiled = getCompileCacheDir(); // in the folder that was asked for, one of this version's
    const child = fork(fileURLToPath(new URL('./process.ts', import.meta.url)), {
      env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) },
      execArgv: [`--max-old-space-size=${memoryMebibytes}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    all.add(child);
    child.on('message', (answer: Answer) => {
      const work = inWork.get(child);
      if (work === undefined) return; // it was given up already
      inWork.delete(child);
      rest(child);
      if ('error' in answer) work.reject(answer.error);
      else work.resolve(answer.result);
      next();
    });
    const died = (how: string) => {
      if (!all.delete(child)) return;
      clearTimeout(idle.get(child));
      idle.delete(child);
      const work = inWork.get(child);
      inWork.delete(child);
      if (work !== undefined) {
        work.deaths++;
        if (closed || work.deaths >= MOST_DEATHS)
          work.reject(new Error(`The process that looked through a text ended: ${how}.`));
        else waiting.unshift(work);
      }
      next();
    };
    child.on('exit', (status, signal) => died(signal ?? `status ${status}`));
    child.on('error', (error) => {
      kill(child);
      died(error.message);
    });
    return child;
  }

  /** Nothing to do: it keeps nobody from ending, and ends in a while. */
  function rest(child: ChildProcess) {
    child.unref();
    child.channel?.unref();
    idle.set(child, setTimeout(() => end(child), idleMilliseconds).unref());
  }

  function end(child: ChildProcess) {
    all.delete(child);
    idle.delete(child);
    child.disconnect();
  }

  function next() {
    while (waiting.length > 0 && !closed) {
      // One that died is known to have before it says so.
      const rested = [...idle.keys()].find((child) => child.connected && child.signalCode === null);
      if (rested === undefined && all.size >= most) return;
      const work = waiting.shift()!;
      let child = rested;
      try {
        child ??= begin();
        clearTimeout(idle.get(child));
        idle.delete(child);
        inWork.set(child, work);
        child.ref();
        child.channel?.ref();
        // What becomes of it is heard from the process itself; one that could not be begun says so as well.
        if (child.pid !== undefined) child.send(work.asked, () => {});
      } catch (error) {
        // Nothing can be begun at all.
        if (child !== undefined) {
          all.delete(child);
          inWork.delete(child);
          kill(child);
        }
        work.reject(error);
      }
    }
  }

  return {
    run(name, task) {
      return new Promise((resolve, reject) => {
        if (closed) throw new Error('Nothing is looked through any more: this was closed.');
        waiting.push({ asked: { name, task }, deaths: 0, resolve: resolve as Work['resolve'], reject });
        next();
      });
    },
    async close() {
      closed = true;
      for (const { reject } of waiting.splice(0)) reject(new Error('Closed before its turn came.'));
      for (const timer of idle.values()) clearTimeout(timer);
      await Promise.all(
        [...all].map((child) => {
          const ended = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
          child.ref();
          kill(child);
          return ended;
        }),
      );
    },
  };
}
