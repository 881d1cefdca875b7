/** The customer's pages and their addresses. */
import type { AnyRoute } from '@tanstack/react-router';
import { page } from '../page.tsx';
import { paths } from '../paths.ts';

export function accountPages(parent: AnyRoute) {
  return [page(parent, paths.account.overview, () => import('./Overview.tsx'))];
}
