/**
 * Runs the tasks: small ones at once, the others in processes of their own, so that one customer's ten megabytes do
 * not hold up everybody's event loop. Detection always runs there: loading the detector takes a quarter of a second.
 */
import type { AccountRef } from '../account.ts';
import { ApiError } from '../errors.ts';
import { createProcesses, type RunOptions, TimeLimitExceeded } from './processes.ts';
import {
  type AlignedSegment,
  type AlignTask,
  type AssembleTask,
  alignSupplied,
  assemble,
  type Counted,
  type CountTask,
  count,
  type Drafts,
  describeSegments,
  type Examined,
  type ExamineTask,
  examine,
  hold,
  type OpenTask,
  type open,
  type Tasks,
} from './tasks.ts';

export type { AlignedSegment } from './tasks.ts';

/** A text in the middle of its translation. */
export interface Opened {
  segments: ReturnType<typeof open>;
  /** The text with its translations in place; what has none stays as it is. */
  assemble(drafts: Drafts): Promise<string>;
}

const TOO_LONG = 'cannot be read in reasonable time; send it in smaller parts.';

/**
 * A text whose task was over its time limit. Not worth another try: it would use the same time again. An HTTP request is
 * refused with it.
 */
export class TextTakesTooLong extends ApiError {
  override name = 'TextTakesTooLong';
  /** Why a job fails that has such a text. */
  readonly reason = 'the text cannot be read in reasonable time';

  constructor() {
    super('invalid_request', `text: ${TOO_LONG}`, {}, { fields: { text: TOO_LONG } });
  }
}

/**
 * Every task is somebody's: the account has a share of the processes and of the places in the queue for them.
 * @throws TextTakesTooLong from every task that runs in a process
 */
export interface Scanner {
  /**
   * `apart`: in a process of its own however small, since it is one of many.
   * @throws ApiError `unavailable` when too much waits for a process already
   */
  examine(account: AccountRef, task: ExamineTask, options?: { apart?: boolean }): Promise<Examined>;
  /**
   * @param signal aborted when the client has gone away
   * @throws ApiError `unavailable`, as `examine`
   */
  count(account: AccountRef, task: CountTask, signal?: AbortSignal): Promise<Counted>;
  /** Workers bound what they have in hand themselves, so this and `assemble` always get their turn. */
  open(account: AccountRef, task: OpenTask): Promise<Opened>;
  /** What an editor is shown beside its segments. */
  describe(account: AccountRef, task: OpenTask): Promise<ReturnType<typeof describeSegments>>;
  /** The segments of a text, each with what was supplied for it. */
  align(account: AccountRef, task: AlignTask): Promise<AlignedSegment[]>;
  /** For a text that was opened before, by this process or another. */
  assemble(account: AccountRef, task: AssembleTask): Promise<string>;
  close(): Promise<void>;
}

export interface ScannerOptions {
  /**
   * Examinations that may wait for a process or be in one: at most this many, and this many UTF-16 units. One account
   * may have half of both.
   */
  maxWaiting?: number;
  maxWaitingLength?: number;
  /** Processor milliseconds that a task of so many UTF-16 units may use. */
  limitMilliseconds?(length: number): number;
  /** Called when a task was ended because it was over that limit. */
  timedOut?(): void;
  /** What the processes run instead, in tests. */
  script?: URL;
}

/**
 * UTF-16 units. Measured on HTML in short paragraphs, warm, medians: examining 64 Ki takes 13 ms, and 105 to 160 ms
 * when half of it is in other scripts or languages, so 16 Ki take 40 ms at most. The first ones of a process take three
 * times as long.
 */
export const INLINE_LENGTH = 16 * 1024;
/** Three, of which one account has two at most: a long text does not delay other texts, of its account or of others. */
const PROCESSES = 3;
const MAX_WAITING = 256;
const MAX_WAITING_LENGTH = 64 * 1024 * 1024;
const RETRY_SECONDS = 5;
/** Of what may wait, for one account: it cannot keep all others out. */
const ACCOUNT_SHARE = 0.5;
const IDLE_MILLISECONDS = 60_000;
/** Of each process. A text that needs more memory fails alone. */
const MEMORY_MEBIBYTES = 1024;
/**
 * Processor time that a task may use. Ten times what the slowest honest texts were measured to use, which is eleven
 * seconds for 10 MiB: the machine may be slower. 10 MiB may use 110 seconds.
 */
const LIMIT_BASE_MILLISECONDS = 5_000;
const LIMIT_MILLISECONDS_PER_UNIT = 0.01;

export function createScanner(options: ScannerOptions = {}): Scanner {
  const {
    maxWaiting = MAX_WAITING,
    maxWaitingLength = MAX_WAITING_LENGTH,
    limitMilliseconds = (length) => LIMIT_BASE_MILLISECONDS + length * LIMIT_MILLISECONDS_PER_UNIT,
  } = options;
  /** Of all accounts, and by account id. */
  const total: Waiting = { count: 0, length: 0 };
  const ofAccount = new Map<string, Waiting>();
  // None is begun before a text needs one: most programs never meet such a text.
  const processes = createProcesses({
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
    const { accountId } = account;
    const given: RunOptions = {
      account: accountId,
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

  async function put(account: AccountRef, task: AssembleTask): Promise<string> {
    return task.text.length <= INLINE_LENGTH ? assemble(task) : run('assemble', account, task);
  }

  /** A caller's text in a process of its own, unless too much of callers' waits for one already. */
  async function inTurn<T>({ accountId }: AccountRef, length: number, work: () => Promise<T>): Promise<T> {
    const own = ofAccount.get(accountId) ?? { count: 0, length: 0 };
    const fits = (waiting: Waiting, share: number) =>
      // One that is alone is always taken, however long.
      waiting.count === 0 ||
      (waiting.count < maxWaiting * share && waiting.length + length <= maxWaitingLength * share);
    if (!fits(total, 1) || !fits(own, ACCOUNT_SHARE)) {
      throw new ApiError('unavailable', 'Too many texts are being looked at; try again.', {
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
  }
  return {
    async examine(account, task, { apart = false } = {}) {
      const length = lengthOf(task);
      if (!apart && length <= INLINE_LENGTH && task.sourceLanguage !== undefined) return examine(task);
      return inTurn(account, length, () => run('examine', account, task));
    },
    async count(account, task, signal) {
      const { length } = task.text;
      if (length <= INLINE_LENGTH) return count(task);
      return inTurn(account, length, () => run('count', account, task, signal));
    },
    async open(account, task) {
      if (task.text.length <= INLINE_LENGTH) {
        const held = hold(task);
        return { segments: held.segments, assemble: async (drafts) => held.assemble(drafts) };
      }
      const segments = await run('open', account, task);
      return { segments, assemble: (drafts) => put(account, { ...task, drafts }) };
    },
    async describe(account, task) {
      return task.text.length <= INLINE_LENGTH ? describeSegments(task) : run('describe', account, task);
    },
    async align(account, task) {
      return lengthOf(task) <= INLINE_LENGTH ? alignSupplied(task) : run('align', account, task);
    },
    assemble: put,
    async close() {
      await processes.close();
    },
  };
}

/** What waits for a process, and how many UTF-16 units that is. */
interface Waiting {
  count: number;
  length: number;
}

/** UTF-16 units of all that a task has to read. */
function lengthOf(task: { text: string; suppliedText?: string | undefined; drafts?: Drafts }): number {
  let length = task.text.length + (task.suppliedText?.length ?? 0);
  for (const [, pieces] of task.drafts ?? [])
    for (const piece of pieces) length += 'text' in piece ? piece.text.length : 0;
  return length;
}
