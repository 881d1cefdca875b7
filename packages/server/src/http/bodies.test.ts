/**
 * Checks that the server does not read request bodies that it does not need, especially before
 * authentication.
 */
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeApp } from '../roles/app.ts';
import { createBrowser, createClient, startTestServer, type TestServer } from '../testing/harness.ts';
import type { OpenApi } from './openapi.ts';

const MEBIBYTE = 1024 * 1024;
const HUMAN = '/tapi/v2/translation/';

let server: TestServer;
let key: string;
let call: ReturnType<typeof createClient>;
beforeAll(async () => {
  server = await startTestServer();
  key = (await server.createAccount({ chat: true })).production_key;
  call = createClient(server.url, key);
});
afterAll(() => server.stop());

/** Sends the headers of a request without its body. If the server waits for the body, it never answers. */
async function sendHead(method: string, path: string, headers: Record<string, string>): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const lines = Object.entries({ host: hostname, 'content-type': 'application/json', ...headers });
  socket.write(
    `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  );
  return new Promise((resolve, reject) => {
    socket.once('data', (data: Buffer) => {
      resolve(data.toString().split(' ')[1]!);
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

function operationsOf(document: OpenApi): [method: string, path: string][] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method): [string, string] => [
      method.toUpperCase(),
      path.replace(/\{\w+\}/g, 'x'),
    ]),
  );
}

/** The routes without authentication. They read bodies up to 64 KiB. */
const OPEN = ['/api/session', '/api/invitations/x', '/api/password-resets', '/api/sandbox-requests'];

describe('a request of 1 MiB without authentication', () => {
  it('is answered before its body arrives, at every operation of both APIs', async () => {
    const described = [...operationsOf(await describeApp()), ...operationsOf(await describeApp('web'))];
    expect(described.length).toBeGreaterThan(130);
    const unknown = ['/nosuch', '/api/nosuch', '/sandbox/nosuch', '/tapi/v2/nosuch/'];
    const asked = [
      ...described,
      ...unknown.flatMap((path) =>
        ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method): [string, string] => [
          method,
          path,
        ]),
      ),
    ];
    const late: string[] = [];
    for (const [method, path] of asked) {
      const status = await sendHead(method, path, { 'content-length': String(MEBIBYTE) });
      if (status === '408') late.push(`${method} ${path}`);
      if (unknown.includes(path)) expect(status, `${method} ${path}`).toBe('404');
      if (method === 'GET' || OPEN.includes(path)) continue;
      expect(await sendHead(method, path, { 'transfer-encoding': 'chunked' }), `${method} ${path}`).toMatch(
        /^(401|404)$/,
      );
    }
    expect(late).toEqual([]);
  });

  it.each(OPEN)('is refused by its content length at %s', async (path) => {
    expect(await sendHead('POST', path, { 'content-length': String(MEBIBYTE) })).toMatch(/^4(13|05)$/);
  });
});

it('a connection stays usable after a body that is too long', async () => {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const body = 'a'.repeat(MEBIBYTE);
  socket.write(
    `POST /api/session HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}` +
      'GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
  );
  const answered = (await socket.toArray()).join('');
  expect(answered.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
});

describe('the body of a request to an operation without a body', () => {
  it.each(['[[[', '{"text":', 'a'.repeat(MEBIBYTE), ''])(
    'is ignored, whatever the body contains (%#)',
    async (body) => {
      const made = await call('POST', HUMAN, {
        text: 'The house.',
        source_language: 'en',
        target_language: 'es',
      });
      expect((await call('DELETE', `${HUMAN}${made.body.uid}/`, body)).status).toBe(200);
      const { call: visit } = createBrowser(server.url);
      expect((await visit('DELETE', '/api/session', body)).status).toBe(204);
    },
  );

  it('is not read as the next request of the connection', async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    const hidden = 'GET /readyz HTTP/1.1\r\nhost: a\r\n\r\n';
    socket.write(
      `DELETE /api/session HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${hidden.length}\r\n\r\n${hidden}` +
        'GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
    );
    const answered = (await socket.toArray()).join('');
    expect(answered.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 204', 'HTTP/1.1 200']);
  });
});

describe('a JSON body', () => {
  it.each([
    ['10 MB of [', '['.repeat(10_000_000), 'body: must not be nested more than 64 levels deep.'],
    ['objects in each other', '{"a":'.repeat(65), 'body: must not be nested more than 64 levels deep.'],
    [
      'a million empty lists',
      `[${'[],'.repeat(1_000_000)}[]]`,
      'body: must not have more than 100000 values.',
    ],
    [
      'a hundred thousand names',
      `{${Array.from({ length: 100_001 }, (_, index) => `"n${index}":1`)}}`,
      'body: must not have more than 100000 values.',
    ],
    ['half of a string', '{"text":"The house', 'body: must be valid JSON in UTF-8.'],
    ['a string that ends in a backslash', '{"text":"\\', 'body: must be valid JSON in UTF-8.'],
  ])('is refused when it contains %s', async (_, body, error) => {
    for (const [path, shown] of [
      [HUMAN, error],
      ['/tapi/v2/wordcount/', error],
      ['/v2/chats/messages', { code: 'validation_error', message: error }],
    ] as const) {
      const answer = await call('POST', path, body);
      expect([answer.status, answer.body]).toEqual([400, { error: shown }]);
    }
  });

  it.each([
    ['brackets', '[[[[[[[[[[{{{{{{{{{{,,,,,,,,,,'.repeat(10_000)],
    ['quotes and backslashes', '\\"\\\\"[{,'.repeat(10_000)],
  ])('is accepted when one of its texts contains %s', async (_, text) => {
    const body = { text: `The house ${text}`, text_format: 'text', source_language: 'en' };
    expect((await call('POST', '/tapi/v2/wordcount/', body)).status).toBe(201);
  });

  it.each(['gzip', 'br', 'x-unknown'])(
    'with the content coding %s gets 415 with the accepted one',
    async (coding) => {
      const body = gzipSync(JSON.stringify({ text: 'The house.' }));
      const headers = { authorization: `ApiKey ${key}`, 'content-encoding': coding };
      const answer = await fetch(`${server.url}${HUMAN}`, { method: 'POST', headers, body });
      expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'identity']);
      expect(await answer.json()).toEqual({ error: 'body: must not be compressed.' });
    },
  );

  it('is limited to 64 KiB for operations without texts', async () => {
    const answer = await call('POST', '/chats', { external_id: 'a'.repeat(64 * 1024) });
    expect([answer.status, answer.body]).toEqual([413, { error: 'body: too large.' }]);
  });
});
