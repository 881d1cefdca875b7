/**
 * Checks whether a reply is a translation. Lost and repeated codes are not checked here, because
 * `@dragoman/documents` repairs or rejects them.
 */

import type { Piece } from '../engine.ts';
import { occurrences, visibleText } from './encode.ts';
import type { EncodingRecord } from './encoding-record.ts';

/**
 * Removes the marks of words that could not be inflected (`#haver`) or translated (`@casa`), as `lt-proc -n`
 * does. Pairs whose generator runs with `-b` (into Catalan from French, Portuguese and Italian) print such a
 * mark about once in 500 sentences. Marks that the source also contains are not removed.
 */
export function unmark(pieces: readonly Piece[], source: EncodingRecord): Piece[] {
  return pieces.map((piece) => {
    if (!('text' in piece) || 'keep' in piece || !/[@#]/.test(piece.text)) return piece;
    let { text } = piece;
    if (source.hashes === 0) text = text.replace(/#(?=\p{L})|(?<=\p{L})#/gu, '');
    if (source.ats === 0) text = text.replace(/@(?=\p{L})/gu, '');
    return { text };
  });
}

/** Matches the `+` between a word and its pronouns, such as `programar+es+ho`, when Apertium could not inflect them. */
export const JOINS = /(?<=\p{L})\+(?=\p{L})/gu;

/**
 * Limits of the ratio of target length to source length. A reply outside these limits is not a translation. Short
 * segments are not checked.
 */
const MIN_RATIO = 0.3;
const MAX_RATIO = 3;
const RATIO_FROM = 20;

/** Returns why a reply cannot be a translation, without quoting the reply. Returns null if no fault was found. */
export function faultOf(pieces: readonly Piece[], source: EncodingRecord): string | null {
  const visible = visibleText(pieces);
  const text = pieces.map((piece) => ('text' in piece && !('keep' in piece) ? piece.text : '')).join('');
  if (source.letters && visible.trim() === '') return 'the reply is empty';
  if (occurrences(text, '@') > source.ats) return 'the reply marks a word without translation (@)';
  if (occurrences(text, '#') > source.hashes) return 'the reply marks a word that could not be inflected (#)';
  if ((text.match(JOINS) ?? []).length > source.joins)
    return 'the reply has parts of a word left unjoined (+)';
  const ratio = visible.length / Math.max(1, source.length);
  if (source.length > RATIO_FROM && (ratio < MIN_RATIO || ratio > MAX_RATIO)) {
    return `the reply is ${ratio.toFixed(1)} times as long as the source`;
  }
  return null;
}
