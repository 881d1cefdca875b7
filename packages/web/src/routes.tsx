/** Every page and its address, and who may open it. How a page is made is said in `page.tsx`. */
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
import { Frame } from './frame.tsx';
import { page, type Search } from './page.tsx';
import { HOMES, paths } from './paths.ts';
import { type Person, readPerson } from './session.ts';
import { Failure, NotFound } from './ui/Failure.tsx';
import { PageSkeleton } from './ui/Skeleton.tsx';
import { part } from './upgrade.ts';
import { type Area, loadWords } from './words.tsx';
import { workbenchPages } from './workbench/routes.ts';

interface Context {
  queries: QueryClient;
}

const root = createRootRouteWithContext<Context>()({ component: Outlet });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  async beforeLoad({ context }) {
    const person = await readPerson(context.queries);
    throw redirect({ to: person === null ? paths.signIn : HOMES[person.role], replace: true });
  },
});

/** The pages of those who are signed in, in the frame with the navigation. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  async beforeLoad({ context, location }) {
    if ((await readPerson(context.queries)) !== null) return;
    throw redirect({ to: paths.signIn, search: { next: location.href } as never, replace: true });
  },
  component: Frame,
});

/** The same without the frame: the workbench has the whole window. */
const wholeWindow = createRoute({
  getParentRoute: () => root,
  id: 'whole-window',
  beforeLoad: signedIn.options.beforeLoad!,
  component: Outlet,
});

/** Pages of one area: its words are there before they are drawn, and another role is led to its own home. */
function area(parent: AnyRoute, name: Area, roles: readonly Person['role'][]) {
  return createRoute({
    getParentRoute: () => parent,
    id: `${name === '' ? 'shell' : name}-of-${roles.join('-')}`,
    async beforeLoad({ context, preload }) {
      const { queries } = context as unknown as Context;
      const person = await readPerson(queries);
      if (person !== null && !roles.includes(person.role)) throw redirect({ to: HOMES[person.role] });
      await (preload ? loadWords(name) : part(() => loadWords(name)));
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
    // Filters are plain words in the address, not JSON.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch(search: Search) {
      const asked = new URLSearchParams(
        Object.entries(search).filter((entry): entry is [string, string] => entry[1] !== undefined),
      ).toString();
      return asked === '' ? '' : `?${asked}`;
    },
  });
}
