/**
 * Puts the texts of votes into waiting segments with the same reading, in the background.
 *
 * The text of a waiting segment depends only on the votes that count now (`vote-rules.ts`), so the same work
 * may run twice, late or in another process. Only segments change that nobody has edited, in tasks that nobody
 * holds, of jobs that are not in review, also in the job of the vote. The tasks are locked, and everything is read again,
 * before anything is written.
 *
 * The brand's setting decides what happens to a waiting segment:
 *   off      keeps its draft
 *   draft    gets the elected text as its draft
 *   confirm  as `draft`, and is confirmed if a reviewer or two editors agree and the checks pass
 *
 * A rule of the customer takes the place of the votes, as if all editors agreed. When it ends, a segment first
 * gets back exactly what the rule replaced; then its votes count again. If all votes for the replaced text were
 * withdrawn meanwhile, it gets its former draft.
 *
 * If all its votes were withdrawn, a segment gets its former draft again. If votes expired with the texts of
 * their jobs, their text stays. A draft that the customer supplied is never replaced.
 */
import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { check, type Finding, keyOf } from '@dragoman/checks';
import { countSegmentWords, isCorrect, type Piece } from '@dragoman/documents';
import type { AccountRef } from '../../base/account.ts';
import type { Log } from '../../base/log.ts';
import type { Queryable } from '../../database/database.ts';
import { createLeaseQueue, type Lease } from '../../work/queue.ts';
import { type LeaseWorker, startLeaseWorker } from '../../work/worker.ts';
import { checkInputs, type InputOf } from '../model/check-inputs.ts';
import type { EditingContext } from '../model/context.ts';
import { makeDueNow } from '../model/due-store.ts';
import * as fills from './fills-store.ts';
import { carry } from './repeats.ts';
import { listRules, noteDisagreements, type Rule } from './rules-store.ts';
import { electFor } from './vote-rules.ts';
import * as votes from './votes-store.ts';

/**
 * The number of segments that one transaction changes. Their tasks cannot be claimed during the transaction.
 */
const SLICE = 50;
/** The maximum number of readings and jobs that one worker processes at a time. */
const AT_A_TIME = 4;
/**
 * Work on votes that was claimed more than `most` times is given up, because it has probably killed the workers. When
 * this was 8, a run with 1,000 kills of a busy worker, three seconds apart, lost the text of one vote.
 */
const CLAIMS = { trusted: 4, most: 24 };
/** The checks for glossary terms. A text is not filled in if one of them reports even a warning. */
const GLOSSARY_CHECKS = ['terms', 'forbidden-terms', 'do-not-translate'];

/**
 * The range of the random revisions of edits that fills confirm. When a vote is withdrawn, the edits of its fills are
 * deleted, and a later edit could get the same revision again. A late save with the old revision would then not be
 * refused. Therefore the revisions are random and far above those of editors' edits.
 */
const FILL_REVISIONS = [1_000_000, 2_000_000_000] as const;

/** Starts the worker that fills segments after votes have changed. */
export function startPropagation(context: EditingContext, leaseSeconds: number, log: Log): LeaseWorker {
  const { database } = context;
  return startLeaseWorker<Lease, votes.Propagation, 'done'>({
    name: 'votes',
    queue: createLeaseQueue(database, 'propagations', leaseSeconds, log),
    capacity: AT_A_TIME,
    maxWeight: Number.MAX_SAFE_INTEGER,
    claims: CLAIMS,
    open: (lease) => votes.openPropagation(database, lease, CLAIMS.most),
    async decide(lease, work, lost) {
      if (lease.attempts > CLAIMS.most) log.warn({ propagation: lease.id }, 'work on votes was given up');
      else await propagate(context, lease.account, work, lost);
      return lost.aborted ? undefined : 'done';
    },
    settle: (lease) => votes.endPropagation(database, lease),
    log,
  });
}

/** Puts the elected text into each waiting segment of a reading or a job. */
async function propagate(
  context: EditingContext,
  account: AccountRef,
  work: votes.Propagation,
  lost: AbortSignal,
): Promise<void> {
  const { database } = context;
  for (let after: fills.SegmentPlace | undefined; !lost.aborted; ) {
    const places =
      work.reading === undefined
        ? await fills.listPlacesOfJob(database, account, work.jobId, after, SLICE)
        : await fills.listPlacesOfReading(database, account, work.reading, after, SLICE);
    // A segment whose rule ended is planned again, because its votes may have changed. A segment that forgot the
    // text under its rule is planned again, because the rule may have changed.
    while (places.length > 0 && !lost.aborted && (await propagateTo(context, account, places)));
    if (places.length < SLICE) break;
    after = places.at(-1);
  }
  if (work.reading !== undefined && !lost.aborted) await noteDisagreements(database, account, work.reading);
}

/** Changes one slice of segments. @returns true if some of them may need another change */
async function propagateTo(
  context: EditingContext,
  account: AccountRef,
  places: readonly fills.SegmentPlace[],
): Promise<boolean> {
  const { database, observer } = context;
  // Otherwise another worker, which read the votes and rules before their latest change, could commit after this
  // worker has found nothing to change.
  await fills.waitForFills(database, account, places);
  const rows = await fills.readFillable(database, account, places);
  const inputs = await readInputs(context, account, rows);
  const first = await planChanges(database, account, rows, inputs);
  for (const [why, segments] of Object.entries(first.refused) as [Refusal, number][]) {
    observer.notFilled(why, segments);
  }
  // Notifies the pages of editors who hold segments that need a change. These pages show the elected text, or
  // the draft if there is none.
  for (const jobId of first.held) database.changed('job', account, jobId);
  if (first.changes.length === 0) return false;
  const tasks = [...new Set(first.changes.map(({ row }) => row.task_id))];
  const made = await database.transaction(async (transaction) => {
    await fills.lockTasksOf(transaction, { account, taskIds: tasks });
    const changing = first.changes.map(({ row }) => row);
    const now = await fills.readFillable(transaction, account, changing);
    const { changes } = await planChanges(transaction, account, now, inputs);
    const forgotten = changes.filter(({ forgets }) => forgets);
    await fills.forgetUnderRules(
      transaction,
      account,
      forgotten.map(({ row }) => row),
    );
    const restored = changes.filter(({ fill, forgets }) => fill === undefined && !forgets);
    await fills.restoreSegments(
      transaction,
      account,
      restored.map(({ row }) => row),
    );
    const filled = changes.flatMap(({ fill }) => fill ?? []);
    await fills.keepUnderRules(
      transaction,
      account,
      filled.filter(({ byRule }) => byRule),
    );
    const unconfirmed = changes.filter(({ row, fill }) => fill?.revision === 0 && row.revision !== null);
    await fills.unconfirmFills(
      transaction,
      account,
      unconfirmed.map(({ row }) => row),
    );
    await fills.fillSegments(transaction, account, filled);
    for (const jobId of new Set(changes.map(({ row }) => row.job_id))) {
      transaction.changed('job', account, jobId);
    }
    // Makes late jobs due, because the fallback may have waited for the text of these segments.
    await makeDueNow(
      transaction,
      filled.map(({ job_id: jobId }) => ({ account, jobId })),
    );
    return { forgotten, restored, filled };
  });
  const confirmed = made.filled.filter(({ revision }) => revision > 0).length;
  observer.filled('restored', made.restored.length);
  observer.filled('confirmed', confirmed);
  observer.filled('draft', made.filled.length - confirmed);
  return made.forgotten.length > 0 || made.restored.some(({ row }) => row.by_rule);
}

/**
 * The number of jobs whose inputs are read at the same time, limited so that database connections are left for
 * the requests of editors.
 */
const READ_AT_ONCE = 4;

/**
 * Returns the inputs of the checks by job, for the jobs with waiting segments. A document is read only if its
 * format can limit lengths.
 */
async function readInputs(
  context: EditingContext,
  account: AccountRef,
  rows: readonly fills.FillableRow[],
): Promise<ReadonlyMap<string, InputOf>> {
  const jobs = [...new Map(rows.filter(fills.isWaiting).map((row) => [row.job_id, row])).values()];
  const inputs = new Map<string, InputOf>();
  while (jobs.length > 0) {
    const read = jobs.splice(0, READ_AT_ONCE).map(async (row) => {
      inputs.set(row.job_id, await checkInputs(context, { account, jobId: row.job_id }, row, 'limits'));
    });
    await Promise.all(read);
  }
  return inputs;
}

type Refusal = Parameters<EditingContext['observer']['notFilled']>[0];

/** A change of one segment. Without `fill` and `forgets`, what the segment held before its fill is restored. */
interface Change {
  row: fills.FillableRow;
  fill?: fills.NewFill;
  /** The segment keeps the text of its rule, but forgets the text of votes under it, because they were withdrawn. */
  forgets?: boolean;
}

interface Plan {
  changes: Change[];
  refused: Partial<Record<Refusal, number>>;
  /** The ids of jobs in which an editor holds a segment that needs a change. */
  held: Set<string>;
}

async function planChanges(
  on: Queryable,
  account: AccountRef,
  rows: readonly fills.FillableRow[],
  inputs: ReadonlyMap<string, InputOf>,
): Promise<Plan> {
  const readings = [...new Map(rows.map(({ reading }) => [reading.toString('base64'), reading])).values()];
  const rules = await listRules(on, account, readings);
  const named = rows.flatMap((row) => [row.filled_vote, row.voted_vote]).filter((id) => id !== null);
  const all = await votes.listAllVotes(on, account, readings, named);
  const votesFor = Map.groupBy(all, ({ reading }) => reading.toString('base64'));
  const plan: Plan = { changes: [], refused: {}, held: new Set() };
  for (const row of rows) {
    const cast = votesFor.get(row.reading.toString('base64')) ?? [];
    const change = changeOf(row, cast, rules.ruleFor(row), inputs.get(row.job_id)!);
    if (typeof change === 'string') plan.refused[change] = (plan.refused[change] ?? 0) + 1;
    else if (change !== undefined) plan.changes.push(change);
    if (fills.isUntouched(row) && row.task_status === 'claimed') plan.held.add(row.job_id);
  }
  return plan;
}

/**
 * Returns the change that a segment needs, or the reason why it cannot have the elected text; undefined if it
 * needs none.
 */
function changeOf(
  row: fills.FillableRow,
  cast: readonly votes.VoteRow[],
  rule: Rule | undefined,
  inputOf: InputOf,
): Change | Refusal | undefined {
  if (!fills.isUntouched(row) || row.is_own) return undefined;
  if (row.by_rule && rule === undefined) return fills.isWaiting(row) ? { row } : 'held';
  const isConfirmed = row.filled_revision !== null && row.filled_revision > 0;
  const counted = cast.filter(({ withdrawn }) => !withdrawn);
  const elected = rule === undefined ? electFor(counted, row) : { vote: rule, certain: true };
  const isFilled = row.filled_hash !== null;
  const isSameText = (one: votes.VoteRow) => row.filled_hash?.equals(one.target_hash) === true;
  const isNamed = (one: votes.VoteRow) => one.vote_id === row.filled_vote || isSameText(one);
  // If no vote for the filled text is left, not even a withdrawn one, the votes expired and the text stays.
  if (elected === undefined && (!isFilled || (counted.length === 0 && !cast.some(isNamed)))) return undefined;
  if (!fills.isWaiting(row)) return 'held';
  if (elected === undefined) return { row };
  const isGone = isWithdrawn(row, cast);
  if (isGone && row.by_rule) return { row, forgets: true };
  if (row.setting === 'off') return isGone ? { row } : undefined;
  const { vote } = elected;
  const isByThis = isFilled && row.by_rule === (rule !== undefined);
  const isSame = isByThis && row.filled_hash!.equals(vote.target_hash);
  const fitted = fitText(row, vote, inputOf);
  if (typeof fitted === 'string') return isGone || (isByThis && !isSame) ? { row } : fitted;
  const { target, findings } = fitted;
  const isAccepted = findings.every((one) => vote.acknowledged.includes(keyOf(one)));
  const isAgreed = elected.certain && isAccepted;
  // The confirmation stays if all remaining votes are for its text: other votes for the text have then
  // expired.
  const isKept = isSame && isConfirmed && cast.every((one) => !one.withdrawn && isSameText(one));
  const confirms = row.setting === 'confirm' && (isAgreed || isKept) && !row.asked;
  // The text stays when its vote was withdrawn and another has it, but the fill names that one.
  const isNamedRight =
    rule !== undefined || !cast.some((one) => one.vote_id === row.filled_vote && one.withdrawn);
  if (isSame && confirms === isConfirmed && isNamedRight) return undefined;
  // A draft with the same text from the memory stays, because it shows its origin more precisely.
  if (!isFilled && !confirms && isDeepStrictEqual(row.draft, target)) return undefined;
  return {
    row,
    fill: {
      job_id: row.job_id,
      position: row.position,
      voteId: vote.vote_id,
      byRule: rule !== undefined,
      targetHash: vote.target_hash,
      target,
      words:
        'job_id' in vote && vote.job_id === row.job_id
          ? 0
          : countSegmentWords(row.source, row.source_language),
      revision: confirms ? randomInt(...FILL_REVISIONS) : 0,
      editorId: vote.editor_id,
      acknowledged: vote.acknowledged,
    },
  };
}

/**
 * Returns true if votes filled a text into the segment, maybe under its rule, and all votes for that text were
 * withdrawn or changed. It is false if they expired.
 */
function isWithdrawn({ voted_hash, voted_vote }: fills.FillableRow, cast: readonly votes.VoteRow[]): boolean {
  const same = cast.filter(({ target_hash }) => voted_hash?.equals(target_hash));
  return (
    same.every(({ withdrawn }) => withdrawn) &&
    (same.length > 0 || cast.some((one) => one.vote_id === voted_vote))
  );
}

/**
 * Fits the text of a vote or rule to a segment. @returns the target with the warnings of the checks; or the reason why
 * the segment cannot have it
 */
export function fitText(
  row: { source: Piece[]; segment_id: string },
  vote: { source: Piece[]; target: Piece[] },
  inputOf: InputOf,
): { target: Piece[]; findings: Finding[] } | 'codes' | 'checks' {
  const target = carry(vote.source, row.source, vote.target);
  if (!isCorrect(row.source, target)) return 'codes';
  const findings = check(inputOf({ ...row, route: null }, target));
  const isWrong = findings.some((one) => one.severity === 'error' || GLOSSARY_CHECKS.includes(one.check));
  return isWrong ? 'checks' : { target, findings };
}
