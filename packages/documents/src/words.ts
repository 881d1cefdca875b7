/** Words, as they are priced: of the translatable text only, not of markup, variables, times or kept elements. */

import { countWordLike } from './count.ts';
import type { Document } from './document.ts';
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
