/** What an operator sees first: what needs attention, the worst first, and how the work goes. */

import { IconAlertTriangle, IconCircleX } from '@tabler/icons-react';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useIntl } from 'react-intl';
import { query } from '../api/client.ts';
import type { Attention } from '../api/generated.ts';
import { useLive } from '../live.ts';
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
import { useSay } from '../words.tsx';
import css from './console.module.css';
import { Count, Duration, Figures, Pair } from './parts.tsx';

const home = () => query('readHome');

export const load = ({ queries }: Loading) => queries.ensureQueryData(home());

export default function Home() {
  const say = useSay();
  const intl = useIntl();
  const { data } = useSuspenseQuery(home());
  useLive('console', 'readHome');
  const { attention, queues, engines, hours, owed } = data;
  const words = hours.reduce((sum, hour) => sum + hour.words, 0);
  const created = hours.reduce((sum, hour) => sum + hour.created, 0);
  return (
    <Page title={say('console.home.title')}>
      {attention.length === 0 ? (
        <Notice tone="success">{say('console.home.empty')}</Notice>
      ) : (
        <Section title={say('console.home.attention')}>
          <ul className={css.attention}>
            {attention.map((one) => (
              <Line key={`${one.kind} ${one.subject} ${one.account ?? ''}`} one={one} />
            ))}
          </ul>
        </Section>
      )}
      <Section title={say('console.home.day')}>
        <Card>
          <div className={css.stack}>
            <Figures
              figures={[
                [say('console.home.jobs'), <Count key="jobs" value={created} />],
                [say('console.words'), <Count key="words" value={words} />],
                [
                  say('console.home.waiting'),
                  <Count key="waiting" value={queues.reduce((sum, { waiting }) => sum + waiting, 0)} />,
                ],
                [say('console.home.owed'), <Money key="owed" cents={owed} />],
              ]}
            />
            <Chart
              label={say('console.home.chart')}
              heads={{
                label: say('console.hour'),
                value: say('console.home.jobs'),
                bad: say('status.failed'),
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
      <Section title={say('console.home.queues')}>
        <Table
          label={say('console.home.queues')}
          rows={queues}
          rowKey={({ source_language, target_language }) => `${source_language} ${target_language}`}
          empty={<Empty>{say('console.home.queues_empty')}</Empty>}
          columns={[
            {
              key: 'pair',
              header: say('console.pair'),
              wide: true,
              cell: ({ source_language, target_language }) => (
                <Pair from={source_language} to={target_language} />
              ),
            },
            {
              key: 'waiting',
              header: say('console.home.waiting'),
              align: 'end',
              cell: ({ waiting }) => <Count value={waiting} />,
            },
            {
              key: 'working',
              header: say('console.home.working'),
              align: 'end',
              cell: ({ working }) => <Count value={working} />,
            },
            {
              key: 'oldest',
              header: say('console.home.oldest'),
              align: 'end',
              cell: ({ oldest }) => <Duration seconds={oldest} />,
            },
          ]}
        />
      </Section>
      <Section title={say('nav.engines')}>
        <Table
          label={say('nav.engines')}
          rows={engines}
          rowKey={({ engine }) => engine}
          empty={<Empty>{say('console.engines.empty')}</Empty>}
          columns={[
            {
              key: 'engine',
              header: say('console.engine'),
              wide: true,
              cell: ({ engine }) => <Link to={paths.console.engines}>{engine}</Link>,
            },
            {
              key: 'state',
              header: say('console.state'),
              cell: ({ state }) => <StatusBadge status={`engine_${state.replace('-', '_')}`} />,
            },
            {
              key: 'answered',
              header: say('console.engines.requests'),
              align: 'end',
              cell: ({ answered, failed }) => <Count value={answered + failed} />,
            },
            {
              key: 'failed',
              header: say('status.failed'),
              align: 'end',
              cell: ({ failed }) => <Count value={failed} />,
            },
          ]}
        />
      </Section>
    </Page>
  );
}

function Line({ one }: { one: Attention }) {
  const say = useSay();
  const intl = useIntl();
  const { kind, severity, subject, account, amount, since } = one;
  const [from = '', to = ''] = subject.split('>');
  const values = {
    subject: kind === 'queue' ? `${from} → ${to}` : subject,
    account,
    amount:
      kind === 'overdrawn' ? intl.formatNumber(amount / 100, { style: 'currency', currency: 'USD' }) : amount,
  };
  return (
    <li data-severity={severity}>
      {severity === 'bad' ? (
        <IconCircleX size={20} role="img" aria-label={say('console.home.bad')} />
      ) : (
        <IconAlertTriangle size={20} role="img" aria-label={say('console.home.look')} />
      )}
      <span className={css.what}>
        {say(`console.home.kind.${kind}`, values)}
        {since !== undefined && (
          <small className={css.muted}>
            {' '}
            <When at={since} />
          </small>
        )}
      </span>
      <Link {...placeOf(one)}>{say('console.home.open')}</Link>
    </li>
  );
}

/** Where something is looked at that needs attention. */
function placeOf({ kind, subject, account }: Attention): { to: string; search?: Record<string, string> } {
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
    case 'overdrawn':
      return { to: paths.console.money(subject) };
    case 'reported':
      return { to: paths.console.tasks, search: { status: 'reported' } };
    case 'requests':
      return { to: paths.console.requests };
  }
}
