/** What was posted to customers, of all accounts; the hosts that take nothing; and sending again. */

import { Button } from '@mantine/core';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import { useLive } from '../live.ts';
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
import { useSay } from '../words.tsx';
import css from './console.module.css';
import { AccountLink, Count, useChange } from './parts.tsx';

const deliveries = ({ account, status, host, environment, after }: Search) =>
  query('listConsoleDeliveries', {
    query: {
      ...{ account, host, after },
      ...(status ? { status: status as 'pending' | 'delivered' | 'dead' } : {}),
      ...(environment ? { environment: environment as 'production' | 'sandbox' } : {}),
    },
  });

export const load = ({ queries, search }: Loading) => queries.ensureQueryData(deliveries(search));

const DAY_MILLISECONDS = 86_400_000;

export default function Deliveries({ search }: PageProps) {
  const say = useSay();
  const change = useChange();
  const [replaying, setReplaying] = useState(false);
  const { data, error, refetch } = useList(deliveries(search));
  useLive('deliveries', 'listConsoleDeliveries');
  const yesterday = new Date(Date.now() - DAY_MILLISECONDS).toISOString().slice(0, 10);
  return (
    <Page
      title={say('nav.deliveries')}
      actions={<Button onClick={() => setReplaying(true)}>{say('console.deliveries.replay_dead')}</Button>}
    >
      {data !== undefined && data.hosts.length > 0 && (
        <Section title={say('console.deliveries.hosts')}>
          <Table
            label={say('console.deliveries.hosts')}
            rows={data.hosts}
            rowKey={({ username, host }) => `${username} ${host}`}
            empty={null}
            columns={[
              {
                key: 'host',
                header: say('console.deliveries.host'),
                wide: true,
                cell: ({ host, username }) => (
                  <Link to={paths.console.deliveries} search={{ account: username, host }}>
                    <bdi dir="ltr">{host}</bdi>
                  </Link>
                ),
              },
              {
                key: 'account',
                header: say('console.account'),
                cell: ({ username }) => <AccountLink username={username} />,
              },
              {
                key: 'failures',
                header: say('console.deliveries.failures'),
                align: 'end',
                cell: ({ failures }) => <Count value={failures} />,
              },
              {
                key: 'waiting',
                header: say('console.home.waiting'),
                align: 'end',
                cell: ({ waiting }) => <Count value={waiting} />,
              },
              {
                key: 'next',
                header: say('console.deliveries.next'),
                cell: ({ open_until }) => (open_until === null ? '–' : <When at={open_until} />),
              },
            ]}
          />
        </Section>
      )}
      <List
        label={say('nav.deliveries')}
        search={search}
        filters={[
          { name: 'account', label: say('console.account') },
          { name: 'host', label: say('console.deliveries.host') },
          {
            name: 'status',
            label: say('console.state'),
            choices: [
              { value: '', label: say('console.any') },
              ...(['pending', 'delivered', 'dead'] as const).map((value) => ({
                value,
                label: say(`status.${value}`),
              })),
            ],
          },
        ]}
        rows={data?.deliveries}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ id }) => id}
        empty={say('console.deliveries.empty')}
        next={data?.next == null ? undefined : { after: data.next }}
        columns={[
          {
            key: 'event',
            header: say('console.deliveries.event'),
            wide: true,
            cell: ({ id, event, uid }) => (
              <span className={css.row}>
                <Link to={paths.console.delivery(id)}>{event}</Link>
                {uid !== undefined && <bdi className={css.code}>{uid}</bdi>}
              </span>
            ),
          },
          {
            key: 'account',
            header: say('console.account'),
            cell: ({ account }) => <AccountLink username={account} />,
          },
          {
            key: 'host',
            header: say('console.deliveries.host'),
            cell: ({ url }) => <bdi dir="ltr">{URL.parse(url)?.host ?? url}</bdi>,
          },
          {
            key: 'status',
            header: say('console.state'),
            cell: ({ status }) => <StatusBadge status={status} />,
          },
          {
            key: 'attempts',
            header: say('console.deliveries.attempts'),
            align: 'end',
            cell: ({ attempts }) => <Count value={attempts} />,
          },
          {
            key: 'created',
            header: say('console.created'),
            cell: ({ created_at }) => <When at={created_at} />,
          },
        ]}
      />
      <Dialog
        title={say('console.deliveries.replay_dead')}
        opened={replaying}
        onClose={() => setReplaying(false)}
      >
        <Form
          onSubmit={async (values) => {
            const body = {
              account: values.account ?? '',
              environment: values.environment as 'production' | 'sandbox',
              since: `${values.since ?? ''}T00:00:00Z`,
            };
            const { replayed } = await change(() => call('replayDeadDeliveries', { body }));
            toast(say('console.deliveries.replayed', { count: replayed }));
            setReplaying(false);
          }}
        >
          <Field name="account" label={say('console.account')} defaultValue={search.account ?? ''} ltr />
          <ChoiceField
            name="environment"
            label={say('console.environment')}
            choices={[
              { value: 'production', label: say('console.environment.production') },
              { value: 'sandbox', label: say('console.environment.sandbox') },
            ]}
          />
          <Field
            name="since"
            type="date"
            label={say('console.deliveries.since')}
            defaultValue={yesterday}
            ltr
          />
          <DialogActions>
            <Button onClick={() => setReplaying(false)}>{say('ui.cancel')}</Button>
            <SubmitButton>{say('console.deliveries.replay')}</SubmitButton>
          </DialogActions>
        </Form>
      </Dialog>
    </Page>
  );
}
