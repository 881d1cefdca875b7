/**
 * The fixture of browser tests: the real server with the fake engine, and one browser for each worker process.
 * A test fails if a page has a console error, a violation of its content security policy, or a request to
 * another host.
 *
 *     const web = await shareWeb();            // in beforeAll; web.stop() in afterAll
 *     await web.visit({ path: '/sign-in' }, async (page) => { … });
 *
 * `startWeb` starts a server with its own database. It is for files that need other settings, or an installation
 * without other users and jobs.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type { RunOptions, Result as Violation } from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type ConsoleMessage,
  chromium,
  type Page,
  type Request,
} from 'playwright-core';
import { expect, inject } from 'vitest';
import { countRequests, findBrowser, rested } from '../../../scripts/browser.ts';
import { FULL } from '../../../scripts/full.ts';
import { createConnection } from '../../server/src/database/connections.ts';
import { emptyEditing } from '../../server/src/testing/editors.ts';
import {
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../../server/src/testing/harness.ts';
import { share } from './shared.ts';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // With V8's default of 1 MB for new objects, a page collects garbage again and again while it starts.
  '--js-flags=--min-semi-space-size=16',
];
const SCREENSHOTS = new URL('../../../screenshots/', import.meta.url).pathname;

/**
 * How long to wait for an element. Below the limit of a test, so that the error names the missing element. Set
 * `PATIENCE=5`, in seconds, while you write a test.
 */
const TIMEOUT_MILLISECONDS =
  process.env.PATIENCE === undefined ? (inject('milliseconds') * 2) / 3 : Number(process.env.PATIENCE) * 1000;

export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1280, height: 800 };

export interface VisitOptions {
  /** The path below `/app`. */
  path?: string;
  theme?: 'light' | 'dark';
  language?: 'en' | 'de' | 'ar';
  size?: { width: number; height: number };
  /** The address of another server that the page may open. By default there is none. */
  provider?: string;
  /** A signed-in context from `Web.signedIn`. Without it, a new signed-out context is used. */
  context?: BrowserContext;
}

export interface Web extends TestServer {
  /** Opens a signed-out browser context. */
  context(): Promise<BrowserContext>;
  /** Opens a context and signs in a user made by `createPerson`. */
  signedIn(
    person: { email: string; password: string },
    options?: BrowserContextOptions,
  ): Promise<BrowserContext>;
  /** Opens a page and runs `visit` on it. Rejects when the page has reported a fault. */
  visit(options: VisitOptions, visit: (page: Page) => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** The languages into which the engine of the shared server translates English. */
export const LANGUAGES = ['es', 'de', 'ar', 'ja'];

/** The engine's confidence in its drafts of texts with "uncertain" and "certainly". Of others, it reports none. */
const CONFIDENCES = {
  uncertain: { mean: 0.314, minimum: 0.04 },
  certainly: { mean: 0.97, minimum: 0.8 },
};

function createSharedEngine(): FakeEngine {
  const fake = createFake({ directions: LANGUAGES.map((language) => `en>${language}`) });
  for (const [text, confidence] of Object.entries(CONFIDENCES)) fake.rate(text, confidence);
  return fake;
}

/** The limits are high, so that the tests of a file can claim many tasks and have long texts in one task. */
const SHARED: TestServerOptions = {
  engine: createSharedEngine,
  settings: { DRAGOMAN_EDITOR_TASKS: '20', DRAGOMAN_TASK_WORDS: '100000' },
};

/** Starts a server with its own database. `stop` ends both. */
export async function startWeb(options: TestServerOptions = {}): Promise<Web> {
  const [server, browser] = await Promise.all([startTestServer(options), shareBrowser()]);
  return createWeb(server, browser, () => server.stop());
}

/**
 * Returns the server that the test files of this worker process share. A file finds no tasks of earlier files in
 * the queue, but it finds their users, accounts and jobs. It uses only accounts and users that it created, and
 * undoes changes to the server's settings.
 */
export async function shareWeb(): Promise<Web> {
  const [server, browser] = await Promise.all([
    share(
      'server',
      () => startTestServer(SHARED),
      (started) => started.stop(),
    ),
    shareBrowser(),
  ]);
  const owner = createConnection(server.connection);
  await owner.connect();
  await emptyEditing(owner);
  await owner.end();
  return createWeb(server, browser, async () => {});
}

function shareBrowser(): Promise<Browser> {
  return share(
    'browser',
    () => chromium.launch({ executablePath: findBrowser(), args: FLAGS }),
    (browser) => browser.close(),
  );
}

function createWeb(server: TestServer, browser: Browser, stopServer: () => Promise<void>): Web {
  const contexts = new Set<BrowserContext>();
  const newContext = async (options?: BrowserContextOptions) => {
    const context = await createContext(browser, server.url, options);
    contexts.add(context);
    context.on('close', () => contexts.delete(context));
    return context;
  };
  // The prototype is the server, because its address changes at a restart.
  return Object.assign(Object.create(server) as TestServer, {
    context: () => newContext(),
    async signedIn(
      { email, password }: { email: string; password: string },
      options?: BrowserContextOptions,
    ) {
      const context = await newContext(options);
      const answer = await context.request.post('/api/session', { data: { email, password } });
      expect(answer.status()).toBe(200);
      return context;
    },
    async visit({ context, ...options }: VisitOptions, visit: (page: Page) => Promise<void>) {
      const own = context ?? (await newContext());
      try {
        const page = await visitPage(own, server.url, options, visit);
        if (context !== undefined) await leavePage(own, page, server.url);
      } finally {
        if (context === undefined) await own.close();
      }
    },
    async stop() {
      await Promise.all([...contexts].map((context) => context.close()));
      await stopServer();
    },
  });
}

async function createContext(
  browser: Browser,
  url: string,
  options?: BrowserContextOptions,
): Promise<BrowserContext> {
  const context = await browser.newContext({
    baseURL: url,
    locale: 'en-US',
    timezoneId: 'UTC',
    viewport: DESKTOP,
    // Otherwise a check of colours could find a dialog that is still fading in.
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(TIMEOUT_MILLISECONDS);
  countRequests(context);
  return context;
}

/** Waits until a page is rendered and its requests have ended. */
export async function waitUntilIdle(page: Page): Promise<void> {
  await waitUntilRendered(page);
  await rested(page);
}

/**
 * Pages of a context that earlier visits have left. A new page would start a process and compile the app's scripts
 * again, which takes more processor time than loading the app in a used page.
 */
const leftPages = new WeakMap<BrowserContext, Page[]>();

async function visitPage(
  context: BrowserContext,
  url: string,
  { path = '/', theme = 'light', language = 'en', size = DESKTOP, provider }: VisitOptions,
  visit: (page: Page) => Promise<void>,
): Promise<Page> {
  await setPreferenceCookie(context, url, theme, language);
  const page = leftPages.get(context)?.pop() ?? (await context.newPage());
  const { faults, stopWatching } = watchFaults(page, url, provider);
  try {
    await page.setViewportSize(size);
    await page.goto(`${url}/app${path}`);
    await waitUntilRendered(page);
    await visit(page);
    expect(faults).toEqual([]);
  } catch (error) {
    // Adds the faults of the page to the message, because they are most often the cause of the failure.
    if (faults.length > 0) (error as Error).message += `\nThe page: ${faults.join('\n')}`;
    await page.close();
    throw error;
  }
  stopWatching();
  return page;
}

/** Ends the app in a page, so that the next visit finds the page like a new one. */
async function leavePage(context: BrowserContext, page: Page, url: string): Promise<void> {
  if (page.isClosed()) return;
  await page.evaluate('sessionStorage.clear()');
  // This document is of the same site, so the page keeps its process.
  await page.goto(`${url}/healthz`);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.emulateMedia({ media: null });
  leftPages.set(context, [...(leftPages.get(context) ?? []), page]);
}

async function setPreferenceCookie(
  context: BrowserContext,
  url: string,
  theme: string,
  language: string,
): Promise<void> {
  await context.addCookies([
    { name: 'dragoman_look', value: `${theme}.${language}`, domain: new URL(url).hostname, path: '/app' },
  ]);
}

const FOLLOW = `(path) => new Promise((rendered) => {
  const stop = __TSR_ROUTER__.subscribe('onRendered', () => { stop(); rendered(); });
  __TSR_ROUTER__.history.push(path);
})`;

/**
 * Opens another page of the app with its router, as a link does. Loading a page takes five times the processor
 * time.
 *
 * @param path relative to `/app`
 * @throws Error when the page stays where it was
 */
export async function follow(page: Page, path: string): Promise<void> {
  const before = page.url();
  await page.evaluate(`(${FOLLOW})(${JSON.stringify(`/app${path}`)})`);
  await waitUntilIdle(page);
  if (page.url() === before && !before.endsWith(`/app${path}`))
    throw new Error(`the page stays at ${before}`);
}

/** Waits until a page is rendered, including its fonts. */
export async function waitUntilRendered(page: Page): Promise<void> {
  await page.locator('[data-ready]').first().waitFor();
  await page.evaluate('document.fonts.ready.then(() => true)');
}

/** Collects console errors and warnings, uncaught errors and requests to other hosts, until `stopWatching`. */
export function watchFaults(
  page: Page,
  url: string,
  provider?: string,
): { faults: string[]; stopWatching(): void } {
  const faults: string[] = [];
  const onConsole = (message: ConsoleMessage) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    // Skips refused API calls, which the browser logs: tests check what the page shows for them.
    if (message.text().startsWith('Failed to load resource') && message.location().url.includes('/api/'))
      return;
    // When axe checks a page with the frame of the flow view, the browser logs that this frame may run no scripts.
    if (message.text().startsWith("Blocked script execution in 'about:srcdoc'")) return;
    faults.push(`console: ${message.text()}`);
  };
  const onError = (error: Error) => faults.push(`error: ${error.message}`);
  const onRequest = (request: Request) => {
    const target = new URL(request.url());
    if (![url, provider].includes(target.origin) && target.protocol !== 'blob:')
      faults.push(`asked ${request.url()}`);
  };
  page.on('console', onConsole).on('pageerror', onError).on('request', onRequest);
  return {
    faults,
    stopWatching() {
      page.off('console', onConsole).off('pageerror', onError).off('request', onRequest);
    },
  };
}

const EVERY = { type: 'tag' as const, values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] };
const COLOUR = ['color-contrast', 'link-in-text-block'];
const LAYOUT = ['target-size', 'scrollable-region-focusable'];
const without = (ids: string[]) => Object.fromEntries(ids.map((id) => [id, { enabled: false }]));

const RULES = {
  every: { runOnly: EVERY },
  /** Rules that depend on colours or layout. All other rules check names, roles and structure. */
  visual: { runOnly: { type: 'rule', values: [...COLOUR, ...LAYOUT] } },
  structure: { runOnly: EVERY, rules: without([...COLOUR, ...LAYOUT]) },
  layout: { runOnly: { type: 'rule', values: LAYOUT } },
} satisfies Record<string, RunOptions>;

/**
 * The source code of axe-core. It is loaded once for each page, because parsing it takes longer than running
 * it.
 */
export const AXE_SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export type Variant = readonly [theme: 'light' | 'dark', direction: 'ltr' | 'rtl', rules: keyof typeof RULES];
/**
 * Checks each theme and each writing direction once, because no style depends on both (`tokens.test.ts`).
 * Names, roles and structure are the same in both variants, so their rules run only once. `npm test` checks the
 * states that the tests show in one variant only; the crawl checks every page in both.
 */
const VARIANTS: readonly Variant[] = FULL
  ? [
      ['light', 'ltr', 'every'],
      ['dark', 'rtl', 'visual'],
    ]
  : [['dark', 'rtl', 'every']];

/**
 * Fails when the page, or the dialog that is open, violates a WCAG rule of level A or AA in the dark theme right to left.
 * With `FULL=1`, also checks the light theme left to right, the page behind a dialog, and the navigation.
 */
export async function expectAccessible(page: Page): Promise<void> {
  const found = await accessibilityFaults(page, VARIANTS, FULL ? 'page' : 'state');
  expect(found, found.join('\n')).toEqual([]);
}

/** Returns the violations, one sentence for each element. */
export async function accessibilityFaults(
  page: Page,
  variants: readonly Variant[],
  part: keyof typeof PARTS = 'page',
): Promise<string[]> {
  const faults: string[] = [];
  const root = page.locator('html');
  const before = await root.evaluate(
    '({ dir: document.dir, scheme: document.documentElement.dataset.mantineColorScheme })',
  );
  const { dir, scheme } = before as { dir: string; scheme: string };
  for (const [theme, direction, rules] of variants) {
    await setAppearance(page, theme, direction);
    for (const { id, nodes } of await findViolations(page, rules, part)) {
      for (const { target, failureSummary } of nodes) {
        faults.push(`${theme} ${direction}: ${id}: ${target.join(' ')} (${failureSummary})`);
      }
    }
  }
  await setAppearance(page, scheme, dir);
  return faults;
}

/**
 * The part of a page to check: the page, or the page without what the crawl checks. That is the page behind an open dialog
 * or side panel, and the navigation.
 */
const PARTS = {
  page: 'document',
  state:
    "document.querySelector('[aria-modal=true]') ?? { exclude: ['header[data-opened=false]:has(+ #main)'] }",
};

/**
 * Runs axe in the page itself, because the package for Playwright takes as long again to collect results. Nobody reaches
 * the content of an inert frame, and axe would log faults in a frame that runs no scripts.
 */
async function findViolations(
  page: Page,
  rules: keyof typeof RULES,
  part: keyof typeof PARTS,
): Promise<Violation[]> {
  if ((await page.locator('iframe:not([inert])').count()) > 0) throw new Error('axe runs in no frames');
  if (!(await page.evaluate<boolean>('globalThis.axe !== undefined'))) await page.evaluate(AXE_SOURCE);
  const options = JSON.stringify({ resultTypes: ['violations'], ...RULES[rules], iframes: false });
  return page.evaluate<Violation[]>(
    `axe.run(${PARTS[part]}, ${options}).then(({ violations }) => violations)`,
  );
}

async function setAppearance(page: Page, theme: string, direction: string): Promise<void> {
  await page.evaluate(
    `document.documentElement.dataset.mantineColorScheme = '${theme}'; document.dir = '${direction}'`,
  );
  // Ends all transitions, so that final colours are checked.
  await page.evaluate(
    'document.getAnimations().filter((one) => one.effect.getTiming().iterations !== Infinity).forEach((one) => one.finish())',
  );
}

/**
 * With `npm run screenshots`, takes screenshots of a page into `screenshots/`: light, dark, phone and Arabic.
 *
 * @param state `page` reloads the page for each screenshot; `state` does not, for example because a reload
 * would close an open dialog
 */
export async function takeScreenshots(
  page: Page,
  name: string,
  state: 'page' | 'state' = 'page',
): Promise<void> {
  if (process.env.SCREENSHOTS === undefined) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  const folder = process.env.SCREENSHOTS === '1' ? SCREENSHOTS : process.env.SCREENSHOTS;
  const size = page.viewportSize() ?? DESKTOP;
  const url = new URL(page.url()).origin;
  const before = await page.evaluate<{ language: string; theme: string }>(
    '({ language: document.documentElement.lang, theme: document.documentElement.dataset.mantineColorScheme })',
  );
  const variants = [
    { suffix: 'light', theme: 'light', language: 'en', size: DESKTOP },
    { suffix: 'dark', theme: 'dark', language: 'en', size: DESKTOP },
    { suffix: 'phone', theme: 'light', language: 'de', size: PHONE },
    { suffix: 'ar', theme: 'dark', language: 'ar', size: DESKTOP },
  ];
  for (const variant of variants) {
    if (state === 'state' && variant.language !== 'en') continue;
    if (state === 'page') await page.setViewportSize(variant.size);
    if (state === 'page') {
      await setPreferenceCookie(page.context(), url, variant.theme, variant.language);
      await page.reload();
      await waitUntilIdle(page);
    } else {
      await setAppearance(page, variant.theme, 'ltr');
    }
    await page.screenshot({
      path: `${folder}/${name}-${variant.suffix}.png`,
      animations: 'disabled',
      fullPage: state === 'page',
    });
  }
  await page.setViewportSize(size);
  if (state === 'state') return setAppearance(page, before.theme, 'ltr');
  await setPreferenceCookie(page.context(), url, before.theme, before.language);
  await page.reload();
  await waitUntilRendered(page);
}
