/**
 * Data that the decoder needs about an encoded segment: the code behind each number in the stream, and the source,
 * with which the decoder repairs and checks the reply.
 */

import type { Piece } from '../engine.ts';
import type { Quotes } from './quotes.ts';

/** A pair of codes around words. The stream has a word-bound blank (`[[…]]`) in its place. */
export interface Pair {
  code: number;
  /**
   * Relative positions (0 to 1) of the pair's first and last word in the source. If all words of the pair are missing
   * in the reply, the decoder inserts the pair at these positions.
   */
  from: number;
  to: number;
  /** The marks at the edges of its content. Apertium keeps none of them in a word-bound blank. */
  lead: string;
  trail: string;
}

/** Codes between words, encoded as the superblank `[{n}]`. */
export interface Fixed {
  /** One code, or a whole pair with its content, such as a footnote. */
  pieces: readonly Piece[];
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
  /** The text that each token such as `Xqz7` replaces: a protected word, or text that Apertium must not see. */
  kept: Piece[];
  /**
   * Matches the tokens in a reply, ignoring case. Group 1 is the index into `kept`. Null when `kept` is
   * empty.
   */
  token: RegExp | null;
  quotes: Quotes;
  /** Whether the encoder appended `[].[]`, which the decoder removes from the reply. */
  stopAdded: boolean;
  /** The outline of the source (outline.ts). */
  outline: string;
  /** Length of the visible source in UTF-16 code units. */
  length: number;
}
