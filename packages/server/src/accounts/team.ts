/**
 * The routes for customers who manage the users of their account: `/api/account/team…`.
 *
 * An e-mail address belongs to one user in one account, so a refused invitation reveals that an address is known.
 * Refused invitations are therefore limited: after five, to about one an hour.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { invitePerson, linkFor, markUnconfirmed } from '../access/invitations.ts';
import { listTeam, setDisabled, setOwner, type User } from '../access/people.ts';
import type { Vault } from '../access/secrets.ts';
import { accountOf, requireOwner } from '../access/session-auth.ts';
import { forgiveAttempt, limitAttempts } from '../access/sessions.ts';
import { ApiError, notFound } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { type Checked, resource } from '../http/http.ts';
import { describedOwn, ID, MOMENT, OPTIONAL_MOMENT, textOf } from '../http/schemas.ts';
import type { Settings } from '../settings/settings.ts';
import { SentLink, sendLink } from './links.ts';
import { limitMails, type Mailer } from './mail.ts';
import { CREATED_KEY, DISABLE_BODY } from './people-schemas.ts';

/** The limit of consecutive invitations that are refused: five without a delay, then delays up to an hour. */
const REFUSED = { free: 5, mostSeconds: 3600 };

export interface TeamOptions {
  database: Database;
  vault: Vault;
  mailer: Mailer;
  settings: Pick<Settings, 'smtpUrl'>;
  /** Returns the public address of the server. */
  root(): string;
}

const Member = Type.Object(
  {
    user_id: ID,
    email: Type.String(),
    name: Type.String(),
    status: Type.Enum(['active', 'invited', 'disabled']),
    me: Type.Boolean({ description: 'Whether this is the signed-in user.' }),
    owner: Type.Boolean({
      description: 'Whether the user may decide on retention, export and erasure of the account.',
    }),
    created_at: MOMENT,
    last_seen_at: OPTIONAL_MOMENT,
    keys: Type.Array(CREATED_KEY),
  },
  { title: 'TeamMember' },
);
const Team = Type.Object({ objects: Type.Array(Member) }, { title: 'Team' });

const parameters = Type.Object({ user_id: ID });
type UserRequest = Checked<{ params: typeof parameters }>;
const schemas = {
  list: describedOwn('listTeam', 'List the users of your account', Team),
  invite: describedOwn('inviteToTeam', 'Invite a user to your account', SentLink, {
    status: 201,
    body: Type.Object({ email: textOf(254), name: Type.Optional(textOf(100)) }),
  }),
  link: describedOwn('linkForTeam', 'Create a link for a user of your account', SentLink, {
    status: 201,
    description:
      'Creates an invitation for an invited user and a reset link for any other user. Only owners may create reset links (`owner_only`).',
    params: parameters,
  }),
  disable: describedOwn('disableInTeam', 'Disable a user of your account', Team, {
    description: '`conflict` for your own user. `owner_only` when only an owner may change the user.',
    params: parameters,
    body: DISABLE_BODY,
  }),
  enable: describedOwn('enableInTeam', 'Enable a user of your account', Team, { params: parameters }),
  owner: describedOwn('setOwnerInTeam', 'Make a user an owner of the account, or withdraw it', Team, {
    description: 'For owners only. `conflict` when the user is the last owner who can sign in.',
    params: parameters,
    body: Type.Object({ owner: Type.Boolean() }),
  }),
};

export function teamRoutes(
  app: FastifyInstance,
  { database, vault, mailer, settings, root }: TeamOptions,
): void {
  resource(app, '/api/account/team', {
    GET: { schema: schemas.list, handler: (request) => presentTeam(database, request) },
    POST: {
      schema: schemas.invite,
      async handler(request, reply) {
        const { email, name } = request.body;
        const account = accountOf(request).ref;
        const refused = vault.mark(`refused invitation ${account.accountId}`);
        await limitAttempts(database, refused, REFUSED);
        await limitMails(database, vault, account);
        const { user, ...link } = await invitePerson(database, request.person, {
          email,
          name,
          role: 'customer',
          account,
          keepsPending: true,
          unconfirmed: settings.smtpUrl === undefined,
          taken: 'This e-mail address cannot be invited. It may already be in your team or in use elsewhere.',
        });
        await forgiveAttempt(database, refused);
        return reply.code(201).send(await sendLink(mailer, root(), user, link, request.person.email));
      },
    },
  });
  resource(app, '/api/account/team/:user_id/link', {
    POST: {
      schema: schemas.link,
      async handler(request, reply) {
        const user = await linkableMember(database, request);
        if (user.status === 'disabled') throw new ApiError('conflict', 'This user is disabled.');
        await limitMails(database, vault, accountOf(request).ref);
        const link = await linkFor(database, request.person, user);
        // The user may have become active or an owner since the first check.
        await linkableMember(database, request);
        const sent = await sendLink(mailer, root(), user, link, request.person.email);
        if (sent.link !== null && link.purpose === 'invitation')
          await markUnconfirmed(database, user.user_id);
        return reply.code(201).send(sent);
      },
    },
  });
  resource(app, '/api/account/team/:user_id/disable', {
    POST: {
      schema: schemas.disable,
      handler: (request) => disable(database, request, true, request.body.revoke_keys),
    },
  });
  resource(app, '/api/account/team/:user_id/enable', {
    POST: { schema: schemas.enable, handler: (request) => disable(database, request, false) },
  });
  resource(app, '/api/account/team/:user_id/owner', {
    POST: {
      schema: schemas.owner,
      allow: requireOwner,
      async handler(request) {
        const user = await memberOf(database, request);
        await setOwner(database, request.person, accountOf(request).ref, user, request.body.owner);
        return presentTeam(database, request);
      },
    },
  });
}

async function presentTeam(database: Database, request: FastifyRequest): Promise<Static<typeof Team>> {
  const team = await listTeam(database, accountOf(request).ref);
  return {
    objects: team.map((user) => ({ ...user, me: user.user_id === request.person.userId })),
  };
}

/** Returns the user whom the path names. @throws ApiError `not_found`, also for users of other accounts */
async function memberOf(database: Database, request: UserRequest): Promise<User> {
  const team = await listTeam(database, accountOf(request).ref);
  const found = team.find(({ user_id }) => user_id === request.params.user_id);
  if (found === undefined) throw notFound();
  return found;
}

/**
 * Returns the user whom the path names, if the caller may change the access of this user. Only an owner may
 * change the access of another owner.
 * @throws ApiError `owner_only`
 */
async function changeableMember(database: Database, request: UserRequest): Promise<User> {
  const user = await memberOf(database, request);
  if (user.owner) requireOwner(request);
  return user;
}

/**
 * Returns the user whom the path names, if the caller may create a link for this user. Only an owner may create a link
 * for an owner or for a user with a password. The holder of a reset link can sign in as that user.
 * @throws ApiError `owner_only`
 */
async function linkableMember(database: Database, request: UserRequest): Promise<User> {
  const user = await changeableMember(database, request);
  if (user.status === 'active') requireOwner(request);
  return user;
}

async function disable(database: Database, request: UserRequest, disabled: boolean, revokeKeys?: boolean) {
  const user = await changeableMember(database, request);
  if (user.user_id === request.person.userId) {
    throw new ApiError('conflict', 'You cannot disable or enable yourself.');
  }
  const owned = user.owner ? accountOf(request).ref : undefined;
  await setDisabled(database, request.person, user, disabled, { revokeKeys, owned });
  return presentTeam(database, request);
}
