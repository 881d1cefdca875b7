/** E5: what an editor has done: words, time, what reviewers marked, and the tasks that are over. */
import { useSuspenseQuery } from '@tanstack/react-query';
import { FormattedNumber, useIntl } from 'react-intl';
import { query } from '../api/client.ts';
import type { WorkEntry } from '../api/generated.ts';
import type { Loading } from '../page.tsx';
import { paths } from '../paths.ts';
import { Chart, lastDays, useDay } from '../ui/Chart.tsx';
import { Duration } from '../ui/Duration.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Numbers } from '../ui/Facts.tsx';
import { ButtonLink } from '../ui/Link.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { Pair } from '../ui/Pair.tsx';
import { Tag } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';

const DAYS = 30;
const work = () => query('readWork');

export const load = ({ queries }: Loading) => queries.ensureQueryData(work());

export default function Work() {
  const say = useSay();
  const { data } = useSuspenseQuery(work());
  const { days, issues, tasks } = data;
  const sum = (of: (day: (typeof days)[number]) => number) => days.reduce((total, day) => total + of(day), 0);
  const intl = useIntl();
  const dayOf = useDay();
  const words = new Map(days.map((day) => [day.day, day.words]));
  const nothing = days.length === 0 && tasks.length === 0;

  const columns: Column<WorkEntry>[] = [
    {
      key: 'job',
      header: say('work.task'),
      wide: true,
      cell: (task) => (
        <>
          <Pair from={task.source_language} to={task.target_language} /> · № {task.order_number}{' '}
          {task.kind === 'review' && <Tag tone="info">{say('queue.review')}</Tag>}
        </>
      ),
    },
    {
      key: 'words',
      header: say('queue.words'),
      align: 'end',
      cell: ({ words }) => <FormattedNumber value={words} />,
    },
    { key: 'ended', header: say('work.ended'), cell: ({ ended }) => say(`work.ended.${ended}`) },
    { key: 'when', header: say('work.when'), cell: ({ ended_at }) => <When at={ended_at} /> },
  ];

  return (
    <Page title={say('work.title')} lead={!nothing && say('work.lead', { days: DAYS })}>
      {nothing ? (
        <Card>
          <Empty action={<ButtonLink to={paths.queue}>{say('work.to_queue')}</ButtonLink>}>
            {say('work.empty')}
          </Empty>
        </Card>
      ) : (
        <>
          <Numbers
            facts={[
              { label: say('work.words'), value: <FormattedNumber value={sum((day) => day.words)} /> },
              { label: say('work.segments'), value: <FormattedNumber value={sum((day) => day.segments)} /> },
              { label: say('work.time'), value: <Duration milliseconds={sum((day) => day.active_ms)} /> },
              { label: say('work.issues'), value: issues.reduce((total, { count }) => total + count, 0) },
            ]}
          />
          <Section title={say('work.per_day')}>
            <Card>
              <Chart
                label={`${say('work.words')}: ${intl.formatNumber(sum((day) => day.words))}`}
                bars={lastDays(DAYS, words).map(({ day, value }) => ({ label: dayOf(day), value }))}
                heads={{ label: say('ui.chart.day'), value: say('work.words') }}
                format={(value) => intl.formatNumber(value)}
              />
            </Card>
          </Section>
          {issues.length > 0 && (
            <Section title={say('work.feedback')}>
              <Table
                label={say('work.feedback')}
                columns={[
                  {
                    key: 'category',
                    header: say('work.category'),
                    wide: true,
                    cell: ({ category }) => say(`issue.${category}`),
                  },
                  {
                    key: 'severity',
                    header: say('work.severity'),
                    cell: ({ severity }) => say(`severity.${severity}`),
                  },
                  { key: 'count', header: say('work.count'), align: 'end', cell: ({ count }) => count },
                ]}
                rows={issues}
                rowKey={({ category, severity }) => `${category} ${severity}`}
                empty={null}
              />
            </Section>
          )}
          <Section title={say('work.tasks')}>
            <Table
              label={say('work.tasks')}
              columns={columns}
              rows={tasks}
              rowKey={({ task, ended_at }) => `${task} ${ended_at}`}
              empty={<Empty>{say('work.empty')}</Empty>}
            />
          </Section>
        </>
      )}
    </Page>
  );
}
