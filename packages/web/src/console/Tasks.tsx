/** The work of editors: what waits for them by pair, and every task, to be given back or to somebody else. */

import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { ConsoleTask } from '../api/generated.ts';
import { useLive } from '../live.ts';
import { type Loading, type PageProps, type Search, useList } from '../page.tsx';
import { paths } from '../paths.ts';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { ChoiceField, Field, Form, SubmitButton } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { List } from '../ui/List.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Page, Section } from '../ui/Page.tsx';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import { Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import css from './console.module.css';
import { AccountLink, Count, Pair, useChange } from './parts.tsx';

const STATUSES = ['open', 'claimed', 'submitted', 'done', 'reported', 'canceled'] as const;
type Status = (typeof STATUSES)[number];
const PAGE = 50;

const tasks = ({ status, source_language, target_language, account, offset }: Search) =>
  query('listTasks', {
    query: {
      ...{ source_language, target_language, account, limit: PAGE },
      ...(status ? { status: status as Status } : {}),
      ...(offset ? { offset: Number(offset) } : {}),
    },
  });

export const load = ({ queries, search }: Loading) => queries.ensureQueryData(tasks(search));

export default function Tasks({ search }: PageProps) {
  const say = useSay();
  const change = useChange();
  const { data, error, refetch } = useList(tasks(search));
  useLive('tasks', 'listTasks');
  const [asked, setAsked] = useState<{ what: 'release' | 'reassign' | 'priority'; task: ConsoleTask }>();
  const close = () => setAsked(undefined);
  const kindOf = (kind: 'edit' | 'review') => say(`console.tasks.${kind}`);
  return (
    <Page title={say('nav.tasks')}>
      {data !== undefined && data.counts.length > 0 && (
        <Section title={say('console.tasks.open_queue')}>
          <Table
            label={say('console.tasks.open_queue')}
            rows={data.counts}
            rowKey={({ source_language, target_language, kind, status }) =>
              `${source_language} ${target_language} ${kind} ${status}`
            }
            empty={null}
            columns={[
              {
                key: 'pair',
                header: say('console.pair'),
                wide: true,
                cell: ({ source_language, target_language }) => (
                  <Pair from={source_language} to={target_language} />
                ),
              },
              { key: 'kind', header: say('console.tasks.kind'), cell: ({ kind }) => kindOf(kind) },
              {
                key: 'status',
                header: say('console.state'),
                cell: ({ status }) => <StatusBadge status={status} />,
              },
              {
                key: 'tasks',
                header: say('console.tasks.tasks'),
                align: 'end',
                cell: ({ tasks }) => <Count value={tasks} />,
              },
              {
                key: 'words',
                header: say('console.words'),
                align: 'end',
                cell: ({ words }) => <Count value={words} />,
              },
              {
                key: 'oldest',
                header: say('console.tasks.oldest'),
                cell: ({ oldest_at }) => <When at={oldest_at} />,
              },
            ]}
          />
        </Section>
      )}
      <List
        label={say('nav.tasks')}
        search={search}
        filters={[
          { name: 'account', label: say('console.account') },
          {
            name: 'status',
            label: say('console.state'),
            choices: [
              { value: '', label: say('console.any') },
              ...STATUSES.map((value) => ({ value, label: say(`status.${value}`) })),
            ],
          },
        ]}
        rows={data?.tasks}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ task }) => task}
        empty={say('console.tasks.empty')}
        next={data?.more ? { offset: String(Number(search.offset ?? 0) + PAGE) } : undefined}
        page="offset"
        columns={[
          {
            key: 'uid',
            header: say('console.jobs.uid'),
            wide: true,
            cell: ({ uid, task, reports }) => (
              <span className={css.row}>
                <Link to={paths.task(task)} className={css.code}>
                  <bdi>{uid}</bdi>
                </Link>
                {reports.length > 0 && (
                  <Notice tone="warning">
                    {reports
                      .map(({ reason, note, by }) => `${reason}${note ? `: ${note}` : ''} (${by})`)
                      .join('; ')}
                  </Notice>
                )}
              </span>
            ),
          },
          {
            key: 'account',
            header: say('console.account'),
            cell: ({ account }) => <AccountLink username={account} />,
          },
          {
            key: 'pair',
            header: say('console.pair'),
            cell: ({ source_language, target_language }) => (
              <Pair from={source_language} to={target_language} />
            ),
          },
          { key: 'kind', header: say('console.tasks.kind'), cell: ({ kind }) => kindOf(kind) },
          {
            key: 'status',
            header: say('console.state'),
            cell: ({ status }) => <StatusBadge status={status} />,
          },
          {
            key: 'editor',
            header: say('console.tasks.editor'),
            cell: ({ editor }) => (editor === null ? '–' : <bdi>{editor.name}</bdi>),
          },
          {
            key: 'deadline',
            header: say('console.tasks.deadline'),
            cell: ({ deadline }) => <When at={deadline} />,
          },
          {
            key: 'change',
            header: say('console.edit'),
            bare: true,
            cell: (task) => (
              <span className={css.row}>
                {(task.status === 'claimed' || task.status === 'reported') && (
                  <Button size="xs" onClick={() => setAsked({ what: 'release', task })}>
                    {say('console.tasks.release')}
                  </Button>
                )}
                {(task.status === 'open' || task.status === 'claimed') && (
                  <>
                    <Button size="xs" onClick={() => setAsked({ what: 'reassign', task })}>
                      {say('console.tasks.reassign')}
                    </Button>
                    <Button size="xs" onClick={() => setAsked({ what: 'priority', task })}>
                      {say('console.tasks.priority')}
                    </Button>
                  </>
                )}
              </span>
            ),
          },
        ]}
      />
      <ConfirmDialog
        title={say('console.tasks.release')}
        action={say('console.tasks.release')}
        opened={asked?.what === 'release'}
        onClose={close}
        onConfirm={() =>
          change(
            () => call('releaseTaskOfAnother', { path: { task: asked!.task.task } }),
            say('console.tasks.released'),
          )
        }
      >
        {say('console.tasks.release_about')}
      </ConfirmDialog>
      <Dialog title={say('console.tasks.priority')} opened={asked?.what === 'priority'} onClose={close}>
        {asked?.what === 'priority' && (
          <Form
            onSubmit={async (values) => {
              const body = { priority: Number(values.priority) };
              await change(
                () => call('setPriority', { path: { task: asked.task.task }, body }),
                say('ui.saved'),
              );
              close();
            }}
          >
            <Field
              name="priority"
              type="number"
              label={say('console.tasks.priority')}
              description={say('console.tasks.priority_about')}
              defaultValue="0"
              ltr
              autoFocus
            />
            <DialogActions>
              <Button onClick={close}>{say('ui.cancel')}</Button>
              <SubmitButton>{say('ui.save')}</SubmitButton>
            </DialogActions>
          </Form>
        )}
      </Dialog>
      <Dialog title={say('console.tasks.reassign')} opened={asked?.what === 'reassign'} onClose={close}>
        {asked?.what === 'reassign' && <Reassign task={asked.task} onDone={close} />}
      </Dialog>
    </Page>
  );
}

const editors = () => query('listPeople', { query: { role: 'editor' } });

/** To an editor of its languages; for some hours nobody else may claim it. */
function Reassign({ task, onDone }: { task: ConsoleTask; onDone(): void }) {
  const say = useSay();
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
  if (data !== undefined && able.length === 0) return <p>{say('console.tasks.nobody')}</p>;
  return (
    <Form
      onSubmit={async (values) => {
        await change(
          () => call('reassignTask', { path: { task: task.task }, body: { user: values.user ?? '' } }),
          say('console.tasks.reassigned'),
        );
        onDone();
      }}
    >
      <ChoiceField
        name="user"
        label={say('console.tasks.user')}
        choices={able.map(({ user_id, name, email }) => ({ value: user_id, label: name || email }))}
      />
      <DialogActions>
        <Button onClick={onDone}>{say('ui.cancel')}</Button>
        <SubmitButton>{say('console.tasks.reassign')}</SubmitButton>
      </DialogActions>
    </Form>
  );
}
