/** A row of a glossary. The same shape as engines take; the two packages know nothing of each other. */
export interface Term {
  source: string;
  /** Empty where the term is only not to be translated. */
  target: string;
  caseSensitive: boolean;
  /** `target` must not be used for `source`; without a source, nowhere. */
  forbidden: boolean;
  doNotTranslate: boolean;
  note?: string;
}
