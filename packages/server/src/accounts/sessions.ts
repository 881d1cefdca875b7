/**
 * Signing in, and the session that follows.
 *
 *   begins   with an e-mail and a password, or with a link; under a new token, whatever the browser brought
 *   lives    while it is used (`DRAGOMAN_SESSION_IDLE`), and never longer than `DRAGOMAN_SESSION`
 *   turns    to a new token when the password is changed
 *   ends     by signing out, from another of the person's sessions, with a new password, or when the person is disabled
 *
 * The token is in the browser's cookie alone; the table has its hash. Nothing is remembered between requests: what
 * is ended is ended at the next one.
 *
 * Attempts are counted by address, and by account and address. A stranger's guesses at an account delay nobody who
 * signs in from elsewhere, and no session that there is.
 */
import ipaddr from 'ipaddr.js';
import type { AccountRef, Person, PersonRole } from '../account.ts';
import type { Database, Queryable } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import { uuidv7 } from '../ids.ts';
import type { Settings } from '../settings.ts';
import { passwordMatches } from './passwords.ts';
import * as people from './people-store.ts';
import { createToken, hashKey, type Vault } from './secrets.ts';
import * as store from './session-store.ts';

export type SessionLimits = Pick<Settings, 'sessionIdleSeconds' | 'sessionSeconds'>;

/** What a request says of where it comes from. */
export interface Visitor {
  address: string;
  userAgent: string | undefined;
  /** What its cookie held; a session that is opened with it ends when another begins. */
  token: string | undefined;
}

export interface Begun {
  /** For the cookie; shown to nothing else. */
  token: string;
  sessionId: string;
  endsAt: Date;
}

/** For one account from one address: three are free, then 1, 3, 7 … seconds, up to a quarter of an hour. */
const BY_ACCOUNT = { free: 3, mostSeconds: 900 };
/** From one address, whatever the account: an office has many people behind one. */
const BY_ADDRESS = { free: 20, mostSeconds: 300 };

/**
 * Begins a session with an e-mail and a password.
 * @throws ApiError `wrong_sign_in`, the same for an unknown person, after the same work; `too_many_attempts`
 */
export async function signIn(
  database: Database,
  vault: Vault,
  limits: SessionLimits,
  { email, password }: { email: string; password: string },
  visitor: Visitor,
): Promise<Begun> {
  const place = networkOf(visitor.address);
  const marks = {
    account: vault.mark(`sign-in ${place} ${email}`),
    address: vault.mark(`sign-in ${place}`),
  };
  await admit(database, marks.account, BY_ACCOUNT);
  await admit(database, marks.address, BY_ADDRESS);
  const user = await people.findByEmail(database, email);
  const right = await passwordMatches(password, user?.password_hash ?? undefined);
  if (!right || user === undefined || user.disabled_at !== null) throw wrongSignIn();
  await store.forgetAttempts(database, marks.account);
  await store.forgiveAttempt(database, marks.address);
  await store.forgetOld(database);
  const known = { userId: user.user_id, passwordHash: user.password_hash };
  return database.transaction((transaction) => beginSession(transaction, limits, known, visitor));
}

/** As a sign-in counts, for whatever else an address may try only so often. @throws ApiError `too_many_attempts` */
export async function admit(
  on: Queryable,
  mark: Buffer,
  limit: { free: number; mostSeconds: number },
): Promise<void> {
  const seconds = await store.countAttempt(on, mark, limit);
  if (seconds === undefined) return;
  throw new ApiError(
    'too_many_attempts',
    `Too many attempts; please try again in ${seconds} s.`,
    { 'retry-after': String(seconds) },
    { retry_after: seconds },
  );
}

/** What was admitted and did no harm counts no more. */
export function forgive(on: Queryable, mark: Buffer): Promise<void> {
  return store.forgiveAttempt(on, mark);
}

function wrongSignIn(): ApiError {
  return new ApiError('wrong_sign_in', 'The e-mail or the password is wrong.');
}

/** What an address is counted as: of IPv6, the network that one household or office has. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return (parsed as ipaddr.IPv6).parts.slice(0, 4).join(':');
}

/**
 * Begins one for somebody who has shown who they are, and ends the one that the browser had.
 * @throws ApiError `wrong_sign_in` when they were disabled, or their password was changed, in the same moment
 */
export async function beginSession(
  on: Queryable,
  limits: SessionLimits,
  { userId, passwordHash }: Pick<store.NewSession, 'userId' | 'passwordHash'>,
  visitor: Visitor,
): Promise<Begun> {
  const { token, hash } = createToken();
  const sessionId = uuidv7();
  const endsAt = await store.insertSession(on, {
    sessionId,
    ...{ userId, passwordHash, tokenHash: hash, seconds: limits.sessionSeconds },
    userAgent: describeAgent(visitor.userAgent),
  });
  if (endsAt === undefined) throw wrongSignIn();
  // After the person is locked: who disables them locks the person first, too.
  if (visitor.token !== undefined) await store.endByToken(on, hashKey(visitor.token));
  return { token, sessionId, endsAt };
}

/** Whose session a cookie opens; undefined: nobody's. */
export async function recognisePerson(
  database: Database,
  limits: SessionLimits,
  token: string | undefined,
): Promise<(Person & { endsAt: Date }) | undefined> {
  if (token === undefined) return undefined;
  const row = await store.findSession(database, hashKey(token), limits.sessionIdleSeconds);
  if (row === undefined) return undefined;
  if (row.untouched) await store.touchSession(database, row.session_id);
  return {
    userId: row.user_id,
    sessionId: row.session_id,
    email: row.email,
    name: row.name,
    role: row.role,
    endsAt: row.ends_at,
    ...(row.account_id === null
      ? {}
      : {
          account: {
            ref: { part: row.part, accountId: row.account_id } as AccountRef,
            username: row.username!,
            owner: row.owner,
          },
        }),
  };
}

/** Those of these sessions that are open still, with the role of their people. */
export async function openAmong(
  on: Queryable,
  limits: SessionLimits,
  sessionIds: readonly string[],
): Promise<Map<string, PersonRole>> {
  const rows = await store.findOpenAmong(on, sessionIds, limits.sessionIdleSeconds);
  return new Map(rows.map(({ session_id: id, role }) => [id, role]));
}

/** Gives a session another token and ends every other one of its person. */
export async function turnSession(on: Queryable, person: Person): Promise<Begun> {
  await store.endSessions(on, person.userId, person.sessionId);
  const { token, hash } = createToken();
  const endsAt = await store.rotateSession(on, person.sessionId, hash);
  if (endsAt === undefined) throw new ApiError('not_signed_in', 'Please sign in.');
  return { token, sessionId: person.sessionId, endsAt };
}

/** Ends the session that a cookie opens, if any. */
export async function signOut(on: Queryable, token: string | undefined): Promise<void> {
  if (token !== undefined) await store.endByToken(on, hashKey(token));
}

export function listSessions(
  on: Queryable,
  person: Person,
  limits: SessionLimits,
): Promise<store.SessionRow[]> {
  return store.listSessions(on, person.userId, limits.sessionIdleSeconds);
}

/** @returns whether the person had it */
export function endSession(on: Queryable, person: Person, sessionId: string): Promise<boolean> {
  return store.endSession(on, person.userId, sessionId);
}

/** Signs a person out everywhere, or everywhere but here. */
export function endSessions(on: Queryable, userId: string, stays?: string): Promise<void> {
  return store.endSessions(on, userId, stays);
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

/** A browser's and its system's name: enough to know one's own sessions by, and no more is kept. */
export function describeAgent(userAgent: string | undefined): string {
  if (userAgent === undefined) return '';
  const named = (names: [RegExp, string][]) => names.find(([pattern]) => pattern.test(userAgent))?.[1];
  const found = [named(BROWSERS), named(SYSTEMS)].filter((name) => name !== undefined);
  if (found.length > 0) return found.join(', ');
  return /^[\w.-]{1,40}/.exec(userAgent)?.[0] ?? '';
}
