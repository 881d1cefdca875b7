/**
 * Assigns order numbers and ids to new jobs, in one short transaction before the insert. Both therefore
 * follow the order of the requests for an account and environment, across all processes.
 *
 * Numbers are assigned before the insert commits, so a job may become visible after jobs with larger numbers.
 * Therefore the short transaction also writes a creation record, which the insert's transaction deletes. A
 * paged list ends before the jobs of the oldest creation record (`readListEnd`), so that a reader misses no
 * job.
 *
 * If the counter were locked until the insert commits, no such record would be needed. But then one account's
 * bulk of 40 MB would block every batch with a job of that account, and all other accounts in that batch.
 *
 * The short transaction does not wait for the disk (`synchronous_commit = off`). A crash can undo it only
 * together with the insert, which is later in the write-ahead log. A number that was returned is therefore
 * never assigned twice.
 *
 * The transaction of a correction job locks the counter of its account until it commits. A batch with jobs of several
 * accounts therefore limits the wait for that lock.
 */
import type { AccountRef, Environment } from '../base/account.ts';
import { uuidv7, uuidv7Of } from '../base/ids.ts';
import type { Database, Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { AnyNewJob } from './insert-store.ts';

interface Numbered {
  account_id: string;
  environment: Environment;
  last_number: number;
  last_milliseconds: number;
}

// Locks rows in key order, so that two processes with jobs of the same accounts cannot deadlock.
const NUMBER = statement<Numbered>(
  'jobs.number',
  `with moment as materialized (
     select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms,
            set_config('synchronous_commit',
              case when $5::uuid is null then current_setting('synchronous_commit') else 'off' end, true),
            set_config('lock_timeout', coalesce($6::integer::text, current_setting('lock_timeout')), true)),
   begun as (
     insert into creations (part, creation_id, accounts, from_milliseconds)
     select ($1::smallint[])[1], $5, $2::uuid[], ms from moment where $5::uuid is not null)
   insert into job_numbers (part, account_id, environment, last_number, last_milliseconds)
   select g.part, g.account_id, g.environment, g.jobs, moment.ms
     from unnest($1::smallint[], $2::uuid[], $3::text[], $4::bigint[]) as g (part, account_id, environment, jobs), moment
    order by g.part, g.account_id, g.environment
   on conflict (part, account_id, environment) do update
      set last_number = job_numbers.last_number + excluded.last_number,
          last_milliseconds = greatest(job_numbers.last_milliseconds + 1, excluded.last_milliseconds)
   returning account_id, environment, last_number, last_milliseconds`,
);

const keyOf = (accountId: string, environment: Environment): string => `${accountId} ${environment}`;

/**
 * The creation record of a transaction that inserts jobs. Until it is deleted, paged lists end before these
 * jobs.
 */
export interface OpenCreation {
  id: string;
  /** True if the insert's transaction has deleted the record. */
  ended: boolean;
}

/**
 * Assigns numbers and ids to jobs in their order, and writes the creation record.
 * @param lockMilliseconds how long to wait for the lock of a counter; by default as long as the server allows
 */
export async function beginCreation(
  database: Database,
  jobs: readonly AnyNewJob[],
  lockMilliseconds?: number,
): Promise<OpenCreation> {
  const creation = { id: uuidv7(), ended: false };
  await number(database, jobs, creation.id, lockMilliseconds);
  return creation;
}

/** Assigns an order number to a correction job, which no list shows, in the transaction that inserts it. */
export async function assignOrderNumber(on: Queryable, job: AnyNewJob): Promise<void> {
  const { jobId } = job;
  await number(on, [job], null);
  job.jobId = jobId;
}

async function number(
  on: Queryable,
  jobs: readonly AnyNewJob[],
  creation: string | null,
  lockMilliseconds?: number,
): Promise<void> {
  const groups = [
    ...Map.groupBy(jobs, ({ account, environment }) => keyOf(account.accountId, environment)).values(),
  ];
  const firsts = groups.map((group) => group[0]!);
  const rows = await on.query(NUMBER, [
    firsts.map(({ account }) => account.part),
    firsts.map(({ account }) => account.accountId),
    firsts.map(({ environment }) => environment),
    groups.map(({ length }) => length),
    creation,
    lockMilliseconds ?? null,
  ]);
  const given = new Map(rows.map((row) => [keyOf(row.account_id, row.environment), row]));
  for (const group of groups) {
    const { account, environment } = group[0]!;
    const { last_number, last_milliseconds } = given.get(keyOf(account.accountId, environment))!;
    for (const [place, job] of group.entries()) {
      job.orderNumber = last_number - group.length + 1 + place;
      job.jobId = uuidv7Of(last_milliseconds, place);
    }
  }
}

const END = statement('jobs.end_creation', 'delete from creations where creation_id = $1');

/**
 * Deletes the creation record of a failed insert. If this deletion fails too, `deleteStaleCreations` repeats
 * it later.
 */
export async function endCreation(database: Database, { id }: OpenCreation): Promise<void> {
  await database.query(END, [id]).catch(() => {});
}

// Skips records that a running transaction has deleted but not committed. A distributed database waits for it.
/**
 * Deletes creation records of processes that died. If a process is only slow, its insert fails, because list
 * readers may have passed its ids.
 */
export const deleteStaleCreations = statement<never, { seconds: number }>(
  'jobs.forget_creations',
  `delete from creations where creation_id in (
     select creation_id from creations
       where begun_at < now() - make_interval(secs => :seconds) for update skip locked)`,
  'delete from creations where begun_at < now() - make_interval(secs => :seconds)',
).run;

const endOfList = (ofPart: string) => `select least(n.last_milliseconds + 1, (
            select min(c.from_milliseconds) from creations c where n.account_id = any(c.accounts) ${ofPart})) as milliseconds
     from job_numbers n where n.part = $1 and n.account_id = $2 and n.environment = $3`;
const END_OF_LIST = statement<{ milliseconds: number }>(
  'jobs.end_of_list',
  endOfList(''),
  endOfList('and c.part = $1'),
);

/**
 * Returns the time before which a paged job list is complete: no more jobs with ids of an earlier time can
 * appear.
 * @returns Unix milliseconds; undefined if no job was ever created
 */
export async function readListEnd(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
): Promise<number | undefined> {
  const [row] = await on.query(END_OF_LIST, [account.part, account.accountId, environment]);
  return row?.milliseconds;
}
