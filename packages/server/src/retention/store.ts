/** The SQL statements about retention, export and erasure. */
import type { AccountRef } from '../base/account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { type Statement, statement } from '../database/statements.ts';
import { TABLES, type Table } from './tables.ts';

/** The retention periods in days; null means unlimited. */
export interface RetentionPeriods {
  attempts: number | null;
  events: number | null;
  texts: number | null;
}

const READ = statement<RetentionPeriods>(
  'retention.read',
  `select keep_attempts_days as attempts, keep_events_days as events, keep_texts_days as texts
     from accounts where part = $1 and account_id = $2`,
);

export async function readRetention(on: Queryable, account: AccountRef): Promise<RetentionPeriods> {
  const [row] = await on.query(READ, [account.part, account.accountId]);
  return row ?? { attempts: null, events: null, texts: null };
}

export const writeRetention = statement<never, { account: AccountRef } & RetentionPeriods>(
  'retention.write',
  `update accounts set keep_attempts_days = :attempts, keep_events_days = :events, keep_texts_days = :texts
    where part = :part and account_id = :account_id`,
).run;

const LIMITED = statement<{ part: number; account_id: string; forgotten: string | null } & RetentionPeriods>(
  'retention.limited',
  `select part, account_id, keep_attempts_days as attempts, keep_events_days as events, keep_texts_days as texts,
          texts_forgotten_to as forgotten
     from accounts
    where erased_at is null and erase_requested_at is null
      and num_nonnulls(keep_attempts_days, keep_events_days, keep_texts_days) > 0`,
);

/** Returns the accounts whose retention is limited. */
export async function listLimited(
  on: Queryable,
): Promise<{ account: AccountRef; periods: RetentionPeriods; forgotten: string | null }[]> {
  const rows = await on.query(LIMITED);
  return rows.map(({ part, account_id: accountId, forgotten, ...periods }) => ({
    account: { part, accountId } as AccountRef,
    periods,
    forgotten,
  }));
}

const ASKED_TO_END = statement<{ part: number; account_id: string }>(
  'retention.asked_to_end',
  `select part, account_id from accounts where erase_requested_at is not null and erased_at is null
    order by erase_requested_at limit $1`,
);

/** Returns the accounts whose erasure is requested and not finished, oldest request first. */
export async function listRequestedErasures(on: Queryable, limit: number): Promise<AccountRef[]> {
  const rows = await on.query(ASKED_TO_END, [limit]);
  return rows.map(({ part, account_id: accountId }) => ({ part, accountId }) as AccountRef);
}

const ASK_TO_END = statement<{ since: Date; is_first: boolean }>(
  'retention.ask_to_end',
  `update accounts a set erase_requested_at = least(a.erase_requested_at, now())
     from (select erase_requested_at as since from accounts where part = $1 and account_id = $2 for no key update) before
    where a.part = $1 and a.account_id = $2
   returning a.erase_requested_at as since, before.since is null as is_first`,
);

/**
 * Records that an account is to be erased.
 * @returns the time of the first request, and whether this request is the first
 */
export async function markForErasure(
  transaction: Transaction,
  account: AccountRef,
): Promise<{ since: Date; isFirst: boolean }> {
  const [row] = await transaction.query(ASK_TO_END, [account.part, account.accountId]);
  return { since: row!.since, isFirst: row!.is_first };
}

const END_ATTEMPTS = statement<{ delivery_id: string }>(
  'retention.end_attempts',
  `delete from attempts where part = $1 and account_id = $2 and (delivery_id, attempt) in (
     select a.delivery_id, a.attempt from attempts a
       join deliveries d on d.part = $1 and d.account_id = a.account_id and d.delivery_id = a.delivery_id
      where a.part = $1 and a.account_id = $2 and a.delivery_id < $3 and d.status <> 'pending'
        and d.finished_at < now() - make_interval(days => $4)
      order by a.delivery_id limit $5)
   returning delivery_id`,
);

/** Deletes attempts of finished deliveries. @returns the number of deleted attempts */
export async function deleteAttempts(
  on: Queryable,
  account: AccountRef,
  before: string,
  days: number,
  limit: number,
): Promise<number> {
  return (await on.query(END_ATTEMPTS, [account.part, account.accountId, before, days, limit])).length;
}

// A callback has the id of its event. Deliveries to webhook endpoints have ids of their own, created at the same time.
const OLD_EVENTS = statement<{ event_id: string }>(
  'retention.old_events',
  `(select e.event_id from events e left join deliveries d
        on d.part = $1 and d.account_id = e.account_id and d.delivery_id = e.event_id
     where e.part = $1 and e.account_id = $2 and e.event_id < $3 and d.status is distinct from 'pending'
     order by e.event_id limit $4)
   union all
   (select delivery_id from deliveries
     where part = $1 and account_id = $2 and delivery_id < $3 and endpoint_id is not null and status <> 'pending'
     order by delivery_id limit $4)
   limit $4`,
);
const EVENTS_END = (['attempts', 'deliveries', 'events'] as const).map((table) =>
  statement(
    `retention.end_${table}_of`,
    `delete from ${table} where part = $1 and account_id = $2 and ${table === 'events' ? 'event_id' : 'delivery_id'} = any($3)`,
  ),
);

/**
 * Deletes events with their callbacks, except events with pending callbacks, and deliveries to webhook endpoints,
 * except pending ones. @returns the number of events and deliveries to webhook endpoints
 */
export async function deleteEvents(
  transaction: Transaction,
  account: AccountRef,
  before: string,
  limit: number,
): Promise<number> {
  const key = [account.part, account.accountId];
  const ids = (await transaction.query(OLD_EVENTS, [...key, before, limit])).map(({ event_id }) => event_id);
  if (ids.length > 0) for (const one of EVENTS_END) await transaction.query(one, [...key, ids]);
  return ids.length;
}

// The search reads `job_texts`, because jobs whose texts were already deleted have no rows there. The jobs are locked,
// so a concurrent rejection either sees the job with its texts or is refused because its texts are gone.
const OLD_JOBS = statement<{ job_id: string }>(
  'retention.old_jobs',
  `select j.job_id from jobs j
    where j.part = $1 and j.account_id = $2 and j.job_id in (
        select distinct t.job_id from job_texts t
          join jobs f on f.part = $1 and f.account_id = t.account_id and f.job_id = t.job_id
         where t.part = $1 and t.account_id = $2 and t.job_id < $3
           and f.status in ('completed', 'failed', 'canceled', 'accepted')
           and f.finished_at < now() - make_interval(days => $4)
         order by t.job_id limit $5)
      and j.status in ('completed', 'failed', 'canceled', 'accepted')
    order by j.job_id for update of j skip locked`,
);
const JOBS_FORGET = [
  [
    'segments',
    `source = '[]', draft = case when draft is not null then '[]'::jsonb end, notes = '{}',
      similar_entry = null, cuts = null, joined = joined - 'own' - 'codes' - 'target'`,
  ],
  ['edits', `target = '[]'`],
  ['issues', 'note = null'],
  ['job_events', 'detail = null'],
].map(([table, change]) =>
  statement(
    `retention.forget_${table}`,
    `update ${table} set ${change} where part = $1 and account_id = $2 and job_id = any($3)`,
  ),
);
const FORGET_REPORTS = statement(
  'retention.forget_task_reports',
  `update task_reports set note = null
    where part = $1 and account_id = $2 and note is not null and task_id in (
      select task_id from tasks where part = $1 and account_id = $2 and job_id = any($3))`,
);
const JOBS_END = (
  ['comments', 'edit_history', 'fills', 'votes', 'job_texts', 'looks', 'queries', 'term_proposals'] as const
).map((table) =>
  statement(
    `retention.end_${table}`,
    `delete from ${table} where part = $1 and account_id = $2 and job_id = any($3)`,
  ),
);

// The editing worker then notes whether the editors still disagree, as after every other change of their votes.
const QUEUE_DISAGREEMENTS = statement(
  'retention.queue_disagreements',
  `insert into propagations (part, account_id, reading)
   select distinct d.part, d.account_id, d.reading
     from votes v
     join disagreements d on d.part = $1 and d.account_id = v.account_id and d.reading = v.reading
      and d.context = v.context and d.ruled_at is null
    where v.part = $1 and v.account_id = $2 and v.job_id = any($3) and v.withdrawn_at is null`,
);

/** Deletes the texts of finished jobs. Rules keep their texts. The jobs and their charges stay. @returns the number of jobs */
export async function deleteJobTexts(
  transaction: Transaction,
  account: AccountRef,
  before: string,
  days: number,
  limit: number,
): Promise<number> {
  const key = [account.part, account.accountId];
  const rows = await transaction.query(OLD_JOBS, [...key, before, days, limit]);
  const ids = rows.map(({ job_id }) => job_id);
  if (ids.length > 0) {
    for (const one of [...JOBS_FORGET, FORGET_REPORTS, QUEUE_DISAGREEMENTS, ...JOBS_END]) {
      await transaction.query(one, [...key, ids]);
    }
  }
  return ids.length;
}

/** Deletes what editors changed in drafts that were delivered more than `days` ago. */
export const deleteEfforts = statement<never, { account: AccountRef; days: number }>(
  'retention.end_efforts',
  'delete from memory_efforts where part = :part and account_id = :account_id and day < current_date - :days::integer',
).run;

const FORGET_MESSAGES = statement<{ message_id: string }>(
  'retention.forget_messages',
  `update messages set body = '', translated = case when translated is not null then '' end
    where part = $1 and account_id = $2 and message_id in (
      select message_id from messages
       where part = $1 and account_id = $2 and message_id > $3 and message_id < $4 and status <> 'mt_init' and body <> ''
       order by message_id limit $5)
   returning message_id`,
);
const WAITING = statement<{ some: boolean }>(
  'retention.waiting_messages',
  `select exists (
     select from messages
      where part = $1 and account_id = $2 and message_id > $3 and message_id < $4 and status = 'mt_init') as some`,
);
const FORGOTTEN_TO = statement(
  'retention.forgotten_to',
  `update accounts set texts_forgotten_to = $3 where part = $1 and account_id = $2`,
);

/**
 * Deletes the texts of messages that do not wait for their translation. While one waits, as in a suspended account, the
 * next round begins before it again.
 * @param range `from`: where the round began; `after`: where this batch begins
 * @returns the id of the last message; undefined if no message is left
 */
export async function deleteMessageTexts(
  transaction: Transaction,
  account: AccountRef,
  { from, after, before }: { from: string; after: string; before: string },
  limit: number,
): Promise<string | undefined> {
  const key = [account.part, account.accountId];
  // Asked first, because a message that is translated in between keeps its text in this round.
  const [waiting] = await transaction.query(WAITING, [...key, from, before]);
  const rows = await transaction.query(FORGET_MESSAGES, [...key, after, before, limit]);
  const last = rows
    .map(({ message_id }) => message_id)
    .sort()
    .at(-1);
  if (last !== undefined && !waiting!.some) await transaction.query(FORGOTTEN_TO, [...key, last]);
  return last;
}

/** For each type of key column, a value that sorts before every key. */
const FIRST = { uuid: '00000000-0000-0000-0000-000000000000', text: '', integer: -1 };

/** Conditions on the row `t` that an export contains, by the value of `only`. */
const ONLY = {
  // A machine job has edited_jobs only if its upgrade was canceled. The texts of a rejected job may still change.
  delivered: `exists (
    select from jobs j where j.part = $1 and j.account_id = t.account_id and j.job_id = t.job_id
       and j.status in ('completed', 'accepted')
       and (j.tier <> 'machine' or not exists (
         select from edited_jobs w
          where w.part = $1 and w.account_id = j.account_id and w.job_id = j.job_id)))`,
  // During the delivery delay, an unfinished job already has its result.
  result: `(t.kind <> 'result' or exists (
    select from jobs j where j.part = $1 and j.account_id = t.account_id and j.job_id = t.job_id
       and j.status in ('completed', 'accepted', 'rejected')))`,
  entry: '(t.delivered or t.weight > 0)',
  lesson: `t.outcome <> 'confirmed'`,
} as const;

interface TableStatements {
  table: Table;
  erase?: Statement<{ one: number }>;
  left?: Statement<{ some: boolean }>;
  page?: { statement: Statement<{ row: Record<string, unknown>; key: string[] }>; first: unknown[] };
}

const STATEMENTS: TableStatements[] = TABLES.map((table) => {
  const { name, key, hidden = [], only, text, erase } = table;
  const made: TableStatements = { table };
  if (erase === 'delete') {
    made.erase = statement(
      `retention.erase_${name}`,
      `delete from ${name} where part = $1 and account_id = $2 and ctid = any(array(
         select ctid from ${name} where part = $1 and account_id = $2 limit $3))
       returning 1 as one`,
    );
    made.left = statement(
      `retention.left_${name}`,
      `select exists (select from ${name} where part = $1 and account_id = $2) as some`,
    );
  }
  if (key !== undefined) {
    const columns = Object.keys(key).map((column) => `t.${column}`);
    const after = Object.values(key).map((type, index) => `$${index + 4}::${type}`);
    const left = hidden.map((column) => ` - '${column}'`).join('');
    const clear =
      text === undefined ? '' : ` || jsonb_build_object('${text}', convert_from(t.${text}, 'UTF8'))`;
    made.page = {
      statement: statement(
        `retention.page_${name}`,
        `select to_jsonb(t)${left}${clear} as row, array[${columns.map((one) => `${one}::text`).join(', ')}] as key
           from ${name} t where t.part = $1 and t.account_id = $2
            and (${columns.join(', ')}) > (${after.join(', ')})${only === undefined ? '' : ` and ${ONLY[only]}`}
          order by ${columns.join(', ')} limit $3`,
      ),
      first: Object.values(key).map((type) => FIRST[type]),
    };
  }
  return made;
});

/** Deletes rows of an account in one table. @returns the number of deleted rows */
export async function eraseRows(
  on: Queryable,
  account: AccountRef,
  { erase }: TableStatements,
  limit: number,
): Promise<number> {
  if (erase === undefined) return 0;
  return (await on.query(erase, [account.part, account.accountId, limit])).length;
}

/** Returns whether rows of a table are left, including rows whose deletion is not yet committed. */
export async function hasRows(
  on: Queryable,
  account: AccountRef,
  { left }: TableStatements,
): Promise<boolean> {
  return left !== undefined && (await on.query(left, [account.part, account.accountId]))[0]!.some;
}

/** Returns every table with its statements, in the order of deletion. */
export function allTables(): readonly TableStatements[] {
  return STATEMENTS;
}

/** Yields every row of an account in one table. The rows are read in pages. */
export async function* rowsOf(
  on: Queryable,
  account: AccountRef,
  { page }: TableStatements,
  limit: number,
): AsyncGenerator<Record<string, unknown>> {
  let after = page?.first;
  while (page !== undefined && after !== undefined) {
    const rows = await on.query(page.statement, [account.part, account.accountId, limit, ...after]);
    for (const { row } of rows) yield row;
    after = rows.length < limit ? undefined : rows.at(-1)!.key;
  }
}

export const listUnfinished = statement<
  {
    environment: 'production' | 'sandbox';
    tier: 'human' | 'machine' | 'chat';
    uid: string;
    job_id: string;
  },
  { account: AccountRef; limit: number }
>(
  'retention.unfinished',
  `select environment, tier, uid, job_id from jobs
    where part = :part and account_id = :account_id
      and status in ('new', 'machine_translate_in_progress', 'translating')
    limit :limit`,
).rows;

const STRIP_JOBS = statement<{ job_id: string }>(
  'retention.strip_jobs',
  `update jobs set uid = job_id::text, request_hash = '', tone = null, topics = null, brand = null,
          default_brand = null, document_settings = null, callback_url = null, mail_to = null, mail_at = null, failure = case when status = 'failed' then 'erased' end
    where part = $1 and account_id = $2 and job_id in (
      select job_id from jobs where part = $1 and account_id = $2 and uid <> job_id::text limit $3)
   returning job_id`,
);
const STRIP_EVENTS = statement(
  'retention.strip_events',
  `update job_events set detail = null where part = $1 and account_id = $2 and detail is not null`,
);
const STRIP_REQUESTS = statement(
  'retention.strip_requests',
  `update sandbox_requests set name = 'erased', email = request_id || '@erased.invalid', company = '', purpose = ''
    where part = $1 and account_id = $2`,
);
const STRIP_ACCOUNT = statement(
  'retention.strip_account',
  `update accounts set username = 'erased-' || right(account_id::text, 12), email = null, chat = false, chat_pairs = null,
          allowed_origins = '{}', default_brand = null, erased_at = now()
    where part = $1 and account_id = $2 and erased_at is null
   returning account_id`,
);

/** Removes customer data from jobs. @returns the number of jobs */
export async function stripJobs(on: Queryable, account: AccountRef, limit: number): Promise<number> {
  return (await on.query(STRIP_JOBS, [account.part, account.accountId, limit])).length;
}

/**
 * Removes customer data from the rows that stay after the erasure, except jobs, and frees the user name.
 * @returns false if the account was erased before
 */
export async function stripAccount(transaction: Transaction, account: AccountRef): Promise<boolean> {
  const values = [account.part, account.accountId];
  await transaction.query(STRIP_EVENTS, values);
  await transaction.query(STRIP_REQUESTS, values);
  return (await transaction.query(STRIP_ACCOUNT, values)).length > 0;
}
