import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { FailureNotice } from '../../ui/Failure.tsx';
import { When } from '../../ui/When.tsx';
import { history } from '../session/api.ts';
import { directionOf, useSegment, useWorkbench } from '../session/context.tsx';
import shared from '../styles/workbench.module.css';
import { Pieces } from '../text/Pieces.tsx';
import type { Code } from '../text/pieces.ts';
import css from './panel.module.css';

export function History({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { segment } = useSegment(position);
  const [opened, open] = useState(false);
  const { data, error } = useQuery({
    ...history(workbench.task.task, position, segment.revision),
    enabled: opened,
  });
  const describe = (code: Code) => workbench.describeCode(position, code);
  return (
    <details className={css.section} onToggle={(event) => open(event.currentTarget.open)}>
      <summary className={css.sectionHead}>
        <h2>{t('workbench.history')}</h2>
      </summary>
      {error && <FailureNotice error={error} />}
      {data?.entries.length === 0 && <p className={shared.muted}>{t('workbench.history.none')}</p>}
      <ul className={css.comments}>
        {data?.entries.map((entry) => (
          <li key={`${entry.revision} ${entry.created_at}`} className={css.card}>
            <p dir={directionOf(workbench.task.job.target_language)} translate="no">
              <Pieces pieces={entry.target} describe={describe} />
            </p>
            <small className={shared.muted}>
              {t(`workbench.history.${entry.kind}`, { by: entry.by })} · <When at={entry.created_at} />
            </small>
          </li>
        ))}
      </ul>
    </details>
  );
}
