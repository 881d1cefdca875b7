/** Tests the console's home page over HTTP: the checklist, the tasks of editors, and low balances. */
import { createFake } from '@dragoman/engines/fake';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { statement } from '../database/statements.ts';
import { claimTask, orderEdit } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { startMailbox } from '../testing/mailbox.ts';

let server: TestServer;
let operator: TestPerson;
let account: AccountCredentials;
beforeAll(async () => {
  server = await startTestServer({
    engine: () => Object.assign(createFake(), { name: 'apertium' }),
  });
  operator = await createPerson(server, { role: 'operator' });
});
afterAll(() => server.stop());

const home = async () => (await operator.call('GET', '/api/console/home')).body;
const attention = async () =>
  (await home()).attention.filter(({ kind }: { kind: string }) => kind !== 'engine');
const missing = async () =>
  (await home()).setup.flatMap(({ step, done }: { step: string; done: boolean }) => (done ? [] : [step]));

it('the home page lists the steps to the first job, ticks each step that is done, and drops the list when only the recommended model is missing', async () => {
  await until(async () => !(await missing()).includes('engine'));
  expect(await missing()).toEqual(['mail', 'model', 'account', 'price', 'editors', 'job']);
  account = await server.createAccount({ username: 'first', balanceCents: 20, prepaid: true });
  expect(await missing()).toEqual(['mail', 'model', 'price', 'editors', 'job']);
  const price = { tier: 'human', source_language: '*', target_language: '*', cents_per_word: 5 };
  expect((await operator.call('POST', '/api/console/prices', price)).status).toBe(200);
  expect(await missing()).toEqual(['mail', 'model', 'editors', 'job']);
  const editor = await createPerson(server, { role: 'editor', languages: ['en:fr'] });
  expect(await missing()).toEqual(['mail', 'model', 'job']);
  await operator.call('POST', `/api/console/people/${editor.userId}/disable`, {});
  expect(await missing()).toEqual(['mail', 'model', 'editors', 'job']);
  await operator.call('POST', `/api/console/people/${editor.userId}/enable`);
  await orderEdit(createClient(server.url, account.production_key), 'House garden.', { uid: 'one' });
  expect(await missing()).toEqual(['mail', 'model']);
  const mailbox = await startMailbox();
  await server.restart({ DRAGOMAN_SMTP_URL: mailbox.url });
  await until(async () => (await home()).setup.length === 0);
  await mailbox.close();
});

it('the home page counts the tasks of a language pair by state: waiting, claimed, late, reported, or without an editor who could claim them', async () => {
  const pair = { source_language: 'en', target_language: 'es' };
  const queue = async () => {
    const { tasks } = await home();
    expect(tasks).toEqual([{ ...pair, oldest: expect.any(Number), ...tasks[0] }]);
    const { waiting, claimed, reported, late, unserved } = tasks[0];
    return { waiting, claimed, reported, late, unserved };
  };
  expect(await queue()).toEqual({ waiting: 1, claimed: 0, reported: 0, late: 0, unserved: 1 });
  const unserved = { kind: 'unserved', severity: 'look', subject: 'en>es', amount: 1 };
  expect(await attention()).toContainEqual(unserved);
  const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  expect(await queue()).toEqual({ waiting: 1, claimed: 0, reported: 0, late: 0, unserved: 0 });
  const task = await claimTask(editor);
  expect(await queue()).toEqual({ waiting: 0, claimed: 1, reported: 0, late: 0, unserved: 0 });
  const expire = statement('test.expireTask', `update tasks set deadline_at = now() - interval '1 hour'`);
  await server.database.query(expire);
  expect(await queue()).toEqual({ waiting: 0, claimed: 1, reported: 0, late: 1, unserved: 0 });
  expect(await attention()).toContainEqual({ kind: 'late', severity: 'bad', subject: 'en>es', amount: 1 });
  const report = { token: task.lease.token, reason: 'offensive' };
  expect((await editor.call('POST', `/api/editing/tasks/${task.task}/report`, report)).status).toBe(200);
  expect(await queue()).toMatchObject({ waiting: 0, claimed: 0, reported: 1 });
  expect(await attention()).toContainEqual({ kind: 'reported', severity: 'bad', subject: '', amount: 1 });
});

it('the home page names the accounts that can spend less than they spent in the last 24 hours', async () => {
  // The account has spent 10 of its 20 cents. It can spend 10 more, so its balance does not count as low.
  expect(await attention()).not.toContainEqual(expect.objectContaining({ kind: 'low' }));
  const { body } = await createClient(server.url, account.production_key)('POST', '/tapi/v2/translation/', {
    uid: 'two',
    text: 'House.',
    source_language: 'en',
    target_language: 'es',
  });
  expect(body.price).toBe(5);
  expect(await attention()).toContainEqual({ kind: 'low', severity: 'look', subject: 'first', amount: 5 });
});

it('the home page counts jobs that wait for another attempt, from their creation on', async () => {
  const { production_key } = await server.createAccount();
  const call = createClient(server.url, production_key);
  await orderEdit(call, 'A road.', { uid: 'retried' });
  const owner = await server.connectOwner();
  await owner.query(
    `update jobs set status = 'new', attempts = 1, lease_token = null, due_at = now() + interval '1 h',
            created_at = now() - interval '5 min' where uid = 'retried'`,
  );
  const { queues } = await home();
  expect(queues).toMatchObject([{ source_language: 'en', target_language: 'es', waiting: 1, working: 0 }]);
  expect(queues[0].oldest).toBeGreaterThanOrEqual(300);
});
