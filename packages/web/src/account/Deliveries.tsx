/** The account's callbacks with their attempts. */
import { Button, NativeSelect } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { Delivery, DeliveryAttempt } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import { type PageProps, useFilters, usePages } from '../page.tsx';
import { Dialog, DialogActions, SidePanel } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Facts } from '../ui/Facts.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { Form, SubmitButton } from '../ui/form.tsx';
import { Page } from '../ui/Page.tsx';
import { Lines } from '../ui/Skeleton.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { type Column, More, Table } from '../ui/Table.tsx';
import { toast } from '../ui/Toast.tsx';
import { When } from '../ui/When.tsx';
import css from './account.module.css';
import { type Environment, EnvironmentSwitch, environmentOf } from './environment.tsx';

const STATUSES = ['pending', 'delivered', 'dead'] as const;

export default function Deliveries({ search }: PageProps) {
  const t = useTranslate();
  const setFilters = useFilters();
  const environment = environmentOf(search);
  const status = STATUSES.find((one) => one === search.status);
  const filters = { environment, status };
  const [resending, setResending] = useState(false);
  const {
    rows,
    first: _,
    more,
    ...state
  } = usePages(['listOwnDeliveries', filters], (after, signal) =>
    call('listOwnDeliveries', { query: { ...filters, after, limit: 50 } }, { signal }),
  );
  useLiveUpdates('deliveries', 'listOwnDeliveries', 'readOwnDelivery');
  const columns: Column<Delivery>[] = [
    {
      key: 'url',
      header: t('account.delivery.url'),
      wide: true,
      cell: ({ url }) => (
        <bdi className={css.uid} title={url}>
          {url}
        </bdi>
      ),
    },
    { key: 'event', header: t('account.delivery.event'), cell: ({ event }) => <code>{event}</code> },
    { key: 'status', header: t('account.status'), cell: (one) => <StatusBadge status={one.status} /> },
    {
      key: 'attempts',
      header: t('account.delivery.attempts'),
      align: 'end',
      cell: ({ attempts }) => attempts,
    },
    {
      key: 'next',
      header: t('account.delivery.next'),
      cell: ({ next_attempt_at: at }) => (at === undefined ? '' : <When at={at} />),
    },
    { key: 'created', header: t('account.created'), cell: ({ created_at }) => <When at={created_at} /> },
  ];
  return (
    <Page
      title={t('account.deliveries.title')}
      lead={t('account.deliveries.lead')}
      actions={
        <>
          <Button onClick={() => setResending(true)}>{t('account.deliveries.resend')}</Button>
          <EnvironmentSwitch search={search} />
        </>
      }
    >
      <search className={css.filters}>
        <NativeSelect
          label={t('account.status')}
          value={status ?? ''}
          data={[
            { value: '', label: t('account.any') },
            ...STATUSES.map((value) => ({ value, label: t(`status.${value}`) })),
          ]}
          onChange={(event) => setFilters({ status: event.currentTarget.value })}
        />
      </search>
      <Table
        label={t('account.deliveries.title')}
        columns={columns}
        rows={rows}
        rowKey={({ id }) => id}
        onOpen={({ id }) => setFilters({ open: id })}
        isSelected={({ id }) => id === search.open}
        empty={
          <Empty>{t(status === undefined ? 'account.deliveries.empty' : 'account.deliveries.none')}</Empty>
        }
        {...state}
      />
      <More {...more} />
      <Dialog title={t('account.deliveries.resend')} opened={resending} onClose={() => setResending(false)}>
        {resending && <Resend environment={environment} onClose={() => setResending(false)} />}
      </Dialog>
      <SidePanel
        title={t('account.delivery')}
        opened={search.open !== undefined}
        onClose={() => setFilters({ open: '' })}
      >
        {search.open !== undefined && <DeliveryDetails key={search.open} id={search.open} />}
      </SidePanel>
    </Page>
  );
}

const SINCE = ['hour', 'day', 'week', 'all'] as const;
type Since = (typeof SINCE)[number];
const HOURS = { hour: 1, day: 24, week: 168 };

/** Returns the start of a period as ISO 8601; undefined if the period has no start. */
function momentOf(since: Since, now: number): string | undefined {
  return since === 'all' ? undefined : new Date(now - HOURS[since] * 3_600_000).toISOString();
}

/**
 * Replays each of the dead deliveries that were counted. Deliveries that fail after the count are not
 * replayed.
 */
function Resend({ environment, onClose }: { environment: Environment; onClose(): void }) {
  const t = useTranslate();
  const queries = useQueryClient();
  const [now] = useState(() => Date.now());
  const [chosen, setChosen] = useState<Since>('all');
  const since = momentOf(chosen, now);
  const filters = { environment, ...(since === undefined ? {} : { since }) };
  const { data, error, refetch } = useQuery({
    ...query('countFailedDeliveries', { query: filters }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const failed = data?.failed ?? 0;
  async function resend(): Promise<void> {
    let sent = 0;
    for (;;) {
      const body = { ...filters, until: data!.until };
      const { replayed, left } = await call('replayFailedDeliveries', { body });
      sent += replayed;
      // No delivery was replayed although some are left, so another replay is running.
      if (left === 0 || replayed === 0) break;
    }
    await queries.invalidateQueries({
      predicate: ({ queryKey }) =>
        ['listOwnDeliveries', 'readOwnDelivery', 'readOwnAccount'].includes(String(queryKey[0])),
    });
    toast(t('account.deliveries.resent', { count: sent }));
    onClose();
  }
  return (
    <Form onSubmit={resend}>
      <NativeSelect
        label={t('account.deliveries.since')}
        value={chosen}
        data={SINCE.map((value) => ({ value, label: t(`account.deliveries.since.${value}`) }))}
        onChange={(event) => setChosen(event.currentTarget.value as Since)}
      />
      {error !== null && <FailureNotice error={error} onRetry={() => void refetch()} />}
      <p role="status">
        {data === undefined ? t('ui.loading') : t('account.deliveries.resend.text', { count: failed })}
      </p>
      <DialogActions>
        <Button onClick={onClose}>{t('ui.cancel')}</Button>
        <SubmitButton disabled={failed === 0}>
          {t('account.deliveries.resend.action', { count: failed })}
        </SubmitButton>
      </DialogActions>
    </Form>
  );
}

function DeliveryDetails({ id }: { id: string }) {
  const t = useTranslate();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(query('readOwnDelivery', { path: { delivery_id: id } }));
  if (error !== null) return <FailureNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Lines count={6} />;
  async function resend(): Promise<void> {
    await call('replayOwnDelivery', { path: { delivery_id: id } });
    await Promise.all([refetch(), queries.invalidateQueries({ queryKey: ['listOwnDeliveries'] })]);
    toast(t('account.delivery.resent'));
  }
  return (
    <>
      {data.status !== 'pending' && (
        <div>
          <Button variant="filled" onClick={() => void resend()}>
            {t('account.delivery.resend')}
          </Button>
        </div>
      )}
      <Facts
        facts={[
          { label: t('account.status'), value: <StatusBadge status={data.status} /> },
          { label: t('account.delivery.url'), value: <bdi>{data.url}</bdi> },
          { label: t('account.delivery.event'), value: <code>{data.event}</code> },
          ...(data.uid === undefined ? [] : [{ label: 'uid', value: <bdi>{data.uid}</bdi> }]),
          ...(data.failure === undefined
            ? []
            : [
                {
                  label: t('account.delivery.failure'),
                  value: t(
                    data.failure === 'gone' ? 'account.delivery.gone' : 'account.delivery.out_of_time',
                  ),
                },
              ]),
        ]}
      />
      <h3>{t('account.delivery.attempts')}</h3>
      <ol className={css.thread}>
        {data.attempts.map((attempt) => (
          <li key={attempt.attempt} className={css.block}>
            <Attempt attempt={attempt} />
          </li>
        ))}
      </ol>
    </>
  );
}

function Attempt({ attempt }: { attempt: DeliveryAttempt }) {
  const t = useTranslate();
  const { started_at, status_code, outcome, detail, milliseconds, headers, answer } = attempt;
  const good = status_code !== undefined && status_code >= 200 && status_code < 300;
  return (
    <>
      <div className={css.step}>
        <strong>{attempt.attempt}.</strong>
        {status_code !== undefined && <Tag tone={good ? 'success' : 'danger'}>{String(status_code)}</Tag>}
        {outcome !== undefined && outcome !== 'answered' && (
          <Tag tone="danger">{t(`account.outcome.${outcome}`)}</Tag>
        )}
        {milliseconds !== undefined && (
          <span className={css.muted}>{t('account.milliseconds', { count: milliseconds })}</span>
        )}
        <span className={css.muted}>
          <When at={started_at} />
        </span>
      </div>
      {detail !== undefined && <p className={css.wrap}>{detail}</p>}
      {(headers !== undefined || (answer ?? '') !== '') && (
        <details>
          <summary>{t('account.delivery.answer')}</summary>
          <pre className={css.text} dir="ltr">
            {Object.entries(headers ?? {})
              .map(([name, value]) => `${name}: ${value}`)
              .join('\n')}
            {'\n\n'}
            {answer}
          </pre>
        </details>
      )}
    </>
  );
}
