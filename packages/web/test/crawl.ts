/** Opens a page as a browser does, and says everything that is wrong with it, for whatever eyes and however wide. */
import type { BrowserContext, Page } from 'playwright-core';
import { accessibilityFaults, DESK, JUDGE, PHONE, quiet, watchFaults } from './browser.ts';

const LIGHT = ['light', 'ltr'] as const;
const DARK = ['dark', 'rtl'] as const;
/** Both lights and both directions at both widths; or each of them once. */
const LOOKS = {
  all: { desk: [LIGHT, DARK], phone: [LIGHT, DARK] },
  two: { desk: [LIGHT], phone: [DARK] },
} as const;

const VIOLATIONS = `
globalThis.violations = [];
document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  globalThis.violations.push(violatedDirective + ' ' + blockedURI));
`;

/** @returns what is wrong, one sentence a fault */
export type Examine = (url: string, looks: keyof typeof LOOKS) => Promise<string[]>;

/**
 * One page in which address after address is opened, each loaded anew: what its process has compiled for one it need
 * not compile for the next.
 */
export async function openExaminer(context: BrowserContext, origin: string): Promise<Examine> {
  const page = await context.newPage();
  const faults = watchFaults(page, origin);
  await page.addInitScript(VIOLATIONS + JUDGE);
  return async (url, looks) => {
    const found = await look(page, url, looks);
    return [...faults.splice(0), ...found];
  };
}

async function look(page: Page, url: string, looks: keyof typeof LOOKS): Promise<string[]> {
  await page.setViewportSize(DESK);
  const answer = await page.goto(url);
  const faults = policyFaults(answer?.headers()['content-security-policy']);
  for (const [size, worn] of [
    [DESK, LOOKS[looks].desk],
    [PHONE, LOOKS[looks].phone],
  ] as const) {
    await page.setViewportSize(size);
    await quiet(page);
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
    if (wide > size.width) faults.push(`${size.width} px: the page is ${wide} px wide`);
    const broken = await accessibilityFaults(page, worn);
    faults.push(...broken.map((fault) => `${size.width} px: ${fault}`));
  }
  const violations = await page.evaluate<string[]>('globalThis.violations');
  faults.push(...violations.map((violation) => `breaks its policy: ${violation}`));
  return faults;
}

/** What a policy lets in that it must not. */
export function policyFaults(policy: string | undefined): string[] {
  if (policy === undefined) return ['there is no policy'];
  const rules = new Map(
    policy.split(';').map((rule) => {
      const [name, ...sources] = rule.trim().split(/\s+/);
      return [name!, sources];
    }),
  );
  const scripts = rules.get('script-src') ?? rules.get('default-src') ?? ['everything'];
  const faults = scripts
    .filter((source) => source !== "'self'" && source !== "'none'" && !source.startsWith("'nonce-"))
    .map((source) => `its policy lets scripts in: ${source}`);
  for (const [name, wanted] of [
    ['default-src', "'none'"],
    ['base-uri', "'none'"],
    ['frame-ancestors', "'none'"],
  ]) {
    if (rules.get(name!)?.join(' ') !== wanted) faults.push(`its policy does not say ${name} ${wanted}`);
  }
  return faults;
}
