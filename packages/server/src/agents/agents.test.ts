/** Tests the tools for agents with the SDK's own client, over HTTP and over standard input and output. */
import { fileURLToPath } from 'node:url';
import { createDragoman, type Dragoman } from '@dragoman/client';
import {
  Client,
  InMemoryTransport,
  StreamableHTTPClientTransport,
  type Transport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { createLog } from '../base/log.ts';
import { parseBrand } from '../brands/brand.ts';
import { saveBrand } from '../brands/brands.ts';
import { importEntries } from '../memory/memory.ts';
import { createClient, createPerson, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { type AgentServerOptions, createAgentServer } from './tools.ts';

const DRAGOMAN = fileURLToPath(new URL('../../bin/dragoman.js', import.meta.url));
const HOUSE = { text: 'The house is big.', source_language: 'en', target_language: 'es' };

const logged: string[] = [];
let server: TestServer;
let account: AccountCredentials;
beforeAll(async () => {
  server = await startTestServer({
    settings: { DRAGOMAN_PRICE_HUMAN: '12', DRAGOMAN_SANDBOX_HOLD: '0' },
    log: createLog('warn', { write: (line) => logged.push(line) }),
  });
  account = await server.createAccount({ username: 'acme', balanceCents: 1_000, prepaid: true });
  const { ref } = await accountNamed(server.database, 'acme');
  const glossary = [{ source: 'shopping cart', target: 'carrito' }];
  const shop = { external_id: 'shop', name: 'Shop', languages: { es: { tone: 'Formal', glossary } } };
  await saveBrand(server.database, 'command', ref, parseBrand('brand', shop), false);
  await importEntries(server.database, ref, { from: 'en', to: 'es', brand: undefined }, [
    { source: [{ text: 'The door.' }], target: [{ text: 'La puerta.' }] },
  ]);
});
afterAll(() => server.stop());

const clients: Client[] = [];
afterAll(() => Promise.all(clients.map((client) => client.close())));

async function connect(transport: Transport, mode: VersionNegotiationMode = 'auto'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  clients.push(client);
  await client.connect(transport);
  return client;
}

function overHttp(key: string, path = '/mcp'): Transport {
  const requestInit = { headers: { authorization: `ApiKey ${key}` } };
  return new StreamableHTTPClientTransport(new URL(`${server.url}${path}`), { requestInit });
}

function overStdio(environment: Record<string, string>): Transport {
  return new StdioClientTransport({ command: process.execPath, args: [DRAGOMAN, 'mcp'], env: environment });
}

/** Calls a tool and returns its result, or the text of its error. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a result
async function use(client: Client, name: string, given: Record<string, unknown>): Promise<any> {
  const { content, isError } = await client.callTool({ name, arguments: given });
  const { text } = content[0] as { text: string };
  return isError ? text : JSON.parse(text);
}

describe.each<[string, () => Promise<Client>]>([
  ['HTTP', () => connect(overHttp(account.production_key))],
  ['HTTP with the older protocol', () => connect(overHttp(account.production_key), 'legacy')],
  [
    'standard input and output',
    () => connect(overStdio({ DRAGOMAN_URL: server.url, DRAGOMAN_KEY: account.production_key })),
  ],
])('the tools over %s', (_, start) => {
  let client: Client;
  beforeAll(async () => {
    client = await start();
  });

  it('are listed with descriptions, and are marked as read-only unless they create jobs', async () => {
    const { tools } = await client.listTools();
    const changing = tools.filter(({ annotations }) => !annotations?.readOnlyHint).map(({ name }) => name);
    expect(changing).toEqual(['translate_text', 'translate_file', 'order_translation']);
    const spending = tools.filter(({ annotations }) => annotations?.destructiveHint).map(({ name }) => name);
    expect(spending).toEqual(['order_translation']);
    expect(tools.filter(({ description, title }) => !description || !title)).toEqual([]);
    expect(tools).toHaveLength(8);
    expect(client.getInstructions()).toContain('quote');
  });

  it('translate texts and files', async () => {
    const text = await use(client, 'translate_text', HOUSE);
    expect(text).toMatchObject({ status: 'completed', translated_text: 'THE HOUSE IS BIG.' });
    expect(text).not.toHaveProperty('text');
    const page = { ...HOUSE, file_name: 'Page.HTML', text: '<p>The <b>house</b>.</p>' };
    expect(await use(client, 'translate_file', page)).toMatchObject({
      text_format: 'html',
      translated_text: '<p>THE <b>HOUSE</b>.</p>',
    });
    const whole = { ...page, text: '<html lang="en"><p>The house.</p></html>', set_lang: true };
    expect(await use(client, 'translate_file', whole)).toMatchObject({
      translated_text: '<html lang="es"><p>THE HOUSE.</p></html>',
    });
  });

  it('quote a human translation, order it only once when the call is repeated, and read its status', async () => {
    const quote = await use(client, 'quote', HOUSE);
    expect(quote).toMatchObject({ word_count: 4, human_price: 48, source_language: 'en' });
    const order = { ...HOUSE, uid: crypto.randomUUID(), brand: 'shop', instructions: 'Short.', price: 48 };
    const changed = await use(client, 'order_translation', { ...order, price: 47 });
    expect(changed).toBe('The price has changed: it is 48 cents now.');
    const unquoted = await use(client, 'order_translation', { ...order, price: undefined });
    expect(unquoted).toMatch(/ price: This field is required/);
    const job = await use(client, 'order_translation', order);
    expect(job).toMatchObject({ uid: order.uid, price: quote.human_price, brand: 'shop' });
    for (const price of [48, 50]) {
      const again = await use(client, 'order_translation', { ...order, price });
      expect(again.order_number).toBe(job.order_number);
    }
    const read = await use(client, 'get_job', { uid: order.uid });
    expect(read).toMatchObject({ uid: order.uid, price: 48 });
    expect(['new', 'translating']).toContain(read.status);
  });

  it('list languages, and look up the memory and the glossary', async () => {
    const sources = await use(client, 'list_languages', {});
    expect(sources.languages).toContainEqual({ name: 'English', shortname: 'en' });
    const targets = await use(client, 'list_languages', { source_language: 'en' });
    expect(targets.languages).toContainEqual({ name: 'Spanish', shortname: 'es' });
    expect(targets.languages).not.toContainEqual({ name: 'English', shortname: 'en' });
    const found = await use(client, 'search_memory', { q: 'DOOR', target_language: 'es' });
    expect(found.objects).toMatchObject([{ source: 'The door.', target: 'La puerta.' }]);
    const terms = await use(client, 'look_up_terms', { target_language: 'es', brand: 'shop', q: 'cart' });
    expect(terms).toMatchObject({ tone: 'Formal', objects: [{ target: 'carrito' }] });
  });

  it.each([
    ['translate_text', { text: 'The house.' }, /target_language: This field is required/],
    ['translate_text', { ...HOUSE, text: ' ' }, /^text: must not be empty/],
    ['translate_text', { ...HOUSE, target_language: 'tlh' }, /^target_language: "tlh" is not offered/],
    ['translate_text', { ...HOUSE, tone: 'Rude' }, /tone: "Rude" is not one of/],
    ['translate_file', { ...HOUSE, file_name: 'a.docx' }, /^file_name: must end with one of \.txt, /],
    ['translate_file', { ...HOUSE, file_name: 'a.constructor' }, /^file_name: must end/],
    ['translate_file', { ...HOUSE, file_name: 'a.srt' }, /^text: .*line 1/],
    ['order_translation', { ...HOUSE, price: 48, retranslate: true }, /^retranslate: is only for/],
    ['order_translation', { ...HOUSE, text: 'word '.repeat(500), price: 6000 }, /balance|pay|cost/i],
    ['get_job', { uid: 'nobody-has-this' }, /^uid: there is no job with this uid/],
    ['get_job', { uid: '..' }, /^uid: there is no job with this uid/],
    ['look_up_terms', { target_language: 'es', brand: 'none' }, /^brand: "none" is not one of shop/],
    ['search_memory', { q: 'x', after: 'x' }, /^after: /],
  ])('refuse a call of %s with an error that names the field: %j', async (name, given, error) => {
    expect(await use(client, name, given)).toMatch(error);
  });
});

/** Sends messages of the older version of the protocol, in which a client needs no handshake before its calls. */
function post(messages: unknown, accept = 'application/json, text/event-stream'): Promise<Response> {
  const authorization = `ApiKey ${account.production_key}`;
  const headers = { authorization, accept, 'content-type': 'application/json' };
  return fetch(`${server.url}/mcp`, { method: 'POST', headers, body: JSON.stringify(messages) });
}

function callOf(name: string, given: object, id = 1): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: given } };
}

describe('the route /mcp', () => {
  it('answers a repeated call with the same job, and creates another job for another uid', async () => {
    const client = await connect(overHttp(account.production_key));
    for (const name of ['order_translation', 'translate_text']) {
      const text = `${name} answers once.`;
      const price = name === 'order_translation' ? { price: 24 } : {};
      const { uid } = await use(client, name, { ...HOUSE, text, ...price });
      expect(uid).toEqual(expect.any(String));
      const { text: _, ...others } = HOUSE;
      expect((await use(client, name, { ...price, ...others, text })).uid).toBe(uid);
      const other = crypto.randomUUID();
      expect((await use(client, name, { ...HOUSE, text, ...price, uid: other })).uid).toBe(other);
    }
  });

  it('counts a call as a request in progress, and does not repeat a refused request of its tool', async () => {
    await server.restart({ DRAGOMAN_MAX_REQUESTS: '1' });
    try {
      const answer = await post(callOf('list_languages', {}));
      expect(await answer.text()).toContain('Too many requests are in progress. Try again.');
    } finally {
      await server.restart();
    }
  });

  it('refuses a body with a list of several protocol messages', async () => {
    const calls = [1, 2].map((id) => callOf('list_languages', {}, id));
    const refused = await post(calls);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual({ error: expect.stringMatching(/^body: /) });
    expect((await post(calls.slice(1))).status).toBe(200);
  });

  it('logs errors of the protocol without the request', async () => {
    const before = logged.length;
    const refused = await post(callOf('quote', { ...HOUSE, text: 'A private sentence.' }), 'text/plain');
    expect(refused.status).toBe(406);
    const lines = logged.slice(before).join('');
    expect(lines).toContain('the protocol of agents reported an error');
    expect(lines).not.toContain('private');
  });

  it('refuses keys of the other environment', async () => {
    for (const [path, key] of [
      ['/mcp', 'acme:wrong'],
      ['/mcp', account.sandbox_key],
      ['/sandbox/mcp', account.production_key],
    ] as const) {
      await expect(connect(overHttp(key, path))).rejects.toThrow();
    }
    const headers = { 'content-type': 'application/json' };
    const refused = await fetch(`${server.url}/mcp`, { method: 'POST', headers, body: '{}' });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'ApiKey']);
    const sandbox = await connect(overHttp(account.sandbox_key, '/sandbox/mcp'));
    const job = await use(sandbox, 'translate_text', HOUSE);
    expect(job.status).toBe('completed');
    const production = await connect(overHttp(account.production_key));
    expect(await use(production, 'get_job', { uid: job.uid })).toMatch(/^uid: /);
  });

  it('finds no jobs and no memory of other accounts', async () => {
    const stranger = await connect(overHttp((await server.createAccount()).production_key));
    const { uid } = (
      await createClient(server.url, account.production_key)('POST', '/tapi/v2/mt_translation/', HOUSE)
    ).body;
    expect(await use(stranger, 'get_job', { uid })).toMatch(/^uid: there is no job/);
    expect((await use(stranger, 'search_memory', { q: 'door' })).objects).toEqual([]);
  });

  it('applies the scopes and the read-only mark of the key to each tool', async () => {
    const owner = await createPerson(server, { role: 'customer', account });
    const withKey = async (fields: object) => {
      const wanted = { environment: 'production', name: 'agent', ...fields };
      return connect(overHttp((await owner.call('POST', '/api/account/keys', wanted)).body.key));
    };
    const reader = await withKey({ read_only: true });
    expect((await use(reader, 'search_memory', { q: 'door' })).objects).toHaveLength(1);
    expect(await use(reader, 'translate_text', HOUSE)).toBe('This key is read-only.');
    const chatter = await withKey({ scopes: ['chat'] });
    expect((await use(chatter, 'list_languages', {})).languages).not.toEqual([]);
    expect(await use(chatter, 'quote', HOUSE)).toBe('This key does not have the scope "machine".');
  });

  it('counts the calls of tools as requests of the key', async () => {
    const operator = await createPerson(server, { role: 'operator' });
    const { username, production_key } = await server.createAccount();
    const path = `/api/console/accounts/${username}`;
    const { version } = (await operator.call('GET', path)).body;
    await operator.call('PATCH', path, { version, key_requests: 1 });
    const client = await connect(overHttp(production_key));
    // If the limit is reached by the request to `/mcp`, the call throws. If it is reached by the request of the tool,
    // the call returns the error as text, which this test expects.
    const refused = await until(async () => {
      const calls = Array.from({ length: 12 }, () =>
        use(client, 'list_languages', {}).catch(() => undefined),
      );
      return (await Promise.all(calls)).find((answer) => typeof answer === 'string');
    });
    expect(refused).toMatch(/^This key has sent too many requests\./);
  });

  it('answers 405 to other methods than POST', async () => {
    const headers = { authorization: `ApiKey ${account.production_key}`, accept: 'text/event-stream' };
    const response = await fetch(`${server.url}/mcp`, { headers });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('answers a call that waits for a result when the server stops', async () => {
    const client = await connect(overHttp(account.sandbox_key, '/sandbox/mcp'));
    const waiting = use(client, 'translate_text', { ...HOUSE, text: '[sandbox:wait] The house is big.' });
    const call = createClient(`${server.url}/sandbox`, account.sandbox_key);
    const unfinished = '/tapi/v2/mt_translation/?status=translating';
    const uid = await until(async () => (await call('GET', unfinished)).body.objects[0]?.uid);
    await server.restart();
    expect(await waiting).toMatchObject({ uid, hint: expect.stringContaining('get_job') });
  });
});

/** Connects a client to tools that run in this process. */
async function connectInMemory(change: Partial<Dragoman>, options: Partial<AgentServerOptions>) {
  const dragoman = createDragoman({ baseUrl: server.url, key: account.sandbox_key, sandbox: true });
  const [own, other] = InMemoryTransport.createLinkedPair();
  const onError = (error: unknown) => {
    throw error;
  };
  await createAgentServer({ ...dragoman, ...change }, { onError, ...options }).connect(own);
  return connect(other, 'legacy');
}

it.each([
  ['if the translation takes too long', { waitMilliseconds: 0 }],
  ['at once if too many calls wait', { takeWait: () => undefined }],
])('a tool that waits for a translation answers with the uid of the job %s', async (reason, options) => {
  const client = await connectInMemory({}, options);
  const job = await use(client, 'translate_text', { ...HOUSE, text: `[sandbox:wait] It waits ${reason}.` });
  expect(job).toEqual({
    uid: expect.any(String),
    status: 'machine_translate_in_progress',
    hint: expect.stringContaining('get_job'),
  });
});

it('a call no longer counts as waiting after its result has arrived', async () => {
  const free = vi.fn();
  const client = await connectInMemory({}, { takeWait: () => free });
  expect((await use(client, 'translate_text', HOUSE)).status).toBe('completed');
  expect(free).toHaveBeenCalledOnce();
});

it('an unexpected error of a tool is reported, and the agent gets no details', async () => {
  const error = new TypeError('a detail');
  const onError = vi.fn();
  const client = await connectInMemory({ quote: () => Promise.reject(error) }, { onError });
  expect(await use(client, 'quote', HOUSE)).toBe('Internal error.');
  expect(onError).toHaveBeenCalledExactlyOnceWith(error, 'quote');
});

it.each([
  [{ DRAGOMAN_KEY: 'a:b' }, /^DRAGOMAN_URL must be the address of a server/],
  [{ DRAGOMAN_URL: 'here', DRAGOMAN_KEY: 'a:b' }, /^DRAGOMAN_URL must be/],
  [{ DRAGOMAN_URL: 'http://127.0.0.1:1' }, /^DRAGOMAN_KEY must be an API key/],
])('dragoman mcp refuses to start with %j', async (environment, sentence) => {
  const { serveAgent } = await import('../commands/mcp.ts');
  await expect(serveAgent(environment)).rejects.toThrow(sentence);
});
