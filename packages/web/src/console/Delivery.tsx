/** One delivery: its body, its attempts with the receiver's answers, and replay. */
import { Button } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, call, query } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import type { Loading, PageProps } from '../page.tsx';
import { paths } from '../paths.ts';
import { ConfirmDialog } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Link } from '../ui/Link.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import css from './console.module.css';
import { AccountLink, Count, Facts, useChange } from './shared.tsx';

const delivery = ({ delivery = '' }: Record<string, string>) =>
  query('getAccountDelivery', { path: { delivery } });

export const load = ({ queries, params }: Loading) => queries.ensureQueryData(delivery(params));

export default function Delivery({ params }: PageProps) {
  const t = useTranslate();
  const change = useChange();
  const { data } = useSuspenseQuery(delivery(params));
  useLiveUpdates('deliveries', 'getAccountDelivery');
  const [replaying, setReplaying] = useState(false);
  return (
    <Page
      title={data.event}
      lead={
        <>
          <Link to={paths.console.deliveries}>{t('nav.deliveries')}</Link>
          {' / '}
          <AccountLink username={data.account} />
        </>
      }
      actions={
        data.status !== 'pending' && (
          <Button variant="filled" onClick={() => setReplaying(true)}>
            {t('console.deliveries.replay')}
          </Button>
        )
      }
    >
      <Card>
        <div className={css.stack}>
          <div className={css.row}>
            <StatusBadge status={data.status} />
            <Tag>{t(`console.environment.${data.environment}`)}</Tag>
            {data.failure !== undefined && <Tag>{data.failure}</Tag>}
          </div>
          <Facts
            facts={[
              [
                t('console.deliveries.address'),
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
              [t('console.jobs.uid'), data.uid],
              [t('console.created'), <When key="created" at={data.created_at} />],
              [
                t('console.deliveries.finished'),
                data.finished_at === undefined ? null : <When key="finished" at={data.finished_at} />,
              ],
              [
                t('console.deliveries.next'),
                data.next_attempt_at === undefined ? null : <When key="next" at={data.next_attempt_at} />,
              ],
            ]}
          />
        </div>
      </Card>
      <Attempts attempts={data.attempts} />
      <Section title={t('console.deliveries.body')}>
        <section
          className={css.text}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
          tabIndex={0}
          aria-label={t('console.deliveries.body')}
          dir="ltr"
          translate="no"
        >
          {data.request.body}
        </section>
      </Section>
      <ConfirmDialog
        title={t('console.deliveries.replay')}
        action={t('console.deliveries.replay')}
        opened={replaying}
        onClose={() => setReplaying(false)}
        onConfirm={() =>
          change(
            () => call('replayAccountDelivery', { path: { delivery: data.id } }),
            t('console.deliveries.replayed', { count: 1 }),
          )
        }
      >
        {t('console.deliveries.replay_about')}
      </ConfirmDialog>
    </Page>
  );
}

function Attempts({ attempts }: { attempts: Answer<'getAccountDelivery'>['attempts'] }) {
  const t = useTranslate();
  return (
    <Section title={t('console.deliveries.attempts')}>
      <Table
        label={t('console.deliveries.attempts')}
        rows={attempts.toReversed()}
        rowKey={({ attempt }) => attempt}
        empty={<Empty>{t('console.deliveries.no_attempt')}</Empty>}
        columns={[
          { header: '#', cell: ({ attempt }) => <Count value={attempt} /> },
          { header: t('console.when'), cell: ({ started_at }) => <When at={started_at} /> },
          {
            header: t('console.deliveries.outcome'),
            cell: ({ status_code, detail, outcome }) => (
              <bdi>{status_code ?? detail ?? outcome ?? t('console.deliveries.under_way')}</bdi>
            ),
          },
          {
            header: t('console.deliveries.took'),
            align: 'end',
            cell: ({ milliseconds }) =>
              milliseconds === undefined ? '–' : t('console.milliseconds', { value: milliseconds }),
          },
          {
            header: t('console.deliveries.answer'),
            wide: true,
            cell: ({ answer }) => <bdi className={css.code}>{answer?.slice(0, 300)}</bdi>,
          },
        ]}
      />
    </Section>
  );
}
