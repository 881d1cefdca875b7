/**
 * Checks that the duration of a request grows linearly with the length of each header, parameter and field.
 */
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FULL } from '../../../scripts/full.ts';
import { ATOMS } from '../../documents/test/growth.ts';
import { ratioOf, type Send } from './testing/growth.ts';
import { createPerson, startTestServer, type TestServer } from './testing/harness.ts';

const MOST = 3;
/**
 * The length of the smaller header in bytes. The larger header has twice this length, and all headers
 * together may have 16 KiB.
 */
const HEADER_BYTES = 7_000;
/** The length of the smaller text in a body in bytes, written as JSON. Most bodies may have 64 KiB. */
const BODY_BYTES = 30_000;
/** The same for bodies that may have 16 KiB. */
const SMALL_BODY_BYTES = 7_000;
/**
 * The time in milliseconds below which no growth is reported. A request of the greater length usually takes 1
 * to 5 ms; with a backtracking expression it takes 100 ms or more.
 */
const LITTLE = 25;

interface Place {
  name: string;
  /** The length of the text in the smaller request, in bytes. */
  length: number;
  /** Returns a request with this text, or undefined if the text cannot be sent in this place. */
  carrying(text: string): Wanted | undefined;
}
interface Wanted {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

let server: TestServer;
let username: string;
let key: string;
let cookie: string;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
beforeAll(async () => {
  server = await startTestServer({
    settings: { DRAGOMAN_SANDBOX_REQUESTS: 'operator', DRAGOMAN_TRUSTED_PROXIES: '127.0.0.0/8' },
  });
  const account = await server.createAccount({ chat: true });
  username = account.username;
  key = account.production_key;
  const operator = await createPerson(server, { role: 'operator' });
  const signedIn = await fetch(`${server.url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: operator.email, password: operator.password }),
  });
  cookie = signedIn.headers.getSetCookie()[0]!.split(';')[0]!;
});
afterAll(async () => {
  agent.destroy();
  await server.stop();
});

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';

/** Returns whether a header can contain a text. */
const isHeader = (text: string) => /^[\t\x20-\x7e\xa0-\xff]*$/.test(text);

function header(name: string, path: string, write = (text: string) => text, more = nobody): Place {
  return {
    name: `header ${name} of ${path}, ${write('…')}`,
    length: HEADER_BYTES,
    carrying: (text) => {
      const value = write(text);
      if (!isHeader(value)) return undefined;
      return { method: 'GET', path, headers: { ...more(), [name]: value } };
    },
  };
}

const nobody = (): Record<string, string> => ({});
const known = () => ({ authorization: `ApiKey ${key}` });
const asOperator = () => ({ cookie });

function query(path: string, name: string, headers: () => Record<string, string>): Place {
  return {
    name: `parameter ${name} of ${path}`,
    length: HEADER_BYTES,
    carrying: (text) => ({
      method: 'GET',
      // Shortens the text, so that its encoded form has the maximum length.
      path: `${path}?${name}=${encodeURIComponent(shortenTo(text, encodeURIComponent))}`,
      headers: headers(),
    }),
  };
}

/** Shortens a repeated text, so that its encoded form has at most its length in bytes. */
function shortenTo(text: string, encode: (text: string) => string): string {
  const sample = text.slice(0, 64).toWellFormed();
  const share = Math.max(1, Buffer.byteLength(encode(sample)) / Buffer.byteLength(sample));
  return text.slice(0, text.length / share).toWellFormed();
}

function field(
  path: string,
  name: string,
  body: object,
  { method = 'POST', headers = known as () => Record<string, string>, length = BODY_BYTES } = {},
): Place {
  return {
    name: `field ${name} of ${method} ${path}`,
    length,
    carrying: (text) => ({
      method,
      path,
      headers: headers(),
      body: { ...body, [name]: shortenTo(text, JSON.stringify) },
    }),
  };
}

const JOB = { text: 'The house is big.', source_language: 'en', target_language: 'none' };
const MESSAGE = { ...JOB, chat_external_id: 'c', external_id: 'm', text_format: 'text' };
const FILTERS = [
  'uid',
  'uid__startswith',
  'uid__contains',
  'status',
  'source_language',
  'target_language__in',
  'created__gte',
  'order_by',
  'after',
  'limit',
  'unknown',
];

function places(): Place[] {
  return [
    header('authorization', HUMAN),
    header('authorization', HUMAN, (text) => `ApiKey ${text}x`),
    header('authorization', HUMAN, (text) => `ApiKey a:${text}`),
    header('authorization', '/metrics'),
    header('cookie', '/api/session'),
    header('cookie', '/app/'),
    header('origin', '/api/live'),
    header('if-none-match', '/openapi.json'),
    ...['idempotency-key', 'accept', 'content-type', 'traceparent', 'x-forwarded-for', 'accept-encoding'].map(
      (name) => header(name, HUMAN, undefined, known),
    ),
    ...FILTERS.map((name) => query(HUMAN, name, known)),
    ...['status', 'after', 'limit'].map((name) => query('/api/v1/deliveries/', name, known)),
    query('/api/v1/memory/', 'q', known),
    query('/api/console/pairs', 'q', asOperator),
    query('/api/console/tasks', 'account', asOperator),
    query('/api/live', 'topic', asOperator),
    query('/nosuch', 'a', nobody),
    { ...query('/api/invitations', 'token', nobody), name: 'path of an invitation' },
    ...[
      'uid',
      'brand',
      'tone',
      'callback_url',
      'instructions',
      'text_format',
      'target_language',
      'unknown',
    ].map((name) => field(MACHINE, name, JOB)),
    { ...field(HUMAN, 'topics', JOB), carrying: (text) => bodyOf(HUMAN, { ...JOB, topics: [text] }) },
    { ...field(HUMAN, 'idempotency-key', JOB), carrying: (text) => keyed(text) },
    ...['chat_external_id', 'external_id', 'agent_external_id', 'brand', 'callback_url', 'text_format'].map(
      (name) => field('/v2/chats/messages', name, MESSAGE),
    ),
    field('/tapi/v2/wordcount/', 'source_language', { text: 'The house.' }),
    field('/api/v1/deliveries/test/', 'url', {}),
    field('/api/session', 'email', { password: 'secret' }, { headers: nobody, length: SMALL_BODY_BYTES }),
    field('/api/sandbox-requests', 'email', { name: 'Ada' }, { headers: nobody, length: SMALL_BODY_BYTES }),
    field(
      '/api/sandbox-requests',
      'name',
      { email: 'ada@example.com' },
      { headers: nobody, length: SMALL_BODY_BYTES },
    ),
    imported('the source of TMX', 'tmx', { from: 'en', to: 'es', dry_run: true }, (text) =>
      tmxOf(text, (part) => part),
    ),
    imported('the codes of TMX', 'tmx', { from: 'en', to: 'es', dry_run: true }, (text) =>
      tmxOf(text, (part) => `<ph>${part}</ph>`),
    ),
    {
      name: 'a body that is no JSON',
      length: BODY_BYTES,
      carrying: (text) => ({ method: 'POST', path: MACHINE, headers: known(), body: Buffer.from(text) }),
    },
  ];
}

/** Escapes a text for XML. */
const xml = (text: string) => text.replaceAll(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
/** Returns a TMX file with units of a thousand characters of the text. */
function tmxOf(text: string, write: (part: string) => string): string {
  const units = (text.match(/.{1,1000}/gs) ?? []).map((part) => {
    const seg = `<seg>${write(xml(part.toWellFormed()))} a</seg>`;
    return `<tu><tuv lang="en">${seg}</tuv><tuv lang="es">${seg}</tuv></tu>`;
  });
  return `<tmx><body>${units.join('')}</body></tmx>`;
}

/** The field `name` of an import into the memory, with the text in a place of its file. */
function imported(place: string, name: string, body: object, write: (text: string) => string): Place {
  return {
    name: place,
    length: BODY_BYTES,
    carrying: (text) => ({
      method: 'POST',
      path: `/api/console/accounts/${username}/memory/import`,
      headers: asOperator(),
      body: { ...body, [name]: write(shortenTo(text, JSON.stringify)) },
    }),
  };
}

const bodyOf = (path: string, body: object): Wanted => ({ method: 'POST', path, headers: known(), body });
const keyed = (text: string): Wanted | undefined =>
  isHeader(text) && text.length < 2 * HEADER_BYTES
    ? { ...bodyOf(HUMAN, JOB), headers: { ...known(), 'idempotency-key': text } }
    : undefined;

function sender(url: string, { method, path, headers = {}, body }: Wanted): Send {
  const { hostname, port } = new URL(url);
  const bytes = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const own =
    bytes === undefined ? {} : { 'content-type': 'application/json', 'content-length': bytes.length };
  const asked = { agent, hostname, port, method, path, headers: { ...own, ...headers } };
  return () =>
    new Promise((resolve, reject) => {
      const sent = request(asked, (response) => {
        // The server does not read such a request, so its time says nothing about the content.
        const unread = response.statusCode === 413 || response.statusCode === 431;
        if (unread) reject(new Error(`${method} ${path.slice(0, 40)}: ${response.statusCode}`));
        response.resume().once('end', resolve);
      });
      sent.once('error', reject).end(bytes);
    });
}

/** Repeats a text up to a length. @param length the length in bytes */
function fill(text: string, length: number): string {
  return text.repeat(Math.max(1, Math.floor(length / Buffer.byteLength(text))));
}

/**
 * The texts to repeat: strings of one or two characters. Longer strings are left out, because they are syntax
 * of documents.
 */
const atoms = [...ATOMS].flatMap(([name, atom]) =>
  typeof atom === 'string' && atom.length <= 2 ? [{ name, atom }] : [],
);

/**
 * White space is repeated in every place, of the other texts every fourth, and the next ones in the next place. The full
 * run repeats every text in every place.
 */
const SHARE = FULL ? 1 : 4;
const atomsFor = (place: number) =>
  atoms.filter(({ atom }, index) => atom.trim() === '' || index % SHARE === place % SHARE);

describe('the time of a request with twice as many repetitions', () => {
  it('is measured for more than eighty different repeated texts', () => {
    expect(atoms.length).toBeGreaterThan(80);
  });

  it.each(places().map((place, index) => [place.name, place, index] as const))(
    'grows less than threefold in %s',
    async (_, { length, carrying }, index) => {
      const found: string[] = [];
      for (const { name, atom } of atomsFor(index)) {
        if (carrying(atom) === undefined) continue;
        const ratio = await ratioOf(
          (bytes) => sender(server.url, carrying(fill(atom, bytes)) ?? { method: 'GET', path: '/healthz' }),
          { length, most: MOST, little: LITTLE },
        );
        if (ratio >= MOST) found.push(`${ratio.toFixed(1)}: ${name}`);
      }
      expect(found).toEqual([]);
    },
  );
});

/** Counts the triples of equal characters. */
function countTriples(text: string): number {
  let found = 0;
  for (let one = 0; one < text.length; one += 1)
    for (let two = 0; two < one; two += 1)
      for (let three = 0; three < two; three += 1)
        if (text[one] === text[two] && text[two] === text[three]) found += 1;
  return found;
}

describe('the measurement of growth', () => {
  it.each<[string, (request: IncomingMessage) => unknown]>([
    // Both functions take eight times as long for a text of twice the length, and allocate nothing. A factor of
    // four would be too close to the limit of three on a busy machine.
    [
      'an expression that tries again at every pair of spaces',
      ({ headers }) => /^apikey +([^:]*) +:(.*)$/i.exec(headers.authorization ?? ''),
    ],
    ['a comparison of every three characters', ({ headers }) => countTriples(headers.authorization!)],
  ])('reports superlinear growth for %s', async (_, work) => {
    const planted = createServer((asked, response) => {
      work(asked);
      response.end();
    });
    await new Promise<void>((resolve) => planted.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(planted.address() as AddressInfo).port}`;
    const authorization = (bytes: number) => `ApiKey ${' '.repeat(bytes)}x`;
    const ratio = await ratioOf(
      (bytes) => sender(url, { method: 'GET', path: '/', headers: { authorization: authorization(bytes) } }),
      { length: 300, most: MOST, little: 0, rounds: 4 },
    );
    expect(ratio).toBeGreaterThanOrEqual(MOST);
    planted.closeAllConnections();
    planted.close();
  });
});
