/** The jobs of all accounts, found by uid, order number, account, state or pair. */

import { query } from '../api/client.ts';
import { useLive } from '../live.ts';
import { type Loading, type PageProps, type Search, useList } from '../page.tsx';
import { paths } from '../paths.ts';
import { Link } from '../ui/Link.tsx';
import { List } from '../ui/List.tsx';
import { Money } from '../ui/Money.tsx';
import { Page } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import css from './console.module.css';
import { AccountLink, Count, Pair } from './parts.tsx';

const jobs = ({ q, account, environment, status, source_language, target_language, after }: Search) =>
  query('listConsoleJobs', {
    query: {
      ...{ q, account, status, source_language, target_language, after },
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
  const say = useSay();
  const { data, error, refetch } = useList(jobs(search));
  useLive('jobs', 'listConsoleJobs');
  return (
    <Page title={say('nav.jobs')}>
      <List
        label={say('nav.jobs')}
        search={search}
        filters={[
          { name: 'q', label: say('console.jobs.search') },
          { name: 'account', label: say('console.account') },
          {
            name: 'status',
            label: say('console.state'),
            choices: [
              { value: '', label: say('console.any') },
              { value: 'unfinished', label: say('console.jobs.unfinished') },
              ...STATUSES.map((value) => ({ value, label: say(`status.${value}`) })),
            ],
          },
          {
            name: 'environment',
            label: say('console.environment'),
            choices: [
              { value: '', label: say('console.any') },
              { value: 'production', label: say('console.environment.production') },
              { value: 'sandbox', label: say('console.environment.sandbox') },
            ],
          },
        ]}
        rows={data?.jobs}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ job }) => job}
        empty={say('console.jobs.none')}
        next={data?.next == null ? undefined : { after: data.next }}
        columns={[
          {
            key: 'uid',
            header: say('console.jobs.uid'),
            wide: true,
            cell: ({ account, job, uid, order_number, environment }) => (
              <span className={css.row}>
                <Link to={paths.console.job(account, job)} className={css.code}>
                  <bdi>{uid}</bdi>
                </Link>
                <small className={css.muted}>#{order_number}</small>
                {environment === 'sandbox' && <Tag>{say('console.environment.sandbox')}</Tag>}
              </span>
            ),
          },
          {
            key: 'account',
            header: say('console.account'),
            cell: ({ account }) => <AccountLink username={account} />,
          },
          {
            key: 'pair',
            header: say('console.pair'),
            cell: ({ source_language, target_language }) => (
              <Pair from={source_language} to={target_language} />
            ),
          },
          {
            key: 'status',
            header: say('console.state'),
            cell: ({ status }) => <StatusBadge status={status} />,
          },
          {
            key: 'words',
            header: say('console.words'),
            align: 'end',
            cell: ({ words }) => <Count value={words} />,
          },
          {
            key: 'price',
            header: say('console.price'),
            align: 'end',
            cell: ({ price }) => <Money cents={price} />,
          },
          {
            key: 'created',
            header: say('console.created'),
            cell: ({ created_at }) => <When at={created_at} />,
          },
        ]}
      />
    </Page>
  );
}
