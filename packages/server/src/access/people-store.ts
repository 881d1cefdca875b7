/** The SQL statements about users, their languages and their invitations. */
import type { AccountRef, PersonRole } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';

export type Theme = 'system' | 'light' | 'dark';

export interface UserRow {
  user_id: string;
  email: string;
  name: string;
  role: PersonRole;
  part: number | null;
  account_id: string | null;
  username: string | null;
  owner: boolean;
  unconfirmed: boolean;
  password_hash: string | null;
  /** The OpenID Connect provider that the user signs in with; null for a user without one. */
  issuer: string | null;
  subject: string | null;
  locale: string | null;
  theme: Theme;
  review_share: number;
  disabled_at: Date | null;
  second_factor: boolean;
  created_at: Date;
  last_seen_at: Date | null;
}

const USER = `u.user_id, u.email, u.name, u.role, u.part, u.account_id, a.username, u.owner, u.unconfirmed, u.password_hash, u.issuer, u.subject, u.locale, u.theme,
          u.review_share, u.disabled_at, u.created_at,
          exists (select from second_factors f where f.user_id = u.user_id and f.confirmed_at is not null) as second_factor,
          (select max(s.last_seen_at) from sessions s where s.user_id = u.user_id) as last_seen_at
     from users u left join accounts a on a.part = u.part and a.account_id = u.account_id`;

// The first user of an account is its owner. Without `offset 0`, Citus sees that a user without an account is no owner,
// removes the subquery on `users` and with it the insert.
const INSERT_USER = statement(
  'people.insert',
  `insert into users (user_id, email, name, role, part, account_id, password_hash, review_share, owner)
   select $1::uuid, $2, $3, $4, g.part, g.account_id, $7, $8::smallint,
          g.account_id is not null
            and (g.owner or not exists (select from users u where u.part = g.part and u.account_id = g.account_id))
     from (select $5::smallint as part, $6::uuid as account_id, $9::boolean as owner offset 0) g`,
);

export interface NewUser {
  userId: string;
  email: string;
  name: string;
  role: PersonRole;
  account: AccountRef | undefined;
  passwordHash: string | undefined;
  reviewShare: number;
  /** Whether the new user replaces an owner of the account who never accepted their invitation. */
  owner: boolean;
}

const REMOVE_PENDING = statement<{ owner: boolean; part: number | null; account_id: string | null }>(
  'people.remove_pending',
  `delete from users u
    where u.email = $1 and (u.password_hash is null and u.subject is null or $2 and u.unconfirmed)
      and ($2 or not exists (select from invitations i where i.user_id = u.user_id and i.used_at is null
                                and i.expires_at > now())
                 and not (u.owner and u.account_id is not distinct from $3::uuid))
   returning u.owner, u.part, u.account_id`,
);

/**
 * Removes the user with this e-mail address if they never accepted their invitation.
 * @param claimed whether to remove the user even if the invitation is still valid, the user is an owner of the account,
 * or the user accepted an invitation without proving that the mailbox is theirs
 * @returns the account of the removed user
 */
export async function removePending(
  on: Queryable,
  email: string,
  claimed: boolean,
  account: AccountRef | undefined,
): Promise<{ owner: boolean; account: AccountRef | undefined } | undefined> {
  const [row] = await on.query(REMOVE_PENDING, [email, claimed, account?.accountId ?? null]);
  if (row === undefined) return undefined;
  on.changed('sessions');
  const { owner, part, account_id: accountId } = row;
  return { owner, account: accountId === null ? undefined : ({ part, accountId } as AccountRef) };
}

export async function insertUser(on: Queryable, user: NewUser): Promise<void> {
  await on.query(INSERT_USER, [
    user.userId,
    user.email,
    user.name,
    user.role,
    user.account?.part ?? null,
    user.account?.accountId ?? null,
    user.passwordHash ?? null,
    user.reviewShare,
    user.owner,
  ]);
}

export const findByEmail = statement<UserRow, { email: string }>(
  'people.by_email',
  `select ${USER} where u.email = :email`,
).first;
export const findById = statement<UserRow, { userId: string }>(
  'people.by_id',
  `select ${USER} where u.user_id = :userId`,
).first;
/** Returns the user with this subject at a provider (issuer). */
export const findBySubject = statement<UserRow, { issuer: string; subject: string }>(
  'people.by_subject',
  `select ${USER} where u.issuer = :issuer and u.subject = :subject`,
).first;
export const selectUsers = statement<UserRow>(
  'people.list',
  `select ${USER} order by u.created_at, u.user_id`,
).rows;
export const selectUsersOf = statement<UserRow, { account: AccountRef }>(
  'people.of_account',
  `select ${USER} where u.part = :part and u.account_id = :account_id order by u.created_at, u.user_id`,
).rows;

const SET_PROFILE = statement(
  'people.set_profile',
  `update users set name = coalesce($2, name), locale = case when $3 then $4 else locale end,
          theme = coalesce($5, theme), review_share = coalesce($6, review_share), email = coalesce($7, email)
    where user_id = $1`,
);

/** Changes the profile of a user. Undefined fields stay as they are. A locale of null means the browser's language. */
export async function setProfile(
  on: Queryable,
  userId: string,
  changes: {
    name?: string | undefined;
    locale?: string | null | undefined;
    theme?: Theme | undefined;
    reviewShare?: number | undefined;
    email?: string | undefined;
  },
): Promise<void> {
  const { name = null, locale, theme = null, reviewShare = null, email = null } = changes;
  await on.query(SET_PROFILE, [
    userId,
    name,
    locale !== undefined,
    locale ?? null,
    theme,
    reviewShare,
    email,
  ]);
}

// The last owner who can sign in always stays an owner. Otherwise nobody could erase the account.
/**
 * @returns whether the user was an owner before; undefined when they are the last owner and the change is
 * refused
 */
export const updateOwner = statement<
  { was: boolean },
  { account: AccountRef; userId: string; owner: boolean }
>(
  'people.set_owner',
  `update users set owner = :owner from users before
    where users.part = :part and users.account_id = :account_id and users.user_id = :userId
      and before.user_id = users.user_id
      and (:owner or exists (
        select from users u where u.part = :part and u.account_id = :account_id and u.user_id <> :userId and u.owner
           and u.disabled_at is null and (u.password_hash is not null or u.subject is not null)))
   returning before.owner as was`,
).firstValue;

/** Locks the owners of an account, so that concurrent changes run one after the other. */
export const lockOwners = statement<never, { account: AccountRef }>(
  'people.lock_owners',
  `select user_id from users where part = :part and account_id = :account_id and owner order by user_id for update`,
).run;

/** Returns whether the account has an owner who can sign in. */
export const hasOwner = statement<{ has: boolean }, { account: AccountRef }>(
  'people.has_owner',
  `select exists (select from users where part = :part and account_id = :account_id and owner
     and disabled_at is null and (password_hash is not null or subject is not null)) as has`,
).value;

export const updatePassword = statement<never, { userId: string; passwordHash: string }>(
  'people.set_password',
  `update users set password_hash = :passwordHash where user_id = :userId`,
).run;

/** Records whether a user has yet to prove that the mailbox of their address is theirs. */
export const setUnconfirmed = statement<never, { userId: string; unconfirmed: boolean }>(
  'people.set_unconfirmed',
  `update users set unconfirmed = :unconfirmed where user_id = :userId`,
).run;

/**
 * Links a user with their identity at a provider. @returns false when the user is disabled, or already has
 * another identity at this provider
 */
export const linkSubject = statement<
  { user_id: string },
  { userId: string; issuer: string; subject: string }
>(
  'people.link',
  `update users set issuer = :issuer, subject = :subject, unconfirmed = false
    where user_id = :userId and disabled_at is null and (issuer is null or issuer <> :issuer or subject = :subject)
   returning user_id`,
).found;

/** @returns whether the user had an identity at a provider */
export const unlinkSubject = statement<{ user_id: string }, { userId: string }>(
  'people.unlink',
  `update users set issuer = null, subject = null where user_id = :userId and subject is not null returning user_id`,
).found;

/** Changes the role of a user without an account. @returns whether the role changed */
export const updateRole = statement<{ user_id: string }, { userId: string; role: 'editor' | 'operator' }>(
  'people.set_role',
  `update users set role = :role where user_id = :userId and role <> :role and account_id is null returning user_id`,
).found;

/** @returns false if the user was already disabled, or already enabled */
export const updateDisabled = statement<{ user_id: string }, { userId: string; disabled: boolean }>(
  'people.set_disabled',
  `update users set disabled_at = (select now() where :disabled)
    where user_id = :userId and (disabled_at is not null) <> :disabled
   returning user_id`,
).reporting('sessions').found;

export interface UserLanguageRow {
  user_id: string;
  source_language: string;
  target_language: string;
  review: boolean;
}

export const readLanguages = statement<UserLanguageRow, { userIds: readonly string[] }>(
  'people.languages',
  `select user_id, source_language, target_language, review from user_languages
    where user_id = any(:userIds::uuid[]) order by source_language, target_language`,
).rows;

const FORGET_LANGUAGES = statement(
  'people.forget_languages',
  `delete from user_languages where user_id = $1`,
);
const INSERT_LANGUAGES = statement(
  'people.insert_languages',
  `insert into user_languages (user_id, source_language, target_language, review)
   select $1, * from unnest($2::text[], $3::text[], $4::boolean[])`,
);

/** Replaces the languages of a user. */
export async function writeLanguages(
  on: Queryable,
  userId: string,
  languages: readonly Omit<UserLanguageRow, 'user_id'>[],
): Promise<void> {
  await on.query(FORGET_LANGUAGES, [userId]);
  await on.query(INSERT_LANGUAGES, [
    userId,
    languages.map(({ source_language }) => source_language),
    languages.map(({ target_language }) => target_language),
    languages.map(({ review }) => review),
  ]);
}

/** `operator` is the purpose of the link that creates the first operator. */
export type LinkPurpose = 'invitation' | 'reset' | 'operator';

/** Invalidates all invitation and reset links of a user. */
export const endInvitations = statement<never, { userId: string }>(
  'people.end_invitations',
  `update invitations set used_at = now() where user_id = :userId and used_at is null`,
).run;

export const insertInvitation = statement<
  never,
  {
    tokenHash: Buffer;
    userId: string;
    purpose: Exclude<LinkPurpose, 'operator'>;
    invitedBy: string | null;
    seconds: number;
  }
>(
  'people.insert_invitation',
  `insert into invitations (token_hash, user_id, purpose, invited_by, expires_at)
   values (:tokenHash, :userId, :purpose, :invitedBy, now() + make_interval(secs => :seconds::float8))`,
).run;

// Also finds disabled operators. Otherwise a link could create another operator when the last one is disabled.
const OPERATOR = `select from users o where o.role = 'operator' and (o.password_hash is not null or o.subject is not null)`;

/** Returns whether an operator has ever set a password or signed in with the provider. */
export const hasOperator = statement<{ has: boolean }>(
  'people.has_operator',
  `select exists (${OPERATOR}) as has`,
).value;

/**
 * Stores the link that creates the first operator, in place of an older one. There is never more than one.
 * @returns the time until which it is valid; undefined if there is an operator
 */
export const writeOperatorLink = statement<{ expires_at: Date }, { tokenHash: Buffer; seconds: number }>(
  'people.write_operator_link',
  `insert into invitations (token_hash, purpose, expires_at)
   select :tokenHash, 'operator', now() + make_interval(secs => :seconds::float8) where not exists (${OPERATOR})
   on conflict (purpose) where purpose = 'operator' and used_at is null
   do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at, created_at = excluded.created_at
   returning expires_at`,
).firstValue;

export interface InvitationRow {
  /** The user who sets a password; null for the link that creates the first operator. */
  user_id: string | null;
  purpose: LinkPurpose;
  /**
   * The e-mail address of the customer who created the invitation; null when an operator or a command created
   * it.
   */
  made_by: string | null;
  /** Whether the user requested the link because they forgot their password. */
  requested: boolean;
  expires_at: Date;
}

const OPEN_INVITATION = `i.used_at is null and i.expires_at > now()
      and exists (select from users u where u.user_id = i.user_id and u.disabled_at is null)`;
const OPEN_OPERATOR_LINK = `i.purpose = 'operator' and i.used_at is null and i.expires_at > now()`;

const CREATOR = `(select m.email from users m where m.user_id = i.invited_by and m.role = 'customer') as made_by,
          i.invited_by is not distinct from i.user_id as requested`;

/** Returns the invitation with this token if it is still valid. */
export const findInvitation = statement<InvitationRow, { tokenHash: Buffer }>(
  'people.invitation',
  `select i.user_id, i.purpose, i.expires_at, ${CREATOR} from invitations i
    where i.token_hash = :tokenHash and (${OPEN_INVITATION} or ${OPEN_OPERATOR_LINK} and not exists (${OPERATOR}))`,
).first;

/** Counts the valid invitation and reset links of a user. */
export const countLinks = statement<{ links: number }, { userId: string }>(
  'people.count_links',
  `select count(*) as links from invitations i where i.user_id = :userId and ${OPEN_INVITATION}`,
).value;

/**
 * Uses up a valid invitation. Of several calls for one invitation, only the first gets it. The others get undefined.
 */
export const useInvitation = statement<InvitationRow & { user_id: string }, { tokenHash: Buffer }>(
  'people.use_invitation',
  `update invitations i set used_at = now() where i.token_hash = :tokenHash and ${OPEN_INVITATION}
   returning i.user_id, i.purpose, i.expires_at, ${CREATOR}`,
).first;

/**
 * Uses up the link that creates the first operator. @param userId the operator whom this transaction creates
 * @returns false when the link is no longer valid or there is another operator
 */
export const useOperatorLink = statement<{ used: true }, { tokenHash: Buffer; userId: string }>(
  'people.use_operator_link',
  `update invitations i set used_at = now() where i.token_hash = :tokenHash and ${OPEN_OPERATOR_LINK}
      and not exists (${OPERATOR} and o.user_id <> :userId)
   returning true as used`,
).found;
