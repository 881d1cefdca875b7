/** The route of the workbench, whose page is a separate chunk. */
import type { AnyRoute } from '@tanstack/react-router';
import { page } from '../page.tsx';

export const loadWorkbench = () => import('./Task.tsx');

export const workbenchPages = (parent: AnyRoute) => [page(parent, '/tasks/$task', loadWorkbench)];
