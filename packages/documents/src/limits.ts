/**
 * Limits of texts, so that no text keeps a worker busy for long. By measurement, an XML parser with namespaces needed
 * 16 s for 40,000 levels of nesting, and another 37 s for 200,000 attributes.
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
  /** UTF-16 units of one tag in HTML, where images may be `data:` URLs. */
  htmlTag: 1024 * 1024,
  /** Units of a document: 10 MiB of lines of 42 characters. */
  units: 250_000,
  /** Inline codes of one unit. */
  codes: 500,
  /** Characters of one unit, including markup. Not for `text`, which has no markup. */
  unit: 100_000,
  /** Characters of a segment. Longer sentences are divided at the best position. */
  segment: 2_000,
  /** Characters of a word. Longer words are not translated: engines take quadratic time for them. */
  word: 256,
  /** Cues that one sentence may run over. */
  cues: 4,
} as const;
