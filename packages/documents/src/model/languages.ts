/** Records changes of the declared language while a document is scanned. */

import type { LanguageChange } from './document.ts';

export class Languages {
  readonly changes: LanguageChange[] = [];
  #language: string | undefined;

  /** Records the declared language from an offset on. Callers must pass ascending offsets. */
  note(from: number, language: string | undefined): void {
    if (language === this.#language) return;
    this.#language = language;
    this.changes.push({ from, language });
  }
}
