/** What goes on beside a proof's own steps: no fault of it is left unseen until it is awaited. */
export interface Beside {
  add(work: Promise<unknown>): void;
  /** For every wait on what that work does, which may never come. @throws what the first of it has thrown */
  check(): void;
  /** Waits for all of it. @throws as `check`, as soon as one throws */
  done(): Promise<void>;
}

export function startBeside(...works: Promise<unknown>[]): Beside {
  const going = new Set<Promise<void>>();
  let fault: { error: unknown } | undefined;
  const beside: Beside = {
    add(work) {
      const seen = work
        .then(
          () => {},
          (error: unknown) => {
            fault ??= { error };
          },
        )
        .finally(() => going.delete(seen));
      going.add(seen);
    },
    check() {
      if (fault !== undefined) throw fault.error;
    },
    async done() {
      while (going.size > 0) {
        beside.check();
        await Promise.race(going);
      }
      beside.check();
    },
  };
  for (const work of works) beside.add(work);
  return beside;
}
