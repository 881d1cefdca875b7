/**
 * Repairs the capitals of a reply. Apertium gives the capital of the first word to the first word that it knows, as in
 * "Shopify Es una casa", and loses capitals of brands and of texts in capitals.
 */

import type { Item } from './decode.ts';
import type { Edit } from './outline.ts';
import { applyEdits, KEEP, outlineOf } from './outline.ts';

/** Repairs the capitals of a reply in the language `to`. `source` is the outline of the source. */
export function repairCapitals(items: readonly Item[], source: string, to: string | undefined): Item[] {
  if (/\p{Lu}.*\p{Lu}/su.test(source) && !/\p{Ll}/u.test(source)) {
    return items.map((item) => ('text' in item ? { ...item, text: item.text.toUpperCase() } : item));
  }
  const named = applyEdits(items, names(outlineOf(items), source));
  const lowered = applyEdits(named, gained(outlineOf(named), source, to));
  return applyEdits(lowered, firstCapital(outlineOf(lowered), source));
}

export function isCapital(letter: string): boolean {
  return letter === letter.toUpperCase() && letter !== letter.toLowerCase();
}

const isMixed = (word: string): boolean => /\p{Lu}.*\p{Lu}|\p{Ll}\p{Lu}/u.test(word);

/**
 * Returns edits that restore the case of names such as `iPhone` and `JavaScript`, and that keep one of two variants such
 * as `YouTube/Youtube`.
 */
function names(text: string, source: string): Edit[] {
  const given = new Set(source.match(/[\p{L}\p{M}\p{N}]+/gu));
  const cased = new Map<string, string>();
  for (const word of given) if (isMixed(word)) cased.set(word.toLowerCase(), word);
  const edits: Edit[] = [];
  let end = 0;
  for (const { 0: word, 1: variant, index } of text.matchAll(NAME)) {
    const name = cased.get(word.toLowerCase());
    if (name === undefined || index < end) continue;
    end = index + word.length;
    if (variant?.toLowerCase() === word.toLowerCase() && !source.includes('/')) end += variant.length + 1;
    else if (given.has(word)) continue;
    edits.push({ from: index, to: end, text: given.has(word) ? word : name });
  }
  return edits;
}

const NAME = /[\p{L}\p{M}\p{N}]+(?=\/([\p{L}\p{M}\p{N}]+)|)/gu;

/** Returns the edit that writes the first letter as a capital if the source begins with one. */
function firstCapital(text: string, source: string): Edit[] {
  const first = FIRST.exec(source)?.[0] ?? '';
  const letter = FIRST.exec(text);
  if (letter === null || !isCapital(first) || isCapital(letter[0]) || letter[0] === KEEP) return [];
  const upper = letter[0].toUpperCase();
  if (upper.length !== letter[0].length) return [];
  return [{ from: letter.index, to: letter.index + upper.length, text: upper }];
}

/** Matches the first letter, or a protected word before it. */
const FIRST = new RegExp(`\\p{L}|${KEEP}`, 'u');

interface Word {
  text: string;
  at: number;
  /** Position in the text, from 0 to 1. */
  place: number;
  /** Number of words before it in its sentence that are not copied from the other text. */
  rank: number;
  /** Whether it follows such a word with a capital, as in the name of a country. */
  isInName: boolean;
}

function wordsOf(text: string, other: ReadonlySet<string>): Word[] {
  const matches = [...text.matchAll(WORD)];
  let end = 0;
  let rank = 0;
  let isInName = false;
  return matches.map(({ 0: word, index }, nth) => {
    if (/[.!?:;…]/.test(text.slice(end, index))) {
      rank = 0;
      isInName = false;
    }
    end = index + word.length;
    const isCopied = other.has(word);
    const found = { text: word, at: index, place: nth / matches.length, rank, isInName };
    if (!isCopied) rank++;
    isInName = !isCopied && isCapital([...word][0]!);
    return found;
  });
}

const WORD = new RegExp(`[\\p{L}\\p{M}\\p{N}]+|${KEEP}`, 'gu');

/** Matches words that only English writes with a capital: the first person, months, days, languages and titles. */
const ENGLISH_CAPITAL =
  /^(?:I|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|May|June|July|August|(?:Sept|Nov|Dec)ember|October|M(?:rs?|s)|Dr|God|Christmas|Internet|\p{L}+(?:ish|ese|ians?|eans?)|French|Germans?|Dutch|Greeks?|Czechs?|Arabs?|Arabic|Catalans?)$/u;

/** The number of words by which Apertium may move a word. */
const REACH = 3;

/**
 * Returns edits that write the capitals in lower case that Apertium has added. Each capitalized word of the source
 * accounts for the nearest one of the reply. Of the others, only those are changed that stand where Apertium adds
 * capitals: at most one translated word precedes them in their sentence. Words copied from the source do not count.
 * Besides, English-Spanish writes `No` for "has no".
 */
function gained(text: string, source: string, to: string | undefined): Edit[] {
  const [given, made] = [new Set(source.match(WORD)), new Set(text.match(WORD))];
  const capitalized = (word: Word): boolean => isCapital([...word.text][0]!);
  const isEnglish = ({ text: word }: Word): boolean => ENGLISH_CAPITAL.test(word);
  const expected = wordsOf(source, made).filter(
    (word) => capitalized(word) && !made.has(word.text) && !isEnglish(word),
  );
  const found = wordsOf(text, given).filter(
    (word) => capitalized(word) && !given.has(word.text) && !(to === 'en' && isEnglish(word)),
  );
  const accounted = new Set<Word>();
  let next = 0;
  expected.forEach(({ place }, nth) => {
    const distance = (at: number): number => Math.abs(found[at]!.place - place);
    const spare = (): boolean => found.length - next > expected.length - nth;
    while (spare() && distance(next + 1) < distance(next)) next++;
    if (next < found.length && distance(next) <= REACH / made.size) accounted.add(found[next++]!);
  });
  const startsWithCapital = isCapital(FIRST.exec(source)?.[0] ?? '');
  const first = FIRST.exec(text)?.index;
  return found
    .filter((word) => !accounted.has(word) && !(startsWithCapital && word.at === first))
    .filter((word) => (word.rank <= 1 && !word.isInName) || (to === 'es' && word.text === 'No'))
    .filter((word) => !isCapital([...word.text][1] ?? 'a'))
    .map(({ at, text: word }) => ({ from: at, to: at + 1, text: word[0]!.toLowerCase() }))
    .filter(({ text: letter }) => letter.length === 1);
}
