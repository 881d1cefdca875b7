/** Words, as they are priced: of the translatable text only, not of markup, variables, times or kept elements. */

import { cutUnit } from './cut.ts';
import type { Document } from './document.ts';
import { plainText } from './repair.ts';
import { segmenter } from './sentences.ts';

/**
 * The number of word-like segments of `Intl.Segmenter` in everything that would be sent to an engine. For scripts
 * without spaces it is what the segmenter says.
 */
export function countWords(document: Document, language: string): number {
  const words = segmenter(language, 'word');
  let count = 0;
  for (const unit of document.units) {
    if (!unit.translatable) continue;
    for (const cut of cutUnit(document, unit, language).cuts) {
      // A kept word ends the word before it, so a space stands in for every code that a reader sees.
      const text = plainText(
        cut.pieces.map((piece) => ('keep' in piece || 'single' in piece ? { text: ' ' } : piece)),
      );
      for (const { isWordLike } of words.segment(text)) if (isWordLike) count += 1;
    }
  }
  return count;
}
