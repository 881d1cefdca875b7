/**
 * The XSS scenario: hostile strings are stored everywhere. Then every page that shows them is opened in a browser
 * with tripwires. Tripwires report a script that runs, a dialog, a page that navigates away, and a window or download
 * that nobody requested. They also report an element or a URL that came out of a text. A proxy reports requests to
 * other hosts, and a listener on this machine reports direct connections.
 */
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createListener, type Server as TcpServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { renderGuide } from '../../packages/server/src/guides/guides.ts';
import { layOut } from '../../packages/server/src/guides/layout.ts';
import { startMailbox } from '../../packages/server/src/testing/mailbox.ts';
import { countRequests, findBrowser, rested } from '../../scripts/browser.ts';
import type { RunOptions } from '../harness/run.ts';
import { startService } from '../harness/service.ts';
import { exportFaults } from './exports.ts';
import { type Filled, fill } from './fill.ts';
import { listeningAt, type Vector } from './vectors.ts';

const FLAGS =
  `--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync
--no-first-run`.split(/\s/);
/** The maximum time to wait for a page, which is longer than a page takes on a busy machine. */
const PATIENCE_MILLISECONDS = 60_000;

export interface Trip {
  place: string;
  /**
   * What the tripwire noticed: a script of the string `ran`, a `dialog` or a popup opened (`opened`), the browser
   * `requested` another host or `connected` to the listener, the page or a frame `left` the app, something was
   * `downloaded`, an `element` came out of a text or could open connections, a link or source has a forbidden
   * `address`, or the browser reported a violation of the content security `policy`.
   */
  how: string;
  what: string;
}

export interface XssHistory {
  vectors: number;
  /** Every page or file that was opened, and the number of hostile strings that it showed. */
  places: { place: string; seen: number }[];
  trips: Trip[];
  /** Violations of the content security policy. There should be none, because escaping must stop the text first. */
  violations: Trip[];
  /** Faults of exported files and mails, one sentence for each. */
  faults: string[];
  mails: number;
  /**
   * The number of reports of the tripwires for a page without protection, which shows that the tripwires
   * work.
   */
  planted: number;
  taken: Filled['taken'];
}

export interface XssOptions extends RunOptions {
  vectors: readonly Vector[];
}

export async function runXss({ directory, vectors: given, say }: XssOptions): Promise<XssHistory> {
  const mailbox = await startMailbox();
  const proxy = await startProxy();
  const listener = await startListener();
  const vectors = listeningAt(given, listener.url);
  const executablePath = findBrowser();
  const service = await startService(directory, {
    DRAGOMAN_SMTP_URL: mailbox.url,
    DRAGOMAN_SANDBOX_REQUESTS: 'operator',
    DRAGOMAN_SANDBOX_HOLD: '0',
    DRAGOMAN_TASK_WORDS: '100000',
    DRAGOMAN_EDITOR_TASKS: '20',
    DRAGOMAN_EDITOR_REVIEWS: '20',
    DRAGOMAN_CALLBACK_SCHEDULE: '3600',
    DRAGOMAN_LOG_LEVEL: 'silent',
  });
  const browser = await chromium.launch({
    executablePath,
    args: FLAGS,
    proxy: { server: proxy.url, bypass: '127.0.0.1' },
  });
  try {
    const app = await fetch(`${service.url}/app/`);
    // The response is an error if the web app has not been built.
    if (!app.ok) throw new Error(await app.text());
    await app.body?.cancel();
    const filled = await fill(service.url, directory, vectors);
    say(`filled: ${JSON.stringify(filled.taken)}`);
    const tripwires = new Tripwires(browser, proxy, listener, vectors);
    for (const [role, pages] of Object.entries(pagesOf(filled))) {
      const context = await tripwires.window(service.url, filled.cookies[role as keyof Filled['cookies']]);
      for (const path of pages) {
        await tripwires.open(context, `${role} ${path}`, `${service.url}/app${path}`, (page) =>
          use(page, path),
        );
      }
      await context.close();
      say(`${role}: ${pages.length} pages`);
    }
    const plain = await startPages(vectors);
    await tripwires.openGuide(plain.url);
    await tripwires.openAnswers(service.url, filled);
    const history = {
      vectors: vectors.length,
      places: tripwires.places,
      trips: tripwires.trips,
      violations: tripwires.violations,
      faults: await exportFaults(service.url, filled, mailbox.received),
      mails: mailbox.received.length,
      taken: filled.taken,
      planted: await tripwires.openPlanted(plain.url),
    };
    plain.close();
    return history;
  } finally {
    await browser.close();
    await service.stop();
    await mailbox.close();
    proxy.close();
    listener.close();
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
      '',
      '/accounts',
      '/accounts/acme',
      '/accounts/acme/money',
      '/accounts/acme/brands',
      '/jobs',
      '/tasks',
      '/deliveries',
      '/engines',
      '/pairs',
      '/routes',
      '/people',
      '/requests',
      '/audit',
      '/settings',
      ...jobs.map(({ job }) => `/jobs/acme/${job}`),
      ...deliveries.map((id) => `/deliveries/${id}`),
      ...brands.map((brand) => `/accounts/acme/brands/${safe(brand)}`),
    ].map((path) => `/console${path}`),
  };
}

/** Opens and reads everything on a page, as a user would. */
async function use(page: Page, path: string): Promise<void> {
  await page.locator('[data-ready]').first().waitFor();
  if (path.startsWith('/tasks/')) {
    await work(page);
    return workInOtherView(page);
  }
  await rested(page);
  for (const summary of await page.locator('main details:not([open]) > summary').all()) await summary.click();
  await rested(page);
}

/** Visits every segment of the workbench with its details, the preview, plain text, and pasted markup. */
async function work(page: Page): Promise<void> {
  const grid = page.getByRole('grid');
  if ((await grid.count()) === 0) return;
  for (const open of [false, true]) {
    if (open) {
      await page.keyboard.press('F4');
      await page.getByRole('region', { name: 'Preview' }).waitFor();
      // The frame is a separate document, which needs time to load.
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

/** Visits segments in the other view of the workbench, if the format of the task has one. */
async function workInOtherView(page: Page): Promise<void> {
  const other = page.locator('header fieldset button[aria-pressed=false]');
  if ((await other.count()) === 0) return;
  await other.click();
  await still(page);
  const frame = page.locator('iframe[title=Document]');
  if ((await frame.count()) > 0)
    await frame.contentFrame().locator('[data-x], p').first().waitFor({ state: 'attached' });
  for (let step = 0; step < 40; step += 1) {
    await page.keyboard.press('Alt+ArrowDown');
    await still(page);
  }
}

/** Scrolls through all rows and stores their text for `SEEN`. Rows are drawn only when they become visible. */
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

/** Pastes markup, which must become text. */
const PASTE = `(() => {
  const data = new DataTransfer();
  data.setData('text/html', '<img data-x=1 src=x onerror="trip(\\'pasted\\')"><svg data-x=1 onload="trip(\\'pasted\\')">');
  data.setData('text/plain', '<img data-x=1 src=x onerror="trip(1)">');
  document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
})()`;

const still = (page: Page) =>
  page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');

/**
 * Runs in every document before its own scripts and reports violations of the content security policy. One kind is
 * not reported. The workbench parses a preview in a document without a window, where no script runs. The browser
 * nevertheless reports the inline handlers and styles of the preview at the page's document.
 */
const WATCH_VIOLATIONS = `
document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, target }) => {
  const parsed = target === document && blockedURI === 'inline' && location.pathname.startsWith('/app/tasks/');
  if (!parsed) globalThis.violated?.(violatedDirective + ' ' + blockedURI);
});
`;

/**
 * Returns the elements of a preview that could open connections, although the policy forbids connections. The
 * elements themselves are searched, because some browsers, such as the headless shell, never preconnect.
 */
async function connecting(page: Page): Promise<string[]> {
  const found: string[] = [];
  // The app itself puts a policy and a referrer rule into the head of the empty frame. `CONNECTING` leaves these out.
  for (const title of ['Preview', 'Document']) {
    const frame = page.locator(`iframe[title=${title}]`);
    if ((await frame.count()) === 0) continue;
    const elements = frame.contentFrame().locator(CONNECTING);
    found.push(...(await elements.evaluateAll((all) => all.map(({ outerHTML }) => outerHTML))));
  }
  return found;
}

const CONNECTING = 'link, script, template, iframe, object, embed, base, body meta';

/** Finds elements and URLs that came out of a text. */
const FIND_MARKUP = `(() => {
  const found = [];
  for (const one of document.querySelectorAll('[data-x], script:not([src]):not([type="application/json"]), base, meta[http-equiv]'))
    found.push('element ' + one.outerHTML.slice(0, 120));
  for (const one of document.querySelectorAll('[href], [action], [formaction], [src]'))
    for (const name of ['href', 'action', 'formaction', 'src']) {
      const written = one.getAttribute(name);
      // The empty icon.
      if (written === null || (written === 'data:,' && one.rel === 'icon')) continue;
      const { protocol, host } = new URL(written, location.href);
      if (!['http:', 'https:', 'mailto:'].includes(protocol) || host.endsWith('xss.invalid')) found.push('address ' + written);
    }
  return found;
})()`;

const SEEN = `(globalThis.wasSeen ?? '') + document.body.innerText + [...document.querySelectorAll('input, textarea')].map((one) => one.value).join(' ')`;

class Tripwires {
  readonly places: XssHistory['places'] = [];
  readonly trips: Trip[] = [];
  readonly violations: Trip[] = [];
  readonly #browser: Browser;
  readonly #proxy: Proxy;
  readonly #listener: Listener;
  readonly #vectors: readonly Vector[];
  #place = '';

  constructor(browser: Browser, proxy: Proxy, listener: Listener, vectors: readonly Vector[]) {
    this.#browser = browser;
    this.#proxy = proxy;
    this.#listener = listener;
    this.#vectors = vectors;
    proxy.onRequest = (what) => this.#trip('requested', what);
    listener.onConnection = () => this.#trip('connected', listener.url);
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
    await context.addInitScript(WATCH_VIOLATIONS);
    const [name, value] = cookie.split('=');
    if (value !== undefined) {
      const secure = name!.startsWith('__Host-');
      await context.addCookies([
        { name: name!, value, url: secure ? url.replace('http:', 'https:') : url, secure },
      ]);
    }
    return context;
  }

  /**
   * Opens a page, acts on it, and inspects it. All pages of a window are opened in one tab, one after another,
   * because a new tab would compile the whole app again.
   */
  async open(
    context: BrowserContext,
    place: string,
    url: string,
    act: (page: Page) => Promise<void> = still as never,
    becomes: 'text' | 'markup' = 'text',
  ): Promise<void> {
    this.#place = place;
    const page = context.pages()[0] ?? (await this.#newPage(context, url));
    await page.goto(url);
    await act(page);
    for (const found of await connecting(page)) this.#trip('element', found);
    if (becomes === 'text') {
      for (const found of await page.evaluate<string[]>(FIND_MARKUP)) {
        const [how, ...what] = found.split(' ');
        this.#trip(how!, what.join(' '));
      }
    }
    const seen = await page.evaluate<string>(SEEN);
    const marks = new Set(seen.match(/v\d+v/g));
    this.places.push({ place, seen: this.#vectors.filter(({ mark }) => marks.has(mark)).length });
  }

  async #newPage(context: BrowserContext, url: string): Promise<Page> {
    const page = await context.newPage();
    const { origin } = new URL(url);
    page.on('dialog', (dialog) => {
      // The app itself asks with a `beforeunload` dialog before a page is left. Any other dialog comes from a
      // hostile string.
      if (dialog.type() !== 'beforeunload') this.#trip('dialog', dialog.message());
      void dialog.accept().catch(() => {});
    });
    page.on('popup', (opened) => this.#trip('opened', opened.url()));
    page.on('download', (download) => this.#trip('downloaded', download.url()));
    page.on('framenavigated', (frame) => {
      const at = frame.url();
      // A frame inside the preview could not load. Neither the preview nor the page has navigated.
      if (at.startsWith('chrome-error:') && (frame.parentFrame()?.parentFrame() ?? null) !== null) return;
      if (!at.startsWith(`${origin}/`) && at !== 'about:blank' && at !== 'about:srcdoc')
        this.#trip('left', at);
    });
    return page;
  }

  /** Opens a guide made of the hostile strings, without a policy, because the renderer must not trust its input. */
  async openGuide(url: string): Promise<void> {
    const context = await this.window(url);
    await this.open(context, 'guide', `${url}/guide`, still as never, 'markup');
    await context.close();
  }

  /** Opens responses of the API as if they were pages. */
  async openAnswers(url: string, { authorization, jobs, chat }: Filled): Promise<void> {
    const context = await this.window(url, '', { authorization });
    const answers = [
      ...jobs.map(({ uid }) => `/tapi/v2/translation/${encodeURIComponent(uid)}/`),
      '/tapi/v2/mt_translation/?limit=0',
      `/chats/${chat}/messages?limit=1000`,
      '/api/v1/deliveries/',
      '/api/v1/events/',
      '/tapi/v2/translation/%3Cimg%20src=x%20onerror=trip(1)%3E/',
      '/docs/%3Cscript%3Etrip(1)',
      '/docs/search?q=%22%3E%3Cimg%20src=x%20onerror=trip(1)%3E',
    ];
    for (const path of answers) await this.open(context, `interface ${path.split('?')[0]}`, url + path);
    await context.close();
  }

  /**
   * Opens a page on which nothing stops the hostile strings, so the tripwires must report something.
   *
   * @returns the number of reports
   */
  async openPlanted(url: string): Promise<number> {
    const before = this.trips.length;
    this.#place = 'planted';
    const context = await this.window(url);
    const page = await this.#newPage(context, url);
    // The planted scripts may leave the page at once, so the test waits only until the navigation is committed.
    await page.goto(`${url}/planted`, { waitUntil: 'commit' });
    const of = (how: string) => this.trips.slice(before).some((trip) => trip.how === how);
    while (!of('ran') || !of('requested') || !of('connected')) await wait(20);
    await context.close();
    // The last requests of the page may arrive later and are ignored.
    this.#proxy.onRequest = () => {};
    this.#listener.onConnection = () => {};
    return this.trips.splice(before).length;
  }
}

/** Serves two pages without a policy: a guide with the hostile strings, and the hostile strings as markup. */
async function startPages(vectors: readonly Vector[]) {
  const texts = vectors.map(({ text }) => text);
  const guide = renderGuide('hostile', `# Guide\n\n${texts.join('\n\n')}`, new Map());
  const pages: Record<string, string> = {
    '/guide': layOut(guide, [guide]),
    // The hostile strings are added one by one, because an unclosed element would contain the rest.
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
  onRequest(what: string): void;
  close(): void;
}

/** Starts a proxy that receives every request to another host and passes none on. */
async function startProxy(): Promise<Proxy> {
  const proxy: Proxy = { url: '', onRequest: () => {}, close: () => server.close() };
  const server = createServer((request, response) => {
    proxy.onRequest(`${request.method} ${request.url}`);
    response.writeHead(204).end();
  });
  server.on('connect', (request, socket) => {
    proxy.onRequest(`CONNECT ${request.url}`);
    socket.on('error', () => {}); // Errors are ignored, because a closing browser resets its connections.
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  proxy.url = await listen(server);
  return proxy;
}

interface Listener {
  url: string;
  onConnection(): void;
  close(): void;
}

/** Starts a listener that counts connections, because a preconnect sends no request. */
async function startListener(): Promise<Listener> {
  const listener: Listener = { url: '', onConnection: () => {}, close: () => server.close() };
  const server = createListener((socket) => {
    socket.on('error', () => {});
    socket.destroy();
    listener.onConnection();
  });
  listener.url = `${await listen(server)}/`;
  return listener;
}

async function listen(server: TcpServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
