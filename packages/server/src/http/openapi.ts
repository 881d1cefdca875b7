/**
 * Generates the description of the API in OpenAPI 3.1, `/openapi.json`, from the schemas of the routes. The
 * routes of the web app (`/api/…`) have a second document. It is not served; the web app's types are
 * generated from it.
 *
 * The same schemas check requests (`input.ts`). Tests check answers against them (`testing/answers.ts`).
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import Type from 'typebox';
import { ERRORS, type ErrorCode } from '../base/errors.ts';
import { VERSION } from '../base/version.ts';
import { createAnswerWriter } from './answers.ts';
import { isWebPath, type Operation, resource } from './http.ts';
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
    /** Returns the description of the web app's routes. */
    describeWeb(): object;
  }
}

/** The routes that a document describes: the routes for customers' programs, or the routes of the web app. */
export type ApiName = 'public' | 'web';

/** The parts of an OpenAPI document that our programs read. */
export interface OpenApi {
  openapi: string;
  paths: Record<string, Partial<Record<string, OpenApiOperation>>>;
  webhooks: Record<string, { post: Required<Pick<OpenApiOperation, 'parameters' | 'requestBody'>> }>;
  components: { schemas: Record<string, JsonSchema> };
  'x-errors': { code: string; status: number; meaning: string }[];
  /** The errors that every path can answer with. */
  'x-everywhere': Record<string, OpenApiResponse>;
}

export interface OpenApiOperation {
  operationId: string;
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: { in: string; name: string; required?: boolean; schema: JsonSchema; description?: string }[];
  requestBody?: { content: Record<string, OpenApiMedia> };
  responses: Record<string, OpenApiResponse>;
  /** The error codes for each status. */
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

/** The parts of JSON Schema that our programs read. */
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
  { name: 'Jobs', description: 'Human jobs: translated by an engine, then edited.' },
  { name: 'Machine jobs', description: 'Jobs that only an engine translates.' },
  { name: 'Context', description: 'Topics, tones and brands that requests can name.' },
  { name: 'Languages', description: 'The available languages and language pairs.' },
  { name: 'Account', description: 'The calling account and its balance.' },
  { name: 'Chat', description: 'Messages of conversations, translated by an engine at once.' },
  { name: 'Deliveries', description: 'Deliveries and their attempts, replays, and the event feed.' },
  { name: 'Callbacks', description: 'Requests to the callback URLs of customers.' },
];

/** Registers the generators of both documents. Must be called before the routes are registered. */
export function describeInterface(app: FastifyInstance, webhooks: Record<string, DescribedWebhook>): void {
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(({ schema }) => createAnswerWriter(schema));
  app.addHook('preSerialization', refuseUndescribed);
  void app.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: {
        title: 'Dragoman',
        version: '2',
        description:
          'Translation jobs and chat translation, by engines and editors. Every path works with and without its final ' +
          `\`/\`. Clients must ignore unknown fields. Served by Dragoman ${VERSION}.`,
        contact: { name: 'The operator of this server' },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [
        { url: '/', description: 'production' },
        { url: '/sandbox', description: 'sandbox: translated by engines only, free of charge' },
      ],
      components: {
        securitySchemes: {
          ApiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description:
              '`ApiKey USERNAME:KEY`. The scopes of an operation are the roles that its security requirement names.',
          },
        },
      },
      security: [{ ApiKey: [] }],
      tags: TAGS,
    },
    // Hides the sandbox's paths. The sandbox is the same API at another server address.
    transform: ({ schema, url, route }) => ({
      schema:
        url.startsWith('/sandbox/') || isWebPath(url)
          ? { ...schema, hide: true }
          : withScope(asPublished(schema), route.config?.scope),
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
      schema: isWebPath(url) ? asPublished(schema) : { ...schema, hide: true },
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
    let served: { text: Buffer; etag: string } | undefined;
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

/**
 * Refuses an answer that its operation does not describe. It would be sent with all its fields, because only a
 * described answer has a schema. Does not apply to errors, nor to operations that describe no answers.
 * @throws TypeError, which becomes a 500 and is logged
 */
async function refuseUndescribed(
  { routeOptions }: FastifyRequest,
  reply: FastifyReply,
  answer: unknown,
): Promise<unknown> {
  const { statusCode: status } = reply;
  if (routeOptions.schema?.response === undefined || status >= 400 || answer === null) return answer;
  const type = String(reply.getHeader('content-type')).split(';')[0]!;
  if (reply.getSerializationFunction(`${status}`, type) === undefined) {
    throw new TypeError(`the operation describes no answer ${status} of the type ${type}`);
  }
  return answer;
}

/** The error answer that every route of the web app can give. */
const WEB_REFUSAL = answer('An error, identified by its code.', WebError);

function withRefusals<T extends object>(made: T): T {
  const { paths = {} } = made as { paths?: OpenApi['paths'] };
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    operation!.responses.default = WEB_REFUSAL as OpenApiResponse;
  }
  return made;
}

function describe(root: FastifyInstance): { text: Buffer; etag: string } {
  const text = Buffer.from(JSON.stringify(root.swagger()));
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url')}"` };
}

/** Removes fields that have a default from the required fields. */
function withoutDefaults(schema: FastifySchema): FastifySchema {
  const parts = (['querystring', 'body'] as const).flatMap((part) => {
    const given = schema?.[part] as { required?: string[]; properties: Record<string, object> } | undefined;
    if (given?.required === undefined) return [];
    const required = given.required.filter((name) => !('default' in given.properties[name]!));
    return [[part, { ...given, required }]];
  });
  return { ...schema, ...Object.fromEntries(parts) };
}

const asPublished = (schema: FastifySchema) => withErrorCodes(withoutDefaults(schema));

/** Adds the scopes that an operation needs, as the roles of its security requirement. */
function withScope(schema: FastifySchema, scope: Operation['scope']): FastifySchema {
  if (scope === undefined || scope === 'any') return schema;
  return { ...schema, security: [{ ApiKey: [scope].flat() }] };
}

/** Moves the error codes of an operation's answers into the field `x-errors`, grouped by status. */
function withErrorCodes(schema: FastifySchema): FastifySchema {
  const responses = Object.entries((schema?.response ?? {}) as Record<string, DescribedResponse>);
  const errors = responses.flatMap(([status, response]) =>
    response['x-errors'] === undefined ? [] : [[status, response['x-errors']]],
  );
  return errors.length === 0
    ? schema
    : ({ ...schema, 'x-errors': Object.fromEntries(errors) } as FastifySchema);
}

/** The errors that every path can answer with, including paths without an operation. */
const EVERYWHERE = Object.fromEntries(
  Object.entries(
    describeErrors(
      [
        'invalid_request',
        'unauthorized',
        'read_only_key',
        'insufficient_scope',
        'origin_not_allowed',
        'rate_limited',
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
    description: 'The same for every attempt of a delivery.',
    examples: ['0193a1f0-5d5c-7c1e-8d4e-6f1f5d1f0a11'],
  }),
  'webhook-timestamp': Type.String({
    description: 'The time of this attempt in Unix seconds.',
    pattern: '^\\d+$',
    examples: ['1779332521'],
  }),
  'webhook-signature': Type.String({
    description: 'Standard Webhooks: `v1,<base64>` for each active secret, separated by spaces.',
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
        '2XX': { description: 'The callback was received.' },
        410: { description: 'The callback is refused. It is not attempted again.' },
        default: { description: 'The callback is attempted again later.' },
      },
    },
  };
}

/** Moves every schema with a title to `components/schemas`, and replaces it by a reference. */
function nameSchemas<T extends { components?: object }>(made: T): T {
  const named: Record<string, unknown> = {};
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace);
    if (typeof value !== 'object' || value === null) return value;
    const published = Object.entries(value).filter(
      ([key]) =>
        key !== 'x-trim' &&
        key !== 'x-fault' &&
        // The document gives the examples of bodies apart from their schemas. A body inside another one would keep them.
        !(key === 'examples' && 'type' in value && value.type === 'object'),
    );
    const copy = Object.fromEntries(
      // Schemas of parameters are not replaced by references. Their descriptions were moved to the parameters, so
      // they differ from the named schemas.
      published.map(([key, inner]) => [key, key === 'parameters' ? inner : replace(inner)]),
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
