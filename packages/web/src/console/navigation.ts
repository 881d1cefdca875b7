/** What an operator finds at the side of the page. Its words are the shell's: they are there on every page. */
import {
  IconActivity,
  IconArrowsSplit,
  IconBuilding,
  IconCpu,
  IconFileText,
  IconInbox,
  IconLanguage,
  IconListDetails,
  IconNotebook,
  IconSend,
  IconSettings,
  IconUsers,
} from '@tabler/icons-react';
import type { NavigationLine } from '../frame.tsx';
import { paths } from '../paths.ts';

export const consoleNavigation: NavigationLine[] = [
  { to: paths.console.home, label: 'nav.console', icon: IconActivity, exact: true },
  { to: paths.console.accounts, label: 'nav.accounts', icon: IconBuilding },
  { to: paths.console.jobs, label: 'nav.jobs', icon: IconFileText },
  { to: paths.console.tasks, label: 'nav.tasks', icon: IconListDetails },
  { to: paths.console.deliveries, label: 'nav.deliveries', icon: IconSend },
  { to: paths.console.pairs, label: 'nav.pairs', icon: IconLanguage },
  { to: paths.console.routes, label: 'nav.routes', icon: IconArrowsSplit },
  { to: paths.console.engines, label: 'nav.engines', icon: IconCpu },
  { to: paths.console.people, label: 'nav.people', icon: IconUsers },
  { to: paths.console.requests, label: 'nav.requests', icon: IconInbox },
  { to: paths.console.audit, label: 'nav.audit', icon: IconNotebook },
  { to: paths.console.settings, label: 'nav.settings', icon: IconSettings },
];
