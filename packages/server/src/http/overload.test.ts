/**
 * Tests load shedding on a running server: surplus requests get 503 at once, and accepted requests are
 * completed.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConnection } from '../database/connections.ts';
import { type Answer, createClient, startTestServer, type TestServer, until } from '../testing/harness.ts';

const HUMAN = '/tapi/v2/translation/';
let server: TestServer;
let call: ReturnType<typeof createClient>;
/** A connection that holds a lock on the jobs table, so that every creation waits. */
let holder: pg.Client;
/** A second connection: all queries of one transaction see `pg_stat_activity` as it was at the first query. */
let observer: pg.Client;

beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_MAX_REQUESTS: '2' } });
  call = createClient(server.url, (await server.createAccount()).production_key);
  holder = createConnection(server.connection);
  observer = createConnection(server.connection);
  await Promise.all([holder.connect(), observer.connect()]);
});
afterAll(async () => {
  await Promise.all([holder.end(), observer.end()]);
  await server.stop();
});

const job = { text: 'The house.', source_language: 'en', target_language: 'es' };
const waiting = async () => {
  const { rows } = await observer.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows[0]!.count > 0;
};

it('a surplus request gets 503, and a later request is accepted after the others are answered', async () => {
  await holder.query('begin');
  await holder.query('lock table jobs in exclusive mode');
  const answers: Answer[] = [];
  const create = () => call('POST', HUMAN, job).then((answer) => answers.push(answer));
  const first = create();
  await until(waiting); // The first creation is in progress and waits for the lock.
  const others = [create(), create()];
  const refused = await until(() => answers[0]);
  expect(refused).toMatchObject({
    status: 503,
    body: { error: 'Too many requests are in progress. Try again.' },
  });
  expect(refused.headers.get('retry-after')).toBe('1');
  // Health checks are not counted as requests, because a busy process is alive.
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);

  await holder.query('rollback');
  await Promise.all([first, ...others]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 503]);
  expect((await call('POST', HUMAN, job)).status).toBe(201);
});

it.each([
  '/%74api/v2/translation/',
  '//tapi//v2/translation/',
  '/sandbox/tap%69/v2/translation/',
  'absolute',
])('a surplus request is refused before its key is read, however its path is written: %s', async (path) => {
  await holder.query('begin');
  await holder.query('lock table jobs in exclusive mode');
  const held = [1, 2, 3].map(() => call('POST', HUMAN, job));
  expect((await Promise.race(held)).status).toBe(503);
  const { hostname, port, host } = new URL(server.url);
  const target = path === 'absolute' ? `${server.url}${HUMAN}` : path;
  const socket = connect(Number(port), hostname).setEncoding('latin1');
  socket.write(`POST ${target} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2\r\n\r\n{}`);
  // With the lock of the others, a request that gets past the load shedder is refused for want of a key.
  expect((await once(socket, 'data'))[0]).toMatch(/^HTTP.1.1 503/);
  await holder.query('rollback');
  await Promise.all(held);
  socket.write(`POST ${target} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2\r\n\r\n{}`);
  expect((await once(socket, 'data'))[0]).toMatch(/^HTTP.1.1 401/);
  socket.destroy();
});

it('the load shedder answers the retry on every connection, even when more are paused than one turn of the event loop resumes', async () => {
  await holder.query('begin');
  await holder.query('lock table jobs in exclusive mode');
  const held = [1, 2, 3].map(() => call('POST', HUMAN, job));
  // The refusal of the third request shows that the other two are in progress.
  expect((await Promise.race(held)).status).toBe(503);
  const { hostname, port, host } = new URL(server.url);
  const ask = `POST ${HUMAN} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2\r\n\r\n{}`;
  const sockets = Array.from({ length: 100 }, () => connect(Number(port), hostname).setEncoding('latin1'));
  // A connection may be reset while no `once` listens. Without this listener, the reset would be an unhandled error.
  for (const socket of sockets) socket.on('error', () => {});
  const askAll = () =>
    Promise.all(
      sockets.map(async (socket) => {
        socket.write(ask);
        return ((await once(socket, 'data'))[0] as string).slice(9, 12);
      }),
    );
  const refused = sockets.map(() => '503');
  for (let n = 0; n < 3; n++) expect(await askAll()).toEqual(refused);
  for (const gone of sockets.splice(50)) gone.destroy();
  await holder.query('rollback');
  await Promise.all(held);
  const last = sockets[49]!;
  last.write(ask);
  expect((await once(last, 'data'))[0]).toMatch(/^HTTP.1.1 401/);
  for (const socket of sockets) socket.destroy();
});

it('the load shedder frees the slot of a request when its client disconnects', async () => {
  await holder.query('begin');
  await holder.query('lock table jobs in exclusive mode');
  for (let n = 0; n < 2; n++) {
    const gone = new AbortController();
    const asked = fetch(`${server.url}${HUMAN}`, {
      method: 'POST',
      headers: { authorization: `ApiKey ${(await server.createAccount()).production_key}` },
      body: JSON.stringify(job),
      signal: gone.signal,
    }).catch(() => undefined);
    await until(waiting);
    gone.abort();
    await asked;
  }
  const read = await until(async () => {
    const answer = await call('GET', '/tapi/v2/account/');
    return answer.status === 200 && answer;
  });
  expect(read.body.objects).toHaveLength(1);
  await holder.query('rollback');
});

it('the load shedder frees both slots when a client disconnects after two pipelined requests', async () => {
  const { hostname, port, host } = new URL(server.url);
  const { production_key: key } = await server.createAccount();
  // Puts the key into the cache. Otherwise the GET below could overtake the second pipelined request, which would wait
  // for the database.
  expect((await createClient(server.url, key)('GET', '/tapi/v2/account/')).status).toBe(200);
  const body = JSON.stringify(job);
  const head = [`POST ${HUMAN} HTTP/1.1`, `Host: ${host}`, `Authorization: ApiKey ${key}`];
  const request = [...head, `Content-Length: ${body.length}`, 'Content-Type: application/json', '', body];
  for (let n = 0; n < 2; n++) {
    await holder.query('begin');
    await holder.query('lock table jobs in exclusive mode');
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(request.join('\r\n').repeat(2));
    await until(waiting);
    // A 503 shows that both pipelined requests are in progress.
    await until(async () => (await call('GET', '/tapi/v2/account/')).status === 503);
    socket.destroy();
    await once(socket, 'close');
    await holder.query('rollback');
  }
  await until(async () => (await call('GET', '/tapi/v2/account/')).status === 200);
  const all = await Promise.all([call('GET', '/tapi/v2/account/'), call('GET', '/tapi/v2/account/')]);
  expect(all.map(({ status }) => status)).toEqual([200, 200]);
});
