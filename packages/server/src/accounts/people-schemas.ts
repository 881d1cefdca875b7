/** Signing in, sessions, invitations and oneself, described for the web app. */
import type { FastifySchema } from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';
import { ENVIRONMENT } from '../console.ts';
import { answer, emptyAnswer } from '../schemas.ts';

const ID = Type.String({ format: 'uuid' });
const MOMENT = Type.String({ format: 'date-time' });

export const PersonRole = Type.Enum(['customer', 'editor', 'operator'], { title: 'PersonRole' });
export const Theme = Type.Enum(['system', 'light', 'dark'], { title: 'Theme' });

export const EditorLanguage = Type.Object(
  {
    source_language: Type.String({ examples: ['en'] }),
    target_language: Type.String({ examples: ['es'] }),
    review: Type.Boolean({ description: 'Whether they may review it too.' }),
  },
  { title: 'EditorLanguage' },
);

export const Me = Type.Object(
  {
    user_id: ID,
    email: Type.String(),
    name: Type.String(),
    role: PersonRole,
    account: Type.Optional(Type.String({ description: 'The username of a customer’s account.' })),
    owner: Type.Optional(
      Type.Boolean({ description: 'A customer’s: whether they decide about the account.' }),
    ),
    locale: Type.Union([Type.String(), Type.Null()], { description: 'null: as the browser says.' }),
    theme: Theme,
    languages: Type.Array(EditorLanguage),
    session: Type.Object({
      session_id: ID,
      ends_at: Type.String({ format: 'date-time', description: 'Whatever is done until then.' }),
      idle_seconds: Type.Integer({ description: 'So long may nothing be done.' }),
    }),
  },
  { title: 'Me', description: 'Who is signed in.' },
);
export type Me = Static<typeof Me>;

export const Session = Type.Object(
  {
    session_id: ID,
    current: Type.Boolean({ description: 'The one that asks.' }),
    user_agent: Type.String({
      description: 'The browser’s and the system’s name; empty where none is known.',
      examples: ['Firefox, Linux'],
    }),
    created_at: MOMENT,
    last_seen_at: MOMENT,
    ends_at: MOMENT,
  },
  { title: 'Session' },
);

export const Invitation = Type.Object(
  {
    purpose: Type.Enum(['invitation', 'reset']),
    email: Type.String(),
    name: Type.String(),
    role: PersonRole,
    account: Type.Optional(Type.String()),
    expires_at: MOMENT,
  },
  { title: 'Invitation', description: 'What a link is for.' },
);

const open = { additionalProperties: true } as const;
const PASSWORD = Type.String({ description: '10 to 200 characters.' });

const described = (
  operationId: string,
  summary: string,
  response: Record<number, unknown>,
  more: { description?: string; params?: TSchema; body?: TSchema } = {},
): FastifySchema => ({ operationId, summary, tags: ['People'], ...more, response });

const tokenParameter = Type.Object({ token: Type.String() });

export const schemas = {
  signIn: described(
    'signIn',
    'Sign in',
    { 200: answer('Signed in; the cookie is set.', Me) },
    {
      description: 'Refused with `wrong_sign_in`, or `too_many_attempts` and `retry_after`.',
      body: Type.Object({ email: Type.String(), password: Type.String() }, { title: 'SignIn', ...open }),
    },
  ),
  whoAmI: described('whoAmI', 'Who is signed in', { 200: answer('The person.', Me) }),
  signOut: described('signOut', 'Sign out', { 204: emptyAnswer('Nobody is signed in now.') }),
  listSessions: described('listSessions', 'Where one is signed in', {
    200: answer('The last seen first.', Type.Object({ objects: Type.Array(Session) })),
  }),
  endSession: described(
    'endSession',
    'End one session',
    { 204: emptyAnswer('It is over.') },
    { params: Type.Object({ session_id: Type.String() }) },
  ),
  endSessions: described('endOtherSessions', 'Sign out everywhere but here', {
    204: emptyAnswer('All others are over.'),
  }),
  changeMe: described(
    'changeMe',
    'Change one’s name, language or theme',
    { 200: answer('As it is now.', Me) },
    {
      description: 'What is not given stays.',
      body: Type.Object(
        {
          name: Type.Optional(Type.String()),
          locale: Type.Optional(Type.Union([Type.String(), Type.Null()])),
          theme: Type.Optional(Theme),
        },
        { title: 'MeChanges', ...open },
      ),
    },
  ),
  changePassword: described(
    'changePassword',
    'Change one’s password',
    { 204: emptyAnswer('Changed; signed out everywhere else.') },
    {
      body: Type.Object(
        { current_password: Type.String(), password: PASSWORD },
        { title: 'PasswordChange', ...open },
      ),
    },
  ),
  readInvitation: described(
    'readInvitation',
    'What a link is for',
    { 200: answer('It opens.', Invitation) },
    { description: '`not_found` when it was used or has run out.', params: tokenParameter },
  ),
  acceptInvitation: described(
    'acceptInvitation',
    'Choose a password by a link, and be signed in',
    { 201: answer('Signed in; the cookie is set.', Me) },
    {
      params: tokenParameter,
      body: Type.Object(
        { name: Type.Optional(Type.String()), password: PASSWORD },
        { title: 'InvitationAnswer', ...open },
      ),
    },
  ),
};

export const LeftKey = Type.Object(
  {
    key_id: Type.String(),
    environment: ENVIRONMENT,
    name: Type.String(),
    username: Type.String({ description: 'The account that it opens.' }),
  },
  { title: 'LeftKey', description: 'A key that the person made and that opens now.' },
);
export const DISABLE_BODY = Type.Object(
  {
    revoke_keys: Type.Optional(
      Type.Boolean({ description: 'Whether the keys that they made end at once too; otherwise they stay.' }),
    ),
  },
  { title: 'DisableRequest', ...open },
);
