/**
 * What the test files of a worker process share: the browser, and a server for the files that need no settings of
 * their own. `worker.ts` stops them when the process has run its last file.
 */
interface Shared {
  started: Promise<unknown>;
  stop(): Promise<void>;
}

/** Kept in `globalThis`, because Vitest loads `worker.ts` separately from the test files. */
const kept = globalThis as { dragomanShared?: Map<string, Shared> };

/** Returns the value of this name. The first call in this worker process starts it. */
export function share<T>(
  name: string,
  start: () => Promise<T>,
  stop: (value: T) => Promise<void>,
): Promise<T> {
  kept.dragomanShared ??= new Map();
  const found = kept.dragomanShared.get(name);
  if (found !== undefined) return found.started as Promise<T>;
  const started = start();
  kept.dragomanShared.set(name, { started, stop: async () => stop(await started) });
  return started;
}

/** Stops everything that was started, the latest first. */
export async function stopShared(): Promise<void> {
  const all = [...(kept.dragomanShared?.values() ?? [])];
  delete kept.dragomanShared;
  for (const { stop } of all.reverse()) await stop();
}
