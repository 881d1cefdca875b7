/**
 * Generates requests from the API description. Some are valid, but most have an error, such as a string that has
 * crashed servers before. The same seed gives the same requests.
 */
import { FORMATS } from '../../packages/documents/src/documents.ts';
import type { JsonSchema, OpenApi, OpenApiOperation } from '../../packages/server/src/http/openapi.ts';
import type { Random } from '../harness/random.ts';
import { type Drawn, drawDocument } from './documents.ts';

export interface FuzzRequest {
  method: string;
  /** The path with its query, percent-encoded. */
  path: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
  /** True if the operation takes a body. Otherwise the server does not read the body. */
  takesBody?: boolean;
  /**
   * The environment and the API tag of the request. Later requests with the same scope use the ids in the
   * response.
   */
  scope: string;
}

/** The ids in a response. */
export type Ids = Partial<Record<'uid' | 'id' | 'chat_id' | 'delivery_id', string>>;

/** What the generator needs to know: API keys, and ids that exist. */
export interface World {
  keys: { production: string; sandbox: string };
  /** The URL of a receiver for callbacks. */
  callback: string;
  /** The latest ids in the responses, by scope. */
  ids: Map<string, Ids[]>;
  /** The latest hostile documents that were sent. The key is the text of the document. */
  documents: Map<string, Drawn>;
}

const HOSTILE = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '\ufeff',
  '\ufffe',
  'a\uffffb',
  '\ufdd0\u{1ffff}',
  ...'. .. ../../etc/passwd %00 %2e%2e%2f % %zz " \\ $1 %_% {{7*7}}'.split(' '),
  ' '.repeat(3_000),
  '\u202e\u2066abc\u2069',
  'é'.repeat(200),
  '🙂'.repeat(100),
  "' or 1=1 --",
  "'; drop table jobs; --",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is sent as it is
  '${jndi:ldap://127.0.0.1/a}',
  '<script>alert(1)</script>',
  '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><xliff version="1.2">&b;</xliff>',
  '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en"><body>',
  '<b><i></b></i><p',
  '1\n00:00:01,000 --> 00:00:02,000\n\n\n2\n',
  '-->',
  ...FORMATS,
  ...(
    'null true NaN -0 1e400 9007199254740993 -1 2147483648 0x10 1970-01-01T00:00:00Z ' +
    '2026-13-45T99:99:99Z +275760-09-13T00:00:00Z __proto__ constructor toString en es EN xx ' +
    'pt-br completed Formal tech http://127.0.0.1:1/ http://user:pass@example.com/ ' +
    'http://169.254.169.254/ https://[::1]/ http://example.com:99999/ ftp://example.com/ ' +
    'javascript:alert(1)'
  ).split(' '),
  '["en","es"]',
  '[',
  'en,es,,',
  'a'.repeat(5_000),
  'The house is big.',
];

const STRANGE: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  [],
  {},
  [[[[[[]]]]]],
  [null],
  { a: { b: { c: {} } } },
  ['tech', 7],
  ['tech', 'tech'],
];

/**
 * Functions that return JSON that is costly to parse for its length.
 *
 * @param size the number of repetitions
 */
const BOMBS: ((size: number) => Buffer)[] = [
  (size) => Buffer.from('['.repeat(size)),
  (size) => Buffer.from('{"a":'.repeat(size)),
  (size) => Buffer.from(`[${'[],'.repeat(size)}[]]`),
  (size) => Buffer.from(`{${Array.from({ length: size }, (_, index) => `"k${index}":0`).join()}}`),
];

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'];

const MAX_DOCUMENTS = 1_000;

type Dice = ReturnType<typeof createDice>;

function createDice(random: Random) {
  return {
    random,
    /** Returns true in the given percentage of calls. */
    chance: (percent: number) => random.below(100) < percent,
    pick: <T>(from: readonly T[]): T => from[random.below(from.length)]!,
  };
}

/** Returns a function that generates requests for an API description. */
export function createRequests(document: OpenApi, random: Random): (world: World) => FuzzRequest {
  const dice = createDice(random);
  const { chance, pick } = dice;
  const values = createValues(document, dice);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation: operation!,
    })),
  );

  function pathOf(template: string, operation: OpenApiOperation, world: World, scope: string): string {
    const known = world.ids.get(scope) ?? [];
    // The ids for a path come from the same response, so that a message is read with its own chat.
    const ids = known.length > 0 && chance(70) ? pick(known) : {};
    let path = template.replace(/\{(\w+)\}/g, (_, name: keyof Ids) => {
      const value = (chance(95) ? (ids[name] ?? ids.id) : values.someId(world)) ?? pick(HOSTILE);
      return chance(90) ? encode(value) : value.replace(/[^\x21-\x7e]|[#?]/g, '');
    });
    if (chance(30)) path = path.replace(/\/$/, '');
    if (chance(3)) path = path.replaceAll('/', '//');
    if (chance(2)) path += encode(pick(HOSTILE));
    const query = (operation.parameters ?? [])
      .filter((parameter) => parameter.in === 'query' && chance(40))
      .map(({ name, schema }) => {
        const value = chance(40) ? String(values.makeValue(schema, world, 5)) : pick(HOSTILE);
        return `${chance(5) ? encode(pick(HOSTILE)) : name}=${chance(97) ? encode(value) : '%'}`;
      });
    if (query.length > 0 && chance(10)) query.push(pick(query));
    return query.length === 0 ? path : `${path}?${query.join('&')}`;
  }

  return (world) => {
    if (chance(1)) return strangeRequest(dice);
    const { path, method, operation } = pick(operations);
    const sandbox = chance(30);
    const scope = `${sandbox ? 'sandbox' : 'production'} ${operation.tags?.join() ?? ''}`;
    const used = chance(4) ? pick(METHODS) : method;
    const bodied = used !== 'GET' && used !== 'HEAD' && (operation.requestBody !== undefined || chance(10));
    const body = bodied ? bodyOf(dice, values, operation, world) : undefined;
    const key = chance(96) ? (sandbox ? world.keys.sandbox : world.keys.production) : ascii(pick(HOSTILE));
    const type = chance(85) ? 'application/json' : ascii(pick(HOSTILE));
    return {
      method: used,
      path: `${sandbox ? '/sandbox' : ''}${pathOf(path, operation, world, scope)}`,
      headers: {
        ...(chance(98) ? { authorization: `ApiKey ${key}` } : {}),
        ...(body === undefined ? {} : { 'content-type': type, 'content-length': String(body.length) }),
        ...(chance(5) ? { 'idempotency-key': ascii(pick(HOSTILE)) } : {}),
        ...(chance(3) ? { accept: ascii(pick(HOSTILE)) } : {}),
      },
      body,
      takesBody: used === method && operation.requestBody !== undefined,
      scope,
    };
  };
}

/** Generates values for schemas. Most values are valid, the others hostile. */
function createValues(document: OpenApi, { random, chance, pick }: Dice) {
  function resolve(schema: JsonSchema): JsonSchema {
    if (schema.$ref === undefined) return schema;
    return resolve(document.components.schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {});
  }

  /** Generates a value that fits a schema, or sometimes one that does not. */
  function makeValue(given: JsonSchema, world: World, depth: number): unknown {
    if (chance(12)) return pick(STRANGE);
    if (chance(12)) return pick(HOSTILE);
    const schema = resolve(given);
    if (depth > 6) return null;
    if (schema.anyOf !== undefined) return makeValue(pick(schema.anyOf), world, depth + 1);
    if (schema.const !== undefined) return schema.const;
    if (Array.isArray(schema.enum)) return pick(schema.enum);
    const type = Array.isArray(schema.type) ? pick(schema.type) : schema.type;
    switch (type) {
      case 'string':
        return chance(20) ? (someId(world) ?? word()) : chance(60) ? pick(HOSTILE) : word();
      case 'integer':
      case 'number':
        return pick([0, 1, 20, 1000, 1001, -1, 2 ** 31, 2 ** 53, 0.5]);
      case 'boolean':
        return chance(50);
      case 'array': {
        const item = (schema.items ?? {}) as JsonSchema;
        return Array.from({ length: random.below(4) }, () => makeValue(item, world, depth + 1));
      }
      case 'null':
        return null;
      default:
        return objectOf(schema, world, depth);
    }
  }

  function objectOf(schema: JsonSchema, world: World, depth: number): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    const required: readonly string[] = Array.isArray(schema.required) ? schema.required : [];
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (required.includes(name) ? chance(4) : chance(65)) continue;
      made[name] = likely(name, world) ?? makeValue(property, world, depth + 1);
    }
    if (chance(20)) addDocument(made, schema, world);
    if (chance(5)) made[pick(HOSTILE)] = pick(STRANGE);
    if (chance(2)) Object.defineProperty(made, '__proto__', { value: { admin: true }, enumerable: true });
    return made;
  }

  /** Replaces the text with a hostile document if the schema has a text, and removes a supplied translation. */
  function addDocument(made: Record<string, unknown>, { properties = {} }: JsonSchema, world: World): void {
    if (properties.text === undefined || properties.text_format === undefined) return;
    const drawn = drawDocument(random, formatsOf(properties.text_format));
    Object.assign(made, drawn);
    delete made.target_text;
    world.documents.set(drawn.text, drawn);
    if (world.documents.size > MAX_DOCUMENTS) world.documents.delete(world.documents.keys().next().value!);
  }

  /** Returns the formats that a schema of `text_format` allows. */
  function formatsOf(given: JsonSchema): readonly string[] {
    const named = JSON.stringify(resolve(given));
    return FORMATS.filter((format) => named.includes(`"${format}"`));
  }

  /** Returns a valid value, so that enough requests get past the first checks of the server. */
  function likely(name: string, world: World): unknown {
    if (!chance(75)) return undefined;
    if (name === 'source_language') return 'en';
    if (name === 'target_language') return 'es';
    if (name === 'text') return `The house number ${random.below(1000)} is big.`;
    if (name === 'text_format') return 'text';
    if (name === 'callback_url') return chance(50) ? world.callback : null;
    if (name === 'url') return world.callback;
    if (name === 'brand' || name === 'properties') return null;
    return undefined;
  }

  function someId(world: World): string | undefined {
    const all = [...world.ids.values()];
    return all.length === 0 ? undefined : Object.values(pick(pick(all)))[0];
  }

  const word = () => `w${random.below(10_000)}`;

  return { resolve, makeValue, objectOf, someId };
}

function bodyOf(
  { random, pick }: Dice,
  { objectOf, resolve }: ReturnType<typeof createValues>,
  operation: OpenApiOperation,
  world: World,
): Buffer {
  const schema = operation.requestBody?.content['application/json']?.schema ?? {};
  const broken = random.below(100);
  if (broken < 2) return Buffer.from([0x22, 0xff, 0xfe, 0x22]);
  if (broken < 4) return Buffer.from('{"text":');
  if (broken < 5) return pick(BOMBS)(random.below(100) === 0 ? 1_000_000 : 10_000);
  if (broken < 6) return Buffer.from(pick(HOSTILE));
  if (broken < 8) return Buffer.from(JSON.stringify(pick(STRANGE)));
  return Buffer.from(JSON.stringify(objectOf(resolve(schema), world, 0)));
}

/**
 * Generates a request whose body is costly to parse, but which has no valid API key or route. The server should not
 * read its body.
 */
function strangeRequest({ random, chance, pick }: Dice): FuzzRequest {
  const path = pick([
    '/nosuch',
    '/api/v1/nosuch',
    '/tapi/v2/nosuch/',
    '/tapi/v2/translation/',
    '/v2/chats/messages',
  ]);
  const body = pick(BOMBS)(500_000);
  const authorization = `ApiKey ${' '.repeat(7_000 + random.below(8_000))}x`;
  return {
    method: pick(['POST', 'PATCH', 'DELETE']),
    path,
    headers: {
      ...(chance(50) ? { authorization } : {}),
      'content-type': 'application/json',
      'content-length': String(body.length),
    },
    body,
    scope: '',
  };
}

/** Removes characters that a header or a request line cannot contain. */
function ascii(value: string): string {
  return value.replace(/[^\x20-\x7e]/g, '').trim();
}

function encode(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}
