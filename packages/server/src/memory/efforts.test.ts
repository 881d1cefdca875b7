/** Tests of drafts from similar translations, which are used where editors changed less in them than in engine drafts. */
import type { Piece } from '@dragoman/documents';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import type { AccountRef } from '../base/account.ts';
import { readBrandFile } from '../brands/brand.ts';
import { saveBrand } from '../brands/brands.ts';
import { createConnection } from '../database/connections.ts';
import { deleteJobTexts } from '../retention/store.ts';
import { claimTask, confirm, emptyEditing, HUMAN, orderEdit, pathOf } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { isMemoryBetter } from './efforts.ts';
import type { EffortSums } from './efforts-store.ts';
import { importEntries } from './memory.ts';

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const PAIR = { from: 'en', to: 'es', brand: undefined };

let server: TestServer;
let owner: pg.Client;
let editor: TestPerson;
beforeAll(async () => {
  server = await startTestServer({
    settings: { DRAGOMAN_TASK_WORDS: '1000', DRAGOMAN_EDITOR_TASKS: '9', DRAGOMAN_SANDBOX_HOLD: '0' },
  });
  owner = createConnection(server.connection);
  await owner.connect();
  editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  await owner.query('update users set review_share = 0');
});
beforeEach(() => emptyEditing(owner));
afterAll(async () => {
  await owner.end();
  await server.stop();
});

interface Customer {
  call: ReturnType<typeof createClient>;
  sandbox: ReturnType<typeof createClient>;
  ref: AccountRef;
}

/** Creates an account whose memory has the sentence about the old gate, with the tone `Formal`. */
async function customer(): Promise<Customer> {
  const account = await server.createAccount({ balanceCents: 1_000_000 });
  const { ref } = await accountNamed(server.database, account.username);
  await importEntries(server.database, ref, PAIR, [
    { source: [{ text: source('old') }], target: [{ text: target('antigua') }], tone: 'Formal' },
  ]);
  const [call, sandbox] = [account.production_key, account.sandbox_key].map((key) =>
    createClient(server.url, key),
  );
  return { call: call!, sandbox: sandbox!, ref };
}

const source = (word: string) => `The ${word} gate of the garden closes at nine every evening.`;
const target = (word: string) => `La puerta ${word} del jardín cierra a las nueve cada tarde.`;
const WORDS = Array.from(
  { length: 32 },
  (_, index) => `a${String.fromCharCode(97 + (index % 26))}${index}`,
).map((word) => word.replaceAll(/\d/g, (digit) => 'ghijklmnop'[Number(digit)]!));

interface Drafted {
  draft: Piece[];
  route: string;
  other_draft: Piece[] | null;
  other_route: string | null;
}

async function segmentsOf({ ref }: Customer, uid: string): Promise<Drafted[]> {
  const { rows } = await owner.query(
    `select s.draft, s.route, s.other_draft, s.other_route
       from segments s join jobs j using (part, account_id, job_id)
      where j.account_id = $1 and j.uid = $2 order by s.position`,
    [ref.accountId, uid],
  );
  return rows;
}

/** Creates a human job. @returns its only segment */
async function drafted(one: Customer, text: string, fields: object = {}): Promise<Drafted> {
  const [segment, ...rest] = await segmentsOf(one, await orderEdit(one.call, text, fields));
  expect(rest).toEqual([]);
  return segment!;
}

/** Has an editor confirm `texts` in a job and waits for its delivery. */
async function deliver({ call }: Customer, uid: string, texts: readonly string[]): Promise<void> {
  const { open } = (await editor.call('GET', '/api/editing/queue')).body;
  const task = await claimTask(editor, open.find((one: { uid: string }) => one.uid === uid).task);
  for (const [index, text] of texts.entries()) {
    const saved = await confirm(editor, task, task.segments[index], { target: [{ text }] });
    expect(saved.status, saved.text).toBe(200);
  }
  await editor.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
  await until(async () => (await call('GET', `${HUMAN}${uid}/`)).body.status === 'completed');
}

async function effortsOf({ ref }: Customer): Promise<EffortSums[]> {
  const { rows } = await owner.query(
    `select route, band, drafted, segments::integer, words::integer, engine_edits::integer, memory_edits::integer
       from memory_efforts where account_id = $1 order by band, drafted`,
    [ref.accountId],
  );
  return rows;
}

/** Delivers a job in which the memory's text is nearer to the delivered text than the engine's, 32 times. */
async function measure(one: Customer): Promise<string> {
  const uid = await orderEdit(one.call, WORDS.map(source).join('\n'));
  await deliver(one, uid, WORDS.map(target));
  return uid;
}

describe('a translation of a similar text', () => {
  it('becomes the draft when editors changed less in such translations than in the drafts of the engine', async () => {
    const one = await customer();
    const before = await drafted(one, source('new'));
    expect(before).toMatchObject({
      draft: [{ text: source('new').toUpperCase() }],
      route: 'fake:en-es',
      other_draft: [{ text: target('antigua') }],
      other_route: 'memory:93',
    });
    await measure(one);
    const [measured, ...rest] = await effortsOf(one);
    expect(rest).toEqual([]);
    expect(measured).toMatchObject({
      route: 'fake:en-es',
      band: 85,
      drafted: 'engine',
      segments: 32,
      words: 352,
    });
    expect(measured!.memory_edits).toBe(32);
    expect(measured!.engine_edits).toBeGreaterThan(300);

    const uid = await orderEdit(one.call, source('red'));
    const [chosen] = await segmentsOf(one, uid);
    expect(chosen).toMatchObject({
      route: expect.stringMatching(/^memory:9[0-4]$/),
      other_draft: [{ text: source('red').toUpperCase() }],
      other_route: 'fake:en-es',
    });
    expect(chosen!.draft).toEqual([{ text: expect.stringMatching(/^La puerta \w+ del jardín/) }]);
    const { rows } = await owner.query(
      `select how from memory_uses u join jobs j using (part, account_id, job_id) where j.uid = $1`,
      [uid],
    );
    expect(rows).toEqual([{ how: 'applied' }]);
    await deliver(one, uid, [target('roja')]);
    expect(await effortsOf(one)).toMatchObject([
      { drafted: 'engine', segments: 32 },
      { drafted: 'memory', segments: 1, words: 11, memory_edits: 1 },
    ]);
    // Another band is measured by itself.
    expect(await drafted(one, 'The big gate of the park closes at ten every evening.')).toMatchObject({
      route: 'fake:en-es',
      other_route: expect.stringMatching(/^memory:[78]/),
    });
  });

  it('is not used for another account, the sandbox, another tone, other codes or a missing term', async () => {
    const one = await customer();
    await measure(one);
    expect(await drafted(one, source('red'))).toMatchObject({ other_route: 'fake:en-es' });
    expect(await drafted(await customer(), source('red'))).toMatchObject({ route: 'fake:en-es' });

    const created = await one.sandbox('POST', `/sandbox${HUMAN}`, {
      uid: 'sand',
      text: source('red'),
      source_language: 'en',
      target_language: 'es',
    });
    expect(created.status, created.text).toBe(201);
    const result = await until(async () => {
      const { body } = await one.sandbox('GET', `/sandbox${HUMAN}sand/`);
      return body.status === 'completed' && (body.translated_text as string);
    });
    expect(result).toBe(source('red').toUpperCase());

    // The confirmed jobs had no tone, and the imported entry has another one.
    expect(await drafted(one, source('red'), { tone: 'Informal' })).toMatchObject({
      route: 'fake:en-es',
      other_route: null,
    });
    const html = `<p>${source('red').replace('gate', '<b>gate</b>')}</p>`;
    expect(await drafted(one, html, { text_format: 'html' })).toMatchObject({
      route: 'fake:en-es',
      other_route: null,
    });
    const glossary = [{ source: 'garden', target: 'parque' }];
    const file = { external_id: 'parks', name: 'Parks', languages: { es: { glossary } } };
    const brand = readBrandFile('test', JSON.stringify(file));
    await saveBrand(server.database, 'command', one.ref, brand, false);
    expect(await drafted(one, source('red'), { brand: 'parks' })).toMatchObject({
      route: 'fake:en-es',
      other_route: expect.stringMatching(/^memory:/),
    });
  });

  it('is offered with the numbers of the segment, and left out where they are uncertain', async () => {
    const one = await customer();
    await importEntries(server.database, one.ref, PAIR, [
      {
        source: [{ text: 'Platform 7 of the station opens at dawn every single morning.' }],
        target: [{ text: 'El andén 7 de la estación abre al alba cada mañana.' }],
      },
    ]);
    const uid = await orderEdit(one.call, 'Platform 12 of the station opens at dawn every single morning.');
    const filled = [{ text: 'El andén 12 de la estación abre al alba cada mañana.' }];
    expect(await segmentsOf(one, uid)).toMatchObject([{ other_draft: filled, other_route: 'memory:99' }]);
    const task = await claimTask(editor);
    const { matches } = (await editor.call('GET', pathOf(task, '/segments/0/matches'))).body;
    expect(matches).toMatchObject([{ kind: 'fuzzy', score: 99, target: filled }]);
    const uncertain = 'Platform 12 of 13 of the station opens at dawn every single morning.';
    expect(await drafted(one, uncertain)).toMatchObject({ other_route: null });
  });

  it('is deleted with the texts of its job, but what was measured stays', async () => {
    const one = await customer();
    const uid = await measure(one);
    const efforts = await effortsOf(one);
    expect((await segmentsOf(one, uid))[0]).toMatchObject({ other_route: expect.stringMatching(/^memory:/) });
    await server.database.transaction((transaction) => deleteJobTexts(transaction, one.ref, LAST_ID, 0, 100));
    for (const segment of await segmentsOf(one, uid)) {
      expect(segment).toMatchObject({ draft: [], other_draft: null, other_route: null });
    }
    expect(await effortsOf(one)).toEqual(efforts);
  });
});

describe('the decision between the memory and an engine', () => {
  const row = (drafted: 'engine' | 'memory', fields: Partial<EffortSums> = {}): EffortSums => ({
    route: 'fake:en-es',
    band: 85,
    drafted,
    segments: 30,
    words: 300,
    engine_edits: 90,
    memory_edits: 60,
    ...fields,
  });

  it.each<[string, EffortSums[], boolean]>([
    ['nothing was measured', [], false],
    ['too few segments were measured', [row('engine', { segments: 29 })], false],
    ['the memory was nearer', [row('engine')], true],
    ['both were as near', [row('engine', { memory_edits: 90 })], false],
    [
      'too few drafts of the memory were measured',
      [row('engine'), row('memory', { segments: 29, memory_edits: 200 })],
      true,
    ],
    [
      'editors changed more in drafts of the memory',
      [row('engine'), row('memory', { memory_edits: 91 })],
      false,
    ],
    [
      'editors changed less in drafts of the memory',
      [row('engine'), row('memory', { engine_edits: 10 })],
      true,
    ],
    [
      'the sums have different sizes',
      [row('engine'), row('memory', { segments: 60, words: 600, memory_edits: 170 })],
      true,
    ],
  ])('when %s', (_, measured, expected) => {
    expect(isMemoryBetter(measured)).toBe(expected);
  });
});
