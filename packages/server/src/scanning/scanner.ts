/**
 * Runs the tasks on texts: small texts in this process, larger ones in scanner processes, so that one customer's ten
 * megabytes do not block the event loop. Language detection always runs in a scanner process, because loading the
 * detector takes 250 ms.
 */
import type { AccountRef } from '../base/account.ts';
import { ApiError } from '../base/errors.ts';
import { createProcessPool, type RunOptions, TimeLimitExceeded } from './process-pool.ts';
import {
  type AlignedSegment,
  type AlignTask,
  type AssembleTask,
  alignSupplied,
  assemble,
  type CountResult,
  type CountTask,
  count,
  type DocumentSettings,
  type Drafts,
  describeSegments,
  type ExamineResult,
  type ExamineTask,
  examine,
  type JoinTask,
  joinSegments,
  type OpenTask,
  type open,
  openDocument,
  type ProtectTask,
  protect,
  type Tasks,
} from './tasks.ts';

export type { AlignedSegment, DocumentSettings, ExaminedSegment } from './tasks.ts';

/** A text that was opened for translation. */
export interface OpenedText {
  segments: ReturnType<typeof open>;
  /** Returns the text with its translations inserted; segments without a translation keep their source. */
  assemble(drafts: Drafts): Promise<string>;
}

const TOO_LONG = 'cannot be read in reasonable time; send it in smaller parts.';

/**
 * The error of a task that exceeded its time limit. A retry would take as long again. HTTP requests with such a text
 * are answered with this error.
 */
export class TextTakesTooLong extends ApiError {
  override name = 'TextTakesTooLong';
  /** The failure message of a job whose text takes too long to read. */
  readonly reason = 'the text cannot be read in reasonable time';

  constructor() {
    super('invalid_request', `text: ${TOO_LONG}`, {}, { fields: { text: TOO_LONG } });
  }
}

/**
 * Runs tasks on texts. Each task belongs to an account, which has a share of the processes and of their
 * queue. Every task that runs in a scanner process may reject with `TextTakesTooLong`.
 */
export interface Scanner {
  /**
   * Checks a text, determines its language, and counts its words.
   * @param options `apart`: use a process even for a small text, because it is one of many
   * @throws ApiError `unavailable` when the queue is full
   */
  examine(account: AccountRef, task: ExamineTask, options?: { apart?: boolean }): Promise<ExamineResult>;
  /**
   * Counts the words of a text.
   * @param signal aborted when the client disconnects
   * @throws ApiError `unavailable` when the queue is full
   */
  count(account: AccountRef, task: CountTask, signal?: AbortSignal): Promise<CountResult>;
  /**
   * Returns the parts of a plain text that are not translated.
   * @throws ApiError `unavailable` when the queue is full
   */
  protect(account: AccountRef, task: ProtectTask): Promise<ReturnType<typeof protect>>;
  /**
   * Opens a text for translation. The limits of the queue do not apply here and in `assemble`, because
   * workers limit their texts.
   */
  open(account: AccountRef, task: OpenTask): Promise<OpenedText>;
  /** Returns what an editor sees about each segment, such as its place in the document. */
  describe(account: AccountRef, task: OpenTask): Promise<ReturnType<typeof describeSegments>>;
  /** Joins neighbouring segments, so that an editor can translate them as one. */
  join(account: AccountRef, task: JoinTask): Promise<ReturnType<typeof joinSegments>>;
  /** Returns the segments of a text with the customer's own translation. */
  align(account: AccountRef, task: AlignTask): Promise<AlignedSegment[]>;
  /** Assembles a text that this or another process opened before. */
  assemble(account: AccountRef, task: AssembleTask): Promise<string>;
  close(): Promise<void>;
}

export interface ScannerOptions {
  /**
   * Limits of the queued and running examinations: their number, and their total length in UTF-16 code units. One
   * account may use half of each limit.
   */
  maxWaiting?: number;
  maxWaitingLength?: number;
  /** Returns the processor milliseconds that a task of `length` UTF-16 code units may use. */
  limitMilliseconds?(length: number): number;
  /** Called when a task exceeded its time limit. */
  timedOut?(): void;
  /** The script of the scanner processes; tests replace it. */
  script?: URL;
}

/**
 * The maximum length, in UTF-16 code units, of a text that is read in this process. Measured in a warm process with
 * HTML of short paragraphs (medians): examining 64 Ki units takes 13 ms, or 105 to 160 ms when half of the text is in
 * other scripts or languages. So 16 Ki units take at most 40 ms. The first texts of a process take three times as long.
 */
export const INLINE_LENGTH = 16 * 1024;
/**
 * The maximum length of a text with patterns of a customer that is read in this process. The slowest patterns and texts
 * that we found (`PatternLimits`) take 5 ms per 100 units, so 512 units take at most 30 ms.
 */
export const INLINE_LENGTH_WITH_PATTERNS = 512;
/**
 * One account uses at most two of the three processes, so that its long text delays neither other accounts
 * nor its own other texts.
 */
const PROCESSES = 3;
const MAX_WAITING = 256;
const MAX_WAITING_LENGTH = 64 * 1024 * 1024;
const RETRY_SECONDS = 5;
/** The share of the queue that one account may use. */
const ACCOUNT_SHARE = 0.5;
const IDLE_MILLISECONDS = 60_000;
/** Heap limit of a process. A text that needs more memory fails; other texts do not. */
const MEMORY_MEBIBYTES = 1024;
/**
 * Limit of the processor time of a task: ten times the slowest measured texts, because a machine may be
 * slower. The slowest measured texts take 11 seconds for 10 MiB, so the limit for 10 MiB is 110 seconds.
 */
const LIMIT_BASE_MILLISECONDS = 5_000;
const LIMIT_MILLISECONDS_PER_UNIT = 0.01;

/** Creates the scanner. It reads short texts in this process and long ones in processes of its own. */
export function createScanner(options: ScannerOptions = {}): Scanner {
  const {
    maxWaiting = MAX_WAITING,
    maxWaitingLength = MAX_WAITING_LENGTH,
    limitMilliseconds = (length) => LIMIT_BASE_MILLISECONDS + length * LIMIT_MILLISECONDS_PER_UNIT,
  } = options;
  const inTurn = createQueue(maxWaiting, maxWaitingLength);
  // Processes start on demand, because most installations never need a scanner process.
  const processes = createProcessPool({
    most: PROCESSES,
    idleMilliseconds: IDLE_MILLISECONDS,
    memoryMebibytes: MEMORY_MEBIBYTES,
    script: options.script,
  });

  async function run<Name extends keyof Tasks>(
    name: Name,
    account: AccountRef,
    task: Parameters<Tasks[Name]>[0],
    signal?: AbortSignal,
  ): Promise<ReturnType<Tasks[Name]>> {
    const given: RunOptions = {
      account: account.accountId,
      limitMilliseconds: limitMilliseconds(lengthOf(task)),
      signal,
    };
    try {
      return await processes.run(name, task, given);
    } catch (error) {
      if (!(error instanceof TimeLimitExceeded)) throw error;
      options.timedOut?.();
      throw new TextTakesTooLong();
    }
  }

  async function assembleText(account: AccountRef, task: AssembleTask): Promise<string> {
    return isInline(task, task.text.length) ? assemble(task) : run('assemble', account, task);
  }

  return {
    async examine(account, task, { apart = false } = {}) {
      const length = lengthOf(task);
      if (!apart && isInline(task, length) && task.sourceLanguage !== undefined) return examine(task);
      return inTurn(account, length, () => run('examine', account, task));
    },
    async count(account, task, signal) {
      const { length } = task.text;
      if (isInline(task, length)) return count(task);
      return inTurn(account, length, () => run('count', account, task, signal));
    },
    async protect(account, task) {
      const { length } = task.text;
      return isInline(task, length)
        ? protect(task)
        : inTurn(account, length, () => run('protect', account, task));
    },
    async open(account, task) {
      if (isInline(task, task.text.length)) {
        const held = openDocument(task);
        return { segments: held.segments, assemble: async (drafts) => held.assemble(drafts) };
      }
      const segments = await run('open', account, task);
      return { segments, assemble: (drafts) => assembleText(account, { ...task, drafts }) };
    },
    async describe(account, task) {
      return isInline(task, task.text.length) ? describeSegments(task) : run('describe', account, task);
    },
    async join(account, task) {
      return isInline(task, task.text.length) ? joinSegments(task) : run('join', account, task);
    },
    async align(account, task) {
      return isInline(task, lengthOf(task)) ? alignSupplied(task) : run('align', account, task);
    },
    assemble: assembleText,
    close: () => processes.close(),
  };
}

/**
 * Creates the queue of examinations, as a function that runs work on a caller's text within its limits.
 * @throws ApiError `unavailable`, from the function, when the queue is full
 */
function createQueue(maxWaiting: number, maxWaitingLength: number) {
  /** How full the queue is: in total, and by account id. */
  const total: Waiting = { count: 0, length: 0 };
  const ofAccount = new Map<string, Waiting>();
  return async function inTurn<T>(
    { accountId }: AccountRef,
    length: number,
    work: () => Promise<T>,
  ): Promise<T> {
    const own = ofAccount.get(accountId) ?? { count: 0, length: 0 };
    const fits = (waiting: Waiting, share: number) =>
      // A single text is always accepted, however long.
      waiting.count === 0 ||
      (waiting.count < maxWaiting * share && waiting.length + length <= maxWaitingLength * share);
    if (!fits(total, 1) || !fits(own, ACCOUNT_SHARE)) {
      throw new ApiError('unavailable', 'Too many texts are being read. Try again.', {
        'retry-after': String(RETRY_SECONDS),
      });
    }
    ofAccount.set(accountId, own);
    for (const waiting of [total, own]) {
      waiting.count++;
      waiting.length += length;
    }
    try {
      return await work();
    } finally {
      for (const waiting of [total, own]) {
        waiting.count--;
        waiting.length -= length;
      }
      if (own.count === 0) ofAccount.delete(accountId);
    }
  };
}

/** Returns true if a task on `length` UTF-16 code units runs in this process. */
function isInline({ settings }: { settings: DocumentSettings }, length: number): boolean {
  return length <= (settings.protect === undefined ? INLINE_LENGTH : INLINE_LENGTH_WITH_PATTERNS);
}

/** Number of queued and running examinations, and their UTF-16 code units in total. */
interface Waiting {
  count: number;
  length: number;
}

/** Returns the number of UTF-16 code units that a task reads. */
function lengthOf(task: { text: string; suppliedText?: string | undefined; drafts?: Drafts }): number {
  let length = task.text.length + (task.suppliedText?.length ?? 0);
  for (const [, pieces] of task.drafts ?? [])
    for (const piece of pieces) length += 'text' in piece ? piece.text.length : 0;
  return length;
}
