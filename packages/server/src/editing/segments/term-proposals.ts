/** The terms that editors propose in a task, for the glossary of the job's brand. */
import { proposeTerm, withdrawTerm } from '../../brands/proposals.ts';
import type { TaskKey } from '../model/access-store.ts';
import { proposalJob } from '../model/check-inputs.ts';
import type { EditingContext, EditingUser } from '../model/context.ts';
import { readTaskJob } from '../model/edited-jobs-store.ts';
import type { TermOfTask } from '../schemas/schemas.ts';
import { lostClaim } from '../tasks/claims.ts';
import * as claims from '../tasks/claims-store.ts';
import { presentTaskTerm } from './view.ts';

/** Checks that the user holds the task. @throws ApiError like `submit` without a valid claim */
async function requireClaim(
  context: EditingContext,
  user: EditingUser,
  key: TaskKey,
  token: string,
): Promise<void> {
  const holder = { userId: user.userId, token };
  const held = await context.database.transaction((transaction) =>
    claims.keepClaim(transaction, key, holder, context.rules.leaseSeconds),
  );
  if (held === undefined) throw await lostClaim(context, key, { ...user, token });
}

/**
 * Proposes a term. It applies to the job at once, in the glossary and in the checks.
 * @throws ApiError like `submit`; `invalid_request` with the field for a term that cannot be proposed
 */
export async function proposeTaskTerm(
  context: EditingContext,
  user: EditingUser,
  key: TaskKey,
  {
    token,
    source,
    target,
    note,
  }: { token: string; source: string; target: string; note?: string | undefined },
): Promise<TermOfTask> {
  await requireClaim(context, user, key, token);
  const job = await readTaskJob(context.database, key.account, key.jobId);
  const proposed = { source, target, note };
  const term = await proposeTerm(context.database, key.account, proposalJob(key.jobId, job), user, proposed);
  return presentTaskTerm(user, term);
}

/** Withdraws a term that this editor proposed. @throws ApiError like `submit`; `not_found` */
export async function withdrawTaskTerm(
  context: EditingContext,
  user: EditingUser,
  key: TaskKey,
  token: string,
  proposal: string,
): Promise<void> {
  await requireClaim(context, user, key, token);
  await withdrawTerm(context.database, key.account, key.jobId, user.userId, proposal);
}
