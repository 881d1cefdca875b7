/**
 * Repairs the capitals of a reply. Apertium gives the capital of the first word to the first word that it knows, as in
 * "Shopify Es una casa", and loses capitals of brands and of texts in capitals.
 */

import type { Item } from './decode.ts';
import type { Edit } from './outline.ts';
import { applyEdits, KEEP, outlineOf } from './outline.ts';

/** Repairs the capitals of a reply in the language `to`. `source` is the outline of the source. */
export function repairCapitals(items: readonly Item[], source: string, to: string | undefined): Item[] {
  if (isUpperCase(source)) {
    return items.map((item) => ('text' in item ? { ...item, text: item.text.toUpperCase() } : item));
  }
  const named = applyEdits(items, names(outlineOf(items), source));
  const lowered = applyEdits(named, gained(outlineOf(named), source, to));
  const raised = applyEdits(lowered, firstCapital(outlineOf(lowered), source));
  return applyEdits(raised, amongCapitals(outlineOf(raised), source));
}

/** Returns whether a text has capitals only. A single letter does not count. */
export const isUpperCase = (text: string): boolean => /\p{Lu}.*\p{Lu}/su.test(text) && !/\p{Ll}/u.test(text);

export function isCapital(letter: string): boolean {
  return letter === letter.toUpperCase() && letter !== letter.toLowerCase();
}

/**
 * Returns edits that restore the case of names such as `iPhone` and `USB`, and that keep one of two variants such as
 * `YouTube/Youtube`. A word in small letters may be another word than an abbreviation in capitals.
 */
function names(text: string, source: string): Edit[] {
  const made = new Set(text.match(WORD));
  const cased = new Map<string, string>();
  for (const [name] of source.matchAll(WORD)) if (CASED.test(name)) cased.set(name.toLowerCase(), name);
  const edits: Edit[] = [];
  let end = 0;
  for (const { 0: word, 1: variant, index } of text.matchAll(NAME)) {
    const name = cased.get(word.toLowerCase());
    if (name === undefined || index < end) continue;
    end = index + word.length;
    if (variant?.toLowerCase() === word.toLowerCase() && !source.includes('/')) end += variant.length + 1;
    else if (made.has(name) || (/^\P{Lu}+$/u.test(word) && !/\p{Ll}/u.test(name))) continue;
    edits.push({ from: index, to: end, text: name });
  }
  return edits;
}

/** Matches words with capitals after the first letter. */
const CASED = /^\P{L}*\p{L}.*\p{Lu}/u;
const NAME = /[\p{L}\p{M}\p{N}]+(?=\/([\p{L}\p{M}\p{N}]+)|)/gu;

/**
 * Returns the edit that writes the first letter as a capital if the source begins with one. It also corrects `EL`, the
 * translation of a first word with one letter.
 */
function firstCapital(text: string, source: string): Edit[] {
  const given = FIRST.exec(source)?.[0] ?? '';
  const made = FIRST.exec(text);
  if (made === null || !isCapital([...given][0] ?? '') || made[0] === KEEP) return [];
  const [letter = '', ...rest] = made[0];
  const isUpper = rest.length > 0 && given.length === 1 && made[0] === made[0].toUpperCase();
  const word = letter.toUpperCase() + (isUpper ? rest.join('').toLowerCase() : rest.join(''));
  if (word === made[0] || word.length !== made[0].length) return [];
  return [{ from: made.index, to: made.index + word.length, text: word }];
}

/**
 * Returns edits that write a short word in capitals between words in capitals, as in "PARA Un PROPÓSITO", unless the
 * source has the word like that.
 */
function amongCapitals(text: string, source: string): Edit[] {
  const given = new Set(source.match(WORD));
  return [...text.matchAll(/(?<=\p{Lu}{2} )\p{Lu}\p{Ll}{1,2}(?= \p{Lu}{2})/gu)]
    .filter(([word]) => !given.has(word))
    .map(({ 0: word, index }) => ({ from: index, to: index + word.length, text: word.toUpperCase() }));
}

/** Matches the first letter with the letters after it, or a protected word before it. */
const FIRST = new RegExp(`\\p{L}[\\p{L}\\p{M}]*|${KEEP}`, 'u');

interface Word {
  text: string;
  at: number;
  /** Position in the text, from 0 to 1. */
  place: number;
  /** Number of words before it in its sentence that are not copied from the other text. */
  rank: number;
  /** Whether it follows a copied word with a capital, as in "Shopify Es una casa". */
  isAfterCopied: boolean;
  /** Whether it follows such a word with a capital, as in the name of a country. */
  isInName: boolean;
}

function wordsOf(text: string, other: ReadonlySet<string>): Word[] {
  const matches = [...text.matchAll(WORD)];
  let end = 0;
  let rank = 0;
  let isInName = false;
  let isAfterCopied = false;
  return matches.map(({ 0: word, index }, nth) => {
    if (/[.!?:;…|│#]|\s[-–—]\s|\/\//.test(text.slice(end, index))) {
      rank = 0;
      isInName = false;
      isAfterCopied = false;
    }
    end = index + word.length;
    const isCopied = other.has(word);
    const found = { text: word, at: index, place: nth / matches.length, rank, isAfterCopied, isInName };
    isAfterCopied = isCopied && isCapital([...word][0]!);
    if (!isCopied) rank++;
    isInName = !isCopied && isCapital([...word][0]!) && !SMALL.has(word);
    return found;
  });
}

const WORD = new RegExp(`[\\p{L}\\p{M}\\p{N}]+|${KEEP}`, 'gu');

/** Words that English writes with a capital, unlike other languages: the first person, titles, days, languages. */
const ENGLISH_CAPITALS = new Set(
  `I Mr Mrs Ms Dr God Christmas Internet Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March
April May June July August September October November December English Spanish French Portuguese Catalan Galician
Basque Italian German Dutch Danish Swedish Norwegian Finnish Polish Czech Hungarian Romanian Bulgarian Greek Turkish
Russian Ukrainian Arabic Hebrew Chinese Japanese Korean Indian Latin American Mexican Brazilian European African Asian
British Irish Christian Catholic Jewish Muslim`.split(/\s/),
);

const SMALL = new Set(['No', 'Para', 'Sólo', 'Se', 'De', 'Por', 'Con', 'Que', 'Lo', 'Me', 'Le', 'A']);

/** The number of words by which Apertium may move a word. */
const REACH = 3;

/**
 * Returns edits that write the capitals in lower case that Apertium has added. Each capitalized word of the source
 * accounts for the nearest one of the reply. Of the others, only those are changed that stand where Apertium adds
 * capitals: at most one translated word precedes them in their sentence. Words copied from the source do not count.
 * English-Spanish also adds one to small words, as in "La casa No tiene", for "has no".
 */
function gained(text: string, source: string, to: string | undefined): Edit[] {
  const [given, made] = [new Set(source.match(WORD)), new Set(text.match(WORD))];
  const capitalized = (word: Word): boolean => isCapital([...word.text][0]!);
  const isEnglish = ({ text: word }: Word): boolean => ENGLISH_CAPITALS.has(word);
  const expected = wordsOf(source, made).filter(
    (word) => capitalized(word) && !made.has(word.text) && !isEnglish(word),
  );
  const candidates = wordsOf(text, given).filter(
    (word) => capitalized(word) && !given.has(word.text) && !(to === 'en' && isEnglish(word)),
  );
  const isSmall = ({ text: word, rank }: Word): boolean => to === 'es' && rank > 0 && SMALL.has(word);
  const isAdded = (word: Word): boolean => isSmall(word) || word.isAfterCopied;
  const found =
    candidates.length > expected.length ? candidates.filter((word) => !isAdded(word)) : candidates;
  const accounted = new Set<Word>();
  let next = 0;
  expected.forEach(({ place }, nth) => {
    const distance = (at: number): number => Math.abs(found[at]!.place - place);
    const spare = (): boolean => found.length - next > expected.length - nth;
    while (spare() && distance(next + 1) < distance(next)) next++;
    if (next < found.length && distance(next) <= REACH / made.size) accounted.add(found[next++]!);
  });
  const startsWithCapital = isCapital(FIRST.exec(source)?.[0][0] ?? '');
  const first = FIRST.exec(text)?.index;
  return candidates
    .filter((word) => !accounted.has(word) && !(startsWithCapital && word.at === first))
    .filter((word) => (word.rank <= 1 && !word.isInName) || isAdded(word))
    .filter((word) => !isCapital([...word.text][1] ?? 'a'))
    .map(({ at, text: word }) => ({ from: at, to: at + 1, text: word[0]!.toLowerCase() }))
    .filter(({ text: letter }) => letter.length === 1);
}
