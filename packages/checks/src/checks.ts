/**
 * The automatic checks of a segment's translation, the glossary matcher and the edit distance. All are pure
 * functions that run both in the browser and on the server.
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
  type Glossary,
  glossary,
  isCapitals,
  type Occurrence,
  rendered,
  type TermComparison,
} from './glossary.ts';
export { type SubtitleFigures, subtitleFigures } from './subtitles.ts';
export type { Term } from './term.ts';

/**
 * All checks: those that report errors first, then those that report warnings. Findings are returned in this order.
 */
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

/** The maximum number of findings that one check reports for a segment. */
const MAX_FINDINGS = 20;

/**
 * Returns the findings for a translation. Takes linear time in the length of source and translation, and never
 * throws.
 */
export function check(input: CheckInput): Finding[] {
  if (input.kept && JSON.stringify(input.source) === JSON.stringify(input.target)) return [];
  const found: Finding[] = [];
  for (const { id, severity, find } of CHECKS) {
    for (const one of find(input).slice(0, MAX_FINDINGS)) found.push({ check: id, severity, ...one });
    // For an empty translation, the other checks are skipped.
    if (id === 'empty' && found.length > 0) return found;
  }
  return found;
}

/**
 * Returns the key under which an acknowledged finding is stored. It leaves out the position, so the
 * acknowledgement stays valid when the words move.
 */
export function keyOf({ check: id, values }: Pick<Finding, 'check' | 'values'>): string {
  const named = Object.keys(values)
    .sort()
    .map((name) => `${name}=${values[name]}`);
  return [id, ...named].join(' ');
}
