/** Processes the save queue: stores each edit in the browser, then sends it to the server. */
import type { Drafts } from './drafts.ts';
import {
  acknowledge,
  duePositions,
  type Edit,
  EMPTY_QUEUE,
  enqueue,
  makeDue,
  markConflict,
  markRefused,
  markSending,
  markStale,
  nextDue,
  rebase,
  resolveConflict,
  restoreDraft,
  retryLater,
  type Save,
  type SaveQueue,
  type ServerVersion,
  storedDraftOf,
  TYPING_PAUSE_MS,
} from './save-queue.ts';

/** The maximum number of segments that are sent at a time. */
const MAX_CONCURRENT = 4;

export type SaveOutcome =
  | { outcome: 'saved'; revision: number }
  | { outcome: 'conflict'; theirs: ServerVersion }
  | { outcome: 'stale' }
  | { outcome: 'refused'; code: string };

export interface SaverOptions {
  drafts: Drafts;
  /** Sends one text. Rejects when no answer arrived or when the save should be tried again. */
  send: (position: number, save: Save, revision: number, activeMs: number) => Promise<SaveOutcome>;
  now: () => number;
  /** Calls `call` at a time in milliseconds; returns a function that cancels it. */
  at: (time: number, call: () => void) => () => void;
  onChange: () => void;
}

export class Saver {
  #queue: SaveQueue = EMPTY_QUEUE;
  readonly #options: SaverOptions;
  #cancel: () => void = () => {};
  /** The number of requests during which edits are held back. */
  #held = 0;
  /** Runs writes to the browser's storage one after another, so that the newest text is written last. */
  #stored: Promise<void> = Promise.resolve();

  constructor(options: SaverOptions) {
    this.#options = options;
  }

  get queue(): SaveQueue {
    return this.#queue;
  }

  /** @param delayMs how long to wait for further typing before sending */
  edit(position: number, edit: Edit, delayMs = TYPING_PAUSE_MS): void {
    this.#become(enqueue(this.#queue, position, edit, this.#options.now() + delayMs));
    this.#store(position);
  }

  /** Sends the queued texts of these positions now. @param positions all positions when omitted */
  flush(positions?: readonly number[]): void {
    this.#become(makeDue(this.#queue, this.#options.now(), positions));
  }

  /** Records that the server has changed saved texts, as an acknowledged save does. */
  recordSaved(): void {
    this.#become({ ...this.#queue, savedAt: this.#options.now() });
  }

  /**
   * Starts or stops holding back all edits. Held edits are stored in the browser, but not sent. They are sent when each
   * start has its stop.
   */
  hold(held: boolean): void {
    this.#held += held ? 1 : -1;
    this.#sendDue();
  }

  /** Sets the server's revision to which the edit of a segment now belongs. */
  rebase(position: number, revision: number): void {
    this.#become(rebase(this.#queue, position, revision));
    this.#store(position);
  }

  resolve(position: number, save: Save): void {
    this.#become(resolveConflict(this.#queue, position, save, this.#options.now()));
    this.#store(position);
  }

  /**
   * Marks the lease as lost. @param positions the segments whose texts are not sent any more; every other
   * text is sent once
   */
  stopSending(positions: 'all' | readonly number[]): void {
    this.#become(markStale(this.#queue, positions));
  }

  /** Queues the drafts that an earlier page stored. Returns them by position, without those that the server has. */
  async restore(versions: ReadonlyMap<number, ServerVersion>): Promise<Map<number, Save>> {
    const found = new Map<number, Save>();
    for (const [position, draft] of await this.#options.drafts.all()) {
      const theirs = versions.get(position);
      if (!theirs) continue;
      this.#become(restoreDraft(this.#queue, position, draft, theirs, this.#options.now()));
      if (this.#queue.entries.has(position)) found.set(position, draft.save);
      else this.#store(position);
    }
    return found;
  }

  /** Whether the server has every text. */
  get isEmpty(): boolean {
    return this.#queue.entries.size === 0;
  }

  /** Resolves when the browser has stored all edits so far. */
  async stored(): Promise<void> {
    await this.#stored;
  }

  stop(): void {
    this.#cancel();
  }

  #become(queue: SaveQueue): void {
    this.#queue = queue;
    this.#options.onChange();
    this.#sendDue();
  }

  #store(position: number): Promise<void> {
    const write = async () => {
      const entry = this.#queue.entries.get(position);
      if (entry) await this.#options.drafts.put(position, storedDraftOf(entry));
      else await this.#options.drafts.delete(position);
    };
    // A text is sent even when the browser cannot store it.
    this.#stored = this.#stored.then(write).catch(() => {});
    return this.#stored;
  }

  #sendDue(): void {
    this.#cancel();
    if (this.#held > 0) return;
    const sending = [...this.#queue.entries.values()].filter((entry) => entry.sending).length;
    const next = duePositions(this.#queue, this.#options.now()).slice(
      0,
      Math.max(0, MAX_CONCURRENT - sending),
    );
    for (const position of next) {
      this.#queue = markSending(this.#queue, position);
      void this.#send(position);
    }
    if (next.length > 0) this.#options.onChange();
    const due = sending + next.length < MAX_CONCURRENT ? nextDue(this.#queue) : undefined;
    if (due !== undefined) this.#cancel = this.#options.at(due, () => this.#sendDue());
  }

  async #send(position: number): Promise<void> {
    const entry = this.#queue.entries.get(position)!;
    const { save, activeMs } = entry.sent.at(-1)!;
    await this.#store(position);
    let outcome: SaveOutcome | undefined;
    try {
      outcome = await this.#options.send(position, save, entry.revision, activeMs);
    } catch {
      // Without an answer, it is unknown whether the server has the text. The revision shows this at the next
      // attempt.
    }
    this.#become(this.#after(position, outcome));
    await this.#store(position);
  }

  #after(position: number, outcome: SaveOutcome | undefined): SaveQueue {
    const now = this.#options.now();
    switch (outcome?.outcome) {
      case 'saved':
        return acknowledge(this.#queue, position, outcome.revision, now);
      case 'conflict':
        return markConflict(this.#queue, position, outcome.theirs, now);
      case 'stale':
        return markStale(this.#queue, [position]);
      case 'refused':
        return markRefused(this.#queue, position, outcome.code);
      case undefined:
        return retryLater(this.#queue, position, now);
    }
  }
}
