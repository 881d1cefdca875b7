/** Machine drafts of the segments of a text. */
import type { Piece, Segment } from '@dragoman/documents';
import type { Confidence } from '@dragoman/engines';
import { routeOfKept } from '../base/kept.ts';

/**
 * The draft of one segment. A failed segment has no draft, because the source must never pass as a
 * translation.
 */
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

/**
 * Returns the drafts by segment id, in the form that a scanner assembles.
 * @throws Error when a segment failed: a text is assembled completely or not at all
 */
export function draftsOf(drafted: readonly Drafted[]): [segmentId: string, pieces: Piece[]][] {
  return drafted.map((one) => {
    if (one.status === 'failed') throw new Error('a text with a failed segment cannot be assembled');
    return [one.segment.id, one.pieces];
  });
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
