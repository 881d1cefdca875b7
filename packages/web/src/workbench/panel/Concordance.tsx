import { TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { usePaused } from '../../page.tsx';
import { FailureNotice } from '../../ui/Failure.tsx';
import { concordance } from '../session/api.ts';
import { useWorkbench } from '../session/context.tsx';
import shared from '../styles/workbench.module.css';
import css from './panel.module.css';
import { Section } from './Section.tsx';

/** The minimum number of characters that are searched without Enter. */
const MIN_CHARACTERS = 3;

/** Searches the translation memory while the editor types. A new search cancels the request of the previous one. */
export function Concordance({ words }: { words: string }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const [text, setText] = useState(words);
  const [query, setQuery] = useState(words);
  // The text without an unfinished composition of an input method.
  const [typed, setTyped] = useState(words);
  const paused = usePaused(typed.trim());
  const { data, error, isFetching } = useQuery({
    ...concordance(workbench.task.task, query),
    placeholderData: keepPreviousData,
  });
  const entries = query === '' ? [] : (data?.entries ?? []);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    setText(words);
    setTyped(words);
    setQuery(words);
    field.current?.focus();
    field.current?.select();
  }, [words]);
  useEffect(() => {
    if (paused === '' || paused.length >= MIN_CHARACTERS) setQuery(paused);
  }, [paused]);
  return (
    <Section title={t('workbench.concordance')}>
      <TextInput
        ref={field}
        data-field="concordance"
        aria-label={t('workbench.concordance.words')}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          if (!(event.nativeEvent as InputEvent).isComposing) setTyped(event.currentTarget.value);
        }}
        onCompositionEnd={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.nativeEvent.isComposing) setQuery(text.trim());
          if (event.key === 'Escape') workbench.close('concordance');
        }}
      />
      {query === '' && <p className={shared.muted}>{t('workbench.concordance.hint')}</p>}
      {error && <FailureNotice error={error} />}
      <p role="status" className={shared.muted}>
        {query !== '' && data && entries.length === 0 && !isFetching && t('workbench.concordance.none')}
      </p>
      <dl className={css.entries} aria-busy={isFetching}>
        {entries.map((entry) => (
          <div key={`${entry.source} ${entry.target}`}>
            <dt dir="auto">{entry.source}</dt>
            <dd dir="auto">{entry.target}</dd>
            {entry.origin && (
              <dd className={shared.muted}>
                {t('workbench.match.from', { origin: entry.origin, editor: entry.editor ?? '' })}
              </dd>
            )}
          </div>
        ))}
      </dl>
    </Section>
  );
}
