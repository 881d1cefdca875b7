/** Reads the drafts and the final texts of the replayed segments from the database. */
import { type Piece, plainText } from '../../packages/documents/src/documents.ts';
import type { ComparedTarget } from '../../packages/server/src/memory/efforts.ts';
import type { Query } from '../harness/database.ts';
import type { ReplayedRow } from './run.ts';

/** What the database has about a replayed segment. */
type Stored = Pick<ReplayedRow, 'draftedAt' | 'engine' | 'memory' | 'chosen' | 'delivered'>;

/** Names a segment by the uid of its job and its position. */
export const placeOf = (uid: string, position: number) => `${uid} ${position}`;

interface StoredSegment {
  uid: string;
  position: number;
  /** Null if no editor has work on the job. */
  drafted_at: Date | null;
  /** The draft that the segment had before a vote filled it. */
  draft: Piece[] | null;
  route: string | null;
  similar: ComparedTarget | null;
  delivered: Piece[] | null;
}

/** Reads when each segment was drafted, the texts that it could have as its draft, and its final text. */
export async function readStored(query: Query): Promise<Map<string, Stored>> {
  const rows = await query<StoredSegment>(
    `select j.uid, s.position, e.target as delivered, s.similar_entry as similar,
            case when f.vote_id is null then s.draft else f.draft end as draft,
            case when f.vote_id is null then s.route else f.route end as route, w.created_at as drafted_at
       from segments s join jobs j using (part, account_id, job_id)
       left join edited_jobs w using (part, account_id, job_id)
       left join edits e using (part, account_id, job_id, position)
       left join fills f using (part, account_id, job_id, position)`,
  );
  return new Map(rows.map((row) => [placeOf(row.uid, row.position), storedOf(row)]));
}

function storedOf({ drafted_at, draft, route, similar, delivered }: StoredSegment): Stored {
  const text = plainText(draft ?? []);
  const common = { draftedAt: drafted_at?.getTime() ?? 0, delivered: plainText(delivered ?? []) };
  if (route?.startsWith('memory:')) {
    return { ...common, engine: undefined, memory: { score: 100, text }, chosen: text };
  }
  if (similar?.than !== route) return { ...common, engine: text, memory: undefined, chosen: text };
  const memory = { score: similar!.score, text: plainText(similar!.target) };
  return { ...common, engine: text, memory, chosen: similar!.better ? memory.text : text };
}
