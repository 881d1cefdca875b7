/** The workbench has one page; it brings its own chunk, which nobody else loads. */
import type { AnyRoute } from '@tanstack/react-router';
import { page } from '../page.tsx';

export const workbenchPages = (parent: AnyRoute) => [
  page(parent, '/tasks/$task', () => import('./Task.tsx')),
];
