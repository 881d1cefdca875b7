/** SQL statements that write the segments of a job. */
import { isDeepStrictEqual } from 'node:util';
import type { Confidence } from '@dragoman/engines';
import type { AccountRef } from '../base/account.ts';
import { inBatches } from '../base/turns.ts';
import type { Transaction } from '../database/database.ts';
import { columnsOf, statement } from '../database/statements.ts';

export interface DraftedSegment {
  segmentId: string;
  source: unknown;
  draft: unknown | undefined;
  route: string | undefined;
  notes: readonly string[];
  confidence?: Confidence | undefined;
  failure: string | undefined;
  /** A similar memory entry next to the draft. */
  similar?: unknown;
}

// A job that is upgraded a second time already has segments. Segments whose source is unchanged keep their
// edits, and joined segments stay joined if all of their sources are unchanged.
const FIND_SEGMENTS = statement<FoundSegment>(
  'jobs.find_segments',
  `select position, segment_id, coalesce(joined->'own'->'source', source) as source,
          coalesce(joined_to, case when joined is not null then position end) as joined_to
     from segments where part = $1 and account_id = $2 and job_id = $3`,
);
interface FoundSegment {
  position: number;
  segment_id: string;
  source: unknown;
  /** The position of the first of the joined segments; null: not joined. */
  joined_to: number | null;
}
const CLEAR_SEGMENTS = statement(
  'jobs.clear_segments',
  `with apart as (
     update segments set joined_to = null
      where part = $1 and account_id = $2 and job_id = $3 and joined_to = any($4) and position <> all($4))
   delete from segments where part = $1 and account_id = $2 and job_id = $3 and position = any($4)`,
);
const INSERT_SEGMENTS = statement(
  'jobs.insert_segments',
  `insert into segments (part, account_id, job_id, position, segment_id, source, draft, route, notes, failure,
     confidence, least_confidence, similar_entry)
   select :part, :account_id, :job_id, position, segment_id, source, draft, route,
          array(select jsonb_array_elements_text(notes)), failure, confidence, least_confidence, similar_entry
     from unnest(:position::integer[], :segment_id::text[], :source::jsonb[], :draft::jsonb[], :route::text[],
       :notes::jsonb[], :failure::text[], :confidence::real[], :least_confidence::real[], :similar::jsonb[])
       as s (position, segment_id, source, draft, route, notes, failure, confidence, least_confidence, similar_entry)
   on conflict (part, account_id, job_id, position) do update
      set draft = excluded.draft, route = excluded.route, notes = excluded.notes, failure = excluded.failure,
          confidence = excluded.confidence, least_confidence = excluded.least_confidence,
          repeats = null, similar_entry = excluded.similar_entry
    where segments.joined is null`,
);

/** Writes the segments of a job with their drafts, and deletes old segments that differ from the new ones. */
export async function writeSegments(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  segments: readonly DraftedSegment[],
): Promise<void> {
  const key = [account.part, account.accountId, jobId];
  const found = await transaction.query(FIND_SEGMENTS, key);
  const changed = found.filter(({ position, segment_id, source }) => {
    const segment = segments[position];
    const isSame = segment?.segmentId === segment_id && isDeepStrictEqual(asJson(segment.source), source);
    return !isSame;
  });
  const stale = new Set(changed.flatMap(({ position, joined_to }) => [position, joined_to ?? position]));
  if (stale.size > 0) await transaction.query(CLEAR_SEGMENTS, [...key, [...stale]]);
  const placed = segments.map((segment, position) => ({ ...segment, position }));
  // One statement with a long document took two seconds of the event loop, because it is written at once.
  for (const batch of inBatches(placed, ({ source }) => (source as readonly unknown[]).length + 1)) {
    await transaction.query(INSERT_SEGMENTS, {
      part: account.part,
      account_id: account.accountId,
      job_id: jobId,
      ...columnsOf(batch, {
        position: ({ position }) => position,
        segment_id: ({ segmentId }) => segmentId,
        source: ({ source }) => JSON.stringify(source),
        draft: ({ draft }) => (draft === undefined ? null : JSON.stringify(draft)),
        route: ({ route }) => route ?? null,
        notes: ({ notes }) => JSON.stringify(notes),
        failure: ({ failure }) => failure ?? null,
        confidence: ({ confidence }) => confidence?.mean ?? null,
        least_confidence: ({ confidence }) => confidence?.minimum ?? null,
        similar: ({ similar }) => (similar === undefined ? null : JSON.stringify(similar)),
      }),
    });
  }
  transaction.changed('edit', account, jobId);
}

/** Returns a value as PostgreSQL returns it from a JSON column, for comparisons. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
