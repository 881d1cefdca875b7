import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { FailureNotice } from '../../ui/Failure.tsx';
import { concordance } from '../api.ts';
import { useWorkbench } from '../context.tsx';
import shared from '../workbench.module.css';
import css from './panel.module.css';
import { Section } from './Section.tsx';

/** Searches the translation memory. */
export function Concordance({ words }: { words: string }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const [query, setQuery] = useState(words);
  const { data, error, isFetching } = useQuery(concordance(workbench.task.task, query));
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    setQuery(words);
    field.current?.focus();
    field.current?.select();
  }, [words]);
  return (
    <Section title={t('workbench.concordance')}>
      <TextInput
        ref={field}
        aria-label={t('workbench.concordance.words')}
        defaultValue={words}
        key={words}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.nativeEvent.isComposing)
            setQuery(event.currentTarget.value.trim());
          if (event.key === 'Escape') workbench.close('concordance');
        }}
      />
      {query === '' && <p className={shared.muted}>{t('workbench.concordance.hint')}</p>}
      {error && <FailureNotice error={error} />}
      {data && data.entries.length === 0 && !isFetching && (
        <p className={shared.muted}>{t('workbench.concordance.none')}</p>
      )}
      <dl className={css.entries}>
        {data?.entries.map((entry) => (
          <div key={`${entry.source} ${entry.target}`}>
            <dt dir="auto">{entry.source}</dt>
            <dd dir="auto">{entry.target}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
