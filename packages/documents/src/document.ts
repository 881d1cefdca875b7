/**
 * The one shape of every format: a text is scanned once, with offsets, into units; units are cut into
 * segments; translations are spliced back at those offsets. What is not spliced is the caller's own
 * characters.
 */

export type Format = 'text' | 'html' | 'srt' | 'xliff';

/**
 * A stretch of a segment: text to translate, or an opaque code. Code numbers are local to a unit.
 *
 * - `open`/`close`: the two halves of a paired code. Must stay nested.
 * - `single`: a standalone code, between words.
 * - `keep`: a protected word (variable, URL, `notranslate` element); `text` is what a reader sees there.
 */
export type Piece =
  | { text: string }
  | { open: number }
  | { close: number }
  | { single: number }
  | { keep: number; text: string };
