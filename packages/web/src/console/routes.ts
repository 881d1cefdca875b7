/** The routes of the operator's pages. */
import type { AnyRoute } from '@tanstack/react-router';
import { page } from '../page.tsx';
import { paths } from '../paths.ts';

/** All pages of the area are one chunk, because most of them are small and have the same parts. */
export const loadConsolePages = () => import('./pages.ts');

export function consolePages(parent: AnyRoute) {
  return [
    page(parent, paths.console.home, async () => (await loadConsolePages()).Home),
    page(parent, paths.console.accounts, async () => (await loadConsolePages()).Accounts),
    page(parent, '/console/accounts/$username', async () => (await loadConsolePages()).Account),
    page(parent, '/console/accounts/$username/money', async () => (await loadConsolePages()).Money),
    page(parent, '/console/accounts/$username/votes', async () => (await loadConsolePages()).Votes),
    page(parent, '/console/accounts/$username/brands', async () => (await loadConsolePages()).Brands),
    page(parent, '/console/accounts/$username/brands/$brand', async () => (await loadConsolePages()).Brand),
    page(parent, paths.console.jobs, async () => (await loadConsolePages()).Jobs),
    page(parent, '/console/jobs/$username/$job', async () => (await loadConsolePages()).Job),
    page(parent, paths.console.deliveries, async () => (await loadConsolePages()).Deliveries),
    page(parent, '/console/deliveries/$delivery', async () => (await loadConsolePages()).Delivery),
    page(parent, paths.console.pairs, async () => (await loadConsolePages()).Pairs),
    page(parent, paths.console.routes, async () => (await loadConsolePages()).EngineRoutes),
    page(parent, paths.console.engines, async () => (await loadConsolePages()).Engines),
    page(parent, paths.console.compare, async () => (await loadConsolePages()).Compare),
    page(parent, paths.console.tasks, async () => (await loadConsolePages()).Tasks),
    page(parent, paths.console.people, async () => (await loadConsolePages()).People),
    page(parent, paths.console.requests, async () => (await loadConsolePages()).Requests),
    page(parent, paths.console.audit, async () => (await loadConsolePages()).Audit),
    page(parent, paths.console.settings, async () => (await loadConsolePages()).Settings),
  ];
}
