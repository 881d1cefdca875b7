/** Tests how the server serves the web app: its page, its content security policy and its files. */
import { readdirSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../testing/harness.ts';
import { webRoutes } from './web.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${server.url}${path}`, { redirect: 'manual', ...init });
const assets = readdirSync(new URL('../../../web/dist/assets', import.meta.url));
const script = assets.find((name) => /^index-.*\.js$/.test(name))!;

describe('the web app’s page', () => {
  it('is served at every path below /app, and / redirects to it', async () => {
    for (const path of ['/app', '/app/', '/app/queue', '/app/account/jobs?status=new', '/app/a/b/c']) {
      const response = await ask(path);
      expect({ path, status: response.status }).toEqual({ path, status: 200 });
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(await response.text()).toContain(`/app/assets/${script}`);
    }
    const root = await ask('/');
    expect([root.status, root.headers.get('location')]).toEqual([302, '/app/']);
  });

  it('has a content security policy that allows only its own files, with a new nonce for each answer', async () => {
    const nonces = new Set<string>();
    for (let time = 0; time < 2; time++) {
      const response = await ask('/app/');
      const policy = response.headers.get('content-security-policy')!;
      const nonce = /'nonce-([^']+)'/.exec(policy)![1]!;
      nonces.add(nonce);
      expect(policy.replace(nonce, 'N').split('; ')).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'nonce-N'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "frame-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "require-trusted-types-for 'script'",
        'trusted-types default dragoman-preview',
      ]);
      const html = await response.text();
      expect(html).toContain(`nonce="${nonce}"`);
      expect(html).not.toContain('{{nonce}}');
      expect(html).not.toMatch(/<script[^>]*>[^<]|<style|style=|https?:\/\//);
    }
    expect(nonces.size).toBe(2);
  });

  it('is not cached and is isolated from other origins', async () => {
    const { headers } = await ask('/app/');
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-cache, private',
      'cross-origin-opener-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-dns-prefetch-control': 'off',
      'referrer-policy': 'no-referrer',
    });
    expect(headers.has('strict-transport-security')).toBe(false);
  });

  it('starts with the theme and language that the cookie names, and ignores an invalid cookie', async () => {
    const rootOf = async (cookie: string) =>
      /<html[^>]*>/.exec(await (await ask('/app/', { headers: { cookie } })).text())![0];
    expect(await rootOf('dragoman_look=dark.ar')).toBe(
      '<html lang="ar" dir="rtl" data-mantine-color-scheme="dark">',
    );
    expect(await rootOf('x=1; dragoman_look=system.de; y=2')).toBe('<html lang="de" dir="ltr">');
    for (const planted of [
      'dragoman_look=dark.<script>',
      'dragoman_look="><script>.en',
      'dragoman_look=dark.en"x',
    ]) {
      expect(await rootOf(planted)).toBe('<html lang="en" dir="ltr">');
    }
  });

  it('accepts only GET and HEAD requests', async () => {
    const response = await ask('/app/queue', { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect((await ask('/app/', { method: 'HEAD' })).status).toBe(200);
  });
});

it('the web app’s page answers 503 with a sentence when the web app is not built', async () => {
  const app = fastify();
  webRoutes(app, { settings: { publicUrl: undefined }, dist: join(tmpdir(), 'no-such-folder/') });
  const answer = await app.inject('/app/');
  expect([answer.statusCode, answer.body]).toEqual([
    503,
    'The web app is not built: run `npm run build`, and load this page again.\n',
  ]);
  await app.close();
});

describe('a file of the web app', () => {
  it('is cached for a year, and compressed for clients that accept it', async () => {
    const sent = async (encoding: string) => {
      const [response] = await new Promise<[import('node:http').IncomingMessage]>((resolve) => {
        get(`${server.url}/app/assets/${script}`, { headers: { 'accept-encoding': encoding } }, (answer) =>
          resolve([answer]),
        );
      });
      const { 'content-encoding': as, 'content-type': type, 'cache-control': kept } = response.headers;
      await text(response);
      return { as, type, kept };
    };
    const rest = {
      type: 'application/javascript; charset=utf-8',
      kept: 'public, max-age=31536000, immutable',
    };
    expect(await sent('br, gzip')).toEqual({ as: 'br', ...rest });
    expect(await sent('gzip')).toEqual({ as: 'gzip', ...rest });
    expect(await sent('identity')).toEqual({ as: undefined, ...rest });
  });

  it('is answered with 404 when it is not part of the build', async () => {
    const planted = [
      'none.js',
      '..%2findex.html',
      '%2e%2e%2f%2e%2e%2fpackage.json',
      'x.ts',
      `${script}.br`,
      '.js%00',
    ];
    for (const name of planted) {
      const response = await ask(`/app/assets/${name}`);
      expect({ name, status: response.status }).toEqual({ name, status: 404 });
      expect(await response.text()).not.toContain('dragoman');
    }
  });
});

it('the header strict-transport-security is sent only when the public address has https', async () => {
  const secure = await startTestServer({
    settings: { DRAGOMAN_PUBLIC_URL: 'https://translate.example.com' },
  });
  try {
    const response = await fetch(`${secure.url}/app/`);
    expect(response.headers.get('strict-transport-security')).toBe('max-age=31536000');
  } finally {
    await secure.stop();
  }
});
