/**
 * Distinguishes seven languages, even in a single word, by naive Bayes over whole words and n-grams of up to three
 * letters. `scripts/language-data.ts` makes the data; the measurements are in docs/decisions/0017-source-language.md.
 */
import { readFileSync } from 'node:fs';

const LONGEST = 3;

/**
 * Yields the n-grams of each word, in which spaces mark its start and end, and each longer word as a whole.
 */
export function* ngramsOf(text: string): Generator<string> {
  for (const found of text.toLowerCase().matchAll(/\p{L}+['’]?/gu)) {
    const word = ` ${found[0].replace('’', "'")} `;
    for (let length = 1; length <= LONGEST; length += 1) {
      for (let at = 0; at + length <= word.length; at += 1) yield word.slice(at, at + length);
    }
    if (word.length > LONGEST) yield word;
  }
}

interface Statistics {
  languages: string[];
  /**
   * The weights of each n-gram as a string: a character for each language, and one for all other languages in Latin
   * letters.
   */
  weights: Map<string, string>;
}

let read: Statistics | undefined;

function statistics(): Statistics {
  if (!read) {
    const data = readFileSync(new URL('language-data.txt', import.meta.url), 'utf8').trimEnd();
    const [first, ...lines] = data.split('\n');
    const languages = first!.split(' ');
    const cut = languages.length + 1;
    read = { languages, weights: new Map(lines.map((line) => [line.slice(0, -cut), line.slice(-cut)])) };
  }
  return read;
}

/** The character code that stands for the weight 0. */
const NOTHING = 80;
/** A weight is a natural logarithm in steps of one fifth. Each step is the difference between two character codes. */
const STEPS = 5;

/** Returns the languages. Their order decides which language is chosen when two are equally likely. */
export const ngramLanguages = (): readonly string[] => statistics().languages;

/** Returns the log-likelihood of a text for each language. `other` stands for any other language in Latin letters. */
export function likelihoods(text: string): Map<string, number> {
  const { languages, weights } = statistics();
  const sums = new Float64Array(languages.length + 1);
  for (const ngram of ngramsOf(text)) {
    const found = weights.get(ngram);
    if (found === undefined) continue;
    for (let i = 0; i < sums.length; i += 1) sums[i]! += (found.charCodeAt(i) - NOTHING) / STEPS;
  }
  return new Map([...languages, 'other'].map((language, index) => [language, sums[index]!]));
}
