/**
 * Canonical form of segments for comparison. Codes are numbered within their unit, so the codes of a sentence
 * have other numbers in another unit. Here the codes are renumbered in order of appearance, so that
 * occurrences of the same sentence compare equal.
 */
import type { Piece } from '@dragoman/documents';

export interface Canonical {
  pieces: Piece[];
  /** Converts pieces with canonical code numbers back to the code numbers of the segment. */
  back(pieces: readonly Piece[]): Piece[];
}

export function canonical(pieces: readonly Piece[]): Canonical {
  const numbers = new Map<string, number>();
  const own = new Map<string, number>();
  const forth = pieces.map((piece) =>
    renumber(piece, (kind, number) => {
      const key = `${kind}${number}`;
      let made = numbers.get(key);
      if (made === undefined) {
        made = numbers.size + 1;
        numbers.set(key, made);
        own.set(`${kind}${made}`, number);
      }
      return made;
    }),
  );
  if (numbers.size === 0) return { pieces: [...pieces], back: (given) => [...given] };
  return {
    pieces: forth,
    back: (given) =>
      given.map((piece) => renumber(piece, (kind, number) => own.get(`${kind}${number}`) ?? number)),
  };
}

type Kind = 'pair' | 'single' | 'keep';

function renumber(piece: Piece, number: (kind: Kind, given: number) => number): Piece {
  if ('keep' in piece) return { keep: number('keep', piece.keep), text: piece.text };
  if ('open' in piece) return { open: number('pair', piece.open) };
  if ('close' in piece) return { close: number('pair', piece.close) };
  if ('single' in piece) return { single: number('single', piece.single) };
  return piece;
}
