import type { ReactNode } from 'react';
import type { OwnJob } from '../api/generated.ts';
import { Money } from '../ui/Money.tsx';
import { Pair } from '../ui/Pair.tsx';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import css from './account.module.css';

interface JobTableProps {
  label: string;
  /** Undefined while they are on their way. */
  jobs: readonly OwnJob[] | undefined;
  empty: ReactNode;
  error?: Error | null;
  onRetry?: () => void;
  onOpen?: (job: OwnJob) => void;
  opened?: string | undefined;
}

export function JobTable({ label, jobs, opened, ...rest }: JobTableProps) {
  const say = useSay();
  const columns: Column<OwnJob>[] = [
    {
      key: 'uid',
      header: say('account.job'),
      wide: true,
      cell: ({ uid }) => (
        <bdi className={css.uid} title={uid}>
          {uid}
        </bdi>
      ),
    },
    {
      key: 'pair',
      header: say('account.pair'),
      cell: ({ source_language, target_language }) => <Pair from={source_language} to={target_language} />,
    },
    { key: 'tier', header: say('account.tier'), cell: ({ tier }) => say(`account.tier.${tier}`) },
    { key: 'status', header: say('account.status'), cell: ({ status }) => <StatusBadge status={status} /> },
    {
      key: 'price',
      header: say('account.price'),
      align: 'end',
      cell: ({ price }) => <Money cents={price} />,
    },
    { key: 'created', header: say('account.created'), cell: ({ created_at }) => <When at={created_at} /> },
  ];
  return (
    <Table
      label={label}
      columns={columns}
      rows={jobs}
      rowKey={({ uid, tier }) => `${tier} ${uid}`}
      isSelected={({ uid }) => uid === opened}
      {...rest}
    />
  );
}
