/** Schemas of signing in, sessions, invitations and the user's own profile. */
import type { FastifySchema } from 'fastify';
import Type, { type Static } from 'typebox';
import { ACCOUNT_STATUSES } from '../access/accounts.ts';
import { EMAIL, PERSON_NAME } from '../access/names.ts';
import { LOCALES, THEMES } from '../access/people.ts';
import { reason } from '../base/errors.ts';
import { answer, ENVIRONMENT, emptyAnswer, ID, type Inputs, MOMENT, momentSchema } from '../http/schemas.ts';

/** The maximum size of request bodies on the routes for signing in and for the profile, in bytes. */
export const SMALL_BODY = { bodyLimit: 16 * 1024 };
/**
 * The limit of wrong guesses at the current password by a signed-in user: five without a delay, then delays
 * up to 15 minutes.
 */
export const PASSWORD_ATTEMPTS = { free: 5, mostSeconds: 900 };

export const ROLE = Type.Enum(['customer', 'editor', 'operator'], { title: 'PersonRole' });
export const THEME = Type.Enum([...THEMES], { title: 'Theme' });

export const EDITOR_LANGUAGE = Type.Object(
  {
    source_language: Type.String({ examples: ['en'] }),
    target_language: Type.String({ examples: ['es'] }),
    review: Type.Boolean({ description: 'Whether the editor may also review this language pair.' }),
  },
  { title: 'EditorLanguage' },
);

export const Me = Type.Object(
  {
    user_id: ID,
    email: Type.String(),
    name: Type.String(),
    role: ROLE,
    account: Type.Optional(Type.String({ description: 'The username of a customer’s account.' })),
    account_status: Type.Optional(
      Type.Enum([...ACCOUNT_STATUSES], {
        description: 'For customers. Users of a suspended account can only read.',
      }),
    ),
    owner: Type.Optional(
      Type.Boolean({
        description:
          'For customers: whether they may decide on retention, export and erasure of the account.',
      }),
    ),
    locale: Type.Union([Type.String(), Type.Null()], { description: 'Null: the browser’s language.' }),
    theme: THEME,
    languages: Type.Array(EDITOR_LANGUAGE),
    has_password: Type.Boolean({ description: 'Users of the provider may have no password.' }),
    second_factor: Type.Boolean({ description: 'Whether a code is asked for at sign-in.' }),
    second_factor_missing: Type.Boolean({
      description: 'Whether the user must set up a second factor before anything else.',
    }),
    session: Type.Object({
      session_id: ID,
      by_provider: Type.Boolean({ description: 'Whether the provider started the session.' }),
      ends_at: momentSchema('The latest end of the session.'),
      idle_seconds: Type.Integer({ description: 'The session ends after this time without a request.' }),
    }),
  },
  { title: 'Me', description: 'The signed-in user.' },
);
export type Me = Static<typeof Me>;

export const Session = Type.Object(
  {
    session_id: ID,
    current: Type.Boolean({ description: 'Whether this request uses this session.' }),
    user_agent: Type.String({
      description: 'The names of the browser and the operating system; empty if unknown.',
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
    purpose: Type.Enum(['invitation', 'reset', 'operator'], {
      description: '`operator`: the link creates the first operator, who has no e-mail address and name yet.',
    }),
    email: Type.Optional(Type.String()),
    name: Type.Optional(Type.String()),
    role: ROLE,
    account: Type.Optional(Type.String()),
    second_factor: Type.Boolean({ description: 'Whether the answer needs the code of a second factor.' }),
    expires_at: MOMENT,
  },
  { title: 'Invitation', description: 'A valid invitation or reset link.' },
);

const FILLED = Type.String({ minLength: 1, 'x-fault': reason('required') });
const PASSWORD = Type.String({
  minLength: 1,
  'x-fault': reason('required'),
  description: 'The new password, 10 to 200 characters.',
});

const described = <const More extends Inputs & { description?: string } = object>(
  operationId: string,
  summary: string,
  response: Record<number, unknown>,
  more?: More,
): FastifySchema & Pick<More, keyof Inputs & keyof More> => ({
  operationId,
  summary,
  tags: ['People'],
  ...(more as More),
  response,
});

const CODE = Type.Optional(
  Type.String({ description: 'A code of the authenticator app or a recovery code.' }),
);
const tokenParameter = Type.Object({ token: Type.String() });

export const peopleSchemas = {
  signIn: described(
    'signIn',
    'Sign in',
    { 200: answer('Signed in; the cookie is set.', Me) },
    {
      description:
        'Fails with `wrong_sign_in`, with `second_factor_required` if the user has a second factor and the code is missing, or with `too_many_attempts` and `retry_after`.',
      body: Type.Object({ email: FILLED, password: FILLED, code: CODE }, { title: 'SignIn' }),
    },
  ),
  readSignInOptions: described('readSignInOptions', 'Read how users can sign in', {
    200: answer(
      'The options.',
      Type.Object(
        {
          reset_by_mail: Type.Boolean({
            description: 'Whether users who forgot their password can request a link by e-mail.',
          }),
          passwords: Type.Boolean({
            description: 'Whether all users may sign in with a password. If not, only some operators may.',
          }),
          provider: Type.Union([Type.String(), Type.Null()], {
            description:
              'The name of the OpenID Connect provider; null without one. Sign-in starts at `/api/sign-in/provider`.',
          }),
          has_operator: Type.Boolean({
            description:
              'Whether an operator has ever signed in. If not, the server waits for its first one.',
          }),
        },
        { title: 'SignInOptions' },
      ),
    ),
  }),
  requestPasswordReset: described(
    'requestPasswordReset',
    'Request a link for a forgotten password',
    {
      202: answer(
        'Received. If an active user has the e-mail address, the link is mailed to it.',
        Type.Object({ status: Type.Literal('received') }, { title: 'PasswordResetReceived' }),
      ),
    },
    {
      description:
        'The answer does not reveal whether a user has the e-mail address. `not_found` if the server sends no e-mails.',
      body: Type.Object({ email: EMAIL }, { title: 'PasswordResetRequest' }),
    },
  ),
  whoAmI: described('whoAmI', 'Read the signed-in user', { 200: answer('The user.', Me) }),
  signOut: described('signOut', 'Sign out', { 204: emptyAnswer('Signed out.') }),
  listSessions: described('listSessions', 'List your sessions', {
    200: answer('The last used first.', Type.Object({ objects: Type.Array(Session) })),
  }),
  endSession: described(
    'endSession',
    'End one session',
    { 204: emptyAnswer('Ended.') },
    { params: Type.Object({ session_id: ID }) },
  ),
  endSessions: described('endOtherSessions', 'End all your other sessions', {
    204: emptyAnswer('The other sessions have ended.'),
  }),
  changeMe: described(
    'changeMe',
    'Change your name, language or theme',
    { 200: answer('The changed user.', Me) },
    {
      description: 'Fields that are not given stay as they are.',
      body: Type.Object(
        {
          name: Type.Optional(PERSON_NAME),
          locale: Type.Optional(Type.Union([Type.Enum([...LOCALES]), Type.Null()])),
          theme: Type.Optional(THEME),
        },
        { title: 'MeChanges' },
      ),
    },
  ),
  changePassword: described(
    'changePassword',
    'Change your password',
    { 204: emptyAnswer('Changed. Your other sessions have ended.') },
    {
      body: Type.Object({ current_password: FILLED, password: PASSWORD }, { title: 'PasswordChange' }),
    },
  ),
  readInvitation: described(
    'readInvitation',
    'Read an invitation or reset link',
    { 200: answer('The link is valid.', Invitation) },
    { description: '`not_found` when the link was used or has expired.', params: tokenParameter },
  ),
  acceptInvitation: described(
    'acceptInvitation',
    'Set a password with a link and sign in',
    { 201: answer('Signed in; the cookie is set.', Me) },
    {
      params: tokenParameter,
      body: Type.Object(
        {
          email: Type.Optional(
            Type.String({ description: 'Required by the link that creates the first operator.' }),
          ),
          name: Type.Optional(Type.String()),
          password: PASSWORD,
          code: CODE,
        },
        { title: 'InvitationAnswer' },
      ),
    },
  ),
};

export const CREATED_KEY = Type.Object(
  {
    key_id: Type.String(),
    environment: ENVIRONMENT,
    name: Type.String(),
    username: Type.String({ description: 'The account of the key.' }),
  },
  { title: 'CreatedKey', description: 'An active key that the user created.' },
);
export const DISABLE_BODY = Type.Object(
  {
    revoke_keys: Type.Optional(
      Type.Boolean({ description: 'Whether to revoke the keys that the user created.' }),
    ),
  },
  { title: 'DisableRequest' },
);
