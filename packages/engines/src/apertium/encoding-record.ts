/**
 * What the decoder needs to know of an encoded segment: the code behind each number of the stream, and properties of
 * the source against which spacing, capitals and checks are measured.
 */

import type { Piece } from '../engine.ts';

/** A paired code around words, encoded as a word-bound blank. */
export interface Pair {
  code: number;
  /** Position of its first and last word in the source, 0 to 1. Used when all its words vanish. */
  from: number;
  to: number;
}

/** A code between words, encoded as the superblank `[{n}]`. */
export interface Fixed {
  piece: Piece;
  /** Indexes of the pairs around it in the source. */
  within: readonly number[];
}

export interface EncodingRecord {
  /** In source order, outer before inner: the index is the number in the stream. */
  pairs: Pair[];
  fixed: Fixed[];
  /** What each unknown-word token stands for: a `keep` code, or a run of text too long for a token. */
  kept: Piece[];
  /** Matches tokens in a reply, ignoring case; group 1 is the index into `kept`. Null when there are none. */
  token: RegExp | null;
  /** The encoder appended `[].[]`, to be removed from the reply. */
  stopAdded: boolean;
  /** Those of the marks `.,;:!?` that have white space before them in the source. */
  spacedMarks: string;
  /** The source's first letter is a capital, and no kept word precedes it. */
  capitalStart: boolean;
  /** The first letter outside kept words is lower case. */
  lowerCaseStart: boolean;
  /** Number of words with a capital, except `I`. */
  capitals: number;
  /** Opening marks with a space after them, and closing marks with a space before them, in the source. */
  looseMarks: string;
  /** The source has letters to translate. */
  letters: boolean;
  /** Visible length of the source, in UTF-16 units, and its numbers of `@` and `#`. */
  length: number;
  ats: number;
  hashes: number;
  /** Number of `+` between letters. */
  joins: number;
}
