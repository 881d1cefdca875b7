/**
 * Words, as they are priced: of the text that is translated, not of markup, variables, times, protected elements, or
 * segments that are kept because they are not in the source language.
 */

import { countWordLike } from './count.ts';
import type { Document, Piece, Segment } from './document.ts';
import { keptStretches, type Stretch } from './kept.ts';
import { cutRun, isText, type Run, runsOf } from './runs.ts';
import { segmenter } from './sentences.ts';

const letter = /\p{L}/u;

/**
 * The number of word-like segments of `Intl.Segmenter` in the translatable text outside kept segments. A unit without
 * a letter there is not sent to an engine and counts for nothing. For scripts without spaces it is what the segmenter
 * says.
 */
export function countWords(document: Document, language: string): number {
  const words = segmenter(language, 'word');
  const kept = keptStretches(document, language);
  let count = 0;
  for (const unit of document.units) {
    if (!unit.translatable) continue;
    const text = readAloud(without(runsOf(document, unit).runs, kept.get(unit.index)));
    if (letter.test(text)) count += countWordLike(text, words);
  }
  return count;
}

/** Runs without those stretches of the document, which are in order. */
function without(runs: readonly Run[], stretches: readonly Stretch[] = []): readonly Run[] {
  if (stretches.length === 0) return runs;
  const left: Run[] = [];
  let next = 0;
  for (const run of runs) {
    while (next < stretches.length && stretches[next]!.end <= run.start) next += 1;
    if (!isText(run)) {
      left.push(run);
      continue;
    }
    let { start } = run;
    for (let at = next; at < stretches.length && stretches[at]!.start < run.end; at += 1) {
      const stretch = stretches[at]!;
      if (stretch.start > start) left.push(cutRun(run, start - run.start, stretch.start - run.start));
      start = Math.max(start, stretch.end);
      if (run.whole) start = run.end;
    }
    if (start < run.end) left.push(cutRun(run, start - run.start, run.text.length));
  }
  return left;
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
  for (const { pieces, kept } of found) {
    if (kept !== undefined) continue;
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
