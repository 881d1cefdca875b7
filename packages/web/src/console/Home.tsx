/** The operator's home page: problems in order of urgency, then queues and engines. */
import { IconAlertTriangle, IconCircleX } from '@tabler/icons-react';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useIntl } from 'react-intl';
import { type Answer, query } from '../api/client.ts';
import type { Attention } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import type { Loading } from '../page.tsx';
import { paths } from '../paths.ts';
import { Chart } from '../ui/Chart.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Link } from '../ui/Link.tsx';
import { Money } from '../ui/Money.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import { Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import css from './console.module.css';
import { Setup } from './Setup.tsx';
import { Count, Duration, Figures, Pair } from './shared.tsx';

const home = () => query('readHome');

export const load = ({ queries }: Loading) => queries.ensureQueryData(home());

export default function Home() {
  const t = useTranslate();
  const intl = useIntl();
  const { data } = useSuspenseQuery(home());
  useLiveUpdates('console', 'readHome');
  const { attention, queues, tasks, setup, engines, hours, owed } = data;
  const words = hours.reduce((sum, hour) => sum + hour.words, 0);
  const created = hours.reduce((sum, hour) => sum + hour.created, 0);
  // Before the first job, the page has only the checklist, because all figures are zero.
  const isNew = setup.some(({ step, done }) => step === 'job' && !done);
  return (
    <Page title={t('console.home.title')}>
      {isNew && <Setup steps={setup} />}
      {attention.length === 0 && !isNew && <Notice tone="success">{t('console.home.empty')}</Notice>}
      {attention.length > 0 && (
        <Section title={t('console.home.attention')}>
          <ul className={css.attention}>
            {attention.map((item) => (
              <AttentionItem key={`${item.kind} ${item.subject} ${item.account ?? ''}`} item={item} />
            ))}
          </ul>
        </Section>
      )}
      {!isNew && (
        <>
          <Section title={t('console.home.day')}>
            <Card>
              <div className={css.stack}>
                <Figures
                  figures={[
                    [t('console.home.jobs'), <Count key="jobs" value={created} />],
                    [t('console.words'), <Count key="words" value={words} />],
                    [t('console.home.machine_waiting'), <Count key="machine" value={sumOfWaiting(queues)} />],
                    [t('console.home.tasks_waiting'), <Count key="tasks" value={sumOfWaiting(tasks)} />],
                    [t('console.home.owed'), <Money key="owed" cents={owed} />],
                  ]}
                />
                <Chart
                  label={t('console.home.chart')}
                  heads={{
                    label: t('console.hour'),
                    value: t('console.home.jobs'),
                    bad: t('status.failed'),
                  }}
                  format={(value) => intl.formatNumber(value)}
                  bars={hours.map(({ hour, created, failed }) => ({
                    label: intl.formatTime(hour, { hour: 'numeric', minute: '2-digit' }),
                    value: created,
                    bad: failed,
                  }))}
                />
              </div>
            </Card>
          </Section>
          <QueueTable
            label={t('console.tasks.open_queue')}
            empty={t('console.home.tasks_empty')}
            queues={tasks}
            to={paths.console.tasks}
            counts={[
              [t('console.home.working'), ({ claimed }) => claimed],
              [t('console.home.late'), ({ late }) => late],
              [t('status.reported'), ({ reported }) => reported],
              [t('console.home.unserved'), ({ unserved }) => unserved],
            ]}
          />
          <QueueTable
            label={t('console.home.queues')}
            empty={t('console.home.queues_empty')}
            queues={queues}
            to={paths.console.jobs}
            search={{ status: 'unfinished' }}
            counts={[[t('console.home.working'), ({ working }) => working]]}
          />
        </>
      )}
      <Engines engines={engines} />
      {!isNew && setup.length > 0 && <Setup steps={setup} folded />}
    </Page>
  );
}

type HomeData = Answer<'readHome'>;

function sumOfWaiting(queues: readonly { waiting: number }[]): number {
  return queues.reduce((sum, { waiting }) => sum + waiting, 0);
}

interface PairQueue {
  source_language: string;
  target_language: string;
  waiting: number;
  /** The age of the oldest entry, in seconds. */
  oldest: number;
}

interface QueueTableProps<Queue> {
  label: string;
  empty: string;
  queues: readonly Queue[];
  /** The list to which the pairs link, and its filters in addition to the pair. */
  to: string;
  search?: Record<string, string>;
  /** The columns of numbers between the waiting and the oldest. */
  counts: readonly [header: string, count: (queue: Queue) => number][];
}

/** A queue by language pair: the editors' tasks, or the jobs of the machine. */
function QueueTable<Queue extends PairQueue>({
  label,
  empty,
  queues,
  to,
  search,
  counts,
}: QueueTableProps<Queue>) {
  const t = useTranslate();
  const columns: [header: string, count: (queue: Queue) => number][] = [
    [t('console.home.waiting'), ({ waiting }) => waiting],
    ...counts,
  ];
  return (
    <Section title={label}>
      <Table
        label={label}
        rows={queues}
        rowKey={({ source_language, target_language }) => `${source_language} ${target_language}`}
        empty={<Empty>{empty}</Empty>}
        columns={[
          {
            header: t('console.pair'),
            wide: true,
            cell: ({ source_language, target_language }) => (
              <Link to={to} search={{ ...search, source_language, target_language }}>
                <Pair of={{ source_language, target_language }} />
              </Link>
            ),
          },
          ...columns.map(([header, count]) => ({
            header,
            align: 'end' as const,
            cell: (queue: Queue) => <Count value={count(queue)} />,
          })),
          {
            header: t('console.home.oldest'),
            align: 'end',
            cell: ({ oldest }) => (oldest > 0 ? <Duration seconds={oldest} /> : '–'),
          },
        ]}
      />
    </Section>
  );
}

function Engines({ engines }: { engines: HomeData['engines'] }) {
  const t = useTranslate();
  return (
    <Section title={t('nav.engines')}>
      <Table
        label={t('nav.engines')}
        rows={engines}
        rowKey={({ engine }) => engine}
        empty={<Empty>{t('console.engines.empty')}</Empty>}
        columns={[
          {
            header: t('console.engine'),
            wide: true,
            cell: ({ engine }) => <Link to={paths.console.engines}>{engine}</Link>,
          },
          {
            header: t('console.state'),
            cell: ({ state }) => <StatusBadge status={`engine_${state.replace('-', '_')}`} />,
          },
          {
            header: t('console.engines.requests'),
            align: 'end',
            cell: ({ answered, failed }) => <Count value={answered + failed} />,
          },
          { header: t('status.failed'), align: 'end', cell: ({ failed }) => <Count value={failed} /> },
        ]}
      />
    </Section>
  );
}

function AttentionItem({ item }: { item: Attention }) {
  const t = useTranslate();
  const intl = useIntl();
  const { kind, severity, subject, account, amount, since } = item;
  const [from = '', to = ''] = subject.split('>');
  const values = {
    subject: to === '' ? subject : `${from} → ${to}`,
    account,
    amount:
      kind === 'overdrawn' || kind === 'low'
        ? intl.formatNumber(amount / 100, { style: 'currency', currency: 'USD' })
        : amount,
  };
  return (
    <li data-severity={severity}>
      {severity === 'bad' ? (
        <IconCircleX size={20} role="img" aria-label={t('console.home.bad')} />
      ) : (
        <IconAlertTriangle size={20} role="img" aria-label={t('console.home.look')} />
      )}
      <span className={css.what}>
        {t(`console.home.kind.${kind}`, values)}
        {since !== undefined && (
          <small className={css.muted}>
            {' '}
            <When at={since} />
          </small>
        )}
      </span>
      <Link {...linkOf(item)}>{t(`console.home.action.${kind}`)}</Link>
    </li>
  );
}

/** Returns the link to the page that shows a problem. */
function linkOf({ kind, subject, account }: Attention): { to: string; search?: Record<string, string> } {
  const [source_language = '', target_language = ''] = subject.split('>');
  switch (kind) {
    case 'engine':
      return { to: paths.console.engines };
    case 'queue':
      return { to: paths.console.jobs, search: { status: 'unfinished', source_language, target_language } };
    case 'host':
      return { to: paths.console.deliveries, search: { account: account ?? '', host: subject } };
    case 'dead':
      return { to: paths.console.deliveries, search: { account: subject, status: 'dead' } };
    case 'late':
      return { to: paths.console.tasks, search: { source_language, target_language } };
    case 'unserved':
      return { to: paths.console.people, search: { role: 'editor' } };
    case 'overdrawn':
    case 'low':
      return { to: paths.console.money(subject) };
    case 'reported':
      return { to: paths.console.tasks, search: { status: 'reported' } };
    case 'requests':
      return { to: paths.console.requests };
  }
}
