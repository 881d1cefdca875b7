/**
 * The editors' tasks: their number by language pair, and a list in which an operator releases, reassigns or
 * prioritizes several of them at once.
 */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, call, query } from '../api/client.ts';
import type { ConsolePerson, ConsoleTask } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import { type Loading, type PageProps, type Search, useList } from '../page.tsx';
import { paths } from '../paths.ts';
import { FailureNotice } from '../ui/Failure.tsx';
import { ChoiceField, Field } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { List } from '../ui/List.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Page, Section } from '../ui/Page.tsx';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { CancelJob } from './CancelJob.tsx';
import css from './console.module.css';
import { useRowActions } from './RowActions.tsx';
import { AccountLink, Count, Pair, useLanguageChoices } from './shared.tsx';

const STATUSES = ['open', 'claimed', 'submitted', 'done', 'reported', 'canceled'] as const;
type Status = (typeof STATUSES)[number];
const PAGE = 50;

const tasks = ({ status, source_language, target_language, account, job, offset }: Search) =>
  query('listTasks', {
    query: {
      source_language,
      target_language,
      account,
      job,
      limit: PAGE,
      ...(status ? { status: status as Status } : {}),
      ...(offset ? { offset: Number(offset) } : {}),
    },
  });

const editors = () => query('listPeople', { query: { role: 'editor' } });

export function load({ queries, search }: Loading) {
  // The list does not need the editors, so an error of this query is shown only where an editor is chosen.
  void queries.prefetchQuery(editors());
  return queries.ensureQueryData(tasks(search));
}

export default function Tasks({ search }: PageProps) {
  const t = useTranslate();
  const { data, error, refetch } = useList(tasks(search));
  useLiveUpdates('tasks', 'listTasks');
  const [canceling, setCanceling] = useState<ConsoleTask>();
  const { column, bar } = useTaskActions(data?.tasks);
  const columns = [column, ...useTaskColumns(setCanceling)];
  const languages = useLanguageChoices(search);
  return (
    <Page title={t('nav.tasks')}>
      {data !== undefined && data.counts.length > 0 && <TaskCounts counts={data.counts} />}
      <List
        label={t('nav.tasks')}
        search={search}
        filters={[
          { name: 'account', label: t('console.account') },
          {
            name: 'status',
            label: t('console.state'),
            choices: [
              { value: '', label: t('console.any') },
              ...STATUSES.map((value) => ({ value, label: t(`status.${value}`) })),
            ],
          },
          { name: 'source_language', label: t('console.source'), choices: languages.source },
          { name: 'target_language', label: t('console.target'), choices: languages.target },
          // Only the link on the page of a job sets this filter.
          ...(search.job ? [{ name: 'job', label: t('console.tasks.job') }] : []),
        ]}
        rows={data?.tasks}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ task }) => task}
        empty={t('console.tasks.empty')}
        next={data?.more ? { offset: String(Number(search.offset ?? 0) + PAGE) } : undefined}
        page="offset"
        columns={columns}
      />
      {bar}
      <CancelJob job={canceling} onClose={() => setCanceling(undefined)} />
    </Page>
  );
}

/** The number of tasks by language pair, kind and status. */
function TaskCounts({ counts }: { counts: Answer<'listTasks'>['counts'] }) {
  const t = useTranslate();
  return (
    <Section title={t('console.tasks.open_queue')}>
      <Table
        label={t('console.tasks.open_queue')}
        rows={counts}
        rowKey={({ source_language, target_language, kind, status }) =>
          `${source_language} ${target_language} ${kind} ${status}`
        }
        empty={null}
        columns={[
          {
            header: t('console.pair'),
            wide: true,
            cell: (row) => <Pair of={row} />,
          },
          { header: t('console.tasks.kind'), cell: ({ kind }) => t(`console.tasks.${kind}`) },
          { header: t('console.state'), cell: ({ status }) => <StatusBadge status={status} /> },
          { header: t('console.tasks.tasks'), align: 'end', cell: ({ tasks }) => <Count value={tasks} /> },
          { header: t('console.words'), align: 'end', cell: ({ words }) => <Count value={words} /> },
          { header: t('console.tasks.oldest'), cell: ({ oldest_at }) => <When at={oldest_at} /> },
        ]}
      />
    </Section>
  );
}

function useTaskColumns(onCancel: (task: ConsoleTask) => void): Column<ConsoleTask>[] {
  const t = useTranslate();
  return [
    {
      header: t('console.jobs.uid'),
      wide: true,
      cell: ({ uid, task, reports }) => (
        <span className={css.row}>
          <Link to={paths.task(task)} className={css.code}>
            <bdi>{uid}</bdi>
          </Link>
          {reports.length > 0 && (
            <Notice tone="warning">
              {reports
                .map(({ reason, note, by }) => {
                  const said = t('console.tasks.report', { reason, by });
                  return note ? `${said}: ${note}` : said;
                })
                .join('; ')}
            </Notice>
          )}
        </span>
      ),
    },
    { header: t('console.account'), cell: ({ account }) => <AccountLink username={account} /> },
    { header: t('console.pair'), cell: (row) => <Pair of={row} /> },
    { header: t('console.tasks.kind'), cell: ({ kind }) => t(`console.tasks.${kind}`) },
    { header: t('console.state'), cell: ({ status }) => <StatusBadge status={status} /> },
    {
      header: t('console.tasks.editor'),
      cell: ({ editor }) => (editor === null ? '–' : <bdi>{editor.name}</bdi>),
    },
    { header: t('console.tasks.deadline'), cell: ({ deadline }) => <When at={deadline} /> },
    {
      header: t('console.edit'),
      bare: true,
      cell: (task) =>
        task.status === 'reported' && (
          <Button size="xs" onClick={() => onCancel(task)}>
            {t('console.job.cancel')}
          </Button>
        ),
    },
  ];
}

function useTaskActions(rows: readonly ConsoleTask[] | undefined) {
  const t = useTranslate();
  const people = useQuery(editors());
  const path = ({ task }: ConsoleTask) => ({ path: { task } });
  return useRowActions({
    rows,
    rowKey: ({ task }) => task,
    nameOf: ({ uid, account }) => `${uid}, ${account}`,
    actions: [
      {
        label: t('console.tasks.release'),
        fields: (tasks) => (
          <>
            <p>{t('console.tasks.release_about')}</p>
            <SettledReports tasks={tasks} />
          </>
        ),
        run: (row) => call('releaseTaskOfAnother', path(row)),
      },
      {
        label: t('console.tasks.reassign'),
        fields: (tasks) => (
          <>
            <SettledReports tasks={tasks} />
            {people.data !== undefined && <EditorField editors={editorsFor(tasks, people.data.people)} />}
            {people.error !== null && (
              <FailureNotice error={people.error} onRetry={() => void people.refetch()} />
            )}
          </>
        ),
        isPossible: (tasks) => editorsFor(tasks, people.data?.people ?? []).length > 0,
        run: (row, { user }) => call('reassignTask', { ...path(row), body: { user: user! } }),
      },
      {
        label: t('console.tasks.priority'),
        fields: () => (
          <Field
            name="priority"
            type="number"
            label={t('console.tasks.priority')}
            description={t('console.tasks.priority_about')}
            defaultValue="0"
            ltr
          />
        ),
        run: (row, { priority }) =>
          call('setPriority', { ...path(row), body: { priority: Number(priority) } }),
      },
    ],
  });
}

/** Says that the action also settles reports, if one of the tasks is reported. */
function SettledReports({ tasks }: { tasks: readonly ConsoleTask[] }) {
  const t = useTranslate();
  return tasks.some(({ status }) => status === 'reported') && <p>{t('console.tasks.settles')}</p>;
}

/** Returns the editors who work in the language pairs of all tasks. */
function editorsFor(tasks: readonly ConsoleTask[], people: readonly ConsolePerson[]): ConsolePerson[] {
  return people.filter(
    ({ status, languages }) =>
      status === 'active' &&
      tasks.every((task) =>
        languages.some(
          (one) =>
            one.source_language === task.source_language &&
            one.target_language === task.target_language &&
            (task.kind === 'edit' || one.review),
        ),
      ),
  );
}

function EditorField({ editors }: { editors: readonly ConsolePerson[] }) {
  const t = useTranslate();
  if (editors.length === 0) return <p>{t('console.tasks.no_editor')}</p>;
  return (
    <ChoiceField
      name="user"
      label={t('console.tasks.user')}
      choices={editors.map(({ user_id, name, email }) => ({ value: user_id, label: name || email }))}
    />
  );
}
