/** The layout of the pages of one account: its name and the links between them. */
import type { ReactNode } from 'react';
import { useTranslate } from '../i18n.tsx';
import { paths } from '../paths.ts';
import { Link } from '../ui/Link.tsx';
import { Page } from '../ui/Page.tsx';
import css from './console.module.css';

interface AccountPageProps {
  username: string;
  /** The title of a subpage; undefined for the account's main page. */
  title?: string;
  actions?: ReactNode;
  children: ReactNode;
}

export function AccountPage({ username, title, actions, children }: AccountPageProps) {
  const t = useTranslate();
  return (
    <Page
      title={title ?? username}
      lead={
        <>
          <Link to={paths.console.accounts}>{t('nav.accounts')}</Link>
          {title !== undefined && (
            <>
              {' / '}
              <Link to={paths.console.account(username)}>
                <bdi>{username}</bdi>
              </Link>
            </>
          )}
        </>
      }
      actions={actions}
    >
      <nav className={css.tabs} aria-label={t('console.account.parts')}>
        <Link to={paths.console.account(username)} exact>
          {t('nav.overview')}
        </Link>
        <Link to={paths.console.money(username)}>{t('console.money.title')}</Link>
        <Link to={paths.console.brands(username)}>{t('nav.brands')}</Link>
        <Link to={paths.console.votes(username)}>{t('votes.title')}</Link>
        <Link to={paths.console.jobs} search={{ account: username }}>
          {t('nav.jobs')}
        </Link>
        <Link to={paths.console.deliveries} search={{ account: username }}>
          {t('nav.deliveries')}
        </Link>
        <Link to={paths.console.audit} search={{ account: username }}>
          {t('nav.audit')}
        </Link>
      </nav>
      {children}
    </Page>
  );
}
