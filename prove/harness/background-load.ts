/**
 * Work that continues during a proof. An error in it ends the proof at the next check, instead of staying unnoticed
 * until the work is awaited.
 */
export interface BackgroundLoad {
  add(work: Promise<unknown>): void;
  /**
   * Throws if the work has failed. Every loop that waits for the work must call it.
   *
   * @throws the first error of the work
   */
  check(): void;
  /**
   * Waits for all work.
   *
   * @throws the first error of the work, immediately
   */
  done(): Promise<void>;
}

export function startBackgroundLoad(...works: Promise<unknown>[]): BackgroundLoad {
  const running = new Set<Promise<void>>();
  let failure: { error: unknown } | undefined;
  const load: BackgroundLoad = {
    add(work) {
      const watched = work
        .then(
          () => {},
          (error: unknown) => {
            failure ??= { error };
          },
        )
        .finally(() => running.delete(watched));
      running.add(watched);
    },
    check() {
      if (failure !== undefined) throw failure.error;
    },
    async done() {
      while (running.size > 0) {
        load.check();
        await Promise.race(running);
      }
      load.check();
    },
  };
  for (const work of works) load.add(work);
  return load;
}
