/** The last column of a table: the buttons of each row. */
import { Button } from '@mantine/core';
import { useTranslate } from '../i18n.tsx';
import type { Column } from '../ui/Table.tsx';
import css from './account.module.css';

export interface Action<Row> {
  label: string;
  run(row: Row): void;
  danger?: boolean;
  /** Returns whether a row has the button. Default: every row has it. */
  applies?(row: Row): boolean;
}

export function useActionsColumn<Row>(actions: readonly Action<Row>[]): Column<Row> {
  const t = useTranslate();
  return {
    header: t('account.actions'),
    bare: true,
    align: 'end',
    cell: (row) => (
      <span className={css.buttons}>
        {actions
          .filter(({ applies }) => applies?.(row) ?? true)
          .map(({ label, run, danger }) => (
            <Button
              key={label}
              size="xs"
              {...(danger ? { variant: 'subtle', color: 'danger' } : {})}
              onClick={() => run(row)}
            >
              {label}
            </Button>
          ))}
      </span>
    ),
  };
}
