/** Pieces as texts: what a reader sees, and where in it something stands. */
import type { Piece } from '@dragoman/documents/pieces';

/** A stretch of the visible text, with where it begins there. */
export interface Stretch {
  text: string;
  start: number;
}

/** What a reader sees: texts and kept words, codes without width. */
export function visible(pieces: readonly Piece[]): string {
  let text = '';
  for (const piece of pieces) if ('text' in piece) text += piece.text;
  return text;
}

/** What there is to translate: without kept words, each of which leaves a space. */
export function translatable(pieces: readonly Piece[]): string {
  let text = '';
  for (const piece of pieces) {
    if ('keep' in piece || 'single' in piece) text += ' ';
    else if ('text' in piece) text += piece.text;
  }
  return text;
}

/** Every text by itself: those that flow, and kept words. */
export function texts(pieces: readonly Piece[]): Stretch[] {
  let position = 0;
  const kept = pieces.flatMap((piece) => {
    if (!('text' in piece)) return [];
    position += piece.text.length;
    return 'keep' in piece ? [{ text: piece.text, start: position - piece.text.length }] : [];
  });
  return [...stretches(pieces), ...kept];
}

/** The texts that flow: the two halves of a pair do not interrupt them, kept words and standalone codes do. */
export function stretches(pieces: readonly Piece[]): Stretch[] {
  const found: Stretch[] = [];
  let position = 0;
  let open: Stretch | undefined;
  for (const piece of pieces) {
    if ('open' in piece || 'close' in piece) continue;
    if ('text' in piece && !('keep' in piece)) {
      if (open === undefined) {
        open = { text: '', start: position };
        found.push(open);
      }
      open.text += piece.text;
    } else open = undefined;
    if ('text' in piece) position += piece.text.length;
  }
  return found;
}
