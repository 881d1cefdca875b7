/**
 * Tests that segments in another language are not translated in jobs, bulk requests, the sandbox, chats, word
 * counts and the workbench.
 */
import type { Format } from '@dragoman/documents';
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { createPool } from '../database/connections.ts';
import { claimTask, editNext, orderEdit, pathOf, save } from '../testing/editors.ts';
import { createClient, createPerson, startTestServer, type TestServer, until } from '../testing/harness.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const PRICE = 3;

let server: TestServer;
let owner: pg.Pool;
let engine: FakeEngine;
let account: AccountCredentials;
let call: ReturnType<typeof createClient>;
let sandbox: ReturnType<typeof createClient>;

beforeAll(async () => {
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      return engine;
    },
    settings: {
      DRAGOMAN_SANDBOX_HOLD: '0',
      DRAGOMAN_PRICE_MACHINE: String(PRICE),
      DRAGOMAN_PRICE_HUMAN: String(PRICE),
      // Jobs that editors finished in this file lower no price.
      DRAGOMAN_EXACT_SHARE: '100',
      DRAGOMAN_CONTEXT_SHARE: '100',
    },
  });
  owner = createPool(server.connection);
  account = await server.createAccount({ balanceCents: 1_000_000, chat: true });
  call = createClient(server.url, account.production_key);
  sandbox = createClient(`${server.url}/sandbox`, account.sandbox_key);
});
afterAll(async () => {
  await owner.end();
  await server.stop();
});

const RUSSIAN = 'Привет, как дела? Это довольно длинное предложение на русском языке.';
const LINES = `The house is big.\n${RUSSIAN}\n𝐛𝐨𝐥𝐝 𝐥𝐞𝐭𝐭𝐞𝐫𝐬\n日本語\n🎉🎉🎉🎉🎉🎉 ok\nThe red door.\n`;
const TRANSLATED = LINES.replace('The house is big.', 'THE HOUSE IS BIG.').replace(
  'The red door.',
  'THE RED DOOR.',
);
const languages = { source_language: 'en', target_language: 'es' };

let uids = 0;
const freshUid = () => `kept-${++uids}`;

/** Waits until a job is completed or failed, and returns it. */
async function ended(by: typeof call, path: string, uid: string) {
  return until(async () => {
    const { body } = await by('GET', `${path}${uid}/`);
    return ['completed', 'failed'].includes(body.status) && body;
  });
}

/** Creates a job and waits until it is completed or failed. */
async function made(by: typeof call, path: string, fields: object) {
  const uid = freshUid();
  const created = await by('POST', path, { ...languages, ...fields, uid });
  expect(created.status, created.text).toBe(201);
  return ended(by, path, uid);
}

/** Returns the amount that was held for a job, in cents. */
async function heldFor(uid: string): Promise<number> {
  const { rows } = await owner.query(
    `select coalesce(sum(amount_cents), 0)::int as cents from transfers join jobs using (part, account_id, job_id)
      where uid = $1 and kind = 'hold'`,
    [uid],
  );
  return rows[0].cents;
}

/** Returns all requests to the engine as one JSON text. */
const asked = () => JSON.stringify(engine.requests);

describe('segments in another language', () => {
  it('are neither translated nor charged in a machine job', async () => {
    const job = await made(call, MACHINE, { text: LINES });
    expect(job).toMatchObject({ status: 'completed', translated_text: TRANSLATED });
    expect(await heldFor(job.uid)).toBe(7 * PRICE);
    expect(asked()).not.toMatch(/Привет|日本語|𝐛|🎉/u);
  });

  it('are not translated in a sandbox job and in a bulk request', async () => {
    const job = await made(sandbox, HUMAN, { text: LINES });
    expect(job).toMatchObject({ status: 'completed', translated_text: TRANSLATED, price: 7 * PRICE });
    const [first, second] = [freshUid(), freshUid()];
    const objects = [
      { ...languages, uid: first, text: LINES },
      { ...languages, uid: second, text: RUSSIAN },
    ];
    const bulk = await sandbox('PATCH', HUMAN, { objects });
    expect(bulk.body.objects.map(({ price }: { price: number }) => price)).toEqual([7 * PRICE, 0]);
    expect((await ended(sandbox, HUMAN, first)).translated_text).toBe(TRANSLATED);
    expect((await ended(sandbox, HUMAN, second)).translated_text).toBe(RUSSIAN);
  });

  it('are not translated in a chat message', async () => {
    const created = await call('POST', '/v2/chats/messages', {
      chat_external_id: 'kept',
      external_id: 'm1',
      text_format: 'text',
      ...languages,
      text: `Hello there.\n${RUSSIAN}`,
    });
    const { chat, message } = created.body;
    const read = await until(async () => {
      const { body } = await call('GET', `/v2/chats/${chat.id}/messages/${message.id}`);
      return body.message.status === 'deliver_complete' && body.message;
    });
    expect(read.translated_text).toBe(`HELLO THERE.\n${RUSSIAN}`);
  });

  it('are not counted by /wordcount/ when the request names the source language', async () => {
    const count = async (fields: object) =>
      (await call('POST', '/tapi/v2/wordcount/', { text: LINES, ...fields })).body.word_count;
    expect(await count({ source_language: 'en' })).toBe(7);
    expect(await count({})).toBeGreaterThan(15);
  });

  it('are not translated when the source language is detected', async () => {
    const text = `${'The house stands near the river, and the door is red. '.repeat(3)}\n${RUSSIAN}`;
    const job = await made(call, MACHINE, { text, source_language: null });
    expect(job).toMatchObject({ status: 'completed', source_language: 'en' });
    expect(job.translated_text).toBe(`${text.split('\n')[0]!.toUpperCase()}\n${RUSSIAN}`);
  });

  it('leave the text unchanged and free of charge when the job has no other segments', async () => {
    const text =
      '<ul>\n<li lang="de">Deutsch</li>\n<li>Русский</li>\n<li lang="fr">Français&nbsp;&amp; more</li></ul>';
    const job = await made(call, MACHINE, { text, text_format: 'html' });
    expect(job).toMatchObject({ status: 'completed', translated_text: text });
    expect(await heldFor(job.uid)).toBe(0);
  });

  it('are shown to the editor with the reason why they were not translated, and the editor can change them', async () => {
    await owner.query('update users set review_share = 0');
    const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
    const text = `<p>The house is big.</p><p lang="de">Das Haus ist gro&szlig;.</p><p>${RUSSIAN}</p><p>★★★★ a</p>`;
    const uid = await orderEdit(call, text, { text_format: 'html' });
    expect(await heldFor(uid)).toBe(4 * PRICE);
    const task = await claimTask(editor);
    expect(task.words).toBe(4);
    const { body } = await editor.call('GET', pathOf(task));
    const kept = (reason: string) => ({ origin: 'kept', kept: reason, route: `kept:${reason}` });
    expect(body.segments).toMatchObject([
      { origin: 'machine' },
      kept('language'),
      kept('script'),
      kept('script'),
      kept('symbols'),
    ]);
    expect(body.segments[0]).not.toHaveProperty('kept');
    for (const [position, segment] of body.segments.entries()) {
      const draft = position === 1 ? [{ text: 'La casa.' }] : segment.draft;
      const saved = await save(editor, task, { ...segment, draft }, { status: 'confirmed' });
      // A segment that is not translated may have its source as its target. This causes no warning, so the save is
      // accepted.
      expect(saved.status, saved.text).toBe(200);
    }
    const submitted = await editor.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    expect(submitted.status, submitted.text).toBeLessThan(300);
    expect((await ended(call, HUMAN, uid)).translated_text).toBe(
      text.replace('The house is big.', 'THE HOUSE IS BIG.').replace('Das Haus ist gro&szlig;.', 'La casa.'),
    );
  });
});

const WRAPS: Record<Format, (all: readonly string[]) => string> = {
  text: (all) => all.join('\n'),
  html: (all) => all.map((one) => `<p>${one}</p>`).join('\n'),
  srt: (all) =>
    all.map((one, at) => `${at + 1}\n00:${10 + at}:00,000 --> 00:${10 + at}:02,000\n${one}\n`).join('\n'),
  vtt: (all) =>
    `WEBVTT\n\n${all.map((one, at) => `00:${10 + at}:00.000 --> 00:${10 + at}:02.000\n${one}\n`).join('\n')}`,
  xliff: (all) =>
    `<xliff version="1.2"><file original="a" source-language="en" datatype="plaintext"><body>${all
      .map((one, at) => `<trans-unit id="${at}"><source>${one}</source><target>-</target></trans-unit>`)
      .join('')}</body></file></xliff>`,
};
/** Returns the expected result: the document with each source replaced by its target. */
const resultOf = (format: Format, sources: readonly string[], targets: readonly string[]) =>
  format !== 'xliff'
    ? WRAPS[format](targets)
    : sources.reduce(
        (text, source, at) =>
          text.replace(
            `<source>${source}</source><target>-`,
            `<source>${source}</source><target>${targets[at]}`,
          ),
        WRAPS.xliff(sources),
      );

describe.each(Object.keys(WRAPS) as Format[])('a text of several languages in %s', (format) => {
  const own = fc.constantFrom('The house is big.', 'A red door.', 'We like it here, near the river.');
  const foreign = fc.constantFrom(
    RUSSIAN,
    'Русский',
    '日本語',
    'العربية',
    '𝐛𝐨𝐥𝐝',
    '🎉🎉🎉🎉 a',
    'Ελλάδα 2024',
  );
  const segment = fc.oneof(
    own.map((text) => ({ text, kept: false })),
    foreign.map((text) => ({ text, kept: true })),
  );

  it('is completed: segments in other languages stay unchanged, and the other segments are translated and charged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(segment, { minLength: 1, maxLength: 10 }), async (all) => {
        const sources = all.map(({ text }) => text);
        const targets = all.map(({ text, kept }) => (kept ? text : text.toUpperCase()));
        const job = await made(call, MACHINE, { text: WRAPS[format](sources), text_format: format });
        expect(job.translated_text).toBe(resultOf(format, sources, targets));
        const words = all.filter(({ kept }) => !kept).flatMap(({ text }) => text.split(' '));
        expect(await heldFor(job.uid)).toBe(words.length * PRICE);
      }),
      { numRuns: 8 },
    );
  });
});

const XLIFF = (units: string) =>
  `<xliff version="1.2"><file original="a" source-language="en" datatype="plaintext"><body>${units}</body></file></xliff>`;
const SUPPLIED: [name: string, format: Format, text: string, target: string, result: string][] = [
  [
    'text',
    'text',
    'The house is big.\n\nWe like it.\n',
    'La casa.\n\nNos gusta.\n',
    'La casa.\n\nNos gusta.\n',
  ],
  [
    'html with a variable',
    'html',
    '<p>Dear <span class="notranslate" origval="%N%">Ann</span>, welcome.</p>',
    '<p>Querida <span class="notranslate" origval="%N%">Ana</span>, bienvenida.</p>',
    '<p>Querida <span class="notranslate" origval="%N%">%N%</span>, bienvenida.</p>',
  ],
  [
    'srt',
    'srt',
    '1\n00:00:01,000 --> 00:00:04,000\nThe house is big.\n',
    '1\n00:00:01,000 --> 00:00:04,000\nLa casa.\n',
    '1\n00:00:01,000 --> 00:00:04,000\nLa casa.\n',
  ],
  [
    'xliff with targets',
    'xliff',
    XLIFF('<trans-unit id="1"><source>House</source></trans-unit>'),
    XLIFF('<trans-unit id="1"><source>House</source><target>Casa</target></trans-unit>'),
    XLIFF('<trans-unit id="1"><source>House</source><target>Casa</target></trans-unit>'),
  ],
];

describe('a supplied translation', () => {
  it.each(SUPPLIED)('gives the same result in the sandbox and in production: %s', async (...given) => {
    const [, text_format, text, target_text, result] = given;
    const fields = { text, target_text, text_format };
    const tested = await made(sandbox, HUMAN, fields);
    expect(tested.translated_text).toBe(result);
    const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
    await owner.query('update users set review_share = 0');
    const uid = await orderEdit(call, text, { target_text, text_format });
    await editNext(editor);
    expect((await ended(call, HUMAN, uid)).translated_text).toBe(tested.translated_text);
  });

  it.each([
    ['a text without letters', '123', 'ciento veintitrés'],
    ['a shorter text', 'Hello there.\n\nGoodbye now.', 'Hola y adiós.'],
  ])(
    'is delivered unchanged by the sandbox even if it does not correspond to the source: %s',
    async (_, text, target_text) => {
      const job = await made(sandbox, HUMAN, { text, text_format: 'text', target_text });
      expect(job.translated_text).toBe(target_text);
    },
  );

  it('gives every XLIFF trans-unit a target in the sandbox when only some targets are supplied', async () => {
    const units = (second: string) =>
      XLIFF(
        `<trans-unit id="1"><source>House</source><target>Casa</target></trans-unit><trans-unit id="2"><source>Dog</source>${second}</trans-unit>`,
      );
    const text = units('').replace('<target>Casa</target>', '');
    const { translated_text } = await made(sandbox, HUMAN, {
      text,
      target_text: units(''),
      text_format: 'xliff',
    });
    expect(translated_text).toBe(units('<target>Dog</target>'));
  });
});
