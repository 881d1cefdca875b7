import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../testing/harness.ts';
import { readGuides, renderGuide } from './guides.ts';

const render = (source: string) => renderGuide('page', source, new Set(['jobs'])).html;

describe('a rendered guide', () => {
  it.each([
    ['markup as text', 'a <b onclick="x()">b</b> <script>x()</script>', '&lt;script&gt;x()&lt;/script&gt;'],
    ['no address of a script', '[a](javascript:alert(1))', '[a](javascript:alert(1))'],
    ['no picture from elsewhere', '![a](https://example.com/a.png)', '<p>a</p>'],
    ['code as text', '```sh run\n<b>\n```', '<code>&lt;b&gt;\n</code>'],
    ['a link to a page', '[jobs](jobs.md#the-callback)', '<a href="/docs/jobs#the-callback">jobs</a>'],
    ['the words of a link to a file', '[file](../README.md) and [x](nowhere.md)', '<p>file and x</p>'],
    ['a link elsewhere', '[web](https://example.com)', '<a href="https://example.com">web</a>'],
    ['its sections by name', '## Keys and `secrets`', '<h2 id="keys-and-secrets">'],
    ['sections of the same name apart', '## A\n\n## A', '<h2 id="a-1">'],
  ])('contains %s', (_, source, html) => {
    expect(render(source)).toContain(html);
  });

  it('contains only HTML elements that come from its markdown', () => {
    expect(render('<img src=x onerror=alert(1)>\n\n<iframe></iframe>')).not.toMatch(/<(?!\/?p>)/);
  });
});

describe('the guides', () => {
  it('link only to existing pages and sections', async () => {
    const guides = await readGuides();
    const there = new Set(
      guides.flatMap(({ name, html }) => [
        `/docs/${name}`,
        ...[...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => `/docs/${name}#${id}`),
      ]),
    );
    there.add('/docs/reference');
    const broken = guides.flatMap(({ name, html }) =>
      [...html.matchAll(/href="([^"]*)"/g)]
        .map(([, href]) => (href!.startsWith('#') ? `/docs/${name}${href}` : href!))
        .filter((href) => href.startsWith('/docs') && !there.has(href))
        .map((href) => `${name}: ${href}`),
    );
    expect(broken).toEqual([]);
    const nameless = guides.filter(({ html }) => html.includes('<th></th>')).map(({ name }) => name);
    expect(nameless).toEqual([]);
    expect(guides.map(({ name }) => name)).toContain('quick-start');
  });
});

describe('/docs', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());
  const get = (path: string, headers = {}) => fetch(`${server.url}${path}`, { headers });

  it('shows the quick start as a page without scripts', async () => {
    const answer = await get('/docs');
    expect(answer.status).toBe(200);
    const policy = answer.headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('script-src');
    const html = await answer.text();
    expect(html).toContain('<title>Quick start · Dragoman</title>');
    expect(html).not.toContain('<script');
  });

  it('answers 404 with an HTML page for unknown guides', async () => {
    for (const path of ['/docs/nothing', '/docs/..%2fREADME', '/docs/jobs.md']) {
      const answer = await get(path);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(await answer.text()).toContain('No such page');
    }
  });

  it('answers 304 when the browser already has the current styles', async () => {
    const first = await get('/docs/guides.css');
    expect(first.headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(await first.text()).toContain('--accent');
    const again = await get('/docs/guides.css', { 'if-none-match': first.headers.get('etag')! });
    expect(again.status).toBe(304);
  });

  it('serves the API reference with a new nonce for each answer', async () => {
    const pages = await Promise.all(['/docs/reference', '/docs/reference/'].map((path) => get(path)));
    const nonces = await Promise.all(
      pages.map(async (answer) => {
        const html = await answer.text();
        expect({ status: answer.status, html }).toMatchObject({ status: 200 });
        const nonce = /'nonce-([^']+)'/.exec(answer.headers.get('content-security-policy')!)![1]!;
        const scripts = html.match(/<script[^>]*>/g)!;
        expect(scripts.length).toBeGreaterThan(0);
        expect(html).toContain('<link rel="icon" href="data:,">');
        for (const script of scripts) expect(script).toContain(`nonce="${nonce}"`);
        return nonce;
      }),
    );
    expect(nonces[0]).not.toBe(nonces[1]);
    const script = await get('/docs/reference/scalar.js');
    expect(script.headers.get('content-encoding')).toBe('gzip');
    const program = await script.text();
    expect(program.length).toBeGreaterThan(1_000_000);
    expect(program).toContain('ApiKey USERNAME:KEY');
    expect(program).not.toContain(btoa('ALL YOUR BASE ARE BELONG TO US'));
  });
});
