/** Tests calls of the API from web pages of other origins, through HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { originOf } from './accounts.ts';

const SHOP = 'https://shop.example.com';
const OTHER = 'https://other.example.com';
const TONES = '/tapi/v2/tone/';

let server: TestServer;
let shop: TestPerson;
let other: TestPerson;
beforeAll(async () => {
  server = await startTestServer();
  shop = await createPerson(server, { role: 'customer' });
  other = await createPerson(server, { role: 'customer' });
  const saved = await shop.call('PUT', '/api/account/origins', { origins: [`${SHOP}/`, SHOP] });
  expect(saved.body).toEqual({ origins: [SHOP] });
  await other.call('PUT', '/api/account/origins', { origins: [OTHER] });
});
afterAll(() => server.stop());

const corsOf = ({ headers }: { headers: Headers }) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));

const preflight = (origin: string, path = TONES) =>
  fetch(`${server.url}${path}`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'sec-fetch-site': 'cross-site',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });
const fromPage = (origin: string) => ({ origin, 'sec-fetch-site': 'cross-site' });

describe('a preflight request', () => {
  it('is answered without a key when any account allows the origin, in both environments', async () => {
    for (const [origin, path] of [
      [SHOP, TONES],
      [OTHER, '/tapi/v2/translation/some/'],
      [SHOP, '/sandbox/v2/chats/messages'],
    ] as const) {
      const answer = await preflight(origin, path);
      expect([answer.status, await answer.text()]).toEqual([204, '']);
      expect(answer.headers.get('vary')).toBe('origin');
      const cors = corsOf(answer);
      expect(cors).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-headers': 'authorization, content-type, idempotency-key, quoted-price',
        'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
      });
      expect(Object.keys(cors)).not.toContain('access-control-allow-credentials');
    }
  });

  it('is refused for other origins and for the routes of the web app', async () => {
    const unknown = await preflight('https://evil.example.com');
    expect([unknown.status, corsOf(unknown)]).toEqual([401, {}]);
    for (const path of ['/api/account/keys', '/api/session', '/healthz', '/openapi.json']) {
      expect([path, corsOf(await preflight(SHOP, path))]).toEqual([path, {}]);
    }
  });
});

describe('a request from a web page', () => {
  it('is answered with CORS headers if the account of the key allows the origin', async () => {
    const call = createClient(server.url, shop.account!.production_key);
    const answer = await call('GET', TONES, undefined, fromPage(SHOP));
    expect([answer.status, corsOf(answer)]).toEqual([
      200,
      {
        'access-control-allow-origin': SHOP,
        'access-control-expose-headers':
          'ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id',
      },
    ]);
  });

  it('is refused if only another account allows the origin, and nothing is created', async () => {
    const call = createClient(server.url, shop.account!.production_key);
    const job = { text: 'The house.', source_language: 'en', target_language: 'es', uid: 'from-page' };
    const refused = await call('POST', '/tapi/v2/mt_translation/', job, fromPage(OTHER));
    expect([refused.status, refused.body, corsOf(refused)]).toEqual([
      403,
      { error: 'The account does not allow requests from pages of this origin.' },
      { 'access-control-expose-headers': expect.any(String) },
    ]);
    expect((await call('GET', '/tapi/v2/mt_translation/from-page/')).status).toBe(404);
  });

  it('gets a 401 that the page can read when the key is wrong', async () => {
    const answer = await createClient(server.url, 'nobody:wrong')('GET', TONES, undefined, fromPage(SHOP));
    expect([answer.status, corsOf(answer)['access-control-allow-origin']]).toEqual([401, SHOP]);
  });

  it('is refused after the account has removed the origin', async () => {
    const person = await createPerson(server, { role: 'customer' });
    const origin = 'https://short.example.com';
    await person.call('PUT', '/api/account/origins', { origins: [origin] });
    await until(async () => (await preflight(origin)).status === 204);
    await person.call('PUT', '/api/account/origins', { origins: [] });
    await until(async () => (await preflight(origin)).status === 401);
    expect((await person.call('GET', '/api/account/origins')).body).toEqual({ origins: [] });
  });
});

it('a request is answered as usual when it has an Origin header but does not come from a browser', async () => {
  const call = createClient(server.url, shop.account!.production_key);
  const answer = await call('GET', TONES, undefined, { origin: 'https://evil.example.com' });
  expect([answer.status, corsOf(answer)]).toEqual([200, {}]);
  const own = { origin: server.url, 'sec-fetch-site': 'same-origin' };
  expect((await call('GET', TONES, undefined, own)).status).toBe(200);
});

it('origins are stored in the form that browsers send, and invalid origins are refused with the name of the field', async () => {
  expect(originOf('HTTPS://Shop.Example.com:443')).toBe(SHOP);
  expect(originOf('https://shöp.example')).toBe('https://xn--shp-tna.example');
  expect(originOf('http://localhost:3000')).toBe('http://localhost:3000');
  const wrong = [
    '*',
    'null',
    'shop.example.com',
    'http://shop.example.com',
    'https://shop.example.com/path',
    'https://shop.example.com/?q',
    'https://user@shop.example.com',
    'https://*.example.com/#',
    'javascript:alert(1)',
  ];
  for (const one of wrong) {
    const { status, body } = await shop.call('PUT', '/api/account/origins', { origins: [SHOP, one] });
    expect([one, status, body.error.reasons]).toEqual([one, 400, { origins: { code: 'origin' } }]);
  }
  const many = Array.from({ length: 21 }, (_, number) => `https://s${number}.example.com`);
  expect((await shop.call('PUT', '/api/account/origins', { origins: many })).status).toBe(400);
  expect((await shop.call('GET', '/api/account/origins')).body).toEqual({ origins: [SHOP] });
});
