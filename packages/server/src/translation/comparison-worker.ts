/**
 * The worker's part in an operator's comparison of engines: it translates the lines with its engines, one task at a
 * time, so that comparisons take little from jobs. The scheduler of each engine shares it with the accounts.
 *
 * A task is leased for {@link LEASE_SECONDS}. If a worker dies, another one begins the task again.
 */
import { randomUUID } from 'node:crypto';
import type { Log } from '../base/log.ts';
import type { Database } from '../database/database.ts';
import { translateLines } from './comparison.ts';
import * as store from './comparison-store.ts';
import type { Translator } from './translator.ts';

/** Notification channel for new comparisons. Workers also poll for them. */
export const COMPARISONS_CHANNEL = 'dragoman_comparisons';

const POLL_MILLISECONDS = 5_000;
const LEASE_SECONDS = 15;
const EXTEND_MILLISECONDS = 1_000;

export function startComparisons(options: { database: Database; translator: Translator; log: Log }): {
  /** Gives the current task back. */
  stop(): Promise<void>;
} {
  const { database, translator, log } = options;
  const engines = translator.runners.map(({ name }) => name);
  const ended = new AbortController();
  let working: Promise<void> | undefined;

  function wake(): void {
    working ??= work()
      .catch((error: unknown) => {
        if (!ended.signal.aborted) log.warn({ error }, 'could not compare engines');
      })
      .finally(() => {
        working = undefined;
      });
  }

  async function work(): Promise<void> {
    while (!ended.signal.aborted) {
      const token = randomUUID();
      const task = await store.claimComparisonTask(database, { engines, token, seconds: LEASE_SECONDS });
      if (task === undefined) return;
      await carryOut(task, token);
    }
  }

  async function carryOut(task: store.ComparisonTask, token: string): Promise<void> {
    const lost = new AbortController();
    const progress = { translated: 0, segments: 0 };
    const extending = setInterval(() => {
      store.extendComparisonTask(database, task, { token, seconds: LEASE_SECONDS }, progress).then(
        (held) => held || lost.abort(),
        // The lease is longer than the interval, so one failure does no harm.
        () => {},
      );
    }, EXTEND_MILLISECONDS);
    try {
      const result = await translateLines(translator, task.lines, {
        engine: task.engine,
        pair: [task.source_language, task.target_language],
        signal: AbortSignal.any([ended.signal, lost.signal]),
        progress(translated, segments) {
          Object.assign(progress, { translated, segments });
        },
      });
      await store.finishComparisonTask(database, task, token, progress, result);
    } catch (error) {
      if (lost.signal.aborted) return;
      await store.releaseComparisonTask(database, task, token);
      throw error;
    } finally {
      clearInterval(extending);
    }
  }

  const polling = setInterval(() => {
    // Also while a task is translated: no text stays in the database for longer than the console says.
    store.deleteExpiredComparisons(database).catch(() => {});
    wake();
  }, POLL_MILLISECONDS);
  void database.listen(COMPARISONS_CHANNEL, wake).catch(() => {});
  return {
    async stop() {
      clearInterval(polling);
      ended.abort();
      await working;
    },
  };
}
