/** What a check is given and what it says. The sentence is made by the reader, in its language, of id and values. */
import type { Format, Piece } from '@dragoman/documents/pieces';
import type { Term } from './term.ts';

/**
 * - `codes`: a code is missing, doubled, not of the source, or pairs cross.
 * - `empty`: no translation at all.
 * - `untranslated`: the same as the source, though there is something to translate.
 * - `numbers`: a number of the source is not in the translation, or the other way round.
 * - `addresses`: a web or mail address is missing or changed.
 * - `placeholders`: what stands for a variable is missing, or was left over.
 * - `terms`, `forbidden-terms`, `do-not-translate`: the glossary.
 * - `doubled-spaces`, `doubled-words`
 * - `end-mark`: ends otherwise than the source.
 * - `punctuation`: marks and spaces as the language of the translation wants them.
 * - `length-ratio`: much longer or shorter than the source.
 * - `max-length`: longer than the document allows.
 * - `line-length`, `reading-speed`: subtitles.
 * - `bidi`: controls of direction that are not closed.
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

/** A stretch of a text in UTF-16 units. */
export interface Range {
  start: number;
  end: number;
}

export interface Finding {
  check: CheckId;
  severity: Severity;
  /** What the reader's sentence names. `problem`, where there is one, tells sentences of the same check apart. */
  values: Record<string, string | number>;
  /** Of the target's visible text: its texts and kept words, codes without width. */
  range?: Range;
}

export interface CheckInput {
  source: readonly Piece[];
  target: readonly Piece[];
  /** Shortnames of the languages: `en`, `pt-br`. */
  from: string;
  to: string;
  format: Format;
  terms: readonly Term[];
  /** The segment is not in the source language, so a translation that is its source is right. */
  kept?: boolean;
  /** Characters, where the document sets a longest target. */
  maxLength?: number;
  /** When a subtitle is shown, in milliseconds, and over how many cues its sentence runs where it is more than one. */
  time?: { from: number; to: number; cues?: number | undefined };
}

/** A check: an id, how bad what it finds is, what it asks in one sentence, and the question itself. */
export interface Check {
  id: CheckId;
  severity: Severity;
  asks: string;
  find(input: CheckInput): Omit<Finding, 'check' | 'severity'>[];
}
