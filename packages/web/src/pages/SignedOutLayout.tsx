/** The layout of pages for signed-out users. */
import type { ReactNode } from 'react';
import { useTranslate } from '../i18n.tsx';
import { PreferenceSwitches } from '../PreferenceSwitches.tsx';
import { GUIDES } from '../paths.ts';
import { Toasts } from '../ui/Toast.tsx';
import css from './SignedOutLayout.module.css';

export function SignedOutLayout({
  title,
  lead,
  children,
}: {
  title: string;
  lead?: ReactNode;
  children: ReactNode;
}) {
  const t = useTranslate();
  return (
    <main className={css.door} data-ready>
      <title>{`${title} · Dragoman`}</title>
      <div className={css.card}>
        <p className={css.name}>Dragoman</p>
        <h1 className={css.title}>{title}</h1>
        {lead !== undefined && <div className={css.lead}>{lead}</div>}
        {children}
      </div>
      <div className={css.switches}>
        <PreferenceSwitches />
      </div>
      <a href={GUIDES}>{t('session.guides')}</a>
      <Toasts />
    </main>
  );
}
