/** The memory matches of segments, each requested once. */
import type { Match } from './task.ts';

/** A shared empty array, so that components see no change. */
const NO_MATCHES: readonly Match[] = [];

export class Matches {
  readonly #request: (position: number) => Promise<Match[]>;
  readonly #requested = new Map<number, Promise<Match[]>>();
  readonly #received = new Map<number, readonly Match[]>();

  constructor(request: (position: number) => Promise<Match[]>) {
    this.#request = request;
  }

  /** Returns the matches of a segment. A failed request is sent again when the matches are needed again. */
  get(position: number): Promise<Match[]> {
    const known = this.#requested.get(position);
    if (known) return known;
    const requested = this.#request(position);
    this.#requested.set(position, requested);
    requested.then(
      (matches) => {
        if (this.#requested.get(position) === requested) this.#received.set(position, matches);
      },
      () => this.forget(position),
    );
    return requested;
  }

  /** Requests the matches of these segments again when they are needed again. Until then, the received ones stay. */
  renew(isWanted: (position: number) => boolean): void {
    for (const position of [...this.#requested.keys()].filter(isWanted)) this.#requested.delete(position);
  }

  /** Returns the matches of a segment if they have arrived. */
  received(position: number): readonly Match[] {
    return this.#received.get(position) ?? NO_MATCHES;
  }

  /** Forgets the matches of a segment, so that {@link get} requests them again. Needed when the source has changed. */
  forget(position: number): void {
    this.#requested.delete(position);
    this.#received.delete(position);
  }
}
