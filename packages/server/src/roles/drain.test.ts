import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { createClient, startTestServer, type TestServer } from '../testing/harness.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const job = { text: 'The house.', source_language: 'en', target_language: 'es' };

let server: TestServer;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await server.stop();
});

it('a stopping server is not ready, and answers requests until the drain period ends', async () => {
  server = await startTestServer({ settings: { DRAGOMAN_DRAIN_SECONDS: '2' } });
  const { url } = server;
  const call = createClient(url, (await server.createAccount()).production_key);
  const before = await fetch(`${url}/readyz`);
  expect([before.status, before.headers.get('connection')]).toEqual([200, 'keep-alive']);
  const stopped = server.server.stop();
  const ready = await fetch(`${url}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ checks: { server: 'is stopping' } });
  const created = await call('POST', MACHINE, job);
  expect([created.status, created.headers.get('connection')]).toEqual([201, 'close']);
  await stopped;
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

it('a stopping server answers on connections that wait to be accepted', async () => {
  server = await startTestServer();
  const port = Number(new URL(server.url).port);
  const answers = Array.from({ length: 20 }, async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /healthz HTTP/1.0\r\n\r\n');
    return (await text(socket)).slice(0, 15);
  });
  await Promise.all([server.server.stop(), ...answers]);
  expect(await Promise.all(answers)).toEqual(Array(20).fill('HTTP/1.1 200 OK'));
});
