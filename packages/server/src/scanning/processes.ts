/**
 * A few processes of our own that do tasks, each one at a time. Processes and not threads, since a thread that the
 * engine gives up on (its memory is full, or a fault in the engine's own bookkeeping of compiled code, which all
 * threads share) takes the whole program with it. They are given no secrets: their environment is empty.
 *
 * They are shared between accounts: queued tasks are taken round robin by account, and no account has all processes at
 * the same time. So one account's long tasks never keep another account waiting for them.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LIMIT_SIGNAL } from './limit.ts';
import type { Answer, Asked } from './run-tasks.ts';
import type { Tasks } from './tasks.ts';

export interface Processes {
  /**
   * Does the task when its turn comes. One whose process died is given to another once: the fault may be another's.
   * Task and answer are copied on their way.
   * @throws what the task throws; `TimeLimitExceeded`; an `Error` when its second process died as well, when they were
   *   closed, or when the caller's signal aborted before the turn came
   */
  run<Name extends keyof Tasks>(
    name: Name,
    task: Parameters<Tasks[Name]>[0],
    options: RunOptions,
  ): Promise<ReturnType<Tasks[Name]>>;
  /** Ends them at once; what is still to be done fails. */
  close(): Promise<void>;
}

export interface RunOptions {
  /** The id of the account that the task is for. */
  account: string;
  /** Processor time that the task may use, in milliseconds. */
  limitMilliseconds: number;
  /** Aborted when nobody wants the answer any more: the task is not begun then. One that has begun goes on. */
  signal?: AbortSignal | undefined;
}

/** The task used more processor time than its limit. Its process was ended; another try would end the same way. */
export class TimeLimitExceeded extends Error {
  override name = 'TimeLimitExceeded';
}

export interface ProcessesOptions {
  /** How many at once; one account has all but one of them. */
  most: number;
  /** After this time without a task one ends. */
  idleMilliseconds: number;
  /** What the heap of each may hold. */
  memoryMebibytes: number;
  /** The program that they run; tests have one with tasks that never end. */
  script?: URL | undefined;
}

const SCRIPT = new URL('./process.ts', import.meta.url);

/** Of a task: how many processes it may end. */
const MOST_DEATHS = 2;

interface Work {
  account: string;
  asked: Asked;
  signal: AbortSignal | undefined;
  deaths: number;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Where it was begun at all. */
function kill(child: ChildProcess) {
  if (child.pid !== undefined) child.kill('SIGKILL');
}

export function createProcesses(options: ProcessesOptions): Processes {
  const { most, idleMilliseconds, memoryMebibytes, script = SCRIPT } = options;
  const accountShare = Math.max(1, most - 1);
  /** Queued tasks by account. The accounts stand in the order of their turns. */
  const waiting = new Map<string, Work[]>();
  const inWork = new Map<ChildProcess, Work>();
  const idle = new Map<ChildProcess, NodeJS.Timeout>();
  const all = new Set<ChildProcess>();
  let closed = false;

  function begin(): ChildProcess {
    // Compiling is most of a start, so what the program keeps of it is theirs, too.
    const compiled = getCompileCacheDir(); // in the folder that was asked for, one of this version's
    const child = fork(fileURLToPath(script), [String(process.pid)], {
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
    const died = (how: string, overLimit = false) => {
      if (!all.delete(child)) return;
      clearTimeout(idle.get(child));
      idle.delete(child);
      const work = inWork.get(child);
      inWork.delete(child);
      if (work !== undefined) {
        work.deaths++;
        if (overLimit)
          work.reject(new TimeLimitExceeded('The task used more processor time than its limit.'));
        else if (closed || work.deaths >= MOST_DEATHS)
          work.reject(new Error(`The process that looked through a text ended: ${how}.`));
        else waiting.set(work.account, [work, ...(waiting.get(work.account) ?? [])]);
      }
      next();
    };
    child.on('exit', (status, signal) => died(signal ?? `status ${status}`, signal === LIMIT_SIGNAL));
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

  /** The next task of the first account that has not its share of processes. Then the account goes to the end. */
  function take(): Work | undefined {
    for (const [account, queue] of waiting) {
      const busy = [...inWork.values()].filter((one) => one.account === account).length;
      if (busy >= accountShare) continue;
      const work = queue.shift();
      waiting.delete(account);
      if (queue.length > 0) waiting.set(account, queue);
      return work;
    }
    return undefined;
  }

  function next() {
    while (!closed) {
      // One that died is known to have before it says so.
      const rested = [...idle.keys()].find((child) => child.connected && child.signalCode === null);
      if (rested === undefined && all.size >= most) return;
      const work = take();
      if (work === undefined) return;
      if (work.signal?.aborted) {
        work.reject(work.signal.reason);
        continue;
      }
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
    run(name, task, { account, limitMilliseconds, signal }) {
      return new Promise((resolve, reject) => {
        if (closed) throw new Error('Nothing is looked through any more: this was closed.');
        const queue = waiting.get(account) ?? [];
        const asked = { name, task, limitMilliseconds };
        queue.push({ account, asked, signal, deaths: 0, resolve: resolve as Work['resolve'], reject });
        waiting.set(account, queue);
        next();
      });
    },
    async close() {
      closed = true;
      for (const { reject } of [...waiting.values()].flat())
        reject(new Error('Closed before its turn came.'));
      waiting.clear();
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
