/** The layout of a page: a footer, and the navigation at the side or, on phones, above the page. */
import { ActionIcon } from '@mantine/core';
import { IconMenu2, IconX } from '@tabler/icons-react';
import { type ComponentType, type ReactNode, useState } from 'react';
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
}

interface LayoutProps {
  name: string;
  items: readonly NavigationItem[];
  foot: ReactNode;
  children: ReactNode;
}

export function AppLayout({ name, items, foot, children }: LayoutProps) {
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
          <nav aria-label={t('ui.navigation')}>
            <ul>
              {items.map(({ to, label, icon: Icon, exact = false }) => (
                <li key={to}>
                  <Link to={to} className={css.item} exact={exact} onClick={() => setOpened(false)}>
                    <Icon size={18} aria-hidden />
                    {label}
                  </Link>
                </li>
              ))}
            </ul>
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
