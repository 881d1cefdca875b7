/** The frame of pages for people who are not signed in. */
import type { ReactNode } from 'react';
import { LookSwitches } from '../LookSwitches.tsx';
import { GUIDES } from '../paths.ts';
import { Toasts } from '../ui/Toast.tsx';
import { useSay } from '../words.tsx';
import css from './Door.module.css';

export function Door({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  const say = useSay();
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
        <LookSwitches />
      </div>
      <a href={GUIDES}>{say('session.guides')}</a>
      <Toasts />
    </main>
  );
}
