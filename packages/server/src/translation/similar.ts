/** Chooses between the drafts of engines and similar translations from the memory. */
import type { Piece } from '@dragoman/documents';
import type { Drafted } from './drafts.ts';
import type { Glossary } from './terms.ts';

/** A translation of a similar text, with the code numbers of its segment. */
export interface SimilarMatch {
  memoryId: string;
  /** The similarity in percent. */
  score: number;
  pieces: Piece[];
  /** True if editors change less in such translations than in the drafts of the engine. */
  isBetter: boolean;
}

/**
 * Adds the similar translation to each draft of an engine, or makes it the draft if it is better and has the terms of
 * the glossary.
 */
export async function withSimilar(
  drafted: readonly Drafted[],
  glossary: Glossary,
  find: (
    texts: readonly { source: readonly Piece[]; route: string }[],
  ) => Promise<readonly (SimilarMatch | undefined)[]>,
): Promise<Drafted[]> {
  const ofEngines = drafted.flatMap((one, index) =>
    one.status === 'translated' && one.memoryId === undefined && one.segment.kept === undefined
      ? [{ one, index }]
      : [],
  );
  if (ofEngines.length === 0) return [...drafted];
  const found = await find(ofEngines.map(({ one }) => ({ source: one.segment.pieces, route: one.route })));
  const chosen = [...drafted];
  for (const [place, { one, index }] of ofEngines.entries()) {
    const match = found[place];
    if (match === undefined) continue;
    const { memoryId, pieces, isBetter } = match;
    const route = `memory:${match.score}`;
    const hasTerms = glossary.empty || glossary.check(one.segment.pieces, pieces).length === 0;
    chosen[index] =
      isBetter && hasTerms
        ? { ...one, pieces, route, notes: [], memoryId, other: { pieces: one.pieces, route: one.route } }
        : { ...one, other: { pieces, route } };
  }
  return chosen;
}
