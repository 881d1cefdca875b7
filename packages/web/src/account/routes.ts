/** The routes of the customer's pages. */
import type { AnyRoute } from '@tanstack/react-router';
import { page } from '../page.tsx';
import { paths } from '../paths.ts';

/** All pages of the area are one chunk, because most of them are small and have the same parts. */
export const loadAccountPages = () => import('./pages.ts');

export function accountPages(parent: AnyRoute) {
  return [
    page(parent, paths.account.overview, async () => (await loadAccountPages()).Overview),
    page(parent, paths.account.translate, async () => (await loadAccountPages()).Translate),
    page(parent, paths.account.access, async () => (await loadAccountPages()).Access),
    page(parent, paths.account.jobs, async () => (await loadAccountPages()).Jobs),
    page(parent, paths.account.chats, async () => (await loadAccountPages()).Chats),
    page(parent, paths.account.deliveries, async () => (await loadAccountPages()).Deliveries),
    page(parent, paths.account.balance, async () => (await loadAccountPages()).Balance),
    page(parent, paths.account.brands, async () => (await loadAccountPages()).Brands),
    page(parent, paths.account.memory, async () => (await loadAccountPages()).Memory),
    page(parent, paths.account.data, async () => (await loadAccountPages()).Data),
    page(parent, paths.account.team, async () => (await loadAccountPages()).Team),
  ];
}
