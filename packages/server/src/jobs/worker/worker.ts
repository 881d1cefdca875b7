/**
 * The translation worker. It decides the outcome of a leased job:
 *
 *   new, machine_translate_in_progress   the engine drafts it, then
 *     human tier in production           its segments go to an editor: translating
 *     otherwise, delivery delay over     completed
 *     otherwise                          the result is stored: translating, due again at the end of the delivery delay
 *   translating, delivery delay over     completed with the stored result
 *   translating, redraft requested       untouched segments get another draft: translating, as before
 *   drafted with failed segments         retried later, unless every engine would fail in the same way again.
 *                                        After the last attempt, failed segments keep their source text and are
 *                                        not charged. If too many words failed, or every segment, the job fails
 *                                        and its hold is released. In the human tier the failed segments go to
 *                                        the editor with the reason; in a redraft they keep their draft.
 *   text over its time limit             failed at once, hold released; a redraft leaves the old drafts
 *   sandbox trigger in the text          failed at once, or completed as after a fallback
 *   engine unavailable                   retried every minute for a day, then the job fails
 */

import { isDeepStrictEqual } from 'node:util';
import type { Piece } from '@dragoman/documents';
import type { Context, Lane } from '@dragoman/engines';
import type { Environment } from '../../base/account.ts';
import type { Log } from '../../base/log.ts';
import { sandboxTriggerOf } from '../../base/text.ts';
import { type BrandContext, readContext } from '../../brands/brands.ts';
import { readDocumentSettings } from '../../brands/document-settings.ts';
import type { Database } from '../../database/database.ts';
import type { OutboxSender } from '../../deliveries/deliveries.ts';
import { compareWithMemory, type WhoseEfforts } from '../../memory/efforts.ts';
import {
  type AlignedSegment,
  type OpenedText,
  type Scanner,
  TextTakesTooLong,
} from '../../scanning/scanner.ts';
import { type Drafted, draftsOf, keepSegment } from '../../translation/drafts.ts';
import type { Translator } from '../../translation/translator.ts';
import { createLeaseQueue, type Lease } from '../../work/queue.ts';
import { type LeaseWorker, RetryLater, startLeaseWorker } from '../../work/worker.ts';
import {
  type AnyJobRow,
  createJobSettler,
  type DraftedSegment,
  type JobHooks,
  type JobOutcome,
  type LeasedJob,
  type SegmentMatch,
} from '../jobs.ts';
import { countUntranslated } from '../untranslated.ts';
import { createRateLimiter } from './rate-limiter.ts';

export interface TranslationWorkerOptions {
  database: Database;
  translator: Translator;
  scanner: Scanner;
  hooks: JobHooks;
  sender: OutboxSender;
  log: Log;
  capacity: number;
  leaseSeconds: number;
  /** Whose figures decide between the drafts of an engine and of the memory. */
  draftFigures: WhoseEfforts;
  /** The largest share of a job's words that may be untranslated in its result. */
  maxUntranslated: number;
  /** Called with the outcome of each job when it is stored. */
  settled(environment: Environment, outcome: JobOutcome): void;
  /** Called at most every half second while a long job is drafted. */
  progress(progress: DraftProgress): void;
}

/** The number of segments of a job that are drafted, and the number of all its segments. */
export interface DraftProgress {
  account: string;
  job: string;
  drafted: number;
  segments: number;
}

/** The maximum number of attempts at a job with failed segments. */
const MAX_TRIES = 5;
/**
 * The maximum number of claims of a job. A job that was claimed more often fails, because it may be what
 * crashes the workers.
 */
const MAX_CLAIMS = 24;
/** Returns the seconds from a failed attempt to the next one: 5, 10, 20, then 40. */
const retrySeconds = (attempts: number) => 5 * 2 ** (attempts - 1);
/** Seconds between retries while an engine is unavailable. These retries do not count as attempts. */
const UNAVAILABLE_SECONDS = 60;
/** The age of a job in seconds from which it no longer waits for an unavailable engine. */
const MAX_WAIT_AGE_SECONDS = 24 * 3600;

/**
 * The maximum total length of the texts of all running jobs, in UTF-16 code units. A text with its segments and drafts
 * takes some ten times its size, so a limit on the number of jobs alone would let a few large documents exhaust the
 * memory.
 */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/**
 * The maximum total length of the texts of one account's running jobs, in UTF-16 code units: some seconds of work for
 * an engine. A longer text runs while no other text of its account runs.
 */
const MAX_ACCOUNT_CHARACTERS = 64 * 1024;

/** The minimum pause between polls, short enough to keep an engine busy. */
const REST_MILLISECONDS = 20;

/**
 * From this number of running jobs on, results wait up to 50 ms to share a commit: throughput then matters more
 * than the delay of one job.
 */
const SHARED_COMMIT_JOBS = 16;

const PROGRESS_MILLISECONDS = 500;

export function startTranslationWorker(options: TranslationWorkerOptions): LeaseWorker<Lease, LeasedJob> {
  const { database, log } = options;
  const settler = createJobSettler(database, options.hooks, options.sender);
  const rateLimiter = createRateLimiter();
  const worker = startLeaseWorker<Lease, LeasedJob, { outcome: JobOutcome; lane: Lane }>({
    name: 'translation',
    queue: createLeaseQueue(database, 'jobs', options.leaseSeconds, log),
    capacity: options.capacity,
    maxWeight: MAX_CHARACTERS,
    accountWeight: MAX_ACCOUNT_CHARACTERS,
    restMilliseconds: REST_MILLISECONDS,
    claims: { trusted: MAX_TRIES, most: MAX_CLAIMS },
    open: settler.open,
    async decide(lease, job, lost) {
      const lane = rateLimiter.laneFor(lease.account.accountId, lease.weight, worker.isAlone(lease.account));
      const outcome = await decide(options, lease, job, lane, lost).catch((error: unknown) =>
        outcomeOfTimeLimit(error, job),
      );
      return outcome instanceof RetryLater ? outcome : { outcome, lane };
    },
    async settle(lease, job, { outcome, lane }) {
      const immediate = lane === 'interactive' || worker.runningCount < SHARED_COMMIT_JOBS;
      if (!(await settler.settle({ lease, job, outcome }, immediate))) return;
      options.settled(job.row.environment, outcome);
      if (outcome.kind === 'failed') log.warn({ job: lease.id, reason: outcome.reason }, 'job failed');
    },
    log,
  });
  return worker;
}

async function decide(
  options: TranslationWorkerOptions,
  lease: Lease,
  job: LeasedJob,
  lane: Lane,
  lost: AbortSignal,
): Promise<JobOutcome | RetryLater> {
  const { row, texts, held } = job;
  const trigger = sandboxTriggerOf(row.environment, texts.source);
  if (texts.result !== undefined) {
    const fallsBack = trigger === 'fallback' && row.tier === 'human' && !held;
    const stored = { result: texts.result, ...(row.untranslated && { untranslated: row.untranslated }) };
    return fallsBack ? { kind: 'fell_back', ...stored } : { ...finish(texts.result, held), ...stored };
  }
  if (trigger === 'fail') return { kind: 'failed', reason: 'the text contains [sandbox:fail]' };
  const isRedraft = row.redraft !== null;
  if (lease.attempts > MAX_CLAIMS) {
    if (isRedraft) return { kind: 'redrafted', segments: [] };
    return { kind: 'failed', reason: 'given up after too many interrupted tries' };
  }
  const toEditor = isForEditor(row);
  const isUpgrade = row.upgrade_hash !== null;
  // An upgraded job has the machine job's result as its supplied text. Without an editor (in the sandbox),
  // this finished document is also the result of the upgraded job.
  if (texts.supplied !== undefined && !toEditor && isUpgrade && row.untranslated === null) {
    return finish(texts.supplied, held);
  }
  // For an editor, an upgraded job is drafted by an engine again, because the machine's result has no segments; where the
  // draft differs from the result, the result takes its place. Without an editor, it is drafted again if some segments of
  // the result were not translated.
  if (texts.supplied !== undefined && !isUpgrade && !isRedraft) {
    return alignSupplied(options, lease, job, texts.supplied);
  }
  const { segments, assemble } = await options.scanner.open(lease.account, await taskOf(options, lease, job));
  const brand = row.brand ?? row.default_brand ?? undefined;
  const style = await readContext(options.database, lease.account, brand, row.target_language);
  const purpose = { brand, context: contextOf(row, texts.instructions, style) };
  const drafted = await draft(options, lease, job, lane, lost, segments, purpose);
  const retry = retryOf(drafted, lease, job);
  if (retry !== undefined) return retry;
  const matches = matchesOf(drafted);
  if (toEditor && isRedraft) return { kind: 'redrafted', segments: drafted.map(segmentForEditor), matches };
  if (toEditor && isUpgrade && texts.supplied !== undefined) {
    const made = await withResult(options, lease, job, drafted, texts.supplied);
    return { kind: 'drafted', segments: made.map(segmentForEditor), matches: matchesOf(made) };
  }
  if (toEditor) return compareDrafts(options, lease, job, lost, drafted, purpose);
  const failed = drafted.filter((one) => one.status === 'failed');
  if (failed[0] === undefined) return { ...finish(await assemble(draftsOf(drafted)), held), matches };
  const isUnavailable = failed.some(({ retry }) => retry === 'wait');
  const untranslated = isUnavailable ? undefined : countUntranslated(drafted, row, options.maxUntranslated);
  if (untranslated === undefined) {
    return { kind: 'failed', reason: `the engine could not translate a segment: ${failed[0].reason}` };
  }
  return { ...finish(await assemble(draftsOf(drafted)), held), matches, untranslated };
}

const isForEditor = (row: AnyJobRow): boolean => row.tier !== 'machine' && row.environment === 'production';

async function taskOf({ database }: TranslationWorkerOptions, { account }: Lease, { row, texts }: LeasedJob) {
  return {
    settings: await readDocumentSettings(database, account, row.document_settings),
    text: texts.source ?? '',
    format: row.text_format,
    sourceLanguage: row.source_language,
    targetLanguage: row.target_language,
  };
}

/** Uses the customer's own translation as the draft, without an engine. */
async function alignSupplied(
  options: TranslationWorkerOptions,
  lease: Lease,
  job: LeasedJob,
  supplied: string,
): Promise<JobOutcome> {
  const task = await taskOf(options, lease, job);
  const { scanner } = options;
  const aligned = await scanner.align(lease.account, { ...task, suppliedText: supplied });
  const segments = aligned.map(segmentOfSupplied);
  if (isForEditor(job.row)) return { kind: 'drafted', segments };
  // The sandbox has no editors, so the supplied translation is the result. Segments that it does not cover stay
  // in the source language. For plain text, or if nothing can be aligned, it is returned unchanged.
  if (task.format === 'text' || segments.every((segment) => segment.draft === undefined)) {
    return finish(supplied, job.held);
  }
  const drafts = segments.flatMap((segment) =>
    segment.draft === undefined ? [] : [[segment.segmentId, segment.draft as Piece[]] as const],
  );
  return finish(await scanner.assemble(lease.account, { ...task, drafts }), job.held);
}

/** The route of a draft that was made before: for a machine job that was upgraded since. */
const MADE_BEFORE = 'machine';

/**
 * Replaces drafts of an upgraded job by the translation that its customer has. The engine, or the memory, may translate
 * differently by now. Segments that were not translated then keep their new drafts.
 */
async function withResult(
  options: TranslationWorkerOptions,
  lease: Lease,
  job: LeasedJob,
  drafted: readonly Drafted[],
  result: string,
): Promise<Drafted[]> {
  const task = await taskOf(options, lease, job);
  const aligned = await options.scanner.align(lease.account, { ...task, suppliedText: result });
  return drafted.map((one, index) => {
    const { draft, pieces, notes, kept } = aligned[index]!;
    if (draft === undefined || kept !== undefined) return one;
    if (one.status === 'translated' && isDeepStrictEqual(one.pieces, draft)) return one;
    if (job.row.untranslated !== null && isDeepStrictEqual(draft, pieces)) return one;
    return { segment: one.segment, status: 'translated', pieces: draft, route: MADE_BEFORE, notes };
  });
}

/** What drafts are made for, apart from the languages. */
interface Purpose {
  brand: string | undefined;
  context: Context & { format: AnyJobRow['text_format'] };
}

async function draft(
  options: TranslationWorkerOptions,
  lease: Lease,
  { row }: LeasedJob,
  lane: Lane,
  lost: AbortSignal,
  segments: OpenedText['segments'],
  { brand, context }: Purpose,
): Promise<Drafted[]> {
  return options.translator.draft(segments, {
    account: lease.account,
    tier: row.tier,
    environment: row.environment,
    brand,
    from: row.source_language,
    to: row.target_language,
    lane,
    ...(row.redraft ? { engine: row.redraft } : {}),
    context,
    signal: lost,
    progress: throttle((drafted) =>
      options.progress({
        account: lease.account.accountId,
        job: lease.id,
        drafted,
        segments: segments.length,
      }),
    ),
  });
}

/**
 * Adds similar entries of the memory to the drafts of engines. They cost no time where a retry follows. If the memory
 * cannot be read, editors get the drafts of the engines.
 */
async function compareDrafts(
  { database, draftFigures, log }: TranslationWorkerOptions,
  lease: Lease,
  { row }: LeasedJob,
  lost: AbortSignal,
  drafted: readonly Drafted[],
  { brand, context }: Purpose,
): Promise<JobOutcome> {
  const { tone, terms = [], format } = context;
  const purpose = { from: row.source_language, to: row.target_language, brand, tone, terms, format };
  const ofEngines = drafted.flatMap((one, position) =>
    one.status === 'translated' && one.memoryId === undefined && one.segment.kept === undefined
      ? [{ position, source: one.segment.pieces, route: one.route }]
      : [],
  );
  const found = await compareWithMemory(
    database,
    lease.account,
    purpose,
    ofEngines,
    draftFigures,
    lost,
  ).catch((error: unknown) => {
    lost.throwIfAborted();
    log.warn({ error, job: lease.id }, 'could not compare drafts with the memory');
    return [];
  });
  const segments = drafted.map(segmentForEditor);
  const matches = matchesOf(drafted);
  for (const [index, { position }] of ofEngines.entries()) {
    const similar = found[index];
    if (similar === undefined) continue;
    const { memoryId, ...stored } = similar;
    segments[position]!.similar = stored;
    if (similar.better) matches.push({ position, memoryId });
  }
  return { kind: 'drafted', segments, matches };
}

/** Returns the time of the next attempt at a job with failed segments; undefined if there is none. */
function retryOf(drafted: readonly Drafted[], lease: Lease, { row, age }: LeasedJob): RetryLater | undefined {
  const failed = drafted.filter((one) => one.status === 'failed');
  const hasTries = lease.attempts < MAX_TRIES;
  const again = new RetryLater(retrySeconds(lease.attempts), true);
  if (failed.some(({ retry }) => retry === 'wait')) {
    if (age < MAX_WAIT_AGE_SECONDS) return new RetryLater(UNAVAILABLE_SECONDS, false);
    // The age of a redrafted job is irrelevant, because the redraft was requested later; only attempts count.
    return row.redraft !== null && hasTries ? again : undefined;
  }
  return failed.some(({ retry }) => retry === 'soon') && hasTries ? again : undefined;
}

/**
 * Returns the outcome for a text that exceeded its time limit. There is no retry, because it would exceed the
 * limit again. Errors with other causes are thrown again.
 */
function outcomeOfTimeLimit(error: unknown, { row }: LeasedJob): JobOutcome {
  if (!(error instanceof TextTakesTooLong)) throw error;
  // A redrafted job keeps its old drafts.
  if (row.redraft !== null) return { kind: 'redrafted', segments: [] };
  return { kind: 'failed', reason: error.reason };
}

/** Reports nothing in the first half second, because most jobs are done by then. */
function throttle(report: (drafted: number) => void): (drafted: number) => void {
  let reportedAt = performance.now();
  return (drafted) => {
    const now = performance.now();
    if (now - reportedAt < PROGRESS_MILLISECONDS) return;
    reportedAt = now;
    report(drafted);
  };
}

/** The request's tone overrides the brand's; the instructions of both apply. */
function contextOf(
  row: AnyJobRow,
  instructions: string | undefined,
  brand: BrandContext,
): Purpose['context'] {
  const tone = row.tone ?? brand.tone;
  const all = [brand.instructions, instructions].filter((one) => one !== undefined && one !== '');
  return {
    ...(tone === undefined ? {} : { tone }),
    ...(all.length === 0 ? {} : { instructions: all.join('\n') }),
    terms: brand.terms,
    format: row.text_format,
  };
}

function finish(result: string, held: boolean): JobOutcome & { kind: 'held' | 'completed' } {
  return { kind: held ? 'held' : 'completed', result };
}

function matchesOf(drafted: readonly Drafted[]): SegmentMatch[] {
  return drafted.flatMap((one, position) =>
    one.status === 'translated' && one.memoryId !== undefined ? [{ position, memoryId: one.memoryId }] : [],
  );
}

function segmentForEditor(drafted: Drafted): DraftedSegment {
  const { segment } = drafted;
  const common = { segmentId: segment.id, source: segment.pieces };
  if (drafted.status === 'translated') {
    const { pieces, route, notes, confidence } = drafted;
    return { ...common, draft: pieces, route, notes, confidence, failure: undefined };
  }
  return { ...common, draft: undefined, route: undefined, notes: [], failure: drafted.reason };
}

function segmentOfSupplied(segment: AlignedSegment): DraftedSegment {
  const { id, pieces, draft, notes } = segment;
  const kept = draft === undefined ? keepSegment(segment) : undefined;
  if (kept !== undefined) return segmentForEditor(kept);
  const failure = draft === undefined ? 'no translation was supplied' : undefined;
  return { segmentId: id, source: pieces, draft, route: 'supplied', notes, failure };
}
