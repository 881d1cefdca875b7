/** The page of the workbench, in a chunk of its own. */
import type { AnyRoute } from '@tanstack/react-router';
import { page } from '../page.tsx';

export const workbenchPages = (parent: AnyRoute) => [
  page(parent, '/tasks/$task', () => import('./Task.tsx')),
];
