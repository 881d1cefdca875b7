/** The account's callbacks with their attempts. */
import { Button, NativeSelect } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { CallError, call, query } from '../api/client.ts';
import type { Delivery, DeliveryAttempt, OwnDeliveryDetail } from '../api/generated.ts';
import { type MessageId, useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import { type PageProps, useFilters, usePages } from '../page.tsx';
import { paths } from '../paths.ts';
import { Dialog, DialogActions, SidePanel } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Facts } from '../ui/Facts.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { Field, Form, SubmitButton } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { Page } from '../ui/Page.tsx';
import { Lines } from '../ui/Skeleton.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { type Column, More, Table } from '../ui/Table.tsx';
import { toast } from '../ui/Toast.tsx';
import { When } from '../ui/When.tsx';
import css from './account.module.css';
import { type Environment, EnvironmentSwitch, environmentOf } from './environment.tsx';
import { SearchField } from './SearchField.tsx';

const STATUSES = ['pending', 'delivered', 'dead'] as const;

export default function Deliveries({ search }: PageProps) {
  const t = useTranslate();
  const setFilters = useFilters();
  const environment = environmentOf(search);
  const status = STATUSES.find((one) => one === search.status);
  const filters = { environment, status };
  const [resending, setResending] = useState(false);
  const [testing, setTesting] = useState(false);
  const {
    rows,
    first: _,
    more,
    ...state
  } = usePages(['listOwnDeliveries', filters], (after, signal) =>
    call('listOwnDeliveries', { query: { ...filters, after, limit: 50 } }, { signal }),
  );
  useLiveUpdates('deliveries', 'listOwnDeliveries', 'getOwnDelivery', 'readOwnJob');
  const ofJob = useDeliveriesOf(search.uid, environment);
  const columns = useColumns();
  return (
    <Page
      title={t('account.deliveries.title')}
      lead={t('account.deliveries.lead')}
      actions={
        <>
          <Button onClick={() => setTesting(true)}>{t('account.deliveries.test')}</Button>
          <Button onClick={() => setResending(true)}>{t('account.deliveries.resend')}</Button>
          <EnvironmentSwitch search={search} />
        </>
      }
    >
      <search className={css.filters}>
        <SearchField
          key={search.uid ?? ''}
          label={t('account.deliveries.uid')}
          value={search.uid ?? ''}
          onSearch={(uid) => setFilters({ uid })}
        />
        <NativeSelect
          label={t('account.status')}
          disabled={search.uid !== undefined}
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
        rows={search.uid === undefined ? rows : ofJob.rows}
        rowKey={({ id }) => id}
        onOpen={({ id }) => setFilters({ open: id })}
        isSelected={({ id }) => id === search.open}
        empty={
          <Empty>
            {search.uid === undefined && status === undefined
              ? t('account.deliveries.empty')
              : t('account.deliveries.none')}
          </Empty>
        }
        {...(search.uid === undefined ? state : ofJob.state)}
      />
      {search.uid === undefined && <More {...more} />}
      <Dialog title={t('account.deliveries.resend')} opened={resending} onClose={() => setResending(false)}>
        {resending && <Resend environment={environment} onClose={() => setResending(false)} />}
      </Dialog>
      <Dialog title={t('account.deliveries.test')} opened={testing} onClose={() => setTesting(false)}>
        {testing && (
          <TestUrl
            environment={environment}
            known={rows ?? []}
            onSent={({ id }) => {
              setTesting(false);
              setFilters({ open: id });
            }}
            onClose={() => setTesting(false)}
          />
        )}
      </Dialog>
      <SidePanel
        title={t('account.delivery')}
        opened={search.open !== undefined}
        onClose={() => setFilters({ open: '' })}
      >
        {search.open !== undefined && (
          <DeliveryDetails key={search.open} id={search.open} environment={environment} />
        )}
      </SidePanel>
    </Page>
  );
}

function useColumns(): Column<Delivery>[] {
  const t = useTranslate();
  return [
    {
      header: t('account.delivery.url'),
      wide: true,
      cell: ({ url, endpoint_id }) => (
        <>
          <bdi className={css.uid} title={url}>
            {url}
          </bdi>
          {endpoint_id !== undefined && <div className={css.muted}>{t('account.delivery.endpoint')}</div>}
        </>
      ),
    },
    {
      header: t('account.job'),
      cell: ({ uid }) =>
        uid !== undefined && (
          <bdi className={`${css.uid} ${css.short}`} title={uid}>
            {uid}
          </bdi>
        ),
    },
    { header: t('account.status'), cell: (one) => <StatusBadge status={one.status} /> },
    { header: t('account.delivery.answer'), cell: (one) => <Outcome {...one} /> },
    { header: t('account.delivery.attempts'), align: 'end', cell: ({ attempts }) => attempts },
    {
      header: t('account.delivery.next'),
      cell: ({ next_attempt_at: at }) => (at === undefined ? '' : <When at={at} />),
    },
    { header: t('account.created'), cell: ({ created_at }) => <When at={created_at} /> },
  ];
}

/** Returns the deliveries of a job, newest first. Returns none if no job has the uid. */
function useDeliveriesOf(uid: string | undefined, environment: Environment) {
  const { data, error, refetch } = useQuery({
    ...query('readOwnJob', { path: { uid: uid ?? '' }, query: { environment } }),
    enabled: uid !== undefined,
  });
  const isUnknown = error instanceof CallError && error.status === 404;
  return {
    rows: isUnknown ? [] : data?.deliveries.toReversed(),
    state: { error: isUnknown ? null : error, onRetry: () => void refetch() },
  };
}

/** Shows how an attempt ended: the HTTP status, or the fault of the connection. */
function Outcome({ last_status_code: code, last_outcome: outcome }: Partial<Delivery>) {
  const t = useTranslate();
  const good = code !== undefined && code >= 200 && code < 300;
  return (
    <>
      {code !== undefined && <Tag tone={good ? 'success' : 'danger'}>{String(code)}</Tag>}
      {outcome !== undefined && outcome !== 'answered' && (
        <Tag tone="danger">{t(`account.outcome.${outcome}`)}</Tag>
      )}
    </>
  );
}

interface TestUrlProps {
  environment: Environment;
  /** The deliveries whose URLs the field suggests. */
  known: readonly Delivery[];
  onSent(delivery: Delivery): void;
  onClose(): void;
}

/** Sends a test event to a URL. The result is shown as that of any other callback. */
function TestUrl({ environment, known, onSent, onClose }: TestUrlProps) {
  const t = useTranslate();
  const queries = useQueryClient();
  const id = useId();
  return (
    <Form
      onSubmit={async ({ url = '' }) => {
        const sent = await call('testCallbackUrl', { body: { environment, url: url.trim() } });
        await queries.invalidateQueries({ queryKey: ['listOwnDeliveries'] });
        onSent(sent);
      }}
    >
      <p>{t('account.deliveries.test.about')}</p>
      <Field name="url" type="url" label={t('account.delivery.url')} list={id} autoFocus ltr />
      <datalist id={id}>
        {[...new Set(known.map(({ url }) => url))].map((url) => (
          <option key={url} value={url} />
        ))}
      </datalist>
      <DialogActions>
        <Button onClick={onClose}>{t('ui.cancel')}</Button>
        <SubmitButton>{t('account.deliveries.test.action')}</SubmitButton>
      </DialogActions>
    </Form>
  );
}

const SINCE = ['hour', 'day', 'week', 'all'] as const;
type Since = (typeof SINCE)[number];
const HOURS = { hour: 1, day: 24, week: 168 };

/** Returns the start of a period as ISO 8601. */
function momentOf(since: Since, now: number): string {
  return new Date(since === 'all' ? 0 : now - HOURS[since] * 3_600_000).toISOString();
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
  const filters = { environment, since: momentOf(chosen, now) };
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
      const { replayed, left } = await call('replayOwnDeliveries', { body });
      sent += replayed;
      // No delivery was replayed although some are left, so another replay is running.
      if (left === 0 || replayed === 0) break;
    }
    await queries.invalidateQueries({
      predicate: ({ queryKey }) =>
        ['listOwnDeliveries', 'getOwnDelivery', 'readOwnAccount'].includes(String(queryKey[0])),
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

function DeliveryDetails({ id, environment }: { id: string; environment: Environment }) {
  const t = useTranslate();
  const queries = useQueryClient();
  const [error, setError] = useState<Error | null>(null);
  const { data, error: unread, refetch } = useQuery(query('getOwnDelivery', { path: { delivery_id: id } }));
  const sandbox = environment === 'sandbox' ? { environment } : {};
  if (unread !== null) return <FailureNotice error={unread} onRetry={() => void refetch()} />;
  if (data === undefined) return <Lines count={6} />;
  async function resend(): Promise<void> {
    try {
      await call('replayOwnDelivery', { path: { delivery_id: id } });
      setError(null);
    } catch (failed) {
      return setError(failed as Error);
    }
    await Promise.all([refetch(), queries.invalidateQueries({ queryKey: ['listOwnDeliveries'] })]);
    toast(t('account.delivery.resent'));
  }
  return (
    <>
      {error !== null && <FailureNotice error={error} />}
      <div>
        <Button variant="filled" onClick={() => void resend()}>
          {t(data.status === 'pending' ? 'account.delivery.send_now' : 'account.delivery.resend')}
        </Button>
      </div>
      <Facts
        facts={[
          { label: t('account.status'), value: <StatusBadge status={data.status} /> },
          { label: t('account.delivery.url'), value: <bdi>{data.url}</bdi> },
          { label: t('account.delivery.event'), value: <code>{data.event}</code> },
          ...(data.endpoint_id === undefined
            ? []
            : [
                {
                  label: t('account.delivery.endpoint'),
                  value: (
                    <Link to={paths.account.access}>
                      <code dir="ltr">{data.endpoint_id}</code>
                    </Link>
                  ),
                },
              ]),
          ...(data.next_attempt_at === undefined
            ? []
            : [{ label: t('account.delivery.next'), value: <When at={data.next_attempt_at} /> }]),
          ...(data.uid === undefined
            ? []
            : [
                {
                  label: 'uid',
                  value: (
                    <Link to={paths.account.jobs} search={{ open: data.uid, ...sandbox }}>
                      <bdi>{data.uid}</bdi>
                    </Link>
                  ),
                },
              ]),
          ...(data.failure === undefined
            ? []
            : [
                {
                  label: t('account.delivery.failure'),
                  value: t(`account.delivery.failure.${data.failure}`),
                },
              ]),
        ]}
      />
      <h3>{t('account.delivery.attempts')}</h3>
      <ol className={css.thread}>
        {data.attempts.map((attempt, index) => (
          <li key={attempt.attempt} className={css.block}>
            <Attempt attempt={attempt} delivery={data} isLast={index === data.attempts.length - 1} />
          </li>
        ))}
      </ol>
      <details>
        <summary>{t('account.delivery.body')}</summary>
        <pre className={css.text} dir="ltr">
          {data.request.body}
        </pre>
        {data.request.body_bytes > SHOWN_BODY_BYTES && (
          <p className={css.muted}>{t('account.delivery.body.cut')}</p>
        )}
      </details>
    </>
  );
}

/** The number of bytes of a body that the server returns. */
const SHOWN_BODY_BYTES = 65_536;

/** Outcomes of attempts that ended before the request was sent. */
const UNSENT: readonly DeliveryAttempt['outcome'][] = ['refused address', 'connect', 'tls'];

/** The sentences for error codes of DNS, TCP and TLS. */
const CAUSES: Record<string, MessageId> = {
  ENOTFOUND: 'account.cause.no_host',
  ENODATA: 'account.cause.no_host',
  EAI_AGAIN: 'account.cause.dns',
  EAI_FAIL: 'account.cause.dns',
  ESERVFAIL: 'account.cause.dns',
  ETIMEOUT: 'account.cause.dns',
  ECONNREFUSED: 'account.cause.closed',
  EHOSTUNREACH: 'account.cause.unreachable',
  ENETUNREACH: 'account.cause.unreachable',
  ETIMEDOUT: 'account.cause.unreachable',
  UND_ERR_CONNECT_TIMEOUT: 'account.cause.unreachable',
  CERT_HAS_EXPIRED: 'account.cause.expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'account.cause.other_name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'account.cause.untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'account.cause.untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'account.cause.chain',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'account.cause.chain',
  EPROTO: 'account.cause.no_tls',
};

/** Returns the sentence for the error code at the end of a detail, if there is one. */
function causeOf(detail: string): MessageId | undefined {
  const code = detail.slice(detail.lastIndexOf('(') + 1, -1);
  return Object.hasOwn(CAUSES, code) ? CAUSES[code] : undefined;
}

/** Returns the request line and the headers of an attempt. */
function headOf({ url, request }: OwnDeliveryDetail, startedAt: string): string {
  const { host, pathname, search } = new URL(url);
  const { 'webhook-signature': signature = '', ...headers } = request.headers;
  const lines = Object.entries({
    host,
    ...headers,
    'webhook-timestamp': String(Math.floor(Date.parse(startedAt) / 1000)),
    'webhook-signature': signature,
  }).map(([name, value]) => `${name}: ${value}`);
  return [`${request.method} ${pathname}${search} HTTP/1.1`, ...lines].join('\n');
}

interface AttemptProps {
  attempt: DeliveryAttempt;
  delivery: OwnDeliveryDetail;
  /** True for the last attempt, whose answer is shown unfolded. */
  isLast: boolean;
}

function Attempt({ attempt, delivery, isLast }: AttemptProps) {
  const t = useTranslate();
  const { started_at, status_code, outcome, detail, milliseconds, headers, answer } = attempt;
  const cause = causeOf(detail ?? '');
  return (
    <>
      <div className={css.step}>
        <strong>{attempt.attempt}.</strong>
        <Outcome
          {...(status_code === undefined ? {} : { last_status_code: status_code })}
          {...(outcome === undefined ? {} : { last_outcome: outcome })}
        />
        {milliseconds !== undefined && (
          <span className={css.muted}>{t('account.milliseconds', { count: milliseconds })}</span>
        )}
        <span className={css.muted}>
          <When at={started_at} />
        </span>
      </div>
      {detail !== undefined && (
        <p className={css.wrap}>
          {cause !== undefined && <>{t(cause)} </>}
          <bdi className={css.muted}>{detail}</bdi>
        </p>
      )}
      {!UNSENT.includes(outcome) && (
        <details>
          <summary>{t('account.delivery.request')}</summary>
          <pre className={css.text} dir="ltr">
            {headOf(delivery, started_at)}
          </pre>
        </details>
      )}
      {(headers !== undefined || (answer ?? '') !== '') && (
        <details open={isLast}>
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
