/**
 * Opens pages and reports their faults: accessibility, violations of the content security policy, and
 * overflow on phones.
 */
import type { BrowserContext, Page } from 'playwright-core';
import {
  AXE_SOURCE,
  accessibilityFaults,
  DESKTOP,
  follow,
  PHONE,
  type Variant,
  waitUntilIdle,
  watchFaults,
} from './browser.ts';

const light = (rules: Variant[2]): Variant => ['light', 'ltr', rules];
const dark = (rules: Variant[2]): Variant => ['dark', 'rtl', rules];
/**
 * The variants of a page to check: theme, direction, width and rules.
 *
 * - `all`: both themes and both directions, at both widths. Every rule runs once at each width, because a
 *   narrow page shows other elements.
 * - `two`: the light theme left to right on a desktop, and the dark theme right to left on a phone. On the
 *   phone, only the rules for colours and layout run.
 * - `text`: like `two`, without the rules for colours. It is for a document whose kinds of elements were
 *   checked in other documents.
 * - `none`: no accessibility rules. The width of the page is checked at both sizes.
 */
const VARIANTS = {
  all: { desktop: [light('every'), dark('visual')], phone: [light('visual'), dark('every')] },
  two: { desktop: [light('every')], phone: [dark('visual')] },
  text: { desktop: [light('structure')], phone: [dark('layout')] },
  none: { desktop: [], phone: [] },
} as const;

const VIOLATIONS = `
globalThis.violations = [];
document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  globalThis.violations.push(violatedDirective + ' ' + blockedURI));
`;

/** Returns the faults of a page, each as one sentence. */
export type CheckPage = (url: string, variants: keyof typeof VARIANTS) => Promise<string[]>;

/**
 * Opens one browser page, which checks all addresses in turn, so that the browser compiles the app's scripts only once.
 */
export async function openPageChecker(context: BrowserContext, origin: string): Promise<CheckPage> {
  const page = await context.newPage();
  const { faults } = watchFaults(page, origin);
  await page.addInitScript(VIOLATIONS + AXE_SOURCE);
  return async (url, variants) => {
    const found = await checkPage(page, url, variants);
    return [...faults.splice(0), ...found];
  };
}

/** Returns the content security policy of the document that the server sends for an address. */
const READ_POLICY = `(url) => fetch(url, { headers: { accept: 'text/html' } })
  .then(({ headers }) => headers.get('content-security-policy') ?? undefined)`;

/**
 * Opens an address and checks the content security policy of its document. All pages of the app have the same
 * document, so only the first one is loaded.
 */
async function open(page: Page, url: string): Promise<string[]> {
  const isInApp = (address: string) => new URL(address).pathname.startsWith('/app/');
  if (isInApp(page.url()) && isInApp(url) && (await page.evaluate('"__TSR_ROUTER__" in globalThis'))) {
    const policy = await page.evaluate<string | undefined>(`(${READ_POLICY})(${JSON.stringify(url)})`);
    await follow(page, url.slice(`${new URL(url).origin}/app`.length));
    return policyFaults(policy);
  }
  const answer = await page.goto(url);
  return policyFaults(answer?.headers()['content-security-policy']);
}

async function checkPage(page: Page, url: string, variants: keyof typeof VARIANTS): Promise<string[]> {
  await page.setViewportSize(DESKTOP);
  const faults = await open(page, url);
  for (const [size, shown] of [
    [DESKTOP, VARIANTS[variants].desktop],
    [PHONE, VARIANTS[variants].phone],
  ] as const) {
    await page.setViewportSize(size);
    await waitUntilIdle(page);
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
    if (wide > size.width) faults.push(`${size.width} px: the page is ${wide} px wide`);
    const broken = shown.length === 0 ? [] : await accessibilityFaults(page, shown);
    faults.push(...broken.map((fault) => `${size.width} px: ${fault}`));
  }
  const violations = await page.evaluate<string[]>('globalThis.violations.splice(0)');
  faults.push(...violations.map((violation) => `violates its policy: ${violation}`));
  return faults;
}

/** Returns the faults of a content security policy: forbidden script sources and missing directives. */
export function policyFaults(policy: string | undefined): string[] {
  if (policy === undefined) return ['no policy'];
  const rules = new Map(
    policy.split(';').map((rule) => {
      const [name, ...sources] = rule.trim().split(/\s+/);
      return [name!, sources];
    }),
  );
  const scripts = rules.get('script-src') ?? rules.get('default-src') ?? ['everything'];
  const faults = scripts
    .filter((source) => source !== "'self'" && source !== "'none'" && !source.startsWith("'nonce-"))
    .map((source) => `its policy allows scripts from ${source}`);
  for (const [name, wanted] of [
    ['default-src', "'none'"],
    ['base-uri', "'none'"],
    ['frame-ancestors', "'none'"],
  ]) {
    if (rules.get(name!)?.join(' ') !== wanted) faults.push(`its policy lacks ${name} ${wanted}`);
  }
  return faults;
}
