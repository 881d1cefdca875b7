/** Machine drafts of the segments of a text. */
import type { Piece, Segment } from '@dragoman/documents';
import type { Confidence } from '@dragoman/engines';
import { routeOfKept } from '../base/kept.ts';

/** The draft of one segment. A failed segment has no draft, so that its source text never passes as a translation. */
export type Drafted =
  | {
      segment: Segment;
      status: 'translated';
      pieces: Piece[];
      route: string;
      notes: string[];
      /** The engine's confidence; undefined if it reports none, or if no engine made the draft. */
      confidence?: Confidence | undefined;
      /** The memory entry that the draft was taken from. */
      memoryId?: string;
    }
  | { segment: Segment; status: 'failed'; reason: string; retry: Retry };

/**
 * When to retry a failed segment.
 *
 * - `wait`: an engine was unavailable, and the text is not the cause. Retry when the engine is available again.
 * - `soon`: an engine crashed on the segment, or may return another answer.
 * - `never`: every engine that serves the pair would return the same failure.
 */
export type Retry = 'wait' | 'soon' | 'never';

/** Returns the drafts by segment id, in the form that a scanner assembles. Failed segments keep their source text. */
export function draftsOf(drafted: readonly Drafted[]): [segmentId: string, pieces: Piece[]][] {
  return drafted.flatMap((one) => (one.status === 'failed' ? [] : [[one.segment.id, one.pieces]]));
}

/** Whether any segment was translated, rather than failed or kept because it needs no translation. */
export function hasTranslation(drafted: readonly Drafted[]): boolean {
  return drafted.some(({ status, segment }) => status === 'translated' && segment.kept === undefined);
}

/**
 * Returns the source text as the draft of a segment that is not translated; undefined for a segment that
 * needs translation.
 */
export function keepSegment(segment: Segment): Drafted | undefined {
  const { kept, pieces } = segment;
  if (kept === undefined) return undefined;
  return { segment, status: 'translated', pieces, route: routeOfKept(kept), notes: [] };
}
