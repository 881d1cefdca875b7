/**
 * Turns at an engine, fair over accounts by characters (deficit round robin): an account with ten thousand jobs, or
 * one of ten megabytes, gets no more of a busy engine than one with a sentence. Within an account its requests take
 * turns. What one turn takes is a slice of a text, so a long text gives way after each.
 *
 *   waits     in the line of its request, in the ring of its account; somebody waits for what is urgent: that has a ring
 *             of its own, which goes first
 *   runs      while the weight and the number of those that run allow, and the rate
 */

export interface TurnsOptions {
  /** Weight (characters) that may run at a time; one heavier than that runs alone. */
  maxWeight: number;
  /** The same while more than one account asks: a newcomer waits for less, at some of the rate. By default no less. */
  sharedWeight?: number | undefined;
  /** How many may run at a time. */
  maxRunning: number;
  /** Starts a second; undefined: no limit. */
  perSecond?: number | undefined;
  now?: () => number;
}

export interface Turns {
  /** Runs `work` when its turn comes. Rejects with the reason of `signal` when that aborts before. */
  run<T>(turn: Turn, work: () => Promise<T>): Promise<T>;
  /** How many wait. */
  readonly waiting: number;
}

export interface Turn {
  account: string;
  /** The request that it belongs to. */
  request: object;
  weight: number;
  signal: AbortSignal;
  urgent?: boolean;
}

/** What an account may run in one visit of the round, in the unit of weight. */
const QUANTUM = 1024;
/** For so long after two accounts took turns in asking, a third or the second may come again any moment. */
const SHARED_MILLISECONDS = 5_000;

interface Waiting {
  weight: number;
  start(): void;
  gone: boolean;
}

interface Line {
  deficit: number;
  requests: Map<object, Waiting[]>;
}

/** By account. */
type Ring = Map<string, Line>;

interface Found {
  ring: Ring;
  account: string;
  line: Line;
  request: object;
  one: Waiting;
}

/** Of so many starts one is for what is not urgent, if such waits: where small work never ends, a document goes on. */
const COMMON_EVERY = 4;

export function createTurns(options: TurnsOptions): Turns {
  const now = options.now ?? (() => performance.now());
  const gap = options.perSecond === undefined ? 0 : 1000 / options.perSecond;
  /** In the order of the round; the first is the next one visited. */
  const urgentRing: Ring = new Map();
  const commonRing: Ring = new Map();
  let weight = 0;
  let running = 0;
  let waiting = 0;
  let nextStart = 0;
  let timer: NodeJS.Timeout | undefined;
  /** Of what is urgent, one after another. */
  let urgentStarts = 0;
  let lastAccount: string | undefined;
  let lastAsked = Number.NEGATIVE_INFINITY;
  let sharedUntil = Number.NEGATIVE_INFINITY;

  function hasRoom(next: number, { ring }: Found): boolean {
    const shared = ring.size > 1 || now() < sharedUntil;
    const most = shared ? (options.sharedWeight ?? options.maxWeight) : options.maxWeight;
    return running === 0 || (running < options.maxRunning && weight + next <= most);
  }

  /** The next one by turn, left where it is; undefined when nobody waits. */
  const next = (): Found | undefined =>
    urgentStarts < COMMON_EVERY - 1
      ? (nextIn(urgentRing) ?? nextIn(commonRing))
      : (nextIn(commonRing) ?? nextIn(urgentRing));

  function nextIn(ring: Ring): Found | undefined {
    for (;;) {
      const [first] = ring;
      if (first === undefined) return undefined;
      const [account, line] = first;
      const [head] = line.requests;
      if (head === undefined) {
        ring.delete(account);
        continue;
      }
      const [request, waits] = head;
      while (waits[0]?.gone) waits.shift();
      const one = waits[0];
      if (one === undefined) line.requests.delete(request);
      else if (line.deficit >= one.weight) return { ring, account, line, request, one };
      else {
        // Its turn is over: to the back, with what it may run the next time.
        line.deficit += QUANTUM;
        ring.delete(account);
        ring.set(account, line);
      }
    }
  }

  function pump(): void {
    for (let found = next(); found !== undefined; found = next()) {
      const { ring, line, request, one } = found;
      if (!hasRoom(one.weight, found)) return;
      if (gap > 0) {
        const wait = nextStart - now();
        if (wait > 0) {
          if (timer === undefined) {
            timer = setTimeout(() => {
              timer = undefined;
              pump();
            }, wait);
          }
          return;
        }
        nextStart = Math.max(now(), nextStart) + gap;
      }
      urgentStarts = ring === urgentRing ? urgentStarts + 1 : 0;
      line.deficit -= one.weight;
      const waits = line.requests.get(request)!;
      waits.shift();
      line.requests.delete(request);
      if (waits.length > 0) line.requests.set(request, waits);
      else if (line.requests.size === 0) {
        // It stays in the round until it is visited again: who comes back before that is no newcomer.
        ring.delete(found.account);
        ring.set(found.account, line);
      }
      one.start();
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
          one.gone = true;
          waiting--;
          reject(signal.reason);
        };
        const one: Waiting = {
          weight: own,
          gone: false,
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
                pump();
              });
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        waiting++;
        if (account !== lastAccount) {
          if (now() - lastAsked < SHARED_MILLISECONDS) sharedUntil = now() + SHARED_MILLISECONDS;
          lastAccount = account;
        }
        lastAsked = now();
        const ring = urgent === true ? urgentRing : commonRing;
        let line = ring.get(account);
        if (line === undefined) {
          line = { deficit: QUANTUM, requests: new Map() };
          // A newcomer is first: a sentence now and then waits for what runs, not for a round of the others.
          const others = [...ring];
          ring.clear();
          ring.set(account, line);
          for (const [name, other] of others) ring.set(name, other);
        }
        const waits = line.requests.get(request);
        if (waits === undefined) line.requests.set(request, [one]);
        else waits.push(one);
        pump();
      }),
  };
}
