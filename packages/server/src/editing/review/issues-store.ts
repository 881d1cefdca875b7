/** SQL statements about the issues and comments of a job. */
import type { AccountRef } from '../../base/account.ts';
import { uuidv7 } from '../../base/ids.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { statement } from '../../database/statements.ts';
import type { CommentBody, IssueBody } from '../schemas/schemas.ts';

const RANGE = `case when range_start is not null and range_end is not null
            then json_build_object('start', range_start, 'end', range_end) end as range`;

export const listIssues = statement<IssueBody, { account: AccountRef; jobId: string }>(
  'editing.issues',
  `select i.issue_id as issue, i.position, i.category, i.severity, i.note, ${RANGE},
          coalesce(u.name, '') as by, i.created_at
     from issues i left join users u on u.user_id = i.reviewer_id
    where i.part = :part and i.account_id = :account_id and i.job_id = :jobId order by i.issue_id`,
).rows;

export interface NewIssue {
  position: number;
  category: string;
  severity: string;
  note?: string | undefined;
  range?: { start: number; end: number } | undefined;
}

// Assigns the issue to the last editor other than the reviewer, because the reviewer may have corrected the
// target before marking the error.
const INSERT_ISSUE = statement<IssueBody>(
  'editing.insert_issue',
  `with made as (
     insert into issues (part, account_id, issue_id, job_id, position, category, severity, note, range_start, range_end,
       reviewer_id, editor_id, task_id)
     select :part, :account_id, :issue_id, :job_id, :position,
            :category, :severity, :note, :range_start, :range_end,
            :reviewer_id,
            coalesce(
              (select editor_id from edits
                where part = :part and account_id = :account_id and job_id = :job_id
                  and position = :position and editor_id <> :reviewer_id),
              (select editor_id from edit_history
                where part = :part and account_id = :account_id and job_id = :job_id
                  and position = :position and kind = 'confirmed' and editor_id <> :reviewer_id
                order by history_id desc limit 1)), :task_id
     returning issue_id, position, category, severity, note, range_start, range_end, reviewer_id, created_at)
   select m.issue_id as issue, m.position, m.category, m.severity, m.note, ${RANGE}, coalesce(u.name, '') as by, m.created_at
     from made m left join users u on u.user_id = m.reviewer_id`,
);

export async function insertIssue(
  transaction: Transaction,
  account: AccountRef,
  { jobId, taskId, reviewerId }: { jobId: string; taskId: string; reviewerId: string },
  issue: NewIssue,
): Promise<IssueBody> {
  const [row] = await transaction.query(INSERT_ISSUE, {
    part: account.part,
    account_id: account.accountId,
    issue_id: uuidv7(),
    job_id: jobId,
    position: issue.position,
    category: issue.category,
    severity: issue.severity,
    note: issue.note ?? null,
    range_start: issue.range?.start ?? null,
    range_end: issue.range?.end ?? null,
    reviewer_id: reviewerId,
    task_id: taskId,
  });
  transaction.changed('job', account, jobId);
  return row!;
}

const DELETE_ISSUE = statement<{ job_id: string }>(
  'editing.delete_issue',
  `delete from issues where part = $1 and account_id = $2 and task_id = $3 and issue_id = $4 returning job_id`,
);

/** Deletes an issue. @returns false if this review marked no such issue */
export async function deleteIssue(
  transaction: Transaction,
  account: AccountRef,
  taskId: string,
  issueId: string,
): Promise<boolean> {
  const values = [account.part, account.accountId, taskId, issueId];
  const [row] = await transaction.query(DELETE_ISSUE, values);
  if (row !== undefined) transaction.changed('job', account, row.job_id);
  return row !== undefined;
}

/** Returns the positions of the segments in which a review marked an issue. */
export const listMarked = statement<{ position: number }, { account: AccountRef; taskId: string }>(
  'editing.marked',
  `select distinct position from issues where part = :part and account_id = :account_id
    and task_id = :taskId order by position`,
).values;

export const listComments = statement<CommentBody, { account: AccountRef; jobId: string }>(
  'editing.comments',
  `select c.comment_id as comment, c.position, c.body as text, coalesce(u.name, a.username) as by, coalesce(u.role, 'customer') as role,
          c.created_at
     from comments c join accounts a on a.account_id = c.account_id left join users u on u.user_id = c.user_id
    where c.part = :part and c.account_id = :account_id and c.job_id = :jobId order by c.comment_id limit 1000`,
).rows;

const INSERT_COMMENT = statement<Pick<CommentBody, 'comment' | 'created_at'>>(
  'editing.insert_comment',
  `insert into comments (part, account_id, comment_id, job_id, position, user_id, body)
   values ($1, $2, $3, $4, $5, $6, $7) returning comment_id as comment, created_at`,
);

/** Adds a comment. @param comment `userId` is undefined if an API key of the customer wrote it */
export async function insertComment(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  comment: { position: number | undefined; userId: string | undefined; body: string },
): Promise<Pick<CommentBody, 'comment' | 'created_at'>> {
  const { position, userId, body } = comment;
  const key = [account.part, account.accountId, uuidv7(), jobId];
  const [row] = await on.query(INSERT_COMMENT, [...key, position ?? null, userId ?? null, body]);
  on.changed('job', account, jobId);
  return row!;
}
