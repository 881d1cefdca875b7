/**
 * Counts the words that are charged: the words of translated text. Markup, variables, times, protected elements and
 * segments that are copied instead of translated do not count.
 */

import type { Document, Piece, Segment } from '../model/document.ts';
import { countWordLike } from './count.ts';
import { keptStretches, type Stretch } from './kept.ts';
import { isText, type Run, runsOf, sliceRun } from './runs.ts';
import { segmenter } from './sentences.ts';

const letter = /\p{L}/u;

/**
 * Returns the number of word-like segments that `Intl.Segmenter` finds in the text of all segments that are
 * translated. A unit without letters is not translated and does not count. Scripts without spaces are also counted by
 * the segmenter.
 */
export function countWords(document: Document, language: string): number {
  const words = segmenter(language, 'word');
  const kept = keptStretches(document, language);
  let count = 0;
  for (const unit of document.units) {
    if (!unit.translatable) continue;
    const text = visibleText(without(runsOf(document, unit).runs, kept.get(unit.index)));
    if (letter.test(text)) count += countWordLike(text, words);
  }
  return count;
}

/** Removes ranges of the document from runs (texts and codes). The ranges must be in order. */
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
      if (stretch.start > start) left.push(sliceRun(run, start - run.start, stretch.start - run.start));
      start = Math.max(start, stretch.end);
      if (run.whole) start = run.end;
    }
    if (start < run.end) left.push(sliceRun(run, start - run.start, run.text.length));
  }
  return left;
}

/**
 * Returns the visible text of runs (texts and codes). Halves of pairs may be inside a word; any other code
 * separates words.
 */
function visibleText(runs: readonly Run[]): string {
  return runs
    .map((run) => {
      if (isText(run)) return run.text;
      return run.code.kind === 'open' || run.code.kind === 'close' ? '' : ' ';
    })
    .join('');
}

/**
 * Returns for each segment whether it repeats an earlier one: it has the same text, and the same kinds of codes in the
 * same positions. Segments that are not translated neither repeat nor are repeated.
 */
export function findRepeated(found: readonly Segment[]): boolean[] {
  const seen = new Set<string>();
  return found.map(({ pieces, kept }) => {
    if (kept !== undefined) return false;
    const key = JSON.stringify(pieces.map(repeatKey));
    const isRepeat = seen.has(key);
    seen.add(key);
    return isRepeat;
  });
}

/** Counts the words in repeated segments. */
export function countRepeatedWords(document: Document, language: string, found: readonly Segment[]): number {
  const repeated = findRepeated(found);
  let count = 0;
  let others = 0;
  for (const [index, { pieces, kept }] of found.entries()) {
    if (repeated[index]) count += countSegmentWords(pieces, language);
    else if (kept === undefined) others += countSegmentWords(pieces, language);
  }
  // The words of all segments may be more than those of the text: a sentence over several cues is one segment here, but
  // several units for `countWords`, and words that a segment border divides count once for `countWords`.
  return Math.min(count, Math.max(0, countWords(document, language) - others));
}

/** Counts the words of one segment in the same way as {@link countWords}. */
export function countSegmentWords(pieces: readonly Piece[], language: string): number {
  return countWordLike(pieces.map(visiblePiece).join(''), segmenter(language, 'word'));
}

/**
 * Returns the part of a piece that is compared to find repeated segments. Code numbers are left out, because they
 * differ among units.
 */
function repeatKey(piece: Piece): string | string[] {
  if ('keep' in piece) return ['keep', piece.text];
  return 'text' in piece ? piece.text : Object.keys(piece);
}

function visiblePiece(piece: Piece): string {
  if ('text' in piece && !('keep' in piece)) return piece.text;
  return 'open' in piece || 'close' in piece ? '' : ' ';
}
