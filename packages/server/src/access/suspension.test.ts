/** Tests suspended accounts: their keys are refused, their users can only read, and their queues stand still. */
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { deleteExpired } from '../retention/retention.ts';
import { writeRetention } from '../retention/store.ts';
import { claimTask, confirmAll, HUMAN, orderEdit, pathOf } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { accountNamed } from './accounts.ts';

let server: TestServer;
let operator: TestPerson;
let receiver: Receiver;
let owner: pg.Client;
beforeAll(async () => {
  server = await startTestServer({
    settings: { DRAGOMAN_SANDBOX_HOLD: '3600', DRAGOMAN_CALLBACK_SCHEDULE: '3600,3600' },
  });
  operator = await createPerson(server, { role: 'operator' });
  receiver = await startReceiver();
  owner = await server.connectOwner();
});
afterAll(async () => {
  await receiver.close();
  await server.stop();
});

const move = async ({ username }: AccountCredentials, trigger: 'suspend' | 'resume') => {
  const { status, body } = await operator.call('POST', `/api/console/accounts/${username}/${trigger}`);
  expect(status).toBe(200);
  return body.status;
};
const JOB = { source_language: 'en', target_language: 'es', text: 'The house.' };
const client = (key: string) => createClient(server.url, key);
const statusOf = async ({ username }: AccountCredentials, uid: string) => {
  const { body } = await operator.call('GET', `/api/console/jobs?account=${username}&q=${uid}`);
  return body.jobs[0].status;
};

it('every request with a key of a suspended account is refused, until the account is resumed', async () => {
  const account = await server.createAccount({ chat: true });
  const call = client(account.production_key);
  expect((await call('POST', HUMAN, { ...JOB, uid: 'before' })).status).toBe(201);
  expect(await move(account, 'suspend')).toBe('suspended');
  await until(async () => (await call('GET', `${HUMAN}before/`)).status === 403);
  const refused = await call('POST', HUMAN, { ...JOB, uid: 'after' });
  expect(refused.body).toEqual({ error: 'This account is suspended. Contact the operator.' });
  expect((await client(account.sandbox_key)('GET', `/sandbox${HUMAN}`)).status).toBe(403);
  expect((await call('POST', '/v2/chats/messages', {})).status).toBe(403);
  // Only the holder of a key learns that the account is suspended.
  expect((await client(`${account.username}:wrong`)('GET', HUMAN)).status).toBe(401);
  expect(await move(account, 'suspend')).toBe('suspended');
  expect(await move(account, 'resume')).toBe('active');
  await until(async () => (await call('GET', `${HUMAN}before/`)).status === 200);
  const { body } = await operator.call('GET', `/api/console/audit?account=${account.username}`);
  const actions = body.entries.map(({ action }: { action: string }) => action);
  expect(actions.filter((action: string) => /suspended|resumed/.test(action))).toEqual([
    'account.resumed',
    'account.suspended',
  ]);
});

it('the jobs and callbacks of a suspended account wait, and continue when it is resumed', async () => {
  const [account, other] = [await server.createAccount(), await server.createAccount()];
  const order = (one: AccountCredentials, uid: string) => {
    const job = { ...JOB, uid, callback_url: `${receiver.url}/${uid}` };
    return client(one.sandbox_key)('POST', `/sandbox${HUMAN}`, job);
  };
  /** Waits until a job is translated and waits only for the end of its delivery delay. */
  const isHeld = (uid: string) =>
    until(async () => {
      const held =
        "select from jobs where uid = $1 and lease_token is null and due_at > now() + interval '1 minute'";
      return (await owner.query(held, [uid])).rowCount === 1;
    });
  const endDelay = (uid: string) =>
    owner.query('update jobs set hold_until = now(), due_at = now() where uid = $1', [uid]);
  const delivered = (uid: string) => receiver.received.filter(({ path }) => path === `/${uid}`).length;
  receiver.answer(() => 410);
  await order(account, 'failing');
  await isHeld('failing');
  await endDelay('failing');
  const [delivery] = await until(async () => {
    const { body } = await operator.call('GET', '/api/console/deliveries?status=dead');
    return body.deliveries.length === 1 && body.deliveries;
  });
  await order(account, 'waits');
  await isHeld('waits');
  await move(account, 'suspend');
  await endDelay('waits');
  receiver.answer(() => 200);
  expect((await operator.call('POST', `/api/console/deliveries/${delivery.id}/replay`)).status).toBe(202);
  // This job of another account is delivered later than `waits` would be if the account were not suspended.
  await order(other, 'moves');
  await isHeld('moves');
  await endDelay('moves');
  await until(() => delivered('moves') === 1);
  expect(await statusOf(account, 'waits')).not.toBe('completed');
  expect([delivered('failing'), delivered('waits')]).toEqual([1, 0]);
  const { body: home } = await operator.call('GET', '/api/console/home');
  expect(home.queues).toEqual([]);
  await move(account, 'resume');
  await until(() => delivered('failing') === 2 && delivered('waits') === 1);
  expect(await statusOf(account, 'waits')).toBe('completed');
});

it('nobody can claim tasks of a suspended account, but an editor can finish a task that they claimed before', async () => {
  const account = await server.createAccount();
  const call = client(account.production_key);
  const create = () => createPerson(server, { role: 'editor', languages: ['es:en'] });
  const [editor, other] = [await create(), await create()];
  const pair = { source_language: 'es', target_language: 'en' };
  await orderEdit(call, 'Una casa.', pair);
  const task = await claimTask(editor);
  await orderEdit(call, 'Dos casas.', pair);
  await move(account, 'suspend');
  expect((await other.call('POST', '/api/editing/claims', {})).body.error.code).toBe('nothing_waits');
  expect((await other.call('GET', '/api/editing/queue')).body.open).toEqual([]);
  expect((await editor.call('GET', '/api/editing/queue')).body.held).toHaveLength(1);
  const { body: home } = await operator.call('GET', '/api/console/home');
  expect(home.tasks.filter((one: typeof pair) => one.target_language === 'en')).toEqual([]);
  await confirmAll(editor, task);
  const { token } = task.lease;
  expect((await editor.call('POST', pathOf(task, '/submit'), { token })).status).toBe(200);
  await move(account, 'resume');
  expect((await claimTask(other)).task).not.toBe(task.task);
});

it('users of a suspended account can read, but change nothing', async () => {
  const customer = await createPerson(server, { role: 'customer' });
  const invite = () => customer.call('POST', '/api/account/team', { email: 'mate@example.com' });
  await move(customer.account!, 'suspend');
  expect((await customer.call('GET', '/api/account/jobs')).status).toBe(200);
  expect((await customer.call('GET', '/api/me')).body.account_status).toBe('suspended');
  const refused = await invite();
  expect([refused.status, refused.body.error.code]).toEqual([403, 'account_suspended']);
  await move(customer.account!, 'resume');
  expect((await customer.call('GET', '/api/me')).body.account_status).toBe('active');
  expect((await invite()).status).toBe(201);
});

it('a chat message that waits keeps its text beyond the retention, and is delivered with it after the resume', async () => {
  const account = await server.createAccount({ chat: true });
  const { ref } = await accountNamed(server.database, account.username);
  await writeRetention(server.database, { account: ref, attempts: null, events: null, texts: 7 });
  const call = client(account.production_key);
  const message = {
    source_language: 'en',
    target_language: 'es',
    text_format: 'text',
    chat_external_id: 'chat',
  };
  const texts = ['The house waits.', 'The house is done.'];
  for (const text of texts)
    expect((await call('POST', '/v2/chats/messages', { ...message, external_id: text, text })).status).toBe(
      201,
    );
  const read = async () =>
    (
      await owner.query(
        'select body, translated, status from messages where account_id = $1 order by message_id',
        [ref.accountId],
      )
    ).rows;
  const areDone = async () => (await read()).every(({ status }) => status === 'deliver_complete');
  await until(areDone);
  await move(account, 'suspend');
  await owner.query(
    `update messages set status = 'mt_init', translated = null, completed_at = null, due_at = now()
      where account_id = $1 and external_id = $2`,
    [ref.accountId, texts[0]],
  );
  // More messages than one batch of the retention has.
  await owner.query(
    `insert into messages
     select (jsonb_populate_record(m, jsonb_build_object(
        'external_id', 'copy ' || n, 'position', m.position + n,
        'message_id', overlay(m.message_id::text placing lpad(to_hex(n), 12, '0') from 25)))).*
       from messages m, generate_series(1, 1001) n where account_id = $1 and external_id = $2`,
    [ref.accountId, texts[1]],
  );
  const expire = () => deleteExpired(server.database, undefined, Date.now() + 20 * 86_400_000);
  await expire();
  expect(new Set((await read()).map(({ body }) => body))).toEqual(new Set([texts[0], '']));
  await move(account, 'resume');
  await until(areDone);
  expect((await read())[0]).toMatchObject({ body: texts[0], translated: expect.stringMatching(/./) });
  // It no longer waits, so its text is deleted like the others.
  await expire();
  expect(new Set((await read()).map(({ body, translated }) => body + translated))).toEqual(new Set(['']));
});
