/**
 * What a reply must pass before it counts as a translation. Lost and doubled codes are not judged here: they come back
 * honestly as pieces, and another package repairs or refuses them.
 */

import type { Piece } from '../engine.ts';
import type { Book } from './book.ts';
import { occurrences, visibleText } from './encode.ts';

/**
 * Takes the marks off words that could not be inflected (`#haver`) or have no translation (`@casa`), as `lt-proc -n`
 * does. The pairs whose generator runs with `-b` (into Catalan from French, Portuguese and Italian) print them all the
 * same, about once in 500 sentences. Only where the source has none of its own, so that nothing of it is lost.
 */
export function unmark(pieces: readonly Piece[], source: Book): Piece[] {
  return pieces.map((piece) => {
    if (!('text' in piece) || 'keep' in piece || !/[@#]/.test(piece.text)) return piece;
    let { text } = piece;
    if (source.hashes === 0) text = text.replace(/#(?=\p{L})|(?<=\p{L})#/gu, '');
    if (source.ats === 0) text = text.replace(/@(?=\p{L})/gu, '');
    return { text };
  });
}

/** `programar+es+ho`: a word with its pronouns that could not be inflected. */
export const JOINS = /(?<=\p{L})\+(?=\p{L})/gu;

/** Outside this ratio of target to source length, the reply is no translation; not asked of short segments. */
const MIN_RATIO = 0.3;
const MAX_RATIO = 3;
const RATIO_FROM = 20;

/** @returns what is wrong, in words without the text itself, or null */
export function faultOf(pieces: readonly Piece[], source: Book): string | null {
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
