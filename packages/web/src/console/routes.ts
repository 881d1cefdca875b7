/** The routes of the operator's pages. */
import type { AnyRoute } from '@tanstack/react-router';
import { page } from '../page.tsx';
import { paths } from '../paths.ts';

export function consolePages(parent: AnyRoute) {
  return [
    page(parent, paths.console.home, () => import('./Home.tsx')),
    page(parent, paths.console.accounts, () => import('./Accounts.tsx')),
    page(parent, '/console/accounts/$username', () => import('./Account.tsx')),
    page(parent, '/console/accounts/$username/money', () => import('./Money.tsx')),
    page(parent, '/console/accounts/$username/votes', () => import('./Votes.tsx')),
    page(parent, '/console/accounts/$username/brands', () => import('./Brands.tsx')),
    page(parent, '/console/accounts/$username/brands/$brand', () => import('./Brand.tsx')),
    page(parent, paths.console.jobs, () => import('./Jobs.tsx')),
    page(parent, '/console/jobs/$username/$job', () => import('./Job.tsx')),
    page(parent, paths.console.deliveries, () => import('./Deliveries.tsx')),
    page(parent, '/console/deliveries/$delivery', () => import('./Delivery.tsx')),
    page(parent, paths.console.pairs, () => import('./Pairs.tsx')),
    page(parent, paths.console.routes, () => import('./EngineRoutes.tsx')),
    page(parent, paths.console.engines, () => import('./Engines.tsx')),
    page(parent, paths.console.tasks, () => import('./Tasks.tsx')),
    page(parent, paths.console.people, () => import('./People.tsx')),
    page(parent, paths.console.requests, () => import('./Requests.tsx')),
    page(parent, paths.console.audit, () => import('./Audit.tsx')),
    page(parent, paths.console.settings, () => import('./Settings.tsx')),
  ];
}
