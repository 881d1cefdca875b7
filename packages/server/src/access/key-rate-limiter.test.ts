/** Tests the limit of requests of each API key, alone and through HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setAccount } from '../accounts/accounts.ts';
import { ApiError } from '../base/errors.ts';
import { createClient, createPerson, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { createKeyRateLimiter } from './key-rate-limiter.ts';

const KEY = { keyId: 'a', requestsPerSecond: undefined };

describe('the rate limiter of keys', () => {
  it('allows ten seconds of requests at once, then as many as the limit allows', () => {
    let now = 0;
    const limiter = createKeyRateLimiter(2, () => now);
    const sent = Array.from({ length: 20 }, () => limiter.count(KEY));
    expect(sent[0]).toEqual({ 'ratelimit-policy': '"key";q=20;w=10', ratelimit: '"key";r=19;t=1' });
    expect(sent[19]!.ratelimit).toBe('"key";r=0;t=10');
    expect(() => limiter.count(KEY)).toThrow('It may send 2 a second, and 20 at once.');
    now = 500;
    expect(limiter.count(KEY).ratelimit).toBe('"key";r=0;t=10');
    expect(() => limiter.count(KEY)).toThrow(ApiError);
    now = 60_000;
    expect(limiter.count(KEY).ratelimit).toBe('"key";r=19;t=1');
  });

  it('does not count refused requests, so a client that retries too early does not wait longer', () => {
    let now = 0;
    const limiter = createKeyRateLimiter(1, () => now);
    for (let sent = 0; sent < 10; sent++) limiter.count(KEY);
    for (let sent = 0; sent < 100; sent++) expect(() => limiter.count(KEY)).toThrow(ApiError);
    now = 1_000;
    expect(limiter.count(KEY).ratelimit).toBe('"key";r=0;t=10');
  });

  it('has one bucket for each key, and uses the limit of the key’s account', () => {
    const limiter = createKeyRateLimiter(1, () => 0);
    for (let sent = 0; sent < 10; sent++) limiter.count(KEY);
    expect(() => limiter.count(KEY)).toThrow(ApiError);
    expect(limiter.count({ ...KEY, keyId: 'b' }).ratelimit).toBe('"key";r=9;t=1');
    expect(limiter.count({ keyId: 'c', requestsPerSecond: 5 })['ratelimit-policy']).toBe('"key";q=50;w=10');
    expect(limiter.count({ keyId: 'd', requestsPerSecond: 0 })).toEqual({});
  });

  it('deletes only empty buckets when there are many buckets', () => {
    let now = 0;
    const limiter = createKeyRateLimiter(1, () => now);
    for (let sent = 0; sent < 10; sent++) limiter.count(KEY);
    now = 2_000;
    for (let key = 0; key < 20_000; key++) limiter.count({ ...KEY, keyId: `k${key}` });
    // This key's bucket is not empty, so it is not deleted and still counts its earlier requests.
    expect(limiter.count(KEY).ratelimit).toBe('"key";r=1;t=9');
  });
});

describe('requests of one key', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ settings: { DRAGOMAN_KEY_REQUESTS: '1' } });
  });
  afterAll(() => server.stop());

  it('get 429 with Retry-After beyond the limit, while other keys are answered', async () => {
    const account = await server.createAccount({ chat: true });
    const call = createClient(server.url, account.production_key);
    const first = await call('GET', '/tapi/v2/tone/');
    expect(first.headers.get('ratelimit-policy')).toBe('"key";q=10;w=10');
    expect(first.headers.get('ratelimit')).toMatch(/^"key";r=\d;t=\d+$/);
    const refused = await until(async () => {
      const answer = await call('GET', '/tapi/v2/tone/');
      return answer.status === 429 && answer;
    });
    expect(refused.body.error).toBe(
      'This key has sent too many requests. It may send 1 a second, and 10 at once.',
    );
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit')).toMatch(/^"key";r=0;t=\d+$/);
    const chat = await until(async () => {
      const answer = await call('POST', '/chats', {});
      return answer.status === 429 && answer;
    });
    expect(chat.body).toEqual(refused.body);
    const sandbox = createClient(`${server.url}/sandbox`, account.sandbox_key);
    expect((await sandbox('GET', '/tapi/v2/tone/')).status).toBe(200);
  });

  it('get the limit that an operator sets for their account, in every running process', async () => {
    const account = await server.createAccount();
    const call = createClient(server.url, account.production_key);
    const policy = async () => (await call('GET', '/tapi/v2/tone/')).headers.get('ratelimit-policy');
    const set = (keyRequests: number | null) =>
      setAccount(server.database, 'command', account.username, { keyRequests, environment: 'production' });
    await set(50);
    await until(async () => (await policy()) === '"key";q=500;w=10');
    await set(0);
    await until(async () => (await policy()) === null);
    const operator = await createPerson(server, { role: 'operator' });
    const path = `/api/console/accounts/${account.username}`;
    const { version, key_requests } = (await operator.call('GET', path)).body;
    expect(key_requests).toBe(0);
    const changed = await operator.call('PATCH', path, { version, key_requests: 7 });
    expect(changed.body.key_requests).toBe(7);
    await until(async () => (await policy()) === '"key";q=70;w=10');
    const wrong = await operator.call('PATCH', path, { version: changed.body.version, key_requests: 1.5 });
    expect([wrong.status, Object.keys(wrong.body.error.fields)]).toEqual([400, ['key_requests']]);
    await operator.call('PATCH', path, { version: changed.body.version, key_requests: null });
    await until(async () => (await policy()) === '"key";q=10;w=10');
  });
});
