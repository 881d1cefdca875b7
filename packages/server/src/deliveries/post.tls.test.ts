import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { buildConnector } from 'undici';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createAddressGuard } from './addresses.ts';
import type { Connect } from './connector.ts';
import { createPoster } from './post.ts';

// The connector dials an address while TLS must hold to the name: a real handshake with a certificate for
// `sink.test` alone, made here.

/** A DER element (X.690): tag, length, content. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}
const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));

/** A self-signed certificate (RFC 5280) for one host name, and its key, as PEM. */
function selfSigned(name: string): { cert: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  const subject = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));
  const subjectAltName = sequence(oid('551d11'), der(0x04, sequence(der(0x82, Buffer.from(name)))));
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    subject,
    sequence(der(0x17, Buffer.from('200101000000Z')), der(0x18, Buffer.from('20991231235959Z'))),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(subjectAltName)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey));
  const body = sequence(content, ecdsaWithSha256, signature).toString('base64');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

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

test('a certificate for the name is accepted although an address is dialled', async () => {
  const trusting = buildConnector({ ca: cert });
  for (const host of ['sink.test', 'SINK.test', 'sink.test.']) {
    expect([host, await post(host, trusting)]).toMatchObject([host, { status: 200, body: 'fine' }]);
  }
  expect(hosts.splice(0)).toEqual([`sink.test:${port}`, `sink.test:${port}`, `sink.test.:${port}`]);
});

test('a certificate for another name or for an address is not, and nothing is sent', async () => {
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

test('a certificate nobody vouches for is refused, even where the environment would let it pass', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  expect(await post('sink.test')).toMatchObject({ kind: 'failed', reason: 'tls' });
  expect(hosts.splice(0)).toEqual([]);
  // The planted fault: undici's own default believes the environment.
  expect(await post('sink.test', buildConnector({}))).toMatchObject({ status: 200 });
  expect(hosts.splice(0)).toHaveLength(1);
});
