/**
 * Tests of engines as an operator configures them: engines named in the settings, and engines that are HTTP
 * services.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '@dragoman/engines';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINE_NAMES, servesSandbox } from '../settings/engine-names.ts';
import { loadSettings } from '../settings/settings.ts';
import { createClient, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { createEngines, limitsOf } from './engines.ts';

describe('createEngines', () => {
  it('returns the engines in the order of the settings, each with its limits', () => {
    const settings = loadSettings({
      DRAGOMAN_ENGINES: 'deepl,apertium',
      DRAGOMAN_DEEPL_KEY: 'secret',
      DRAGOMAN_ENGINE_RATES: 'deepl=2.5',
      DRAGOMAN_ENGINE_COSTS: 'deepl=2500',
    });
    expect(createEngines(settings).map(({ name }) => name)).toEqual(['deepl', 'apertium']);
    expect(limitsOf(settings, 'deepl')).toEqual({ concurrency: 4, perSecond: 2.5, centsPerMillion: 2500 });
    expect(limitsOf(settings, 'apertium').perSecond).toBeUndefined();
  });

  it.each(ENGINE_NAMES.filter((name) => name !== 'apertium' && name !== 'bergamot'))(
    'names the missing setting when %s is not configured',
    (name) => {
      const settings = loadSettings({ DRAGOMAN_ENGINES: name });
      expect(() => createEngines(settings)).toThrow(/^DRAGOMAN_[A-Z_]+ must be set for the engine [a-z]+\.$/);
    },
  );

  it('changes the version of the engine when the configured pairs change', async () => {
    const versions = ['', 'en>de', 'en>de,de>en', 'de>en,en>de'].map((pairs) => {
      const settings = { DRAGOMAN_ENGINES: 'deepl', DRAGOMAN_DEEPL_KEY: 'x', DRAGOMAN_DEEPL_PAIRS: pairs };
      return createEngines(loadSettings(settings))[0]!.version();
    });
    const [all, one, two, same] = await Promise.all(versions);
    expect(new Set([all, one, two]).size).toBe(3);
    expect(same).toBe(two);
  });

  it.each([
    ['DRAGOMAN_GOOGLE_PAIRS', 'en-de'],
    ['DRAGOMAN_ENGINES', 'magic'],
    ['DRAGOMAN_ENGINES', ''],
    ['DRAGOMAN_ENGINE_RATES', 'deepl'],
    ['DRAGOMAN_ENGINE_RATES', 'deepl=0'],
    ['DRAGOMAN_LLM_PAIRS', 'english'],
    ['DRAGOMAN_LLM_ANSWERS', 'xml'],
    ['DRAGOMAN_LLM_CONTEXT', '100'],
    ['DRAGOMAN_ENGINES', 'deepl:x'],
    ['DRAGOMAN_LIBRETRANSLATE_URL', 'ftp://x'],
  ])('refuses the setting %s=%s', (name, value) => {
    expect(() => loadSettings({ [name]: value })).toThrow(new RegExp(`^${name} must be `));
  });
});

describe('language models', () => {
  const asked: { path: string | undefined; key: string | undefined; body: Record<string, unknown> }[] = [];
  const service = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString());
      asked.push({ path: request.url, key: request.headers.authorization, body });
      const choices = [{ message: { content: 'La casa.' }, finish_reason: 'stop' }];
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices }));
    });
  });
  let url: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/v1`;
  });
  afterAll(async () => {
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
  });

  /** Creates the engine that the settings name, and lets it translate a text. */
  async function ask(settings: Record<string, string>, text = 'The house.') {
    const [engine] = createEngines(loadSettings(settings)) as [Engine];
    try {
      const segments = [{ id: 'a', pieces: [{ text }] }];
      return (await engine.draft({ from: 'en', to: 'es', segments, lane: 'bulk' }))[0];
    } finally {
      await engine.stop();
    }
  }
  const chat = () => ({
    DRAGOMAN_ENGINES: 'llm',
    DRAGOMAN_LLM_URL: url,
    DRAGOMAN_LLM_MODEL: 'small',
    DRAGOMAN_LLM_PAIRS: 'en>es',
  });

  it('get requests with the configured profile, parameters and response format', async () => {
    await ask({ ...chat(), DRAGOMAN_LLM_KEY: 'secret' });
    expect(asked.at(-1)).toMatchObject({
      path: '/v1/chat/completions',
      key: 'Bearer secret',
      body: { model: 'small', temperature: 0, response_format: { type: 'json_schema' } },
    });
    await ask({ ...chat(), DRAGOMAN_LLM_ANSWERS: 'object', DRAGOMAN_LLM_PARAMETERS: '{"temperature":null}' });
    expect(asked.at(-1)).toMatchObject({
      key: undefined,
      body: { response_format: { type: 'json_object' } },
    });
    expect(asked.at(-1)!.body).not.toHaveProperty('temperature');
    await ask({ ...chat(), DRAGOMAN_LLM_ANSWERS: 'none' });
    expect(asked.at(-1)!.body).not.toHaveProperty('response_format');
    await ask({ ...chat(), DRAGOMAN_LLM_PROFILE: 'plain' });
    const content = 'Translate the following text from English into Spanish.\nEnglish: The house.\nSpanish:';
    expect(asked.at(-1)!.body.messages).toEqual([{ role: 'user', content }]);
    await ask({ ...chat(), DRAGOMAN_LLM_MODEL: 'translategemma-4b-it' });
    expect(JSON.stringify(asked.at(-1)!.body.messages)).toContain('source_lang_code');
  });

  it('get no text that does not fit into DRAGOMAN_LLM_CONTEXT', async () => {
    const plain = { ...chat(), DRAGOMAN_LLM_PROFILE: 'plain' };
    const text = 'The house. '.repeat(100);
    const before = asked.length;
    expect(await ask({ ...plain, DRAGOMAN_LLM_CONTEXT: '1000' }, text)).toMatchObject({
      status: 'failed',
      reason: 'too long',
    });
    expect(asked).toHaveLength(before);
    await ask({ ...plain, DRAGOMAN_LLM_CONTEXT: '4000' }, text);
    expect(asked.length).toBeGreaterThan(before);
  });

  it('have their own settings when DRAGOMAN_ENGINES gives them names', async () => {
    const named = {
      DRAGOMAN_ENGINES: 'llm:tiny,llm',
      DRAGOMAN_LLM_TINY_URL: url,
      DRAGOMAN_LLM_TINY_MODEL: 'tiny',
      DRAGOMAN_LLM_TINY_PAIRS: 'en>es',
      DRAGOMAN_LLM_TINY_PROFILE: 'plain',
      DRAGOMAN_ENGINE_COSTS: 'llm=20,llm:tiny=10',
    };
    const settings = loadSettings({ ...chat(), ...named });
    expect(createEngines(settings).map(({ name }) => name)).toEqual(['llm:tiny', 'llm']);
    expect(limitsOf(settings, 'llm:tiny').centsPerMillion).toBe(10);
    expect(await ask({ ...chat(), ...named })).toMatchObject({
      status: 'translated',
      route: 'llm:tiny:en-es@tiny',
    });
    expect(asked.at(-1)!.body.model).toBe('tiny');
    const incomplete = { ...named, DRAGOMAN_LLM_TINY_PAIRS: '' };
    expect(() => createEngines(loadSettings(incomplete))).toThrow(
      'DRAGOMAN_LLM_TINY_PAIRS must be set for the engine llm:tiny.',
    );
    expect(servesSandbox(settings, 'llm:tiny')).toBe(false);
  });

  it('are refused until the operator accepts the license when the license of the model has limits', () => {
    const limited = { ...chat(), DRAGOMAN_LLM_MODEL: 'HY-MT1.5-7B' };
    expect(() => createEngines(loadSettings(limited))).toThrow(
      'The license of HY-MT1.5-7B does not apply in the European Union, the United Kingdom and South Korea. If you may use it, set DRAGOMAN_LLM_LICENSE=accepted.',
    );
    const accepted = loadSettings({ ...limited, DRAGOMAN_LLM_LICENSE: 'accepted' });
    expect(createEngines(accepted).map(({ name }) => name)).toEqual(['llm']);
  });
});

describe('the settings of a network service', () => {
  const asked: string[] = [];
  const google3 = (code: string) => ({ languageCode: code, supportSource: true, supportTarget: true });
  /** The lists of languages of the services, by the start of their path. */
  const LISTS = {
    '/v3/': { languages: ['en', 'es'].map(google3) },
    '/v2/languages': [{ language: 'EN' }, { language: 'ES' }],
    '/languages': [{ code: 'en', targets: ['es'] }],
  };
  const service = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const region = request.headers['ocp-apim-subscription-region'] ?? '';
      asked.push(`${request.url} ${region} ${Buffer.concat(chunks)}`);
      const list = Object.entries(LISTS).find(([path]) => request.url?.startsWith(path))?.[1];
      if (request.method === 'POST' || list === undefined) response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list));
    });
  });
  let url: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
  });

  const google = {
    DRAGOMAN_GOOGLE_PROJECT: 'ours',
    DRAGOMAN_GOOGLE_TOKEN_FILE: '/absent',
    DRAGOMAN_GOOGLE_PAIRS: 'en>es',
  };
  const deepl = { DRAGOMAN_DEEPL_KEY: 'k', DRAGOMAN_DEEPL_PAIRS: 'en>es' };
  const azure = { DRAGOMAN_AZURE_KEY: 'k', DRAGOMAN_AZURE_PAIRS: 'en>es' };
  const libre = { DRAGOMAN_LIBRETRANSLATE_PAIRS: 'en>es' };
  it.each<[string, string, Record<string, string>, RegExp]>([
    ['DRAGOMAN_DEEPL_MODEL', 'deepl', { ...deepl, DRAGOMAN_DEEPL_MODEL: 'quality' }, /quality/],
    ['DRAGOMAN_AZURE_REGION', 'azure', { ...azure, DRAGOMAN_AZURE_REGION: 'westeurope' }, /westeurope/],
    [
      'DRAGOMAN_GOOGLE_LOCATION',
      'google',
      { ...google, DRAGOMAN_GOOGLE_LOCATION: 'us-central1' },
      /locations\/us-central1/,
    ],
    [
      'DRAGOMAN_GOOGLE_GLOSSARY',
      'google',
      { ...google, DRAGOMAN_GOOGLE_GLOSSARY: 'terms' },
      /glossaries\/terms/,
    ],
    [
      'DRAGOMAN_LIBRETRANSLATE_KEY',
      'libretranslate',
      { ...libre, DRAGOMAN_LIBRETRANSLATE_KEY: 'secret' },
      /secret/,
    ],
  ])('include %s, which its requests contain', async (_, name, more, expected) => {
    asked.length = 0;
    const settings = loadSettings({
      DRAGOMAN_ENGINES: name,
      [`DRAGOMAN_${name.toUpperCase()}_URL`]: url,
      ...more,
    });
    const [engine] = createEngines(settings) as [Engine];
    const segments = [{ id: 'a', pieces: [{ text: 'The house.' }] }];
    await engine.draft({ from: 'en', to: 'es', segments, lane: 'bulk' });
    await engine.stop();
    expect(asked.join('\n')).toMatch(expected);
  });

  it('include DRAGOMAN_ENGINE_CONCURRENCY', () => {
    const settings = loadSettings({ DRAGOMAN_ENGINE_CONCURRENCY: 'deepl=2' });
    expect(limitsOf(settings, 'deepl').concurrency).toBe(2);
    expect(limitsOf(settings, 'azure').concurrency).toBe(4);
  });
});

describe('an engine over HTTP', () => {
  let server: TestServer;
  const asked: { q: string[] }[] = [];
  const service = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const answer = (body: unknown) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      };
      if (request.url === '/languages')
        return answer([{ code: 'en', name: 'English', targets: ['en', 'es'] }]);
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { q: string | string[] };
      const texts = [body.q].flat();
      asked.push({ q: texts });
      const translated = texts.map((text) => text.replaceAll('house', 'casa').replaceAll('The', 'La'));
      answer({ translatedText: Array.isArray(body.q) ? translated : translated[0] });
    });
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const settings = loadSettings({
      DRAGOMAN_ENGINES: 'libretranslate',
      DRAGOMAN_LIBRETRANSLATE_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    });
    server = await startTestServer({ engines: () => createEngines(settings) });
  });
  afterAll(async () => {
    await server.stop();
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
  });

  it('translates jobs, and sends the texts of different accounts in separate requests', async () => {
    const accounts = await Promise.all([server.createAccount(), server.createAccount()]);
    const results = await Promise.all(
      accounts.map(async ({ production_key }, index) => {
        const call = createClient(server.url, production_key);
        const text = `The house of number ${index}.\nThe other house of number ${index}.`;
        const body = { uid: 'x', text, source_language: 'en', target_language: 'es' };
        expect((await call('POST', '/tapi/v2/mt_translation/', body)).status).toBe(201);
        return until(async () => (await call('GET', '/tapi/v2/mt_translation/x/')).body.translated_text);
      }),
    );
    expect(results).toEqual([0, 1].map((n) => `La casa of number ${n}.\nLa other casa of number ${n}.`));
    for (const { q } of asked) {
      expect(q.some((text) => text.includes('number 0')) && q.some((text) => text.includes('number 1'))).toBe(
        false,
      );
    }
  });
});

describe('Google Translate with a project', () => {
  const asked: (string | undefined)[] = [];
  let valid = 'first';
  const service = createServer((request, response) => {
    const { authorization } = request.headers;
    asked.push(authorization);
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (authorization !== `Bearer ${valid}`) return answer(401, { error: authorization });
      if (request.method === 'GET') {
        const codes = ['en', 'es', 'fr', 'de'];
        const languages = codes.map((languageCode) => ({
          languageCode,
          supportSource: true,
          supportTarget: true,
        }));
        return answer(200, { languages });
      }
      const { contents } = JSON.parse(Buffer.concat(chunks).toString()) as { contents: string[] };
      answer(200, { translations: contents.map((text) => ({ translatedText: text.toUpperCase() })) });
    });
  });
  let folder: string;
  let engine: Engine;

  beforeAll(async () => {
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    folder = await mkdtemp(join(tmpdir(), 'dragoman-token-'));
    const settings = loadSettings({
      DRAGOMAN_ENGINES: 'google',
      DRAGOMAN_GOOGLE_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
      DRAGOMAN_GOOGLE_PROJECT: 'ours',
      DRAGOMAN_GOOGLE_TOKEN_FILE: join(folder, 'token'),
      DRAGOMAN_GOOGLE_PAIRS: 'en>es,es>en',
    });
    [engine] = createEngines(settings) as [Engine];
  });
  afterAll(async () => {
    await engine.stop();
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
    await rm(folder, { recursive: true });
  });

  const draft = async (text: string) => {
    const segments = [{ id: 'a', pieces: [{ text }] }];
    return (await engine.draft({ from: 'en', to: 'es', segments, lane: 'bulk' }))[0];
  };

  it('reads its token file before each call, and is unavailable without a valid token', async () => {
    expect(await draft('The house.')).toMatchObject({ status: 'failed', reason: 'unavailable' });
    await writeFile(join(folder, 'token'), 'first\n');
    expect(await draft('The house.')).toMatchObject({
      status: 'translated',
      pieces: [{ text: 'THE HOUSE.' }],
    });
    valid = 'second';
    const refused = await draft('The house.');
    expect(refused).toMatchObject({ status: 'failed', reason: 'unavailable' });
    expect(JSON.stringify([refused, await engine.health()])).not.toContain('first');
    await writeFile(join(folder, 'token'), 'second');
    expect(await draft('The house.')).toMatchObject({ status: 'translated' });
  });

  it('offers only the configured pairs among those that the service lists', async () => {
    const offered = (await engine.directions()).map(({ from, to }) => `${from}>${to}`);
    expect(offered.sort()).toEqual(['en>es', 'es>en']);
  });
});

describe('a language model that is unreachable', () => {
  it('leaves the server ready and keeps offering its configured pairs', async () => {
    // No program listens on this port, because the test has just closed the server that used it.
    const service = createServer();
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const { port } = service.address() as AddressInfo;
    await new Promise((resolve) => service.close(resolve));
    const settings = loadSettings({
      DRAGOMAN_ENGINES: 'llm',
      DRAGOMAN_LLM_URL: `http://127.0.0.1:${port}`,
      DRAGOMAN_LLM_MODEL: 'small',
      DRAGOMAN_LLM_PAIRS: 'en>de',
    });
    const server = await startTestServer({ engines: () => createEngines(settings) });
    try {
      expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
      const { production_key } = await server.createAccount();
      const { body } = await createClient(server.url, production_key)('GET', '/tapi/v2/language_pair/');
      expect(body.objects).toMatchObject([
        { lang_pair: { source_language: { shortname: 'en' }, target_language: { shortname: 'de' } } },
      ]);
    } finally {
      await server.stop();
    }
  });
});
