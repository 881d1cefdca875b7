/** SQL for comparisons of engines, of the table `engine_comparisons`. Its rows belong to no account. */
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { EngineRun, Line } from './comparison.ts';

/** What one engine has to do for a comparison. */
export interface ComparisonTask {
  comparison_id: string;
  engine: string;
  source_language: string;
  target_language: string;
  lines: Line[];
}

/** The number of translated segments, and of all segments; 0 until a worker has begun. */
export interface ComparisonProgress {
  translated: number;
  segments: number;
}

export interface ComparisonTaskState extends ComparisonTask, ComparisonProgress {
  /** Whether a worker has begun. */
  begun: boolean;
  result: EngineRun | null;
}

const INSERT = statement(
  'translation.insert_comparison',
  `insert into engine_comparisons (comparison_id, engine, source_language, target_language, lines)
   select $1, engine, $3, $4, $5 from unnest($2::text[]) as e (engine)`,
);

/** Inserts a task for each engine of a comparison. */
export async function insertComparison(
  on: Queryable,
  {
    comparison_id,
    engines,
    source_language,
    target_language,
    lines,
  }: Omit<ComparisonTask, 'engine'> & {
    engines: readonly string[];
  },
): Promise<void> {
  await on.query(INSERT, [comparison_id, engines, source_language, target_language, JSON.stringify(lines)]);
  on.changed('engines');
}

/** The condition for a comparison that has not expired. */
const CURRENT = `created_at > now() - interval '10 minutes'`;

/** Leases the oldest task of these engines that no worker holds, for `seconds`. */
export const claimComparisonTask = statement<
  ComparisonTask,
  { engines: readonly string[]; token: string; seconds: number }
>(
  'translation.claim_comparison',
  `update engine_comparisons c
      set lease_token = :token, leased_until = now() + make_interval(secs => :seconds), translated = 0, segments = 0
     from (select comparison_id, engine from engine_comparisons
            where engine = any(:engines) and result is null and (leased_until is null or leased_until < now())
              and ${CURRENT}
            order by created_at, comparison_id, engine limit 1 for update skip locked) as due
    where c.comparison_id = due.comparison_id and c.engine = due.engine
   returning c.comparison_id, c.engine, source_language, target_language, lines`,
).reporting('engines').first;

const EXTEND = statement<{ engine: string }>(
  'translation.extend_comparison',
  `update engine_comparisons
      set leased_until = now() + make_interval(secs => $4), translated = $5, segments = $6
    where comparison_id = $1 and engine = $2 and lease_token = $3 and ${CURRENT} returning engine`,
);

/**
 * Extends the lease of a task and writes its progress.
 * @returns false if the task is no longer held, or its comparison was canceled or has expired
 */
export async function extendComparisonTask(
  on: Queryable,
  { comparison_id, engine }: ComparisonTask,
  lease: { token: string; seconds: number },
  progress: ComparisonProgress,
): Promise<boolean> {
  const { translated, segments } = progress;
  const values = [comparison_id, engine, lease.token, lease.seconds, translated, segments];
  const held = (await on.query(EXTEND, values)).length > 0;
  if (held) on.changed('engines');
  return held;
}

const RELEASE = statement(
  'translation.release_comparison',
  `update engine_comparisons set lease_token = null, leased_until = null
    where comparison_id = $1 and engine = $2 and lease_token = $3`,
);

/** Gives a task back, so that another worker begins it. */
export async function releaseComparisonTask(
  on: Queryable,
  { comparison_id, engine }: ComparisonTask,
  token: string,
): Promise<void> {
  await on.query(RELEASE, [comparison_id, engine, token]);
  on.changed('engines');
}

const FINISH = statement(
  'translation.finish_comparison',
  `update engine_comparisons set result = $4, translated = $5, segments = $6
    where comparison_id = $1 and engine = $2 and lease_token = $3`,
);

/** Writes the result of a task, if the worker still holds it. */
export async function finishComparisonTask(
  on: Queryable,
  { comparison_id, engine }: ComparisonTask,
  token: string,
  progress: ComparisonProgress,
  result: EngineRun,
): Promise<void> {
  const { translated, segments } = progress;
  await on.query(FINISH, [comparison_id, engine, token, JSON.stringify(result), translated, segments]);
  on.changed('engines');
}

/** Returns the tasks of a comparison; none if it was canceled or has expired. */
export const readComparisonTasks = statement<ComparisonTaskState, { comparisonId: string }>(
  'translation.read_comparison',
  `select comparison_id, engine, source_language, target_language, lines, lease_token is not null as begun,
          translated, segments, result
     from engine_comparisons where comparison_id = :comparisonId and ${CURRENT} order by engine`,
).rows;

const DELETE = statement<{ engine: string }>(
  'translation.delete_comparison',
  'delete from engine_comparisons where comparison_id = $1 returning engine',
);

/** Deletes a comparison. Workers then stop translating. @returns false if there is none */
export async function deleteComparison(on: Queryable, comparisonId: string): Promise<boolean> {
  const deleted = (await on.query(DELETE, [comparisonId])).length > 0;
  if (deleted) on.changed('engines');
  return deleted;
}

const FORGET = statement<{ engine: string }>(
  'translation.forget_comparisons',
  `delete from engine_comparisons where not (${CURRENT}) returning engine`,
);

/** Deletes the comparisons that have expired. */
export async function deleteExpiredComparisons(on: Queryable): Promise<void> {
  const deleted = await on.query(FORGET);
  if (deleted.length > 0) on.changed('engines');
}
