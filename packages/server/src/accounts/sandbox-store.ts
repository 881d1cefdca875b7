/** The SQL statements about sandbox requests and the daily word quota. */
import type { AccountRef } from '../base/account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';

export const REQUEST_STATUSES = ['open', 'granted', 'refused'] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

export interface RequestRow {
  request_id: string;
  created_at: Date;
  name: string;
  email: string;
  company: string;
  purpose: string;
  status: RequestStatus;
  decided_at: Date | null;
  decided_by: string | null;
  part: number | null;
  account_id: string | null;
  username: string | null;
  /** The moment until which the link of the request is valid; null when the request has no valid link. */
  link_until: Date | null;
  shown_at: Date | null;
  mailed: 'sent' | 'failed' | null;
}

const COLUMNS = `r.request_id, r.created_at, r.name, r.email, r.company, r.purpose, r.status, r.decided_at, r.decided_by,
          r.part, r.account_id, a.username,
          case when r.token_hash is not null and r.expires_at > now() then r.expires_at end as link_until,
          r.shown_at, r.mailed
     from sandbox_requests r left join accounts a on a.part = r.part and a.account_id = r.account_id`;

export interface NewRequest {
  requestId: string;
  name: string;
  email: string;
  company: string;
  purpose: string;
}

const INSERT = statement<{ request_id: string }>(
  'sandbox.insert',
  `insert into sandbox_requests (request_id, name, email, company, purpose) values ($1, $2, $3, $4, $5)
   on conflict (email) where status = 'open' do nothing
   returning request_id`,
);

/** @returns false when the e-mail address already has an open request */
export async function insertRequest(on: Queryable, request: NewRequest): Promise<boolean> {
  const { requestId, name, email, company, purpose } = request;
  const inserted = (await on.query(INSERT, [requestId, name, email, company, purpose])).length > 0;
  if (inserted) on.changed('requests');
  return inserted;
}

const INSERT_OR_LOCK = statement<{ request_id: string }>(
  'sandbox.insert_or_lock',
  `insert into sandbox_requests (request_id, name, email, company, purpose) values ($1, $2, $3, $4, $5)
   on conflict (email) where status = 'open' do update set purpose = excluded.purpose
   returning request_id`,
);

/** Finds or inserts the open request of an e-mail address, and locks its row until the transaction ends. */
export async function insertOrLockRequest(
  transaction: Transaction,
  { requestId, name, email, company, purpose }: NewRequest,
): Promise<string> {
  const rows = await transaction.query(INSERT_OR_LOCK, [requestId, name, email, company, purpose]);
  transaction.changed('requests');
  return rows[0]!.request_id;
}

const HAS_ACCOUNT = statement<{ has: boolean }>(
  'sandbox.has_account',
  `select exists (select from sandbox_requests where email = $1 and status = 'granted') as has`,
);

export async function wasGranted(on: Queryable, email: string): Promise<boolean> {
  return (await on.query(HAS_ACCOUNT, [email]))[0]!.has;
}

const LIST = statement<RequestRow>(
  'sandbox.list',
  `select ${COLUMNS} where ($1::text is null or r.status = $1) and ($2::uuid is null or r.request_id < $2)
    order by r.request_id desc limit $3`,
);

/** Lists requests, newest first. */
export function listRequests(
  on: Queryable,
  filter: { status: RequestStatus | undefined; after: string | undefined },
  limit: number,
): Promise<RequestRow[]> {
  return on.query(LIST, [filter.status ?? null, filter.after ?? null, limit]);
}

const FIND = statement<RequestRow>('sandbox.find', `select ${COLUMNS} where r.request_id = $1`);

export async function findRequest(on: Queryable, requestId: string): Promise<RequestRow | undefined> {
  return (await on.query(FIND, [requestId]))[0];
}

const GRANT = statement<{ request_id: string }>(
  'sandbox.grant',
  `update sandbox_requests set status = 'granted', decided_at = now(), decided_by = $2, part = $3, account_id = $4
    where request_id = $1 and status = 'open' returning request_id`,
);

/** @returns false when the request is already granted or refused */
export async function grantRequest(
  on: Queryable,
  requestId: string,
  by: string,
  account: AccountRef,
): Promise<boolean> {
  const granted = (await on.query(GRANT, [requestId, by, account.part, account.accountId])).length > 0;
  if (granted) on.changed('requests');
  return granted;
}

const REFUSE = statement<{ request_id: string }>(
  'sandbox.refuse',
  `update sandbox_requests set status = 'refused', decided_at = now(), decided_by = $2
    where request_id = $1 and status = 'open' returning request_id`,
);

/** @returns false when the request is already granted or refused */
export async function refuseRequest(on: Queryable, requestId: string, by: string): Promise<boolean> {
  const refused = (await on.query(REFUSE, [requestId, by])).length > 0;
  if (refused) on.changed('requests');
  return refused;
}

const SET_LINK = statement<{ expires_at: Date }>(
  'sandbox.set_link',
  `update sandbox_requests set token_hash = $2, expires_at = now() + make_interval(secs => $3::float8), mailed = null
    where request_id = $1 and status = 'granted' and shown_at is null
   returning expires_at`,
);

/**
 * Replaces the link of a granted request. @returns the expiry of the link; undefined when the key was already
 * shown
 */
export async function setLink(
  on: Queryable,
  requestId: string,
  tokenHash: Buffer,
  seconds: number,
): Promise<Date | undefined> {
  const [row] = await on.query(SET_LINK, [requestId, tokenHash, seconds]);
  if (row !== undefined) on.changed('requests');
  return row?.expires_at;
}

const SET_MAILED = statement(
  'sandbox.set_mailed',
  `update sandbox_requests set mailed = $2 where request_id = $1`,
);

export async function setMailed(on: Queryable, requestId: string, sent: boolean): Promise<void> {
  await on.query(SET_MAILED, [requestId, sent ? 'sent' : 'failed']);
  on.changed('requests');
}

const BY_LINK = statement<RequestRow>(
  'sandbox.by_link',
  `select ${COLUMNS} where r.token_hash = $1 and r.expires_at > now()`,
);

export async function findByLink(on: Queryable, tokenHash: Buffer): Promise<RequestRow | undefined> {
  return (await on.query(BY_LINK, [tokenHash]))[0];
}

const USE_LINK = statement<{ part: number; account_id: string }>(
  'sandbox.use_link',
  `update sandbox_requests set token_hash = null, shown_at = now()
    where token_hash = $1 and expires_at > now() returning part, account_id`,
);

/**
 * Uses up a valid link. If several calls use the same link, only one of them gets the account and the others
 * get undefined.
 */
export async function useLink(on: Queryable, tokenHash: Buffer): Promise<AccountRef | undefined> {
  const [row] = await on.query(USE_LINK, [tokenHash]);
  if (row !== undefined) on.changed('requests');
  return row && ({ part: row.part, accountId: row.account_id } as AccountRef);
}

// The day is taken from the database's clock, in UTC. The statement itself checks the quota, so concurrent
// requests cannot exceed it.
const COUNT_WORDS = statement<{ day: string }>(
  'sandbox.count_words',
  `with counted as (
     insert into sandbox_words (part, account_id, day, words)
     values ($1, $2, (now() at time zone 'utc')::date, $3)
     on conflict (part, account_id) do update
        set day = greatest(excluded.day, sandbox_words.day),
            words = excluded.words + case when sandbox_words.day >= excluded.day then sandbox_words.words else 0 end
      where excluded.words + case when sandbox_words.day >= excluded.day then sandbox_words.words else 0 end <= $4
     returning day)
   select day::text from counted`,
);

/**
 * Adds words to the count of today. @returns the day; undefined when the words would exceed the quota and were not
 * counted
 */
export async function countWords(
  on: Queryable,
  account: AccountRef,
  words: number,
  quota: number,
): Promise<string | undefined> {
  return (await on.query(COUNT_WORDS, [account.part, account.accountId, words, quota]))[0]?.day;
}

const RETURN_WORDS = statement(
  'sandbox.return_words',
  `update sandbox_words set words = greatest(words - $3, 0)
    where part = $1 and account_id = $2 and day = $4::date`,
);

/** Subtracts words that were counted on a day but not used. */
export async function returnWords(
  on: Queryable,
  account: AccountRef,
  words: number,
  day: string,
): Promise<void> {
  await on.query(RETURN_WORDS, [account.part, account.accountId, words, day]);
}

const WORDS_TODAY = statement<{ words: number }>(
  'sandbox.words_today',
  `select words from sandbox_words
    where part = $1 and account_id = $2 and day = (now() at time zone 'utc')::date`,
);

export async function wordsToday(on: Queryable, account: AccountRef): Promise<number> {
  return (await on.query(WORDS_TODAY, [account.part, account.accountId]))[0]?.words ?? 0;
}
