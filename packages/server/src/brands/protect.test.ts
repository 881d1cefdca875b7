/** Tests the patterns of a brand over HTTP: in jobs of all formats, in chats and the workbench, and after a change of the brand. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { subscribe } from '../chats/chats.ts';
import { statement } from '../database/statements.ts';
import { claimTask, confirm, confirmAll, orderEdit, pathOf } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';
import { readBrandFile } from './brand.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const SETTINGS = statement<{ hash: string; settings: unknown }>(
  'test.document_settings',
  `select hash, settings from document_settings where part = $1 and account_id = $2`,
);

let server: TestServer;
let engine: FakeEngine;
let operator: TestPerson;
beforeAll(async () => {
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      return engine;
    },
    settings: { DRAGOMAN_PRICE_HUMAN: '3', DRAGOMAN_PRICE_MACHINE: '1' },
  });
  operator = await createPerson(server, { role: 'operator' });
});
afterAll(() => server.stop());

const PROTECT = [String.raw`(?i)\bhouse of \w+`, String.raw`\bmodel \d+`];
const TEXT = 'The House of Windows sells model 12 doors.';

async function customer() {
  const credentials = await server.createAccount({ balanceCents: 100_000 });
  const { ref } = await accountNamed(server.database, credentials.username);
  const base = `/api/console/accounts/${credentials.username}/brands`;
  /** Publishes a brand with these patterns. */
  const save = async (protect: string[], brand = 'shop') => {
    if ((await operator.call('GET', `${base}/${brand}`)).status === 404) {
      await operator.call('POST', base, { external_id: brand, default: brand === 'shop' });
    }
    const revision = (await operator.call('GET', `${base}/${brand}`)).body.draft?.revision ?? 0;
    const drafted = await operator.call('PATCH', `${base}/${brand}/draft`, { revision, protect });
    expect(drafted.status, drafted.text).toBe(200);
    const published = await operator.call('POST', `${base}/${brand}/publish`, { revision: revision + 1 });
    expect(published.status, published.text).toBe(200);
  };
  await save(PROTECT);
  return {
    ...credentials,
    ref,
    path: `${base}/shop`,
    call: createClient(server.url, credentials.production_key),
    save,
    stored: () => server.database.query(SETTINGS, [ref.part, ref.accountId]),
  };
}

const body = (fields: object) => ({ text: TEXT, source_language: 'en', target_language: 'es', ...fields });

/** Creates a machine job. @returns the completed job */
async function translate(call: ReturnType<typeof createClient>, fields: object) {
  const created = await call('POST', MACHINE, body(fields));
  expect(created.status, created.text).toBe(201);
  return waitForStatus(call, `${MACHINE}${created.body.uid}/`);
}

describe('what a pattern of a brand matches', () => {
  it.each([
    ['text', TEXT, 'THE House of Windows SELLS model 12 DOORS.'],
    [
      'html',
      '<p>The <b>House of &amp;co</b>, House of Fun</p><img alt="a model 12">',
      '<p>THE <b>HOUSE OF &amp;CO</b>, House of Fun</p><img alt="A model 12">',
    ],
    [
      'srt',
      '1\n00:00:01,000 --> 00:00:02,000\nSee model 12 now.\n',
      '1\n00:00:01,000 --> 00:00:02,000\nSEE model 12 NOW.\n',
    ],
    [
      'xliff',
      '<xliff version="1.2"><file source-language="en" original="a" datatype="plaintext"><body><trans-unit id="1"><source>See &lt;b&gt;model 12&lt;/b&gt;</source></trans-unit></body></file></xliff>',
      '<source>See &lt;b&gt;model 12&lt;/b&gt;</source><target>SEE &lt;b&gt;model 12&lt;/b&gt;</target>',
    ],
  ])(
    'is copied, is not counted and costs nothing in a job of format %s',
    async (text_format, text, wanted) => {
      const { call, save } = await customer();
      const quoted = (await call('POST', '/api/v1/quote/', body({ text, text_format }))).body;
      const counted = (
        await call('POST', '/tapi/v2/wordcount/', { text, text_format, source_language: 'en' })
      ).body;
      expect(counted.word_count).toBe(quoted.word_count);
      const made = await translate(call, { text, text_format });
      expect(made.translated_text).toContain(wanted);
      expect(made.price).toBe(quoted.machine_price);
      await save([]);
      const full = (await call('POST', '/api/v1/quote/', body({ text, text_format }))).body;
      expect(full.word_count).toBeGreaterThan(quoted.word_count);
      expect(full.human_price).toBeGreaterThan(quoted.human_price);
      expect((await translate(call, { text, text_format })).translated_text).not.toContain(wanted);
    },
  );

  it('is copied and not counted in a text that a scanner process reads', async () => {
    const { call } = await customer();
    const text = `${TEXT}\n`.repeat(200);
    const { body: quoted } = await call('POST', '/api/v1/quote/', body({ text }));
    expect(quoted.word_count).toBe(3 * 200);
    const { translated_text } = await translate(call, { text });
    expect(translated_text).toBe('THE House of Windows SELLS model 12 DOORS.\n'.repeat(200));
  });

  it('is copied in a chat message, with the patterns of the chat’s brand or else of the default brand', async () => {
    const { ref, call, save } = await customer();
    await subscribe(server.database, ref, { pairs: null });
    await save(['doors'], 'other');
    const send = async (chat_external_id: string, fields: object = {}) => {
      const message = { chat_external_id, external_id: `${chat_external_id}-1`, text_format: 'text' };
      const { body: sent } = await call('POST', '/v2/chats/messages', body({ ...message, ...fields }));
      const path = `/v2/chats/${sent.chat.id}/messages/${sent.message.id}`;
      return until(async () => (await call('GET', path)).body.message.translated_text);
    };
    expect(await send('a')).toBe('THE House of Windows SELLS model 12 DOORS.');
    expect(await send('b', { brand: 'unknown' })).toBe('THE House of Windows SELLS model 12 DOORS.');
    expect(await send('c', { brand: 'other' })).toBe('THE HOUSE OF WINDOWS SELLS MODEL 12 doors.');
  });

  it('reaches engines as a protected word', async () => {
    const { call } = await customer();
    await translate(call, { text: 'Open model 77 gently.' });
    const sent = engine.requests.flatMap(({ segments }) => segments.map(({ pieces }) => pieces));
    expect(sent).toContainEqual([{ text: 'Open ' }, { keep: 1, text: 'model 77' }, { text: ' gently.' }]);
  });
});

describe('a job whose brand has patterns', () => {
  it('is edited and delivered with the patterns of its creation after they changed', async () => {
    const { call, save } = await customer();
    const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
    const uid = await orderEdit(call, `${TEXT}\nA model 9 and a door.\n`);
    const { price } = (await call('GET', `${HUMAN}${uid}/`)).body;
    await save(['doors']);
    const task = await claimTask(editor);
    expect(task.segments.map(({ source }: { source: unknown }) => source)).toEqual([
      [
        { text: 'The ' },
        { keep: 1, text: 'House of Windows' },
        { text: ' sells ' },
        { keep: 2, text: 'model 12' },
        { text: ' doors.' },
      ],
      [{ text: 'A ' }, { keep: 1, text: 'model 9' }, { text: ' and a door.' }],
    ]);
    const [first] = task.segments;
    const target = [
      { text: 'La ' },
      { keep: 1, text: 'House of Windows' },
      { text: ' vende puertas ' },
      { keep: 2, text: 'model 12' },
      { text: '.' },
    ];
    const lost = await confirm(editor, task, first, { target: [{ text: 'La casa vende puertas.' }] });
    expect(lost.status, lost.text).not.toBe(200);
    await confirm(editor, task, first, { target });
    const preview = await editor.call('GET', pathOf(task, '/preview'));
    expect(preview.body.text).toBe('La House of Windows vende puertas model 12.\nA model 9 AND A DOOR.\n');
    await confirmAll(editor, task);
    await editor.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    const done = await waitForStatus(call, `${HUMAN}${uid}/`);
    expect(done.translated_text).toContain('House of Windows');
    expect(done.price).toBe(price);
  });

  it('is translated with the patterns of its creation when they changed between two attempts', async () => {
    const { call, save } = await customer();
    engine.failOn('first');
    const before = engine.requests.length;
    const created = await call('POST', MACHINE, body({ text: 'See model 5 first.' }));
    await engine.waitForRequests(before + 1);
    await save([]);
    engine.failOn(null);
    const owner = await server.connectOwner();
    const read = await until(async () => {
      await owner.query('update jobs set due_at = now() where due_at > now() and lease_token is null');
      const { body: job } = await call('GET', `${MACHINE}${created.body.uid}/`);
      return job.status === 'completed' ? job : undefined;
    });
    expect(read.translated_text).toBe('SEE model 5 FIRST.');
  });

  it('shares the stored patterns with other jobs and messages, and a job without patterns stores none', async () => {
    const { call, save, stored } = await customer();
    for (const text of ['A model 1.', 'A model 2.']) await translate(call, { text });
    expect(await stored()).toMatchObject([{ settings: { protect: PROTECT } }]);
    await save([]);
    await translate(call, { text: 'A model 3.' });
    expect(await stored()).toHaveLength(1);
  });
});

describe('the patterns of a brand', () => {
  it('are refused with the field and the reason, in the console and in a file', async () => {
    const { path } = await customer();
    const patterns = ['fine', String.raw`(a)\1`, 'x*', '(?=a)'];
    const fields = {
      'protect[1]': String.raw`"(a)\1" has a backreference, which is not supported.`,
      'protect[2]': '"x*" matches without any character.',
      'protect[3]': '"(?=a)" has a lookahead or lookbehind, which is not supported.',
    };
    const drafted = await operator.call('PATCH', `${path}/draft`, { revision: 0, protect: patterns });
    expect(drafted).toMatchObject({ status: 400, body: { error: { fields } } });
    const tried = await operator.call('POST', `${path}/protect`, { protect: patterns, text: 'a' });
    expect(tried).toMatchObject({ status: 400, body: { error: { fields } } });
    const many = Array.from({ length: 51 }, (_, index) => `x${index}`);
    expect(
      (await operator.call('PATCH', `${path}/draft`, { revision: 0, protect: many })).body.error.fields,
    ).toEqual({ protect: 'has more than 50 patterns.' });
    const file = JSON.stringify({ external_id: 'shop', protect: ['(a'] });
    expect(() => readBrandFile('shop.json', file)).toThrow(
      'shop.json: protect[0]: "(a" is not a regular expression: missing closing ).',
    );
  });

  it('are tried on a text, published with a draft and shown to the customer', async () => {
    const { path, call, ...account } = await customer();
    const owner = await createPerson(server, { role: 'customer', account });
    const text = 'Our ACME Pro for {name}';
    const tried = await operator.call('POST', `${path}/protect`, { protect: ['ACME Pro'], text });
    expect(tried.body.parts.map(({ start, end }: never) => text.slice(start, end))).toEqual([
      'ACME Pro',
      '{name}',
    ]);
    const drafted = await operator.call('PATCH', `${path}/draft`, { revision: 0, protect: ['ACME Pro'] });
    expect(drafted.body.draft).toMatchObject({ protect: ['ACME Pro'], changes: { protect: true } });
    await operator.call('POST', `${path}/publish`, { revision: 1 });
    expect((await operator.call('GET', path)).body.published.protect).toEqual(['ACME Pro']);
    expect((await owner.call('GET', '/api/account/brands/shop')).body.protect).toEqual(['ACME Pro']);
    expect((await translate(call, { text })).translated_text).toBe('OUR ACME Pro FOR {name}');
  });
});
