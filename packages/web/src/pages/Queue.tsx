/** The queue of an editor: the tasks that the editor has claimed, and the open tasks in groups. */
import { Button, NativeSelect } from '@mantine/core';
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { type CallError, call, query } from '../api/client.ts';
import type { HeldTask, QueueTask } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import { type Loading, type PageProps, type Search, useFilters } from '../page.tsx';
import { paths } from '../paths.ts';
import { Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Duration } from '../ui/Duration.tsx';
import { Empty } from '../ui/Empty.tsx';
import { useErrorMessage } from '../ui/Failure.tsx';
import { ChoiceField, Form, SubmitButton } from '../ui/form.tsx';
import { ButtonLink } from '../ui/Link.tsx';
import { Money } from '../ui/Money.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { Pair, useLanguageName } from '../ui/Pair.tsx';
import { Tag } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { announce, toast } from '../ui/Toast.tsx';
import { When } from '../ui/When.tsx';
import css from './Queue.module.css';

export const load = ({ queries, search }: Loading) => queries.fetchQuery(queueOf(search));

/** The language pair and the order are applied by the server, which sends only a part of a long queue. */
const queueOf = ({ pair, sort }: Search) => {
  const [source_language, target_language] = (pair ?? '').split('>');
  const order = ORDERS.find((one) => one === sort);
  return query('readQueue', {
    query: {
      ...(source_language && target_language ? { source_language, target_language } : {}),
      ...(order === undefined ? {} : { sort: order }),
    },
  });
};

/** The codes of errors which show that the visible list is outdated. */
const OUTDATED = ['task_taken', 'nothing_waits', 'stale_lease'];

export default function Queue({ search }: PageProps) {
  const t = useTranslate();
  const { data } = useSuspenseQuery(queueOf(search));
  // Reads the list again when other editors claim tasks or new tasks arrive.
  useLiveUpdates('tasks', 'readQueue');
  const claim = useClaim();
  const pairs = [...new Set([...data.pairs.map(pairOf), ...(search.pair ? [search.pair] : [])])].sort();
  const { pair } = search;
  const order = ORDERS.find((one) => one === search.sort);
  const { open } = data;
  const groups = groupsOf(open);
  // If the editor has chosen neither a filter nor an order, the server decides which task the editor gets.
  const isOwnChoice = pair !== undefined || order !== undefined;
  const next = isOwnChoice ? groups[0]?.tasks[0]?.task : undefined;
  const paused = data.paused_until !== null;
  const canStart = open.length > 0 && !paused;
  const start = () => canStart && !claim.isPending && claim.mutate(next);
  useStartKey(start);
  return (
    <Page
      title={t('queue.title')}
      lead={
        data.pairs.length > 0 &&
        t('queue.lead', { count: data.pairs.reduce((sum, { waiting }) => sum + waiting, 0) })
      }
      actions={
        <Button
          variant="filled"
          disabled={!canStart}
          loading={claim.isPending && claim.variables === next}
          aria-keyshortcuts="N"
          onClick={start}
          rightSection={
            <kbd className={css.key} aria-hidden>
              N
            </kbd>
          }
        >
          {t('queue.next')}
        </Button>
      }
    >
      {data.paused_until !== null && (
        <Notice tone="warning">
          {t('error.claims_paused')} <When at={data.paused_until} />
        </Notice>
      )}
      {data.held.length > 0 && <HeldTasks tasks={data.held} />}
      {(data.open.length > 1 || pair !== undefined) && (
        <div className={css.controls}>
          {pairs.length > 1 && <PairFilter pairs={pairs} pair={pair} />}
          <OrderChoice order={order} hasPay={data.open.some(({ pay }) => pay !== undefined)} />
        </div>
      )}
      {groups.map(({ group, tasks }) => (
        <Section key={group} title={t(`queue.group.${group}`)}>
          <OpenTasks label={t(`queue.group.${group}`)} tasks={tasks} claim={claim} paused={paused} />
        </Section>
      ))}
      {groups.length === 0 && (
        <Card>
          <Empty>{t('queue.empty')}</Empty>
        </Card>
      )}
    </Page>
  );
}

/** The sort orders that an editor can choose. By default, the tasks are in the order in which the server lists them. */
const ORDERS = ['deadline', 'shortest', 'longest', 'pay'] as const;
type Order = (typeof ORDERS)[number];

/** The groups of open tasks, in their order on the page. */
const GROUPS = ['returned', 'review', 'edit'] as const;
type Group = (typeof GROUPS)[number];

const groupOf = ({ kind, returned }: QueueTask): Group =>
  kind === 'review' ? 'review' : returned ? 'returned' : 'edit';

function groupsOf(tasks: readonly QueueTask[]): { group: Group; tasks: QueueTask[] }[] {
  const byGroup = Map.groupBy(tasks, groupOf);
  return GROUPS.flatMap((group) => ({ group, tasks: byGroup.get(group) ?? [] })).filter(
    (one) => one.tasks.length > 0,
  );
}

/** Starts the first task when the user presses N, or Enter while no element has the focus. */
function useStartKey(start: () => void): void {
  const latest = useRef(start);
  latest.current = start;
  useEffect(() => {
    function press(event: KeyboardEvent): void {
      const { key, target, repeat, isComposing } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || repeat || isComposing) return;
      if (!(target instanceof HTMLElement) || target.closest('input, textarea, select, [role=dialog]'))
        return;
      if (document.querySelector('[role=dialog]') !== null) return;
      if (key.toLowerCase() !== 'n' && !(key === 'Enter' && target === document.body)) return;
      event.preventDefault();
      latest.current();
    }
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}

/** Claims a task, or the next task of the queue if no id is passed, and opens it in the workbench. */
function useClaim() {
  const t = useTranslate();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const messageOf = useErrorMessage();
  return useMutation<unknown, CallError, string | undefined>({
    async mutationFn(task) {
      const claimed = await call('claimTask', { body: task === undefined ? {} : { task } });
      announce(t('queue.claimed'));
      await navigate({ to: paths.task(claimed.task.task) });
    },
    async onError(error) {
      // The button may be far below the beginning of the page.
      toast(messageOf(error), 'danger');
      if (OUTDATED.includes(error.code)) await queries.invalidateQueries({ queryKey: ['readQueue'] });
    },
  });
}

function PairFilter({ pairs, pair }: { pairs: readonly string[]; pair: string | undefined }) {
  const t = useTranslate();
  const language = useLanguageName();
  const setFilters = useFilters();
  return (
    <NativeSelect
      aria-label={t('queue.pair')}
      value={pair ?? ''}
      data={[
        { value: '', label: t('queue.all_pairs') },
        ...pairs.map((value) => {
          const [from, to] = value.split('>') as [string, string];
          return { value, label: t('ui.pair', { from: language(from), to: language(to) }) };
        }),
      ]}
      onChange={(event) => setFilters({ pair: event.currentTarget.value })}
    />
  );
}

function OrderChoice({ order, hasPay }: { order: Order | undefined; hasPay: boolean }) {
  const t = useTranslate();
  const setFilters = useFilters();
  return (
    <NativeSelect
      aria-label={t('queue.sort')}
      value={order ?? ''}
      data={[
        { value: '', label: t('queue.sort.queue') },
        ...ORDERS.filter((one) => one !== 'pay' || hasPay).map((value) => ({
          value,
          label: t(`queue.sort.${value}`),
        })),
      ]}
      onChange={(event) => setFilters({ sort: event.currentTarget.value })}
    />
  );
}

interface OpenTasksProps {
  label: string;
  tasks: readonly QueueTask[];
  claim: ReturnType<typeof useClaim>;
  /** Whether the server has paused claims for this editor. */
  paused: boolean;
}

function OpenTasks({ label, tasks, claim, paused }: OpenTasksProps) {
  const t = useTranslate();
  const [skipping, setSkipping] = useState<QueueTask>();
  const columns: Column<QueueTask>[] = [
    ...useTaskColumns(tasks),
    {
      header: t('queue.claim'),
      bare: true,
      align: 'end',
      cell: (task) => (
        <span className={css.buttons}>
          <Button size="xs" variant="subtle" onClick={() => setSkipping(task)}>
            {t('queue.skip')}
          </Button>
          <Button
            size="xs"
            disabled={paused}
            loading={claim.isPending && claim.variables === task.task}
            onClick={() => claim.mutate(task.task)}
          >
            {t('queue.claim')}
          </Button>
        </span>
      ),
    },
  ];
  return (
    <>
      <Table label={label} columns={columns} rows={tasks} rowKey={({ task }) => task} empty={null} />
      <SkipDialog task={skipping} onClose={() => setSkipping(undefined)} />
    </>
  );
}

/** The tasks that the editor has claimed. */
function HeldTasks({ tasks }: { tasks: readonly HeldTask[] }) {
  const t = useTranslate();
  const columns: Column<HeldTask>[] = [
    ...useTaskColumns(tasks),
    {
      header: t('queue.progress'),
      align: 'end',
      cell: ({ confirmed, segments }) => t('queue.progress.of', { confirmed, segments }),
    },
    {
      header: t('queue.continue'),
      bare: true,
      align: 'end',
      cell: ({ task }) => (
        <ButtonLink to={paths.task(task)} size="xs">
          {t('queue.continue')}
        </ButtonLink>
      ),
    },
  ];
  return (
    <Section title={t('queue.held')}>
      <Table
        label={t('queue.held')}
        columns={columns}
        rows={tasks}
        rowKey={({ task }) => task}
        empty={null}
      />
    </Section>
  );
}

/**
 * The columns of all tables: open tasks and claimed tasks. The pay is shown for tasks for which the operator has set
 * it.
 */
function useTaskColumns(tasks: readonly QueueTask[]): Column<QueueTask>[] {
  const t = useTranslate();
  return [
    {
      header: t('queue.job'),
      wide: true,
      cell: (task) => (
        <span className={css.job}>
          {task.excerpt !== '' && (
            <span className={css.excerpt} translate="no">
              <bdi lang={task.source_language}>{task.excerpt}</bdi>
            </span>
          )}
          <span className={css.about}>
            <span className={css.languages}>
              <Pair of={task} />
            </span>
            {task.brand !== null && (
              <span>
                <bdi>{task.brand}</bdi>
              </span>
            )}
            <span>
              <bdi>{task.name ?? task.uid}</bdi>
            </span>
            {task.parts > 1 && <span>{t('queue.part', { number: task.number, parts: task.parts })}</span>}
            <span>{t(`format.${task.format}`)}</span>
            {task.tone !== null && <span>{t('tone', { tone: task.tone })}</span>}
          </span>
        </span>
      ),
    },
    {
      header: t('queue.notes'),
      bare: true,
      cell: (task) => (
        <span className={css.signs}>
          {task.reserved && <Tag tone="info">{t('queue.reserved')}</Tag>}
          {task.urgency === 'late' && <Tag tone="danger">{t('queue.late')}</Tag>}
          {task.urgency === 'soon' && <Tag tone="warning">{t('queue.soon')}</Tag>}
        </span>
      ),
    },
    { header: t('queue.words'), align: 'end', cell: ({ words }) => words },
    {
      header: t('queue.time'),
      align: 'end',
      cell: ({ expected_minutes }) => <Duration milliseconds={expected_minutes * MINUTE_MILLISECONDS} />,
    },
    ...(tasks.some(({ pay }) => pay !== undefined)
      ? [
          {
            header: t('queue.pay'),
            align: 'end' as const,
            cell: ({ pay }: QueueTask) => (pay === undefined ? '–' : <Money cents={pay} />),
          },
        ]
      : []),
    { header: t('queue.deadline'), cell: ({ deadline }) => <When at={deadline} /> },
  ];
}

const MINUTE_MILLISECONDS = 60_000;

const pairOf = ({
  source_language,
  target_language,
}: Pick<QueueTask, 'source_language' | 'target_language'>) => `${source_language}>${target_language}`;

const SKIP_REASONS = ['too_hard', 'not_my_topic', 'no_time', 'other'] as const;

/** Skips a task, which is then not offered to this editor again. */
function SkipDialog({ task, onClose }: { task: QueueTask | undefined; onClose(): void }) {
  const t = useTranslate();
  const queries = useQueryClient();
  return (
    <Dialog title={t('queue.skip.title')} opened={task !== undefined} onClose={onClose}>
      <p>{t('queue.skip.text')}</p>
      <Form
        onSubmit={async ({ reason }) => {
          const body = { reason: reason as (typeof SKIP_REASONS)[number] };
          await call('skipTask', { path: { task: task!.task }, body });
          await queries.invalidateQueries({ queryKey: ['readQueue'] });
          onClose();
        }}
      >
        <ChoiceField
          name="reason"
          label={t('queue.skip.reason')}
          choices={SKIP_REASONS.map((value) => ({ value, label: t(`queue.skip.reason.${value}`) }))}
        />
        <DialogActions>
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <SubmitButton>{t('queue.skip.action')}</SubmitButton>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
