/** Tests of jobs with a supplied translation: which drafts the editor gets from that translation. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool } from '../database/connections.ts';
import { editNext } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';

const PATH = '/tapi/v2/translation/';

let server: TestServer;
let owner: pg.Pool;
let call: ReturnType<typeof createClient>;
let engine: FakeEngine;

beforeAll(async () => {
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      return engine;
    },
  });
  owner = createPool(server.connection);
  const account = await server.createAccount({ balanceCents: 1_000_000 });
  call = createClient(server.url, account.production_key);
});
afterAll(async () => {
  await owner.end();
  await server.stop();
});

const order = (uid: string, text_format: string, text: string, target_text: string) =>
  call('POST', PATH, { uid, text, target_text, text_format, source_language: 'en', target_language: 'es' });

/** Waits until a job is drafted, and returns its segments. */
async function draftsOf(uid: string) {
  await waitForStatus(call, `${PATH}${uid}/`, 'translating');
  const { rows } = await owner.query(
    `select s.segment_id, s.draft, s.route, s.notes, s.failure
       from segments s join jobs using (part, account_id, job_id) where uid = $1 order by position`,
    [uid],
  );
  return rows;
}

describe('a supplied translation', () => {
  it('becomes the draft of each segment with the codes of the source, without any engine', async () => {
    const text = '<p>The house is <b>big</b>. We like it.</p><p>Yes</p>';
    const made = '<p>La casa es <b>grande</b>. Nos gusta.</p><p>Sí</p>';
    expect((await order('html', 'html', text, made)).status).toBe(201);
    const common = { route: 'supplied', notes: [], failure: null };
    expect(await draftsOf('html')).toEqual([
      {
        ...common,
        segment_id: '0.0',
        draft: [{ text: 'La casa es ' }, { open: 1 }, { text: 'grande' }, { close: 1 }, { text: '.' }],
      },
      { ...common, segment_id: '0.1', draft: [{ text: 'Nos gusta.' }] },
      { ...common, segment_id: '1.0', draft: [{ text: 'Sí' }] },
    ]);
    expect(engine.requests).toEqual([]);
  });

  it('causes a note on segments whose unit has a different number of sentences in the supplied translation', async () => {
    await order('other', 'text', 'The house is big. We like it.', 'La casa es grande y nos gusta.');
    expect(await draftsOf('other')).toMatchObject([
      { draft: [{ text: 'La casa es grande y nos gusta.' }], notes: ['sentences differ'] },
      { draft: [], notes: ['sentences differ'] },
    ]);
  });

  it('in XLIFF is read from the targets, and segments without a target get a note', async () => {
    const unit = (id: string, source: string, target = '') =>
      `<trans-unit id="${id}"><source>${source}</source>${target}</trans-unit>`;
    const document = (units: string) =>
      `<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en" datatype="plaintext"><header/><body>${units}</body></file></xliff>`;
    const text = document(unit('a', 'House') + unit('b', 'Dog'));
    const made = document(unit('a', 'House', '<target>Casa</target>') + unit('b', 'Dog'));
    expect((await order('xliff', 'xliff', text, made)).status).toBe(201);
    expect(await draftsOf('xliff')).toMatchObject([
      { draft: [{ text: 'Casa' }], failure: null },
      { draft: null, failure: 'no translation was supplied' },
    ]);
  });

  it('is aligned in a scanner process when the text is long', async () => {
    const lines = (word: string) =>
      Array.from({ length: 3000 }, (_, index) => `${word} ${index}.`).join('\n');
    await order('long', 'text', lines('The house'), lines('La casa'));
    const drafts = await draftsOf('long');
    expect(drafts).toHaveLength(3000);
    expect(drafts[2999].draft).toEqual([{ text: 'La casa 2999.' }]);
  });

  it('is refused with 400 when it does not have as many units as the text, and the error names both numbers', async () => {
    const { status, body } = await order('few', 'html', '<p>One.</p><p>Two.</p>', '<p>Uno.</p>');
    expect(status).toBe(400);
    expect(body.error).toBe('target_text: has 1 units where text has 2; both must have the same.');
  });
});

describe('a supplied translation of every format', () => {
  const html = (words: [string, string, string]) =>
    `<p>${words[0]} <b>${words[1]}</b>.</p>\n<p>${words[2]}</p>`;
  const xliff = (targets: boolean) =>
    `<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en" datatype="plaintext"><header/><body><trans-unit id="1"><source>The house is big. We like it.</source>${
      targets ? '<target>La casa es grande. Nos gusta.</target>' : ''
    }</trans-unit></body></file></xliff>`;
  const cue = (words: string) => `1\n00:00:01,000 --> 00:00:04,000\n${words}\n`;

  beforeAll(async () => {
    // Cancels the jobs of earlier tests, so that the editor's next task belongs to the current test.
    for (const uid of ['html', 'other', 'xliff', 'long']) {
      await draftsOf(uid);
      expect((await call('DELETE', `${PATH}${uid}/`)).status).toBe(200);
    }
  });

  it.each([
    ['text', 'The house is big.\n\nWe like it.\n', 'La casa es grande.\n\nNos gusta.\n'],
    ['html', html(['The house is', 'big', 'We like it.']), html(['La casa es', 'grande', 'Nos gusta.'])],
    ['srt', cue('The house is big.'), cue('La casa es grande.')],
    ['xliff', xliff(false), xliff(true)],
  ])('is what the customer gets when the editor confirms it unchanged: %s', async (format, text, made) => {
    const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
    await owner.query('update users set review_share = 0');
    const uid = `whole-${format}`;
    expect((await order(uid, format, text, made)).status).toBe(201);
    await waitForStatus(call, `${PATH}${uid}/`, 'translating');
    await editNext(editor);
    const { translated_text } = await until(async () => {
      const read = await call('GET', `${PATH}${uid}/`);
      return read.body.status === 'completed' && read.body;
    });
    expect(translated_text).toBe(made);
  });
});
