/** The SQL statements about sandbox requests and the daily word quota. */
import Type, { type Static } from 'typebox';
import type { AccountRef } from '../base/account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { ID, MOMENT, OPTIONAL_MOMENT, OPTIONAL_TEXT } from '../http/schemas.ts';

export const REQUEST_STATUSES = ['open', 'granted', 'refused'] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

export const StoredRequest = Type.Object(
  {
    request_id: ID,
    created_at: MOMENT,
    name: Type.String(),
    email: Type.String(),
    company: Type.String(),
    use: Type.String(),
    status: Type.Enum([...REQUEST_STATUSES]),
    decided_at: OPTIONAL_MOMENT,
    decided_by: OPTIONAL_TEXT,
    account: OPTIONAL_TEXT,
    link_until: Type.Union([MOMENT, Type.Null()], {
      description: 'The expiry of the link; null if there is no valid link.',
    }),
    shown_at: Type.Union([MOMENT, Type.Null()], { description: 'When the key of the request was shown.' }),
    mailed: Type.Union([Type.Enum(['sent', 'failed']), Type.Null()]),
  },
  { title: 'SandboxRequest' },
);

/** A request, with the account that was created for it. */
export type RequestRow = Static<typeof StoredRequest> & { part: number | null; account_id: string | null };

const COLUMNS = `r.request_id, r.created_at, r.name, r.email, r.company, r.purpose as use, r.status, r.decided_at, r.decided_by,
          r.part, r.account_id, a.username as account,
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

export const wasGranted = statement<{ has: boolean }, { email: string }>(
  'sandbox.has_account',
  `select exists (select from sandbox_requests where email = :email and status = 'granted') as has`,
).value;

/** Lists requests, newest first. */
export const listRequests = statement<
  RequestRow,
  { status: RequestStatus | null; after: string | null; limit: number }
>(
  'sandbox.list',
  `select ${COLUMNS} where (:status::text is null or r.status = :status)
    and (:after::uuid is null or r.request_id < :after)
    order by r.request_id desc limit :limit`,
).rows;

export const findRequest = statement<RequestRow, { requestId: string }>(
  'sandbox.find',
  `select ${COLUMNS} where r.request_id = :requestId`,
).first;

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

/**
 * Replaces the link of a granted request. @returns the expiry of the link; undefined when the key was already
 * shown
 */
export const setLink = statement<
  { expires_at: Date },
  { requestId: string; tokenHash: Buffer; seconds: number }
>(
  'sandbox.set_link',
  `update sandbox_requests set token_hash = :tokenHash, expires_at = now() + make_interval(secs => :seconds::float8), mailed = null
    where request_id = :requestId and status = 'granted' and shown_at is null
   returning expires_at`,
).reporting('requests').firstValue;

const SET_MAILED = statement(
  'sandbox.set_mailed',
  `update sandbox_requests set mailed = $2 where request_id = $1`,
);

export async function setMailed(on: Queryable, requestId: string, sent: boolean): Promise<void> {
  await on.query(SET_MAILED, [requestId, sent ? 'sent' : 'failed']);
  on.changed('requests');
}

export const findByLink = statement<RequestRow, { tokenHash: Buffer }>(
  'sandbox.by_link',
  `select ${COLUMNS} where r.token_hash = :tokenHash and r.expires_at > now()`,
).first;

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
/**
 * Adds words to the count of today. @returns the day; undefined when the words would exceed the quota and were not
 * counted
 */
export const countWords = statement<{ day: string }, { account: AccountRef; words: number; quota: number }>(
  'sandbox.count_words',
  `with counted as (
     insert into sandbox_words (part, account_id, day, words)
     values (:part, :account_id, (now() at time zone 'utc')::date, :words)
     on conflict (part, account_id) do update
        set day = greatest(excluded.day, sandbox_words.day),
            words = excluded.words + case when sandbox_words.day >= excluded.day then sandbox_words.words else 0 end
      where excluded.words + case when sandbox_words.day >= excluded.day then sandbox_words.words else 0 end <= :quota
     returning day)
   select day::text from counted`,
).firstValue;

/** Subtracts words that were counted on a day but not used. */
export const returnWords = statement<never, { account: AccountRef; words: number; day: string }>(
  'sandbox.return_words',
  `update sandbox_words set words = greatest(words - :words, 0)
    where part = :part and account_id = :account_id and day = :day::date`,
).run;

const WORDS_TODAY = statement<{ words: number }>(
  'sandbox.words_today',
  `select words from sandbox_words
    where part = $1 and account_id = $2 and day = (now() at time zone 'utc')::date`,
);

export async function wordsToday(on: Queryable, account: AccountRef): Promise<number> {
  return (await on.query(WORDS_TODAY, [account.part, account.accountId]))[0]?.words ?? 0;
}
