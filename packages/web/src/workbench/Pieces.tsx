/** Renders a text with its codes as chips and with marks. */
import type { ReactNode } from 'react';
import { matchesIn } from './find.ts';
import { type Code, type CodeDescription, codeOf, keyOf, labelOf, type Piece } from './pieces.ts';
import css from './workbench.module.css';

/** A range of the visible text to highlight. */
export interface Mark {
  start: number;
  end: number;
  className: string | undefined;
  title?: string;
}

interface PiecesProps {
  pieces: readonly Piece[];
  describe: (code: Code) => CodeDescription;
  marks?: readonly Mark[];
  /** Text to highlight. */
  highlight?: string | undefined;
}

export function Pieces({ pieces, describe, marks = [], highlight = '' }: PiecesProps) {
  const drawn: ReactNode[] = [];
  let at = 0;
  for (const piece of pieces) {
    const code = codeOf(piece);
    if (code) drawn.push(<Chip key={keyOf(code)} code={code} {...describe(code)} />);
    else
      drawn.push(
        <Marked
          key={`text ${at}`}
          text={(piece as { text: string }).text}
          at={at}
          marks={marks}
          highlight={highlight}
        />,
      );
    if ('text' in piece) at += piece.text.length;
  }
  return <>{drawn}</>;
}

export function Chip({ code, title, label }: { code: Code } & CodeDescription) {
  return (
    <span className={css.chip} data-kind={code.kind} title={title} role="img" aria-label={label}>
      <bdi dir="ltr">{labelOf(code)}</bdi>
    </span>
  );
}

function Marked({
  text,
  at,
  marks,
  highlight,
}: {
  text: string;
  at: number;
  marks: readonly Mark[];
  highlight: string;
}) {
  const found = matchesIn(text, highlight).map(({ from, to }) => ({
    start: from,
    end: to,
    className: css.found,
  }));
  const here = marks
    .map((mark) => ({ ...mark, start: mark.start - at, end: mark.end - at }))
    .filter((mark) => mark.end > 0 && mark.start < text.length);
  const ranges: Mark[] = highlight === '' ? here : found;
  if (ranges.length === 0) return text;
  const drawn: ReactNode[] = [];
  let rest = 0;
  for (const mark of [...ranges].sort((one, other) => one.start - other.start)) {
    const start = Math.max(rest, mark.start);
    const end = Math.min(text.length, mark.end);
    if (end <= start) continue;
    drawn.push(text.slice(rest, start));
    drawn.push(
      <mark key={start} className={mark.className} title={mark.title}>
        {text.slice(start, end)}
      </mark>,
    );
    rest = end;
  }
  drawn.push(text.slice(rest));
  return <>{drawn}</>;
}
