import type { Term } from '@dragoman/checks';
import { Button } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { FailureNotice } from '../../ui/Failure.tsx';
import { hintOf } from '../actions/keys.ts';
import { openTermDialog } from '../actions/selection.ts';
import {
  directionOf,
  keepFocus,
  localeOf,
  mac,
  usePage,
  useSegment,
  useWorkbench,
} from '../session/context.tsx';
import type { TaskTerm } from '../session/task.ts';
import shared from '../styles/workbench.module.css';
import { withoutCuts } from '../text/pieces.ts';
import css from './panel.module.css';
import { Section } from './Section.tsx';

export function Glossary({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { segment, target } = useSegment(position);
  const { job } = workbench.task;
  const readOnly = usePage((page) => page.readOnly !== undefined);
  const [error, setError] = useState<Error>();
  const proposalOf = ({ source, target }: Term) =>
    workbench.task.terms.find((one) => one.proposal && one.source === source && one.target === target);
  const { wanted, forbidden } = workbench.glossary.compare(withoutCuts(segment.source), withoutCuts(target));
  const terms = [...new Map(wanted.map((one) => [`${one.term.source} ${one.term.target}`, one])).values()];
  return (
    <Section
      title={t('workbench.glossary')}
      extra={
        !readOnly &&
        job.brand !== null && (
          <Button
            size="compact-xs"
            variant="subtle"
            title={hintOf('term', mac).join('+')}
            onMouseDown={keepFocus}
            onClick={() => openTermDialog(workbench)}
          >
            {t('workbench.term.propose')}
          </Button>
        )
      }
    >
      {error && <FailureNotice error={error} />}
      {terms.length + forbidden.length === 0 && (
        <p className={shared.muted}>{t('workbench.glossary.none')}</p>
      )}
      <ul className={css.terms}>
        {terms.map(({ term, present }) => (
          <li key={`${term.source} ${term.target}`} data-there={present}>
            <span
              className={present ? shared.termThere : shared.term}
              lang={localeOf(job.source_language)}
              dir="auto"
            >
              {term.source}
            </span>
            <button
              type="button"
              lang={localeOf(job.target_language)}
              dir={directionOf(job.target_language)}
              title={t('workbench.glossary.insert')}
              onClick={() => {
                workbench.editor.insertText(term.doNotTranslate ? term.source : term.target);
                workbench.editor.focus();
              }}
            >
              {term.doNotTranslate ? term.source : term.target}
            </button>
            {present && (
              <span className={css.thereMark}>
                <IconCheck size={14} aria-hidden />
                <span className="visually-hidden">{t('workbench.glossary.there')}</span>
              </span>
            )}
            {term.doNotTranslate && <small>{t('workbench.glossary.keep')}</small>}
            {proposalOf(term) && <Proposed term={proposalOf(term)!} onError={setError} />}
            {term.note && <small dir="auto">{term.note}</small>}
          </li>
        ))}
        {forbidden.map(({ term, range }) => (
          <li key={`${term.target} ${range.start}`} data-forbidden>
            <s dir="auto">{term.target}</s>
            <small>{t('workbench.glossary.forbidden')}</small>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Shows that a term is only proposed, and by whom. The editor who proposed it can withdraw it. */
function Proposed({ term, onError }: { term: TaskTerm; onError: (error: Error) => void }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { proposal, by, may_withdraw: mayWithdraw } = term.proposal!;
  return (
    <small className={css.proposed}>
      {t('workbench.term.proposed', { by })}
      {mayWithdraw && (
        <Button
          size="compact-xs"
          variant="subtle"
          onMouseDown={keepFocus}
          onClick={() => workbench.session.withdrawTerm(proposal).catch(onError)}
        >
          {t('workbench.term.withdraw')}
        </Button>
      )}
    </small>
  );
}
