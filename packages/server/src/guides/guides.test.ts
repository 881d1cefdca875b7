import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../testing/harness.ts';
import { FILES, ROOT, readGuides, renderGuide } from './guides.ts';
import { type FoundSection, searchGuides } from './search.ts';

const render = (source: string) =>
  renderGuide(
    'page',
    source,
    new Map([
      ['docs/jobs.md', 'jobs'],
      ['deploy/nginx.conf', 'deploy/nginx.conf'],
    ]),
  ).html;

describe('a rendered guide', () => {
  it.each([
    ['markup as text', 'a <b onclick="x()">b</b> <script>x()</script>', '&lt;script&gt;x()&lt;/script&gt;'],
    ['no address of a script', '[a](javascript:alert(1))', '[a](javascript:alert(1))'],
    ['no picture from elsewhere', '![a](https://example.com/a.png)', '<p>a</p>'],
    ['code as text', '```sh run\n<b>\n```', '<code>&lt;b&gt;\n</code>'],
    ['indented code in a region that scrolls', '    a b', '<div class="code"><pre class="scroll"'],
    ['a link to a page', '[jobs](jobs.md#the-callback)', '<a href="/docs/jobs#the-callback">jobs</a>'],
    ['the words of a link to a file', '[file](../README.md) and [x](nowhere.md)', '<p>file and x</p>'],
    ['a link to a file to copy', '[x](../deploy/nginx.conf)', '<a href="/docs/deploy/nginx.conf">x</a>'],
    ['no link out of the folder', '[x](../../../deploy/nginx.conf/../nginx.key)', '<p>x</p>'],
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
    for (const path of ['reference', ...FILES]) there.add(`/docs/${path}`);
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

it('the guides, messages and files to copy call the program dragoman, and one place says how to get it', () => {
  // Outside the repository, npx runs whatever package has this name in the registry.
  const root = new URL('../../../../', import.meta.url);
  const places = ['docs', 'deploy', 'examples', 'packages', 'scripts', '.'];
  const found = places.flatMap((place) =>
    readdirSync(new URL(`${place}/`, root), { recursive: place !== '.', encoding: 'utf8' })
      .filter((file) => /\.(?:md|ts|tsx|js|cjs|py|php|rb|go|java|yaml|conf|service)$|^Dockerfile$/.test(file))
      .filter((file) => !/node_modules|(?:^|\/)dist\/|guides\.test\.ts$/.test(file))
      .map((file) => `${place}/${file}`)
      .filter((file) => readFileSync(new URL(file, root), 'utf8').includes('npx dragoman')),
  );
  expect(found).toEqual(['docs/install.md']);
  const install = readFileSync(new URL('docs/install.md', root), 'utf8');
  expect(install.match(/npx dragoman/g)).toHaveLength(1);
  expect(install).toContain('export PATH="$PWD/node_modules/.bin:$PATH"');
});

describe('the search in the guides', () => {
  const known = new Map<string, string>();
  const guides = [
    renderGuide(
      'jobs',
      '# Jobs\n\nIntro.\n\n## Retry safely\n\nSend the *same* key again.\n\n```sh\ncurl x\n```',
      known,
    ),
    renderGuide('keys', '# Keys\n\n## Rotate\n\nThe monkey keeps each key. Retry later.', known),
  ];
  const search = (query: string) =>
    searchGuides(guides, query).map(({ guide, section }) => `${guide.name}#${section.id}`);

  it.each([
    ['a word of a heading before a word of a text', 'retry', ['jobs#retry-safely', 'keys#rotate']],
    ['all words, in any order and letter case', 'AGAIN Same', ['jobs#retry-safely']],
    ['words of the guide’s title', 'jobs intro', ['jobs#', 'jobs#retry-safely']],
    ['words in code', 'curl', ['jobs#retry-safely']],
    ['the beginnings of words only', 'onkey', []],
    ['nothing without words', '  ', []],
    ['the other words if one is missing', 'nowhere rotation', ['keys#rotate']],
    [
      'sections with all words before those with one',
      'same curl later',
      ['jobs#retry-safely', 'keys#rotate'],
    ],
    ['words with punctuation around them', '"retry", (key)?', ['jobs#retry-safely', 'keys#rotate', 'keys#']],
  ])('finds %s', (_, query, sections) => {
    expect(search(query)).toEqual(sections);
  });

  it('marks the words in the excerpt and shortens long texts', () => {
    const long = renderGuide('long', `# Long\n\n${'word '.repeat(100)}needle${' word'.repeat(100)}`, known);
    const [{ excerpt }] = searchGuides([long], 'needle') as [FoundSection];
    expect(excerpt.filter(({ found }) => found)).toEqual([{ text: 'needle', found: true }]);
    const text = excerpt.map((part) => part.text).join('');
    expect(text).toMatch(/^… (?:word )+needle(?: word)+/);
    expect(text.length).toBeLessThan(260);
  });

  it('shows every word of every guide marked in a short excerpt', async () => {
    for (const guide of await readGuides()) {
      for (const section of guide.sections) {
        expect(section.lower.text.length).toBe(section.text.length);
        const alone = [
          { ...guide, sections: [{ ...section, title: '', lower: { ...section.lower, title: '' } }] },
        ];
        for (const word of new Set(section.text.split(' '))) {
          const [found] = searchGuides(alone, word);
          if (found === undefined) continue;
          expect(
            found.excerpt.some((part) => part.found) || guide.lowerTitle.includes(word.toLowerCase()),
            word,
          ).toBe(true);
          expect(
            found.excerpt.reduce((sum, { text }) => sum + text.length, 0),
            word,
          ).toBeLessThan(320);
        }
      }
    }
  });

  it('shows a text without spaces up to the limit', () => {
    const guide = renderGuide('long', `# Long\n\n${'x'.repeat(300)}/needle/${'x'.repeat(300)}`, known);
    const [{ excerpt }] = searchGuides([guide], 'needle') as [FoundSection];
    expect(excerpt.map(({ found, text }) => (found ? text : text.length))).toEqual([2, 60, 'needle', 174, 2]);
  });
});

describe('/docs', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());
  const get = (path: string, headers = {}) => fetch(`${server.url}${path}`, { headers });

  it('shows the quick start as a page whose only script is a file of the server', async () => {
    const answer = await get('/docs');
    expect(answer.status).toBe(200);
    const policy = answer.headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    const html = await answer.text();
    const [, styles] = /<style>([\s\S]*)<\/style>/.exec(html)!;
    expect(styles).toContain('--accent');
    const hash = createHash('sha256').update(styles!).digest('base64');
    expect(policy).toContain(`style-src 'sha256-${hash}';`);
    expect(html).toContain('<title>Quick start · Dragoman</title>');
    expect(html.match(/<script[^>]*>/g)).toEqual(['<script type="module" src="/docs/copy.js">']);
    const script = await get('/docs/copy.js');
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  });

  it('shows the found sections, and the query only as text', async () => {
    const found = await (await get('/docs/search?q=verify+signature')).text();
    expect(found).toContain('<mark>signature</mark>');
    for (const query of ['"><script>alert(1)</script>', '<b>', 'x'.repeat(5_000), '%00', '']) {
      const answer = await get(`/docs/search?q=${encodeURIComponent(query)}`);
      expect(answer.status).toBe(200);
      expect(await answer.text()).not.toMatch(/<b>|<script>|x{201}/);
    }
    expect((await get('/docs/search?q=a&q=b')).status).toBe(200);
    expect((await get('/docs/search')).status).toBe(200);
  });

  it('answers 404 with an HTML page for unknown guides', async () => {
    for (const path of ['/docs/nothing', '/docs/..%2fREADME', '/docs/jobs.md']) {
      const answer = await get(path);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(await answer.text()).toContain('No such page');
    }
  });

  it('serves the files to copy as they are', async () => {
    for (const path of FILES) {
      const answer = await get(`/docs/${path}`);
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(await answer.text()).toBe(readFileSync(`${ROOT}${path}`, 'utf8'));
    }
    expect(await (await get('/docs/examples')).text()).toContain(
      '<a href="/docs/examples/receivers/receiver.py"><code>receiver.py</code></a>',
    );
  });

  it('answers 304 when the browser already has the current script', async () => {
    const first = await get('/docs/copy.js');
    expect(await first.text()).toContain('clipboard');
    const again = await get('/docs/copy.js', { 'if-none-match': first.headers.get('etag')! });
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
