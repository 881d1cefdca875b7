/**
 * Tests of order, circuit breakers and fairness of deliveries, with a real database and real receivers. The
 * tests change times in rows instead of waiting.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { moveAccount } from '../access/accounts.ts';
import type { AccountRef } from '../base/account.ts';
import { partOf, uuidv7 } from '../base/ids.ts';
import { createLog } from '../base/log.ts';
import { createPool } from '../database/connections.ts';
import { createTestDatabase, type TestDatabase, until } from '../testing/harness.ts';
import type { LeaseQueue } from '../work/queue.ts';
import { createAddressGuard } from './addresses.ts';
import { limitAfter, OPENING_FAILURES } from './breaker.ts';
import { type ChangedDelivery, hostOf, type OnDeliveriesChanged, recordEvents } from './deliveries.ts';
import { createPoster, type Poster } from './post.ts';
import { createDeliveryQueue, type DeliveryLease } from './queue.ts';
import { expireLate, type Sender, startSender } from './sender.ts';

/** The time limit for stopping a sender, reached only if a test hangs. */
const PATIENCE_MILLISECONDS = 240_000;
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

let test: TestDatabase;
let owner: pg.Pool;
const started: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  test = await createTestDatabase();
  owner = createPool(test.connection);
});
beforeEach(async () => {
  for (const one of started.splice(0)) await one.stop();
  await owner.query('truncate accounts, deliveries, events, breakers cascade');
});
afterAll(async () => {
  for (const one of started.splice(0)) await one.stop();
  await owner.end();
  await test.drop();
});

let accounts = 0;
async function createAccount(): Promise<AccountRef> {
  const accountId = uuidv7();
  const account = { part: partOf(accountId), accountId } as AccountRef;
  const values = [account.part, accountId, `account-${++accounts}`];
  await owner.query('insert into accounts (part, account_id, username) values ($1, $2, $3)', values);
  return account;
}

/** Records events of messages, each in its own transaction. @returns the delivery ids, in the order of the events */
async function enqueue(
  account: AccountRef,
  url: string,
  chats: readonly string[],
  bodies: readonly string[] = chats.map((_, index) => String(index)),
): Promise<string[]> {
  const ids: string[] = [];
  for (const [index, chatId] of chats.entries()) {
    const [id] = await test.database.transaction((transaction) =>
      recordEvents(transaction, [
        {
          account,
          environment: 'production',
          type: 'message.translated',
          subject: { kind: 'message', chatId, messageId: uuidv7() },
          delivery: {
            url,
            contentType: 'text/plain',
            body: Buffer.from(bodies[index]!),
            headers: { 'ce-id': `chatapi-${index}` },
          },
        },
      ]),
    );
    ids.push(id!);
  }
  return ids;
}

interface Sending {
  loop: Sender;
  poster: Poster;
}

function start(options: { timeoutMs?: number; perHost?: number; breakerSeconds?: number[] } = {}): Sending {
  const { timeoutMs = 15_000, perHost = 8, breakerSeconds = [3600] } = options;
  const guard = createAddressGuard({ allowedNetworks: ['127.0.0.0/8'] });
  const poster = createPoster({ guard, timeoutMs, connectionsPerOrigin: perHost });
  const loop = startSender({
    database: test.database,
    poster,
    perHost,
    breakerSeconds,
    log: createLog('silent'),
    scheduleSeconds: [3600],
    capacity: 64,
    leaseSeconds: 30,
    onDeliveriesChanged: follow,
    secrets: async () => [SECRET],
    metrics: { attempted() {}, ended() {}, breakerOpened() {} },
  });
  started.push({
    async stop() {
      // Aborts POSTs in progress, and waits until the sender has stopped, because a claim in progress would
      // take deliveries of the next test.
      const stopped = loop.stop(PATIENCE_MILLISECONDS);
      await poster.cut();
      await stopped;
    },
  });
  return { loop, poster };
}

/** The status changes that the chat module was notified of. */
const changes: ChangedDelivery[] = [];
const follow: OnDeliveriesChanged = async (transaction, deliveries) => {
  expect(transaction.inTransaction).toBe(true);
  changes.push(...deliveries);
};

interface Sink {
  url: string;
  bodies: string[];
  headers: IncomingMessage['headers'][];
  close(): Promise<void>;
}

async function listen(
  answer: (body: string, response: ServerResponse, count: number) => void,
): Promise<Sink> {
  const bodies: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      bodies.push(body);
      headers.push(request.headers);
      answer(body, response, bodies.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sink: Sink = {
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies, headers },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  started.push({ stop: sink.close });
  return sink;
}

const ok = (_: string, response: ServerResponse) => void response.writeHead(200).end();
const broken = (_: string, response: ServerResponse) => void response.writeHead(500).end();

const count = async (where: string) =>
  Number((await owner.query(`select count(*) as n from deliveries where ${where}`)).rows[0].n);
/** Counts statements that wait for a row lock. */
const countWaiting = async () =>
  Number(
    (
      await owner.query(
        `select count(*) as n from pg_stat_activity
          where datname = current_database() and application_name = 'dragoman' and wait_event_type = 'Lock'`,
      )
    ).rows[0].n,
  );
const makeDue = () =>
  owner.query(`update deliveries set due_at = now() where due_at > now() and lease_token is null`);
const breakerOf = async (url: string) =>
  (
    await owner.query(
      `select failures, openings, open_until > now() as open from breakers where host = '${hostOf(url)}'`,
    )
  ).rows[0];

describe('the order of deliveries', () => {
  it('is preserved within a chat without delaying other chats', async () => {
    const refused = new Set(['a0']);
    const sink = await listen((body, response) => response.writeHead(refused.has(body) ? 404 : 200).end());
    const account = await createAccount();
    const [a, b] = [uuidv7(), uuidv7()];
    await enqueue(account, sink.url, [a, a, b, a, b], ['a0', 'a1', 'b0', 'a2', 'b1']);
    const { loop } = start();
    await until(async () => (await count(`status = 'delivered'`)) === 2);
    expect(sink.bodies.filter((body) => body.startsWith('a'))).toEqual(['a0']);
    expect(sink.bodies.filter((body) => body.startsWith('b'))).toEqual(['b0', 'b1']);
    refused.clear();
    // Makes only the first delivery due. Each other delivery becomes due when its predecessor ends.
    await owner.query(`update deliveries set due_at = now() where body = 'a0'`);
    loop.wake();
    await until(async () => (await count(`status = 'delivered'`)) === 5);
    expect(sink.bodies.filter((body) => body.startsWith('a'))).toEqual(['a0', 'a0', 'a1', 'a2']);
  });

  it('allows later deliveries of a chat to be sent after one of them is dead', async () => {
    const sink = await listen((body, response) => response.writeHead(body === '0' ? 410 : 200).end());
    const chat = uuidv7();
    await enqueue(await createAccount(), sink.url, [chat, chat, chat]);
    start();
    await until(async () => (await count(`status = 'delivered'`)) === 2);
    expect(sink.bodies).toEqual(['0', '1', '2']);
    expect(await count(`status = 'dead'`)).toBe(1);
  });

  it('is preserved when many workers claim at once, also when hundreds of deliveries wait for an earlier one of their chat', async () => {
    const account = await createAccount();
    const [long, other] = [uuidv7(), uuidv7()];
    await enqueue(account, 'http://127.0.0.1:9/', [...Array(150).fill(long), other]);
    const queues = Array.from({ length: 4 }, () =>
      createDeliveryQueue({
        database: test.database,
        leaseSeconds: 30,
        perHost: 8,
        log: createLog('silent'),
      }),
    );
    const claimed = (await Promise.all(queues.map((queue) => queue.claim(8)))).flat();
    // A claim skips rows that a concurrent claim has locked, so one more claim takes the skipped rows.
    await makeDue();
    claimed.push(...(await queues[0]!.claim(8)));
    const { rows } = await owner.query(
      'select order_key, body from deliveries where lease_token is not null',
    );
    expect(rows.map(({ order_key }) => order_key).sort()).toEqual([long, other].sort());
    expect(rows.find(({ order_key }) => order_key === long).body.toString()).toBe('0');
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(claimed.length);
  });
});

describe("a chat message's delivery", () => {
  it('is sent with the headers of its event, and the chat module is notified when it is delivered or dead', async () => {
    changes.length = 0;
    const sink = await listen((body, response) => response.writeHead(body === '1' ? 410 : 200).end());
    const ids = await enqueue(await createAccount(), sink.url, [uuidv7(), uuidv7()]);
    start();
    await until(async () => (await count(`due_at is null`)) === 2);
    expect(sink.headers.map((headers) => headers['ce-id']).sort()).toEqual(['chatapi-0', 'chatapi-1']);
    expect(sink.headers.map((headers) => headers['webhook-id']).sort()).toEqual([...ids].sort());
    expect(changes.map(({ deliveryId, status }) => [deliveryId, status]).sort()).toEqual(
      [
        [ids[0], 'delivered'],
        [ids[1], 'dead'],
      ].sort(),
    );
  });
});

describe('the circuit breaker of a host', () => {
  it('opens after five failures in a row, and other deliveries then wait without an attempt', async () => {
    const sink = await listen(broken);
    await enqueue(await createAccount(), sink.url, Array.from({ length: 40 }, uuidv7));
    start({ perHost: 1 });
    await until(async () => (await breakerOf(sink.url))?.open === true);
    await until(async () => (await count('lease_token is not null')) === 0);
    expect(sink.bodies).toHaveLength(OPENING_FAILURES);
    expect(await count('attempts = 0 and due_at <= now()')).toBe(40 - OPENING_FAILURES);
    expect(await breakerOf(sink.url)).toMatchObject({ failures: OPENING_FAILURES, openings: 1 });
  });

  it('is shared with a second worker and survives a restart', async () => {
    const sink = await listen(broken);
    const account = await createAccount();
    await enqueue(account, sink.url, Array.from({ length: 10 }, uuidv7));
    const first = start({ perHost: 1 });
    await until(async () => (await breakerOf(sink.url))?.open === true);
    await first.loop.stop(1000);
    const sent = sink.bodies.length;
    const good = await listen(ok);
    await enqueue(account, good.url, [uuidv7()]);
    start();
    await until(() => good.bodies.length === 1);
    expect(sink.bodies).toHaveLength(sent);
  });

  it('lets one delivery through after its open period; if it succeeds, the breaker closes; if it fails, the breaker opens for longer', async () => {
    let works = false;
    const sink = await listen((_, response) => response.writeHead(works ? 200 : 503).end());
    const account = await createAccount();
    await enqueue(account, sink.url, Array.from({ length: 20 }, uuidv7));
    const { loop } = start({ perHost: 1, breakerSeconds: [600, 3600] });
    await until(async () => (await breakerOf(sink.url))?.open === true);
    const halfOpen = async () => {
      await owner.query('update breakers set open_until = now()');
      loop.wake();
    };
    await halfOpen();
    await until(async () => (await breakerOf(sink.url))?.openings === 2);
    expect(sink.bodies).toHaveLength(OPENING_FAILURES + 1);
    const { rows } = await owner.query(
      'select extract(epoch from open_until - now())::float8 as s from breakers',
    );
    expect(rows[0].s).toBeGreaterThan(3000);
    works = true;
    await halfOpen();
    await until(async () => (await count(`status = 'delivered'`)) === 20 - OPENING_FAILURES - 1);
    expect(await breakerOf(sink.url)).toBeUndefined();
  });

  it('lets only one delivery through a half-open breaker when many workers claim', async () => {
    const account = await createAccount();
    await enqueue(account, 'http://127.0.0.1:9/', Array.from({ length: 20 }, uuidv7));
    await owner.query('insert into breakers values ($1, $2, $3, 5, 1, now())', [
      account.part,
      account.accountId,
      '127.0.0.1:9',
    ]);
    const queues = Array.from({ length: 4 }, () =>
      createDeliveryQueue({
        database: test.database,
        leaseSeconds: 30,
        perHost: 8,
        log: createLog('silent'),
      }),
    );
    const claimed = (await Promise.all(queues.map((queue) => queue.claim(8)))).flat();
    expect(claimed).toMatchObject([{ probe: true }]);
  });

  it('of one account does not affect other accounts', async () => {
    const sink = await listen((body, response) => response.writeHead(body === 'mine' ? 500 : 200).end());
    const [mine, theirs] = [await createAccount(), await createAccount()];
    await enqueue(mine, sink.url, Array.from({ length: 8 }, uuidv7), Array(8).fill('mine'));
    start({ perHost: 1 });
    await until(async () => (await breakerOf(sink.url))?.open === true);
    await enqueue(theirs, sink.url, [uuidv7()], ['theirs']);
    await until(() => sink.bodies.includes('theirs'));
  });

  it('does not open when a receiver refuses deliveries with 4xx', async () => {
    const sink = await listen((_, response) => response.writeHead(404).end());
    await enqueue(await createAccount(), sink.url, Array.from({ length: 12 }, uuidv7));
    start();
    await until(async () => (await count('attempts = 1 and lease_token is null')) === 12);
    expect(await breakerOf(sink.url)).toBeUndefined();
  });

  it("halves the account's slots at the host with each failure, before the breaker opens", () => {
    expect([0, 1, 2, 3, 4].map((failures) => limitAfter(failures, 8))).toEqual([8, 4, 2, 1, 1]);
  });
});

describe('a sender that stops', () => {
  it('counts no attempt for a claim that returns after the stop, and leaves the probe of the host to others', async () => {
    const account = await createAccount();
    await enqueue(account, 'http://127.0.0.1:9/', [uuidv7()]);
    const halfOpen = "insert into breakers values ($1, $2, $3, 5, 1, now() - interval '1 second')";
    await owner.query(halfOpen, [account.part, account.accountId, '127.0.0.1:9']);
    const blocker = await owner.connect();
    try {
      await blocker.query('begin');
      // The lock allows reads, but a claim has to wait for the lock.
      await blocker.query('lock table deliveries in exclusive mode');
      const { loop } = start();
      await until(async () => {
        const { rowCount } = await owner.query(
          `select from pg_locks l join pg_stat_activity a using (pid)
            where not l.granted and a.datname = current_database() and a.query like '%with lanes as%'`,
        );
        return rowCount === 1;
      });
      const stopping = loop.stop(PATIENCE_MILLISECONDS);
      await blocker.query('commit');
      await stopping;
    } finally {
      blocker.release(true);
    }
    const { rows } = await owner.query(
      `select d.attempts, d.attempt_started_at, d.lease_token, d.due_at <= now() as due, b.open_until <= now() as half_open
         from deliveries d join breakers b using (part, account_id, host)`,
    );
    const released = { attempts: 0, attempt_started_at: null, lease_token: null };
    expect(rows).toEqual([{ ...released, due: true, half_open: true }]);
  });
});

describe('a delivery that is older than 72 hours at a failing host', () => {
  it('becomes dead without an attempt, and the chat module is notified', async () => {
    changes.length = 0;
    const account = await createAccount();
    const chat = uuidv7();
    const ids = await enqueue(account, 'http://127.0.0.1:9/', [chat, chat, uuidv7()]);
    const fail = "insert into breakers values ($1, $2, $3, 5, 1, now() + interval '1 hour')";
    await owner.query(fail, [account.part, account.accountId, '127.0.0.1:9']);
    let expired = 0;
    const sweep = () =>
      expireLate(test.database, follow, () => {
        expired += 1;
      });
    await sweep();
    expect(expired).toBe(0);
    await owner.query(`update deliveries set queued_at = now() - interval '73 hours' where body <> '2'`);
    await owner.query(
      `update deliveries set queued_at = now() - interval '73 hours 1 second' where body = '0'`,
    );
    await sweep();
    expect(expired).toBe(2);
    expect(changes.map(({ deliveryId, status }) => [deliveryId, status])).toEqual([
      [ids[0], 'dead'],
      [ids[1], 'dead'],
    ]);
    expect(await count(`status = 'pending'`)).toBe(1);
  });

  it('gets a row for an attempt whose sender died when it ends after 72 hours', async () => {
    const account = await createAccount();
    const [id] = await enqueue(account, 'http://127.0.0.1:9/', [uuidv7()]);
    const log = createLog('silent');
    const queue = createDeliveryQueue({ database: test.database, perHost: 8, leaseSeconds: 30, log });
    expect(await queue.claim(1)).toMatchObject([{ id, attempts: 1 }]);
    const fail = "insert into breakers values ($1, $2, $3, 5, 1, now() + interval '1 hour')";
    await owner.query(fail, [account.part, account.accountId, '127.0.0.1:9']);
    await owner.query(`update deliveries set queued_at = now() - interval '73 hours', due_at = now()`);
    await expireLate(test.database, follow, () => {});
    const { rows } = await owner.query(
      `select d.status, d.attempt_started_at, a.attempt, a.finished_at
         from deliveries d left join attempts a using (part, account_id, delivery_id)`,
    );
    expect(rows).toEqual([{ status: 'dead', attempt_started_at: null, attempt: 1, finished_at: null }]);
  });

  it('stays pending while its account is suspended, and for 72 hours after the account is resumed', async () => {
    const account = await createAccount();
    await enqueue(account, 'http://127.0.0.1:9/', [uuidv7()]);
    const fail = "insert into breakers values ($1, $2, $3, 5, 1, now() + interval '1 hour')";
    await owner.query(fail, [account.part, account.accountId, '127.0.0.1:9']);
    await owner.query(`update deliveries set queued_at = now() - interval '73 hours'`);
    let expired = 0;
    const sweep = () =>
      expireLate(test.database, follow, () => {
        expired += 1;
      });
    const subject = { ref: account, username: `account-${accounts}` };
    for (const trigger of ['suspend', 'resume'] as const) {
      await moveAccount(test.database, 'command', subject, trigger);
      await sweep();
      expect(expired).toBe(0);
    }
    await owner.query(`update accounts set resumed_at = now() - interval '73 hours'`);
    await sweep();
    expect(expired).toBe(1);
  });
});

describe('fairness between accounts and hosts', () => {
  it('limits the deliveries to one host in a claim, and ends a claim before a delivery that exceeds the memory limit', async () => {
    const account = await createAccount();
    const urls = [1, 2, 3].map((port) => `http://127.0.0.1:${port}/`);
    const chats = (count: number) => Array.from({ length: count }, () => uuidv7());
    for (const url of urls) await enqueue(account, url, chats(5));
    const [heavy] = await enqueue(account, 'http://127.0.0.1:4/', chats(1), ['x'.repeat(100)]);
    await enqueue(account, 'http://127.0.0.1:5/', chats(1));
    const log = createLog('silent');
    const queue = createDeliveryQueue({ database: test.database, perHost: 3, leaseSeconds: 30, log });
    const room = { weight: 50, empty: true, shareOf: () => 8 };
    const first = await queue.claim(100, room);
    expect(first.map(({ host }) => host)).toEqual(urls.flatMap((url) => Array(3).fill(hostOf(url))));
    // The first three hosts have no free slot. The delivery with the large body exceeds the memory limit, so
    // the claim stops before it.
    const held = { ...room, weight: 41, empty: false, held: first };
    expect(await queue.claim(100, held)).toEqual([]);
    const next = await queue.claim(2, { ...room, held: first });
    expect(next.map(({ id, host }) => [id, host])).toEqual([[heavy, '127.0.0.1:4']]);
    expect((await queue.claim(1, { ...room, weight: 1, held: first }))[0]!.host).toBe('127.0.0.1:5');
  });

  it('returns bodies of 8 MiB at most in a claim, and a larger one alone', async () => {
    const account = await createAccount();
    const url = 'http://127.0.0.1:6/';
    const mebibytes = [9, 3, 4, 2].map((size) => 'x'.repeat(size * 1024 * 1024));
    const ids: string[] = [];
    for (const body of mebibytes) ids.push(...(await enqueue(account, url, [uuidv7()], [body])));
    const log = createLog('silent');
    const queue = createDeliveryQueue({ database: test.database, perHost: 8, leaseSeconds: 30, log });
    const claim = async () => (await queue.claim(100)).map(({ id }) => id);
    expect(await claim()).toEqual(ids.slice(0, 1));
    expect(await claim()).toEqual(ids.slice(1, 3));
    expect(await claim()).toEqual(ids.slice(3));
  });

  it('claims deliveries to other hosts and of other accounts in the same round as bodies of more than 8 MiB', async () => {
    const [large, small] = [await createAccount(), await createAccount()].sort(
      (one, other) => one.part - other.part || (one.accountId < other.accountId ? -1 : 1),
    ) as [AccountRef, AccountRef];
    const body = 'x'.repeat(5 * 1024 * 1024);
    const [first] = await enqueue(large, 'http://127.0.0.1:1/', chats(1), [body]);
    const [second, rest] = await enqueue(large, 'http://127.0.0.1:2/', chats(2), [body, body]);
    const [other] = await enqueue(small, 'http://127.0.0.1:3/', chats(1));
    const queue = queueOf(8);
    const claim = async () => (await queue.claim(100, room([]))).map(({ id }) => id);
    expect(await claim()).toEqual([first, second, other]);
    expect(await claim()).toEqual([rest]);
    expect(await claim()).toEqual([]);
  });

  const shared = 'http://127.0.0.1:9/';
  const chats = (count: number) => Array.from({ length: count }, () => uuidv7());
  const queueOf = (perHost: number) => {
    const log = createLog('silent');
    return createDeliveryQueue({ database: test.database, perHost, leaseSeconds: 30, log });
  };
  const room = (held: DeliveryLease[]) => ({
    weight: 1e9,
    empty: held.length === 0,
    shareOf: () => 32,
    held,
  });
  /**
   * Claims until a claim returns no delivery. @returns the number of deliveries in progress of each account
   */
  async function fill(queue: LeaseQueue<DeliveryLease>, held: DeliveryLease[], accounts: AccountRef[]) {
    for (;;) {
      const claimed = await queue.claim(64, room(held));
      held.push(...claimed);
      if (claimed.length === 0) break;
    }
    return accounts.map(
      ({ accountId }) => held.filter(({ account }) => account.accountId === accountId).length,
    );
  }

  it('reserves a slot for a new account at a host that another account fills with slow deliveries', async () => {
    const slow: ServerResponse[] = [];
    const sink = await listen((body, response) => {
      if (body === 'slow') slow.push(response);
      else response.writeHead(200).end();
    });
    const [flood, second, third] = [await createAccount(), await createAccount(), await createAccount()];
    await enqueue(flood, sink.url, chats(30), Array(30).fill('slow'));
    const { loop } = start({ perHost: 8 });
    await until(() => slow.length === 6);
    // The slow deliveries are still unanswered when the other accounts' deliveries arrive.
    for (const [account, name] of [
      [second, 'second'],
      [third, 'third'],
    ] as const) {
      await enqueue(account, sink.url, chats(12), Array(12).fill(name));
    }
    loop.wake();
    await until(() => sink.bodies.filter((body) => body !== 'slow').length === 24);
    expect(slow.every((response) => !response.writableEnded)).toBe(true);
    expect(slow.length).toBeLessThanOrEqual(6);
  });

  it.each([
    [1, [6]],
    [2, [4, 2]],
    [3, [3, 3, 1]],
  ])('shares the slots of a host equally among %d accounts with due deliveries', async (count, expected) => {
    const accounts: AccountRef[] = [];
    for (let n = 0; n < count; n++) {
      const account = await createAccount();
      accounts.push(account);
      await enqueue(account, shared, chats(20));
    }
    const got = await fill(queueOf(8), [], accounts);
    expect(got.toSorted((a, b) => b - a)).toEqual(expected);
  });

  it('gives a slot to another account each time a delivery of the first account ends', async () => {
    const [first, second] = [await createAccount(), await createAccount()];
    const accounts = [first, second];
    const queue = queueOf(8);
    const held: DeliveryLease[] = [];
    await enqueue(first, shared, chats(30));
    expect(await fill(queue, held, accounts)).toEqual([6, 0]);
    await enqueue(second, shared, chats(30));
    expect(await fill(queue, held, accounts)).toEqual([6, 1]);
    for (let ended = 0; ended < 4; ended++) {
      held.splice(
        held.findIndex(({ account }) => account.accountId === first.accountId),
        1,
      );
      await fill(queue, held, accounts);
    }
    const [left, gained] = await fill(queue, held, accounts);
    expect(left).toBeLessThanOrEqual(4);
    expect(gained).toBeGreaterThanOrEqual(3);
  });

  it('reduces the slots only of the account whose deliveries fail at a host', async () => {
    const [failing, other] = [await createAccount(), await createAccount()];
    const queue = queueOf(8);
    const held: DeliveryLease[] = [];
    await enqueue(other, shared, chats(20));
    await fill(queue, held, [other]);
    await enqueue(failing, shared, chats(5));
    const half = 'insert into breakers (part, account_id, host, failures) values ($1, $2, $3, 3)';
    await owner.query(half, [failing.part, failing.accountId, hostOf(shared)]);
    // Three failures leave one of the eight slots to the failing account. The other account still has all its
    // slots.
    expect(await fill(queue, held, [failing, other])).toEqual([1, 6]);
  });

  it('delays no deliveries to other hosts when one host hangs, whichever account they belong to', async () => {
    const silent = await listen(() => {});
    const good = await listen(ok);
    const [mine, theirs] = [await createAccount(), await createAccount()];
    // Inserts rows one at a time, so that ids and order are like those in production.
    await enqueue(mine, silent.url, Array.from({ length: 300 }, uuidv7));
    await enqueue(mine, good.url, Array.from({ length: 30 }, uuidv7));
    await enqueue(theirs, good.url, Array.from({ length: 30 }, uuidv7));
    start({ perHost: 4 });
    await until(() => good.bodies.length === 60);
    // The hanging POSTs have a timeout of 15 s, and all are still waiting.
    expect(await count(`attempts > 0 and host = '${hostOf(silent.url)}'`)).toBeLessThanOrEqual(4);
    expect(silent.bodies.length).toBeLessThanOrEqual(4);
  });

  it.each([
    ['is free while an answer is recorded', 200],
    ['is taken until the breaker has recorded a failure', 500],
  ])(
    'frees a host’s slot before a success is recorded, but only after a failure is recorded in the breaker: the slot %s',
    async (_, status) => {
      const writing = await owner.connect();
      const hold = async () => {
        await writing.query('begin');
        await writing.query(`select from deliveries where part = $1 and body = 'first' for update`, [
          account.part,
        ]);
      };
      const sink = await listen(async (body, response) => {
        if (body === 'first') await hold();
        response.writeHead(status).end();
      });
      const other = await listen(ok);
      const account = await createAccount();
      try {
        await enqueue(account, sink.url, [uuidv7(), uuidv7()], ['first', 'second']);
        const { loop } = start({ perHost: 1 });
        const looks = async (times: number) => {
          await enqueue(account, other.url, [uuidv7()]);
          loop.wake();
          await until(() => other.bodies.length === times);
        };
        await until(async () => (await countWaiting()) === 1);
        await looks(1);
        await looks(2);
        if (status === 200) await until(() => sink.bodies.length === 2);
        expect(sink.bodies).toEqual(status === 200 ? ['first', 'second'] : ['first']);
        expect(await count(`body = 'first' and lease_token is not null`)).toBe(1);
      } finally {
        await writing.query('rollback');
        writing.release();
      }
      await until(async () => (await count('attempts = 1 and lease_token is null')) === 4);
      expect(sink.bodies).toEqual(['first', 'second']);
    },
  );

  it('stops sending to a host after five POSTs to it timed out, and releases their leases', async () => {
    const silent = await listen(() => {});
    await enqueue(await createAccount(), silent.url, Array.from({ length: 100 }, uuidv7));
    start({ perHost: 4, timeoutMs: 200 });
    await until(async () => (await breakerOf(silent.url))?.open === true);
    await until(async () => (await count('lease_token is not null')) === 0);
    expect(await count('attempts = 0')).toBeGreaterThanOrEqual(100 - OPENING_FAILURES - 4);
  });
});
