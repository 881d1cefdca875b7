/**
 * Limits for documents, so that no text keeps a worker busy for long. Measured: an XML parser with namespaces needed
 * 16 s for 40,000 levels of nesting, and another 37 s for 200,000 attributes.
 */
export const Limits = {
  /** The maximum size of a text in UTF-8 bytes. */
  bytes: 10 * 1024 * 1024,
  /**
   * The maximum nesting depth of XML elements. The value is libxml2's default; the deepest real file that we
   * saw has 65 nested groups.
   */
  xmlDepth: 256,
  /** The maximum nesting depth of HTML elements. */
  htmlDepth: 512,
  /** The maximum number of attributes of a tag. */
  attributes: 256,
  /** The maximum length of a tag in XLIFF, in UTF-16 code units. */
  xmlTag: 64 * 1024,
  /**
   * The maximum length of a tag in HTML, in UTF-16 code units. It is high because images may be `data:` URLs.
   */
  htmlTag: 1024 * 1024,
  /**
   * The maximum number of units of a document. A text of 10 MiB reaches it if its lines have 42 characters.
   */
  units: 250_000,
  /** The maximum number of inline codes of a unit. */
  codes: 500,
  /** The maximum length of a unit in characters, including markup. Units of plain text have no maximum. */
  unit: 100_000,
  /** The maximum length of a segment in characters. Longer sentences are divided at the best position. */
  segment: 2_000,
  /**
   * The maximum length of a word in characters. Longer words are not translated, because engines take
   * quadratic time for them.
   */
  word: 256,
  /** The maximum number of cues that a sentence may span. */
  cues: 4,
} as const;
