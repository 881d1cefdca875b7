/** All pages with their addresses and roles. `page.tsx` describes how to write a page. */
import type { QueryClient } from '@tanstack/react-query';
import {
  type AnyRoute,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { accountPages } from './account/routes.ts';
import { consolePages } from './console/routes.ts';
import { type Area, loadMessages } from './i18n.tsx';
import { page, type Search } from './page.tsx';
import { HOMES, paths } from './paths.ts';
import { SignedInLayout } from './SignedInLayout.tsx';
import { readUser, type User } from './session.ts';
import { Failure, NotFound } from './ui/Failure.tsx';
import { PageSkeleton } from './ui/Skeleton.tsx';
import { loadChunk, preloadChunk } from './upgrade.ts';
import { workbenchPages } from './workbench/routes.ts';

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

/** Pages for signed-in users, with the navigation. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  async beforeLoad({ context, location }) {
    const user = await readUser(context.queries);
    // The server refuses all other pages until the second factor is set up.
    if (user?.second_factor_missing && !location.pathname.endsWith(paths.me)) {
      throw redirect({ to: paths.me, replace: true });
    }
    if (user !== null) return;
    throw redirect({ to: paths.signIn, search: { next: location.href } as never, replace: true });
  },
  component: SignedInLayout,
});

/** Pages for signed-in users without the navigation: the workbench fills the window. */
const wholeWindow = createRoute({
  getParentRoute: () => root,
  id: 'whole-window',
  beforeLoad: signedIn.options.beforeLoad!,
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
  page(root, paths.signIn, () => import('./pages/SignIn.tsx')),
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

export function createAppRouter(queries: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: '/app',
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
