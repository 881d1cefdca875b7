/**
 * The interface's own description: OpenAPI 3.1 at `/openapi.json`, made from the schemas of the routes. The routes
 * of our web app (`/api/…`) have a second document, which is served to nobody: the web app's types are made of it.
 *
 * The schemas describe, they do not check: requests are checked by the rooms, which name every wrong field at once
 * in the interface's own words, and take what careless clients send (`null`, unknown fields). That every answer
 * fits its schema is what the tests check (`testing/answers.ts`).
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import Type from 'typebox';
import { ERRORS, type ErrorCode } from './errors.ts';
import { isWebPath, resource } from './http.ts';
import {
  answer,
  type DescribedResponse,
  type DescribedWebhook,
  describeErrors,
  ErrorBody,
  WebError,
} from './schemas.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The description of the web app's routes. */
    describeWeb(): object;
  }
}

/** Which routes a document describes: those that customers' programs call, or those of our web app. */
export type Audience = 'public' | 'web';

/** The parts of the document that programs of ours read. */
export interface OpenApi {
  openapi: string;
  paths: Record<string, Partial<Record<string, OpenApiOperation>>>;
  webhooks: Record<string, { post: Required<Pick<OpenApiOperation, 'parameters' | 'requestBody'>> }>;
  components: { schemas: Record<string, JsonSchema> };
  'x-errors': { code: string; status: number; meaning: string }[];
  /** What any path answers, whatever it is. */
  'x-everywhere': Record<string, OpenApiResponse>;
}

export interface OpenApiOperation {
  operationId: string;
  tags?: string[];
  summary?: string;
  parameters?: { in: string; name: string; required?: boolean; schema: JsonSchema; description?: string }[];
  requestBody?: { content: Record<string, OpenApiMedia> };
  responses: Record<string, OpenApiResponse>;
  /** The errors behind each status of a refusal. */
  'x-errors'?: Record<string, ErrorCode[]>;
}

export interface OpenApiResponse {
  description: string;
  headers?: Record<string, { schema: JsonSchema }>;
  content?: Record<string, OpenApiMedia>;
}

interface OpenApiMedia {
  schema: JsonSchema;
  example?: unknown;
}

/** As much of JSON Schema as a reader looks into; the rest is for validators. */
export interface JsonSchema {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  const?: unknown;
  examples?: unknown[];
  enum?: unknown[];
  anyOf?: JsonSchema[];
  allOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  patternProperties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  unevaluatedProperties?: boolean;
}

const TAGS = [
  { name: 'Jobs', description: 'Translation by machine, then edited by a human.' },
  { name: 'Machine jobs', description: 'Translation by machine alone.' },
  { name: 'Context', description: 'What a request may say about how to translate.' },
  { name: 'Languages', description: 'What can be translated.' },
  { name: 'Account', description: 'Who is calling, and what it can spend.' },
  { name: 'Chat', description: 'Messages of conversations, translated by machine at once.' },
  { name: 'Deliveries', description: 'What was posted, posting it again, and the feed of events.' },
  { name: 'Callbacks', description: 'What is posted to the addresses that customers name.' },
];

/** Must be registered before the routes that it is to describe. */
export function describeInterface(app: FastifyInstance, webhooks: Record<string, DescribedWebhook>): void {
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  void app.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: {
        title: 'Dragoman',
        version: '2',
        description:
          'Translation jobs and chat translation, by machine and by people. Every path is served with and without ' +
          'its last `/`. Readers must pass over fields that they do not know.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [
        { url: '/', description: 'production' },
        { url: '/sandbox', description: 'sandbox: done by machine, held, not charged to anybody' },
      ],
      components: {
        securitySchemes: {
          ApiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description: '`ApiKey USERNAME:KEY`',
          },
        },
      },
      security: [{ ApiKey: [] }],
      tags: TAGS,
    },
    // The sandbox is the same interface behind another server address.
    transform: ({ schema, url }) => ({
      schema:
        url.startsWith('/sandbox/') || isWebPath(url) ? { ...schema, hide: true } : withErrorCodes(schema),
      url,
    }),
    transformObject: (made) =>
      nameSchemas({
        ...('openapiObject' in made ? made.openapiObject : {}),
        webhooks: Object.fromEntries(
          Object.entries(webhooks).map(([name, webhook]) => [name, describeWebhook(webhook)]),
        ),
        'x-errors': Object.entries(ERRORS).map(([code, error]) => ({ code, ...error })),
        'x-everywhere': EVERYWHERE,
      }),
  });
  void app.register(swagger, {
    decorator: 'describeWeb' as 'swagger',
    openapi: { openapi: '3.1.1', info: { title: 'Dragoman, for its web app', version: '1' } },
    transform: ({ schema, url }) => ({
      schema: isWebPath(url) ? withErrorCodes(schema) : { ...schema, hide: true },
      url,
    }),
    transformObject: (made) =>
      nameSchemas(
        withRefusals({
          ...('openapiObject' in made ? made.openapiObject : {}),
          'x-everywhere': { default: WEB_REFUSAL },
        }),
      ),
  });
  void app.register(async (root) => {
    let served: { text: string; etag: string } | undefined;
    resource(root, '/openapi.json', {
      async GET(request, reply) {
        served ??= describe(root);
        reply.headers({ 'cache-control': 'public, max-age=300', etag: served.etag });
        if (request.headers['if-none-match']?.includes(served.etag)) return reply.code(304).send();
        return reply.type('application/json').send(served.text);
      },
    });
  });
}

/** What any route of the web app may answer instead of what it is for. */
const WEB_REFUSAL = answer('A refusal, told apart by its code.', WebError);

function withRefusals<T extends object>(made: T): T {
  const { paths = {} } = made as { paths?: OpenApi['paths'] };
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    operation!.responses.default = WEB_REFUSAL as OpenApiResponse;
  }
  return made;
}

function describe(root: FastifyInstance): { text: string; etag: string } {
  const text = JSON.stringify(root.swagger());
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url')}"` };
}

/** The codes behind each status of an operation, where a program finds them: `x-errors`, by status. */
function withErrorCodes(schema: FastifySchema): FastifySchema {
  const responses = Object.entries((schema?.response ?? {}) as Record<string, DescribedResponse>);
  const errors = responses.flatMap(([status, response]) =>
    response['x-errors'] === undefined ? [] : [[status, response['x-errors']]],
  );
  return errors.length === 0
    ? schema
    : ({ ...schema, 'x-errors': Object.fromEntries(errors) } as FastifySchema);
}

/** What any path answers, described or not: no operation could say it. */
const EVERYWHERE = Object.fromEntries(
  Object.entries(
    describeErrors(
      [
        'invalid_request',
        'unauthorized',
        'read_only_key',
        'not_found',
        'method_not_allowed',
        'headers_too_large',
      ],
      () => ErrorBody,
    ),
  ).map(([status, { headers = {}, ...response }]) => [
    status,
    {
      ...response,
      headers: Object.fromEntries(Object.entries(headers).map(([name, schema]) => [name, { schema }])),
    },
  ]),
);

const SIGNATURE_HEADERS = {
  'webhook-id': Type.String({
    description: 'The same at every try of one delivery.',
    examples: ['0193a1f0-5d5c-7c1e-8d4e-6f1f5d1f0a11'],
  }),
  'webhook-timestamp': Type.String({
    description: 'Unix seconds of this try.',
    pattern: '^\\d+$',
    examples: ['1779332521'],
  }),
  'webhook-signature': Type.String({
    description: 'Standard Webhooks: `v1,<base64>` for each secret in use, separated by spaces.',
    pattern: '^v1,\\S+( v1,\\S+)*$',
    examples: ['v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='],
  }),
};

function describeWebhook({ headers, content, ...words }: DescribedWebhook): object {
  const parameters = Object.entries({ ...SIGNATURE_HEADERS, ...headers }).map(([name, schema]) => ({
    in: 'header',
    name,
    required: true,
    schema,
  }));
  return {
    post: {
      ...words,
      tags: ['Callbacks'],
      security: [],
      parameters,
      requestBody: { required: true, content },
      responses: {
        '2XX': { description: 'Received.' },
        410: { description: 'Never try again.' },
        default: { description: 'Tried again later.' },
      },
    },
  };
}

/** Every schema with a title is published once, in `components/schemas`, and referred to elsewhere. */
function nameSchemas<T extends { components?: object }>(made: T): T {
  const named: Record<string, unknown> = {};
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace);
    if (typeof value !== 'object' || value === null) return value;
    const copy = Object.fromEntries(
      // A parameter's schema lost its description to the parameter: it is no longer the shape that has the name.
      Object.entries(value).map(([key, inner]) => [key, key === 'parameters' ? inner : replace(inner)]),
    );
    if (typeof copy.title !== 'string' || !isSchema(copy)) return copy;
    const name = copy.title;
    if (name in named && !isDeepStrictEqual(named[name], copy)) {
      throw new TypeError(`two schemas are titled "${name}"`);
    }
    named[name] = copy;
    return { $ref: `#/components/schemas/${name}` };
  };
  const { components, ...rest } = made;
  const replaced = replace(rest) as object;
  const schemas = Object.fromEntries(Object.entries(named).sort(([one], [other]) => (one < other ? -1 : 1)));
  return { ...replaced, components: { ...components, schemas } } as T;
}

function isSchema(value: object): boolean {
  return 'type' in value || 'enum' in value || 'anyOf' in value || 'allOf' in value || 'const' in value;
}
