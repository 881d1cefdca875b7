/** What the account has translated before: how much, which, what is used no more, and all of it as a file. */
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FormattedNumber } from 'react-intl';
import { call, hrefOf, query } from '../api/client.ts';
import type { MemoryEntry, MemoryEntryTouched, MemoryImported, MemorySummary } from '../api/generated.ts';
import { type Loading, type PageProps, useFilters, usePages } from '../page.tsx';
import { paths } from '../paths.ts';
import { Dialog, DialogActions, SidePanel } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Facts } from '../ui/Facts.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
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
import { useSay } from '../words.tsx';
import css from './account.module.css';

const summary = () => query('summarizeMyMemory');

export const load = ({ queries }: Loading) => queries.fetchQuery(summary());

const STATES = ['live', 'retracted', 'all'] as const;
type Row = MemorySummary['memory'][number];

export default function Memory({ search }: PageProps) {
  const say = useSay();
  const setFilters = useFilters();
  const { data } = useSuspenseQuery(summary());
  const [importing, setImporting] = useState(false);
  const total = data.memory.reduce((sum, row) => sum + row.entries - row.retracted, 0);
  return (
    <Page
      title={say('account.memory.title')}
      lead={say('account.memory.count', { count: total })}
      actions={
        <>
          {total > 0 && (
            <Button component="a" href={hrefOf('exportMyMemory')} download>
              {say('account.memory.export')}
            </Button>
          )}
          <Button variant="filled" onClick={() => setImporting(true)}>
            {say('account.memory.import')}
          </Button>
        </>
      }
    >
      {data.memory.length === 0 ? (
        <Empty>{say('account.memory.empty')}</Empty>
      ) : (
        <>
          <Pairs rows={data.memory} />
          <Entries search={search} pairs={data.memory} />
        </>
      )}
      <SidePanel
        title={say('account.memory.entry')}
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
  const say = useSay();
  const columns: Column<Row>[] = [
    {
      key: 'pair',
      header: say('account.pair'),
      wide: true,
      cell: ({ source_language, target_language }) => <Pair from={source_language} to={target_language} />,
    },
    {
      key: 'brand',
      header: say('account.brand'),
      cell: ({ brand }) => (brand === null ? say('account.memory.every_brand') : <bdi>{brand}</bdi>),
    },
    {
      key: 'entries',
      header: say('account.memory.used'),
      align: 'end',
      cell: ({ entries, retracted }) => <FormattedNumber value={entries - retracted} />,
    },
    {
      key: 'retracted',
      header: say('account.memory.retracted'),
      align: 'end',
      cell: ({ retracted }) => <FormattedNumber value={retracted} />,
    },
    {
      key: 'changed',
      header: say('account.brand.changed'),
      cell: ({ changed_at }) => <When at={changed_at} />,
    },
    {
      key: 'acts',
      header: say('account.acts'),
      bare: true,
      align: 'end',
      cell: ({ source_language: from, target_language: to, brand }) => (
        <Button
          size="xs"
          component="a"
          download
          href={hrefOf('exportMyMemory', { query: { from, to, ...(brand === null ? {} : { brand }) } })}
        >
          TMX
        </Button>
      ),
    },
  ];
  return (
    <Section title={say('account.memory.pairs')}>
      <Table
        label={say('account.memory.pairs')}
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

function Entries({ search, pairs }: { search: PageProps['search']; pairs: readonly Row[] }) {
  const say = useSay();
  const setFilters = useFilters();
  const { q, pair } = search;
  const state = STATES.find((one) => one === search.state) ?? 'live';
  const [from, to] = pair?.split(' ') ?? [];
  const asked = { q, from, to, state };
  const {
    rows,
    first: _,
    more,
    ...rest
  } = usePages(['searchMyMemory', asked], async (before, signal) => {
    const { entries, next } = await call(
      'searchMyMemory',
      { query: { ...asked, before, limit: 50 } },
      { signal },
    );
    return { objects: entries, next };
  });
  const named = [...new Set(pairs.map((row) => `${row.source_language} ${row.target_language}`))];
  const columns: Column<MemoryEntry>[] = [
    {
      key: 'source',
      header: say('account.memory.source'),
      wide: true,
      cell: ({ source, source_language }) => (
        <span className={css.segment} lang={source_language} dir="auto">
          {source}
        </span>
      ),
    },
    {
      key: 'target',
      header: say('account.memory.target'),
      wide: true,
      cell: ({ target, target_language }) => (
        <span className={css.segment} lang={target_language} dir="auto">
          {target}
        </span>
      ),
    },
    {
      key: 'pair',
      header: say('account.pair'),
      cell: ({ source_language, target_language }) => <Pair from={source_language} to={target_language} />,
    },
    { key: 'weight', header: say('account.memory.weight'), cell: (entry) => <Weight entry={entry} /> },
    { key: 'changed', header: say('account.brand.changed'), cell: ({ changed_at: at }) => <When at={at} /> },
  ];
  return (
    <Section title={say('account.memory.entries')}>
      <search className={css.filters}>
        <Find key={q ?? ''} value={q ?? ''} onFind={(text) => setFilters({ q: text, open: '' })} />
        {named.length > 1 && (
          <NativeSelect
            label={say('account.pair')}
            value={pair ?? ''}
            data={[
              { value: '', label: say('account.any') },
              ...named.map((value) => ({ value, label: value.replace(' ', ' → ') })),
            ]}
            onChange={(event) => setFilters({ pair: event.currentTarget.value })}
          />
        )}
        <NativeSelect
          label={say('account.status')}
          value={state}
          data={STATES.map((value) => ({ value, label: say(`account.memory.state.${value}`) }))}
          onChange={(event) =>
            setFilters({ state: event.currentTarget.value === 'live' ? '' : event.currentTarget.value })
          }
        />
      </search>
      <Table
        label={say('account.memory.entries')}
        columns={columns}
        rows={rows}
        rowKey={({ memory_id }) => memory_id}
        onOpen={({ memory_id }) => setFilters({ open: memory_id })}
        isSelected={({ memory_id }) => memory_id === search.open}
        empty={<Empty>{say('account.memory.none')}</Empty>}
        {...rest}
      />
      <More {...more} />
    </Section>
  );
}

/** Found when Enter is pressed or the field is left: each letter would be a request. */
function Find({ value, onFind }: { value: string; onFind(text: string): void }) {
  const say = useSay();
  const [text, setText] = useState(value);
  const find = () => text.trim() !== value && onFind(text.trim());
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        find();
      }}
    >
      <TextInput
        type="search"
        label={say('account.memory.find')}
        maxLength={500}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={find}
      />
    </form>
  );
}

function Weight({ entry: { weight, retracted } }: { entry: MemoryEntry }) {
  const say = useSay();
  if (retracted !== null) return <Tag tone="warning">{say('account.memory.weight.retracted')}</Tag>;
  return <Tag>{say(`account.memory.weight.${weight as 0 | 1 | 2 | 3 | 4}`)}</Tag>;
}

const entryOf = (id: string) => query('readMyMemory', { path: { memory_id: id } });

function Entry({ id }: { id: string }) {
  const say = useSay();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(entryOf(id));
  const [asking, setAsking] = useState(false);
  if (error !== null) return <FailureNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Lines count={6} />;
  async function changed(now: MemoryEntryTouched, said: string): Promise<void> {
    queries.setQueryData(entryOf(id).queryKey, now);
    await queries.invalidateQueries({
      predicate: ({ queryKey }) => ['searchMyMemory', 'summarizeMyMemory'].includes(String(queryKey[0])),
    });
    toast(said);
  }
  const path = { memory_id: id };
  const { entry, touched } = data;
  return (
    <>
      <div>
        {entry.retracted === null ? (
          <Button onClick={() => setAsking(true)}>{say('account.memory.retract')}</Button>
        ) : (
          <Button
            onClick={async () =>
              changed(await call('restoreMyMemory', { path }), say('account.memory.restored'))
            }
          >
            {say('account.memory.restore')}
          </Button>
        )}
      </div>
      {entry.retracted !== null && (
        <Notice tone="warning">
          {say('account.memory.retracted_by', { name: entry.retracted.by })} <When at={entry.retracted.at} />
          {entry.retracted.reason !== null && <p className={css.wrap}>{entry.retracted.reason}</p>}
        </Notice>
      )}
      {(['source', 'target'] as const).map((one) => (
        <section key={one} className={css.block}>
          <h3>{say(`account.memory.${one}`)}</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
          <div className={css.text} lang={entry[`${one}_language`]} dir="auto" tabIndex={0}>
            {entry[one]}
          </div>
        </section>
      ))}
      <Facts
        facts={[
          {
            label: say('account.pair'),
            value: <Pair from={entry.source_language} to={entry.target_language} />,
          },
          {
            label: say('account.brand'),
            value: entry.brand === null ? say('account.memory.every_brand') : <bdi>{entry.brand}</bdi>,
          },
          { label: say('account.memory.weight'), value: <Weight entry={entry} /> },
          { label: say('account.created'), value: <When at={entry.created_at} /> },
        ]}
      />
      <Touched touched={touched} />
      <Dialog title={say('account.memory.retract')} opened={asking} onClose={() => setAsking(false)}>
        <p>{say('account.memory.retract.text')}</p>
        <Form
          onSubmit={async ({ reason }) => {
            const now = await call('retractMyMemory', { path, body: { ...(reason ? { reason } : {}) } });
            setAsking(false);
            await changed(now, say('account.memory.retracted_now'));
          }}
        >
          <Field name="reason" label={say('account.memory.reason')} autoComplete="off" optional />
          <DialogActions>
            <Button onClick={() => setAsking(false)}>{say('ui.cancel')}</Button>
            <SubmitButton>{say('account.memory.retract')}</SubmitButton>
          </DialogActions>
        </Form>
      </Dialog>
    </>
  );
}

function Touched({ touched }: Pick<MemoryEntryTouched, 'touched'>) {
  const say = useSay();
  if (touched.length === 0) return null;
  return (
    <section className={css.block}>
      <h3>{say('account.memory.touched')}</h3>
      <ul className={css.steps}>
        {touched.map(({ job_id, uid, environment, status, position, how, created_at }) => (
          <li key={`${job_id} ${position} ${how}`} className={css.step}>
            <Link
              to={paths.account.jobs}
              search={{ open: uid, ...(environment === 'sandbox' ? { environment } : {}) }}
            >
              <bdi>{uid}</bdi>
            </Link>
            <span>{say(`account.memory.how.${how}`)}</span>
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

interface Wanted {
  from: string;
  to: string;
  brand?: string;
  tmx: string;
}

/** A look at the file first: what it would bring in. Then, and not before, it is brought in. */
function Import({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const say = useSay();
  const queries = useQueryClient();
  const [looked, setLooked] = useState<{ wanted: Wanted; would: MemoryImported }>();
  const close = () => {
    setLooked(undefined);
    onClose();
  };
  return (
    <Dialog title={say('account.memory.import')} opened={opened} onClose={close}>
      {looked === undefined ? (
        <Form
          onSubmit={async ({ from = '', to = '', brand, tmx: file }) => {
            const tmx = await (file as unknown as File).text();
            const wanted = { from, to, ...(brand ? { brand } : {}), tmx };
            const would = await call('importMyMemory', { body: { ...wanted, dry_run: true } });
            setLooked({ wanted, would });
          }}
        >
          <FileField name="tmx" label={say('account.memory.file')} accept=".tmx,.xml" />
          <Field name="from" label={say('account.memory.from')} autoComplete="off" ltr />
          <Field name="to" label={say('account.memory.to')} autoComplete="off" ltr />
          <Field
            name="brand"
            label={say('account.brand')}
            description={say('account.memory.brand.help')}
            autoComplete="off"
            optional
            ltr
          />
          <DialogActions>
            <Button onClick={close}>{say('ui.cancel')}</Button>
            <SubmitButton>{say('account.memory.look')}</SubmitButton>
          </DialogActions>
        </Form>
      ) : (
        <Form
          onSubmit={async () => {
            const { written } = await call('importMyMemory', { body: looked.wanted });
            await queries.invalidateQueries({
              predicate: ({ queryKey }) =>
                ['searchMyMemory', 'summarizeMyMemory'].includes(String(queryKey[0])),
            });
            toast(say('account.memory.imported', { count: written }));
            close();
          }}
        >
          <Notice tone={looked.would.written === 0 ? 'warning' : 'info'}>
            {say('account.memory.would', { count: looked.would.written })}
          </Notice>
          <Facts
            facts={[
              {
                label: say('account.pair'),
                value: <Pair from={looked.wanted.from} to={looked.wanted.to} />,
              },
              { label: say('account.memory.read'), value: <FormattedNumber value={looked.would.read} /> },
              {
                label: say('account.memory.skipped'),
                value: <FormattedNumber value={looked.would.skipped} />,
              },
            ]}
          />
          <DialogActions>
            <Button onClick={() => setLooked(undefined)}>{say('account.memory.back')}</Button>
            <SubmitButton disabled={looked.would.written === 0}>{say('account.memory.bring')}</SubmitButton>
          </DialogActions>
        </Form>
      )}
    </Dialog>
  );
}
