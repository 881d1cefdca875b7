/**
 * What is typed and not yet known to be on the server. Pure: a state, what happens to it, and what is to be done next.
 *
 * A segment has an entry from its first edit until the server has acknowledged its last one:
 *
 * | mode | entered by | left by |
 * | --- | --- | --- |
 * | waiting | an edit; a failure (with a longer wait); a conflict that was resolved | its time has come: sending |
 * | sending | its time has come | acknowledged, failed, conflict, refused |
 * | conflict | the server has another version than the one that was edited | a choice of the editor |
 * | refused | the server will never take this text | the next edit |
 *
 * An edit while sending is kept beside what is sent, and is sent next. After a stale lease each text is sent once, for
 * the server keeps it for whoever has the task next; nothing is sent twice, and the browser keeps it too.
 */
import { type Piece, samePieces } from './pieces.ts';

/** Typing rests this long before a draft is sent. */
export const REST_MS = 600;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;

export type SavedStatus = 'draft' | 'confirmed';

export interface Save {
  target: Piece[];
  status: SavedStatus;
  /** Checks whose warnings the editor has seen and lets stand. */
  acknowledged: string[];
}

/** A segment as the server has it. */
export interface Theirs {
  revision: number;
  target: Piece[];
  status: string;
}

export interface Sent {
  save: Save;
  activeMs: number;
}

export interface Entry {
  /** The server's, as it was when this text was begun. */
  revision: number;
  save: Save;
  /** Time at work on it that the server has not counted. */
  activeMs: number;
  /** What was sent and not answered for, the latest last: the server may have any of them. */
  sent: readonly Sent[];
  sending: boolean;
  /** Not before this time, in milliseconds. */
  due: number;
  failures: number;
  theirs?: Theirs;
  /** Code of the server's refusal. */
  refused?: string;
  /** Sent after the lease was gone, for the server to keep; not sent again. */
  left?: true;
}

export interface Saving {
  entries: ReadonlyMap<number, Entry>;
  /** The task is somebody else's by now. */
  stale: boolean;
  /** When the server last acknowledged a text, in milliseconds. */
  savedAt?: number;
}

export const nothing: Saving = { entries: new Map(), stale: false };

/** The text of a segment changed. `revision` is the one it had on the server when the first of these edits was made. */
export function edited(
  state: Saving,
  position: number,
  edit: { revision: number; save: Save; activeMs: number },
  due: number,
): Saving {
  const entry = state.entries.get(position);
  const { refused: _, ...before } = entry ?? {
    revision: edit.revision,
    activeMs: 0,
    sent: [],
    sending: false,
    failures: 0,
  };
  return put(state, position, {
    ...before,
    save: edit.save,
    activeMs: before.activeMs + edit.activeMs,
    // Whoever was not answered is not asked more often for being typed at.
    due: before.failures > 0 && entry ? entry.due : due,
  });
}

/** Nothing waits any longer: the editor leaves the segment or the page, or the connection is back. */
export function hurried(state: Saving, now: number, positions?: readonly number[]): Saving {
  const entries = new Map(state.entries);
  for (const [position, entry] of entries) {
    if (positions && !positions.includes(position)) continue;
    entries.set(position, { ...entry, due: Math.min(entry.due, now) });
  }
  return { ...state, entries };
}

/** What may be sent now. */
export function ready(state: Saving, now: number): number[] {
  return [...state.entries]
    .filter(([, entry]) => waits(entry) && entry.due <= now)
    .map(([position]) => position);
}

/** When something may be sent next, in milliseconds. */
export function nextDue(state: Saving): number | undefined {
  const due = [...state.entries.values()].filter(waits).map((entry) => entry.due);
  return due.length === 0 ? undefined : Math.min(...due);
}

const waits = (entry: Entry) => !entry.sending && !entry.theirs && !entry.left && entry.refused === undefined;

export function begun(state: Saving, position: number): Saving {
  return change(state, position, (entry) => ({
    ...entry,
    sending: true,
    sent: [
      ...entry.sent.filter(({ save }) => !sameSave(save, entry.save)),
      { save: entry.save, activeMs: entry.activeMs },
    ],
  }));
}

/** The server has what was sent. What was typed since is sent after it. */
export function acknowledged(state: Saving, position: number, revision: number, now: number): Saving {
  const sent = state.entries.get(position)?.sent.at(-1);
  return sent ? arrived(state, position, sent, revision, now) : state;
}

function arrived(state: Saving, position: number, sent: Sent, revision: number, now: number): Saving {
  const entry = state.entries.get(position)!;
  const saved = { ...state, savedAt: now };
  if (sameSave(entry.save, sent.save)) return without(saved, position);
  return put(saved, position, {
    ...entry,
    revision,
    activeMs: entry.activeMs - sent.activeMs,
    sent: [],
    sending: false,
    failures: 0,
    due: Math.max(entry.due, now),
  });
}

/** No answer, or one that says later. Waits are doubled up to half a minute. */
export function failed(state: Saving, position: number, now: number): Saving {
  return change(state, position, (entry) => ({
    ...entry,
    sending: false,
    failures: entry.failures + 1,
    due: now + Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** entry.failures),
  }));
}

/** The server has another version. It may be ours, whose answer was lost. */
export function conflicted(state: Saving, position: number, theirs: Theirs, now: number): Saving {
  const entry = state.entries.get(position);
  if (!entry) return state;
  const sent = entry.sent.find(({ save }) => isTheirs(save, theirs));
  if (sent) return arrived(state, position, sent, theirs.revision, now);
  if (isTheirs(entry.save, theirs)) return { ...without(state, position), savedAt: now };
  return put(state, position, { ...entry, sent: [], sending: false, theirs });
}

export function refused(state: Saving, position: number, code: string): Saving {
  return change(state, position, (entry) => ({ ...entry, sent: [], sending: false, refused: code }));
}

/** The lease is gone: as the server said of one text, or of all, where there is none to send them by. */
export function lost(state: Saving, positions: 'all' | readonly number[]): Saving {
  const entries = new Map(state.entries);
  for (const [position, entry] of entries) {
    if (positions === 'all' || positions.includes(position)) {
      entries.set(position, { ...entry, sending: false, left: true });
    }
  }
  return { ...state, entries, stale: true };
}

/** The editor chose a text where two stood against each other. */
export function resolved(state: Saving, position: number, save: Save, now: number): Saving {
  const entry = state.entries.get(position);
  if (!entry?.theirs) return state;
  const { theirs, ...rest } = entry;
  if (isTheirs(save, theirs)) return without(state, position);
  return put(state, position, { ...rest, revision: theirs.revision, save, due: now, failures: 0 });
}

/** What is kept in the browser for the case that the page goes. */
export type Kept = Pick<Entry, 'revision' | 'save' | 'activeMs' | 'sent'>;

export function keptOf({ revision, save, activeMs, sent }: Entry): Kept {
  return { revision, save, activeMs, sent };
}

/** What was kept, beside what the server has now: sent again, in conflict, or long there. */
export function restored(state: Saving, position: number, kept: Kept, theirs: Theirs, now: number): Saving {
  if (isTheirs(kept.save, theirs)) return without(state, position);
  const entry: Entry = {
    ...kept,
    sending: false,
    due: now,
    failures: 0,
    ...(state.stale ? { left: true } : {}),
  };
  const waiting = put(state, position, entry);
  return kept.revision === theirs.revision ? waiting : conflicted(waiting, position, theirs, now);
}

export type Shown =
  | { state: 'saved'; at?: number }
  | { state: 'saving' }
  | { state: 'offline'; waiting: number }
  | { state: 'conflict'; positions: number[] }
  | { state: 'refused'; positions: number[] }
  | { state: 'lost'; waiting: number };

/** What the page says of all this: the worst first. */
export function shown(state: Saving): Shown {
  const entries = [...state.entries];
  if (state.stale) return { state: 'lost', waiting: entries.length };
  const positions = (wanted: (entry: Entry) => unknown) =>
    entries.filter(([, entry]) => wanted(entry)).map(([position]) => position);
  const conflicts = positions((entry) => entry.theirs);
  if (conflicts.length > 0) return { state: 'conflict', positions: conflicts };
  const refusals = positions((entry) => entry.refused !== undefined);
  if (refusals.length > 0) return { state: 'refused', positions: refusals };
  if (positions((entry) => entry.failures > 0).length > 0)
    return { state: 'offline', waiting: entries.length };
  if (entries.length > 0) return { state: 'saving' };
  return { state: 'saved', ...(state.savedAt === undefined ? {} : { at: state.savedAt }) };
}

function isTheirs(save: Save, theirs: Theirs): boolean {
  return theirs.status === save.status && samePieces(theirs.target, save.target);
}

function sameSave(one: Save, other: Save): boolean {
  return (
    one === other ||
    (one.status === other.status &&
      samePieces(one.target, other.target) &&
      one.acknowledged.join('\n') === other.acknowledged.join('\n'))
  );
}

function put(state: Saving, position: number, entry: Entry): Saving {
  return { ...state, entries: new Map(state.entries).set(position, entry) };
}

function without(state: Saving, position: number): Saving {
  const entries = new Map(state.entries);
  entries.delete(position);
  return { ...state, entries };
}

function change(state: Saving, position: number, to: (entry: Entry) => Entry): Saving {
  const entry = state.entries.get(position);
  return entry ? put(state, position, to(entry)) : state;
}
