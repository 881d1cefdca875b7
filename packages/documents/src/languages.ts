/** Where the declared language changes in a document, as its scanner meets the elements. */

import type { LanguageChange } from './document.ts';

export class Languages {
  readonly changes: LanguageChange[] = [];
  #language: string | undefined;

  /** From `offset` on the language is this one. Offsets come in order. */
  note(from: number, language: string | undefined): void {
    if (language === this.#language) return;
    this.#language = language;
    this.changes.push({ from, language });
  }
}
