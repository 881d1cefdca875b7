/**
 * What is looked after without anybody asking: claims that have run out, jobs whose result is to be put together, jobs
 * whose time is over. All of them are rows with a due time, so whoever dies in the middle leaves them to another.
 *
 *   assembling                    the result is made, and delivered in one transaction with everything that follows
 *   editing, deadline over        the brand does not wait: each segment is delivered with the last text that an editor
 *                                 confirmed, else with the machine's draft. Free and flagged where a draft is among
 *                                 them; charged as usual where editors confirmed all. Not while somebody is at work on
 *                                 it, and not while a sentence has no text at all
 *   review, deadline over         all of it is edited: delivered without the review, as usual
 */
import { isDeepStrictEqual } from 'node:util';
import type { AccountRef } from '../account.ts';
import { readContext } from '../brands/brands.ts';
import type { Transaction } from '../database/database.ts';
import { completeEdited, readTexts } from '../jobs/jobs.ts';
import type { Log } from '../log.ts';
import { learn } from '../memory/memory.ts';
import { TextTakesTooLong } from '../scanning/scanner.ts';
import { EXPIRED_AT_ONCE, expire } from './claims.ts';
import * as claims from './claims-store.ts';
import * as edits from './edits-store.ts';
import type { EditingRoom } from './room.ts';
import * as store from './store.ts';

const POLL_MILLISECONDS = 2_000;
const JOBS_AT_ONCE = 16;
const MAX_POSITION = 2 ** 31 - 1;
/** Until another looks at a job that was taken by one who died. */
const LEASE_SECONDS = 30;
/** Between two looks at a job that somebody is at work on past its deadline. */
const IN_WORK_SECONDS = 60;
/** Between two looks at a job past its deadline in which a sentence has no text. The end of a claim brings one at once. */
const NO_TEXT_SECONDS = 3600;
/** Until the next try of a job whose text could not be put together within the time limit. */
const UNREADABLE_SECONDS = 3600;

export interface EditingUpkeep {
  wake(): void;
  /** Begins nothing more; resolves when what is under way is done. */
  stop(): Promise<void>;
}

export function startEditingUpkeep(room: EditingRoom, log: Log, delivered: () => void): EditingUpkeep {
  let stopping = false;
  let again = false;
  let running: Promise<void> | undefined;
  const look = () => {
    if (stopping) return;
    if (running !== undefined) {
      again = true;
      return;
    }
    running = round()
      .catch((error: unknown) => {
        if (!stopping) log.warn({ error }, 'upkeep of editing was interrupted');
      })
      .finally(() => {
        running = undefined;
        if (again) {
          again = false;
          look();
        }
      });
  };

  async function round(): Promise<void> {
    while (!stopping && (await expire(room)) === EXPIRED_AT_ONCE);
    for (;;) {
      if (stopping) return;
      const due = await store.takeDueJobs(room.database, JOBS_AT_ONCE, LEASE_SECONDS);
      for (const { account, jobId } of due) {
        try {
          if (await lookAfter(room, account, jobId)) delivered();
        } catch (error) {
          // The row is due again in a while.
          log.warn({ error, job: jobId }, 'a job could not be put together');
        }
        if (stopping) return;
      }
      if (due.length < JOBS_AT_ONCE) return;
    }
  }

  const timer = setInterval(look, POLL_MILLISECONDS);
  look();
  return {
    wake: look,
    async stop() {
      stopping = true;
      clearInterval(timer);
      await running;
    },
  };
}

/** Does what is to be done about a job now. @returns whether it was delivered */
export async function lookAfter(room: EditingRoom, account: AccountRef, jobId: string): Promise<boolean> {
  const job = await store.findEditedJob(room.database, account, jobId);
  if (job === undefined) return false;
  const { stage } = job;
  if (stage === 'assembling') return deliver(room, account, jobId, job);
  const falls =
    job.fallback === 'machine' && job.revision === 1 && (stage === 'editing' || stage === 'review');
  if (falls && job.late) return deliver(room, account, jobId, job);
  await store.lookAgain(room.database, account, jobId, stage, 0);
  return false;
}

/** Puts the result of a job that was found at a stage together and delivers it, or nothing. */
async function deliver(
  room: EditingRoom,
  account: AccountRef,
  jobId: string,
  { stage, revision }: store.EditedJobRow,
): Promise<boolean> {
  const { database, observer } = room;
  const [job, texts, targets] = await Promise.all([
    store.readTaskJob(database, account, jobId),
    readTexts(database, account, jobId, ['source']),
    edits.readTargets(database, account, jobId, false),
  ]);
  if (stage !== 'assembling' && targets.some(({ target }) => target === null)) {
    await store.lookAgain(database, account, jobId, stage, NO_TEXT_SECONDS);
    return false;
  }
  const isEdited = targets.every(({ confirmed }) => confirmed);
  const trigger = revision > 1 ? 'revise' : isEdited ? 'complete' : 'fallBack';
  const said = await readContext(database, account, job.brand, job.target_language);
  const result = await room.scanner
    .assemble(account, {
      text: texts.source ?? '',
      format: job.text_format,
      sourceLanguage: job.source_language,
      targetLanguage: job.target_language,
      drafts: targets.flatMap(({ segment_id, target }) =>
        target === null ? [] : [[segment_id, target] as const],
      ),
    })
    .catch(async (error: unknown) => {
      if (error instanceof TextTakesTooLong)
        await store.lookAgain(database, account, jobId, stage, UNREADABLE_SECONDS);
      throw error;
    });
  const outcome = await database
    .transaction(async (transaction) => {
      // The job's row first, as whoever cancels it has it first.
      const completed = await completeEdited(transaction, account, jobId, result, trigger);
      const edited = await store.lockEditedJob(transaction, account, jobId);
      if (!completed || edited?.stage !== stage) throw new Overtaken();
      await store.lockTasks(transaction, account, jobId);
      // Somebody has begun since, or it was sent back with a new deadline: past its deadline a job waits for who is at
      // work on it.
      if (stage !== 'assembling' && (!edited.late || (await claims.isInWork(transaction, account, jobId))))
        throw new Overtaken();
      // Somebody may have begun, confirmed and released while it was put together: that belongs into the result.
      const now = await edits.readTargets(transaction, account, jobId, false);
      if (!isDeepStrictEqual(now, targets)) throw new Overtaken();
      const common = { account, jobId, actor: 'system', ends: 'canceled' } as const;
      await store.moveTasks(transaction, { ...common, trigger: 'deliver' });
      if (isEdited) await store.moveTasks(transaction, { ...common, kinds: ['edit'], trigger: 'close' });
      await store.moveTasks(transaction, { ...common, trigger: 'cancel' });
      await store.setStage(transaction, account, jobId, [stage], 'done');
      if (trigger !== 'fallBack') {
        await teach(transaction, account, jobId, job, job.tone ?? said.tone);
        await room.corrected(transaction, account, jobId, result);
      }
      return true;
    })
    .catch((error: unknown) => {
      if (error instanceof Overtaken) return false;
      throw error;
    });
  if (outcome) observer.delivered(trigger === 'fallBack' ? 'fallback' : 'edited');
  else await store.lookAgain(database, account, jobId, stage, IN_WORK_SECONDS);
  return outcome;
}

/** What people confirmed is remembered; what a reviewer has seen, with more weight. */
async function teach(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  job: store.TaskJobRow,
  tone: string | undefined,
): Promise<void> {
  const segments = await edits.readSegments(transaction, account, jobId, 0, MAX_POSITION);
  const tasks = await store.listJobTasks(transaction, account, jobId);
  await learn(transaction, account, {
    environment: 'production', // in the sandbox nobody edits
    jobId,
    from: job.source_language,
    to: job.target_language,
    brand: job.brand ?? undefined,
    tone,
    outcome: tasks.some(({ kind, status }) => kind === 'review' && status === 'done')
      ? 'reviewed'
      : 'delivered',
    segments: segments.map(({ position, source, target, status, editor_id }) => ({
      position,
      source,
      target: status === 'confirmed' && target !== null ? target : undefined,
      editor: editor_id ?? undefined,
    })),
  });
}

/** Another was first: nothing of it happens. */
class Overtaken extends Error {
  override name = 'Overtaken';
}
