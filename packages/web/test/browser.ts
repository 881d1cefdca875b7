/**
 * What browser tests start from: the real server with the fake engine and a database of its own, one browser a file,
 * one page a test. A page that complains in its console, breaks its own policy or asks anybody but our server
 * fails its test.
 *
 *     const web = await startWeb();            // in beforeAll; web.stop() in afterAll
 *     await web.visit({ path: '/sign-in' }, async (page) => { … });
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { AxeBuilder } from '@axe-core/playwright';
import type { AxeResults } from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
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

/** A little less than a test's own limit, so that the failure says what never came. `PATIENCE=5` while one writes. */
const PATIENCE_MILLISECONDS = Number(process.env.PATIENCE ?? 240) * 1000;

export const PHONE = { width: 390, height: 844 };
export const DESK = { width: 1280, height: 800 };

export interface VisitOptions {
  /** Below `/app`. */
  path?: string;
  theme?: 'light' | 'dark';
  language?: 'en' | 'de' | 'ar';
  size?: { width: number; height: number };
  /** Where somebody is signed in, of `Web.signedIn`; a window of its own where none is given. */
  context?: BrowserContext;
}

export interface Web extends TestServer {
  /** A window of nobody, with cookies of its own. */
  context(): Promise<BrowserContext>;
  /** A window in which somebody is signed in, whom `createPerson` made. */
  signedIn(person: { email: string; password: string }): Promise<BrowserContext>;
  /** Opens a page, does something there, and fails for whatever the page had to complain about. */
  visit(options: VisitOptions, visit: (page: Page) => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

export async function startWeb(options: TestServerOptions = {}): Promise<Web> {
  const executablePath = findBrowser();
  const [server, browser] = await Promise.all([
    startTestServer(options),
    chromium.launch({ executablePath, args: FLAGS }),
  ]);
  const newContext = () => newWindow(browser, server.url);
  return Object.assign(server, {
    context: newContext,
    async signedIn({ email, password }: { email: string; password: string }) {
      const context = await newContext();
      const answer = await context.request.post('/api/session', { data: { email, password } });
      expect(answer.status()).toBe(200);
      return context;
    },
    async visit({ context, ...look }: VisitOptions, visit: (page: Page) => Promise<void>) {
      const own = context ?? (await newContext());
      try {
        await visitPage(own, server.url, look, visit);
      } finally {
        if (context === undefined) await own.close();
      }
    },
    stop: endWith(server, browser),
  });
}

function endWith(server: TestServer, browser: Browser): () => Promise<void> {
  const { stop } = server;
  return async () => {
    await browser.close();
    await stop();
  };
}

async function newWindow(browser: Browser, url: string): Promise<BrowserContext> {
  const context = await browser.newContext({
    baseURL: url,
    locale: 'en-US',
    timezoneId: 'UTC',
    viewport: DESK,
  });
  context.setDefaultTimeout(PATIENCE_MILLISECONDS);
  countRequests(context);
  return context;
}

/** Waits until a page is drawn, with all that it asks for by itself. */
export async function quiet(page: Page): Promise<void> {
  await settled(page);
  await rested(page);
}

async function visitPage(
  context: BrowserContext,
  url: string,
  { path = '/', theme = 'light', language = 'en', size = DESK }: VisitOptions,
  visit: (page: Page) => Promise<void>,
): Promise<void> {
  await dress(context, url, theme, language);
  const page = await context.newPage();
  const faults = watchFaults(page, url);
  try {
    await page.setViewportSize(size);
    await page.goto(`${url}/app${path}`);
    await settled(page);
    await visit(page);
    expect(faults).toEqual([]);
  } catch (error) {
    // What the page complained about is most often why it is not as it should be.
    if (faults.length > 0) (error as Error).message += `\nThe page: ${faults.join('\n')}`;
    throw error;
  } finally {
    await page.close();
  }
}

async function dress(context: BrowserContext, url: string, theme: string, language: string): Promise<void> {
  await context.addCookies([
    { name: 'dragoman_look', value: `${theme}.${language}`, domain: new URL(url).hostname, path: '/app' },
  ]);
}

/** Waits until a page is drawn, fonts and all. */
export async function settled(page: Page): Promise<void> {
  await page.locator('[data-ready]').first().waitFor();
  await page.evaluate('document.fonts.ready.then(() => true)');
}

/** Everything that a page did which it must not. */
export function watchFaults(page: Page, url: string): string[] {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    // The browser's own line about an answer that is a refusal: what the page makes of it is what is tested.
    if (message.text().startsWith('Failed to load resource') && message.location().url.includes('/api/'))
      return;
    faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.origin !== url && asked.protocol !== 'blob:') faults.push(`asked ${request.url()}`);
  });
  return faults;
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** What knows the rules. A browser takes longer to read it than to go by it: it is given to a page once. */
export const JUDGE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Look = readonly [theme: 'light' | 'dark', direction: 'ltr' | 'rtl'];
/** Each theme once, each direction once: no style depends on both (`tokens.test.ts`), and a look takes 0.3 s. */
const LOOKS: readonly Look[] = [
  ['light', 'ltr'],
  ['dark', 'rtl'],
];

/** Fails where a rule of WCAG A and AA is broken: light from left to right, dark from right to left. */
export async function expectAccessible(page: Page): Promise<void> {
  const found = await accessibilityFaults(page);
  expect(found, found.join('\n')).toEqual([]);
}

/** The rules that are broken, one sentence an element. */
export async function accessibilityFaults(page: Page, looks: readonly Look[] = LOOKS): Promise<string[]> {
  const faults: string[] = [];
  const root = page.locator('html');
  const before = await root.evaluate(
    '({ dir: document.dir, scheme: document.documentElement.dataset.mantineColorScheme })',
  );
  const { dir, scheme } = before as { dir: string; scheme: string };
  for (const [theme, direction] of looks) {
    await wear(page, theme, direction);
    for (const { id, nodes } of await broken(page)) {
      for (const { target, failureSummary } of nodes) {
        faults.push(`${theme} ${direction}: ${id}: ${target.join(' ')} (${failureSummary})`);
      }
    }
  }
  await wear(page, scheme, dir);
  return faults;
}

async function broken(page: Page): Promise<AxeResults['violations']> {
  // A frame may hold another document each time: where there is one, all are given it anew.
  const alone = page.frames().length === 1;
  if (alone && !(await page.evaluate<boolean>('globalThis.axe !== undefined'))) await page.evaluate(JUDGE);
  // What it finds needs no second page to be put together in.
  const { violations } = await new AxeBuilder({ page, axeSource: alone ? 'void 0' : JUDGE })
    .setLegacyMode(true)
    .options({ resultTypes: ['violations'] })
    .withTags(RULES)
    .analyze();
  return violations;
}

async function wear(page: Page, theme: string, direction: string): Promise<void> {
  await page.evaluate(
    `document.documentElement.dataset.mantineColorScheme = '${theme}'; document.dir = '${direction}'`,
  );
  // What fades from one colour to another is looked at when it has arrived: there is nothing to see on the way.
  await page.evaluate(
    'document.getAnimations().filter((one) => one.effect.getTiming().iterations !== Infinity).forEach((one) => one.finish())',
  );
}

/**
 * A picture of a page in `screenshots/`, when `npm run screenshots` asks for them: light, dark, on a phone, and in
 * Arabic. @param state what would be lost by loading the page anew (an open dialog): it is pictured as it is
 */
export async function shoot(page: Page, name: string, state: 'page' | 'state' = 'page'): Promise<void> {
  if (process.env.SCREENSHOTS === undefined) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  const folder = process.env.SCREENSHOTS === '1' ? SCREENSHOTS : process.env.SCREENSHOTS;
  const size = page.viewportSize() ?? DESK;
  const url = new URL(page.url()).origin;
  const before = await page.evaluate<{ language: string; theme: string }>(
    '({ language: document.documentElement.lang, theme: document.documentElement.dataset.mantineColorScheme })',
  );
  const looks = [
    { suffix: 'light', theme: 'light', language: 'en', size: DESK },
    { suffix: 'dark', theme: 'dark', language: 'en', size: DESK },
    { suffix: 'phone', theme: 'light', language: 'de', size: PHONE },
    { suffix: 'ar', theme: 'dark', language: 'ar', size: DESK },
  ];
  for (const look of looks) {
    if (state === 'state' && look.language !== 'en') continue;
    if (state === 'page') await page.setViewportSize(look.size);
    if (state === 'page') {
      await dress(page.context(), url, look.theme, look.language);
      await page.reload();
      await quiet(page);
    } else {
      await wear(page, look.theme, 'ltr');
    }
    await page.screenshot({
      path: `${folder}/${name}-${look.suffix}.png`,
      animations: 'disabled',
      fullPage: state === 'page',
    });
  }
  await page.setViewportSize(size);
  if (state === 'state') return wear(page, before.theme, 'ltr');
  await dress(page.context(), url, before.theme, before.language);
  await page.reload();
  await settled(page);
}
