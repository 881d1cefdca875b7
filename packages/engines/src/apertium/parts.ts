/** Prepares the pieces of a segment for the encoder: cleans the text, and finds the parts that Apertium must not see. */

import type { Piece } from '../engine.ts';
import { CODE, KEEP } from './outline.ts';

/** A piece, or a pair of codes with its content that becomes one superblank. */
export type Part = Piece | readonly Piece[];

export const isFrozen = (part: Part): part is readonly Piece[] => Array.isArray(part);

/**
 * Replaces NUL, which would end the reply, and lone surrogates, which are not valid UTF-8. Composes decomposed letters,
 * because the dictionaries know only composed ones.
 */
export function cleanText(text: string): string {
  return text
    .replaceAll('\0', ' ')
    .toWellFormed()
    .replace(/\p{L}\p{M}+/gu, (letters) => letters.normalize('NFC'));
}

/** Merges adjacent pieces of text, and cleans them. */
export function joinText(pieces: readonly Piece[]): Piece[] {
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    const isText = 'text' in piece && !('keep' in piece);
    if (isText && last !== undefined && 'text' in last && !('keep' in last)) last.text += piece.text;
    else joined.push(isText ? { text: piece.text } : piece);
  }
  return joined.map((piece) =>
    'text' in piece && !('keep' in piece) ? { text: cleanText(piece.text) } : piece,
  );
}

/** Replaces the matches of `opaque` by protected words with the number -1. */
export function hide(pieces: readonly Piece[], opaque: RegExp): Piece[] {
  const outline = pieces.map(outlineOfPiece).join('');
  const hidden = [...outline.matchAll(opaque)].map(({ 0: text, index }) => ({
    index,
    end: index + text.length,
  }));
  const out: Piece[] = [];
  let next = 0;
  let end = 0;
  for (const piece of pieces) {
    const start = end;
    end += outlineOfPiece(piece).length;
    if (!('text' in piece) || 'keep' in piece) {
      out.push(piece);
      continue;
    }
    let from = start;
    const push = (to: number, isHidden: boolean): void => {
      const text = piece.text.slice(from - start, to - start);
      if (text !== '') out.push(isHidden ? { keep: -1, text } : { text });
      from = Math.max(from, to);
    };
    for (; next < hidden.length && hidden[next]!.index < end; next++) {
      // A match may have begun in an earlier piece.
      push(Math.max(start, hidden[next]!.index), false);
      push(Math.min(hidden[next]!.end, end), true);
      if (hidden[next]!.end > end) break;
    }
    push(end, false);
  }
  return out;
}

export function outlineOfPiece(piece: Piece): string {
  if ('keep' in piece) return KEEP;
  if ('text' in piece) return piece.text;
  return 'single' in piece ? CODE : '';
}

/** Maps the index of each half of a paired code to the index of its other half, for pairs with words between them. */
export function match(pieces: readonly Piece[]): Map<number, number> {
  const words: number[] = [];
  let sum = 0;
  for (const piece of pieces) {
    words.push(sum);
    if ('text' in piece && ('keep' in piece || /[\p{L}\p{N}]/u.test(piece.text))) sum++;
  }
  const open = new Map<number, number>();
  const partner = new Map<number, number>();
  pieces.forEach((piece, index) => {
    if ('open' in piece) open.set(piece.open, index);
    if (!('close' in piece)) return;
    const start = open.get(piece.close);
    open.delete(piece.close);
    if (start === undefined || words[start] === words[index]) return;
    partner.set(start, index);
    partner.set(index, start);
  });
  return partner;
}

/**
 * Replaces each pair without letters that touches a word, such as a footnote or an exponent, by a list with the pair and
 * its content. As a word-bound blank, such a pair would take the word with it. `TM` after a small letter is such a note.
 */
export function freeze(pieces: readonly Piece[]): Part[] {
  const partner = match(pieces);
  const outline = pieces.map(outlineOfPiece).join('');
  const before: { at: number; texts: number }[] = [{ at: 0, texts: 0 }];
  for (const piece of pieces) {
    const { at, texts } = before.at(-1)!;
    const hasLetters = 'text' in piece && !('keep' in piece) && /\p{L}/u.test(piece.text);
    before.push({ at: at + outlineOfPiece(piece).length, texts: texts + Number(hasLetters) });
  }
  const isNote = (start: number, end: number): boolean => {
    const [from, to] = [before[start]!, before[end]!];
    const [left, right] = [outline.slice(Math.max(0, from.at - 2), from.at), outline.slice(to.at, to.at + 2)];
    const isSpace = (at: number): boolean => /\s/u.test(outline[at] ?? '');
    const touches =
      (WORD_END.test(left) && !isSpace(from.at)) || (WORD_START.test(right) && !isSpace(to.at - 1));
    const isTrademark =
      to.at - from.at <= 3 &&
      /^\p{Lu}+$/u.test(outline.slice(from.at, to.at)) &&
      /\p{Ll}$/u.test(left) &&
      !/^\p{L}/u.test(right);
    if (!touches || (from.texts !== to.texts && !isTrademark)) return false;
    return pieces.slice(start, end + 1).every((_, nth) => {
      const other = partner.get(start + nth) ?? start;
      return other >= start && other <= end;
    });
  };
  const parts: Part[] = [];
  for (let index = 0; index < pieces.length; index++) {
    const end = 'open' in pieces[index]! ? partner.get(index) : undefined;
    if (end !== undefined && isNote(index, end)) {
      parts.push(pieces.slice(index, end + 1));
      index = end;
    } else parts.push(pieces[index]!);
  }
  return parts;
}

const WORD_END = new RegExp(`[\\p{L}\\p{M}\\p{N}${KEEP}]$`, 'u');
const WORD_START = new RegExp(`^[\\p{L}\\p{M}\\p{N}${KEEP}]`, 'u');

/**
 * Returns the indexes of the protected words that touch a letter or a digit, also across other protected words. As
 * tokens, they would form one unknown word with it.
 */
export function touchingWords(pieces: readonly Piece[]): Set<number> {
  const outline = pieces.map(outlineOfPiece).join('');
  const touching = new Set<number>();
  for (const { 0: run, index } of outline.matchAll(KEEPS)) {
    const end = index + run.length;
    const isTouching =
      /[\p{L}\p{M}\p{N}]$/u.test(outline.slice(Math.max(0, index - 2), index)) ||
      /^[\p{L}\p{M}\p{N}]/u.test(outline.slice(end, end + 2));
    if (!isTouching) continue;
    for (let at = index; at < end; at++) touching.add(at);
  }
  let at = 0;
  return new Set(
    pieces.flatMap((piece, index) => {
      const start = at;
      at += outlineOfPiece(piece).length;
      return 'keep' in piece && touching.has(start) ? [index] : [];
    }),
  );
}

const KEEPS = new RegExp(`${KEEP}+`, 'gu');
