/**
 * Quotation marks and marks of emphasis round words. For Apertium they are white space over which it moves words: the
 * "red house" dog became el "perro de" casa rojo. A pair with only words in it is therefore sent as a pair of codes, which
 * moves with the words.
 */

import type { Piece } from '../engine.ts';
import { CODE } from './outline.ts';
import { outlineOfPiece } from './parts.ts';

export interface Quote {
  open: string;
  close: string;
  /** Whether a short word such as an article stands before the pair. Some modes put its translation into the pair. */
  followsShort: boolean;
}

/** The marks of each pair that was sent as codes, by the number of the code. */
export type Quotes = ReadonlyMap<number, Quote>;

export const NO_QUOTES: Quotes = new Map();

/** Matches an article or a preposition, alone or at the end of a text. */
const SHORT = /(?<!\p{L})\p{L}{1,3}[\s'’]?$/u;

const WORDS = String.raw`(?=\S)(?=[^\p{L}\p{P}\p{S}\n]{0,9}\p{L})(?:[^\p{P}\p{S}\n]|${CODE}|(?<=[\p{L}\p{N}])['’-](?=[\p{L}\p{N}])){1,200}(?<=\S)`;
const MARKS = [
  '""',
  "''",
  '“”',
  '‘’',
  '„“',
  '«»',
  '«\u00a0\u00a0»',
  '«\u202f\u202f»',
  '«  »',
  '****',
  '**',
  '____',
  '__',
].map((pair) => {
  const half = pair.length / 2;
  return [pair.slice(0, half), pair.slice(half)].map((mark) => mark.replaceAll('*', '\\*')) as [
    string,
    string,
  ];
});
/** Matches a pair of marks with only words in it. */
export const QUOTED = new RegExp(
  `(?<![\\p{L}\\p{M}\\p{N}"*_]|(?<!\\p{L})')(?:${MARKS.map(([open, close]) => `${open}${WORDS}${close}`).join('|')})(?![\\p{L}\\p{M}\\p{N}"'*_])`,
  'gu',
);

/** Replaces pairs of marks by pairs of codes with negative numbers. */
export function pairQuotes(pieces: readonly Piece[]): { pieces: readonly Piece[]; quotes: Quotes } {
  const quotes = new Map<number, Quote>();
  const outline = pieces.map(outlineOfPiece).join('');
  // The opening mark of a Spanish question may have to stand before the pair.
  if (/[?!]/.test(outline)) return { pieces, quotes };
  const starts: number[] = [];
  let length = 0;
  for (const piece of pieces) {
    starts.push(length);
    length += outlineOfPiece(piece).length;
  }
  const cuts = new Map<number, { at: number; width: number; code: Piece }[]>();
  let index = 0;
  const indexOf = (at: number): number => {
    while (index + 1 < pieces.length && starts[index + 1]! <= at) index++;
    return index;
  };
  for (const { 0: quoted, index: at } of outline.matchAll(QUOTED)) {
    const width = /^(?:\*\*|__|«\s)/.test(quoted) ? 2 : 1;
    const end = at + quoted.length - width;
    const [first, last] = [indexOf(at), indexOf(end)];
    if (!isNested(pieces.slice(first, last + 1))) continue;
    const code = -2 - quotes.size;
    const followsShort =
      SHORT.test(outline.slice(Math.max(0, at - 6), at)) && /^\P{L}*\p{L}{3}/u.test(quoted);
    quotes.set(code, { open: quoted.slice(0, width), close: quoted.slice(-width), followsShort });
    const add = (piece: number, cut: { at: number; width: number; code: Piece }) =>
      cuts.set(piece, [...(cuts.get(piece) ?? []), cut]);
    add(first, { at: at - starts[first]!, width, code: { open: code } });
    add(last, { at: end - starts[last]!, width, code: { close: code } });
  }
  const paired = pieces.flatMap((piece, nth): Piece[] => {
    const own = cuts.get(nth);
    if (own === undefined || !('text' in piece)) return [piece];
    const parts: Piece[] = [];
    let from = 0;
    for (const { at, width, code } of own) {
      parts.push({ text: piece.text.slice(from, at) }, code);
      from = at + width;
    }
    parts.push({ text: piece.text.slice(from) });
    return parts.filter((part) => !('text' in part) || part.text !== '');
  });
  return { pieces: paired, quotes };
}

/** Returns whether each paired code that begins in these pieces also ends in them, and no other ends there. */
function isNested(pieces: readonly Piece[]): boolean {
  let depth = 0;
  for (const piece of pieces) {
    if ('open' in piece) depth++;
    if ('close' in piece && --depth < 0) return false;
  }
  return depth === 0;
}
