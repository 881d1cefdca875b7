/** Asking for a sandbox account, `/api/sandbox-requests…`, and deciding on it, `/api/console/sandbox-requests…`. */
import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import Type from 'typebox';
import {
  described,
  describing,
  id,
  integer,
  isId,
  MOMENT,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  oneOf,
  open,
  parameter,
  readForm,
} from '../console.ts';
import { notFound } from '../errors.ts';
import { resource } from '../http.ts';
import { answer } from '../schemas.ts';
import {
  findRequest,
  grant,
  listRequests,
  openLink,
  type RequestRow,
  readLink,
  refuse,
  requestSandbox,
  type SandboxOptions,
} from './sandbox.ts';

/** From anybody: no more than a form has. */
const SMALL_BODY = { bodyLimit: 32 * 1024 };
const STATUSES = ['open', 'granted', 'refused'] as const;

const SandboxLink = Type.Object(
  { name: Type.String(), username: Type.String(), expires_at: MOMENT },
  { title: 'SandboxLink', description: 'Whose key a link shows.' },
);
const SandboxCredentials = Type.Object(
  {
    username: Type.String(),
    key: Type.String({ description: 'As `user:key`.' }),
    webhook_secret: Type.String(),
    base_url: Type.String({ description: 'What the paths of the interface follow.' }),
  },
  { title: 'SandboxCredentials', description: 'Shown this once.' },
);

const describedOpen = describing('Sandbox');
const Asking = Type.Object({ open: Type.Boolean() }, { title: 'SandboxAsking' });
const tokenParameter = Type.Object({ token: Type.String() });
const openSchemas = {
  asking: describedOpen('readSandboxAsking', 'Whether anybody may ask for a sandbox account', Asking),
  request: {
    ...describedOpen('requestSandbox', 'Ask for a sandbox account', SandboxLink, {
      description:
        'Whoever has asked before, or has an account, is told the same. `not_found` where nobody may ask.',
      body: Type.Object(
        {
          name: Type.String(),
          email: Type.String(),
          company: Type.Optional(Type.String()),
          use: Type.Optional(Type.String({ description: 'What it is for.' })),
        },
        { title: 'SandboxWish', ...open },
      ),
    }),
    response: {
      202: answer(
        'Received: an operator decides, or the link is mailed.',
        Type.Object({ status: Type.Literal('received') }, { title: 'SandboxReceived' }),
      ),
      201: answer(
        'Granted at once, where there is no mail.',
        Type.Object(
          { status: Type.Literal('granted'), link: Type.String(), expires_at: MOMENT },
          { title: 'SandboxGranted' },
        ),
      ),
    },
  } as FastifySchema,
  read: describedOpen('readSandboxLink', 'What a link would show', SandboxLink, { params: tokenParameter }),
  open: describedOpen('openSandboxLink', 'Show the key of a link, once', SandboxCredentials, {
    status: 201,
    params: tokenParameter,
  }),
};

/** For anybody; no more than that there is nothing, where the settings say so. */
export function sandboxRoutes(app: FastifyInstance, options: SandboxOptions): void {
  resource(app, '/api/sandbox-requests', {
    GET: {
      schema: openSchemas.asking,
      handler: async () => ({ open: options.settings.sandboxRequests !== 'off' }),
    },
    POST: {
      schema: openSchemas.request,
      ...SMALL_BODY,
      async handler(request, reply) {
        if (options.settings.sandboxRequests === 'off') throw notFound();
        const body = typeof request.body === 'object' ? request.body : {};
        const received = await requestSandbox(options, request.ip, body ?? {});
        return reply.code(received.status === 'granted' ? 201 : 202).send(received);
      },
    },
  });
  resource(app, '/api/sandbox-requests/:token', {
    GET: {
      schema: openSchemas.read,
      handler: (request) => readLink(options.database, parameter(request, 'token')),
    },
    POST: {
      schema: openSchemas.open,
      ...SMALL_BODY,
      async handler(request, reply) {
        return reply.code(201).send(await openLink(options, parameter(request, 'token')));
      },
    },
  });
}

const Wish = Type.Object(
  {
    request_id: Type.String({ format: 'uuid' }),
    created_at: MOMENT,
    name: Type.String(),
    email: Type.String(),
    company: Type.String(),
    use: Type.String(),
    status: Type.Enum([...STATUSES]),
    decided_at: OPTIONAL_MOMENT,
    decided_by: OPTIONAL_TEXT,
    account: OPTIONAL_TEXT,
    link_until: Type.Union([MOMENT, Type.Null()], { description: 'Null: no link opens.' }),
    shown_at: Type.Union([MOMENT, Type.Null()], { description: 'When its key was looked at.' }),
    mailed: Type.Union([Type.Enum(['sent', 'failed']), Type.Null()]),
  },
  { title: 'SandboxRequest' },
);
const Decided = Type.Object(
  {
    request: Wish,
    link: Type.String({ description: 'Shows the key, once. Shown this once.' }),
    expires_at: MOMENT,
    mailed: Type.Union([Type.Boolean(), Type.Null()], { description: 'Null: there is no mail.' }),
  },
  { title: 'GrantedSandbox' },
);

const parameters = Type.Object({ request_id: Type.String() });
const schemas = {
  list: described(
    'listSandboxRequests',
    'Who asked for a sandbox account, newest first',
    Type.Object({ requests: Type.Array(Wish), next: OPTIONAL_TEXT }, { title: 'SandboxRequests' }),
    {
      querystring: Type.Object({
        status: Type.Optional(Type.Enum([...STATUSES])),
        after: Type.Optional(Type.String()),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
      }),
    },
  ),
  grant: described('grantSandbox', 'Grant a request, or make another link for it', Decided, {
    status: 201,
    description: '`conflict`: it was refused, or its key was shown.',
    params: parameters,
  }),
  refuse: described('refuseSandbox', 'Refuse a request', Wish, {
    description: '`conflict`: it is decided already. Nobody is mailed.',
    params: parameters,
  }),
};

export function sandboxConsole(app: FastifyInstance, options: SandboxOptions): void {
  const { database } = options;
  resource(app, '/api/console/sandbox-requests', {
    GET: {
      schema: schemas.list,
      async handler(request) {
        const form = readForm(request.query);
        const status = form.optional('status', oneOf(...STATUSES));
        const after = form.optional('after', id);
        const limit = form.optional('limit', integer(1, 200)) ?? 50;
        form.done();
        const rows = await listRequests(database, { status, after }, limit + 1);
        const requests = rows.slice(0, limit).map(present);
        return { requests, next: rows.length > limit ? requests.at(-1)!.request_id : null };
      },
    },
  });
  resource(app, '/api/console/sandbox-requests/:request_id/grant', {
    POST: {
      schema: schemas.grant,
      async handler(request, reply) {
        const requestId = idOf(request);
        const granted = await grant(options, request.person, requestId);
        const row = await findRequest(database, requestId);
        return reply.code(201).send({ request: present(row!), ...granted });
      },
    },
  });
  resource(app, '/api/console/sandbox-requests/:request_id/refuse', {
    POST: {
      schema: schemas.refuse,
      async handler(request) {
        const requestId = idOf(request);
        await refuse(database, request.person, requestId);
        return present((await findRequest(database, requestId))!);
      },
    },
  });
}

function idOf(request: FastifyRequest): string {
  const wanted = parameter(request, 'request_id');
  if (!isId(wanted)) throw notFound();
  return wanted;
}

function present({ part: _, account_id: __, username, purpose, ...row }: RequestRow) {
  return { ...row, use: purpose, account: username };
}
