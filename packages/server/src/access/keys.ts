/**
 * Creates, lists, revokes and rolls the API keys of an account. The secret of a key is shown only once, when
 * the key is created.
 */
import { type Actor, recordAudit } from '../audit/audit.ts';
import { type AccountRef, type Dialect, type Environment, type KeyScope, SCOPES } from '../base/account.ts';
import { ApiError } from '../base/errors.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { type Account, AccountError, KEYS_CHANNEL } from './accounts.ts';
import { createKey } from './secrets.ts';
import * as store from './store.ts';

export interface NewKey {
  environment: Environment;
  /** A label that helps people to recognise the key. */
  name: string;
  dialect: Dialect;
  readOnly: boolean;
  /** The scopes of the key; undefined for every scope, including those that later versions add. */
  scopes: readonly KeyScope[] | undefined;
  /** The most that the key may order in a day, in cents; undefined for no limit. */
  dailyCents?: number | undefined;
  expiresAt: Date | undefined;
}

export interface CreatedKeySecret {
  key_id: string;
  environment: Environment;
  name: string;
  /** The credential in the form `user:key`. It cannot be shown again later. */
  key: string;
}

/**
 * The maximum number of active keys per account and environment. Fifty are enough for one key per program,
 * and the list stays short.
 */
export const MAX_LIVE_KEYS = 50;
/**
 * The number of ended keys per account and environment that stay in the list of keys. Older ended keys are
 * found only in the audit.
 */
const MAX_ENDED_KEYS = 100;
const LISTED_EXPIRIES = 5;

/**
 * Creates a key, with an audit entry.
 * @throws ApiError `conflict` when the account has `MAX_LIVE_KEYS` active keys in the environment
 */
export async function makeKey(
  transaction: Transaction,
  by: Actor,
  account: Pick<Account, 'ref' | 'username'>,
  wanted: NewKey,
): Promise<CreatedKeySecret> {
  const made = await addKey(transaction, by, account, wanted);
  const { environment, name, readOnly: read_only, scopes, dailyCents } = wanted;
  await recordAudit(transaction, by, {
    action: 'key.made',
    account: account.ref,
    subject: made.key_id,
    detail: {
      environment,
      name,
      read_only,
      ...(scopes && { scopes }),
      ...(dailyCents && { daily_cents: dailyCents }),
    },
  });
  return made;
}

/** Creates a key without an audit entry, for actions that write their own. */
export async function addKey(
  on: Transaction,
  by: Actor,
  { ref, username }: Pick<Account, 'ref' | 'username'>,
  { environment, name, dialect, readOnly, scopes, dailyCents, expiresAt }: NewKey,
): Promise<CreatedKeySecret> {
  const { keyId: key_id, secret, hash: secret_hash } = createKey(environment);
  await store.lockAccount(on, ref);
  const live = await store.liveKeys(on, { account: ref, environment });
  if (live.length >= MAX_LIVE_KEYS) throw tooManyKeys(live, environment);
  await store.forgetEndedKeys(on, { account: ref, environment, kept: MAX_ENDED_KEYS });
  await store.insertKey(on, ref, {
    key_id,
    environment,
    name,
    secret_hash,
    dialect,
    read_only: readOnly,
    scopes: scopes === undefined ? null : SCOPES.filter((scope) => scopes.includes(scope)),
    daily_cents: dailyCents ?? null,
    expires_at: expiresAt ?? null,
    made_by: typeof by === 'string' ? null : by.userId,
  });
  return { key_id, environment, name, key: `${username}:${secret}` };
}

function tooManyKeys(
  live: readonly { key_id: string; ends: Date | null }[],
  environment: Environment,
): ApiError {
  const ends = live.filter(({ ends }) => ends !== null).slice(0, LISTED_EXPIRIES);
  const shown = ends.map(({ key_id, ends }) => `${key_id} ends at ${ends!.toISOString()}`);
  const first = shown.length === 0 ? 'none of them expires' : `the first to end: ${shown.join(', ')}`;
  return new ApiError(
    'conflict',
    `An account has at most ${MAX_LIVE_KEYS} active keys in ${environment} (${first}). Revoke an unused key.`,
  );
}

/** A key without its secret. Only a hash of the secret is stored. */
export type StoredKey = store.StoredKeyRow;

/** Lists the active and ended keys of an account, oldest first. */
export function listKeys(on: Queryable, account: AccountRef): Promise<StoredKey[]> {
  return store.selectKeys(on, { account });
}

/**
 * Ends a key now or after some seconds, and notifies all running processes.
 * @returns the time when the key ends
 * @throws AccountError when the account has no such active key
 */
export async function revokeKey(
  database: Database,
  by: Actor,
  account: AccountRef,
  keyId: string,
  afterSeconds: number,
): Promise<Date> {
  const revoked = await database.transaction(async (transaction) => {
    const ends = await endKey(transaction, account, keyId, afterSeconds);
    await recordAudit(transaction, by, { action: 'key.revoked', account, subject: keyId, detail: {} });
    return ends;
  });
  await database.notify(KEYS_CHANNEL);
  return revoked;
}

/**
 * Replaces a key with a new one that has the same properties. Both keys are accepted during the overlap.
 * @throws AccountError when the account has no such active key
 */
export async function rollKey(
  database: Database,
  by: Actor,
  account: Pick<Account, 'ref' | 'username'>,
  keyId: string,
  overlapSeconds: number,
): Promise<CreatedKeySecret & { previous_ends: Date }> {
  const rolled = await database.transaction(async (transaction) => {
    const ends = await endKey(transaction, account.ref, keyId, overlapSeconds);
    const old = (await store.selectKeys(transaction, { account: account.ref })).find(
      (key) => key.key_id === keyId,
    )!;
    const made = await addKey(transaction, by, account, {
      environment: old.environment,
      name: old.name,
      dialect: old.dialect,
      readOnly: old.read_only,
      scopes: old.scopes ?? undefined,
      dailyCents: old.daily_cents ?? undefined,
      expiresAt: old.expires_at ?? undefined,
    });
    await recordAudit(transaction, by, {
      action: 'key.rolled',
      account: account.ref,
      subject: made.key_id,
      detail: { previous: keyId, overlap_seconds: overlapSeconds },
    });
    return { ...made, previous_ends: ends };
  });
  await database.notify(KEYS_CHANNEL);
  return rolled;
}

async function endKey(on: Queryable, account: AccountRef, keyId: string, seconds: number): Promise<Date> {
  const ends = await store.expireKey(on, { account, keyId, seconds });
  if (ends === undefined) throw new AccountError(`The account has no active key ${keyId}.`);
  return ends;
}

/** An active key in the list of keys that a user created. */
export type CreatedKey = Omit<store.CreatedKeyRow, 'made_by'>;

/** Returns the active keys that each of these users created, by user id. */
export async function keysCreatedBy(
  on: Queryable,
  userIds: readonly string[],
): Promise<Map<string, CreatedKey[]>> {
  const created = Map.groupBy(await store.selectKeysCreatedBy(on, { userIds }), ({ made_by }) => made_by);
  return new Map([...created].map(([userId, keys]) => [userId, keys.map(({ made_by: _, ...key }) => key)]));
}

/** Revokes the active keys that a user created. The caller notifies `KEYS_CHANNEL` after the commit. */
export async function revokeKeysCreatedBy(
  transaction: Transaction,
  by: Actor,
  userId: string,
): Promise<void> {
  for (const { keyId, account } of await store.expireKeysCreatedBy(transaction, userId)) {
    await recordAudit(transaction, by, {
      action: 'key.revoked',
      account,
      subject: keyId,
      detail: { with_its_maker: true },
    });
  }
}
