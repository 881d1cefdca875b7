/** Recognises the words of a term in other grammatical forms and inside compound words. */
import { formsOf } from './endings.ts';
import { base } from './language.ts';
import { wordsOf } from './tokens.ts';

/** Languages that write compounds as one word: `Garantiebedingungen` contains the term `Garantie`. */
const COMPOUNDING = new Set(['da', 'de', 'et', 'fi', 'is', 'nb', 'nl', 'nn', 'no', 'sv']);
/** A shorter word is found in too many unrelated compounds, such as `Ei` in `Eimer`. */
const SHORTEST_PART = 4;
/** Longer words are not searched for parts, which keeps the cost in proportion to the text. */
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
 * must occur, in any order. It can accept an unrelated word with the same stem, so it is for excusing a
 * missing term and not for finding one.
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
    // A single character is a word of a script without spaces, or punctuation; its order matters.
    if (words.length === 0 || words.some((word) => word.length === 1)) return false;
    return words.every((word) => stemsOf(word, code).some((stem) => stems.has(stem) || parts.has(stem)));
  };
}

/** Adds the beginnings and endings of a compound word. */
function addParts(word: string, parts: Set<string>): void {
  if (word.length > LONGEST_COMPOUND) return;
  for (let length = SHORTEST_PART; length < word.length; length++) {
    parts.add(word.slice(0, length));
    parts.add(word.slice(-length));
  }
}
