/**
 * Tests of what a job teaches, over HTTP: editors at once; others nothing if it was canceled, otherwise its texts under the
 * brand and in the tone with which it was translated.
 */
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountNamed } from '../../access/accounts.ts';
import type { AccountRef } from '../../base/account.ts';
import { removeBrand, saveBrand } from '../../brands/brands.ts';
import { cleanLessons } from '../../memory/memory.ts';
import {
  claimJob,
  confirm,
  confirmAll,
  expireDeadline,
  HUMAN,
  orderEdit,
  pathOf,
  save,
  votesSettled,
} from '../../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
  waitForStatus,
} from '../../testing/harness.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const TEXT = 'The river is deep.';
const DRAFT = 'THE RIVER IS DEEP.';
const TARGET = 'El río es hondo, señor.';

let server: TestServer;
let owner: pg.Client;
let call: ReturnType<typeof createClient>;
let username: string;
let ref: AccountRef;
let ann: TestPerson;
let bob: TestPerson;
let operator: TestPerson;
let account: Awaited<ReturnType<TestServer['createAccount']>>;

beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_EDITOR_TASKS: '40', DRAGOMAN_PRICE_HUMAN: '5' } });
  owner = await server.connectOwner();
  [ann, bob] = (await Promise.all(
    ['Ann', 'Bob'].map((name) => createPerson(server, { role: 'editor', languages: ['en:es'], name })),
  )) as [TestPerson, TestPerson];
  operator = await createPerson(server, { role: 'operator' });
  await owner.query('update users set review_share = 0');
});
beforeEach(async () => {
  account = await server.createAccount({ balanceCents: 100_000 });
  username = account.username;
  ({ ref } = await accountNamed(server.database, username));
  call = createClient(server.url, account.production_key);
  await brand('late');
});
afterAll(() => server.stop());

async function brand(externalId: string, tone?: 'Formal' | 'Informal', words = {}): Promise<void> {
  const flags = { caseSensitive: false, forbidden: false, doNotTranslate: false };
  const terms = Object.entries<string>(words).map(([source, target]) => ({ source, target, ...flags }));
  const languages = new Map(tone === undefined ? [] : [['es', { tone, instructions: undefined, terms }]]);
  const file = { externalId, name: externalId, default: false, languages };
  await saveBrand(server.database, 'command', ref, { ...file, fallback: 'machine' }, false);
}

async function confirmIn(uid: string) {
  const task = await claimJob(ann, uid);
  const saved = await confirm(ann, task, task.segments[0], { target: [{ text: TARGET }] });
  expect(saved.status, saved.text).toBe(200);
  return task;
}

/** Moves the deadline of a job to the present. */
async function endTime(uid: string): Promise<void> {
  const { rows } = await owner.query('select part, job_id from jobs where uid = $1 and account_id = $2', [
    uid,
    ref.accountId,
  ]);
  await expireDeadline(owner, rows[0]);
}

async function segmentOf(uid: string) {
  await votesSettled(owner);
  const { rows } = await owner.query(
    `select s.draft->0->>'text' as draft, s.route from segments s join jobs j using (part, account_id, job_id)
      where j.uid = $1 and j.account_id = $2`,
    [uid, ref.accountId],
  );
  return rows[0];
}

const completed = (path: string) => waitForStatus(call, path);

let jobs = 0;
async function machine(fields: object): Promise<string> {
  const uid = `machine-${++jobs}`;
  const body = { uid, text: TEXT, source_language: 'en', target_language: 'es', ...fields };
  expect((await call('POST', MACHINE, body)).status).toBe(201);
  return (await completed(`${MACHINE}${uid}/`)).translated_text;
}

/** Returns the discounts in the quote of a human job. */
async function discountsOf(written: string): Promise<unknown[]> {
  const job = { text: written, source_language: 'en', target_language: 'es', tier: 'human' };
  const { status, text, body } = await call('POST', '/api/v1/quote/', job);
  expect(status, text).toBe(200);
  return body.discounts ?? [];
}

describe('a canceled job', () => {
  it('teaches no other job', async () => {
    const before = await orderEdit(call, TEXT, { uid: 'before', brand: 'late' });
    const uid = await orderEdit(call, TEXT, { uid: 'canceled', brand: 'late' });
    await confirmIn(uid);
    expect(await segmentOf(before)).toEqual({ draft: TARGET, route: 'memory:vote' });
    expect((await call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
    expect(await segmentOf(before)).toMatchObject({ draft: DRAFT });
    await orderEdit(call, TEXT, { uid: 'after', brand: 'late' });
    expect(await segmentOf('after')).toMatchObject({ draft: DRAFT });
    for (const late of ['before', 'after']) {
      await endTime(late);
      const body = await completed(`${HUMAN}${late}/`);
      expect(body).toMatchObject({ translated_text: DRAFT, fallback: 'machine', price: 0 });
    }
  });

  it('teaches no other job when it was an upgrade, and shows its text when it is upgraded again', async () => {
    const uid = 'upgraded';
    const body = { uid, text: TEXT, source_language: 'en', target_language: 'es' };
    expect((await call('POST', MACHINE, body)).status).toBe(201);
    await completed(`${MACHINE}${uid}/`);
    const upgrade = { status: 'upgrade', properties: { brand: 'late' } };
    const isOpen = async () => (await call('GET', `${HUMAN}${uid}/`)).body.status === 'translating';
    expect((await call('PATCH', `${MACHINE}${uid}/`, upgrade)).status).toBe(202);
    await until(isOpen);
    await confirmIn(uid);
    expect((await call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
    await orderEdit(call, TEXT, { uid: 'after', brand: 'late' });
    expect(await segmentOf('after')).toMatchObject({ draft: DRAFT });
    expect((await call('PATCH', `${MACHINE}${uid}/`, upgrade)).status).toBe(202);
    await until(isOpen);
    const [segment] = (await claimJob(ann, uid)).segments;
    expect(segment).toMatchObject({ status: 'confirmed', target: [{ text: TARGET }] });
  });
});

describe('an upgraded job', () => {
  it('has the translation that the customer has as its draft, whatever the memory learned since', async () => {
    const uid = 'owned';
    const text = `<p>${TEXT} <b>It flows</b> south.</p>\n<p>It flows.</p>`;
    const html = { text_format: 'html', source_language: 'en', target_language: 'es' };
    expect((await call('POST', MACHINE, { uid, text, ...html })).status).toBe(201);
    const { translated_text: result } = await completed(`${MACHINE}${uid}/`);
    expect(result).toContain(DRAFT);
    const taught = await orderEdit(call, TEXT, { uid: 'taught' });
    const task = await confirmIn(taught);
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    await completed(`${HUMAN}${taught}/`);
    expect(await machine({})).toBe(TARGET);

    const upgrade = { status: 'upgrade', properties: { brand: 'late' } };
    const { body: created } = await call('PATCH', `${MACHINE}${uid}/`, upgrade);
    expect(created).not.toHaveProperty('discounts');
    await waitForStatus(call, `${HUMAN}${uid}/`, 'translating');
    const held = await claimJob(ann, uid);
    expect(held.segments[0]).toMatchObject({ origin: 'machine', draft: [{ text: DRAFT }] });
    await ann.call('POST', pathOf(held, '/release'), { token: held.lease.token });
    await endTime(uid);
    const delivered = await completed(`${HUMAN}${uid}/`);
    expect(delivered).toMatchObject({ translated_text: result, fallback: 'machine', price: 0 });
  });
});

describe('a job whose brand changes before its delivery', () => {
  const deliver = async (task: { task: string; lease: { token: string } }, uid: string) => {
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    return completed(`${HUMAN}${uid}/`);
  };

  it('is shown and learned in the tone with which it was translated', async () => {
    await brand('house', 'Formal');
    const uid = await orderEdit(call, TEXT, { uid: 'formal', brand: 'house' });
    const task = await confirmIn(uid);
    await brand('house', 'Informal');
    await until(async () => {
      const { rows } = await owner.query('select tone from brand_languages where account_id = $1', [
        ref.accountId,
      ]);
      return rows[0].tone === 'Informal';
    });
    expect((await ann.call('GET', pathOf(task))).body.job).toMatchObject({ tone: 'Formal' });
    await deliver(task, uid);
    expect(await machine({ brand: 'house', tone: 'Informal' })).toBe(DRAFT);
    expect(await machine({ brand: 'house', tone: 'Formal' })).toBe(TARGET);

    // Its corrected text votes in that tone, too.
    expect((await call('POST', `${HUMAN}${uid}/reject/`, { reason: 'Too long.' })).status).toBe(200);
    await orderEdit(call, TEXT, { uid: 'waits', brand: 'house', tone: 'Informal' });
    const drafted = await segmentOf('waits');
    const again = await claimJob(ann, uid);
    const [segment] = again.segments;
    await confirm(ann, again, { ...segment, draft: [{ text: 'El río es hondo.' }] });
    expect(await segmentOf('waits')).toEqual(drafted);
  });

  it('teaches no other brand when its brand was removed', async () => {
    await brand('house');
    const uid = await orderEdit(call, TEXT, { uid: 'removed', brand: 'house' });
    const task = await confirmIn(uid);
    await removeBrand(server.database, 'command', ref, 'house');
    await deliver(task, uid);
    expect(await machine({ brand: 'late' })).toBe(DRAFT);
    expect(await machine({})).toBe(DRAFT);
    // The brand may be made again, and then has its texts.
    await brand('house');
    expect(await machine({ brand: 'house' })).toBe(TARGET);
  });
});

const INVOICES = 'Keep the invoice number 1000.\nKeep the invoice number 1001.\nThe bridge is old.';
const INVOICE = 'Guarde el número de factura 1000.';
const text = (written: string) => [{ text: written }];

type Task = Awaited<ReturnType<typeof claimJob>>;
/** Orders a job and claims its task. The task's uid is that of the job. */
async function order(by: TestPerson, written: string): Promise<Task & { uid: string }> {
  const uid = await orderEdit(call, written);
  return { ...(await claimJob(by, uid)), uid };
}
const matchesOf = async (by: TestPerson, task: Task, position: number) =>
  (await by.call('GET', pathOf(task, `/segments/${position}/matches`))).body.matches;
const search = async (by: TestPerson, task: Task, words: string) =>
  (await by.call('GET', pathOf(task, `/concordance?q=${words}`))).body.entries;
const confirmFirst = async (task: Task, target = INVOICE) => {
  const saved = await confirm(ann, task, task.segments[0], { target: text(target) });
  expect(saved.status, saved.text).toBe(200);
  return saved.body.segment;
};

it('a confirmed segment is a match for the next one at once, with its number', async () => {
  const task = await order(ann, INVOICES);
  expect(await matchesOf(ann, task, 1)).toEqual([]);
  await confirmFirst(task);
  expect(await matchesOf(ann, task, 1)).toMatchObject([
    {
      kind: 'fuzzy',
      score: 99,
      origin: 'document',
      editor: 'Ann',
      source: text('Keep the invoice number 1000.'),
      target: text('Guarde el número de factura 1001.'),
    },
  ]);
  expect(await matchesOf(ann, task, 0)).toEqual([]);
  expect(await matchesOf(ann, task, 2)).toEqual([]);
  expect(await search(ann, task, 'factura')).toMatchObject([
    { source: 'Keep the invoice number 1000.', target: INVOICE, origin: 'document', editor: 'Ann' },
  ]);
});

it('a better match becomes the draft of a segment that nobody has edited', async () => {
  const task = await order(ann, INVOICES);
  await confirmFirst(task);
  const ask = async (position: number) =>
    (await ann.call('GET', pathOf(task, `/segments/${position}/matches`))).body;
  const draft = text('Guarde el número de factura 1001.');
  expect((await ask(1)).segment).toMatchObject({ position: 1, draft, origin: 'memory', route: 'memory:99' });
  const { segments } = (await ann.call('GET', pathOf(task))).body;
  expect(segments[1]).toMatchObject({ draft, status: 'open' });
  expect(segments[2].draft).toEqual(text('THE BRIDGE IS OLD.'));
  // It is asked for once, and never for a segment with a text of its own.
  expect(await ask(1)).not.toHaveProperty('segment');
  const other = await order(ann, 'Keep the invoice number 2000.\nThe river is wide.');
  expect((await save(ann, other, other.segments[0], { target: text('Mi texto 2000.') })).status).toBe(200);
  expect(await ann.call('GET', pathOf(other, '/segments/0/matches'))).not.toHaveProperty('body.segment');
  expect((await ann.call('GET', pathOf(other))).body.segments[0].draft).toEqual(
    text('KEEP THE INVOICE NUMBER 2000.'),
  );
});

it.for([80, 99])('a draft with a score of %i is replaced by a better match alone', async (score) => {
  const task = await order(ann, INVOICES);
  await confirmFirst(task);
  const { rows } = await owner.query(
    `update segments s set similar_entry = jsonb_build_object('source', s.source, 'target', s.source, 'score', $3::integer,
                                             'than', s.route, 'better', true)
       from jobs j where j.uid = $1 and j.account_id = $2 and s.part = j.part and s.account_id = j.account_id
        and s.job_id = j.job_id and s.position = 1 returning s.source`,
    [task.uid, ref.accountId, score],
  );
  const { segment } = (await ann.call('GET', pathOf(task, '/segments/1/matches'))).body;
  const { segments } = (await ann.call('GET', pathOf(task))).body;
  const better = text('Guarde el número de factura 1001.');
  expect(segments[1].draft).toEqual(score < 99 ? better : rows[0].source);
  expect(segment?.draft).toEqual(score < 99 ? better : undefined);
});

it('a confirmed segment is a match in other open jobs of the account, and of no other', async () => {
  await confirmFirst(await order(ann, INVOICES));
  const other = await order(bob, 'Keep the invoice number 2000.\nThe river is wide.');
  expect(await matchesOf(bob, other, 0)).toMatchObject([
    { origin: 'open_job', editor: 'Ann', target: text('Guarde el número de factura 2000.') },
  ]);
  expect(await search(bob, other, 'invoice')).toMatchObject([{ origin: 'open_job', editor: 'Ann' }]);
  const stranger = await server.createAccount({ balanceCents: 100_000 });
  call = createClient(server.url, stranger.production_key);
  const foreign = await order(bob, 'Keep the invoice number 3000.\nThe lake is deep.');
  expect(await matchesOf(bob, foreign, 0)).toEqual([]);
  expect(await search(bob, foreign, 'invoice')).toEqual([]);
});

it('machine jobs, prices and the pages of the memory have the text of a job after its delivery alone', async () => {
  const task = await order(ann, INVOICES);
  await confirmFirst(task);
  const [source] = INVOICES.split('\n') as [string];
  const pages = `/api/console/accounts/${username}/memory?state=all`;
  const used = async () => ({
    machine: await machine({ text: source }),
    discounts: await discountsOf(source),
    customer: (await call('GET', '/api/v1/memory/?q=1000')).body.objects,
    operator: (await operator.call('GET', pages)).body.entries,
  });
  expect(await used()).toEqual({ machine: source.toUpperCase(), discounts: [], customer: [], operator: [] });
  await confirmAll(ann, task);
  expect((await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token })).status).toBe(200);
  await completed(`${HUMAN}${task.uid}/`);
  expect(await used()).toMatchObject({
    machine: INVOICE,
    discounts: [{ kind: 'exact' }],
    customer: [{ target: INVOICE }],
  });
});

it('a text that is not confirmed any more, or whose job is canceled, is no match', async () => {
  const task = await order(ann, INVOICES);
  const other = await order(bob, 'Keep the invoice number 2000.\nThe river is wide.');
  const found = () => matchesOf(bob, other, 0);
  let segment = await confirmFirst(task);
  expect(await found()).toMatchObject([{ target: text('Guarde el número de factura 2000.') }]);
  segment = (await confirm(ann, task, segment, { target: text('Conserve el número de factura 1000.') })).body
    .segment;
  expect(await found()).toMatchObject([{ target: text('Conserve el número de factura 2000.') }]);
  segment = (await save(ann, task, segment, { status: 'draft', target: text('Conserve') })).body.segment;
  expect(await found()).toEqual([]);
  await confirm(ann, task, segment, { target: text(INVOICE) });
  expect(await found()).toHaveLength(1);
  expect((await call('DELETE', `${HUMAN}${task.uid}/`)).status).toBe(200);
  expect(await found()).toEqual([]);
  const { rows } = await owner.query(
    'select from memory m join accounts a using (account_id) where username = $1',
    [account],
  );
  expect(rows).toEqual([]);
});

it('the export of an account has no text of an open job', async () => {
  await confirmFirst(await order(ann, INVOICES));
  const owners = await createPerson(server, { role: 'customer', account });
  const exported = async () => (await owners.call('POST', '/api/account/export')).text;
  expect(await exported()).toContain(INVOICES.split('\n')[0]);
  expect(await exported()).not.toContain(INVOICE);
});

it('a text that was not delivered because its job ran out of time is no match', async () => {
  const uid = await orderEdit(call, INVOICES, { brand: 'late' });
  const task = await claimJob(ann, uid);
  await confirmFirst(task);
  expect((await ann.call('POST', pathOf(task, '/release'), { token: task.lease.token })).status).toBe(200);
  const other = await claimJob(
    bob,
    await orderEdit(call, 'Keep the invoice number 2000.', { brand: 'late' }),
  );
  expect(await matchesOf(bob, other, 0)).toHaveLength(1);
  await endTime(uid);
  const body = await waitForStatus(call, `${HUMAN}${uid}/`);
  expect(body).toMatchObject({ fallback: 'machine' });
  expect(await matchesOf(bob, other, 0)).toEqual([]);
});

it('what an older version has left of a job that ended is deleted in the background', async () => {
  const task = await order(ann, INVOICES);
  await confirmFirst(task);
  await owner.query(`update jobs set status = 'canceled' where uid = $1 and account_id = $2`, [
    task.uid,
    ref.accountId,
  ]);
  await owner.query(`update memory set created_at = created_at - interval '2 hours' where account_id = $1`, [
    ref.accountId,
  ]);
  await cleanLessons(server.database);
  await cleanLessons(server.database);
  const { rows } = await owner.query('select from memory where account_id = $1', [ref.accountId]);
  expect(rows).toEqual([]);
});

it('an operator who looks at a task changes no draft', async () => {
  const task = await order(ann, INVOICES);
  await confirmFirst(task);
  const { body } = await operator.call('GET', pathOf(task, '/segments/1/matches'));
  expect(body.matches).toHaveLength(1);
  expect(body).not.toHaveProperty('segment');
  const { segments } = (await ann.call('GET', pathOf(task))).body;
  expect(segments[1].draft).toEqual(text('KEEP THE INVOICE NUMBER 1001.'));
});

it('a text whose vote is undone is no match', async () => {
  await confirmFirst(await order(ann, INVOICES));
  const other = await order(bob, 'Keep the invoice number 2000.\nThe river is wide.');
  const votes = `/api/console/accounts/${username}/votes`;
  const { body } = await operator.call('GET', `${votes}?filling=false`);
  expect((await operator.call('POST', `${votes}/${body.votes[0].vote}/undo`, {})).status).toBe(200);
  expect(await matchesOf(bob, other, 0)).toEqual([]);
});

it('a delivered job makes its confirmed texts entries of the memory', async () => {
  const task = await order(ann, INVOICES);
  await confirmFirst(task);
  const other = await order(bob, 'Keep the invoice number 2000.\nThe river is wide.');
  await confirmAll(ann, task);
  expect((await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token })).status).toBe(200);
  await waitForStatus(call, `${HUMAN}${task.uid}/`);
  expect((await matchesOf(bob, other, 0))[0]).toMatchObject({ origin: 'job', score: 99 });
  const { objects } = (await call('GET', '/api/v1/memory/?q=1000')).body;
  expect(objects).toMatchObject([{ target: INVOICE }]);
});

const NONE = { count: 0, sources: [], text_count: 0, texts: [] };

it('texts that were confirmed for sources with different terms are listed, and no others', async () => {
  await brand('doors', 'Formal', { door: 'puerta', gate: 'verja', entrance: 'puerta' });
  const sources = ['Open the door.', 'Open the entrance.', 'Open the gate.', 'Shut it.', 'Close it.'];
  const uid = await orderEdit(call, sources.join('\n'), { brand: 'doors' });
  const task = await claimJob(ann, uid);
  const found = [];
  for (const segment of task.segments) {
    const target = text(segment.position < 3 ? 'Abra la puerta.' : 'Ciérrelo ya.');
    expect((await confirm(ann, task, segment, { target })).status).toBe(200);
    found.push((await ann.call('GET', pathOf(task, '/inconsistencies'))).body);
  }
  const [door, , gate] = sources.map((source) => text(source));
  const ofTerms = [
    { source: door, positions: [0, 1] },
    { source: gate, positions: [2] },
  ];
  const listed = { ...NONE, text_count: 1, texts: [{ target: text('Abra la puerta.'), sources: ofTerms }] };
  expect(found).toEqual([NONE, NONE, listed, listed, listed]);
});

it('sources that two editors of a document confirmed differently are listed, and no others', async () => {
  const [first, second] = [
    '<p>Keep the box.</p><p>Open the old door.</p>',
    '<p>Keep the box.</p><p>Close it.</p>',
  ];
  const between = '<p>The small house is very old.</p>'.repeat(60);
  const uid = await orderEdit(call, `${first}${between}${second}`, { text_format: 'html' });
  const [one, two] = [await claimJob(ann, uid), await claimJob(bob, uid)];
  const list = async (person: TestPerson, task: typeof one) =>
    (await person.call('GET', pathOf(task, '/inconsistencies'))).body;
  const [box] = one.segments.filter(({ mine }: { mine: boolean }) => mine);
  expect((await confirm(ann, one, box, { target: text('Guarde la caja.') })).status).toBe(200);
  expect(await list(ann, one)).toEqual(NONE);
  const { segments } = (await bob.call('GET', pathOf(two))).body;
  const repeat = segments.findLast(
    ({ source }: { source: { text: string }[] }) => source[0]!.text === 'Keep the box.',
  );
  expect((await confirm(bob, two, repeat, { target: text('Guarde  la caja.') })).status).toBe(200);
  expect(await list(bob, two)).toEqual(NONE);
  const now = (await bob.call('GET', pathOf(two))).body.segments.find(
    ({ position }: { position: number }) => position === repeat.position,
  );
  expect((await confirm(bob, two, now, { target: text('Conserve la caja.') })).status).toBe(200);
  const sources = [
    {
      source: text('Keep the box.'),
      texts: [
        { target: text('Guarde la caja.'), positions: [box.position] },
        { target: text('Conserve la caja.'), positions: [repeat.position] },
      ],
    },
  ];
  expect(await list(ann, one)).toEqual({ ...NONE, count: 1, sources });
  expect(await list(bob, two)).toEqual({ ...NONE, count: 1, sources });
});
