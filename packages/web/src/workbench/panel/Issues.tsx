import { Button } from '@mantine/core';
import { useTranslate } from '../../i18n.tsx';
import { hintOf } from '../actions/keys.ts';
import { openIssueDialog } from '../actions/selection.ts';
import { keepFocus, mac, settingOf, usePage, useSegment, useWorkbench } from '../session/context.tsx';
import shared from '../styles/workbench.module.css';
import css from './panel.module.css';
import { Section } from './Section.tsx';

export function Issues({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { issues, segment } = useSegment(position);
  const review = workbench.task.kind === 'review';
  const readOnly = usePage((page) => page.readOnly !== undefined);
  if (!review && issues.length === 0) return null;
  return (
    <Section
      title={t('workbench.issues')}
      extra={
        review &&
        !readOnly && (
          <Button
            size="compact-xs"
            variant="subtle"
            title={hintOf('issue', mac).join('+')}
            onClick={() => openIssueDialog(workbench)}
          >
            {t('workbench.issues.mark')}
          </Button>
        )
      }
    >
      {issues.length === 0 && <p className={shared.muted}>{t('workbench.issues.none')}</p>}
      <ul className={css.comments}>
        {issues.map((issue) => (
          <li key={issue.issue} className={css.card}>
            <b>{t(`workbench.category.${issue.category}`)}</b> · {t(`workbench.mqm.${issue.severity}`)}
            {workbench.quoteOf(issue) !== '' && (
              <q
                className={css.quote}
                {...settingOf(workbench.task.job.target_language, segment)}
                translate="no"
              >
                {workbench.quoteOf(issue)}
              </q>
            )}
            {issue.note && <p dir="auto">{issue.note}</p>}
            <small className={shared.muted}>{issue.by}</small>
            {review && !readOnly && (
              <Button
                size="compact-xs"
                variant="subtle"
                onMouseDown={keepFocus}
                onClick={() => void workbench.session.unmarkIssue(issue)}
              >
                {t('workbench.issues.remove')}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
