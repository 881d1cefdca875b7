/**
 * Checks every answer that a test receives against `/openapi.json`: status, headers and body. `/openapi.json`
 * allows undescribed fields, because later versions may add fields. This check reports each undescribed field of the
 * JSON that was sent. The server has already removed them from the answers that it writes by their schema
 * (`http/answers.ts`). The check therefore finds them only in errors, and in bodies that a handler wrote as bytes.
 */

import type { IncomingHttpHeaders } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import type { ApiName, JsonSchema, OpenApi, OpenApiResponse } from '../http/openapi.ts';
import { describeApp } from '../roles/app.ts';

export interface CheckedAnswer {
  method: string;
  path: string;
  status: number;
  headers: Headers;
  text: string;
}

export interface Checker {
  /** Checks an answer. @throws Error that names the differences from `/openapi.json` */
  answer(given: CheckedAnswer): void;
  /** Checks a callback. @returns a sentence about the fault, or undefined when the callback is correct */
  callback(headers: IncomingHttpHeaders, body: string): string | undefined;
  /** Returns what is wrong with a value, such as a body. */
  complaintsOf(schema: JsonSchema, value: unknown): string[];
}

/** Paths for operators and for the description itself, which `/openapi.json` does not describe. */
const UNDESCRIBED = ['/healthz', '/readyz', '/metrics', '/openapi.json'];

const schemaNamed = (schema: string): JsonSchema => ({ $ref: `#/components/schemas/${schema}` });
const SCALAR: JsonSchema = { type: ['string', 'number', 'boolean'] };

/** The schemas of the further fields of the web app's errors that are objects or lists of objects. */
const FURTHER: Record<string, JsonSchema> = {
  account: schemaNamed('ConsoleAccount'),
  findings: { type: 'array', items: schemaNamed('Finding') },
  segment: schemaNamed('Segment'),
};
/** The schema of the other further fields. */
const PLAIN: JsonSchema = { anyOf: [SCALAR, { type: 'array', items: SCALAR }] };

const HOW =
  'Describe it: `{ schema, handler }` in `resource(…)`, with the schema in `schemas.ts` of the module, made of ' +
  '`answer(…)`, `emptyAnswer(…)` and `errorResponses(…)` of `../http/schemas.ts`; `jobs/schemas.ts` is an example.';

const ours = new Map<ApiName, Promise<Checker>>();

/** Returns the checker for this program's own API. It is created once per process. */
export function ourChecker(audience: ApiName = 'public'): Promise<Checker> {
  const made = ours.get(audience) ?? describeApp(audience).then(createChecker);
  ours.set(audience, made);
  return made;
}

/** Creates a checker. Each schema is compiled at its first use. */
export function createChecker(document: OpenApi): Checker {
  const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
  ajvFormats.default(ajv);
  ajv.addVocabulary(['x-everywhere', 'example']);
  ajv.addFormat('moment', true);
  const schemas = Object.fromEntries(
    Object.entries(document.components.schemas).map(([name, schema]) => [name, close(schema)]),
  );
  ajv.addSchema({ $id: 'document', $defs: schemas } as object);
  const compiled = new Map<JsonSchema, ValidateFunction>();
  function complaintsOf(schema: JsonSchema, value: unknown): string[] {
    let validate = compiled.get(schema);
    if (validate === undefined) {
      validate = ajv.compile(close(schema));
      compiled.set(schema, validate);
    }
    if (validate(value)) return [];
    return [
      ...new Set(
        validate.errors!.map(({ instancePath, message, params }) => {
          const named = params.additionalProperty ?? params.unevaluatedProperty ?? params.allowedValues;
          return `${instancePath || 'body'} ${message}${named === undefined ? '' : `: ${named}`}`;
        }),
      ),
    ];
  }
  const routes = Object.entries(document.paths).map(([path, operations]) => ({
    path,
    operations,
    pattern: patternOf(path),
  }));

  function complaints(given: CheckedAnswer): string[] {
    const path = plain(given.path);
    if (UNDESCRIBED.includes(path)) return [];
    const route = isAddress(path) ? routes.find(({ pattern }) => pattern.test(path)) : undefined;
    const method = given.method === 'HEAD' ? 'get' : given.method.toLowerCase();
    const operation = route?.operations[method];
    if (operation === undefined) {
      const refusals = route === undefined ? [400, 404, 431] : [400, 401, 403, 404, 405, 431];
      const refused = refusals.includes(given.status);
      if (!refused) return [`${route === undefined ? 'the path' : 'the method'} is not described. ${HOW}`];
      // The method is not described for this path. Its error answer must have the form that the path's other methods
      // have, because the error bodies of chat routes differ from those of other routes.
      const own = Object.values(route?.operations ?? {}).map((one) => one?.responses[given.status]);
      const likeOwn = own.find((one) => one !== undefined);
      const everywhere = document['x-everywhere'][given.status] ?? document['x-everywhere'].default!;
      return responseComplaints(likeOwn ?? everywhere, given);
    }
    const response =
      operation.responses[given.status] ?? (given.status >= 400 ? operation.responses.default : undefined);
    if (response === undefined) {
      return [`only ${Object.keys(operation.responses).join(', ')} are described. ${HOW}`];
    }
    return responseComplaints(response, given);
  }

  function responseComplaints(response: OpenApiResponse, given: CheckedAnswer): string[] {
    const found: string[] = [];
    for (const [name, { schema }] of Object.entries(response.headers ?? {})) {
      const value = given.headers.get(name);
      const wrong = value === null ? ['is missing'] : complaintsOf(schema, headerValue(value, schema));
      found.push(...wrong.map((line) => `the header ${name}: ${line}`));
    }
    if (given.method === 'HEAD') return found;
    if (response.content === undefined) {
      return given.text === '' ? found : [...found, 'the body is described as empty'];
    }
    const type = given.headers.get('content-type')?.split(';')[0] ?? '';
    const media = response.content[type];
    if (media === undefined) {
      return [
        ...found,
        `the type is "${type}", but ${Object.keys(response.content).join(', ')} is described`,
      ];
    }
    if (type !== 'application/json') return found;
    const body: unknown = JSON.parse(given.text);
    const furtherComplaints = isDeepStrictEqual(media.schema, schemaNamed('WebError'))
      ? complaintsOfFurther(body)
      : [];
    return [...found, ...complaintsOf(media.schema, body), ...furtherComplaints];
  }

  /** Checks the fields of an error that `WebError` leaves open, because only some codes have them. */
  function complaintsOfFurther(body: unknown): string[] {
    const described = document.components.schemas.WebError!.properties!.error!.properties!;
    const { error = {} } = (body ?? {}) as { error?: Record<string, unknown> };
    return Object.entries(error)
      .filter(([name]) => !(name in described))
      .flatMap(([name, value]) =>
        complaintsOf(FURTHER[name] ?? PLAIN, value).map((line) => `/error/${name}: ${line}`),
      );
  }

  return {
    complaintsOf,
    answer(given) {
      const found = complaints(given);
      if (found.length === 0) return;
      const body = given.text.length > 600 ? `${given.text.slice(0, 600)}…` : given.text;
      const line = `${given.method} ${plain(given.path)} answered ${given.status}`;
      throw new Error(`${line}, which differs from /openapi.json:\n- ${found.join('\n- ')}\n${body}`);
    },
    callback(headers, body) {
      const type = headers['content-type']?.split(';')[0] ?? '';
      const refusals = Object.entries(document.webhooks ?? {}).map(([name, { post }]) => {
        const schema = post.requestBody.content[type]?.schema;
        if (schema === undefined) return { name, complaints: [`its type is not "${type}"`] };
        const wrongHeaders = post.parameters.flatMap((parameter) =>
          complaintsOf(parameter.schema, headers[parameter.name]).map((line) => `${parameter.name}: ${line}`),
        );
        return { name, complaints: [...wrongHeaders, ...complaintsOf(schema, readBody(type, body))] };
      });
      if (refusals.some(({ complaints }) => complaints.length === 0)) return undefined;
      const lines = refusals.map(({ name, complaints }) => `- not "${name}": ${complaints.join('; ')}`);
      return `The callback matches no described webhook:\n${lines.join('\n')}\n${body.slice(0, 600)}`;
    },
  };
}

function readBody(type: string, body: string): unknown {
  return type === 'application/json' ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));
}

/**
 * Normalizes a path like the server: removes the sandbox prefix, the query, double slashes and a final
 * slash.
 */
function plain(path: string): string {
  const bare = path
    .split('?')[0]!
    .replace(/\/{2,}/g, '/')
    .replace(/^\/sandbox(?=\/)/, '');
  return bare.length > 1 && bare.endsWith('/') ? bare.slice(0, -1) : bare;
}

function isAddress(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function patternOf(path: string): RegExp {
  const parts = plain(path)
    .split('/')
    .map((part) => (/^\{\w+\}$/.test(part) ? '[^/]+' : RegExp.escape(part)));
  return new RegExp(`^${parts.join('/')}$`);
}

function headerValue(value: string, schema: JsonSchema): unknown {
  return schema.type === 'integer' ? Number(value) : value;
}

/**
 * Returns a copy of the schema that forbids additional properties. The same is done with the schemas to which it
 * refers.
 */
function close(schema: JsonSchema): JsonSchema {
  if (schema.$ref !== undefined)
    return { $ref: schema.$ref.replace('#/components/schemas/', 'document#/$defs/') };
  const closed: JsonSchema = { ...schema };
  if (schema.properties !== undefined) {
    closed.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, inner]) => [name, close(inner)]),
    );
    closed.additionalProperties ??= false;
  }
  if (schema.patternProperties !== undefined) {
    closed.patternProperties = Object.fromEntries(
      Object.entries(schema.patternProperties).map(([pattern, inner]) => [pattern, close(inner)]),
    );
  }
  if (schema.items !== undefined) closed.items = close(schema.items);
  if (schema.anyOf !== undefined) closed.anyOf = schema.anyOf.map(close);
  if (schema.allOf !== undefined)
    throw new TypeError('a closed schema cannot be combined by allOf: spread its fields');
  return closed;
}
