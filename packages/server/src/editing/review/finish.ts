/**
 * Periodic work of editing: ends expired claims, assembles results, and applies the fallback at the deadline.
 * All work is stored in rows with a due time, so that another process resumes it if this one dies.
 *
 *   assembling                  the result is assembled and delivered in one transaction with all its consequences
 *   editing, past the deadline  if the brand's fallback is `machine`: each segment is delivered with its last confirmed
 *                               target, otherwise with its draft. With a draft among them the result is free and
 *                               flagged; if everything is confirmed it is charged. A few segments without target and draft
 *                               keep their source text. The delivery waits while an editor holds a claim, and while
 *                               more of them have neither
 *   review, past the deadline   everything is edited: delivered without the review, and charged
 *
 * A job whose result exceeds the time limit three times at one stage fails and is refunded. Attempts during
 * which an editor holds a claim do not count.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AccountRef } from '../../base/account.ts';
import { keptOf } from '../../base/kept.ts';
import type { Log } from '../../base/log.ts';
import { readDocumentSettings } from '../../brands/document-settings.ts';
import type { Transaction } from '../../database/database.ts';
import {
  completeEdited,
  countUntranslated,
  failEdited,
  lockWork,
  readTexts,
  type Untranslated,
} from '../../jobs/jobs.ts';
import { addEfforts, measureEfforts } from '../../memory/efforts.ts';
import { forgetSegments, learnFromJob } from '../../memory/memory.ts';
import { TextTakesTooLong } from '../../scanning/scanner.ts';
import type { Drafted } from '../../translation/drafts.ts';
import type { EditingContext } from '../model/context.ts';
import { translatedParts } from '../model/cuts.ts';
import { countTry, type DueJob, makeDueAgain, takeDueJob } from '../model/due-store.ts';
import * as editedJobs from '../model/edited-jobs-store.ts';
import * as edits from '../model/edits-store.ts';
import { EXPIRED_AT_ONCE, endExpiredClaims } from '../tasks/claims.ts';
import * as claims from '../tasks/claims-store.ts';
import * as store from '../tasks/store.ts';
import { readTone } from '../votes/lessons.ts';
import { closeQueries } from './query-store.ts';
import { cancelEditing } from './review.ts';

const POLL_MILLISECONDS = 2_000;
/**
 * The maximum number of jobs assembled at a time, with at most one job of each account. Slow documents of up to
 * three accounts therefore leave a place for other accounts.
 */
const JOBS_AT_ONCE = 4;
/** Seconds after which another process takes over a job whose process died. */
const LEASE_SECONDS = 30;
/** Seconds between attempts at a job past its deadline while an editor holds a claim on it. */
const IN_WORK_SECONDS = 60;
/**
 * Seconds between attempts at a job past its deadline while too many segments have neither target nor draft. The end
 * of a claim starts an attempt at once.
 */
const NO_TEXT_SECONDS = 3600;
/** Seconds between attempts at a job whose result exceeded the time limit. */
const UNREADABLE_SECONDS = 3600;
/** The maximum number of attempts at a job whose result exceeds the time limit. */
const MAX_UNREADABLE = 3;

export interface EditingUpkeep {
  wake(): void;
  /** Stops starting new work. Resolves when the current work is done. */
  stop(): Promise<void>;
}

export function startEditingUpkeep(context: EditingContext, log: Log, delivered: () => void): EditingUpkeep {
  let stopping = false;
  let runAgain = false;
  let running: Promise<void> | undefined;
  /** Jobs that are being assembled, by account id. */
  const inProgress = new Map<string, Promise<void>>();
  const run = () => {
    if (stopping) return;
    if (running !== undefined) {
      runAgain = true;
      return;
    }
    running = round()
      .catch((error: unknown) => {
        if (!stopping) log.warn({ error }, 'the upkeep of editing failed; it runs again');
      })
      .finally(() => {
        running = undefined;
        if (runAgain) {
          runAgain = false;
          run();
        }
      });
  };

  async function round(): Promise<void> {
    while (!stopping && (await endExpiredClaims(context)) === EXPIRED_AT_ONCE);
    while (!stopping && inProgress.size < JOBS_AT_ONCE) {
      const due = await takeDueJob(context.database, [...inProgress.keys()], LEASE_SECONDS);
      if (due === undefined) return;
      const { accountId } = due.account;
      const work = process(due).finally(() => {
        inProgress.delete(accountId);
        run();
      });
      inProgress.set(accountId, work);
    }
  }

  async function process({ account, jobId }: DueJob): Promise<void> {
    try {
      if (await advanceJob(context, log, account, jobId)) delivered();
    } catch (error) {
      // The error is only logged, because the job becomes due again.
      log.warn({ error, job: jobId }, 'an edited job could not be assembled');
    }
  }

  const timer = setInterval(run, POLL_MILLISECONDS);
  run();
  return {
    wake: run,
    async stop() {
      stopping = true;
      clearInterval(timer);
      await running;
      await Promise.all(inProgress.values());
    },
  };
}

/** Delivers a due job if its stage and deadline allow it. @returns true if the job was delivered or failed */
async function advanceJob(
  context: EditingContext,
  log: Log,
  account: AccountRef,
  jobId: string,
): Promise<boolean> {
  const job = await editedJobs.findEditedJob(context.database, account, jobId);
  if (job === undefined) return false;
  const { stage } = job;
  if (stage === 'assembling') return deliver(context, log, account, jobId, job);
  const falls =
    job.fallback === 'machine' && job.revision === 1 && (stage === 'editing' || stage === 'review');
  if (falls && job.late) return deliver(context, log, account, jobId, job);
  await makeDueAgain(context.database, { account, jobId, stage, seconds: 0 });
  return false;
}

/**
 * The data from which a delivery was prepared. The transaction that delivers checks that nothing has changed.
 */
interface PreparedDelivery {
  stage: editedJobs.Stage;
  job: editedJobs.TaskJobRow;
  targets: readonly edits.SegmentTargetRow[];
  /** True if every segment that has a price is confirmed. Segments with nothing to translate have none. */
  isEdited: boolean;
  trigger: 'revise' | 'complete' | 'fallBack';
  result: string;
  untranslated: Untranslated | undefined;
}

/**
 * Assembles and delivers a job at the stage in which it was found. @returns true if the job was delivered or
 * failed
 */
async function deliver(
  context: EditingContext,
  log: Log,
  account: AccountRef,
  jobId: string,
  { stage, revision }: editedJobs.EditedJobRow,
): Promise<boolean> {
  const { database, observer } = context;
  const [job, texts, targets] = await Promise.all([
    editedJobs.readTaskJob(database, account, jobId),
    readTexts(database, account, jobId, ['source']),
    edits.readTargets(database, { account, jobId, unconfirmed: false }),
  ]);
  const isIncomplete = stage !== 'assembling' && targets.some(({ target }) => target === null);
  const untranslated = isIncomplete
    ? countUntranslated(targets.map(draftedOf), job, context.rules.maxUntranslated)
    : undefined;
  if (isIncomplete && untranslated === undefined) {
    await makeDueAgain(database, { account, jobId, stage, seconds: NO_TEXT_SECONDS });
    return false;
  }
  const isEdited = targets.every(
    ({ confirmed_by, route }) => confirmed_by !== null || keptOf(route) !== undefined,
  );
  const trigger = revision > 1 ? 'revise' : isEdited ? 'complete' : 'fallBack';
  const result = await assemble(context, account, job, texts.source ?? '', targets);
  if (result instanceof TextTakesTooLong) {
    const failed = await postpone(context, account, jobId, stage, result.reason);
    if (failed === undefined) throw result;
    log.warn(
      { job: jobId, reason: result.reason },
      'an edited job failed: its result exceeds the time limit',
    );
    if (failed) observer.delivered('failed');
    return true;
  }
  const prepared = { stage, job, targets, isEdited, trigger, result, untranslated } as const;
  const isDelivered = await settle(context, account, jobId, prepared);
  if (isDelivered) observer.delivered(trigger === 'fallBack' ? 'fallback' : 'edited', untranslated);
  else await makeDueAgain(database, { account, jobId, stage, seconds: IN_WORK_SECONDS });
  return isDelivered;
}

/** Returns the text of a segment in the form in which the worker counts untranslated segments. */
function draftedOf({ segment_id: id, source, target, route, failure }: edits.SegmentTargetRow): Drafted {
  const segment = { id, unit: 0, pieces: target ?? source };
  if (target === null) return { segment, status: 'failed', reason: failure ?? 'lost', retry: 'never' };
  const kept = keptOf(route);
  const translated = kept === undefined ? segment : { ...segment, kept };
  return { segment: translated, status: 'translated', pieces: target, route: route ?? '', notes: [] };
}

/**
 * Assembles the document with the targets. @returns the document, or the error if the assembly exceeds the
 * time limit
 */
async function assemble(
  context: EditingContext,
  account: AccountRef,
  job: editedJobs.TaskJobRow,
  source: string,
  targets: readonly edits.SegmentTargetRow[],
): Promise<string | TextTakesTooLong> {
  const drafts = targets.flatMap(({ segment_id, target }) =>
    target === null ? [] : [[segment_id, target] as const],
  );
  return context.scanner
    .assemble(account, {
      text: source,
      format: job.text_format,
      sourceLanguage: job.source_language,
      targetLanguage: job.target_language,
      settings: await readDocumentSettings(context.database, account, job.document_settings),
      drafts,
      sources: edits.sourcesOf(targets),
      joins: edits.joinsOf(targets),
    })
    .catch((error: unknown) => {
      if (error instanceof TextTakesTooLong) return error;
      throw error;
    });
}

/**
 * Delivers a prepared result in one transaction. @returns false if the job has changed since it was prepared
 */
async function settle(
  context: EditingContext,
  account: AccountRef,
  jobId: string,
  { stage, job, targets, isEdited, trigger, ...delivered }: PreparedDelivery,
): Promise<boolean> {
  const { database } = context;
  const tone = await readTone(database, account, job);
  // A job that is delivered again has been measured.
  const compared = trigger === 'complete' ? await edits.readCompared(database, { account, jobId }) : [];
  const efforts = await measureEfforts(compared, job.target_language);
  try {
    await database.transaction(async (transaction) => {
      // Locks the job first, as a cancelation does, so that the two cannot deadlock.
      const completed = await completeEdited(transaction, account, jobId, delivered, trigger);
      const edited = await editedJobs.lockEditedJob(transaction, account, jobId);
      if (!completed || edited?.stage !== stage) throw new ConcurrentChange();
      await store.lockTasks(transaction, { account, jobId, tasks: null });
      // A job past its deadline is not delivered while an editor holds a claim. A review may also have set a
      // new deadline.
      if (
        stage !== 'assembling' &&
        (!edited.late || (await claims.isInWork(transaction, { account, jobId })))
      ) {
        throw new ConcurrentChange();
      }
      // An editor may have claimed, confirmed and released a task in the meantime. The text that they
      // confirmed belongs in the result.
      const now = await edits.readTargets(transaction, { account, jobId, unconfirmed: false });
      if (!isDeepStrictEqual(now, targets)) throw new ConcurrentChange();
      const common = { account, jobId, actor: 'system', ends: 'canceled' } as const;
      await store.moveTasks(transaction, { ...common, trigger: 'deliver' });
      if (isEdited) await store.moveTasks(transaction, { ...common, kinds: ['edit'], trigger: 'close' });
      await store.moveTasks(transaction, { ...common, trigger: 'cancel' });
      await closeQueries(transaction, account, jobId);
      await editedJobs.setStage(transaction, account, jobId, [stage], 'done');
      if (trigger !== 'fallBack') {
        await teachMemory(transaction, account, jobId, job, tone);
        const scope = { from: job.source_language, to: job.target_language, tone };
        await addEfforts(transaction, account, scope, efforts);
        await context.corrected(transaction, account, jobId, delivered.result);
      } else {
        await forgetSegments(transaction, account, [{ jobId, first: 0, last: edits.MAX_POSITION }]);
      }
    });
    return true;
  } catch (error) {
    if (error instanceof ConcurrentChange) return false;
    throw error;
  }
}

/**
 * Schedules another attempt at a job whose result exceeds the time limit, and fails the job after the last
 * attempt. A job that was delivered before keeps that result: it stays rejected, and an operator may refund
 * it.
 * @returns true if the job failed, undefined while attempts are left
 */
function postpone(
  context: EditingContext,
  account: AccountRef,
  jobId: string,
  stage: editedJobs.Stage,
  reason: string,
): Promise<boolean | undefined> {
  return context.database.transaction(async (transaction) => {
    // Locks the job first, as a delivery does, so that the two cannot deadlock.
    await lockWork(transaction, { account, jobId });
    const edited = await editedJobs.lockEditedJob(transaction, account, jobId);
    if (edited?.stage !== stage) return undefined;
    const isInWork = stage !== 'assembling' && (await claims.isInWork(transaction, { account, jobId }));
    if (isInWork || (await countTry(transaction, { account, jobId })) < MAX_UNREADABLE) {
      await makeDueAgain(transaction, { account, jobId, stage, seconds: UNREADABLE_SECONDS });
      return undefined;
    }
    const failed = await failEdited(transaction, account, jobId, reason);
    await cancelEditing(transaction, account, jobId);
    return failed;
  });
}

/** Adds the confirmed segments to the translation memory. Entries of a reviewed job have a higher weight. */
async function teachMemory(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  job: editedJobs.TaskJobRow,
  tone: string | undefined,
): Promise<void> {
  const segments = await edits.readSegments(transaction, account, jobId, 0, edits.MAX_POSITION);
  const tasks = await store.listJobTasks(transaction, { account, jobId });
  await learnFromJob(transaction, account, {
    // Only jobs of the production environment are added to the memory, because the sandbox has no editors.
    environment: 'production',
    jobId,
    from: job.source_language,
    to: job.target_language,
    brand: job.brand ?? undefined,
    tone,
    outcome: tasks.some(({ kind, status }) => kind === 'review' && status === 'done')
      ? 'reviewed'
      : 'delivered',
    segments: segments.map((row) => {
      const isConfirmed = row.status === 'confirmed' && row.target !== null;
      return {
        position: row.position,
        source: row.source,
        target: isConfirmed ? row.target! : undefined,
        editor: row.editor_id ?? undefined,
        parts: isConfirmed ? translatedParts(row) : [],
      };
    }),
  });
}

/** Thrown to roll back a delivery because another transaction has changed the job. */
class ConcurrentChange extends Error {
  override name = 'ConcurrentChange';
}
