/** The glossary of a brand for one language: its terms, changed one by one or by a file. All of it is the draft's. */
import { Button, FileButton, Menu } from '@mantine/core';
import { IconDownload, IconPlus, IconUpload } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { ConsoleImport, ConsoleTerm, ConsoleTerms } from '../api/generated.ts';
import { type Search, useFilters } from '../page.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { Filters, SearchFilter } from '../ui/Filters.tsx';
import { CheckField, ChoiceField, Field, Form, SubmitButton, TextField } from '../ui/form.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Section } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { Table } from '../ui/Table.tsx';
import { useSay } from '../words.tsx';
import css from './console.module.css';
import { useChange } from './parts.tsx';

interface GlossaryProps {
  username: string;
  brand: string;
  /** Of the draft; 0: there is none. */
  revision: number;
  language: string;
  search: Search;
}

type ListedTerm = ConsoleTerms['terms'][number];
const PAGE = 50;

export function Glossary({ username, brand, revision, language, search }: GlossaryProps) {
  const say = useSay();
  const filter = useFilters();
  const change = useChange();
  const offset = Number(search.offset ?? 0) || 0;
  const { data, error, refetch } = useQuery({
    ...query('listConsoleTerms', {
      path: { username, brand },
      query: { language, q: search.q, offset, limit: PAGE },
    }),
    placeholderData: keepPreviousData,
  });
  const [editing, setEditing] = useState<ListedTerm | 'new'>();
  const [removing, setRemoving] = useState<ListedTerm>();
  const [importing, setImporting] = useState(false);
  const path = { username, brand };
  const exportOf = (format: string) =>
    `/api/console/accounts/${encodeURIComponent(username)}/brands/${encodeURIComponent(brand)}/export?${new URLSearchParams({ format, language })}`;
  return (
    <Section
      title={say('console.glossary')}
      actions={
        <>
          <Button leftSection={<IconUpload size={16} aria-hidden />} onClick={() => setImporting(true)}>
            {say('console.glossary.import')}
          </Button>
          <Menu>
            <Menu.Target>
              <Button leftSection={<IconDownload size={16} aria-hidden />}>
                {say('console.glossary.export')}
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item component="a" href={exportOf('csv')} download>
                CSV
              </Menu.Item>
              <Menu.Item component="a" href={exportOf('tbx')} download>
                TBX
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEditing('new')}>
            {say('console.term.add')}
          </Button>
        </>
      }
    >
      <Filters>
        <SearchFilter name="q" label={say('console.term.search')} search={search} />
      </Filters>
      {data !== undefined && data.removed.length > 0 && (
        <Notice tone="info">
          {say('console.term.gone', { count: data.removed.length })}{' '}
          <bdi>{data.removed.map(({ source }) => source).join(', ')}</bdi>
        </Notice>
      )}
      <Table
        label={say('console.glossary')}
        rows={data?.terms}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ source, target }) => `${source} ${target ?? ''}`}
        empty={<Empty>{say(search.q ? 'console.term.no_match' : 'console.term.empty')}</Empty>}
        onOpen={setEditing}
        columns={[
          {
            key: 'source',
            header: say('console.term.source'),
            wide: true,
            cell: ({ source }) => <bdi>{source}</bdi>,
          },
          {
            key: 'target',
            header: say('console.term.target'),
            wide: true,
            cell: ({ source, target, do_not_translate }) => <bdi>{do_not_translate ? source : target}</bdi>,
          },
          { key: 'rules', header: say('console.term.rules'), cell: (term) => <Rules term={term} /> },
          {
            key: 'change',
            header: say('console.term.change'),
            cell: ({ change }) => (change === 'unchanged' ? '' : <StatusBadge status={`term_${change}`} />),
          },
          {
            key: 'remove',
            header: say('console.term.remove'),
            bare: true,
            cell: (term) => (
              <Button
                size="xs"
                onClick={() => setRemoving(term)}
                aria-label={say('console.term.remove_what', { term: term.source })}
              >
                {say('console.term.remove')}
              </Button>
            ),
          },
        ]}
      />
      {data !== undefined && data.total > PAGE && (
        <div className={css.row}>
          <Button
            disabled={offset === 0}
            onClick={() => filter({ offset: String(Math.max(0, offset - PAGE)) })}
          >
            {say('console.previous')}
          </Button>
          <span>
            {say('console.range', {
              from: offset + 1,
              to: Math.min(offset + PAGE, data.total),
              total: data.total,
            })}
          </span>
          <Button
            disabled={offset + PAGE >= data.total}
            onClick={() => filter({ offset: String(offset + PAGE) })}
          >
            {say('console.next')}
          </Button>
        </div>
      )}
      <Dialog
        title={say(editing === 'new' ? 'console.term.add' : 'console.term.edit')}
        opened={editing !== undefined}
        onClose={() => setEditing(undefined)}
      >
        {editing !== undefined && (
          <EditTerm
            term={editing === 'new' ? undefined : editing}
            onDone={() => setEditing(undefined)}
            onSave={(term) =>
              change(
                () => call('editTerms', { path, body: { revision, language, put: [term] } }),
                say('console.brand.saved'),
              )
            }
          />
        )}
      </Dialog>
      <ConfirmDialog
        title={say('console.term.remove')}
        action={say('console.term.remove')}
        danger
        opened={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        onConfirm={() => {
          const { source, target = '' } = removing!;
          return change(() =>
            call('editTerms', { path, body: { revision, language, remove: [{ source, target }] } }),
          );
        }}
      >
        {say('console.term.remove_about', { term: removing?.source ?? '' })}
      </ConfirmDialog>
      <Dialog title={say('console.glossary.import')} opened={importing} onClose={() => setImporting(false)}>
        {importing && (
          <Import
            username={username}
            brand={brand}
            revision={revision}
            language={language}
            onDone={() => setImporting(false)}
          />
        )}
      </Dialog>
    </Section>
  );
}

function Rules({ term }: { term: ListedTerm }) {
  const say = useSay();
  return (
    <span className={css.row}>
      {term.forbidden && <Tag>{say('console.term.forbidden')}</Tag>}
      {term.do_not_translate && <Tag>{say('console.term.keep')}</Tag>}
      {term.case_sensitive && <Tag>{say('console.term.case')}</Tag>}
      {term.alternatives > 1 && <Tag>{say('console.term.alternatives', { count: term.alternatives })}</Tag>}
    </span>
  );
}

interface EditProps {
  term: ListedTerm | undefined;
  onDone(): void;
  onSave(term: ConsoleTerm & { was?: { source: string; target?: string } | null }): Promise<unknown>;
}

function EditTerm({ term, onDone, onSave }: EditProps) {
  const say = useSay();
  const [rule, setRule] = useState(
    term?.do_not_translate ? 'keep' : term?.forbidden ? 'forbidden' : 'translate',
  );
  return (
    <Form
      onSubmit={async (values) => {
        await onSave({
          ...(term === undefined ? {} : { was: { source: term.source, target: term.target ?? '' } }),
          source: values.source ?? '',
          target: rule === 'keep' ? '' : (values.target ?? ''),
          case_sensitive: values.case_sensitive === 'on',
          forbidden: rule === 'forbidden',
          do_not_translate: rule === 'keep',
          ...(values.note ? { note: values.note } : {}),
        });
        onDone();
      }}
    >
      <Field name="source" label={say('console.term.source')} defaultValue={term?.source ?? ''} autoFocus />
      <ChoiceField
        name="rule"
        label={say('console.term.rule')}
        defaultValue={rule}
        onChange={setRule}
        choices={[
          { value: 'translate', label: say('console.term.translate') },
          { value: 'keep', label: say('console.term.keep') },
          { value: 'forbidden', label: say('console.term.forbidden') },
        ]}
      />
      {rule !== 'keep' && (
        <Field
          name="target"
          label={say(rule === 'forbidden' ? 'console.term.not_this' : 'console.term.target')}
          defaultValue={term?.target ?? ''}
        />
      )}
      <CheckField
        name="case_sensitive"
        label={say('console.term.case')}
        defaultChecked={term?.case_sensitive ?? false}
      />
      <TextField
        name="note"
        label={say('console.term.note')}
        rows={2}
        defaultValue={term?.note ?? ''}
        optional
      />
      <DialogActions>
        <Button onClick={onDone}>{say('ui.cancel')}</Button>
        <SubmitButton>{say('console.brand.save')}</SubmitButton>
      </DialogActions>
    </Form>
  );
}

interface ImportProps extends Omit<GlossaryProps, 'search'> {
  onDone(): void;
}

/** A file is tried first: what is wrong with it is said by its lines, what it would change by numbers. */
function Import({ username, brand, revision, language, onDone }: ImportProps) {
  const say = useSay();
  const change = useChange();
  const [file, setFile] = useState<{ name: string; text: string }>();
  const [mode, setMode] = useState<'merge' | 'replace'>('merge');
  const [tried, setTried] = useState<ConsoleImport>();
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const send = (dry_run: boolean) =>
    call('importTerms', {
      path: { username, brand },
      body: { revision, language, mode, dry_run, file: file!.name, text: file!.text },
    });

  async function attempt(work: () => Promise<void>): Promise<void> {
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (failed) {
      setError(failed as Error);
    } finally {
      setBusy(false);
    }
  }

  async function choose(chosen: File | null): Promise<void> {
    setTried(undefined);
    if (chosen !== null) setFile({ name: chosen.name, text: await textOf(chosen) });
  }

  return (
    <>
      <p className={css.muted}>{say('console.import.about')}</p>
      <div className={css.row}>
        <FileButton onChange={(chosen) => void choose(chosen)} accept=".csv,.tsv,.txt,.tbx,.xml">
          {(props) => <Button {...props}>{say('console.import.choose')}</Button>}
        </FileButton>
        <span>{file === undefined ? say('console.import.none') : <bdi>{file.name}</bdi>}</span>
      </div>
      <ChoiceField
        name="mode"
        label={say('console.import.mode')}
        defaultValue={mode}
        onChange={(value) => {
          setMode(value as typeof mode);
          setTried(undefined);
        }}
        choices={[
          { value: 'merge', label: say('console.import.merge') },
          { value: 'replace', label: say('console.import.replace') },
        ]}
      />
      {error !== undefined && <FailureNotice error={error} />}
      {tried !== undefined && <Tried tried={tried} />}
      <DialogActions>
        <Button onClick={onDone}>{say('ui.cancel')}</Button>
        {tried === undefined || tried.errors.length > 0 ? (
          <Button
            variant="filled"
            disabled={file === undefined}
            loading={busy}
            onClick={() => void attempt(async () => setTried(await send(true)))}
          >
            {say('console.import.try')}
          </Button>
        ) : (
          <Button
            variant="filled"
            loading={busy}
            onClick={() =>
              void attempt(async () => {
                await change(() => send(false), say('console.import.done'));
                onDone();
              })
            }
          >
            {say('console.import.do')}
          </Button>
        )}
      </DialogActions>
    </>
  );
}

function Tried({ tried: { errors, more_errors, counts, skipped } }: { tried: ConsoleImport }) {
  const say = useSay();
  if (errors.length === 0) {
    return (
      <Notice tone="success">
        {say('console.import.counts', { ...counts })}
        {skipped > 0 && ` ${say('console.import.skipped', { count: skipped })}`}
      </Notice>
    );
  }
  return (
    <Notice tone="danger">
      {say('console.import.errors', { count: errors.length + more_errors })}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <ul className={css.errors} tabIndex={0} aria-label={say('console.import.faults')}>
        {errors.map(({ where, reason }) => (
          <li key={`${where} ${reason}`}>
            <strong>{where}</strong> {reason}
          </li>
        ))}
      </ul>
    </Notice>
  );
}

/** Spreadsheets write UTF-8, or UTF-16 with a mark at its beginning. */
async function textOf(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}
