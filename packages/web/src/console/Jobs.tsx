/** The jobs of all accounts, searchable by uid, order number, account, status or language pair. */
import { call, query } from '../api/client.ts';
import type { ConsoleJob, Operations } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import { type Loading, type PageProps, type Search, useList } from '../page.tsx';
import { paths } from '../paths.ts';
import { Link } from '../ui/Link.tsx';
import { List } from '../ui/List.tsx';
import { Money } from '../ui/Money.tsx';
import { Page } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { When } from '../ui/When.tsx';
import { NoteField } from './CancelJob.tsx';
import css from './console.module.css';
import { useRowActions } from './RowActions.tsx';
import { AccountLink, Count, Pair, useEnvironmentChoices, useLanguageChoices } from './shared.tsx';

const jobs = ({ q, account, environment, status, source_language, target_language, after }: Search) =>
  query('listConsoleJobs', {
    query: {
      q,
      account,
      status: status as Operations['listConsoleJobs']['query']['status'],
      source_language,
      target_language,
      after,
      ...(environment ? { environment: environment as 'production' | 'sandbox' } : {}),
    },
  });

export const load = ({ queries, search }: Loading) => queries.ensureQueryData(jobs(search));

const STATUSES = [
  'new',
  'machine_translate_in_progress',
  'translating',
  'completed',
  'failed',
  'canceled',
] as const;

export default function Jobs({ search }: PageProps) {
  const t = useTranslate();
  const environments = useEnvironmentChoices();
  const { data, error, refetch } = useList(jobs(search));
  const languages = useLanguageChoices(search);
  useLiveUpdates('jobs', 'listConsoleJobs');
  const { column, bar } = useJobActions(data?.jobs);
  return (
    <Page title={t('nav.jobs')}>
      <List
        label={t('nav.jobs')}
        search={search}
        filters={[
          { name: 'q', label: t('console.jobs.search') },
          { name: 'account', label: t('console.account') },
          {
            name: 'status',
            label: t('console.state'),
            choices: [
              { value: '', label: t('console.any') },
              { value: 'unfinished', label: t('console.jobs.unfinished') },
              ...STATUSES.map((value) => ({ value, label: t(`status.${value}`) })),
            ],
          },
          { name: 'source_language', label: t('console.source'), choices: languages.source },
          { name: 'target_language', label: t('console.target'), choices: languages.target },
          {
            name: 'environment',
            label: t('console.environment'),
            choices: [{ value: '', label: t('console.any') }, ...environments],
          },
        ]}
        rows={data?.jobs}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ job }) => job}
        empty={t('console.jobs.none')}
        next={data?.next == null ? undefined : { after: data.next }}
        columns={[
          column,
          {
            header: t('console.jobs.uid'),
            wide: true,
            cell: ({ account, job, uid, order_number, environment }) => (
              <span className={css.row}>
                <Link to={paths.console.job(account, job)} className={css.code}>
                  <bdi>{uid}</bdi>
                </Link>
                <small className={css.muted}>#{order_number}</small>
                {environment === 'sandbox' && <Tag>{t('console.environment.sandbox')}</Tag>}
              </span>
            ),
          },
          { header: t('console.account'), cell: ({ account }) => <AccountLink username={account} /> },
          { header: t('console.pair'), cell: (row) => <Pair of={row} /> },
          { header: t('console.state'), cell: ({ status }) => <StatusBadge status={status} /> },
          { header: t('console.words'), align: 'end', cell: ({ words }) => <Count value={words} /> },
          { header: t('console.price'), align: 'end', cell: ({ price }) => <Money cents={price} /> },
          { header: t('console.created'), cell: ({ created_at }) => <When at={created_at} /> },
        ]}
      />
      {bar}
    </Page>
  );
}

function useJobActions(rows: readonly ConsoleJob[] | undefined) {
  const t = useTranslate();
  const path = ({ account: username, job }: ConsoleJob) => ({ path: { username, job } });
  return useRowActions({
    rows,
    rowKey: ({ job }) => job,
    nameOf: ({ uid, account }) => `${uid}, ${account}`,
    actions: [
      { label: t('console.job.retry'), run: (row) => call('retryConsoleJob', path(row)) },
      {
        label: t('console.jobs.cancel'),
        danger: true,
        fields: () => <NoteField />,
        run: (row, { note }) => call('cancelConsoleJob', { ...path(row), body: note ? { note } : {} }),
      },
    ],
  });
}
