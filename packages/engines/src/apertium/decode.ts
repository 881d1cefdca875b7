/**
 * Converts Apertium's reply to pieces of the target; the reverse of encode.ts, which explains the terms. The
 * decoder unescapes text, unwraps superblanks and tokens, repairs spaces, capitals and marks, checks the reply, and
 * reassembles paired codes (join.ts).
 */

import type { Piece } from '../engine.ts';
import { repairCapitals } from './capitals.ts';
import { faultOf, unmark } from './check.ts';
import { CLAUSE, isJoiner } from './encode.ts';
import type { EncodingRecord } from './encoding-record.ts';
import { joinCodes } from './join.ts';
import { repairMarks } from './marks.ts';
import { repairSpaces } from './spaces.ts';

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
 * @param languages the languages of the mode
 * @throws Garbled when the reply is not a translation
 */
export function decode(
  reply: string,
  record: EncodingRecord,
  languages: { from?: string; to?: string } = {},
): Piece[] {
  const { outline } = record;
  let items = readItems(reply, record);
  if (record.stopAdded) dropMark(items);
  joinWords(items, record);
  items = repairSpaces(unmark(items, outline), outline);
  const quotes = [...record.quotes.values()].map(({ open, close }) => open + close).join('');
  items = repairMarks(repairCapitals(items, outline, languages.to), outline, languages, quotes);
  const fault = faultOf(items, record);
  if (fault !== null) throw new Garbled(fault);
  return joinCodes(items, record);
}

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
  if (blank === CLAUSE) {
    dropMark(items);
    return;
  }
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

/** Removes the spaces that the encoder wrote round the marks that join two words. */
function joinWords(items: Item[], { kept }: EncodingRecord): void {
  for (const [index, item] of items.entries()) {
    if (!('kept' in item) || !isJoiner(kept[item.kept]!)) continue;
    for (const [other, trimmed] of [
      [items[index - 1], 'trimEnd'],
      [items[index + 1], 'trimStart'],
    ] as const) {
      if (other === undefined || !('text' in other) || (other.verbatim && other.text !== ' ')) continue;
      other.text = other.text[trimmed]();
    }
  }
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
