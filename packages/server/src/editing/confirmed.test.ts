/** Tests of what editors get from segments that were confirmed in jobs that are not delivered yet, over HTTP. */
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import type { AccountRef } from '../base/account.ts';
import { saveBrand } from '../brands/brands.ts';
import { cleanLessons } from '../memory/memory.ts';
import {
  claimJob,
  confirm,
  confirmAll,
  expireDeadline,
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
  waitForStatus,
} from '../testing/harness.ts';

const TEXT = 'Keep the invoice number 1000.\nKeep the invoice number 1001.\nThe bridge is old.';
const TARGET = 'Guarde el número de factura 1000.';
const text = (written: string) => [{ text: written }];

let server: TestServer;
let owner: pg.Client;
let call: ReturnType<typeof createClient>;
let ann: TestPerson;
let bob: TestPerson;
let operator: TestPerson;
let account: Awaited<ReturnType<TestServer['createAccount']>>;
let ref: AccountRef;

beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_EDITOR_TASKS: '40' } });
  owner = await server.connectOwner();
  [ann, bob] = (await Promise.all(
    ['Ann', 'Bob'].map((name) => createPerson(server, { role: 'editor', languages: ['en:es'], name })),
  )) as [TestPerson, TestPerson];
  operator = await createPerson(server, { role: 'operator' });
  await owner.query('update users set review_share = 0');
});
beforeEach(async () => {
  account = await server.createAccount({ balanceCents: 100_000 });
  ({ ref } = await accountNamed(server.database, account.username));
  call = createClient(server.url, account.production_key);
});
afterAll(() => server.stop());

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
const confirmFirst = async (task: Task, target = TARGET) => {
  const saved = await confirm(ann, task, task.segments[0], { target: text(target) });
  expect(saved.status, saved.text).toBe(200);
  return saved.body.segment;
};

it('a confirmed segment is a match for the next one at once, with its number', async () => {
  const task = await order(ann, TEXT);
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
    { source: 'Keep the invoice number 1000.', target: TARGET, origin: 'document', editor: 'Ann' },
  ]);
});

it('a better match becomes the draft of a segment that nobody has edited', async () => {
  const task = await order(ann, TEXT);
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

it('a confirmed segment is a match in other open jobs of the account, and of no other', async () => {
  await confirmFirst(await order(ann, TEXT));
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

it('machine jobs, prices and the pages of the memory have nothing of an open job', async () => {
  await confirmFirst(await order(ann, TEXT));
  const body = {
    uid: 'machine',
    text: 'Keep the invoice number 1000.',
    source_language: 'en',
    target_language: 'es',
  };
  const path = '/tapi/v2/mt_translation/';
  expect((await call('POST', path, body)).status).toBe(201);
  const done = await waitForStatus(call, `${path}machine/`);
  expect(done.translated_text).toBe('KEEP THE INVOICE NUMBER 1000.');
  const quoted = await call('POST', '/api/v1/quote/', { ...body, tier: 'human' });
  expect(quoted.text).not.toContain('memory');
  expect((await call('GET', '/api/v1/memory/?q=invoice')).body.objects).toEqual([]);
  const pages = `/api/console/accounts/${account.username}/memory`;
  expect((await operator.call('GET', `${pages}?state=all`)).body.entries).toEqual([]);
});

it('a text that is not confirmed any more, or whose job is canceled, is no match', async () => {
  const task = await order(ann, TEXT);
  const other = await order(bob, 'Keep the invoice number 2000.\nThe river is wide.');
  const found = () => matchesOf(bob, other, 0);
  let segment = await confirmFirst(task);
  expect(await found()).toMatchObject([{ target: text('Guarde el número de factura 2000.') }]);
  segment = (await confirm(ann, task, segment, { target: text('Conserve el número de factura 1000.') })).body
    .segment;
  expect(await found()).toMatchObject([{ target: text('Conserve el número de factura 2000.') }]);
  segment = (await save(ann, task, segment, { status: 'draft', target: text('Conserve') })).body.segment;
  expect(await found()).toEqual([]);
  await confirm(ann, task, segment, { target: text(TARGET) });
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
  await confirmFirst(await order(ann, TEXT));
  const owners = await createPerson(server, { role: 'customer', account });
  const exported = async () => (await owners.call('POST', '/api/account/export')).text;
  expect(await exported()).toContain(TEXT.split('\n')[0]);
  expect(await exported()).not.toContain(TARGET);
});

it('a text that was not delivered because its job ran out of time is no match', async () => {
  const brand = { externalId: 'late', name: 'Late', default: false, languages: new Map() };
  await saveBrand(server.database, 'command', ref, { ...brand, fallback: 'machine' }, false);
  const uid = await orderEdit(call, TEXT, { brand: 'late' });
  const task = await claimJob(ann, uid);
  await confirmFirst(task);
  expect((await ann.call('POST', pathOf(task, '/release'), { token: task.lease.token })).status).toBe(200);
  const other = await claimJob(
    bob,
    await orderEdit(call, 'Keep the invoice number 2000.', { brand: 'late' }),
  );
  expect(await matchesOf(bob, other, 0)).toHaveLength(1);
  const { rows } = await owner.query('select part, job_id from jobs where uid = $1 and account_id = $2', [
    uid,
    ref.accountId,
  ]);
  await expireDeadline(owner, rows[0]);
  const body = await waitForStatus(call, `${HUMAN}${uid}/`);
  expect(body).toMatchObject({ fallback: 'machine' });
  expect(await matchesOf(bob, other, 0)).toEqual([]);
});

it('what an older version has left of a job that ended is deleted in the background', async () => {
  const task = await order(ann, TEXT);
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
  const task = await order(ann, TEXT);
  await confirmFirst(task);
  const { body } = await operator.call('GET', pathOf(task, '/segments/1/matches'));
  expect(body.matches).toHaveLength(1);
  expect(body).not.toHaveProperty('segment');
  const { segments } = (await ann.call('GET', pathOf(task))).body;
  expect(segments[1].draft).toEqual(text('KEEP THE INVOICE NUMBER 1001.'));
});

it('a text whose vote is undone is no match', async () => {
  await confirmFirst(await order(ann, TEXT));
  const other = await order(bob, 'Keep the invoice number 2000.\nThe river is wide.');
  const votes = `/api/console/accounts/${account.username}/votes`;
  const { body } = await operator.call('GET', `${votes}?filling=false`);
  expect((await operator.call('POST', `${votes}/${body.votes[0].vote}/undo`, {})).status).toBe(200);
  expect(await matchesOf(bob, other, 0)).toEqual([]);
});

it('a delivered job makes its confirmed texts entries of the memory', async () => {
  const task = await order(ann, TEXT);
  await confirmFirst(task);
  const other = await order(bob, 'Keep the invoice number 2000.\nThe river is wide.');
  await confirmAll(ann, task);
  expect((await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token })).status).toBe(200);
  await waitForStatus(call, `${HUMAN}${task.uid}/`);
  expect((await matchesOf(bob, other, 0))[0]).toMatchObject({ origin: 'job', score: 99 });
  const { objects } = (await call('GET', '/api/v1/memory/?q=1000')).body;
  expect(objects).toMatchObject([{ target: TARGET }]);
});
