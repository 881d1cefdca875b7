/** Tests listing, publishing, enabling and disabling language pairs on a running server. */
import { createFake } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool } from '../database/connections.ts';
import {
  type Answer,
  createClient,
  startTestServer,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';
import {
  listPublishedPairs,
  type OfferedPair,
  publishPairs,
  switchPair,
  withdrawPairs,
} from './languages.ts';

const PAIRS = '/tapi/v2/language_pair/';
let server: TestServer;
let call: ReturnType<typeof createClient>;
let sandbox: ReturnType<typeof createClient>;
let owner: pg.Pool;

/** Creates an engine that offers the language pairs `pairs`. */
const engineOf = (name: string, pairs: [string, string][]) => ({
  name,
  // The version is different each time, so that every publishing tests the engine.
  version: async () => `${Math.random()}`,
  directions: async () => pairs.map(([from, to]) => ({ from, to, route: `${name}:${from}-${to}`, hops: 1 })),
});

beforeAll(async () => {
  server = await startTestServer({ engine: () => createFake() });
  owner = createPool(server.connection);
  const { production_key, sandbox_key } = await server.createAccount();
  call = createClient(server.url, production_key);
  sandbox = createClient(`${server.url}/sandbox`, sandbox_key);
});
afterAll(async () => {
  await owner.end();
  await server.stop();
});

const change = (from: string, to: string, enabled: boolean) =>
  server.database.transaction((transaction) => switchPair(transaction, 'command', from, to, enabled));

const namesOf = ({ body }: Answer) =>
  body.objects.map(
    ({ lang_pair: { source_language: from, target_language: to } }: OfferedPair) =>
      `${from.shortname} ${to.shortname}`,
  );
/**
 * Waits until the list contains the pair, or no longer contains it. Servers cache the list for two seconds.
 */
const lists = (pair: string, listed: boolean) =>
  until(async () => namesOf(await call('GET', PAIRS)).includes(pair) === listed);

it('the list of language pairs contains each pair once, sorted, with English names, in both environments', async () => {
  const [one, two] = [
    engineOf('one', [['nb', 'pt-br']]),
    engineOf('two', [
      ['nb', 'pt-br'],
      ['en', 'zh-hant'],
    ]),
  ];
  await publishPairs(server.database, one);
  await publishPairs(server.database, two);
  await lists('nb pt-br', true);
  await lists('en zh-hant', true);
  const answer = await call('GET', PAIRS);
  expect(answer.status).toBe(200);
  const names = namesOf(answer);
  expect(names).toEqual([...new Set(names)].sort());
  const found = answer.body.objects.filter(
    (one: OfferedPair) => one.lang_pair.source_language.shortname === 'nb',
  );
  expect(found).toEqual([
    {
      lang_pair: {
        source_language: { name: 'Norwegian Bokmål', shortname: 'nb' },
        target_language: { name: 'Portuguese (Brazil)', shortname: 'pt-br' },
      },
    },
  ]);
  expect(answer.text).toContain('"Chinese (Traditional)"');
  expect((await sandbox('GET', PAIRS)).text).toBe(answer.text);
  expect((await call('POST', PAIRS, {})).status).toBe(405);
  expect((await createClient(server.url, 'nobody:x')('GET', PAIRS)).status).toBe(401);
});

it('a disabled language pair is not offered for new jobs, even after a worker publishes it again', async () => {
  const job = { text: 'The house.', source_language: 'en', target_language: 'es' };
  expect((await call('POST', '/tapi/v2/mt_translation/', { ...job, uid: 'before' })).status).toBe(201);
  await change('en', 'es', false);
  await lists('en es', false);
  await publishPairs(server.database, engineOf('three', [['en', 'es']]));
  await publishPairs(
    server.database,
    engineOf('three', [
      ['xx', 'yy'],
      ['en', 'es'],
    ]),
  );
  await lists('xx yy', true);
  expect(namesOf(await call('GET', PAIRS))).not.toContain('en es');
  const refused = await call('POST', '/tapi/v2/mt_translation/', { ...job, uid: 'after' });
  expect(refused).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(/^(source|target)_language: .* is not offered; /) },
  });
  const kept = (await listPublishedPairs(server.database)).find(
    (pair) => pair.source_language === 'en' && pair.target_language === 'es',
  );
  expect(kept).toMatchObject({ enabled: false, engines: [{ engine: 'fake' }, { engine: 'three' }] });
  // A job that was created before the pair was disabled is still completed.
  await waitForStatus(call, '/tapi/v2/mt_translation/before/');

  await change('en', 'es', true);
  await lists('en es', true);
  expect((await call('POST', '/tapi/v2/mt_translation/', { ...job, uid: 'after' })).status).toBe(201);
});

it('a server stays ready when all its language pairs are disabled', async () => {
  for (const pair of await listPublishedPairs(server.database)) {
    await change(pair.source_language, pair.target_language, false);
  }
  await until(async () => namesOf(await call('GET', PAIRS)).length === 0);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
});

describe('a published pair', () => {
  /** Sets the time since all pairs were last published. */
  const age = (interval: string) =>
    owner.query(`update pairs set seen_at = now() - $1::interval`, [interval]);
  const enginesOf = async (from: string, to: string) =>
    (await listPublishedPairs(server.database))
      .filter((pair) => pair.source_language === from && pair.target_language === to)
      .flatMap(({ engines }) => engines.map(({ engine }) => engine));
  const tested = (name: string) => ({ ...engineOf(name, [['aa', 'bb']]), version: async () => '1' });

  it('stays in the list as long as any worker publishes it', async () => {
    await publishPairs(server.database, tested('mine'));
    await publishPairs(server.database, tested('theirs'));
    await age('29 minutes');
    await withdrawPairs(server.database);
    expect(await enginesOf('aa', 'bb')).toEqual(['mine', 'theirs']);
    await age('31 minutes');
    expect(await publishPairs(server.database, tested('theirs'))).toBe(false);
    await withdrawPairs(server.database);
    expect(await enginesOf('aa', 'bb')).toEqual(['theirs']);
  });

  it('is tested at the next publishing when it was untested, and withdrawn when the test fails', async () => {
    const declared = {
      ...tested('llm'),
      directions: async () => [{ ...(await tested('llm').directions())[0]!, untested: true as const }],
    };
    const wrong = { ...tested('llm'), directions: async () => [] };
    for (const next of [tested('llm'), declared]) {
      await owner.query(`delete from pairs where engine = 'llm'`);
      expect(await publishPairs(server.database, declared)).toBe(true);
      expect(await enginesOf('aa', 'bb')).toContain('llm');
      expect(await publishPairs(server.database, next)).toBe(true);
      expect(await enginesOf('aa', 'bb')).toContain('llm');
    }
    await publishPairs(server.database, wrong);
    expect(await enginesOf('aa', 'bb')).not.toContain('llm');
    // A passed self-test is valid for a day, so the failing test is not run.
    await publishPairs(server.database, tested('llm'));
    expect(await publishPairs(server.database, wrong)).toBe(false);
    expect(await enginesOf('aa', 'bb')).toContain('llm');
    await owner.query(`delete from pairs where engine = 'llm'`);
  });

  it('stays in the list for half an hour when its engine is unreachable', async () => {
    await owner.query(`update pairs set checked_at = now() - interval '25 hours'`);
    const away = { ...tested('theirs'), directions: async () => [] };
    expect(await publishPairs(server.database, away)).toBe(true);
    await withdrawPairs(server.database);
    expect(await enginesOf('aa', 'bb')).toEqual(['theirs']);
    await age('31 minutes');
    await publishPairs(server.database, away);
    await withdrawPairs(server.database);
    expect(await enginesOf('aa', 'bb')).toEqual([]);
  });
});

describe('a first start', () => {
  const job = (target_language: string, uid: string) =>
    [
      'POST',
      '/tapi/v2/mt_translation/',
      { text: 'The house.', source_language: 'en', target_language, uid },
    ] as const;
  const route = (from: string, to: string) => ({ from, to, route: `fake:${from}-${to}`, hops: 1 }) as const;

  it('refuses a job with 503 and Retry-After as long as no engine has a language pair', async () => {
    const fresh = await startTestServer({ role: 'api', ready: false });
    const client = createClient(fresh.url, (await fresh.createAccount({ chat: true })).production_key);
    const refused = {
      status: 503,
      body: { error: 'No language pair is offered yet; try again.' },
    };
    const answer = await client(...job('es', 'early'));
    expect(answer).toMatchObject(refused);
    expect(answer.headers.get('retry-after')).toBe('5');
    const message = { text: 'Hello.', source_language: 'en', target_language: 'es' };
    const chat = { chat_external_id: 'c', external_id: '1', text_format: 'text' };
    expect((await client('POST', '/v2/chats/messages', { ...message, ...chat })).status).toBe(503);
    // Invalid fields are reported, although the target language cannot be checked yet.
    const [method, path, body] = job('es', 'early');
    const named = { callback_url: 'http://10.0.0.1/', brand: 'acme' };
    for (const [wrong, lines] of [
      [{ text: '' }, /^text: .*$/],
      [named, /^callback_url: .*\nbrand: .*$/],
      [{ ...named, text: '' }, /^text: .*\ncallback_url: .*\nbrand: .*$/],
    ] as const) {
      const { status, body: answered } = await client(method, path, { ...body, ...wrong });
      expect(status).toBe(400);
      expect(answered.error).toMatch(lines);
    }
    await fresh.stop();
  });

  it('offers each language pair as it passes its self-test, and accepts jobs for the others at once', async () => {
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const fake = createFake({ directions: ['en>es', 'en>fr', 'en>it'] });
    const [es, fr, it] = [route('en', 'es'), route('en', 'fr'), route('en', 'it')];
    const begun = Promise.withResolvers<void>();
    fake.directions = async (observer) => {
      observer?.begun([es, fr, it]);
      begun.resolve();
      await first.promise;
      observer?.passed([es]);
      await second.promise;
      return [es, fr];
    };
    const fresh = await startTestServer({ engine: () => fake, ready: false });
    const client = createClient(fresh.url, (await fresh.createAccount()).production_key);
    const readiness = async () => (await fetch(`${fresh.url}/readyz`)).status;
    const listed = async () => namesOf(await client('GET', PAIRS));
    await begun.promise;
    await until(async () => (await client(...job('fr', 'before'))).status === 201);
    expect(await readiness()).toBe(503);
    expect(await listed()).toEqual([]);
    expect(await listPublishedPairs(fresh.database)).toEqual([]);
    expect((await client(...job('tlh', 'never'))).status).toBe(400);
    first.resolve();
    await until(async () => (await readiness()) === 200);
    expect(await listed()).toEqual(['en es']);
    // The engine tests the pair of the job itself, so that the job need not wait for the other tests.
    await waitForStatus(client, '/tapi/v2/mt_translation/before/');
    expect((await client(...job('it', 'failing'))).status).toBe(201);
    second.resolve();
    await until(async () => (await listed()).join() === 'en es,en fr');
    expect((await client(...job('it', 'refused'))).status).toBe(400);
    await fresh.stop();
  });

  it('that is interrupted keeps the language pairs that passed, and the next start tests all of them', async () => {
    const [en, fr] = [route('aa', 'en'), route('aa', 'fr')];
    let tests = 0;
    const engine = {
      name: 'broken',
      version: async () => '1',
      async directions(observer: Parameters<Parameters<typeof publishPairs>[1]['directions']>[0]) {
        observer.begun([en, fr]);
        observer.passed([en]);
        if (++tests === 1) throw new Error('the process stops');
        return [en, fr];
      },
    };
    const broken = async () =>
      (await listPublishedPairs(server.database))
        .filter(({ engines }) => engines.some(({ engine }) => engine === 'broken'))
        .map(({ target_language }) => target_language);
    await expect(publishPairs(server.database, engine)).rejects.toThrow('the process stops');
    expect(await broken()).toEqual(['en']);
    expect(await publishPairs(server.database, engine)).toBe(true);
    expect(await broken()).toEqual(['en', 'fr']);
    expect(await publishPairs(server.database, engine)).toBe(false);
    expect(tests).toBe(2);
  });
});

it('a long list of language pairs is compressed for clients that accept gzip', async () => {
  const languages = ['da', 'fi', 'hu', 'lt', 'lv', 'sk'];
  const pairs = languages.flatMap((from) => languages.filter((to) => to !== from).map((to) => [from, to]));
  await publishPairs(server.database, engineOf('many', pairs as [string, string][]));
  await lists('sk lv', true);
  const { production_key } = await server.createAccount();
  const ask = (encoding: string) =>
    fetch(`${server.url}${PAIRS}`, {
      headers: { authorization: `ApiKey ${production_key}`, 'accept-encoding': encoding },
    });
  const [packed, plain] = await Promise.all(['gzip', 'identity'].map(ask));
  expect(packed!.headers.get('content-encoding')).toBe('gzip');
  expect(plain!.headers.get('content-encoding')).toBeNull();
  for (const answer of [packed!, plain!]) expect(answer.headers.get('vary')).toContain('accept-encoding');
  expect(await packed!.json()).toEqual(await plain!.json());
});
