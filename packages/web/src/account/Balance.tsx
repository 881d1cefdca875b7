/** The balance, and a printable statement with one line for each job. */
import { Button, TextInput } from '@mantine/core';
import { IconDownload, IconPrinter } from '@tabler/icons-react';
import { useSuspenseQuery } from '@tanstack/react-query';
import { hrefOf, query } from '../api/client.ts';
import type { OwnLedgerEntry } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import { type Loading, type PageProps, useFilters, useList } from '../page.tsx';
import { paths } from '../paths.ts';
import { Discounts, EditedWordCounts } from '../ui/Discounts.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Numbers } from '../ui/Facts.tsx';
import { Link } from '../ui/Link.tsx';
import { Money } from '../ui/Money.tsx';
import { Page } from '../ui/Page.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import css from './account.module.css';
import { type Environment, EnvironmentSwitch, environmentOf } from './environment.tsx';
import { availableOf, balanceOf, LowBalance } from './LowBalance.tsx';

const KINDS = ['hold', 'capture', 'release', 'void', 'refund', 'top_up', 'adjustment'] as const;

const own = () => query('readOwnAccount');

export const load = ({ queries }: Loading) => queries.ensureQueryData(own());

export default function Balance({ search }: PageProps) {
  const t = useTranslate();
  const setFilters = useFilters();
  const environment = environmentOf(search);
  const filters = { environment, from: search.from, until: search.until };
  const { data: account } = useSuspenseQuery(own());
  const { data, error, refetch } = useList(query('readOwnLedger', { query: filters }));
  useLiveUpdates('balance', 'readOwnLedger', 'readOwnAccount');
  const balance = balanceOf(account, environment);
  const columns = useColumns(environment);
  return (
    <Page
      title={t('account.balance.title')}
      lead={t('account.balance.lead')}
      actions={<EnvironmentSwitch search={search} />}
    >
      <LowBalance account={account} environment={environment} />
      {data !== undefined && (
        <Numbers
          facts={[
            {
              label: t('account.translate.available'),
              value: <Money cents={availableOf(account, environment) ?? balance?.balance ?? 0} />,
            },
            { label: t('account.balance.on_hold'), value: <Money cents={balance?.on_hold ?? 0} /> },
            { label: t('account.ledger.charged_in_period'), value: <Money cents={data.charged} /> },
            { label: t('account.ledger.opening'), value: <Money cents={data.opening} /> },
            { label: t('account.ledger.closing'), value: <Money cents={data.closing} /> },
          ]}
        />
      )}
      <search className={css.filters}>
        {(['from', 'until'] as const).map((end) => (
          <TextInput
            key={end}
            type="date"
            label={t(`account.ledger.${end}`)}
            value={search[end] ?? ''}
            onChange={(event) => setFilters({ [end]: event.currentTarget.value })}
          />
        ))}
        <Button
          component="a"
          href={hrefOf('downloadLedger', { query: filters })}
          download
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          {t('account.ledger.csv')}
        </Button>
        <Button leftSection={<IconPrinter size={16} aria-hidden />} onClick={() => print()}>
          {t('account.ledger.print')}
        </Button>
      </search>
      {(data?.left_out ?? 0) > 0 && (
        <p className={css.muted}>{t('account.ledger.left_out', { count: data?.left_out })}</p>
      )}
      <Table
        label={t('account.balance.title')}
        columns={columns}
        rows={data?.entries.toReversed()}
        rowKey={({ at, kind, uid }) => `${at} ${kind} ${uid}`}
        error={error}
        onRetry={() => void refetch()}
        empty={<Empty>{t('account.ledger.empty')}</Empty>}
      />
    </Page>
  );
}

function useColumns(environment: Environment): Column<OwnLedgerEntry>[] {
  const t = useTranslate();
  const kindOf = (kind: string) => {
    const known = KINDS.find((one) => one === kind);
    return known === undefined ? kind : t(`account.ledger.${known}`);
  };
  return [
    { header: t('account.ledger.at'), cell: ({ at }) => <When at={at} /> },
    { header: t('account.ledger.kind'), cell: ({ kind }) => kindOf(kind) },
    {
      header: t('account.ledger.about'),
      wide: true,
      cell: ({ uid, memo, discounts, edited_words: words }) => (
        <>
          {uid !== null && (
            <Link
              to={paths.account.jobs}
              search={{ open: uid, ...(environment === 'sandbox' ? { environment } : {}) }}
            >
              <bdi>{uid}</bdi>
            </Link>
          )}{' '}
          {memo !== null && <bdi className={css.muted}>{memo}</bdi>}
          <Discounts discounts={discounts} />
          <EditedWordCounts of={words} />
        </>
      ),
    },
    {
      header: t('account.balance.on_hold'),
      align: 'end',
      cell: ({ on_hold }) => on_hold !== 0 && <Money cents={on_hold} />,
    },
    {
      header: t('account.ledger.charged'),
      align: 'end',
      cell: ({ charged }) => charged !== 0 && <Money cents={charged} />,
    },
    { header: t('account.ledger.change'), align: 'end', cell: ({ change }) => <Money cents={change} /> },
  ];
}
