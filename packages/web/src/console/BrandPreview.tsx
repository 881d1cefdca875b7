/** Shows a brand as editors see it: tone, instructions, and the glossary terms marked in a text. */
import { Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useDeferredValue, useState } from 'react';
import { query } from '../api/client.ts';
import type { BrandTerm, ConsoleBrandPreview } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { Card, Section } from '../ui/Page.tsx';
import css from './console.module.css';
import { Facts } from './shared.tsx';

interface PreviewProps {
  username: string;
  brand: string;
  language: string;
}

export function BrandPreview({ username, brand, language }: PreviewProps) {
  const t = useTranslate();
  const [text, setText] = useState('');
  const shown = useDeferredValue(text.trim() === '' ? t('console.preview.sample') : text);
  const { data, error } = useQuery({
    ...query('previewBrand', { path: { username, brand }, body: { language, text: shown } }),
    placeholderData: (before) => before,
  });
  return (
    <Section title={t('console.preview.title')}>
      <Card>
        <div className={css.stack}>
          <Textarea
            label={t('console.preview.text')}
            rows={2}
            value={text}
            placeholder={t('console.preview.sample')}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          {error !== null && <FailureNotice error={error} />}
          {data !== undefined && (
            <>
              <p className={css.preview} lang="en" dir="auto">
                {markTerms(shown, data)}
              </p>
              <Facts
                facts={[
                  [t('console.brand.tone'), data.tone === null ? null : t('tone', { tone: data.tone })],
                  [t('console.brand.instructions'), data.instructions],
                  [
                    t('console.terms'),
                    data.marks.length === 0 ? '–' : <Terms key="terms" marks={data.marks} />,
                  ],
                ]}
              />
            </>
          )}
        </div>
      </Card>
    </Section>
  );
}

function Terms({ marks }: { marks: ConsoleBrandPreview['marks'] }) {
  const terms = new Map(marks.flatMap((mark) => mark.terms.map((term) => [wordsOf(term), term])));
  return (
    <ul>
      {[...terms.keys()].map((words) => (
        <li key={words}>
          <bdi>{words}</bdi>
        </li>
      ))}
    </ul>
  );
}

const wordsOf = ({ source, target, forbidden, do_not_translate }: BrandTerm) =>
  do_not_translate ? `${source} = ${source}` : `${source} → ${forbidden ? '⊘ ' : ''}${target ?? ''}`;

function markTerms(text: string, { marks }: ConsoleBrandPreview): ReactNode[] {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const { start, end, terms } of marks) {
    // Skips marks that do not fit the text, because the answer may belong to an earlier version of the text.
    if (start < at || end > text.length) continue;
    parts.push(text.slice(at, start));
    parts.push(
      <mark key={start} title={terms.map(wordsOf).join('\n')}>
        {text.slice(start, end)}
      </mark>,
    );
    at = end;
  }
  parts.push(text.slice(at));
  return parts;
}
