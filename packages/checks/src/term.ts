/** A term of a glossary. Structurally the same type as in `@dragoman/engines`. */
export interface Term {
  source: string;
  /** Empty for a term that must not be translated. */
  target: string;
  caseSensitive: boolean;
  /** `target` must not be used for `source`, or anywhere if there is no source. */
  forbidden: boolean;
  doNotTranslate: boolean;
  note?: string;
}
