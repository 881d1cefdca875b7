/**
 * The input and the findings of checks. A finding has an id and values; the user interface turns them into a
 * sentence in its own language.
 */
import type { Format, Piece } from '@dragoman/documents/pieces';
import type { Term } from './term.ts';

/**
 * What each check reports:
 * - `codes`: a code is missing, doubled or unknown, or pairs cross.
 * - `empty`: there is no translation.
 * - `untranslated`: the translation equals the source.
 * - `numbers`: a number is missing or not in the source.
 * - `addresses`: a URL or an email address is missing or changed.
 * - `placeholders`: a placeholder for a variable is missing or not in the source.
 * - `terms`, `forbidden-terms`, `do-not-translate`: a term of the glossary is not used as the glossary says.
 * - `doubled-spaces`, `doubled-words`: a space or a word occurs twice in a row.
 * - `end-mark`: the translation ends with another mark than the source.
 * - `punctuation`: marks or spaces do not follow the rules of the target language.
 * - `length-ratio`: the translation is much longer or shorter than the source.
 * - `max-length`: the translation is longer than the document allows.
 * - `line-length`, `reading-speed`: a subtitle is too wide or too fast to read.
 * - `bidi`: a directional control character is not closed.
 */
export type CheckId =
  | 'codes'
  | 'empty'
  | 'untranslated'
  | 'numbers'
  | 'addresses'
  | 'placeholders'
  | 'terms'
  | 'forbidden-terms'
  | 'do-not-translate'
  | 'doubled-spaces'
  | 'doubled-words'
  | 'end-mark'
  | 'punctuation'
  | 'length-ratio'
  | 'max-length'
  | 'line-length'
  | 'reading-speed'
  | 'bidi';

/**
 * A segment with an error cannot be confirmed. A segment with warnings can be confirmed after an
 * acknowledgement.
 */
export type Severity = 'error' | 'warning';

/** A range of a text, counted in UTF-16 code units. */
export interface Range {
  start: number;
  end: number;
}

export interface Finding {
  check: CheckId;
  severity: Severity;
  /**
   * The values that the sentence of the finding shows. `problem`, if present, selects one of several
   * sentences of the check.
   */
  values: Record<string, string | number>;
  /**
   * The range of the finding in the target's visible text, which has translatable text and protected words but no
   * codes.
   */
  range?: Range;
  /** The words of the source that the target lacks, such as a number, as a range of the visible text. */
  source?: Range;
}

export interface CheckInput {
  source: readonly Piece[];
  target: readonly Piece[];
  /** Language tags in lower case, such as `en` or `pt-br`. */
  from: string;
  to: string;
  format: Format;
  terms: readonly Term[];
  /**
   * True if the segment has nothing to translate, such as a number. Its translation may then equal the
   * source.
   */
  kept?: boolean;
  /** The maximum length of the target in characters, if the document sets a maximum. */
  maxLength?: number;
  /** The start and end of a subtitle in milliseconds, and the number of its cues if there are several. */
  time?: { from: number; to: number; cues?: number | undefined };
}

/** An automatic check. `question` is the question that the check answers, as printed in docs/checks.md. */
export interface Check {
  id: CheckId;
  severity: Severity;
  question: string;
  find(input: CheckInput): Omit<Finding, 'check' | 'severity'>[];
}
