/** Columns of the lists of votes and of disagreements, and the text in their dialogs. */
import type { ReactNode } from 'react';
import { useTranslate } from './i18n.tsx';
import { Pair } from './ui/Pair.tsx';
import type { Column } from './ui/Table.tsx';

/** A text of an editor, with the source that it translates. */
interface EditedText {
  source: string;
  target: string;
  source_language: string;
  target_language: string;
}

/** Returns the columns of source, target and language pair. @param mark shown after the target of a row */
export function useTextColumns<Row extends EditedText>(mark?: (row: Row) => ReactNode): Column<Row>[] {
  const t = useTranslate();
  return [
    {
      header: t('votes.source'),
      wide: true,
      cell: ({ source, source_language }) => (
        <span lang={source_language} dir="auto">
          {source}
        </span>
      ),
    },
    {
      header: t('votes.target'),
      wide: true,
      cell: (row) => (
        <>
          <span lang={row.target_language} dir="auto">
            {row.target}
          </span>{' '}
          {mark?.(row)}
        </>
      ),
    },
    { header: t('votes.pair'), cell: (row) => <Pair of={row} /> },
  ];
}

/** The target in the dialog that asks about it. The dialog is still drawn without a text while it closes. */
export function AskedTarget({ text }: { text: EditedText | undefined }) {
  return (
    <p lang={text?.target_language} dir="auto">
      <b>{text?.target}</b>
    </p>
  );
}
