/**
 * Tests over HTTP of the time limit of a scan and of an account's share of the processes. The scanner
 * processes of these tests have tasks that never end.
 */
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { createLog } from '../base/log.ts';
import { saveBrand } from '../brands/brands.ts';
import { claimTask, confirmAll, editNext, orderEdit, pathOf } from '../testing/editors.ts';
import { ENDLESS } from '../testing/endless.ts';
import {
  createClient,
  createPerson,
  startReceiver,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';
import { expectSoundLedger } from '../testing/ledger.ts';
import { INLINE_LENGTH, INLINE_LENGTH_WITH_PATTERNS } from './scanner.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const COUNT = '/tapi/v2/wordcount/';
const MESSAGES = '/v2/chats/messages';
const METRICS_TOKEN = 'for-the-test';

/** Limits in processor milliseconds. SMALL is far more than the ordinary texts of these tests need. */
const SMALL = 1_000;
const NONE = 1e9;
let limit = SMALL;
/** Number of tasks that were sent to the scanner processes. */
let given = 0;
let logged = '';

let server: TestServer;
let owner: pg.Client;
let username: string;
let key: string;
let call: ReturnType<typeof createClient>;
let other: ReturnType<typeof createClient>;

const children = () =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ').map(Number);
const others = new Set(children());
const processes = () => children().filter((pid) => pid > 0 && !others.has(pid));

beforeAll(async () => {
  const destination = new PassThrough().on('data', (line: Buffer) => {
    logged += line.toString();
  });
  server = await startTestServer({
    log: createLog('warn', destination),
    settings: {
      DRAGOMAN_PRICE_MACHINE: '1',
      DRAGOMAN_METRICS_TOKEN: METRICS_TOKEN,
      DRAGOMAN_MAX_MESSAGE: '100000',
    },
    scanning: { script: ENDLESS, limitMilliseconds, maxWaiting: 6 },
  });
  owner = await server.connectOwner();
});
beforeEach(async () => {
  const [one, two] = await Promise.all(
    [1, 2].map(() => server.createAccount({ balanceCents: 1_000_000, chat: true })),
  );
  username = one!.username;
  key = one!.production_key;
  call = createClient(server.url, key);
  other = createClient(server.url, two!.production_key);
});
afterAll(() => server.stop());

function limitMilliseconds(): number {
  given++;
  return limit;
}

const long = (words: string) => `${words}\n`.padEnd(INLINE_LENGTH + 1, 'The house is big.\n');
/** Returns an HTML text with one sentence to translate and a long HTML comment that begins with `words`. */
const hidden = (words: string) => `<p>The house is big.</p><!-- ${long(words)} -->`;
const job = (text: string) => ({ text, source_language: 'en', target_language: 'es' });
const refused = {
  status: 400,
  text: expect.stringContaining('text: cannot be read in reasonable time; send it in smaller parts.'),
};

describe('a text that takes longer to read than the limit', () => {
  it.each([
    ['a word count', 'POST', COUNT, { text: long('endless:count') }],
    ['a machine job', 'POST', MACHINE, job(long('endless:examine'))],
    [
      'a text whose language is detected',
      'POST',
      MACHINE,
      { ...job('endless:examine'), source_language: null },
    ],
  ])(
    'is named as the cause in the error when %s is refused, and the next request succeeds',
    async (_, method, path, body) => {
      expect(await call(method, path, body)).toMatchObject(refused);
      const next = {
        ...body,
        text: body.text.replaceAll(/endless:\w+/g, 'The house is big and stands near the river.'),
      };
      expect((await call(method, path, next)).status).toBe(201);
    },
  );

  it('is named as the cause in the error when a bulk of jobs is refused, and no job of the bulk is created', async () => {
    const answer = await call('PATCH', HUMAN, { objects: [job('One.'), job(long('endless:examine'))] });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('objects[1].text: cannot be read in reasonable time');
    expect((await call('GET', HUMAN)).body.meta.total_count).toBe(0);
  });

  it('makes a machine job fail at the first attempt, which releases its hold', async () => {
    const before = given;
    const { uid } = (await call('POST', MACHINE, job(long('endless:open')))).body;
    const failed = await waitForStatus(call, `${MACHINE}${uid}/`, 'failed');
    expect(failed).not.toHaveProperty('translated_text');
    expect(await recordOf(uid)).toEqual({
      failure: 'the text cannot be read in reasonable time',
      kinds: ['hold', 'void'],
    });
    expect(given - before).toBe(2); // The scanner got two tasks: one examine task and one open task.
  });

  it('makes a machine job fail when its translation cannot be assembled in time, which releases its hold', async () => {
    const { uid } = (await call('POST', MACHINE, job(long('endless:assemble')))).body;
    await waitForStatus(call, `${MACHINE}${uid}/`, 'failed');
    expect(await recordOf(uid)).toMatchObject({ kinds: ['hold', 'void'] });
  });

  it('makes a chat message fail', async () => {
    const body = { ...job(long('endless:open')), text_format: 'text', external_id: 'm' };
    const made = await call('POST', MESSAGES, { ...body, chat_external_id: 'c' });
    expect(made.status).toBe(201);
    const { chat, message } = made.body;
    const path = `/v2/chats/${chat.id}/messages/${message.id}`;
    await until(async () => (await call('GET', path)).body.message.status === 'mt_failed');
  });

  it('is refused in a chat with patterns and in a trial of patterns, which both read it in a scanner process', async () => {
    const operator = await createPerson(server, { role: 'operator' });
    const protect = ['ACME'];
    const brand = { externalId: 'shop', name: 'Shop', protect, languages: new Map(), default: undefined };
    const { ref } = await accountNamed(server.database, username);
    await saveBrand(server.database, 'command', ref, brand, false);
    const text = (words: string) => words.padEnd(INLINE_LENGTH_WITH_PATTERNS + 1, ' The house is big.');
    const chat = { text_format: 'text', external_id: 'm', chat_external_id: 'c', brand: 'shop' };
    const send = (words: string) => call('POST', MESSAGES, { ...job(text(words)), ...chat });
    const tryOn = (words: string) =>
      operator.call('POST', `/api/console/accounts/${username}/brands/shop/protect`, {
        protect,
        text: text(words),
      });
    expect(await send('endless:count')).toMatchObject(refused);
    expect((await send('An ACME house.')).status).toBe(201);
    expect(await tryOn('endless:protect')).toMatchObject(refused);
    expect((await tryOn('An ACME house.')).body).toEqual({ parts: [{ start: 3, end: 7 }] });
  });

  it('leaves a human job unchanged when an operator redrafts it', async () => {
    const uid = await orderEdit(call, hidden(''), { text_format: 'html' });
    await giveSource(uid, hidden('endless:open'));
    const { rows } = await owner.query('select job_id from jobs where uid = $1', [uid]);
    const operator = await createPerson(server, { role: 'operator' });
    const path = `/api/console/accounts/${username}/jobs/${rows[0].job_id}`;
    expect((await operator.call('POST', `${path}/redraft`, {})).status).toBeLessThan(300);
    await until(async () => (await operator.call('GET', path)).body.redraft === null);
    expect((await call('GET', `${HUMAN}${uid}/`)).body.status).toBe('translating');
  });

  it('makes an edited job fail after three attempts to assemble its result, which releases its hold', async () => {
    const receiver = await startReceiver();
    const text = hidden('endless:assemble');
    const uid = await orderEdit(call, text, { text_format: 'html', callback_url: receiver.url });
    await handIn(uid);
    await triesFail(uid, 2);
    expect((await call('GET', `${HUMAN}${uid}/`)).body.status).toBe('translating');
    await tryNow(uid);
    expect(JSON.parse((await receiver.next(() => true)).body)).toMatchObject({
      uid,
      status: 'failed',
      price: 0,
      failure: 'the text cannot be read in reasonable time',
    });
    expect((await call('GET', `${HUMAN}${uid}/`)).body).toMatchObject({ status: 'failed', price: 0 });
    expect(await recordOf(uid)).toMatchObject({ kinds: ['hold', 'void'] });
    expect(await stagesOf(uid)).toEqual({ stage: 'canceled', tasks: ['canceled'] });
    await until(() => givenUp(uid));
    await expectSoundLedger(server.database);
    await receiver.close();
  });

  it('turns an upgraded job back into the completed machine job when the edited result cannot be assembled', async () => {
    const { uid } = (await call('POST', MACHINE, { ...job(hidden('')), text_format: 'html' })).body;
    await waitForStatus(call, `${MACHINE}${uid}/`);
    await call('PATCH', `${MACHINE}${uid}/`, { status: 'upgrade', properties: null });
    await waitForStatus(call, `${HUMAN}${uid}/`, 'translating');
    await giveSource(uid, hidden('endless:assemble'));
    await handIn(uid);
    await triesFail(uid, 2);
    await tryNow(uid);
    await waitForStatus(call, `${MACHINE}${uid}/`);
    expect(await recordOf(uid)).toMatchObject({ kinds: ['hold', 'capture', 'hold', 'void'] });
    await expectSoundLedger(server.database);
  });

  it('leaves a rejected job with the delivered translation when the new result cannot be assembled', async () => {
    const uid = await orderEdit(call, hidden(''), { text_format: 'html' });
    const editor = await handIn(uid);
    const delivered = await until(async () => {
      const { body } = await call('GET', `${HUMAN}${uid}/`);
      return body.status === 'completed' && body.translated_text;
    });
    await giveSource(uid, hidden('endless:assemble'));
    expect((await call('POST', `${HUMAN}${uid}/reject/`, { reason: 'Too formal.' })).status).toBe(200);
    await editNext(editor, await taskOf(uid));
    await triesFail(uid, 2);
    await tryNow(uid);
    await until(async () => (await stagesOf(uid)).stage === 'canceled');
    const read = (await call('GET', `${HUMAN}${uid}/`)).body;
    expect([read.status, read.translated_text]).toEqual(['rejected', delivered]);
    await until(() => givenUp(uid));
  });

  it('does not count failed attempts to assemble a late job while an editor works on it, and counts from zero after the submission', async () => {
    const { ref } = await accountNamed(server.database, username);
    const brand = { externalId: 'fb', name: 'fb', default: undefined, languages: new Map() };
    await saveBrand(server.database, 'command', ref, { ...brand, fallback: 'machine' }, false);
    const uid = await orderEdit(call, hidden('endless:assemble'), { text_format: 'html', brand: 'fb' });
    await owner.query(`update edited_jobs set deadline_at = now() - interval '1 s' where ${NAMED}`, [uid]);
    await tryNow(uid);
    await triesFail(uid, 2, 'editing');
    const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
    await owner.query('update users set review_share = 0');
    const task = await claimTask(editor, await taskOf(uid));
    await tryNow(uid);
    await tryFails(uid, 2, 'editing');
    await confirmAll(editor, task);
    await editor.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    await triesFail(uid, 2);
    expect((await call('GET', `${HUMAN}${uid}/`)).body.status).toBe('translating');
    expect((await call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
  });

  it('turns an upgraded job back into the completed machine job when it cannot be drafted', async () => {
    const receiver = await startReceiver();
    const { uid } = (await call('POST', MACHINE, { ...job(hidden('')), text_format: 'html' })).body;
    const completed = await waitForStatus(call, `${MACHINE}${uid}/`);
    await giveSource(uid, hidden('endless:open'));
    const upgrade = { status: 'upgrade', properties: { callback_url: receiver.url } };
    expect((await call('PATCH', `${MACHINE}${uid}/`, upgrade)).status).toBe(202);
    const told = await receiver.next(() => true);
    expect(JSON.parse(told.body)).toMatchObject({
      uid,
      status: 'failed',
      price: 0,
      failure: 'the text cannot be read in reasonable time',
    });
    const read = await call('GET', `${MACHINE}${uid}/`);
    expect(read.body).toEqual({ ...completed, text: hidden('endless:open') });
    expect((await call('GET', `${HUMAN}${uid}/`)).status).toBe(404);
    expect(await recordOf(uid)).toEqual({ failure: null, kinds: ['hold', 'capture', 'hold', 'void'] });
    await expectSoundLedger(server.database);
    await receiver.close();
  });

  it("makes an editor's claim of the task fail; the task then leaves the queue and is `reported` to operators", async () => {
    const uid = await orderEdit(call, hidden('endless:describe'), { text_format: 'html' });
    const task = await taskOf(uid);
    const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
    const claimed = await editor.call('POST', '/api/editing/claims', { task });
    expect(claimed).toMatchObject({
      status: 400,
      text: expect.stringContaining('This document takes too long to prepare. Report the task'),
    });
    expect(claimed.text).not.toContain('smaller parts');
    // Other tests leave tasks in the queue, so only this test's task is looked up.
    const { open } = (await editor.call('GET', '/api/editing/queue')).body;
    expect(open.map((one: { task: string }) => one.task)).not.toContain(task);
    const operator = await createPerson(server, { role: 'operator' });
    const { tasks } = (await operator.call('GET', '/api/console/tasks?status=reported')).body;
    expect(tasks).toMatchObject([{ task, status: 'reported' }]);
    expect((await call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
  });

  it('is counted in the metrics', async () => {
    const before = await timedOut();
    await call('POST', COUNT, { text: long('endless:count') });
    expect(await timedOut()).toBe(before + 1);
  });
});

/** Replaces the source of a job, as if an older version of the program had accepted this text. */
async function giveSource(uid: string, text: string): Promise<void> {
  await owner.query(
    `update job_texts set body = $2 where kind = 'source' and job_id = (select job_id from jobs where uid = $1)`,
    [uid, text],
  );
}

/** Lets an editor confirm and submit all segments of a job, without a review. */
async function handIn(uid: string): Promise<TestPerson> {
  const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  await owner.query('update users set review_share = 0');
  await editNext(editor, await taskOf(uid));
  return editor;
}

const NAMED = 'job_id = (select job_id from jobs where uid = $1)';

const tryNow = (uid: string) => owner.query(`update edited_jobs set due_at = now() where ${NAMED}`, [uid]);

/**
 * Waits until assembling has failed `tries` times. Attempts are an hour apart, so before each further attempt
 * the job is made due now.
 */
async function triesFail(uid: string, tries: number, stage = 'assembling'): Promise<void> {
  for (let tried = 1; tried <= tries; tried++) {
    if (tried > 1) await tryNow(uid);
    await tryFails(uid, tried, stage);
  }
}

/**
 * Waits until an attempt at a stage has failed. @param counted how many failed attempts at this stage must have
 * counted so far
 */
async function tryFails(uid: string, counted: number, stage: string): Promise<void> {
  const later = `select from edited_jobs
    where ${NAMED} and stage = $3 and due_at > now() + interval '30 minutes' and tries = $2`;
  await until(async () => (await owner.query(later, [uid, counted, stage])).rowCount === 1);
}

/** Returns whether the log says that the job failed because its result takes too long. */
async function givenUp(uid: string): Promise<boolean> {
  const { rows } = await owner.query('select job_id from jobs where uid = $1', [uid]);
  return logged
    .split('\n')
    .some(
      (line) =>
        line.includes('an edited job failed: its result exceeds the time limit') &&
        line.includes(rows[0].job_id),
    );
}

async function stagesOf(uid: string) {
  const { rows } = await owner.query(
    `select stage, (select array_agg(status) from tasks t where (t.part, t.job_id) = (j.part, j.job_id)) as tasks
       from edited_jobs join jobs j using (part, account_id, job_id) where uid = $1`,
    [uid],
  );
  return rows[0];
}

async function taskOf(uid: string): Promise<string> {
  const tasks = 'select task_id from tasks join jobs using (part, account_id, job_id) where uid = $1';
  return (await owner.query(tasks, [uid])).rows[0].task_id;
}

async function recordOf(uid: string) {
  const { rows } = await owner.query(
    `select failure,
            (select array_agg(kind order by transfer_id) from transfers t where (t.part, t.job_id) = (j.part, j.job_id)) as kinds
       from jobs j where uid = $1`,
    [uid],
  );
  return rows[0];
}

async function timedOut(): Promise<number> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
  const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
  return Number(/^dragoman_scans_timed_out_total (\d+)$/m.exec(text)![1]);
}

describe('an account with more long texts than scanner processes', () => {
  beforeEach(() => {
    limit = NONE;
  });

  it('does not delay the requests of another account', async () => {
    await beside(async (answered) => {
      const body = { ...job('The house is very big and stands near the river.'), source_language: null };
      expect(await other('POST', MACHINE, body)).toMatchObject({
        status: 201,
        body: { source_language: 'en' },
      });
      expect((await other('POST', COUNT, { text: long('The house.') })).status).toBe(201);
      const { uid } = (await other('POST', MACHINE, job(long('The house.')))).body;
      await waitForStatus(other, `${MACHINE}${uid}/`);
      expect(answered).toEqual([]);
    });
  });

  it('does not fill the queue for another account', async () => {
    await beside(async () => {
      const refusal = await call('POST', COUNT, { text: long('The house.') });
      expect(refusal.status).toBe(503);
      expect(refusal.headers.get('retry-after')).toMatch(/^\d+$/);
      expect((await other('POST', COUNT, { text: long('The house.') })).status).toBe(201);
    });
  });

  it('does not delay the edited jobs of another account', async () => {
    const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
    await owner.query('update users set review_share = 0');
    const before = given;
    const slow = await orderEdit(call, hidden('endless:assemble'), { text_format: 'html' });
    await editNext(editor, await taskOf(slow));
    // The account's first three scanner tasks (examine, open, describe) are done, and its fourth task (assemble) is
    // running.
    await until(() => given > before + 2);
    const quick = await orderEdit(other, 'The door is red.');
    await editNext(editor, await taskOf(quick));
    await waitForStatus(other, `${HUMAN}${quick}/`);
    expect((await call('DELETE', `${HUMAN}${slow}/`)).status).toBe(200);
    // The slow job fails when two scanner processes have died during its task. Only then is the account's next job
    // assembled.
    const next = await orderEdit(call, 'The dog sleeps.');
    await editNext(editor, await taskOf(next));
    await until(async () => {
      for (const pid of processes()) process.kill(pid, 'SIGKILL');
      return (await call('GET', `${HUMAN}${next}/`)).body.status === 'completed';
    });
  });

  it('gets an answer to each of its own requests', async () => {
    const sent = [1, 2, 3].map(() => call('POST', COUNT, { text: long('The house.') }));
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([201, 201, 201]);
  });

  it('has a queued word count removed from the queue when its client disconnects', async () => {
    const before = given;
    const begun = [1, 2].map(() => call('POST', COUNT, { text: long('endless:count') }));
    await until(() => given === before + 2);
    const { server: http } = server.server.app!;
    const closed = new Promise((resolve) => {
      http.once('request', (_, response) => response.once('close', resolve));
    });
    const client = new AbortController();
    // If the queued word count still started, it would exceed this limit, and the metrics would count it.
    limit = SMALL;
    const gone = fetch(server.url + COUNT, {
      method: 'POST',
      headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text: long('endless:count') }),
      signal: client.signal,
    });
    await until(() => given === before + 3);
    client.abort();
    await expect(gone).rejects.toThrow();
    await closed;
    const counted = await timedOut();
    await ended(begun);
    expect(await call('POST', COUNT, { text: long('endless:count') })).toMatchObject(refused);
    expect(await timedOut()).toBe(counted + 1);
  });

  /** Runs `look` while the account has three endless texts: two in processes and one queued. */
  async function beside(look: (answered: number[]) => Promise<void>): Promise<void> {
    const before = given;
    const answered: number[] = [];
    const sent = [1, 2, 3].map(async () => {
      const { status } = await call('POST', COUNT, { text: long('endless:count') });
      answered.push(status);
    });
    try {
      await until(() => given === before + 3);
      await look(answered);
    } finally {
      await ended(sent);
    }
  }

  /** Kills processes until all requests are answered. A request fails when two processes have died during its task. */
  async function ended(sent: Promise<unknown>[]): Promise<void> {
    let over = false;
    void Promise.all(sent).then(() => {
      over = true;
    });
    await until(() => {
      for (const pid of processes()) process.kill(pid, 'SIGKILL');
      return over;
    });
  }
});
