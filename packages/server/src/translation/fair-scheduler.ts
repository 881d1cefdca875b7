/**
 * A fair scheduler for one engine: accounts take turns by characters (deficit round robin). An account with ten thousand
 * jobs, or with one job of ten megabytes, gets no more of a busy engine than an account with one sentence. The requests of
 * an account take turns too. A turn is one slice of a text, so a long text yields after each slice.
 *
 * Urgent tasks have their own queues and go first. A task runs as soon as the limits of weight, number and rate allow.
 */

export interface FairSchedulerOptions {
  /** Maximum total weight (characters) of running tasks. A heavier task runs alone. */
  maxWeight: number;
  /** Maximum number of running tasks. */
  maxRunning: number;
  /** Maximum number of task starts per second; undefined means no limit. */
  perSecond?: number | undefined;
  now?: () => number;
}

export interface FairScheduler {
  /**
   * Runs `work` when the scheduler reaches the task.
   * @throws the abort reason of `signal` when it is aborted before the task starts
   */
  run<T>(task: ScheduledTask, work: () => Promise<T>): Promise<T>;
  /** Number of queued tasks. */
  readonly waiting: number;
}

export interface ScheduledTask {
  account: string;
  /** The request that the task belongs to. */
  request: object;
  weight: number;
  signal: AbortSignal;
  urgent?: boolean;
}

/** The weight of tasks that each account may start in one round of the scheduler. */
const QUANTUM = 1024;

interface QueuedTask {
  weight: number;
  start(): void;
  aborted: boolean;
}

interface AccountQueue {
  deficit: number;
  requests: Map<object, QueuedTask[]>;
}

/** The queues of all accounts in the order of the round. The first queue is visited next. */
type Round = Map<string, AccountQueue>;

interface NextTask {
  round: Round;
  account: string;
  queue: AccountQueue;
  request: object;
  task: QueuedTask;
}

/**
 * If normal tasks are queued, every fourth task to start is a normal one. So a large document progresses while small
 * jobs arrive.
 */
const NORMAL_EVERY = 4;

export function createFairScheduler(options: FairSchedulerOptions): FairScheduler {
  const rounds = { urgent: new Map() as Round, normal: new Map() as Round };
  const allowStart = createStartRate(options);
  let weight = 0;
  let running = 0;
  let waiting = 0;
  /** Number of starts of urgent tasks since the last start of a normal task. */
  let urgentStarts = 0;

  const fits = (next: number) =>
    running === 0 || (running < options.maxRunning && weight + next <= options.maxWeight);

  const findNext = (): NextTask | undefined =>
    urgentStarts < NORMAL_EVERY - 1
      ? (findNextIn(rounds.urgent) ?? findNextIn(rounds.normal))
      : (findNextIn(rounds.normal) ?? findNextIn(rounds.urgent));

  function startTasks(): void {
    for (let next = findNext(); next !== undefined; next = findNext()) {
      if (!fits(next.task.weight) || !allowStart(startTasks)) return;
      urgentStarts = next.round === rounds.urgent ? urgentStarts + 1 : 0;
      removeTask(next);
      next.task.start();
    }
  }

  return {
    get waiting() {
      return waiting;
    },
    run: ({ account, request, weight: own, signal, urgent }, work) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const onAbort = () => {
          task.aborted = true;
          waiting--;
          reject(signal.reason);
        };
        const task: QueuedTask = {
          weight: own,
          aborted: false,
          start() {
            signal.removeEventListener('abort', onAbort);
            waiting--;
            running++;
            weight += own;
            work()
              .then(resolve, reject)
              .finally(() => {
                running--;
                weight -= own;
                startTasks();
              });
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        waiting++;
        addTask(urgent === true ? rounds.urgent : rounds.normal, account, request, task);
        startTasks();
      }),
  };
}

/**
 * Limits how many tasks start per second.
 * @returns a function that reports whether a task may start now. If not, `retry` is called as soon as a task
 * may start.
 */
function createStartRate({ perSecond, now = () => performance.now() }: FairSchedulerOptions) {
  const gap = perSecond === undefined ? 0 : 1000 / perSecond;
  let nextStart = 0;
  let timer: NodeJS.Timeout | undefined;
  return (retry: () => void): boolean => {
    if (gap === 0) return true;
    const wait = nextStart - now();
    if (wait > 0) {
      if (timer === undefined) {
        timer = setTimeout(() => {
          timer = undefined;
          retry();
        }, wait);
      }
      return false;
    }
    nextStart = Math.max(now(), nextStart) + gap;
    return true;
  };
}

function addTask(round: Round, account: string, request: object, task: QueuedTask): void {
  let queue = round.get(account);
  if (queue === undefined) {
    queue = { deficit: QUANTUM, requests: new Map() };
    // A new account is visited first, so that its first task waits only for the running tasks and not for a whole
    // round.
    const others = [...round];
    round.clear();
    round.set(account, queue);
    for (const [name, other] of others) round.set(name, other);
  }
  const tasks = queue.requests.get(request);
  if (tasks === undefined) queue.requests.set(request, [task]);
  else tasks.push(task);
}

/**
 * Returns the next task of a round without removing it. Moves accounts whose turn is over to the end of the
 * round.
 */
function findNextIn(round: Round): NextTask | undefined {
  for (;;) {
    const [first] = round;
    if (first === undefined) return undefined;
    const [account, queue] = first;
    const [head] = queue.requests;
    if (head === undefined) {
      round.delete(account);
      continue;
    }
    const [request, tasks] = head;
    while (tasks[0]?.aborted) tasks.shift();
    const task = tasks[0];
    if (task === undefined) queue.requests.delete(request);
    else if (queue.deficit >= task.weight) return { round, account, queue, request, task };
    else {
      queue.deficit += QUANTUM;
      round.delete(account);
      round.set(account, queue);
    }
  }
}

function removeTask({ round, account, queue, request, task }: NextTask): void {
  queue.deficit -= task.weight;
  const tasks = queue.requests.get(request)!;
  tasks.shift();
  queue.requests.delete(request);
  if (tasks.length > 0) queue.requests.set(request, tasks);
  else if (queue.requests.size === 0) {
    // The account stays in the round until its next visit. Otherwise it would return as a new account and be
    // visited first.
    round.delete(account);
    round.set(account, queue);
  }
}
