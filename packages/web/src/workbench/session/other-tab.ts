/** Finds out whether another tab of the same browser has the same task open. */

/**
 * Holds a lock of the browser with the name of the task while this page is open. If another tab has the lock, calls
 * `onChange` with true, and with false when this page gets the lock later. Browsers offer locks only over HTTPS and on
 * localhost; elsewhere nothing happens.
 *
 * @param closed aborted when the page closes
 */
export function watchOtherTab(task: string, closed: AbortSignal, onChange: (other: boolean) => void): void {
  if (!('locks' in navigator) || closed.aborted) return;
  const name = `dragoman.task.${task}`;
  const hold = () =>
    closed.aborted
      ? undefined
      : new Promise<void>((release) => closed.addEventListener('abort', () => release(), { once: true }));
  void navigator.locks.request(name, { ifAvailable: true }, (lock) => {
    if (lock) return hold();
    onChange(true);
    const later = navigator.locks.request(name, { signal: closed }, () => {
      onChange(false);
      return hold();
    });
    // Rejects when this page closes before the other one.
    later.catch(() => {});
    return undefined;
  });
}
