/** Finds words that can complete the word that is being typed. The functions are pure and tested without a page. */

/** The part of a word that was typed, and the part that completes it. */
export interface Completion {
  typed: string;
  rest: string;
}

export interface CompletionSources {
  source: string;
  /** The glossary's translations of the terms in the source. */
  terms: readonly string[];
  /** Translations of this sentence or of similar ones: the draft and the memory matches. */
  translations: readonly string[];
  /** The BCP 47 tag of the target language. */
  language: string;
}

/** The minimum number of typed letters of a word, and of typed digits of a number, before it is completed. */
const LEAST_LETTERS = 3;
const LEAST_DIGITS = 2;
/** The minimum number of characters that a completion adds. Fewer would save no keystroke. */
const LEAST_REST = 2;
/** The maximum number of characters before the caret that are examined. */
const LONGEST_WORD = 60;

const WORD = /[\p{L}\p{M}\p{N}]{1,60}$/u;
/** A name, a product or a code: a word with a capital letter or a digit. */
const NAME = /\p{Lu}|\p{N}/u;
const NUMBER = /^\p{N}+$/u;

/**
 * Returns the words that may complete a word, best first: terms, then the words of translations, then names and
 * numbers of the source. A number with separators is left out, because languages write it differently.
 */
export function completionWords({ source, terms, translations, language }: CompletionSources): string[] {
  const names = wordsOf(source, language).filter((word) => NAME.test(word));
  const all = [...terms, ...translations.flatMap((text) => wordsOf(text, language)), ...names];
  return [...new Set(all.filter((word) => word.length >= LEAST_LETTERS))];
}

function wordsOf(text: string, language: string): string[] {
  const segmenter = new Intl.Segmenter(language, { granularity: 'word' });
  return Array.from(segmenter.segment(text)).flatMap(({ segment, isWordLike }) =>
    isWordLike ? segment : [],
  );
}

/**
 * Returns the completion of the word before the caret, undefined if there is none.
 *
 * @param words the result of `completionWords`
 */
export function completionOf(
  words: readonly string[],
  before: string,
  after: string,
): Completion | undefined {
  if (/^[\p{L}\p{M}\p{N}]/u.test(after)) return undefined;
  const [typed = ''] = WORD.exec(before.slice(-LONGEST_WORD)) ?? [];
  if (typed.length < (NUMBER.test(typed) ? LEAST_DIGITS : LEAST_LETTERS)) return undefined;
  const word = words.find((one) => completes(one, typed));
  return word === undefined ? undefined : { typed, rest: word.slice(typed.length) };
}

/** Returns true if `word` completes `typed`, also with a capital first letter, because `typed` may begin a sentence. */
function completes(word: string, typed: string): boolean {
  if (word.length < typed.length + LEAST_REST) return false;
  if (word.startsWith(typed)) return true;
  const capital = word.charAt(0).toUpperCase() + word.slice(1);
  return capital.startsWith(typed);
}
