/**
 * Checks whether a reply is a translation. Lost and repeated codes are not checked here, because
 * `@dragoman/documents` repairs or rejects them.
 */

import type { Piece } from '../engine.ts';
import type { Item } from './decode.ts';
import { visibleText } from './encode.ts';
import type { EncodingRecord } from './encoding-record.ts';
import { outlineOf } from './outline.ts';

/**
 * Removes the marks of words that could not be inflected (`#haver`) or translated (`@casa`), as `lt-proc -n`
 * does. Pairs whose generator runs with `-b` (into Catalan from French, Portuguese and Italian) print such a
 * mark about once in 500 sentences. Marks that the source also contains are not removed.
 */
export function unmark(items: readonly Item[], source: string): Item[] {
  return items.map((item) => {
    if (!('text' in item) || !/[@#]/.test(item.text)) return item;
    let { text } = item;
    if (!source.includes('#')) text = text.replace(/#(?=\p{L})|(?<=\p{L})#/gu, '');
    if (!source.includes('@')) text = text.replace(/@(?=\p{L})/gu, '');
    return { ...item, text };
  });
}

/**
 * Matches a word that Apertium could not join with its pronouns, such as `programar+es+ho`. Single letters are an
 * abbreviation such as `I+D`.
 */
const UNJOINED = /\+(?=\p{L})(?<=\p{L}{2}.)|\+(?=\p{L}{2})(?<=\p{L}.)/gu;

/**
 * Limits of the ratio of target length to source length. A reply outside these limits is not a translation. Short
 * segments are not checked.
 */
const MIN_RATIO = 0.3;
const MAX_RATIO = 3;
const RATIO_FROM = 20;

/** Returns why a reply cannot be a translation, without quoting the reply. Returns null if no fault was found. */
export function faultOf(items: readonly Item[], record: EncodingRecord): string | null {
  const { outline: source, kept, fixed, length } = record;
  const target = outlineOf(items);
  const isMore = (mark: RegExp): boolean =>
    (target.match(mark) ?? []).length > (source.match(mark) ?? []).length;
  if (/\S/u.test(source) && !/\S/u.test(target)) return 'the reply is empty';
  if (isMore(/@/g)) return 'the reply marks a word without translation (@)';
  if (isMore(/#/g)) return 'the reply marks a word that could not be inflected (#)';
  if (isMore(UNJOINED)) return 'the reply has parts of a word left unjoined (+)';
  if (isFewer(target, source)) return 'the reply lacks a percent or currency sign';
  if (lacksText(items, record)) return 'the reply lacks a part of the source';
  if (lacksQuoted(items, record)) return 'the reply lacks the words between two quotation marks';
  const pieces = items.flatMap((item): readonly Piece[] => {
    if ('kept' in item) return [kept[item.kept]!];
    if ('fixed' in item) return fixed[item.fixed]!.pieces;
    return 'text' in item ? [item] : [];
  });
  const ratio = visibleText(pieces).length / Math.max(1, length);
  if (length > RATIO_FROM && (ratio < MIN_RATIO || ratio > MAX_RATIO)) {
    return `the reply is ${ratio.toFixed(1)} times as long as the source`;
  }
  return null;
}

const SIGNS = /[%‰€$£¥]/g;

/** Returns whether signs behind numbers are missing: "il 10% degli" became "el 10 de los". */
const isFewer = (target: string, source: string): boolean =>
  (target.match(SIGNS)?.length ?? 0) < (source.match(SIGNS)?.length ?? 0);

function lacksQuoted(items: readonly Item[], { pairs, quotes }: EncodingRecord): boolean {
  if (quotes.size === 0) return false;
  const found = new Set(items.flatMap(({ ids }) => ids));
  return pairs.some(({ code }, id) => quotes.has(code) && !found.has(id));
}

/**
 * Returns whether text is missing that was sent as a code or a token. Missing codes and protected words are repaired
 * elsewhere.
 */
function lacksText(items: readonly Item[], { kept, fixed }: EncodingRecord): boolean {
  const isText = (piece: Piece): boolean => 'keep' in piece && piece.keep === -1;
  const found = new Set(
    items.map((item) => ('kept' in item ? `k${item.kept}` : 'fixed' in item ? item.fixed : '')),
  );
  return (
    kept.some((piece, index) => isText(piece) && !found.has(`k${index}`)) ||
    fixed.some(({ pieces }, index) => (pieces.length > 1 || pieces.some(isText)) && !found.has(index))
  );
}
