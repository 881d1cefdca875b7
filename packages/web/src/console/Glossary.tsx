/**
 * The glossary of a brand in one language. Operators change terms one by one or import a file; both change
 * only the draft of the brand.
 */
import { Button, FileButton, Menu } from '@mantine/core';
import { IconDownload, IconPlus, IconUpload } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { BrandTerm, ConsoleImport, ConsoleTerms } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { type Search, useFilters } from '../page.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { Filters, SearchFilter } from '../ui/Filters.tsx';
import { textOf } from '../ui/file-text.ts';
import { CheckField, ChoiceField, Field, Form, SubmitButton, TextField } from '../ui/form.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Section } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import css from './console.module.css';
import { useChange } from './shared.tsx';

interface GlossaryProps {
  username: string;
  brand: string;
  /** The revision of the draft; 0 if there is no draft. */
  revision: number;
  language: string;
  search: Search;
}

type ListedTerm = ConsoleTerms['terms'][number];
const PAGE = 50;

export function Glossary({ username, brand, revision, language, search }: GlossaryProps) {
  const t = useTranslate();
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
  const columns = useTermColumns(setRemoving);
  const path = { username, brand };
  return (
    <Section
      title={t('console.glossary')}
      actions={
        <GlossaryActions
          path={path}
          language={language}
          onImport={() => setImporting(true)}
          onAdd={() => setEditing('new')}
        />
      }
    >
      <Filters>
        <SearchFilter name="q" label={t('console.term.search')} search={search} />
      </Filters>
      {data !== undefined && data.removed.length > 0 && (
        <Notice tone="info">
          {t('console.term.gone', { count: data.removed.length })}{' '}
          <bdi>{data.removed.map(({ source }) => source).join(', ')}</bdi>
        </Notice>
      )}
      <Table
        label={t('console.glossary')}
        rows={data?.terms}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ source, target }) => `${source} ${target ?? ''}`}
        empty={<Empty>{t(search.q ? 'console.term.no_match' : 'console.term.empty')}</Empty>}
        onOpen={setEditing}
        columns={columns}
      />
      {data !== undefined && data.total > PAGE && <Pager offset={offset} total={data.total} />}
      <Dialog
        title={t(editing === 'new' ? 'console.term.add' : 'console.term.edit')}
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
                t('console.brand.saved'),
              )
            }
          />
        )}
      </Dialog>
      <ConfirmDialog
        title={t('console.term.remove')}
        action={t('console.term.remove')}
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
        {t('console.term.remove_about', { term: removing?.source ?? '' })}
      </ConfirmDialog>
      <Dialog title={t('console.glossary.import')} opened={importing} onClose={() => setImporting(false)}>
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

interface GlossaryActionsProps {
  path: { username: string; brand: string };
  language: string;
  onImport(): void;
  onAdd(): void;
}

function GlossaryActions({ path, language, onImport, onAdd }: GlossaryActionsProps) {
  const t = useTranslate();
  const exportOf = (format: string) =>
    `/api/console/accounts/${encodeURIComponent(path.username)}/brands/${encodeURIComponent(path.brand)}/export?${new URLSearchParams({ format, language })}`;
  return (
    <>
      <Button leftSection={<IconUpload size={16} aria-hidden />} onClick={onImport}>
        {t('console.glossary.import')}
      </Button>
      <Menu>
        <Menu.Target>
          <Button leftSection={<IconDownload size={16} aria-hidden />}>{t('console.glossary.export')}</Button>
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
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={onAdd}>
        {t('console.term.add')}
      </Button>
    </>
  );
}

function Pager({ offset, total }: { offset: number; total: number }) {
  const t = useTranslate();
  const filter = useFilters();
  return (
    <div className={css.row}>
      <Button disabled={offset === 0} onClick={() => filter({ offset: String(Math.max(0, offset - PAGE)) })}>
        {t('console.previous')}
      </Button>
      <span>
        {t('console.range', {
          from: offset + 1,
          to: Math.min(offset + PAGE, total),
          total: total,
        })}
      </span>
      <Button disabled={offset + PAGE >= total} onClick={() => filter({ offset: String(offset + PAGE) })}>
        {t('console.next')}
      </Button>
    </div>
  );
}

function useTermColumns(onRemove: (term: ListedTerm) => void): Column<ListedTerm>[] {
  const t = useTranslate();
  return [
    { header: t('console.term.source'), wide: true, cell: ({ source }) => <bdi>{source}</bdi> },
    {
      header: t('console.term.target'),
      wide: true,
      cell: ({ source, target, do_not_translate }) => <bdi>{do_not_translate ? source : target}</bdi>,
    },
    { header: t('console.term.rules'), cell: (term) => <Rules term={term} /> },
    {
      header: t('console.term.change'),
      cell: ({ change }) => (change === 'unchanged' ? '' : <StatusBadge status={`term_${change}`} />),
    },
    {
      header: t('console.term.remove'),
      bare: true,
      cell: (term) => (
        <Button
          size="xs"
          onClick={() => onRemove(term)}
          aria-label={t('console.term.remove_what', { term: term.source })}
        >
          {t('console.term.remove')}
        </Button>
      ),
    },
  ];
}

function Rules({ term }: { term: ListedTerm }) {
  const t = useTranslate();
  return (
    <span className={css.row}>
      {term.forbidden && <Tag>{t('console.term.forbidden')}</Tag>}
      {term.do_not_translate && <Tag>{t('console.term.keep')}</Tag>}
      {term.case_sensitive && <Tag>{t('console.term.case')}</Tag>}
      {term.alternatives > 1 && <Tag>{t('console.term.alternatives', { count: term.alternatives })}</Tag>}
    </span>
  );
}

interface EditProps {
  term: ListedTerm | undefined;
  onDone(): void;
  onSave(term: BrandTerm & { was?: { source: string; target?: string } | null }): Promise<unknown>;
}

function EditTerm({ term, onDone, onSave }: EditProps) {
  const t = useTranslate();
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
      <Field name="source" label={t('console.term.source')} defaultValue={term?.source ?? ''} autoFocus />
      <ChoiceField
        name="rule"
        label={t('console.term.rule')}
        defaultValue={rule}
        onChange={setRule}
        choices={[
          { value: 'translate', label: t('console.term.translate') },
          { value: 'keep', label: t('console.term.keep') },
          { value: 'forbidden', label: t('console.term.forbidden') },
        ]}
      />
      {rule !== 'keep' && (
        <Field
          name="target"
          label={t(rule === 'forbidden' ? 'console.term.not_this' : 'console.term.target')}
          defaultValue={term?.target ?? ''}
        />
      )}
      <CheckField
        name="case_sensitive"
        label={t('console.term.case')}
        defaultChecked={term?.case_sensitive ?? false}
      />
      <TextField
        name="note"
        label={t('console.term.note')}
        rows={2}
        defaultValue={term?.note ?? ''}
        optional
      />
      <DialogActions>
        <Button onClick={onDone}>{t('ui.cancel')}</Button>
        <SubmitButton>{t('console.brand.save')}</SubmitButton>
      </DialogActions>
    </Form>
  );
}

interface ImportProps extends Omit<GlossaryProps, 'search'> {
  onDone(): void;
}

/** Imports a file. A dry run first shows its errors by line, or the number of changes. */
function Import({ username, brand, revision, language, onDone }: ImportProps) {
  const t = useTranslate();
  const change = useChange();
  const [file, setFile] = useState<{ name: string; text: string }>();
  const [mode, setMode] = useState<'merge' | 'replace'>('merge');
  const [checked, setChecked] = useState<ConsoleImport>();
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
    setChecked(undefined);
    if (chosen !== null) {
      await attempt(async () => setFile({ name: chosen.name, text: await textOf(chosen) }));
    }
  }

  return (
    <>
      <p className={css.muted}>{t('console.import.about')}</p>
      <div className={css.row}>
        <FileButton onChange={(chosen) => void choose(chosen)} accept=".csv,.tsv,.txt,.tbx,.xml">
          {(props) => <Button {...props}>{t('console.import.choose')}</Button>}
        </FileButton>
        <span>{file === undefined ? t('console.import.none') : <bdi>{file.name}</bdi>}</span>
      </div>
      <ChoiceField
        name="mode"
        label={t('console.import.mode')}
        defaultValue={mode}
        onChange={(value) => {
          setMode(value as typeof mode);
          setChecked(undefined);
        }}
        choices={[
          { value: 'merge', label: t('console.import.merge') },
          { value: 'replace', label: t('console.import.replace') },
        ]}
      />
      {error !== undefined && <FailureNotice error={error} />}
      {checked !== undefined && <ImportCheck checked={checked} />}
      <DialogActions>
        <Button onClick={onDone}>{t('ui.cancel')}</Button>
        {checked === undefined || checked.errors.length > 0 ? (
          <Button
            variant="filled"
            disabled={file === undefined}
            loading={busy}
            onClick={() => void attempt(async () => setChecked(await send(true)))}
          >
            {t('console.import.dry_run')}
          </Button>
        ) : (
          <Button
            variant="filled"
            loading={busy}
            onClick={() =>
              void attempt(async () => {
                await change(() => send(false), t('console.import.done'));
                onDone();
              })
            }
          >
            {t('console.import.action')}
          </Button>
        )}
      </DialogActions>
    </>
  );
}

function ImportCheck({ checked: { errors, more_errors, counts, skipped } }: { checked: ConsoleImport }) {
  const t = useTranslate();
  if (errors.length === 0) {
    return (
      <Notice tone="success">
        {t('console.import.counts', { ...counts })}
        {skipped > 0 && ` ${t('console.import.skipped', { count: skipped })}`}
      </Notice>
    );
  }
  return (
    <Notice tone="danger">
      {t('console.import.errors', { count: errors.length + more_errors })}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <ul className={css.errors} tabIndex={0} aria-label={t('console.import.error_list')}>
        {errors.map(({ where, reason }) => (
          <li key={`${where} ${reason}`}>
            <strong>{where}</strong> {reason}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
