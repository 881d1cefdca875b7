/** The search in the guides. It runs on the server, so it also works in browsers without scripts. */
import type { Guide, Section } from './guides.ts';

/** A part of an excerpt. `found` is true for a word of the query. */
export interface ExcerptPart {
  text: string;
  found: boolean;
}

export interface FoundSection {
  guide: Guide;
  section: Section;
  excerpt: ExcerptPart[];
}

/** The maximum number of characters and of words of a query. Everything after them is ignored. */
export const MAX_QUERY_CHARACTERS = 200;
const MAX_WORDS = 10;
export const MAX_RESULTS = 30;
/** The number of characters of an excerpt before and after its first found word. */
const BEFORE = 60;
const AFTER = 180;

/** Points of a word by the place where it stands. In the text, each occurrence counts, up to five. */
const TITLE_POINTS = 8;
const HEADING_POINTS = 12;
const MAX_TEXT_POINTS = 5;
/** More than all points of the other words of a query. */
const MOST_POINTS = 1_000;

const LONGEST_ENDING = 12;
const WORD = /[\p{L}\p{N}]/u;

/** Splits a query into lower-case words without the punctuation around them. */
export function wordsOf(query: string): string[] {
  const parts = query.slice(0, MAX_QUERY_CHARACTERS).toLowerCase().split(/\s+/);
  const words = parts.map((part) =>
    part.replace(/^[^\p{L}\p{N}]+/u, '').replace(/(?<![^\p{L}\p{N}])[^\p{L}\p{N}]+$/u, ''),
  );
  return [...new Set(words)].filter((word) => word !== '').slice(0, MAX_WORDS);
}

/**
 * Finds the sections that contain words of the query, each at the beginning of a word, in any letter case and form.
 * @returns up to 30 sections, those with most of the words first, of these those with the words in their headings; none
 * for a query without words
 */
export function searchGuides(guides: readonly Guide[], query: string): FoundSection[] {
  const words = wordsOf(query).map(stemOf);
  if (words.length === 0) return [];
  const found: { guide: Guide; section: Section; points: number }[] = [];
  for (const guide of guides) {
    for (const section of guide.sections) {
      const points = pointsOf(words, guide, section);
      if (points > 0) found.push({ guide, section, points });
    }
  }
  // The sort is stable: sections with the same points stay in the order of the navigation.
  found.sort((one, other) => other.points - one.points);
  return found
    .slice(0, MAX_RESULTS)
    .map(({ guide, section }) => ({ guide, section, excerpt: excerptOf(section, words) }));
}

/** Returns the beginning that the forms of an English word share: of "rotate", "rotating" and "rotation". */
const stemOf = (word: string): string =>
  word.length < 5 ? word : word.replace(/(?<=.{3})(?:ations?|ions?|ing|ies|ed|es|e|s|y)$/, '');

/** Returns the points of a section: first for each word that it has, then for their places. */
function pointsOf(words: readonly string[], guide: Guide, { lower }: Section): number {
  let sum = 0;
  for (const word of words) {
    const title = findWord(guide.lowerTitle, word, 1).length * TITLE_POINTS;
    const heading = findWord(lower.title, word, 1).length * HEADING_POINTS;
    const points = title + heading + findWord(lower.text, word, MAX_TEXT_POINTS).length;
    if (points > 0) sum += points + MOST_POINTS;
  }
  return sum;
}

/** Returns the first offsets from `from` on, up to `most`, at which a word of the text begins with `word`. */
function findWord(text: string, word: string, most: number, from = 0): number[] {
  const offsets: number[] = [];
  for (
    let at = text.indexOf(word, from);
    at !== -1 && offsets.length < most;
    at = text.indexOf(word, at + 1)
  ) {
    if (at === 0 || !WORD.test(text[at - 1]!)) offsets.push(at);
  }
  return offsets;
}

/** Returns the end of the word whose beginning was found, at most a few letters on. */
function wordEnd(text: string, from: number): number {
  let end = from;
  while (end < from + LONGEST_ENDING && WORD.test(text[end] ?? '')) end++;
  return end;
}

/** Returns the text around the first found word, or the beginning of the text if only headings contain the words. */
function excerptOf({ text, lower }: Section, words: readonly string[]): ExcerptPart[] {
  const placesIn = (shown: string, most: number, from = 0) =>
    words
      .flatMap((word) =>
        findWord(shown, word, most, from).map((at) => ({ at, end: wordEnd(shown, at + word.length) })),
      )
      .sort((one, other) => one.at - other.at || other.end - one.end);
  const first = placesIn(lower.text, 1)[0] ?? { at: 0, end: 0 };
  const from = startOf(text, first.at);
  const until = endOf(text, first);
  const parts: ExcerptPart[] = [];
  let at = from;
  for (const place of placesIn(lower.text.slice(0, until), until, from)) {
    if (place.at < at) continue;
    parts.push({ text: text.slice(at, place.at), found: false });
    parts.push({ text: text.slice(place.at, place.end), found: true });
    at = place.end;
  }
  parts.push({ text: text.slice(at, until), found: false });
  if (from > 0) parts.unshift({ text: '… ', found: false });
  if (until < text.length) parts.push({ text: ' …', found: false });
  return parts;
}

/** Returns the start of an excerpt: the beginning of a word if one begins there, at most 60 characters before. */
function startOf(text: string, first: number): number {
  if (first <= BEFORE) return 0;
  const space = text.indexOf(' ', first - BEFORE);
  return space !== -1 && space < first ? space + 1 : first - BEFORE;
}

/** Returns the end of an excerpt: the end of a word if one ends there, at most 180 characters after the first place. */
function endOf(text: string, first: { at: number; end: number }): number {
  const limit = first.at + Math.max(AFTER, first.end - first.at);
  if (limit >= text.length) return text.length;
  const space = text.lastIndexOf(' ', limit);
  return space >= first.end ? space : limit;
}
