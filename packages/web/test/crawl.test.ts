/** Every page there is, for everybody who may open it: it asks nobody else, complains of nothing, and all can read it. */
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGuides } from '../../server/src/guides/guides.ts';
import { quiet } from './browser.ts';
import { openExaminer, policyFaults } from './crawl.ts';
import { buildTown, type Role, type Town } from './town.ts';

let town: Town;
let windows: Record<Role, BrowserContext>;
beforeAll(async () => {
  town = await buildTown();
  const { web, people } = town;
  windows = {
    nobody: await web.context(),
    customer: await web.signedIn(people.customer),
    editor: await web.signedIn(people.editor),
    reviewer: await web.signedIn(people.reviewer),
    operator: await web.signedIn(people.operator),
  };
});
afterAll(() => town.stop());

interface Route {
  /** Its pattern: `/tasks/$task`. */
  path: string;
  /** Whose area it is in, as `routes.tsx` says it; undefined: everybody's who is signed in, or everybody's. */
  roles: readonly string[] | undefined;
  signedIn: boolean;
}

/** As the app itself knows them: a page that is new is among them. */
async function readRoutes(): Promise<Route[]> {
  const page = await windows.nobody.newPage();
  await page.goto(`${town.web.url}/app/sign-in`);
  await quiet(page);
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

/** The addresses of a route. @throws where nothing of the kind was made */
function addressesOf(path: string, role: Role): string[] {
  if (!path.includes('$')) return [path];
  const found = town.parameters(role)[path];
  if (found === undefined) throw new Error(`town.ts has nothing to open at ${path}`);
  return found.map((values) => path.replace(/\$(\w+)/g, (_, name) => encodeURIComponent(values[name]!)));
}

const mayOpen = ({ roles, signedIn }: Route, role: Role) => {
  if (role === 'nobody' || !signedIn) return role === 'nobody' && !signedIn;
  return roles === undefined || roles.includes(role === 'reviewer' ? 'editor' : role);
};

const looked = new Set<string>();

/** A page that others open too, and a guide that is laid out as all are, is looked at in fewer ways after the first. */
function looksAt(path: string): 'all' | 'two' {
  if (looked.has(path)) return 'two';
  looked.add(path);
  return 'all';
}

/** What is beside a list, or behind a switch. */
const STATES: Partial<Record<Role, readonly string[]>> = {
  customer: [
    '/account/jobs?tier=machine&open=order-1001',
    '/account/jobs?environment=sandbox',
    '/account/brands?open=acme%2Fmain',
    '/account/deliveries?status=dead',
  ],
  operator: ['/console/requests?status=all'],
};

/** All pages of a role are one test: each may take as long as a test may, and there are some twenty. */
const PATIENCE_MILLISECONDS = 20 * 300_000;

describe('every page', { timeout: PATIENCE_MILLISECONDS }, () => {
  it.each(['nobody', 'customer', 'editor', 'reviewer', 'operator'] as const)('of %s', async (role) => {
    const routes = (await readRoutes()).filter((route) => mayOpen(route, role));
    expect(routes.length).toBeGreaterThan(2);
    const paths = [...routes.flatMap(({ path }) => addressesOf(path, role)), ...(STATES[role] ?? [])];
    const faults: Record<string, string[]> = {};
    const examine = await openExaminer(windows[role], town.web.url);
    for (const path of paths) {
      const found = await examine(`${town.web.url}/app${path}`, looksAt(path));
      if (found.length > 0) faults[path] = found;
    }
    expect(faults).toEqual({});
  });

  it('of the guides', async () => {
    const faults: Record<string, string[]> = {};
    const examine = await openExaminer(windows.nobody, town.web.url);
    for (const { name } of await readGuides()) {
      const path = `/docs/${name}`;
      const found = await examine(`${town.web.url}${path}`, looksAt('/docs'));
      if (found.length > 0) faults[path] = found;
    }
    expect(faults).toEqual({});
  });
});

describe('what examines them', () => {
  /** One page after another, as all are opened. @returns what was found at each */
  const plantAll = async (
    pages: readonly string[],
    policy = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  ) => {
    const context = await town.web.context();
    const url = `${town.web.url}/app/planted/`;
    await context.route(`${url}*`, (route) =>
      route.fulfill({
        contentType: 'text/html',
        headers: { 'content-security-policy': policy },
        body: `<!doctype html><html lang="en"><title>Planted</title><main data-ready><h1>Planted</h1>${pages[Number(route.request().url().slice(url.length))]}</main></html>`,
      }),
    );
    const examine = await openExaminer(context, town.web.url);
    const found: string[] = [];
    for (const index of pages.keys()) found.push((await examine(`${url}${index}`, 'two')).join('\n'));
    await context.close();
    return found;
  };
  const plant = async (html: string, policy?: string) => (await plantAll([html], policy))[0];

  it('has nothing against a page that is as it should be', async () => {
    expect(await plant('<p>Good.</p>')).toBe('');
  });

  it.each([
    [
      'an image of somebody else',
      '<img alt="" src="https://example.com/x.png">',
      /asked https:\/\/example.com\/x.png/,
    ],
    [
      'a script of somebody else',
      '<script src="https://example.com/x.js"></script>',
      /breaks its policy: script-src/,
    ],
    ['a script in the page', '<script>1</script>', /breaks its policy: script-src/],
    ['a button without a name', '<button></button>', /button-name/],
    ['text too pale', '<p style="color:#ccc">Pale</p>', /breaks its policy: style-src/],
    ['something wide', '<table><tr><td><input size="200" aria-label="Wide"></table>', /390 px: the page is/],
  ])('finds %s', async (_, html, sign) => {
    expect(await plant(html)).toMatch(sign);
  });

  it('finds text that is too pale, where its page lets it be', async () => {
    const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
    expect(await plant('<p style="color:#ccc;background:#fff">Pale</p>', policy)).toMatch(/color-contrast/);
  });

  it('finds text that is too pale when its colour has arrived, however long that takes', async () => {
    const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
    const style =
      '<style>html{background:#fff} p{color:#000;transition:color 900s} [data-mantine-color-scheme=dark] p{color:#ccc}</style>';
    const found = await plant(`${style}<p>Pale at night</p>`, policy);
    expect(found).toMatch(/390 px: dark rtl: color-contrast/);
    expect(found).not.toMatch(/light/);
  });

  it('says of each page what is wrong with that one', async () => {
    const [first, second, third] = await plantAll([
      '<button></button>',
      '<p>Good.</p>',
      '<script>1</script>',
    ]);
    expect(first).toMatch(/button-name/);
    expect(second).toBe('');
    expect(third).toMatch(/breaks its policy: script-src/);
    expect(third).not.toMatch(/button-name/);
  });

  it.each([
    [undefined],
    ["default-src 'none'; script-src 'self' 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"],
    ["default-src 'none'; script-src 'self' 'unsafe-eval'; base-uri 'none'; frame-ancestors 'none'"],
    ["default-src 'none'; script-src https:; base-uri 'none'; frame-ancestors 'none'"],
    ["script-src 'self'; base-uri 'none'; frame-ancestors 'none'"],
  ])('objects to the policy %s', (policy) => {
    expect(policyFaults(policy)).not.toEqual([]);
  });
});
