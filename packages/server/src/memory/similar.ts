/**
 * Scores the segments of a text that the memory has no translation for by their most similar entry, for the price of
 * the text. The score is that of the match which editors see.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Piece, plainText } from '@dragoman/documents';
import type { AccountRef } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { fit } from './form.ts';
import { CODE_PENALTY, hasMemory, IMPORT_WEIGHT, saltOf, scoreOf } from './memory.ts';
import { sketchOf } from './sketch.ts';
import { findSimilar, type MemoryPurpose } from './store.ts';

/** The number of segments in one SQL statement. It limits how long the statement keeps its connection. */
const SEGMENTS_AT_A_TIME = 10;
/** The number of entries that are compared with a segment. */
const MAX_CANDIDATES = 5;

/**
 * Returns for each segment the score of the most similar entry that an editor confirmed and whose tone fits; 0 if no
 * entry has at least the score `least`. The time of a segment grows with the square of its length.
 */
export async function findScores(
  on: Queryable,
  account: AccountRef,
  purpose: MemoryPurpose,
  sources: readonly (readonly Piece[])[],
  least: number,
): Promise<number[]> {
  const scores = sources.map(() => 0);
  if (!(await hasMemory(on, account))) return scores;
  const salt = saltOf(account, purpose);
  for (let start = 0; start < sources.length; start += SEGMENTS_AT_A_TIME) {
    const asked = sources.slice(start, start + SEGMENTS_AT_A_TIME).flatMap((source, index) => {
      const text = plainText(source);
      const sketch = sketchOf(text, salt);
      return sketch.length === 0 ? [] : [{ place: start + index, source, text, sketch }];
    });
    if (asked.length === 0) continue;
    const rows = await findSimilar(on, account, purpose, asked, {
      leastWeight: IMPORT_WEIGHT + 1,
      limit: MAX_CANDIDATES,
    });
    const found = Map.groupBy(rows, ({ place }) => place);
    for (const { place, source, text } of asked) {
      for (const row of found.get(place) ?? []) {
        const closeness = scoreOf(text, plainText(row.source), least);
        const score = closeness - (fit(source, row).complete ? 0 : CODE_PENALTY);
        if (score >= least) scores[place] = Math.max(scores[place]!, score);
      }
      await nextTurn();
    }
  }
  return scores;
}
