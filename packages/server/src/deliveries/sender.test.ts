/** Tests of deliveries to real receivers: requests, attempts, records, and recovery after a crash. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { createPool } from '../database/connections.ts';
import {
  createClient,
  type Received,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { parseSecret, type SignatureHeaders, verify } from './signature.ts';

const MACHINE = '/tapi/v2/mt_translation/';

let server: TestServer;
let receiver: Receiver;
let owner: pg.Pool;
let account: AccountCredentials;

beforeAll(async () => {
  receiver = await startReceiver();
  // With a schedule of two seconds, attempts are more than one second apart, so their timestamps differ.
  server = await startTestServer({
    settings: { DRAGOMAN_CALLBACK_SCHEDULE: '2', DRAGOMAN_ALLOWED_NETWORKS: '127.0.0.1/32' },
  });
  owner = createPool(server.connection);
  account = await server.createAccount();
});
/** Ends pending deliveries, because they could be sent to a port that a later test uses. */
afterEach(() =>
  owner.query(
    `update deliveries set status = 'dead', due_at = null, lease_token = null where status = 'pending'`,
  ),
);
afterAll(async () => {
  await owner.end();
  await receiver.close();
  await server.stop();
});

/**
 * Creates a machine job. Reads the server's address each time, because the server may have been restarted.
 */
async function order(
  uid: string,
  callback_url: string,
  key = account.production_key,
  root = server.url,
): Promise<{ status: number; error: string | undefined }> {
  const call = createClient(root, key);
  const body = { uid, callback_url, text: 'A house.', source_language: 'en', target_language: 'es' };
  const answer = await call('POST', MACHINE, body);
  return { status: answer.status, error: answer.body.error };
}

const read = async (uid: string) =>
  (await createClient(server.url, account.production_key)('GET', `${MACHINE}${uid}/`)).body;

interface DeliveryRecord {
  delivery_id: string;
  status: string;
  failure: string | null;
  attempts: number;
  leased: boolean;
  finished: boolean;
  due_in: number | null;
}

/** Reads the delivery of a job as the owner of the schema. */
async function deliveryOf(uid: string): Promise<DeliveryRecord | undefined> {
  const { rows } = await owner.query<DeliveryRecord>(
    `select d.delivery_id, d.status, d.failure, d.attempts, d.lease_token is not null as leased,
            d.finished_at is not null as finished, extract(epoch from d.due_at - now())::float8 as due_in
       from deliveries d join jobs j using (part, account_id, job_id) where j.uid = $1`,
    [uid],
  );
  return rows[0];
}

/** Waits until the delivery of a job satisfies the condition. */
function settled(uid: string, is: (delivery: DeliveryRecord) => boolean): Promise<DeliveryRecord> {
  return until(async () => {
    const delivery = await deliveryOf(uid);
    return delivery !== undefined && is(delivery) && delivery;
  });
}
const delivered = (uid: string) => settled(uid, ({ status }) => status === 'delivered');
const waiting = (uid: string, attempts = 1) =>
  settled(uid, (one) => one.status === 'pending' && one.attempts === attempts && !one.leased);

async function attemptsOf(uid: string): Promise<object[]> {
  const { rows } = await owner.query(
    `select a.attempt, a.outcome, a.status_code, a.finished_at >= a.started_at as finished,
            a.milliseconds >= 0 as measured
       from (select part, delivery_id, attempt, outcome, status_code, started_at, finished_at, milliseconds from attempts
             union all
             select part, delivery_id, attempts, null, null, attempt_started_at, null, null from deliveries d
              where attempt_started_at is not null and not exists (
                select from attempts e where e.part = d.part and e.delivery_id = d.delivery_id and e.attempt = d.attempts)) a
       join deliveries using (part, delivery_id)
       join jobs j using (part, account_id, job_id) where j.uid = $1 order by a.attempt`,
    [uid],
  );
  return rows;
}

const answered = (attempt: number, status_code: number) => ({
  attempt,
  outcome: 'answered',
  status_code,
  finished: true,
  measured: true,
});
const unanswered = (attempt: number, outcome: string) => ({
  ...answered(attempt, 0),
  outcome,
  status_code: null,
});

const at = (path: string) => receiver.received.filter((one) => one.path === path);

/** Answers the first request at a path with the status, and all other requests with 200. */
function answerFirst(path: string, status: number): void {
  receiver.answer((one) => (one.path === path && at(path).length === 1 ? status : 200));
}

const signatureOf = ({ headers }: Received): SignatureHeaders => ({
  'webhook-id': String(headers['webhook-id']),
  'webhook-timestamp': String(headers['webhook-timestamp']),
  'webhook-signature': String(headers['webhook-signature']),
});

interface Listening {
  url: string;
  connections: number;
  close(): Promise<void>;
}

/** Starts a receiver that answers requests with `handler`. */
async function listen(
  handler: (request: IncomingMessage, response: ServerResponse) => unknown,
  host = '127.0.0.1',
): Promise<Listening> {
  const http = createServer((request, response) => {
    request.resume().on('end', () => handler(request, response));
  });
  const listening: Listening = {
    url: '',
    connections: 0,
    close: () =>
      new Promise((resolve) => {
        http.closeAllConnections();
        http.close(() => resolve());
      }),
  };
  http.on('connection', () => {
    listening.connections++;
  });
  await new Promise<void>((resolve) => http.listen(0, host, resolve));
  listening.url = `http://${host}:${(http.address() as AddressInfo).port}/`;
  return listening;
}

describe('a retried delivery', () => {
  let tries: Received[];
  beforeAll(async () => {
    answerFirst('/again', 500);
    await order('again', `${receiver.url}/again`);
    await delivered('again');
    tries = at('/again');
  });

  it('keeps its id and body, and gets a new timestamp and signature', () => {
    expect(tries).toHaveLength(2);
    const [first, second] = tries as [Received, Received];
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
    expect(second.body).toBe(first.body);
    expect(second.headers['content-type']).toBe(first.headers['content-type']);
    const stamp = (one: Received) => Number(one.headers['webhook-timestamp']);
    expect(stamp(second)).toBeGreaterThan(stamp(first));
    expect(second.headers['webhook-signature']).not.toBe(first.headers['webhook-signature']);
  });

  it('is signed only with the secrets of its account and environment', async () => {
    const stranger = await server.createAccount();
    const verdict = (one: Received, secret: string) =>
      verify([parseSecret(secret)!], signatureOf(one), one.body, new Date()).ok;
    for (const one of tries) {
      expect(verdict(one, account.webhook_secret_production)).toBe(true);
      expect(verdict(one, account.webhook_secret_sandbox)).toBe(false);
      expect(verdict(one, stranger.webhook_secret_production)).toBe(false);
      expect(verdict({ ...one, body: `${one.body} ` }, account.webhook_secret_production)).toBe(false);
    }
    await order('trial', `${receiver.url}/trial`, account.sandbox_key, `${server.url}/sandbox`);
    const trial = await receiver.next(({ path }) => path === '/trial');
    expect(verdict(trial, account.webhook_secret_sandbox)).toBe(true);
    expect(verdict(trial, account.webhook_secret_production)).toBe(false);
  });

  it('is stored with its final status and with the outcome of every attempt', async () => {
    expect(await attemptsOf('again')).toEqual([answered(1, 500), answered(2, 200)]);
    expect(await deliveryOf('again')).toEqual({
      delivery_id: tries[0]!.headers['webhook-id'],
      status: 'delivered',
      failure: null,
      attempts: 2,
      leased: false,
      finished: true,
      due_in: null,
    });
  });
});

describe('the receiver’s answer', () => {
  it('410 makes the delivery dead at once', async () => {
    answerFirst('/gone', 410);
    await order('gone', `${receiver.url}/gone`);
    const delivery = await settled('gone', ({ status }) => status !== 'pending');
    expect(delivery).toMatchObject({ status: 'dead', failure: 'gone', attempts: 1, due_in: null });
    expect(await attemptsOf('gone')).toEqual([answered(1, 410)]);
    expect(at('/gone')).toHaveLength(1);
    expect((await read('gone')).status).toBe('completed');
  });

  it('3xx is not followed; the delivery is retried at the same URL', async () => {
    let requests = 0;
    const elsewhere = await listen((_, response) => response.writeHead(200).end());
    const moved = await listen((_, response) =>
      response.writeHead(++requests === 1 ? 302 : 200, { location: elsewhere.url }).end(),
    );
    await order('moved', moved.url);
    await delivered('moved');
    expect(await attemptsOf('moved')).toEqual([answered(1, 302), answered(2, 200)]);
    expect(elsewhere.connections).toBe(0);
    await moved.close();
    await elsewhere.close();
  });

  it('with Retry-After delays the retry, up to the longest step of the schedule', async () => {
    const busy = await listen((_, response) => response.writeHead(503, { 'retry-after': '600' }).end());
    await server.restart({ DRAGOMAN_CALLBACK_SCHEDULE: '2,3600' });
    await order('busy', busy.url);
    const { due_in } = await waiting('busy');
    expect(due_in).toBeGreaterThan(500);
    await busy.close();
    await server.restart();
  });

  it.each([
    ['a week', 503, '604800'],
    ['three days', 429, '259200'],
    ['a far date', 503, 'Fri, 31 Dec 9999 23:59:59 GMT'],
  ])(
    'with a Retry-After of %s delays the retry by the longest step of the schedule only',
    async (name, status, asked) => {
      const uid = name.replaceAll(' ', '-');
      const closed = await listen((_, response) =>
        response.writeHead(status, { 'retry-after': asked }).end(),
      );
      await order(uid, closed.url);
      await until(async () => (await attemptsOf(uid)).length > 1);
      expect(await deliveryOf(uid)).toMatchObject({ status: 'pending', failure: null });
      await closed.close();
    },
  );

  it('that never arrives is recorded as a failed attempt with its cause, and the delivery is retried', async () => {
    const closed = await listen(() => {});
    await closed.close();
    const broken = await listen((request) => request.socket.destroy());
    await order('closed', closed.url);
    await order('broken', broken.url);
    await waiting('closed');
    await waiting('broken');
    expect(await attemptsOf('closed')).toEqual([unanswered(1, 'connect')]);
    expect(await attemptsOf('broken')).toEqual([unanswered(1, 'reset')]);
    await broken.close();
  });
});

describe('while a receiver handles a callback', () => {
  it('the attempt is already recorded, without an outcome, and the job is completed', async () => {
    const seen = Promise.withResolvers<{ attempts: object[]; job: { status: string } }>();
    const curious = await listen(async (_, response) => {
      seen.resolve({ attempts: await attemptsOf('curious'), job: await read('curious') });
      response.writeHead(200).end();
    });
    await order('curious', curious.url);
    const { attempts, job } = await seen.promise;
    expect(attempts).toEqual([
      { attempt: 1, outcome: null, status_code: null, finished: null, measured: null },
    ]);
    expect(job).toMatchObject({ status: 'completed', translated_text: 'A HOUSE.' });
    await delivered('curious');
    await curious.close();
  });
});

describe('a delivery that cannot be signed', () => {
  const damages = [
    ['its secret cannot be decrypted', 'set sealed = set_byte(sealed, 20, 255 - get_byte(sealed, 20))'],
    ['its account has no live secret', "set expires_at = now() - interval '1 hour'"],
  ] as const;
  it.each(damages)('waits without counting an attempt when %s', async (name, damage) => {
    const uid = name.replaceAll(' ', '-');
    const damaged = await server.createAccount();
    const ofAccount = `account_id = (select account_id from accounts where username = '${damaged.username}')`;
    const { rows } = await owner.query(`select * from webhook_secrets where ${ofAccount}`);
    await owner.query(`update webhook_secrets ${damage} where ${ofAccount}`);
    const callback = await listen((_, response) => response.writeHead(200).end());
    await order(uid, callback.url, damaged.production_key);
    const waits = await settled(uid, (one) => !one.leased && (one.due_in ?? 0) > 30);
    expect(waits).toMatchObject({ status: 'pending', attempts: 0 });
    expect(await attemptsOf(uid)).toEqual([]);
    expect((await owner.query(`select from breakers where ${ofAccount}`)).rowCount).toBe(0);
    expect(callback.connections).toBe(0);
    for (const { secret_id, sealed, expires_at } of rows) {
      const repair = 'update webhook_secrets set sealed = $2, expires_at = $3 where secret_id = $1';
      await owner.query(repair, [secret_id, sealed, expires_at]);
    }
    await owner.query(`update deliveries set due_at = now() where ${ofAccount} and status = 'pending'`);
    await delivered(uid);
    expect(await attemptsOf(uid)).toEqual([answered(1, 200)]);
    await callback.close();
  });
});

describe('a forbidden callback address', () => {
  it('gets no connection if it became forbidden after the job was created, and the delivery is retried', async () => {
    const inside = await listen((_, response) => response.writeHead(200).end(), '127.0.0.2');
    expect(await order('refused', inside.url)).toMatchObject({
      status: 400,
      error: expect.stringMatching(/^callback_url: /),
    });
    answerFirst('/changed', 500);
    await order('changed', `${receiver.url}/changed`);
    const { delivery_id } = await waiting('changed');
    const redirect = `update deliveries set url = $2, due_at = now() where delivery_id = $1`;
    await owner.query(redirect, [delivery_id, inside.url]);
    const { due_in } = await waiting('changed', 2);
    expect(due_in).toBeGreaterThan(0);
    expect(await attemptsOf('changed')).toEqual([answered(1, 500), unanswered(2, 'refused address')]);
    expect(inside.connections).toBe(0);
    await owner.query(redirect, [delivery_id, `${receiver.url}/changed`]);
    await delivered('changed');
    expect(at('/changed').map(({ headers }) => headers['webhook-id'])).toEqual([delivery_id, delivery_id]);
    await inside.close();
  });

  it('is refused at creation and never contacted; by default the loopback is forbidden', async () => {
    answerFirst('/before', 500);
    await order('before', `${receiver.url}/before`);
    await waiting('before');
    await server.restart({ DRAGOMAN_ALLOWED_NETWORKS: '' });
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      const refusal = await order('loopback', `http://${host}:8080/`);
      expect(refusal, host).toMatchObject({
        status: 400,
        error: expect.stringMatching(/^callback_url: /),
      });
    }
    await settled('before', ({ attempts, leased }) => attempts >= 2 && !leased);
    expect((await attemptsOf('before'))[1]).toEqual(unanswered(2, 'refused address'));
    expect(at('/before')).toHaveLength(1);
    await server.restart();
    await delivered('before');
    expect(at('/before')).toHaveLength(2);
  });
});

describe('a sender that stops or dies', () => {
  it('leaves pending deliveries to the next sender, which sends them with the same ids', async () => {
    const uids = ['left-1', 'left-2', 'left-3'];
    receiver.answer(() => 503);
    for (const uid of uids) await order(uid, `${receiver.url}/${uid}`);
    for (const uid of uids) await receiver.next(({ path }) => path === `/${uid}`);
    await server.server.stop();
    const before = receiver.received.length;
    receiver.answer(() => 200);
    expect((await Promise.all(uids.map(deliveryOf))).map((one) => one?.status)).toEqual(
      uids.map(() => 'pending'),
    );
    expect(receiver.received).toHaveLength(before);
    await server.restart();
    for (const uid of uids) {
      const { delivery_id } = await delivered(uid);
      const ids = at(`/${uid}`).map(({ headers }) => headers['webhook-id']);
      expect(ids.length).toBeGreaterThan(1);
      expect(new Set(ids)).toEqual(new Set([delivery_id]));
    }
  });

  it('leaves a lease when it dies during a request; the lease expires, and the next attempt has the same webhook-id', async () => {
    const requests: { id: unknown; response: ServerResponse }[] = [];
    const slow = await listen((request, response) => {
      requests.push({ id: request.headers['webhook-id'], response });
      if (requests.length === 2) response.writeHead(200).end();
    });
    await order('expired', slow.url);
    await until(() => requests.length === 1);
    await owner.query(
      `update deliveries set due_at = now() where status = 'pending' and lease_token is not null`,
    );
    await delivered('expired');
    expect(requests[1]?.id).toBe(requests[0]?.id);
    // The late answer to the first request is recorded, but it does not change the delivery.
    requests[0]?.response.writeHead(500).end();
    await until(async () => (await attemptsOf('expired')).every((one) => 'finished' in one && one.finished));
    expect(await attemptsOf('expired')).toEqual([answered(1, 500), answered(2, 200)]);
    expect(await deliveryOf('expired')).toMatchObject({ status: 'delivered', due_in: null });
    await slow.close();
  });

  it('lets the next sender send at once, with the same webhook-id, when it is stopped during a request', async () => {
    const requests: { id: unknown; response: ServerResponse }[] = [];
    const slow = await listen((request, response) => {
      requests.push({ id: request.headers['webhook-id'], response });
      if (requests.length === 2) response.writeHead(200).end();
    });
    await order('stopped', slow.url);
    await until(() => requests.length === 1);
    await server.server.stop(0);
    expect(await deliveryOf('stopped')).toMatchObject({ status: 'pending', attempts: 1, leased: false });
    expect(requests[0]?.response.writableEnded).toBe(false);
    // The lease lasts half a minute. If the stopped server had kept the lease, the test would time out before
    // the second request.
    await server.restart();
    await delivered('stopped');
    expect(await attemptsOf('stopped')).toEqual([expect.objectContaining({ attempt: 1 }), answered(2, 200)]);
    expect(requests[1]?.id).toBe(requests[0]?.id);
    await slow.close();
  });

  it('cannot change a delivery that another sender has leased in the meantime', async () => {
    const requests: ServerResponse[] = [];
    const slow = await listen((_, response) => requests.push(response));
    await order('stolen', slow.url);
    await until(() => requests.length === 1);
    await owner.query(
      `update deliveries set lease_token = $1, due_at = now() + interval '1 hour' where lease_token is not null`,
      [randomUUID()],
    );
    requests[0]?.writeHead(200).end();
    await until(async () => (await attemptsOf('stolen')).every((one) => 'finished' in one && one.finished));
    expect(await deliveryOf('stolen')).toMatchObject({ status: 'pending', leased: true });
    await slow.close();
  });
});

describe('fairness of the sender', () => {
  it("delivers one account's callback without delay while another account's receiver is dead", async () => {
    const silent: ServerResponse[] = [];
    const dead = await listen((_, response) => silent.push(response));
    const unlucky = await server.createAccount();
    receiver.answer(() => 200);
    for (let n = 0; n < 24; n++) await order(`dead-${n}`, dead.url, unlucky.production_key);
    await until(() => silent.length > 0);
    await order('lively', `${receiver.url}/lively`);
    await delivered('lively');
    expect(silent.filter((response) => response.writableEnded)).toEqual([]);
    expect((await deliveryOf('dead-0'))?.status).toBe('pending');
    await dead.close();
  });
});
