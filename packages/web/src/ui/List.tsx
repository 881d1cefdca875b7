/**
 * A list with filters and pages. The address contains both, so that a list can be shared and bookmarked. The
 * list shows a text when it is empty, when no row matches, while it is loading, and after an error. The arrow
 * keys move the focus between rows, to the first link or button of each row.
 */
import { Button } from '@mantine/core';
import type { KeyboardEvent } from 'react';
import { useTranslate } from '../i18n.tsx';
import { type Search, useFilters } from '../page.tsx';
import { Empty } from './Empty.tsx';
import { ChoiceFilter, Filters, SearchFilter } from './Filters.tsx';
import type { Choice } from './form.tsx';
import css from './List.module.css';
import { type Column, Table } from './Table.tsx';

/** A text filter. With `choices` it is a select, whose first choice selects everything. */
export interface ListFilter {
  name: string;
  label: string;
  choices?: readonly Choice[];
}

interface ListProps<Row> {
  /** The accessible name of the list. */
  label: string;
  search: Search;
  filters: readonly ListFilter[];
  /** Undefined while the rows are loading. */
  rows: readonly Row[] | undefined;
  rowKey(row: Row): string;
  columns: readonly Column<Row>[];
  /** The text that is shown when the list is empty although no filter is set. */
  empty: string;
  error: Error | null;
  onRetry(): void;
  /** The search parameters of the next page; undefined on the last page. */
  next: Search | undefined;
  /** The name of the search parameter that contains the page number. */
  page?: 'after' | 'offset';
}

export function List<Row>({
  label,
  search,
  filters,
  empty,
  error,
  next,
  page = 'after',
  ...list
}: ListProps<Row>) {
  const t = useTranslate();
  const change = useFilters();
  const isFiltered = filters.some(({ name }) => (search[name] ?? '') !== '');
  const isLaterPage = (search[page] ?? '') !== '';
  const clear = () =>
    change({ ...Object.fromEntries(filters.map(({ name }) => [name, undefined])), [page]: undefined });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the links and buttons in it
    <div className={css.list} onKeyDown={moveByArrows}>
      <Filters>
        {filters.map(({ name, label, choices }) =>
          choices === undefined ? (
            <SearchFilter key={name} name={name} label={label} search={search} />
          ) : (
            <ChoiceFilter key={name} name={name} label={label} search={search} choices={choices} />
          ),
        )}
      </Filters>
      <Table
        label={label}
        rows={list.rows}
        error={error}
        onRetry={list.onRetry}
        rowKey={list.rowKey}
        columns={list.columns}
        empty={
          isFiltered ? (
            <Empty action={<Button onClick={clear}>{t('ui.list.clear')}</Button>}>{t('ui.list.none')}</Empty>
          ) : (
            <Empty>{empty}</Empty>
          )
        }
      />
      {(isLaterPage || next !== undefined) && (
        <nav className={css.pages} aria-label={t('ui.list.pages')}>
          {isLaterPage && <Button onClick={() => change({ [page]: undefined })}>{t('ui.list.first')}</Button>}
          {next !== undefined && <Button onClick={() => change(next)}>{t('ui.list.next')}</Button>}
        </nav>
      )}
    </div>
  );
}

/** Moves the focus to the first link or button of the row above or below. */
function moveByArrows(event: KeyboardEvent<HTMLElement>): void {
  const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (by === 0 || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const row = (event.target as Element).closest('tbody tr');
  if (row === null) return;
  const rows = [...row.parentElement!.children];
  const next = rows[rows.indexOf(row) + by]?.querySelector<HTMLElement>('a, button');
  if (next == null) return;
  event.preventDefault();
  next.focus();
}
