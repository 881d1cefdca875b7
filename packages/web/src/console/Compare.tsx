/**
 * Compares engines: an operator enters a text, and sees the translations of several engines side by side with their
 * measures. Workers translate in the background. The server deletes the comparison when the operator leaves the page.
 */
import { Button } from '@mantine/core';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { type DragEvent, type ReactNode, useEffect, useState } from 'react';
import { useIntl } from 'react-intl';
import { call, query } from '../api/client.ts';
import type { ComparedEngine, ComparedText, EngineComparison } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import type { Loading } from '../page.tsx';
import { Empty } from '../ui/Empty.tsx';
import { useEngineFailure } from '../ui/engine-failure.ts';
import { FailureNotice, useErrorMessage } from '../ui/Failure.tsx';
import { textOf } from '../ui/file-text.ts';
import { ChecksField, Form, FormActions, SubmitButton, TextField, type Values } from '../ui/form.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { Progress } from '../ui/Progress.tsx';
import { Table } from '../ui/Table.tsx';
import { announce, toast } from '../ui/Toast.tsx';
import css from './Compare.module.css';
import { LanguageField } from './pickers.tsx';

const engines = () => query('listEngines');

export const load = ({ queries }: Loading) => queries.ensureQueryData(engines());

/** The size above which no text file fits. */
const MAX_FILE_BYTES = 200_000;

export default function Compare() {
  const t = useTranslate();
  const { data } = useSuspenseQuery(engines());
  const known = data.engines.filter(({ workers }) => workers > 0).map(({ engine }) => engine);
  const [comparison, setComparison] = useState<string>();
  useEnd(comparison);

  async function start(values: Values): Promise<void> {
    const body = {
      source_language: values.source_language ?? '',
      target_language: values.target_language ?? '',
      text: values.text ?? '',
      references: values.references ?? '',
      engines: known.filter((engine) => values[`engines.${engine}`] !== undefined),
    };
    setComparison((await call('compareEngines', { body })).comparison);
  }

  return (
    <Page title={t('console.compare.title')} lead={t('console.compare.lead')}>
      <Card>
        {known.length === 0 ? (
          <Empty>{t('console.engines.empty')}</Empty>
        ) : (
          <Form onSubmit={start}>
            <div className={css.pair}>
              <LanguageField name="source_language" label={t('console.source')} defaultValue="en" />
              <LanguageField name="target_language" label={t('console.target')} defaultValue="es" />
            </div>
            <ChecksField
              name="engines"
              label={t('nav.engines')}
              description={t('console.compare.engines_about')}
              choices={known.map((value) => ({ value, label: value }))}
            />
            <FileDrop>
              <TextField
                name="text"
                label={t('console.compare.text')}
                description={t('console.compare.text_about')}
                rows={6}
                lang="und"
              />
            </FileDrop>
            <FileDrop>
              <TextField
                name="references"
                label={t('console.compare.references')}
                description={t('console.compare.references_about')}
                rows={4}
                lang="und"
                optional
              />
            </FileDrop>
            <FormActions>
              <SubmitButton>{t('console.compare.start')}</SubmitButton>
            </FormActions>
          </Form>
        )}
      </Card>
      {comparison !== undefined && (
        <Result key={comparison} comparison={comparison} onCancel={() => setComparison(undefined)} />
      )}
    </Page>
  );
}

/** Ends a comparison on the server when another one replaces it, or when the operator leaves the page. */
function useEnd(comparison: string | undefined): void {
  useEffect(() => {
    if (comparison === undefined) return;
    const end = () =>
      void call('endComparison', { path: { comparison } }, { keepalive: true }).catch(() => {
        // The server deletes it after ten minutes.
      });
    addEventListener('pagehide', end);
    return () => {
      removeEventListener('pagehide', end);
      end();
    };
  }, [comparison]);
}

/** Puts the text of a dropped file into the text field inside. */
function FileDrop({ children }: { children: ReactNode }) {
  const t = useTranslate();
  const messageOf = useErrorMessage();
  async function drop(event: DragEvent<HTMLDivElement>): Promise<void> {
    const [file] = event.dataTransfer.files;
    if (file === undefined) return;
    event.preventDefault();
    const field = event.currentTarget.querySelector('textarea')!;
    if (file.size > MAX_FILE_BYTES) toast(t('console.compare.file_too_large'), 'danger');
    else {
      const text = await textOf(file).catch((error: Error) => void toast(messageOf(error), 'danger'));
      if (text !== undefined) field.value = text;
    }
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keyboard uses the text field inside
    <div onDragOver={(event) => event.preventDefault()} onDrop={(event) => void drop(event)}>
      {children}
    </div>
  );
}

function Result({ comparison, onCancel }: { comparison: string; onCancel(): void }) {
  const t = useTranslate();
  const { data, error } = useQuery(query('readComparison', { path: { comparison } }));
  const finished = data?.finished === true;
  useLiveUpdates(finished ? undefined : 'engines', 'readComparison');
  useEffect(() => {
    if (finished) announce(t('console.compare.finished'));
  }, [finished, t]);
  if (error !== null && !finished) {
    return error.code === 'not_found' ? (
      <Notice tone="warning">{t('console.compare.expired')}</Notice>
    ) : (
      <FailureNotice error={error} />
    );
  }
  if (data === undefined) return null;
  return finished ? (
    <>
      <Section title={t('console.compare.results')}>
        <Measures engines={data.engines} />
        <p className={css.muted}>{t('console.compare.about')}</p>
      </Section>
      <Section title={t('console.compare.lines')}>
        <ol className={css.lines}>
          {data.texts.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a comparison never change
            <Line key={index} line={line} number={index + 1} comparison={data} />
          ))}
        </ol>
      </Section>
    </>
  ) : (
    <Section
      title={t('console.compare.progress')}
      actions={<Button onClick={onCancel}>{t('ui.cancel')}</Button>}
    >
      <Card>
        <ul className={css.progress}>
          {data.engines.map(({ engine, state, translated, segments }) => (
            <li key={engine}>
              <bdi className={css.name}>{engine}</bdi>
              <Progress label={engine} done={translated} of={segments}>
                {state === 'translating' && segments > 0
                  ? t('console.compare.sentences', { translated, all: segments })
                  : t(`console.compare.state.${state}`)}
              </Progress>
            </li>
          ))}
        </ul>
      </Card>
    </Section>
  );
}

function Measures({ engines: compared }: { engines: readonly ComparedEngine[] }) {
  const t = useTranslate();
  const intl = useIntl();
  const scoreOf = useScore();
  const failureOf = useEngineFailure();
  const rows = compared.flatMap(({ engine, measures }) =>
    measures === null ? [] : [{ engine, ...measures }],
  );
  const percentOf = (share: number | null): string =>
    share === null ? '–' : intl.formatNumber(share, { style: 'percent', maximumFractionDigits: 1 });
  const cost = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const;
  return (
    <Table
      label={t('console.compare.results')}
      rows={rows}
      rowKey={({ engine }) => engine}
      empty={null}
      columns={[
        { header: t('console.engine'), cell: ({ engine }) => <bdi>{engine}</bdi> },
        { header: t('console.compare.chrf'), align: 'end', cell: ({ chrf }) => scoreOf(chrf) },
        { header: t('console.compare.agreement'), align: 'end', cell: ({ agreement }) => scoreOf(agreement) },
        {
          header: t('console.compare.copied'),
          align: 'end',
          cell: ({ copied }) => percentOf(copied === null ? null : copied / 100),
        },
        {
          header: t('console.compare.confidence'),
          align: 'end',
          cell: ({ confidence }) => percentOf(confidence),
        },
        {
          header: t('console.compare.speed'),
          align: 'end',
          cell: ({ words_per_second }) => intl.formatNumber(words_per_second, { maximumFractionDigits: 1 }),
        },
        {
          header: t('console.compare.cost'),
          align: 'end',
          cell: ({ cents }) => (
            <bdi dir="ltr">{intl.formatNumber(cents / 100, { ...cost, maximumFractionDigits: 4 })}</bdi>
          ),
        },
        {
          header: t('console.compare.failed'),
          cell: ({ failed }) =>
            Object.entries(failed)
              .map(([reason, count]) => `${intl.formatNumber(count)} ${failureOf(reason)}`)
              .join(', ') || intl.formatNumber(0),
        },
      ]}
    />
  );
}

/** Returns the function that writes a chrF score. */
function useScore(): (score: number | null) => string {
  const intl = useIntl();
  return (score) =>
    score === null ? '–' : intl.formatNumber(score, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

interface LineProps {
  line: ComparedText;
  number: number;
  comparison: EngineComparison;
}

function Line({ line, number, comparison }: LineProps) {
  const t = useTranslate();
  const scoreOf = useScore();
  const { source_language, target_language } = comparison;
  return (
    <li className={css.line}>
      <h3>{t('console.compare.line', { number })}</h3>
      <p className={css.text} lang={source_language} dir="auto">
        {line.source}
      </p>
      <div className={css.translations}>
        {line.reference !== null && (
          <div>
            <strong>{t('console.compare.reference')}</strong>
            <p className={css.text} lang={target_language} dir="auto">
              {line.reference}
            </p>
          </div>
        )}
        {line.translations.map(({ engine, text, complete, chrf, copied }) => (
          <div key={engine}>
            <span className={css.head}>
              <strong>
                <bdi>{engine}</bdi>
              </strong>
              {chrf !== null && (
                <span className={css.muted}>{t('console.compare.score', { score: scoreOf(chrf) })}</span>
              )}
            </span>
            <p className={css.text} lang={target_language} dir="auto">
              {text}
            </p>
            {!complete && <p className={css.failed}>{t('console.compare.incomplete')}</p>}
            {copied.length > 0 && (
              <p className={css.muted}>
                {t('console.compare.copied_words')} <bdi lang={source_language}>{copied.join(', ')}</bdi>
              </p>
            )}
          </div>
        ))}
      </div>
    </li>
  );
}
