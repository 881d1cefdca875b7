/** Tests of the delivery list, replays and the event feed over the API. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountCredentials } from '../accounts/accounts.ts';
import type { AccountRef } from '../base/account.ts';
import { createLog } from '../base/log.ts';
import { VERSION } from '../base/version.ts';
import { createPool } from '../database/connections.ts';
import { openDatabase } from '../database/database.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';
import { recordEvents } from './deliveries.ts';
import { readCursor, writeCursor } from './feed.ts';
import { parseSecret, type SignatureHeaders, verify } from './signature.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const DELIVERIES = '/api/v1/deliveries';
const NOBODY = '0197a5b0-0000-7000-8000-000000000000';

let server: TestServer;
let receiver: Receiver;
let owner: pg.Pool;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ settings: { DRAGOMAN_SANDBOX_HOLD: '0' } });
  owner = createPool(server.connection);
});
afterAll(async () => {
  await owner.end();
  await server.stop();
  await receiver.close();
});

type Call = ReturnType<typeof createClient>;
const as = (account: AccountCredentials): Call => createClient(server.url, account.production_key);

const order = (call: Call, uid: string, path = `/${uid}`, prefix = '') =>
  call('POST', `${prefix}${MACHINE}`, {
    uid,
    text: 'A house.',
    source_language: 'en',
    target_language: 'es',
    ...(path === '' ? {} : { callback_url: receiver.url + path }),
  });

const list = async (call: Call, query = '') => (await call('GET', `${DELIVERIES}${query}`)).body;
const settled = (call: Call, uid: string, status: string) =>
  until(async () =>
    // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the tests are there to find out
    (await list(call)).objects.find((one: any) => one.uid === uid && one.status === status),
  );
const at = (path: string) => receiver.received.filter((one) => one.path === path);

describe('the list of deliveries', () => {
  it('shows only deliveries of the account and environment, newest first, by page and by status', async () => {
    receiver.answer(({ path }) => (path === '/list-1' ? 410 : 200));
    const account = await server.createAccount();
    const call = as(account);
    for (const n of [0, 1, 2]) {
      await order(call, `list-${n}`);
      await settled(call, `list-${n}`, n === 1 ? 'dead' : 'delivered');
    }
    const sandbox = createClient(server.url, account.sandbox_key);
    await order(sandbox, 'list-s', '/list-s', '/sandbox');
    const uids = async (query: string) =>
      (await list(call, query)).objects.map(({ uid }: { uid: string }) => uid);
    expect(await uids('')).toEqual(['list-2', 'list-1', 'list-0']);
    expect(await uids('?status=dead')).toEqual(['list-1']);
    const first = await list(call, '/?limit=2');
    expect(first.objects).toHaveLength(2);
    expect(await list(call, `?limit=2&after=${first.next}`)).toMatchObject({
      objects: [{ uid: 'list-0' }],
      next: null,
    });
    expect((await list(as(await server.createAccount()))).objects).toEqual([]);
    const trials = await until(async () => {
      const { body } = await sandbox('GET', `/sandbox${DELIVERIES}`);
      return body.objects.length > 0 && body.objects;
    });
    expect(trials).toMatchObject([{ uid: 'list-s' }]);
  });

  it('names every invalid parameter in one error', async () => {
    const call = as(await server.createAccount());
    const { status, body } = await call('GET', `${DELIVERIES}?status=lost&limit=0&after=x`);
    expect(status).toBe(400);
    expect(body.error.split('\n')).toEqual([
      'status: is not one of pending, delivered, dead.',
      'limit: must be a whole number from 1 to 1000.',
      'after: is not a cursor of this list.',
    ]);
  });
});

describe('the detail of a delivery', () => {
  it('shows each attempt with the shortened answer', async () => {
    const account = await server.createAccount();
    const call = as(account);
    const hostile = createServer((request, response) => {
      request.resume();
      response.setHeader('set-cookie', 'secret=1');
      response.setHeader('x-long', 'y'.repeat(2000));
      response
        .writeHead(410)
        .end(Buffer.concat([Buffer.from([0x61, 0, 0xff, 0x62]), Buffer.alloc(9000, 'z')]));
    });
    await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve));
    const { port } = hostile.address() as AddressInfo;
    await call('POST', MACHINE, {
      uid: 'odd',
      text: 'A house.',
      source_language: 'en',
      target_language: 'es',
      callback_url: `http://127.0.0.1:${port}/`,
    });
    const { id } = await settled(call, 'odd', 'dead');
    const { body } = await call('GET', `${DELIVERIES}/${id}`);
    expect(body).toMatchObject({ id, status: 'dead', failure: 'gone', event: 'job.completed' });
    expect(body.attempts).toHaveLength(1);
    const [attempt] = body.attempts;
    expect(attempt).toMatchObject({
      attempt: 1,
      outcome: 'answered',
      status_code: 410,
      answer_complete: true,
    });
    expect(attempt.answer.startsWith('a\ufffd\ufffdbzzz')).toBe(true);
    expect(attempt.answer.length).toBe(4096);
    expect(attempt.headers['x-long']).toHaveLength(256);
    expect(attempt.headers).not.toHaveProperty('set-cookie');
    expect(attempt.finished_at >= attempt.started_at).toBe(true);
    hostile.closeAllConnections();
    await new Promise((resolve) => hostile.close(resolve));
  });

  it('names a refused address to operators alone', async () => {
    const account = await server.createAccount();
    const call = as(account);
    const uid = 'refused-address';
    const job = { uid, text: 'A house.', source_language: 'en', target_language: 'es' };
    await call('POST', MACHINE, { ...job, callback_url: 'http://127.0.0.1:1/' });
    const { id } = await until(async () => {
      const { objects } = (await call('GET', `${DELIVERIES}/?uid=${uid}`)).body;
      return objects[0]?.attempts > 0 && objects[0];
    });
    const sentence = 'the host name resolves to an address that is not public';
    const note = ' (::1 is not in DRAGOMAN_ALLOWED_NETWORKS)';
    const written = await owner.query(
      `insert into attempts (part, account_id, delivery_id, attempt, started_at, finished_at, outcome, detail)
       select part, account_id, delivery_id, 99, now(), now(), 'refused address', $2 from deliveries
        where delivery_id = $1`,
      [id, sentence + note],
    );
    expect(written.rowCount).toBe(1);
    const customer = await createPerson(server, { role: 'customer', account });
    const operator = await createPerson(server, { role: 'operator' });
    const shown = [
      (await call('GET', `${DELIVERIES}/${id}/`)).text,
      (await customer.call('GET', `/api/account/deliveries/${id}`)).text,
      (await customer.call('GET', '/api/account/export')).text,
    ];
    expect(shown.slice(0, 2).every((text) => text.includes(sentence))).toBe(true);
    expect(shown.join('')).not.toMatch(/::1|ALLOWED_NETWORKS/);
    const console = await operator.call('GET', `/api/console/deliveries/${id}`);
    expect(console.body.attempts.at(-1).detail).toBe(sentence + note);
  });

  it('is not found when the delivery belongs to another account or environment, or does not exist', async () => {
    const account = await server.createAccount();
    const call = as(account);
    receiver.answer(() => 200);
    await order(call, 'private');
    const { id } = await settled(call, 'private', 'delivered');
    const stranger = as(await server.createAccount());
    const sandbox = createClient(`${server.url}/sandbox`, account.sandbox_key);
    const answers = [
      await stranger('GET', `${DELIVERIES}/${id}`),
      await sandbox('GET', `${DELIVERIES}/${id}`),
      await stranger('GET', `${DELIVERIES}/${NOBODY}`),
      await stranger('GET', `${DELIVERIES}/x`),
      await stranger('POST', `${DELIVERIES}/${id}/replay`),
      await stranger('POST', `${DELIVERIES}/${NOBODY}/replay`),
    ];
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set(['404 {"error":"Not found"}']),
    );
  });
});

describe('a replay', () => {
  it('sends the same bytes with the same id, and continues to count attempts', async () => {
    const call = as(await server.createAccount());
    receiver.answer(({ path }) => (path === '/again' && at('/again').length === 1 ? 410 : 200));
    await order(call, 'again');
    const { id } = await settled(call, 'again', 'dead');
    const replayed = await call('POST', `${DELIVERIES}/${id}/replay/`);
    expect(replayed.status).toBe(202);
    expect(replayed.body).toMatchObject({ id });
    await settled(call, 'again', 'delivered');
    const [first, second] = at('/again');
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    expect(second!.headers['user-agent']).toBe(`dragoman/${VERSION}`);
    expect(second!.body).toBe(first!.body);
    const { body } = await call('GET', `${DELIVERIES}/${id}`);
    expect(body.attempts.map(({ attempt }: { attempt: number }) => attempt)).toEqual([1, 2]);
    // A delivered delivery can be replayed too.
    expect((await call('POST', `${DELIVERIES}/${id}/replay/`)).status).toBe(202);
    await until(() => at('/again').length === 3);
  });

  it('keeps no later event of its chat waiting, however often it fails', async () => {
    const call = as(await server.createAccount({ chat: true }));
    let refuses = false;
    receiver.answer(({ path }) => (refuses && path === '/poisoned' ? 422 : 200));
    const post = (name: string) =>
      call('POST', '/v2/chats/messages', {
        chat_external_id: 'replayed',
        external_id: name,
        text: 'A house.',
        text_format: 'text',
        source_language: 'en',
        target_language: 'es',
        callback_url: `${receiver.url}/${name}`,
      });
    await post('poisoned');
    // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the tests are there to find out
    const ofPoisoned = (one: any) => one.url.endsWith('/poisoned') && one.status === 'delivered';
    const { id } = await until(async () => (await list(call)).objects.find(ofPoisoned));
    refuses = true;
    expect((await call('POST', `${DELIVERIES}/${id}/replay/`)).status).toBe(202);
    await until(() => at('/poisoned').length > 1);
    await post('later');
    await receiver.next(({ path }) => path === '/later');
    expect((await call('GET', `${DELIVERIES}/${id}`)).body.status).toBe('pending');
  });

  it('is refused when the delivery is pending', async () => {
    const call = as(await server.createAccount());
    receiver.answer(({ path }) => (path === '/later' ? 500 : 200));
    await order(call, 'later');
    await receiver.next(({ path }) => path === '/later');
    const { id } = await settled(call, 'later', 'pending');
    const { status, body } = await call('POST', `${DELIVERIES}/${id}/replay/`);
    expect({ status, error: body.error }).toEqual({
      status: 400,
      error: 'delivery_id: this delivery is already pending.',
    });
  });

  it('of the deliveries that died since a requested time leaves out earlier and pending deliveries', async () => {
    const account = await server.createAccount();
    const call = as(account);
    let works = false;
    receiver.answer(({ path }) => (path.startsWith('/mass') && !works ? 410 : 200));
    for (const uid of ['mass-0', 'mass-1', 'mass-2', 'fine']) await order(call, uid);
    for (const uid of ['mass-0', 'mass-1', 'mass-2']) await settled(call, uid, 'dead');
    await settled(call, 'fine', 'delivered');
    await owner.query(
      `update deliveries set finished_at = now() - interval '2 days'
        where job_id = (select job_id from jobs where uid = 'mass-0')`,
    );
    works = true;
    const since = new Date(Date.now() - 86_400_000).toISOString();
    expect((await call('POST', `${DELIVERIES}/replay`, { since })).body).toEqual({ replayed: 2 });
    for (const uid of ['mass-1', 'mass-2']) await settled(call, uid, 'delivered');
    expect((await list(call, '?status=dead')).objects).toMatchObject([{ uid: 'mass-0' }]);
    expect(at('/fine')).toHaveLength(1);
  });

  it.each([
    [{}, 'since: This field is required.'],
    [{ since: 'yesterday' }, 'since: must be a date such as 2027-01-31 or 2027-01-31T12:00:00Z.'],
    [{ since: 5 }, 'since: must be a date such as 2027-01-31 or 2027-01-31T12:00:00Z.'],
    [[], 'body: must be a JSON object.'],
  ])('of all dead deliveries is refused when the body has no valid start time: %j', async (body, error) => {
    const answer = await as(await server.createAccount())('POST', `${DELIVERIES}/replay`, body);
    expect({ status: answer.status, error: answer.body.error }).toEqual({ status: 400, error });
  });
});

describe('a test event', () => {
  it('is signed and sent like any other delivery', async () => {
    const account = await server.createAccount();
    receiver.answer(() => 200);
    const sent = await as(account)('POST', '/api/v1/test-event', { url: `${receiver.url}/hello` });
    expect(sent.status).toBe(202);
    expect(sent.body).toMatchObject({ event: 'test', url: `${receiver.url}/hello` });
    const got = await receiver.next(({ path }) => path === '/hello');
    const headers = got.headers as unknown as SignatureHeaders;
    expect(headers['webhook-id']).toBe(sent.body.id);
    expect(verify([parseSecret(account.webhook_secret_production)!], headers, got.body, new Date()).ok).toBe(
      true,
    );
    expect(JSON.parse(got.body)).toMatchObject({ type: 'test', account: account.username });
  });

  it.each([
    [{}, 'This field is required.'],
    [{ url: 5 }, 'must be a string.'],
    [{ url: 'http://10.0.0.1/' }, 'This URL must point to a public address, not a private or reserved one.'],
    [{ url: 'ftp://example.com/' }, 'This URL must begin with http:// or https://.'],
  ])('with the invalid body %j is refused', async (body, reason) => {
    const answer = await as(await server.createAccount())('POST', '/api/v1/test-event', body);
    expect({ status: answer.status, error: answer.body.error }).toEqual({
      status: 400,
      error: `url: ${reason}`,
    });
  });
});

describe('the event feed', () => {
  const feed = async (call: Call, query = '') => (await call('GET', `/api/v1/events${query}`)).body;

  it('lists every event, with or without a delivery, in an order that does not change', async () => {
    const call = as(await server.createAccount());
    receiver.answer(() => 200);
    expect(await feed(call)).toEqual({ objects: [], next: writeCursor(0), more: false });
    await order(call, 'told');
    await settled(call, 'told', 'delivered');
    await order(call, 'untold', '');
    await waitForStatus(call, `${MACHINE}untold`);
    const all = await feed(call);
    expect(all.objects).toMatchObject([
      { type: 'job.completed', job: { uid: 'told', tier: 'machine' }, delivery: { status: 'delivered' } },
      { type: 'job.completed', job: { uid: 'untold', tier: 'machine' } },
    ]);
    expect(all.objects[1]).not.toHaveProperty('delivery');
    const first = await feed(call, '?limit=1');
    expect(first).toMatchObject({ objects: [all.objects[0]], more: true });
    expect(await feed(call, `?after=${first.next}`)).toEqual({ ...all, objects: [all.objects[1]] });
    expect(await feed(call, `?after=${all.next}`)).toEqual({ ...all, objects: [] });
    expect((await feed(as(await server.createAccount()))).objects).toEqual([]);
  });

  it('refuses a cursor of another feed', async () => {
    const call = as(await server.createAccount());
    for (const after of ['x', writeCursor(7), `${writeCursor(0)}=`, NOBODY]) {
      expect((await call('GET', `/api/v1/events?after=${after}`)).status, after).toBe(400);
    }
    expect(readCursor(writeCursor(12))).toBe(12);
  });

  it('adds an event that commits late at the end, although its id is earlier', async () => {
    const credentials = await server.createAccount();
    const { rows } = await owner.query('select part, account_id from accounts where username = $1', [
      credentials.username,
    ]);
    const account = { part: rows[0].part, accountId: rows[0].account_id } as AccountRef;
    const call = as(credentials);
    const database = openDatabase(server.connection, createLog('silent'));
    const record = (transaction: Parameters<typeof recordEvents>[0]) =>
      recordEvents(transaction, [
        { account, environment: 'production', type: 'test', subject: { kind: 'none' } },
      ]);
    const written = Promise.withResolvers<string>();
    const commit = Promise.withResolvers<void>();
    const slow = database.transaction(async (transaction) => {
      const [id] = await record(transaction);
      written.resolve(id!);
      await commit.promise;
    });
    const early = await written.promise;
    const [late] = await database.transaction(record);
    expect(early < late!).toBe(true);
    const before = await feed(call);
    expect(before.objects).toMatchObject([{ id: late }]);
    commit.resolve();
    await slow;
    // A client that pages by id would request only greater ids, so it would never see the event with the
    // earlier id.
    expect((await feed(call, `?after=${before.next}`)).objects).toMatchObject([{ id: early }]);
    expect((await feed(call)).objects.map(({ id }: { id: string }) => id)).toEqual([late, early]);
    await database.close();
  });

  it('gives concurrent readers the same order without gaps', async () => {
    const credentials = await server.createAccount();
    const call = as(credentials);
    const send = async () => {
      for (let n = 0; n < 10; n++) await call('POST', '/api/v1/test-event', { url: `${receiver.url}/many` });
    };
    let writing = true;
    const read = async () => {
      const ids: string[] = [];
      for (let after = '', last = false; ; ) {
        const page = await feed(call, `?limit=3${after}`);
        ids.push(...page.objects.map(({ id }: { id: string }) => id));
        after = `&after=${page.next}`;
        if (last && page.objects.length === 0) return ids;
        last = !writing;
      }
    };
    const readers = Array.from({ length: 4 }, read);
    await Promise.all(Array.from({ length: 4 }, send));
    writing = false;
    const [first, ...others] = await Promise.all(readers);
    expect(new Set(first).size).toBe(40);
    expect(first).toHaveLength(40);
    for (const other of others) expect(other).toEqual(first);
  });
});
