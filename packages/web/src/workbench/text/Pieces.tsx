/** Renders a text. Codes are shown as chips (small labels in the line), and ranges can be highlighted. */
import type { ReactNode } from 'react';
import css from '../styles/workbench.module.css';
import { matchesIn } from './find.ts';
import { type Code, type CodeDescription, codeOf, describeRun, keyOf, type Piece, runsOf } from './pieces.ts';

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
  /** The text whose occurrences are highlighted. */
  highlight?: string | undefined;
  /** Whether neighbouring tags are shown as one chip. */
  collapsed?: boolean;
}

export function Pieces({ pieces, describe, marks = [], highlight = '', collapsed = false }: PiecesProps) {
  const drawn: ReactNode[] = [];
  const runs = collapsed ? collapsedRuns(pieces) : undefined;
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    const code = codeOf(piece);
    const run = runs?.get(index);
    if (run) {
      const [first] = run;
      if (first) drawn.push(<Chip key={keyOf(first)} code={first} {...describeRun(run.map(describe))} run />);
    } else if (code) drawn.push(<Chip key={keyOf(code)} code={code} {...describe(code)} />);
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

/**
 * Returns each run of neighbouring codes by the index of its first piece. The other pieces of the run have an
 * empty list.
 */
function collapsedRuns(pieces: readonly Piece[]): Map<number, readonly Code[]> {
  const items = pieces.flatMap((piece, index) => {
    const code = codeOf(piece);
    return code ? [{ code, index }] : [];
  });
  const found = new Map<number, readonly Code[]>();
  for (const run of runsOf(items, (one, next) => next.index === one.index + 1)) {
    for (const { index } of run) found.set(index, []);
    found.set(
      run[0]!.index,
      run.map(({ code }) => code),
    );
  }
  return found;
}

export function Chip({
  code,
  name,
  title,
  label,
  run = false,
}: { code: Code; run?: boolean } & CodeDescription) {
  return (
    <span
      className={css.chip}
      data-kind={run ? 'run' : code.kind}
      title={title}
      role="img"
      aria-label={label}
    >
      <bdi dir="ltr">{name}</bdi>
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
