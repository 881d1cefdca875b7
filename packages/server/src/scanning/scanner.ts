/**
 * Runs the tasks: small ones at once, the others in processes of their own, so that one customer's ten megabytes do
 * not hold up everybody's event loop. Detection always runs there: loading the detector takes a quarter of a second.
 */
import { ApiError } from '../errors.ts';
import { createProcesses } from './processes.ts';
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
} from './tasks.ts';

export type { AlignedSegment } from './tasks.ts';

/** A text in the middle of its translation. */
export interface Opened {
  segments: ReturnType<typeof open>;
  /** The text with its translations in place; what has none stays as it is. */
  assemble(drafts: Drafts): Promise<string>;
}

export interface Scanner {
  /**
   * `apart`: in a process of its own however small, since it is one of many.
   * @throws ApiError `unavailable` when too much waits for a process already
   */
  examine(task: ExamineTask, options?: { apart?: boolean }): Promise<Examined>;
  /** @throws ApiError `unavailable`, as `examine` */
  count(task: CountTask): Promise<Counted>;
  /** Workers bound what they have in hand themselves, so this and `assemble` always get their turn. */
  open(task: OpenTask): Promise<Opened>;
  /** What an editor is shown beside its segments. */
  describe(task: OpenTask): Promise<ReturnType<typeof describeSegments>>;
  /** The segments of a text, each with what was supplied for it. */
  align(task: AlignTask): Promise<AlignedSegment[]>;
  /** For a text that was opened before, by this process or another. */
  assemble(task: AssembleTask): Promise<string>;
  close(): Promise<void>;
}

export interface ScannerOptions {
  /** Examinations that may wait for a process or be in one: at most this many, and this many UTF-16 units. */
  maxWaiting?: number;
  maxWaitingLength?: number;
}

/**
 * UTF-16 units. Measured on HTML in short paragraphs, the slowest format, warm, medians: examining 64 Ki takes
 * 13 ms; opening 32 Ki 17 ms, assembling it 20 ms. The first ones of a process take three times as long.
 */
export const INLINE_LENGTH = 64 * 1024;
const INLINE_WORK_LENGTH = 32 * 1024;
/** Two, so that one hostile document does not keep everybody waiting whose language is to be detected. */
const PROCESSES = 2;
const MAX_WAITING = 256;
const MAX_WAITING_LENGTH = 64 * 1024 * 1024;
const RETRY_SECONDS = 5;
const IDLE_MILLISECONDS = 60_000;
/** Of each process. The largest texts (10 MiB) take up to eleven seconds; one that needs more memory fails alone. */
const MEMORY_MEBIBYTES = 1024;

export function createScanner(options: ScannerOptions = {}): Scanner {
  const { maxWaiting = MAX_WAITING, maxWaitingLength = MAX_WAITING_LENGTH } = options;
  let waiting = 0;
  let waitingLength = 0;
  // None is begun before a text needs one: most programs never meet such a text.
  const processes = createProcesses({
    most: PROCESSES,
    idleMilliseconds: IDLE_MILLISECONDS,
    memoryMebibytes: MEMORY_MEBIBYTES,
  });
  async function put(task: AssembleTask): Promise<string> {
    return task.text.length <= INLINE_WORK_LENGTH ? assemble(task) : processes.run('assemble', task);
  }

  /** A caller's text in a process of its own, unless too much of callers' waits for one already. */
  async function inTurn<T>(length: number, work: () => Promise<T>): Promise<T> {
    // One that is alone is always taken, however long.
    if (waiting >= maxWaiting || (waiting > 0 && waitingLength + length > maxWaitingLength)) {
      throw new ApiError('unavailable', 'Too many texts are being looked at; try again.', {
        'retry-after': String(RETRY_SECONDS),
      });
    }
    waiting++;
    waitingLength += length;
    try {
      return await work();
    } finally {
      waiting--;
      waitingLength -= length;
    }
  }
  return {
    async examine(task, { apart = false } = {}) {
      const length = task.text.length + (task.suppliedText?.length ?? 0);
      if (!apart && length <= INLINE_LENGTH && task.sourceLanguage !== undefined) return examine(task);
      return inTurn(length, () => processes.run('examine', task));
    },
    async count(task) {
      const { length } = task.text;
      return length <= INLINE_LENGTH ? count(task) : inTurn(length, () => processes.run('count', task));
    },
    async open(task) {
      if (task.text.length <= INLINE_WORK_LENGTH) {
        const held = hold(task);
        return { segments: held.segments, assemble: async (drafts) => held.assemble(drafts) };
      }
      const segments = await processes.run('open', task);
      return { segments, assemble: (drafts) => put({ ...task, drafts }) };
    },
    async describe(task) {
      return task.text.length <= INLINE_WORK_LENGTH
        ? describeSegments(task)
        : processes.run('describe', task);
    },
    async align(task) {
      return task.text.length + task.suppliedText.length <= INLINE_WORK_LENGTH
        ? alignSupplied(task)
        : processes.run('align', task);
    },
    assemble: put,
    async close() {
      await processes.close();
    },
  };
}
