/**
 * The fixture of browser tests: the real server with the fake engine and its own database, and one browser
 * for each test file. A test fails if a page has a console error, a violation of its content security policy,
 * or a request to another host.
 *
 *     const web = await startWeb();            // in beforeAll; web.stop() in afterAll
 *     await web.visit({ path: '/sign-in' }, async (page) => { … });
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { AxeBuilder } from '@axe-core/playwright';
import type { AxeResults, RunOptions } from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { expect } from 'vitest';
import { countRequests, findBrowser, rested } from '../../../scripts/browser.ts';
import {
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../../server/src/testing/harness.ts';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const SCREENSHOTS = new URL('../../../screenshots/', import.meta.url).pathname;

/**
 * Seconds to wait for an element. Below the limit of a test, so that the error names the missing element. Set
 * `PATIENCE=5` while you write a test.
 */
const TIMEOUT_MILLISECONDS = Number(process.env.PATIENCE ?? 240) * 1000;

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

export async function startWeb(options: TestServerOptions = {}): Promise<Web> {
  const executablePath = findBrowser();
  const [server, browser] = await Promise.all([
    startTestServer(options),
    chromium.launch({ executablePath, args: FLAGS }),
  ]);
  const newContext = (options?: BrowserContextOptions) => createContext(browser, server.url, options);
  return Object.assign(server, {
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
        await visitPage(own, server.url, options, visit);
      } finally {
        if (context === undefined) await own.close();
      }
    },
    stop: stopBoth(server, browser),
  });
}

function stopBoth(server: TestServer, browser: Browser): () => Promise<void> {
  const { stop } = server;
  return async () => {
    await browser.close();
    await stop();
  };
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

async function visitPage(
  context: BrowserContext,
  url: string,
  { path = '/', theme = 'light', language = 'en', size = DESKTOP, provider }: VisitOptions,
  visit: (page: Page) => Promise<void>,
): Promise<void> {
  await setPreferenceCookie(context, url, theme, language);
  const page = await context.newPage();
  const faults = watchFaults(page, url, provider);
  try {
    await page.setViewportSize(size);
    await page.goto(`${url}/app${path}`);
    await waitUntilRendered(page);
    await visit(page);
    expect(faults).toEqual([]);
  } catch (error) {
    // Adds the faults of the page to the message, because they are most often the cause of the failure.
    if (faults.length > 0) (error as Error).message += `\nThe page: ${faults.join('\n')}`;
    throw error;
  } finally {
    await page.close();
  }
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

/** Collects console errors and warnings, uncaught errors and requests to other hosts. */
export function watchFaults(page: Page, url: string, provider?: string): string[] {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    // Skips refused API calls, which the browser logs: tests check what the page shows for them.
    if (message.text().startsWith('Failed to load resource') && message.location().url.includes('/api/'))
      return;
    // When axe checks a page with the frame of the flow view, the browser logs that this frame may run no scripts.
    if (message.text().startsWith("Blocked script execution in 'about:srcdoc'")) return;
    faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const target = new URL(request.url());
    if (![url, provider].includes(target.origin) && target.protocol !== 'blob:')
      faults.push(`asked ${request.url()}`);
  });
  return faults;
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
 * Names, roles and structure are the same in both variants, so their rules run only once.
 */
const VARIANTS: readonly Variant[] = [
  ['light', 'ltr', 'every'],
  ['dark', 'rtl', 'visual'],
];

/**
 * Fails when the page violates a WCAG rule of level A or AA, in the light theme left to right or in the dark
 * theme right to left.
 */
export async function expectAccessible(page: Page): Promise<void> {
  const found = await accessibilityFaults(page);
  expect(found, found.join('\n')).toEqual([]);
}

/** Returns the violations, one sentence for each element. */
export async function accessibilityFaults(
  page: Page,
  variants: readonly Variant[] = VARIANTS,
): Promise<string[]> {
  const faults: string[] = [];
  const root = page.locator('html');
  const before = await root.evaluate(
    '({ dir: document.dir, scheme: document.documentElement.dataset.mantineColorScheme })',
  );
  const { dir, scheme } = before as { dir: string; scheme: string };
  for (const [theme, direction, rules] of variants) {
    await setAppearance(page, theme, direction);
    for (const { id, nodes } of await findViolations(page, rules)) {
      for (const { target, failureSummary } of nodes) {
        faults.push(`${theme} ${direction}: ${id}: ${target.join(' ')} (${failureSummary})`);
      }
    }
  }
  await setAppearance(page, scheme, dir);
  return faults;
}

async function findViolations(page: Page, rules: keyof typeof RULES): Promise<AxeResults['violations']> {
  // A frame may have loaded a new document, so axe is injected again into a page with frames.
  const hasNoFrames = page.frames().length === 1;
  // Nobody reaches the content of an inert frame, and axe would log faults in a frame that runs no scripts.
  if (!hasNoFrames && (await page.locator('iframe:not([inert])').count()) === 0) {
    await page.evaluate(AXE_SOURCE);
    const options = JSON.stringify({ resultTypes: ['violations'], ...RULES[rules], iframes: false });
    const found = await page.evaluate<AxeResults>(`axe.run(document, ${options})`);
    return found.violations;
  }
  if (hasNoFrames && !(await page.evaluate<boolean>('globalThis.axe !== undefined')))
    await page.evaluate(AXE_SOURCE);
  // The legacy mode of axe collects the results of frames without opening a second page.
  const { violations } = await new AxeBuilder({ page, axeSource: hasNoFrames ? 'void 0' : AXE_SOURCE })
    .setLegacyMode(true)
    .options({ resultTypes: ['violations'], ...RULES[rules] })
    .analyze();
  return violations;
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
