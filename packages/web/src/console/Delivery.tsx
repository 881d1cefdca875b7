/** One delivery: what was posted, every attempt with the receiver's answer, and sending it again. */

import { Button } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import { useLive } from '../live.ts';
import type { Loading, PageProps } from '../page.tsx';
import { paths } from '../paths.ts';
import { ConfirmDialog } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Link } from '../ui/Link.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import css from './console.module.css';
import { AccountLink, Count, Facts, useChange } from './parts.tsx';

const delivery = ({ delivery = '' }: Record<string, string>) =>
  query('readConsoleDelivery', { path: { delivery } });

export const load = ({ queries, params }: Loading) => queries.ensureQueryData(delivery(params));

export default function Delivery({ params }: PageProps) {
  const say = useSay();
  const change = useChange();
  const { data } = useSuspenseQuery(delivery(params));
  useLive('deliveries', 'readConsoleDelivery');
  const [replaying, setReplaying] = useState(false);
  return (
    <Page
      title={data.event}
      lead={
        <>
          <Link to={paths.console.deliveries}>{say('nav.deliveries')}</Link>
          {' / '}
          <AccountLink username={data.account} />
        </>
      }
      actions={
        data.status !== 'pending' && (
          <Button variant="filled" onClick={() => setReplaying(true)}>
            {say('console.deliveries.replay')}
          </Button>
        )
      }
    >
      <Card>
        <div className={css.stack}>
          <div className={css.row}>
            <StatusBadge status={data.status} />
            <Tag>{say(`console.environment.${data.environment}`)}</Tag>
            {data.failure !== undefined && <Tag>{data.failure}</Tag>}
          </div>
          <Facts
            facts={[
              [
                say('console.deliveries.address'),
                <bdi key="url" dir="ltr">
                  {data.url}
                </bdi>,
              ],
              [
                'webhook-id',
                <bdi key="id" className={css.code}>
                  {data.id}
                </bdi>,
              ],
              [say('console.jobs.uid'), data.uid],
              [say('console.created'), <When key="created" at={data.created_at} />],
              [
                say('console.deliveries.finished'),
                data.finished_at === undefined ? null : <When key="finished" at={data.finished_at} />,
              ],
              [
                say('console.deliveries.next'),
                data.next_attempt_at === undefined ? null : <When key="next" at={data.next_attempt_at} />,
              ],
            ]}
          />
        </div>
      </Card>
      <Section title={say('console.deliveries.attempts')}>
        <Table
          label={say('console.deliveries.attempts')}
          rows={data.attempts_made.toReversed()}
          rowKey={({ attempt }) => attempt}
          empty={<Empty>{say('console.deliveries.no_attempt')}</Empty>}
          columns={[
            { key: 'attempt', header: '#', cell: ({ attempt }) => <Count value={attempt} /> },
            { key: 'at', header: say('console.when'), cell: ({ started_at }) => <When at={started_at} /> },
            {
              key: 'outcome',
              header: say('console.deliveries.outcome'),
              cell: ({ status_code, detail, outcome }) => (
                <bdi>{status_code ?? detail ?? outcome ?? say('console.deliveries.under_way')}</bdi>
              ),
            },
            {
              key: 'took',
              header: say('console.deliveries.took'),
              align: 'end',
              cell: ({ milliseconds }) =>
                milliseconds === undefined ? '–' : say('console.milliseconds', { value: milliseconds }),
            },
            {
              key: 'answer',
              header: say('console.deliveries.answer'),
              wide: true,
              cell: ({ answer }) => <bdi className={css.code}>{answer?.slice(0, 300)}</bdi>,
            },
          ]}
        />
      </Section>
      <Section title={say('console.deliveries.body')}>
        <section
          className={css.text}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
          tabIndex={0}
          aria-label={say('console.deliveries.body')}
          dir="ltr"
          translate="no"
        >
          {data.body}
        </section>
      </Section>
      <ConfirmDialog
        title={say('console.deliveries.replay')}
        action={say('console.deliveries.replay')}
        opened={replaying}
        onClose={() => setReplaying(false)}
        onConfirm={() =>
          change(
            () => call('replayConsoleDelivery', { path: { delivery: data.id } }),
            say('console.deliveries.replayed', { count: 1 }),
          )
        }
      >
        {say('console.deliveries.replay_about')}
      </ConfirmDialog>
    </Page>
  );
}
