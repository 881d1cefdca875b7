/** All pages with their addresses and roles. `page.tsx` describes how to write a page. */
import type { QueryClient } from '@tanstack/react-query';
import {
  type AnyRoute,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { accountPages, loadAccountPages } from './account/routes.ts';
import { consolePages, loadConsolePages } from './console/routes.ts';
import { type Area, loadMessages, loadMessagesAhead } from './i18n.tsx';
import { page, type Search } from './page.tsx';
import * as SignIn from './pages/SignIn.tsx';
import { HOMES, paths } from './paths.ts';
import { readUser, sessionQuery, type User } from './session.ts';
import { Failure, NotFound } from './ui/Failure.tsx';
import { PageSkeleton } from './ui/Skeleton.tsx';
import { loadChunk, preloadChunk } from './upgrade.ts';
import { loadWorkbench, workbenchPages } from './workbench/routes.ts';

/** Signed-out users do not load the layout, nor the dialogs, menus and tables that only signed-in pages use. */
const loadLayout = () => import('./SignedInLayout.tsx');

interface Context {
  queries: QueryClient;
}

const root = createRootRouteWithContext<Context>()({ component: Outlet });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  async beforeLoad({ context }) {
    const user = await readUser(context.queries);
    throw redirect({ to: user === null ? paths.signIn : HOMES[user.role], replace: true });
  },
});

interface Opening {
  context: Context;
  location: { href: string; publicHref: string; pathname: string };
  /** True if the router only loads the page ahead. */
  preload: boolean;
}

/** Redirects signed-out users to the sign-in page. */
async function requireUser({ context, location }: Opening): Promise<void> {
  const user = await readUser(context.queries);
  // The server refuses all other pages until the second factor is set up.
  if (user?.second_factor_missing && !location.pathname.endsWith(paths.me)) {
    throw redirect({ to: paths.me, replace: true });
  }
  if (user !== null) return;
  throw redirect({ to: paths.signIn, search: { next: location.href } as never, replace: true });
}

/** Pages for signed-in users, with the navigation. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  async beforeLoad(opening) {
    await requireUser(opening);
    await (opening.preload ? preloadChunk(loadLayout, opening.location.publicHref) : loadChunk(loadLayout));
  },
  component: lazyRouteComponent(loadLayout, 'SignedInLayout'),
});

/** Pages for signed-in users without the navigation: the workbench fills the window. */
const wholeWindow = createRoute({
  getParentRoute: () => root,
  id: 'whole-window',
  beforeLoad: requireUser,
  component: Outlet,
});

/**
 * Creates the parent route of an area. It loads the messages of the area and redirects other roles to their
 * home page.
 */
function area(parent: AnyRoute, name: Area, roles: readonly User['role'][]) {
  return createRoute({
    getParentRoute: () => parent,
    id: `${name === '' ? 'shell' : name}-of-${roles.join('-')}`,
    async beforeLoad({ context, preload, location }) {
      const { queries } = context as unknown as Context;
      const user = await readUser(queries);
      if (user !== null && !roles.includes(user.role)) throw redirect({ to: HOMES[user.role] });
      const load = () => loadMessages(name);
      await (preload ? preloadChunk(load, location.publicHref) : loadChunk(load));
    },
    component: Outlet,
  });
}

const editors = area(signedIn, '', ['editor', 'operator']);
const workbench = area(wholeWindow, 'workbench', ['editor', 'operator']);
const account = area(signedIn, 'account', ['customer']);
const consoleArea = area(signedIn, 'console', ['operator']);

const tree = root.addChildren([
  home,
  page(root, paths.signIn, async () => SignIn),
  page(root, paths.forgottenPassword, () => import('./pages/ForgottenPassword.tsx')),
  page(root, paths.sandbox, () => import('./pages/Sandbox.tsx')),
  page(root, '/sandbox/$token', () => import('./pages/SandboxKey.tsx')),
  page(root, '/invitation/$token', () => import('./pages/Invitation.tsx')),
  wholeWindow.addChildren([workbench.addChildren(workbenchPages(workbench))]),
  signedIn.addChildren([
    page(signedIn, paths.me, () => import('./pages/Me.tsx')),
    editors.addChildren([
      page(editors, paths.queue, () => import('./pages/Queue.tsx')),
      page(editors, paths.work, () => import('./pages/Work.tsx')),
    ]),
    account.addChildren(accountPages(account)),
    consoleArea.addChildren(consolePages(consoleArea)),
  ]),
]);

const BASE = '/app';

/** The messages and the chunks that the pages below an address need. */
const NEEDS: readonly { below: string; area: Area; chunks: readonly (() => Promise<unknown>)[] }[] = [
  { below: '/account', area: 'account', chunks: [loadLayout, loadAccountPages] },
  { below: '/console', area: 'console', chunks: [loadLayout, loadConsolePages] },
  { below: '/tasks/', area: 'workbench', chunks: [loadWorkbench] },
  { below: paths.queue, area: '', chunks: [loadLayout] },
  { below: paths.work, area: '', chunks: [loadLayout] },
  { below: paths.me, area: '', chunks: [loadLayout] },
];

/**
 * Starts to load at once what the router would load one after another for an address: the session, the chunks and the
 * messages. Ignores failures, because the router loads the same again and shows them.
 */
export function loadAhead(queries: QueryClient, pathname: string): void {
  const path = pathname.slice(BASE.length);
  if (path === paths.signIn) return void SignIn.load({ queries }).catch(() => {});
  const needs = NEEDS.find(({ below }) => path.startsWith(below));
  if (needs === undefined && path.length > 1) return;
  void queries.prefetchQuery(sessionQuery());
  if (needs === undefined) return;
  loadMessagesAhead(needs.area);
  for (const load of needs.chunks) load().catch(() => {});
}

export function createAppRouter(queries: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: BASE,
    context: { queries },
    defaultPendingMs: 150,
    defaultPendingMinMs: 200,
    defaultPendingComponent: PageSkeleton,
    defaultErrorComponent: ({ error, reset }) => <Failure error={error as Error} reset={reset} />,
    defaultNotFoundComponent: NotFound,
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    // Writes filters into the address as plain text; the router's default is JSON.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch(search: Search) {
      const query = new URLSearchParams(
        Object.entries(search).filter((entry): entry is [string, string] => entry[1] !== undefined),
      ).toString();
      return query === '' ? '' : `?${query}`;
    },
  });
}
