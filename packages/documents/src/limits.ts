/**
 * Limits for documents, so that no text keeps a worker busy for long. Measured: an XML parser with namespaces needed
 * 16 s for 40,000 levels of nesting, and another 37 s for 200,000 attributes.
 */
export const Limits = {
  /** Maximum UTF-8 bytes of a text. */
  bytes: 10 * 1024 * 1024,
  /**
   * Maximum depth of open XML elements. The value is libxml2's default; the deepest real file that we saw has 65
   * groups.
   */
  xmlDepth: 256,
  /** Maximum depth of open HTML elements. */
  htmlDepth: 512,
  /** Maximum number of attributes of a tag. */
  attributes: 256,
  /** Maximum UTF-16 units of a tag in XLIFF. */
  xmlTag: 64 * 1024,
  /** Maximum UTF-16 units of a tag in HTML, where images may be `data:` URLs. */
  htmlTag: 1024 * 1024,
  /** Maximum number of units of a document. 10 MiB of lines with 42 characters reach it. */
  units: 250_000,
  /** Maximum number of inline codes of a unit. */
  codes: 500,
  /** Maximum characters of a unit, including markup. Plain text has no markup and no such limit. */
  unit: 100_000,
  /** Maximum characters of a segment. Longer sentences are divided at the best position. */
  segment: 2_000,
  /** Maximum characters of a word. Longer words are not translated, because engines take quadratic time for them. */
  word: 256,
  /** Maximum number of cues that a sentence may span. */
  cues: 4,
} as const;
