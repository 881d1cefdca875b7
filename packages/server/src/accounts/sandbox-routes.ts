/**
 * The routes for requesting a sandbox account, `/api/sandbox-requests…`, and for deciding on requests,
 * `/api/console/sandbox-requests…`.
 */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { EMAIL, PERSON_NAME } from '../access/names.ts';
import { notFound } from '../base/errors.ts';
import { resource } from '../http/http.ts';
import { answer, described, describing, ID, MOMENT, OPTIONAL_TEXT, PAGE, textOf } from '../http/schemas.ts';
import {
  findRequest,
  grant,
  listRequests,
  openLink,
  REQUEST_STATUSES,
  readLink,
  refuse,
  requestSandbox,
  type SandboxOptions,
  StoredRequest,
} from './sandbox.ts';

/** The maximum size of request bodies on routes that need no session, in bytes. */
const SMALL_BODY = { bodyLimit: 32 * 1024 };

const SandboxLink = Type.Object(
  { name: Type.String(), username: Type.String(), expires_at: MOMENT },
  { title: 'SandboxLink', description: 'The account of a link.' },
);
const SandboxCredentials = Type.Object(
  {
    username: Type.String(),
    key: Type.String({ description: 'The API key in the form `user:key`.' }),
    webhook_secret: Type.String(),
    base_url: Type.String({ description: 'The URL to which clients append the paths of the API.' }),
  },
  {
    title: 'SandboxCredentials',
    description: 'The credentials of a sandbox account. They cannot be shown again.',
  },
);

const describedOpen = describing('Sandbox');
const Asking = Type.Object({ open: Type.Boolean() }, { title: 'SandboxAsking' });
const tokenParameter = Type.Object({ token: Type.String() });
const openSchemas = {
  asking: describedOpen('readSandboxAsking', 'Read whether sandbox requests are accepted', Asking),
  request: {
    ...describedOpen('requestSandbox', 'Request a sandbox account', SandboxLink, {
      description:
        'The answer does not reveal whether the e-mail address is known. `not_found` when requests are turned off.',
      body: Type.Object(
        {
          name: PERSON_NAME,
          email: EMAIL,
          company: Type.Optional(textOf(200, 0)),
          use: Type.Optional(textOf(2000, 0, 'What the account is for.')),
        },
        { title: 'SandboxWish' },
      ),
    }),
    response: {
      202: answer(
        'Received. An operator decides, or the link is mailed.',
        Type.Object({ status: Type.Literal('received') }, { title: 'SandboxReceived' }),
      ),
      201: answer(
        'Granted at once, without a mail server.',
        Type.Object(
          { status: Type.Literal('granted'), link: Type.String(), expires_at: MOMENT },
          { title: 'SandboxGranted' },
        ),
      ),
    },
  },
  read: describedOpen('readSandboxLink', 'Read a link', SandboxLink, { params: tokenParameter }),
  open: describedOpen('openSandboxLink', 'Create and show the key of a link', SandboxCredentials, {
    status: 201,
    params: tokenParameter,
  }),
};

/** Registers the routes that need no session. They answer 404 when sandbox requests are turned off. */
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
        const received = await requestSandbox(options, request.clientAddress, request.body);
        return reply.code(received.status === 'granted' ? 201 : 202).send(received);
      },
    },
  });
  resource(app, '/api/sandbox-requests/:token', {
    GET: {
      schema: openSchemas.read,
      handler: (request) => readLink(options.database, request.params.token),
    },
    POST: {
      schema: openSchemas.open,
      ...SMALL_BODY,
      async handler(request, reply) {
        return reply.code(201).send(await openLink(options, request.params.token));
      },
    },
  });
}

const Decided = Type.Object(
  {
    request: StoredRequest,
    link: Type.String({ description: 'The link that shows the key once. Only this answer contains it.' }),
    expires_at: MOMENT,
    mailed: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'Whether the link was mailed; null if no mail server is configured.',
    }),
  },
  { title: 'GrantedSandbox' },
);

const parameters = Type.Object({ request_id: ID });
const schemas = {
  list: described(
    'listSandboxRequests',
    'List sandbox requests, newest first',
    Type.Object({ requests: Type.Array(StoredRequest), next: OPTIONAL_TEXT }, { title: 'SandboxRequests' }),
    {
      querystring: Type.Object({
        status: Type.Optional(Type.Enum([...REQUEST_STATUSES])),
        after: Type.Optional(ID),
        limit: PAGE,
      }),
    },
  ),
  grant: described('grantSandbox', 'Grant a request, or replace its link', Decided, {
    status: 201,
    description: '`conflict` when the request was refused or its key was shown.',
    params: parameters,
  }),
  refuse: described('refuseSandbox', 'Refuse a request', StoredRequest, {
    description: 'Sends no mail. `conflict` when the request is already decided.',
    params: parameters,
  }),
};

export function sandboxConsole(app: FastifyInstance, options: SandboxOptions): void {
  const { database } = options;
  resource(app, '/api/console/sandbox-requests', {
    GET: {
      schema: schemas.list,
      async handler(request) {
        const { status, after, limit } = request.query;
        const rows = await listRequests(database, {
          status: status ?? null,
          after: after ?? null,
          limit: limit + 1,
        });
        const requests = rows.slice(0, limit);
        return { requests, next: rows.length > limit ? requests.at(-1)!.request_id : null };
      },
    },
  });
  resource(app, '/api/console/sandbox-requests/:request_id/grant', {
    POST: {
      schema: schemas.grant,
      async handler(request, reply) {
        const { request_id: requestId } = request.params;
        const granted = await grant(options, request.person, requestId);
        const row = await findRequest(database, { requestId });
        return reply.code(201).send({ request: row!, ...granted });
      },
    },
  });
  resource(app, '/api/console/sandbox-requests/:request_id/refuse', {
    POST: {
      schema: schemas.refuse,
      async handler(request) {
        const { request_id: requestId } = request.params;
        await refuse(database, request.person, requestId);
        return findRequest(database, { requestId });
      },
    },
  });
}
