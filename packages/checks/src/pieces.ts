/** Functions that return the visible text of a segment's pieces and the positions of its parts. */
import type { Piece } from '@dragoman/documents/pieces';

/** A part of a segment's visible text, with its offset in that text. */
export interface Stretch {
  text: string;
  start: number;
}

/** Returns the visible text of pieces: translatable text and protected words, without codes. */
export function visible(pieces: readonly Piece[]): string {
  let text = '';
  for (const piece of pieces) if ('text' in piece) text += piece.text;
  return text;
}

/** Returns the text to translate, with one space in place of each protected word or single code. */
export function translatable(pieces: readonly Piece[]): string {
  let text = '';
  for (const piece of pieces) {
    if ('keep' in piece || 'single' in piece) text += ' ';
    else if ('text' in piece) text += piece.text;
  }
  return text;
}

/** Returns all visible strings of a segment: the translatable strings ({@link stretches}) and the protected words. */
export function texts(pieces: readonly Piece[]): Stretch[] {
  let position = 0;
  const kept = pieces.flatMap((piece) => {
    if (!('text' in piece)) return [];
    position += piece.text.length;
    return 'keep' in piece ? [{ text: piece.text, start: position - piece.text.length }] : [];
  });
  return [...stretches(pieces), ...kept];
}

/**
 * Returns the translatable text of a segment as strings, divided at protected words and single codes. Codes of a pair
 * do not divide the text, because they may stand inside a word.
 */
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
