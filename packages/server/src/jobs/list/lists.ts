/**
 * Lists a caller's jobs by page, with the number of all matches. The total is exact when only status and
 * languages are filtered, because counter rows hold it. With filters by uid or time it is exact up to ten
 * thousand, and otherwise a lower bound.
 */
import type { Caller } from '../../base/account.ts';
import { fieldError } from '../../base/errors.ts';
import type { Queryable } from '../../database/database.ts';
import { readListEnd } from '../order-numbers.ts';
import { presentListItem } from '../present.ts';
import type { LanguageFilter, ListFilter, ListQuery, Page } from '../query.ts';
import type { JobListItemBody } from '../schemas.ts';
import { findJob, type JobRow } from '../store.ts';
import { isPartOfUid, isUid } from '../uid.ts';
import {
  type Bounds,
  countByScan,
  countJobs,
  isIndexedByStatus,
  type ListScope,
  listByUid,
  listInOrder,
  MAX_COUNTED,
  type Slice,
} from './list-store.ts';

export interface JobPage {
  objects: JobListItemBody[];
  total: number;
  /** True if another page follows this one. */
  more: boolean;
}

/**
 * Returns a page of jobs as list items.
 * @throws ApiError `invalid_request` if no job has the uid in `after`
 */
export async function listJobs(on: Queryable, caller: Caller, query: ListQuery): Promise<JobPage> {
  const { jobs, ...page } = await findJobPage(on, caller, query);
  return { objects: jobs.map((job) => presentListItem(job, caller.dialect)), ...page };
}

/** Returns a page of jobs as rows. @throws ApiError like `listJobs` */
export async function findJobPage(
  on: Queryable,
  caller: Pick<Caller, 'account' | 'environment'>,
  { filter, page }: ListQuery,
): Promise<Omit<JobPage, 'objects'> & { jobs: JobRow[] }> {
  const scope: ListScope = {
    account: caller.account,
    environment: caller.environment,
    filter,
    created: boundsOf(filter, CLOCKS_MILLISECONDS),
    surelyCreated: boundsOf(filter, -CLOCKS_MILLISECONDS),
  };
  const slice: Slice = {
    newestFirst: page.newestFirst,
    // Selects one more job than the page shows, to find out whether another page follows.
    limit: page.limit + 1,
    offset: page.offset,
    cursor: await readCursor(on, caller, page),
  };
  const { rows, total } = await find(on, caller, scope, slice);
  return {
    jobs: rows.slice(0, page.limit),
    total: page.after === undefined ? totalWith(rows.length, total, slice) : total,
    more: rows.length > page.limit,
  };
}

/**
 * Returns a total that is consistent with the rows of the page. Jobs may change between the query for the
 * count and the query for the page. The last page gives the total: its offset plus the number of its rows. A
 * page beyond `MAX_COUNTED` is a better lower bound than the count, so that a client that reads up to the
 * total reads every job.
 */
function totalWith(found: number, counted: number, { offset, limit }: Slice): number {
  const isWhole = found < limit && (found > 0 || offset === 0);
  if (isWhole) return offset + found;
  return found > 0 ? Math.max(counted, offset + found) : counted;
}

interface Found {
  rows: JobRow[];
  total: number;
}
const NONE: Found = { rows: [], total: 0 };

type Place = Pick<Caller, 'account' | 'environment'>;

async function find(on: Queryable, caller: Place, scope: ListScope, slice: Slice): Promise<Found> {
  const { filter } = scope;
  const { uid, uidStart, uidEnd, uidPart, createdFrom, createdBefore } = filter;
  if (uid !== undefined) return findOne(on, caller, uid, filter, slice);
  const parts = [uidStart, uidEnd, uidPart].filter((part) => part !== undefined);
  // No job matches a filter for a part of the uid that contains characters which no uid has.
  if (parts.some((part) => !isPartOfUid(part))) return NONE;
  // If few jobs have the requested statuses, they are read instead of millions of uids with a common prefix.
  const few = isIndexedByStatus(filter) && parts.length > 0 && (await countJobs(on, scope)) <= MAX_COUNTED;
  if (parts.length > 0 && !few) {
    const { matched, jobs } = await listByUid(on, scope, slice);
    if (matched <= MAX_COUNTED) return { rows: jobs, total: matched };
    return { rows: await listInOrder(on, scope, slice), total: MAX_COUNTED };
  }
  const counted = parts.length === 0 && createdFrom === undefined && createdBefore === undefined;
  const total = counted ? await countJobs(on, scope) : await countByScan(on, scope);
  // If the counters show that the offset is behind the last match, the page is empty without a query.
  const rows = slice.offset < total || total > MAX_COUNTED ? await listInOrder(on, scope, slice) : [];
  return { rows, total: counted ? total : Math.min(total, MAX_COUNTED) };
}

/** Finds the job by its uid, with the unique index, and checks the other filters in this process. */
async function findOne(
  on: Queryable,
  caller: Place,
  uid: string,
  filter: ListFilter,
  { cursor, offset }: Slice,
): Promise<Found> {
  const job = await findJob(on, { account: caller.account, environment: caller.environment, uid });
  if (job === undefined || !matches(job, filter)) return NONE;
  const within = job.job_id > cursor.low && job.job_id < cursor.high;
  return { rows: offset === 0 && within ? [job] : [], total: 1 };
}

function matches(job: JobRow, filter: ListFilter): boolean {
  const { tier, statuses, uidStart = '', uidEnd = '', uidPart = '', createdFrom, createdBefore } = filter;
  return (
    job.tier === tier &&
    (statuses?.includes(job.status) ?? true) &&
    speaks(filter.source, job.source_language) &&
    speaks(filter.target, job.target_language) &&
    job.uid.startsWith(uidStart) &&
    job.uid.endsWith(uidEnd) &&
    job.uid.includes(uidPart) &&
    (createdFrom === undefined || job.created_at >= createdFrom) &&
    (createdBefore === undefined || job.created_at < createdBefore)
  );
}

function speaks({ among, not }: LanguageFilter, language: string): boolean {
  return (among?.includes(language) ?? true) && !not.includes(language);
}

const LOWEST = '00000000-0000-0000-0000-000000000000';
const HIGHEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

async function readCursor(on: Queryable, caller: Place, { after, newestFirst }: Page): Promise<Bounds> {
  if (after === undefined) return { low: LOWEST, high: HIGHEST };
  const { account, environment } = caller;
  const [job, end] = await Promise.all([
    isUid(after) ? findJob(on, { account, environment, uid: after }) : undefined,
    newestFirst ? undefined : readListEnd(on, account, environment),
  ]);
  // The end of the list is read before the page. Jobs whose creation begins later have later ids, so they
  // appear on a later page.
  const high = end === undefined ? HIGHEST : idOf(end);
  if (after === '') return { low: LOWEST, high };
  // The job named by `after` may be of either tier, because a machine job may be upgraded between two pages.
  if (job === undefined) throw fieldError('after', 'is the uid of no job.');
  return newestFirst ? { low: LOWEST, high: job.job_id } : { low: job.job_id, high };
}

/**
 * The largest difference allowed between the time in a job's id (its process's clock) and `created_at` (the
 * database's clock). The command `doctor` reports clocks that differ much less than this, and the two times
 * are taken only seconds apart.
 */
const CLOCKS_MILLISECONDS = 60_000;

/**
 * Returns bounds for the ids of a period that is extended at both ends by `longer` milliseconds. If the
 * period has no start or no end, that bound is missing.
 */
function boundsOf({ createdFrom, createdBefore }: ListFilter, longer: number): Bounds {
  return {
    low: createdFrom === undefined ? LOWEST : idOf(createdFrom.getTime() - longer),
    high: createdBefore === undefined ? HIGHEST : idOf(createdBefore.getTime() + longer),
  };
}

function idOf(milliseconds: number): string {
  const hex = Math.max(0, milliseconds).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`;
}
