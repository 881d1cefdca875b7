/**
 * Invitations and reset links: users set their password with such a link, which works once. A similar link creates the
 * first operator, because nobody can invite them yet.
 */
import { type Actor, recordAudit } from '../audit/audit.ts';
import { ApiError, type Reason, wrongFields } from '../base/errors.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { normalEmail, readName } from './names.ts';
import { hashPassword, passwordFault } from './passwords.ts';
import {
  type ChangedUser,
  createPerson,
  type NewPerson,
  personAudit,
  readPerson,
  type User,
} from './people.ts';
import * as store from './people-store.ts';
import { requireCode } from './second-factor.ts';
import { createToken, hashKey, type Vault } from './secrets.ts';
import {
  endSessions,
  type SessionClient,
  type SessionLimits,
  type StartedSession,
  startSession,
} from './sessions.ts';
import { mayUsePassword, type PasswordSettings } from './sign-in.ts';

const HOURS = 3600;
const LIFE_SECONDS = { invitation: 7 * 24 * HOURS, reset: 24 * HOURS, operator: 24 * HOURS } as const;
/** Anybody can request a link for a forgotten password, so it is valid for an hour only. */
const FORGOTTEN_SECONDS = HOURS;
/**
 * The maximum number of valid links of a user. A user with this number of links gets no further link for a
 * forgotten password.
 */
const MAX_LINKS = 3;

/**
 * Creates a link for setting a user's password, and invalidates older links of the user. Only a hash of the link is
 * stored.
 */
export function inviteUser(
  database: Database,
  by: Actor,
  user: ChangedUser,
  purpose: UserLinkPurpose,
): Promise<Link> {
  return database.transaction(async (transaction) => {
    await store.endInvitations(transaction, { userId: user.user_id });
    return writeLink(transaction, by, user, purpose);
  });
}

async function writeLink(
  transaction: Transaction,
  by: Actor,
  user: ChangedUser,
  purpose: UserLinkPurpose,
  seconds: number = LIFE_SECONDS[purpose],
  invitedBy: string | undefined = typeof by === 'string' ? undefined : by.userId,
): Promise<Link> {
  const { token, hash } = createToken();
  const userId = user.user_id;
  await store.insertInvitation(transaction, {
    tokenHash: hash,
    userId,
    purpose,
    invitedBy: invitedBy ?? null,
    seconds,
  });
  await recordAudit(transaction, by, personAudit('person.link', user, { purpose }));
  return { token, purpose, expires_at: new Date(Date.now() + seconds * 1000) };
}

/** The purpose of a link for an existing user. */
type UserLinkPurpose = Exclude<store.LinkPurpose, 'operator'>;

/** A link for setting a user's password. */
export interface Link {
  /** The secret part of the link. Only its hash is stored. */
  token: string;
  purpose: store.LinkPurpose;
  expires_at: Date;
}

/** Creates an invitation for a user with the status `invited`, and a reset link for any other user. */
export function linkFor(database: Database, by: Actor, user: User): Promise<Link> {
  return inviteUser(database, by, user, user.status === 'invited' ? 'invitation' : 'reset');
}

/** Marks an invited user whose invitation a customer has seen, so that it proves no mailbox. */
export function markUnconfirmed(on: Queryable, userId: string): Promise<void> {
  return store.setUnconfirmed(on, { userId, unconfirmed: true });
}

/**
 * Creates a reset link for a user who forgot their password. The audit names the program, because nobody
 * knows who made the request. Older links stay valid, because strangers can make requests too.
 * @returns undefined when no active user who may use a password has the e-mail address, or the user already has `MAX_LINKS`
 * valid links
 */
export async function linkForForgottenPassword(
  database: Database,
  settings: PasswordSettings,
  email: string,
): Promise<(Link & { user: User }) | undefined> {
  const row = await store.findByEmail(database, { email });
  const user = row && (await readPerson(database, row.user_id));
  // Users without a password sign in with the provider, which may check a second factor. A reset link would let anybody
  // with access to their mailbox sign in without it.
  if (user?.status !== 'active' || !user.has_password || !mayUsePassword(settings, user)) return undefined;
  return database.transaction(async (transaction) => {
    if ((await store.countLinks(transaction, { userId: user.user_id })) >= MAX_LINKS) return undefined;
    const link = await writeLink(transaction, 'program', user, 'reset', FORGOTTEN_SECONDS, user.user_id);
    return { ...link, user };
  });
}

/** Creates a user without a password, together with their invitation. @throws ApiError `invalid_request` */
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

/**
 * Creates the link that creates the first operator, and ends the previous one. Only a hash of the link is stored.
 * @returns undefined if there is an operator
 */
export function linkForFirstOperator(database: Database): Promise<Link | undefined> {
  return database.transaction(async (transaction) => {
    const { token, hash } = createToken();
    const expiresAt = await store.writeOperatorLink(transaction, {
      tokenHash: hash,
      seconds: LIFE_SECONDS.operator,
    });
    if (expiresAt === undefined) return undefined;
    const detail = { purpose: 'operator' };
    await recordAudit(transaction, 'program', { action: 'person.link', subject: '', detail });
    return { token, purpose: 'operator', expires_at: expiresAt };
  });
}

/** Returns the URL of an invitation or reset link. @param root the public address of the server */
export function invitationLink(root: string, token: string): string {
  return `${root}/app/invitation/${token}`;
}

export interface OpenInvitation {
  purpose: store.LinkPurpose;
  /** The user who sets a password; undefined for the link that creates the first operator. */
  user: User | undefined;
  expires_at: Date;
}

/**
 * Returns a valid invitation. @throws ApiError `not_found` when the invitation is unknown, used or expired
 */
export async function readInvitation(on: Queryable, token: string): Promise<OpenInvitation> {
  const found = await store.findInvitation(on, { tokenHash: hashKey(token) });
  if (found === undefined) throw usedUp();
  const user = found.user_id === null ? undefined : await readPerson(on, found.user_id);
  return { purpose: found.purpose, user, expires_at: found.expires_at };
}

/** The form that a person submits on the page of a link. */
export interface InvitationAnswer {
  /** The e-mail address of the first operator. Ignored for other links, because their users have an address. */
  email?: string | undefined;
  name?: string | undefined;
  password: string;
  code?: string | undefined;
}

export type AcceptedInvitation = StartedSession &
  Pick<store.InvitationRow, 'purpose' | 'made_by' | 'requested'> & { user: Pick<User, 'email' | 'name'> };

/**
 * Accepts an invitation or a reset link: sets the password, ends the user's sessions and starts a new one.
 * A user with a second factor needs its code too, because a mailbox alone must not open their sessions. The
 * link for the first operator creates its user.
 * @throws ApiError `not_found` when the link is not valid; `invalid_request` that names every invalid field;
 * `second_factor_required`; `passwords_off`; `too_many_attempts`
 */
export async function acceptInvitation(
  database: Database,
  vault: Vault,
  limits: SessionLimits & PasswordSettings,
  token: string,
  given: InvitationAnswer,
  visitor: SessionClient,
): Promise<AcceptedInvitation> {
  const { user } = await readInvitation(database, token);
  const firstOperator = { email: normalEmail(given.email ?? '') ?? '', linked: false };
  if (!mayUsePassword(limits, user ?? firstOperator)) {
    throw new ApiError('passwords_off', 'Users of this server sign in with its provider.');
  }
  if (user === undefined) return createFirstOperator(database, limits, token, given, visitor);
  const { name: written, password, code } = given;
  const named = written === undefined ? undefined : readName(written);
  const fields: Record<string, Reason> = {};
  if (named !== undefined && 'fault' in named) fields.name = named.fault;
  const fault = passwordFault(password, user.email);
  if (fault !== undefined) fields.password = fault;
  if (Object.keys(fields).length > 0) throw wrongFields(fields);
  await requireCode(database, vault, user, code);
  const passwordHash = await hashPassword(password);
  return database.transaction(async (transaction) => {
    const used = await store.useInvitation(transaction, { tokenHash: hashKey(token) });
    if (used === undefined) throw usedUp();
    await store.updatePassword(transaction, { userId: used.user_id, passwordHash });
    await store.setProfile(transaction, used.user_id, {
      name: named && 'name' in named ? named.name : undefined,
    });
    // The user requested this link, so it was mailed and shown to nobody else.
    if (used.requested) await store.setUnconfirmed(transaction, { userId: used.user_id, unconfirmed: false });
    await store.endInvitations(transaction, { userId: used.user_id });
    await endSessions(transaction, used.user_id);
    const by = { userId: used.user_id, email: user.email };
    await recordAudit(transaction, by, personAudit('person.accepted', user, { purpose: used.purpose }));
    const started = await startSession(transaction, limits, { userId: used.user_id, passwordHash }, visitor);
    const { purpose, made_by, requested } = used;
    return { ...started, user, purpose, made_by, requested };
  });
}

/** @throws the same errors as `acceptInvitation` */
async function createFirstOperator(
  database: Database,
  limits: SessionLimits,
  token: string,
  { email = '', name, password }: InvitationAnswer,
  visitor: SessionClient,
): Promise<AcceptedInvitation> {
  let accepted: AcceptedInvitation | undefined;
  const wanted = { email, name, role: 'operator' as const, password };
  await createPerson(database, 'program', wanted, async (transaction, userId) => {
    if (!(await store.useOperatorLink(transaction, { tokenHash: hashKey(token), userId }))) throw usedUp();
    const user = (await store.findById(transaction, { userId }))!;
    const by = { userId, email: user.email };
    await recordAudit(transaction, by, {
      action: 'person.accepted',
      subject: user.email,
      detail: { purpose: 'operator' },
    });
    const passwordHash = user.password_hash;
    const started = await startSession(transaction, limits, { userId, passwordHash }, visitor);
    accepted = { ...started, user, purpose: 'operator', made_by: null, requested: false };
  });
  return accepted!;
}

function usedUp(): ApiError {
  return new ApiError('not_found', 'This link has been used or has expired. Ask for a new one.');
}
