/**
 * Puts the numbers of a segment into the translation of a text that differs only in numbers. A wrong number is worse than
 * no draft, so only cases without doubt are filled: whole numbers of 3 to 15 ASCII digits, between words. Shorter numbers
 * may be hours, days, or written as words in the other language.
 */
import { type Piece, plainText } from '@dragoman/documents';
import type { StoredPair } from './form.ts';

/**
 * Matches a number that may be filled. Before it is the start of the text or a word; after it a word, or the end of the
 * text or of a part of the sentence. So signs, units, separators, times and identifiers such as `A-100` do not match.
 */
const CERTAIN = /(?<=^|\p{L} )[1-9][0-9]{2,14}(?=$|[.!?]$|,? \p{L})/gu;
const GAP = '\uFFFC';

/**
 * Returns an entry with the numbers of `source`.
 * @param languages the source and the target language
 * @returns undefined if the numbers differ and it is not certain where the new ones belong
 */
export function withNumbersOf(
  source: readonly Piece[],
  entry: StoredPair,
  languages: readonly [from: string, to: string],
): StoredPair | undefined {
  if (numeralsOf(source) === numeralsOf(entry.source)) return entry;
  const asked = split(source);
  const stored = split(entry.source);
  const translated = split(entry.target);
  if (asked === undefined || stored === undefined || translated === undefined) return undefined;
  const { numbers } = stored;
  // A number that occurs twice may have changed its place in the translation.
  const isAligned =
    asked.words === stored.words &&
    numbers.join() === translated.numbers.join() &&
    new Set(numbers).size === numbers.length;
  if (!isAligned) return undefined;
  const rules = languages.map(rulesOf);
  if (!numbers.every((one, index) => isAlike(one, asked.numbers[index]!, rules))) return undefined;
  let next = 0;
  const text = translated.words.replaceAll(GAP, () => asked.numbers[next++]!);
  return { source: [...source], target: [{ text }] };
}

/** Returns the words of a text that have a digit or no letter, such as `-5`, `10:30`, `%` or `–`. */
function numeralsOf(pieces: readonly Piece[]): string {
  const words = plainText(pieces).normalize('NFC').split(/\s+/);
  return words.filter((word) => /\p{N}/u.test(word) || !/\p{L}/u.test(word)).join(' ');
}

/** Separates the numbers of a text from its words. Undefined if it has codes, or a number that `CERTAIN` excludes. */
function split(pieces: readonly Piece[]): { words: string; numbers: string[] } | undefined {
  const [piece] = pieces;
  if (pieces.length !== 1 || !('text' in piece!) || 'keep' in piece || piece.text.includes(GAP)) {
    return undefined;
  }
  const text = piece.text.normalize('NFC');
  const words = text.replaceAll(CERTAIN, GAP);
  return /\p{N}/u.test(words) ? undefined : { words, numbers: text.match(CERTAIN) ?? [] };
}

/** Returns the plural rules of a language; undefined if they are not known, or the language tag is invalid. */
function rulesOf(language: string): Intl.PluralRules | undefined {
  try {
    // For an unknown language, `Intl` has the rules of another one.
    const [known] = Intl.PluralRules.supportedLocalesOf(language);
    return known === undefined ? undefined : new Intl.PluralRules(known);
  } catch {
    return undefined;
  }
}

/** Returns true if both numbers are written with as many digits, and their nouns have the same form. */
function isAlike(one: string, other: string, rules: readonly (Intl.PluralRules | undefined)[]): boolean {
  return (
    one.length === other.length &&
    rules.every((each) => each !== undefined && each.select(Number(one)) === each.select(Number(other)))
  );
}
