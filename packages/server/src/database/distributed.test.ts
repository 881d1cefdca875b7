/**
 * Tests the service with the statements for a distributed database, on one PostgreSQL. `npm run prove -- distributed`
 * runs them on a Citus cluster.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { listAudit } from '../audit/audit.ts';
import { readBrandFile } from '../brands/brand.ts';
import { removeBrand, saveBrand } from '../brands/brands.ts';
import { findDiscrepancies } from '../ledger/verify-store.ts';
import { editNext, HUMAN } from '../testing/editors.ts';
import {
  type Answer,
  createBrowser,
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { LOCK_REFERENCE_TABLES } from './forms.ts';
import { statement } from './statements.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const ACCOUNTS = 12;
const JOBS = 4;

let server: TestServer;
let receiver: Receiver;
let operator: TestPerson;
let customers: { username: string; call: ReturnType<typeof createClient> }[];
beforeAll(async () => {
  server = await startTestServer({ asDistributed: true });
  receiver = await startReceiver();
  operator = await createPerson(server, { role: 'operator' });
  const accounts = await Promise.all(
    Array.from({ length: ACCOUNTS }, () => server.createAccount({ balanceCents: 10_000, chat: true })),
  );
  customers = accounts.map(({ username, production_key }) => ({
    username,
    call: createClient(server.url, production_key),
  }));
});
afterAll(async () => {
  await receiver.close();
  await server.stop();
});

const job = (name: string) => ({
  uid: name,
  text: 'The house is big.',
  source_language: 'en',
  target_language: 'es',
  callback_url: `${receiver.url}/${name}`,
});

/** Sends one request for each account at the same time, so that batches contain rows of several parts. */
const ofAll = (send: (customer: (typeof customers)[number]) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(customers.map(send));

const PARTS = statement<{ part: number; together: number; transaction: string }>(
  'test.parts',
  `select part, count(*) over () as together, pg_current_xact_id()::text as transaction
     from unnest($1::smallint[]) as g (part)`,
);

it('a statement over several parts runs once for each part, in one transaction', async () => {
  const rows = await server.database.query(PARTS, [[7, 3, 7]]);
  const { transaction } = rows[0]!;
  expect(rows).toEqual([
    { part: 3, together: 1, transaction },
    { part: 7, together: 2, transaction },
    { part: 7, together: 2, transaction },
  ]);
  expect(await server.database.query(PARTS, [[]])).toEqual([]);
});

it('machine jobs of many accounts are created, translated, charged and delivered', async () => {
  for (let place = 0; place < JOBS; place++) {
    const created = await ofAll(({ call, username }) => call('POST', MACHINE, job(`${username}-${place}`)));
    expect(created.map(({ status }) => status)).toEqual(customers.map(() => 201));
  }
  await Promise.all(
    customers.flatMap(({ username }) =>
      Array.from({ length: JOBS }, (_, place) =>
        receiver.next(({ path }) => path === `/${username}-${place}`),
      ),
    ),
  );
  const lists = await ofAll(({ call }) => call('GET', MACHINE));
  for (const { body } of lists) {
    expect(body.objects.map(({ status }: { status: string }) => status)).toEqual(
      Array.from({ length: JOBS }, () => 'completed'),
    );
  }
  expect(await findDiscrepancies(server.database)).toEqual([]);
});

it('the same request again gets the same job', async () => {
  const again = await ofAll(({ call, username }) => call('POST', MACHINE, job(`${username}-0`)));
  expect(again.map(({ status }) => status)).toEqual(customers.map(() => 200));
});

it('no creation record is left, so that lists are complete', async () => {
  const owner = await server.connectOwner();
  await until(async () => (await owner.query('select from creations')).rowCount === 0);
});

it('human jobs of many accounts are claimed, edited and delivered', async () => {
  const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  const created = await ofAll(({ call, username }) => call('POST', HUMAN, job(`${username}-human`)));
  expect(created.map(({ status }) => status)).toEqual(customers.map(() => 201));
  const owner = await server.connectOwner();
  await owner.query('update users set review_share = 0');
  await until(
    async () => (await editor.call('GET', '/api/editing/queue')).body.pairs[0]?.waiting === ACCOUNTS,
  );
  const edited = [];
  for (const _ of customers) edited.push(await editNext(editor));
  expect(new Set(edited.map(({ task }) => task)).size).toBe(ACCOUNTS);
  await Promise.all(
    customers.map(({ username }) => receiver.next(({ path }) => path === `/${username}-human`)),
  );
  expect(await findDiscrepancies(server.database)).toEqual([]);
});

it('messages of many chats are translated', async () => {
  const message = (chat: string, number: number) => ({
    chat_external_id: chat,
    external_id: `m${number}`,
    source_language: 'en',
    target_language: 'es',
    text: 'Where is the house?',
    text_format: 'text',
  });
  const sent = await ofAll(async ({ call, username }) => {
    await call('POST', '/v2/chats/messages', message(username, 1));
    return call('POST', '/v2/chats/messages', message(username, 2));
  });
  expect(sent.map(({ status }) => status)).toEqual(customers.map(() => 201));
  for (const [index, { body }] of sent.entries()) {
    const path = `/v2/chats/${body.chat.id}/messages/${body.message.id}`;
    await until(
      async () => (await customers[index]!.call('GET', path)).body.message.status === 'deliver_complete',
    );
  }
});

it('the console lists jobs, tasks and callbacks of all accounts', async () => {
  const { body: jobs } = await operator.call('GET', '/api/console/jobs?limit=100');
  expect(jobs.jobs).toHaveLength(ACCOUNTS * (JOBS + 1));
  const { body: own } = await operator.call('GET', `/api/console/jobs?account=${customers[0]!.username}`);
  expect(own.jobs).toHaveLength(JOBS + 1);
  const { body: callbacks } = await operator.call('GET', '/api/console/deliveries?limit=100');
  expect(callbacks.deliveries).toHaveLength(ACCOUNTS * (JOBS + 1));
  const { body: tasks } = await operator.call('GET', '/api/console/tasks?status=done');
  expect(tasks.tasks).toHaveLength(ACCOUNTS);
});

it('the default brand is unset when the brand is removed, without a foreign key', async () => {
  const { ref } = await accountNamed(server.database, customers[0]!.username);
  await saveBrand(
    server.database,
    'command',
    ref,
    readBrandFile('test', '{"external_id":"house","default":true}'),
    false,
  );
  const path = `/api/console/accounts/${customers[0]!.username}`;
  expect((await operator.call('GET', path)).body.default_brand).toBe('house');
  await removeBrand(server.database, 'command', ref, 'house');
  expect((await operator.call('GET', path)).body.default_brand).toBeNull();
});

it('an erasure leaves no address of a user in the audit log, without a foreign key', async () => {
  const account = await server.createAccount();
  const { ref } = await accountNamed(server.database, account.username);
  const person = await createPerson(server, { role: 'customer', account });
  const wanted = { attempts: 30, events: null, texts: null };
  expect((await person.call('PUT', '/api/account/retention', wanted)).status).toBe(200);
  const addresses = async () =>
    (await listAudit(server.database, { account: ref }, 50)).filter((entry) =>
      JSON.stringify(entry).includes(person.email),
    );
  expect((await addresses()).map(({ action }) => action)).toContain('account.keeping');
  const { status } = await person.call('POST', '/api/account/erase', { username: account.username });
  expect(status).toBe(202);
  await until(async () =>
    (await listAudit(server.database, { account: ref }, 50)).some(
      ({ action }) => action === 'account.erased',
    ),
  );
  expect(await addresses()).toEqual([]);
});

it('a change of a user answers 401 when an erasure deletes the user during the request', async () => {
  const person = await createPerson(server, { role: 'customer' });
  const eraser = await server.connectOwner();
  await eraser.query('begin');
  await eraser.query('delete from users where user_id = $1', [person.userId]);
  const answer = person.call('PUT', '/api/account/retention', { attempts: 30, events: null, texts: null });
  const observer = await server.connectOwner();
  const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  await until(async () => (await observer.query(waits)).rowCount! > 0);
  await eraser.query('commit');
  expect((await answer).status).toBe(401);
});

it('statements that lock reference tables run one after another, so that they cannot deadlock', async () => {
  const { email, password } = await createPerson(server, { role: 'editor' });
  const other = await server.connectOwner();
  await other.query('begin');
  await other.query(LOCK_REFERENCE_TABLES.text);
  const signedIn = createBrowser(server.url).call('POST', '/api/session', { email, password });
  const observer = await server.connectOwner();
  const waits = `select from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`;
  await until(async () => (await observer.query(waits)).rowCount! > 0);
  await other.query('commit');
  expect((await signedIn).status).toBe(200);
});
