/**
 * Tests of a job from its HTTP request through the database and the worker to the callback. The engine is a
 * fake.
 */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { createConnection } from '../database/connections.ts';
import {
  createClient,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';

let engine: FakeEngine;
let server: TestServer;
let receiver: Receiver;
let account: AccountCredentials;
let production: ReturnType<typeof createClient>;
let sandbox: ReturnType<typeof createClient>;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      return engine;
    },
    settings: { DRAGOMAN_SANDBOX_HOLD: '0' },
  });
  account = await server.createAccount({ balanceCents: 10_000 });
  production = createClient(server.url, account.production_key);
  sandbox = createClient(`${server.url}/sandbox`, account.sandbox_key);
});
afterEach(() => {
  engine.resume();
  engine.failOn(null);
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const job = (fields: object = {}) => ({
  text: 'The house is big.',
  source_language: 'en',
  target_language: 'es',
  ...fields,
});

async function finished(call: typeof production, path: string, uid: string) {
  return until(async () => {
    const { body } = await call('GET', `${path}${uid}/`);
    return ['completed', 'failed'].includes(body.status) && body;
  });
}

describe('POST /translation/', () => {
  it('answers 201 with the body that the specification shows, including optional fields of the request', async () => {
    const { status, body } = await production(
      'POST',
      HUMAN,
      job({ uid: 'envelope', tone: 'Formal', topics: ['tech'], callback_url: `${receiver.url}/unused` }),
    );
    expect(status).toBe(201);
    expect(body).toEqual({
      uid: 'envelope',
      text: 'The house is big.',
      order_number: expect.any(Number),
      price: 12,
      source_language: 'en',
      status: 'new',
      target_language: 'es',
      text_format: 'text',
      tone: 'Formal',
      topics: ['tech'],
      callback_url: `${receiver.url}/unused`,
      balance: 9988,
      client: account.username,
    });
  });

  it('returns the existing job for a retry even if the language pair is no longer offered', async () => {
    const first = await production('POST', HUMAN, job({ uid: 'closed' }));
    await withOwner((client) => client.query(`update pairs set source_language = 'x' || source_language`));
    await until(async () => (await production('POST', HUMAN, job())).status === 400);
    const again = await production('POST', HUMAN, job({ uid: 'closed' }));
    expect(again).toMatchObject({ status: 200, body: { order_number: first.body.order_number } });
    expect((await production('POST', HUMAN, job({ uid: 'closed', text: 'Other.' }))).status).toBe(400);
    await withOwner((client) =>
      client.query(`update pairs set source_language = substr(source_language, 2)`),
    );
    await until(async () => (await production('POST', HUMAN, job())).status === 201);
  });

  it('assigns a uid of ten hex digits when the request has none', async () => {
    const { body } = await production('POST', HUMAN, job());
    expect(body.uid).toMatch(/^[0-9a-f]{10}$/);
  });

  it('returns the same job for the same request with the same uid, and charges once', async () => {
    const first = await production('POST', HUMAN, job({ uid: 'again' }));
    const before = first.body.balance;
    const second = await production('POST', HUMAN, job({ uid: 'again', brand: null, topics: [] }));
    expect(second.status).toBe(200);
    expect(second.body).toMatchObject({
      uid: 'again',
      order_number: first.body.order_number,
      balance: before,
    });
  });

  it('refuses a different request with the same uid and leaves the job unchanged', async () => {
    await production('POST', HUMAN, job({ uid: 'clash' }));
    const clash = await production('POST', HUMAN, job({ uid: 'clash', text: 'Another text.' }));
    expect(clash).toMatchObject({ status: 400, body: { error: 'uid: already exists' } });
    expect((await production('GET', `${HUMAN}clash/`)).body.text).toBe('The house is big.');
  });

  it('creates one job for twenty simultaneous requests with one uid', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => production('POST', HUMAN, job({ uid: 'race' }))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => body.order_number)).size).toBe(1);
  });

  it('keeps uids separate for each account and environment', async () => {
    const other = await server.createAccount();
    const elsewhere = createClient(server.url, other.production_key);
    expect((await production('POST', HUMAN, job({ uid: 'shared' }))).status).toBe(201);
    expect((await elsewhere('POST', HUMAN, job({ uid: 'shared', text: 'Mine.' }))).status).toBe(201);
    expect((await sandbox('POST', HUMAN, job({ uid: 'shared', text: 'A trial.' }))).status).toBe(201);
  });

  it('leaves a human job in the status translating, with a draft, until an editor finishes it', async () => {
    await production('POST', HUMAN, job({ uid: 'waits' }));
    await waitForStatus(production, `${HUMAN}waits/`, 'translating');
    const { body } = await production('GET', `${HUMAN}waits/`);
    expect(body).not.toHaveProperty('translated_text');
  });

  it('returns the customer’s own target_text as the result in the sandbox', async () => {
    await sandbox('POST', HUMAN, job({ uid: 'own', target_text: 'La casa es grande.' }));
    expect((await finished(sandbox, HUMAN, 'own')).translated_text).toBe('La casa es grande.');
  });

  it.each([
    ['no text', { text: undefined }, 'text: This field is required.'],
    ['a null text', { text: null }, 'text: This field is required.'],
    ['an empty text', { text: '' }, 'text: must not be empty.'],
    ['a blank text', { text: ' \n\t' }, 'text: must not be empty.'],
    ['a number for a text', { text: 5 }, 'text: must be a string.'],
    [
      'a NUL',
      { text: 'a\0b' },
      'text: must not contain NUL characters, noncharacters such as U+FFFF, or half surrogate pairs.',
    ],
    [
      'half a surrogate pair',
      { text: 'a\ud800b' },
      'text: must not contain NUL characters, noncharacters such as U+FFFF, or half surrogate pairs.',
    ],
    ['no target language', { target_language: null }, 'target_language: This field is required.'],
    [
      'a target language that is not offered',
      { target_language: 'tlh' },
      'target_language: "tlh" is not offered; offered are en, es.',
    ],
    [
      'a source language that is not offered',
      { source_language: 'de' },
      'source_language: "de" into es is not offered; offered into es are en.',
    ],
    [
      'an unknown format',
      { text_format: 'docx' },
      'text_format: "docx" is not one of text, html, srt, xliff, vtt.',
    ],
    ['an unknown tone', { tone: 'Rude' }, 'tone: "Rude" is not one of Informal, Formal.'],
    ['topics that are no list', { topics: 'tech' }, 'topics: must be a list of strings.'],
    ['an unknown brand', { brand: 'acme' }, 'brand: is not known; the account has no brands.'],
    [
      'a uid with a space',
      { uid: 'a b' },
      'uid: must be 1 to 128 of A-Z a-z 0-9 . _ ~ : @ + - and neither "." nor "..".',
    ],
    [
      'a uid that is too long',
      { uid: 'u'.repeat(129) },
      'uid: must be 1 to 128 of A-Z a-z 0-9 . _ ~ : @ + - and neither "." nor "..".',
    ],
    [
      'instructions that are too long',
      { instructions: 'x'.repeat(10_001) },
      'instructions: must be at most 10000 characters.',
    ],
  ])('refuses %s with 400 and names the field', async (_, fields, error) => {
    expect(await production('POST', HUMAN, job(fields))).toMatchObject({ status: 400, body: { error } });
  });

  it('lists every invalid field on its own line of the error', async () => {
    const { body } = await production('POST', HUMAN, {});
    expect(body.error.split('\n')).toEqual([
      'text: This field is required.',
      'target_language: This field is required.',
    ]);
  });

  it('lists also the fields that name nothing on lines of their own, for a create, an object of a bulk and a quote', async () => {
    const named = { callback_url: 'http://10.0.0.1/', brand: 'acme', target_language: 'xx' };
    const lines = async (path: string, body: object, method = 'POST') => {
      const answer = await production(method, path, body);
      expect(answer.status, answer.text).toBe(400);
      return answer.body.error.split('\n').map((line: string) => line.slice(0, line.indexOf(':')));
    };
    const names = Object.keys(named);
    const unreadable = { ...named, text: '', tone: 'Rude', uid: 'a b', topics: ['none'] };
    for (const path of [HUMAN, MACHINE, '/api/v1/quote/']) {
      expect(await lines(path, job(named)), path).toEqual(names);
      expect((await lines(path, job({ ...named, text: '', uid: 'a b' }))).sort(), path).toEqual(
        [...names, 'text', 'uid'].sort(),
      );
    }
    expect((await lines(HUMAN, job(unreadable))).sort()).toEqual(Object.keys(unreadable).sort());
    const bulk = { objects: [job(), job(named)] };
    expect(await lines(HUMAN, bulk, 'PATCH')).toEqual(names.map((name) => `objects[1].${name}`));
  });

  it.each([
    ['ftp://example.com/'],
    ['http://user:secret@example.com/'],
    ['http://10.0.0.1/'],
    ['not an address'],
  ])('refuses the forbidden callback URL %s at creation', async (callback_url) => {
    const { status, body } = await production('POST', HUMAN, job({ callback_url }));
    expect(status).toBe(400);
    expect(body.error).toMatch(/^callback_url: /);
  });

  it('ignores unknown fields and treats null as absent', async () => {
    const careless = job({
      tone: null,
      topics: null,
      brand: null,
      callback_url: null,
      uid: null,
      color: 'blue',
    });
    const { status, body } = await production('POST', HUMAN, careless);
    expect(status).toBe(201);
    expect(body).not.toHaveProperty('tone');
    expect(body).not.toHaveProperty('callback_url');
  });

  it('accepts formality as the older name of tone', async () => {
    const { body } = await production('POST', HUMAN, job({ formality: 'Informal' }));
    expect(body.tone).toBe('Informal');
  });

  const types = 'text/plain foo ;; a/b/c application/x-www-form-urlencoded multipart/form-data;boundary=x';
  it.each(types.split(' '))('parses the body as JSON with the content type %j', async (type) => {
    const headers = { 'content-type': type };
    expect((await production('POST', HUMAN, JSON.stringify(job()), headers)).status).toBe(201);
  });

  it('refuses a body that is not JSON, not an object, or not UTF-8', async () => {
    expect((await production('POST', HUMAN, '{')).body.error).toBe('body: must be valid JSON in UTF-8.');
    expect((await production('POST', HUMAN, '[]')).body.error).toBe('body: must be a JSON object.');
    const latin1 = await fetch(`${server.url}${HUMAN}`, {
      method: 'POST',
      headers: { authorization: `ApiKey ${account.production_key}` },
      body: Buffer.from('{"text":"\xe9"}', 'latin1'),
    });
    expect(latin1.status).toBe(400);
  });

  it('detects the source language when the request names none', async () => {
    const text = 'The committee has decided that the meeting will be held on the second Monday of the month.';
    const { status, body } = await production('POST', HUMAN, job({ text, source_language: null }));
    expect(status).toBe(201);
    expect(body.source_language).toBe('en');
  });
});

describe('POST /mt_translation/', () => {
  it('answers with the body of a machine job, completes the job, and sends one callback', async () => {
    const callback = `${receiver.url}/machine`;
    const { status, body } = await production('POST', MACHINE, job({ uid: 'mt', callback_url: callback }));
    expect(status).toBe(201);
    expect(body).toEqual({
      origin: 'api',
      source_language: 'en',
      status: 'machine_translate_in_progress',
      target_language: 'es',
      text: 'The house is big.',
      text_format: 'text',
      uid: 'mt',
      callback_url: callback,
    });
    const delivered = await receiver.next(({ path }) => path === '/machine');
    expect(delivered.headers['content-type']).toBe('application/json');
    expect(delivered.headers['webhook-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(delivered.body)).toEqual({
      order_number: expect.any(Number),
      price: 0,
      source_language: 'en',
      status: 'completed',
      target_language: 'es',
      text: 'The house is big.',
      text_format: 'text',
      uid: 'mt',
      translated_text: 'THE HOUSE IS BIG.',
    });
    expect((await production('GET', `${MACHINE}mt/`)).body.translated_text).toBe('THE HOUSE IS BIG.');
  });

  it('ignores target_text on a machine job', async () => {
    await production('POST', MACHINE, job({ uid: 'mt-own', target_text: 'Nope.' }));
    expect((await finished(production, MACHINE, 'mt-own')).translated_text).toBe('THE HOUSE IS BIG.');
  });

  it('creates a job that cannot be read at the path of human jobs', async () => {
    await production('POST', MACHINE, job({ uid: 'tier' }));
    expect((await production('GET', `${HUMAN}tier/`)).status).toBe(404);
  });
});

describe('the sandbox', () => {
  it('completes a human job by machine translation and captures its price', async () => {
    const { body } = await sandbox(
      'POST',
      HUMAN,
      job({ uid: 'trial', callback_url: `${receiver.url}/trial` }),
    );
    expect(body).toEqual({
      uid: 'trial',
      text: 'The house is big.',
      order_number: expect.any(Number),
      price: 12,
      source_language: 'en',
      status: 'new',
      target_language: 'es',
      text_format: 'text',
      callback_url: `${receiver.url}/trial`,
      balance: expect.any(Number),
      client: account.username,
    });
    await receiver.next(({ path }) => path === '/trial');
    const read = await sandbox('GET', `${HUMAN}trial/`);
    expect(read.body).toEqual({
      balance: expect.any(Number),
      client: account.username,
      price: 12,
      source_language: 'en',
      status: 'completed',
      target_language: 'es',
      text: 'The house is big.',
      text_format: 'text',
      translated_text: 'THE HOUSE IS BIG.',
      uid: 'trial',
    });
  });

  it('omits balance and client when a machine job is created and shows them when it is read, as in production', async () => {
    const { status, body } = await sandbox('POST', MACHINE, job({ uid: 'trial-mt' }));
    expect(status).toBe(201);
    expect(body).toEqual({
      origin: 'api',
      source_language: 'en',
      status: 'machine_translate_in_progress',
      target_language: 'es',
      text: 'The house is big.',
      text_format: 'text',
      uid: 'trial-mt',
    });
    const read = await sandbox('GET', `${MACHINE}trial-mt/`);
    expect(read.body).toMatchObject({ balance: expect.any(Number), client: account.username });
  });

  it('shows no result and sends no callback before the delivery delay has passed', async () => {
    await server.restart({ DRAGOMAN_SANDBOX_HOLD: '2' });
    sandbox = createClient(`${server.url}/sandbox`, account.sandbox_key);
    production = createClient(server.url, account.production_key);
    const asked = Date.now();
    await sandbox('POST', HUMAN, job({ uid: 'held', callback_url: `${receiver.url}/held` }));
    // Checks only responses from before the end of the delivery delay. On a slow machine the draft may be
    // ready later.
    const early: object[] = [];
    await until(async () => {
      const { body } = await sandbox('GET', `${HUMAN}held/`);
      if (Date.now() - asked >= 2000) return true;
      early.push(body);
      return body.status === 'translating';
    });
    for (const body of early) expect(body).not.toHaveProperty('translated_text');
    const delivered = await receiver.next(({ path }) => path === '/held');
    expect(delivered.at - asked).toBeGreaterThanOrEqual(2000);
    expect((await sandbox('GET', `${HUMAN}held/`)).body.status).toBe('completed');
  });
});

describe('reading jobs', () => {
  it('omits the result until the job is completed, and shows balance and client', async () => {
    engine.stall();
    // The text differs from earlier jobs, because a pending engine request for the same text would be shared.
    await production('POST', MACHINE, job({ uid: 'slow', text: 'The house is slow.' }));
    const { body } = await production('GET', `${MACHINE}slow/`);
    expect(body).toEqual({
      balance: expect.any(Number),
      client: account.username,
      price: 0,
      source_language: 'en',
      status: 'machine_translate_in_progress',
      target_language: 'es',
      text: 'The house is slow.',
      text_format: 'text',
      uid: 'slow',
    });
  });

  it('answers an unknown uid and a uid of another account identically', async () => {
    await production('POST', HUMAN, job({ uid: 'mine' }));
    const stranger = createClient(server.url, (await server.createAccount()).production_key);
    const foreign = await stranger('GET', `${HUMAN}mine/`);
    const unknown = await stranger('GET', `${HUMAN}nobody/`);
    expect(foreign.status).toBe(404);
    expect(foreign.text).toBe(unknown.text);
  });

  it('accepts a percent-encoded uid in the path', async () => {
    await production('POST', HUMAN, job({ uid: 'a:b@c+d~e' }));
    expect((await production('GET', `${HUMAN}${encodeURIComponent('a:b@c+d~e')}/`)).body.uid).toBe(
      'a:b@c+d~e',
    );
  });

  it('lists jobs oldest first, in pages that link to each other', async () => {
    const lister = createClient(server.url, (await server.createAccount()).production_key);
    for (const uid of ['one', 'two', 'three']) await lister('POST', HUMAN, job({ uid }));
    const first = await lister('GET', `${HUMAN}?limit=2&status=&color=blue`.replace('status=&', ''));
    expect(first.body.meta).toEqual({
      limit: 2,
      offset: 0,
      next: `${HUMAN}?limit=2&color=blue&offset=2`,
      previous: null,
      total_count: 3,
    });
    expect(first.body.objects.map((one: { uid: string }) => one.uid)).toEqual(['one', 'two']);
    expect(Object.keys(first.body.objects[0]).sort()).toEqual(
      ['order_number', 'price', 'source_language', 'status', 'target_language', 'text_format', 'uid'].sort(),
    );
    const second = await lister('GET', first.body.meta.next);
    expect(second.body.objects.map((one: { uid: string }) => one.uid)).toEqual(['three']);
    expect(second.body.meta).toMatchObject({ next: null, previous: `${HUMAN}?limit=2&color=blue&offset=0` });
  });

  it('filters by status, language and uid, and refuses an unknown status', async () => {
    const lister = createClient(server.url, (await server.createAccount()).production_key);
    await lister('POST', MACHINE, job({ uid: 'en' }));
    await lister('POST', MACHINE, job({ uid: 'es', source_language: 'es', target_language: 'en' }));
    await finished(lister, MACHINE, 'en');
    await finished(lister, MACHINE, 'es');
    const uids = async (query: string) =>
      (await lister('GET', `${MACHINE}?${query}`)).body.objects.map((one: { uid: string }) => one.uid);
    expect(await uids('source_language=es')).toEqual(['es']);
    expect(await uids('uid=en')).toEqual(['en']);
    expect(await uids('status=completed')).toEqual(['en', 'es']);
    expect(await uids('status=failed')).toEqual([]);
    const refused = await lister('GET', `${MACHINE}?status=done`);
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatch(/^status: "done" is not one of new, /);
  });

  it.each(['limit=1001', 'limit=-1', 'limit=x', 'offset=-1', 'offset=1.5'])(
    'refuses the invalid page parameter %s',
    async (query) => {
      expect((await production('GET', `${HUMAN}?${query}`)).status).toBe(400);
    },
  );
});

describe('requests to the API', () => {
  const bare = (authorization: string | undefined, path = HUMAN) =>
    fetch(`${server.url}${path}`, { headers: authorization === undefined ? {} : { authorization } });

  it('get the same 401 for every kind of wrong credentials', async () => {
    const [user, key] = account.production_key.split(':') as [string, string];
    const wrong = [
      undefined,
      'ApiKey',
      'ApiKey nobody',
      `ApiKey nobody:${key}`,
      `ApiKey ${user}:${key.slice(0, -1)}x`,
      `ApiKey ${user}:dgm_live_00000000${'a'.repeat(43)}`,
      `Bearer ${user}:${key}`,
      `ApiKey ${account.sandbox_key}`,
      `ApiKey ${' '.repeat(300)}${account.production_key}`,
      `ApiKey${account.production_key}`,
      `ApiKey ${user}:${key}${'a'.repeat(300)}`,
    ];
    for (const authorization of wrong) {
      const response = await bare(authorization);
      expect(response.status, authorization).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('ApiKey');
      expect(await response.json()).toEqual({ error: 'Unauthorized' });
    }
    expect((await bare(`ApiKey ${account.production_key}`, `/sandbox${HUMAN}`)).status).toBe(401);
  });

  it('may write the scheme ApiKey in any letter case', async () => {
    expect((await bare(`apikey ${account.production_key}`)).status).toBe(200);
    expect((await bare(`APIKEY  ${account.production_key}`)).status).toBe(200);
    expect((await bare(`ApiKey ${' '.repeat(50)}${account.production_key}`)).status).toBe(200);
  });

  it('may have a path without its trailing slash or with double slashes, and are not redirected', async () => {
    const posted = await production('POST', '/tapi/v2/translation', job({ uid: 'slashless' }));
    expect(posted.status).toBe(201);
    expect((await production('GET', '//tapi//v2/translation/slashless')).status).toBe(200);
  });

  it('get 405 with Allow for other methods and 404 for unknown paths', async () => {
    const put = await production('PUT', HUMAN, job());
    expect(put.status).toBe(405);
    expect(put.headers.get('allow')).toContain('POST');
    expect((await production('GET', '/tapi/v2/nothing/')).status).toBe(404);
  });

  it("get errors in the API's format for malformed paths and parameters", async () => {
    const authorization = `ApiKey ${account.production_key}`;
    const get = async (path: string) => {
      const response = await fetch(`${server.url}${path}`, { headers: { authorization } });
      return { status: response.status, body: (await response.json()) as { objects?: unknown[] } };
    };
    expect(await get(`${HUMAN}%ZZ/`)).toEqual({
      status: 400,
      body: { error: 'path: is not a valid URL.' },
    });
    expect(await get(`${HUMAN}%00/`)).toEqual({ status: 404, body: { error: 'Not found' } });
    expect(await get(`${HUMAN}${'u'.repeat(600)}/`)).toEqual({ status: 404, body: { error: 'Not found' } });
    expect(await get(`${HUMAN}?uid=%00`)).toEqual({
      status: 400,
      body: {
        error: 'uid: must not contain NUL characters, noncharacters such as U+FFFF, or half surrogate pairs.',
      },
    });
    expect((await get(`${HUMAN}?uid=envelope?x`)).body.objects).toEqual([]);
  });

  it('get 413 for a text above 10 MiB', async () => {
    const { status, body } = await production(
      'POST',
      HUMAN,
      job({ text: 'word '.repeat(2 * 1024 * 1024 + 1) }),
    );
    expect(status).toBe(413);
    expect(body.error).toMatch(/^text: must be at most 10485760 bytes/);
  });
});

describe('a machine job that the engine cannot translate', () => {
  it('fails after its last attempt, releases its hold and sends a callback with the failure', async () => {
    engine.failOn('poison');
    await sandbox(
      'POST',
      HUMAN,
      job({ uid: 'bad', text: 'A poison pill.', callback_url: `${receiver.url}/bad` }),
    );
    const { balance: before, price } = (await sandbox('GET', `${HUMAN}bad/`)).body;
    // The pauses between attempts are 5, 10, 20 and 40 s. The test moves `due_at` instead of waiting.
    const { rows } = await hurry('bad');
    expect(rows).toBeGreaterThan(0);
    const delivered = await receiver.next(({ path }) => path === '/bad');
    expect(JSON.parse(delivered.body)).toMatchObject({
      uid: 'bad',
      status: 'failed',
      price: 0,
      failure: expect.any(String),
    });
    expect(JSON.parse(delivered.body)).not.toHaveProperty('translated_text');
    const { body } = await sandbox('GET', `${HUMAN}bad/`);
    expect(body).toMatchObject({ status: 'failed', price: 0, balance: before + price });
    expect(body.failure).toBe(JSON.parse(delivered.body).failure);
  });
});

/** Runs statements as the owner of the database schema. */
async function withOwner(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = createConnection(server.connection);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** Makes the postponed attempts of a job due at once until the job is completed or failed. */
async function hurry(uid: string): Promise<{ rows: number }> {
  let rows = 0;
  await withOwner((client) =>
    until(async () => {
      const moved = await client.query(
        'update jobs set due_at = now() where uid = $1 and lease_token is null and due_at > now()',
        [uid],
      );
      rows += Number(moved.rowCount);
      const { rows: ended } = await client.query(`select from jobs where uid = $1 and status = 'failed'`, [
        uid,
      ]);
      return ended.length > 0;
    }),
  );
  return { rows };
}
