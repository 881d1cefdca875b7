/** Tests of counting words and of quotes, which create no job, and of reading the caller's account. */
import { createFake } from '@dragoman/engines/fake';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { accountNamed } from '../../access/accounts.ts';
import type { Caller } from '../../base/account.ts';
import { INLINE_LENGTH } from '../../scanning/scanner.ts';
import { createClient, startTestServer, type TestServer } from '../../testing/harness.ts';
import { type JobPreparerOptions, quoteJob } from '../create/prepare.ts';
import { readCreateRequest } from '../create/request.ts';

const COUNT = '/tapi/v2/wordcount/';
const QUOTE = '/api/v1/quote/';
const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
let server: TestServer;
let call: ReturnType<typeof createClient>;
beforeAll(async () => {
  server = await startTestServer({
    engine: () => createFake(),
    settings: { DRAGOMAN_MAX_TEXT_BYTES: '200000', DRAGOMAN_PRICE_HUMAN: '1', DRAGOMAN_REPEAT_SHARE: '100' },
  });
  call = createClient(server.url, (await server.createAccount()).production_key);
});
afterAll(() => server.stop());

it.each([
  ['text', 'The house isn’t big: 3.5 m.'],
  ['html', '<p title="A door">The <b>house</b> of <span class="notranslate" origval="{x}">Ann</span></p>'],
  ['srt', '1\n00:00:01,000 --> 00:00:02,000\nThe house\nis big.\n'],
  ['vtt', 'WEBVTT\n\nNOTE no word\n\n00:01.000 --> 00:02.000\n<v Ann>The house\nis big.\n'],
  [
    'xliff',
    '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en" ' +
      'datatype="plaintext"><header/><body><trans-unit id="1"><source>The house</source></trans-unit></body></file></xliff>',
  ],
  ['text', 'The house. '.repeat(INLINE_LENGTH / 10)],
])(
  'the word count of %s is the same number as the price in cents of a job with this text at one cent a word',
  async (text_format, text) => {
    const { status, body } = await call('POST', COUNT, { text, text_format });
    expect(status).toBe(201);
    expect(body).toEqual({ word_count: expect.any(Number) });
    const job = { text, text_format, source_language: 'en', target_language: 'es' };
    expect((await call('POST', HUMAN, job)).body.price).toBe(body.word_count);
  },
);

it('a word count creates no job, and accepts the same fields as a create', async () => {
  const before = (await call('GET', HUMAN)).body.meta.total_count;
  const fields = { text: 'The house.', target_language: 'tlh', uid: 5, callback_url: 'x', unknown: 1 };
  expect(await call('POST', COUNT, { ...fields, text_format: null })).toMatchObject({
    status: 201,
    body: { word_count: 2 },
  });
  expect((await call('GET', HUMAN)).body.meta.total_count).toBe(before);
});

it.each([
  [{}, 400, 'text: This field is required.'],
  [{ text: ' ' }, 400, 'text: must not be empty.'],
  [{ text: 5, text_format: 'doc' }, 400, /^text: must be a string\.\ntext_format: "doc" is not one of /],
  [{ text: 'a\0b' }, 400, /^text: must not contain NUL/],
  [[], 400, 'body: must be a JSON object.'],
  [undefined, 400, 'body: must be a JSON object.'],
  [{ text: 'x', text_format: 'srt' }, 400, /^text: .*line 1/],
  [{ text: '<xliff version="2.0"/>', text_format: 'xliff' }, 400, /^text: .*XLIFF 2/],
  [{ text: 'é'.repeat(100_001) }, 413, 'text: must be at most 200000 bytes of UTF-8.'],
])('a word count refuses %j with the same error as a create', async (body, status, error) => {
  const answer = await call('POST', COUNT, body);
  expect(answer.status).toBe(status);
  expect(answer.body.error).toMatch(error);
});

it('a quote has the words, the detected language and the prices of jobs with the same body', async () => {
  const priced = await startTestServer({
    settings: {
      DRAGOMAN_PRICE_HUMAN: '10',
      DRAGOMAN_PRICE_MACHINE: '2',
      DRAGOMAN_REPEAT_SHARE: '50',
      DRAGOMAN_SANDBOX_HOLD: '0',
    },
  });
  try {
    const account = await priced.createAccount({ balanceCents: 10_000 });
    const buyer = createClient(priced.url, account.production_key);
    const job = { text: 'The house is big.\nThe house is big.\n', target_language: 'es' };
    const { status, body } = await buyer('POST', QUOTE, job);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        word_count: 8,
        source_language: 'en',
        target_language: 'es',
        human_price: 60,
        machine_price: 12,
        discounts: [{ kind: 'repeat', words: 4, share: 50 }],
      },
    });
    expect((await buyer('GET', HUMAN)).body.meta.total_count).toBe(0);
    expect((await buyer('POST', HUMAN, job)).body.price).toBe(body.human_price);
    const { uid } = (await buyer('POST', MACHINE, job)).body;
    expect((await buyer('GET', `${MACHINE}${uid}/`)).body.price).toBe(body.machine_price);
  } finally {
    await priced.stop();
  }
});

it('a quote examines the text once for both tiers', async () => {
  const { username } = await server.createAccount();
  const { ref } = await accountNamed(server.database, username);
  const examine = vi.fn(async () => ({ kind: 'valid', sourceLanguage: 'en', words: 2, repeatedWords: 0 }));
  const options = {
    database: server.database,
    languages: { targets: async () => ['es'], sources: async () => ['en'] },
    prices: {
      priceOf: async (_: unknown, tier: string) => ({ cents: tier === 'human' ? 24 : 2 }),
      isFree: async () => true,
      shares: { context: 100, exact: 100, fuzzy95: 100, fuzzy85: 100, fuzzy75: 100, repeat: 100 },
    },
    scanner: { examine },
  } as unknown as JobPreparerOptions;
  const caller = { account: ref, environment: 'production' } as Caller;
  const request = readCreateRequest({ text: 'The house.', target_language: 'es' }, 'human', 100);
  expect((await quoteJob(caller, request, options)).price).toEqual({
    human: { cents: 24 },
    machine: { cents: 2 },
  });
  expect(examine).toHaveBeenCalledOnce();
});

it.each([
  [{ text: ' ' }, 400, 'text: must not be empty.\ntarget_language: This field is required.'],
  [{ text: 'The house.', target_language: 'tlh' }, 400, /^target_language: "tlh" is not offered/],
  [{ text: 'The house.', target_language: 'es', brand: 'none' }, 400, /^brand: is not known/],
  [{ text: 'é'.repeat(100_001), target_language: 'es' }, 413, 'text: must be at most 200000 bytes of UTF-8.'],
])('a quote refuses %j with the same error as a create', async (body, status, error) => {
  const answer = await call('POST', QUOTE, body);
  expect(answer.status).toBe(status);
  expect(answer.body.error).toMatch(error);
  expect((await call('POST', HUMAN, body)).body).toEqual(answer.body);
});

it('GET /account/ shows the account in the environment of the API key', async () => {
  const made = await server.createAccount({ email: 'acme@example.com', balanceCents: 70 });
  const read = async (url: string, key: string) =>
    (await createClient(url, key)('GET', '/tapi/v2/account/')).body;
  expect(await read(server.url, made.production_key)).toEqual({
    objects: [{ account: { username: made.username, email: 'acme@example.com', balance: 70 } }],
  });
  expect(await read(`${server.url}/sandbox`, made.sandbox_key)).toEqual({
    objects: [{ account: { username: made.username, email: 'acme@example.com', balance: 0 } }],
  });
  const nameless = await server.createAccount();
  const { objects } = await read(server.url, nameless.production_key);
  expect(objects[0].account).toEqual({ username: nameless.username, email: '', balance: 0 });
});
