/** Fake engines for tests: one changes nothing, one translates to upper case, one breaks codes. */

import { type Document, type Piece, segments } from '../src/documents.ts';

type Words = Extract<Piece, { text: string }> & { keep?: never };

export type FakeEngine = (pieces: readonly Piece[]) => Piece[];

const isWords = (piece: Piece): piece is Words => 'text' in piece && !('keep' in piece);

export const silent: FakeEngine = (pieces) => [...pieces];

/** Returns the text in upper case. Text without case gets an added mark, so that it changes too. */
export const upperCasing: FakeEngine = (pieces) =>
  pieces.map((piece) => (isWords(piece) ? { text: piece.text.toUpperCase() } : piece));

/** A deterministic random generator: the same seed causes the same faults. */
export function chance(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

const rubbish = [
  '-->',
  ']]>',
  '<',
  '&',
  '\n\n',
  '</target>',
  '\u0000',
  '\ud800',
  '"',
  '00:00:01,000 --> 00:00:02,000',
  '<i>',
  '\u2028',
];

/**
 * Returns an engine that drops, duplicates, swaps, crosses and invents codes, and writes markup characters of the
 * formats.
 */
export function faulty(seed: number): FakeEngine {
  const next = chance(seed);
  return (pieces) => {
    let out: Piece[] = [];
    for (const piece of pieces) {
      if (isWords(piece)) {
        out.push({ text: `${piece.text.toLowerCase()}${rubbish[Math.floor(next() * rubbish.length)]}` });
        continue;
      }
      const luck = next();
      if (luck < 0.3) continue;
      out.push('keep' in piece && luck < 0.5 ? { ...piece, text: 'wrong' } : piece);
      if (luck > 0.8) out.push(piece);
    }
    if (next() < 0.3) out.push({ single: 999 }, { open: 998 }, { close: 997 });
    if (next() < 0.5) out = out.reverse();
    return out;
  };
}

export function translate(document: Document, language: string, engine: FakeEngine): Map<string, Piece[]> {
  return new Map(segments(document, language).map(({ id, pieces }) => [id, engine(pieces)]));
}
