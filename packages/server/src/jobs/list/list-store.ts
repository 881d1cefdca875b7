/**
 * SQL statements that list jobs. Ids are assigned in the order of creation, so lists are sorted by id. Jobs that
 * an offset skips are not read, only their index entries, unless a filter has to read them.
 *
 * For each of these access paths there are two statements, one for each sort direction:
 *   plain     no filters: the list's index in order
 *   ordered   the list's index in order, with filters
 *   status    the partial index by status and languages, which omits completed and accepted jobs
 *   kind      the same index alone, for filters by status and languages
 *   start     the unique index by uid, for prefixes
 *   part      the trigram index, for suffixes and substrings
 *   scan      all jobs of the list, for substrings shorter than a trigram
 */
import type { AccountRef, Environment } from '../../base/account.ts';
import type { Queryable } from '../../database/database.ts';
import { type Statement, statement } from '../../database/statements.ts';
import type { ListFilter } from '../query.ts';
import { JOB_COLUMNS, type JobRow } from '../store.ts';

/** Totals that need a read of each matching job are exact only up to this number. */
export const MAX_COUNTED = 10_000;

/** A range of ids. Both bounds are exclusive. */
export interface Bounds {
  low: string;
  high: string;
}

export interface ListScope {
  account: AccountRef;
  environment: Environment;
  filter: ListFilter;
  /** Bounds that contain the ids of all jobs of the requested period. */
  created: Bounds;
  /** Bounds that contain ids of jobs of the requested period only, but perhaps not all of them. */
  surelyCreated: Bounds;
}

export interface Slice {
  newestFirst: boolean;
  limit: number;
  offset: number;
  /**
   * The exclusive bounds of the page's ids. The page follows the last job of the previous page, and leaves out
   * ids before which a job may still appear (`readListEnd`).
   */
  cursor: Bounds;
}

const OF_ENVIRONMENT = 'j.part = :part and j.account_id = :account_id and j.environment = :environment';
const OF_LIST = `${OF_ENVIRONMENT} and j.tier = :tier`;
const KINDS = `(:statuses::text[] is null or j.status = any(:statuses))
     and (:sources::text[] is null or j.source_language = any(:sources)) and j.source_language <> all(:not_sources)
     and (:targets::text[] is null or j.target_language = any(:targets)) and j.target_language <> all(:not_targets)`;
const TIMES = `(:created_from::timestamptz is null or j.created_at >= :created_from)
     and (:created_before::timestamptz is null or j.created_at < :created_before)`;
const TIMES_AND_UID = `${TIMES} and j.uid like all(:uid_patterns::text[])`;
const FILTERS = `${KINDS} and ${TIMES_AND_UID}`;
// The condition of the partial index is repeated here, so that the planner can use this index.
const NOT_DONE = `j.status not in ('completed', 'accepted')`;
const KEY = 'part, account_id, job_id';

type AnyRow = NonNullable<Statement['row']>;
type Direction = 'asc' | 'desc';
type Both<Row extends AnyRow> = Record<Direction, Statement<Row>>;

function inBoth<Row extends AnyRow>(name: string, sql: (direction: Direction) => string): Both<Row> {
  const make = (direction: Direction) => statement<Row>(`jobs.list_${name}_${direction}`, sql(direction));
  return { asc: make('asc'), desc: make('desc') };
}

const rowsOf = (page: string, direction: Direction) =>
  `select ${JOB_COLUMNS} from (${page}) page join jobs using (${KEY}) order by job_id ${direction}`;

/** Restricts the list to ids between two parameters, such as `:low` and `:high`. */
const between = (low: string, high: string) =>
  `(j.tier, j.job_id) > (:tier, ${low}) and (j.tier, j.job_id) < (:tier, ${high})`;
const WITHIN = between(':low', ':high');
/**
 * Selects jobs of the list in order. The tier is compared and sorted together with the id, because only the
 * list's index has this order. With `tier = :tier`, rows of the primary key have the same order as well. The
 * planner then chooses the primary key at times, and a list of twenty reads all jobs of the other tier.
 */
const walk = (columns: string, where: string, direction: Direction) =>
  `select ${columns} from jobs j where ${OF_ENVIRONMENT} and ${where}
    order by j.tier ${direction}, j.job_id ${direction}`;

/** Finds the first id of the page in the index, then reads the page's jobs from there. */
const PLAIN = inBoth<JobRow>('plain', (direction) => {
  const first = `(${walk('j.job_id', WITHIN, direction)} limit 1 offset :offset)`;
  const rest = {
    asc: `(j.tier, j.job_id) >= (:tier, ${first}) and (j.tier, j.job_id) < (:tier, :high)`,
    desc: `(j.tier, j.job_id) <= (:tier, ${first}) and (j.tier, j.job_id) > (:tier, :low)`,
  };
  return `${walk(JOB_COLUMNS, rest[direction], direction)} limit :limit`;
});
/**
 * `case` makes the planner expect that half of the jobs match. If PostgreSQL 15 does not know the values of the filters,
 * it otherwise expects one match, and reads and sorts the whole list.
 */
const ORDERED = inBoth<JobRow>('ordered', (direction) => {
  const matches = `case when ${FILTERS} then true else false end`;
  return `${walk(JOB_COLUMNS, `${WITHIN} and ${matches}`, direction)} limit :limit offset :offset`;
});
/**
 * The combinations of status and languages that the list has and the filter allows. The partial index is sorted
 * only within a combination, so each has its own scan, which reads no job that the filter omits.
 */
const COMBINATIONS = `(select status, source_language, target_language from job_counts j where ${OF_LIST} and ${KINDS}
     group by status, source_language, target_language having sum(jobs) > 0) wanted`;
/** Selects jobs of one combination. The order makes the planner scan each combination, not the whole index. */
const walkCombination = (columns: string, filters: string, direction: Direction) =>
  `select ${columns} from jobs j where ${OF_LIST} and ${NOT_DONE} and j.status = wanted.status
      and j.source_language = wanted.source_language and j.target_language = wanted.target_language
      and j.job_id > :low and j.job_id < :high and ${filters}
    order by j.job_id ${direction}`;
const byStatus = (name: string, filters: string) =>
  inBoth<JobRow>(name, (direction) =>
    rowsOf(
      `select one.part, one.account_id, one.job_id from ${COMBINATIONS}, lateral (
       ${walkCombination(KEY, filters, direction)} limit :limit::bigint + :offset::bigint) one
      order by one.job_id ${direction} limit :limit offset :offset`,
      direction,
    ),
  );
const BY_STATUS = byStatus('status', TIMES_AND_UID);
/** Reads only the index, except for the page's jobs. */
const BY_KIND = byStatus('kind', 'true');

/** An empty page still has one row: it has the count, but no job. */
type Matched = { matched: number } & { [Field in keyof JobRow]: JobRow[Field] | null };

/**
 * Finds all matches, up to `MAX_COUNTED + 1`, and returns the requested page of them.
 * @param found selects the keys of jobs that match
 */
const matching = (name: string, found: string) =>
  inBoth<Matched>(
    name,
    (direction) => `with matching as materialized (${found} limit ${MAX_COUNTED + 1}),
     page as (
       select ${KEY} from matching where job_id > :after and job_id < :before
        order by job_id ${direction} limit :limit offset :offset)
     select matched, shown.* from (select count(*) as matched from matching) counted
       left join (select ${JOB_COLUMNS} from page join jobs using (${KEY})) shown on true
      order by job_id ${direction}`,
  );
// The bounds of the requested period are left out for `start` and `part`: the planner would consider them more
// selective than the uid.
const MATCHING = {
  start: matching(
    'start',
    `select ${KEY} from jobs j where ${OF_LIST} and j.uid >= :uid_from and j.uid < :uid_before and ${FILTERS}`,
  ),
  part: matching(
    'part',
    `select ${KEY} from jobs j where ${OF_LIST} and j.uid like :uid_pattern and ${FILTERS}`,
  ),
  scan: matching('scan', walk(KEY, `${WITHIN} and ${FILTERS}`, 'asc')),
};

const COUNT = statement<{ count: number }>(
  'jobs.list_count',
  `select count(*) as count from (
     ${walk('1', `${WITHIN} and ${FILTERS}`, 'asc')} limit ${MAX_COUNTED + 1}) counted`,
);
const COUNT_BY_STATUS = statement<{ count: number }>(
  'jobs.list_count_status',
  `select count(*) as count from (
     select 1 from ${COMBINATIONS}, lateral (${walkCombination('1', TIMES_AND_UID, 'asc')}) one
      limit ${MAX_COUNTED + 1}) counted`,
);
// Counts jobs that are filtered only by time. Ids inside the period are counted from the index, and only jobs
// near its ends are read.
const COUNT_BY_TIME = statement<{ count: number }>(
  'jobs.list_count_time',
  `select count(*) as count from (
     (${walk('1', between(':sure_low', ':sure_high'), 'asc')} limit ${MAX_COUNTED + 1})
     union all (${walk('1', `${between(':low', ':sure_low')} and ${TIMES}`, 'asc')} limit ${MAX_COUNTED + 1})
     union all (${walk('1', `${between(':sure_high', ':high')} and ${TIMES}`, 'asc')} limit ${MAX_COUNTED + 1})
      limit ${MAX_COUNTED + 1}) counted`,
);
const TOTAL = statement<{ count: number }>(
  'jobs.list_total',
  `select coalesce(sum(jobs), 0)::bigint as count from job_counts j where ${OF_LIST}
     and ${KINDS}`,
);

/** Returns the values of all parameters that select jobs. Each statement uses only those that it names. */
function valuesOf({ account, environment, filter, created }: ListScope): Record<string, unknown> {
  const { source, target } = filter;
  return {
    part: account.part,
    account_id: account.accountId,
    environment,
    tier: filter.tier,
    statuses: filter.statuses ?? null,
    sources: source.among ?? null,
    not_sources: source.not,
    targets: target.among ?? null,
    not_targets: target.not,
    created_from: filter.createdFrom ?? null,
    created_before: filter.createdBefore ?? null,
    uid_patterns: patternsOf(filter),
    low: created.low,
    high: created.high,
  };
}

function patternsOf({ uidStart, uidEnd, uidPart }: ListFilter): string[] {
  return [
    ...(uidStart === undefined ? [] : [`${escaped(uidStart)}%`]),
    ...(uidEnd === undefined ? [] : [`%${escaped(uidEnd)}`]),
    ...(uidPart === undefined ? [] : [`%${escaped(uidPart)}%`]),
  ];
}
function escaped(written: string): string {
  return written.replaceAll(/[\\%_]/g, '\\$&');
}

/** Returns true if the partial index by status contains all requested statuses. */
export function isIndexedByStatus({ statuses }: ListFilter): boolean {
  return statuses?.every((status) => status !== 'completed' && status !== 'accepted') ?? false;
}

/**
 * Returns a page in the order of the list, with the cheapest scan. Suitable if many jobs match, or if an index
 * finds the matches.
 */
export function listInOrder(on: Queryable, scope: ListScope, slice: Slice): Promise<JobRow[]> {
  const { created } = scope;
  const { cursor, limit, offset } = slice;
  const direction = slice.newestFirst ? 'desc' : 'asc';
  // biome-ignore-start lint/complexity/useMathMinMax: ids are strings
  const low = created.low > cursor.low ? created.low : cursor.low;
  const high = created.high < cursor.high ? created.high : cursor.high;
  // biome-ignore-end lint/complexity/useMathMinMax: ids are strings
  const values = { ...valuesOf(scope), limit, offset, low, high };
  if (isUnfiltered(scope.filter)) return on.query(PLAIN[direction], values);
  if (!isIndexedByStatus(scope.filter)) return on.query(ORDERED[direction], values);
  return on.query((isByKind(scope.filter) ? BY_KIND : BY_STATUS)[direction], values);
}

function isUnfiltered(filter: ListFilter): boolean {
  const { statuses, source, target } = filter;
  return (
    statuses === undefined &&
    [source, target].every(({ among, not }) => among === undefined && not.length === 0) &&
    isByKind(filter)
  );
}

/** Returns true if only statuses and languages are filtered. */
function isByKind(filter: ListFilter): boolean {
  const { createdFrom, createdBefore } = filter;
  return createdFrom === undefined && createdBefore === undefined && patternsOf(filter).length === 0;
}

/** A trigram index needs at least three characters. */
const SHORTEST_PART = 3;

/**
 * Finds jobs by parts of their uid.
 * @returns `matched` is the number of matches, up to `MAX_COUNTED + 1`. With that many matches `jobs` is
 * unsorted, and the caller uses `listInOrder` for the page.
 */
export async function listByUid(
  on: Queryable,
  scope: ListScope,
  slice: Slice,
): Promise<{ matched: number; jobs: JobRow[] }> {
  const { newestFirst, limit, offset, cursor } = slice;
  const { index, ...values } = findUidIndex(scope.filter);
  const rows = await on.query(MATCHING[index][newestFirst ? 'desc' : 'asc'], {
    ...valuesOf(scope),
    ...values,
    limit,
    offset,
    after: cursor.low,
    before: cursor.high,
  });
  const jobs = rows.filter(({ job_id }) => job_id !== null);
  return { matched: rows[0]?.matched ?? 0, jobs: jobs as JobRow[] };
}

/** Returns the name of the index for these uid filters, with the parameters of its condition. */
function findUidIndex({ uidStart, uidEnd = '', uidPart = '' }: ListFilter): {
  index: keyof typeof MATCHING;
} & Record<string, string> {
  if (uidStart !== undefined) return { index: 'start', uid_from: uidStart, uid_before: after(uidStart) };
  if (Math.max(uidEnd.length, uidPart.length) < SHORTEST_PART) return { index: 'scan' };
  const pattern = uidEnd.length > uidPart.length ? `%${escaped(uidEnd)}` : `%${escaped(uidPart)}%`;
  return { index: 'part', uid_pattern: pattern };
}

/**
 * Returns the first text after all texts with this prefix. Works for uids, whose characters are all ASCII up
 * to `~`.
 */
function after(start: string): string {
  const code = start.charCodeAt(start.length - 1);
  return start.slice(0, -1) + String.fromCharCode(code + 1);
}

/** Counts matching jobs up to `MAX_COUNTED + 1` by reading each job of the requested period and statuses. */
export async function countByScan(on: Queryable, scope: ListScope): Promise<number> {
  const { surelyCreated, filter } = scope;
  const timesAlone = isUnfiltered({ ...filter, createdFrom: undefined, createdBefore: undefined });
  if (timesAlone && surelyCreated.low < surelyCreated.high) {
    const sure = { sure_low: surelyCreated.low, sure_high: surelyCreated.high };
    const [row] = await on.query(COUNT_BY_TIME, { ...valuesOf(scope), ...sure });
    return row?.count ?? 0;
  }
  const [row] = await on.query(isIndexedByStatus(filter) ? COUNT_BY_STATUS : COUNT, valuesOf(scope));
  return row?.count ?? 0;
}

/** Counts jobs by status and languages by adding up the job counters. Filters by uid and time are ignored. */
export async function countJobs(on: Queryable, scope: ListScope): Promise<number> {
  const [row] = await on.query(TOTAL, valuesOf(scope));
  return row?.count ?? 0;
}

const UNFOLDED = statement<{ part: number; account_id: string }>(
  'jobs.accounts_to_fold',
  `select part, account_id from job_counts where not folded
    group by part, account_id having count(*) >= $1 limit $2`,
);

/** Returns the accounts with at least `least` counter rows, so that sums can replace these rows. */
export async function findAccountsToFold(on: Queryable, least: number, limit: number): Promise<AccountRef[]> {
  const rows = await on.query(UNFOLDED, [least, limit]);
  return rows.map((row) => ({ part: row.part, accountId: row.account_id }) as AccountRef);
}

// If two runs sum up an account at the same time, each counter row is deleted once, so the sum stays correct.
/** Replaces an account's rows of job counters by their sums. */
export const foldCounts = statement<never, { account: AccountRef }>(
  'jobs.fold_counts',
  `with gone as (
     delete from job_counts where part = :part and account_id = :account_id
     returning part, account_id, environment, tier, status, source_language, target_language, jobs)
   insert into job_counts (part, account_id, environment, tier, status, source_language, target_language, jobs, folded)
   select part, account_id, environment, tier, status, source_language, target_language, sum(jobs), true
     from gone group by 1, 2, 3, 4, 5, 6, 7 having sum(jobs) <> 0`,
).run;

/** The number of latest jobs of each tier from which an account's languages are read. */
const RECENT = 20;

const RECENT_LANGUAGES = statement<{ source_language: string }>(
  'jobs.recent_languages',
  `select source_language
     from unnest(array['human', 'machine']) as tiers (tier), lateral (
       select source_language from jobs j where ${OF_LIST.replace(':tier', 'tiers.tier')} order by job_id desc limit :limit
     ) recent
    group by source_language order by count(*) desc, source_language`,
);

/** Returns the source languages of an account's latest 20 jobs of each tier, most frequent first. */
export async function listRecentLanguages(
  on: Queryable,
  { account, environment }: Pick<ListScope, 'account' | 'environment'>,
): Promise<string[]> {
  const values = { part: account.part, account_id: account.accountId, environment, limit: RECENT };
  const rows = await on.query(RECENT_LANGUAGES, values);
  return rows.map((row) => row.source_language);
}
