/** Tests the compression of answers through HTTP. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createBrowser,
  createClient,
  createPerson,
  startTestServer,
  type TestServer,
  waitForStatus,
} from '../testing/harness.ts';

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await startTestServer();
  key = (await server.createAccount()).production_key;
  const call = createClient(server.url, key);
  const long = { text: 'The house is big. '.repeat(400), source_language: 'en', target_language: 'es' };
  expect((await call('POST', '/tapi/v2/translation/', { ...long, uid: 'long' })).status).toBe(201);
  // Waits until an editor could claim the job. From then on its status does not change, so two answers about it are
  // equal.
  await waitForStatus(call, JOB, 'translating');
});
afterAll(() => server.stop());

/** Sends a GET with these headers, without the decompression of `fetch`. */
async function ask(path: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const all = { authorization: `ApiKey ${key}`, ...headers };
  const [response] = await once(get(`${server.url}${path}`, { headers: all }), 'response');
  return response as IncomingMessage;
}

const JOB = '/tapi/v2/translation/long/';

describe('answers', () => {
  it('are compressed as the client asks, with the same content', async () => {
    const plain = await ask(JOB, {});
    expect(plain.headers).toMatchObject({ vary: 'accept-encoding' });
    expect(plain.headers['content-encoding']).toBeUndefined();
    const body = await text(plain);
    const packers = { br: brotliDecompressSync, gzip: gunzipSync };
    for (const [wanted, coding] of [
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0.5, GZIP;q=0.8', 'gzip'],
      ['gzip ; Q=0, *', 'br'],
    ] as const) {
      const packed = await ask(JOB, { 'accept-encoding': wanted });
      expect([wanted, packed.headers['content-encoding']]).toEqual([wanted, coding]);
      const bytes = await buffer(packed);
      expect(Number(packed.headers['content-length'])).toBe(bytes.length);
      expect(bytes.length).toBeLessThan(body.length / 10);
      expect(packers[coding](bytes).toString()).toBe(body);
    }
  });

  it('are not compressed for clients that ask for another coding or none', async () => {
    for (const wanted of ['identity', 'deflate', 'br;q=0, gzip;q=0', 'gzip;q=x', '']) {
      const answer = await ask(JOB, { 'accept-encoding': wanted });
      expect([wanted, answer.headers['content-encoding']]).toEqual([wanted, undefined]);
      expect(JSON.parse(await text(answer)).uid).toBe('long');
    }
  });

  it('below 1 kB are never compressed', async () => {
    const answer = await ask('/tapi/v2/tone/', { 'accept-encoding': 'br' });
    expect([answer.headers['content-encoding'], answer.headers.vary]).toEqual([undefined, undefined]);
    await text(answer);
  });

  it('keep their ETag when they are not compressed, and get a weak ETag when they are', async () => {
    const plain = await ask('/openapi.json', {});
    await text(plain);
    const packed = await ask('/openapi.json', { 'accept-encoding': 'br' });
    await buffer(packed);
    expect(packed.headers.etag).toBe(`W/${plain.headers.etag}`);
    const again = await ask('/openapi.json', {
      'accept-encoding': 'br',
      'if-none-match': packed.headers.etag!,
    });
    expect([again.statusCode, await text(again)]).toEqual([304, '']);
  });

  it('to a HEAD request have the headers of the GET request and no body', async () => {
    const response = await fetch(`${server.url}${JOB}`, {
      method: 'HEAD',
      headers: { authorization: `ApiKey ${key}`, 'accept-encoding': 'gzip' },
    });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(await response.text()).toBe('');
  });

  it('with data of a session are not compressed when a page of another site caused the request', async () => {
    const { call, email, password } = await createPerson(server, { role: 'customer' });
    const codingFrom = async (site: string) => {
      const headers = { 'sec-fetch-site': site, 'accept-encoding': 'br' };
      const answer = await call('GET', '/api/account', undefined, headers);
      expect([answer.status, answer.text.length > 1024]).toEqual([200, true]);
      return answer.headers.get('content-encoding');
    };
    expect(await codingFrom('same-origin')).toBe('br');
    expect(await codingFrom('none')).toBe('br');
    expect(await codingFrom('cross-site')).toBeNull();
    expect(await codingFrom('same-site')).toBeNull();
    // This path is the same route with an escaped letter.
    const browser = createBrowser(server.url);
    await browser.call('POST', '/api/session', { email, password });
    const headers = { cookie: browser.cookie!, 'sec-fetch-site': 'cross-site', 'accept-encoding': 'br' };
    const answer = await ask('/%61pi/account', headers);
    expect([answer.statusCode, answer.headers['content-encoding']]).toEqual([200, undefined]);
  });
});
