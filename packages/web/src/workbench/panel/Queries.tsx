/** The questions to the customer about a segment, with their answers. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { FailureNotice } from '../../ui/Failure.tsx';
import { When } from '../../ui/When.tsx';
import { hintOf } from '../actions/keys.ts';
import { keepFocus, mac, usePage, useSegment, useWorkbench } from '../session/context.tsx';
import shared from '../styles/workbench.module.css';
import css from './panel.module.css';
import { Section } from './Section.tsx';

export function Queries({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { asked, segment } = useSegment(position);
  const all = usePage(() => workbench.task.queries);
  const readOnly = usePage((page) => page.readOnly !== undefined);
  const [error, setError] = useState<Error>();
  const here = all.filter((one) => one.position === position && one.status !== 'withdrawn');
  const mayAsk = !readOnly && segment.mine && !asked;
  if (here.length === 0 && !mayAsk) return null;
  return (
    <Section
      title={t('workbench.queries')}
      extra={
        mayAsk && (
          <Button
            size="compact-xs"
            variant="subtle"
            title={hintOf('ask', mac).join('+')}
            onClick={() => workbench.update({ dialog: { dialog: 'ask', position } })}
          >
            {t('workbench.queries.ask')}
          </Button>
        )
      }
    >
      {error && <FailureNotice error={error} />}
      <ul className={css.comments}>
        {here.map(({ query, question, answer, status, by, asked_at, ended_at }) => (
          <li key={query} className={css.card}>
            <p dir="auto">{question}</p>
            <small className={shared.muted}>
              {by} · <When at={asked_at} /> · {t(`workbench.queries.${status}`)}
            </small>
            {answer !== undefined && (
              <div className={css.answer}>
                <b>{t('workbench.queries.answer')}</b>
                <p dir="auto">{answer}</p>
                {ended_at !== null && (
                  <small className={shared.muted}>
                    <When at={ended_at} />
                  </small>
                )}
              </div>
            )}
            {status === 'open' && segment.mine && !readOnly && (
              <Button
                size="compact-xs"
                variant="subtle"
                onMouseDown={keepFocus}
                onClick={() => workbench.session.withdrawQuery(query).catch(setError)}
              >
                {t('workbench.queries.withdraw')}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
