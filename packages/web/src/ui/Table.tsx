/**
 * A table with a sticky header. It can show that it is empty, loading or failed. On phones each row becomes a
 * card. Users open a row with the button in its first cell, or by a click anywhere in the row.
 */
import { Button } from '@mantine/core';
import type { Key, ReactNode } from 'react';
import { useTranslate } from '../i18n.tsx';
import { FailureNotice } from './Failure.tsx';
import { Lines } from './Skeleton.tsx';
import css from './Table.module.css';

export interface Column<Row> {
  /** The header, which no other column of the table has. */
  header: string;
  cell(row: Row): ReactNode;
  /** Use `end` for a column of numbers. */
  align?: 'end';
  /** Gives the column the remaining width. */
  wide?: boolean;
  /** Shows the header to screen readers only, for a column of buttons. */
  bare?: boolean;
}

interface TableProps<Row> {
  /** The accessible name of the table. */
  label: string;
  columns: readonly Column<Row>[];
  /** Undefined while the rows are loading. */
  rows: readonly Row[] | undefined;
  rowKey(row: Row): Key;
  /** What the table shows when it has no rows: an `Empty`. */
  empty: ReactNode;
  error?: Error | null;
  onRetry?: () => void;
  /** Opens the row. The content of the first cell is the name of the button. */
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
  const t = useTranslate();
  const failed = error != null && (
    <FailureNotice error={error} {...(onRetry === undefined ? {} : { onRetry })} />
  );
  if (rows === undefined && failed) return failed;
  return (
    <>
      {failed}
      <div className={css.frame}>
        {/*
         * Table elements that are laid out as cards lose their ARIA roles, so the roles are set explicitly.
         */}
        <table className={css.table} role="table" aria-label={label} aria-busy={rows === undefined}>
          <thead role="rowgroup">
            <tr role="row">
              {columns.map(({ header, align, wide, bare }) => (
                <th key={header} role="columnheader" scope="col" data-align={align} data-wide={wide}>
                  {bare ? <span className="visually-hidden">{header}</span> : header}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {rows === undefined ? (
              <LoadingRows columns={columns.length} label={t('ui.loading')} />
            ) : (
              rows.map(renderRow)
            )}
          </tbody>
        </table>
        {rows?.length === 0 && empty}
      </div>
    </>
  );

  function renderRow(row: Row): ReactNode {
    const open = onOpen && (() => onOpen(row));
    return (
      <tr
        key={rowKey(row)}
        role="row"
        data-opens={open !== undefined}
        aria-selected={isSelected?.(row)}
        onClick={(event) => {
          if (!(event.target as Element).closest('a, button, input, select')) open?.();
        }}
      >
        {columns.map(({ header, cell, align, wide, bare }, at) => (
          <td
            key={header}
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

const LOADING_ROWS = [1, 2, 3, 4, 5];

function LoadingRows({ columns, label }: { columns: number; label: string }) {
  return LOADING_ROWS.map((row) => (
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

/** The button that loads the next page of a list below the current rows. */
export function More({ hasMore, busy, onMore }: MoreProps) {
  const t = useTranslate();
  if (!hasMore) return null;
  return (
    <div className={css.more}>
      <Button loading={busy} onClick={onMore}>
        {t('ui.more')}
      </Button>
    </div>
  );
}
