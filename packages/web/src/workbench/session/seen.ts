/**
 * Records which segments a reviewer has opened. A segment that could not be sent stays queued, and is sent with
 * the next one, with the next heartbeat, and before the reviewer approves or returns the job.
 */
import type { TaskServer } from './state.ts';
import type { WorkbenchStore } from './store.ts';

/** The maximum number of segments in one request; the server's limit is the same. */
const MAX_SENT = 1_000;

export class SeenSegments {
  readonly #store: WorkbenchStore;
  readonly #server: Pick<TaskServer, 'markSeen'>;
  readonly #unsent = new Set<number>();
  #sending: Promise<void> | undefined;

  constructor(store: WorkbenchStore, server: Pick<TaskServer, 'markSeen'>) {
    this.#store = store;
    this.#server = server;
  }

  /** Marks a segment as seen. Does nothing outside a review that the user holds. */
  add(position: number): void {
    if (!this.#store.canEdit(position) || this.#store.segment(position).seen) return;
    this.#store.change(position, { seen: true });
    this.#unsent.add(position);
    void this.send();
  }

  /** Sends the queued segments. Resolves after the attempt, also if it fails. */
  async send(): Promise<void> {
    await this.#sending;
    if (this.#unsent.size === 0 || this.#store.page.readOnly !== undefined) return;
    const positions = [...this.#unsent].slice(0, MAX_SENT);
    this.#sending = this.#attempt(positions).finally(() => {
      this.#sending = undefined;
    });
    await this.#sending;
  }

  async #attempt(positions: readonly number[]): Promise<void> {
    const segments = positions.map((position) => ({
      position,
      revision: this.#store.segment(position).segment.revision,
    }));
    for (const position of positions) this.#unsent.delete(position);
    try {
      await this.#server.markSeen(this.#store.token, segments);
    } catch {
      // The error needs no handling: the next heartbeat notices a lost claim, and other requests are retried.
      for (const position of positions) this.#unsent.add(position);
    }
  }
}
