/**
 * Tests of deliveries that are leased to the sender of the same process when they are inserted, and of
 * deliveries that must be queued.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { accountNamed, moveAccount } from '../access/accounts.ts';
import { uuidv7 } from '../base/ids.ts';
import { createPool } from '../database/connections.ts';
import { createClient, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { insertEvents, type NewEventRow } from './event-store.ts';
import { createOutboxSender } from './outbox.ts';

const PAIR = { source_language: 'en', target_language: 'es' };

let server: TestServer;
let owner: pg.Pool;
let key: string;
let username: string;
/** Requests that the receiver has not answered yet. */
let open: { path: string; response: ServerResponse }[] = [];
const receiver = createServer((request, response) => {
  request.resume();
  open.push({ path: request.url!, response });
});
let url: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  server = await startTestServer({
    settings: { DRAGOMAN_ALLOWED_NETWORKS: '127.0.0.1/32', DRAGOMAN_SENDER_PER_HOST: '4' },
  });
  owner = createPool(server.connection);
  ({ username, production_key: key } = await server.createAccount({ chat: true }));
});
beforeEach(async () => {
  await answerAll();
  await owner.query('delete from breakers');
});
afterAll(async () => {
  await answerAll();
  await server.stop();
  await owner.end();
  receiver.close();
});

async function answerAll(): Promise<void> {
  await until(async () => {
    for (const { response } of open.splice(0)) response.writeHead(204).end();
    const { rows } = await owner.query(
      `select count(*)::int as count from deliveries where status = 'pending'`,
    );
    return rows[0].count === 0;
  });
}

const send = async (path: string, body: object) =>
  expect((await createClient(server.url, key)('POST', path, { ...PAIR, ...body })).status).toBe(201);
const order = (uid: string) =>
  send('/tapi/v2/mt_translation/', { uid, text: `The text of ${uid}.`, callback_url: `${url}/${uid}` });
const write = (chat: string, id: string) =>
  send('/v2/chats/messages', {
    chat_external_id: chat,
    external_id: id,
    text: 'A house.',
    text_format: 'text',
    callback_url: `${url}/${id}`,
  });
const arrived = (path: string) => until(async () => open.some((one) => one.path === `/${path}`));

/** Returns true if the delivery was leased by its insert. It then has the same transaction id (`xmin`) as its event. */
async function isLeasedByInsert(path: string): Promise<boolean> {
  const { rows } = await owner.query(
    `select d.attempts = 1 and d.attempt_started_at is not null and d.lease_token is not null and e.xmin = d.xmin as leased
       from deliveries d join events e on e.part = d.part and e.event_id = d.delivery_id where d.url = $1`,
    [`${url}/${path}`],
  );
  return rows[0].leased;
}

/**
 * Creates jobs until one delivery is leased by its insert. Inserts lease deliveries only after the sender has
 * seen an empty queue.
 */
async function adopted(): Promise<string> {
  for (let n = 0; ; n++) {
    const uid = `adopted-${performance.now()}-${n}`;
    await order(uid);
    await arrived(uid);
    if (await isLeasedByInsert(uid)) return uid;
    await answerAll();
  }
}

it('the outbox sends a job’s callback right after the transaction that completed it, and records the result', async () => {
  const uid = await adopted();
  await answerAll();
  const { rows } = await owner.query(
    `select d.status, a.outcome, a.status_code, d.attempts from deliveries d
       join attempts a using (part, account_id, delivery_id) where d.url = $1`,
    [`${url}/${uid}`],
  );
  expect(rows).toEqual([{ status: 'delivered', outcome: 'answered', status_code: 204, attempts: 1 }]);
});

it('the outbox leases no more deliveries than the host has slots', async () => {
  await adopted();
  for (let n = 0; n < 8; n++) await order(`many-${n}`);
  await until(async () => {
    const { rows } = await owner.query(
      `select count(*)::int as count from deliveries where status = 'pending'`,
    );
    return rows[0].count === 9;
  });
  expect(open.length).toBeLessThanOrEqual(4);
});

it('the outbox queues a delivery while an earlier one of its chat is in progress', async () => {
  await adopted();
  await answerAll();
  await write('chat', 'first');
  await arrived('first');
  await write('chat', 'second');
  await until(async () => {
    const { rows } = await owner.query(`select attempts from deliveries where url = $1`, [`${url}/second`]);
    return rows[0]?.attempts === 0;
  });
  expect(open.map(({ path }) => path)).toEqual(['/first']);
  open.splice(0)[0]!.response.writeHead(204).end();
  await arrived('second');
});

it('the outbox queues deliveries that get no slot, that follow them in a chat, or whose host has older ones', async () => {
  const { ref: account } = await accountNamed(server.database, username);
  const event = (eventId: string, chatId: string, host: string): NewEventRow => ({
    account,
    eventId,
    environment: 'production',
    type: 'message.corrected',
    subject: { kind: 'message', chatId, messageId: eventId },
    delivery: {
      url: `http://${host}/`,
      host,
      contentType: 'text/plain',
      headers: {},
      delaySeconds: 0,
      body: Buffer.from('x'),
    },
  });
  const full = { account, id: 'held', token: 't', attempts: 1, weight: 1, host: 'full.test' };
  const sender = createOutboxSender(
    {
      leaseSeconds: 5,
      heldLeases: () => [{ ...full, environment: 'production', probe: false }],
      capacityFor: () => ({ pieces: 8, weight: 1_000 }),
    } as unknown as Parameters<typeof createOutboxSender>[0],
    1,
    (host) => host === 'waiting.test',
  );
  const leased = await sender.withOutbox(async (outbox) =>
    outbox!.lease([
      event('one', 'chat', 'full.test'),
      event('two', 'chat', 'free.test'),
      event('three', 'other', 'free.test'),
      event('four', 'third', 'waiting.test'),
    ]),
  );
  // The last one would overtake older deliveries to its host.
  expect(leased).toEqual([undefined, undefined, expect.any(String), undefined]);
});

it('the outbox queues the deliveries of a suspended account', async () => {
  const { username: other } = await server.createAccount();
  const account = await accountNamed(server.database, other);
  const delivery = {
    url: `${url}/idle`,
    host: new URL(url).host,
    contentType: 'text/plain',
    delaySeconds: 0,
  };
  const event = (): NewEventRow => ({
    account: account.ref,
    eventId: uuidv7(),
    environment: 'production',
    type: 'test',
    subject: { kind: 'none' },
    delivery: { ...delivery, headers: {}, body: Buffer.from('x') },
  });
  const leased = () =>
    server.database.transaction((transaction) => insertEvents(transaction, [event()], [uuidv7()], 5));
  await moveAccount(server.database, 'command', account, 'suspend');
  expect((await leased()).leased.size).toBe(0);
  await moveAccount(server.database, 'command', account, 'resume');
  expect((await leased()).leased.size).toBe(1);
});

it('the outbox queues a delivery instead of sending it at once when its host has failed before', async () => {
  await adopted();
  await answerAll();
  await owner.query(
    `insert into breakers (part, account_id, host, failures)
     select distinct part, account_id, host, 1 from deliveries`,
  );
  await order('failed-host');
  await arrived('failed-host');
  expect(await isLeasedByInsert('failed-host')).toBe(false);
});

it('a leased delivery is sent after a restart when the process ended before its first attempt', async () => {
  const uid = await adopted();
  await server.server.stop(0);
  const { rows } = await owner.query(`select attempts, lease_token from deliveries where url = $1`, [
    `${url}/${uid}`,
  ]);
  // The insert recorded the first attempt, so the next attempt has the number 2.
  expect(rows).toEqual([{ attempts: 1, lease_token: null }]);
  open = [];
  await server.restart();
  await arrived(uid);
});
