/** Find and replace within one piece of text of a segment: a match never reaches over a code. */
import { codeOf, type Piece, tidy } from './pieces.ts';

export interface Range {
  from: number;
  to: number;
}

/** Where a text has the wanted one, in any case. */
export function matchesIn(text: string, wanted: string): Range[] {
  if (wanted === '') return [];
  const pattern = new RegExp(wanted.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu');
  return [...text.matchAll(pattern)].map(({ index, 0: found }) => ({
    from: index,
    to: index + found.length,
  }));
}

export function countIn(pieces: readonly Piece[], wanted: string): number {
  return pieces.reduce(
    (count, piece) => count + ('text' in piece && !codeOf(piece) ? matchesIn(piece.text, wanted).length : 0),
    0,
  );
}

/** The pieces with every match replaced, or the same list where there is none. */
export function replaceIn(pieces: readonly Piece[], wanted: string, by: string): readonly Piece[] {
  if (countIn(pieces, wanted) === 0) return pieces;
  return tidy(
    pieces.map((piece) => {
      if (!('text' in piece) || codeOf(piece)) return piece;
      let text = '';
      let rest = 0;
      for (const { from, to } of matchesIn(piece.text, wanted)) {
        text += piece.text.slice(rest, from) + by;
        rest = to;
      }
      return { text: text + piece.text.slice(rest) };
    }),
  );
}
