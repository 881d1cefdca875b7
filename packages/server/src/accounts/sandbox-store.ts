/** What is asked of the database about requests for a sandbox account. */
import type { AccountRef } from '../account.ts';
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
  /** Until when its link opens; null: there is none that does. */
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

/** @returns whether it is new: an e-mail has one open request at a time */
export async function insertRequest(on: Queryable, request: NewRequest): Promise<boolean> {
  const { requestId, name, email, company, purpose } = request;
  return (await on.query(INSERT, [requestId, name, email, company, purpose])).length > 0;
}

const INSERT_OR_LOCK = statement<{ request_id: string }>(
  'sandbox.insert_or_lock',
  `insert into sandbox_requests (request_id, name, email, company, purpose) values ($1, $2, $3, $4, $5)
   on conflict (email) where status = 'open' do update set purpose = excluded.purpose
   returning request_id`,
);

/** The open request of an e-mail, made where there is none; nobody else decides on it until the transaction ends. */
export async function insertOrLockRequest(
  transaction: Transaction,
  { requestId, name, email, company, purpose }: NewRequest,
): Promise<string> {
  return (await transaction.query(INSERT_OR_LOCK, [requestId, name, email, company, purpose]))[0]!.request_id;
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

/** Newest first. */
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

/** @returns whether it was open */
export async function grantRequest(
  on: Queryable,
  requestId: string,
  by: string,
  account: AccountRef,
): Promise<boolean> {
  return (await on.query(GRANT, [requestId, by, account.part, account.accountId])).length > 0;
}

const REFUSE = statement<{ request_id: string }>(
  'sandbox.refuse',
  `update sandbox_requests set status = 'refused', decided_at = now(), decided_by = $2
    where request_id = $1 and status = 'open' returning request_id`,
);

/** @returns whether it was open */
export async function refuseRequest(on: Queryable, requestId: string, by: string): Promise<boolean> {
  return (await on.query(REFUSE, [requestId, by])).length > 0;
}

const SET_LINK = statement<{ expires_at: Date }>(
  'sandbox.set_link',
  `update sandbox_requests set token_hash = $2, expires_at = now() + make_interval(secs => $3::float8), mailed = null
    where request_id = $1 and status = 'granted' and shown_at is null
   returning expires_at`,
);

/** A link that was made before opens no more. @returns until when; undefined when its key was shown already */
export async function setLink(
  on: Queryable,
  requestId: string,
  tokenHash: Buffer,
  seconds: number,
): Promise<Date | undefined> {
  return (await on.query(SET_LINK, [requestId, tokenHash, seconds]))[0]?.expires_at;
}

const SET_MAILED = statement(
  'sandbox.set_mailed',
  `update sandbox_requests set mailed = $2 where request_id = $1`,
);

export async function setMailed(on: Queryable, requestId: string, sent: boolean): Promise<void> {
  await on.query(SET_MAILED, [requestId, sent ? 'sent' : 'failed']);
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

/** It opens no more; undefined for all but the first who asks. */
export async function takeLink(on: Queryable, tokenHash: Buffer): Promise<AccountRef | undefined> {
  const [row] = await on.query(USE_LINK, [tokenHash]);
  return row && ({ part: row.part, accountId: row.account_id } as AccountRef);
}
