/** A term of a glossary. `@dragoman/engines` declares a type with the same fields. */
export interface Term {
  source: string;
  /** The target is empty if the term must not be translated. */
  target: string;
  caseSensitive: boolean;
  /**
   * If true, `target` must not be used as a translation of `source`, or in any translation if `source` is
   * empty.
   */
  forbidden: boolean;
  doNotTranslate: boolean;
  note?: string;
}
