/** The memory as people look at it: searched, taken back, and told where it went. */
import type { Piece } from '@dragoman/documents';
import type { AccountRef } from '../account.ts';
import type { Queryable } from '../database/database.ts';
import { searchable, textOf } from './form.ts';
import * as store from './store.ts';

export type { TouchRow } from './store.ts';

/** From and to, in UTF-16 units of a text as a reader sees it. */
export type Range = [from: number, to: number];

/** An entry that has what was searched for. */
export interface Found {
  memoryId: string;
  source: Piece[];
  target: Piece[];
  sourceText: string;
  targetText: string;
  /** Where what was searched for stands in `sourceText`. */
  sourceRanges: Range[];
  targetRanges: Range[];
  origin: store.Origin;
  createdAt: Date;
  brand: string | undefined;
}

const MAX_FOUND = 20;

/** What an editor may take of the entries that have every word of a question, in their source or their target. */
export async function concordance(
  on: Queryable,
  account: AccountRef,
  pair: store.MemoryPair,
  question: string,
): Promise<Found[]> {
  const patterns = patternsOf(question);
  if (patterns.length === 0) return [];
  const rows = await store.findWithWords(on, account, pair, patterns, MAX_FOUND);
  return rows.map((row) => {
    const [sourceText, targetText] = [textOf(row.source), textOf(row.target)];
    return {
      memoryId: row.memory_id,
      source: row.source,
      target: row.target,
      sourceText,
      targetText,
      sourceRanges: rangesOf(sourceText, question),
      targetRanges: rangesOf(targetText, question),
      origin: row.origin,
      createdAt: row.created_at,
      brand: row.brand === '' ? undefined : row.brand,
    };
  });
}

/** An entry, as its account and the operator see it. */
export interface Entry {
  memory_id: string;
  source_language: string;
  target_language: string;
  brand: string | null;
  source: string;
  target: string;
  origin: store.Origin;
  /** 0: not used any more; else 1 brought in, 2 delivered, 3 reviewed, 4 accepted. */
  weight: number;
  tone: string | null;
  created_at: Date;
  changed_at: Date;
  retracted: { at: Date; by: string; reason: string | null } | null;
}

export interface Search {
  q?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  brand?: string | undefined;
  state?: 'live' | 'retracted' | 'all' | undefined;
  /** Entries made before this one. */
  before?: string | undefined;
  limit: number;
}

/** The last made first. */
export async function searchMemory(on: Queryable, account: AccountRef, search: Search): Promise<Entry[]> {
  const rows = await store.searchEntries(on, account, {
    from: search.from,
    to: search.to,
    brand: search.brand,
    patterns: patternsOf(search.q ?? ''),
    state: search.state ?? 'live',
    before: search.before,
    limit: search.limit,
  });
  return rows.map(entryOf);
}

/** An entry with where it came from and where it went; undefined for one that is not the account's. */
export async function readEntry(
  on: Queryable,
  account: AccountRef,
  memoryId: string,
): Promise<{ entry: Entry; touched: store.TouchRow[] } | undefined> {
  const row = await store.findEntry(on, account, memoryId);
  if (row === undefined) return undefined;
  return { entry: entryOf(row), touched: await store.findTouched(on, account, memoryId, MAX_TOUCHED) };
}

const MAX_TOUCHED = 1_000;

/**
 * Takes an entry back: it is used no more, whatever jobs say later, until a person restores it.
 * @param by who does it, as it is shown
 * @returns whether it was there, and not retracted before
 */
export function retract(
  on: Queryable,
  account: AccountRef,
  memoryId: string,
  { by, reason }: { by: string; reason: string | undefined },
): Promise<boolean> {
  return store.retractEntry(on, account, memoryId, by, reason);
}

/** @returns whether it was there, and retracted */
export function restore(on: Queryable, account: AccountRef, memoryId: string): Promise<boolean> {
  return store.restoreEntry(on, account, memoryId);
}

function entryOf(row: store.EntryRow): Entry {
  return {
    memory_id: row.memory_id,
    source_language: row.source_language,
    target_language: row.target_language,
    brand: row.brand === '' ? null : row.brand,
    source: textOf(row.source),
    target: textOf(row.target),
    origin: row.origin,
    weight: row.retracted_at === null ? row.weight : 0,
    tone: row.tone,
    created_at: row.created_at,
    changed_at: row.changed_at,
    retracted:
      row.retracted_at === null
        ? null
        : { at: row.retracted_at, by: row.retracted_by!, reason: row.retract_reason },
  };
}

/** More words say no more. */
const MAX_WORDS = 10;

/** What `searched` must have for each word of a question. Letters, figures and spaces alone: nothing to escape. */
function patternsOf(question: string): string[] {
  const words = searchable(question)
    .split(' ')
    .filter((word) => word !== '');
  return [...new Set(words)].slice(0, MAX_WORDS).map((word) => `%${word}%`);
}

/** Where the words of a question stand, in whatever case; touching ones are one range. */
export function rangesOf(text: string, question: string): Range[] {
  const words =
    question
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const { folded, starts, ends } = fold(text);
  const found: Range[] = [];
  for (const word of new Set(words)) {
    for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length)) {
      found.push([starts[at]!, ends[at + word.length - 1]!]);
    }
  }
  found.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const ranges: Range[] = [];
  for (const [from, to] of found) {
    const last = ranges.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else ranges.push([from, to]);
  }
  return ranges;
}

/** A text in lower case and one form, with where the character that each of its units comes from starts and ends. */
function fold(text: string): { folded: string; starts: number[]; ends: number[] } {
  let folded = '';
  const starts: number[] = [];
  const ends: number[] = [];
  // A base with its marks is one character in the composed form.
  for (const { 0: cluster, index } of text.matchAll(/[^\p{M}]\p{M}*|\p{M}+/gsu)) {
    const made = cluster.normalize('NFKC').toLowerCase();
    for (let unit = 0; unit < made.length; unit++) {
      starts.push(index);
      ends.push(index + cluster.length);
    }
    folded += made;
  }
  return { folded, starts, ends };
}

/** How much there is, by pair and brand. */
export function summarizeMemory(on: Queryable, account: AccountRef): Promise<store.SummaryRow[]> {
  return store.summarize(on, account);
}
