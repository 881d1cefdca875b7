/**
 * Queries: questions of editors to the customer, each about one segment. While a query is open, the segment
 * cannot be confirmed and its task cannot be submitted. If the deadline passes first, the fallback of the
 * brand applies as usual.
 */
import { plainText } from '@dragoman/documents';
import { recordAudit } from '../../audit/audit.ts';
import type { Caller, Person } from '../../base/account.ts';
import { fieldError, notFound, reason } from '../../base/errors.ts';
import type { Database } from '../../database/database.ts';
import { recordEvents } from '../../deliveries/deliveries.ts';
import type { TaskKey } from '../model/access-store.ts';
import type { EditingContext, EditingUser } from '../model/context.ts';
import type { JobQueryBody, QueryBody } from '../schemas/schemas.ts';
import * as queries from './query-store.ts';
import { requireInTask, withClaim } from './review.ts';

/**
 * Asks the customer about a segment of a claimed task.
 * @throws ApiError like `submit`; `not_found` if the segment is not part of the task; `invalid_request` if the
 * segment has an open query
 */
export async function askCustomer(
  context: EditingContext,
  user: EditingUser,
  key: TaskKey,
  token: string,
  { position, question }: { position: number; question: string },
): Promise<QueryBody> {
  const { account, jobId } = key;
  return withClaim(context, user, key, token, async (transaction) => {
    await requireInTask(transaction, user, key, position);
    const asked = { position, userId: user.userId, question };
    const id = await queries.insertQuery(transaction, account, jobId, asked);
    if (id === undefined) throw fieldError('question', reason('query_exists'));
    // The event has no callback, because programs expect a callback only when a job ends.
    await recordEvents(transaction, [
      { account, environment: 'production', type: 'job.asked', subject: { kind: 'job', jobId } },
    ]);
    const rows = await queries.listQueriesOfJob(transaction, account, jobId);
    return rows.find(({ query }) => query === id)!;
  });
}

/** Withdraws an open query. @throws ApiError like `submit`; `not_found` if the job has no such open query */
export async function withdrawQuery(
  context: EditingContext,
  user: EditingUser,
  key: TaskKey,
  token: string,
  queryId: string,
): Promise<void> {
  await withClaim(context, user, key, token, async (transaction) => {
    const moved = await queries.moveQuery(transaction, key.account, queryId, 'withdraw');
    if (moved?.job_id !== key.jobId) throw notFound();
    await requireInTask(transaction, user, key, moved.position);
  });
}

/**
 * Answers a query. The same answer may be sent again, because the first response may have been lost; it then
 * changes nothing.
 * @param by `key` for an API key of the account, whose answers get no audit entry: the query itself records
 * them
 * @throws ApiError `not_found` if the account has no such open query in this environment
 * @returns the uid of the job
 */
export function answerQuery(
  database: Database,
  { account, environment }: Pick<Caller, 'account' | 'environment'>,
  by: Pick<Person, 'userId' | 'email'> | 'key',
  queryId: string,
  answer: string,
): Promise<string> {
  return database.transaction(async (transaction) => {
    const moved = await queries.moveQuery(transaction, account, queryId, 'answer', answer);
    const found = await queries.findQuery(transaction, { account, environment, queryId });
    if (found === undefined || (moved === undefined && found.answer !== answer)) throw notFound();
    if (moved !== undefined && by !== 'key') {
      const detail = { query: queryId, position: moved.position };
      await recordAudit(transaction, by, { action: 'query.answered', account, subject: found.uid, detail });
    }
    return found.uid;
  });
}

export function presentJobQuery(row: queries.CustomerQueryRow): JobQueryBody {
  return { ...row, source: plainText(row.source) };
}
