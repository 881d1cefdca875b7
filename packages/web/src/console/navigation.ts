/**
 * The operator's navigation. Its messages are among those of the app's shell, because every page of an
 * operator shows the navigation.
 */
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
import { paths } from '../paths.ts';
import type { NavigationEntry } from '../SignedInLayout.tsx';

export const consoleNavigation: NavigationEntry[] = [
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
