/** Finds the translation of a similar text that may become the draft of a segment. */
import { type CheckInput, check, similarity } from '@dragoman/checks';
import { type Piece, plainText } from '@dragoman/documents';
import type { AccountRef } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { fit } from './form.ts';
import { saltOf } from './memory.ts';
import { withNumbersOf } from './numbers.ts';
import { sketchOf } from './sketch.ts';
import * as store from './store.ts';

/** The pair, brand and tone of a job, and what the checks of its translations need. */
export interface DraftPurpose extends store.MemoryPurpose, Pick<CheckInput, 'format' | 'terms'> {}

/** The translation of a similar text. Its codes have the numbers of the codes in the segment. */
export interface SimilarTarget {
  memoryId: string;
  /** The similarity in percent, from 75 to 99. */
  score: number;
  target: Piece[];
}

/** The lowest score of a translation that may become a draft. */
export const LEAST_DRAFT_SCORE = 75;
/** The maximum length of a source that is looked up: the time of a comparison grows with its square. */
const MAX_CHARACTERS = 1_000;
/** The number of entries that are read, that are compared by words, and that are then compared by characters. */
const MAX_READ = 40;
const MAX_CANDIDATES = 10;
const MAX_COMPARED = 3;
/** The lowest similarity by words of a text with the lowest score, if all its characters are the same. */
const LEAST_BY_WORD = (2 * LEAST_DRAFT_SCORE) / 100 - 1;
/** The checks without whose findings a translation may become a draft. Errors exclude it too. */
const REQUIRED_CHECKS = ['numbers', 'terms', 'forbidden-terms', 'do-not-translate'];

/**
 * Returns the most similar translation that may become the draft of a segment: its tone, codes, numbers and terms fit.
 * Takes some milliseconds of CPU time at most, and one query of about 10 ms.
 * @param at the segment, if the draft is for its editor: also what was confirmed in jobs that are open
 */
export async function findDraftEntry(
  on: Queryable,
  account: AccountRef,
  purpose: DraftPurpose,
  source: readonly Piece[],
  at?: store.OpenSegment,
): Promise<SimilarTarget | undefined> {
  const text = plainText(source);
  if (text.length > MAX_CHARACTERS) return undefined;
  const sketch = sketchOf(text, saltOf(account, purpose));
  if (sketch.length === 0) return undefined;
  const rows = await store.findAlike(on, account, purpose, sketch, { limit: MAX_READ, among: 'some', at });
  const nearest = rows
    .flatMap((row) => {
      const isLong = [row.source, row.target].some((pieces) => plainText(pieces).length > 2 * MAX_CHARACTERS);
      // What was confirmed for the same source reaches the segment as a vote.
      const isVote = at !== undefined && plainText(row.source) === text;
      if (isLong || isVote || !hasTone(row, purpose)) return [];
      const pair = withNumbersOf(source, row, [purpose.from, purpose.to]);
      return pair === undefined ? [] : [{ memoryId: row.memory_id, pair, other: plainText(pair.source) }];
    })
    .slice(0, MAX_CANDIDATES)
    .flatMap((one) => {
      const { other } = one;
      const byWord = similarity(text, other, 'word', LEAST_BY_WORD);
      return byWord === 0 ? [] : [{ ...one, byWord }];
    })
    .sort((a, b) => b.byWord - a.byWord)
    .slice(0, MAX_COMPARED);
  let best: SimilarTarget | undefined;
  for (const { memoryId, pair, other, byWord } of nearest) {
    const byCharacter = similarity(text, other, 'grapheme', LEAST_BY_WORD);
    const score = Math.min(99, Math.floor(50 * (byWord + byCharacter)));
    if (score < LEAST_DRAFT_SCORE || score <= (best?.score ?? 0)) continue;
    const { pieces: target, complete } = fit(source, pair);
    if (complete && isRight({ ...purpose, source, target })) best = { memoryId, score, target };
  }
  return best;
}

/** Returns true if the tone of an entry allows its use as a draft, as for exact matches. */
function hasTone({ tone, origin }: store.EntryRow, purpose: DraftPurpose): boolean {
  const isForAll = tone === null && origin === 'import';
  return purpose.tone === undefined || tone === purpose.tone || isForAll;
}

function isRight(input: CheckInput): boolean {
  return check(input).every((one) => one.severity === 'warning' && !REQUIRED_CHECKS.includes(one.check));
}
