/** The objects that the roles of a process share. */

import type { Environment } from '../base/account.ts';
import type { Log } from '../base/log.ts';
import type { EventSource } from '../chats/present.ts';
import type { startChatWorker } from '../chats/worker.ts';
import type { DatabaseClock } from '../database/clock.ts';
import type { Database } from '../database/database.ts';
import type { createAddressGuard } from '../deliveries/addresses.ts';
import type { Sender } from '../deliveries/sender.ts';
import type { createEditing } from '../editing/editing.ts';
import type { startTranslationWorker } from '../jobs/worker/worker.ts';
import type { Languages } from '../languages/languages.ts';
import type { Hub } from '../live/hub.ts';
import type { Readiness } from '../operations/health.ts';
import type { Metrics } from '../operations/metrics.ts';
import type { Scanner } from '../scanning/scanner.ts';
import type { Settings } from '../settings/settings.ts';
import type { Hints } from './hints.ts';
import type { Store } from './program.ts';

/**
 * The time limit of each statement of a request. If the database hangs, the client gets a 503 with `Retry-After`
 * after this time instead of waiting for a minute.
 */
export const REQUEST_MILLISECONDS = 10_000;

/** The loops of a worker that other parts of its process wake. */
export interface WorkerLoops {
  translation: ReturnType<typeof startTranslationWorker>;
  chat: ReturnType<typeof startChatWorker>;
  sender: Sender;
}

export interface Context {
  store: Store;
  database: Database;
  clock: DatabaseClock;
  settings: Settings;
  log: Log;
  metrics: Metrics;
  live: Hub;
  guard: ReturnType<typeof createAddressGuard>;
  languages: Languages;
  scanner: Scanner;
  editing: ReturnType<typeof createEditing>;
  /** Wakes the workers of other processes. Undefined if this process has a worker itself. */
  hints: Hints | undefined;
  /**
   * Returns the worker of this process. Returns undefined before the worker starts, and in a process without
   * the role `worker`.
   */
  worker(): WorkerLoops | undefined;
  stopping(): boolean;
  readiness(): Promise<Readiness>;
  /** Returns the public address of the server, without a final slash. */
  root(): string;
  /** Returns the values for the attribute `source` of the CloudEvents of an environment. */
  sourceOf(environment: Environment): EventSource;
}
