/**
 * The people of a customer's own account: `/api/account/team…`.
 *
 * A person has one e-mail and one account, so that an invitation cannot hide for ever that an e-mail is somebody's. Nobody
 * learns it of many: those that are refused are soon let through one an hour.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { AccountRef } from '../account.ts';
import { describedOwn, flag, MOMENT, OPTIONAL_MOMENT, open, parameter, readForm, text } from '../console.ts';
import type { Database } from '../database/database.ts';
import { ApiError, notFound } from '../errors.ts';
import { resource } from '../http.ts';
import { accountOf, requireOwner } from './door.ts';
import { SentLink, sendLink } from './links.ts';
import type { Mailer } from './mail.ts';
import { invitePerson, linkFor, listTeam, setDisabled, setOwner, type User } from './people.ts';
import { DISABLE_BODY, LeftKey } from './people-schemas.ts';
import type { Vault } from './secrets.ts';
import { admit, forgive } from './sessions.ts';

/** Mails of one account a day; then one a second, three, seven …, one an hour. */
const MAILS = { free: 50, mostSeconds: 3600 };
/** Invitations in a row that are refused. */
const REFUSED = { free: 5, mostSeconds: 3600 };

export interface TeamOptions {
  database: Database;
  vault: Vault;
  mailer: Mailer;
  /** Of the server, as its people reach it. */
  root(): string;
}

const Member = Type.Object(
  {
    user_id: Type.String({ format: 'uuid' }),
    email: Type.String(),
    name: Type.String(),
    status: Type.Enum(['active', 'invited', 'disabled']),
    me: Type.Boolean({ description: 'Who asks.' }),
    owner: Type.Boolean({ description: 'Decides about the account: what is kept of it, and when it ends.' }),
    created_at: MOMENT,
    last_seen_at: OPTIONAL_MOMENT,
    keys: Type.Array(LeftKey),
  },
  { title: 'TeamMember' },
);
const Team = Type.Object({ objects: Type.Array(Member) }, { title: 'Team' });

const parameters = Type.Object({ user_id: Type.String() });
const schemas = {
  list: describedOwn('listTeam', 'The people of one’s account', Team),
  invite: describedOwn('inviteToTeam', 'Invite somebody to one’s account', SentLink, {
    status: 201,
    body: Type.Object({ email: Type.String(), name: Type.Optional(Type.String()) }, open),
  }),
  link: describedOwn('linkForTeam', 'Another link for somebody of the account', SentLink, {
    status: 201,
    description:
      'For who is invited, to accept; for who is there, to choose another password, which only an owner may make (`owner_only`).',
    params: parameters,
  }),
  disable: describedOwn('disableInTeam', 'Let somebody of the account in no more', Team, {
    description: '`conflict`: it is oneself. `owner_only`: it is an owner.',
    params: parameters,
    body: DISABLE_BODY,
  }),
  enable: describedOwn('enableInTeam', 'Let somebody of the account in again', Team, { params: parameters }),
  owner: describedOwn('setOwnerInTeam', 'Make somebody an owner of the account, or no owner any more', Team, {
    description: 'For owners. `conflict`: it is the last owner who can sign in.',
    params: parameters,
    body: Type.Object({ owner: Type.Boolean() }, open),
  }),
};

export function teamRoutes(app: FastifyInstance, { database, vault, mailer, root }: TeamOptions): void {
  async function presentTeam(request: FastifyRequest) {
    const team = await listTeam(database, accountOf(request).ref);
    return {
      objects: team.map(({ user_id, email, name, status, owner, created_at, last_seen_at, keys }) => ({
        ...{ user_id, email, name, status, owner, created_at, last_seen_at, keys },
        me: user_id === request.person.userId,
      })),
    };
  }

  const admitMail = ({ accountId }: AccountRef) =>
    admit(database, vault.mark(`mail to the team ${accountId}`), MAILS);

  /** Nobody of another account. */
  async function requested(request: FastifyRequest): Promise<User> {
    const wanted = parameter(request, 'user_id');
    const team = await listTeam(database, accountOf(request).ref);
    const found = team.find(({ user_id }) => user_id === wanted);
    if (found === undefined) throw notFound();
    return found;
  }

  /** The same, but nobody else's hand on an owner: a link to their sign-in would make its reader one. */
  async function within(request: FastifyRequest): Promise<User> {
    const user = await requested(request);
    if (user.owner) requireOwner(request);
    return user;
  }

  /** A link to another password opens somebody's sign-in: owners alone make one. */
  async function linkable(request: FastifyRequest): Promise<User> {
    const user = await within(request);
    if (user.status === 'active') requireOwner(request);
    return user;
  }

  resource(app, '/api/account/team', {
    GET: { schema: schemas.list, handler: presentTeam },
    POST: {
      schema: schemas.invite,
      async handler(request, reply) {
        const form = readForm(request.body);
        const email = form.required('email', text(254));
        const name = form.optional('name', text(100));
        form.done();
        const account = accountOf(request).ref;
        const refused = vault.mark(`refused invitation ${account.accountId}`);
        await admit(database, refused, REFUSED);
        await admitMail(account);
        const { user, ...link } = await invitePerson(database, request.person, {
          ...{ email, name, role: 'customer', account, keepsPending: true },
          taken:
            'Nobody can be invited by this e-mail: who is in your team already, or known here otherwise.',
        });
        await forgive(database, refused);
        return reply.code(201).send(await sendLink(mailer, root(), user, link, request.person.email));
      },
    },
  });
  resource(app, '/api/account/team/:user_id/link', {
    POST: {
      schema: schemas.link,
      async handler(request, reply) {
        const user = await linkable(request);
        if (user.status === 'disabled') throw new ApiError('conflict', 'They may not sign in.');
        await admitMail(accountOf(request).ref);
        const link = await linkFor(database, request.person, user);
        await linkable(request); // active or an owner by now: nobody but an owner sees it
        return reply.code(201).send(await sendLink(mailer, root(), user, link, request.person.email));
      },
    },
  });
  for (const [path, schema, disabled] of [
    ['disable', schemas.disable, true],
    ['enable', schemas.enable, false],
  ] as const) {
    resource(app, `/api/account/team/:user_id/${path}`, {
      POST: {
        schema,
        async handler(request) {
          const user = await within(request);
          if (user.user_id === request.person.userId) {
            throw new ApiError('conflict', 'Somebody else has to do that: it is yourself.');
          }
          const owned = user.owner ? accountOf(request).ref : undefined;
          const form = readForm(request.body);
          const revokeKeys = form.optional('revoke_keys', flag);
          form.done();
          await setDisabled(database, request.person, user, disabled, { revokeKeys, owned });
          return presentTeam(request);
        },
      },
    });
  }
  resource(app, '/api/account/team/:user_id/owner', {
    POST: {
      schema: schemas.owner,
      async handler(request) {
        const user = await requested(request);
        const { ref } = requireOwner(request);
        const form = readForm(request.body);
        const owner = form.required('owner', flag);
        form.done();
        await setOwner(database, request.person, ref, user, owner);
        return presentTeam(request);
      },
    },
  });
}
