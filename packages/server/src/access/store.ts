/** The SQL statements about accounts and API keys. */
import type { AccountRef, Dialect, Environment, KeyScope } from '../base/account.ts';
import { ApiError } from '../base/errors.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { AccountStatus } from './states.ts';

export interface KeyRow {
  part: number;
  account_id: string;
  username: string;
  account_status: AccountStatus;
  environment: Environment;
  secret_hash: Buffer;
  dialect: Dialect;
  read_only: boolean;
  /** The scopes of the key; null for every scope. */
  scopes: KeyScope[] | null;
  /** The most that the key may order in a day, in cents; null for no limit. */
  daily_cents: number | null;
  default_brand: string | null;
  /**
   * The account's own limit of requests a second for each key; null for the limit of the server
   * (`DRAGOMAN_KEY_REQUESTS`).
   */
  key_requests: number | null;
  allowed_origins: string[];
  /** Why the key does not work any more; null for an active key. */
  ended: 'revoked' | 'expired' | null;
  /** Seconds until the key ends; null when it has no end. */
  seconds_left: number | null;
  /** Whether the time of this use must be written to `last_used_at`. */
  untouched: boolean;
}

const INSERT_ACCOUNT = statement(
  'accounts.insert',
  `insert into accounts (part, account_id, username, email, chat) values ($1, $2, $3, $4, $5)`,
);

export async function insertAccount(
  on: Queryable,
  account: AccountRef,
  fields: { username: string; email: string | undefined; chat: boolean },
): Promise<void> {
  await on.query(INSERT_ACCOUNT, [
    account.part,
    account.accountId,
    fields.username,
    fields.email ?? null,
    fields.chat,
  ]);
}

const LOCK_ACCOUNT = statement<{ ends: boolean }>(
  'accounts.lock',
  `select num_nonnulls(erase_requested_at, erased_at) > 0 as ends from accounts
    where part = $1 and account_id = $2 for no key update`,
);

/**
 * Locks an account, so that concurrent changes run one after the other.
 * @throws ApiError `conflict` when the account is erased or its erasure was requested
 */
export async function lockAccount(transaction: Transaction, account: AccountRef): Promise<void> {
  const [row] = await transaction.query(LOCK_ACCOUNT, [account.part, account.accountId]);
  if (row?.ends) throw new ApiError('conflict', 'This account is being erased.');
}

export interface AccountRow {
  part: number;
  account_id: string;
  username: string;
  status: AccountStatus;
  email: string | null;
  chat: boolean;
  chat_correction: boolean;
  key_requests: number | null;
}

export const findAccount = statement<AccountRow, { username: string }>(
  'accounts.find',
  `select part, account_id, username, status, email, chat, chat_correction, key_requests
     from accounts where username = :username`,
).first;

export const readUsername = statement<{ username: string }, { account: AccountRef }>(
  'accounts.username',
  `select username from accounts where part = :part and account_id = :account_id`,
).firstValue;

/** @returns false when the account does not have the status `from` */
export const updateStatus = statement<
  { account_id: string },
  { account: AccountRef; from: AccountStatus; to: AccountStatus }
>(
  'accounts.set_status',
  `update accounts set status = :to, resumed_at = coalesce((select now() where :to = 'active'), resumed_at)
    where part = :part and account_id = :account_id and status = :from returning account_id`,
).found;

export const setChat = statement<never, { account: AccountRef; chat: boolean }>(
  'accounts.set_chat',
  `update accounts set chat = :chat, chat_from = null, chat_until = null where part = :part
    and account_id = :account_id`,
).run;

/** @param limit requests a second for each key; 0 for no limit, null for the limit of the server */
export const setKeyRequests = statement<never, { account: AccountRef; limit: number | null }>(
  'accounts.set_key_requests',
  `update accounts set key_requests = :limit where part = :part and account_id = :account_id`,
).run;

export const setCorrection = statement<never, { account: AccountRef; wanted: boolean }>(
  'accounts.set_correction',
  `update accounts set chat_correction = :wanted where part = :part and account_id = :account_id`,
).run;

export interface NewKeyRow {
  key_id: string;
  environment: Environment;
  name: string;
  secret_hash: Buffer;
  dialect: Dialect;
  read_only: boolean;
  scopes: readonly KeyScope[] | null;
  daily_cents: number | null;
  expires_at: Date | null;
  made_by: string | null;
}

const INSERT_KEY = statement(
  'accounts.insert_key',
  `insert into keys (key_id, part, account_id, environment, name, secret_hash, dialect, read_only, scopes,
                     daily_cents, expires_at, made_by)
   values (:key_id, :part, :account_id, :environment, :name, :secret_hash, :dialect, :read_only, :scopes,
           :daily_cents, :expires_at, :made_by)`,
);

export async function insertKey(on: Queryable, account: AccountRef, key: NewKeyRow): Promise<void> {
  await on.query(INSERT_KEY, { part: account.part, account_id: account.accountId, ...key });
}

export interface StoredKeyRow {
  key_id: string;
  environment: Environment;
  name: string;
  dialect: Dialect;
  read_only: boolean;
  /** The scopes of the key; null for every scope. */
  scopes: KeyScope[] | null;
  /** The most that the key may order in a day (UTC), in cents; null for no limit. */
  daily_cents: number | null;
  /** What the key ordered today, in cents. It is counted only for a key with a limit. */
  ordered_cents: number;
  created_at: Date;
  /** The time of the last use, accurate to the hour; null when the key was never used. */
  last_used_at: Date | null;
  expires_at: Date | null;
  /** The time when the key was revoked or will be revoked. */
  revoked_at: Date | null;
  /** Whether the key is active now. */
  live: boolean;
  /** The e-mail address of the user who created the key; null when a command or the program created it. */
  made_by: string | null;
  /** Whether the user who created the key is an operator. */
  made_by_operator: boolean;
}

/** Returns the active keys and when they end: first the key that ends first, last the keys without an end. */
export const liveKeys = statement<
  { key_id: string; ends: Date | null },
  { account: AccountRef; environment: Environment }
>(
  'accounts.live_keys',
  `select key_id, least(expires_at, revoked_at) as ends from keys
    where part = :part and account_id = :account_id and environment = :environment
      and coalesce(least(expires_at, revoked_at) > now(), true)
    order by ends nulls last, key_id`,
).rows;

/**
 * Deletes the ended keys of an environment, except the latest ended keys.
 * @param kept the number of latest ended keys that are not deleted
 */
export const forgetEndedKeys = statement<
  never,
  { account: AccountRef; environment: Environment; kept: number }
>(
  'accounts.forget_keys',
  `delete from keys where key_id in (
     select key_id from keys
      where part = :part and account_id = :account_id and environment = :environment
        and least(expires_at, revoked_at) <= now()
      order by least(expires_at, revoked_at) desc, key_id offset :kept)`,
).run;

export const selectKeys = statement<StoredKeyRow, { account: AccountRef }>(
  'accounts.keys',
  `select k.key_id, k.environment, k.name, k.dialect, k.read_only, k.scopes, k.daily_cents,
          case when k.ordered_on = (now() at time zone 'UTC')::date then k.ordered_cents else 0 end as ordered_cents,
          k.created_at, k.last_used_at, k.expires_at, k.revoked_at, coalesce(least(k.expires_at, k.revoked_at) > now(), true) as live,
          u.email as made_by, coalesce(u.role = 'operator', false) as made_by_operator
     from keys k left join users u on u.user_id = k.made_by
    where k.part = :part and k.account_id = :account_id order by k.created_at, k.key_id`,
).rows;

// If the key already ends earlier, `least` keeps this earlier end.
/** @returns the time when the key ends; undefined when there is no such active key */
export const expireKey = statement<
  { revoked_at: Date },
  { account: AccountRef; keyId: string; seconds: number }
>(
  'accounts.revoke_key',
  `update keys set revoked_at = least(revoked_at, now() + make_interval(secs => :seconds::float8))
    where part = :part and account_id = :account_id and key_id = :keyId
      and coalesce(least(expires_at, revoked_at) > now(), true)
   returning revoked_at`,
).firstValue;

export interface CreatedKeyRow {
  made_by: string;
  key_id: string;
  environment: Environment;
  name: string;
  username: string;
}

/** Returns the active keys that these users created. */
export const selectKeysCreatedBy = statement<CreatedKeyRow, { userIds: readonly string[] }>(
  'accounts.keys_made_by',
  `select k.made_by, k.key_id, k.environment, k.name, a.username
     from keys k join accounts a on a.part = k.part and a.account_id = k.account_id
    where k.made_by = any(:userIds::uuid[]) and coalesce(least(k.expires_at, k.revoked_at) > now(), true)
    order by k.created_at, k.key_id`,
).rows;

const REVOKE_MADE_BY = statement<{ key_id: string; part: number; account_id: string }>(
  'accounts.revoke_made_by',
  `update keys set revoked_at = now()
    where made_by = $1 and coalesce(least(expires_at, revoked_at) > now(), true)
   returning key_id, part, account_id`,
);

/** Revokes the active keys that a user created, and returns them. */
export async function expireKeysCreatedBy(
  on: Queryable,
  userId: string,
): Promise<{ keyId: string; account: AccountRef }[]> {
  const rows = await on.query(REVOKE_MADE_BY, [userId]);
  return rows.map(({ key_id, part, account_id }) => ({
    keyId: key_id,
    account: { part, accountId: account_id } as AccountRef,
  }));
}

// The last use is accurate to the hour, so a key in use costs one write an hour.
export const touchKey = statement<never, { keyId: string }>(
  'accounts.touch_key',
  `update keys set last_used_at = now()
    where key_id = :keyId and (last_used_at is null or last_used_at < now() - interval '1 hour')`,
).run;

/** Finds a key by its public part. The caller compares the secret part and refuses an ended key. */
export const findKey = statement<KeyRow, { keyId: string }>(
  'accounts.find_key',
  `select k.part, k.account_id, a.username, a.status as account_status, k.environment, k.secret_hash, k.dialect, k.read_only,
          k.scopes, k.daily_cents, a.default_brand, a.key_requests, a.allowed_origins,
          case when k.revoked_at <= now() then 'revoked' when k.expires_at <= now() then 'expired' end as ended,
          extract(epoch from least(k.expires_at, k.revoked_at) - now())::float8 as seconds_left,
          coalesce(k.last_used_at < now() - interval '1 hour', true) as untouched
     from keys k join accounts a on a.part = k.part and a.account_id = k.account_id
    where k.key_id = :keyId`,
).first;

const ORIGINS = statement<{ allowed_origins: string[] }>(
  'accounts.origins',
  'select allowed_origins from accounts where part = $1 and account_id = $2',
);

export async function selectOrigins(on: Queryable, account: AccountRef): Promise<string[]> {
  const [row] = await on.query(ORIGINS, [account.part, account.accountId]);
  return row?.allowed_origins ?? [];
}

export const updateOrigins = statement<never, { account: AccountRef; origins: readonly string[] }>(
  'accounts.set_origins',
  'update accounts set allowed_origins = :origins where part = :part and account_id = :account_id',
).run;

/** Returns whether any account lists this origin. */
export const isListedOrigin = statement<{ listed: boolean }, { origin: string }>(
  'accounts.listed_origin',
  'select exists (select from accounts where allowed_origins @> array[:origin::text]) as listed',
).value;
