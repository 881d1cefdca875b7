/** Tests of accepting and rejecting completed jobs, over the API and in the web app. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { searchMemory } from '../memory/entries.ts';
import { claimTask, confirm, editNext, HUMAN, orderEdit, pathOf } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';
import { expectSoundLedger } from '../testing/ledger.ts';
import { autoAcceptJobs } from './acceptance.ts';

const MACHINE = '/tapi/v2/mt_translation/';

let server: TestServer;
let receiver: Receiver;
let owner: pg.Client;
let ann: TestPerson;
let customer: TestPerson;
let call: ReturnType<typeof createClient>;
let sandbox: ReturnType<typeof createClient>;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ settings: { DRAGOMAN_SANDBOX_HOLD: '0' } });
  owner = await server.connectOwner();
  ann = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  await owner.query('update users set review_share = 0');
  customer = await createPerson(server, { role: 'customer' });
  const { production_key, sandbox_key } = customer.account!;
  call = createClient(server.url, production_key);
  sandbox = createClient(`${server.url}/sandbox`, sandbox_key);
});
afterAll(async () => {
  await expectSoundLedger(server.database);
  await server.stop();
  await receiver.close();
});

const has = (uid: string, status: string, by = call, path = HUMAN) =>
  waitForStatus(by, `${path}${uid}/`, status);

/** Creates a job, has an editor complete it, and returns its uid. */
async function delivered(text: string, fields: object = {}): Promise<string> {
  const uid = await orderEdit(call, text, fields);
  await editNext(ann);
  await has(uid, 'completed');
  return uid;
}

/** Creates a job in the sandbox, where no editor works, and waits until it is completed. @returns its uid */
async function inSandbox(uid: string, fields: object = {}, path = HUMAN): Promise<string> {
  const body = { uid, text: 'The house.', source_language: 'en', target_language: 'es', ...fields };
  expect((await sandbox('POST', path, body)).status).toBe(201);
  await has(uid, 'completed', sandbox, path);
  return uid;
}

async function byMachineAlone(uid: string): Promise<string> {
  await call('POST', MACHINE, { uid, text: 'The house.', source_language: 'en', target_language: 'es' });
  await has(uid, 'completed', call, MACHINE);
  return uid;
}

async function finishedAt(uid: string): Promise<Date> {
  const { rows } = await owner.query('select finished_at from jobs where uid = $1', [uid]);
  expect(rows[0].finished_at).toBeInstanceOf(Date);
  return rows[0].finished_at;
}

async function weights(): Promise<Record<string, number>> {
  const { ref } = await accountNamed(server.database, customer.account!.username);
  const entries = await searchMemory(server.database, ref, { state: 'all', limit: 100 });
  return Object.fromEntries(entries.map(({ target, weight }) => [target, weight]));
}

describe('accepting a job', () => {
  it('makes it final and raises the weight of its memory entries; accepting it again changes nothing', async () => {
    const uid = await delivered('A word of thanks.');
    expect(await weights()).toMatchObject({ 'A WORD OF THANKS.': 2 });
    const finished = await finishedAt(uid);
    const accepted = await call('POST', `${HUMAN}${uid}/accept/`);
    expect(accepted).toMatchObject({
      status: 200,
      body: { uid, status: 'accepted', translated_text: 'A WORD OF THANKS.' },
    });
    expect(await weights()).toMatchObject({ 'A WORD OF THANKS.': 4 });
    expect(await finishedAt(uid)).toEqual(finished);
    expect((await call('POST', `${HUMAN}${uid}/accept/`)).status).toBe(200);
    expect((await call('POST', `${HUMAN}${uid}/reject/`, { reason: 'no' })).text).toContain(
      'this job is accepted',
    );
    const listed = await call('GET', `${HUMAN}?status=accepted`);
    expect(listed.body.objects.map((one: { uid: string }) => one.uid)).toEqual([uid]);
  });

  it("happens automatically when the customer has not reacted within the operator's number of hours", async () => {
    const [uid, later] = [await delivered('Silence.'), await delivered('Not yet.')];
    const [byMachine, rejected] = [await byMachineAlone('silent'), await delivered('No.')];
    await call('POST', `${HUMAN}${rejected}/reject/`, { reason: 'Not so.' });
    await owner.query(`update jobs set finished_at = now() - interval '49 hours' where uid = any($1)`, [
      [uid, byMachine, rejected],
    ]);
    await autoAcceptJobs(server.database, 0);
    expect((await call('GET', `${HUMAN}${uid}/`)).body.status).toBe('completed');
    const setStatus = (status: string) => owner.query('update accounts set status = $1', [status]);
    await setStatus('suspended');
    await autoAcceptJobs(server.database, 48);
    await setStatus('active');
    expect((await call('GET', `${HUMAN}${uid}/`)).body.status).toBe('completed');
    await autoAcceptJobs(server.database, 48);
    expect((await call('GET', `${HUMAN}${uid}/`)).body.status).toBe('accepted');
    expect((await call('GET', `${HUMAN}${later}/`)).body.status).toBe('completed');
    expect((await call('GET', `${MACHINE}${byMachine}/`)).body.status).toBe('completed');
    expect((await call('GET', `${HUMAN}${rejected}/`)).body.status).toBe('rejected');
    expect(await weights()).toMatchObject({ 'SILENCE.': 4, 'NOT YET.': 2 });
    await editNext(ann);
  });
});

describe('rejecting a job', () => {
  it('sends it back to the editors free of charge, and delivers the new result with another webhook-id', async () => {
    const { balance } = (await call('GET', `${HUMAN}${await delivered('First.')}/`)).body;
    const uid = await delivered('The big house.', { callback_url: `${receiver.url}/again` });
    const [first] = [await receiver.next(({ path }) => path === '/again')];
    const paid = (await call('GET', `${HUMAN}${uid}/`)).body;
    expect(paid.balance).toBeLessThan(balance);

    expect(JSON.parse(first!.body)).toMatchObject({ uid, text: 'The big house.' });
    const finished = await finishedAt(uid);

    const rejected = await call('POST', `${HUMAN}${uid}/reject/`, { reason: 'Too loud.' });
    expect(await finishedAt(uid)).toEqual(finished);
    expect(rejected).toMatchObject({
      status: 200,
      body: { status: 'rejected', translated_text: 'THE BIG HOUSE.' },
    });
    expect(await weights()).toMatchObject({ 'THE BIG HOUSE.': 0 });
    expect((await call('POST', `${HUMAN}${uid}/reject/`, { reason: 'Still.' })).text).toContain(
      'this job is rejected',
    );

    const task = await claimTask(ann);
    expect(task.comments).toMatchObject([{ text: 'Too loud.', role: 'customer' }]);
    const [segment] = task.segments;
    const target = [{ text: 'La casa grande.' }];
    expect((await confirm(ann, task, segment, { target })).status).toBe(200);
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    const again = await has(uid, 'completed');
    expect(again).toMatchObject({
      translated_text: 'La casa grande.',
      balance: paid.balance,
      price: paid.price,
    });
    const second = await receiver.next(
      ({ path, headers }) => path === '/again' && headers['webhook-id'] !== first!.headers['webhook-id'],
    );
    expect(JSON.parse(second.body)).toMatchObject({
      uid,
      status: 'completed',
      text: 'The big house.',
      translated_text: 'La casa grande.',
    });
    expect(await weights()).toMatchObject({ 'La casa grande.': 2, 'THE BIG HOUSE.': 0 });
    expect((await call('POST', `${HUMAN}${uid}/accept/`)).body.status).toBe('accepted');
  });

  it('in the sandbox moves the job to rejected and then to completed, without editors', async () => {
    const uid = await inSandbox('again', { callback_url: `${receiver.url}/sandbox` });
    const answered = await sandbox('POST', `${HUMAN}${uid}/reject/`, { reason: ' Once more. ' });
    expect(answered.body.status).toBe('completed');
    await until(() => receiver.received.filter(({ path }) => path === '/sandbox').length === 2);
    const { rows } = await owner.query(
      `select to_status, actor, detail from job_events join jobs using (part, account_id, job_id) where uid = $1
        order by event_id`,
      [uid],
    );
    expect(rows.slice(-2)).toEqual([
      { to_status: 'rejected', actor: 'customer', detail: 'Once more.' },
      { to_status: 'completed', actor: 'machine', detail: null },
    ]);
  });

  it('is refused when no editor has worked on it', async () => {
    await byMachineAlone('alone');
    expect((await call('POST', `${HUMAN}alone/reject/`, { reason: 'no' })).status).toBe(404);
    const refused = await customer.call('POST', '/api/account/jobs/alone/reject', { reason: 'no' });
    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toContain('It can be upgraded.');
    // A job whose deadline passed before an editor began cannot be rejected either, because nothing was
    // charged.
    const uid = await delivered('Fell back.');
    await owner.query(
      `update tasks set status = 'canceled' where job_id = (select job_id from jobs where uid = $1)`,
      [uid],
    );
    const unedited = await call('POST', `${HUMAN}${uid}/reject/`, { reason: 'no' });
    expect(unedited).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('no editor worked on this job') },
    });
    expect((await call('GET', `${HUMAN}${uid}/`)).body.status).toBe('completed');
    expect((await weights())['FELL BACK.']).toBe(2);
  });
});

describe('rejecting a job whose texts retention has deleted', () => {
  it('is refused, because the new result would have no source text', async () => {
    const uid = await delivered('Long ago.');
    const judged = await inSandbox('long-ago');
    // Deletes the texts of a job as retention does.
    await owner.query(`delete from job_texts where job_id in (select job_id from jobs where uid = any($1))`, [
      [uid, judged],
    ]);
    const refused = await call('POST', `${HUMAN}${uid}/reject/`, { reason: 'Too late.' });
    expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining('were deleted') } });
    expect((await call('GET', `${HUMAN}${uid}/`)).body.status).toBe('completed');
    expect((await weights())['LONG AGO.']).toBe(2);
    expect((await sandbox('POST', `${HUMAN}${judged}/reject/`, { reason: 'Too late.' })).status).toBe(400);
  });
});

describe('accept and reject requests', () => {
  it('are answered with 400 for an unfinished job, and with 404 for an unknown job or a job of another account', async () => {
    const uid = await orderEdit(call, 'Waits.');
    for (const [word, body] of [
      ['accept', undefined],
      ['reject', { reason: 'no' }],
    ] as const) {
      const early = await call('POST', `${HUMAN}${uid}/${word}/`, body);
      expect(early).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('this job is translating') },
      });
      const stranger = createClient(server.url, (await server.createAccount()).production_key);
      const foreign = await stranger('POST', `${HUMAN}${uid}/${word}/`, body);
      const unknown = await stranger('POST', `${HUMAN}nobody/${word}/`, body);
      expect(foreign.status).toBe(404);
      expect(foreign.text).toBe(unknown.text);
      expect((await sandbox('POST', `${HUMAN}${uid}/${word}/`, body)).status).toBe(404);
      expect((await call('GET', `${HUMAN}${uid}/${word}/`)).status).toBe(405);
    }
    await call('DELETE', `${HUMAN}${uid}/`);
  });

  it('may contain a rejection reason of 2,000 characters', async () => {
    const uid = await inSandbox('long-word');
    const reason = 'x'.repeat(2000);
    expect((await sandbox('POST', `${HUMAN}${uid}/reject/`, { reason })).status).toBe(200);
  });

  it.each([
    [undefined],
    [null],
    [{ reason: '\ud800' }],
    [{}],
    [{ reason: ' ' }],
    [{ reason: 7 }],
    [{ reason: 'x'.repeat(2001) }],
    [{ reason: '\0' }],
    [{ reason: 'a\uffff' }],
  ])('are refused when the rejection reason is %j', async (body) => {
    const refused = await sandbox('POST', `${HUMAN}again/reject/`, body);
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatch(/^reason: /);
  });
});

describe('acceptance in the web app', () => {
  it('lets customers accept and reject the jobs of their own account only', async () => {
    const accepted = await inSandbox('mine');
    const at = (uid: string, word: string) => `/api/account/jobs/${uid}/${word}`;
    const answered = await customer.call('POST', at(accepted, 'accept'), { environment: 'sandbox' });
    expect(answered.body).toEqual({ uid: 'mine', environment: 'sandbox', status: 'accepted' });
    const uid = await delivered('Of mine.');
    const rejected = await customer.call('POST', at(uid, 'reject'), { reason: 'No.' });
    expect(rejected.body).toEqual({ uid, environment: 'production', status: 'rejected' });
    await editNext(ann);
    await has(uid, 'completed');
    const stranger = await createPerson(server, { role: 'customer' });
    expect((await stranger.call('POST', at(uid, 'accept'), {})).status).toBe(404);
    expect((await ann.call('POST', at(uid, 'accept'), {})).status).toBe(404);
    expect((await customer.call('POST', at(uid, 'accept'), { environment: 'x' })).status).toBe(400);
    expect((await customer.call('POST', at(uid, 'reject'), {})).body.error.fields).toHaveProperty('reason');
  });
});
