/** Active time: counted while the page is seen and has been used within a minute; a pause is shown, never hidden. */

export const PAUSE_MS = 60_000;

export interface Effort {
  /** Since the page was opened. */
  totalMs: number;
  /** Counted up to here; absent while nobody works. */
  since?: number;
  usedAt: number;
  visible: boolean;
}

export const idle: Effort = { totalMs: 0, usedAt: Number.NEGATIVE_INFINITY, visible: true };

/** A key, a click, a movement. */
export function used(effort: Effort, now: number): Effort {
  return { ...counted(effort, now), usedAt: now, ...(effort.visible ? { since: now } : {}) };
}

export function seen(effort: Effort, visible: boolean, now: number): Effort {
  const { since: _, ...rest } = counted(effort, now);
  return { ...rest, visible, ...(visible && isFresh(effort, now) ? { since: now } : {}) };
}

/** The time up to now, where it counts. */
export function counted(effort: Effort, now: number): Effort {
  if (effort.since === undefined) return effort;
  const until = Math.min(now, effort.usedAt + PAUSE_MS);
  const { since, ...rest } = effort;
  const next = { ...rest, totalMs: effort.totalMs + Math.max(0, until - since) };
  return isFresh(effort, now) ? { ...next, since: now } : next;
}

export const isPaused = (effort: Effort) => effort.since === undefined;

const isFresh = (effort: Effort, now: number) => now < effort.usedAt + PAUSE_MS;
