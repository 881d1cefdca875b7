/**
 * Hostile strings in everything that is kept, and then every place that shows them in a browser with tripwires:
 * a script that runs, a dialog, a request to anybody else (all go through a proxy that counts), a page that leaves, a
 * window or a file that nobody asked for, an element or an address that came out of a text.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { renderGuide } from '../../packages/server/src/guides/guides.ts';
import { layOut } from '../../packages/server/src/guides/layout.ts';
import { startMailbox } from '../../packages/server/src/testing/mailbox.ts';
import { countRequests, findBrowser, rested } from '../../scripts/browser.ts';
import { believeEngine, startProgram } from '../../scripts/program.ts';
import { type Filled, fill } from './fill.ts';
import { paperFaults } from './papers.ts';
import type { Vector } from './vectors.ts';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];
/** A little above what a page takes on a busy machine. */
const PATIENCE_MILLISECONDS = 60_000;

export interface Trip {
  place: string;
  /** `ran`, `dialog`, `asked`, `left`, `opened`, `took`, `element`, `address`. */
  how: string;
  what: string;
}

export interface XssHistory {
  vectors: number;
  /** Every place that was opened, and how many of the vectors were seen there. */
  places: { place: string; seen: number }[];
  trips: Trip[];
  /** What a policy kept back; told apart, since nothing should come that far. */
  violations: Trip[];
  /** What is wrong with files and mails, one sentence each. */
  papers: string[];
  mails: number;
  /** How often the wires tripped on a page with no protection at all: that they can. */
  planted: number;
  taken: Filled['taken'];
}

export interface XssOptions {
  directory: string;
  vectors: readonly Vector[];
  say(line: string): void;
}

export async function runXss({ directory, vectors, say }: XssOptions): Promise<XssHistory> {
  const mailbox = await startMailbox();
  const proxy = await startProxy();
  const executablePath = findBrowser();
  await believeEngine(directory);
  const program = await startProgram({
    directory,
    environment: {
      ...{
        DRAGOMAN_SMTP_URL: mailbox.url,
        DRAGOMAN_SANDBOX_REQUESTS: 'operator',
        DRAGOMAN_SANDBOX_HOLD: '0',
      },
      ...{ DRAGOMAN_TASK_WORDS: '100000', DRAGOMAN_EDITOR_TASKS: '20', DRAGOMAN_EDITOR_REVIEWS: '20' },
      ...{ DRAGOMAN_CALLBACK_SCHEDULE: '3600', DRAGOMAN_LOG_LEVEL: 'silent' },
    },
  });
  const browser = await chromium.launch({
    executablePath,
    args: FLAGS,
    proxy: { server: proxy.url, bypass: '127.0.0.1' },
  });
  try {
    const app = await fetch(`${program.url}/app/`);
    if (!app.ok) throw new Error(await app.text()); // it is not built
    await app.body?.cancel();
    const filled = await fill(program.url, directory, vectors);
    say(`filled: ${JSON.stringify(filled.taken)}`);
    const wires = new Wires(browser, proxy, vectors);
    for (const [role, pages] of Object.entries(pagesOf(filled))) {
      const context = await wires.window(program.url, filled.cookies[role as keyof Filled['cookies']]);
      for (const path of pages) {
        await wires.open(context, `${role} ${path}`, `${program.url}/app${path}`, (page) => use(page, path));
      }
      await context.close();
      say(`${role}: ${pages.length} pages`);
    }
    const plain = await startPages(vectors);
    await wires.guides(plain.url);
    await wires.interface(program.url, filled);
    const history = {
      ...{ vectors: vectors.length, places: wires.places, trips: wires.trips, violations: wires.violations },
      papers: await paperFaults(program.url, filled, mailbox.received),
      ...{ mails: mailbox.received.length, taken: filled.taken },
      planted: await wires.planted(plain.url),
    };
    plain.close();
    return history;
  } finally {
    await browser.close();
    await program.stop();
    await mailbox.close();
    proxy.close();
  }
}

function pagesOf({ tasks, jobs, chat, deliveries, brands, sandbox, invitation }: Filled) {
  const safe = encodeURIComponent;
  return {
    nobody: ['/sign-in', '/sandbox', `/sandbox/${sandbox}`, `/invitation/${invitation}`],
    editor: ['/queue', '/work', '/me', ...tasks.editor.map((task) => `/tasks/${task}`)],
    reviewer: ['/queue', ...tasks.reviewer.map((task) => `/tasks/${task}`)],
    customer: [
      ...[
        '',
        '/access',
        '/jobs',
        '/jobs?tier=machine',
        '/chats',
        '/deliveries',
        '/balance',
        '/brands',
        '/team',
      ].map((path) => `/account${path}`),
      ...jobs.map(({ uid }) => `/account/jobs?open=${safe(uid)}`),
      `/account/chats?open=${chat}`,
      ...deliveries.map((id) => `/account/deliveries?open=${id}`),
      `/account/brands?open=acme`,
    ],
    operator: [
      ...[
        '',
        '/accounts',
        '/accounts/acme',
        '/accounts/acme/money',
        '/accounts/acme/brands',
        '/jobs',
        '/tasks',
      ],
      ...['/deliveries', '/engines', '/pairs', '/routes', '/people', '/requests', '/audit', '/settings'],
      ...jobs.map(({ job }) => `/jobs/acme/${job}`),
      ...deliveries.map((id) => `/deliveries/${id}`),
      ...brands.map((brand) => `/accounts/acme/brands/${safe(brand)}`),
    ].map((path) => `/console${path}`),
  };
}

/** As somebody would who reads all of a page. */
async function use(page: Page, path: string): Promise<void> {
  await page.locator('[data-ready]').first().waitFor();
  if (path.startsWith('/tasks/')) return work(page);
  await rested(page);
  for (const summary of await page.locator('main details:not([open]) > summary').all()) await summary.click();
  await rested(page);
}

/** Every segment is come to, and what is known of it is seen; the preview, plain text, and what was pasted. */
async function work(page: Page): Promise<void> {
  const grid = page.getByRole('grid');
  if ((await grid.count()) === 0) return;
  for (const open of [false, true]) {
    if (open) {
      await page.keyboard.press('F4');
      await page.getByRole('region', { name: 'Preview' }).waitFor();
      // A frame is another document; it is given the time to do what it could.
      const frame = page.locator('iframe[title=Preview]');
      if ((await frame.count()) > 0)
        await frame.contentFrame().locator('body').waitFor({ state: 'attached' });
    }
    await page.evaluate(SCROLL_ALL);
  }
  const rows = Number(await grid.getAttribute('aria-rowcount'));
  for (let row = 0; row < Math.min(rows, 40); row += 1) {
    await page.keyboard.press('Alt+ArrowDown');
    await still(page);
  }
  await page.evaluate(PASTE);
  await still(page);
  await page.keyboard.press('F2');
  await still(page);
}

/** Through all rows, which are drawn as they come into sight; what was seen is kept for `SEEN`. */
const SCROLL_ALL = `(async () => {
  const grid = document.querySelector('[role=grid]');
  const frame = () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  globalThis.wasSeen ??= '';
  const scrolled = [grid, ...grid.querySelectorAll('*')].find((one) => one.scrollHeight > one.clientHeight + 50) ?? grid;
  for (let top = 0; top <= scrolled.scrollHeight; top += Math.max(200, scrolled.clientHeight)) {
    scrolled.scrollTop = top;
    await frame();
    globalThis.wasSeen += document.body.innerText;
  }
})()`;

/** Markup in the clipboard becomes words. */
const PASTE = `(() => {
  const data = new DataTransfer();
  data.setData('text/html', '<img data-x=1 src=x onerror="trip(\\'pasted\\')"><svg data-x=1 onload="trip(\\'pasted\\')">');
  data.setData('text/plain', '<img data-x=1 src=x onerror="trip(1)">');
  document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
})()`;

const still = (page: Page) =>
  page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');

/** In every document, before anything of it. */
const WIRES = `
document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  globalThis.violated?.(violatedDirective + ' ' + blockedURI));
`;

/** What a text became that must have stayed a text. */
const GROWN = `(() => {
  const found = [];
  for (const one of document.querySelectorAll('[data-x], script:not([src]):not([type="application/json"]), base, meta[http-equiv]'))
    found.push('element ' + one.outerHTML.slice(0, 120));
  for (const one of document.querySelectorAll('[href], [action], [formaction], [src]'))
    for (const name of ['href', 'action', 'formaction', 'src']) {
      const said = one.getAttribute(name);
      // An icon that is none.
      if (said === null || (said === 'data:,' && one.rel === 'icon')) continue;
      const { protocol, host } = new URL(said, location.href);
      if (!['http:', 'https:', 'mailto:'].includes(protocol) || host.endsWith('xss.invalid')) found.push('address ' + said);
    }
  return found;
})()`;

const SEEN = `(globalThis.wasSeen ?? '') + document.body.innerText + [...document.querySelectorAll('input, textarea')].map((one) => one.value).join(' ')`;

class Wires {
  readonly places: XssHistory['places'] = [];
  readonly trips: Trip[] = [];
  readonly violations: Trip[] = [];
  readonly #browser: Browser;
  readonly #proxy: Proxy;
  readonly #vectors: readonly Vector[];
  #place = '';

  constructor(browser: Browser, proxy: Proxy, vectors: readonly Vector[]) {
    this.#browser = browser;
    this.#proxy = proxy;
    this.#vectors = vectors;
    proxy.asked = (what) => this.#trip('asked', what);
  }

  #trip(how: string, what: string): void {
    this.trips.push({ place: this.#place, how, what });
  }

  async window(url: string, cookie = '', headers: Record<string, string> = {}): Promise<BrowserContext> {
    const context = await this.#browser.newContext({ extraHTTPHeaders: headers, locale: 'en-US' });
    context.setDefaultTimeout(PATIENCE_MILLISECONDS);
    countRequests(context);
    await context.exposeBinding('trip', (_, mark: string) => this.#trip('ran', mark));
    await context.exposeBinding('violated', (_, what: string) =>
      this.violations.push({ place: this.#place, how: 'policy', what }),
    );
    await context.addInitScript(WIRES);
    const [name, value] = cookie.split('=');
    if (value !== undefined) {
      const secure = name!.startsWith('__Host-');
      await context.addCookies([
        { name: name!, value, url: secure ? url.replace('http:', 'https:') : url, secure },
      ]);
    }
    return context;
  }

  /** Opens a place, does there what is to be done, and looks at what it has become. */
  async open(
    context: BrowserContext,
    place: string,
    url: string,
    act: (page: Page) => Promise<void> = still as never,
    becomes: 'text' | 'markup' = 'text',
  ): Promise<void> {
    this.#place = place;
    const page = await context.newPage();
    this.#watch(page, url);
    await page.goto(url);
    await act(page);
    if (becomes === 'text') {
      for (const found of await page.evaluate<string[]>(GROWN)) {
        const [how, ...what] = found.split(' ');
        this.#trip(how!, what.join(' '));
      }
    }
    const seen = await page.evaluate<string>(SEEN);
    const marks = new Set(seen.match(/v\d+v/g));
    this.places.push({ place, seen: this.#vectors.filter(({ mark }) => marks.has(mark)).length });
    await page.close();
  }

  #watch(page: Page, url: string): void {
    const { origin } = new URL(url);
    page.on('dialog', (dialog) => {
      // The page's own question before it is left is none of a vector's.
      if (dialog.type() !== 'beforeunload') this.#trip('dialog', dialog.message());
      void dialog.accept().catch(() => {});
    });
    page.on('popup', (opened) => this.#trip('opened', opened.url()));
    page.on('download', (download) => this.#trip('took', download.url()));
    page.on('framenavigated', (frame) => {
      const at = frame.url();
      // A frame within the preview's that could not load: its document, and the page, are where they were.
      if (at.startsWith('chrome-error:') && (frame.parentFrame()?.parentFrame() ?? null) !== null) return;
      if (!at.startsWith(`${origin}/`) && at !== 'about:blank' && at !== 'about:srcdoc')
        this.#trip('left', at);
    });
  }

  /** Guides are written by us; the renderer must not trust them. Their page has no policy here that would help it. */
  async guides(url: string): Promise<void> {
    const context = await this.window(url);
    await this.open(context, 'guide', `${url}/guide`, still as never, 'markup');
    await context.close();
  }

  /** What programs get, opened by somebody as if it were a page. */
  async interface(url: string, { authorization, jobs, chat }: Filled): Promise<void> {
    const context = await this.window(url, '', { authorization });
    const answers = [
      ...jobs.map(({ uid }) => `/tapi/v2/translation/${encodeURIComponent(uid)}/`),
      ...['/tapi/v2/mt_translation/?limit=0', `/chats/${chat}/messages?limit=1000`, '/api/v1/deliveries/'],
      ...[
        '/api/v1/events/',
        '/tapi/v2/translation/%3Cimg%20src=x%20onerror=trip(1)%3E/',
        '/docs/%3Cscript%3Etrip(1)',
      ],
    ];
    for (const path of answers) await this.open(context, `interface ${path.split('?')[0]}`, url + path);
    await context.close();
  }

  /** With nothing that protects it, a page must trip. @returns how often it did, until somebody asked elsewhere */
  async planted(url: string): Promise<number> {
    const before = this.trips.length;
    this.#place = 'planted';
    const context = await this.window(url);
    const page = await context.newPage();
    this.#watch(page, url);
    // Where it goes from there is the vectors' choice.
    await page.goto(`${url}/planted`, { waitUntil: 'commit' });
    const of = (how: string) => this.trips.slice(before).some((trip) => trip.how === how);
    while (!of('ran') || !of('asked')) await wait(20);
    await context.close();
    // What it asked for last may come after its end.
    this.#proxy.asked = () => {};
    return this.trips.splice(before).length;
  }
}

/** Two pages without a policy: a guide out of the vectors, and the vectors as they are. */
async function startPages(vectors: readonly Vector[]) {
  const texts = vectors.map(({ text }) => text);
  const guide = renderGuide('hostile', `# Guide\n\n${texts.join('\n\n')}`, new Set());
  const pages: Record<string, string> = {
    '/guide': layOut(guide, [guide]),
    // Alone each, since one that is never closed takes in the rest.
    '/planted': `<!doctype html><main data-ready></main><script>
for (const text of ${JSON.stringify(texts).replaceAll('<', '\\u003c')}) document.querySelector('main').appendChild(document.createElement('div')).innerHTML = text;
</script>`,
  };
  const server = createServer((request, response) => {
    const page = pages[request.url ?? ''];
    response
      .writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
      .end(page);
  });
  return { url: await listen(server), close: () => server.close() };
}

interface Proxy {
  url: string;
  asked(what: string): void;
  close(): void;
}

/** Where everything goes that is not for this machine; nothing gets further. */
async function startProxy(): Promise<Proxy> {
  const proxy: Proxy = { url: '', asked: () => {}, close: () => server.close() };
  const server = createServer((request, response) => {
    proxy.asked(`${request.method} ${request.url}`);
    response.writeHead(204).end();
  });
  server.on('connect', (request, socket) => {
    proxy.asked(`CONNECT ${request.url}`);
    socket.on('error', () => {}); // a browser that ends resets what it had open
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  proxy.url = await listen(server);
  return proxy;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
