/** Users: creating, changing and disabling them, and their passwords. */
import { type Actor, type AuditEntry, recordAudit } from '../audit/audit.ts';
import type { AccountRef, Person, PersonRole } from '../base/account.ts';
import { ApiError, type Reason, reason, wrongFields } from '../base/errors.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { AccountError, KEYS_CHANNEL, lockAccount } from './accounts.ts';
import { type CreatedKey, keysCreatedBy, revokeKeysCreatedBy } from './keys.ts';
import { normalEmail, normalName, readName } from './names.ts';
import { hashPassword, passwordFault, passwordMatches } from './passwords.ts';
import * as store from './people-store.ts';
import { endSessions, rotateSession, type StartedSession } from './sessions.ts';

export const ROLES: readonly PersonRole[] = ['customer', 'editor', 'operator'];
export const THEMES = ['system', 'light', 'dark'] as const;
/** The languages of the web app. */
export const LOCALES = ['en', 'de', 'ar'] as const;

/** A language pair of an editor. */
export interface EditorLanguage {
  source_language: string;
  target_language: string;
  /** Whether the editor may also review this language pair. */
  review: boolean;
}

export interface User {
  user_id: string;
  email: string;
  name: string;
  role: PersonRole;
  /** The account of a customer; undefined for other roles. */
  account: { ref: AccountRef; username: string } | undefined;
  /** Whether the user may also decide on retention, export and erasure of the account. */
  owner: boolean;
  locale: string | null;
  theme: store.Theme;
  /** The percentage of the user's edited tasks that is reviewed. */
  review_share: number;
  languages: EditorLanguage[];
  /**
   * Whether a customer invited the user with a link that was shown. Nobody has proved that the mailbox is theirs, so an
   * operator's invitation and the provider's claim to the address replace the user.
   */
  unconfirmed: boolean;
  /** A user is `invited` until they set a password or sign in with the provider. */
  status: 'active' | 'invited' | 'disabled';
  /** Whether the user has a password. Users of a provider may have none. */
  has_password: boolean;
  /** Whether the user has signed in with the provider. */
  linked: boolean;
  /** Whether the user has a confirmed second factor. */
  second_factor: boolean;
  created_at: Date;
  last_seen_at: Date | null;
  /** The active keys that the user created. */
  keys: CreatedKey[];
}

export interface NewPerson {
  email: string;
  /** The user's name. The default is the part of the e-mail address before the `@`. */
  name?: string | undefined;
  role: PersonRole;
  /** Customers must have an account; users of other roles must not. */
  account?: AccountRef | undefined;
  /** Without a password, the new user has the status `invited`. */
  password?: string | undefined;
  languages?: readonly EditorLanguage[] | undefined;
  reviewShare?: number | undefined;
  /** The error message when another user has the e-mail address. */
  taken?: string | undefined;
  /**
   * Whether the creation fails if there is a user with the same e-mail address who has a valid invitation or is
   * unconfirmed. By default the new user replaces that user.
   */
  keepsPending?: boolean | undefined;
  /** Whether the link of the new user is shown to a customer, so that its use proves nothing about the mailbox. */
  unconfirmed?: boolean | undefined;
}

export { hasOperator } from './people-store.ts';

const UNIQUE_VIOLATION = '23505';

/**
 * Creates a user. Replaces a user with the same e-mail address who never accepted their invitation
 * or is unconfirmed.
 * @param alongside a function that runs in the same transaction
 * @returns the id of the new user
 * @throws ApiError `invalid_request` that names every invalid field
 */
export async function createPerson(
  database: Database,
  by: Actor,
  wanted: NewPerson,
  alongside: (transaction: Transaction, userId: string) => Promise<void> = async () => {},
): Promise<string> {
  const email = normalEmail(wanted.email);
  const named = readName(wanted.name ?? email?.split('@')[0]?.replace(/[/.]/g, ' ') ?? '');
  const name = 'name' in named ? named.name : undefined;
  const fields: Record<string, Reason> = {};
  if (email === undefined) fields.email = reason('email');
  const isNamed = wanted.name !== undefined || email !== undefined;
  if ('fault' in named && isNamed) fields.name = named.fault;
  if (wanted.password !== undefined) {
    const fault = passwordFault(wanted.password, email ?? '');
    if (fault !== undefined) fields.password = fault;
  }
  if ((wanted.role === 'customer') !== (wanted.account !== undefined)) {
    fields.account = 'Customers must have an account, other roles must not.';
  }
  if (wanted.role === 'customer' && (wanted.languages ?? []).length > 0) {
    fields.languages = 'Customers have no languages.';
  }
  if (Object.keys(fields).length > 0) throw wrongFields(fields);
  const passwordHash = wanted.password === undefined ? undefined : await hashPassword(wanted.password);
  const userId = uuidv7();
  try {
    await database.transaction(async (transaction) => {
      if (wanted.account !== undefined) await lockAccount(transaction, wanted.account);
      const before = await store.removePending(
        transaction,
        email!,
        wanted.keepsPending !== true,
        wanted.account,
      );
      if (before !== undefined) {
        await recordAudit(transaction, by, {
          action: 'person.removed',
          account: before.account,
          subject: email!,
          detail: {},
        });
      }
      const sameAccount = before?.account?.accountId === wanted.account?.accountId;
      await store.insertUser(transaction, {
        owner: before?.owner === true && sameAccount,
        userId,
        email: email!,
        name: name!,
        role: wanted.role,
        account: wanted.account,
        passwordHash,
        reviewShare: wanted.reviewShare ?? 100,
      });
      if (wanted.unconfirmed === true) await store.setUnconfirmed(transaction, { userId, unconfirmed: true });
      await store.writeLanguages(transaction, userId, wanted.languages ?? []);
      await recordAudit(transaction, by, {
        action: 'person.made',
        account: wanted.account,
        subject: email!,
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

/** Lists all users, oldest first. */
export async function listPeople(on: Queryable): Promise<User[]> {
  return present(on, await store.selectUsers(on));
}

/** Lists the users of an account, oldest first. */
export async function listTeam(on: Queryable, account: AccountRef): Promise<User[]> {
  return present(on, await store.selectUsersOf(on, { account }));
}

/** Returns the user with this id; undefined if there is none. */
export async function readPerson(on: Queryable, userId: string): Promise<User | undefined> {
  const row = await store.findById(on, { userId });
  return row === undefined ? undefined : (await present(on, [row]))[0];
}

/** Returns the user with an e-mail address in its normal form, and the hash of the user's password. */
export async function readUserByEmail(
  on: Queryable,
  email: string,
): Promise<{ user: User; passwordHash: string | null } | undefined> {
  const row = await store.findByEmail(on, { email });
  return row && { user: (await present(on, [row]))[0]!, passwordHash: row.password_hash };
}

/**
 * Returns the user with an e-mail address.
 * @throws AccountError when no user has this address
 */
export async function personNamed(on: Queryable, written: string): Promise<User> {
  const row = await store.findByEmail(on, { email: normalEmail(written) ?? '' });
  if (row === undefined) throw new AccountError(`There is no user with the e-mail address ${written}.`);
  return (await present(on, [row]))[0]!;
}

async function present(on: Queryable, rows: store.UserRow[]): Promise<User[]> {
  const languages = await store.readLanguages(on, {
    userIds: rows.filter(({ role }) => role !== 'customer').map(({ user_id }) => user_id),
  });
  const keys = await keysCreatedBy(
    on,
    rows.map(({ user_id }) => user_id),
  );
  const byUser = Map.groupBy(languages, ({ user_id }) => user_id);
  return rows.map((row) => {
    const { part, account_id, username, password_hash, issuer: _, subject, disabled_at: __, ...user } = row;
    const languagesOf = byUser.get(user.user_id) ?? [];
    return {
      ...user,
      account:
        account_id === null
          ? undefined
          : { ref: { part, accountId: account_id } as AccountRef, username: username! },
      languages: languagesOf.map(({ user_id: _, ...language }) => language),
      status: statusOf(row),
      has_password: password_hash !== null,
      linked: subject !== null,
      keys: keys.get(user.user_id) ?? [],
    };
  });
}

function statusOf({ disabled_at, password_hash, subject }: store.UserRow): User['status'] {
  if (disabled_at !== null) return 'disabled';
  return password_hash === null && subject === null ? 'invited' : 'active';
}

function pairOf({ source_language, target_language, review }: EditorLanguage): string {
  return `${source_language}>${target_language}${review ? ' review' : ''}`;
}

/** The properties of a user that an audit entry of a change needs. */
export type ChangedUser = Pick<User, 'user_id' | 'email' | 'account'>;

/** Returns the audit entry of a change to a user. */
export function personAudit(
  action: string,
  { email, account }: ChangedUser,
  detail: object = {},
): AuditEntry {
  return { action, account: account?.ref, subject: email, detail };
}

/** Replaces the languages of a user. */
export function setLanguages(
  database: Database,
  by: Actor,
  user: ChangedUser,
  languages: readonly EditorLanguage[],
): Promise<void> {
  return database.transaction(async (transaction) => {
    await store.writeLanguages(transaction, user.user_id, languages);
    const detail = { languages: languages.map(pairOf) };
    await recordAudit(transaction, by, personAudit('person.languages', user, detail));
  });
}

/** @param share the percentage of the user's edited tasks that is reviewed */
export function setReviewShare(
  database: Database,
  by: Actor,
  user: ChangedUser,
  share: number,
): Promise<void> {
  return database.transaction(async (transaction) => {
    await store.setProfile(transaction, user.user_id, { reviewShare: share });
    await recordAudit(transaction, by, personAudit('person.review_share', user, { percent: share }));
  });
}

/**
 * Gives a user another e-mail address, which also frees the old one. Ends their sessions, and the links that were sent
 * to the old address.
 * @throws ApiError `invalid_request` when the address is not valid or belongs to another user
 */
export async function renamePerson(
  database: Database,
  by: Actor,
  user: ChangedUser,
  written: string,
): Promise<void> {
  const email = normalEmail(written);
  if (email === undefined) throw wrongFields({ email: reason('email') });
  try {
    await database.transaction(async (transaction) => {
      await store.setProfile(transaction, user.user_id, { email });
      await store.endInvitations(transaction, { userId: user.user_id });
      await endSessions(transaction, user.user_id);
      await recordAudit(transaction, by, personAudit('person.renamed', user, { user_id: user.user_id }));
    });
  } catch (error) {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
    throw wrongFields({ email: reason('email_taken') });
  }
}

/**
 * Disables a user and ends their sessions and links, or enables them again.
 * @param revokeKeys whether to revoke the API keys that the user created
 * @param owned an account that must keep an owner who can sign in
 * @throws ApiError `conflict` when the account would have no such owner
 */
export async function setDisabled(
  database: Database,
  by: Actor,
  user: ChangedUser,
  disabled: boolean,
  { revokeKeys = false, owned }: { revokeKeys?: boolean | undefined; owned?: AccountRef | undefined } = {},
): Promise<void> {
  const userId = user.user_id;
  await database.transaction(async (transaction) => {
    if (owned !== undefined) await store.lockOwners(transaction, { account: owned });
    const isChanged = await store.updateDisabled(transaction, { userId, disabled });
    if (owned !== undefined && disabled && !(await store.hasOwner(transaction, { account: owned }))) {
      throw new ApiError('conflict', 'An account needs an owner. Make another user an owner first.');
    }
    const action = disabled ? 'person.disabled' : 'person.enabled';
    if (isChanged) await recordAudit(transaction, by, personAudit(action, user));
    if (!disabled) return;
    await store.endInvitations(transaction, { userId });
    await endSessions(transaction, userId);
    if (revokeKeys) await revokeKeysCreatedBy(transaction, by, userId);
  });
  if (disabled && revokeKeys) await database.notify(KEYS_CHANNEL);
}

/**
 * Makes a user an owner of their account, or withdraws that right.
 * @throws ApiError `conflict` when the user is the last owner who can sign in
 */
export function setOwner(
  database: Database,
  by: Actor,
  account: AccountRef,
  user: ChangedUser,
  owner: boolean,
): Promise<void> {
  return database.transaction(async (transaction) => {
    await store.lockOwners(transaction, { account });
    const was = await store.updateOwner(transaction, { account, userId: user.user_id, owner });
    if (was === undefined) {
      throw new ApiError('conflict', 'An account needs an owner. Make another user an owner first.');
    }
    // Ends older reset links of this user. Otherwise the holder of such a link could become an owner.
    if (owner) await store.endInvitations(transaction, { userId: user.user_id });
    if (was !== owner) await recordAudit(transaction, by, personAudit('person.owner', user, { owner }));
  });
}

/** The changes that a user can make to their own profile. A locale of null means the browser's language. */
export interface ProfileChanges {
  name?: string;
  locale?: (typeof LOCALES)[number] | null;
  theme?: (typeof THEMES)[number];
}

/** Changes the given fields of a user's own profile. @throws ApiError `invalid_request` for an invalid name */
export async function changeProfile(
  on: Queryable,
  userId: string,
  { name, locale, theme }: ProfileChanges,
): Promise<void> {
  const normalised = name === undefined ? undefined : normalName(name);
  await store.setProfile(on, userId, { name: normalised, theme, locale });
}

/**
 * Checks a signed-in user's own password. Users without a password pass.
 * @throws ApiError `invalid_request`
 */
export async function requirePassword(on: Queryable, userId: string, password = ''): Promise<void> {
  const stored = (await store.findById(on, { userId }))?.password_hash;
  if (stored == null || (await passwordMatches(password, stored))) return;
  throw wrongFields({ current_password: reason('password_wrong') });
}

/**
 * Changes a user's own password and ends their other sessions.
 * @returns the session with a new token
 * @throws ApiError `invalid_request` that names every invalid field
 */
export async function changePassword(
  database: Database,
  person: Person,
  { current, wanted }: { current: string; wanted: string },
): Promise<StartedSession> {
  const user = await store.findById(database, { userId: person.userId });
  const right = await passwordMatches(current, user?.password_hash ?? undefined);
  const fields: Record<string, Reason> = {};
  if (!right) fields.current_password = reason('password_wrong');
  const fault = passwordFault(wanted, person.email);
  if (fault !== undefined) fields.password = fault;
  if (Object.keys(fields).length > 0) throw wrongFields(fields);
  const passwordHash = await hashPassword(wanted);
  return database.transaction(async (transaction) => {
    await store.updatePassword(transaction, { userId: person.userId, passwordHash });
    await store.endInvitations(transaction, { userId: person.userId });
    await recordAudit(transaction, person, {
      action: 'person.password',
      account: person.account?.ref,
      subject: person.email,
      detail: {},
    });
    return rotateSession(transaction, person);
  });
}

/** Sets a user's password and ends all their sessions. @throws ApiError `invalid_request` */
export async function setPassword(
  database: Database,
  by: Actor,
  user: ChangedUser,
  password: string,
): Promise<void> {
  const fault = passwordFault(password, user.email);
  if (fault !== undefined) throw wrongFields({ password: fault });
  const passwordHash = await hashPassword(password);
  await database.transaction(async (transaction) => {
    await store.updatePassword(transaction, { userId: user.user_id, passwordHash });
    await store.endInvitations(transaction, { userId: user.user_id });
    await endSessions(transaction, user.user_id);
    await recordAudit(transaction, by, personAudit('person.password', user));
  });
}
