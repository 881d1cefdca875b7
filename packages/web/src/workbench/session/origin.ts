/** Finds out where the current target of a segment comes from. */
import { complete, type Piece, samePieces } from '../text/pieces.ts';
import type { SegmentState } from './state.ts';
import type { Match } from './task.ts';

/** Where a draft comes from. `score` is the score of a memory match, 101 for a match in the same context. */
export type DraftOrigin =
  | { from: 'context' | 'exact' | 'fuzzy'; score: number }
  | { from: 'machine'; engine: string; confidence: SegmentState['segment']['confidence'] }
  | { from: 'vote'; agree: number; by: readonly string[]; rule: boolean }
  | { from: 'memory' | 'supplied' | 'kept' };

/**
 * Where a target comes from: from its draft, from a vote of other editors, from a memory match that the editor chose,
 * from a confirmed repeat, or from the typing of an editor.
 */
export type TargetOrigin =
  | DraftOrigin
  | { from: 'repeat' }
  | { from: 'edited'; draft: DraftOrigin | undefined };

/** Matches the engine in a route such as `llm:gemma:en-de@model`, `llm:en-de@model` or `apertium:eng-deu`. */
const ENGINE = /^llm:[a-z]\w*(?=:)|^[^:]+/;

const SCORES = { context: 101, exact: 100 } as const;

/** Returns the origin of the draft, undefined without a draft. */
export function draftOriginOf(segment: SegmentState['segment']): DraftOrigin | undefined {
  const { origin, route, vote, confidence } = segment;
  switch (origin) {
    case 'none':
      return undefined;
    case 'machine':
      return { from: 'machine', engine: ENGINE.exec(route ?? '')?.[0] ?? '', confidence };
    case 'memory': {
      const kind = route?.split(':')[1];
      if (kind === 'context' || kind === 'exact') return { from: kind, score: SCORES[kind] };
      if (Number(kind) > 0) return { from: 'fuzzy', score: Number(kind) };
      if (kind !== 'vote') return { from: 'memory' };
      const { agree, by, rule } = vote?.state === 'filled' ? vote : { agree: 1, by: [], rule: false };
      return { from: kind, agree, by, rule };
    }
    default:
      return { from: origin };
  }
}

/** Returns the percentage that is shown for a probability. */
export const percentOf = (probability: number): number => Math.round(100 * probability);

/** Returns true if the mean confidence of the engine's draft is below 50 %. */
export function hasLowConfidence(origin: TargetOrigin | undefined): boolean {
  return (
    origin?.from === 'machine' && origin.confidence !== undefined && percentOf(origin.confidence.mean) < 50
  );
}

/**
 * Returns the origin of the current target, undefined while there is none.
 *
 * @param matches the memory matches of the segment; empty until they have arrived
 */
export function targetOriginOf(
  { segment, target }: Pick<SegmentState, 'segment' | 'target'>,
  matches: readonly Match[],
): TargetOrigin | undefined {
  const draft = draftOriginOf(segment);
  const isTarget = (pieces: readonly Piece[]) => samePieces(complete(pieces, segment.source), target);
  if (segment.draft && isTarget(segment.draft)) return draft;
  const { vote } = segment;
  if (vote && isTarget(vote.target)) return { from: 'vote', agree: vote.agree, by: vote.by, rule: vote.rule };
  const used = matches.find((match) => isTarget(match.target));
  if (used?.kind === 'context') return { from: 'context', score: SCORES.context };
  if (used) return { from: used.score < SCORES.exact ? 'fuzzy' : 'exact', score: used.score };
  if (segment.filled && segment.target && isTarget(segment.target)) return { from: 'repeat' };
  return isTarget([]) ? undefined : { from: 'edited', draft };
}
