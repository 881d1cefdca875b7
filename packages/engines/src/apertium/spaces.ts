/**
 * Repairs the spaces of a reply. Apertium adds spaces at the edges, between words and before marks (549 of 997
 * English-Spanish replies had such spaces), and moves spaces at quotation marks and brackets.
 */

import type { Item } from './decode.ts';
import type { Edit } from './outline.ts';
import { applyEdits, CODE, KEEP, outlineOf } from './outline.ts';

/**
 * Removes spaces at the edges and double spaces, and then gives each mark the spaces that it has in the source. The
 * source's own white space at edges and in runs is in superblanks, which do not change.
 */
export function repairSpaces(items: readonly Item[], source: string): Item[] {
  const clean = applyEdits(items, surplus(outlineOf(items)));
  return applyEdits(clean, atMarks(outlineOf(clean), source));
}

function surplus(text: string): Edit[] {
  const edits: Edit[] = [];
  const isVisible = (char: string): boolean => char !== ' ' && char !== CODE;
  let first = 0;
  while (first < text.length && !isVisible(text[first]!)) first++;
  let last = text.length;
  while (last > first && !isVisible(text[last - 1]!)) last--;
  for (let at = text.indexOf(' '); at >= 0; at = text.indexOf(' ', at + 1)) {
    const isEdge = at < first || at >= last;
    if (isEdge || /\s/u.test(text[at - 1]!) || /[\t\n]/.test(nextAfterSpaces(text, at)))
      edits.push({ from: at, to: at + 1, text: '' });
  }
  for (const { index } of text.matchAll(JOINED)) edits.push({ from: index, to: index, text: ' ' });
  return edits.sort((a, b) => a.from - b.from);
}

/** Matches where Apertium joins the pronoun of "lo siento", the translation of "I am sorry". */
const JOINED = /(?<=(?<!\p{L})[Ll]o)(?=s(?:ient|ent[ií]|inti)\p{L}{1,6}(?!\p{L}))/gu;

/** Returns the character after a run of spaces. The run is short, because Apertium has written it. */
function nextAfterSpaces(text: string, at: number): string {
  let next = at;
  while (text[next] === ' ') next++;
  return text[next] ?? '';
}

const MARKS = /[.,;:!?…()[\]{}"“”„‘«»‹›¿¡*_`|=<>/\\]/g;
/** Marks that have no space before them, and marks that have none after them, unless the source has one there. */
const STOPS = '.,;:!?…';
const CLOSING = `${STOPS})]}”»›`;
const OPENING = '([{“‘«‹¿¡';
const WORD = new RegExp(`[\\p{L}\\p{M}\\p{N}${KEEP}${CODE}]`, 'u');

/** Whether a mark has a space on each side; undefined at the edges of the text. */
interface Sides {
  before: boolean | undefined;
  after: boolean | undefined;
}

/**
 * Compares each mark with the same mark in the source: the third comma with the third comma. If Apertium has added or
 * dropped some of these marks, only spaces are removed that this mark never has in the source.
 */
function atMarks(text: string, source: string): Edit[] {
  const given = new Map<string, Sides[]>();
  for (const { 0: mark, index } of source.matchAll(MARKS)) {
    const sides = given.get(mark) ?? [];
    given.set(mark, sides);
    // Abbreviations such as `e.g.` have other spaces in other languages.
    const after = mark === '.' ? undefined : isSpace(source, index + 1);
    sides.push({ before: isSpace(source, index - 1), after });
  }
  const found = [...text.matchAll(MARKS)];
  const counts = new Map<string, number>();
  for (const [mark] of found) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  const wanted = new Map<number, Sides>();
  const seen = new Map<string, number>();
  for (const { 0: mark, index } of found) {
    const sides = given.get(mark) ?? [];
    const nth = seen.get(mark) ?? 0;
    seen.set(mark, nth + 1);
    const never = (marks: string, side: keyof Sides): false | undefined =>
      marks.includes(mark) && !sides.some((each) => each[side] === true) ? false : undefined;
    const fallback = (): Sides => ({ before: never(CLOSING, 'before'), after: never(OPENING, 'after') });
    wanted.set(index, counts.get(mark) === sides.length ? sides[nth]! : fallback());
  }
  return editsFor(text, wanted);
}

/** Returns whether white space is at this offset; undefined if the text has no character there. */
function isSpace(text: string, at: number): boolean | undefined {
  return at < 0 || at >= text.length ? undefined : /\s/u.test(text[at]!);
}

function editsFor(text: string, wanted: ReadonlyMap<number, Sides>): Edit[] {
  const edits: Edit[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === ' ') {
      const after = wanted.get(at - 1)?.after;
      const before = wanted.get(at + 1)?.before;
      const isRemoved =
        (before === false && (after !== true || CLOSING.includes(text[at + 1]!))) ||
        (after === false && (before !== true || OPENING.includes(text[at - 1]!)));
      if (isRemoved) edits.push({ from: at, to: at + 1, text: '' });
    } else if (at > 0) {
      // A space before `:` is only right in some languages, so it is not restored.
      const before = STOPS.includes(text[at]!) ? undefined : wanted.get(at)?.before;
      const wishes = [wanted.get(at - 1)?.after, before];
      const isAtWord = WORD.test(text[at - 1]!) || WORD.test(text[at]!);
      if (isAtWord && wishes.includes(true) && !wishes.includes(false))
        edits.push({ from: at, to: at, text: ' ' });
    }
  }
  return edits;
}
