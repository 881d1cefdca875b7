/** The balance and its transfers. */
import { TextInput } from '@mantine/core';
import { hrefOf, query } from '../api/client.ts';
import type { LedgerLine } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import { type PageProps, useFilters, useList } from '../page.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Numbers } from '../ui/Facts.tsx';
import { Money } from '../ui/Money.tsx';
import { Page } from '../ui/Page.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import css from './account.module.css';
import { EnvironmentSwitch, environmentOf } from './environment.tsx';

const KINDS = ['hold', 'capture', 'void', 'refund', 'top_up', 'adjustment'] as const;

export default function Balance({ search }: PageProps) {
  const t = useTranslate();
  const setFilters = useFilters();
  const filters = { environment: environmentOf(search), from: search.from, until: search.until };
  const { data, error, refetch } = useList(query('readOwnLedger', { query: filters }));
  useLiveUpdates('balance', 'readOwnLedger', 'readOwnAccount');
  const kindOf = (kind: string) => {
    const known = KINDS.find((one) => one === kind);
    return known === undefined ? kind : t(`account.ledger.${known}`);
  };
  const columns: Column<LedgerLine>[] = [
    { key: 'at', header: t('account.ledger.at'), cell: ({ at }) => <When at={at} /> },
    { key: 'kind', header: t('account.ledger.kind'), cell: ({ kind }) => kindOf(kind) },
    {
      key: 'about',
      header: t('account.ledger.about'),
      wide: true,
      cell: ({ uid, memo }) => (
        <>
          {uid !== null && <bdi>{uid}</bdi>} {memo !== null && <bdi className={css.muted}>{memo}</bdi>}
        </>
      ),
    },
    {
      key: 'change',
      header: t('account.ledger.change'),
      align: 'end',
      cell: ({ change }) => <Money cents={change} />,
    },
    {
      key: 'balance',
      header: t('account.balance'),
      align: 'end',
      cell: ({ balance }) => <Money cents={balance} />,
    },
  ];
  return (
    <Page
      title={t('account.balance.title')}
      lead={t('account.balance.lead')}
      actions={<EnvironmentSwitch search={search} />}
    >
      {data !== undefined && (
        <Numbers
          facts={[
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
        <a href={hrefOf('downloadLedger', { query: filters })} download>
          {t('account.ledger.csv')}
        </a>
      </search>
      {(data?.left_out ?? 0) > 0 && (
        <p className={css.muted}>{t('account.ledger.left_out', { count: data?.left_out })}</p>
      )}
      <Table
        label={t('account.balance.title')}
        columns={columns}
        rows={data?.lines.toReversed()}
        rowKey={({ at, kind, uid }) => `${at} ${kind} ${uid}`}
        error={error}
        onRetry={() => void refetch()}
        empty={<Empty>{t('account.ledger.empty')}</Empty>}
      />
    </Page>
  );
}
