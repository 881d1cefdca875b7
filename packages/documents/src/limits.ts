/**
 * What a text may hold before it is refused, so that no text can keep a worker busy for long. The corners behind
 * them were measured: an XML parser with namespaces needed 16 s for 40,000 levels of nesting, another 37 s for
 * 200,000 attributes.
 */
export const Limits = {
  /** UTF-8 bytes of a whole text. */
  bytes: 10 * 1024 * 1024,
  /** Open XML elements; libxml2's own default. The deepest real file seen has 65 groups. */
  xmlDepth: 256,
  /** Open HTML elements. */
  htmlDepth: 512,
  /** Attributes of one tag. */
  attributes: 256,
  /** UTF-16 units of one tag in XLIFF. */
  xmlTag: 64 * 1024,
  /** UTF-16 units of one tag in HTML, where pages carry pictures as `data:` addresses. */
  htmlTag: 1024 * 1024,
  /** Units of a document: 10 MiB of lines of 42 characters. */
  units: 250_000,
  /** Inline codes of one unit. */
  codes: 500,
  /** Characters of one unit, markup included. Not for `text`, which has no markup to go wrong. */
  unit: 100_000,
  /** Characters of a segment that goes to an engine. Longer sentences are cut at the next best mark. */
  segment: 2_000,
  /** A longer word without white space is kept as it is: engines are quadratic in the length of a word. */
  word: 256,
  /** Cues that one sentence may run over. */
  cues: 4,
} as const;
