/**
 * Notes on a draft, for its editor. A note is stored as text: its code in words, and the term after a colon (`term
 * missing: casa`). Clients receive the code and the term, and show a sentence in the user's language.
 */

/**
 * - `code_removed`, `code_restored`, `code_moved`: the codes of the reply were repaired.
 * - `sentences_differ`: the supplied translation has other sentence borders than the source.
 * - `term_missing`: the translation lacks the target term.
 * - `term_forbidden`: the translation contains a forbidden target term.
 * - `term_not_inflected`: the source term is inflected, but the target term was put in as it stands in the
 *   glossary.
 */
export const DRAFT_NOTE_CODES = [
  'code_removed',
  'code_restored',
  'code_moved',
  'sentences_differ',
  'term_missing',
  'term_forbidden',
  'term_not_inflected',
] as const;

export interface DraftNote {
  code: (typeof DRAFT_NOTE_CODES)[number];
  /** The source or target term of the glossary. Only notes whose code begins with `term_` have it. */
  term?: string;
}

type TermNoteCode = Extract<DraftNote['code'], `term_${string}`>;

/** Returns the stored text of a note about a glossary term. `parseDraftNote` reads it. */
export const formatTermNote = (code: TermNoteCode, term: string): string =>
  `${code.replaceAll('_', ' ')}: ${term}`;

/** Reads a note from its stored text. Returns undefined if the text is not a note. */
export function parseDraftNote(text: string): DraftNote | undefined {
  const colon = text.indexOf(': ');
  const words = colon === -1 ? text : text.slice(0, colon);
  const code = DRAFT_NOTE_CODES.find((one) => one.replaceAll('_', ' ') === words);
  if (code === undefined) return undefined;
  return colon === -1 ? { code } : { code, term: text.slice(colon + 2) };
}
