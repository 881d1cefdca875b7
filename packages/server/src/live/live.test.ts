import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimTask, orderEdit, pathOf } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
} from '../testing/harness.ts';
import { lookOn } from '../testing/onlooker.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const JOB = { source_language: 'en', target_language: 'es', text: 'The house is small.' };

let server: TestServer;
let anna: TestPerson;
let ben: TestPerson;
let editor: TestPerson;
let operator: TestPerson;
const callOf = (person: TestPerson) => createClient(server.url, person.account!.production_key);
const look = (person: TestPerson, ...topics: string[]) => lookOn(server.url, person, topics);

beforeAll(async () => {
  server = await startTestServer();
  anna = await createPerson(server, { role: 'customer' });
  ben = await createPerson(server, { role: 'customer' });
  editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  operator = await createPerson(server, { role: 'operator' });
});
afterAll(() => server.stop());

describe('hints', () => {
  it('come to whoever looks on at their own, with no word of what it was', async () => {
    const page = await look(anna, 'jobs', 'balance', 'job:production:mine');
    expect(page.status).toBe(200);
    const heard = page.hears('jobs');
    await callOf(anna)('POST', MACHINE, { ...JOB, uid: 'mine-1' });
    expect(await heard).toEqual({ topic: 'jobs' });
    expect(JSON.stringify(page.events)).not.toContain('house');
    page.leave();
  });

  it('never come of another account, whatever the topic names', async () => {
    await callOf(anna)('POST', MACHINE, { ...JOB, uid: 'secret' });
    const spying = await look(ben, 'jobs', 'deliveries', 'balance', 'job:production:secret');
    const unknown = await look(ben, 'job:production:nobodys');
    const own = await look(anna, 'job:production:secret');
    expect([spying.status, unknown.status]).toEqual([200, 200]);
    const heard = own.hears('job:production:secret');
    await callOf(anna)('PATCH', `${MACHINE}secret/`, { status: 'upgrade', properties: null });
    await heard;
    // What comes later has passed the same window.
    const theirs = spying.hears('jobs');
    await callOf(ben)('POST', MACHINE, JOB);
    await theirs;
    expect(spying.events.filter(({ data }) => data.topic === 'job:production:secret')).toEqual([]);
    expect(unknown.events).toEqual([]);
    for (const page of [spying, unknown, own]) page.leave();
  });

  it('tell editors that the queue has moved, and who has a task of what happens to it', async () => {
    const queue = await look(editor, 'tasks');
    const moved = queue.hears('tasks');
    await orderEdit(callOf(anna), 'The door is green.');
    await moved;
    const task = await claimTask(editor);
    const job = await look(editor, `task:${task.task}`);
    const stranger = await createPerson(server, { role: 'editor', languages: ['en:de'] });
    const foreign = await look(stranger, `task:${task.task}`);
    expect(foreign.status).toBe(200);
    const [said, saidToQueue] = [job.hears(`task:${task.task}`), queue.hears('tasks')];
    const comment = await editor.call('POST', pathOf(task, '/comments'), { text: 'Which door?' });
    expect(comment.status).toBe(201);
    await said;
    const given = await editor.call('POST', pathOf(task, '/release'), { token: task.lease.token });
    expect(given.status).toBe(200);
    await saidToQueue;
    expect(foreign.events).toEqual([]);
    for (const page of [queue, job, foreign]) page.leave();
  });

  it('tell each of the topics that it concerns', async () => {
    const call = callOf(anna);
    const { body: made } = await call('POST', MACHINE, JOB);
    const job = `job:production:${made.uid}`;
    for (const topics of [['deliveries', job] as const, [job, 'deliveries'] as const]) {
      const page = await look(anna, ...topics);
      const heard = Promise.all(topics.map((topic) => page.hears(topic)));
      expect((await call('POST', '/api/v1/test-event/', { url: 'http://127.0.0.1:1/' })).status).toBe(202);
      await heard;
      page.leave();
    }
  });

  it('tell operators of all, in general', async () => {
    const page = await look(operator, 'console', 'jobs', 'deliveries');
    const heard = Promise.all([page.hears('console'), page.hears('jobs')]);
    await callOf(ben)('POST', MACHINE, JOB);
    await heard;
    expect(JSON.stringify(page.events)).not.toContain(ben.account!.username);
    page.leave();
  });

  it('are not caused by looking', async () => {
    const page = await look(editor, 'tasks');
    const other = await look(operator, 'console', 'tasks', 'requests');
    for (let times = 0; times < 3; times++) await editor.call('GET', '/api/editing/queue');
    for (const path of ['home', 'jobs', 'tasks', 'deliveries', 'sandbox-requests'].map(
      (one) => `/api/console/${one}`,
    )) {
      await operator.call('GET', path);
    }
    // A change of something else, which has to pass everything before it.
    const mark = await look(ben, 'jobs');
    const heard = mark.hears('jobs');
    await callOf(ben)('POST', MACHINE, JOB);
    await heard;
    expect(page.events).toEqual([]);
    expect(other.events.filter(({ data }) => data.topic !== 'console')).toEqual([]);
    for (const one of [page, other, mark]) one.leave();
  });

  it('are one a second for a flood', async () => {
    const page = await look(anna, 'jobs', 'balance');
    const began = performance.now();
    const call = callOf(anna);
    const objects = Array.from({ length: 250 }, () => JOB);
    let last: Promise<unknown> = Promise.resolve();
    for (let round = 0; round < 8; round++) {
      last = page.hears('jobs');
      expect((await call('PATCH', '/tapi/v2/translation/', { objects })).status).toBe(202);
    }
    await last;
    const seconds = (performance.now() - began) / 1000;
    const hints = page.events.filter(({ data }) => data.topic === 'jobs').length;
    expect(hints).toBeGreaterThan(0);
    expect(hints).toBeLessThanOrEqual(Math.ceil(seconds) + 1);
    page.leave();
  });
});
