/** Tests of drafts from similar memory entries, which editors see where such drafts need fewer changes than the engine's. */
import { createFake } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import type { AccountRef } from '../base/account.ts';
import { readBrandFile } from '../brands/brand.ts';
import { saveBrand } from '../brands/brands.ts';
import { deleteEfforts, deleteJobTexts } from '../retention/store.ts';
import {
  claimJob,
  type claimTask,
  confirm,
  emptyEditing,
  HUMAN,
  orderEdit,
  pathOf,
  save,
} from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { isMemoryBetter } from './efforts.ts';
import { type EffortSums, listPooledEfforts } from './efforts-store.ts';
import { importEntries, saltOf } from './memory.ts';
import { sketchOf } from './sketch.ts';
import { findAlike } from './store.ts';

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const PAIR = { from: 'en', to: 'es', brand: undefined };

let server: TestServer;
let owner: pg.Client;
let editor: TestPerson;
let operator: TestPerson;
beforeAll(async () => {
  server = await startTestServer({
    engine: () => createFake(),
    settings: { DRAGOMAN_TASK_WORDS: '1000', DRAGOMAN_EDITOR_TASKS: '40', DRAGOMAN_SANDBOX_HOLD: '0' },
  });
  owner = await server.connectOwner();
  editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  operator = await createPerson(server, { role: 'operator' });
  await owner.query('update users set review_share = 0');
});
beforeEach(() => emptyEditing(owner));
afterAll(() => server.stop());

interface Customer {
  name: string;
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
  const brand = { externalId: 'late', name: 'Late', default: undefined, languages: new Map() };
  await saveBrand(server.database, 'command', ref, { ...brand, fallback: 'machine' }, false);
  const [call, sandbox] = [account.production_key, account.sandbox_key].map((key) =>
    createClient(server.url, key),
  );
  return { name: account.username, call: call!, sandbox: sandbox!, ref };
}

const source = (word: string) => `The ${word} gate of the garden closes at nine every evening.`;
const target = (word: string) => `La puerta ${word} del jardín cierra a las nueve cada tarde.`;
/** The text of the fake engine. */
const machine = (word: string) => source(word).toUpperCase();
/** Any translation of the memory, because every delivered segment adds an entry. */
const REMEMBERED = [{ text: expect.stringMatching(/^La puerta \w+ del jardín/) }];
const WORDS = Array.from({ length: 32 }, (_, index) => `a${'bcdefghi'[index % 8]}${'klmn'[index >> 3]}o`);

interface Row {
  draft: { text: string }[];
  route: string;
  similar: { target: { text: string }[]; score: number; than: string; better: boolean } | null;
}

async function rowsOf({ ref }: Customer, uid: string): Promise<Row[]> {
  const { rows } = await owner.query(
    `select s.draft, s.route, s.similar_entry as similar from segments s join jobs j using (part, account_id, job_id)
      where j.account_id = $1 and j.uid = $2 order by s.position`,
    [ref.accountId, uid],
  );
  return rows;
}

/** Creates a human job. @returns the row of its only segment */
async function drafted(one: Customer, text: string, fields: object = {}): Promise<Row> {
  const [row, ...rest] = await rowsOf(one, await orderEdit(one.call, text, fields));
  expect(rest).toEqual([]);
  return row!;
}

type Task = Awaited<ReturnType<typeof claimTask>>;
const end = (task: Task, how: 'submit' | 'release') =>
  editor.call('POST', pathOf(task, `/${how}`), { token: task.lease.token });

const delivered = ({ call }: Customer, uid: string): Promise<string> =>
  until(async () => {
    const { body } = await call('GET', `${HUMAN}${uid}/`);
    return body.status === 'completed' && (body.translated_text as string);
  });

/** Has the editor confirm `texts` in a job and waits for its delivery. */
async function deliver(one: Customer, uid: string, texts: readonly string[]): Promise<string> {
  const task = await claimJob(editor, uid);
  for (const [index, text] of texts.entries()) {
    const saved = await confirm(editor, task, task.segments[index], { target: [{ text }] });
    expect(saved.status, saved.text).toBe(200);
  }
  await end(task, 'submit');
  return delivered(one, uid);
}

/** Moves the deadline of a job into the past and returns what is delivered. */
async function passDeadline(one: Customer, uid: string): Promise<string> {
  await owner.query(
    `update edited_jobs set deadline_at = now() - interval '1 s', due_at = now()
      where job_id = (select job_id from jobs where account_id = $1 and uid = $2)`,
    [one.ref.accountId, uid],
  );
  return delivered(one, uid);
}

async function effortsOf({ ref }: Customer): Promise<EffortSums[]> {
  const { rows } = await owner.query(
    `select route, band, started, segments::integer, words::integer, engine_edits::integer, memory_edits::integer, tone
       from memory_efforts where account_id = $1 order by band, started`,
    [ref.accountId],
  );
  return rows;
}

/** Delivers a job in which the memory's text is nearer to the delivered text than the engine's, 32 times. */
async function measure(one: Customer, fields: object = {}): Promise<string> {
  const uid = await orderEdit(one.call, WORDS.map(source).join('\n'), fields);
  await deliver(one, uid, WORDS.map(target));
  return uid;
}

describe('a similar memory entry', () => {
  it('becomes the draft that editors see when they changed less in such entries than in the engine’s drafts', async () => {
    const one = await customer();
    expect(await drafted(one, source('new'))).toEqual({
      draft: [{ text: machine('new') }],
      route: 'fake:en-es',
      similar: { target: [{ text: target('antigua') }], score: 93, than: 'fake:en-es', better: false },
    });
    await measure(one);
    const [measured, ...rest] = await effortsOf(one);
    expect(rest).toEqual([]);
    expect(measured).toMatchObject({ route: 'fake:en-es', band: 85, started: 'engine', tone: '' });
    expect(measured).toMatchObject({ segments: 32, words: 352, memory_edits: 32 });
    expect(measured!.engine_edits).toBeGreaterThan(300);

    const uid = await orderEdit(one.call, source('red'));
    const task = await claimJob(editor, uid);
    const [seen] = task.segments;
    expect(seen).toMatchObject({ origin: 'memory', draft: REMEMBERED, target: null, draft_notes: [] });
    expect(seen.route).toMatch(/^memory:9\d$/);
    expect((await editor.call('GET', pathOf(task, '/preview'))).body.text).toMatch(/^La puerta/);
    const { rows } = await owner.query(
      `select how from memory_uses u join jobs j using (part, account_id, job_id) where j.uid = $1`,
      [uid],
    );
    expect(rows).toEqual([{ how: 'applied' }]);

    // The editor confirms it as it is: no distance, and the effort of the memory's draft is measured.
    expect((await confirm(editor, task, seen)).status).toBe(200);
    await end(task, 'submit');
    expect(await delivered(one, uid)).toMatch(/^La puerta/);
    const { body } = await operator.call('GET', '/api/console/effort?by=route');
    expect(body.rows).toContainEqual(expect.objectContaining({ key: seen.route, segments: 1, distance: 0 }));
    expect(await effortsOf(one)).toMatchObject([
      { started: 'engine', segments: 32 },
      { started: 'memory', segments: 1, words: 11, memory_edits: 0 },
    ]);
    // Another band is measured by itself.
    const other = await drafted(one, 'The big gate of the park closes at ten every evening.');
    expect(other.similar).toMatchObject({ better: false });
    expect(other.similar!.score).toBeLessThan(85);
  });

  it('is never delivered at the deadline without an editor: the engine’s draft is', async () => {
    const one = await customer();
    await measure(one);
    const late = { brand: 'late' };

    // Nobody opened it; somebody opened and released it.
    const [unread, released] = [
      await orderEdit(one.call, source('red'), late),
      await orderEdit(one.call, source('dry'), late),
    ];
    const task = await claimJob(editor, released);
    expect(task.segments[0].draft).toEqual(REMEMBERED);
    await end(task, 'release');
    expect(await passDeadline(one, unread)).toBe(machine('red'));
    expect(await passDeadline(one, released)).toBe(machine('dry'));

    // One segment is confirmed as it is, the others are saved as drafts or left alone.
    const some = await orderEdit(one.call, ['big', 'far', 'wet'].map(source).join('\n'), late);
    const open = await claimJob(editor, some);
    expect((await confirm(editor, open, open.segments[0])).status).toBe(200);
    expect((await save(editor, open, open.segments[1])).status).toBe(200);
    await end(open, 'release');
    const [first, ...rest] = (await passDeadline(one, some)).split('\n');
    expect(first).toBe(open.segments[0].draft[0].text);
    expect(rest).toEqual([machine('far'), machine('wet')]);
    const { rows } = await owner.query(`select route from segments where route ~ '^memory:[0-9]'`);
    expect(rows).toEqual([]);
  });

  it('is not delivered after joins either, and stays in the text of the editor', async () => {
    const one = await customer();
    await measure(one);
    const text = `${source('red')} ${source('dry')}`;
    const uid = await orderEdit(one.call, text, { brand: 'late' });
    const task = await claimJob(editor, uid);
    const [first, second] = task.segments;
    expect([first.draft, second.draft]).toEqual([REMEMBERED, REMEMBERED]);
    const join = { token: task.lease.token, revision: 0, next_revision: 0 };
    const joined = await editor.call('POST', pathOf(task, '/segments/0/join'), join);
    expect(joined.status, joined.text).toBe(200);
    expect(joined.body.segments[0].target).toEqual([
      { text: `${first.draft[0].text} ${second.draft[0].text}` },
    ]);
    expect(joined.body.segments[0]).toMatchObject({
      route: 'fake:en-es',
      draft: [{ text: text.toUpperCase() }],
    });

    const separate = { token: task.lease.token, revision: joined.body.segments[0].revision };
    const parted = await editor.call('POST', pathOf(task, '/segments/0/separate'), separate);
    expect(parted.status, parted.text).toBe(200);
    expect(parted.body.segments.map((row: { target: object }) => row.target)).toEqual([
      first.draft,
      second.draft,
    ]);
    const again = await editor.call('POST', pathOf(task, '/segments/0/join'), {
      token: task.lease.token,
      revision: parted.body.segments[0].revision,
      next_revision: parted.body.segments[1].revision,
    });
    expect(again.status, again.text).toBe(200);
    await end(task, 'release');
    expect(await passDeadline(one, uid)).toBe(text.toUpperCase());
  });

  it('is not used in place of a draft that an operator asked for, or of the text of a vote', async () => {
    const one = await customer();
    await measure(one);
    const uid = await orderEdit(one.call, source('red'), { brand: 'late' });
    const { rows } = await owner.query('select job_id from jobs where uid = $1', [uid]);
    const path = `/api/console/accounts/${one.name}/jobs/${rows[0].job_id}/redraft`;
    const asked = await operator.call('POST', path, { engine: 'fake' });
    expect(asked.status, asked.text).toBeLessThan(300);
    await until(async () => (await rowsOf(one, uid))[0]!.similar === null);
    const task = await claimJob(editor, uid);
    expect(task.segments[0]).toMatchObject({ origin: 'machine', draft: [{ text: machine('red') }] });
    await end(task, 'release');

    const voted = await orderEdit(one.call, source('dry'));
    const waits = await orderEdit(one.call, source('dry'));
    const from = await claimJob(editor, voted);
    const saved = await confirm(editor, from, from.segments[0], { target: [{ text: machine('dry') }] });
    expect(saved.status, saved.text).toBe(200);
    // The vote has the text of the engine's draft, which the editor of the other job did not see.
    await until(async () => (await rowsOf(one, waits))[0]!.route === 'memory:vote');
    const [seen] = (await claimJob(editor, waits)).segments;
    expect(seen).toMatchObject({ route: 'memory:vote', draft: [{ text: machine('dry') }] });
    expect(seen.vote).toMatchObject({ state: 'filled', former: REMEMBERED });
  });

  it('is not used for another account, the sandbox, another tone, other codes, a missing term or a long text', async () => {
    const one = await customer();
    await measure(one);
    expect((await drafted(one, source('red'))).similar).toMatchObject({ better: true });
    expect((await drafted(await customer(), source('red'))).similar).toMatchObject({ better: false });

    const sand = { uid: 'sand', text: source('red'), source_language: 'en', target_language: 'es' };
    const created = await one.sandbox('POST', `/sandbox${HUMAN}`, sand);
    expect(created.status, created.text).toBe(201);
    const result = await until(async () => {
      const { body } = await one.sandbox('GET', `/sandbox${HUMAN}sand/`);
      return body.status === 'completed' && (body.translated_text as string);
    });
    expect(result).toBe(machine('red'));

    // What was measured without a tone decides nothing for jobs with one. The confirmed jobs had no tone.
    expect((await drafted(one, source('red'), { tone: 'Formal' })).similar).toMatchObject({ better: false });
    expect(await drafted(one, source('red'), { tone: 'Informal' })).toMatchObject({ similar: null });
    const html = `<p>${source('red').replace('gate', '<b>gate</b>')}</p>`;
    expect(await drafted(one, html, { text_format: 'html' })).toMatchObject({ similar: null });
    const glossary = [{ source: 'garden', target: 'parque' }];
    const file = { external_id: 'parks', name: 'Parks', languages: { es: { glossary } } };
    await saveBrand(server.database, 'command', one.ref, readBrandFile('test', JSON.stringify(file)), false);
    expect(await drafted(one, source('red'), { brand: 'parks' })).toMatchObject({ similar: null });

    const long = `${'word and '.repeat(150)}end.`;
    await importEntries(server.database, one.ref, PAIR, [
      { source: [{ text: long }], target: [{ text: long.replaceAll('word', 'palabra') }] },
    ]);
    expect(await drafted(one, long.replace('end', 'stop'))).toMatchObject({ similar: null });
  });

  it('has the numbers of the segment where they are certain, and is left out elsewhere', async () => {
    const one = await customer();
    const entry = (number: string) => ({
      source: [{ text: `Order ${number} leaves the station at dawn every single morning.` }],
      target: [{ text: `El pedido ${number} sale de la estación al alba cada mañana.` }],
    });
    await importEntries(server.database, one.ref, PAIR, [entry('51777')]);
    const order = (number: string) => drafted(one, entry(number).source[0]!.text);
    expect((await order('48213')).similar).toMatchObject({ target: entry('48213').target, score: 99 });
    for (const uncertain of ['-48213', '48.213', '4821³', '٤٨٢١٣', '48213 of 90000', '482']) {
      expect((await order(uncertain)).similar, uncertain).toBeNull();
    }
  });

  it('is deleted with the texts of its job, and what was measured ends with them', async () => {
    const one = await customer();
    const uid = await measure(one);
    expect((await rowsOf(one, uid))[0]!.similar).not.toBeNull();
    await server.database.transaction((transaction) => deleteJobTexts(transaction, one.ref, LAST_ID, 0, 100));
    for (const row of await rowsOf(one, uid)) expect(row).toMatchObject({ draft: [], similar: null });
    await deleteEfforts(server.database, { account: one.ref, days: 1 });
    expect(await effortsOf(one)).toHaveLength(1);
    await owner.query(`update memory_efforts set day = day - 2 where account_id = $1`, [one.ref.accountId]);
    await deleteEfforts(server.database, { account: one.ref, days: 1 });
    expect(await effortsOf(one)).toEqual([]);
  });

  it('is left out when the memory cannot be read: the job is drafted by the engine', async () => {
    const one = await customer();
    await owner.query('revoke select on memory_efforts from dragoman_app');
    try {
      expect(await drafted(one, source('red'))).toMatchObject({
        draft: [{ text: machine('red') }],
        similar: null,
      });
    } finally {
      await owner.query('grant select on memory_efforts to dragoman_app');
    }
    expect((await drafted(one, source('red'))).similar).not.toBeNull();
  });

  it('is left out when its translation is very long', async () => {
    const one = await customer();
    const text = (word: string) => `The ${word} tower at the harbor opens again next week.`;
    const remember = (long: string) =>
      importEntries(server.database, one.ref, PAIR, [
        { source: [{ text: text('tall') }], target: [{ text: long }] },
      ]);
    await remember('La torre del puerto abre de nuevo. '.repeat(60));
    expect((await drafted(one, text('huge'))).similar).toBeNull();
    await remember('La torre del puerto abre de nuevo.');
    expect((await drafted(one, text('huge'))).similar).not.toBeNull();
  });

  it('is searched for among at most 2,000 entries', async () => {
    const { ref } = await customer();
    const entries = Array.from({ length: 2_100 }, (_, index) => {
      const text = [{ text: source(`${10_000 + index}`) }];
      return { source: text, target: text };
    });
    await importEntries(server.database, ref, PAIR, entries);
    const sketch = sketchOf(source('10000'), saltOf(ref, PAIR));
    const find = (among: 'all' | 'some') =>
      findAlike(server.database, ref, PAIR, sketch, { limit: 10_000, among });
    expect((await find('all')).length).toBeGreaterThan(2_090);
    expect(await find('some')).toHaveLength(2_000);
  });

  it('is not measured where the text was copied from a repeat', async () => {
    const one = await customer();
    const uid = await orderEdit(one.call, `${source('red')}\n${source('red')}`);
    expect(await deliver(one, uid, [target('roja')])).toBe(`${target('roja')}\n${target('roja')}`);
    expect(await effortsOf(one)).toMatchObject([{ started: 'engine', segments: 1, memory_edits: 1 }]);
  });
});

describe('the effort figures of all accounts', () => {
  it('are used only when the operator sets DRAGOMAN_DRAFT_FIGURES to all', async () => {
    const one = await customer();
    await measure(one);
    const pooled = await listPooledEfforts(server.database, { ...PAIR, tone: undefined });
    expect(pooled.find(({ band, started }) => band === 85 && started === 'engine')!.segments).toBeGreaterThan(
      31,
    );
    await server.restart({ DRAGOMAN_DRAFT_FIGURES: 'all' });
    expect((await drafted(await customer(), source('red'))).similar).toMatchObject({ better: true });
  });
});

describe('the decision between the memory and an engine', () => {
  const row = (started: 'engine' | 'memory', fields: Partial<EffortSums> = {}): EffortSums => ({
    route: 'fake:en-es',
    band: 85,
    started,
    segments: 30,
    words: 300,
    engine_edits: 90,
    memory_edits: 60,
    ...fields,
  });

  it.each<[string, EffortSums[], boolean]>([
    ['the engine when nothing was measured', [], false],
    [
      'the engine when little was measured',
      [row('engine', { words: 20, engine_edits: 6, memory_edits: 4 })],
      false,
    ],
    ['the memory when its texts were nearer to the delivered texts', [row('engine')], true],
    [
      'the engine when its drafts were as near to the delivered texts as those of the memory',
      [row('engine', { memory_edits: 90 })],
      false,
    ],
    [
      'the memory when its texts were nearer, and its drafts were worse but too few to count',
      [row('engine'), row('memory', { segments: 29, memory_edits: 200 })],
      true,
    ],
    [
      'the engine when editors changed more in drafts from the memory than in its own',
      [row('engine'), row('memory', { memory_edits: 91 })],
      false,
    ],
    [
      'the memory when editors changed less in its drafts than in those of the engine',
      [row('engine'), row('memory', { engine_edits: 10 })],
      true,
    ],
    [
      'the memory when editors changed fewer words of its drafts in proportion, although more in total',
      [row('engine'), row('memory', { segments: 60, words: 600, memory_edits: 170 })],
      true,
    ],
  ])('chooses %s', (_, measured, expected) => {
    expect(isMemoryBetter(measured, 'fake:en-es', 85)).toBe(expected);
  });

  it.each([
    ['apertium:eng-spa', [true, true, true]],
    ['llm:en-es@model', [true, false, false]],
  ])('begins with what public texts show: %s', (route, expected) => {
    expect([95, 85, 75].map((band) => isMemoryBetter([], route, band))).toEqual(expected);
  });

  it('chooses the engine again when the edits of the account show that its drafts need fewer changes', () => {
    const few = row('engine', { segments: 3, words: 30, engine_edits: 0, memory_edits: 15 });
    const many = { ...few, segments: 100, words: 1_000, memory_edits: 500 };
    expect(isMemoryBetter([few], 'apertium:eng-spa', 85)).toBe(true);
    expect(isMemoryBetter([many], 'apertium:eng-spa', 85)).toBe(false);
    // Also if all of them started from the memory, because it was the better one at first.
    const near = row('memory', { segments: 400, words: 4_000, engine_edits: 400, memory_edits: 2_000 });
    expect(isMemoryBetter([near], 'apertium:spa-cat', 85)).toBe(false);
  });
});
