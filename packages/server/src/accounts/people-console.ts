/** The operator's console for people: `/api/console/people…`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import {
  type Check,
  described,
  flag,
  integer,
  listOf,
  MOMENT,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  oneOf,
  open,
  parameter,
  readForm,
  shortname,
  text,
} from '../console.ts';
import type { Database } from '../database/database.ts';
import { ApiError, notFound } from '../errors.ts';
import { resource } from '../http.ts';
import { accountOfField } from './console.ts';
import { SentLink, sendLink } from './links.ts';
import type { Mailer } from './mail.ts';
import {
  type EditorLanguage as EditorLanguageBody,
  invitePerson,
  linkFor,
  listPeople,
  ROLES,
  readPerson,
  setDisabled,
  setLanguages,
  setReviewShare,
  type User,
} from './people.ts';
import { DISABLE_BODY, EditorLanguage, LeftKey, PersonRole } from './people-schemas.ts';

const Listed = Type.Object(
  {
    user_id: Type.String({ format: 'uuid' }),
    email: Type.String(),
    name: Type.String(),
    role: PersonRole,
    account: OPTIONAL_TEXT,
    owner: Type.Boolean({ description: 'Decides about the account: what is kept of it, and when it ends.' }),
    status: Type.Enum(['active', 'invited', 'disabled']),
    languages: Type.Array(EditorLanguage),
    review_share: Type.Integer({ description: 'Percent of what they edit that is reviewed.' }),
    created_at: MOMENT,
    last_seen_at: OPTIONAL_MOMENT,
    keys: Type.Array(LeftKey),
  },
  { title: 'ConsolePerson' },
);
const Invited = Type.Object({ person: Listed, ...SentLink.properties }, { title: 'InvitedPerson' });

const parameters = Type.Object({ user_id: Type.String() });
const worked = {
  languages: Type.Optional(Type.Array(EditorLanguage)),
  review_share: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
};
const schemas = {
  list: described('listPeople', 'Everybody who may sign in', Type.Object({ people: Type.Array(Listed) }), {
    querystring: Type.Object({
      role: Type.Optional(PersonRole),
      account: Type.Optional(Type.String({ description: 'A username.' })),
      q: Type.Optional(Type.String({ description: 'A part of the e-mail or name.' })),
    }),
  }),
  invite: described('invitePerson', 'Invite somebody', Invited, {
    status: 201,
    body: Type.Object(
      {
        email: Type.String(),
        name: Type.Optional(Type.String()),
        role: PersonRole,
        account: Type.Optional(Type.String({ description: 'A customer’s, by username.' })),
        ...worked,
      },
      open,
    ),
  }),
  read: described('readPerson', 'One person', Listed, { params: parameters }),
  change: described('changePerson', 'Change what somebody edits, and how much of it is reviewed', Listed, {
    params: parameters,
    body: Type.Object(worked, open),
  }),
  link: described('linkForPerson', 'Another link for somebody', SentLink, {
    status: 201,
    description: 'For who is invited, to accept; for who is there, to choose another password.',
    params: parameters,
  }),
  disable: described('disablePerson', 'Let somebody in no more', Listed, {
    description: 'Their sessions and links end at once. `conflict`: it is oneself.',
    params: parameters,
    body: DISABLE_BODY,
  }),
  enable: described('enablePerson', 'Let somebody in again', Listed, { params: parameters }),
};

export interface PeopleConsoleOptions {
  database: Database;
  mailer: Mailer;
  /** Of the server, as its people reach it. */
  root(): string;
}

export function peopleConsole(app: FastifyInstance, { database, mailer, root }: PeopleConsoleOptions): void {
  resource(app, '/api/console/people', {
    GET: {
      schema: schemas.list,
      async handler(request) {
        const form = readForm(request.query);
        const role = form.optional('role', oneOf(...ROLES));
        const account = await accountOfField(database, form, 'account');
        const part = form.optional('q', text(254))?.toLowerCase();
        form.done();
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
        const form = readForm(request.body);
        const account = await accountOfField(database, form, 'account');
        const wanted = {
          email: form.required('email', text(254)),
          name: form.optional('name', text(100)),
          role: form.required('role', oneOf(...ROLES)),
          account: account?.ref,
          languages: form.optional('languages', languages) ?? [],
          reviewShare: form.optional('review_share', integer(0, 100)),
        };
        form.done();
        const { user, ...link } = await invitePerson(database, request.person, wanted);
        const sent = await sendLink(mailer, root(), user, link, 'The operator');
        return reply.code(201).send({ person: present(user), ...sent });
      },
    },
  });

  async function requested(request: FastifyRequest): Promise<User> {
    const wanted = parameter(request, 'user_id');
    const found = /^[0-9a-f-]{36}$/.test(wanted) ? await readPerson(database, wanted) : undefined;
    if (found === undefined) throw notFound();
    return found;
  }

  resource(app, '/api/console/people/:user_id', {
    GET: { schema: schemas.read, handler: async (request) => present(await requested(request)) },
    PATCH: {
      schema: schemas.change,
      async handler(request) {
        const user = await requested(request);
        const form = readForm(request.body);
        form.only('languages', 'review_share');
        const edits = form.optional('languages', languages);
        const share = form.optional('review_share', integer(0, 100));
        if (edits !== undefined && user.role === 'customer') {
          form.complain('languages', 'Only those who edit have languages.');
        }
        form.done();
        if (edits !== undefined) await setLanguages(database, request.person, user, edits);
        if (share !== undefined) await setReviewShare(database, request.person, user, share);
        return present(await requested(request));
      },
    },
  });

  resource(app, '/api/console/people/:user_id/link', {
    POST: {
      schema: schemas.link,
      async handler(request, reply) {
        const user = await requested(request);
        if (user.status === 'disabled') throw new ApiError('conflict', 'They may not sign in.');
        const link = await linkFor(database, request.person, user);
        return reply.code(201).send(await sendLink(mailer, root(), user, link, 'The operator'));
      },
    },
  });
  for (const [path, schema, disabled] of [
    ['disable', schemas.disable, true],
    ['enable', schemas.enable, false],
  ] as const) {
    resource(app, `/api/console/people/:user_id/${path}`, {
      POST: {
        schema,
        async handler(request) {
          const user = await requested(request);
          if (user.user_id === request.person.userId) {
            throw new ApiError('conflict', 'Somebody else has to do that: it is yourself.');
          }
          const form = readForm(request.body);
          const revokeKeys = form.optional('revoke_keys', flag);
          form.done();
          await setDisabled(database, request.person, user, disabled, { revokeKeys });
          return present(await requested(request));
        },
      },
    });
  }
}

function present({ account, theme: _, locale: __, ...user }: User): Static<typeof Listed> {
  return {
    ...user,
    account: account?.username ?? null,
    created_at: user.created_at.toISOString(),
    last_seen_at: user.last_seen_at?.toISOString() ?? null,
  };
}

const MAX_LANGUAGES = 500;

/** Each pair once, the last time that it is named. */
const languages: Check<EditorLanguageBody[]> = (given) => {
  const read = listOf((one: unknown) => {
    const { source_language, target_language, review } = (one ?? {}) as Record<string, unknown>;
    const source = shortname(source_language);
    const target = shortname(target_language);
    if (source === target) throw new Error('a list of pairs of two languages');
    return { source_language: source, target_language: target, review: review === true };
  }, MAX_LANGUAGES)(given);
  return [...new Map(read.map((pair) => [`${pair.source_language}:${pair.target_language}`, pair])).values()];
};
