/**
 * Divides the pieces of a segment at places that an editor chose. A place counts the characters and the codes before it;
 * each code counts as one. Neither the pieces nor the document change.
 */

import type { Piece } from '../model/document.ts';
import { mergeText, plainText } from './repair.ts';
import { sentenceEnds } from './sentences.ts';

const letter = /\p{L}/u;

const isText = (piece: Piece): piece is { text: string; keep?: never } =>
  'text' in piece && !('keep' in piece);

/** Returns how much a place counts for a piece. */
const sizeOf = (piece: Piece): number => (isText(piece) ? piece.text.length : 1);

export const lengthOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, piece) => sum + sizeOf(piece), 0);

/**
 * Returns the place for an offset of the visible text. White space and closing codes at the offset are before the place,
 * other codes after it. Returns undefined for an offset inside a protected word.
 */
export function placeAt(pieces: readonly Piece[], offset: number): number | undefined {
  let place = 0;
  let shown = 0;
  for (const piece of pieces) {
    if (!isText(piece)) {
      const length = 'keep' in piece ? piece.text.length : 0;
      if (shown >= offset && !('close' in piece)) return place;
      if (shown < offset && offset < shown + length) return undefined;
      shown += length;
      place += 1;
      continue;
    }
    const { text } = piece;
    const from = Math.max(0, offset - shown);
    if (from < text.length) {
      // The halves of a surrogate pair stay together.
      const isHalf = from > 0 && /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(from - 1, from + 1));
      const rest = text.slice(from);
      const blank = rest.length - rest.trimStart().length;
      if (isHalf) return place + from - 1;
      if (blank < rest.length) return place + from + blank;
    }
    shown += text.length;
    place += text.length;
  }
  return place;
}

/** Divides pieces at places. A place after the end means the end. @param places in ascending order */
export function divide(pieces: readonly Piece[], places: readonly number[]): Piece[][] {
  const parts: Piece[][] = [[]];
  let at = 0;
  let next = 0;
  for (const piece of pieces) {
    let used = 0;
    while (next < places.length && places[next]! < at + sizeOf(piece)) {
      const until = Math.max(used, places[next]! - at);
      if (isText(piece)) parts.at(-1)!.push({ text: piece.text.slice(used, until) });
      used = isText(piece) ? until : 0;
      parts.push([]);
      next += 1;
    }
    parts.at(-1)!.push(isText(piece) ? { text: piece.text.slice(used) } : piece);
    at += sizeOf(piece);
  }
  for (; next < places.length; next += 1) parts.push([]);
  return parts.map(mergeText);
}

/** Returns a part without the white space at its ends. */
export function trimPart(part: readonly Piece[]): Piece[] {
  return mergeText(
    part.map((piece, index) => {
      if (!isText(piece)) return piece;
      const text = index === 0 ? piece.text.trimStart() : piece.text;
      return { text: index === part.length - 1 ? text.trimEnd() : text };
    }),
  );
}

export const hasWords = (part: readonly Piece[]): boolean => letter.test(plainText(part));

/** Returns true if both halves of each pair are in the part. */
export function isWhole(part: readonly Piece[]): boolean {
  const open: number[] = [];
  for (const piece of part) {
    if ('open' in piece) open.push(piece.open);
    if ('close' in piece && open.pop() !== piece.close) return false;
  }
  return open.length === 0;
}

/**
 * Returns the place of a translation that probably stands for a place of its source: the nearest end of a sentence,
 * otherwise the nearest start of a word, otherwise the end. No pair is divided.
 *
 * @param share how much of the source is before its place, from 0 to 1
 */
export function likelyPlace(translation: readonly Piece[], share: number, language: string): number {
  const text = plainText(translation);
  const wanted = text.length * share;
  const nearest = (offsets: readonly number[]): number | undefined =>
    offsets
      .toSorted((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted))
      .slice(0, 20)
      .flatMap((offset) => placeAt(translation, offset) ?? [])
      .find((place) => divide(translation, [place]).every((part) => hasWords(part) && isWhole(part)));
  const words = Array.from(text.matchAll(/(?<=\s)\S/gu), ({ index }) => index);
  return nearest(sentenceEnds(text, language)) ?? nearest(words) ?? lengthOf(translation);
}
