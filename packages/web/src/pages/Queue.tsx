/** E1: what an editor has in hand, and what waits for them. */
import { Button, NativeSelect } from '@mantine/core';
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type CallError, call, query } from '../api/client.ts';
import type { HeldTask, QueueTask } from '../api/generated.ts';
import { useLive } from '../live.ts';
import { type Loading, type PageProps, useFilters } from '../page.tsx';
import { paths } from '../paths.ts';
import { Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { ChoiceField, Form, SubmitButton } from '../ui/form.tsx';
import { ButtonLink } from '../ui/Link.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Page, Section } from '../ui/Page.tsx';
import { Pair, useLanguageName } from '../ui/Pair.tsx';
import { Tag } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { announce } from '../ui/Toast.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import css from './Queue.module.css';

export const load = ({ queries }: Loading) => queries.fetchQuery(query('readQueue'));

/** Refusals after which the list is another than the one that is shown. */
const GONE = ['task_taken', 'nothing_waits', 'stale_lease'];

export default function Queue({ search }: PageProps) {
  const say = useSay();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const setFilters = useFilters();
  const language = useLanguageName();
  const [skipping, setSkipping] = useState<QueueTask>();
  const { data } = useSuspenseQuery(query('readQueue'));
  // Somebody else may take a task, and new ones come.
  useLive('tasks', 'readQueue');
  const claim = useMutation<unknown, CallError, string | undefined>({
    async mutationFn(task) {
      const claimed = await call('claimTask', { body: task === undefined ? {} : { task } });
      announce(say('queue.claimed'));
      await navigate({ to: paths.task(claimed.task.task) });
    },
    async onError(error) {
      if (GONE.includes(error.code)) await queries.invalidateQueries(query('readQueue'));
    },
  });

  const pairs = [...new Set(data.open.map(pairOf))].sort();
  // A filter that no task fits any more hides nothing.
  const wanted = pairs.includes(search.pair ?? '') ? search.pair : undefined;
  const open = data.open.filter((task) => wanted === undefined || pairOf(task) === wanted);
  const next = wanted === undefined ? undefined : open[0]?.task;

  return (
    <Page
      title={say('queue.title')}
      lead={data.open.length > 0 && say('queue.lead', { count: data.waiting })}
      actions={
        <Button
          variant="filled"
          disabled={open.length === 0 || data.paused_until !== null}
          loading={claim.isPending && claim.variables === next}
          onClick={() => claim.mutate(next)}
        >
          {say('queue.next')}
        </Button>
      }
    >
      {claim.error !== null && <FailureNotice error={claim.error} />}
      {data.paused_until !== null && (
        <Notice tone="warning">
          {say('error.claims_paused')} <When at={data.paused_until} />
        </Notice>
      )}
      {data.held.length > 0 && (
        <Section title={say('queue.held')}>
          <Table
            label={say('queue.held')}
            columns={heldColumns()}
            rows={data.held}
            rowKey={({ task }) => task}
            empty={null}
          />
        </Section>
      )}
      <Section
        title={say('queue.open')}
        actions={
          pairs.length > 1 && (
            <NativeSelect
              aria-label={say('queue.pair')}
              value={wanted ?? ''}
              data={[
                { value: '', label: say('queue.all_pairs') },
                ...pairs.map((pair) => {
                  const [from, to] = pair.split('>') as [string, string];
                  return { value: pair, label: say('ui.pair', { from: language(from), to: language(to) }) };
                }),
              ]}
              onChange={(event) => setFilters({ pair: event.currentTarget.value })}
            />
          )
        }
      >
        <Table
          label={say('queue.open')}
          columns={openColumns()}
          rows={open}
          rowKey={({ task }) => task}
          empty={<Empty>{say('queue.empty')}</Empty>}
        />
      </Section>
      <SkipDialog task={skipping} onClose={() => setSkipping(undefined)} />
    </Page>
  );

  function commonColumns(): Column<QueueTask>[] {
    return [
      {
        key: 'job',
        header: say('queue.job'),
        wide: true,
        cell: (task) => (
          <span className={css.job}>
            <strong>
              <Pair from={task.source_language} to={task.target_language} />
            </strong>
            <span className={css.about}>
              <span>№ {task.order_number}</span>
              {task.brand !== null && <bdi>{task.brand}</bdi>}
              <span>{say(`format.${task.format}`)}</span>
              {task.tone !== null && <bdi>{task.tone}</bdi>}
            </span>
          </span>
        ),
      },
      {
        key: 'signs',
        header: say('queue.signs'),
        bare: true,
        cell: (task) => (
          <span className={css.signs}>
            {task.kind === 'review' && <Tag tone="info">{say('queue.review')}</Tag>}
            {task.reserved && <Tag tone="info">{say('queue.reserved')}</Tag>}
            {task.urgency === 'late' && <Tag tone="danger">{say('queue.late')}</Tag>}
            {task.urgency === 'soon' && <Tag tone="warning">{say('queue.soon')}</Tag>}
          </span>
        ),
      },
      { key: 'words', header: say('queue.words'), align: 'end', cell: ({ words }) => words },
      { key: 'deadline', header: say('queue.deadline'), cell: ({ deadline }) => <When at={deadline} /> },
    ];
  }

  function openColumns(): Column<QueueTask>[] {
    return [
      ...commonColumns(),
      {
        key: 'claim',
        header: say('queue.claim'),
        bare: true,
        align: 'end',
        cell: (task) => (
          <span className={css.buttons}>
            <Button size="xs" variant="subtle" onClick={() => setSkipping(task)}>
              {say('queue.skip')}
            </Button>
            <Button
              size="xs"
              disabled={data.paused_until !== null}
              loading={claim.isPending && claim.variables === task.task}
              onClick={() => claim.mutate(task.task)}
            >
              {say('queue.claim')}
            </Button>
          </span>
        ),
      },
    ];
  }

  function heldColumns(): Column<HeldTask>[] {
    return [
      ...commonColumns(),
      {
        key: 'progress',
        header: say('queue.progress'),
        align: 'end',
        cell: ({ confirmed, segments }) => say('queue.progress.of', { confirmed, segments }),
      },
      { key: 'limit', header: say('queue.limit'), cell: ({ lease }) => <When at={lease.limit_until} /> },
      {
        key: 'continue',
        header: say('queue.continue'),
        bare: true,
        align: 'end',
        cell: ({ task }) => (
          <ButtonLink to={paths.task(task)} size="xs">
            {say('queue.continue')}
          </ButtonLink>
        ),
      },
    ];
  }
}

const pairOf = ({ source_language, target_language }: QueueTask) => `${source_language}>${target_language}`;

const SKIP_REASONS = ['too_hard', 'not_my_topic', 'no_time', 'other'] as const;

/** A task that is skipped is not offered to this editor again. */
function SkipDialog({ task, onClose }: { task: QueueTask | undefined; onClose(): void }) {
  const say = useSay();
  const queries = useQueryClient();
  return (
    <Dialog title={say('queue.skip.title')} opened={task !== undefined} onClose={onClose}>
      <p>{say('queue.skip.text')}</p>
      <Form
        onSubmit={async ({ reason }) => {
          const body = { reason: reason as (typeof SKIP_REASONS)[number] };
          await call('skipTask', { path: { task: task!.task }, body });
          await queries.invalidateQueries(query('readQueue'));
          onClose();
        }}
      >
        <ChoiceField
          name="reason"
          label={say('queue.skip.reason')}
          choices={SKIP_REASONS.map((value) => ({ value, label: say(`queue.skip.reason.${value}`) }))}
        />
        <DialogActions>
          <Button onClick={onClose}>{say('ui.cancel')}</Button>
          <SubmitButton>{say('queue.skip.action')}</SubmitButton>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
