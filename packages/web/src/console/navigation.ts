/** What an operator finds at the side of the page. Its words are the shell's: they are there on every page. */
import { IconActivity } from '@tabler/icons-react';
import type { NavigationLine } from '../frame.tsx';
import { paths } from '../paths.ts';

export const consoleNavigation: NavigationLine[] = [
  { to: paths.console.home, label: 'nav.console', icon: IconActivity, exact: true },
];
