/** The workbench has the whole window, and one address: that of a task. */
import type { AnyRoute } from '@tanstack/react-router';
import { page } from '../page.tsx';

export function workbenchPages(parent: AnyRoute) {
  return [page(parent, '/tasks/$task', () => import('./Workbench.tsx'))];
}
