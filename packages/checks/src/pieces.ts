/** The visible text of pieces and positions in it. */
import type { Piece } from '@dragoman/documents/pieces';

/** A part of the visible text and its offset. */
export interface Stretch {
  text: string;
  start: number;
}

/** Returns the visible text: texts and kept words, without codes. */
export function visible(pieces: readonly Piece[]): string {
  let text = '';
  for (const piece of pieces) if ('text' in piece) text += piece.text;
  return text;
}

/** Returns the text to translate, with a space for each kept word. */
export function translatable(pieces: readonly Piece[]): string {
  let text = '';
  for (const piece of pieces) {
    if ('keep' in piece || 'single' in piece) text += ' ';
    else if ('text' in piece) text += piece.text;
  }
  return text;
}

/** Returns all texts: those of {@link stretches}, and kept words. */
export function texts(pieces: readonly Piece[]): Stretch[] {
  let position = 0;
  const kept = pieces.flatMap((piece) => {
    if (!('text' in piece)) return [];
    position += piece.text.length;
    return 'keep' in piece ? [{ text: piece.text, start: position - piece.text.length }] : [];
  });
  return [...stretches(pieces), ...kept];
}

/** Returns texts divided at kept words and single codes, but not at the halves of pairs. */
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
