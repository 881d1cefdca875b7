/** Functions that find and replace in the texts of a segment. A match never spans a code. */
import { codeOf, normalize, type Piece } from './pieces.ts';

export interface TextRange {
  from: number;
  to: number;
}

/** Returns the matches of `query`, ignoring case, as UTF-16 offsets. */
export function matchesIn(text: string, query: string): TextRange[] {
  if (query === '') return [];
  const pattern = new RegExp(query.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu');
  return [...text.matchAll(pattern)].map(({ index, 0: found }) => ({
    from: index,
    to: index + found.length,
  }));
}

export function countIn(pieces: readonly Piece[], query: string): number {
  return pieces.reduce(
    (count, piece) => count + ('text' in piece && !codeOf(piece) ? matchesIn(piece.text, query).length : 0),
    0,
  );
}

/** Returns the pieces with every match replaced; the same array when there is none. */
export function replaceIn(pieces: readonly Piece[], query: string, by: string): readonly Piece[] {
  if (countIn(pieces, query) === 0) return pieces;
  return normalize(
    pieces.map((piece) => {
      if (!('text' in piece) || codeOf(piece)) return piece;
      let text = '';
      let rest = 0;
      for (const { from, to } of matchesIn(piece.text, query)) {
        text += piece.text.slice(rest, from) + by;
        rest = to;
      }
      return { text: text + piece.text.slice(rest) };
    }),
  );
}
