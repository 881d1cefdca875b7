/** C6: what came to the account, and what went. */
import { TextInput } from '@mantine/core';
import { hrefOf, query } from '../api/client.ts';
import type { LedgerLine } from '../api/generated.ts';
import { useLive } from '../live.ts';
import { type PageProps, useFilters, useList } from '../page.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Numbers } from '../ui/Facts.tsx';
import { Money } from '../ui/Money.tsx';
import { Page } from '../ui/Page.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import css from './account.module.css';
import { EnvironmentSwitch, environmentOf } from './environment.tsx';

const KINDS = ['hold', 'capture', 'void', 'refund', 'top_up', 'adjustment'] as const;

export default function Balance({ search }: PageProps) {
  const say = useSay();
  const setFilters = useFilters();
  const asked = { environment: environmentOf(search), from: search.from, until: search.until };
  const { data, error, refetch } = useList(query('readOwnLedger', { query: asked }));
  useLive('balance', 'readOwnLedger', 'readOwnAccount');
  const kindOf = (kind: string) => {
    const known = KINDS.find((one) => one === kind);
    return known === undefined ? kind : say(`account.ledger.${known}`);
  };
  const columns: Column<LedgerLine>[] = [
    { key: 'at', header: say('account.ledger.at'), cell: ({ at }) => <When at={at} /> },
    { key: 'kind', header: say('account.ledger.kind'), cell: ({ kind }) => kindOf(kind) },
    {
      key: 'about',
      header: say('account.ledger.about'),
      wide: true,
      cell: ({ uid, memo }) => (
        <>
          {uid !== null && <bdi>{uid}</bdi>} {memo !== null && <bdi className={css.muted}>{memo}</bdi>}
        </>
      ),
    },
    {
      key: 'change',
      header: say('account.ledger.change'),
      align: 'end',
      cell: ({ change }) => <Money cents={change} />,
    },
    {
      key: 'balance',
      header: say('account.balance'),
      align: 'end',
      cell: ({ balance }) => <Money cents={balance} />,
    },
  ];
  return (
    <Page
      title={say('account.balance.title')}
      lead={say('account.balance.lead')}
      actions={<EnvironmentSwitch search={search} />}
    >
      {data !== undefined && (
        <Numbers
          facts={[
            { label: say('account.ledger.opening'), value: <Money cents={data.opening} /> },
            { label: say('account.ledger.closing'), value: <Money cents={data.closing} /> },
          ]}
        />
      )}
      <search className={css.filters}>
        {(['from', 'until'] as const).map((end) => (
          <TextInput
            key={end}
            type="date"
            label={say(`account.ledger.${end}`)}
            value={search[end] ?? ''}
            onChange={(event) => setFilters({ [end]: event.currentTarget.value })}
          />
        ))}
        <a href={hrefOf('downloadLedger', { query: asked })} download>
          {say('account.ledger.csv')}
        </a>
      </search>
      {(data?.left_out ?? 0) > 0 && (
        <p className={css.muted}>{say('account.ledger.left_out', { count: data?.left_out })}</p>
      )}
      <Table
        label={say('account.balance.title')}
        columns={columns}
        rows={data?.lines.toReversed()}
        rowKey={({ at, kind, uid }) => `${at} ${kind} ${uid}`}
        error={error}
        onRetry={() => void refetch()}
        empty={<Empty>{say('account.ledger.empty')}</Empty>}
      />
    </Page>
  );
}
