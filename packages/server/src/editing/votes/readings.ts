/**
 * Readings. A reading is what an editor sees of a source: its words, and its codes by kind and order, for one
 * language pair, brand and tone. Segments with the same reading can have the same target. Web and e-mail
 * addresses also count only by kind, because each segment keeps its own address.
 */
import { createHash } from 'node:crypto';
import type { Piece } from '@dragoman/documents';
import type { Environment } from '../../base/account.ts';
import { carry, readingOf } from './repeats.ts';

/** The values that a reading has in addition to the words and codes of the source. */
export interface ReadingScope {
  environment: Environment;
  from: string;
  to: string;
  brand: string | null;
  tone: string | null;
}

/**
 * The place of a segment in its text. Editors translate the same words differently as a whole message, as a
 * greeting and as an answer in the middle.
 */
export const READING_CONTEXTS = ['only', 'first', 'later'] as const;
export type ReadingContext = (typeof READING_CONTEXTS)[number];

/** Returns the place of a segment in its text. @param count the number of segments of the text */
export function contextOf(position: number, count: number): ReadingContext {
  if (count === 1) return 'only';
  return position === 0 ? 'first' : 'later';
}

/** Returns the SHA-256 by which segments with the same reading are found. */
export function hashReading(scope: ReadingScope, source: readonly Piece[]): Buffer {
  const { environment, from, to, brand, tone } = scope;
  return sha256([environment, from, to, brand, tone, readingOf(withoutAddresses(source))]);
}

const WEB = /^(?:\w+:\/\/|www\.)/;
const EMAIL = /^[\w.+%-]+@[\w-]+\./;

/**
 * Returns a source in which one word replaces every web address, and another word every e-mail address. The
 * two words differ, because the right translation may depend on the kind: one visits a page, but writes to a
 * person.
 */
function withoutAddresses(source: readonly Piece[]): Piece[] {
  return source.map((piece) => {
    if (!('keep' in piece)) return piece;
    if (WEB.test(piece.text)) return { keep: piece.keep, text: '://' };
    return EMAIL.test(piece.text) ? { keep: piece.keep, text: '@' } : piece;
  });
}

/**
 * Returns the SHA-256 of a target. Targets have the same hash if they have the same words and codes in the same
 * places. The numbers of the codes, the addresses and the width of spaces do not matter.
 */
export function hashTarget(source: readonly Piece[], target: readonly Piece[]): Buffer {
  const isCode = (piece: Piece) => 'keep' in piece || !('text' in piece);
  const numbered = withoutAddresses(source.filter(isCode)).map((piece, index): Piece => {
    if ('keep' in piece) return { keep: index, text: piece.text };
    if ('open' in piece) return { open: index };
    return 'close' in piece ? { close: index } : { single: index };
  });
  const parts: (string | Piece)[] = [''];
  for (const piece of carry(source, numbered, target)) {
    if (isCode(piece)) parts.push(piece, '');
    else parts[parts.length - 1] += (piece as { text: string }).text;
  }
  return sha256(parts.map((part) => (typeof part === 'string' ? part.replaceAll(/\s+/g, ' ') : part)));
}

function sha256(parts: readonly unknown[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts).normalize('NFC')).digest();
}
