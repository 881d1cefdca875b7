/**
 * Tests the session authentication of the web app: the rights of each role, and the protection against
 * requests from other sites.
 */
import fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../base/log.ts';
import { acceptJson, answerErrors, resource } from '../http/http.ts';
import {
  createBrowser,
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
} from '../testing/harness.ts';
import {
  accountOf,
  cookieOf,
  protectWebRoutes,
  requireOwner,
  requirePerson,
  requireSameOrigin,
} from './session-auth.ts';

let server: TestServer;
let person: TestPerson;
let cookie: string;
beforeAll(async () => {
  server = await startTestServer();
  person = await createPerson(server, { role: 'editor' });
  const browser = createBrowser(server.url);
  await browser.call('POST', '/api/session', { email: person.email, password: person.password });
  cookie = browser.cookie!;
});
afterAll(() => server.stop());

describe('cross-site protection', () => {
  const HOSTS = () => new URL(server.url).host;
  const ORIGINS: [string, () => Record<string, string>, boolean][] = [
    ['our page', () => ({ 'sec-fetch-site': 'same-origin' }), true],
    ['the address bar', () => ({ 'sec-fetch-site': 'none' }), true],
    ['another site', () => ({ 'sec-fetch-site': 'cross-site' }), false],
    ['another host of the same site', () => ({ 'sec-fetch-site': 'same-site' }), false],
    [
      'another site that claims our origin',
      () => ({ 'sec-fetch-site': 'cross-site', origin: server.url }),
      false,
    ],
    ['our page in an older browser', () => ({ origin: `http://${HOSTS()}` }), true],
    ['another site in an older browser', () => ({ origin: 'https://elsewhere.test' }), false],
    ['another port in an older browser', () => ({ origin: 'http://127.0.0.1:1' }), false],
    ['a frame without an origin', () => ({ origin: 'null' }), false],
    ['a program', () => ({}), true],
  ];
  const TYPES: [string | undefined, boolean][] = [
    ['application/json', true],
    ['application/json; charset=utf-8', true],
    ['text/plain', false],
    ['text/plain; application/json', false],
    ['application/x-www-form-urlencoded', false],
    ['multipart/form-data; boundary=x', false],
    ['application/jsonp', false],
    ['', false],
  ];

  it('refuses requests that change data when they come from other sites or have a body other than JSON', async () => {
    for (const [name, headers, ours] of ORIGINS) {
      for (const [type, isJson] of TYPES) {
        const answer = await fetch(`${server.url}/api/me`, {
          method: 'PATCH',
          headers: { cookie, ...headers(), 'content-type': type! },
          body: '{"theme":"dark"}',
        });
        const body = (await answer.json()) as { error?: { code: string } };
        const expected = !ours ? [403, 'cross_site'] : isJson ? [200, undefined] : [415, 'unsupported_type'];
        expect([answer.status, body.error?.code], `${name}, ${type}`).toEqual(expected);
      }
    }
  });

  it('allows GET and HEAD requests that come from a link on another site', async () => {
    const headers = { cookie, 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.test' };
    for (const method of ['GET', 'HEAD']) {
      expect((await fetch(`${server.url}/api/session`, { method, headers })).status, method).toBe(200);
    }
  });

  it('refuses a body without a content type', async () => {
    const bytes = new TextEncoder().encode('{"theme":"dark"}');
    const ask = (body: RequestInit['body'], more = {}) =>
      fetch(`${server.url}/api/me`, { method: 'PATCH', headers: { cookie }, body, ...more } as RequestInit);
    // The body is sent in three ways: with a content length, in chunks, and as a single byte.
    for (const answer of [
      await ask(bytes),
      await ask(new Blob([bytes]).stream(), { duplex: 'half' }),
      await ask(new TextEncoder().encode('1')),
    ]) {
      expect([answer.status, (await answer.json()) as unknown]).toEqual([
        415,
        { error: { code: 'unsupported_type', message: 'The body must be application/json.' } },
      ]);
    }
  });

  it('refuses signing out and signing in from another site', async () => {
    const headers = { cookie, 'sec-fetch-site': 'cross-site' };
    const out = await fetch(`${server.url}/api/session`, { method: 'DELETE', headers });
    expect(out.status).toBe(403);
    const { email, password } = person;
    const form = await fetch(`${server.url}/api/session`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ email, password }),
    });
    expect(form.status).toBe(415);
    const { call } = createBrowser(server.url);
    expect((await call('GET', '/api/session', undefined, { cookie })).status).toBe(200);
  });

  it('ignores a session cookie on the API for programs', async () => {
    const answer = await fetch(`${server.url}/api/v1/deliveries/`, { headers: { cookie } });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toEqual({ error: 'Unauthorized' });
  });
});

it('account routes refuse users without an account, and owner routes refuse customers who are not owners', () => {
  const request = (account?: object) => ({ person: { account } }) as Parameters<typeof accountOf>[0];
  expect(() => accountOf(request())).toThrow(expect.objectContaining({ code: 'not_found' }));
  expect(() => requireOwner(request())).toThrow(expect.objectContaining({ code: 'not_found' }));
  expect(() => requireOwner(request({ owner: false }))).toThrow(
    expect.objectContaining({ code: 'owner_only' }),
  );
  expect(requireOwner(request({ owner: true }))).toEqual({ owner: true });
});

it('the web app’s routes ignore API keys', async () => {
  const { production_key } = await server.createAccount();
  const headers = { authorization: `ApiKey ${production_key}` };
  const answer = await fetch(`${server.url}/api/sessions`, { headers });
  expect(answer.status).toBe(401);
  const unknown = await createClient(server.url, production_key)('GET', '/api/v1/nothing');
  expect(unknown.body).toEqual({ error: 'Not found' });
});

it('the web app’s routes answer errors in the web app’s format', async () => {
  const { call } = person;
  expect((await call('GET', '/api/nothing')).body.error.code).toBe('not_found');
  const put = await call('PUT', '/api/me', {});
  expect([put.status, put.body.error.code]).toEqual([405, 'method_not_allowed']);
  expect((await call('PATCH', '/api/me', '{')).body.error.code).toBe('invalid_request');
  const long = await createBrowser(server.url).call('POST', '/api/session', { email: 'x'.repeat(20_000) });
  expect([long.status, long.body.error.code]).toEqual([413, 'too_large']);
});

it('routes for one role answer 404 to users of other roles', async () => {
  const app = fastify();
  acceptJson(app);
  answerErrors(app, createLog('silent'));
  const options = { database: server.database, settings: server.settings, log: createLog('silent') };
  const ROUTES = {
    '/api/account/x': ['customer'],
    '/api/editing/x': ['editor', 'operator'],
    '/api/console/x': ['operator'],
  } as const;
  await app.register(async (web) => {
    protectWebRoutes(web, options);
    for (const [path, roles] of Object.entries(ROUTES)) {
      await web.register(async (scope) => {
        requirePerson(scope, options, ...roles);
        const handler = async (request: Parameters<typeof accountOf>[0]) => ({
          id: request.person.userId,
          ...(roles[0] === 'customer' ? { account: accountOf(request).username } : {}),
        });
        resource(scope, path, { GET: handler });
      });
    }
  });
  for (const role of ['customer', 'editor', 'operator'] as const) {
    const someone = await createPerson(server, { role });
    const browser = createBrowser(server.url);
    await browser.call('POST', '/api/session', { email: someone.email, password: someone.password });
    for (const [url, roles] of Object.entries(ROUTES)) {
      const answer = await app.inject({ url, headers: { cookie: browser.cookie! } });
      const may = (roles as readonly string[]).includes(role);
      const account = role === 'customer' ? { account: someone.account!.username } : {};
      const expected = may
        ? { id: someone.userId, ...account }
        : { error: { code: 'not_found', message: 'Not found' } };
      expect(answer.json(), `${role} at ${url}`).toEqual(expected);
      expect((await app.inject({ url })).statusCode).toBe(401);
    }
  }
  await app.close();
});

describe('the host and origin of a request', () => {
  const SAME = { 'sec-fetch-site': 'same-origin' };
  const CROSS = { 'sec-fetch-site': 'cross-site' };
  it.each<[string | undefined, Record<string, string>, boolean]>([
    [undefined, {}, true],
    [undefined, SAME, true],
    [undefined, { 'sec-fetch-site': 'none' }, true],
    [undefined, CROSS, false],
    [undefined, { origin: 'http://inside.test:8080' }, true],
    [undefined, { origin: 'https://dragoman.example' }, false],
    [undefined, { origin: 'null' }, false],
    ['https://dragoman.example', SAME, true],
    ['https://dragoman.example', CROSS, false],
    // The proxy forwards requests with another host name.
    ['https://dragoman.example', { origin: 'https://dragoman.example' }, true],
    ['https://dragoman.example', { origin: 'http://inside.test:8080' }, true],
    ['https://dragoman.example', { origin: 'https://dragoman.example.test' }, false],
  ])(
    'decide whether changes and subscriptions are allowed (public address %s, headers %j): %s',
    async (publicUrl, more, may) => {
      const app = fastify();
      acceptJson(app);
      answerErrors(app, createLog('silent'));
      const settings = { ...server.settings, publicUrl };
      await app.register(async (web) => {
        protectWebRoutes(web, { settings, log: createLog('silent') });
        resource(web, '/api/changed', { POST: async () => ({}) });
        await web.register(async (scope) => {
          requireSameOrigin(scope, settings);
          resource(scope, '/api/watched', { GET: async () => ({}) });
        });
      });
      const headers = { host: 'inside.test:8080', ...more };
      const answers = [
        await app.inject({ url: '/api/changed', method: 'POST', headers }),
        await app.inject({ url: '/api/watched', headers }),
      ];
      const messages = [
        'Pages of other sites may not make changes.',
        'Pages of other sites may not subscribe.',
      ];
      for (const [index, answer] of answers.entries()) {
        if (may) expect(answer.statusCode).toBe(200);
        else expect(answer.json()).toEqual({ error: { code: 'cross_site', message: messages[index] } });
      }
      await app.close();
    },
  );
});

it.each([
  [{ publicUrl: 'https://dragoman.example' }, '__Host-dragoman'],
  [{ publicUrl: undefined }, '__Host-dragoman'],
  [{ publicUrl: 'http://localhost:8080' }, '__Host-dragoman'],
  [{ publicUrl: 'http://app.localhost:8080' }, '__Host-dragoman'],
  [{ publicUrl: 'http://localhost.dragoman.example' }, 'dragoman'],
  [{ publicUrl: 'http://notlocalhost' }, 'dragoman'],
  [{ publicUrl: undefined, host: '::1' }, '__Host-dragoman'],
  [{ publicUrl: undefined, host: '0.0.0.0' }, 'dragoman'],
  [{ publicUrl: 'http://dragoman.example' }, 'dragoman'],
  [{ publicUrl: 'http://192.168.1.5' }, 'dragoman'],
])('an installation at the address %j names the session cookie %s', (settings, name) => {
  const cookie = cookieOf({ host: '127.0.0.1', port: 8080, ...settings });
  expect(cookie).toEqual({ name, secure: name !== 'dragoman' });
});
