import { IconCheck } from '@tabler/icons-react';
import { useTranslate } from '../../i18n.tsx';
import { directionOf, localeOf, useSegment, useWorkbench } from '../context.tsx';
import shared from '../workbench.module.css';
import css from './panel.module.css';
import { Section } from './Section.tsx';

export function Glossary({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { segment, target } = useSegment(position);
  const { job } = workbench.task;
  const { wanted, forbidden } = workbench.glossary.compare(segment.source, target);
  const terms = [...new Map(wanted.map((one) => [`${one.term.source} ${one.term.target}`, one])).values()];
  return (
    <Section title={t('workbench.glossary')}>
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
