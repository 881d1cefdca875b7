/**
 * A pool of child processes that run tasks, one at a time each. They are processes rather than threads, because a crash of
 * the JavaScript engine (out of memory, or a fault in the compiled code that all threads share) ends the whole process.
 * They have no secrets: their environment is empty.
 *
 * Accounts share the pool. Queued tasks are taken round robin by account, and no account uses all processes at once, so
 * that one account's long tasks do not make another account wait.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LIMIT_SIGNAL } from './limit.ts';
import type { TaskAnswer, TaskRequest } from './run-tasks.ts';
import type { Tasks } from './tasks.ts';

export interface ProcessPool {
  /**
   * Runs a task when its turn comes. If its process dies, another process runs it once more, because an earlier task may
   * have caused the crash. Task and result are copied between the processes.
   * @throws the error of the task; `TimeLimitExceeded`; an `Error` when its second process died too, when the pool was
   *   closed, or when the signal was aborted before the turn came
   */
  run<Name extends keyof Tasks>(
    name: Name,
    task: Parameters<Tasks[Name]>[0],
    options: RunOptions,
  ): Promise<ReturnType<Tasks[Name]>>;
  /** Kills all processes; unfinished tasks fail. */
  close(): Promise<void>;
}

export interface RunOptions {
  account: string;
  /** The maximum processor time of the task, in milliseconds. */
  limitMilliseconds: number;
  /**
   * Aborted when nobody needs the result any more. The task then does not begin; a running task continues.
   */
  signal?: AbortSignal | undefined;
}

/**
 * The task used more processor time than its limit, so its process was killed. A retry would end in the same
 * way.
 */
export class TimeLimitExceeded extends Error {
  override name = 'TimeLimitExceeded';
}

export interface ProcessPoolOptions {
  /** Maximum number of processes. One account uses at most this number minus one. */
  most: number;
  /** How long a process may be idle before it is ended. */
  idleMilliseconds: number;
  memoryMebibytes: number;
  /** The program of the processes; tests use one with tasks that never end. */
  script?: URL | undefined;
}

const SCRIPT = new URL('./process.ts', import.meta.url);

/** Number of process deaths after which a task fails. */
const MAX_DEATHS = 2;

interface QueuedTask {
  account: string;
  request: TaskRequest;
  signal: AbortSignal | undefined;
  deaths: number;
  /** The parts of a list that have arrived. */
  parts: (readonly unknown[])[];
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

export function createProcessPool(options: ProcessPoolOptions): ProcessPool {
  const queues = createAccountQueues(Math.max(1, options.most - 1));
  const running = new Map<ChildProcess, QueuedTask>();
  const processes = createProcesses(options, { answered, died });
  let closed = false;

  function answered(child: ChildProcess, answer: TaskAnswer): void {
    const task = running.get(child);
    if (task === undefined) return; // The task was already rejected, so nobody needs this answer.
    if ('part' in answer) {
      task.parts.push(answer.part);
      return;
    }
    running.delete(child);
    processes.rest(child);
    if ('error' in answer) task.reject(answer.error);
    else task.resolve('ended' in answer ? task.parts.flat() : answer.result);
    runNext();
  }

  /** Rejects the task of a dead process, or queues the task again. */
  function died(child: ChildProcess, how: string, overLimit: boolean): void {
    const task = running.get(child);
    running.delete(child);
    if (task !== undefined) {
      task.deaths++;
      task.parts = [];
      if (overLimit) {
        task.reject(new TimeLimitExceeded('The task used more processor time than its limit.'));
      } else if (closed || task.deaths >= MAX_DEATHS) {
        task.reject(new Error(`The process that read a text ended: ${how}.`));
      } else queues.addFirst(task);
    }
    runNext();
  }

  function runNext(): void {
    while (!closed && processes.available()) {
      const task = queues.take([...running.values()]);
      if (task === undefined) return;
      if (task.signal?.aborted) task.reject(task.signal.reason);
      else send(task);
    }
  }

  function send(task: QueuedTask): void {
    let child: ChildProcess | undefined;
    try {
      child = processes.acquire();
      running.set(child, task);
      // A process that cannot start has no id, and its later `error` event fails the task.
      if (child.pid !== undefined) child.send(task.request, () => {});
    } catch (error) {
      // No process can be started, for example for lack of memory.
      if (child !== undefined) {
        running.delete(child);
        processes.discard(child);
      }
      task.reject(error);
    }
  }

  return {
    run(name, task, { account, limitMilliseconds, signal }) {
      return new Promise((resolve, reject) => {
        if (closed) throw new Error('The process pool is closed.');
        const request = { name, task, limitMilliseconds };
        queues.add({
          account,
          request,
          signal,
          deaths: 0,
          parts: [],
          resolve: resolve as QueuedTask['resolve'],
          reject,
        });
        runNext();
      });
    },
    async close() {
      closed = true;
      for (const { reject } of queues.clear()) reject(new Error('The process pool was closed.'));
      await processes.close();
    },
  };
}

interface ProcessEvents {
  answered(child: ChildProcess, answer: TaskAnswer): void;
  died(child: ChildProcess, how: string, overLimit: boolean): void;
}

/**
 * Starts processes on demand, up to `most` at a time, and ends each one after it has been idle for a while.
 */
function createProcesses(options: ProcessPoolOptions, events: ProcessEvents) {
  const idle = new Map<ChildProcess, NodeJS.Timeout>();
  const all = new Set<ChildProcess>();

  function start(): ChildProcess {
    const child = forkScanner(options);
    all.add(child);
    child.on('message', (answer: TaskAnswer) => events.answered(child, answer));
    child.on('exit', (status, signal) =>
      remove(child, signal ?? `status ${status}`, signal === LIMIT_SIGNAL),
    );
    child.on('error', (error) => {
      kill(child);
      remove(child, error.message, false);
    });
    return child;
  }

  function remove(child: ChildProcess, how: string, overLimit: boolean): void {
    if (!all.delete(child)) return;
    stopIdling(child);
    events.died(child, how, overLimit);
  }

  function stopIdling(child: ChildProcess): void {
    clearTimeout(idle.get(child));
    idle.delete(child);
  }

  /** A process may already be dead before its exit event arrives. */
  const findIdle = () => [...idle.keys()].find((child) => child.connected && child.signalCode === null);

  return {
    available: (): boolean => findIdle() !== undefined || all.size < options.most,
    /**
     * Returns an idle process, or starts a process.
     * @throws the error of the operating system when no process can be started
     */
    acquire(): ChildProcess {
      const child = findIdle() ?? start();
      stopIdling(child);
      child.ref();
      child.channel?.ref();
      return child;
    },
    /** Keeps a process for the next task. While idle, it does not keep the program alive. */
    rest(child: ChildProcess): void {
      child.unref();
      child.channel?.unref();
      const end = () => {
        all.delete(child);
        idle.delete(child);
        child.disconnect();
      };
      idle.set(child, setTimeout(end, options.idleMilliseconds).unref());
    },
    /** Kills a process that has no task. */
    discard(child: ChildProcess): void {
      all.delete(child);
      kill(child);
    },
    async close(): Promise<void> {
      for (const timer of idle.values()) clearTimeout(timer);
      await Promise.all([...all].map(killAndWait));
    },
  };
}

/** Queued tasks by account. The accounts are in the order in which they have their turns. */
function createAccountQueues(accountShare: number) {
  const queues = new Map<string, QueuedTask[]>();
  return {
    add(task: QueuedTask): void {
      const queue = queues.get(task.account);
      if (queue === undefined) queues.set(task.account, [task]);
      else queue.push(task);
    },
    addFirst(task: QueuedTask): void {
      queues.set(task.account, [task, ...(queues.get(task.account) ?? [])]);
    },
    /**
     * Removes and returns a task of the first account that uses less than its share. The account's next turn comes
     * after those of all others.
     */
    take(running: readonly QueuedTask[]): QueuedTask | undefined {
      for (const [account, queue] of queues) {
        if (running.filter((task) => task.account === account).length >= accountShare) continue;
        const task = queue.shift();
        queues.delete(account);
        if (queue.length > 0) queues.set(account, queue);
        return task;
      }
      return undefined;
    },
    clear(): QueuedTask[] {
      const tasks = [...queues.values()].flat();
      queues.clear();
      return tasks;
    },
  };
}

function forkScanner({ memoryMebibytes, script = SCRIPT }: ProcessPoolOptions): ChildProcess {
  // Compiling takes most of the start time of a process, so the processes use the program's compile cache.
  // `getCompileCacheDir` returns the subfolder for this version of Node; `NODE_COMPILE_CACHE` needs its parent
  // folder.
  const compiled = getCompileCacheDir();
  return fork(fileURLToPath(script), [String(process.pid)], {
    env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) },
    execArgv: [`--max-old-space-size=${memoryMebibytes}`],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/** Kills a process, if it was started at all. */
function kill(child: ChildProcess): void {
  if (child.pid !== undefined) child.kill('SIGKILL');
}

function killAndWait(child: ChildProcess): Promise<unknown> {
  const ended = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  child.ref();
  kill(child);
  return ended;
}
