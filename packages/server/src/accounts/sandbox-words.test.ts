/** Tests the limits of the sandbox: the daily number of words, and the engines that it may use. */
import {
  createAzure,
  createDeepL,
  createGoogle,
  createLanguageModel,
  createLibreTranslate,
} from '@dragoman/engines';
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import type { Caller } from '../base/account.ts';
import { ApiError } from '../base/errors.ts';
import { createPool } from '../database/connections.ts';
import { CommitUnknown } from '../database/database.ts';
import { ENGINE_NAMES, REMOTE_ENGINES } from '../settings/engine-names.ts';
import { createClient, createPerson, startTestServer, type TestServer, until } from '../testing/harness.ts';
import type { AccountCredentials } from './accounts.ts';
import { createSandboxQuota } from './sandbox-words.ts';

const QUOTA = 12;
const FOUR_WORDS = { text: 'The house is big.', source_language: 'en', target_language: 'es' };
const MACHINE = '/tapi/v2/mt_translation/';

let server: TestServer;
let owner: pg.Pool;
let deepl: FakeEngine;
let account: AccountCredentials;
let sandbox: ReturnType<typeof createClient>;
let production: ReturnType<typeof createClient>;

/** Creates a fake engine named `deepl`, the only engine with French. */
function createPaid(): FakeEngine {
  deepl = Object.assign(createFake({ directions: ['en>es', 'en>fr'] }), { name: 'deepl' });
  return deepl;
}

beforeAll(async () => {
  server = await startTestServer({
    engines: () => [createPaid(), createFake({ directions: ['en>es'] })],
    settings: { DRAGOMAN_SANDBOX_WORDS: String(QUOTA) },
  });
  owner = createPool(server.connection);
  // Waits for the second engine, because the server is ready as soon as one engine has published its language
  // pairs.
  const any = createClient(`${server.url}/sandbox`, (await server.createAccount()).sandbox_key);
  await until(async () => (await any('GET', '/tapi/v2/language_pair/')).text.includes('"es"'));
});
afterAll(async () => {
  await owner.end();
  await server.stop();
});
beforeEach(async () => {
  account = await server.createAccount({ balanceCents: 100_000, chat: true });
  sandbox = createClient(`${server.url}/sandbox`, account.sandbox_key);
  production = createClient(server.url, account.production_key);
});

const create = (fields = {}, headers = {}) => sandbox('POST', MACHINE, { ...FOUR_WORDS, ...fields }, headers);
const statusesOf = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).toSorted();
const used = async () =>
  (
    await owner.query(
      `select coalesce(sum(words), 0)::int as words from sandbox_words join accounts using (part, account_id)
        where username = $1`,
      [account.username],
    )
  ).rows[0].words;

describe('the daily quota of the sandbox', () => {
  it('refuses further words with the time of the next reset, and does not apply to production', async () => {
    for (const uid of ['a', 'b', 'c']) expect((await create({ uid })).status).toBe(201);
    const refused = await create({ uid: 'd' });
    expect(refused.status).toBe(429);
    expect(refused.body.error).toMatch(/is 12 words, and 4 more .* resets at \d{4}-.*T00:00:00\.000Z/);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(86_400);
    expect((await sandbox('GET', `${MACHINE}d/`)).status).toBe(404);
    expect((await production('POST', MACHINE, FOUR_WORDS)).status).toBe(201);
  });

  it('is not exceeded by concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create()));
    expect(statusesOf(answers)).toEqual([...Array(3).fill(201), ...Array(17).fill(429)]);
    expect(await used()).toBe(12);
  });

  it('counts new jobs only, and existing jobs are still returned when the quota is used up', async () => {
    const keyed = { 'idempotency-key': 'again' };
    expect(statusesOf([await create({ uid: 'a' }), await create({ uid: 'a' })])).toEqual([200, 201]);
    expect((await create({ uid: 'a', text: 'Another text.' })).status).toBe(400);
    expect(await used()).toBe(4);
    const four = [1, 2].map(() => ({ ...FOUR_WORDS }));
    const bulk = () => sandbox('PATCH', '/tapi/v2/translation/', { objects: four }, keyed);
    const made = await bulk();
    expect(made.status).toBe(202);
    expect(await used()).toBe(12);
    const uidsOf = ({ body }: typeof made) => body.objects.map(({ uid }: { uid: string }) => uid);
    expect(uidsOf(await bulk())).toEqual(uidsOf(made));
    expect((await create({ uid: 'a' })).status).toBe(200);
    expect((await create({ uid: 'b' })).status).toBe(429);
    expect(await used()).toBe(12);
  });

  it('counts only the new jobs of a repeated bulk request', async () => {
    const objects = ['one', 'two'].map((uid) => ({ ...FOUR_WORDS, uid }));
    const bulk = (more: object[] = []) =>
      sandbox('PATCH', '/tapi/v2/translation/', { objects: [...objects, ...more] });
    expect((await bulk()).status).toBe(202);
    expect(await used()).toBe(8);
    const again = await bulk();
    expect([again.status, again.body.objects.length]).toEqual([202, 2]);
    expect((await bulk([{ ...FOUR_WORDS, uid: 'three' }])).status).toBe(202);
    expect(await used()).toBe(QUOTA);
    expect((await bulk([{ ...FOUR_WORDS, uid: 'four' }])).status).toBe(429);
    const large = Array.from({ length: 4 }, () => FOUR_WORDS);
    const refused = await sandbox('PATCH', '/tapi/v2/translation/', { objects: large });
    expect([refused.status, refused.body.error]).toEqual([
      413,
      expect.stringMatching(/^objects: counts as 16/),
    ]);
  });

  it('counts the words of chat messages', async () => {
    const message = (id: string) => ({
      chat_external_id: 'c',
      external_id: id,
      text_format: 'text',
      ...FOUR_WORDS,
    });
    const send = (id: string) => sandbox('POST', '/v2/chats/messages', message(id));
    for (const id of ['1', '2', '3']) expect((await send(id)).status).toBe(201);
    const refused = await send('4');
    expect([refused.status, refused.body.error]).toEqual([429, expect.stringContaining('is 12 words')]);
    expect((await send('1')).status).toBe(200);
    expect((await create()).status).toBe(429);
  });

  it('answers 413 to a text that exceeds the whole quota, and counts long words by their length', async () => {
    const tooLong = await create({ text: `${'x'.repeat(50 * QUOTA)}y` });
    expect([tooLong.status, tooLong.body.error]).toEqual([
      413,
      expect.stringMatching(/^text: counts as 13 words/),
    ]);
    expect((await create({ text: 'x'.repeat(50 * QUOTA) })).status).toBe(201);
    expect((await create({ text: 'House.' })).status).toBe(429);
  });

  it('gets the words back when a creation fails, but not when it is unknown whether the creation was committed', async () => {
    const { ref } = await accountNamed(server.database, account.username);
    const observed: number[] = [];
    const observer = { used: (words: number) => void observed.push(words), refused: () => {} };
    const quota = createSandboxQuota(server.database, { sandboxWords: QUOTA }, observer);
    const caller = { account: ref, environment: 'sandbox' } as Caller;
    const fail = (error: Error) =>
      quota.within(
        caller,
        { words: 4, field: 'text' },
        () => Promise.reject(error),
        () => 4,
      );
    await expect(fail(new ApiError('insufficient_balance', 'No.'))).rejects.toThrow('No.');
    expect(await used()).toBe(0);
    await expect(fail(Object.assign(new Error('locked'), { code: '55P03' }))).rejects.toThrow('locked');
    expect(await used()).toBe(0);
    await expect(fail(new CommitUnknown('lost'))).rejects.toThrow('lost');
    expect(await used()).toBe(4);
    expect(observed).toEqual([0, 0, 4]);
  });

  it('starts again the next day', async () => {
    expect((await create({ text: 'x'.repeat(50 * QUOTA) })).status).toBe(201);
    expect((await create()).status).toBe(429);
    await owner.query('update sandbox_words set day = day - 1');
    expect((await create()).status).toBe(201);
    expect(await used()).toBe(4);
  });

  it('is shown on the customer’s account page', async () => {
    const person = await createPerson(server, { role: 'customer', account });
    expect((await create()).status).toBe(201);
    expect((await person.call('GET', '/api/account')).body.sandbox_words).toEqual({
      used: 4,
      limit: QUOTA,
      resets_at: expect.stringMatching(/T00:00:00\.000Z$/),
    });
  });
});

describe('remote engines', () => {
  it('get no texts of the sandbox, and the sandbox does not offer their language pairs', async () => {
    const text = 'A word for nobody else.';
    const before = deepl.requests.length;
    expect((await create({ uid: 'own', text })).status).toBe(201);
    const done = await until(async () => (await sandbox('GET', `${MACHINE}own/`)).body.translated_text);
    expect(done).toBe(text.toUpperCase());
    expect(deepl.requests).toHaveLength(before);
    await until(async () => (await production('GET', '/tapi/v2/language_pair/')).text.includes('"fr"'));
    expect((await sandbox('GET', '/tapi/v2/language_pair/')).text).not.toContain('"fr"');
    const french = await create({ text, target_language: 'fr' });
    expect([french.status, french.body.error]).toEqual([400, expect.stringContaining('"fr" is not offered')]);
    await production('POST', MACHINE, { ...FOUR_WORDS, uid: 'paid' });
    await until(async () => (await production('GET', `${MACHINE}paid/`)).body.translated_text);
    expect(deepl.requests.length).toBeGreaterThan(before);
  });

  it('get texts of the sandbox when the operator allows the engine', async () => {
    await server.restart({ DRAGOMAN_SANDBOX_ENGINES: 'deepl' });
    try {
      const there = createClient(`${server.url}/sandbox`, (await server.createAccount()).sandbox_key);
      await until(async () => (await there('GET', '/tapi/v2/language_pair/')).text.includes('"fr"'));
      await there('POST', MACHINE, { ...FOUR_WORDS, uid: 'a', target_language: 'fr' });
      await until(async () => (await there('GET', `${MACHINE}a/`)).body.translated_text);
      expect(deepl.requests.length).toBeGreaterThan(0);
    } finally {
      await server.restart();
    }
  });

  it('are all named in REMOTE_ENGINES', () => {
    const remote = [
      createAzure({ name: 'azure', baseUrl: 'http://127.0.0.1:9', key: 'k' }),
      createDeepL({ name: 'deepl', baseUrl: 'http://127.0.0.1:9', key: 'k' }),
      createGoogle({ name: 'google', baseUrl: 'http://127.0.0.1:9', key: 'k' }),
      createLanguageModel({ name: 'llm', baseUrl: 'http://127.0.0.1:9', model: 'm', directions: ['en>es'] }),
      createLibreTranslate({ name: 'libretranslate', baseUrl: 'http://127.0.0.1:9' }),
    ];
    expect(remote.every(({ capabilities }) => capabilities.remote)).toBe(true);
    expect(remote.map(({ name }) => name).toSorted()).toEqual([...REMOTE_ENGINES].toSorted());
    const local = ENGINE_NAMES.filter((name) => !REMOTE_ENGINES.includes(name));
    expect(local).toEqual(['apertium', 'bergamot']);
  });
});
