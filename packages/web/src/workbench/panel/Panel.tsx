/** The panel next to the grid: instructions and tone of the job, and the details of the active segment. */
import { useState } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { usePage, useSegment, useWhole, useWorkbench } from '../session/context.tsx';
import shared from '../styles/workbench.module.css';
import { ReviewChanges } from './Changes.tsx';
import { Checks } from './Checks.tsx';
import { Comments } from './Comments.tsx';
import { Concordance } from './Concordance.tsx';
import { Glossary } from './Glossary.tsx';
import { History } from './History.tsx';
import { Instructions } from './Instructions.tsx';
import { Issues } from './Issues.tsx';
import css from './panel.module.css';
import { Queries } from './Queries.tsx';
import { Suggestions } from './Suggestions.tsx';

export function Panel() {
  const t = useTranslate();
  const active = usePage((page) => page.active);
  const [opened, setOpened] = useState(false);
  return (
    <aside className={shared.panel} aria-label={t('workbench.panel')} data-opened={opened}>
      <button type="button" className={css.sheet} aria-expanded={opened} onClick={() => setOpened(!opened)}>
        {t('workbench.panel')}
      </button>
      <div className={css.sections}>
        <Instructions />
        {active >= 0 && <SegmentSections key={active} position={active} />}
      </div>
    </aside>
  );
}

function SegmentSections({ position }: { position: number }) {
  const searched = usePage((page) => page.concordance);
  const { segment } = useSegment(position);
  const { access, kind } = useWorkbench().task;
  const whole = useWhole();
  const t = useTranslate();
  return (
    <>
      {segment.mine && kind === 'review' && <ReviewChanges position={position} />}
      {segment.mine && <Checks position={position} />}
      {whole ? (
        <Glossary position={position} />
      ) : (
        <p className={shared.muted}>{t('workbench.claim_needed')}</p>
      )}
      {/* A joined or split segment has other matches. */}
      <Suggestions key={`${segment.joined_to} ${segment.source.length}`} position={position} />
      {whole && searched !== undefined && <Concordance words={searched} />}
      <Issues position={position} />
      {whole && <Queries position={position} />}
      {whole && <Comments position={position} />}
      {(whole || access === 'record') && <History position={position} />}
    </>
  );
}
