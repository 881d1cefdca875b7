/**
 * Tests that no page has console errors, requests to other hosts or accessibility violations. Every page is
 * opened with every role. Its accessibility is checked with the first role, in one theme at each width. With `FULL=1`,
 * it is checked with every role, and in both themes at each width.
 */
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FULL } from '../../../scripts/full.ts';
import { readGuides } from '../../server/src/guides/guides.ts';
import { waitUntilIdle } from './browser.ts';
import { openPageChecker, policyFaults } from './page-checker.ts';
import { createSeedData, type Role, type SeedData } from './seed-data.ts';

let data: SeedData;
let windows: Record<Role, BrowserContext>;
beforeAll(async () => {
  data = await createSeedData();
  const { web, people } = data;
  windows = {
    nobody: await web.context(),
    customer: await web.signedIn(people.customer),
    editor: await web.signedIn(people.editor),
    reviewer: await web.signedIn(people.reviewer),
    operator: await web.signedIn(people.operator),
  };
});
afterAll(() => data.stop());

interface Route {
  /** The pattern of the address, such as `/tasks/$task`. */
  path: string;
  /**
   * The roles that may open the page, as named in the id of its layout in `routes.tsx`; undefined if all
   * roles may.
   */
  roles: readonly string[] | undefined;
  signedIn: boolean;
}

/** Reads the routes from the running app, so that new pages are included. */
async function readRoutes(): Promise<Route[]> {
  const page = await windows.nobody.newPage();
  await page.goto(`${data.web.url}/app/sign-in`);
  await waitUntilIdle(page);
  const ids = await page.evaluate<[id: string, path: string][]>(
    'Object.entries(__TSR_ROUTER__.routesById).filter(([, route]) => route.children === undefined).map(([id, route]) => [id, route.fullPath])',
  );
  await page.close();
  return ids.map(([id, path]) => ({
    path,
    roles: /(?<=-of-)[a-z-]+/.exec(id)?.[0].split('-'),
    signedIn: /^\/(signed-in|whole-window)\//.test(id),
  }));
}

/** Returns the addresses of a route. @throws Error when the seed data has no row for the route */
function addressesOf(path: string, role: Role): string[] {
  if (!path.includes('$')) return [path];
  const found = data.parameters(role)[path];
  if (found === undefined) throw new Error(`seed-data.ts has nothing to open at ${path}`);
  return found.map((values) => path.replace(/\$(\w+)/g, (_, name) => encodeURIComponent(values[name]!)));
}

const mayOpen = ({ roles, signedIn }: Route, role: Role) => {
  if (role === 'nobody' || !signedIn) return role === 'nobody' && !signedIn;
  return roles === undefined || roles.includes(role === 'reviewer' ? 'editor' : role);
};

const checked = new Set<string>();

/** With `FULL=1`, both themes and both directions are checked at both widths. */
const MOST_VARIANTS = FULL ? 'all' : 'two';

/**
 * Returns the variants to check for an address. Pages that several roles can open are checked in most variants
 * only the first time, because their roles see the same elements.
 */
function variantsFor(path: string): 'all' | 'two' | 'none' {
  if (checked.has(path)) return FULL ? 'two' : 'none';
  checked.add(path);
  return MOST_VARIANTS;
}

/** Adds the kinds of a document's elements, such as `p code`, to `known`. Returns whether a kind was new. */
function addKinds(known: Set<string>, parent: DefaultTreeAdapterTypes.ParentNode): boolean {
  const before = known.size;
  for (const node of parent.childNodes) {
    known.add(`${parent.nodeName} ${node.nodeName}`);
    if ('childNodes' in node) addKinds(known, node);
  }
  return known.size > before;
}

/** Addresses of pages with an open panel, with a filter, or in the sandbox. */
const STATES: Partial<Record<Role, readonly string[]>> = {
  customer: [
    '/account/jobs?tier=machine&open=order-1001',
    '/account/jobs?environment=sandbox',
    '/account/brands?open=acme%2Fmain',
    '/account/deliveries?status=dead',
  ],
  operator: ['/console/requests?status=all'],
};

describe('every page', () => {
  it.each(['nobody', 'customer', 'editor', 'reviewer', 'operator'] as const)(
    'that the role %s can open has no fault',
    async (role) => {
      const routes = (await readRoutes()).filter((route) => mayOpen(route, role));
      expect(routes.length).toBeGreaterThan(2);
      const paths = [...routes.flatMap(({ path }) => addressesOf(path, role)), ...(STATES[role] ?? [])];
      const faults: Record<string, string[]> = {};
      const checkPage = await openPageChecker(windows[role], data.web.url);
      for (const path of paths) {
        const found = await checkPage(`${data.web.url}/app${path}`, variantsFor(path));
        if (found.length > 0) faults[path] = found;
      }
      expect(faults).toEqual({});
    },
  );

  it('of the guides has no fault', async () => {
    const faults: Record<string, string[]> = {};
    const checkPage = await openPageChecker(windows.nobody, data.web.url);
    const known = new Set<string>();
    for (const { name, html } of await readGuides()) {
      const path = `/docs/${name}`;
      const isNew = addKinds(known, parseFragment(html));
      // All guides have the same layout, so only the first one is checked in most variants, and later ones if they have
      // new kinds of elements.
      const unchanged = FULL ? 'text' : 'none';
      const variants = !isNew ? unchanged : checked.has('/docs') ? 'two' : MOST_VARIANTS;
      checked.add('/docs');
      const found = await checkPage(`${data.web.url}${path}`, variants);
      if (found.length > 0) faults[path] = found;
    }
    expect(faults).toEqual({});
  });
});

describe('the page checker', () => {
  /** Checks pages with planted faults one after another. Returns the faults that were found on each page. */
  const plantAll = async (
    pages: readonly string[],
    policy = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    variants: 'all' | 'two' = 'two',
  ) => {
    const context = await data.web.context();
    const url = `${data.web.url}/app/planted/`;
    await context.route(`${url}*`, (route) =>
      route.fulfill({
        contentType: 'text/html',
        headers: { 'content-security-policy': policy },
        body: `<!doctype html><html lang="en"><title>Planted</title><main data-ready><h1>Planted</h1>${pages[Number(route.request().url().slice(url.length))]}</main></html>`,
      }),
    );
    const checkPage = await openPageChecker(context, data.web.url);
    const found: string[] = [];
    for (const index of pages.keys()) found.push((await checkPage(`${url}${index}`, variants)).join('\n'));
    await context.close();
    return found;
  };
  const plant = async (html: string, policy?: string) => (await plantAll([html], policy))[0];

  it('finds no fault in a correct page', async () => {
    expect(await plant('<p>Good.</p>')).toBe('');
  });

  it.each([
    [
      'an image of another host',
      '<img alt="" src="https://example.com/x.png">',
      /asked https:\/\/example.com\/x.png/,
    ],
    [
      'a script of another host',
      '<script src="https://example.com/x.js"></script>',
      /violates its policy: script-src/,
    ],
    ['an inline script', '<script>1</script>', /violates its policy: script-src/],
    ['a button without a name', '<button></button>', /button-name/],
    [
      'a button without a name in an open dialog',
      '<p>Behind</p><div role="dialog" aria-modal="true" aria-label="Planted"><button></button></div>',
      /button-name/,
    ],
    ['an inline style', '<p style="color:#ccc">Pale</p>', /violates its policy: style-src/],
    [
      'an element wider than a phone',
      '<table><tr><td><input size="200" aria-label="Wide"></table>',
      /390 px: the page is/,
    ],
  ])('finds %s', async (_, html, sign) => {
    expect(await plant(html)).toMatch(sign);
  });

  it('finds text with too little contrast', async () => {
    const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
    expect(await plant('<p style="color:#ccc;background:#fff">Pale</p>', policy)).toMatch(/color-contrast/);
  });

  it('finds too little contrast at the end of a long transition', async () => {
    const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
    const style =
      '<style>html{background:#fff} p{color:#000;transition:color 900s} [data-mantine-color-scheme=dark] p{color:#ccc}</style>';
    const found = await plant(`${style}<p>Pale at night</p>`, policy);
    expect(found).toMatch(/390 px: dark rtl: color-contrast/);
    expect(found).not.toMatch(/light/);
  });

  it.each([
    ['pale text of the dark theme on a desktop', '<p>Pale</p>', 1280, 'dark rtl: color-contrast'],
    ['pale text of the dark theme on a phone', '<p>Pale</p>', 390, 'dark rtl: color-contrast'],
    ['a button without a name on a phone', '<button></button>', 390, 'dark rtl: button-name'],
    ['a button without a name on a desktop', '<button></button>', 1280, 'light ltr: button-name'],
  ])('finds %s, even if only one theme, size or language shows the fault', async (_, html, width, fault) => {
    const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
    const other = width === 390 ? '(min-width: 600px)' : '(max-width: 600px)';
    const style = `<style>html{background:#fff} button{width:3em;height:3em} [data-mantine-color-scheme=dark] p{color:#ccc} @media ${other}{p,button{display:none}}</style>`;
    const [found] = await plantAll([style + html], policy, 'all');
    expect(found!.match(/^\d+ px: .*?: [a-z-]+/gm)).toEqual([`${width} px: ${fault}`]);
  });

  it('finds a fault of a page that is opened without loading the app again', async () => {
    const context = await data.web.context();
    await context.addInitScript(`new MutationObserver(() => {
      if (location.pathname !== '/app/sandbox' || document.getElementById('planted') !== null) return;
      const button = document.createElement('button');
      button.id = 'planted';
      document.querySelector('main')?.append(button);
    }).observe(document, { childList: true, subtree: true })`);
    const checkPage = await openPageChecker(context, data.web.url);
    expect(await checkPage(`${data.web.url}/app/sign-in`, 'two')).toEqual([]);
    expect((await checkPage(`${data.web.url}/app/sandbox`, 'two')).join('\n')).toMatch(/button-name/);
    await context.close();
  });

  it('finds a missing content security policy of a page that it opens from another page', async () => {
    const context = await data.web.context();
    await context.route('**/app/sandbox', (route) => route.fulfill({ contentType: 'text/html', body: '' }));
    const checkPage = await openPageChecker(context, data.web.url);
    expect(await checkPage(`${data.web.url}/app/sign-in`, 'two')).toEqual([]);
    expect(await checkPage(`${data.web.url}/app/sandbox`, 'two')).toEqual(['no policy']);
    await context.close();
  });

  it('reports the faults of each page separately', async () => {
    const [first, second, third] = await plantAll([
      '<button></button>',
      '<p>Good.</p>',
      '<script>1</script>',
    ]);
    expect(first).toMatch(/button-name/);
    expect(second).toBe('');
    expect(third).toMatch(/violates its policy: script-src/);
    expect(third).not.toMatch(/button-name/);
  });

  it.each([
    [undefined],
    ["default-src 'none'; script-src 'self' 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"],
    ["default-src 'none'; script-src 'self' 'unsafe-eval'; base-uri 'none'; frame-ancestors 'none'"],
    ["default-src 'none'; script-src https:; base-uri 'none'; frame-ancestors 'none'"],
    ["script-src 'self'; base-uri 'none'; frame-ancestors 'none'"],
  ])('rejects the content security policy %s', (policy) => {
    expect(policyFaults(policy)).not.toEqual([]);
  });
});
