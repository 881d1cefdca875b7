/** Engines as an operator sets them up: by settings, and over HTTP where they are elsewhere. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSettings } from '../settings.ts';
import { createClient, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { createEngines, limitsOf } from './engines.ts';
import { ENGINE_NAMES } from './names.ts';

describe('the engines of the settings', () => {
  it('come in their order, with their limits', () => {
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
    'say what %s lacks, in a sentence',
    (name) => {
      const settings = loadSettings({ DRAGOMAN_ENGINES: name });
      expect(() => createEngines(settings)).toThrow(/^DRAGOMAN_[A-Z_]+ must be set for the engine [a-z]+\.$/);
    },
  );

  it.each([
    ['DRAGOMAN_ENGINES', 'magic'],
    ['DRAGOMAN_ENGINES', ''],
    ['DRAGOMAN_ENGINE_RATES', 'deepl'],
    ['DRAGOMAN_ENGINE_RATES', 'deepl=0'],
    ['DRAGOMAN_LLM_PAIRS', 'english'],
    ['DRAGOMAN_LIBRETRANSLATE_URL', 'ftp://x'],
  ])('are refused with %s=%s', (name, value) => {
    expect(() => loadSettings({ [name]: value })).toThrow(new RegExp(`^${name} must be `));
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

  it('translates jobs, and a request to it holds the text of one account alone', async () => {
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
