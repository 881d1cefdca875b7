/** The layout of a page: a footer, and the navigation at the side or, on phones, above the page. */
import { ActionIcon } from '@mantine/core';
import { IconMenu2, IconX } from '@tabler/icons-react';
import { type ComponentType, type ReactNode, useId, useState } from 'react';
import { FormattedNumber } from 'react-intl';
import { useTranslate } from '../i18n.tsx';
import css from './AppLayout.module.css';
import { Link } from './Link.tsx';
import { Toasts } from './Toast.tsx';

export interface NavigationItem {
  to: string;
  label: string;
  icon: ComponentType<{ size?: number; 'aria-hidden'?: boolean }>;
  /** Marks the link as current only at exactly this address, not at addresses below it. */
  exact?: boolean;
  /** The number of entries that wait there; 0 is not shown. */
  waiting?: number;
}

export interface NavigationGroup {
  /** Undefined for a navigation with a single group. */
  label: string | undefined;
  items: readonly NavigationItem[];
}

interface LayoutProps {
  name: string;
  groups: readonly NavigationGroup[];
  /** Renders what stands above the navigation. `onChoose` closes the menu of phones. */
  search: ((onChoose: () => void) => ReactNode) | undefined;
  foot: ReactNode;
  children: ReactNode;
}

export function AppLayout({ name, groups, search, foot, children }: LayoutProps) {
  const t = useTranslate();
  const [opened, setOpened] = useState(false);
  return (
    <div className={css.layout}>
      <a className={css.skip} href="#main">
        {t('ui.skip')}
      </a>
      <header className={css.side} data-opened={opened}>
        <div className={css.top}>
          <span className={css.name}>{name}</span>
          <ActionIcon
            className={css.toggle!}
            size={44}
            aria-expanded={opened}
            aria-label={t('ui.menu')}
            onClick={() => setOpened(!opened)}
          >
            {opened ? <IconX size={22} /> : <IconMenu2 size={22} />}
          </ActionIcon>
        </div>
        <div className={css.fold}>
          {search?.(() => setOpened(false))}
          <nav className={css.groups} aria-label={t('ui.navigation')}>
            {groups.map((group) => (
              <Group key={group.items[0]!.to} group={group} onOpen={() => setOpened(false)} />
            ))}
          </nav>
          <div className={css.foot}>{foot}</div>
        </div>
      </header>
      <main id="main" className={css.main} tabIndex={-1}>
        {children}
      </main>
      <Toasts />
    </div>
  );
}

function Group({ group: { label, items }, onOpen }: { group: NavigationGroup; onOpen(): void }) {
  const t = useTranslate();
  const id = useId();
  return (
    <div>
      {label !== undefined && (
        <p id={id} className={css.group}>
          {label}
        </p>
      )}
      <ul {...(label === undefined ? {} : { 'aria-labelledby': id })}>
        {items.map(({ to, label, icon: Icon, exact = false, waiting = 0 }) => (
          <li key={to}>
            <Link to={to} className={css.item} exact={exact} onClick={onOpen}>
              <Icon size={18} aria-hidden />
              {label}
              {waiting > 0 && (
                <span className={css.waiting}>
                  {' '}
                  <FormattedNumber value={waiting} />
                  <span className="visually-hidden"> {t('nav.waiting')}</span>
                </span>
              )}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
