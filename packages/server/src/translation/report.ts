/**
 * Reports a worker's engines to the console: requests per minute, states and latest failures. Workers write
 * reports to the database every five seconds, because the process that serves the console may have no engine.
 * In the other direction, an operator's self-test is stored in the database, and a worker that has the engine
 * claims and answers it.
 */

import { uuidv7 } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Database, Queryable } from '../database/database.ts';
import type { EngineObserver, EngineRunner } from './engine-runner.ts';
import * as store from './report-store.ts';

/** Notification channel for new self-tests. Workers also poll for them every few seconds. */
export const TESTS_CHANNEL = 'dragoman_engine_tests';

const REPORT_MILLISECONDS = 5_000;
/** If a worker has sent no report for this time (six reports are due), it counts as gone. */
export const HEARD_SECONDS = 30;
const FORGET_MILLISECONDS = 600_000;
const TEST_MILLISECONDS = 20_000;
const MINUTE_MILLISECONDS = 60_000;
const KEPT_ERRORS = 20;

type Counts = Omit<store.EngineMinute, 'engine' | 'minute'>;

export interface EngineStatistics {
  observer: Pick<EngineObserver, 'asked' | 'translated' | 'failed'>;
  /** Returns the counts of the current and the previous minute. Older counts have already been written. */
  minutes(): store.EngineMinute[];
  errors(engine: string): readonly store.EngineError[];
}

/** Creates the counts of this worker's engines, by minute. @param now returns milliseconds since 1970 */
export function createEngineStatistics(now: () => number = Date.now): EngineStatistics {
  const minutes = new Map<string, Map<number, Counts>>();
  const errors = new Map<string, store.EngineError[]>();
  const minuteNow = () => Math.floor(now() / MINUTE_MILLISECONDS);
  function countsOf(engine: string): Counts {
    const minute = minuteNow();
    let ofEngine = minutes.get(engine);
    if (ofEngine === undefined) {
      ofEngine = new Map();
      minutes.set(engine, ofEngine);
    }
    let counts = ofEngine.get(minute);
    if (counts === undefined) {
      counts = { answered: 0, failed: 0, milliseconds: 0, slowest: 0, segments: 0, failedSegments: 0 };
      ofEngine.set(minute, counts);
      for (const old of ofEngine.keys()) if (old < minute - 1) ofEngine.delete(old);
    }
    return counts;
  }
  return {
    observer: {
      asked(engine, _, seconds, outcome) {
        const counts = countsOf(engine);
        counts[outcome]++;
        counts.milliseconds += seconds * 1000;
        counts.slowest = Math.max(counts.slowest, seconds * 1000);
      },
      translated(engine, _words, _characters, _cents, segments) {
        countsOf(engine).segments += segments;
      },
      failed(engine, reason) {
        const counts = countsOf(engine);
        counts.segments += 1;
        counts.failedSegments += 1;
        const list = errors.get(engine) ?? [];
        const last = list.at(-1);
        const at = new Date(minuteNow() * MINUTE_MILLISECONDS).toISOString();
        if (last?.reason === reason && last.at === at) last.count++;
        else list.push({ at, reason, count: 1 });
        errors.set(engine, list.slice(-KEPT_ERRORS));
      },
    },
    minutes: () =>
      [...minutes].flatMap(([engine, ofEngine]) =>
        [...ofEngine].map(([minute, counts]) => ({
          engine,
          minute: new Date(minute * MINUTE_MILLISECONDS),
          ...counts,
        })),
      ),
    errors: (engine) => errors.get(engine) ?? [],
  };
}

/** Returns the number of workers that report now, and the time of the last report. */
export function countReportingWorkers(on: Queryable): Promise<store.WorkerCount> {
  return store.countWorkers(on, HEARD_SECONDS);
}

/** Returns the names of the engines that at least one worker reports now. */
export async function listReportedEngines(on: Queryable): Promise<string[]> {
  const states = await store.listEngineStates(on, { seconds: HEARD_SECONDS });
  return [...new Set(states.map(({ engine }) => engine))];
}

export interface EngineReporting {
  /** Stops reporting and deletes the worker's reported states. */
  stop(): Promise<void>;
}

/** Writes the states of the worker's engines and their counts to the database, until it is stopped. */
export function startEngineReporting(options: {
  database: Database;
  runners: readonly EngineRunner[];
  statistics: EngineStatistics;
  log: Log;
}): EngineReporting {
  const { database, runners, statistics, log } = options;
  const workerId = uuidv7();
  const names = runners.map(({ name }) => name);
  const ended = new AbortController();
  let under: Promise<void> = Promise.resolve();

  /**
   * Runs `work` when all earlier work has ended. If a report fails, the failure is logged, and the next report contains
   * its figures.
   */
  function then(work: () => Promise<void>): void {
    under = under.then(work).catch((error: unknown) => {
      if (!ended.signal.aborted) log.warn({ error }, 'could not report on the engines');
    });
  }

  async function report(): Promise<void> {
    if (ended.signal.aborted) return;
    const versions = await Promise.all(runners.map((runner) => runner.version()));
    await store.writeEngineStates(
      database,
      workerId,
      runners.map((runner, index) => ({
        engine: runner.name,
        state: runner.state,
        waiting: runner.waiting,
        version: versions[index],
        errors: statistics.errors(runner.name),
      })),
    );
    const minutes = statistics.minutes();
    if (minutes.length > 0) await store.writeEngineMinutes(database, workerId, minutes);
  }

  async function takeTests(): Promise<void> {
    while (!ended.signal.aborted) {
      const test = await store.claimEngineTest(database, { engines: names });
      if (test === undefined) return;
      const runner = runners.find(({ name }) => name === test.engine)!;
      await store.writeTestAnswer(database, test.test_id, await carryOut(runner, test, ended.signal));
    }
  }

  const reporting = setInterval(() => then(report), REPORT_MILLISECONDS);
  const looking = setInterval(() => void takeTests().catch(() => {}), REPORT_MILLISECONDS);
  const forgetting = setInterval(() => then(() => store.deleteOldReports(database)), FORGET_MILLISECONDS);
  then(report);
  void database.listen(TESTS_CHANNEL, () => void takeTests().catch(() => {})).catch(() => {});
  return {
    async stop() {
      for (const timer of [reporting, looking, forgetting]) clearInterval(timer);
      ended.abort();
      await under;
      await store.deleteEngineStates(database, { workerId }).catch(() => {});
    },
  };
}

/**
 * Calls the engine without asking its circuit breaker, because the operator wants to see the engine's answer even
 * while the breaker is open.
 */
async function carryOut(
  runner: EngineRunner,
  test: store.EngineTest,
  ended: AbortSignal,
): Promise<store.TestAnswer> {
  const started = performance.now();
  const milliseconds = () => Math.round(performance.now() - started);
  const signal = AbortSignal.any([ended, AbortSignal.timeout(TEST_MILLISECONDS)]);
  try {
    const [draft] = await runner.engine.draft({
      from: test.source_language,
      to: test.target_language,
      segments: [{ id: 'test', pieces: [{ text: test.body }] }],
      lane: 'interactive',
      signal,
    });
    if (draft === undefined) return { status: 'failed', reason: 'garbled', milliseconds: milliseconds() };
    if (draft.status === 'unsupported') {
      return { status: 'unsupported', reason: 'unsupported', milliseconds: milliseconds() };
    }
    if (draft.status === 'failed') {
      return { status: 'failed', reason: draft.reason, milliseconds: milliseconds() };
    }
    const text = draft.pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
    return { status: 'translated', text, route: draft.route, milliseconds: milliseconds() };
  } catch {
    const reason = signal.aborted ? 'timeout' : 'crashed';
    return { status: 'failed', reason, milliseconds: milliseconds() };
  }
}
