/** Tests starting and stopping a server. A stopping server finishes its work or returns it to the queue. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { createLog } from '../base/log.ts';
import { createPool } from '../database/connections.ts';
import {
  createClient,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';
import { startServer } from './serve.ts';

const TOKEN = 'a token of the operator';
const MACHINE = '/tapi/v2/mt_translation/';

let server: TestServer;
let owner: pg.Pool;
let account: AccountCredentials;
let engine: FakeEngine;

beforeAll(async () => {
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      return engine;
    },
    settings: { DRAGOMAN_METRICS_TOKEN: TOKEN },
  });
  owner = createPool(server.connection);
  account = await server.createAccount();
});
afterEach(() => server.restart());
afterAll(async () => {
  await owner.end();
  await server.stop();
});

const job = (uid: string, fields: object = {}) => ({
  uid,
  text: `A house named ${uid}.`,
  source_language: 'en',
  target_language: 'es',
  ...fields,
});

const order = (uid: string, fields: object = {}) =>
  createClient(server.url, account.production_key)('POST', MACHINE, job(uid, fields));

/** Resolves when the engine is translating the job. */
const asked = (uid: string) =>
  until(() => engine.requests.some(({ segments }) => JSON.stringify(segments).includes(`named ${uid}.`)));

async function recordOf(
  uid: string,
): Promise<{ status: string; attempts: number; leased: boolean } | undefined> {
  const { rows } = await owner.query(
    'select status, attempts, lease_token is not null as leased from jobs where uid = $1',
    [uid],
  );
  return rows[0];
}

/** Sends the headers of a request that creates a job, but not its body. The connection stays open. */
async function openRequest(bodyLength: number): Promise<{ socket: Socket; answer: Promise<string> }> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  await once(socket, 'connect');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  // The listeners are added before anything is sent, because an early reset of the connection would otherwise be an
  // unhandled error.
  const answer = new Promise<string>((resolve) => {
    socket.on('error', () => {}).on('close', () => resolve(text));
  });
  socket.write(
    `POST ${MACHINE} HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${account.production_key}\r\n` +
      `Content-Length: ${bodyLength}\r\nExpect: 100-continue\r\n\r\n`,
  );
  await once(socket, 'data'); // The server has answered `100 Continue`.
  return { socket, answer };
}

/** Resolves when the server refuses new connections. */
function closedToNew(url: string): Promise<unknown> {
  return until(() =>
    fetch(`${url}/healthz`).then(
      () => false,
      () => true,
    ),
  );
}

describe('a stopping server', () => {
  it('refuses new connections, answers requests in progress and closes kept-alive connections', async () => {
    const { url } = server;
    const body = JSON.stringify(job('in-flight'));
    const { socket, answer } = await openRequest(body.length);
    const stopped = server.server.stop();
    await closedToNew(url);
    socket.write(body);
    expect(await answer).toMatch(/HTTP\/1\.1 201 Created\r\n.*"uid":"in-flight"/s);
    await stopped;
    expect(await recordOf('in-flight')).toBeDefined();
    await server.restart();
    await until(async () => (await recordOf('in-flight'))?.status === 'completed');
  });

  it('closes connections on which no byte has arrived', async () => {
    const { port, hostname } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    // The grace period is an hour, so the stop can end in time only if the server closes the connection.
    const stopped = server.server.stop(3_600_000);
    await once(socket.resume(), 'close');
    await stopped;
  });

  it('ends a request that exceeds the grace period', async () => {
    const { answer } = await openRequest(1000);
    await server.server.stop(0);
    expect(await answer).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  });

  it('answers 503 to /readyz on existing connections', async () => {
    const body = JSON.stringify(job('last-words'));
    const busy = await openRequest(body.length);
    const { url } = server;
    const stopped = server.server.stop();
    await closedToNew(url);
    // Sends the rest of the open request and, directly after it, a second request.
    busy.socket.write(`${body}GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n`);
    const answers = await busy.answer;
    await stopped;
    expect(answers).toMatch(/HTTP\/1\.1 201 /);
    expect(answers).toMatch(/HTTP\/1\.1 503 /);
    expect(answers).not.toMatch(/"ready":true/);
  });

  it('completes the jobs that it has claimed', async () => {
    engine.stall();
    await order('in-hand');
    await asked('in-hand');
    const stopped = server.server.stop();
    await closedToNew(server.url);
    expect(await recordOf('in-hand')).toMatchObject({ leased: true });
    engine.resume();
    await stopped;
    expect(await recordOf('in-hand')).toMatchObject({ status: 'completed', leased: false });
  });

  it('claims no further jobs', async () => {
    await server.restart({ DRAGOMAN_WORKER_JOBS: '1' });
    engine.stall();
    await order('claimed');
    await asked('claimed');
    await order('unclaimed');
    const stopped = server.server.stop();
    await closedToNew(server.url);
    engine.resume();
    await stopped;
    expect(await recordOf('claimed')).toMatchObject({ status: 'completed' });
    expect(await recordOf('unclaimed')).toEqual({
      status: 'machine_translate_in_progress',
      attempts: 0,
      leased: false,
    });
    await server.restart();
    await until(async () => (await recordOf('unclaimed'))?.status === 'completed');
  });

  it('returns unfinished jobs to the queue at the end of the grace period', async () => {
    engine.stall();
    await order('given-back');
    await asked('given-back');
    await server.server.stop(0);
    expect(await recordOf('given-back')).toEqual({
      status: 'machine_translate_in_progress',
      attempts: 0,
      leased: false,
    });
    await server.restart();
    await until(async () => (await recordOf('given-back'))?.status === 'completed');
  });

  it('finishes the deliveries that it has claimed', async () => {
    const receiver = await startReceiver();
    const at = `${receiver.url}/delivery`;
    await order('delivery', { callback_url: at });
    await receiver.next();
    await server.server.stop();
    const { rows } = await owner.query('select status from deliveries where url = $1', [at]);
    expect(rows).toEqual([{ status: 'delivered' }]);
    expect(receiver.received).toHaveLength(1);
    await receiver.close();
  });
});

describe('a stopped server', () => {
  it('can be garbage-collected', async () => {
    setFlagsFromString('--expose_gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const start = async () => {
      const stopped = await startTestServer();
      await stopped.stop();
      return new WeakRef(stopped.server);
    };
    const reference = await start();
    await until(() => {
      collectGarbage();
      return reference.deref() === undefined;
    });
  });
});

describe('readiness', () => {
  it('requires the database and a language pair and names the missing one, while /healthz requires neither', async () => {
    const ready = await fetch(`${server.url}/readyz`);
    expect(await ready.json()).toEqual({
      ready: true,
      checks: { server: 'ok', database: 'ok', languages: 'ok' },
    });
    const refusal = await until(async () => {
      // The worker that was just started may publish its pairs at any time, so each attempt deletes them again.
      await owner.query('delete from pairs');
      const response = await fetch(`${server.url}/readyz`);
      return response.status === 503 && response;
    });
    expect(refusal.headers.get('retry-after')).toBe('1');
    expect(await refusal.json()).toEqual({
      ready: false,
      checks: { server: 'ok', database: 'ok', languages: 'no engine offers a language pair yet' },
    });
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });
});

describe('the roles of a process', () => {
  it('are separate: api answers but runs no engine, and worker answers only health, readiness and metrics', async () => {
    await server.server.stop();
    const common = { store: server.store, settings: server.settings, log: createLog('silent') };
    const never = () => {
      throw new Error('an api needs no engine');
    };
    const api = await startServer({ ...common, role: 'api', engines: never });
    const call = createClient(api.url, account.production_key);
    const noWorker = 'workers: none has reported for 30 seconds; jobs and deliveries stay queued';
    const ready = await until(async () => {
      const answer = await fetch(`${api.url}/readyz`);
      return answer.status === 200 && answer.json();
    });
    expect(ready).toMatchObject({ ready: true, warnings: [noWorker] });
    expect((await call('POST', MACHINE, job('parted'))).status).toBe(201);
    expect(await recordOf('parted')).toEqual({
      status: 'machine_translate_in_progress',
      attempts: 0,
      leased: false,
    });
    const worker = await startServer({ ...common, role: 'worker', engines: () => [createFake()] });
    await waitForStatus(call, `${MACHINE}parted/`);
    expect(worker.url).not.toBe(api.url);
    expect((await fetch(`${worker.url}/healthz`)).status).toBe(200);
    expect(await (await fetch(`${worker.url}/readyz`)).json()).toEqual({
      ready: true,
      checks: { server: 'ok', database: 'ok', languages: 'ok' },
    });
    expect((await fetch(`${worker.url}/metrics`)).status).toBe(401);
    await until(async () => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const text = await (await fetch(`${worker.url}/metrics`, { headers })).text();
      return /^dragoman_jobs_settled_total\{environment="production",outcome="completed"\} [1-9]/m.test(text);
    });
    for (const path of ['/', '/docs', '/openapi.json', '/api/session', MACHINE, `${MACHINE}parted/`]) {
      const headers = { authorization: `ApiKey ${account.production_key}` };
      expect((await fetch(`${worker.url}${path}`, { headers })).status, path).toBe(404);
    }
    await until(async () => !('warnings' in ((await (await fetch(`${api.url}/readyz`)).json()) as object)));
    await api.stop();
    await worker.stop();
  });
});
