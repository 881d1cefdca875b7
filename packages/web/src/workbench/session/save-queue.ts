/**
 * The edits that the server has not acknowledged, as pure functions on an immutable queue.
 *
 * A segment has an entry from its first edit until the server has acknowledged its last one:
 *
 * | mode | entered by | left by |
 * | --- | --- | --- |
 * | waiting | an edit; a failed request (with a longer delay); a resolved conflict | its due time, when it is sent |
 * | sending | its due time | the answer: acknowledged, failed, conflict or refused |
 * | conflict | the server has another revision than the one that was edited | a choice of the editor |
 * | refused | the server will never accept this text | the next edit |
 *
 * An edit during sending is queued and sent next. After the editor lost the lease of the task, the latest text of each
 * segment is sent once, because the server keeps it for the next editor of the task; the browser keeps it too.
 */
import { type Piece, samePieces } from '../text/pieces.ts';

/** How long typing must pause before a draft is sent. */
export const TYPING_PAUSE_MS = 600;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;

export interface Save {
  target: Piece[];
  status: 'draft' | 'confirmed';
  /** The keys of the warnings that the editor has accepted. */
  acknowledged: string[];
}

/** The state of a segment on the server. */
export interface ServerVersion {
  revision: number;
  target: Piece[];
  status: string;
}

interface Attempt {
  save: Save;
  activeMs: number;
}

interface Entry {
  /** The server's revision when this edit began. */
  revision: number;
  save: Save;
  /** The editor's active time that the server has not acknowledged, in milliseconds. */
  activeMs: number;
  /** The attempts that got no answer, the latest one last. The server may have stored any of these texts. */
  sent: readonly Attempt[];
  sending: boolean;
  /** The earliest time to send, in milliseconds. */
  due: number;
  /** Failed attempts in a row. */
  failures: number;
  /** The server's version of the segment during a conflict. */
  theirs?: ServerVersion;
  /** The code of the error with which the server refused the text. */
  refused?: string;
  /** Whether the text was sent after the lease was lost. It is not sent again. */
  left?: true;
}

export interface SaveQueue {
  entries: ReadonlyMap<number, Entry>;
  /** Whether the lease is lost. */
  stale: boolean;
  /** When the server last acknowledged a text, in milliseconds. */
  savedAt?: number;
}

export const EMPTY_QUEUE: SaveQueue = { entries: new Map(), stale: false };

export interface Edit {
  /** The server's revision when the first of the unsaved edits was made. */
  revision: number;
  save: Save;
  activeMs: number;
}

/** Adds an edit. @param due the time to send it, in milliseconds */
export function enqueue(queue: SaveQueue, position: number, edit: Edit, due: number): SaveQueue {
  const entry = queue.entries.get(position);
  const { refused: _, ...before } = entry ?? {
    revision: edit.revision,
    activeMs: 0,
    sent: [],
    sending: false,
    failures: 0,
  };
  return put(queue, position, {
    ...before,
    save: edit.save,
    activeMs: before.activeMs + edit.activeMs,
    // A new edit does not shorten the delay after a failure.
    due: before.failures > 0 && entry ? entry.due : due,
  });
}

/** Makes entries due now. @param positions all positions when omitted */
export function makeDue(queue: SaveQueue, now: number, positions?: readonly number[]): SaveQueue {
  const entries = new Map(queue.entries);
  for (const [position, entry] of entries) {
    if (positions && !positions.includes(position)) continue;
    entries.set(position, { ...entry, due: Math.min(entry.due, now) });
  }
  return { ...queue, entries };
}

/** Returns the positions that may be sent now. */
export function duePositions(queue: SaveQueue, now: number): number[] {
  return [...queue.entries]
    .filter(([, entry]) => isWaiting(entry) && entry.due <= now)
    .map(([position]) => position);
}

/** Returns the next due time in milliseconds. */
export function nextDue(queue: SaveQueue): number | undefined {
  const due = [...queue.entries.values()].filter(isWaiting).map((entry) => entry.due);
  return due.length === 0 ? undefined : Math.min(...due);
}

const isWaiting = (entry: Entry) =>
  !entry.sending && !entry.theirs && !entry.left && entry.refused === undefined;

export function markSending(queue: SaveQueue, position: number): SaveQueue {
  return change(queue, position, (entry) => ({
    ...entry,
    sending: true,
    sent: [
      ...entry.sent.filter(({ save }) => !sameSave(save, entry.save)),
      { save: entry.save, activeMs: entry.activeMs },
    ],
  }));
}

/** Removes the edit that the latest attempt sent. A later edit stays in the queue. */
export function acknowledge(queue: SaveQueue, position: number, revision: number, now: number): SaveQueue {
  const attempt = queue.entries.get(position)?.sent.at(-1);
  return attempt ? acknowledgeAttempt(queue, position, attempt, revision, now) : queue;
}

function acknowledgeAttempt(
  queue: SaveQueue,
  position: number,
  attempt: Attempt,
  revision: number,
  now: number,
): SaveQueue {
  const entry = queue.entries.get(position)!;
  const saved = { ...queue, savedAt: now };
  if (sameSave(entry.save, attempt.save)) return without(saved, position);
  return put(saved, position, {
    ...entry,
    revision,
    activeMs: entry.activeMs - attempt.activeMs,
    sent: [],
    sending: false,
    failures: 0,
    due: Math.max(entry.due, now),
  });
}

/** Schedules the next attempt after a failure. The delay doubles from 1 to 30 seconds. */
export function retryLater(queue: SaveQueue, position: number, now: number): SaveQueue {
  return change(queue, position, (entry) => ({
    ...entry,
    sending: false,
    failures: entry.failures + 1,
    due: now + Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** entry.failures),
  }));
}

/** Marks a conflict, unless the server's version is an earlier attempt of this page whose reply was lost. */
export function markConflict(
  queue: SaveQueue,
  position: number,
  theirs: ServerVersion,
  now: number,
): SaveQueue {
  const entry = queue.entries.get(position);
  if (!entry) return queue;
  const attempt = entry.sent.find(({ save }) => isVersion(save, theirs));
  if (attempt) return acknowledgeAttempt(queue, position, attempt, theirs.revision, now);
  if (isVersion(entry.save, theirs)) return { ...without(queue, position), savedAt: now };
  return put(queue, position, { ...entry, sent: [], sending: false, theirs });
}

/** Sets the server's revision to which the edit of a segment now belongs. */
export function rebase(queue: SaveQueue, position: number, revision: number): SaveQueue {
  return change(queue, position, (entry) => ({ ...entry, revision }));
}

export function markRefused(queue: SaveQueue, position: number, code: string): SaveQueue {
  return change(queue, position, (entry) => ({ ...entry, sent: [], sending: false, refused: code }));
}

/** Marks the lease as lost. @param positions the segments not to send again */
export function markStale(queue: SaveQueue, positions: 'all' | readonly number[]): SaveQueue {
  const entries = new Map(queue.entries);
  for (const [position, entry] of entries) {
    if (positions === 'all' || positions.includes(position)) {
      entries.set(position, { ...entry, sending: false, left: true });
    }
  }
  return { ...queue, entries, stale: true };
}

/**
 * Ends the conflict of a segment: queues the text that the editor chose, to replace the server's version. If the
 * server's version is the chosen one, nothing is queued.
 */
export function resolveConflict(queue: SaveQueue, position: number, save: Save, now: number): SaveQueue {
  const entry = queue.entries.get(position);
  if (!entry?.theirs) return queue;
  const { theirs, ...rest } = entry;
  if (isVersion(save, theirs)) return without(queue, position);
  return put(queue, position, { ...rest, revision: theirs.revision, save, due: now, failures: 0 });
}

/** The part of an entry that the browser stores until the server has acknowledged it. */
export type StoredDraft = Pick<Entry, 'revision' | 'save' | 'activeMs' | 'sent'>;

export function storedDraftOf({ revision, save, activeMs, sent }: Entry): StoredDraft {
  return { revision, save, activeMs, sent };
}

/**
 * Adds a stored draft to the queue, due at once or in conflict. Drops a draft that the server already has.
 */
export function restoreDraft(
  queue: SaveQueue,
  position: number,
  draft: StoredDraft,
  theirs: ServerVersion,
  now: number,
): SaveQueue {
  if (isVersion(draft.save, theirs)) return without(queue, position);
  const entry: Entry = {
    ...draft,
    sending: false,
    due: now,
    failures: 0,
    ...(queue.stale ? { left: true } : {}),
  };
  const waiting = put(queue, position, entry);
  return draft.revision === theirs.revision ? waiting : markConflict(waiting, position, theirs, now);
}

export type SaveStatus =
  | { state: 'saved'; at?: number }
  | { state: 'saving' }
  | { state: 'offline'; waiting: number }
  | { state: 'conflict'; positions: number[] }
  | { state: 'refused'; positions: number[] }
  | { state: 'lost'; waiting: number };

/** Returns the most serious state of all entries. */
export function saveStatusOf(queue: SaveQueue): SaveStatus {
  const entries = [...queue.entries];
  if (queue.stale) return { state: 'lost', waiting: entries.length };
  const positions = (wanted: (entry: Entry) => unknown) =>
    entries.filter(([, entry]) => wanted(entry)).map(([position]) => position);
  const conflicts = positions((entry) => entry.theirs);
  if (conflicts.length > 0) return { state: 'conflict', positions: conflicts };
  const refusals = positions((entry) => entry.refused !== undefined);
  if (refusals.length > 0) return { state: 'refused', positions: refusals };
  if (positions((entry) => entry.failures > 0).length > 0)
    return { state: 'offline', waiting: entries.length };
  if (entries.length > 0) return { state: 'saving' };
  return { state: 'saved', ...(queue.savedAt === undefined ? {} : { at: queue.savedAt }) };
}

function isVersion(save: Save, version: ServerVersion): boolean {
  return version.status === save.status && samePieces(version.target, save.target);
}

function sameSave(one: Save, other: Save): boolean {
  return (
    one === other ||
    (one.status === other.status &&
      samePieces(one.target, other.target) &&
      one.acknowledged.join('\n') === other.acknowledged.join('\n'))
  );
}

function put(queue: SaveQueue, position: number, entry: Entry): SaveQueue {
  return { ...queue, entries: new Map(queue.entries).set(position, entry) };
}

function without(queue: SaveQueue, position: number): SaveQueue {
  const entries = new Map(queue.entries);
  entries.delete(position);
  return { ...queue, entries };
}

function change(queue: SaveQueue, position: number, to: (entry: Entry) => Entry): SaveQueue {
  const entry = queue.entries.get(position);
  return entry ? put(queue, position, to(entry)) : queue;
}
