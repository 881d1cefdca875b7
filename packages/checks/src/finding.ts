/** The input and the findings of checks. The user interface writes the sentence from id and values, in its language. */
import type { Format, Piece } from '@dragoman/documents/pieces';
import type { Term } from './term.ts';

/**
 * - `codes`: a code is missing, doubled or unknown, or pairs cross.
 * - `empty`: there is no translation.
 * - `untranslated`: the translation equals the source.
 * - `numbers`: a number is missing or not in the source.
 * - `addresses`: a URL or an email address is missing or changed.
 * - `placeholders`: a placeholder for a variable is missing or not in the source.
 * - `terms`, `forbidden-terms`, `do-not-translate`: the glossary.
 * - `doubled-spaces`, `doubled-words`
 * - `end-mark`: the translation ends with another mark than the source.
 * - `punctuation`: marks or spaces do not follow the rules of the target language.
 * - `length-ratio`: much longer or shorter than the source.
 * - `max-length`: longer than the document allows.
 * - `line-length`, `reading-speed`: subtitles.
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

/** An error keeps a segment from being confirmed; a warning needs one acknowledgement. */
export type Severity = 'error' | 'warning';

/** A range of a text in UTF-16 units. */
export interface Range {
  start: number;
  end: number;
}

export interface Finding {
  check: CheckId;
  severity: Severity;
  /** Values for the sentence. `problem`, if present, selects among several sentences of the check. */
  values: Record<string, string | number>;
  /** Range in the target's visible text: texts and kept words, without codes. */
  range?: Range;
}

export interface CheckInput {
  source: readonly Piece[];
  target: readonly Piece[];
  /** Languages as `en`, `pt-br`. */
  from: string;
  to: string;
  format: Format;
  terms: readonly Term[];
  /** The segment is kept, so that its translation may equal the source. */
  kept?: boolean;
  /** Longest target in characters, if the document sets one. */
  maxLength?: number;
  /** Time of a subtitle in milliseconds, and the number of its cues if there are several. */
  time?: { from: number; to: number; cues?: number | undefined };
}

/** A check: its id, its severity, the question that it answers (for the guide), and its function. */
export interface Check {
  id: CheckId;
  severity: Severity;
  question: string;
  find(input: CheckInput): Omit<Finding, 'check' | 'severity'>[];
}
