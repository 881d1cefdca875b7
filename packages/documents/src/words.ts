/** Words, as they are priced: of the translatable text only, not of markup, variables, times or kept elements. */

import { countWordLike } from './count.ts';
import type { Document, Piece, Segment } from './document.ts';
import { isText, type Run, runsOf } from './runs.ts';
import { segmenter } from './sentences.ts';

const letter = /\p{L}/u;

/**
 * The number of word-like segments of `Intl.Segmenter` in the translatable text. A unit without a letter is not sent
 * to an engine and counts for nothing. For scripts without spaces it is what the segmenter says.
 */
export function countWords(document: Document, language: string): number {
  const words = segmenter(language, 'word');
  let count = 0;
  for (const unit of document.units) {
    if (!unit.translatable) continue;
    const text = readAloud(runsOf(document, unit).runs);
    if (letter.test(text)) count += countWordLike(text, words);
  }
  return count;
}

/** Halves of pairs may stand inside a word; any other code ends the word before it. */
function readAloud(runs: readonly Run[]): string {
  return runs
    .map((run) => {
      if (isText(run)) return run.text;
      return run.code.kind === 'open' || run.code.kind === 'close' ? '' : ' ';
    })
    .join('');
}

/**
 * Those of the words counted by `countWords` that stand in repeats: segments that read as an earlier one of the same
 * document, with the same kinds of codes in the same places.
 */
export function countRepeatedWords(document: Document, language: string, found: readonly Segment[]): number {
  const words = segmenter(language, 'word');
  const seen = new Set<string>();
  let count = 0;
  for (const { pieces } of found) {
    const reading = JSON.stringify(pieces.map(readPiece));
    if (seen.has(reading)) count += countWordLike(pieces.map(pieceAloud).join(''), words);
    else seen.add(reading);
  }
  // A sentence over several cues is one segment of several units, so its seams may be counted differently.
  return Math.min(count, countWords(document, language));
}

/** The words of one segment, counted as {@link countWords} counts them. */
export function countSegmentWords(pieces: readonly Piece[], language: string): number {
  return countWordLike(pieces.map(pieceAloud).join(''), segmenter(language, 'word'));
}

/** Numbers of codes differ from unit to unit and say nothing. */
function readPiece(piece: Piece): string | string[] {
  if ('keep' in piece) return ['keep', piece.text];
  return 'text' in piece ? piece.text : Object.keys(piece);
}

function pieceAloud(piece: Piece): string {
  if ('text' in piece && !('keep' in piece)) return piece.text;
  return 'open' in piece || 'close' in piece ? '' : ' ';
}
