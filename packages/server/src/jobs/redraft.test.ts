/** Tests of replacing the drafts of a job on an operator's request. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimTask, confirm, editNext, HUMAN, orderEdit, pathOf, save } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';
import { expectSoundLedger } from '../testing/ledger.ts';

const MACHINE = '/tapi/v2/mt_translation/';

let server: TestServer;
let owner: pg.Client;
let operator: TestPerson;
let ann: TestPerson;
let call: ReturnType<typeof createClient>;
let who: string;
let second: FakeEngine;

/**
 * Returns a fake engine with the name "second" whose drafts differ from those of the server's first engine.
 */
function named(): FakeEngine {
  const engine = createFake({ directions: ['en>es'] });
  Object.defineProperty(engine, 'name', { value: 'second' });
  const draft = engine.draft.bind(engine);
  engine.draft = async (request) =>
    (await draft(request)).map((one) =>
      one.status === 'translated'
        ? {
            ...one,
            pieces: one.pieces.map((piece) =>
              'text' in piece ? { ...piece, text: `${piece.text}!` } : piece,
            ),
          }
        : one,
    );
  return engine;
}

beforeAll(async () => {
  server = await startTestServer({
    engines: () => {
      second = named();
      return [createFake(), second];
    },
    settings: { DRAGOMAN_TASK_WORDS: '4', DRAGOMAN_EDITOR_TASKS: '9' },
  });
  owner = await server.connectOwner();
  operator = await createPerson(server, { role: 'operator' });
  ann = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  const { username, production_key } = await server.createAccount({ balanceCents: 10_000 });
  call = createClient(server.url, production_key);
  who = `/api/console/accounts/${username}/jobs`;
  await owner.query('update users set review_share = 0');
});
afterAll(() => server.stop());

const idOf = async (uid: string) =>
  (await owner.query('select job_id from jobs where uid = $1', [uid])).rows[0].job_id as string;
const detail = async (uid: string) => (await operator.call('GET', `${who}/${await idOf(uid)}`)).body;
const redraft = async (uid: string, body: object = {}) =>
  operator.call('POST', `${who}/${await idOf(uid)}/redraft`, body);
const drafts = async (uid: string): Promise<string[]> => {
  const { rows } = await owner.query(`select draft from segments where job_id = $1 order by position`, [
    await idOf(uid),
  ]);
  return rows.map(({ draft }) => draft.map(({ text = '' }: { text?: string }) => text).join(''));
};
/** Waits until the redraft is done. */
const done = (uid: string) => until(async () => (await detail(uid)).redraft === null);
const tasksOf = async (uid: string) =>
  (
    await owner.query(`select task_id as task, status from tasks where job_id = $1 order by first_position`, [
      await idOf(uid),
    ])
  ).rows as { task: string; status: string }[];
const transfers = async (uid: string) =>
  (await owner.query('select kind from transfers where job_id = $1 order by transfer_id', [await idOf(uid)]))
    .rows;

describe('redrafting a job', () => {
  it('replaces the drafts of untouched segments only, in tasks that no editor has claimed', async () => {
    // The job has four tasks of one sentence each.
    const uid = await orderEdit(
      call,
      'One big old house.\nTwo big old houses.\nThree big old cats.\nFour big old dogs.\n',
    );
    const [first, next, third] = await tasksOf(uid);
    const before = await drafts(uid);
    // The first task is submitted, the second is claimed but untouched, the third was saved and released.
    await editNext(ann, first!.task);
    await claimTask(ann, next!.task);
    const held = await claimTask(ann, third!.task);
    const [segment] = held.segments.filter(({ mine }: { mine: boolean }) => mine);
    await save(ann, held, segment, { target: [{ text: 'Tres gatos.' }] });
    await ann.call('POST', pathOf(held, '/release'), { token: held.lease.token });
    const paid = await transfers(uid);
    expect(await detail(uid)).toMatchObject({
      untouched: 1,
      may: { redraft: true },
      engines: ['fake', 'second'],
    });

    const asked = await redraft(uid, { engine: 'second' });
    expect(asked.status, asked.text).toBe(200);
    await done(uid);
    const after = await drafts(uid);
    expect(after.slice(0, 3)).toEqual(before.slice(0, 3));
    expect(after[3]).toBe(`${before[3]}!`);
    expect(await detail(uid)).toMatchObject({ status: 'translating', due_at: null });
    expect((await tasksOf(uid)).map(({ status }) => status)).toEqual([
      'submitted',
      'claimed',
      'open',
      'open',
    ]);
    const again = await claimTask(ann, third!.task);
    expect(again.segments.find(({ mine }: { mine: boolean }) => mine)).toMatchObject({
      status: 'draft',
      target: [{ text: 'Tres gatos.' }],
    });
    // The redraft added no transfer, and the audit log names the operator.
    expect(await transfers(uid)).toEqual(paid);
    await expectSoundLedger(server.database);
    const { rows } = await owner.query(
      `select name, subject, detail from audit where action = 'job.redrafted'`,
    );
    expect(rows).toMatchObject([{ name: operator.email, subject: uid, detail: { engine: 'second' } }]);
    const { timeline } = await detail(uid);
    expect(
      timeline
        .filter(({ status }: { status?: string }) => status === 'translating')
        .map(({ actor }: { actor: string }) => actor),
    ).toEqual(['machine', 'operator', 'machine']);
  });

  it('uses the engine route when the operator names no engine, and the job can then be completed', async () => {
    const uid = await orderEdit(call, 'A single part.\n');
    const [before] = await drafts(uid);
    await redraft(uid, { engine: 'second' });
    await done(uid);
    expect(await drafts(uid)).toEqual([`${before}!`]);
    await redraft(uid);
    await done(uid);
    expect(await drafts(uid)).toEqual([before]);
    await editNext(ann, (await tasksOf(uid))[0]!.task);
    await waitForStatus(call, `${HUMAN}${uid}/`);
  });

  it('leaves the draft of a segment unchanged if an editor claims it while the redraft runs', async () => {
    const uid = await orderEdit(call, 'Somebody is faster.\n');
    const before = await drafts(uid);
    second.stall();
    const count = second.requests.length;
    await redraft(uid, { engine: 'second' });
    await second.waitForRequests(count + 1);
    const task = await claimTask(ann, (await tasksOf(uid))[0]!.task);
    second.resume();
    await done(uid);
    expect(await drafts(uid)).toEqual(before);
    const [segment] = task.segments;
    expect((await confirm(ann, task, segment)).status).toBe(200);
  });

  it('keeps the old draft when the engine cannot translate the segment', async () => {
    const uid = await orderEdit(call, 'Impossible for one.\n');
    const before = await drafts(uid);
    second.failOn('Impossible');
    await redraft(uid, { engine: 'second' });
    // Makes the next attempt of a job the last attempt, and makes it due at once.
    await until(async () => (await detail(uid)).attempts === 1 && !(await detail(uid)).leased);
    await owner.query('update jobs set attempts = 4, due_at = now() where uid = $1', [uid]);
    await server.database.notify('dragoman_jobs');
    await done(uid);
    second.failOn(null);
    expect(await drafts(uid)).toEqual(before);
    expect((await detail(uid)).status).toBe('translating');
  });

  it('ends when the customer cancels the job while the redraft runs', async () => {
    const uid = await orderEdit(call, 'Taken back.\n');
    second.stall();
    const count = second.requests.length;
    await redraft(uid, { engine: 'second' });
    await second.waitForRequests(count + 1);
    expect((await call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
    expect(await detail(uid)).toMatchObject({ status: 'canceled', redraft: null, may: { redraft: false } });
    second.resume();
    expect((await detail(uid)).status).toBe('canceled');
  });
});

describe('a redraft is refused', () => {
  const fieldsOf = ({ status, body }: Awaited<ReturnType<typeof redraft>>) => [status, body.error?.fields];

  it('while every segment is claimed, or another redraft is in progress', async () => {
    const uid = await orderEdit(call, 'Held by one.\n');
    const task = await claimTask(ann, (await tasksOf(uid))[0]!.task);
    expect(fieldsOf(await redraft(uid))).toEqual([
      400,
      { status: expect.stringContaining('No segment is left') },
    ]);
    await ann.call('POST', pathOf(task, '/release'), { token: task.lease.token });
    second.stall();
    const count = second.requests.length;
    const both = await Promise.all([redraft(uid, { engine: 'second' }), redraft(uid, { engine: 'second' })]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    await second.waitForRequests(count + 1);
    expect(fieldsOf(await redraft(uid))).toEqual([400, { status: expect.stringContaining('already') }]);
    second.resume();
    await done(uid);
  });

  it('for a job that no editor works on, and for a finished job', async () => {
    const job = { text: 'Not for editors.', source_language: 'en', target_language: 'es' };
    await call('POST', MACHINE, { ...job, uid: 'machine' });
    await waitForStatus(call, `${MACHINE}machine/`);
    await call('POST', HUMAN, { ...job, uid: 'held', text: 'Waits for its start.' });
    await until(async () => (await detail('held')).status === 'translating');
    const states = { completed: 'completed', failed: 'Create it again', canceled: 'canceled', new: 'new' };
    expect(fieldsOf(await redraft('machine'))).toEqual([
      400,
      { status: expect.stringContaining('completed') },
    ]);
    for (const [status, reason] of Object.entries(states)) {
      await owner.query('update jobs set status = $1 where uid = $2', [status, 'held']);
      expect(fieldsOf(await redraft('held')), status).toEqual([
        400,
        { status: expect.stringContaining(reason) },
      ]);
      expect((await detail('held')).may.redraft, status).toBe(false);
    }
    await owner.query(`update jobs set status = 'translating', environment = 'sandbox' where uid = 'held'`);
    expect(fieldsOf(await redraft('held'))).toEqual([400, { status: 'No editor works on this job.' }]);
  });

  it('for an engine that does not serve the pair (400), an unknown job (404) and users who are not operators (404)', async () => {
    const uid = await orderEdit(call, 'Once more.\n');
    const refused = await redraft(uid, { engine: 'nobody' });
    expect(fieldsOf(refused)).toEqual([400, { engine: 'must be one that serves the pair: fake, second.' }]);
    const nowhere = `${who}/0193a1f0-5d5c-7c1e-8d4e-6f1f5d1f0a11/redraft`;
    expect((await operator.call('POST', nowhere)).status).toBe(404);
    const customer = await createPerson(server, { role: 'customer' });
    const path = `${who}/${await idOf(uid)}/redraft`;
    for (const stranger of [ann, customer]) expect((await stranger.call('POST', path)).status).toBe(404);
  });
});
