import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { buildConnector } from 'undici';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { selfSigned } from '../testing/certificate.ts';
import { createAddressGuard } from './addresses.ts';
import type { Connect } from './connector.ts';
import { createPoster } from './post.ts';

// The connector connects to an address while TLS must verify the name. These tests make a real handshake with
// a certificate for `sink.test` only.

const { cert, key } = selfSigned('sink.test');
const hosts: (string | undefined)[] = [];
let server: Server;
let port: number;
beforeAll(async () => {
  server = createServer({ cert, key }, (request, response) => {
    hosts.push(request.headers.host);
    response.end('fine');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  port = (server.address() as { port: number }).port;
});
afterEach(() => {
  vi.unstubAllEnvs();
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function post(host: string, connect?: Connect) {
  const poster = createPoster({
    guard: createAddressGuard({ allowedNetworks: ['127.0.0.0/8'] }),
    resolver: async () => [{ address: '127.0.0.1' }],
    ...(connect ? { connect } : {}),
  });
  const outcome = await poster.post(`https://${host}:${port}/`, {}, 'body');
  await poster.close();
  return outcome;
}

test('a TLS delivery accepts a certificate for the name while it connects to an address', async () => {
  const trusting = buildConnector({ ca: cert });
  for (const host of ['sink.test', 'SINK.test', 'sink.test.']) {
    expect([host, await post(host, trusting)]).toMatchObject([host, { status: 200, body: 'fine' }]);
  }
  expect(hosts.splice(0)).toEqual([`sink.test:${port}`, `sink.test:${port}`, `sink.test.:${port}`]);
});

test('a TLS delivery refuses a certificate for another name or for an address, and sends nothing', async () => {
  const trusting = buildConnector({ ca: cert });
  for (const host of ['other.test', 'sink.test.example', '127.0.0.1']) {
    const detail = 'the TLS connection failed (ERR_TLS_CERT_ALTNAME_INVALID)';
    expect([host, await post(host, trusting)]).toMatchObject([
      host,
      { kind: 'failed', reason: 'tls', detail },
    ]);
  }
  expect(hosts).toEqual([]);
});

test('a TLS delivery refuses an untrusted certificate even if the environment disables the check', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  expect(await post('sink.test')).toMatchObject({ kind: 'failed', reason: 'tls' });
  expect(hosts.splice(0)).toEqual([]);
  // Counter-test: undici's default connector follows the environment and accepts the certificate.
  expect(await post('sink.test', buildConnector({}))).toMatchObject({ status: 200 });
  expect(hosts.splice(0)).toHaveLength(1);
});
