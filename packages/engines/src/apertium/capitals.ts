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
  const plain = to === 'fr' ? applyEdits(items, ordinals(outlineOf(items), source)) : items;
  const named = applyEdits(plain, names(outlineOf(plain), source));
  const verbs = applyEdits(named, afterPronouns(outlineOf(named), source, to));
  const raised = applyEdits(verbs, firstCapital(outlineOf(verbs), source));
  const whole = applyEdits(raised, amongCapitals(outlineOf(raised), source));
  return applyEdits(whole, gained(outlineOf(whole), source, to));
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

/** Matches letters that Apertium has read as a number and written as a French ordinal. "Cème" is never meant as one. */
const ORDINAL = /(?<![\p{L}\p{N}])(C(?=ème)|[IVX][CILVX]{0,6}(?=e))(?:e|ème)s?(?![\p{L}\p{N}])/gu;
/** Matches a noun at the end of a text that has a cardinal behind it, unlike a century or a republic. */
const NUMBERED =
  /(?<!\p{L})(?:annexe|article|axe|chapitre|fonction|langage|option|partie|région|section|serveur|système|touche|type|vecteur|version|volume)s?\s$/iu;

/** Returns edits that restore the letters that Apertium has read as a number, as in "langage Cème". */
function ordinals(text: string, source: string): Edit[] {
  const given = new Set(source.match(WORD));
  const isCardinal = (letters: string, at: number): boolean =>
    letters === 'C' || NUMBERED.test(text.slice(Math.max(0, at - 20), at));
  return [...text.matchAll(ORDINAL)]
    .filter(({ 1: letters = '', index }) => given.has(letters) && isCardinal(letters, index))
    .map(({ 0: word, 1: letters = '', index }) => ({ from: index, to: index + word.length, text: letters }));
}

/** Matches a pronoun that Spanish and Portuguese leave out, and its verb with the capital of the clause. */
const PRONOUN: Readonly<Record<string, RegExp>> = {
  en: /(?<!\p{L})([Ii]t|[Tt]hey|[Hh]e|[Ss]he) (\p{Lu})(?=\p{Ll}+(?!\p{L}))/gu,
  fr: /(?<!\p{L})([Ii]ls?|[Ee]lles?|[Oo]n) (\p{Lu})(?=\p{Ll}+(?!\p{L}))/gu,
};

/** Returns edits that give the capital of a clause to the pronoun before its verb, as in "it Assumes". */
function afterPronouns(text: string, source: string, to: string | undefined): Edit[] {
  const pattern = PRONOUN[to ?? ''];
  if (pattern === undefined) return [];
  const given = new Set(source.match(WORD));
  return [...text.matchAll(pattern)].flatMap(({ 1: pronoun = '', 2: letter = '', index }) => {
    const at = index + pronoun.length + 1;
    const verb = /\p{L}+/uy;
    verb.lastIndex = at;
    const word = verb.exec(text)?.[0] ?? '';
    if (given.has(word) || (to === 'en' && isEnglishCapital(word))) return [];
    const isFirst = !/[\p{L}\p{N}][,)\]"”»’']?\s*$/u.test(text.slice(Math.max(0, index - 4), index));
    const raised = isFirst ? [{ from: index, to: index + 1, text: pronoun[0]!.toUpperCase() }] : [];
    return [...raised, { from: at, to: at + 1, text: letter.toLowerCase() }];
  });
}

/** Matches words with capitals after the first letter. */
const CASED = /^\P{L}*\p{L}.*\p{Lu}/u;
const NAME = /[\p{L}\p{M}\p{N}]+(?=\/([\p{L}\p{M}\p{N}]+)|)/gu;

/**
 * Returns the edit that writes the first letter as a capital if the source begins with one. It also corrects `EL`, the
 * translation of a first word with one letter.
 */
function firstCapital(text: string, source: string): Edit[] {
  const first = FIRST.exec(source);
  const given = first?.[0] ?? '';
  const made = FIRST.exec(text);
  if (made === null || !isCapital([...given][0] ?? '') || made[0] === KEEP) return [];
  // A number that comes first in the reply alone is its first word: "El 10% de" became "10% of".
  if (/\p{N}/u.test(text.slice(0, made.index)) && !/\p{N}/u.test(source.slice(0, first?.index))) return [];
  const [letter = '', ...rest] = made[0];
  const isUpper = rest.length > 0 && given.length === 1 && made[0] === made[0].toUpperCase();
  const word = letter.toUpperCase() + (isUpper ? rest.join('').toLowerCase() : rest.join(''));
  if (word === made[0] || word.length !== made[0].length) return [];
  return [{ from: made.index, to: made.index + word.length, text: word }];
}

/**
 * Returns edits that write a short word in capitals between words in capitals, as in "PARA Un PROPÓSITO", unless the
 * source has the word like that, and words in brackets and labels whose source has capitals alone, as in "[Nombre]".
 */
function amongCapitals(text: string, source: string): Edit[] {
  const given = new Set(source.match(WORD));
  const marked = inBrackets(text, source);
  const isMarked = ({ index: at }: RegExpExecArray) =>
    marked.some(({ 0: whole, index }) => at >= index && at < index + whole.length);
  const short = [...text.matchAll(/(?<=\p{Lu}{2} )\p{Lu}\p{Ll}{1,2}(?= \p{Lu}{2})/gu)];
  return [...short.filter((one) => !isMarked(one) && !given.has(one[0])), ...marked]
    .sort((a, b) => a.index - b.index)
    .map(({ 0: word, index }) => ({ from: index, to: index + word.length, text: word.toUpperCase() }));
}

/** Matches a text in brackets, and the label at the beginning of a text, as in "NOTE: The house". */
const BRACKETED = /(?<=\[)[^[\]]{1,100}(?=\])|(?<=^\P{L}{0,9})\p{L}{2,30}(?=:\s)/gu;

/** Returns the texts in brackets and the label, if all of them have capitals alone in the source. */
function inBrackets(text: string, source: string): RegExpExecArray[] {
  const given = source.match(BRACKETED) ?? [];
  const made = [...text.matchAll(BRACKETED)];
  return given.length === made.length && given.every(isUpperCase) ? made : [];
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
  /** The word after it, '' at the end of its clause. */
  next: string;
  /** Whether it follows an article with a capital, or the word before it in the name of a country. */
  isInName: boolean;
}

function wordsOf(text: string, other: ReadonlySet<string>, countries: string): Word[] {
  const matches = [...text.matchAll(WORD)];
  let before = '';
  let end = 0;
  let rank = 0;
  let isAfterCopied = false;
  return matches.map(({ 0: word, index }, nth) => {
    const between = text.slice(end, index);
    const isBehindLabel = between.includes(')') && /^\([^()]{1,40}$/.test(text.slice(0, Math.min(end, 42)));
    const isAbbreviation = between.startsWith('.') && TITLE.test(matches[nth - 1]?.[0] ?? '');
    if (isBehindLabel || (!isAbbreviation && /[.!?:;…|│#]|\s[-–—]\s|\/\//.test(between))) {
      rank = 0;
      before = '';
      isAfterCopied = false;
    }
    end = index + word.length;
    const isCopied = other.has(word);
    const isInName = ARTICLE.test(before) || (before !== '' && countries.includes(`${before} ${word}`));
    const next = matches[nth + 1]?.[0] ?? '';
    const found = { text: word, at: index, place: nth / matches.length, rank, isAfterCopied, next, isInName };
    isAfterCopied = isCopied && isCapital([...word][0]!) && !TITLE.test(word);
    if (!isCopied) rank++;
    before = !isCopied && isCapital([...word][0]!) ? word : '';
    return found;
  });
}

const WORD = new RegExp(`[\\p{L}\\p{M}\\p{N}]+|${KEEP}`, 'gu');
/** Titles that are written with a full stop before a name. */
const TITLE = /^(?:Mr|Mrs|Ms|Dr|Dra|Prof|St|Sr|Sra|Srta|M|Mme|Mlle)$/;

/** Words that English writes with a capital, unlike other languages: the first person, titles, days, languages. */
const ENGLISH_CAPITALS = new Set(
  `I Mr Mrs Ms Dr God Christmas Internet Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March
April May June July August September October November December English Spanish French Portuguese Catalan Galician
Basque Italian German Dutch Danish Swedish Norwegian Finnish Polish Czech Hungarian Romanian Bulgarian Greek Turkish
Russian Ukrainian Arabic Hebrew Chinese Japanese Korean Indian Latin American Mexican Brazilian European African Asian
British Irish Christian Catholic Jewish Muslim`.split(/\s/),
);

const ARTICLE = /^(?:The|El|La|Los|Las|L|Le|Les|Els|Os|As|Lo|Il|Gli)$/u;

const countryNames = new Map<string, string>();

/** Returns the names of all countries in a language, one in a line. */
function countriesIn(language: string): string {
  let names = countryNames.get(language);
  if (names === undefined) {
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
    const namer = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' });
    const codes = letters.flatMap((one) => letters.map((other) => one + other));
    names = ['', '003', '005', '013', '018', '021', ...codes, '']
      .map((code) => (code === '' ? '' : (namer.of(code) ?? '')))
      .join('\n');
    countryNames.set(language, names);
  }
  return names;
}

/** Returns whether an English word is an adjective of a country, such as "Moroccan" and "Chilean". */
function isOfCountry(word: string): boolean {
  const ending = /(?:an|ese|ish|i)s?$/.exec(word);
  const countries = countriesIn('en');
  if (ending === null || ending.index < 4 || countries.includes(`\n${word}\n`)) return false;
  return countries.includes(`\n${word.slice(0, Math.max(4, ending.index - 2))}`);
}

/** Returns whether English writes a word with a capital in mid-sentence. */
const isEnglishCapital = (word: string): boolean => ENGLISH_CAPITALS.has(word) || isOfCountry(word);

/** Words to which Apertium gives a capital that is not theirs. */
const SMALL: Readonly<Record<string, ReadonlySet<string>>> = {
  es: new Set('No Para Sólo Se De Por Con Que Lo Me Le A'.split(' ')),
  en: new Set('Of To In And Or It They Is Are By With For From'.split(' ')),
};
/** Matches the second word of a name that begins with an article, such as La Habana. */
const NAMED_WITH_ARTICLE =
  /^(?:Aaiún|Alpes|Ángeles|Caire|Cairo|Calvados|Cap|Coruña|Habana|Havane|Haya|Haye|Meca|Mecque|Mans|Nouvelle|Palmas|Paz|Plata|Réunion|Rioja|Salvador|Vegas)$/u;

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
  const expected = wordsOf(source, made, '').filter(
    (word) => capitalized(word) && !made.has(word.text) && !ENGLISH_CAPITALS.has(word.text),
  );
  const candidates = wordsOf(text, given, to === undefined ? '' : countriesIn(to)).filter(
    (word) => capitalized(word) && !given.has(word.text) && !(to === 'en' && isEnglishCapital(word.text)),
  );
  const isAdded = (word: Word): boolean =>
    (word.rank > 0 && SMALL[to ?? '']?.has(word.text) === true) || word.isAfterCopied;
  const isExtra = (word: Word): boolean => isAdded(word) || isExtraArticle(word, text);
  const found =
    candidates.length > expected.length ? candidates.filter((word) => !isAdded(word)) : candidates;
  const accounted = accountFor(expected, found, text, REACH / made.size);
  const startsWithCapital = isCapital(FIRST.exec(source)?.[0][0] ?? '');
  const first = FIRST.exec(text)?.index;
  const shouted = [...accounted].flatMap(([{ at, text: word }, given]) =>
    SHOUTED.test(given.text) && !ARTICLE.test(word)
      ? [{ from: at, to: at + word.length, text: word.toUpperCase() }]
      : [],
  );
  const lowered = candidates
    .filter((word) => !accounted.has(word) && !(startsWithCapital && word.at === first))
    .filter((word) => (word.rank <= 1 && !word.isInName) || isExtra(word))
    .filter(({ text: word, at }) => !isCapital([...word][1] ?? 'a') && !isHyphenated(text, at))
    .map(({ at, text: word }) => ({ from: at, to: at + 1, text: word[0]!.toLowerCase() }))
    .filter(({ text: letter }) => letter.length === 1);
  return [...shouted, ...lowered].sort((a, b) => a.from - b.from);
}

/** Returns whether a word is the second one of a name such as Terre-Neuve. */
const isHyphenated = (text: string, at: number): boolean =>
  /\p{Lu}\p{Ll}{1,18}-$/u.test(text.slice(Math.max(0, at - 20), at));

/** Matches a word in capitals that some modes get with one (hop.ts). */
const SHOUTED = /^\p{Lu}{6,}$/u;

/** Returns whether a word is an article with a capital behind another word, and belongs to no name. */
const isExtraArticle = ({ text: word, at, rank, next }: Word, text: string): boolean =>
  rank > 0 &&
  ARTICLE.test(word) &&
  /[\p{L}\p{N},] $/u.test(text.slice(Math.max(0, at - 2), at)) &&
  !NAMED_WITH_ARTICLE.test(next);

/**
 * Returns the words of a reply that have the capitals of the source's, with those: the nearest one of each. Of two
 * neighbours, the first word of a sentence has it, and no article within a sentence.
 */
function accountFor(
  expected: readonly Word[],
  found: readonly Word[],
  text: string,
  reach: number,
): ReadonlyMap<Word, Word> {
  const accounted = new Map<Word, Word>();
  let next = 0;
  expected.forEach((given, nth) => {
    const { place } = given;
    const distance = (at: number): number => Math.abs(found[at]!.place - place);
    const spare = (): boolean => found.length - next > expected.length - nth;
    while (spare() && distance(next + 1) < distance(next)) next++;
    const [last, word] = [found[next - 1], found[next]];
    if (word === undefined || distance(next) > reach) return;
    const isSecond = given.rank === 0 && word.rank === 1 && !word.isInName && last?.next === word.text;
    if (isSecond && last.rank === 0 && last.text.length > 1 && !accounted.has(last)) {
      accounted.set(last, given);
      return;
    }
    const isArticle = spare() && !ARTICLE.test(given.text) && isExtraArticle(word, text);
    if (isArticle && found[next + 1]?.text === word.next) next++;
    accounted.set(found[next++]!, given);
  });
  return accounted;
}
