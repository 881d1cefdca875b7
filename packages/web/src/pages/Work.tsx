/** An editor's past work: words, time, reviewers' issues and ended tasks. */
import { useSuspenseQuery } from '@tanstack/react-query';
import { FormattedNumber, useIntl } from 'react-intl';
import { query } from '../api/client.ts';
import type { WorkEntry } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
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

const DAYS = 30;
const work = () => query('readWork');

export const load = ({ queries }: Loading) => queries.ensureQueryData(work());

export default function Work() {
  const t = useTranslate();
  const { data } = useSuspenseQuery(work());
  const { days, issues, tasks } = data;
  const sum = (of: (day: (typeof days)[number]) => number) => days.reduce((total, day) => total + of(day), 0);
  const intl = useIntl();
  const dayOf = useDay();
  const words = new Map(days.map((day) => [day.day, day.words]));
  const isEmpty = days.length === 0 && tasks.length === 0;

  const columns: Column<WorkEntry>[] = [
    {
      header: t('work.task'),
      wide: true,
      cell: (task) => (
        <>
          <Pair of={task} /> · #{task.order_number}{' '}
          {task.kind === 'review' && <Tag tone="info">{t('queue.review')}</Tag>}
        </>
      ),
    },
    { header: t('queue.words'), align: 'end', cell: ({ words }) => <FormattedNumber value={words} /> },
    { header: t('work.ended'), cell: ({ ended }) => t(`work.ended.${ended}`) },
    { header: t('work.when'), cell: ({ ended_at }) => <When at={ended_at} /> },
  ];

  return (
    <Page title={t('work.title')} lead={!isEmpty && t('work.lead', { days: DAYS })}>
      {isEmpty ? (
        <Card>
          <Empty action={<ButtonLink to={paths.queue}>{t('work.to_queue')}</ButtonLink>}>
            {t('work.empty')}
          </Empty>
        </Card>
      ) : (
        <>
          <Numbers
            facts={[
              { label: t('work.words'), value: <FormattedNumber value={sum((day) => day.words)} /> },
              { label: t('work.segments'), value: <FormattedNumber value={sum((day) => day.segments)} /> },
              { label: t('work.time'), value: <Duration milliseconds={sum((day) => day.active_ms)} /> },
              { label: t('work.issues'), value: issues.reduce((total, { count }) => total + count, 0) },
            ]}
          />
          <Section title={t('work.per_day')}>
            <Card>
              <Chart
                label={`${t('work.words')}: ${intl.formatNumber(sum((day) => day.words))}`}
                bars={lastDays(DAYS, words).map(({ day, value }) => ({ label: dayOf(day), value }))}
                heads={{ label: t('ui.chart.day'), value: t('work.words') }}
                format={(value) => intl.formatNumber(value)}
              />
            </Card>
          </Section>
          {issues.length > 0 && (
            <Section title={t('work.feedback')}>
              <Table
                label={t('work.feedback')}
                columns={[
                  { header: t('work.category'), wide: true, cell: ({ category }) => t(`issue.${category}`) },
                  { header: t('work.severity'), cell: ({ severity }) => t(`severity.${severity}`) },
                  { header: t('work.count'), align: 'end', cell: ({ count }) => count },
                ]}
                rows={issues}
                rowKey={({ category, severity }) => `${category} ${severity}`}
                empty={null}
              />
            </Section>
          )}
          <Section title={t('work.tasks')}>
            <Table
              label={t('work.tasks')}
              columns={columns}
              rows={tasks}
              rowKey={({ task, ended_at }) => `${task} ${ended_at}`}
              empty={<Empty>{t('work.empty')}</Empty>}
            />
          </Section>
        </>
      )}
    </Page>
  );
}
