/** The operator's routes for users: `/api/console/people…`. */
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import { accountOfField } from '../access/accounts.ts';
import { invitePerson, linkFor } from '../access/invitations.ts';
import {
  type EditorLanguage,
  listPeople,
  readPerson,
  setDisabled,
  setLanguages,
  setReviewShare,
  type User,
} from '../access/people.ts';
import { removeSecondFactor } from '../access/second-factor.ts';
import { ApiError, fieldError, notFound } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { type Checked, resource } from '../http/http.ts';
import {
  described,
  ID,
  LANGUAGE,
  MOMENT,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  textOf,
  USERNAME,
} from '../http/schemas.ts';
import { SentLink, sendLink } from './links.ts';
import type { Mailer } from './mail.ts';
import { CREATED_KEY, DISABLE_BODY, EDITOR_LANGUAGE, ROLE } from './people-schemas.ts';

const Listed = Type.Object(
  {
    user_id: ID,
    email: Type.String(),
    name: Type.String(),
    role: ROLE,
    account: OPTIONAL_TEXT,
    owner: Type.Boolean({
      description: 'Whether the user may decide on retention, export and erasure of the account.',
    }),
    status: Type.Enum(['active', 'invited', 'disabled']),
    second_factor: Type.Boolean({ description: 'Whether a code is asked for at sign-in.' }),
    languages: Type.Array(EDITOR_LANGUAGE),
    review_share: Type.Integer({ description: 'The percentage of the editor’s tasks that is reviewed.' }),
    created_at: MOMENT,
    last_seen_at: OPTIONAL_MOMENT,
    keys: Type.Array(CREATED_KEY),
  },
  { title: 'ConsolePerson' },
);
const Invited = Type.Object({ person: Listed, ...SentLink.properties }, { title: 'InvitedPerson' });

const parameters = Type.Object({ user_id: ID });
type UserRequest = Checked<{ params: typeof parameters }>;
const GivenLanguage = Type.Object({
  source_language: LANGUAGE,
  target_language: LANGUAGE,
  review: Type.Boolean({
    default: false,
    description: 'Whether the editor may also review this language pair.',
  }),
});
const editing = {
  languages: Type.Optional(Type.Array(GivenLanguage, { maxItems: 500 })),
  review_share: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
};
const schemas = {
  list: described('listPeople', 'List users', Type.Object({ people: Type.Array(Listed) }), {
    querystring: Type.Object({
      role: Type.Optional(ROLE),
      account: Type.Optional(USERNAME),
      q: Type.Optional(textOf(254, 1, 'A part of the e-mail address or name.')),
    }),
  }),
  invite: described('invitePerson', 'Invite a user', Invited, {
    status: 201,
    body: Type.Object({
      email: textOf(254),
      name: Type.Optional(textOf(100)),
      role: ROLE,
      account: Type.Optional(USERNAME),
      ...editing,
    }),
  }),
  change: described('changePerson', 'Change the languages and the review share of a user', Listed, {
    params: parameters,
    body: Type.Object(editing, { additionalProperties: false }),
  }),
  link: described('linkForPerson', 'Create a link for a user', SentLink, {
    status: 201,
    description: 'Creates an invitation for an invited user and a reset link for any other user.',
    params: parameters,
  }),
  resetSecondFactor: described('resetSecondFactor', 'Remove the second factor of a user', Listed, {
    description:
      'For users who lost their device. Their sessions end. `conflict` for your own user, and if the user has no second factor.',
    params: parameters,
  }),
  disable: described('disablePerson', 'Disable a user', Listed, {
    description: 'The sessions and links of the user end at once. `conflict` for your own user.',
    params: parameters,
    body: DISABLE_BODY,
  }),
  enable: described('enablePerson', 'Enable a user', Listed, { params: parameters }),
};

export interface PeopleConsoleOptions {
  database: Database;
  mailer: Mailer;
  /** Returns the public address of the server. */
  root(): string;
}

export function peopleConsole(app: FastifyInstance, { database, mailer, root }: PeopleConsoleOptions): void {
  resource(app, '/api/console/people', {
    GET: {
      schema: schemas.list,
      async handler(request) {
        const { role } = request.query;
        const account = await accountOfField(database, request.query.account);
        const part = request.query.q?.toLowerCase();
        const people = (await listPeople(database)).filter(
          (person) =>
            (role === undefined || person.role === role) &&
            (account === undefined || person.account?.username === account.username) &&
            (part === undefined || `${person.email} ${person.name.toLowerCase()}`.includes(part)),
        );
        return { people: people.map(present) };
      },
    },
    POST: {
      schema: schemas.invite,
      async handler(request, reply) {
        const { email, name, role, languages = [], review_share: reviewShare } = request.body;
        const account = await accountOfField(database, request.body.account);
        const wanted = {
          email,
          name,
          role,
          account: account?.ref,
          languages: pairsOf(languages),
          reviewShare,
        };
        const { user, ...link } = await invitePerson(database, request.person, wanted);
        const sent = await sendLink(mailer, root(), user, link);
        return reply.code(201).send({ person: present(user), ...sent });
      },
    },
  });

  resource(app, '/api/console/people/:user_id', {
    PATCH: {
      schema: schemas.change,
      async handler(request) {
        const user = await requested(database, request);
        const { languages, review_share: share } = request.body;
        if (languages !== undefined && user.role === 'customer') {
          throw fieldError('languages', 'Customers have no languages.');
        }
        if (languages !== undefined) await setLanguages(database, request.person, user, pairsOf(languages));
        if (share !== undefined) await setReviewShare(database, request.person, user, share);
        return present(await requested(database, request));
      },
    },
  });

  resource(app, '/api/console/people/:user_id/link', {
    POST: {
      schema: schemas.link,
      async handler(request, reply) {
        const user = await requested(database, request);
        if (user.status === 'disabled') throw new ApiError('conflict', 'This user is disabled.');
        const link = await linkFor(database, request.person, user);
        return reply.code(201).send(await sendLink(mailer, root(), user, link));
      },
    },
  });
  accessRoutes(app, { database });
}

/** Registers the routes that take a user's access away or give it back. */
function accessRoutes(app: FastifyInstance, { database }: Pick<PeopleConsoleOptions, 'database'>): void {
  resource(app, '/api/console/people/:user_id/second-factor/reset', {
    POST: {
      schema: schemas.resetSecondFactor,
      async handler(request) {
        const user = await requested(database, request);
        if (user.user_id === request.person.userId) {
          throw new ApiError('conflict', 'Turn off your own second factor on your profile page.');
        }
        if (!(await removeSecondFactor(database, request.person, user))) {
          throw new ApiError('conflict', 'This user has no second factor.');
        }
        return present(await requested(database, request));
      },
    },
  });
  resource(app, '/api/console/people/:user_id/disable', {
    POST: {
      schema: schemas.disable,
      handler: (request) => disable(request, true, request.body.revoke_keys),
    },
  });
  resource(app, '/api/console/people/:user_id/enable', {
    POST: { schema: schemas.enable, handler: (request) => disable(request, false) },
  });

  async function disable(request: UserRequest, disabled: boolean, revokeKeys?: boolean) {
    const user = await requested(database, request);
    if (user.user_id === request.person.userId) {
      throw new ApiError('conflict', 'You cannot disable or enable yourself.');
    }
    await setDisabled(database, request.person, user, disabled, { revokeKeys });
    return present(await requested(database, request));
  }
}

/** Returns the user whom the path names. @throws ApiError `not_found` */
async function requested(database: Database, { params }: Pick<UserRequest, 'params'>): Promise<User> {
  const found = await readPerson(database, params.user_id);
  if (found === undefined) throw notFound();
  return found;
}

function present(user: User): Static<typeof Listed> {
  return { ...user, account: user.account?.username ?? null };
}

/**
 * Returns each language pair once. If the request contains a pair several times, the last settings apply.
 * @throws ApiError `invalid_request`
 */
function pairsOf(given: readonly Static<typeof GivenLanguage>[]): EditorLanguage[] {
  if (given.some((pair) => pair.source_language === pair.target_language)) {
    throw fieldError('languages', 'must be a list of pairs of two different languages.');
  }
  return [
    ...new Map(given.map((pair) => [`${pair.source_language}:${pair.target_language}`, pair])).values(),
  ];
}
