/**
 * A list with its filters, page by page. Filters and page stand in the address: a list can be passed on and come back to.
 * It has a word for being empty, which is another where a filter leaves nothing, for being on its way and for having
 * failed. By keyboard the arrows go from row to row, from the first link or button of one to that of the next.
 */
import { Button } from '@mantine/core';
import type { KeyboardEvent } from 'react';
import { type Search, useFilters } from '../page.tsx';
import { useSay } from '../words.tsx';
import { Empty } from './Empty.tsx';
import { ChoiceFilter, Filters, SearchFilter } from './Filters.tsx';
import type { Choice } from './form.tsx';
import css from './List.module.css';
import { type Column, Table } from './Table.tsx';

/** One that is written into, or one that is chosen from; the first choice stands for all. */
export interface ListFilter {
  name: string;
  label: string;
  choices?: readonly Choice[];
}

interface ListProps<Row> {
  /** What the list is, for screen readers. */
  label: string;
  search: Search;
  filters: readonly ListFilter[];
  /** Undefined while they are on their way. */
  rows: readonly Row[] | undefined;
  rowKey(row: Row): string;
  columns: readonly Column<Row>[];
  /** A sentence for a list without anything in it, whatever the filters say. */
  empty: string;
  error: Error | null;
  onRetry(): void;
  /** What the address of the next page has besides the filters; undefined: this is the last. */
  next: Search | undefined;
  /** What in the address says which page it is. */
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
  const say = useSay();
  const change = useFilters();
  const isFiltered = filters.some(({ name }) => (search[name] ?? '') !== '');
  const isLater = (search[page] ?? '') !== '';
  const clear = () =>
    change({ ...Object.fromEntries(filters.map(({ name }) => [name, undefined])), [page]: undefined });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what takes the keys are the links and buttons in it
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
            <Empty action={<Button onClick={clear}>{say('ui.list.clear')}</Button>}>
              {say('ui.list.none')}
            </Empty>
          ) : (
            <Empty>{empty}</Empty>
          )
        }
      />
      {(isLater || next !== undefined) && (
        <nav className={css.pages} aria-label={say('ui.list.pages')}>
          {isLater && <Button onClick={() => change({ [page]: undefined })}>{say('ui.list.first')}</Button>}
          {next !== undefined && <Button onClick={() => change(next)}>{say('ui.list.next')}</Button>}
        </nav>
      )}
    </div>
  );
}

/** From the first link or button of a row to that of the one above or below. */
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
