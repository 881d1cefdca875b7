/**
 * Apertium's reply → pieces of the target. The reverse of encode.ts: unescape, unwrap superblanks and tokens, repair
 * spacing and the first capital, and put the paired codes together again (see join.ts).
 */

import type { Piece } from '../engine.ts';
import type { Book } from './book.ts';
import { capitalsOf, isCapital } from './encode.ts';
import { joinCodes } from './join.ts';

/** A stretch of the reply. `ids` are the pairs its words carry. */
export type Item = { ids: readonly number[] } & (
  | { text: string; verbatim: boolean }
  | { kept: number }
  | { fixed: number }
  /** A pair whose words all vanished, put back empty. */
  | { empty: number }
);

/** Stream syntax where none may be: the reply is not a translation. */
export class Garbled extends Error {}

/**
 * @param reply one reply of a pipeline, without id and NUL
 * @throws Garbled when stream syntax is left over
 */
export function decode(reply: string, book: Book): Piece[] {
  let items = readItems(reply, book);
  if (book.marked) dropMark(items);
  items = space(items, book);
  if (book.capital) capitalise(items);
  else if (book.small) lower(items, book);
  return joinCodes(items, book);
}

const MARKS = '.,;:!?';
const LEFT_SPACE = /([([{“«‘¿¡]|(?<![^\s([{])") +(?=\S)|(?<=\S) +([)\]}”»])/gu;
const NO_IDS: readonly number[] = [];

/** Escape, wrapper, end of wrapper, superblank, or a stretch of plain text. */
const LEXEMES =
  /\\([\s\S])|\[\[((?:t:b:\d+(?:; )?)+)\]\]|\[\[\/\]\]|\[((?:[^[\]\\]|\\[\s\S])*)\]|([^\\[\]]+)|[\s\S]/gu;

function readItems(reply: string, book: Book): Item[] {
  const items: Item[] = [];
  let ids = NO_IDS;
  let text = '';
  const flush = (): void => {
    if (text !== '') splitTokens(text, ids, book, items);
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
      if (ids.some((id) => id >= book.pairs.length))
        throw new Garbled('the reply has a code of another segment');
    } else if (whole === '[[/]]') {
      flush();
      ids = NO_IDS;
    } else if (blank !== undefined) {
      flush();
      readBlank(blank, ids, book, items);
    } else throw new Garbled('the reply has a bracket without its other half');
  }
  flush();
  return items;
}

function readBlank(blank: string, ids: readonly number[], book: Book, items: Item[]): void {
  if (blank === '') return;
  const code = /^\{(\d+)\}$/.exec(blank);
  if (code === null) items.push({ text: blank, verbatim: true, ids });
  else if (Number(code[1]) < book.fixed.length) items.push({ fixed: Number(code[1]), ids });
  else throw new Garbled('the reply has a code of another segment');
}

function splitTokens(text: string, ids: readonly number[], book: Book, items: Item[]): void {
  let from = 0;
  if (book.token !== null) {
    for (const hit of text.matchAll(book.token)) {
      const kept = Number(hit[1]);
      if (kept >= book.kept.length) continue;
      if (hit.index > from) items.push({ text: text.slice(from, hit.index), verbatim: false, ids });
      items.push({ kept, ids });
      from = hit.index + hit[0].length;
    }
  }
  if (from < text.length) items.push({ text: text.slice(from), verbatim: false, ids });
}

/** Takes off the final stop that we added. It is the last plain stop of the reply. */
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
 * Plain spaces at the edges, doubled ones, and those before `.,;:!?` are the engine's doing: the source's own white
 * space at the edges and in runs travelled in superblanks. 549 of 997 English-Spanish replies needed it.
 */
function space(items: readonly Item[], book: Book): Item[] {
  const isLoose = (mark: string): boolean => MARKS.includes(mark) && !book.spacedMarks.includes(mark);
  const out: Item[] = [];
  /** The last item with something visible or blank in it. */
  let last: Item | null = null;
  const trimLast = (): void => {
    if (last !== null && 'text' in last && !last.verbatim) last.text = last.text.replace(/(?<! ) +$/, '');
  };
  for (const item of items) {
    if ('text' in item) {
      if (!item.verbatim) {
        item.text = item.text.replace(/ {2,}/g, ' ');
        item.text = item.text.replace(/(?<! ) +([.,;:!?])/g, (all, mark) => (isLoose(mark) ? mark : all));
        // A pronoun that the target drops leaves its space behind: `Dijo: " soy aquí"`.
        item.text = item.text.replace(LEFT_SPACE, (all, open, close) => {
          const mark: string = open ?? close;
          return book.looseMarks.includes(mark) ? all : mark;
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
 * A source that goes on from before (`and then John left`, the second line of a subtitle) begins small, and Apertium
 * begins it like a sentence all the same. Only where the reply has more words with a capital than the source: else the
 * capital is a name's that came first.
 */
function lower(items: readonly Item[], book: Book): void {
  const text = items.map((item) => ('text' in item ? item.text : ' ')).join('');
  if (capitalsOf(text) <= book.capitals) return;
  for (const item of items) {
    if (!('text' in item)) continue;
    const word = /\p{L}[\p{L}\p{M}]*/u.exec(item.text);
    if (word === null) continue;
    const [first = '', second = 'a'] = word[0];
    // An abbreviation stays one.
    if (!isCapital(first) || isCapital(second) || first.toLowerCase().length !== first.length) return;
    const rest = item.text.slice(word.index + first.length);
    item.text = item.text.slice(0, word.index) + first.toLowerCase() + rest;
    return;
  }
}
