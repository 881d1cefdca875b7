/**
 * Converts Apertium's reply to pieces of the target; the reverse of encode.ts, which explains the terms. The
 * decoder unescapes text, unwraps superblanks and tokens, repairs spacing and the first capital, and
 * reassembles paired codes (join.ts).
 */

import type { Piece } from '../engine.ts';
import { capitalsOf, isCapital } from './encode.ts';
import type { EncodingRecord } from './encoding-record.ts';
import { joinCodes } from './join.ts';

/** A part of the reply. `ids` are the numbers of the paired codes around it. */
export type Item = { ids: readonly number[] } & (
  | { text: string; verbatim: boolean }
  | { kept: number }
  | { fixed: number }
  /** A paired code whose words are all missing from the reply; it is inserted empty. */
  | { empty: number }
);

/** Thrown when a reply has stream syntax in a wrong place, so that it is not a translation. */
export class Garbled extends Error {}

/**
 * Reads one reply.
 *
 * @param reply the reply of a pipeline, without id and NUL
 * @throws Garbled when stream syntax is left over
 */
export function decode(reply: string, record: EncodingRecord): Piece[] {
  let items = readItems(reply, record);
  if (record.stopAdded) dropMark(items);
  items = space(items, record);
  if (record.capitalStart) capitalise(items);
  else if (record.lowerCaseStart) lower(items, record);
  return joinCodes(items, record);
}

const MARKS = '.,;:!?';
const LEFT_SPACE = /([([{“«‘¿¡]|(?<![^\s([{])") +(?=\S)|(?<=\S) +([)\]}”»])/gu;
const NO_IDS: readonly number[] = [];

/**
 * Matches the next part of a reply: an escape, the start or the end of a word-bound blank, a superblank, or
 * plain text.
 */
const LEXEMES =
  /\\([\s\S])|\[\[((?:t:b:\d+(?:; )?)+)\]\]|\[\[\/\]\]|\[((?:[^[\]\\]|\\[\s\S])*)\]|([^\\[\]]+)|[\s\S]/gu;

function readItems(reply: string, record: EncodingRecord): Item[] {
  const items: Item[] = [];
  let ids = NO_IDS;
  let text = '';
  const flush = (): void => {
    if (text !== '') splitTokens(text, ids, record, items);
    text = '';
  };
  for (const lexeme of reply.matchAll(LEXEMES)) {
    const [whole, escaped, wrapper, blank, plain] = lexeme;
    if (plain !== undefined) {
      if (/[\^$]/.test(plain)) throw new Garbled('the reply has a lexical unit in it');
      text += plain;
    } else if (escaped !== undefined) text += escaped;
    else if (wrapper !== undefined) {
      flush();
      ids = [...new Set([...wrapper.matchAll(/\d+/g)].map(([id]) => Number(id)))];
      if (ids.some((id) => id >= record.pairs.length))
        throw new Garbled('the reply has a code of another segment');
    } else if (whole === '[[/]]') {
      flush();
      ids = NO_IDS;
    } else if (blank !== undefined) {
      flush();
      readBlank(blank, ids, record, items);
    } else throw new Garbled('the reply has a bracket without its other half');
  }
  flush();
  return items;
}

function readBlank(blank: string, ids: readonly number[], record: EncodingRecord, items: Item[]): void {
  if (blank === '') return;
  const code = /^\{(\d+)\}$/.exec(blank);
  if (code === null) items.push({ text: blank, verbatim: true, ids });
  else if (Number(code[1]) < record.fixed.length) items.push({ fixed: Number(code[1]), ids });
  else throw new Garbled('the reply has a code of another segment');
}

function splitTokens(text: string, ids: readonly number[], record: EncodingRecord, items: Item[]): void {
  let from = 0;
  if (record.token !== null) {
    for (const hit of text.matchAll(record.token)) {
      const kept = Number(hit[1]);
      if (kept >= record.kept.length) continue;
      if (hit.index > from) items.push({ text: text.slice(from, hit.index), verbatim: false, ids });
      items.push({ kept, ids });
      from = hit.index + hit[0].length;
    }
  }
  if (from < text.length) items.push({ text: text.slice(from), verbatim: false, ids });
}

/** Removes the full stop that the encoder appended: the last full stop outside codes and protected words. */
function dropMark(items: Item[]): void {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index]!;
    if (!('text' in item) || item.verbatim) continue;
    const bare = item.text.trimEnd();
    if (bare === '') continue;
    if (bare.endsWith('.')) item.text = bare.slice(0, -1);
    return;
  }
}

/**
 * Removes spaces at the edges, double spaces and spaces before `.,;:!?`. Apertium adds them; the source's
 * own white space at edges and in runs is in superblanks. Of 997 English-Spanish replies, 549 had such
 * spaces.
 */
function space(items: readonly Item[], record: EncodingRecord): Item[] {
  const isLoose = (mark: string): boolean => MARKS.includes(mark) && !record.spacedMarks.includes(mark);
  const out: Item[] = [];
  /** The latest item in `out` that is visible text or a blank. */
  let last: Item | null = null;
  const trimLast = (): void => {
    if (last !== null && 'text' in last && !last.verbatim) last.text = last.text.replace(/(?<! ) +$/, '');
  };
  for (const item of items) {
    if ('text' in item) {
      if (!item.verbatim) {
        item.text = item.text.replace(/ {2,}/g, ' ');
        item.text = item.text.replace(/(?<! ) +([.,;:!?])/g, (all, mark) => (isLoose(mark) ? mark : all));
        // When Apertium drops a pronoun, a space stays behind after an opening mark, as in `Dijo: " soy aquí"`.
        item.text = item.text.replace(LEFT_SPACE, (all, open, close) => {
          const mark: string = open ?? close;
          return record.looseMarks.includes(mark) ? all : mark;
        });
        if (last === null || ('text' in last && /\s$/u.test(last.text)))
          item.text = item.text.replace(/^ +/, '');
        if (item.text === '') continue;
        if (isLoose(item.text[0]!)) trimLast();
      } else if (/^\s/u.test(item.text)) trimLast();
      last = item;
    } else if ('kept' in item || last !== null) last = item;
    out.push(item);
  }
  trimLast();
  return out.filter((item) => !('text' in item) || item.text !== '');
}

function capitalise(items: readonly Item[]): void {
  for (const item of items) {
    if ('kept' in item) return;
    if (!('text' in item)) continue;
    const letter = /\p{L}/u.exec(item.text);
    if (letter === null) continue;
    const upper = letter[0].toUpperCase();
    if (!isCapital(letter[0]) && upper.length === letter[0].length) {
      item.text = item.text.slice(0, letter.index) + upper + item.text.slice(letter.index + upper.length);
    }
    return;
  }
}

/**
 * Lower-cases the first letter. Apertium capitalizes it even when the source starts in lower case, as in `and then John
 * left`. A letter is changed only if the reply has more capitalized words than the source; otherwise the capital belongs
 * to a name.
 */
function lower(items: readonly Item[], record: EncodingRecord): void {
  const text = items.map((item) => ('text' in item ? item.text : ' ')).join('');
  if (capitalsOf(text) <= record.capitals) return;
  for (const item of items) {
    if (!('text' in item)) continue;
    const word = /\p{L}[\p{L}\p{M}]*/u.exec(item.text);
    if (word === null) continue;
    const [first = '', second = 'a'] = word[0];
    // A word that starts with two capitals is an abbreviation and keeps its capitals.
    if (!isCapital(first) || isCapital(second) || first.toLowerCase().length !== first.length) return;
    const rest = item.text.slice(word.index + first.length);
    item.text = item.text.slice(0, word.index) + first.toLowerCase() + rest;
    return;
  }
}
