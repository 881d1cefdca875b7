/**
 * Requests for a sandbox account. Anybody can make a request. A granted request has a link that shows an API
 * key once.
 *
 * - `open`: an operator decides, or the program grants the request at once (`DRAGOMAN_SANDBOX_REQUESTS`).
 * - `granted`: the account exists. Its link is valid for a week and can be used once; it can be replaced
 *   until then.
 * - `refused`: an operator refused the request.
 *
 * The account has keys for the sandbox only and no production funds. Its key is created when the link is
 * opened, so every key has been shown to somebody.
 */
import { randomBytes } from 'node:crypto';
import { usernameOf } from '../access/accounts.ts';
import { makeKey } from '../access/keys.ts';
import { normalEmail, normalName } from '../access/names.ts';
import { createToken, hashKey, type Vault } from '../access/secrets.ts';
import { limitAttemptsByNetwork } from '../access/sessions.ts';
import { replaceWebhookSecret } from '../access/webhook-secrets.ts';
import { type Actor, recordAudit } from '../audit/audit.ts';
import { ApiError, notFound } from '../base/errors.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Database, Transaction } from '../database/database.ts';
import type { Settings } from '../settings/settings.ts';
import { createBareAccount } from './accounts.ts';
import type { Mailer } from './mail.ts';
import * as store from './sandbox-store.ts';

export { findRequest, listRequests, REQUEST_STATUSES, StoredRequest } from './sandbox-store.ts';

export interface SandboxOptions {
  database: Database;
  vault: Vault;
  mailer: Mailer;
  /** Returns the public address of the server. */
  root(): string;
  settings: Pick<Settings, 'sandboxRequests' | 'sandboxUrl' | 'smtpUrl'>;
  log: Log;
}

/**
 * The limit of requests per client address: five free requests, then delays of 1, 3, 7 … seconds, up to an
 * hour.
 */
const BY_ADDRESS = { free: 5, mostSeconds: 3600 };
const LINK_SECONDS = 7 * 24 * 3600;

/** The fields of a request, after the check by their schema. */
export interface SandboxRequest {
  name: string;
  email: string;
  company?: string;
  use?: string;
}

/** The answer to a request. The answer contains the link only when no mail server is configured. */
export type SandboxAnswer = { status: 'received' } | { status: 'granted'; link: string; expires_at: Date };

/**
 * Stores a request. Neither the answer nor its duration reveals whether the e-mail address is known.
 * @throws ApiError `too_many_attempts`
 */
export async function requestSandbox(
  options: SandboxOptions,
  address: string,
  wanted: SandboxRequest,
): Promise<SandboxAnswer> {
  const { database, vault, settings, log } = options;
  const { company = '', use: purpose = '' } = wanted;
  const name = normalName(wanted.name);
  const request: NewRequest = { name, email: normalEmail(wanted.email)!, company, purpose };
  await limitAttemptsByNetwork(database, vault, 'sandbox', address, BY_ADDRESS);
  if (settings.sandboxRequests === 'at-once' && settings.smtpUrl === undefined) {
    return grantWithoutMail(options, request);
  }
  const requestId = uuidv7();
  const isNew = await store.insertRequest(database, { requestId, ...request });
  if (isNew && settings.sandboxRequests === 'at-once') {
    // The request is granted after the answer was sent, because the duration of the answer would reveal
    // whether the e-mail address is known. If granting fails, the request stays open for an operator.
    grantFirst(options, requestId, request.email).catch((error: unknown) =>
      log.warn(
        { error, request: requestId },
        'sandbox request could not be granted and is left to an operator',
      ),
    );
  }
  return { status: 'received' };
}

type NewRequest = Omit<Parameters<typeof store.insertRequest>[1], 'requestId'>;

/**
 * Grants a request without checking its e-mail address. Without a mail server nobody can prove that an
 * address is theirs, so a known address gets another account.
 */
async function grantWithoutMail(options: SandboxOptions, request: NewRequest): Promise<SandboxAnswer> {
  const { token, hash } = createToken();
  const expires_at = await options.database.transaction(async (transaction) => {
    const requestId = await store.insertOrLockRequest(transaction, { requestId: uuidv7(), ...request });
    return (await decide(options, transaction, 'program', requestId, hash)).expires;
  });
  return { status: 'granted', link: linkOf(options, token), expires_at };
}

/** Grants a request if its e-mail address has no account yet. An operator decides on further accounts. */
async function grantFirst(options: SandboxOptions, requestId: string, email: string): Promise<void> {
  // The request was inserted before this check. Of two concurrent requests, the second one therefore finds
  // the first.
  if (!(await store.wasGranted(options.database, { email }))) await grant(options, 'program', requestId);
}

export interface GrantedSandbox {
  /** The link that shows the key once. */
  link: string;
  expires_at: Date;
  /** Whether the link was mailed; null when no mail server is configured. */
  mailed: boolean | null;
}

/**
 * Grants an open request, or replaces the link of a granted request whose key was not shown yet. Mails the
 * link.
 * @throws ApiError `not_found`; `conflict` when the request was refused or its key was shown
 */
export async function grant(options: SandboxOptions, by: Actor, requestId: string): Promise<GrantedSandbox> {
  const { database, mailer } = options;
  const { token, hash } = createToken();
  const { request, expires } = await database.transaction((transaction) =>
    decide(options, transaction, by, requestId, hash),
  );
  const link = linkOf(options, token);
  const mailed = await mailer.send({
    to: request.email,
    subject: 'Your Dragoman sandbox API key',
    text:
      `Hello ${request.name},\n\nYour sandbox account is ready. This link shows its API key once:\n\n${link}\n\n` +
      `The link works until ${expires.toISOString().slice(0, 16).replace('T', ' ')} UTC.\n`,
  });
  if (mailed !== undefined) await store.setMailed(database, requestId, mailed);
  return { link, expires_at: expires, mailed: mailed ?? null };
}

async function decide(
  { vault }: SandboxOptions,
  transaction: Transaction,
  by: Actor,
  requestId: string,
  tokenHash: Buffer,
): Promise<{ request: store.RequestRow; expires: Date }> {
  const request = await store.findRequest(transaction, { requestId });
  if (request === undefined) throw notFound();
  if (request.status === 'refused') throw new ApiError('conflict', 'This request was refused.');
  if (request.status === 'open') {
    const username = usernameFor(request);
    const account = await createBareAccount(transaction, vault, {
      username,
      email: request.email,
      chat: true,
    });
    const isGranted = await store.grantRequest(transaction, requestId, nameOf(by), account);
    if (!isGranted) throw new ApiError('conflict', 'This request is already decided.');
    await recordAudit(transaction, by, {
      action: 'sandbox.granted',
      account,
      subject: requestId,
      detail: { username },
    });
  }
  const expires = await store.setLink(transaction, { requestId, tokenHash, seconds: LINK_SECONDS });
  if (expires === undefined) throw new ApiError('conflict', 'The key was already shown.');
  return { request, expires };
}

function linkOf({ root }: SandboxOptions, token: string): string {
  return `${root()}/app/sandbox/${token}`;
}

/** Refuses an open request. @throws ApiError `not_found`; `conflict` when the request is already decided */
export async function refuse(database: Database, by: Actor, requestId: string): Promise<void> {
  await database.transaction(async (transaction) => {
    if ((await store.findRequest(transaction, { requestId })) === undefined) throw notFound();
    if (!(await store.refuseRequest(transaction, requestId, nameOf(by)))) {
      throw new ApiError('conflict', 'This request is already decided.');
    }
    await recordAudit(transaction, by, { action: 'sandbox.refused', subject: requestId, detail: {} });
  });
}

function nameOf(by: Actor): string {
  return typeof by === 'string' ? by : by.email;
}

/**
 * Returns a user name that is made from the company or the e-mail address. A random suffix makes it unique
 * without revealing whether other accounts exist.
 */
function usernameFor({ company, email }: { company: string; email: string }): string {
  const words = (company || email.split('@')[0]!)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 30);
  return `${words || 'sandbox'}-${randomBytes(3).toString('hex')}`;
}

/** Returns the account of a valid link. @throws ApiError `not_found` when the link was used or has expired */
export async function readLink(
  database: Database,
  token: string,
): Promise<{ name: string; username: string; expires_at: Date }> {
  const found = await store.findByLink(database, { tokenHash: hashKey(token) });
  if (found === undefined || found.account === null || found.link_until === null) throw usedUp();
  return { name: found.name, username: found.account, expires_at: found.link_until };
}

export interface SandboxCredentials {
  username: string;
  /** The credential in the form `user:key`. */
  key: string;
  webhook_secret: string;
  /** The base URL of the API for the client. */
  base_url: string;
}

/** Uses up a link: creates an API key and a webhook secret and returns both. @throws ApiError `not_found` */
export async function openLink(
  { database, vault, settings, root }: SandboxOptions,
  token: string,
): Promise<SandboxCredentials> {
  return database.transaction(async (transaction) => {
    const ref = await store.useLink(transaction, hashKey(token));
    if (ref === undefined) throw usedUp();
    const username = await usernameOf(transaction, ref);
    const first = {
      name: 'first',
      dialect: 'spec',
      readOnly: false,
      scopes: undefined,
      expiresAt: undefined,
    } as const;
    const account = { ref, username };
    const made = await makeKey(transaction, 'program', account, { ...first, environment: 'sandbox' });
    const secret = await replaceWebhookSecret(transaction, vault, ref, {
      environment: 'sandbox',
      endpointId: null,
    });
    const base = settings.sandboxUrl ?? `${root()}/sandbox`;
    return { username, key: made.key, webhook_secret: secret, base_url: base };
  });
}

function usedUp(): ApiError {
  return new ApiError('not_found', 'This link has been used or has expired. Ask for a new one.');
}
