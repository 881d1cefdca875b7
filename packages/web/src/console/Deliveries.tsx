/**
 * The deliveries of all accounts, the hosts whose circuit breaker is open, and the replay of dead deliveries.
 */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { type Answer, call, query } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import { type Loading, type PageProps, type Search, useList } from '../page.tsx';
import { paths } from '../paths.ts';
import { Dialog, DialogActions } from '../ui/Dialog.tsx';
import { ChoiceField, Field, Form, SubmitButton } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { List } from '../ui/List.tsx';
import { Page, Section } from '../ui/Page.tsx';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import { Table } from '../ui/Table.tsx';
import { toast } from '../ui/Toast.tsx';
import { When } from '../ui/When.tsx';
import css from './console.module.css';
import { AccountField } from './pickers.tsx';
import { useRowActions } from './RowActions.tsx';
import { AccountLink, Count, useChange, useEnvironmentChoices } from './shared.tsx';

const deliveries = ({ account, status, host, environment, after }: Search) =>
  query('listConsoleDeliveries', {
    query: {
      account,
      host,
      after,
      ...(status ? { status: status as 'pending' | 'delivered' | 'dead' } : {}),
      ...(environment ? { environment: environment as 'production' | 'sandbox' } : {}),
    },
  });

export const load = ({ queries, search }: Loading) => queries.ensureQueryData(deliveries(search));

const DAY_MILLISECONDS = 86_400_000;

export default function Deliveries({ search }: PageProps) {
  const t = useTranslate();
  const [replaying, setReplaying] = useState(false);
  const { data, error, refetch } = useList(deliveries(search));
  useLiveUpdates('deliveries', 'listConsoleDeliveries');
  const { column, bar } = useRowActions({
    rows: data?.deliveries,
    rowKey: ({ id }) => id,
    nameOf: ({ event, uid, id }) => `${event} ${uid ?? id}`,
    actions: [
      {
        label: t('console.deliveries.replay'),
        run: ({ id }) => call('replayAccountDelivery', { path: { delivery: id } }),
      },
    ],
  });
  return (
    <Page
      title={t('nav.deliveries')}
      actions={<Button onClick={() => setReplaying(true)}>{t('console.deliveries.replay_dead')}</Button>}
    >
      {data !== undefined && data.hosts.length > 0 && <BlockedHosts hosts={data.hosts} />}
      <List
        label={t('nav.deliveries')}
        search={search}
        filters={[
          { name: 'account', label: t('console.account') },
          { name: 'host', label: t('console.deliveries.host') },
          {
            name: 'status',
            label: t('console.state'),
            choices: [
              { value: '', label: t('console.any') },
              ...(['pending', 'delivered', 'dead'] as const).map((value) => ({
                value,
                label: t(`status.${value}`),
              })),
            ],
          },
        ]}
        rows={data?.deliveries}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ id }) => id}
        empty={t('console.deliveries.empty')}
        next={data?.next == null ? undefined : { after: data.next }}
        columns={[
          column,
          {
            header: t('console.deliveries.event'),
            wide: true,
            cell: ({ id, event, uid }) => (
              <span className={css.row}>
                <Link to={paths.console.delivery(id)}>{event}</Link>
                {uid !== undefined && <bdi className={css.code}>{uid}</bdi>}
              </span>
            ),
          },
          { header: t('console.account'), cell: ({ account }) => <AccountLink username={account} /> },
          {
            header: t('console.deliveries.host'),
            cell: ({ url }) => <bdi dir="ltr">{URL.parse(url)?.host ?? url}</bdi>,
          },
          { header: t('console.state'), cell: ({ status }) => <StatusBadge status={status} /> },
          {
            header: t('console.deliveries.attempts'),
            align: 'end',
            cell: ({ attempts }) => <Count value={attempts} />,
          },
          { header: t('console.created'), cell: ({ created_at }) => <When at={created_at} /> },
        ]}
      />
      {bar}
      <ReplayDialog account={search.account} opened={replaying} onClose={() => setReplaying(false)} />
    </Page>
  );
}

/** Hosts whose circuit breaker is open. */
function BlockedHosts({ hosts }: { hosts: Answer<'listConsoleDeliveries'>['hosts'] }) {
  const t = useTranslate();
  return (
    <Section title={t('console.deliveries.hosts')}>
      <Table
        label={t('console.deliveries.hosts')}
        rows={hosts}
        rowKey={({ username, host }) => `${username} ${host}`}
        empty={null}
        columns={[
          {
            header: t('console.deliveries.host'),
            wide: true,
            cell: ({ host, username }) => (
              <Link to={paths.console.deliveries} search={{ account: username, host }}>
                <bdi dir="ltr">{host}</bdi>
              </Link>
            ),
          },
          { header: t('console.account'), cell: ({ username }) => <AccountLink username={username} /> },
          {
            header: t('console.deliveries.failures'),
            align: 'end',
            cell: ({ failures }) => <Count value={failures} />,
          },
          {
            header: t('console.home.waiting'),
            align: 'end',
            cell: ({ waiting }) => <Count value={waiting} />,
          },
          {
            header: t('console.deliveries.next'),
            cell: ({ open_until }) => (open_until === null ? '–' : <When at={open_until} />),
          },
        ]}
      />
    </Section>
  );
}

interface ReplayDialogProps {
  account: string | undefined;
  opened: boolean;
  onClose(): void;
}

/** The dialog that replays the deliveries of an account that died on the chosen day (in UTC) or later. */
function ReplayDialog({ account, opened, onClose }: ReplayDialogProps) {
  const t = useTranslate();
  const environments = useEnvironmentChoices();
  const change = useChange();
  const yesterday = new Date(Date.now() - DAY_MILLISECONDS).toISOString().slice(0, 10);
  return (
    <Dialog title={t('console.deliveries.replay_dead')} opened={opened} onClose={onClose}>
      <Form
        onSubmit={async (values) => {
          const body = {
            account: values.account ?? '',
            environment: values.environment as 'production' | 'sandbox',
            since: `${values.since ?? ''}T00:00:00Z`,
          };
          const { replayed } = await change(() => call('replayAccountDeliveries', { body }));
          toast(t('console.deliveries.replayed', { count: replayed }));
          onClose();
        }}
      >
        <AccountField name="account" label={t('console.account')} defaultValue={account ?? ''} />
        <ChoiceField name="environment" label={t('console.environment')} choices={environments} />
        <Field name="since" type="date" label={t('console.deliveries.since')} defaultValue={yesterday} ltr />
        <DialogActions>
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <SubmitButton>{t('console.deliveries.replay')}</SubmitButton>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
