/**
 * A page of a caller's jobs, with the count of all that match: exact from the counter rows where status and languages
 * decide, exact up to ten thousand where every job has to be looked at (by uid, by time).
 */
import type { Caller } from '../account.ts';
import type { Database } from '../database/database.ts';
import { fieldError } from '../errors.ts';
import {
  type Bounds,
  countByLooking,
  countJobs,
  type ListScope,
  listByUid,
  listInOrder,
  MAX_COUNTED,
  notDone,
  type Slice,
} from './list-store.ts';
import { endOfList } from './numbers.ts';
import { presentListItem } from './present.ts';
import type { LanguageFilter, ListFilter, ListQuery, Page } from './query.ts';
import { isPartOfUid, isUid } from './request.ts';
import type { JobListItemBody } from './schemas.ts';
import { findJob, type JobRow } from './store.ts';

export interface JobPage {
  objects: JobListItemBody[];
  total: number;
  /** There is a page after this one. */
  more: boolean;
}

/**
 * The page that a query asks for.
 * @throws ApiError `invalid_request` where it is to begin after a job that there is not
 */
export async function listJobs(database: Database, caller: Caller, query: ListQuery): Promise<JobPage> {
  const { jobs, ...page } = await findJobs(database, caller, query);
  return { objects: jobs.map((job) => presentListItem(job, caller.dialect)), ...page };
}

/** The same, as the jobs are kept. */
export async function findJobs(
  database: Database,
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
    // One more than is shown tells whether there is a next page.
    limit: page.limit + 1,
    offset: page.offset,
    cursor: await readCursor(database, caller, page),
  };
  const { rows, total } = await find(database, caller, scope, slice);
  return {
    jobs: rows.slice(0, page.limit),
    total,
    more: rows.length > page.limit,
  };
}

interface Found {
  rows: JobRow[];
  total: number;
}
const NONE: Found = { rows: [], total: 0 };

type Place = Pick<Caller, 'account' | 'environment'>;

async function find(database: Database, caller: Place, scope: ListScope, slice: Slice): Promise<Found> {
  const { filter } = scope;
  const { uid, uidStart, uidEnd, uidPart, createdFrom, createdBefore } = filter;
  if (uid !== undefined) return findOne(database, caller, uid, filter, slice);
  const parts = [uidStart, uidEnd, uidPart].filter((part) => part !== undefined);
  if (parts.some((part) => !isPartOfUid(part))) return NONE; // no uid has these characters
  // Few failed jobs among millions are looked through sooner than all uids that begin as everybody's do.
  const few = notDone(filter) && parts.length > 0 && (await countJobs(database, scope)) <= MAX_COUNTED;
  if (parts.length > 0 && !few) {
    const { matched, jobs } = await listByUid(database, scope, slice);
    if (matched <= MAX_COUNTED) return { rows: jobs, total: matched };
    return { rows: await listInOrder(database, scope, slice), total: MAX_COUNTED };
  }
  const counted = parts.length === 0 && createdFrom === undefined && createdBefore === undefined;
  const total = counted ? await countJobs(database, scope) : await countByLooking(database, scope);
  // What the counters know not to be there is not looked for.
  const rows = slice.offset < total || total > MAX_COUNTED ? await listInOrder(database, scope, slice) : [];
  return { rows, total: counted ? total : Math.min(total, MAX_COUNTED) };
}

/** A uid is one job or none; it is read by its key, whatever else is asked of it. */
async function findOne(
  database: Database,
  caller: Place,
  uid: string,
  filter: ListFilter,
  { cursor, offset }: Slice,
): Promise<Found> {
  const job = await findJob(database, caller.account, caller.environment, uid);
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

async function readCursor(database: Database, caller: Place, { after, newestFirst }: Page): Promise<Bounds> {
  if (after === undefined) return { low: LOWEST, high: HIGHEST };
  const { account, environment } = caller;
  const [job, end] = await Promise.all([
    isUid(after) ? findJob(database, account, environment, after) : undefined,
    newestFirst ? undefined : endOfList(database, account, environment),
  ]);
  // Asked before the page is read: a creation that begins meanwhile gets later ids, and waits for the next page.
  const high = end === undefined ? HIGHEST : idOf(end);
  if (after === '') return { low: LOWEST, high };
  // Of any tier: whoever goes through the machine's jobs may upgrade them on the way.
  if (job === undefined) throw fieldError('after', 'is the uid of no job.');
  return newestFirst ? { low: LOWEST, high: job.job_id } : { low: job.job_id, high };
}

/**
 * An id begins with the moment of its making, by the clock of the program that made it; `created_at` is the insert's,
 * by the database's clock. A minute lies between them at most: `doctor` complains far earlier of clocks, and what is
 * looked through between the two takes seconds, if not in a queue of the largest texts.
 */
const CLOCKS_MILLISECONDS = 60_000;

/** The ids of a time that is longer by so much at both ends; of one without a beginning or an end, all ids there. */
function boundsOf({ createdFrom, createdBefore }: ListFilter, longer: number): Bounds {
  return {
    low: createdFrom === undefined ? LOWEST : idOf(createdFrom.getTime() - longer),
    high: createdBefore === undefined ? HIGHEST : idOf(createdBefore.getTime() + longer),
  };
}

/** Before every id that is made at this moment. */
function idOf(milliseconds: number): string {
  const hex = Math.max(0, milliseconds).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`;
}
