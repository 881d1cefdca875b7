/** Measures active time on the page and assigns it to segments. */
import { counted, isPaused, seen, used } from './effort.ts';
import type { WorkbenchStore } from './store.ts';

export class EffortTracker {
  readonly #store: WorkbenchStore;
  readonly #now: () => number;
  /** Active milliseconds of each segment that have not been sent with a save yet. */
  readonly #unsaved = new Map<number, number>();
  /**
   * The part of the total active time that is assigned to a segment, or was sent before the page was opened.
   */
  #assigned: number;

  constructor(store: WorkbenchStore, now: () => number) {
    this.#store = store;
    this.#now = now;
    this.#assigned = store.page.effort.totalMs;
  }

  /** Adds the active time since the previous call to the unsaved time of the active segment. */
  assign(): void {
    const effort = counted(this.#store.page.effort, this.#now());
    this.#store.setEffort(effort);
    const { active } = this.#store.page;
    this.#unsaved.set(active, (this.#unsaved.get(active) ?? 0) + effort.totalMs - this.#assigned);
    this.#assigned = effort.totalMs;
  }

  /** Returns the unsaved time of a segment in whole milliseconds and resets it. */
  take(position: number): number {
    this.assign();
    const ms = Math.round(this.#unsaved.get(position) ?? 0);
    this.#unsaved.delete(position);
    return ms;
  }

  /** Starts or continues active time, which ends a minute after the last call. */
  recordActivity(): void {
    const before = this.#store.page.effort;
    const effort = used(before, this.#now());
    if (isPaused(before)) this.#store.update({ effort });
    else this.#store.setEffort(effort);
  }

  setVisible(visible: boolean): void {
    this.#store.update({ effort: seen(this.#store.page.effort, visible, this.#now()) });
  }

  /** Updates the page when the visible number of seconds changes, or when a pause begins or ends. */
  refresh(): void {
    const before = this.#store.page.effort;
    const effort = counted(before, this.#now());
    const second = (ms: number) => Math.floor(ms / 1_000);
    if (second(effort.totalMs) !== second(before.totalMs) || isPaused(effort) !== isPaused(before)) {
      this.#store.update({ effort });
    }
  }
}
