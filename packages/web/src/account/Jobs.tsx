/** The account's jobs with filters and a side panel. */
import { Button, NativeSelect } from '@mantine/core';
import { call } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import { type PageProps, useFilters, usePages } from '../page.tsx';
import { paths } from '../paths.ts';
import { Empty } from '../ui/Empty.tsx';
import { ButtonLink } from '../ui/Link.tsx';
import { Page } from '../ui/Page.tsx';
import { More } from '../ui/Table.tsx';
import css from './account.module.css';
import { EnvironmentSwitch, environmentOf } from './environment.tsx';
import { JobPanel } from './JobPanel.tsx';
import { JobTable } from './JobTable.tsx';
import { OpenQueries } from './Queries.tsx';
import { SearchField } from './SearchField.tsx';

const STATUSES = ['new', 'translating', 'completed', 'accepted', 'rejected', 'failed', 'canceled'] as const;
const TIERS = ['human', 'machine'] as const;

export default function Jobs({ search }: PageProps) {
  const t = useTranslate();
  const setFilters = useFilters();
  const environment = environmentOf(search);
  const { status, tier, uid } = search;
  const filters = {
    environment,
    status,
    tier: TIERS.find((one) => one === tier) ?? TIERS[0],
    uid__contains: uid,
  };
  const { rows, first, more, ...state } = usePages(['listOwnJobs', filters], (after, signal) =>
    call('listOwnJobs', { query: { ...filters, after, limit: 50 } }, { signal }),
  );
  useLiveUpdates('jobs', 'listOwnJobs', 'listOwnQueries');
  const isFiltered = [status, uid].some((one) => one !== undefined);
  return (
    <Page
      title={t('account.jobs.title')}
      lead={first !== undefined && t('account.jobs.count', { count: first.total })}
      actions={
        <>
          <ButtonLink
            variant="filled"
            to={paths.account.translate}
            search={environment === 'sandbox' ? { environment } : undefined}
          >
            {t('account.translate.action')}
          </ButtonLink>
          <EnvironmentSwitch search={search} />
        </>
      }
    >
      {environment === 'production' && <OpenQueries onOpen={(one) => setFilters({ open: one })} />}
      <search className={css.filters}>
        <SearchField
          key={uid ?? ''}
          label={t('account.jobs.uid')}
          value={uid ?? ''}
          onSearch={(text) => setFilters({ uid: text })}
        />
        <NativeSelect
          label={t('account.status')}
          value={status ?? ''}
          data={[
            { value: '', label: t('account.any') },
            ...STATUSES.map((value) => ({ value, label: t(`status.${value}`) })),
          ]}
          onChange={(event) => setFilters({ status: event.currentTarget.value })}
        />
        <NativeSelect
          label={t('account.tier')}
          value={filters.tier}
          data={TIERS.map((value) => ({ value, label: t(`account.tier.${value}`) }))}
          onChange={(event) => setFilters({ tier: event.currentTarget.value })}
        />
      </search>
      <JobTable
        label={t('account.jobs.title')}
        jobs={rows}
        opened={search.open}
        onOpen={(job) => setFilters({ open: job.uid })}
        empty={
          isFiltered ? (
            <Empty
              action={
                <Button onClick={() => setFilters({ status: '', uid: '' })}>{t('account.clear')}</Button>
              }
            >
              {t('account.jobs.none_match')}
            </Empty>
          ) : (
            <Empty>{t('account.jobs.empty')}</Empty>
          )
        }
        {...state}
      />
      <More {...more} />
      <JobPanel uid={search.open} environment={environment} onClose={() => setFilters({ open: '' })} />
    </Page>
  );
}
