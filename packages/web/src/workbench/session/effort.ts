/** Measures active time: the time while the page is visible and was used within the last minute. */

export const PAUSE_MS = 60_000;

export interface Effort {
  /** The active milliseconds on the task, including earlier visits of the page. */
  totalMs: number;
  /** The time up to which active time was counted; undefined during a pause. */
  since?: number;
  usedAt: number;
  visible: boolean;
}

export const idle: Effort = { totalMs: 0, usedAt: Number.NEGATIVE_INFINITY, visible: true };

/** Records a use of the page at `now`, in milliseconds. */
export function used(effort: Effort, now: number): Effort {
  return { ...counted(effort, now), usedAt: now, ...(effort.visible ? { since: now } : {}) };
}

export function seen(effort: Effort, visible: boolean, now: number): Effort {
  const { since: _, ...rest } = counted(effort, now);
  return { ...rest, visible, ...(visible && isFresh(effort, now) ? { since: now } : {}) };
}

/** Adds the active time up to `now`. */
export function counted(effort: Effort, now: number): Effort {
  if (effort.since === undefined) return effort;
  const until = Math.min(now, effort.usedAt + PAUSE_MS);
  const { since, ...rest } = effort;
  const next = { ...rest, totalMs: effort.totalMs + Math.max(0, until - since) };
  return isFresh(effort, now) ? { ...next, since: now } : next;
}

export const isPaused = (effort: Effort) => effort.since === undefined;

const isFresh = (effort: Effort, now: number) => now < effort.usedAt + PAUSE_MS;
