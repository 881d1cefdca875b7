/** The keys of an account, as its operator keeps them. A secret is shown once, when its key is made. */
import type { AccountRef, Dialect, Environment } from '../account.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import { type Actor, recordAudit } from '../operations/audit.ts';
import { type Account, AccountError, KEYS_CHANNEL } from './accounts.ts';
import { createKey } from './secrets.ts';
import * as store from './store.ts';

export interface NewKey {
  environment: Environment;
  /** For people, to tell keys apart. */
  name: string;
  dialect: Dialect;
  readOnly: boolean;
  expiresAt: Date | undefined;
  /** A person by their id; undefined: a command or the program makes it. */
  madeBy: string | undefined;
}

export interface MadeKey {
  key_id: string;
  environment: Environment;
  name: string;
  /** As `user:key`. Shown this once. */
  key: string;
}

/** Of one account and environment: a key each for many programs, and a bound for what its lists cost. */
export const MAX_LIVE_KEYS = 50;
/** Ended keys of one account and environment that its list still shows; the audit keeps more. */
const MAX_ENDED_KEYS = 100;
const ENDS_SHOWN = 5;

/** @throws ApiError `conflict` where it would be one more than may open at a time */
export async function makeKey(
  on: Transaction,
  { ref, username }: Pick<Account, 'ref' | 'username'>,
  { environment, name, dialect, readOnly, expiresAt, madeBy }: NewKey,
): Promise<MadeKey> {
  const { keyId, secret, hash } = createKey(environment);
  await store.lockAccount(on, ref);
  const live = await store.liveKeys(on, ref, environment);
  if (live.length >= MAX_LIVE_KEYS) throw tooManyKeys(live, environment);
  await store.forgetEndedKeys(on, ref, environment, MAX_ENDED_KEYS);
  await store.insertKey(on, ref, { keyId, environment, name, hash, dialect, readOnly, expiresAt, madeBy });
  return { key_id: keyId, environment, name, key: `${username}:${secret}` };
}

function tooManyKeys(
  live: readonly { key_id: string; ends: Date | null }[],
  environment: Environment,
): ApiError {
  const ends = live.filter(({ ends }) => ends !== null).slice(0, ENDS_SHOWN);
  const shown = ends.map(({ key_id, ends }) => `${key_id} ends at ${ends!.toISOString()}`);
  const first = shown.length === 0 ? 'none of them has an end' : `the first to end: ${shown.join(', ')}`;
  return new ApiError(
    'conflict',
    `At most ${MAX_LIVE_KEYS} keys open ${environment} at a time (${first}). End a key that is not used any more.`,
  );
}

/** What there is to know of a key but its secret, which nobody keeps. */
export type KeptKey = store.KeptKeyRow;

/** Every key of an account, also those that have ended, in the order of their making. */
export function listKeys(on: Queryable, account: AccountRef): Promise<KeptKey[]> {
  return store.listKeys(on, account);
}

/** What is written in the same transaction, such as who did it. @param subject the key or secret by its id */
export type Alongside = (transaction: Transaction, subject: string) => Promise<void>;
export const NOTHING: Alongside = async () => {};

/**
 * Ends a key, at once or after some seconds; running servers see it at once.
 * @returns when it ends
 * @throws AccountError when the account has no such key, or it has ended
 */
export async function revokeKey(
  database: Database,
  account: AccountRef,
  keyId: string,
  afterSeconds: number,
  alongside: Alongside = NOTHING,
): Promise<Date> {
  const revoked = await database.transaction(async (transaction) => {
    const ends = await endKey(transaction, account, keyId, afterSeconds);
    await alongside(transaction, keyId);
    return ends;
  });
  await database.notify(KEYS_CHANNEL);
  return revoked;
}

/**
 * Makes a key like another one and ends that one after an overlap, in which both open.
 * @throws AccountError when the account has no such key, or it has ended
 */
export async function rollKey(
  database: Database,
  account: Pick<Account, 'ref' | 'username'>,
  keyId: string,
  overlapSeconds: number,
  alongside: Alongside = NOTHING,
  madeBy?: string,
): Promise<MadeKey & { previous_ends: Date }> {
  const rolled = await database.transaction(async (transaction) => {
    const ends = await endKey(transaction, account.ref, keyId, overlapSeconds);
    const old = (await store.listKeys(transaction, account.ref)).find((key) => key.key_id === keyId)!;
    const made = await makeKey(transaction, account, {
      environment: old.environment,
      name: old.name,
      dialect: old.dialect,
      readOnly: old.read_only,
      expiresAt: old.expires_at ?? undefined,
      madeBy,
    });
    await alongside(transaction, made.key_id);
    return { ...made, previous_ends: ends };
  });
  await database.notify(KEYS_CHANNEL);
  return rolled;
}

async function endKey(on: Queryable, account: AccountRef, keyId: string, seconds: number): Promise<Date> {
  const ends = await store.revokeKey(on, account, keyId, seconds);
  if (ends === undefined) throw new AccountError(`The account has no key ${keyId} that has not ended.`);
  return ends;
}

/** A live key, for who asks what its maker left. */
export type LeftKey = Omit<store.MadeKeyRow, 'made_by'>;

/** The live keys that each of these people made, by their id. */
export async function keysMadeBy(on: Queryable, userIds: readonly string[]): Promise<Map<string, LeftKey[]>> {
  const made = Map.groupBy(await store.keysMadeBy(on, userIds), ({ made_by }) => made_by);
  return new Map([...made].map(([userId, keys]) => [userId, keys.map(({ made_by: _, ...key }) => key)]));
}

/** Ends every live key that a person made. The caller notifies `KEYS_CHANNEL` after the commit. */
export async function revokeKeysMadeBy(transaction: Transaction, by: Actor, userId: string): Promise<void> {
  for (const { keyId, account } of await store.revokeMadeBy(transaction, userId)) {
    await recordAudit(transaction, by, {
      ...{ action: 'key.revoked', account, subject: keyId, detail: { with_its_maker: true } },
    });
  }
}
