/**
 * Tests the specification of the job API, sentence by sentence. The fake engine translates by writing the
 * text in upper case.
 */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, expect } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { readBrandFile } from '../brands/brand.ts';
import { saveBrand } from '../brands/brands.ts';
import { loadSettings } from '../settings/settings.ts';
import {
  type Answer,
  createClient,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { conforms } from './conforms.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const SPEC_STATUSES = ['new', 'translating', 'completed', 'failed', 'canceled', 'accepted', 'rejected'];
const TOPICS = [
  'politics',
  'gossip',
  'sex & relationships',
  'crafts',
  'parenting',
  'startups',
  'tech',
  'sports',
];

let server: TestServer;
let fake: FakeEngine;
let receiver: Receiver;
let credentials: AccountCredentials;
let production: ReturnType<typeof createClient>;
let sandbox: (method: string, path: string, body?: unknown) => Promise<Answer>;
let owner: pg.Client;

beforeAll(async () => {
  fake = createFake({ directions: ['en>es', 'es>en', 'en>fr'] });
  // Declares that the fake engine can use a tone, so that it receives the tone of each job.
  Object.assign(fake, { capabilities: { ...fake.capabilities, tone: true } });
  server = await startTestServer({ engine: () => fake });
  receiver = await startReceiver();
  credentials = await server.createAccount({ username: 'acme', balanceCents: 5_000 });
  production = createClient(server.url, credentials.production_key);
  const call = createClient(server.url, credentials.sandbox_key);
  sandbox = (method, path, body) => call(method, `/sandbox${path}`, body);
  owner = await server.connectOwner();
});
afterAll(async () => {
  await receiver.close();
  await server.stop();
});

const job = (fields: Record<string, unknown> = {}) => ({
  text: 'The house is big.',
  source_language: 'en',
  target_language: 'es',
  ...fields,
});

async function created(call: typeof sandbox, path: string, fields = {}): Promise<Record<string, unknown>> {
  const answer = await call('POST', path, job(fields));
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

const read = async (call: typeof sandbox, path: string, uid: unknown) =>
  (await call('GET', `${path}${uid}/`)).body;

const withStatus = (call: typeof sandbox, path: string, uid: unknown, status: string) =>
  until(async () => {
    const body = await read(call, path, uid);
    return body.status === status && body;
  });

/** Ends the hold period of a job by moving its times into the past. */
async function passHold(uid: unknown): Promise<void> {
  await owner.query(
    `update jobs set created_at = (created_at at time zone 'utc' - interval '120 s') at time zone 'utc',
            hold_until = (hold_until at time zone 'utc' - interval '120 s') at time zone 'utc',
            due_at = (due_at at time zone 'utc' - interval '120 s') at time zone 'utc' where uid = $1`,
    [uid],
  );
}

const listed = async (query: string, path = HUMAN): Promise<string[]> => {
  const { status, body, text } = await production('GET', `${path}?${query}`);
  expect(status, text).toBe(200);
  return body.objects.map(({ uid }: { uid: string }) => uid);
};

// ── 1. What the service does

conforms('1.1', async () => {
  const { uid } = await created(production, MACHINE);
  const body = await withStatus(production, MACHINE, uid, 'completed');
  expect(body.translated_text).toBe('THE HOUSE IS BIG.');
});

conforms('1.3', async () => {
  const { uid } = await created(production, MACHINE, { text: 'By machine only.' });
  expect((await withStatus(production, MACHINE, uid, 'completed')).translated_text).toBe('BY MACHINE ONLY.');
});

conforms('1.4', async () => {
  await importBrand('context', {});
  const fields = { tone: 'Formal', topics: ['tech'], brand: 'context' };
  expect(await created(production, HUMAN, fields)).toMatchObject(fields);
});

conforms('1.5', async () => {
  const defaultOf = async () => {
    const { uid } = await created(production, HUMAN);
    const { rows } = await owner.query('select default_brand from jobs where uid = $1', [uid]);
    return rows[0].default_brand;
  };
  expect(await defaultOf()).toBeNull();
  await importBrand('house', { default: true });
  // Another process may have set the default brand. The server reads the new default within seconds.
  expect(await until(async () => (await defaultOf()) ?? undefined)).toBe('house');
  await importBrand('house', { default: false });
});

conforms('1.6', async () => {
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    expect((await production(method, '/tapi/v2/brand/', method === 'GET' ? undefined : {})).status).toBe(404);
  }
});

conforms('1.7', async () => {
  const { uid } = await created(sandbox, HUMAN, { text: 'No human work.' });
  await withStatus(sandbox, HUMAN, uid, 'translating');
  await passHold(uid);
  expect((await withStatus(sandbox, HUMAN, uid, 'completed')).translated_text).toBe('NO HUMAN WORK.');
});

conforms('1.8', async () => {
  const { uid } = await created(sandbox, HUMAN, { callback_url: `${receiver.url}/1.8` });
  const held = await withStatus(sandbox, HUMAN, uid, 'translating');
  expect(held).not.toHaveProperty('translated_text');
  expect(receiver.received.filter(({ path }) => path === '/1.8')).toEqual([]);
  await passHold(uid);
  const { body } = await receiver.next(({ path }) => path === '/1.8');
  expect(JSON.parse(body)).toMatchObject({ uid, status: 'completed', translated_text: 'THE HOUSE IS BIG.' });
});

conforms('1.9', async () => {
  expect(credentials.production_key).not.toBe(credentials.sandbox_key);
  const { uid } = await created(production, MACHINE);
  expect((await sandbox('GET', `${MACHINE}${uid}/`)).status).toBe(404);
});

conforms('1.10', async () => {
  for (const body of ['text=a', '<xml/>', '{"text":']) {
    const answer = await production('POST', HUMAN, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatch(/^body: /);
  }
});

conforms('1.11', async () => {
  const answers = [
    await production('GET', HUMAN),
    await production('GET', '/tapi/v2/language_pair/'),
    await production('POST', HUMAN, {}),
    await production('GET', `${HUMAN}unknown/`),
    await production('PUT', HUMAN, {}),
    await createClient(server.url, 'nobody:nothing')('GET', HUMAN),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 404, 405, 401]);
  for (const answer of answers) expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
});

conforms('1.12', async () => {
  // Tests the paths with the trailing slash of the specification and without it. The server never redirects,
  // because a redirected POST becomes a GET.
  for (const path of [HUMAN, MACHINE].flatMap((each) => [each, each.slice(0, -1)])) {
    expect((await production('POST', path, job())).status).toBe(201);
    expect((await production('GET', path)).status).toBe(200);
  }
});

conforms('1.13', async () => {
  const { price, balance } = await created(production, HUMAN, { text: 'Five words of two cents.' });
  expect(price).toBe(15);
  expect(Number.isInteger(balance)).toBe(true);
});

// ── 2. Resources and their fields

conforms('2.1.1', async () => {
  const { uid } = await created(production, MACHINE);
  expect(uid).toMatch(/^[0-9a-f]{10}$/);
  expect(await created(production, MACHINE, { uid: 'mine-1' })).toMatchObject({ uid: 'mine-1' });
  const repeated = await production('POST', MACHINE, job({ uid: 'mine-1', text: 'Another text.' }));
  expect(repeated.status).toBe(400);
  expect(repeated.body.error).toBe('uid: already exists');
});

conforms('2.1.2', async () => {
  const text = 'Zażółć gęślą jaźń — 中文 🙂 e\u0301';
  const { uid } = await created(production, MACHINE, { text });
  const body = await withStatus(production, MACHINE, uid, 'completed');
  expect(body).toMatchObject({ text, translated_text: text.toUpperCase() });
});

conforms('2.1.3', async () => {
  const text =
    'The weather in the north of the country will be cold and rainy during the whole of next week.';
  const { source_language } = await created(production, MACHINE, { text, source_language: undefined });
  expect(source_language).toBe('en');
});

conforms('2.1.4', async () => {
  const answer = await production('POST', HUMAN, job({ target_language: 'xx' }));
  expect(answer.status).toBe(400);
  expect(answer.body.error).toMatch(/^target_language: .*en, es, fr/);
  const pairs = (await production('GET', '/tapi/v2/language_pair/')).body.objects;
  expect(
    [
      ...new Set(
        pairs.map(
          ({ lang_pair }: { lang_pair: { target_language: { shortname: string } } }) =>
            lang_pair.target_language.shortname,
        ),
      ),
    ].sort(),
  ).toEqual(['en', 'es', 'fr']);
});

conforms('2.1.5', async () => {
  const { uid } = await created(sandbox, HUMAN, { target_text: 'La casa es grande.' });
  await passHold(uid);
  expect((await withStatus(sandbox, HUMAN, uid, 'completed')).translated_text).toBe('La casa es grande.');
  // Machine jobs ignore the field `target_text`.
  const machine = await created(sandbox, MACHINE, { target_text: 'La casa es grande.' });
  const body = await withStatus(sandbox, MACHINE, machine.uid, 'completed');
  expect(body.translated_text).toBe('THE HOUSE IS BIG.');
});

conforms('2.1.6', async () => {
  expect(await created(production, HUMAN)).toMatchObject({ text_format: 'text' });
  expect(await created(production, HUMAN, { text_format: 'html' })).toMatchObject({ text_format: 'html' });
  const srt = '1\n00:00:01,000 --> 00:00:02,000\nHello.\n';
  expect(await created(production, HUMAN, { text_format: 'srt', text: srt })).toMatchObject({ text: srt });
  expect(await created(production, HUMAN, { text_format: 'xliff', text: XLIFF })).toMatchObject({
    text: XLIFF,
  });
  const refused = await production('POST', HUMAN, job({ text_format: 'docx' }));
  expect(refused.body.error).toBe('text_format: "docx" is not one of text, html, srt, xliff, vtt.');
});

conforms('2.1.7', async () => {
  const { uid } = await created(production, MACHINE, { callback_url: `${receiver.url}/2.1.7` });
  const { body } = await receiver.next(({ path }) => path === '/2.1.7');
  expect(JSON.parse(body)).toMatchObject({ uid, translated_text: 'THE HOUSE IS BIG.' });
});

conforms('2.1.8', async () => {
  await importBrand('shop', { languages: { es: { tone: 'Formal' } } });
  expect(await created(production, HUMAN, { brand: 'shop' })).toMatchObject({ brand: 'shop' });
  const refused = await production('POST', HUMAN, job({ brand: 'nobody' }));
  expect(refused.status).toBe(400);
  expect(refused.body.error).toMatch(/^brand: "nobody" .*shop/);
});

conforms('2.1.9', async () => {
  await importBrand('formal', { languages: { es: { tone: 'Formal' } } });
  const toneOf = async (text: string, fields: object) => {
    await created(production, HUMAN, { brand: 'formal', text, ...fields });
    return until(() => {
      const asked = fake.requests.find(({ segments }) => JSON.stringify(segments).includes(text));
      return asked && (asked.context?.tone ?? 'none');
    });
  };
  expect(await toneOf('The tone of the brand', {})).toBe('Formal');
  expect(await toneOf('A tone of its own', { tone: 'Informal' })).toBe('Informal');
  expect(await toneOf('No tone at all', { brand: undefined })).toBe('none');
  const refused = await production('POST', HUMAN, job({ tone: 'Rude' }));
  expect(refused.body.error).toBe('tone: "Rude" is not one of Informal, Formal.');
});

conforms('2.1.10', async () => {
  expect(await created(production, HUMAN, { topics: TOPICS })).toMatchObject({ topics: TOPICS });
  const refused = await production('POST', HUMAN, job({ topics: ['tech', 'cooking'] }));
  expect(refused.status).toBe(400);
  expect(refused.body.error).toMatch(/^topics: "cooking" is not one of politics, gossip/);
});

conforms('2.1.11', async () => {
  const { uid, price } = await created(production, HUMAN);
  expect(price).toBe(12);
  expect((await read(production, HUMAN, uid)).price).toBe(12);
});

conforms('2.1.12', async () => {
  const before = (await created(production, HUMAN)).balance as number;
  const creation = await created(production, HUMAN);
  expect(creation).toMatchObject({ balance: before - 12, client: 'acme' });
  const detail = await read(production, HUMAN, creation.uid);
  expect(detail).toMatchObject({ balance: before - 12, client: 'acme' });
});

conforms('2.1.13', async () => {
  const text = '<p>Big <b>house</b></p>';
  const { uid, ...creation } = await created(sandbox, HUMAN, { text, text_format: 'html' });
  expect(creation).not.toHaveProperty('translated_text');
  expect(await withStatus(sandbox, HUMAN, uid, 'translating')).not.toHaveProperty('translated_text');
  await passHold(uid);
  const body = await withStatus(sandbox, HUMAN, uid, 'completed');
  expect(body.translated_text).toBe('<p>BIG <b>HOUSE</b></p>');
});

conforms('2.1.14', async () => {
  const first = await created(production, HUMAN);
  const second = await created(production, HUMAN);
  expect(second.order_number as number).toBeGreaterThan(first.order_number as number);
  const { body } = await production('GET', `${HUMAN}?uid=${second.uid}`);
  expect(body.objects[0].order_number).toBe(second.order_number);
});

conforms('2.1.15', async () => {
  expect((await created(production, MACHINE)).origin).toBe('api');
});

conforms('2.1.16', async () => {
  const plain = await created(production, HUMAN);
  expect(plain).not.toHaveProperty('tone');
  expect(plain).not.toHaveProperty('topics');
  const fields = { tone: 'Informal', topics: ['crafts'] };
  expect(await created(production, HUMAN, fields)).toMatchObject(fields);
});

conforms('2.1.17', async () => {
  for (const path of [HUMAN, MACHINE]) {
    expect(await created(production, path, { instructions: 'Keep it short.' })).not.toHaveProperty(
      'instructions',
    );
  }
  const refused = await production('POST', HUMAN, job({ instructions: 'a'.repeat(10_001) }));
  expect(refused.body.error).toMatch(/^instructions: /);
});

conforms('2.2.1', async () => {
  const { body } = await production('GET', '/tapi/v2/language_pair/');
  expect(body.objects[0]).toEqual({
    lang_pair: {
      source_language: { name: 'English', shortname: 'en' },
      target_language: { name: 'Spanish', shortname: 'es' },
    },
  });
});

conforms('2.3.1', async () => {
  const { body } = await production('GET', '/tapi/v2/tone/');
  expect(body.objects.map(({ tone }: { tone: { name: string } }) => tone.name).sort()).toEqual([
    'Formal',
    'Informal',
  ]);
  for (const { tone } of body.objects) expect(tone.description).toMatch(/\w/);
});

conforms('2.4.1', async () => {
  const { body } = await production('GET', '/tapi/v2/topic/');
  expect(body).toEqual({ objects: TOPICS.map((name) => ({ topic: { name } })) });
});

conforms('2.5.1', async () => {
  const path = '/tapi/v2/translation/';
  const { body } = await sandbox('GET', path);
  expect(Object.keys(body).sort()).toEqual(['meta', 'objects']);
  expect(body.meta).toMatchObject({ limit: 20, offset: 0, previous: null });
  expect(body.meta.total_count).toBe(body.objects.length);
  await created(sandbox, HUMAN);
  await created(sandbox, HUMAN);
  const page = (await sandbox('GET', `${path}?limit=1&offset=1`)).body;
  expect(page.objects).toHaveLength(1);
  expect(page.meta).toMatchObject({ limit: 1, offset: 1 });
  const call = createClient(server.url, credentials.sandbox_key);
  const next = (await call('GET', page.meta.next)).body;
  expect(next.meta.offset).toBe(2);
  const previous = (await call('GET', page.meta.previous)).body;
  expect(previous.meta).toMatchObject({ offset: 0, previous: null });
});

conforms('2.6.1', async () => {
  await importBrand('ext/ernal 42', {});
  expect(await created(production, HUMAN, { brand: 'ext/ernal 42' })).toMatchObject({
    brand: 'ext/ernal 42',
  });
});

const XLIFF =
  '<?xml version="1.0"?><xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">' +
  '<file original="a" source-language="en" datatype="plaintext"><header/><body>' +
  '<trans-unit id="1"><source>Big house</source></trans-unit>' +
  '<trans-unit id="2"><source>Small <x id="1"/> tree</source></trans-unit></body></file></xliff>';

conforms('2.7.1', async () => {
  const { uid } = await created(production, MACHINE, { text_format: 'xliff', text: XLIFF });
  const { translated_text } = await withStatus(production, MACHINE, uid, 'completed');
  expect(translated_text).toContain('<target>BIG HOUSE</target>');
  expect(translated_text).toContain('<target>SMALL <x id="1"/> TREE</target>');
  expect(translated_text.replace(/\s*<target>.*?<\/target>/g, '')).toBe(XLIFF);
});

conforms('2.7.2', async () => {
  const text =
    '1\n00:00:01,000 --> 00:00:02,500\nHello there.\n\n2\n00:01:02,003 --> 01:00:00,000\nTwo more.\n';
  const { uid } = await created(production, MACHINE, { text_format: 'srt', text });
  expect((await withStatus(production, MACHINE, uid, 'completed')).translated_text).toBe(
    '1\n00:00:01,000 --> 00:00:02,500\nHELLO THERE.\n\n2\n00:01:02,003 --> 01:00:00,000\nTWO MORE.\n',
  );
});

conforms('2.7.3', async () => {
  const text = '<p>Hi <span class="notranslate" origval="%(name)s">Ann</span>, hello</p>';
  const { uid } = await created(production, MACHINE, { text_format: 'html', text });
  expect((await withStatus(production, MACHINE, uid, 'completed')).translated_text).toBe(
    '<p>HI <span class="notranslate" origval="%(name)s">%(name)s</span>, HELLO</p>',
  );
});

// ── 3. States

conforms('3.1.1', async () => {
  for (const status of SPEC_STATUSES) await listed(`status=${status}`);
  const refused = await production('GET', `${HUMAN}?status=done`);
  expect(refused.status).toBe(400);
  for (const status of SPEC_STATUSES) expect(refused.body.error).toContain(status);
});

conforms('3.1.2', async () => {
  expect((await created(production, MACHINE)).status).toBe('machine_translate_in_progress');
});

conforms('3.1.3', async () => {
  for (const status of ['new', 'translating', 'completed', 'failed', 'canceled']) {
    await listed(`status=${status}`, MACHINE);
  }
  const { uid } = await created(production, MACHINE);
  await withStatus(production, MACHINE, uid, 'completed');
  expect(await listed(`status=completed&uid=${uid}`, MACHINE)).toEqual([uid]);
  expect(await listed(`status=failed&uid=${uid}`, MACHINE)).toEqual([]);
});

conforms('3.1.4', async () => {
  const human = await created(production, HUMAN);
  expect(human.status).toBe('new');
  // A human job in production now waits for an editor.
  await withStatus(production, HUMAN, human.uid, 'translating');
  const automatic = await created(sandbox, HUMAN);
  expect(automatic.status).toBe('new');
  await withStatus(sandbox, HUMAN, automatic.uid, 'translating');
  await passHold(automatic.uid);
  await withStatus(sandbox, HUMAN, automatic.uid, 'completed');
});

conforms('3.1.5', async () => {
  const { uid } = await created(sandbox, HUMAN);
  const { rows } = await owner.query(
    'select extract(epoch from hold_until - created_at)::int as seconds from jobs where uid = $1',
    [uid],
  );
  expect(rows).toEqual([{ seconds: 120 }]);
  await withStatus(sandbox, HUMAN, uid, 'translating');
  await passHold(uid);
  await withStatus(sandbox, HUMAN, uid, 'completed');
});

// ── 4. Endpoints

const EVERY_ENDPOINT: [method: string, path: string, body?: unknown][] = [
  ['GET', '/tapi/v2/language_pair/'],
  ['GET', '/tapi/v2/tone/'],
  ['GET', '/tapi/v2/topic/'],
  ['GET', '/tapi/v2/account/'],
  ['POST', '/tapi/v2/wordcount/', { text: 'a' }],
  ['POST', HUMAN, job()],
  ['GET', HUMAN],
  ['GET', `${HUMAN}any/`],
  ['DELETE', `${HUMAN}any/`],
  ['PATCH', HUMAN, { objects: [job()] }],
  ['POST', MACHINE, job()],
  ['GET', MACHINE],
  ['GET', `${MACHINE}any/`],
  ['DELETE', `${MACHINE}any/`],
  ['PATCH', `${MACHINE}any/`, { status: 'upgrade' }],
];

conforms('4.0.1', async () => {
  for (const [method, path, body] of EVERY_ENDPOINT) {
    const answer = await createClient(server.url, 'acme:wrong')(method, path, body);
    expect(answer.status, `${method} ${path}`).toBe(401);
    expect(answer.body).toEqual({ error: 'Unauthorized' });
    expect(answer.headers.get('www-authenticate')).toBe('ApiKey');
  }
});

conforms('4.1.1', async () => {
  const { status, body } = await production('GET', '/tapi/v2/language_pair/');
  expect(status).toBe(200);
  expect(Object.keys(body)).toEqual(['objects']);
  for (const { lang_pair } of body.objects) {
    await created(production, MACHINE, {
      source_language: lang_pair.source_language.shortname,
      target_language: lang_pair.target_language.shortname,
    });
  }
});

conforms('4.2.1', async () => {
  for (const field of ['text', 'target_language']) {
    const refused = await production('POST', HUMAN, job({ [field]: undefined }));
    expect(refused.status).toBe(400);
    expect(refused.body.error).toBe(`${field}: This field is required.`);
  }
  // A job without a source language has its language detected. A text whose language cannot be determined is
  // refused.
  const undecided = await production('POST', HUMAN, job({ source_language: undefined, text: '12345' }));
  expect(undecided.status).toBe(400);
  expect(undecided.body.error).toMatch(/^source_language: /);
  await created(production, HUMAN, {
    target_text: null,
    text_format: null,
    uid: null,
    callback_url: null,
    brand: null,
    tone: null,
    topics: [],
  });
});

conforms('4.2.2', async () => {
  for (const call of [production, sandbox]) {
    const body = await created(call, HUMAN, { tone: 'Formal', topics: ['tech'] });
    expect(Object.keys(body).sort()).toEqual([
      'balance',
      'client',
      'order_number',
      'price',
      'source_language',
      'status',
      'target_language',
      'text',
      'text_format',
      'tone',
      'topics',
      'uid',
    ]);
  }
});

conforms('4.2.3', async () => {
  for (const body of [{}, [], 'null', job({ text: ' ' }), job({ text: 7 }), job({ uid: 'a b' })]) {
    const refused = await production('POST', HUMAN, body);
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatch(/^\w+: /);
  }
});

conforms('4.3.1', async () => {
  for (const uid of ['look-one-1', 'look-two-1', 'other-two-2']) await created(production, HUMAN, { uid });
  expect(await listed('uid=look-one-1')).toEqual(['look-one-1']);
  expect(await listed('uid__startswith=look-')).toEqual(['look-one-1', 'look-two-1']);
  expect(await listed('uid__endswith=-two-2')).toEqual(['other-two-2']);
  expect(await listed('uid__contains=-two-')).toEqual(['look-two-1', 'other-two-2']);
  expect((await production('GET', `${HUMAN}?uid__like=a`)).status).toBe(400);
});

conforms('4.3.2', async () => {
  const { uid } = await created(production, HUMAN);
  await withStatus(production, HUMAN, uid, 'translating');
  expect(await listed(`status=translating&uid=${uid}`)).toEqual([uid]);
  expect(await listed(`status=completed&uid=${uid}`)).toEqual([]);
});

conforms('4.3.3', async () => {
  await created(production, HUMAN, { uid: 'lang-es' });
  await created(production, HUMAN, { uid: 'lang-fr', target_language: 'fr' });
  await created(production, HUMAN, { uid: 'lang-en', source_language: 'es', target_language: 'en' });
  const found = (query: string) => listed(`uid__startswith=lang-&${query}`);
  expect(await found('target_language=es')).toEqual(['lang-es']);
  expect(await found('target_language__in=es,fr')).toEqual(['lang-es', 'lang-fr']);
  expect(await found('target_language__in=es&target_language__in=en')).toEqual(['lang-es', 'lang-en']);
  expect(await found(`target_language__in=${encodeURIComponent('["fr","en"]')}`)).toEqual([
    'lang-fr',
    'lang-en',
  ]);
  expect(await found('target_language__nin=es,fr')).toEqual(['lang-en']);
  expect(await found('target_language__ne=es')).toEqual(['lang-fr', 'lang-en']);
  expect(await found('source_language=es')).toEqual(['lang-en']);
  expect(await found('source_language__ne=es')).toEqual(['lang-es', 'lang-fr']);
  expect(await found('source_language__in=es,en&target_language__nin=en')).toEqual(['lang-es', 'lang-fr']);
});

conforms('4.3.4', async () => {
  const { uid } = await created(production, HUMAN);
  const { body } = await production('GET', `${HUMAN}?uid=${uid}`);
  expect(body.meta.total_count).toBe(1);
  expect(Object.keys(body.objects[0]).sort()).toEqual([
    'order_number',
    'price',
    'source_language',
    'status',
    'target_language',
    'text_format',
    'uid',
  ]);
  for (const query of ['limit=-1', 'limit=a', 'limit=1001', 'offset=-1', 'offset=x', 'status=none']) {
    expect((await production('GET', `${HUMAN}?${query}`)).status, query).toBe(400);
  }
});

const DETAIL = [
  'balance',
  'client',
  'price',
  'source_language',
  'status',
  'target_language',
  'text',
  'text_format',
  'uid',
];

conforms('4.4.1', async () => {
  const { uid } = await created(sandbox, HUMAN);
  expect(Object.keys(await read(sandbox, HUMAN, uid)).sort()).toEqual(DETAIL);
  await passHold(uid);
  const body = await withStatus(sandbox, HUMAN, uid, 'completed');
  expect(Object.keys(body).sort()).toEqual([...DETAIL, 'translated_text'].sort());
});

conforms('4.4.2', async () => {
  const objects = [job({ uid: 'bulk-1' }), job({ text: 'Another house.' })];
  const answer = await production('PATCH', HUMAN, { objects });
  expect(answer.status).toBe(202);
  expect(answer.body.objects.map(({ text }: { text: string }) => text)).toEqual(
    objects.map(({ text }) => text),
  );
  for (const { uid } of answer.body.objects) expect((await read(production, HUMAN, uid)).uid).toBe(uid);
});

conforms('4.5.1', async () => {
  const { uid, balance, price } = await created(production, HUMAN);
  const canceled = await production('DELETE', `${HUMAN}${uid}/`);
  expect([canceled.status, canceled.text]).toEqual([200, '']);
  expect(await read(production, HUMAN, uid)).toMatchObject({
    status: 'canceled',
    balance: (balance as number) + (price as number),
  });
  const again = await production('DELETE', `${HUMAN}${uid}/`);
  expect(again.status).toBe(400);
});

conforms('4.6.1', async () => {
  expect(Object.keys(await created(production, MACHINE)).sort()).toEqual([
    'origin',
    'source_language',
    'status',
    'target_language',
    'text',
    'text_format',
    'uid',
  ]);
  expect((await production('POST', MACHINE, {})).status).toBe(400);
});

conforms('4.7.1', async () => {
  await created(production, MACHINE, { uid: 'machine-a' });
  await created(production, HUMAN, { uid: 'machine-b' });
  expect(await listed('uid__startswith=machine-', MACHINE)).toEqual(['machine-a']);
  expect((await production('GET', `${MACHINE}?limit=x`)).status).toBe(400);
});

conforms('4.8.1', async () => {
  const { uid } = await created(production, MACHINE);
  const body = await withStatus(production, MACHINE, uid, 'completed');
  expect(Object.keys(body).sort()).toEqual([...DETAIL, 'translated_text'].sort());
});

conforms('4.9.1', async () => {
  for (const { tone } of (await production('GET', '/tapi/v2/tone/')).body.objects) {
    await created(production, HUMAN, { tone: tone.name });
  }
  for (const { topic } of (await production('GET', '/tapi/v2/topic/')).body.objects) {
    await created(production, HUMAN, { topics: [topic.name] });
  }
});

// ── 5 to 9

conforms('5.1', async () => {
  const [user, secret] = credentials.production_key.split(':');
  const as = async (authorization: string) =>
    (await fetch(`${server.url}${HUMAN}`, { headers: { authorization } })).status;
  expect(await as(`ApiKey ${user}:${secret}`)).toBe(200);
  expect(await as(`apikey ${user}:${secret}`)).toBe(200);
  expect(await as(`Bearer ${user}:${secret}`)).toBe(401);
  expect(await as(`ApiKey ${secret}:${user}`)).toBe(401);
  expect(await as(`ApiKey ${user}`)).toBe(401);
});

conforms('5.2', async () => {
  for (const type of ['application/json', 'text/plain', 'application/json; charset=latin1']) {
    expect((await production('POST', MACHINE, job(), { 'content-type': type })).status).toBe(201);
  }
});

conforms('5.3', async () => {
  const wrongDoor = createClient(server.url, credentials.sandbox_key);
  expect((await wrongDoor('GET', HUMAN)).status).toBe(401);
  expect((await production('GET', `/sandbox${HUMAN}`)).status).toBe(401);
  expect((await sandbox('GET', HUMAN)).status).toBe(200);
});

conforms('6.1', async () => {
  const { uid } = await created(production, MACHINE, { callback_url: `${receiver.url}/6.1` });
  const { body, headers } = await receiver.next(({ path }) => path === '/6.1');
  expect(headers['content-type']).toBe('application/json');
  const detail = await read(production, MACHINE, uid);
  const { balance: _, client: __, ...shown } = detail;
  expect(JSON.parse(body)).toMatchObject(shown);
  expect(shown.status).toBe('completed');
});

conforms('7.1', async () => {
  const refused = await production('POST', HUMAN, { text: '', topics: 'tech' });
  expect(refused.status).toBe(400);
  expect(Object.keys(refused.body)).toEqual(['error']);
  expect(refused.body.error.split('\n').sort()).toEqual([
    'target_language: This field is required.',
    'text: must not be empty.',
    'topics: must be a list of strings.',
  ]);
});

conforms('8.1', async () => {
  const { body } = await production('GET', HUMAN);
  expect(body.meta.limit).toBe(20);
  expect(body.objects).toHaveLength(20);
});

conforms('8.2', async () => {
  expect(loadSettings({}).sandboxHoldSeconds).toBe(120);
});

conforms('8.3', async () => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      production('POST', MACHINE, job({ uid: 'one', text: `House ${n}` })),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(400)]);
});

conforms('9.1', async () => {
  expect((await production('GET', '/tapi/v2/translation/')).status).toBe(200);
  for (const version of ['v1', 'v3']) {
    expect((await production('GET', `/tapi/${version}/translation/`)).status).toBe(404);
  }
});

/** Imports a brand as the command `brand import` does. */
async function importBrand(externalId: string, fields: Record<string, unknown>): Promise<void> {
  const { ref } = await accountNamed(server.database, 'acme');
  const file = { external_id: externalId, name: externalId, languages: {}, ...fields };
  await saveBrand(server.database, 'command', ref, readBrandFile('test', JSON.stringify(file)), false);
}
