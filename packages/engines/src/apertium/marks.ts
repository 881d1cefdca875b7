/** Repairs apostrophes and quotation marks of a reply, and writes the opening marks of Spanish questions. */

import type { Item } from './decode.ts';
import type { Edit } from './outline.ts';
import { applyEdits, CODE, outlineOf } from './outline.ts';

/**
 * Repairs the marks of a reply of a mode. `source` is the outline of the source. `quotes` are the marks that
 * were sent as codes.
 */
export function repairMarks(
  items: readonly Item[],
  source: string,
  { from, to }: { from?: string | undefined; to?: string | undefined },
  quotes: string,
): Item[] {
  const straight = applyEdits(items, straightQuotes(outlineOf(items), source, to));
  const repaired = applyEdits(straight, apostrophes(outlineOf(straight), source, quotes));
  const outline = outlineOf(repaired);
  if (to === 'es') return applyEdits(repaired, openingMarks(outline));
  return from === 'es' ? applyEdits(repaired, spanishMarks(outline)) : repaired;
}

/** Returns edits that remove the opening marks of Spanish questions, which no other language has. */
function spanishMarks(text: string): Edit[] {
  return [...text.matchAll(/(?<![¿¡])[¿¡]{1,4}(?=[^\s¿¡][^¿¡]*[?!])/gu)].map(({ 0: marks, index }) => ({
    from: index,
    to: index + marks.length,
    text: '',
  }));
}

/** Matches straight single quotation marks round words. */
const QUOTED =
  /(?<![\p{L}\p{M}\p{N}'])'(?=\p{L})([^'\n]{1,200}(?:(?<=\p{L})'(?=\p{L})[^'\n]{1,200}){0,5})(?<!\s)'(?![\p{L}\p{N}])/gu;

/**
 * Replaces straight single quotation marks round words by typographic ones of the same length. Apertium takes a straight
 * one before a word for a contraction: "'magic'" became "soyagic'".
 */
export const turnQuotes = (text: string): string => text.replace(QUOTED, '‘$1’');

const GENITIVE = /\p{L}['’]s(?!\p{L})/u;
/** Matches an apostrophe at the end of a word. */
const AT_END = /(?<=\p{L})['’](?![\p{L}\p{N}])/gu;

/**
 * Restores the straight quotation marks of a source without typographic ones, and removes the apostrophes that Apertium
 * leaves of a genitive, as in "perro' casa".
 */
function straightQuotes(text: string, source: string, to: string | undefined): Edit[] {
  const isTurned = !source.includes('‘');
  // "un po'" is right in Italian, so only a genitive of the source explains such an apostrophe.
  const isLeft =
    GENITIVE.test(source) && to !== 'it' && turnQuotes(source).replace(PAIR, '').search(AT_END) < 0;
  const straight = isTurned
    ? [...text.matchAll(PAIR)].flatMap(({ 0: pair, index }) => [index, index + pair.length - 1])
    : [];
  const left = isLeft ? [...text.replace(PAIR, keepLength).matchAll(AT_END)].map(({ index }) => index) : [];
  return [
    ...straight.map((index) => ({ from: index, to: index + 1, text: "'" })),
    ...left.map((index) => ({ from: index, to: index + 1, text: '' })),
  ].sort((a, b) => a.from - b.from);
}

/** Matches a text in typographic quotation marks. Apertium may have replaced the closing one. */
const PAIR = /‘(?:[^‘’']|['’](?=[\p{L}\p{N}])){0,200}['’]/gu;
const keepLength = (text: string): string => ' '.repeat(text.length);

/** Restores the typographic apostrophes and single quotation marks, which Apertium replaces by straight ones. */
function apostrophes(text: string, source: string, quotes: string): Edit[] {
  const given: string[] = (source + quotes).match(/['’]/g) ?? [];
  if (!given.includes('’')) return [];
  const found = [...text.matchAll(/['’]/g)];
  const isSame = given.length === found.length;
  const isTypographic = !given.includes("'");
  return found.map(({ index }, nth) => {
    const isClosing = text.lastIndexOf('‘', index) > (found[nth - 1]?.index ?? -1);
    const mark = isTypographic || isClosing ? '’' : isSame ? given[nth]! : text[index]!;
    return { from: index, to: index + 1, text: mark };
  });
}

/**
 * Matches the marks at the end of a question or an exclamation, and the quotation marks and brackets after them. The text
 * ends there, or a new sentence begins. Or the sentence goes on after a quotation or bracket, which is `inside`.
 */
const ENDING = new RegExp(
  `(?<=[^\\s!?]\\s?)(\\?+!*|!+\\?*)(["”»’)\\]]{0,3})(?=[\\s${CODE}]*(?:$|(?<=\\s)["“«‘([¿¡—–-]{0,3}[\\p{Lu}\\p{N}])|(?<=["”»)\\]])(?<inside>[\\s,]))`,
  'gu',
);
/** Matches the number of a list item, and marks before a clause that may be a question of its own. */
const BEGINNING = /^\s*(?:\p{N}{1,3}|\p{L})[.)]\s+|[:;]\s+|\n/gu;
/** Matches the end of a sentence, but not of an abbreviation. */
const SENTENCE = /(?<!(?:^|[^\p{L}])(?:\p{L}|Sr|Sra|Srta|Dr|Dra|Ud|Uds))\.["”»)]?\s+["“«(]?\p{Lu}/u;
const BRACKETS: Readonly<Record<string, string>> = {
  '"': '"',
  '”': '“',
  '»': '«',
  '’': '‘',
  ')': '(',
  ']': '[',
};

/**
 * Returns edits that write `¿` and `¡` at the beginning of questions and exclamations. Where the beginning is uncertain,
 * such as between quotation marks of another sentence, nothing is written.
 */
function openingMarks(text: string): Edit[] {
  const edits: Edit[] = [];
  let last = 0;
  for (const { 0: ending, 1: marks = '', 2: closing = '', index, groups } of text.matchAll(ENDING)) {
    let sentence = text.slice(last, index);
    const bracket = BRACKETS[closing[0] ?? ''];
    const cut = bracket === undefined ? -1 : sentence.lastIndexOf(bracket);
    const isInside = groups?.inside !== undefined;
    // An exclamation inside a sentence may be a name, such as "Yahoo!".
    if (isInside && (cut < 0 || !marks.includes('?'))) continue;
    const begin = cut >= 0 ? cut + 1 : endOf([...sentence.matchAll(BEGINNING)].at(-1));
    sentence = sentence.slice(begin);
    const start = sentence.search(START);
    if (start >= 0 && /[\p{L}\p{N}]/u.test(sentence) && !/[¿¡]/.test(sentence) && isOneSentence(sentence)) {
      const at = last + begin + start;
      // "What?!" begins with the same marks in the opposite order.
      const opening = [...new Set(marks)].reverse().map((mark) => (mark === '?' ? '¿' : '¡'));
      edits.push({ from: at, to: at, text: opening.join('') });
    }
    if (!isInside) last = index + ending.length;
  }
  return edits.sort((a, b) => a.from - b.from);
}

/** Matches the first character that is no white space, code, bullet, dash or emoji. */
const START = new RegExp(
  `[^\\s${CODE}>•·*_#→—–\\p{Extended_Pictographic}\\p{RI}\\p{EMod}\\u200d\\ufe0f-]|[–-](?![\\s\\p{Lu}])`,
  'u',
);

const endOf = (match: RegExpMatchArray | undefined): number =>
  match === undefined ? 0 : match.index! + match[0].length;

function isOneSentence(text: string): boolean {
  const count = (mark: string): number => text.split(mark).length - 1;
  const isBalanced = ['()', '[]', '“”', '«»'].every(([open, close]) => count(open!) === count(close!));
  const quotes = count('"') + (text.match(/(?<!\p{L})'|'(?!\p{L})/gu) ?? []).length;
  return isBalanced && quotes % 2 === 0 && !SENTENCE.test(text);
}
