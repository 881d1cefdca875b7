/**
 * The translation worker: what becomes of a leased job.
 *
 *   new, machine_translate_in_progress   the machine drafts it
 *     human tier in production           its segments wait for an editor: translating
 *     anything else, hold passed         completed
 *     anything else, hold not passed     the result is kept: translating, due again when the hold has passed
 *   translating (its hold has passed)    completed with the result that was kept
 *   translating (an operator asked)      what no editor has touched has another draft: translating, as before
 *   drafted with failed segments         tried again later, unless every engine would do the same again; after the
 *                                        last try: failed and refunded, or, in the
 *                                        human tier, those segments go to the editor with the reason; of a job
 *                                        that is drafted anew they keep the draft that they had
 *   its text is over the time limit      failed and refunded at once; of a job that is drafted anew nothing changes
 *   the engine is in trouble             waits a minute for it, for up to a day; then as after the last try
 */
import type { Piece } from '@dragoman/documents';
import type { Context, Lane } from '@dragoman/engines';
import { type BrandContext, readContext } from '../brands/brands.ts';
import type { Database } from '../database/database.ts';
import {
  createDesk,
  type DraftedSegment,
  type JobFollower,
  type JobLease,
  type LeasedJob,
  type OpenWorker,
  type Outcome,
  postponeJob,
  type Remembered,
  type WorkRow,
} from '../jobs/jobs.ts';
import type { Log } from '../log.ts';
import { type AlignedSegment, type Scanner, TextTakesTooLong } from '../scanning/scanner.ts';
import { type Loop, startLoop } from '../work/loop.ts';
import { createQueue, type Lease } from '../work/queue.ts';
import { createSuspects } from '../work/suspects.ts';
import { createLanes } from './lanes.ts';
import { type Drafted, draftsOf, keep } from './translate.ts';
import type { Translator } from './translator.ts';

export interface TranslationWorkerOptions {
  database: Database;
  translator: Translator;
  scanner: Scanner;
  /** The room where people work on what a machine has drafted. */
  follower: JobFollower;
  log: Log;
  capacity: number;
  leaseSeconds: number;
  /** Called after each job that was settled, for metrics and hints. @param told somebody may have to be called back */
  settled(outcome: Outcome['kind'], told: boolean): void;
  /** How far a job is that takes long; told now and then. */
  progress(progress: Progress): void;
}

/** How far a machine is with a job: numbers, of segments. */
export interface Progress {
  account: string;
  job: string;
  drafted: number;
  segments: number;
}

/**
 * Tries of a job whose segments failed, and claims after which a job that never ends (its worker died each
 * time) is given up: it may be what kills them.
 */
const MAX_TRIES = 5;
const MAX_CLAIMS = 24;
/** Seconds before the next try: 5, 10, 20, 40. */
const retrySeconds = (attempts: number) => 5 * 2 ** (attempts - 1);
/** Trouble of the engine or the machine is nobody's try: seconds to the next look at it, and how old a job it may make wait. */
const TROUBLE_SECONDS = 60;
const MAX_TROUBLE_AGE_SECONDS = 24 * 3600;

/**
 * UTF-16 units of the texts in hand. A text in hand with its segments and drafts takes some ten times its size:
 * capacity alone, as a count of jobs, would let a few large documents run the process out of memory.
 */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/**
 * Of one account: what keeps an engine busy for some seconds. More in hand would only keep others from a place; one
 * text is worked however long it is.
 */
const MAX_ACCOUNT_CHARACTERS = 64 * 1024;

/** Much less than what is in hand keeps an engine busy. */
const REST_MILLISECONDS = 20;

/** As many at a time are somebody's load, of which no one is waited for. */
const MANY_BEGUN = 16;

/** How often a long job's progress is told. */
const PROGRESS_MILLISECONDS = 500;

export function startTranslationWorker(options: TranslationWorkerOptions): Loop & OpenWorker {
  const { database, translator, scanner, log } = options;
  const queue = createQueue(database, 'jobs', options.leaseSeconds, log);
  const withSuspects = createSuspects(queue, MAX_TRIES);
  const desk = createDesk(database, options.follower);
  const lanes = createLanes();
  /** Adopted ones on their way into the loop, by their leases' tokens: each has one of its own. */
  const adopted = new Map<string, LeasedJob>();
  /** At work; in hand there are suspects too, which wait for each other. */
  let begun = 0;

  async function work(lease: Lease, lost: AbortSignal): Promise<void> {
    // One that is given up now is not begun.
    if (lease.attempts > MAX_CLAIMS) return workOn(lease, lost);
    return withSuspects(lease, lost, () => workOn(lease, lost));
  }

  async function workOn(lease: Lease, lost: AbortSignal): Promise<void> {
    begun++;
    try {
      await carry(lease, lost);
    } finally {
      begun--;
    }
  }

  async function carry(lease: Lease, lost: AbortSignal): Promise<void> {
    const job = adopted.get(lease.token) ?? (await desk.open(lease));
    adopted.delete(lease.token);
    if (job === undefined) return;
    const lane = lanes.laneFor(lease.account.accountId, lease.weight, loop.isAlone(lease.account));
    const next = await decide(job, lane, lease, lost).catch((error: unknown) => unreadable(error, job));
    if (next === 'retry') return postponeJob(database, lease, retrySeconds(lease.attempts));
    if (next === 'wait') return queue.release([lease], TROUBLE_SECONDS);
    const hurry = lane === 'live' || begun < MANY_BEGUN;
    if (await desk.settle({ lease, job, outcome: next }, hurry)) {
      options.settled(next.kind, job.row.callback_url !== null || job.row.tier === 'chat');
      if (next.kind === 'failed') log.warn({ job: lease.id, reason: next.reason }, 'job failed');
    }
  }

  async function decide(
    job: LeasedJob,
    lane: Lane,
    lease: JobLease & Lease,
    lost: AbortSignal,
  ): Promise<Outcome | 'retry' | 'wait'> {
    const { row, texts, held } = job;
    if (texts.result !== undefined) return finish(texts.result, held);
    const anew = row.redraft !== null;
    if (anew && lease.attempts > MAX_CLAIMS) return { kind: 'redrafted', segments: [] };
    if (lease.attempts > MAX_CLAIMS)
      return { kind: 'failed', reason: 'given up after too many interrupted tries' };
    const waitsForEditor = row.tier !== 'machine' && row.environment === 'production';
    // An editor works on segments, which a finished text does not show: of a machine's own they are drafted anew.
    const drafts = waitsForEditor && row.upgrade_hash !== null;
    // An upgraded job's own machine translation is a finished document.
    if (texts.supplied !== undefined && !waitsForEditor && row.upgrade_hash !== null) {
      return finish(texts.supplied, held);
    }
    const task = {
      text: texts.source ?? '',
      format: row.text_format,
      sourceLanguage: row.source_language,
      targetLanguage: row.target_language,
    };
    if (texts.supplied !== undefined && !drafts && !anew) {
      // The customer's own translation is the draft; the machine does not translate.
      const aligned = await scanner.align(lease.account, { ...task, suppliedText: texts.supplied });
      const segments = aligned.map(ofSupplied);
      if (waitsForEditor) return { kind: 'drafted', segments };
      // In the sandbox nobody corrects it: it is the result, and what was not supplied stays as it is. Plain text has
      // nothing to fill in, and a text that cannot be aligned has no place for it.
      if (task.format === 'text' || segments.every(({ draft }) => draft === undefined)) {
        return finish(texts.supplied, held);
      }
      const drafts = segments.flatMap(({ segmentId, draft }) =>
        draft === undefined ? [] : [[segmentId, draft as Piece[]] as const],
      );
      return finish(await scanner.assemble(lease.account, { ...task, drafts }), held);
    }
    const { segments, assemble } = await scanner.open(lease.account, task);
    const brand = row.brand ?? row.default_brand ?? undefined;
    const said = await readContext(database, lease.account, brand, row.target_language);
    const drafted = await translator.draft(segments, {
      account: lease.account,
      tier: row.tier,
      brand,
      from: row.source_language,
      to: row.target_language,
      lane,
      ...(row.redraft ? { engine: row.redraft } : {}),
      context: contextOf(row, texts.instructions, said),
      signal: lost,
      progress: tellNowAndThen((done) =>
        options.progress({
          account: lease.account.accountId,
          job: lease.id,
          drafted: done,
          segments: segments.length,
        }),
      ),
    });
    const failed = drafted.filter((one) => one.status === 'failed');
    if (failed.some(({ retry }) => retry === 'wait')) {
      if (job.age < MAX_TROUBLE_AGE_SECONDS) return 'wait';
      // It is as old as it is; from when this was asked for, there are the tries.
      if (anew && lease.attempts < MAX_TRIES) return 'retry';
    } else if (failed.some(({ retry }) => retry === 'soon') && lease.attempts < MAX_TRIES) return 'retry';
    const remembered = rememberedOf(drafted);
    if (waitsForEditor) {
      const kind = anew ? 'redrafted' : 'drafted';
      return { kind, segments: drafted.map(forEditor), remembered };
    }
    if (failed[0] !== undefined) {
      return { kind: 'failed', reason: `the engine could not translate a segment: ${failed[0].reason}` };
    }
    return { ...finish(await assemble(draftsOf(drafted)), held), remembered };
  }

  const loop = startLoop({
    name: 'translation',
    queue,
    capacity: options.capacity,
    maxWeight: MAX_CHARACTERS,
    accountWeight: MAX_ACCOUNT_CHARACTERS,
    restMilliseconds: REST_MILLISECONDS,
    work,
    log,
  });
  return {
    leaseSeconds: options.leaseSeconds,
    wake: loop.wake,
    stop: loop.stop,
    roomFor: (account) => (loop.caughtUp ? loop.roomFor(account) : loop.placeFor(account)),
    get inHand() {
      return loop.inHand;
    },
    adopt(account, token, job) {
      const lease = { account, id: job.row.job_id, token, attempts: 1, weight: job.texts.source!.length };
      adopted.set(token, job);
      if (loop.adopt(lease)) return;
      adopted.delete(token);
      // Where it cannot be given back either, the lease runs out.
      queue.release([lease]).catch((error: unknown) => log.warn({ error }, 'could not give a job back'));
    },
  };
}

/** Another try of a text that is over its time limit would use the same time again. */
function unreadable(error: unknown, { row }: LeasedJob): Outcome {
  if (!(error instanceof TextTakesTooLong)) throw error;
  // A job that is drafted once more keeps the drafts that it has.
  if (row.redraft !== null) return { kind: 'redrafted', segments: [] };
  return { kind: 'failed', reason: error.reason };
}

/** Most jobs are done before anybody is told how far they are. */
function tellNowAndThen(tell: (drafted: number) => void): (drafted: number) => void {
  let toldAt = performance.now();
  return (drafted) => {
    const now = performance.now();
    if (now - toldAt < PROGRESS_MILLISECONDS) return;
    toldAt = now;
    tell(drafted);
  };
}

/** What the request says goes before what its brand says; instructions of both count. */
function contextOf(row: WorkRow, instructions: string | undefined, brand: BrandContext): Context {
  const tone = row.tone ?? brand.tone;
  const all = [brand.instructions, instructions].filter((one) => one !== undefined && one !== '');
  return {
    ...(tone === undefined ? {} : { tone }),
    ...(all.length === 0 ? {} : { instructions: all.join('\n') }),
    terms: brand.terms,
    format: row.text_format,
  };
}

function finish(result: string, held: boolean): Outcome & { kind: 'held' | 'completed' } {
  return { kind: held ? 'held' : 'completed', result };
}

function rememberedOf(drafted: readonly Drafted[]): Remembered[] {
  return drafted.flatMap((one, position) =>
    one.status === 'translated' && one.memoryId !== undefined ? [{ position, memoryId: one.memoryId }] : [],
  );
}

function forEditor(drafted: Drafted): DraftedSegment {
  const { segment } = drafted;
  const common = { segmentId: segment.id, source: segment.pieces };
  return drafted.status === 'translated'
    ? { ...common, draft: drafted.pieces, route: drafted.route, notes: drafted.notes, failure: undefined }
    : { ...common, draft: undefined, route: undefined, notes: [], failure: drafted.reason };
}

function ofSupplied(segment: AlignedSegment): DraftedSegment {
  const { id, pieces, draft, notes } = segment;
  const kept = draft === undefined ? keep(segment) : undefined;
  if (kept !== undefined) return forEditor(kept);
  const failure = draft === undefined ? 'no translation was supplied' : undefined;
  return { segmentId: id, source: pieces, draft, route: 'supplied', notes, failure };
}
