/** The operator's pages and their addresses. */
import type { AnyRoute } from '@tanstack/react-router';
import { page } from '../page.tsx';
import { paths } from '../paths.ts';

export function consolePages(parent: AnyRoute) {
  return [page(parent, paths.console.home, () => import('./Home.tsx'))];
}
