/** Tests of jobs after their tasks are submitted: review, deadline and rejection. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../../access/accounts.ts';
import { saveBrand } from '../../brands/brands.ts';
import { createConnection } from '../../database/connections.ts';
import {
  claimTask,
  confirm,
  editNext,
  emptyEditing,
  expireDeadline,
  HUMAN,
  orderEdit,
  pathOf,
  save,
} from '../../testing/editors.ts';
import {
  type Answer,
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../../testing/harness.ts';
import { isReviewed } from './review.ts';

let server: TestServer;
let receiver: Receiver;
let owner: pg.Client;
let call: ReturnType<typeof createClient>;
let username: string;
let ann: TestPerson;
let rita: TestPerson;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ settings: { DRAGOMAN_TASK_WORDS: '4' } });
  owner = await server.connectOwner();
  const account = await server.createAccount({ balanceCents: 100_000 });
  username = account.username;
  call = createClient(server.url, account.production_key);
  ann = await createPerson(server, { role: 'editor', languages: ['en:es+review'], name: 'Ann' });
  rita = await createPerson(server, { role: 'editor', languages: ['en:es+review'], name: 'Rita' });
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const read = async (uid: string) => (await call('GET', `${HUMAN}${uid}/`)).body;
const done = (uid: string) =>
  until(async () => ((await read(uid)).status === 'completed' ? read(uid) : undefined));
const kindsOf = async ({ call }: TestPerson) =>
  (await call('GET', '/api/editing/queue')).body.open.map(({ kind }: { kind: string }) => kind);
const jobOf = async (uid: string) =>
  (await owner.query('select part, account_id, job_id from jobs where uid = $1', [uid])).rows[0];

/** Sends requests while a transaction holds the edited job, which ends when all of them wait for it. */
async function atOnce(uid: string, ...requests: (() => Promise<Answer>)[]): Promise<Answer[]> {
  const { part, job_id } = await jobOf(uid);
  const holder = createConnection(server.connection);
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select from edited_jobs where part = $1 and job_id = $2 for update', [part, job_id]);
    const answers = requests.map((request) => request());
    await until(async () => {
      const { rowCount } = await owner.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rowCount! >= requests.length;
    });
    await holder.query('rollback');
    return await Promise.all(answers);
  } finally {
    await holder.end();
  }
}

describe('a review', () => {
  it('is done by another editor, who returns the job with issues and later approves it', async () => {
    const uid = await orderEdit(call, 'The house is big.\nThe garden is small.\n');
    const [first, second] = [await editNext(ann), await editNext(ann)];
    expect(await read(uid)).toMatchObject({ status: 'translating' });
    // An editor cannot review their own work.
    expect(await kindsOf(ann)).toEqual([]);
    const review = await claimTask(rita);
    expect(review).toMatchObject({ kind: 'review', words: 8, segments: [{ mine: true }, { mine: true }] });
    const { token } = review.lease;
    const early = await rita.call('POST', pathOf(review, '/return'), { token });
    expect(early.body.error.fields).toHaveProperty('note');
    const mark = { token, position: 1, category: 'accuracy', severity: 'major', note: 'Not small.' };
    const marked = await rita.call('POST', pathOf(review, '/issues'), mark);
    expect(marked.status).toBe(201);
    const twice = await rita.call('POST', pathOf(review, '/issues'), { ...mark, severity: 'minor' });
    const gone = await rita.call('DELETE', pathOf(review, `/issues/${twice.body.issue}`), { token });
    expect(gone.status).toBe(200);
    const wrong = await rita.call('POST', pathOf(review, '/issues'), { token, category: 'x' });
    expect(Object.keys(wrong.body.error.fields)).toEqual(['position', 'category', 'severity']);
    expect(
      (await ann.call('POST', pathOf(first, '/issues'), { ...mark, token: first.lease.token })).status,
    ).toBe(409);
    const back = { token, note: 'Please look again.' };
    expect((await rita.call('POST', pathOf(review, '/return'), back)).status).toBe(200);
    expect((await rita.call('POST', pathOf(review, '/return'), back)).status).toBe(200);

    // Only the task with the issue returns to the queue, reserved for its editor for some hours.
    expect(await kindsOf(rita)).toEqual([]);
    const [again] = (await ann.call('GET', '/api/editing/queue')).body.open;
    expect(again).toMatchObject({ task: second.task, reserved: true, returned: true });
    expect(again).not.toHaveProperty('pay');
    const task = await claimTask(ann);
    expect(task).toMatchObject({
      task: second.task,
      returned: true,
      comments: [{ text: 'Please look again.' }],
    });
    const segment = task.segments.find(({ mine }: never) => mine);
    expect(segment).toMatchObject({ status: 'draft', issues: [{ severity: 'major', by: 'Rita' }] });
    await confirm(ann, task, { ...segment, draft: [{ text: 'El jardín es pequeño.' }] });
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });

    const last = await claimTask(rita);
    expect(last.kind).toBe('review');
    const approved = await rita.call('POST', pathOf(last, '/approve'), { token: last.lease.token });
    expect(approved.body.status).toBe('submitted');
    expect((await done(uid)).translated_text).toMatch(/\nEl jardín es pequeño\.\n$/);
    const work = (await ann.call('GET', '/api/editing/work')).body;
    expect(work.issues).toEqual([{ category: 'accuracy', severity: 'major', count: 1 }]);
    const { rows } = await owner.query(
      `select weight, origin from memory where origin = 'job' order by memory_id`,
    );
    expect(rows).toHaveLength(2);
  });

  it('assigns an issue to the editor who wrote the target, even after the reviewer corrected the target', async () => {
    const uid = await orderEdit(call, 'The gate is shut.\n');
    const edited = await editNext(ann);
    const operator = await createPerson(server, { role: 'operator' });
    const review = await claimTask(rita);
    // The review cannot be reassigned to the author of the work.
    const path = `/api/console/tasks/${review.task}/reassign`;
    const refused = await operator.call('POST', path, { user: ann.userId });
    expect(refused.status).toBe(400);
    expect(refused.body.error.fields).toHaveProperty('user');
    const [segment] = review.segments;
    await confirm(rita, review, { ...segment, draft: [{ text: 'La puerta está cerrada.' }] });
    const { token } = review.lease;
    const mark = { token, position: segment.position, category: 'style', severity: 'minor' };
    expect((await rita.call('POST', pathOf(review, '/issues'), mark)).status).toBe(201);
    const { rows } = await owner.query('select editor_id from issues where task_id = $1', [review.task]);
    expect(rows).toEqual([{ editor_id: ann.userId }]);
    await rita.call('POST', pathOf(review, '/approve'), { token });
    await done(uid);
    expect((await ann.call('GET', pathOf(edited))).body.status).toBe('done');
  });

  it('records which segments the reviewer has seen, and names those that changed after a return', async () => {
    const uid = await orderEdit(call, 'The sea is wide.\nThe boat is red.\n');
    const [first, second] = [await editNext(ann), await editNext(ann)];
    const review = await claimTask(rita);
    const seenIn = ({ segments }: { segments: { seen: string }[] }) => segments.map(({ seen }) => seen);
    expect(seenIn(review)).toEqual(['unseen', 'unseen']);
    const { token } = review.lease;
    const see = (segments: object[], path = pathOf(review, '/seen')) =>
      rita.call('POST', path, { token, segments });
    const [one, two] = review.segments;
    // A look with an older revision does not count.
    const recorded = await see([
      { position: one.position, revision: one.revision },
      { position: one.position, revision: one.revision },
      { position: two.position, revision: two.revision - 1 },
      { position: 99, revision: 1 },
    ]);
    expect(recorded).toMatchObject({ status: 200, body: { positions: [one.position] } });
    expect((await see([])).body.error.fields).toHaveProperty('segments');
    expect((await see([{ position: -1, revision: 1 }])).status).toBe(400);
    // A save also counts as a look.
    const corrected = await confirm(rita, review, { ...two, draft: [{ text: 'El barco es azul.' }] });
    expect(corrected.body.segment).toMatchObject({ seen: 'seen' });
    expect(seenIn((await rita.call('GET', pathOf(review))).body)).toEqual(['seen', 'seen']);
    await rita.call('POST', pathOf(review, '/return'), { token, note: 'The boat is red.' });
    expect((await see([{ position: one.position, revision: one.revision }])).status).toBe(409);

    const sources: string[] = [];
    for (const _ of [first, second]) {
      const task = await claimTask(ann);
      const segment = task.segments.find(({ mine }: never) => mine);
      expect(segment.seen).toBeUndefined();
      sources.push(segment.source[0].text);
      const draft = /boat/.test(segment.source[0].text) ? [{ text: 'El barco es rojo.' }] : segment.target;
      await confirm(ann, task, { ...segment, draft });
      await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    }
    expect(sources).toHaveLength(2);
    const last = await claimTask(rita);
    expect(seenIn(last)).toEqual(['seen', 'changed']);
    expect(last.segments[1].last_seen).toEqual([{ text: 'El barco es azul.' }]);
    await rita.call('POST', pathOf(last, '/approve'), { token: last.lease.token });
    await done(uid);
  });

  it('takes place when a segment is marked as unsure, and shows the mark to the reviewer', async () => {
    await owner.query('update users set review_share = 0 where user_id = $1', [ann.userId]);
    const uid = await orderEdit(call, 'The moon is full.\n');
    const task = await claimTask(ann);
    const [segment] = task.segments;
    expect(segment.unsure).toBe(false);
    const { token } = task.lease;
    const mark = (unsure: unknown, position = segment.position) =>
      ann.call('PUT', pathOf(task, `/segments/${position}/unsure`), { token, unsure });
    expect((await mark('yes')).body.error.fields).toHaveProperty('unsure');
    expect((await mark(true, 9)).status).toBe(404);
    for (const unsure of [true, true, false, true]) {
      expect((await mark(unsure)).body).toEqual({ position: segment.position, unsure });
      expect((await ann.call('GET', pathOf(task))).body.segments).toMatchObject([{ unsure, revision: 0 }]);
    }
    // The mark `unsure` stays when the segment is confirmed.
    expect((await confirm(ann, task, segment)).body.segment.unsure).toBe(true);
    await ann.call('POST', pathOf(task, '/submit'), { token });
    const review = await claimTask(rita);
    expect(review).toMatchObject({ kind: 'review', segments: [{ unsure: true }] });
    const cleared = { token: review.lease.token, unsure: false };
    expect((await rita.call('PUT', pathOf(review, '/segments/0/unsure'), cleared)).status).toBe(200);
    await rita.call('POST', pathOf(review, '/approve'), { token: review.lease.token });
    await done(uid);
    // A job without an unsure segment is not reviewed.
    const plain = await orderEdit(call, 'The sun is bright.\n');
    await editNext(ann);
    await done(plain);
    await owner.query('update users set review_share = 100 where user_id = $1', [ann.userId]);
  });

  it('is omitted when no other editor may review jobs of the language pair', async () => {
    await owner.query('update user_languages set review = false where user_id = $1', [rita.userId]);
    const uid = await orderEdit(call, 'Nobody reviews this.\n');
    await editNext(ann);
    await done(uid);
    await owner.query('update user_languages set review = true where user_id = $1', [rita.userId]);
  });

  it('takes place for the percentage of jobs that is set for the editor, and always for the same jobs', () => {
    const jobs = Array.from({ length: 4000 }, (_, index) => `job ${index}`);
    const reviewed = jobs.filter((job) => isReviewed(job, 'ann', 10));
    expect(reviewed.length / jobs.length).toBeCloseTo(0.1, 1);
    expect(jobs.filter((job) => isReviewed(job, 'ann', 10))).toEqual(reviewed);
    expect(jobs.some((job) => isReviewed(job, 'ann', 0))).toBe(false);
    expect(jobs.every((job) => isReviewed(job, 'ann', 100))).toBe(true);
    // A job that is reviewed at 10 % is also reviewed at any higher percentage.
    expect(reviewed.every((job) => isReviewed(job, 'ann', 20))).toBe(true);
  });
});

describe('an unfinished job past its deadline', () => {
  const brand = async (fallback?: 'machine') => {
    const { ref } = await accountNamed(server.database, username);
    const name = fallback ?? 'wait';
    const file = { externalId: name, name, default: undefined, languages: new Map() };
    await saveBrand(
      server.database,
      'command',
      ref,
      fallback === undefined ? file : { ...file, fallback },
      false,
    );
    return name;
  };
  const pass = async (uid: string) => expireDeadline(owner, await jobOf(uid));

  it('is delivered with its drafts, free of charge and flagged, when the fallback is machine', async () => {
    const uid = await orderEdit(call, 'The house is big.\nThe door.\n', {
      brand: await brand('machine'),
      callback_url: `${receiver.url}/fallback`,
    });
    const { balance } = await read(uid);
    await pass(uid);
    const body = await done(uid);
    expect(body.fallback).toBe('machine');
    expect(body.balance).toBeGreaterThan(balance);
    const callback = await receiver.next(({ path }) => path === '/fallback');
    expect(JSON.parse(callback.body)).toMatchObject({
      fallback: 'machine',
      translated_text: body.translated_text,
    });
    expect(await kindsOf(ann)).toEqual([]);
  });

  it('is delivered free of charge when it is partly edited', async () => {
    const uid = await orderEdit(call, 'The house is big.\nThe door is red.\n', {
      brand: await brand('machine'),
    });
    await editNext(ann);
    await pass(uid);
    expect((await done(uid)).fallback).toBe('machine');
    const rejected = await call('POST', `${HUMAN}${uid}/reject/`, { reason: 'Not good.' });
    expect(rejected.status, rejected.text).toBe(400);
    expect(await kindsOf(ann)).toEqual([]);
  });

  it('is not delivered while an editor holds a claim', async () => {
    const uid = await orderEdit(call, 'The house is big.\n', { brand: await brand('machine') });
    const task = await claimTask(ann);
    await pass(uid);
    // A postponed job is due in a minute; a job that is being delivered is due in at most half a minute.
    const { job_id } = await jobOf(uid);
    await until(async () => {
      const { rows } = await owner.query(
        `select due_at > now() + interval '40 s' as later from edited_jobs where job_id = $1`,
        [job_id],
      );
      return rows[0].later;
    });
    expect((await confirm(ann, task, task.segments[0])).status).toBe(200);
    const handed = await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    expect(handed.status, handed.text).toBe(200);
    // The job is not reviewed, because its deadline has passed.
    expect(await done(uid)).not.toHaveProperty('fallback');
  });

  it('is delivered with a target that an editor confirmed while the server assembled the result', async () => {
    const uid = await orderEdit(call, 'The roof is red.\n', { brand: await brand('machine') });
    const { part, job_id } = await jobOf(uid);
    const holder = createConnection(server.connection);
    await holder.connect();
    try {
      // Locks the job's row, so that the delivery has to wait.
      await holder.query('begin');
      await holder.query('select from jobs where part = $1 and job_id = $2 for update', [part, job_id]);
      await pass(uid);
      await until(async () => {
        const { rows } = await owner.query(
          `select count(*)::int as waiting from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rows[0].waiting > 0;
      });
      const task = await claimTask(ann);
      const target = [{ text: 'El tejado es rojo.' }];
      const saved = await save(ann, task, task.segments[0], { target, status: 'confirmed' });
      expect(saved.status, saved.text).toBe(200);
      await ann.call('POST', pathOf(task, '/release'), { token: task.lease.token });
    } finally {
      await holder.query('rollback');
      await holder.end();
    }
    const body = await until(async () => {
      await pass(uid);
      const now = await read(uid);
      return now.status === 'completed' && now;
    });
    expect(body.translated_text).toBe('El tejado es rojo.\n');
  });

  it('is left unchanged when the brand’s fallback is `wait`', async () => {
    const uid = await orderEdit(call, 'The house is big.\n', { brand: await brand() });
    await pass(uid);
    const [open] = (await ann.call('GET', '/api/editing/queue')).body.open;
    expect(open).toMatchObject({ brand: 'wait' });
    await editNext(ann);
    await editNext(rita).catch(() => {});
    expect((await read(uid)).status).toBe('translating');
  });
});

describe('a rejected job', () => {
  it('is edited again by its editor, and delivered again without another charge', async () => {
    await owner.query('update users set review_share = 0');
    const uid = await orderEdit(call, 'The wall is red.\n', { callback_url: `${receiver.url}/again` });
    await editNext(ann);
    await done(uid);
    const { balance } = await read(uid);
    const reason = 'The wall is green.';
    const rejected = await call('POST', `${HUMAN}${uid}/reject/`, { reason });
    expect(rejected.status, rejected.text).toBe(200);
    expect(await kindsOf(rita)).not.toContain('edit');
    const task = await claimTask(ann);
    expect(task).toMatchObject({
      returned: true,
      job: { revision: 2 },
      comments: [{ text: reason, role: 'customer' }],
    });
    const [segment] = task.segments;
    await confirm(ann, task, { ...segment, draft: [{ text: 'La pared es verde.' }] });
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    await until(async () => (await read(uid)).translated_text === 'La pared es verde.\n');
    expect(await read(uid)).toMatchObject({ status: 'completed', balance });
    await receiver.next(({ path, body }) => path === '/again' && body.includes('verde'));
    expect(receiver.received.filter(({ path }) => path === '/again')).toHaveLength(2);
  });
});

describe('the end of a claim', () => {
  it('is answered the same way when it is requested twice at the same moment', async () => {
    await emptyEditing(owner);
    await owner.query('update users set review_share = 100');
    const uid = await orderEdit(call, 'Lamps glow.\n');
    const twice = (person: TestPerson, path: string, body: object) => {
      const request = () => person.call('POST', path, body);
      return atOnce(uid, request, request);
    };
    const task = await claimTask(ann);
    await confirm(ann, task, task.segments[0]);
    const { token } = task.lease;
    const submits = await twice(ann, pathOf(task, '/submit'), { token });
    expect(submits.map(({ body }) => body.status)).toEqual(['submitted', 'submitted']);

    const review = await claimTask(rita);
    const returned = { token: review.lease.token, note: 'Which lamps?' };
    const returns = await twice(rita, pathOf(review, '/return'), returned);
    expect(returns.map(({ status }) => status)).toEqual([200, 200]);
    const again = await claimTask(ann);
    expect(again).toMatchObject({ task: task.task, comments: [{ text: 'Which lamps?' }] });
    await ann.call('POST', pathOf(again, '/submit'), { token: again.lease.token });

    const last = await claimTask(rita);
    const approvals = await twice(rita, pathOf(last, '/approve'), { token: last.lease.token });
    expect(approvals.map(({ body }) => body.status)).toEqual(['submitted', 'submitted']);
    await done(uid);
  });
});
