/**
 * Automatic quality checks of a segment's translation, the glossary's matcher and the edit distance: pure functions,
 * the same in the browser and on the server.
 */

import { addresses } from './addresses.ts';
import { bidi } from './bidi.ts';
import { codes } from './codes.ts';
import { doubledWords } from './doubled-words.ts';
import { empty } from './empty.ts';
import { endMark } from './end-mark.ts';
import type { Check, CheckInput, Finding } from './finding.ts';
import { lengthRatio, maxLength } from './length.ts';
import { numbers } from './numbers.ts';
import { placeholders } from './placeholders.ts';
import { punctuation } from './punctuation.ts';
import { doubledSpaces } from './spaces.ts';
import { lineLength, readingSpeed } from './subtitles.ts';
import { doNotTranslate, forbiddenTerms, terms } from './terms.ts';
import { untranslated } from './untranslated.ts';

export { distance, similarity, type Unit } from './distance.ts';
export type { Check, CheckId, CheckInput, Finding, Range, Severity } from './finding.ts';
export {
  type Compared,
  type Glossary,
  glossary,
  isCapitals,
  type Occurrence,
  rendered,
} from './glossary.ts';
export type { Term } from './term.ts';

/** In the order in which a reader is told: errors first. */
export const CHECKS: readonly Check[] = [
  empty,
  codes,
  maxLength,
  bidi,
  forbiddenTerms,
  terms,
  doNotTranslate,
  untranslated,
  numbers,
  addresses,
  placeholders,
  lengthRatio,
  endMark,
  punctuation,
  doubledWords,
  doubledSpaces,
  lineLength,
  readingSpeed,
];

/** Of one check at most: a text full of the same fault is told by the first of them. */
const MAX_FINDINGS = 20;

/** What is to be said about a translation. Linear in the length of the texts; never throws. */
export function check(input: CheckInput): Finding[] {
  if (input.kept && JSON.stringify(input.source) === JSON.stringify(input.target)) return [];
  const found: Finding[] = [];
  for (const { id, severity, find } of CHECKS) {
    for (const one of find(input).slice(0, MAX_FINDINGS)) found.push({ check: id, severity, ...one });
    // About nothing there is no more to say.
    if (id === 'empty' && found.length > 0) return found;
  }
  return found;
}

/** What an acknowledgement names: the same finding about the same words, wherever they stand now. */
export function keyOf({ check: id, values }: Pick<Finding, 'check' | 'values'>): string {
  const named = Object.keys(values)
    .sort()
    .map((name) => `${name}=${values[name]}`);
  return [id, ...named].join(' ');
}
