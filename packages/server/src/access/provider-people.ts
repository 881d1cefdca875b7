/**
 * Finds the user who signs in with an identity of the provider.
 *
 * - A user is found by issuer and subject, never by e-mail address, because addresses can change hands.
 * - At the first sign-in, the provider's verified e-mail address finds the user: an editor or operator with a valid
 *   invitation, or an active user. A user with a second factor is not found this way, because access to their mailbox
 *   would then replace the second factor.
 * - A link by address needs an address in ASCII, or the page of the user's link.
 * - A customer must also come from the page of their link. Other customers of an account can invite any address, so an
 *   address alone could lead a person into an account of strangers.
 * - If a claim decides on roles, it creates editors and operators, and changes or refuses them at each sign-in. Like an
 *   invitation by an operator, the claim replaces a user of an account who never accepted the invitation, or who accepted
 *   it without proving that the mailbox is theirs.
 */

import type { Actor } from '../audit/audit.ts';
import { recordAudit } from '../audit/audit.ts';
import type { Database } from '../database/database.ts';
import type { Settings } from '../settings/settings.ts';
import { hasPlainLocalPart, normalEmail, readName } from './names.ts';
import { type ChangedUser, createPerson, personAudit, readPerson, type User } from './people.ts';
import * as store from './people-store.ts';
import { type Identity, ProviderRefusal } from './provider.ts';
import { hashKey } from './secrets.ts';
import {
  endSessions,
  type SessionClient,
  type SessionLimits,
  type StartedSession,
  startSession,
} from './sessions.ts';

export type IdentitySettings = SessionLimits & Pick<Settings, 'oidcDomains' | 'oidcRoleClaim'>;

/**
 * Starts a session of the user with this identity.
 * @param link the token of the invitation or reset link from whose page the user comes
 * @throws ProviderRefusal
 */
export async function signInWithProvider(
  database: Database,
  settings: IdentitySettings,
  identity: Identity,
  client: SessionClient,
  link: string | undefined,
): Promise<StartedSession> {
  const email = requireEmail(settings, identity);
  const { issuer, subject } = identity;
  const linked = await store.findBySubject(database, { issuer, subject });
  const user = linked && (await readPerson(database, linked.user_id));
  const found = user ?? (await linkUser(database, settings, identity, email, link));
  if (found.status === 'disabled') throw new ProviderRefusal('disabled');
  await applyRole(database, settings, identity, found);
  return database.transaction(async (transaction) => {
    const row = await store.findById(transaction, { userId: found.user_id });
    if (row?.subject !== subject || row.disabled_at !== null) throw new ProviderRefusal('disabled');
    const authenticated = { userId: row.user_id, passwordHash: row.password_hash, byProvider: true };
    return startSession(transaction, settings, authenticated, client);
  });
}

/**
 * Returns the e-mail address of an identity in its normal form, if the provider has verified it. Domains are
 * checked at each sign-in, so that a user who left the organisation is refused.
 */
function requireEmail({ oidcDomains }: IdentitySettings, identity: Identity): string | undefined {
  const email = normalEmail(identity.email ?? '');
  const verified = identity.emailVerified ? email : undefined;
  if (oidcDomains.length === 0) return verified;
  if (email === undefined) throw new ProviderRefusal('no_email');
  if (verified === undefined) throw new ProviderRefusal('unverified');
  if (!oidcDomains.includes(email.split('@').at(-1)!)) throw new ProviderRefusal('domain');
  return verified;
}

/** Finds or creates the user of an identity that signs in for the first time, and links the two. */
async function linkUser(
  database: Database,
  { oidcRoleClaim }: IdentitySettings,
  identity: Identity,
  email: string | undefined,
  link: string | undefined,
): Promise<User> {
  if (email === undefined) throw new ProviderRefusal(identity.email ? 'unverified' : 'no_email');
  const row = await store.findByEmail(database, { email });
  const user = row && (await readPerson(database, row.user_id));
  const invited =
    link === undefined ? undefined : await store.findInvitation(database, { tokenHash: hashKey(link) });
  const isAccepted = user !== undefined && invited?.user_id === user.user_id;
  // Also if the user is disabled: the accounts of customers cannot keep a person of the provider out.
  const givesWay = user?.role === 'customer' && !isAccepted && (user.unconfirmed || !hasSignedIn(row!));
  const isNew = user === undefined ? oidcRoleClaim !== undefined : givesWay && identity.role !== undefined;
  // A letter that only normalises to an ASCII letter may be in the address of another person's mailbox.
  if (
    !hasPlainLocalPart(identity.email!) &&
    !isAccepted &&
    (user !== undefined || hasPlainLocalPart(email))
  ) {
    throw new ProviderRefusal('not_invited');
  }
  if (isNew) return createUser(database, identity, email);
  if (user?.status === 'disabled') throw new ProviderRefusal('disabled');
  if (user === undefined) throw new ProviderRefusal('not_invited');
  if (user.second_factor) throw new ProviderRefusal('second_factor');
  const isInvited =
    user.status === 'active' || (await store.countLinks(database, { userId: user.user_id })) > 0;
  if (!isInvited || (user.role === 'customer' && !isAccepted)) throw new ProviderRefusal('not_invited');
  await database.transaction(async (transaction) => {
    const { user_id: userId } = user;
    if (
      !(await store.linkSubject(transaction, { userId, issuer: identity.issuer, subject: identity.subject }))
    ) {
      throw new ProviderRefusal('linked');
    }
    await store.endInvitations(transaction, { userId });
    await recordAudit(transaction, { userId, email }, personAudit('person.linked', user, {}));
  });
  return user;
}

/** Returns whether a user has ever accepted an invitation. */
function hasSignedIn({ password_hash, subject }: store.UserRow): boolean {
  return password_hash !== null || subject !== null;
}

async function createUser(database: Database, identity: Identity, email: string): Promise<User> {
  const { role, issuer, subject, name = '' } = identity;
  if (role === undefined) throw new ProviderRefusal('no_role');
  const named = readName(name);
  const wanted = { email, role, ...('name' in named ? named : {}) };
  const userId = await createPerson(database, 'program', wanted, async (transaction, id) => {
    await store.linkSubject(transaction, { userId: id, issuer, subject });
  });
  return (await readPerson(database, userId))!;
}

/** Gives a user the role of the claim, if a claim decides on roles. */
async function applyRole(
  database: Database,
  { oidcRoleClaim }: IdentitySettings,
  { role }: Identity,
  user: User,
): Promise<void> {
  if (oidcRoleClaim === undefined || user.role === 'customer') return;
  if (role === undefined) {
    // The role was lost since the last sign-in, so what was started with it ends too.
    await database.transaction(async (transaction) => {
      await store.endInvitations(transaction, { userId: user.user_id });
      await endSessions(transaction, user.user_id);
    });
    throw new ProviderRefusal('no_role');
  }
  if (role === user.role) return;
  await database.transaction(async (transaction) => {
    if (!(await store.updateRole(transaction, { userId: user.user_id, role }))) return;
    await endSessions(transaction, user.user_id);
    await recordAudit(transaction, 'program', personAudit('person.role', user, { role }));
  });
}

/**
 * Removes the link between a user and their identity at the provider, and ends their sessions.
 * @returns whether there was a link
 */
export function unlinkUser(database: Database, by: Actor, user: ChangedUser): Promise<boolean> {
  return database.transaction(async (transaction) => {
    if (!(await store.unlinkSubject(transaction, { userId: user.user_id }))) return false;
    await endSessions(transaction, user.user_id);
    await recordAudit(transaction, by, personAudit('person.unlinked', user));
    return true;
  });
}
