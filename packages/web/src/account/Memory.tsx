/** The account's translation memory: counts, entries, import and export, disagreements of editors, and texts used in jobs. */
import { Button, NativeSelect } from '@mantine/core';
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FormattedNumber } from 'react-intl';
import { call, hrefOf, query } from '../api/client.ts';
import type { MemoryEntry, MemoryEntryTouched, MemoryImported, MemorySummary } from '../api/generated.ts';
import { Disagreements } from '../Disagreements.tsx';
import { useTranslate } from '../i18n.tsx';
import { type Loading, type PageProps, useFilters, usePages } from '../page.tsx';
import { paths } from '../paths.ts';
import { Dialog, DialogActions, SidePanel } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Facts } from '../ui/Facts.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { textOf } from '../ui/file-text.ts';
import { Field, FileField, Form, SubmitButton } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Page, Section } from '../ui/Page.tsx';
import { Pair } from '../ui/Pair.tsx';
import { Lines } from '../ui/Skeleton.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { type Column, More, Table } from '../ui/Table.tsx';
import { toast } from '../ui/Toast.tsx';
import { When } from '../ui/When.tsx';
import { Votes } from '../Votes.tsx';
import css from './account.module.css';
import { SearchField } from './SearchField.tsx';

const summary = () => query('summarizeOwnMemory');

export const load = ({ queries }: Loading) => queries.fetchQuery(summary());

const STATES = ['live', 'withdrawn', 'all'] as const;
type Row = MemorySummary['memory'][number];

export default function Memory({ search }: PageProps) {
  const t = useTranslate();
  const setFilters = useFilters();
  const { data } = useSuspenseQuery(summary());
  const [importing, setImporting] = useState(false);
  const total = data.memory.reduce((sum, row) => sum + row.entries - row.withdrawn, 0);
  return (
    <Page
      title={t('account.memory.title')}
      lead={t('account.memory.count', { count: total })}
      actions={
        <>
          {total > 0 && (
            <Button component="a" href={hrefOf('exportOwnMemory')} download>
              {t('account.memory.export')}
            </Button>
          )}
          <Button variant="filled" onClick={() => setImporting(true)}>
            {t('account.memory.import')}
          </Button>
        </>
      }
    >
      {data.memory.length === 0 ? (
        <Empty>{t('account.memory.empty')}</Empty>
      ) : (
        <>
          <Pairs rows={data.memory} />
          <Entries search={search} pairs={data.memory} />
        </>
      )}
      <Disagreements
        queryKey={['listOwnDisagreements']}
        read={(before, signal) => call('listOwnDisagreements', { query: { before } }, { signal })}
        make={(disagreement, body) => call('makeOwnRule', { path: { disagreement }, body })}
        end={(disagreement, rule) => call('endOwnRule', { path: { disagreement }, query: { rule } })}
      />
      <UsedTexts />
      <SidePanel
        title={t('account.memory.entry')}
        opened={search.open !== undefined}
        onClose={() => setFilters({ open: '' })}
      >
        {search.open !== undefined && <Entry key={search.open} id={search.open} />}
      </SidePanel>
      <Import opened={importing} onClose={() => setImporting(false)} />
    </Page>
  );
}

function Pairs({ rows }: { rows: readonly Row[] }) {
  const t = useTranslate();
  const columns: Column<Row>[] = [
    {
      header: t('account.pair'),
      wide: true,
      cell: (row) => <Pair of={row} />,
    },
    {
      header: t('account.brand'),
      cell: ({ brand }) => (brand === null ? t('account.memory.every_brand') : <bdi>{brand}</bdi>),
    },
    {
      header: t('account.memory.used'),
      align: 'end',
      cell: ({ entries, withdrawn }) => <FormattedNumber value={entries - withdrawn} />,
    },
    {
      header: t('account.memory.withdrawn'),
      align: 'end',
      cell: ({ withdrawn }) => <FormattedNumber value={withdrawn} />,
    },
    { header: t('account.brand.changed'), cell: ({ changed_at }) => <When at={changed_at} /> },
    {
      header: t('account.actions'),
      bare: true,
      align: 'end',
      cell: ({ source_language: from, target_language: to, brand }) => (
        <Button
          size="xs"
          component="a"
          download
          href={hrefOf('exportOwnMemory', { query: { from, to, ...(brand === null ? {} : { brand }) } })}
        >
          TMX
        </Button>
      ),
    },
  ];
  return (
    <Section title={t('account.memory.pairs')}>
      <Table
        label={t('account.memory.pairs')}
        columns={columns}
        rows={rows}
        rowKey={({ source_language, target_language, brand }) =>
          `${source_language} ${target_language} ${brand}`
        }
        empty={null}
      />
    </Section>
  );
}

/** The account's votes: confirmed texts that waiting jobs use, even before the memory contains them. */
function UsedTexts() {
  const t = useTranslate();
  const queries = useQueryClient();
  const { data } = useQuery(query('listOwnVotes'));
  // Once shown, the section stays, even if the last vote is withdrawn: a dialog in it then shows the result.
  const [shown, setShown] = useState(false);
  if (!shown && data !== undefined && data.votes.length > 0) setShown(true);
  if (!shown || data === undefined) return null;
  async function undo(vote: string) {
    const undone = await call('undoOwnVote', { path: { vote } });
    await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'listOwnVotes' });
    return undone;
  }
  return (
    <Section title={t('votes.title')}>
      <Votes
        votes={data.votes}
        jobLink={(uid) => ({ to: paths.account.jobs, search: { open: uid } })}
        undo={undo}
      />
    </Section>
  );
}

function Entries({ search, pairs }: { search: PageProps['search']; pairs: readonly Row[] }) {
  const t = useTranslate();
  const setFilters = useFilters();
  const { q, pair } = search;
  const state = STATES.find((one) => one === search.state) ?? 'live';
  const [from, to] = pair?.split(' ') ?? [];
  const filters = { q, from, to, state };
  const {
    rows,
    first: _,
    more,
    ...rest
  } = usePages(['searchOwnMemory', filters], async (before, signal) => {
    const { entries, next } = await call(
      'searchOwnMemory',
      { query: { ...filters, before, limit: 50 } },
      { signal },
    );
    return { objects: entries, next };
  });
  const pairNames = [...new Set(pairs.map((row) => `${row.source_language} ${row.target_language}`))];
  const columns: Column<MemoryEntry>[] = [
    {
      header: t('account.memory.source'),
      wide: true,
      cell: ({ source, source_language }) => (
        <span className={css.segment} lang={source_language} dir="auto">
          {source}
        </span>
      ),
    },
    {
      header: t('account.memory.target'),
      wide: true,
      cell: ({ target, target_language }) => (
        <span className={css.segment} lang={target_language} dir="auto">
          {target}
        </span>
      ),
    },
    { header: t('account.pair'), cell: (row) => <Pair of={row} /> },
    { header: t('account.memory.weight'), cell: (entry) => <Weight entry={entry} /> },
    { header: t('account.brand.changed'), cell: ({ changed_at: at }) => <When at={at} /> },
  ];
  return (
    <Section title={t('account.memory.entries')}>
      <search className={css.filters}>
        <SearchField
          key={q ?? ''}
          label={t('account.memory.find')}
          value={q ?? ''}
          maxLength={500}
          onSearch={(text) => setFilters({ q: text, open: '' })}
        />
        {pairNames.length > 1 && (
          <NativeSelect
            label={t('account.pair')}
            value={pair ?? ''}
            data={[
              { value: '', label: t('account.any') },
              ...pairNames.map((value) => ({ value, label: value.replace(' ', ' → ') })),
            ]}
            onChange={(event) => setFilters({ pair: event.currentTarget.value })}
          />
        )}
        <NativeSelect
          label={t('account.status')}
          value={state}
          data={STATES.map((value) => ({ value, label: t(`account.memory.state.${value}`) }))}
          onChange={(event) =>
            setFilters({ state: event.currentTarget.value === 'live' ? '' : event.currentTarget.value })
          }
        />
      </search>
      <Table
        label={t('account.memory.entries')}
        columns={columns}
        rows={rows}
        rowKey={({ memory_id }) => memory_id}
        onOpen={({ memory_id }) => setFilters({ open: memory_id })}
        isSelected={({ memory_id }) => memory_id === search.open}
        empty={<Empty>{t('account.memory.none')}</Empty>}
        {...rest}
      />
      <More {...more} />
    </Section>
  );
}

function Weight({ entry: { weight, withdrawn } }: { entry: MemoryEntry }) {
  const t = useTranslate();
  if (withdrawn !== null) return <Tag tone="warning">{t('account.memory.weight.withdrawn')}</Tag>;
  return <Tag>{t(`account.memory.weight.${weight as 0 | 1 | 2 | 3 | 4}`)}</Tag>;
}

const entryOf = (id: string) => query('readOwnMemory', { path: { memory_id: id } });

function Entry({ id }: { id: string }) {
  const t = useTranslate();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(entryOf(id));
  const [confirming, setConfirming] = useState(false);
  if (error !== null) return <FailureNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Lines count={6} />;
  async function show(changed: MemoryEntryTouched, message: string): Promise<void> {
    queries.setQueryData(entryOf(id).queryKey, changed);
    await queries.invalidateQueries({
      predicate: ({ queryKey }) => ['searchOwnMemory', 'summarizeOwnMemory'].includes(String(queryKey[0])),
    });
    toast(message);
  }
  const path = { memory_id: id };
  const { entry, touched } = data;
  return (
    <>
      <div>
        {entry.withdrawn === null ? (
          <Button onClick={() => setConfirming(true)}>{t('account.memory.withdraw')}</Button>
        ) : (
          <Button
            onClick={async () => show(await call('restoreOwnMemory', { path }), t('account.memory.restored'))}
          >
            {t('account.memory.restore')}
          </Button>
        )}
      </div>
      {entry.withdrawn !== null && (
        <Notice tone="warning">
          {t('account.memory.withdrawn_by', { name: entry.withdrawn.by })} <When at={entry.withdrawn.at} />
          {entry.withdrawn.reason !== null && <p className={css.wrap}>{entry.withdrawn.reason}</p>}
        </Notice>
      )}
      {(['source', 'target'] as const).map((one) => (
        <section key={one} className={css.block}>
          <h3>{t(`account.memory.${one}`)}</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
          <div className={css.text} lang={entry[`${one}_language`]} dir="auto" tabIndex={0}>
            {entry[one]}
          </div>
        </section>
      ))}
      <Facts
        facts={[
          {
            label: t('account.pair'),
            value: <Pair of={entry} />,
          },
          {
            label: t('account.brand'),
            value: entry.brand === null ? t('account.memory.every_brand') : <bdi>{entry.brand}</bdi>,
          },
          { label: t('account.memory.weight'), value: <Weight entry={entry} /> },
          { label: t('account.created'), value: <When at={entry.created_at} /> },
        ]}
      />
      <Touched touched={touched} />
      <Dialog title={t('account.memory.withdraw')} opened={confirming} onClose={() => setConfirming(false)}>
        <p>{t('account.memory.withdraw.text')}</p>
        <Form
          onSubmit={async ({ reason }) => {
            const now = await call('withdrawOwnMemory', { path, body: { ...(reason ? { reason } : {}) } });
            setConfirming(false);
            await show(now, t('account.memory.withdrawn_now'));
          }}
        >
          <Field name="reason" label={t('account.memory.reason')} autoComplete="off" optional />
          <DialogActions>
            <Button onClick={() => setConfirming(false)}>{t('ui.cancel')}</Button>
            <SubmitButton>{t('account.memory.withdraw')}</SubmitButton>
          </DialogActions>
        </Form>
      </Dialog>
    </>
  );
}

function Touched({ touched }: Pick<MemoryEntryTouched, 'touched'>) {
  const t = useTranslate();
  if (touched.length === 0) return null;
  return (
    <section className={css.block}>
      <h3>{t('account.memory.jobs')}</h3>
      <ul className={css.steps}>
        {touched.map(({ job_id, uid, environment, status, position, how, created_at }) => (
          <li key={`${job_id} ${position} ${how}`} className={css.step}>
            <Link
              to={paths.account.jobs}
              search={{ open: uid, ...(environment === 'sandbox' ? { environment } : {}) }}
            >
              <bdi>{uid}</bdi>
            </Link>
            <span>{t(`account.memory.use.${how}`)}</span>
            <StatusBadge status={status} />
            <span className={css.muted}>
              <When at={created_at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface ImportRequest {
  from: string;
  to: string;
  brand?: string;
  tmx: string;
}

/** Imports a TMX file. A dry run first shows what it would write. */
function Import({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const t = useTranslate();
  const queries = useQueryClient();
  const [preview, setPreview] = useState<{ request: ImportRequest; result: MemoryImported }>();
  const close = () => {
    setPreview(undefined);
    onClose();
  };
  return (
    <Dialog title={t('account.memory.import')} opened={opened} onClose={close}>
      {preview === undefined ? (
        <Form
          onSubmit={async ({ from = '', to = '', brand, tmx: file }) => {
            const tmx = await textOf(file as unknown as File);
            const request = { from, to, ...(brand ? { brand } : {}), tmx };
            const result = await call('importOwnMemory', { body: { ...request, dry_run: true } });
            setPreview({ request, result });
          }}
        >
          <FileField name="tmx" label={t('account.memory.file')} accept=".tmx,.xml" />
          <Field name="from" label={t('account.memory.from')} autoComplete="off" ltr />
          <Field name="to" label={t('account.memory.to')} autoComplete="off" ltr />
          <Field
            name="brand"
            label={t('account.brand')}
            description={t('account.memory.brand.help')}
            autoComplete="off"
            optional
            ltr
          />
          <DialogActions>
            <Button onClick={close}>{t('ui.cancel')}</Button>
            <SubmitButton>{t('account.memory.preview')}</SubmitButton>
          </DialogActions>
        </Form>
      ) : (
        <Form
          onSubmit={async () => {
            const { written } = await call('importOwnMemory', { body: preview.request });
            await queries.invalidateQueries({
              predicate: ({ queryKey }) =>
                ['searchOwnMemory', 'summarizeOwnMemory'].includes(String(queryKey[0])),
            });
            toast(t('account.memory.imported', { count: written }));
            close();
          }}
        >
          <Notice tone={preview.result.written === 0 ? 'warning' : 'info'}>
            {t('account.memory.will_import', { count: preview.result.written })}
          </Notice>
          <Facts
            facts={[
              {
                label: t('account.pair'),
                value: (
                  <Pair of={{ source_language: preview.request.from, target_language: preview.request.to }} />
                ),
              },
              { label: t('account.memory.read'), value: <FormattedNumber value={preview.result.read} /> },
              {
                label: t('account.memory.skipped'),
                value: <FormattedNumber value={preview.result.skipped} />,
              },
            ]}
          />
          <DialogActions>
            <Button onClick={() => setPreview(undefined)}>{t('account.memory.back')}</Button>
            <SubmitButton disabled={preview.result.written === 0}>
              {t('account.memory.import_now')}
            </SubmitButton>
          </DialogActions>
        </Form>
      )}
    </Dialog>
  );
}
