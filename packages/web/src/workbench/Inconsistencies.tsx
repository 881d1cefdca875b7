/** The sources of the document that were confirmed with several texts, with a button to each segment of this task. */
import { useQuery } from '@tanstack/react-query';
import { useTranslate } from '../i18n.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { inconsistencies } from './api.ts';
import { directionOf, localeOf, useWorkbench } from './context.tsx';
import css from './dialogs.module.css';
import { JumpButtons } from './JumpButtons.tsx';
import { plainText } from './pieces.ts';

export function Inconsistencies() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { job } = workbench.task;
  const { data, error } = useQuery(inconsistencies(workbench.task.task));
  if (error) return <FailureNotice error={error} />;
  if (!data || data.count === 0) return null;
  const textIn = (language: string) => ({ lang: localeOf(language), dir: directionOf(language) });
  return (
    <section className={css.inconsistencies}>
      <h3>{t('workbench.inconsistencies', { count: data.count })}</h3>
      {data.sources.map(({ source, texts }) => (
        <section key={texts[0]!.positions[0]}>
          <h4 {...textIn(job.source_language)}>{plainText(source)}</h4>
          <ul>
            {texts.map(({ target, positions }) => (
              <li key={positions[0]}>
                <span {...textIn(job.target_language)} translate="no">
                  {plainText(target)}
                </span>
                <JumpButtons positions={positions} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </section>
  );
}
