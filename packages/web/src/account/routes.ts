/** The routes of the customer's pages. */
import type { AnyRoute } from '@tanstack/react-router';
import { page } from '../page.tsx';
import { paths } from '../paths.ts';

export function accountPages(parent: AnyRoute) {
  return [
    page(parent, paths.account.overview, () => import('./Overview.tsx')),
    page(parent, paths.account.translate, () => import('./Translate.tsx')),
    page(parent, paths.account.access, () => import('./Access.tsx')),
    page(parent, paths.account.jobs, () => import('./Jobs.tsx')),
    page(parent, paths.account.chats, () => import('./Chats.tsx')),
    page(parent, paths.account.deliveries, () => import('./Deliveries.tsx')),
    page(parent, paths.account.balance, () => import('./Balance.tsx')),
    page(parent, paths.account.brands, () => import('./Brands.tsx')),
    page(parent, paths.account.memory, () => import('./Memory.tsx')),
    page(parent, paths.account.data, () => import('./Data.tsx')),
    page(parent, paths.account.team, () => import('./Team.tsx')),
  ];
}
