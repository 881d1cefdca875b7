/**
 * Data that the decoder needs about an encoded segment: the code behind each number in the stream, and properties of
 * the source that the decoder needs to repair spacing and capitals and to check the reply.
 */

import type { Piece } from '../engine.ts';

/** A pair of codes around words. The stream has a word-bound blank (`[[…]]`) in its place. */
export interface Pair {
  code: number;
  /**
   * Relative positions (0 to 1) of the pair's first and last word in the source. If all words of the pair are missing
   * in the reply, the decoder inserts the pair at these positions.
   */
  from: number;
  to: number;
}

/** A code between words, encoded as the superblank `[{n}]`. */
export interface Fixed {
  piece: Piece;
  /** The indexes (in `pairs`) of the paired codes that surround this code in the source. */
  within: readonly number[];
}

export interface EncodingRecord {
  /**
   * Paired codes in source order, outer codes before inner ones. The index of a code is its number in the
   * stream.
   */
  pairs: Pair[];
  fixed: Fixed[];
  /**
   * The text that each token such as `Xqz7` replaces: a protected word, or a run of more than 256 characters without
   * white space.
   */
  kept: Piece[];
  /**
   * Matches the tokens in a reply, ignoring case. Group 1 is the index into `kept`. Null when `kept` is
   * empty.
   */
  token: RegExp | null;
  /** Whether the encoder appended `[].[]`, which the decoder removes from the reply. */
  stopAdded: boolean;
  /** The marks among `.,;:!?` that have white space before them somewhere in the source. */
  spacedMarks: string;
  /** Whether the first letter of the source is a capital and no protected word precedes it. */
  capitalStart: boolean;
  /** Whether the first letter of the source outside protected words is lower case. */
  lowerCaseStart: boolean;
  /** Number of words in the source that begin with a capital, except `I`. */
  capitals: number;
  /**
   * Opening marks that have a space after them in the source, and closing marks that have a space before
   * them.
   */
  looseMarks: string;
  letters: boolean;
  /** Length of the visible source in UTF-16 code units, and how many `@` and `#` it contains. */
  length: number;
  ats: number;
  hashes: number;
  /** Number of `+` signs between letters in the source. */
  joins: number;
}
