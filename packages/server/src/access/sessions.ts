/**
 * Sessions, and the limits on attempts to start one.
 *
 * - A session starts with an e-mail address and a password, or with a link, and always with a new token.
 * - It lasts while it is used (`DRAGOMAN_SESSION_IDLE`), and at most for `DRAGOMAN_SESSION`.
 * - Its token is replaced when the user changes their password.
 * - It ends when the user signs out, ends it from another session, resets the password, or is disabled.
 *
 * Only the browser's cookie has the token; the table has its hash. Sessions are not cached, so an ended
 * session is refused at its next request.
 *
 * Sign-in attempts are limited by client address, and by user and client address together. Wrong guesses
 * therefore never delay a user who signs in from another address or has an open session.
 */
import ipaddr from 'ipaddr.js';
import type { AccountRef, Person, PersonRole } from '../base/account.ts';
import { ApiError } from '../base/errors.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Database, Queryable } from '../database/database.ts';
import type { Settings } from '../settings/settings.ts';
import { createToken, hashKey, type Vault } from './secrets.ts';
import * as store from './session-store.ts';

export type SessionLimits = Pick<Settings, 'sessionIdleSeconds' | 'sessionSeconds'>;

/** The client of a sign-in request. */
export interface SessionClient {
  address: string;
  userAgent: string | undefined;
  /** The token in the request's cookie. The session of this token ends when the new session starts. */
  token: string | undefined;
}

export interface StartedSession {
  /** The token for the cookie. It must not appear in an answer's body. */
  token: string;
  sessionId: string;
  endsAt: Date;
}

/**
 * The limit of attempts: the first `free` attempts have no delay, and each further attempt doubles the delay
 * up to `mostSeconds`.
 */
export interface AttemptLimit {
  free: number;
  mostSeconds: number;
}

/**
 * Counts an attempt, and refuses it when there were too many.
 * @param mark the keyed hash of the user or address that is limited
 * @throws ApiError `too_many_attempts`, with the seconds until the next attempt is allowed
 */
export async function limitAttempts(on: Queryable, mark: Buffer, limit: AttemptLimit): Promise<void> {
  const seconds = await store.countAttempt(on, mark, limit);
  if (seconds === undefined) return;
  throw new ApiError(
    'too_many_attempts',
    `Too many attempts. Try again in ${seconds} s.`,
    { 'retry-after': String(seconds) },
    { retry_after: seconds },
  );
}

/** Counts an attempt like `limitAttempts`. @returns false if there were too many */
export async function mayAttempt(on: Queryable, mark: Buffer, limit: AttemptLimit): Promise<boolean> {
  return (await store.countAttempt(on, mark, limit)) === undefined;
}

/**
 * The daily limit of an account for keys and webhook secrets that its users or keys create or replace (roll), and for
 * changes to webhook endpoints: each leaves an audit entry for good. After the first 100, further ones are possible after
 * delays of 1, 3, 7 … seconds, up to an hour.
 */
const CREDENTIALS = { free: 100, mostSeconds: 3600 };
/** The number of counts that one statement deletes. */
const MAX_FORGOTTEN = 10_000;

/** Counts a key, a webhook secret or a change to a webhook endpoint. @throws ApiError like `limitAttempts` */
export function limitCredentials(on: Queryable, vault: Vault, { accountId }: AccountRef): Promise<void> {
  return limitAttempts(on, vault.mark(`credentials of ${accountId}`), CREDENTIALS);
}

/**
 * Counts an attempt for the network of a client address: for an IPv4 address the address itself, for an IPv6 address
 * its /64. Providers give a household a whole /56 or /48, with 256 or 65,536 networks of size /64. An IPv6 attempt
 * therefore also counts for the /56 and the /48. A /56 has 4 times and a /48 16 times as many attempts without delay
 * (`limit.free`).
 *
 * The widest network is counted first, so that an attempt that it refuses adds no row for a smaller network. An attempt
 * that a later limit refuses is not counted by the earlier ones.
 * @param further limits that are counted after those of the networks
 * @returns the keyed hashes of the networks for which the attempt was counted, for `forgiveAttempt`
 * @throws ApiError `too_many_attempts`
 */
export async function limitAttemptsByNetwork(
  on: Queryable,
  vault: Vault,
  what: string,
  address: string,
  limit: AttemptLimit,
  further: readonly { mark: Buffer; limit: AttemptLimit }[] = [],
): Promise<Buffer[]> {
  const marks = [networkOf(address), ...widerNetworksOf(address)].map((one) => vault.mark(`${what} ${one}`));
  const networks = marks.map((mark, wider) => ({ mark, limit: { ...limit, free: limit.free * 4 ** wider } }));
  const counts = [...networks.toReversed(), ...further];
  for (const [index, { mark, limit }] of counts.entries()) {
    try {
      await limitAttempts(on, mark, limit);
    } catch (error) {
      for (const before of counts.slice(0, index)) await forgiveAttempt(on, before.mark);
      throw error;
    }
  }
  return marks;
}

/**
 * Deletes ended sessions and old counts of sign-in attempts. Workers call it, because strangers cause counts without ever
 * signing in. @param ended returns true when the worker stops
 */
export async function cleanSessions(on: Queryable, ended = () => false): Promise<void> {
  while (!ended() && (await store.deleteEnded(on, MAX_FORGOTTEN)) === MAX_FORGOTTEN);
}

/** Subtracts an attempt from the count because it was legitimate. */
export function forgiveAttempt(on: Queryable, mark: Buffer): Promise<void> {
  return store.decrementAttempts(on, { mark });
}

/** Deletes the count of attempts for a user or address, because the last attempt was successful. */
export function forgiveAttempts(on: Queryable, mark: Buffer): Promise<void> {
  return store.deleteAttempts(on, { mark });
}

/** Returns the error of every failed sign-in, so that it does not reveal which addresses are known. */
export function wrongSignIn(): ApiError {
  return new ApiError('wrong_sign_in', 'The e-mail address or the password is wrong.');
}

/**
 * Returns the network for which an address is counted: the address itself for IPv4, its /64 for IPv6. All texts that are
 * no address count as one network, so that their variety gives no further attempts.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return (parsed as ipaddr.IPv6).parts.slice(0, 4).join(':');
}

/** Returns the /56 and the /48 of an IPv6 address. Returns an empty list for IPv4. */
function widerNetworksOf(address: string): string[] {
  if (!ipaddr.isValid(address)) return [];
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return [];
  const [a, b, c, d] = (parsed as ipaddr.IPv6).parts;
  return [`${a}:${b}:${c}:${d! >> 8}/56`, `${a}:${b}:${c}/48`];
}

/** A user who proved who they are. */
export interface AuthenticatedUser {
  userId: string;
  /** The hash of the password that was verified, or of the current password; null without a password. */
  passwordHash: string | null;
  /** Whether the provider authenticated the user. */
  byProvider?: boolean;
}

/**
 * Starts a session for an authenticated user, and ends the browser's previous session.
 * @throws ApiError `wrong_sign_in` when the user was disabled or their password changed after the password
 * check
 */
export async function startSession(
  on: Queryable,
  limits: SessionLimits,
  { userId, passwordHash, byProvider = false }: AuthenticatedUser,
  client: SessionClient,
): Promise<StartedSession> {
  const { token, hash } = createToken();
  const sessionId = uuidv7();
  const endsAt = await store.insertSession(on, {
    sessionId,
    userId,
    passwordHash,
    byProvider,
    tokenHash: hash,
    seconds: limits.sessionSeconds,
    userAgent: describeAgent(client.userAgent),
  });
  if (endsAt === undefined) throw wrongSignIn();
  // Ends the previous session after the insert has locked the user. `setDisabled` uses the same order, so no
  // deadlock occurs.
  if (client.token !== undefined) await store.deleteSessionByToken(on, { tokenHash: hashKey(client.token) });
  return { token, sessionId, endsAt };
}

/** Returns the user of the session with this token, or undefined when there is no such session. */
export async function authenticateSession(
  database: Database,
  limits: SessionLimits,
  token: string | undefined,
): Promise<(Person & { endsAt: Date }) | undefined> {
  if (token === undefined) return undefined;
  const row = await store.findSession(database, hashKey(token), limits.sessionIdleSeconds);
  if (row === undefined) return undefined;
  if (row.untouched) await store.touchSession(database, { sessionId: row.session_id });
  return {
    userId: row.user_id,
    sessionId: row.session_id,
    email: row.email,
    name: row.name,
    role: row.role,
    secondFactor: row.second_factor,
    byProvider: row.by_provider,
    endsAt: row.ends_at,
    ...(row.account_id === null
      ? {}
      : {
          account: {
            ref: { part: row.part, accountId: row.account_id } as AccountRef,
            username: row.username!,
            suspended: row.account_status === 'suspended',
            owner: row.owner,
          },
        }),
  };
}

/** Returns the sessions among `sessionIds` that have not ended, with the roles of their users. */
export async function readOpenSessions(
  on: Queryable,
  limits: SessionLimits,
  sessionIds: readonly string[],
): Promise<Map<string, PersonRole>> {
  const rows = await store.selectOpenSessions(on, sessionIds, limits.sessionIdleSeconds);
  return new Map(rows.map(({ session_id: id, role }) => [id, role]));
}

/**
 * Gives a session a new token and ends the other sessions of its user.
 * @throws ApiError `not_signed_in` when the session has ended
 */
export async function rotateSession(on: Queryable, person: Person): Promise<StartedSession> {
  await store.deleteSessions(on, { userId: person.userId, except: person.sessionId });
  const { token, hash } = createToken();
  const endsAt = await store.replaceSessionToken(on, { sessionId: person.sessionId, tokenHash: hash });
  if (endsAt === undefined) throw new ApiError('not_signed_in', 'Please sign in.');
  return { token, sessionId: person.sessionId, endsAt };
}

/** Ends the session with this token, if there is one. */
export async function signOut(on: Queryable, token: string | undefined): Promise<void> {
  if (token !== undefined) await store.deleteSessionByToken(on, { tokenHash: hashKey(token) });
}

/** Lists the sessions of a user that have not ended. */
export function listSessions(
  on: Queryable,
  person: Person,
  limits: SessionLimits,
): Promise<store.SessionRow[]> {
  return store.selectSessions(on, person.userId, limits.sessionIdleSeconds);
}

/** Ends one session of a user. @returns whether the user had this session */
export function endSession(on: Queryable, person: Person, sessionId: string): Promise<boolean> {
  return store.deleteSession(on, person.userId, sessionId);
}

/** Ends all sessions of a user, except the one with the id `except`. */
export async function endSessions(on: Queryable, userId: string, except?: string): Promise<void> {
  await store.deleteSessions(on, { userId, except: except ?? null });
}

const BROWSERS: [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrom(e|ium)\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: [RegExp, string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/**
 * Returns the names of the browser and the operating system, so that users can tell their sessions apart. The
 * rest of the user agent is not stored.
 */
export function describeAgent(userAgent: string | undefined): string {
  if (userAgent === undefined) return '';
  const named = (names: [RegExp, string][]) => names.find(([pattern]) => pattern.test(userAgent))?.[1];
  const found = [named(BROWSERS), named(SYSTEMS)].filter((name) => name !== undefined);
  if (found.length > 0) return found.join(', ');
  return /^[\w.-]{1,40}/.exec(userAgent)?.[0] ?? '';
}
