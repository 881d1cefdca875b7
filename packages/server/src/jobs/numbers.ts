/**
 * Order numbers and ids of new jobs. Both are given in one short transaction before the insert, so they are in the order
 * of the requests, within an account and environment and over all processes.
 *
 * Numbers are given before the commit, so a job may become visible after jobs with larger numbers. The numbers' own
 * transaction also records that a creation is under way, and the insert's transaction deletes that record. A list that
 * is followed ends before the oldest creation under way (`endOfList`): nothing can appear behind a reader.
 *
 * Holding the counter's lock through the insert would need no record. But then one account's bulk of 40 MB would hold
 * up every batch that has a job of that account, and with it the other accounts of the batch.
 *
 * The short transaction does not wait for the disk (`synchronous_commit = off`). A crash may undo it only together with
 * the insert, which comes later in the log: a number that anybody has seen is never given twice.
 */
import type { AccountRef, Environment } from '../account.ts';
import type { Database, Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { uuidv7, uuidv7Of } from '../ids.ts';
import type { NewWork } from './store.ts';

interface Numbered {
  account_id: string;
  environment: Environment;
  last_number: number;
  last_milliseconds: number;
}

// In the order of the key: two that number jobs of the same accounts would otherwise wait in a circle.
const NUMBER = statement<Numbered>(
  'jobs.number',
  `with moment as materialized (
     select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms,
            set_config('synchronous_commit',
              case when $5::uuid is null then current_setting('synchronous_commit') else 'off' end, true)),
   begun as (
     insert into creations (creation_id, accounts, from_milliseconds)
     select $5, $2::uuid[], ms from moment where $5::uuid is not null)
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

/** A transaction that inserts jobs, as readers of lists know it until it ends. */
export interface Creation {
  id: string;
  /** The insert's transaction has deleted the record, and is committed with it unless it fails. */
  ended: boolean;
}

/** Gives jobs their numbers and ids, in the order of the list, and records that they are being created. */
export async function beginCreation(database: Database, jobs: readonly NewWork[]): Promise<Creation> {
  const creation = { id: uuidv7(), ended: false };
  await number(database, jobs, creation.id);
  return creation;
}

/** Gives a job that no list shows its number, in the transaction that inserts it. */
export async function numberJob(on: Queryable, job: NewWork): Promise<void> {
  const { jobId } = job;
  await number(on, [job], null);
  job.jobId = jobId;
}

async function number(on: Queryable, jobs: readonly NewWork[], creation: string | null): Promise<void> {
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

/** Ends a creation that came to nothing. Where even that fails, `forgetCreations` does it later. */
export async function endCreation(database: Database, { id }: Creation): Promise<void> {
  await database.query(END, [id]).catch(() => {});
}

// What a transaction under way has deleted is locked by it.
const FORGET = statement(
  'jobs.forget_creations',
  `delete from creations where creation_id in (
     select creation_id from creations where begun_at < now() - make_interval(secs => $1) for update skip locked)`,
);

/**
 * Ends creations of processes that died. One that is only slow finds its record gone, and fails rather than insert
 * behind the readers of lists.
 */
export async function forgetCreations(database: Database, seconds: number): Promise<void> {
  await database.query(FORGET, [seconds]);
}

const END_OF_LIST = statement<{ milliseconds: number }>(
  'jobs.end_of_list',
  `select least(n.last_milliseconds + 1,
                (select min(c.from_milliseconds) from creations c where n.account_id = any(c.accounts))) as milliseconds
     from job_numbers n where n.part = $1 and n.account_id = $2 and n.environment = $3`,
);

/**
 * Where a list that is followed ends now: no job whose id begins with fewer milliseconds can still appear.
 * @returns Unix milliseconds; undefined where no job was ever created
 */
export async function endOfList(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
): Promise<number | undefined> {
  const [row] = await on.query(END_OF_LIST, [account.part, account.accountId, environment]);
  return row?.milliseconds;
}
