/** Actions on several rows of a list: a column to choose rows, and a bar with the actions on the chosen ones. */
import { Button, Checkbox } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useTranslate } from '../i18n.tsx';
import { Dialog, DialogActions } from '../ui/Dialog.tsx';
import { useErrorMessage } from '../ui/Failure.tsx';
import { Form, SubmitButton, type Values } from '../ui/form.tsx';
import { Notice } from '../ui/Notice.tsx';
import type { Column } from '../ui/Table.tsx';
import { toast } from '../ui/Toast.tsx';
import css from './console.module.css';
import { useChange } from './shared.tsx';

interface RowAction<Row> {
  label: string;
  danger?: boolean;
  /** Returns the fields and the notes that the dialog of the action shows. */
  fields?(rows: readonly Row[]): ReactNode;
  /** Returns false if the action is impossible on these rows; the button of the dialog is then disabled. */
  isPossible?(rows: readonly Row[]): boolean;
  /** @param values what was entered in `fields` */
  run(row: Row, values: Values): Promise<unknown>;
}

interface RowActionsOptions<Row> {
  rows: readonly Row[] | undefined;
  rowKey(row: Row): string;
  /** Returns the text by which people recognize the row. */
  nameOf(row: Row): string;
  actions: readonly RowAction<Row>[];
}

/** Returns the column to choose rows, and the bar that stands below the list while rows are chosen. */
export function useRowActions<Row>({ rows = [], rowKey, nameOf, actions }: RowActionsOptions<Row>): {
  column: Column<Row>;
  bar: ReactNode;
} {
  const t = useTranslate();
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  const column: Column<Row> = {
    header: t('console.rows.choose'),
    bare: true,
    cell: (row) => (
      <Checkbox
        aria-label={t('console.rows.choose_one', { name: nameOf(row) })}
        checked={keys.has(rowKey(row))}
        onChange={(event) => {
          const { checked } = event.currentTarget;
          setKeys((before) => {
            const after = new Set(before);
            if (checked) after.add(rowKey(row));
            else after.delete(rowKey(row));
            return after;
          });
        }}
      />
    ),
  };
  const chosen = rows.filter((row) => keys.has(rowKey(row)));
  const bar = (
    <Bar
      chosen={chosen}
      rowKey={rowKey}
      nameOf={nameOf}
      actions={actions}
      onChooseAll={() => setKeys(new Set(rows.map(rowKey)))}
      onChoose={(kept) => setKeys(new Set(kept.map(rowKey)))}
    />
  );
  return { column, bar };
}

interface BarProps<Row> extends Pick<RowActionsOptions<Row>, 'rowKey' | 'nameOf' | 'actions'> {
  chosen: readonly Row[];
  onChooseAll(): void;
  onChoose(rows: readonly Row[]): void;
}

function Bar<Row>({ chosen, rowKey, nameOf, actions, onChooseAll, onChoose }: BarProps<Row>) {
  const t = useTranslate();
  const messageOf = useErrorMessage();
  const change = useChange();
  // Only the label is kept, so that the dialog shows what an action loads while the dialog is open.
  const [label, setLabel] = useState<string>();
  const confirming = actions.find((action) => action.label === label);
  const [refused, setRefused] = useState<readonly { row: Row; error: Error }[]>([]);

  /** Runs an action on one row after another. The refused rows stay chosen. */
  async function run({ run }: RowAction<Row>, values: Values): Promise<void> {
    const failed: { row: Row; error: Error }[] = [];
    await change(async () => {
      for (const row of chosen) {
        await run(row, values).catch((error: Error) => failed.push({ row, error }));
      }
    });
    setRefused(failed);
    onChoose(failed.map(({ row }) => row));
    toast(t('console.rows.done', { count: chosen.length - failed.length }));
  }

  return (
    <>
      {(chosen.length > 0 || refused.length > 0) && (
        <section className={css.rowActions} aria-label={t('console.rows.actions')}>
          {refused.length > 0 && (
            <Notice
              tone="danger"
              action={
                <Button size="xs" onClick={() => setRefused([])}>
                  {t('ui.close')}
                </Button>
              }
            >
              {t('console.rows.refused', { count: refused.length })}
              <ul>
                {refused.map(({ row, error }) => (
                  <li key={rowKey(row)}>
                    <bdi>{nameOf(row)}</bdi>: {messageOf(error)}
                  </li>
                ))}
              </ul>
            </Notice>
          )}
          <strong role="status">{t('console.rows.chosen', { count: chosen.length })}</strong>
          {actions.map((action) => (
            <Button key={action.label} onClick={() => setLabel(action.label)}>
              {action.label}
            </Button>
          ))}
          <Button onClick={onChooseAll}>{t('console.rows.all')}</Button>
          <Button onClick={() => onChoose([])}>{t('console.rows.none')}</Button>
        </section>
      )}
      <Dialog
        title={confirming?.label ?? ''}
        opened={confirming !== undefined}
        onClose={() => setLabel(undefined)}
      >
        {confirming !== undefined && (
          <Form
            onSubmit={async (values) => {
              await run(confirming, values);
              setLabel(undefined);
            }}
          >
            <p>{t('console.rows.about', { count: chosen.length })}</p>
            <ul className={css.chosenNames}>
              {chosen.map((row) => (
                <li key={rowKey(row)}>
                  <bdi>{nameOf(row)}</bdi>
                </li>
              ))}
            </ul>
            {confirming.fields?.(chosen)}
            <DialogActions>
              <Button data-autofocus onClick={() => setLabel(undefined)}>
                {t('ui.cancel')}
              </Button>
              <SubmitButton
                danger={confirming.danger ?? false}
                disabled={confirming.isPossible?.(chosen) === false}
              >
                {confirming.label}
              </SubmitButton>
            </DialogActions>
          </Form>
        )}
      </Dialog>
    </>
  );
}
