/** The patterns of a brand, one a line, and what they protect in a text before they are saved. */
import { Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useDeferredValue, useState } from 'react';
import { call, query } from '../api/client.ts';
import type { ConsoleProtected } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { Form, FormActions, SubmitButton } from '../ui/form.tsx';
import { Card, Section } from '../ui/Page.tsx';
import css from './console.module.css';
import { useChange } from './shared.tsx';

interface PatternsProps {
  username: string;
  brand: string;
  revision: number;
  patterns: readonly string[];
}

export function BrandPatterns({ username, brand, revision, patterns }: PatternsProps) {
  const t = useTranslate();
  const change = useChange();
  const path = { username, brand };
  /** Undefined until something is written that is not saved, which stays when another part of the draft is saved. */
  const [unsaved, setUnsaved] = useState<string>();
  const written = unsaved ?? patterns.join('\n');
  const [text, setText] = useState('');
  const protect = written.split('\n').filter((line) => line !== '');
  const tried = useDeferredValue({ protect, text: text.trim() === '' ? t('console.patterns.sample') : text });
  const { data, error } = useQuery({
    ...query('tryPatterns', { path, body: tried }),
    placeholderData: (before) => before,
  });
  return (
    <Section title={t('console.patterns.title')}>
      <Card>
        <Form
          onSubmit={async () => {
            await change(
              () => call('changeBrandDraft', { path, body: { revision, protect } }),
              t('console.brand.saved'),
            );
            // What was written while this was being saved stays.
            setUnsaved((now) => (now === written ? undefined : now));
          }}
        >
          <Textarea
            label={t('console.patterns.list')}
            description={t('console.patterns.help')}
            rows={4}
            dir="ltr"
            spellCheck={false}
            value={written}
            onChange={(event) => setUnsaved(event.currentTarget.value)}
          />
          <Textarea
            label={t('console.patterns.text')}
            rows={2}
            dir="auto"
            value={text}
            placeholder={t('console.patterns.sample')}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          {error === null ? (
            data !== undefined && (
              <output className={css.preview} dir="auto" aria-label={t('console.patterns.result')}>
                {markParts(tried.text, data)}
              </output>
            )
          ) : (
            <FailureNotice error={error} />
          )}
          <FormActions>
            <SubmitButton secondary>{t('console.patterns.save')}</SubmitButton>
          </FormActions>
        </Form>
      </Card>
    </Section>
  );
}

function markParts(text: string, { parts }: ConsoleProtected): ReactNode[] {
  const shown: ReactNode[] = [];
  let at = 0;
  for (const { start, end } of parts) {
    // The answer may belong to an earlier version of the text.
    if (start < at || end > text.length) continue;
    shown.push(text.slice(at, start), <mark key={start}>{text.slice(start, end)}</mark>);
    at = end;
  }
  return [...shown, text.slice(at)];
}
