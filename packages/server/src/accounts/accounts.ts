/** Accounts: making them, and telling who is calling. */

import type { AccountRef, Caller, Dialect, Environment } from '../account.ts';
import { createBatcher } from '../database/batcher.ts';
import { type Database, isUnavailable, type Queryable, type Transaction } from '../database/database.ts';
import { ApiError, OperatorError, unauthorized } from '../errors.ts';
import { partOf, uuidv7 } from '../ids.ts';
import {
  availableCents,
  creditLimitOf,
  isOverdrawn,
  openBalances,
  setCreditLimit,
} from '../ledger/ledger.ts';
import {
  createKey,
  createWebhookSecret,
  hashesEqual,
  hashKey,
  keyIdOf,
  MAX_LIVE_SECRETS,
  type Vault,
} from './secrets.ts';
import * as store from './store.ts';

export const ENVIRONMENTS: readonly Environment[] = ['production', 'sandbox'];

export interface NewAccount {
  username: string;
  email: string | undefined;
  /** Put on the production balance, in cents. */
  balanceCents: number;
  dialect: Dialect;
  chat: boolean;
}

/** Secrets in clear, shown this once. Keys as `user:key`. */
export interface AccountCredentials {
  username: string;
  production_key: string;
  sandbox_key: string;
  webhook_secret_production: string;
  webhook_secret_sandbox: string;
}

/** An operator's mistake in making an account; the message is for the operator. */
export class AccountError extends OperatorError {
  override name = 'AccountError';
}

const USERNAME = /^[A-Za-z0-9._@+-]{1,64}$/;
const UNIQUE_VIOLATION = '23505';

/**
 * Makes an account with one key and one webhook secret for each environment, in one transaction.
 * @param madeBy the person who makes it; not given: a command does
 * @throws AccountError when the username cannot be used
 */
export async function createAccount(
  database: Database,
  vault: Vault,
  wanted: NewAccount,
  madeBy?: string,
): Promise<AccountCredentials> {
  if (!USERNAME.test(wanted.username)) {
    throw new AccountError('A username is 1 to 64 of A-Z a-z 0-9 . _ @ + -');
  }
  const accountId = uuidv7();
  const account = { part: partOf(accountId), accountId } as AccountRef;
  const made = ENVIRONMENTS.map((environment) => ({
    environment,
    key: createKey(environment),
    secretId: uuidv7(),
    webhookSecret: createWebhookSecret(),
  }));
  try {
    await database.transaction(async (transaction) => {
      await store.insertAccount(transaction, account, wanted);
      await openBalances(transaction, account, { production: wanted.balanceCents, sandbox: 0 });
      for (const { environment, key, secretId, webhookSecret } of made) {
        await store.insertKey(transaction, account, {
          keyId: key.keyId,
          environment,
          name: 'first',
          hash: key.hash,
          dialect: wanted.dialect,
          readOnly: false,
          expiresAt: undefined,
          madeBy,
        });
        const sealed = vault.seal(Buffer.from(webhookSecret), secretContext(account, environment));
        await store.insertWebhookSecret(transaction, account, { secretId, environment, sealed });
      }
    });
  } catch (error) {
    if ((error as { code?: string }).code === UNIQUE_VIOLATION) {
      throw new AccountError(`There is already an account named ${wanted.username}.`);
    }
    throw error;
  }
  const [production, sandbox] = made as [(typeof made)[0], (typeof made)[0]];
  return {
    username: wanted.username,
    production_key: `${wanted.username}:${production.key.secret}`,
    sandbox_key: `${wanted.username}:${sandbox.key.secret}`,
    webhook_secret_production: production.webhookSecret,
    webhook_secret_sandbox: sandbox.webhookSecret,
  };
}

/**
 * Makes an account without keys: whoever is to have one makes it when they may see it. Its secrets are made, and
 * nobody has seen them.
 * @throws pg's unique violation when the username is taken
 */
export async function createBareAccount(
  transaction: Transaction,
  vault: Vault,
  wanted: Pick<NewAccount, 'username' | 'email' | 'chat'>,
): Promise<AccountRef> {
  const accountId = uuidv7();
  const account = { part: partOf(accountId), accountId } as AccountRef;
  await store.insertAccount(transaction, account, wanted);
  await openBalances(transaction, account, { production: 0, sandbox: 0 });
  for (const environment of ENVIRONMENTS) {
    const sealed = vault.seal(Buffer.from(createWebhookSecret()), secretContext(account, environment));
    await store.insertWebhookSecret(transaction, account, { secretId: uuidv7(), environment, sealed });
  }
  return account;
}

/** An account, as the operator sees it. */
export interface Account {
  ref: AccountRef;
  username: string;
  email: string | null;
  chat: boolean;
  /** Whether people correct the answers of its chats, after they were delivered. */
  chat_correction: boolean;
}

/**
 * The account of a name that an operator gave.
 * @throws AccountError when there is none
 */
export async function accountNamed(on: Queryable, username: string): Promise<Account> {
  const row = await store.findAccount(on, username);
  if (row === undefined) throw new AccountError(`There is no account named ${username}.`);
  const { part, account_id: accountId, ...fields } = row;
  return { ...fields, ref: { part, accountId } as AccountRef };
}

/** The name of an account that something belongs to. */
export async function usernameOf(on: Queryable, account: AccountRef): Promise<string> {
  return (await store.readUsername(on, account)) ?? account.accountId;
}

/** The calling account, as the interface shows it. An account without an e-mail has an empty one: clients read a string. */
export async function presentAccount(
  on: Queryable,
  { account, username, environment }: Caller,
): Promise<{ username: string; email: string; balance: number }> {
  const [{ email }, balance] = await Promise.all([
    accountNamed(on, username),
    availableCents(on, account, environment),
  ]);
  return { username, email: email ?? '', balance };
}

export interface AccountChanges {
  chat?: boolean | undefined;
  chatCorrection?: boolean | undefined;
  /** On: it spends what it has, and its credit. Off: it may owe without limit. */
  prepaid?: boolean | undefined;
  /** In cents; makes it prepaid. */
  creditLimit?: number | undefined;
  /** Whose balance `prepaid` and `creditLimit` are about. */
  environment: Environment;
}

/**
 * Changes what is given, all or nothing.
 * @throws AccountError when there is no such account, the changes contradict each other, or it owes more than it may
 */
export async function setAccount(
  database: Database,
  username: string,
  { chat, chatCorrection, prepaid, creditLimit, environment }: AccountChanges,
): Promise<void> {
  if (prepaid === false && creditLimit !== undefined) {
    throw new AccountError('An account that is not prepaid has no credit limit; give one or the other.');
  }
  try {
    await database.transaction(async (transaction) => {
      const { ref } = await accountNamed(transaction, username);
      if (chat !== undefined) await store.setChat(transaction, ref, chat);
      if (chatCorrection !== undefined) await store.setCorrection(transaction, ref, chatCorrection);
      if (prepaid === false) await setCreditLimit(transaction, ref, environment, null);
      else if (creditLimit !== undefined || prepaid) {
        const before = await creditLimitOf(transaction, ref, environment);
        await setCreditLimit(transaction, ref, environment, creditLimit ?? before ?? 0);
      }
    });
  } catch (error) {
    if (!isOverdrawn(error)) throw error;
    throw new AccountError(`${username} owes more than that in ${environment}; top it up first.`);
  }
}

/** The webhook secrets that sign now, without what they are, newest first. */
export function listWebhookSecrets(on: Queryable, account: AccountRef): Promise<store.KeptSecretRow[]> {
  return store.listKeptSecrets(on, account);
}

/** The webhook secrets (in their `whsec_…` form) that an account's deliveries are signed with now. */
export async function webhookSecrets(
  database: Database,
  vault: Vault,
  account: AccountRef,
  environment: Environment,
): Promise<string[]> {
  const rows = await store.liveWebhookSecrets(database, account, environment);
  return rows.map(({ sealed }) => vault.open(sealed, secretContext(account, environment)).toString());
}

/**
 * As `webhookSecrets`, for who asks much: one round trip for all that wait. Nothing is remembered, so a roll counts at
 * once.
 */
export function createSecretReader(
  database: Database,
  vault: Vault,
): (account: AccountRef, environment: Environment) => Promise<string[]> {
  const reading = createBatcher<{ account: AccountRef; environment: Environment }, string[]>({
    async run(wanted) {
      const names = wanted.map(({ account, environment }) => secretContext(account, environment));
      const once = [...new Map(names.map((name, index) => [name, wanted[index]!])).values()];
      const rows = await store.allLiveWebhookSecrets(database, once);
      const opened = Map.groupBy(rows, ({ account, environment }) => secretContext(account, environment));
      const secrets = new Map(
        [...opened].map(([name, sealed]) => [
          name,
          sealed.map((one) => vault.open(one.sealed, name).toString()),
        ]),
      );
      return names.map((name) => secrets.get(name) ?? []);
    },
    ...{ weigh: () => 1, maxItems: 256, maxWeight: 256, maxWaiting: 100_000, maxRunning: 2 },
    isolates: (error) => !isUnavailable(error),
  });
  return (account, environment) => reading.add({ account, environment });
}

/**
 * Makes the webhook secret that deliveries of an environment are signed with; those before sign too, for an overlap.
 * Secrets that have ended are deleted: a delivery's cost depends on live secrets alone, however often they were rolled.
 * @returns the secret in clear, shown this once
 * @throws ApiError `conflict` where it would be one more than may sign at a time; no live secret ends early
 */
export async function rollWebhookSecret(
  database: Database,
  vault: Vault,
  account: AccountRef,
  environment: Environment,
  overlapSeconds: number,
  alongside: (transaction: Transaction, secretId: string) => Promise<void> = async () => {},
): Promise<string> {
  const secret = createWebhookSecret();
  const secretId = uuidv7();
  const sealed = vault.seal(Buffer.from(secret), secretContext(account, environment));
  await database.transaction(async (transaction) => {
    await store.lockAccount(transaction, account);
    const before = await store.listKeptSecrets(transaction, account);
    await store.expireWebhookSecrets(transaction, account, environment, overlapSeconds);
    const live = await store.liveWebhookSecrets(transaction, account, environment);
    if (live.length >= MAX_LIVE_SECRETS) throw tooManySecrets(before, environment);
    await store.insertWebhookSecret(transaction, account, { secretId, environment, sealed });
    await alongside(transaction, secretId);
  });
  return secret;
}

function tooManySecrets(before: readonly store.KeptSecretRow[], environment: Environment): ApiError {
  const ends = before
    .filter((secret) => secret.environment === environment && secret.expires_at !== null)
    .map(({ secret_id, expires_at }) => `${secret_id} ends at ${expires_at!.toISOString()}`)
    .toReversed();
  return new ApiError(
    'conflict',
    `At most ${MAX_LIVE_SECRETS} webhook secrets sign in ${environment} at a time: ${ends.join(', ')}. Wait for the first of these ends, or roll without an overlap, which ends them all now.`,
  );
}

/** The same without an overlap, as a part of somebody's transaction. */
export async function replaceWebhookSecret(
  transaction: Transaction,
  vault: Vault,
  account: AccountRef,
  environment: Environment,
): Promise<string> {
  const secret = createWebhookSecret();
  const sealed = vault.seal(Buffer.from(secret), secretContext(account, environment));
  await store.expireWebhookSecrets(transaction, account, environment, 0);
  await store.insertWebhookSecret(transaction, account, { secretId: uuidv7(), environment, sealed });
  return secret;
}

function secretContext(account: AccountRef, environment: Environment): string {
  return `webhook-secret ${account.accountId} ${environment}`;
}

/** Said when a key, or what its caller brings with it, was changed; every doorkeeper forgets what it knows. */
export const KEYS_CHANNEL = 'dragoman_keys';

/** Tells who calls from the `Authorization` header and the environment of the address. */
export interface Doorkeeper {
  /** @throws ApiError `unauthorized`, the same whatever was wrong */
  recognise(authorization: string | undefined, environment: Environment): Promise<Caller>;
  /** Forgets what it knows of keys: one was revoked or changed. */
  forget(): void;
}

const REMEMBER_MILLISECONDS = 5_000;
const REMEMBER_KEYS = 10_000;
/** Compared against when there is no such key, so that both ways do the same work. */
const NO_KEY: store.KeyRow = {
  part: 0,
  account_id: '00000000-0000-0000-0000-000000000000',
  username: '',
  environment: 'production',
  secret_hash: Buffer.alloc(32),
  dialect: 'spec',
  read_only: true,
  default_brand: null,
  seconds_left: null,
  untouched: false,
};

const SCHEME = 'apikey ';
/** A user name has at most 64 characters and a key 60; the rest is room for spaces. */
const MAX_CREDENTIAL_LENGTH = 256;

/**
 * The parts of `ApiKey USERNAME:KEY`, in one pass and before anybody is known: a regular expression that tried every
 * number of spaces took 0.16 s for one header.
 * @throws ApiError `unauthorized`
 */
function readCredential(authorization = ''): { username: string; secret: string } {
  if (authorization.length > MAX_CREDENTIAL_LENGTH) throw unauthorized();
  const written = authorization.trim();
  const credential = written.slice(SCHEME.length).trimStart();
  const colon = credential.indexOf(':');
  if (written.slice(0, SCHEME.length).toLowerCase() !== SCHEME || colon < 0) throw unauthorized();
  return { username: credential.slice(0, colon), secret: credential.slice(colon + 1) };
}

/**
 * A key is looked up once every few seconds and remembered by the hash of the whole credential, never by the
 * credential itself. Revocation is seen at once through `forget`, and after five seconds in any case; an end that
 * was set before is kept to the moment.
 */
export function createDoorkeeper(database: Database, now: () => number = Date.now): Doorkeeper {
  const known = new Map<string, { caller: Caller; until: number }>();
  let forgotten = 0;

  async function lookUp(
    username: string,
    secret: string,
    environment: Environment,
  ): Promise<{ caller: Caller; secondsLeft: number }> {
    const keyId = keyIdOf(secret, environment) ?? '';
    const found = await store.findKey(database, keyId);
    const key = found ?? NO_KEY;
    const secretRight = hashesEqual(hashKey(secret), key.secret_hash);
    const nameRight = hashesEqual(hashKey(username), hashKey(key.username));
    if (found === undefined || !secretRight || !nameRight || key.environment !== environment) {
      throw unauthorized();
    }
    // A remark for the operator, which nobody waits for, and which may be lost.
    if (key.untouched) void store.touchKey(database, keyId).catch(() => {});
    const caller = {
      account: { part: key.part, accountId: key.account_id } as AccountRef,
      username,
      environment,
      dialect: key.dialect,
      readOnly: key.read_only,
      defaultBrand: key.default_brand ?? undefined,
    };
    return { caller, secondsLeft: key.seconds_left ?? Number.POSITIVE_INFINITY };
  }

  return {
    async recognise(authorization, environment) {
      const { username, secret } = readCredential(authorization);
      const memo = hashKey(`${environment} ${username}:${secret}`).toString('base64');
      const remembered = known.get(memo);
      if (remembered !== undefined && remembered.until > now()) return remembered.caller;
      known.delete(memo);
      const asked = forgotten;
      const since = now();
      const { caller, secondsLeft } = await lookUp(username, secret, environment);
      // What was looked up before a revocation is not remembered after it.
      if (asked !== forgotten) return caller;
      if (known.size >= REMEMBER_KEYS) known.clear();
      known.set(memo, { caller, until: since + Math.min(REMEMBER_MILLISECONDS, secondsLeft * 1000) });
      return caller;
    },
    forget() {
      forgotten++;
      known.clear();
    },
  };
}
