/**
 * The middle of the pipeline from a text to its translation: segments → engine → codes repaired → drafts. A
 * scanner opens texts and assembles results. It knows engines and segments, and neither jobs nor accounts.
 */
import { type Piece, repair, type Segment } from '@dragoman/documents';
import type { Engine, Lane } from '@dragoman/engines';

/** What the machine made of one segment. A failed one has no draft: the source is never passed off as one. */
export type Drafted =
  | { segment: Segment; status: 'translated'; pieces: Piece[]; route: string; notes: string[] }
  | { segment: Segment; status: 'failed'; reason: string };

export interface DraftOptions {
  engine: Engine;
  from: string;
  to: string;
  lane: Lane;
  signal: AbortSignal;
}

/** Drafts every segment, in order. Rejects only when `signal` aborts or the engine stops. */
export async function draftSegments(wanted: readonly Segment[], options: DraftOptions): Promise<Drafted[]> {
  if (wanted.length === 0) return [];
  const drafts = await options.engine.draft({
    from: options.from,
    to: options.to,
    segments: wanted,
    lane: options.lane,
    signal: options.signal,
  });
  return wanted.map((segment, index) => {
    const draft = drafts[index];
    if (draft?.status === 'translated' && draft.id === segment.id) {
      const { pieces, notes } = repair(segment.pieces, draft.pieces);
      return { segment, status: 'translated', pieces, route: draft.route, notes };
    }
    const reason =
      draft?.status === 'failed' ? draft.reason : draft?.status === 'unsupported' ? 'unsupported' : 'lost';
    return { segment, status: 'failed', reason };
  });
}

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
