/** What the machine made of the segments of a text. */
import type { Piece, Segment } from '@dragoman/documents';
import { routeOfKept } from '../base/kept.ts';

/** What the machine made of one segment. A failed one has no draft: the source is never passed off as one. */
export type Drafted =
  | {
      segment: Segment;
      status: 'translated';
      pieces: Piece[];
      route: string;
      notes: string[];
      /** The entry of the memory that it is. */
      memoryId?: string;
    }
  | { segment: Segment; status: 'failed'; reason: string; retry: Retry };

/**
 * Whether a failed segment is worth another try.
 *
 * - `wait`: an engine could not be asked, which is no fault of the text: once the engine is back.
 * - `soon`: an engine crashed on it, or may answer it in another way.
 * - `never`: every engine that has the pair would do the same with it again.
 */
export type Retry = 'wait' | 'soon' | 'never';

/**
 * The drafts as a scanner assembles them, by segment id.
 * @throws Error when one is failed: a text is assembled whole or not at all
 */
export function draftsOf(drafted: readonly Drafted[]): [segmentId: string, pieces: Piece[]][] {
  return drafted.map((one) => {
    if (one.status === 'failed') throw new Error('a text with a failed segment cannot be assembled');
    return [one.segment.id, one.pieces];
  });
}

/** The draft of a segment that is not in the source language: as it is. Undefined for any other. */
export function keepSegment(segment: Segment): Drafted | undefined {
  const { kept, pieces } = segment;
  if (kept === undefined) return undefined;
  return { segment, status: 'translated', pieces, route: routeOfKept(kept), notes: [] };
}
