/** What the machine made of the segments of a text. */
import type { Piece, Segment } from '@dragoman/documents';

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
  /** `trouble`: an engine could not be asked, so another time may be better; no fault of the text. */
  | { segment: Segment; status: 'failed'; reason: string; trouble: boolean };

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
