import type { ReactNode } from 'react';
import type { OwnJob } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { Money } from '../ui/Money.tsx';
import { Pair } from '../ui/Pair.tsx';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import css from './account.module.css';

interface JobTableProps {
  label: string;
  /** Undefined while the jobs are loading. */
  jobs: readonly OwnJob[] | undefined;
  empty: ReactNode;
  error?: Error | null;
  onRetry?: () => void;
  onOpen?: (job: OwnJob) => void;
  opened?: string | undefined;
}

export function JobTable({ label, jobs, opened, ...rest }: JobTableProps) {
  const t = useTranslate();
  const columns: Column<OwnJob>[] = [
    {
      header: t('account.job'),
      wide: true,
      cell: ({ uid, name }) => (
        <bdi className={css.uid} title={uid}>
          {name ?? uid}
        </bdi>
      ),
    },
    { header: t('account.pair'), cell: (row) => <Pair of={row} /> },
    { header: t('account.tier'), cell: ({ tier }) => t(`account.tier.${tier}`) },
    { header: t('account.status'), cell: ({ status }) => <StatusBadge status={status} /> },
    { header: t('account.price'), align: 'end', cell: ({ price }) => <Money cents={price} /> },
    { header: t('account.created'), cell: ({ created_at }) => <When at={created_at} /> },
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
