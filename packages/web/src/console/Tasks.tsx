/**
 * The editors' tasks: their number by language pair, and a list in which an operator releases, reassigns or
 * prioritizes them.
 */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, call, query } from '../api/client.ts';
import type { ConsoleTask } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import { type Loading, type PageProps, type Search, useList } from '../page.tsx';
import { paths } from '../paths.ts';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { ChoiceField, Field, Form, SubmitButton } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { List } from '../ui/List.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Page, Section } from '../ui/Page.tsx';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { CancelJob } from './CancelJob.tsx';
import css from './console.module.css';
import { AccountLink, Count, Pair, useChange, useLanguageChoices } from './shared.tsx';

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

export const load = ({ queries, search }: Loading) => queries.ensureQueryData(tasks(search));

interface TaskAction {
  what: 'release' | 'reassign' | 'priority' | 'cancel';
  task: ConsoleTask;
}

export default function Tasks({ search }: PageProps) {
  const t = useTranslate();
  const { data, error, refetch } = useList(tasks(search));
  useLiveUpdates('tasks', 'listTasks');
  const [action, setAction] = useState<TaskAction>();
  const columns = useTaskColumns(setAction);
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
      <TaskDialogs action={action} onClose={() => setAction(undefined)} />
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
            key: 'pair',
            header: t('console.pair'),
            wide: true,
            cell: ({ source_language, target_language }) => (
              <Pair from={source_language} to={target_language} />
            ),
          },
          { key: 'kind', header: t('console.tasks.kind'), cell: ({ kind }) => t(`console.tasks.${kind}`) },
          {
            key: 'status',
            header: t('console.state'),
            cell: ({ status }) => <StatusBadge status={status} />,
          },
          {
            key: 'tasks',
            header: t('console.tasks.tasks'),
            align: 'end',
            cell: ({ tasks }) => <Count value={tasks} />,
          },
          {
            key: 'words',
            header: t('console.words'),
            align: 'end',
            cell: ({ words }) => <Count value={words} />,
          },
          {
            key: 'oldest',
            header: t('console.tasks.oldest'),
            cell: ({ oldest_at }) => <When at={oldest_at} />,
          },
        ]}
      />
    </Section>
  );
}

function useTaskColumns(onAct: (action: TaskAction) => void): Column<ConsoleTask>[] {
  const t = useTranslate();
  return [
    {
      key: 'uid',
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
    {
      key: 'account',
      header: t('console.account'),
      cell: ({ account }) => <AccountLink username={account} />,
    },
    {
      key: 'pair',
      header: t('console.pair'),
      cell: ({ source_language, target_language }) => <Pair from={source_language} to={target_language} />,
    },
    { key: 'kind', header: t('console.tasks.kind'), cell: ({ kind }) => t(`console.tasks.${kind}`) },
    {
      key: 'status',
      header: t('console.state'),
      cell: ({ status }) => <StatusBadge status={status} />,
    },
    {
      key: 'editor',
      header: t('console.tasks.editor'),
      cell: ({ editor }) => (editor === null ? '–' : <bdi>{editor.name}</bdi>),
    },
    {
      key: 'deadline',
      header: t('console.tasks.deadline'),
      cell: ({ deadline }) => <When at={deadline} />,
    },
    {
      key: 'change',
      header: t('console.edit'),
      bare: true,
      cell: (task) => (
        <span className={css.row}>
          {(task.status === 'claimed' || task.status === 'reported') && (
            <Button size="xs" onClick={() => onAct({ what: 'release', task })}>
              {t('console.tasks.release')}
            </Button>
          )}
          {task.status === 'reported' && (
            <Button size="xs" onClick={() => onAct({ what: 'cancel', task })}>
              {t('console.job.cancel')}
            </Button>
          )}
          {(task.status === 'open' || task.status === 'claimed') && (
            <>
              <Button size="xs" onClick={() => onAct({ what: 'reassign', task })}>
                {t('console.tasks.reassign')}
              </Button>
              <Button size="xs" onClick={() => onAct({ what: 'priority', task })}>
                {t('console.tasks.priority')}
              </Button>
            </>
          )}
        </span>
      ),
    },
  ];
}

function TaskDialogs({ action, onClose }: { action: TaskAction | undefined; onClose(): void }) {
  const t = useTranslate();
  const change = useChange();
  return (
    <>
      <ConfirmDialog
        title={t('console.tasks.release')}
        action={t('console.tasks.release')}
        opened={action?.what === 'release'}
        onClose={onClose}
        onConfirm={() =>
          change(
            () => call('releaseTaskOfAnother', { path: { task: action!.task.task } }),
            t('console.tasks.released'),
          )
        }
      >
        {t('console.tasks.release_about')}
      </ConfirmDialog>
      <CancelJob job={action?.what === 'cancel' ? action.task : undefined} onClose={onClose} />
      <Dialog title={t('console.tasks.priority')} opened={action?.what === 'priority'} onClose={onClose}>
        {action?.what === 'priority' && <Priority task={action.task} onDone={onClose} />}
      </Dialog>
      <Dialog title={t('console.tasks.reassign')} opened={action?.what === 'reassign'} onClose={onClose}>
        {action?.what === 'reassign' && <Reassign task={action.task} onDone={onClose} />}
      </Dialog>
    </>
  );
}

function Priority({ task, onDone }: { task: ConsoleTask; onDone(): void }) {
  const t = useTranslate();
  const change = useChange();
  return (
    <Form
      onSubmit={async (values) => {
        const body = { priority: Number(values.priority) };
        await change(() => call('setPriority', { path: { task: task.task }, body }), t('ui.saved'));
        onDone();
      }}
    >
      <Field
        name="priority"
        type="number"
        label={t('console.tasks.priority')}
        description={t('console.tasks.priority_about')}
        defaultValue="0"
        ltr
        autoFocus
      />
      <DialogActions>
        <Button onClick={onDone}>{t('ui.cancel')}</Button>
        <SubmitButton>{t('ui.save')}</SubmitButton>
      </DialogActions>
    </Form>
  );
}

const editors = () => query('listPeople', { query: { role: 'editor' } });

/** Reserves a task for an editor of its language pair for some hours. */
function Reassign({ task, onDone }: { task: ConsoleTask; onDone(): void }) {
  const t = useTranslate();
  const change = useChange();
  const { data } = useQuery(editors());
  const able = (data?.people ?? []).filter(
    ({ status, languages }) =>
      status === 'active' &&
      languages.some(
        (one) =>
          one.source_language === task.source_language &&
          one.target_language === task.target_language &&
          (task.kind === 'edit' || one.review),
      ),
  );
  if (data !== undefined && able.length === 0) return <p>{t('console.tasks.no_editor')}</p>;
  return (
    <Form
      onSubmit={async (values) => {
        await change(
          () => call('reassignTask', { path: { task: task.task }, body: { user: values.user ?? '' } }),
          t('console.tasks.reassigned'),
        );
        onDone();
      }}
    >
      <ChoiceField
        name="user"
        label={t('console.tasks.user')}
        choices={able.map(({ user_id, name, email }) => ({ value: user_id, label: name || email }))}
      />
      <DialogActions>
        <Button onClick={onDone}>{t('ui.cancel')}</Button>
        <SubmitButton>{t('console.tasks.reassign')}</SubmitButton>
      </DialogActions>
    </Form>
  );
}
