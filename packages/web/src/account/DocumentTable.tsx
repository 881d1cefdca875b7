/** The table of the added documents: one row for each document and target language. */
import { ActionIcon, Button } from '@mantine/core';
import { IconAlertTriangle, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { FormattedNumber } from 'react-intl';
import { CallError, query } from '../api/client.ts';
import type { DocumentQuote, OwnJob } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { hasProgress, JobProgress } from '../JobProgress.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import { DiscountedPrice } from '../ui/Discounts.tsx';
import { useErrorMessage, useFieldErrors } from '../ui/Failure.tsx';
import { Money, useMoney } from '../ui/Money.tsx';
import { Pair, useLanguageName } from '../ui/Pair.tsx';
import { Progress } from '../ui/Progress.tsx';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import {
  isProblem,
  type LocalDocument,
  type ProblemFile,
  quoted,
  removeDocument,
  type Sending,
  type Shipment,
  sendAgain,
  sendingsIn,
} from './document-list.ts';
import css from './Translate.module.css';

interface RowOf<State extends string> {
  key: string;
  document: LocalDocument | ProblemFile;
  state: State;
}
interface Targeted<State extends string> extends RowOf<State> {
  shipment: Shipment;
  quote?: DocumentQuote | undefined;
}
export type Row =
  | RowOf<'problem' | 'untargeted'>
  | Targeted<'checking' | 'waiting'>
  | (Targeted<'refused'> & { error: Error })
  | (Targeted<'ready'> & { quote: DocumentQuote })
  | (Targeted<'sending'> & Extract<Sending, { state: 'sending' }>)
  | (Targeted<'failed'> & Extract<Sending, { state: 'failed' }>)
  | (Targeted<'done'> & Extract<Sending, { state: 'done' }>);

/** The number of rows that subscribe to their jobs. A page has at most 12 subscriptions. */
const MAX_LIVE = 8;

export function DocumentTable({ rows, onOpen }: { rows: readonly Row[]; onOpen(job: OwnJob): void }) {
  const t = useTranslate();
  const live = new Set(rows.filter(({ state }) => state === 'done').slice(0, MAX_LIVE));
  const columns: Column<Row>[] = [
    {
      header: t('account.translate.document'),
      wide: true,
      cell: ({ document }) => <bdi>{document.name ?? t('account.translate.pasted')}</bdi>,
    },
    { header: t('account.pair'), cell: (row) => <Languages row={row} /> },
    {
      header: t('queue.words'),
      align: 'end',
      cell: (row) => 'shipment' in row && row.quote && <FormattedNumber value={row.quote.words} />,
    },
    {
      header: t('account.price'),
      align: 'end',
      cell: (row) => {
        if (row.state === 'done') return <Money cents={row.job.price} />;
        if (!('shipment' in row) || row.quote === undefined) return null;
        return <DiscountedPrice of={row.quote} />;
      },
    },
    { header: t('account.status'), wide: true, cell: (row) => <Status row={row} isLive={live.has(row)} /> },
    {
      header: t('account.actions'),
      bare: true,
      align: 'end',
      cell: (row) => <Actions row={row} onOpen={onOpen} />,
    },
  ];
  return (
    <Table
      label={t('account.translate.documents')}
      columns={columns}
      rows={rows}
      rowKey={({ key }) => key}
      empty={null}
    />
  );
}

function Languages({ row }: { row: Row }) {
  const nameOf = useLanguageName();
  if (row.state === 'done') return <Pair of={row.job} />;
  if (!('shipment' in row)) return null;
  const { target, body } = row.shipment;
  const source = row.quote?.source_language ?? body.source_language;
  return source === undefined ? (
    nameOf(target)
  ) : (
    <Pair of={{ source_language: source, target_language: target }} />
  );
}

function Status({ row, isLive }: { row: Row; isLive: boolean }) {
  const t = useTranslate();
  switch (row.state) {
    case 'problem':
      return (
        <Refusal>{isProblem(row.document) && t(`account.translate.problem.${row.document.problem}`)}</Refusal>
      );
    case 'untargeted':
      return t('account.translate.no_target');
    case 'checking':
      return t('account.translate.checking');
    case 'waiting':
      return t('account.translate.waiting');
    case 'refused':
    case 'failed':
      return <Fault error={row.error} />;
    case 'ready':
      return t('account.translate.ready');
    case 'sending':
      return (
        <Progress label={t('account.translate.sending')} done={row.sent} of={1}>
          <FormattedNumber value={row.sent} style="percent" />
        </Progress>
      );
    case 'done':
      return <SentJob sent={row.job} repeated={row.repeated} isLive={isLive} />;
  }
}

function Refusal({ children }: { children: ReactNode }) {
  return (
    <span className={css.refusal} role="alert">
      <IconAlertTriangle size={16} aria-hidden />
      <span>{children}</span>
    </span>
  );
}

/** Shows why the server refused a document. */
function Fault({ error }: { error: Error }) {
  const t = useTranslate();
  const money = useMoney();
  const messageOf = useErrorMessage();
  const fieldsOf = useFieldErrors();
  if (error instanceof CallError && error.code === 'insufficient_balance') {
    return (
      <Refusal>{t('account.translate.missing', { amount: money(Number(error.details.missing)) })}</Refusal>
    );
  }
  const fields = error instanceof CallError ? Object.values(fieldsOf(error)) : [];
  return <Refusal>{fields.length > 0 ? fields.join(' ') : messageOf(error)}</Refusal>;
}

/** The statuses of a job that the service changes. A job with another status is not read again. */
const UNFINISHED: readonly OwnJob['status'][] = [
  'new',
  'machine_translate_in_progress',
  'translating',
  'rejected',
];

/** The status and the progress of a sent job. The page reads it again when jobs of the account have changed. */
function SentJob({ sent, repeated, isLive }: { sent: OwnJob; repeated: boolean; isLive: boolean }) {
  const t = useTranslate();
  const { uid, environment } = sent;
  const drafted = useLiveUpdates(isLive ? `job:${environment}:${uid}` : undefined);
  const { data } = useQuery({
    ...query('readOwnJob', { path: { uid }, query: { environment } }),
    enabled: ({ state }) => UNFINISHED.includes((state.data ?? sent).status),
  });
  const job = data ?? { ...sent, progress: null };
  return (
    <div className={css.status}>
      <StatusBadge status={job.status} />
      {hasProgress(job) && <JobProgress job={job} drafted={drafted} />}
      {repeated && <span>{t('account.translate.repeated')}</span>}
    </div>
  );
}

function Actions({ row, onOpen }: { row: Row; onOpen(job: OwnJob): void }) {
  const t = useTranslate();
  const name = row.document.name ?? t('account.translate.pasted');
  if (row.state === 'done') {
    const { price, source_language } = row.job;
    const again = quoted(row.shipment, { ...row.quote, price, source_language });
    return (
      <span className={css.actions}>
        {row.repeated && (
          <Button size="xs" onClick={() => void sendAgain(again)}>
            {t('account.translate.again')}
          </Button>
        )}
        <Button size="xs" onClick={() => onOpen(row.job)}>
          {t('account.translate.open')}
          <span className="visually-hidden"> {name}</span>
        </Button>
      </span>
    );
  }
  if ('shipment' in row && Object.keys(sendingsIn(row.shipment.body, row.document)).length > 0) return null;
  return (
    <ActionIcon
      size={32}
      aria-label={t('account.translate.remove', { name })}
      onClick={() => removeDocument(row.document)}
    >
      <IconX size={16} />
    </ActionIcon>
  );
}
