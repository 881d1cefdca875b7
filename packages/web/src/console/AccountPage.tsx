/** The head of every page about one account: its name, and the way between them. */
import type { ReactNode } from 'react';
import { paths } from '../paths.ts';
import { Link } from '../ui/Link.tsx';
import { Page } from '../ui/Page.tsx';
import { useSay } from '../words.tsx';
import css from './console.module.css';

interface AccountPageProps {
  username: string;
  /** What is beside the name in the browser's tab. */
  title?: string;
  actions?: ReactNode;
  children: ReactNode;
}

export function AccountPage({ username, title, actions, children }: AccountPageProps) {
  const say = useSay();
  return (
    <Page
      title={title ?? username}
      lead={
        <>
          <Link to={paths.console.accounts}>{say('nav.accounts')}</Link>
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
      <nav className={css.tabs} aria-label={say('console.account.parts')}>
        <Link to={paths.console.account(username)} exact>
          {say('nav.overview')}
        </Link>
        <Link to={paths.console.money(username)}>{say('console.money.title')}</Link>
        <Link to={paths.console.brands(username)}>{say('nav.brands')}</Link>
        <Link to={paths.console.jobs} search={{ account: username }}>
          {say('nav.jobs')}
        </Link>
        <Link to={paths.console.deliveries} search={{ account: username }}>
          {say('nav.deliveries')}
        </Link>
        <Link to={paths.console.audit} search={{ account: username }}>
          {say('nav.audit')}
        </Link>
      </nav>
      {children}
    </Page>
  );
}
