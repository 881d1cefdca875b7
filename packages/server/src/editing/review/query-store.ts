/** SQL statements about the queries of editors to customers. */
import type { Piece } from '@dragoman/documents';
import type { AccountRef, Environment } from '../../base/account.ts';
import { uuidv7 } from '../../base/ids.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { statement } from '../../database/statements.ts';
import { QUERY_MOVES, type QueryTrigger } from '../model/states.ts';
import type { QueryBody } from '../schemas/schemas.ts';

const COLUMNS = `q.query_id as query, q.position, coalesce(u.name, '') as by, q.question, q.status, q.answer, q.asked_at,
          q.ended_at`;

const INSERT = statement<{ query_id: string }>(
  'editing.insert_query',
  `insert into queries (part, account_id, query_id, job_id, position, user_id, question)
   values ($1, $2, $3, $4, $5, $6, $7)
   on conflict (part, account_id, job_id, position) where status = 'open' do nothing
   returning query_id`,
);

/** Adds a query. @returns its id; undefined if the segment has an open query already */
export async function insertQuery(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  { position, userId, question }: { position: number; userId: string; question: string },
): Promise<string | undefined> {
  const key = [account.part, account.accountId, uuidv7(), jobId];
  const [row] = await transaction.query(INSERT, [...key, position, userId, question]);
  transaction.changed('job', account, jobId);
  return row?.query_id;
}

const OF_JOB = statement<QueryBody>(
  'editing.queries_of_job',
  `select ${COLUMNS} from queries q left join users u on u.user_id = q.user_id
    where q.part = $1 and q.account_id = $2 and q.job_id = $3
    order by q.status <> 'open', q.query_id desc limit 1000`,
);

/** Returns at most 1,000 queries of a job, oldest first: the open queries and the latest other ones. */
export async function listQueriesOfJob(
  on: Queryable,
  account: AccountRef,
  jobId: string,
): Promise<QueryBody[]> {
  const rows = await on.query(OF_JOB, [account.part, account.accountId, jobId]);
  return rows.sort((a, b) => (a.query < b.query ? -1 : 1));
}

/** A query with the fields that the customer needs to answer it. */
export interface CustomerQueryRow extends QueryBody {
  uid: string;
  source: Piece[];
}

/**
 * Returns the queries that a customer sees: the open queries of all jobs, or the queries of one job except the
 * withdrawn ones. The open queries come first, oldest first; then the ended ones, latest first.
 */
export const listQueriesOfAccount = statement<
  CustomerQueryRow,
  { account: AccountRef; environment: Environment; uid: string | null; limit: number }
>(
  'editing.queries_of_account',
  `select ${COLUMNS}, j.uid, s.source
     from queries q
     join jobs j on j.part = :part and j.account_id = q.account_id and j.job_id = q.job_id
     join segments s on s.part = :part and s.account_id = q.account_id and s.job_id = q.job_id
      and s.position = q.position
     left join users u on u.user_id = q.user_id
    where q.part = :part and q.account_id = :account_id and j.environment = :environment
      and case when :uid::text is null then q.status = 'open' else j.uid = :uid and q.status <> 'withdrawn' end
    order by q.status <> 'open', case q.status when 'open' then q.query_id end, q.query_id desc limit :limit`,
).rows;

const MOVE = statement<{ query_id: string; job_id: string; position: number }>(
  'editing.move_query',
  `update queries set status = $4, answer = $5, ended_at = now()
    where part = $1 and account_id = $2 and query_id = $3 and status = any($6)
   returning query_id, job_id, position`,
);

/**
 * Changes the status of a query if its current status allows it.
 * @param answer only for the trigger `answer`
 * @returns undefined if the account has no such query in an allowed status
 */
export async function moveQuery(
  transaction: Transaction,
  account: AccountRef,
  queryId: string,
  trigger: Exclude<QueryTrigger, 'close'>,
  answer?: string,
): Promise<{ job_id: string; position: number } | undefined> {
  const { from, to } = QUERY_MOVES[trigger];
  const values = [account.part, account.accountId, queryId, to, answer ?? null, from];
  const [row] = await transaction.query(MOVE, values);
  if (row !== undefined) transaction.changed('job', account, row.job_id);
  return row;
}

const CLOSE = statement<{ query_id: string }>(
  'editing.close_queries',
  `update queries set status = $4, ended_at = now()
    where part = $1 and account_id = $2 and job_id = $3 and status = any($5) returning query_id`,
);

/** Closes the open queries of a job that is delivered or canceled. */
export async function closeQueries(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
): Promise<void> {
  const { from, to } = QUERY_MOVES.close;
  const rows = await transaction.query(CLOSE, [account.part, account.accountId, jobId, to, from]);
  if (rows.length > 0) transaction.changed('job', account, jobId);
}

/** Returns the answer of a query and the uid of its job; undefined if the environment has no such query. */
export const findQuery = statement<
  { uid: string; answer: string | null },
  { account: AccountRef; environment: Environment; queryId: string }
>(
  'editing.find_query',
  `select j.uid, q.answer
     from queries q join jobs j on j.part = :part and j.account_id = q.account_id and j.job_id = q.job_id
    where q.part = :part and q.account_id = :account_id and q.query_id = :queryId and j.environment = :environment`,
).first;
