/**
 * Runs the tasks: small ones at once, those over 256 Ki characters in a worker thread, so that one customer's
 * ten megabytes do not hold up everybody's event loop. Detection always runs there: loading the detector takes
 * half a second.
 */
import { Piscina } from 'piscina';
import { type Examined, type ExamineTask, examine, type Opened, type OpenTask, open } from './tasks.ts';

export interface Scanner {
  examine(task: ExamineTask): Promise<Examined>;
  open(task: OpenTask): Promise<Opened>;
  close(): Promise<void>;
}

/** UTF-16 units. A scan of this many takes some 20 ms. */
export const INLINE_LENGTH = 256 * 1024;
const IDLE_MILLISECONDS = 60_000;
/** A text of 10 MiB scans in a few hundred; what needs more is hostile and fails alone. */
const MEMORY_MEBIBYTES = 1024;

export function createScanner(): Scanner {
  let threads: Piscina | undefined;
  // Made on first use: most processes never meet a text that needs one.
  const inThread = () => {
    threads ??= new Piscina({
      filename: new URL('./tasks.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MILLISECONDS,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MEBIBYTES },
    });
    return threads;
  };
  return {
    async examine(task) {
      const length = task.text.length + (task.suppliedText?.length ?? 0);
      if (length <= INLINE_LENGTH && task.sourceLanguage !== undefined) return examine(task);
      return inThread().run(task, { name: 'examine' });
    },
    async open(task) {
      return task.text.length <= INLINE_LENGTH ? open(task) : inThread().run(task, { name: 'open' });
    },
    async close() {
      await threads?.close();
    },
  };
}
