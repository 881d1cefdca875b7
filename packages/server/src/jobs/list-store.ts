/**
 * What is asked of the database for lists. Ids are made in the order of creation, so they are the order of every
 * list. A page is found as ids first and joined to its rows then: what an offset passes over is not read whole.
 *
 * Statements by what finds the jobs, each in both directions:
 *   plain     nothing is filtered: the index in order, alone
 *   ordered   the index in order, with filters that most jobs pass, or that are few enough
 *   status    the index by status, which holds all jobs but those that are done
 *   start     the unique index by uid, for how uids begin
 *   part      the trigram index, for what is inside of uids or at their end
 *   scan      every job of the list: for parts too short for trigrams
 */
import type { AccountRef, Environment } from '../account.ts';
import type { Queryable } from '../database/database.ts';
import { type Statement, statement } from '../database/statements.ts';
import type { ListFilter } from './query.ts';
import { COLUMNS, type JobRow } from './store.ts';

/** Beyond so many, jobs that only a look at each can count are not counted. */
export const MAX_COUNTED = 10_000;

/** Ids between which a list lies; neither is in it. */
export interface Bounds {
  low: string;
  high: string;
}

export interface ListScope {
  account: AccountRef;
  environment: Environment;
  filter: ListFilter;
  /** The ids that jobs of the wanted times can have. */
  created: Bounds;
  /** Those that only jobs of the wanted times have: `created` without what may lie just outside. */
  surelyCreated: Bounds;
}

export interface Slice {
  newestFirst: boolean;
  limit: number;
  offset: number;
  /** Where the page before ended. */
  cursor: Bounds;
}

const OF_LIST = 'j.part = $1 and j.account_id = $2 and j.environment = $3 and j.tier = $4';
const FILTERS = `($5::text[] is null or j.status = any($5))
     and ($6::text[] is null or j.source_language = any($6)) and j.source_language <> all($7)
     and ($8::text[] is null or j.target_language = any($8)) and j.target_language <> all($9)
     and ($10::timestamptz is null or j.created_at >= $10) and ($11::timestamptz is null or j.created_at < $11)
     and j.uid like all($12::text[])`;
// As the index says it, so that the planner sees that the index will do.
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
  `select ${COLUMNS} from (${page}) page join jobs using (${KEY}) order by job_id ${direction}`;

const PLAIN = inBoth<JobRow>('plain', (direction) =>
  rowsOf(
    `select ${KEY} from jobs j where ${OF_LIST} and j.job_id > $7 and j.job_id < $8
      order by j.job_id ${direction} limit $5 offset $6`,
    direction,
  ),
);
// The list's own index first, alone: left to choose, the planner walks the primary key, and with it every job of the
// other tier, in an account that has five million of those and twenty of these.
const walked = (direction: Direction, low: string, high: string) =>
  `(select ${KEY} from jobs j where ${OF_LIST} and j.job_id > ${low} and j.job_id < ${high}
         order by j.job_id ${direction} offset 0) walked join jobs j using (${KEY})`;
const ORDERED = inBoth<JobRow>('ordered', (direction) =>
  rowsOf(
    `select ${KEY} from ${walked(direction, '$15', '$16')} where ${FILTERS}
      order by job_id ${direction} limit $13 offset $14`,
    direction,
  ),
);
const HAS_STATUS = `j.status = wanted.status and ${NOT_DONE}`;
// A walk for each status, since only within one the index is in order.
const BY_STATUS = inBoth<JobRow>('status', (direction) =>
  rowsOf(
    `select one.part, one.account_id, one.job_id from unnest($5::text[]) as wanted (status), lateral (
       select ${KEY} from jobs j
        where ${OF_LIST} and ${HAS_STATUS} and j.job_id > $15 and j.job_id < $16 and ${FILTERS}
        order by j.job_id ${direction} limit $13::bigint + $14::bigint) one
      order by one.job_id ${direction} limit $13 offset $14`,
    direction,
  ),
);

/** Without a job where the page is empty. */
type Matched = { matched: number } & { [Field in keyof JobRow]: JobRow[Field] | null };

/**
 * Finds all that match, up to one more than are counted, and shows the page of them. The ids that a time can have are
 * left out of it: the planner would think them rarer than what is looked for.
 */
const matching = (name: string, found: string) =>
  inBoth<Matched>(
    name,
    (direction) => `with matching as materialized (
       select ${KEY} from ${found} and ${FILTERS} limit ${MAX_COUNTED + 1}),
     page as (
       select ${KEY} from matching where job_id > $15 and job_id < $16
        order by job_id ${direction} limit $13 offset $14)
     select matched, shown.* from (select count(*) as matched from matching) counted
       left join (select ${COLUMNS} from page join jobs using (${KEY})) shown on true
      order by job_id ${direction}`,
  );
const MATCHING = {
  start: matching('start', `jobs j where ${OF_LIST} and j.uid >= $17 and j.uid < $18`),
  part: matching('part', `jobs j where ${OF_LIST} and j.uid like $17`),
  // Uids alone first, so that their index is all that is read of those that do not match.
  scan: matching(
    'scan',
    `(select part, account_id, environment, uid from jobs i
         where i.part = $1 and i.account_id = $2 and i.environment = $3 and i.uid like all($12) offset 0) found
       join jobs j using (part, account_id, environment, uid) where j.tier = $4`,
  ),
};

const COUNT = statement<{ count: number }>(
  'jobs.list_count',
  `select count(*) as count from (
     select from ${walked('asc', '$13', '$14')} where ${FILTERS} limit ${MAX_COUNTED + 1}) counted`,
);
const COUNT_BY_STATUS = statement<{ count: number }>(
  'jobs.list_count_status',
  `select count(*) as count from (
     select from unnest($5::text[]) as wanted (status), lateral (
       select from jobs j where ${OF_LIST} and ${HAS_STATUS} and j.job_id > $13 and j.job_id < $14 and ${FILTERS}) one
      limit ${MAX_COUNTED + 1}) counted`,
);
// By times alone: of the ids between, the index says enough; what lies at either end of the time is looked at.
const AT_THESE_TIMES = `($5::timestamptz is null or j.created_at >= $5) and ($6::timestamptz is null or j.created_at < $6)`;
const COUNT_BY_TIME = statement<{ count: number }>(
  'jobs.list_count_time',
  `select count(*) as count from (
     select from (select from jobs j where ${OF_LIST} and j.job_id > $8 and j.job_id < $9
                   order by j.job_id limit ${MAX_COUNTED + 1}) surely
     union all select from ${walked('asc', '$7', '$8')} where ${AT_THESE_TIMES}
     union all select from ${walked('asc', '$9', '$10')} where ${AT_THESE_TIMES}
      limit ${MAX_COUNTED + 1}) counted`,
);
const TOTAL = statement<{ count: number }>(
  'jobs.list_total',
  `select coalesce(sum(jobs), 0)::bigint as count from job_counts j where ${OF_LIST}
     and ($5::text[] is null or j.status = any($5))
     and ($6::text[] is null or j.source_language = any($6)) and j.source_language <> all($7)
     and ($8::text[] is null or j.target_language = any($8)) and j.target_language <> all($9)`,
);

function listOf({ account, environment, filter }: ListScope): unknown[] {
  return [account.part, account.accountId, environment, filter.tier];
}
function kindsOf({ filter }: ListScope): unknown[] {
  const { statuses, source, target } = filter;
  return [statuses ?? null, source.among ?? null, source.not, target.among ?? null, target.not];
}
function filtersOf(scope: ListScope): unknown[] {
  const { createdFrom, createdBefore } = scope.filter;
  return [...kindsOf(scope), createdFrom ?? null, createdBefore ?? null, patternsOf(scope.filter)];
}

/** The uid's patterns as `like` takes them. */
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

/** Whether all statuses wanted are among those that the index by status holds. */
export function notDone({ statuses }: ListFilter): boolean {
  return statuses?.every((status) => status !== 'completed' && status !== 'accepted') ?? false;
}

/** A page in order, by whatever walks the least: to be asked where many match, or what matches stands in an index. */
export function listInOrder(on: Queryable, scope: ListScope, slice: Slice): Promise<JobRow[]> {
  const { created } = scope;
  const { cursor, limit, offset } = slice;
  const direction = slice.newestFirst ? 'desc' : 'asc';
  const low = created.low > cursor.low ? created.low : cursor.low;
  const high = created.high < cursor.high ? created.high : cursor.high;
  const page = [limit, offset, low, high];
  if (isUnfiltered(scope.filter)) return on.query(PLAIN[direction], [...listOf(scope), ...page]);
  const statements = notDone(scope.filter) ? BY_STATUS : ORDERED;
  return on.query(statements[direction], [...listOf(scope), ...filtersOf(scope), ...page]);
}

function isUnfiltered(filter: ListFilter): boolean {
  const { statuses, source, target, createdFrom, createdBefore } = filter;
  return (
    statuses === undefined &&
    [source, target].every(({ among, not }) => among === undefined && not.length === 0) &&
    createdFrom === undefined &&
    createdBefore === undefined &&
    patternsOf(filter).length === 0
  );
}

/** Trigrams need three characters. */
const SHORTEST_PART = 3;

/**
 * Jobs by parts of their uid. `matched` says how many there are, up to one more than `MAX_COUNTED`: then they are
 * many, `jobs` is not in order, and the page is to be asked for in order.
 */
export async function listByUid(
  on: Queryable,
  scope: ListScope,
  slice: Slice,
): Promise<{ matched: number; jobs: JobRow[] }> {
  const [name, ...values] = foundBy(scope.filter);
  const rows = await on.query(MATCHING[name][slice.newestFirst ? 'desc' : 'asc'], [
    ...listOf(scope),
    ...filtersOf(scope),
    slice.limit,
    slice.offset,
    slice.cursor.low,
    slice.cursor.high,
    ...values,
  ]);
  const jobs = rows.filter(({ job_id }) => job_id !== null);
  return { matched: rows[0]?.matched ?? 0, jobs: jobs as JobRow[] };
}

/** By what these jobs are found, and the values of its condition. */
function foundBy({ uidStart, uidEnd = '', uidPart = '' }: ListFilter): [keyof typeof MATCHING, ...string[]] {
  if (uidStart !== undefined) return ['start', uidStart, after(uidStart)];
  if (Math.max(uidEnd.length, uidPart.length) < SHORTEST_PART) return ['scan'];
  return ['part', uidEnd.length > uidPart.length ? `%${escaped(uidEnd)}` : `%${escaped(uidPart)}%`];
}

/** The first text after all that begin with this one. Uids are ASCII, and `~` is their last character. */
function after(start: string): string {
  const code = start.charCodeAt(start.length - 1);
  return start.slice(0, -1) + String.fromCharCode(code + 1);
}

/** How many jobs match, found by looking at each of the wanted times and states; up to one more than `MAX_COUNTED`. */
export async function countByLooking(on: Queryable, scope: ListScope): Promise<number> {
  const { created, surelyCreated, filter } = scope;
  const timesAlone = isUnfiltered({ ...filter, createdFrom: undefined, createdBefore: undefined });
  if (timesAlone && surelyCreated.low < surelyCreated.high) {
    const { createdFrom = null, createdBefore = null } = filter;
    const bounds = [created.low, surelyCreated.low, surelyCreated.high, created.high];
    const [row] = await on.query(COUNT_BY_TIME, [...listOf(scope), createdFrom, createdBefore, ...bounds]);
    return row?.count ?? 0;
  }
  const values = [...listOf(scope), ...filtersOf(scope), created.low, created.high];
  const [row] = await on.query(notDone(filter) ? COUNT_BY_STATUS : COUNT, values);
  return row?.count ?? 0;
}

/** How many jobs match, whatever their uid and time. */
export async function countJobs(on: Queryable, scope: ListScope): Promise<number> {
  const [row] = await on.query(TOTAL, [...listOf(scope), ...kindsOf(scope)]);
  return row?.count ?? 0;
}

const UNFOLDED = statement<{ part: number; account_id: string }>(
  'jobs.unfolded_counts',
  `select part, account_id from job_counts where not folded
    group by part, account_id having count(*) >= $1 limit $2`,
);

/** Accounts with many rows of counts that wait to be put together. */
export async function findUnfolded(on: Queryable, least: number, limit: number): Promise<AccountRef[]> {
  const rows = await on.query(UNFOLDED, [least, limit]);
  return rows.map((row) => ({ part: row.part, accountId: row.account_id }) as AccountRef);
}

// Two that fold one account at a time delete each row once: what the other took is not there any more.
const FOLD = statement(
  'jobs.fold_counts',
  `with gone as (
     delete from job_counts where part = $1 and account_id = $2
     returning part, account_id, environment, tier, status, source_language, target_language, jobs)
   insert into job_counts (part, account_id, environment, tier, status, source_language, target_language, jobs, folded)
   select part, account_id, environment, tier, status, source_language, target_language, sum(jobs), true
     from gone group by 1, 2, 3, 4, 5, 6, 7 having sum(jobs) <> 0`,
);

/** Puts an account's counts together: the sum stays what it is. */
export async function foldCounts(on: Queryable, account: AccountRef): Promise<void> {
  await on.query(FOLD, [account.part, account.accountId]);
}

const FORGET_KEYS = statement<{ forgotten: number }>(
  'jobs.forget_keys',
  `with gone as (
     delete from idempotency where (part, account_id, environment, key) in (
       select part, account_id, environment, key from idempotency
        where created_at < now() - make_interval(hours => $1) order by created_at limit $2)
     returning 1)
   select count(*) as forgotten from gone`,
);

/** Forgets keys that are older, at most `limit` of them. @returns how many */
export async function forgetKeys(on: Queryable, hours: number, limit: number): Promise<number> {
  const [row] = await on.query(FORGET_KEYS, [hours, limit]);
  return row?.forgotten ?? 0;
}
