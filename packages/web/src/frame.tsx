/** The frame of everybody who is signed in: where their role may go, and how they want to see it. */
import { Button } from '@mantine/core';
import {
  IconBooks,
  IconChecklist,
  IconDatabase,
  IconFileText,
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
import { useQueryClient } from '@tanstack/react-query';
import { Outlet, useNavigate } from '@tanstack/react-router';
import { consoleNavigation } from './console/navigation.ts';
import css from './frame.module.css';
import { LookSwitches } from './LookSwitches.tsx';
import { GUIDES, paths } from './paths.ts';
import { type Person, signOut, usePerson } from './session.ts';
import { AppLayout, type NavigationItem } from './ui/AppLayout.tsx';
import { Link } from './ui/Link.tsx';
import { type MessageId, useSay } from './words.tsx';

export interface NavigationLine extends Omit<NavigationItem, 'label'> {
  label: MessageId;
}

const EDITING: NavigationLine[] = [
  { to: paths.queue, label: 'nav.queue', icon: IconChecklist },
  { to: paths.work, label: 'nav.work', icon: IconHistory },
];

const NAVIGATION: Record<Person['role'], NavigationLine[]> = {
  editor: EDITING,
  customer: [
    { to: paths.account.overview, label: 'nav.overview', icon: IconLayoutDashboard, exact: true },
    { to: paths.account.access, label: 'nav.access', icon: IconKey },
    { to: paths.account.jobs, label: 'nav.jobs', icon: IconFileText },
    { to: paths.account.chats, label: 'nav.chats', icon: IconMessages },
    { to: paths.account.deliveries, label: 'nav.deliveries', icon: IconSend },
    { to: paths.account.balance, label: 'nav.balance', icon: IconWallet },
    { to: paths.account.brands, label: 'nav.brands', icon: IconBooks },
    { to: paths.account.memory, label: 'nav.memory', icon: IconLanguage },
    { to: paths.account.team, label: 'nav.team', icon: IconUsers },
    { to: paths.account.data, label: 'nav.data', icon: IconDatabase },
  ],
  operator: [...consoleNavigation, ...EDITING],
};

export function Frame() {
  const say = useSay();
  const person = usePerson();
  if (person === undefined) return null; // signing out: the sign-in is on its way
  const items = NAVIGATION[person.role].map((line) => ({ ...line, label: say(line.label) }));
  return (
    <AppLayout name="Dragoman" items={items} foot={<Foot person={person} />}>
      <Outlet />
    </AppLayout>
  );
}

function Foot({ person }: { person: Person }) {
  const say = useSay();
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <div className={css.foot}>
      <Link to={paths.me} className={css.person}>
        <strong>
          <bdi>{person.name || person.email}</bdi>
        </strong>
        <span className={css.email}>{person.email}</span>
      </Link>
      <a href={GUIDES}>{say('session.guides')}</a>
      <LookSwitches />
      <Button
        size="xs"
        leftSection={<IconLogout size={16} aria-hidden />}
        onClick={async () => {
          await signOut(queries);
          await navigate({ to: paths.signIn });
        }}
      >
        {say('session.sign_out')}
      </Button>
    </div>
  );
}
