import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimTask, editNext, orderEdit, pathOf } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
} from '../testing/harness.ts';
import { subscribe } from '../testing/subscriber.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const JOB = { source_language: 'en', target_language: 'es', text: 'The house is small.' };

let server: TestServer;
let anna: TestPerson;
let ben: TestPerson;
let editor: TestPerson;
let operator: TestPerson;
const callOf = (person: TestPerson) => createClient(server.url, person.account!.production_key);
const subscribeTo = (person: TestPerson, ...topics: string[]) => subscribe(server.url, person, topics);

beforeAll(async () => {
  server = await startTestServer();
  anna = await createPerson(server, { role: 'customer' });
  ben = await createPerson(server, { role: 'customer' });
  editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  operator = await createPerson(server, { role: 'operator' });
});
afterAll(() => server.stop());

describe('live-update events', () => {
  it('name only the topic when a job of the account changes', async () => {
    const page = await subscribeTo(anna, 'jobs', 'balance', 'job:production:mine');
    expect(page.status).toBe(200);
    const received = page.nextEvent('jobs');
    await callOf(anna)('POST', MACHINE, { ...JOB, uid: 'mine-1' });
    expect(await received).toEqual({ topic: 'jobs' });
    expect(JSON.stringify(page.events)).not.toContain('house');
    page.disconnect();
  });

  it('never reach another account, whatever topic it subscribes to', async () => {
    await callOf(anna)('POST', MACHINE, { ...JOB, uid: 'secret' });
    const spying = await subscribeTo(ben, 'jobs', 'deliveries', 'balance', 'job:production:secret');
    const unknown = await subscribeTo(ben, 'job:production:nobodys');
    const own = await subscribeTo(anna, 'job:production:secret');
    expect([spying.status, unknown.status]).toEqual([200, 200]);
    const received = own.nextEvent('job:production:secret');
    await callOf(anna)('PATCH', `${MACHINE}secret/`, { status: 'upgrade', properties: null });
    await received;
    // The arrival of a later event shows that the debounce buffer was flushed.
    const theirs = spying.nextEvent('jobs');
    await callOf(ben)('POST', MACHINE, JOB);
    await theirs;
    expect(spying.events.filter(({ data }) => data.topic === 'job:production:secret')).toEqual([]);
    expect(unknown.events).toEqual([]);
    for (const page of [spying, unknown, own]) page.disconnect();
  });

  it('report queue changes to editors, and task changes only to editors who may see the task', async () => {
    const queue = await subscribeTo(editor, 'tasks');
    const moved = queue.nextEvent('tasks');
    await orderEdit(callOf(anna), 'The door is green.');
    await moved;
    const task = await claimTask(editor);
    const job = await subscribeTo(editor, `task:${task.task}`);
    const stranger = await createPerson(server, { role: 'editor', languages: ['en:de'] });
    const foreign = await subscribeTo(stranger, `task:${task.task}`);
    expect(foreign.status).toBe(200);
    const [taskChanged, queueChanged] = [job.nextEvent(`task:${task.task}`), queue.nextEvent('tasks')];
    const comment = await editor.call('POST', pathOf(task, '/comments'), { text: 'Which door?' });
    expect(comment.status).toBe(201);
    await taskChanged;
    const given = await editor.call('POST', pathOf(task, '/release'), { token: task.lease.token });
    expect(given.status).toBe(200);
    await queueChanged;
    expect(foreign.events).toEqual([]);
    for (const page of [queue, job, foreign]) page.disconnect();
  });

  it('report a task when a reviewer removes an issue from it', async () => {
    const languages = ['es:en+review'];
    const writer = await createPerson(server, { role: 'editor', languages });
    const reviewer = await createPerson(server, { role: 'editor', languages });
    const pair = { source_language: 'es', target_language: 'en' };
    await orderEdit(callOf(anna), 'La ventana es azul.', pair);
    await editNext(writer);
    const review = await claimTask(reviewer);
    const { token } = review.lease;
    const issue = { token, position: 0, category: 'accuracy', severity: 'minor', note: 'Not blue.' };
    const marked = await reviewer.call('POST', pathOf(review, '/issues'), issue);
    const topic = `task:${review.task}`;
    const page = await subscribeTo(reviewer, topic);
    const received = page.nextEvent(topic);
    const path = pathOf(review, `/issues/${marked.body.issue}`);
    expect((await reviewer.call('DELETE', path, { token })).status).toBe(200);
    await received;
    page.disconnect();
  });

  it('report each topic that a change concerns', async () => {
    const call = callOf(anna);
    const { body: made } = await call('POST', MACHINE, JOB);
    const job = `job:production:${made.uid}`;
    for (const topics of [['deliveries', job] as const, [job, 'deliveries'] as const]) {
      const page = await subscribeTo(anna, ...topics);
      const received = Promise.all(topics.map((topic) => page.nextEvent(topic)));
      expect((await call('POST', '/api/v1/test-event/', { url: 'http://127.0.0.1:1/' })).status).toBe(202);
      await received;
      page.disconnect();
    }
  });

  it('notify operators that an account changed, without naming the account', async () => {
    const page = await subscribeTo(operator, 'console', 'jobs', 'deliveries');
    const received = Promise.all([page.nextEvent('console'), page.nextEvent('jobs')]);
    await callOf(ben)('POST', MACHINE, JOB);
    await received;
    expect(JSON.stringify(page.events)).not.toContain(ben.account!.username);
    page.disconnect();
  });

  it('are not sent when a request only reads', async () => {
    const page = await subscribeTo(editor, 'tasks');
    const other = await subscribeTo(operator, 'console', 'tasks', 'requests');
    for (let times = 0; times < 3; times++) await editor.call('GET', '/api/editing/queue');
    for (const path of ['home', 'jobs', 'tasks', 'deliveries', 'sandbox-requests'].map(
      (one) => `/api/console/${one}`,
    )) {
      await operator.call('GET', path);
    }
    // Makes an unrelated change and waits for its event, which arrives after all earlier events.
    const mark = await subscribeTo(ben, 'jobs');
    const received = mark.nextEvent('jobs');
    await callOf(ben)('POST', MACHINE, JOB);
    await received;
    expect(page.events).toEqual([]);
    expect(other.events.filter(({ data }) => data.topic !== 'console')).toEqual([]);
    for (const one of [page, other, mark]) one.disconnect();
  });

  it('are limited to one a second for each topic when thousands of jobs change', async () => {
    const page = await subscribeTo(anna, 'jobs', 'balance');
    const began = performance.now();
    const call = callOf(anna);
    const objects = Array.from({ length: 250 }, () => JOB);
    let last: Promise<unknown> = Promise.resolve();
    for (let round = 0; round < 8; round++) {
      last = page.nextEvent('jobs');
      expect((await call('PATCH', '/tapi/v2/translation/', { objects })).status).toBe(202);
    }
    await last;
    const seconds = (performance.now() - began) / 1000;
    const updates = page.events.filter(({ data }) => data.topic === 'jobs').length;
    expect(updates).toBeGreaterThan(0);
    expect(updates).toBeLessThanOrEqual(Math.ceil(seconds) + 1);
    page.disconnect();
  });
});
