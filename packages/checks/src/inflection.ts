/** Recognizes the words of a term in other grammatical forms and inside compound words. */
import { formsOf } from './endings.ts';
import { base } from './language.ts';
import { wordsOf } from './tokens.ts';

/** Languages that write compounds as one word: `Garantiebedingungen` contains the term `Garantie`. */
const COMPOUNDING = new Set(['da', 'de', 'et', 'fi', 'is', 'nb', 'nl', 'nn', 'no', 'sv']);
/**
 * The minimum length of a part of a compound word. Shorter words occur in too many unrelated compounds, such as `Ei`
 * in `Eimer`.
 */
const SHORTEST_PART = 4;
/**
 * The maximum length of a word that is searched for parts. The limit keeps the processing time proportional to the
 * length of the text.
 */
const LONGEST_COMPOUND = 64;

/** Removes the diaeresis, because it often marks a plural: `Haus`, `Häuser`. */
const withoutDiaeresis = (word: string): string =>
  word.normalize('NFD').replaceAll('\u0308', '').normalize('NFC');

/** Returns the possible stems of a word. Two words with a common stem count as forms of one word. */
function stemsOf(word: string, language: string): string[] {
  const lower = word.toLowerCase();
  return formsOf(COMPOUNDING.has(language) ? withoutDiaeresis(lower) : lower, language);
}

/**
 * Returns a function that tells whether a text contains a term in any grammatical form. Each word of the term
 * must occur, in any order. An unrelated word with the same stem is accepted too. So the function can accept
 * a translation, but cannot locate a term.
 * @param language the language of the text and the term, with or without a region
 */
export function createTermRecogniser(text: string, language: string): (term: string) => boolean {
  const code = base(language);
  const stems = new Set<string>();
  const parts = new Set<string>();
  for (const word of wordsOf(text)) {
    for (const stem of stemsOf(word, code)) {
      stems.add(stem);
      if (COMPOUNDING.has(code)) addParts(stem, parts);
    }
  }
  return function recognise(term) {
    const words = wordsOf(term);
    // Words of one character are not matched: they are punctuation, or belong to a script without spaces, where the
    // order matters.
    if (words.length === 0 || words.some((word) => word.length === 1)) return false;
    return words.every((word) => stemsOf(word, code).some((stem) => stems.has(stem) || parts.has(stem)));
  };
}

/**
 * Adds to `parts` every beginning and ending of a compound word that has at least {@link SHORTEST_PART}
 * letters.
 */
function addParts(word: string, parts: Set<string>): void {
  if (word.length > LONGEST_COMPOUND) return;
  for (let length = SHORTEST_PART; length < word.length; length++) {
    parts.add(word.slice(0, length));
    parts.add(word.slice(-length));
  }
}
