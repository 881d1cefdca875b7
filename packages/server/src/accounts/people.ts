/** People: who may sign in, as what, and how they come to have a password. */
import type { AccountRef, Person, PersonRole } from '../account.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { ApiError, type Reason, reason, wrongFields } from '../errors.ts';
import { uuidv7 } from '../ids.ts';
import { type Actor, type AuditEntry, recordAudit } from '../operations/audit.ts';
import { AccountError, KEYS_CHANNEL } from './accounts.ts';
import { keysMadeBy, type LeftKey, revokeKeysMadeBy } from './keys.ts';
import { hashPassword, passwordFault, passwordMatches } from './passwords.ts';
import * as store from './people-store.ts';
import { createToken, hashKey } from './secrets.ts';
import {
  type Begun,
  beginSession,
  endSessions,
  type SessionLimits,
  turnSession,
  type Visitor,
} from './sessions.ts';

export const ROLES: readonly PersonRole[] = ['customer', 'editor', 'operator'];
export const THEMES = ['system', 'light', 'dark'] as const;
/** Those that the web app is written in. */
export const LOCALES = ['en', 'de', 'ar'] as const;

/** A pair that an editor works on, and whether they may review it too. */
export interface EditorLanguage {
  source_language: string;
  target_language: string;
  review: boolean;
}

/** A person, as an operator sees them. */
export interface User {
  user_id: string;
  email: string;
  name: string;
  role: PersonRole;
  /** A customer's. */
  account: { ref: AccountRef; username: string } | undefined;
  /** A customer who may decide about the account itself: what is kept, and when it ends. */
  owner: boolean;
  locale: string | null;
  theme: store.Theme;
  /** Percent of what they edit that is reviewed. */
  review_share: number;
  languages: EditorLanguage[];
  /** `invited`: has no password yet. */
  status: 'active' | 'invited' | 'disabled';
  created_at: Date;
  last_seen_at: Date | null;
  /** The live keys that they made. */
  keys: LeftKey[];
}

export interface NewPerson {
  email: string;
  /** Where none is given, the beginning of the e-mail. */
  name?: string | undefined;
  role: PersonRole;
  /** A customer has one, nobody else. */
  account?: AccountRef | undefined;
  /** Where none is given, the person is invited. */
  password?: string | undefined;
  languages?: readonly EditorLanguage[] | undefined;
  reviewShare?: number | undefined;
  /** What is said where the e-mail is somebody's already. */
  taken?: string | undefined;
  /** Whether an invitation of the same e-mail that still opens stands; otherwise this one takes its place. */
  keepsPending?: boolean | undefined;
}

const UNIQUE_VIOLATION = '23505';
const MAX_NAME = 100;

/** As it is kept and compared. @returns undefined when it cannot be an address */
export function normalEmail(written: string): string | undefined {
  const email = written.trim().normalize('NFC').toLowerCase();
  return /^[^\s@<>()[\]\\,;:"]{1,64}@[^\s@<>()[\]\\,;:"]+$/u.test(email) &&
    !/\p{C}/u.test(email) &&
    [...email].length <= 254
    ? email
    : undefined;
}

/** @returns undefined when it cannot be a name */
export function normalName(written: string): string | undefined {
  const name = written.trim().normalize('NFC');
  return name !== '' && [...name].length <= MAX_NAME && !/[\p{Cc}\p{Cs}]/u.test(name) ? name : undefined;
}

/**
 * Makes a person. Who never accepted an invitation holds no e-mail: they are removed for it.
 * @returns their id
 * @throws ApiError `invalid_request` that names every wrong field
 */
export async function createPerson(
  database: Database,
  by: Actor,
  wanted: NewPerson,
  alongside: (transaction: Transaction, userId: string) => Promise<void> = async () => {},
): Promise<string> {
  const email = normalEmail(wanted.email);
  const name = normalName(wanted.name ?? email?.split('@')[0] ?? '');
  const fields: Record<string, Reason> = {};
  if (email === undefined) fields.email = reason('email');
  const isNamed = wanted.name !== undefined || email !== undefined;
  if (name === undefined && isNamed) fields.name = reason('has_length', { least: 1, most: MAX_NAME });
  if (wanted.password !== undefined) {
    const fault = passwordFault(wanted.password, email ?? '');
    if (fault !== undefined) fields.password = fault;
  }
  if ((wanted.role === 'customer') !== (wanted.account !== undefined)) {
    fields.account = 'A customer belongs to an account, and nobody else does.';
  }
  if (wanted.role === 'customer' && (wanted.languages ?? []).length > 0) {
    fields.languages = 'Only those who edit have languages.';
  }
  if (Object.keys(fields).length > 0) throw wrongFields(fields);
  const passwordHash = wanted.password === undefined ? undefined : await hashPassword(wanted.password);
  const userId = uuidv7();
  try {
    await database.transaction(async (transaction) => {
      const before = await store.removePending(
        transaction,
        email!,
        wanted.keepsPending !== true,
        wanted.account,
      );
      if (before !== undefined) {
        await recordAudit(transaction, by, {
          ...{ action: 'person.removed', account: before.account, subject: email!, detail: {} },
        });
      }
      const sameAccount = before?.account?.accountId === wanted.account?.accountId;
      await store.insertUser(transaction, {
        owner: before?.owner === true && sameAccount,
        ...{ userId, email: email!, name: name!, role: wanted.role, account: wanted.account },
        ...{ passwordHash, reviewShare: wanted.reviewShare ?? 100 },
      });
      await store.writeLanguages(transaction, userId, wanted.languages ?? []);
      await recordAudit(transaction, by, {
        ...{ action: 'person.made', account: wanted.account, subject: email! },
        detail: { role: wanted.role, languages: (wanted.languages ?? []).map(pairOf) },
      });
      await alongside(transaction, userId);
    });
  } catch (error) {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
    throw wrongFields({ email: wanted.taken ?? reason('email_taken') });
  }
  return userId;
}

/** Everybody, in the order of their coming. */
export async function listPeople(on: Queryable): Promise<User[]> {
  return present(on, await store.listUsers(on));
}

/** The people of one account. */
export async function listTeam(on: Queryable, account: AccountRef): Promise<User[]> {
  return present(on, await store.listTeam(on, account));
}

export async function readPerson(on: Queryable, userId: string): Promise<User | undefined> {
  const row = await store.findById(on, userId);
  return row === undefined ? undefined : (await present(on, [row]))[0];
}

/**
 * The person of an e-mail that an operator gave.
 * @throws AccountError when there is none
 */
export async function personNamed(on: Queryable, written: string): Promise<User> {
  const row = await store.findByEmail(on, normalEmail(written) ?? '');
  if (row === undefined) throw new AccountError(`There is nobody with the e-mail ${written}.`);
  return (await present(on, [row]))[0]!;
}

async function present(on: Queryable, rows: store.UserRow[]): Promise<User[]> {
  const languages = await store.readLanguages(
    on,
    rows.filter(({ role }) => role !== 'customer').map(({ user_id }) => user_id),
  );
  const keys = await keysMadeBy(
    on,
    rows.map(({ user_id }) => user_id),
  );
  const byUser = Map.groupBy(languages, ({ user_id }) => user_id);
  return rows.map((row) => ({
    user_id: row.user_id,
    email: row.email,
    name: row.name,
    role: row.role,
    account:
      row.account_id === null
        ? undefined
        : { ref: { part: row.part, accountId: row.account_id } as AccountRef, username: row.username! },
    owner: row.owner,
    locale: row.locale,
    theme: row.theme,
    review_share: row.review_share,
    languages: (byUser.get(row.user_id) ?? []).map(({ user_id: _, ...language }) => language),
    status: row.disabled_at !== null ? 'disabled' : row.password_hash === null ? 'invited' : 'active',
    created_at: row.created_at,
    last_seen_at: row.last_seen_at,
    keys: keys.get(row.user_id) ?? [],
  }));
}

function pairOf({ source_language, target_language, review }: EditorLanguage): string {
  return `${source_language}>${target_language}${review ? ' review' : ''}`;
}

/** Whom a change is about. */
export type Subject = Pick<User, 'user_id' | 'email' | 'account'>;

function about(action: string, { email, account }: Subject, detail: object = {}): AuditEntry {
  return { action, account: account?.ref, subject: email, detail };
}

/** Puts these in the place of the languages that a person had. */
export function setLanguages(
  database: Database,
  by: Actor,
  user: Subject,
  languages: readonly EditorLanguage[],
): Promise<void> {
  return database.transaction(async (transaction) => {
    await store.writeLanguages(transaction, user.user_id, languages);
    const detail = { languages: languages.map(pairOf) };
    await recordAudit(transaction, by, about('person.languages', user, detail));
  });
}

/** @param share percent of what they edit that is reviewed */
export function setReviewShare(database: Database, by: Actor, user: Subject, share: number): Promise<void> {
  return database.transaction(async (transaction) => {
    await store.setProfile(transaction, user.user_id, { reviewShare: share });
    await recordAudit(transaction, by, about('person.review_share', user, { percent: share }));
  });
}

/**
 * Lets a person in no more, and ends their sessions and links; or lets them in again.
 * @param revokeKeys whether the keys that they made end too
 * @param owned the account that must have an owner left who may sign in, where an owner is disabled by its own people
 * @throws ApiError `conflict` where none would be left
 */
export async function setDisabled(
  database: Database,
  by: Actor,
  user: Subject,
  disabled: boolean,
  { revokeKeys = false, owned }: { revokeKeys?: boolean | undefined; owned?: AccountRef | undefined } = {},
): Promise<void> {
  const userId = user.user_id;
  await database.transaction(async (transaction) => {
    if (owned !== undefined) await store.lockOwners(transaction, owned);
    await store.setDisabled(transaction, userId, disabled);
    if (owned !== undefined && disabled && !(await store.hasOwner(transaction, owned))) {
      throw new ApiError('conflict', 'An account has an owner: make somebody else one first.');
    }
    await recordAudit(transaction, by, about(disabled ? 'person.disabled' : 'person.enabled', user));
    if (!disabled) return;
    await store.endInvitations(transaction, userId);
    await endSessions(transaction, userId);
    if (revokeKeys) await revokeKeysMadeBy(transaction, by, userId);
  });
  if (disabled && revokeKeys) await database.notify(KEYS_CHANNEL);
}

/**
 * Makes somebody an owner of their account, or no owner any more.
 * @throws ApiError `conflict` for the last owner who may sign in
 */
export function setOwner(
  database: Database,
  by: Actor,
  account: AccountRef,
  user: Subject,
  owner: boolean,
): Promise<void> {
  return database.transaction(async (transaction) => {
    await store.lockOwners(transaction, account);
    if (!(await store.setOwner(transaction, account, user.user_id, owner))) {
      throw new ApiError('conflict', 'An account has an owner: make somebody else one first.');
    }
    // A link that somebody else had made for them would make its reader an owner.
    if (owner) await store.endInvitations(transaction, user.user_id);
    await recordAudit(transaction, by, about('person.owner', user, { owner }));
  });
}

/** What a person says of themselves; what is not given stays. A locale of null is the browser's. */
export interface ProfileChanges {
  name?: unknown;
  locale?: unknown;
  theme?: unknown;
}

/** @throws ApiError `invalid_request` that names every wrong field */
export async function changeProfile(on: Queryable, userId: string, changes: ProfileChanges): Promise<void> {
  const name = typeof changes.name === 'string' ? normalName(changes.name) : undefined;
  const theme = THEMES.find((one) => one === changes.theme);
  const locale = changes.locale === null ? null : LOCALES.find((one) => one === changes.locale);
  const fields: Record<string, Reason> = {};
  if (changes.name !== undefined && name === undefined) {
    fields.name = reason('has_length', { least: 1, most: MAX_NAME });
  }
  if (changes.theme !== undefined && theme === undefined) {
    fields.theme = reason('one_of', { accepted: THEMES.join(', ') });
  }
  if (changes.locale !== undefined && locale === undefined) {
    fields.locale = `Must be one of ${LOCALES.join(', ')}, or null.`;
  }
  if (Object.keys(fields).length > 0) throw wrongFields(fields);
  await store.setProfile(on, userId, { name, theme, locale });
}

/**
 * Changes a password that its owner knows, and signs them out everywhere else.
 * @returns the session under its new token
 * @throws ApiError `invalid_request` that names every wrong field
 */
export async function changePassword(
  database: Database,
  person: Person,
  { current, wanted }: { current: string; wanted: string },
): Promise<Begun> {
  const user = await store.findById(database, person.userId);
  const right = await passwordMatches(current, user?.password_hash ?? undefined);
  const fields: Record<string, Reason> = {};
  if (!right) fields.current_password = reason('password_wrong');
  const fault = passwordFault(wanted, person.email);
  if (fault !== undefined) fields.password = fault;
  if (Object.keys(fields).length > 0) throw wrongFields(fields);
  const passwordHash = await hashPassword(wanted);
  return database.transaction(async (transaction) => {
    await store.setPassword(transaction, person.userId, passwordHash);
    await store.endInvitations(transaction, person.userId);
    await recordAudit(transaction, person, {
      ...{ action: 'person.password', account: person.account?.ref, subject: person.email, detail: {} },
    });
    return turnSession(transaction, person);
  });
}

/** Sets a password that an operator chose, and signs the person out everywhere. @throws ApiError `invalid_request` */
export async function setPassword(
  database: Database,
  by: Actor,
  user: Subject,
  password: string,
): Promise<void> {
  const fault = passwordFault(password, user.email);
  if (fault !== undefined) throw wrongFields({ password: fault });
  const passwordHash = await hashPassword(password);
  await database.transaction(async (transaction) => {
    await store.setPassword(transaction, user.user_id, passwordHash);
    await store.endInvitations(transaction, user.user_id);
    await endSessions(transaction, user.user_id);
    await recordAudit(transaction, by, about('person.password', user));
  });
}

const HOURS = 3600;
const LIFE_SECONDS = { invitation: 7 * 24 * HOURS, reset: 24 * HOURS } as const;

/**
 * Makes the link by which a person chooses their password; one that was made before opens no more.
 * @returns its secret part, which is kept nowhere
 */
export function inviteUser(
  database: Database,
  by: Actor,
  user: Subject,
  purpose: store.Purpose,
): Promise<Link> {
  return database.transaction((transaction) => writeLink(transaction, by, user, purpose));
}

async function writeLink(
  transaction: Transaction,
  by: Actor,
  user: Subject,
  purpose: store.Purpose,
): Promise<Link> {
  const { token, hash } = createToken();
  const seconds = LIFE_SECONDS[purpose];
  const invitedBy = typeof by === 'string' ? undefined : by.userId;
  const userId = user.user_id;
  await store.endInvitations(transaction, userId);
  await store.insertInvitation(transaction, { tokenHash: hash, userId, purpose, invitedBy, seconds });
  await recordAudit(transaction, by, about('person.link', user, { purpose }));
  return { token, purpose, expires_at: new Date(Date.now() + seconds * 1000) };
}

/** What lets a person choose a password. */
export interface Link {
  /** The secret part, which is kept nowhere. */
  token: string;
  purpose: store.Purpose;
  expires_at: Date;
}

/** The link that a person needs now: to choose a first password, or another. */
export function linkFor(database: Database, by: Actor, user: User): Promise<Link> {
  return inviteUser(database, by, user, user.status === 'invited' ? 'invitation' : 'reset');
}

/** Makes a person without a password and the link by which they choose one. @throws ApiError `invalid_request` */
export async function invitePerson(
  database: Database,
  by: Actor,
  wanted: Omit<NewPerson, 'password'>,
): Promise<Link & { user: User }> {
  let made: (Link & { user: User }) | undefined;
  await createPerson(database, by, wanted, async (transaction, userId) => {
    const user = (await readPerson(transaction, userId))!;
    made = { user, ...(await writeLink(transaction, by, user, 'invitation')) };
  });
  return made!;
}

/** Where a link leads. @param root of the server, as its people reach it */
export function invitationLink(root: string, token: string): string {
  return `${root}/app/invitation/${token}`;
}

export interface OpenInvitation {
  purpose: store.Purpose;
  user: User;
  expires_at: Date;
}

/** What a link is for. @throws ApiError `not_found` when it does not open, or no more */
export async function readInvitation(on: Queryable, token: string): Promise<OpenInvitation> {
  const found = await store.findInvitation(on, hashKey(token));
  const user = found && (await readPerson(on, found.user_id));
  if (found === undefined || user === undefined) throw usedUp();
  return { purpose: found.purpose, user, expires_at: found.expires_at };
}

/**
 * Sets the password that the owner of a link chose, and signs them in here and nowhere else.
 * @throws ApiError `not_found` when the link does not open, `invalid_request` that names every wrong field
 */
export async function acceptInvitation(
  database: Database,
  limits: SessionLimits,
  token: string,
  { name: written, password }: { name: string | undefined; password: string },
  visitor: Visitor,
): Promise<Begun & { userId: string; user: User; purpose: store.Purpose; madeBy: string | null }> {
  const { user } = await readInvitation(database, token);
  const name = written === undefined ? undefined : normalName(written);
  const fields: Record<string, Reason> = {};
  if (written !== undefined && name === undefined)
    fields.name = reason('has_length', { least: 1, most: MAX_NAME });
  const fault = passwordFault(password, user.email);
  if (fault !== undefined) fields.password = fault;
  if (Object.keys(fields).length > 0) throw wrongFields(fields);
  const passwordHash = await hashPassword(password);
  return database.transaction(async (transaction) => {
    const used = await store.useInvitation(transaction, hashKey(token));
    if (used === undefined) throw usedUp();
    await store.setPassword(transaction, used.user_id, passwordHash);
    await store.setProfile(transaction, used.user_id, { name });
    await store.endInvitations(transaction, used.user_id);
    await endSessions(transaction, used.user_id);
    const by = { userId: used.user_id, email: user.email };
    await recordAudit(transaction, by, about('person.accepted', user, { purpose: used.purpose }));
    const begun = await beginSession(transaction, limits, { userId: used.user_id, passwordHash }, visitor);
    return { ...begun, userId: used.user_id, user, purpose: used.purpose, madeBy: used.made_by };
  });
}

function usedUp(): ApiError {
  return new ApiError('not_found', 'This link has been used or has run out; please ask for another.');
}
