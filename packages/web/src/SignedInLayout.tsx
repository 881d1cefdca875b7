/**
 * The layout for signed-in users: the navigation of their role, their name, and the selects for language and
 * theme.
 */
import { Button } from '@mantine/core';
import {
  IconBooks,
  IconChecklist,
  IconDatabase,
  IconFileText,
  IconFileUpload,
  IconHistory,
  IconKey,
  IconLanguage,
  IconLayoutDashboard,
  IconLogout,
  IconMessages,
  IconSend,
  IconUsers,
  IconWallet,
} from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Outlet, useNavigate } from '@tanstack/react-router';
import { query } from './api/client.ts';
import type { ConsoleHome } from './api/generated.ts';
import { CommandPalette } from './CommandPalette.tsx';
import { consoleNavigation } from './console/navigation.ts';
import { type MessageId, useTranslate } from './i18n.tsx';
import { PreferenceSwitches } from './PreferenceSwitches.tsx';
import { GUIDES, paths } from './paths.ts';
import css from './SignedInLayout.module.css';
import { signOut, type User, useUser } from './session.ts';
import { AppLayout, type NavigationItem } from './ui/AppLayout.tsx';
import { Link } from './ui/Link.tsx';
import { Notice } from './ui/Notice.tsx';

interface NavigationEntry extends Omit<NavigationItem, 'label' | 'waiting'> {
  label: MessageId;
  /** Counts what waits there. */
  waiting?(home: ConsoleHome): number;
}

export interface NavigationSection {
  /** Undefined for a navigation with a single group. */
  label?: MessageId;
  entries: readonly NavigationEntry[];
}

/** How often the counts of the navigation are read. The page *Console* reads them at every change. */
const COUNTS_MS = 60_000;

const EDITING: NavigationEntry[] = [
  { to: paths.queue, label: 'nav.queue', icon: IconChecklist },
  { to: paths.work, label: 'nav.work', icon: IconHistory },
];

const CUSTOMER: NavigationEntry[] = [
  { to: paths.account.overview, label: 'nav.overview', icon: IconLayoutDashboard, exact: true },
  { to: paths.account.translate, label: 'nav.translate', icon: IconFileUpload },
  { to: paths.account.access, label: 'nav.access', icon: IconKey },
  { to: paths.account.jobs, label: 'nav.jobs', icon: IconFileText },
  { to: paths.account.chats, label: 'nav.chats', icon: IconMessages },
  { to: paths.account.deliveries, label: 'nav.deliveries', icon: IconSend },
  { to: paths.account.balance, label: 'nav.balance', icon: IconWallet },
  { to: paths.account.brands, label: 'nav.brands', icon: IconBooks },
  { to: paths.account.memory, label: 'nav.memory', icon: IconLanguage },
  { to: paths.account.team, label: 'nav.team', icon: IconUsers },
  { to: paths.account.data, label: 'nav.data', icon: IconDatabase },
];

const NAVIGATION: Record<User['role'], readonly NavigationSection[]> = {
  editor: [{ entries: EDITING }],
  customer: [{ entries: CUSTOMER }],
  operator: [...consoleNavigation, { label: 'nav.group.editing', entries: EDITING }],
};

export function SignedInLayout() {
  const t = useTranslate();
  const user = useUser();
  const isOperator = user?.role === 'operator' && !user.second_factor_missing;
  const { data: home } = useQuery({ ...query('readHome'), enabled: isOperator, refetchInterval: COUNTS_MS });
  // The user has signed out. The router will redirect to the sign-in page.
  if (user === undefined) return null;
  const groups = NAVIGATION[user.role].map(({ label, entries }) => ({
    label: label && t(label),
    items: entries.map(({ waiting, ...entry }) => ({
      ...entry,
      label: t(entry.label),
      waiting: home === undefined ? 0 : (waiting?.(home) ?? 0),
    })),
  }));
  return (
    <AppLayout
      name="Dragoman"
      groups={groups}
      search={
        isOperator
          ? (onChoose) => <CommandPalette pages={groups.flatMap(({ items }) => items)} onChoose={onChoose} />
          : undefined
      }
      foot={<UserMenu user={user} />}
    >
      {user.account_status === 'suspended' && (
        <div className={css.notice}>
          <Notice tone="warning">{t('session.account_suspended')}</Notice>
        </div>
      )}
      <Outlet />
    </AppLayout>
  );
}

function UserMenu({ user }: { user: User }) {
  const t = useTranslate();
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <div className={css.foot}>
      <Link to={paths.me} className={css.user}>
        <strong>
          <bdi>{user.name || user.email}</bdi>
        </strong>
        <span className={css.email}>{user.email}</span>
      </Link>
      <a href={GUIDES}>{t('session.guides')}</a>
      <PreferenceSwitches />
      <Button
        size="xs"
        leftSection={<IconLogout size={16} aria-hidden />}
        onClick={async () => {
          await signOut(queries);
          // The session at the provider ends too. Otherwise the next click would sign the user in again.
          if (user.session.by_provider) return location.assign('/api/sign-in/provider/sign-out');
          await navigate({ to: paths.signIn });
        }}
      >
        {t('session.sign_out')}
      </Button>
    </div>
  );
}
