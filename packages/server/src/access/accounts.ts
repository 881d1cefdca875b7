/** Reads and registers accounts. Commands, paths and request fields name an account by its user name. */
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { AccountRef, Environment } from '../base/account.ts';
import { fieldError, notFound, OperatorError, reason } from '../base/errors.ts';
import { partOf, uuidv7 } from '../base/ids.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { defineFormat } from '../http/input.ts';
import { createWebhookSecret, secretContext, type Vault } from './secrets.ts';
import { ACCOUNT_MOVES, type AccountStatus, type AccountTrigger } from './states.ts';
import * as store from './store.ts';
import { insertWebhookSecret } from './webhook-secret-store.ts';

export { ACCOUNT_STATUSES, type AccountStatus } from './states.ts';
export { lockAccount, setChat, setCorrection, setKeyRequests } from './store.ts';

/** The highest limit of requests a second that an operator can set for an account. */
export const MAX_KEY_REQUESTS = 100_000;

export const ENVIRONMENTS: readonly Environment[] = ['production', 'sandbox'];

/** Thrown for a mistake in a command, such as an unknown user name. The message is shown to the operator. */
export class AccountError extends OperatorError {
  override name = 'AccountError';
}

export interface Account {
  ref: AccountRef;
  username: string;
  status: AccountStatus;
  email: string | null;
  chat: boolean;
  /** Whether editors correct chat messages after their delivery. */
  chat_correction: boolean;
  /**
   * The limit of requests a second for each key; 0 for no limit, null for the limit of the server
   * (`DRAGOMAN_KEY_REQUESTS`).
   */
  key_requests: number | null;
}

export interface RegisteredAccount {
  account: AccountRef;
  /** The webhook secrets in clear text. The database stores them encrypted. */
  webhookSecrets: Record<Environment, string>;
}

/**
 * Inserts an account with one webhook secret for each environment. The account has no keys and no balance
 * yet.
 * @throws a unique violation of PostgreSQL when the username is taken
 */
export async function registerAccount(
  transaction: Transaction,
  vault: Vault,
  wanted: { username: string; email: string | undefined; chat: boolean },
): Promise<RegisteredAccount> {
  const accountId = uuidv7();
  const account = { part: partOf(accountId), accountId } as AccountRef;
  await store.insertAccount(transaction, account, wanted);
  const webhookSecrets = { production: createWebhookSecret(), sandbox: createWebhookSecret() };
  for (const environment of ENVIRONMENTS) {
    const use = { environment, endpointId: null };
    const sealed = vault.seal(Buffer.from(webhookSecrets[environment]), secretContext(account, use));
    await insertWebhookSecret(transaction, { ...use, account, secretId: uuidv7(), sealed });
  }
  return { account, webhookSecrets };
}

/**
 * Returns the account with a user name.
 * @throws AccountError when no account has this user name
 */
export async function accountNamed(on: Queryable, username: string): Promise<Account> {
  const row = await store.findAccount(on, { username });
  if (row === undefined) throw new AccountError(`There is no account named ${username}.`);
  const { part, account_id: accountId, ...fields } = row;
  return { ...fields, ref: { part, accountId } as AccountRef };
}

/** Returns the username of an account; its id if the account was deleted. */
export async function usernameOf(on: Queryable, account: AccountRef): Promise<string> {
  return (await store.readUsername(on, { account })) ?? account.accountId;
}

/**
 * The PostgreSQL channel that is notified when an API key or a property of its account changes. Every
 * `ApiKeyAuthenticator` listens on it and then clears its cache.
 */
export const KEYS_CHANNEL = 'dragoman_keys';

/**
 * Suspends or resumes an account, and notifies all running processes. Nothing is deleted: while the account is
 * suspended, its keys are refused, its users can only read, and its queues stand still.
 * @returns false when the account already has the status
 */
export async function moveAccount(
  database: Database,
  by: Actor,
  { ref, username }: Pick<Account, 'ref' | 'username'>,
  trigger: AccountTrigger,
): Promise<boolean> {
  const { from, to, action } = ACCOUNT_MOVES[trigger];
  const isMoved = await database.transaction(async (transaction) => {
    await store.lockAccount(transaction, ref);
    if (!(await store.updateStatus(transaction, { account: ref, from, to }))) return false;
    await recordAudit(transaction, by, { action, account: ref, subject: username, detail: {} });
    return true;
  });
  if (isMoved) await database.notify(KEYS_CHANNEL);
  return isMoved;
}

/** Returns the account that the request's path names. @throws ApiError `not_found` */
export async function requestedAccount(
  on: Queryable,
  { params }: { params: { username: string } },
): Promise<Account> {
  try {
    return await accountNamed(on, params.username);
  } catch (error) {
    if (error instanceof AccountError) throw notFound();
    throw error;
  }
}

/** Returns the account that the request's field `account` names. @throws ApiError `invalid_request` */
export function accountOfField(on: Queryable, username: string): Promise<Account>;
export function accountOfField(
  on: Queryable,
  username: string | null | undefined,
): Promise<Account | undefined>;
export async function accountOfField(
  on: Queryable,
  username: string | null | undefined,
): Promise<Account | undefined> {
  if (username === undefined || username === null) return undefined;
  try {
    return await accountNamed(on, username);
  } catch (error) {
    if (error instanceof AccountError) throw fieldError('account', error.message);
    throw error;
  }
}

/** The maximum number of origins of an account. */
export const MAX_ORIGINS = 20;

/** The maximum length of an origin in characters. Its host name alone has at most 253. */
export const MAX_ORIGIN_LENGTH = 300;

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

defineFormat('origin', (written) => (originOf(written) === undefined ? reason('origin') : undefined));

/**
 * Returns the origin of a web page in the form in which browsers send it.
 * @param written a URL without a path; http is allowed only for loopback hosts such as `localhost`
 * @returns undefined if `written` is not a URL of this form
 */
export function originOf(written: string): string | undefined {
  if (written.length > MAX_ORIGIN_LENGTH || !URL.canParse(written)) return undefined;
  const url = new URL(written);
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
  return isSafe && url.href === `${url.origin}/` ? url.origin : undefined;
}

/** Returns the origins of an account in alphabetical order. */
export function listOrigins(on: Queryable, account: AccountRef): Promise<string[]> {
  return store.selectOrigins(on, account);
}

/**
 * Replaces the origins of an account, and notifies all running processes.
 * @param wanted valid origins, in any order
 * @returns the origins in the form that browsers send
 */
export async function setOrigins(
  database: Database,
  by: Actor,
  { ref, username }: { ref: AccountRef; username: string },
  wanted: readonly string[],
): Promise<string[]> {
  const origins = [...new Set(wanted.map((written) => originOf(written)!))].toSorted();
  await database.transaction(async (transaction) => {
    await store.lockAccount(transaction, ref);
    await store.updateOrigins(transaction, { account: ref, origins });
    await recordAudit(transaction, by, {
      action: 'origins.changed',
      account: ref,
      subject: username,
      detail: { origins },
    });
  });
  await database.notify(KEYS_CHANNEL);
  return origins;
}
