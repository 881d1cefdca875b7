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
const MAX_RESULTS = 30;
/** The number of characters of an excerpt before and after its first found word. */
const BEFORE = 60;
const AFTER = 180;

/**
 * The points that a section gets for a word in the guide's title, in its own heading, and in its text (one for each
 * occurrence, up to this maximum).
 */
const TITLE_POINTS = 8;
const HEADING_POINTS = 12;
const MAX_TEXT_POINTS = 5;

const WORD = /[\p{L}\p{N}]/u;

/** Splits a query into lower-case words. */
export function wordsOf(query: string): string[] {
  const words = query.slice(0, MAX_QUERY_CHARACTERS).toLowerCase().split(/\s+/);
  return [...new Set(words)].filter((word) => word !== '').slice(0, MAX_WORDS);
}

/**
 * Finds the sections that contain all words of the query, each at the beginning of a word, in any letter case.
 * @returns up to 30 sections, those with the words in their headings first; none for a query without words
 */
export function searchGuides(guides: readonly Guide[], query: string): FoundSection[] {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  const found: (FoundSection & { points: number })[] = [];
  for (const guide of guides) {
    for (const section of guide.sections) {
      const points = words.map((word) => pointsOf(word, guide, section));
      if (points.includes(0)) continue;
      const sum = points.reduce((total, one) => total + one, 0);
      found.push({ guide, section, excerpt: excerptOf(section.text, words), points: sum });
    }
  }
  // The sort is stable: sections with the same score stay in the order of the navigation.
  return found.sort((one, other) => other.points - one.points).slice(0, MAX_RESULTS);
}

function pointsOf(word: string, guide: Guide, section: Section): number {
  const places = (text: string) => findWord(text.toLowerCase(), word).length;
  const title = places(guide.title) > 0 ? TITLE_POINTS : 0;
  const heading = places(section.title) > 0 ? HEADING_POINTS : 0;
  return title + heading + Math.min(places(section.text), MAX_TEXT_POINTS);
}

/** Returns the offsets at which a word of the text begins with `word`. */
function findWord(text: string, word: string): number[] {
  const offsets: number[] = [];
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
    if (at === 0 || !WORD.test(text[at - 1]!)) offsets.push(at);
  }
  return offsets;
}

/** Returns the text around the first found word, or the beginning of the text if only headings contain the words. */
function excerptOf(text: string, words: readonly string[]): ExcerptPart[] {
  const lower = text.toLowerCase();
  const places = words
    .flatMap((word) => findWord(lower, word).map((from) => ({ from, to: from + word.length })))
    .sort((one, other) => one.from - other.from);
  const first = places[0]?.from ?? 0;
  const from = first <= BEFORE ? 0 : text.indexOf(' ', first - BEFORE) + 1;
  const until = first + AFTER >= text.length ? text.length : text.lastIndexOf(' ', first + AFTER);
  const parts: ExcerptPart[] = [];
  let at = from;
  for (const place of places) {
    if (place.from < at || place.to > until) continue;
    parts.push({ text: text.slice(at, place.from), found: false });
    parts.push({ text: text.slice(place.from, place.to), found: true });
    at = place.to;
  }
  parts.push({ text: text.slice(at, until), found: false });
  if (from > 0) parts.unshift({ text: '… ', found: false });
  if (until < text.length) parts.push({ text: ' …', found: false });
  return parts;
}
