/**
 * What the encoder writes down about a segment so that the decoder can read the reply: which stream number stands for
 * which code, and the traits of the source that spacing, capitals and checks are measured against.
 */

import type { Piece } from '../engine.ts';

/** A code that rides on words, as a word-bound blank. */
export interface Pair {
  code: number;
  /** Where its first and last word stood in the source, 0 to 1. Used when all its words vanish. */
  from: number;
  to: number;
}

/** A code that stands still between words, as the superblank `[{n}]`. */
export interface Fixed {
  piece: Piece;
  /** Indexes of the pairs around it in the source. */
  within: readonly number[];
}

export interface Book {
  /** In source order, outer before inner: the index is the number in the stream. */
  pairs: Pair[];
  fixed: Fixed[];
  /** What an unknown-word token stands for: a `keep` code, or a text too long for a token. */
  kept: Piece[];
  /** Finds tokens in a reply, case-blind; group 1 is the index into `kept`. Null when there are none. */
  token: RegExp | null;
  /** We ended the segment with `[].[]`, to be taken off again. */
  marked: boolean;
  /** Marks of `.,;:!?` that had white space before them in the source. */
  spacedMarks: string;
  /** The source's first letter is a capital (and no kept word stands before it). */
  capital: boolean;
  /** The first letter of its own text is a small one. */
  small: boolean;
  /** Words with a capital, apart from `I`. */
  capitals: number;
  /** Where in the source an opening mark has a space after it, or a closing one before it: those marks. */
  looseMarks: string;
  /** The source has letters to translate. */
  letters: boolean;
  /** Visible length of the source, in UTF-16 units, and how many `@` and `#` it has. */
  length: number;
  ats: number;
  hashes: number;
  /** How often `+` stands between letters. */
  joins: number;
}
