/** Does what `saving.ts` says is to be done: keeps every edit in the browser first, then sends it. */
import type { Drafts } from './drafts.ts';
import {
  acknowledged,
  begun,
  conflicted,
  edited,
  failed,
  hurried,
  keptOf,
  lost,
  nextDue,
  nothing,
  REST_MS,
  ready,
  refused,
  resolved,
  restored,
  type Save,
  type Saving,
  type Theirs,
} from './saving.ts';

/** How many segments are on their way at a time. */
const AT_ONCE = 4;

export type Outcome =
  | { outcome: 'saved'; revision: number }
  | { outcome: 'conflict'; theirs: Theirs }
  | { outcome: 'stale' }
  | { outcome: 'refused'; code: string };

export interface SaverOptions {
  drafts: Drafts;
  /** Sends one text. Throws where no answer came, or one that says later. */
  send: (position: number, save: Save, revision: number, activeMs: number) => Promise<Outcome>;
  now: () => number;
  /** Calls back at a time, in milliseconds; returns what takes the call back. */
  at: (time: number, call: () => void) => () => void;
  changed: (state: Saving) => void;
}

export class Saver {
  #state: Saving = nothing;
  readonly #options: SaverOptions;
  #cancel: () => void = () => {};
  /** Writes to the browser's store stand in line, so that an older one never comes last. */
  #stored: Promise<void> = Promise.resolve();

  constructor(options: SaverOptions) {
    this.#options = options;
  }

  get state(): Saving {
    return this.#state;
  }

  edit(position: number, edit: { revision: number; save: Save; activeMs: number }, restMs = REST_MS): void {
    this.#become(edited(this.#state, position, edit, this.#options.now() + restMs));
    this.#store(position);
  }

  hurry(positions?: readonly number[]): void {
    this.#become(hurried(this.#state, this.#options.now(), positions));
  }

  resolve(position: number, save: Save): void {
    this.#become(resolved(this.#state, position, save, this.#options.now()));
    this.#store(position);
  }

  /** @param positions whose texts are not to be sent; the others are, once */
  lose(positions: 'all' | readonly number[]): void {
    this.#become(lost(this.#state, positions));
  }

  /** Takes up what the page before this one kept. Returns what there was, by position. */
  async restore(segments: ReadonlyMap<number, Theirs>): Promise<Map<number, Save>> {
    const found = new Map<number, Save>();
    for (const [position, kept] of await this.#options.drafts.all()) {
      const theirs = segments.get(position);
      if (!theirs) continue;
      this.#become(restored(this.#state, position, kept, theirs, this.#options.now()));
      if (this.#state.entries.has(position)) found.set(position, kept.save);
      else this.#store(position);
    }
    return found;
  }

  /** Whether everything is on the server. */
  get empty(): boolean {
    return this.#state.entries.size === 0;
  }

  /** When all that was typed so far is kept in the browser. */
  async kept(): Promise<void> {
    await this.#stored;
  }

  stop(): void {
    this.#cancel();
  }

  #become(state: Saving): void {
    this.#state = state;
    this.#options.changed(state);
    this.#pump();
  }

  #store(position: number): Promise<void> {
    const write = async () => {
      const entry = this.#state.entries.get(position);
      if (entry) await this.#options.drafts.put(position, keptOf(entry));
      else await this.#options.drafts.delete(position);
    };
    // A store that is full or gone must not keep the text from the server.
    this.#stored = this.#stored.then(write).catch(() => {});
    return this.#stored;
  }

  #pump(): void {
    this.#cancel();
    const under = [...this.#state.entries.values()].filter((entry) => entry.sending).length;
    const next = ready(this.#state, this.#options.now()).slice(0, Math.max(0, AT_ONCE - under));
    for (const position of next) {
      this.#state = begun(this.#state, position);
      void this.#send(position);
    }
    if (next.length > 0) this.#options.changed(this.#state);
    const due = under + next.length < AT_ONCE ? nextDue(this.#state) : undefined;
    if (due !== undefined) this.#cancel = this.#options.at(due, () => this.#pump());
  }

  async #send(position: number): Promise<void> {
    const entry = this.#state.entries.get(position)!;
    const { save, activeMs } = entry.sent.at(-1)!;
    await this.#store(position);
    let outcome: Outcome | undefined;
    try {
      outcome = await this.#options.send(position, save, entry.revision, activeMs);
    } catch {
      // No answer: the text may be there or not. It is sent again, and the revision tells.
    }
    this.#become(this.#after(position, outcome));
    await this.#store(position);
  }

  #after(position: number, outcome: Outcome | undefined): Saving {
    const now = this.#options.now();
    switch (outcome?.outcome) {
      case 'saved':
        return acknowledged(this.#state, position, outcome.revision, now);
      case 'conflict':
        return conflicted(this.#state, position, outcome.theirs, now);
      case 'stale':
        return lost(this.#state, [position]);
      case 'refused':
        return refused(this.#state, position, outcome.code);
      case undefined:
        return failed(this.#state, position, now);
    }
  }
}
