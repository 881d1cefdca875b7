/** Tests the errors that the server answers before a handler runs. They have the error format of the API. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, createPerson, startTestServer, type TestServer } from '../testing/harness.ts';

const JOBS = '/tapi/v2/translation/';
const MESSAGE = '/v2/chats/pt-br/messages/00000000-0000-7000-8000-000000000000';

let server: TestServer;
let call: ReturnType<typeof createClient>;
beforeAll(async () => {
  server = await startTestServer();
  call = createClient(server.url, (await server.createAccount({ chat: true })).production_key);
});
afterAll(() => server.stop());

describe('an unsupported method', () => {
  it.each([
    ['PATCH', MESSAGE, 'GET, HEAD'],
    ['DELETE', MESSAGE, 'GET, HEAD'],
    ['PUT', '/v2/chats/messages', 'POST'],
    ['PUT', JOBS, 'POST, GET, HEAD, PATCH'],
    ['POST', '/sandbox/tapi/v2/tone/', 'GET, HEAD'],
  ])('gets 405 before its body is read: %s of %s', async (method, path, allow) => {
    const key = path.startsWith('/sandbox/') ? (await server.createAccount()).sandbox_key : undefined;
    const send = key === undefined ? call : createClient(server.url, key);
    for (const sent of ['{"text":', '\0', undefined]) {
      const { status, headers, body } = await send(method, path, sent);
      expect([status, headers.get('allow')]).toEqual([405, allow]);
      expect(body).toEqual({ error: `This path supports ${allow}.` });
    }
  });

  it('gets 401 without authentication', async () => {
    const nobody = await createClient(server.url, 'nobody:x')('PATCH', MESSAGE, '{"text":');
    expect([nobody.status, nobody.body]).toEqual([401, { error: 'Unauthorized' }]);
  });
});

it('the server answers 431 when the URL or the headers are too long', async () => {
  const long = 'a'.repeat(20_000);
  const answers = [
    await call('GET', `${JOBS}?uid=${long}`),
    await call('POST', '/v2/chats/messages', {}, { 'x-long': long }),
    await call('GET', `/nowhere/${long}`),
  ];
  const error = 'The URL and the headers together exceed 16 KiB.';
  for (const { status, headers, body } of answers) {
    expect([status, body]).toEqual([431, { error }]);
    expect(headers.get('cache-control')).toBe('no-store');
  }
});

it('the server’s answer to a HEAD request that is too long has no body', async () => {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.write(`HEAD ${JOBS}?uid=${'a'.repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`);
  const answered = (await socket.toArray()).join('');
  expect(answered).toMatch(/^HTTP\/1\.1 431 /);
  expect(answered).toMatch(/\r\n\r\n$/);
});

it('the server answers invalid HTTP in the error format of the API', async () => {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.write('GET / HTTP/1.1\r\nhost: a\r\ncontent-length: one\r\n\r\n');
  const answered = (await socket.toArray()).join('');
  expect(answered).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(answered).toMatch(/\r\n\r\n\{"error":"The request is not valid HTTP\."\}$/);
});

describe('a NUL character', () => {
  it.each([
    ['in a user name', 'GET', '/api/console/accounts/a%00b', undefined],
    ['in a filter', 'GET', '/api/console/tasks?account=a%00b', undefined],
    ['in another filter', 'GET', '/api/console/tasks?source_language=%00', undefined],
    [
      'in the e-mail address of a sign-in',
      'POST',
      '/api/session',
      { email: 'a\0b@x.test', password: 'secret' },
    ],
    [
      'in the name of an invited user',
      'POST',
      '/api/console/people',
      { email: 'a@b.test', name: 'a\0b', role: 'editor' },
    ],
    ['in an invitation', 'GET', '/api/invitations/%00', undefined],
  ])('%s is refused without a server error', async (_, method, path, body) => {
    const operator = await createPerson(server, { role: 'operator' });
    expect([400, 401, 404]).toContain((await operator.call(method, path, body)).status);
  });

  it('in the id of a brand is refused without a server error', async () => {
    const customer = await createPerson(server, { role: 'customer' });
    expect([400, 404]).toContain((await customer.call('GET', '/api/account/brands/%00')).status);
  });
});

it('when a query parameter is repeated, the server uses its last value', async () => {
  const operator = await createPerson(server, { role: 'operator' });
  const pairs = async (query: string) => (await operator.call('GET', `/api/console/pairs?${query}`)).body;
  expect(await pairs('q=zz&q=english')).toEqual(await pairs('q=english'));
  expect((await operator.call('GET', '/api/console/effort?by=job&by=route')).status).toBe(200);
});
