/**
 * Requests for a sandbox account: anybody may ask, and gets a link that shows a key once.
 *
 *   open      asked for; an operator decides, or nobody has to (`DRAGOMAN_SANDBOX_REQUESTS`)
 *   granted   there is an account; its link opens until it is used, or for a week, and can be made anew until then
 *   refused
 *
 * The account is prepaid and has nothing in production: its keys are the sandbox's. A key is made when its link is
 * opened, so that there is none that nobody has seen.
 */
import { randomBytes } from 'node:crypto';
import type { Database, Transaction } from '../database/database.ts';
import { ApiError, notFound, type Reason, reason, wrongFields } from '../errors.ts';
import { uuidv7 } from '../ids.ts';
import { setCreditLimit } from '../ledger/ledger.ts';
import type { Log } from '../log.ts';
import { type Actor, recordAudit } from '../operations/audit.ts';
import type { Settings } from '../settings.ts';
import { findUnusable } from '../text.ts';
import { createBareAccount, replaceWebhookSecret, usernameOf } from './accounts.ts';
import { makeKey } from './keys.ts';
import type { Mailer } from './mail.ts';
import { normalEmail, normalName } from './people.ts';
import * as store from './sandbox-store.ts';
import { createToken, hashKey, type Vault } from './secrets.ts';
import { admit, networkOf } from './sessions.ts';

export type { RequestRow, RequestStatus } from './sandbox-store.ts';

export interface SandboxOptions {
  database: Database;
  vault: Vault;
  mailer: Mailer;
  /** Of the server, as its people reach it. */
  root(): string;
  settings: Pick<Settings, 'sandboxRequests' | 'sandboxUrl' | 'smtpUrl'>;
  log: Log;
}

/** Five are free, then one a second, three, seven …, one an hour. */
const BY_ADDRESS = { free: 5, mostSeconds: 3600 };
const LINK_SECONDS = 7 * 24 * 3600;

export interface Wanted {
  name?: unknown;
  email?: unknown;
  company?: unknown;
  use?: unknown;
}

/** What becomes of a request, as whoever asks is told. A link only where there is no mail to send it by. */
export type Received = { status: 'received' } | { status: 'granted'; link: string; expires_at: Date };

/**
 * Takes a request. Whoever has one already, or an account, is told the same, in the same time.
 * @throws ApiError `invalid_request` that names every wrong field, `too_many_attempts`
 */
export async function requestSandbox(
  options: SandboxOptions,
  address: string,
  wanted: Wanted,
): Promise<Received> {
  const { database, vault, settings, log } = options;
  const request = readRequest(wanted);
  await admit(database, vault.mark(`sandbox ${networkOf(address)}`), BY_ADDRESS);
  if (settings.sandboxRequests === 'at-once' && settings.smtpUrl === undefined) {
    return grantUnread(options, request);
  }
  const requestId = uuidv7();
  const isNew = await store.insertRequest(database, { requestId, ...request });
  if (isNew && settings.sandboxRequests === 'at-once') {
    // Not waited for: how long it takes would say whether the e-mail is known. What is not granted, an operator sees.
    grantFirst(options, requestId, request.email).catch((error: unknown) =>
      log.warn({ error, request: requestId }, 'a sandbox request waits for an operator'),
    );
  }
  return { status: 'received' };
}

type NewRequest = ReturnType<typeof readRequest>;

/**
 * Where there is no mail, nobody has shown whose e-mail it is: it is given no weight, and whoever asks gets an account,
 * whether it is known or not.
 */
async function grantUnread(options: SandboxOptions, request: NewRequest): Promise<Received> {
  const { token, hash } = createToken();
  const expires_at = await options.database.transaction(async (transaction) => {
    const requestId = await store.insertOrLockRequest(transaction, { requestId: uuidv7(), ...request });
    return (await decide(options, transaction, 'program', requestId, hash)).expires;
  });
  return { status: 'granted', link: linkOf(options, token), expires_at };
}

/** The account of an e-mail that has none yet; whoever has one asks an operator for another. */
async function grantFirst(options: SandboxOptions, requestId: string, email: string): Promise<void> {
  // The request is there already: of two at once the second finds what the first was granted.
  if (!(await store.wasGranted(options.database, email))) await grant(options, 'program', requestId);
}

function readRequest(wanted: Wanted): { name: string; email: string; company: string; purpose: string } {
  const fields: Record<string, Reason> = {};
  const email = typeof wanted.email === 'string' ? normalEmail(wanted.email) : undefined;
  const name = typeof wanted.name === 'string' ? normalName(wanted.name) : undefined;
  const company = shortText(wanted.company, 200);
  const purpose = shortText(wanted.use, 2000);
  if (name === undefined) fields.name = reason('has_length', { least: 1, most: 100 });
  if (email === undefined) fields.email = reason('email');
  if (company === undefined) fields.company = reason('has_at_most', { most: 200 });
  if (purpose === undefined) fields.use = reason('has_at_most', { most: 2000 });
  if (Object.keys(fields).length > 0) throw wrongFields(fields);
  return { name: name!, email: email!, company: company!, purpose: purpose! };
}

/** Empty where it is not given. */
function shortText(given: unknown, most: number): string | undefined {
  if (given === undefined || given === null) return '';
  if (typeof given !== 'string') return undefined;
  const text = given.trim();
  return [...text].length <= most && findUnusable(text) === undefined ? text : undefined;
}

export interface Granted {
  /** Shows the key, once. */
  link: string;
  expires_at: Date;
  /** null: there is no mail. */
  mailed: boolean | null;
}

/**
 * Grants an open request, or makes another link for one whose key nobody has seen yet, and mails it.
 * @throws ApiError `not_found`; `conflict` when it was refused, or its key was shown
 */
export async function grant(options: SandboxOptions, by: Actor, requestId: string): Promise<Granted> {
  const { database, mailer } = options;
  const { token, hash } = createToken();
  const { request, expires } = await database.transaction((transaction) =>
    decide(options, transaction, by, requestId, hash),
  );
  const link = linkOf(options, token);
  const mailed = await mailer.send({
    to: request.email,
    subject: 'Your key for the Dragoman sandbox',
    text:
      `Hello ${request.name},\n\nyour sandbox account is there. This link shows its key, once:\n\n${link}\n\n` +
      `It opens until ${expires.toISOString().slice(0, 16).replace('T', ' ')} UTC.\n`,
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
  const request = await store.findRequest(transaction, requestId);
  if (request === undefined) throw notFound();
  if (request.status === 'refused') throw new ApiError('conflict', 'This request was refused.');
  if (request.status === 'open') {
    const username = usernameFor(request);
    const account = await createBareAccount(transaction, vault, {
      ...{ username, email: request.email, chat: true },
    });
    await setCreditLimit(transaction, account, 'production', 0);
    const isOurs = await store.grantRequest(transaction, requestId, nameOf(by), account);
    if (!isOurs) throw new ApiError('conflict', 'Somebody else has decided on it.');
    await recordAudit(transaction, by, {
      ...{ action: 'sandbox.granted', account, subject: requestId, detail: { username } },
    });
  }
  const expires = await store.setLink(transaction, requestId, tokenHash, LINK_SECONDS);
  if (expires === undefined) throw new ApiError('conflict', 'The key was shown already.');
  return { request, expires };
}

function linkOf({ root }: SandboxOptions, token: string): string {
  return `${root()}/app/sandbox/${token}`;
}

/** @throws ApiError `not_found`; `conflict` when it is decided already */
export async function refuse(database: Database, by: Actor, requestId: string): Promise<void> {
  await database.transaction(async (transaction) => {
    if ((await store.findRequest(transaction, requestId)) === undefined) throw notFound();
    if (!(await store.refuseRequest(transaction, requestId, nameOf(by)))) {
      throw new ApiError('conflict', 'This request is decided already.');
    }
    await recordAudit(transaction, by, { action: 'sandbox.refused', subject: requestId, detail: {} });
  });
}

export const listRequests = store.listRequests;
export const findRequest = store.findRequest;

function nameOf(by: Actor): string {
  return typeof by === 'string' ? by : by.email;
}

/** After the company or the person, with some chance in it: nobody learns from it who is there. */
function usernameFor({ company, email }: { company: string; email: string }): string {
  const words = (company || email.split('@')[0]!)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 30);
  return `${words || 'sandbox'}-${randomBytes(3).toString('hex')}`;
}

/** What a link would show. @throws ApiError `not_found` when it was used or has run out */
export async function readLink(
  database: Database,
  token: string,
): Promise<{ name: string; username: string; expires_at: Date }> {
  const found = await store.findByLink(database, hashKey(token));
  if (found === undefined || found.username === null || found.link_until === null) throw usedUp();
  return { name: found.name, username: found.username, expires_at: found.link_until };
}

export interface SandboxCredentials {
  username: string;
  /** As `user:key`. */
  key: string;
  webhook_secret: string;
  /** What the paths of the interface follow. */
  base_url: string;
}

/** Makes the key of a link and shows it; the link opens no more. @throws ApiError `not_found` */
export async function openLink(
  { database, vault, settings, root }: SandboxOptions,
  token: string,
): Promise<SandboxCredentials> {
  return database.transaction(async (transaction) => {
    const ref = await store.takeLink(transaction, hashKey(token));
    if (ref === undefined) throw usedUp();
    const username = await usernameOf(transaction, ref);
    const made = await makeKey(
      transaction,
      { ref, username },
      {
        environment: 'sandbox',
        name: 'first',
        dialect: 'spec',
        readOnly: false,
        expiresAt: undefined,
        madeBy: undefined,
      },
    );
    const secret = await replaceWebhookSecret(transaction, vault, ref, 'sandbox');
    await recordAudit(transaction, 'program', {
      ...{ action: 'key.made', account: ref, subject: made.key_id },
      detail: { environment: 'sandbox', name: 'first', by: 'link' },
    });
    const base = settings.sandboxUrl ?? `${root()}/sandbox`;
    return { username, key: made.key, webhook_secret: secret, base_url: base };
  });
}

function usedUp(): ApiError {
  return new ApiError('not_found', 'This link has been used or has run out; please ask for another.');
}
