/** SQL for the engine reports of workers. Their tables are reference tables, whose rows belong to no account. */
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';

export type EngineState = 'closed' | 'half-open' | 'open';

export interface EngineError {
  at: string;
  reason: string;
  /** Number of segments that failed for this reason within a minute. */
  count: number;
}

export interface EngineStateRow {
  worker_id: string;
  engine: string;
  state: EngineState;
  state_since: Date;
  waiting: number;
  version: string | null;
  errors: EngineError[];
  seen_at: Date;
}

const KEEP_STATES = statement(
  'translation.keep_states',
  `insert into engine_states (worker_id, engine, state, state_since, waiting, version, errors)
   select $1, engine, state, now(), waiting, version, errors
     from unnest($2::text[], $3::text[], $4::integer[], $5::text[], $6::jsonb[])
       as s (engine, state, waiting, version, errors)
   on conflict (worker_id, engine) do update
     set state_since = case when engine_states.state = excluded.state then engine_states.state_since else now() end,
         state = excluded.state, waiting = excluded.waiting, version = excluded.version,
         errors = excluded.errors, seen_at = now()`,
);

export async function writeEngineStates(
  on: Queryable,
  workerId: string,
  states: readonly {
    engine: string;
    state: EngineState;
    waiting: number;
    version: string | undefined;
    errors: readonly EngineError[];
  }[],
): Promise<void> {
  await on.query(KEEP_STATES, [
    workerId,
    states.map(({ engine }) => engine),
    states.map(({ state }) => state),
    states.map(({ waiting }) => waiting),
    states.map(({ version }) => version ?? null),
    states.map(({ errors }) => JSON.stringify(errors)),
  ]);
  on.changed('engines');
}

/** Returns the engine states of every worker that reported within the last `seconds`. */
export const listEngineStates = statement<EngineStateRow, { seconds: number }>(
  'translation.states',
  `select worker_id, engine, state, state_since, waiting, version, errors, seen_at from engine_states
    where seen_at > now() - make_interval(secs => :seconds) order by engine, worker_id`,
).rows;

export interface WorkerCount {
  /** The number of workers that sent a report within the requested time. */
  reporting: number;
  /**
   * Time of the last report of any worker; null when no worker reported within a day, or when the last worker
   * was stopped properly.
   */
  last: Date | null;
}

const WORKERS = statement<WorkerCount>(
  'translation.workers',
  `select count(distinct worker_id) filter (where seen_at > now() - make_interval(secs => $1)) as reporting,
          max(seen_at) as last from engine_states`,
);

/** Counts the workers that reported within the last `seconds`. */
export async function countWorkers(on: Queryable, seconds: number): Promise<WorkerCount> {
  const [row] = await on.query(WORKERS, [seconds]);
  return row!;
}

/** Deletes the states of a worker that stops, so that the console does not report the worker as lost. */
export const deleteEngineStates = statement<never, { workerId: string }>(
  'translation.leave',
  'delete from engine_states where worker_id = :workerId',
).reporting('engines').run;

export interface EngineMinute {
  engine: string;
  minute: Date;
  answered: number;
  failed: number;
  /** Total duration of all requests in this minute. */
  milliseconds: number;
  /** Duration of the slowest request in this minute. */
  slowest: number;
  /** Number of segments that the engine translated or failed to translate. */
  segments: number;
  failedSegments: number;
}

const KEEP_MINUTES = statement(
  'translation.keep_minutes',
  `insert into engine_minutes (worker_id, engine, minute, answered, failed, milliseconds, slowest, segments, failed_segments)
   select $1, engine, minute, answered, failed, milliseconds, slowest, segments, failed_segments
     from unnest($2::text[], $3::timestamptz[], $4::integer[], $5::integer[], $6::bigint[], $7::integer[],
                 $8::integer[], $9::integer[])
       as m (engine, minute, answered, failed, milliseconds, slowest, segments, failed_segments)
   on conflict (engine, minute, worker_id) do update
     set answered = excluded.answered, failed = excluded.failed, milliseconds = excluded.milliseconds,
         slowest = excluded.slowest, segments = excluded.segments, failed_segments = excluded.failed_segments`,
);

export async function writeEngineMinutes(
  on: Queryable,
  workerId: string,
  minutes: readonly EngineMinute[],
): Promise<void> {
  await on.query(KEEP_MINUTES, [
    workerId,
    minutes.map(({ engine }) => engine),
    minutes.map(({ minute }) => minute),
    minutes.map(({ answered }) => answered),
    minutes.map(({ failed }) => failed),
    minutes.map(({ milliseconds }) => Math.round(milliseconds)),
    minutes.map(({ slowest }) => Math.round(slowest)),
    minutes.map(({ segments }) => segments),
    minutes.map(({ failedSegments }) => failedSegments),
  ]);
}

/** Returns the requests to each engine per minute since `since`, summed over all workers. */
export const listEngineMinutes = statement<EngineMinute, { since: Date }>(
  'translation.minutes',
  `select engine, minute, sum(answered)::int as answered, sum(failed)::int as failed,
          sum(milliseconds)::bigint as milliseconds, max(slowest) as slowest, sum(segments)::int as segments,
          sum(failed_segments)::int as "failedSegments"
     from engine_minutes where minute >= :since group by 1, 2 order by 1, 2`,
).rows;

const FORGET_STATES = statement<{ engine: string }>(
  'translation.forget_states',
  `delete from engine_states where seen_at < now() - interval '1 day' returning engine`,
);
const FORGET_MINUTES = statement(
  'translation.forget_minutes',
  `delete from engine_minutes where minute < now() - interval '1 day'`,
);
const FORGET_TESTS = statement<{ test_id: string }>(
  'translation.forget_tests',
  `delete from engine_tests where created_at < now() - interval '10 minutes' returning test_id`,
);

/** Deletes the engine states, minutes and self-tests that are too old for the console to show. */
export async function deleteOldReports(on: Queryable): Promise<void> {
  const states = await on.query(FORGET_STATES);
  await on.query(FORGET_MINUTES);
  const tests = await on.query(FORGET_TESTS);
  if (states.length + tests.length > 0) on.changed('engines');
}

export interface EngineTest {
  engine: string;
  source_language: string;
  target_language: string;
  body: string;
}

export type TestAnswer =
  | { status: 'translated'; text: string; route: string; milliseconds: number }
  | { status: 'failed' | 'unsupported'; reason: string; milliseconds: number };

const ASK = statement(
  'translation.ask_test',
  `insert into engine_tests (test_id, engine, source_language, target_language, body) values ($1, $2, $3, $4, $5)`,
);

export async function insertEngineTest(on: Queryable, testId: string, test: EngineTest): Promise<void> {
  await on.query(ASK, [testId, test.engine, test.source_language, test.target_language, test.body]);
  on.changed('engines');
}

/** Claims one unclaimed self-test that an operator requested of any of these engines. */
export const claimEngineTest = statement<EngineTest & { test_id: string }, { engines: readonly string[] }>(
  'translation.claim_test',
  `update engine_tests set claimed_at = now()
    where test_id = (
      select test_id from engine_tests
       where engine = any(:engines) and claimed_at is null and created_at > now() - interval '1 minute'
       order by created_at limit 1 for update skip locked)
   returning test_id, engine, source_language, target_language, body`,
).reporting('engines').first;

const ANSWER = statement('translation.answer_test', 'update engine_tests set answer = $2 where test_id = $1');

export async function writeTestAnswer(on: Queryable, testId: string, answer: TestAnswer): Promise<void> {
  await on.query(ANSWER, [testId, JSON.stringify(answer)]);
  on.changed('engines');
}

const TAKE = statement<{ answer: TestAnswer }>(
  'translation.take_test',
  'delete from engine_tests where test_id = $1 and (answer is not null or $2) returning answer',
);

/**
 * Returns the answer to a self-test and then deletes the self-test.
 * @param late true when the caller stops waiting; a self-test without an answer is then deleted too
 */
export async function takeTestAnswer(
  on: Queryable,
  testId: string,
  late: boolean,
): Promise<TestAnswer | undefined> {
  const [row] = await on.query(TAKE, [testId, late]);
  if (row !== undefined) on.changed('engines');
  return row?.answer ?? undefined;
}
