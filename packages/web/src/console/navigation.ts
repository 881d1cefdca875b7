/**
 * The operator's navigation, in groups. Its messages are among those of the app's shell, because every page of
 * an operator shows the navigation.
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
import type { ConsoleHome } from '../api/generated.ts';
import { paths } from '../paths.ts';
import type { NavigationSection } from '../SignedInLayout.tsx';

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
const waitingOf = (queues: readonly { waiting: number }[]) => sum(queues.map(({ waiting }) => waiting));
/** Adds up the amounts of one kind of what needs attention. */
const amountOf = ({ attention }: ConsoleHome, wanted: ConsoleHome['attention'][number]['kind']) =>
  sum(attention.filter(({ kind }) => kind === wanted).map(({ amount }) => amount));

export const consoleNavigation: NavigationSection[] = [
  {
    label: 'nav.group.work',
    entries: [
      {
        to: paths.console.home,
        label: 'nav.console',
        icon: IconActivity,
        exact: true,
        waiting: ({ attention }) => attention.length,
      },
      {
        to: paths.console.jobs,
        label: 'nav.jobs',
        icon: IconFileText,
        waiting: ({ queues }) => waitingOf(queues),
      },
      {
        to: paths.console.tasks,
        label: 'nav.tasks',
        icon: IconListDetails,
        waiting: ({ tasks }) => waitingOf(tasks),
      },
      {
        to: paths.console.deliveries,
        label: 'nav.deliveries',
        icon: IconSend,
        waiting: (home) => amountOf(home, 'dead'),
      },
    ],
  },
  {
    label: 'nav.group.customers',
    entries: [
      { to: paths.console.accounts, label: 'nav.accounts', icon: IconBuilding },
      {
        to: paths.console.requests,
        label: 'nav.requests',
        icon: IconInbox,
        waiting: (home) => amountOf(home, 'requests'),
      },
    ],
  },
  {
    label: 'nav.group.translation',
    entries: [
      { to: paths.console.pairs, label: 'nav.pairs', icon: IconLanguage },
      { to: paths.console.routes, label: 'nav.routes', icon: IconArrowsSplit },
      { to: paths.console.engines, label: 'nav.engines', icon: IconCpu },
    ],
  },
  {
    label: 'nav.group.server',
    entries: [
      { to: paths.console.people, label: 'nav.people', icon: IconUsers },
      { to: paths.console.audit, label: 'nav.audit', icon: IconNotebook },
      { to: paths.console.settings, label: 'nav.settings', icon: IconSettings },
    ],
  },
];
