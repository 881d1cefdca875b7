/** SQL statements that join segments and separate them again. */
import type { AccountRef } from '../../base/account.ts';
import type { Transaction } from '../../database/database.ts';
import { statement } from '../../database/statements.ts';
import type { JoinedColumn, SegmentRow } from '../model/edits-store.ts';

const SET_SEGMENT = statement(
  'editing.set_segment',
  `update segments
      set source = :source, draft = :draft, route = :route, failure = :failure, joined = :joined, similar_entry = null,
          notes = array(select jsonb_array_elements_text(:notes::jsonb)), joined_to = null,
          divided_at = greatest(divided_at, :revision)
    where part = :part and account_id = :account_id and job_id = :job_id and position = :position`,
);

/** The columns of a segment that a join changes. */
export type SegmentText = Pick<SegmentRow, 'position' | 'source' | 'draft' | 'route' | 'notes' | 'failure'>;

/**
 * Writes the text of a segment that is joined or separated.
 * @param revision the revision of its edit up to which confirmed targets translate another source
 * @param joined undefined if nothing is joined with the segment any more
 */
export async function setSegment(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  { position, source, draft, route, notes, failure }: SegmentText,
  revision: number,
  joined: JoinedColumn | undefined,
): Promise<void> {
  await transaction.query(SET_SEGMENT, {
    part: account.part,
    account_id: account.accountId,
    job_id: jobId,
    position,
    source: JSON.stringify(source),
    draft: draft === null ? null : JSON.stringify(draft),
    route,
    notes: JSON.stringify(notes),
    failure,
    revision,
    joined: joined === undefined ? null : JSON.stringify(joined),
  });
  transaction.changed('edit', account, jobId);
}

/** The segments from the position after `first` to `last`. */
export interface JoinedRange {
  first: number;
  last: number;
}

const JOIN_TO = statement(
  'editing.join_to',
  `update segments set joined_to = $6
    where part = $1 and account_id = $2 and job_id = $3 and position > $4 and position <= $5`,
);

/** Joins segments to the segment at `position`; undefined: separates them. */
export async function setJoinedTo(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  { first, last }: JoinedRange,
  position: number | undefined,
): Promise<void> {
  await transaction.query(JOIN_TO, [account.part, account.accountId, jobId, first, last, position ?? null]);
  transaction.changed('edit', account, jobId);
}

// What was written about the joined segments stays in sight.
const MOVE_COMMENTS = statement(
  'editing.move_comments',
  `update comments set position = $4
    where part = $1 and account_id = $2 and job_id = $3 and position > $4 and position <= $5`,
);
const MOVE_QUERIES = statement(
  'editing.move_queries',
  `update queries set position = $4
    where part = $1 and account_id = $2 and job_id = $3 and position > $4 and position <= $5`,
);
const MOVE_ISSUES = statement(
  'editing.move_issues',
  `update issues set position = $4, range_start = null, range_end = null
    where part = $1 and account_id = $2 and job_id = $3 and position > $4 and position <= $5`,
);
const MOVE_UNSURE = statement(
  'editing.move_unsure',
  `with gone as (
     delete from unsure_marks
      where part = $1 and account_id = $2 and job_id = $3 and position > $4 and position <= $5
     returning part, account_id, job_id, user_id)
   insert into unsure_marks (part, account_id, job_id, position, user_id)
   select part, account_id, job_id, $4::integer, user_id from gone limit 1
   on conflict (part, account_id, job_id, position) do nothing`,
);

/** Moves the comments, queries, issues and unsure marks of joined segments to the segment `first`. */
export async function moveNotes(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  { first, last }: JoinedRange,
): Promise<void> {
  const values = [account.part, account.accountId, jobId, first, last];
  for (const one of [MOVE_COMMENTS, MOVE_QUERIES, MOVE_ISSUES, MOVE_UNSURE]) {
    await transaction.query(one, values);
  }
  transaction.changed('job', account, jobId);
  transaction.changed('edit', account, jobId);
}
