/**
 * A list as a table: its head stays in sight, it has a word for being empty, for being on its way and for having
 * failed, and on a phone each row becomes a card. A row that can be opened is opened by its first cell, by keyboard too;
 * the rest of the row is a larger place to click.
 */
import { Button } from '@mantine/core';
import type { Key, ReactNode } from 'react';
import { useSay } from '../words.tsx';
import { FailureNotice } from './Failure.tsx';
import { Lines } from './Skeleton.tsx';
import css from './Table.module.css';

export interface Column<Row> {
  key: string;
  header: string;
  cell(row: Row): ReactNode;
  /** Numbers stand at the end. */
  align?: 'end';
  /** Takes what room the others leave. */
  wide?: boolean;
  /** Its header is for screen readers alone: a column of buttons. */
  bare?: boolean;
}

interface TableProps<Row> {
  /** What the list is, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  /** Undefined while they are on their way. */
  rows: readonly Row[] | undefined;
  rowKey(row: Row): Key;
  /** In the place of rows where there are none: an `Empty`. */
  empty: ReactNode;
  error?: Error | null;
  onRetry?: () => void;
  /** Opens the row. @returns what its first cell is called is the name of the button */
  onOpen?: (row: Row) => void;
  isSelected?: (row: Row) => boolean;
}

export function Table<Row>({
  label,
  columns,
  rows,
  rowKey,
  empty,
  error,
  onRetry,
  onOpen,
  isSelected,
}: TableProps<Row>) {
  const say = useSay();
  const failed = error != null && (
    <FailureNotice error={error} {...(onRetry === undefined ? {} : { onRetry })} />
  );
  if (rows === undefined && failed) return failed;
  return (
    <>
      {failed}
      <div className={css.frame}>
        {/* Laid out as cards, the elements lose their roles: so they are said. */}
        <table className={css.table} role="table" aria-label={label} aria-busy={rows === undefined}>
          <thead role="rowgroup">
            <tr role="row">
              {columns.map(({ key, header, align, wide, bare }) => (
                <th key={key} role="columnheader" scope="col" data-align={align} data-wide={wide}>
                  {bare ? <span className="visually-hidden">{header}</span> : header}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {rows === undefined ? (
              <Waiting columns={columns.length} label={say('ui.loading')} />
            ) : (
              rows.map(draw)
            )}
          </tbody>
        </table>
        {rows?.length === 0 && empty}
      </div>
    </>
  );

  function draw(row: Row): ReactNode {
    const open = onOpen && (() => onOpen(row));
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the first cell has a button
      <tr
        key={rowKey(row)}
        role="row"
        data-opens={open !== undefined}
        aria-selected={isSelected?.(row)}
        onClick={(event) => {
          if (!(event.target as Element).closest('a, button, input, select')) open?.();
        }}
      >
        {columns.map(({ key, header, cell, align, wide, bare }, at) => (
          <td
            key={key}
            role="cell"
            data-align={align}
            data-wide={wide}
            data-header={bare ? undefined : header}
          >
            {at === 0 && open ? (
              <button type="button" className={css.open} onClick={open}>
                {cell(row)}
              </button>
            ) : (
              <div>{cell(row)}</div>
            )}
          </td>
        ))}
      </tr>
    );
  }
}

const WAITING_ROWS = [1, 2, 3, 4, 5];

function Waiting({ columns, label }: { columns: number; label: string }) {
  return WAITING_ROWS.map((row) => (
    <tr key={row} role="row" className={css.waiting}>
      <td role="cell" colSpan={columns}>
        {row === 1 && <span className="visually-hidden">{label}</span>}
        <Lines />
      </td>
    </tr>
  ));
}

interface MoreProps {
  hasMore: boolean;
  busy: boolean;
  onMore(): void;
}

/** The next page of a list, below what is there. */
export function More({ hasMore, busy, onMore }: MoreProps) {
  const say = useSay();
  if (!hasMore) return null;
  return (
    <div className={css.more}>
      <Button loading={busy} onClick={onMore}>
        {say('ui.more')}
      </Button>
    </div>
  );
}
