/** The types of the workbench's state, of its announcements and of its server calls. */
import { complete, type Piece, type Range, samePieces } from '../text/pieces.ts';
import type { Finding } from './checking.ts';
import type { Effort } from './effort.ts';
import type { Filter } from './filters.ts';
import type { SaveStatus, ServerVersion } from './save-queue.ts';
import type {
  Category,
  Comment,
  Issue,
  Lease,
  Match,
  Query,
  Segment,
  SegmentStatus,
  Severity,
  Task,
  TaskTerm,
} from './task.ts';
import type { View } from './view.ts';

export interface SegmentState {
  /** The segment as the server last returned it. */
  segment: Segment;
  /** The target with the edits of this page. It has every code of the source. */
  target: readonly Piece[];
  status: SegmentStatus;
  acknowledged: readonly string[];
  /** The findings of the checks; undefined until they have run on this target. */
  findings?: readonly Finding[] | undefined;
  issues: readonly Issue[];
  comments: number;
  /** Whether a text of other editors has just arrived, which the row shows for a moment. */
  arrived?: boolean | undefined;
  /** Whether this user wrote the target, and it differs from the draft. */
  changed: boolean;
  /** Whether an open query to the customer prevents the confirmation of the segment. */
  asked: boolean;
  /** Whether an editor marked the segment as unsure. */
  unsure: boolean;
  /** Whether the reviewer has seen the segment; outside a review always true. */
  seen: boolean;
  /** The target that the reviewer saw last, if it had changed when the page received the segment. */
  lastSeen?: readonly Piece[] | undefined;
}

/** Why a task cannot be edited. */
export type ReadOnly = 'not_claimed' | 'record' | 'lost' | 'submitted' | 'done' | 'reported' | 'canceled';

export type Dialog =
  | { dialog: 'help' | 'findings' | 'submit' | 'skip' | 'report' | 'release' | 'return' | 'goTo' }
  | { dialog: 'ask'; position: number }
  /** @param at the offset in the text of the source that the dialog begins with */
  | { dialog: 'split'; position: number; at: number }
  | { dialog: 'term'; source: string; target: string }
  | { dialog: 'issue'; position: number; range?: Range; quote: string }
  | { dialog: 'conflict'; position: number };

export interface PageState {
  /** Position of the active segment; -1 when the task has no segments. */
  active: number;
  /** Where the focus belongs after a move: in the text of the active segment, on its row, or where it is in the search. */
  focus: 'text' | 'row' | 'search';
  /** Increases with each move, so that the active row takes the focus again. */
  moves: number;
  /** Increases with each confirmed text, so that the active segment asks for its matches again. */
  taught: number;
  selected: ReadonlySet<number>;
  saving: SaveStatus;
  lease?: Lease | undefined;
  readOnly?: ReadOnly | undefined;
  effort: Effort;
  /** Number of confirmed segments of this task. */
  confirmed: number;
  /** Number of segments of this task that the reviewer has seen. */
  seen: number;
  /** Whether the target is edited as plain text with tokens. */
  plain: boolean;
  preview: boolean;
  /** Whether neighbouring tags are shown as one chip. */
  collapsed: boolean;
  /** Whether the task is shown as rows or as the translated document. */
  view: View;
  /** The segment whose findings prevented its confirmation. Confirming it again accepts its warnings. */
  blocked?: number | undefined;
  find?: { query: string; replacing: boolean } | undefined;
  /** Whether the bar with the filters is open. */
  filtering: boolean;
  /** The filter of the grid. `positions` are the segments that matched when the filter was chosen. */
  filter?: { by: Filter; positions: readonly number[] } | undefined;
  /** The words of the open memory search. */
  concordance?: string | undefined;
  commenting: boolean;
  dialog?: Dialog | undefined;
  /** Whether the session has ended. The page then shows a dialog for the password in front of all other content. */
  signedOut: boolean;
  /** Whether another tab of this browser has the same task open. */
  otherTab: boolean;
  /** Whether the list of codes is open at the caret; `typed` when a `<` opened it. */
  codes?: { typed: boolean } | undefined;
  /** A short message over the grid. It disappears at the next confirmation or search. */
  notice?: Notice | undefined;
}

/** Why segments could not be joined or separated. `unsent`: not every text could be saved first. */
export type JoinRefusal =
  | 'subtitles'
  | 'customer'
  | 'paragraph'
  | 'kept'
  | 'asked'
  | 'length'
  | 'split'
  | 'unsent';
/** Why a segment could not be split. */
export type SplitRefusal = 'joined' | 'kept' | 'empty' | 'tags' | 'many';

/** A message about a change. `undo` undoes the change in all segments. */
export type Notice =
  | { type: 'filled' | 'replaced'; count: number; undo: () => void }
  | { type: 'code-moved'; label: string }
  | { type: 'not-joined'; why: JoinRefusal }
  | { type: 'not-split'; why: SplitRefusal }
  | { type: 'comment-unsent' | 'unsure-unsent' | 'asked' | 'answered'; number: number };

/** A message for screen readers; `sentences.ts` puts it into words. */
export type Announcement =
  | { type: 'confirmed'; position: number; at: number; of: number }
  | { type: 'moved-to'; at: number; of: number }
  | { type: 'reopened'; position: number }
  | { type: 'checks'; errors: number; warnings: number }
  | { type: 'code-kept' | 'code-moved'; label: string }
  | { type: 'not-possible' | 'codes-placed' | 'codes-collapsed' | 'codes-expanded' }
  | {
      type:
        | 'saved'
        | 'all-confirmed'
        | 'all-seen'
        | 'issue'
        | 'unsure'
        | 'sure'
        | 'joined'
        | 'separated'
        | 'split'
        | 'unsplit'
        | 'term'
        | 'query'
        | 'comment';
    }
  | { type: 'conflict' | 'refused' | 'answered'; position: number }
  | { type: 'read-only'; why: ReadOnly }
  | { type: 'filtered'; count: number }
  | { type: 'filter-done' }
  | { type: 'completed'; word: string }
  | { type: 'offline' | 'replaced' | 'filled' | 'arrived' | 'commented'; count: number };

/** The server calls of one task. Each rejects with a `CallError` for an error answer or a lost connection. */
export interface TaskServer {
  /**
   * Resolves also for an error answer to which the editor can react, such as a conflict. Rejects when the
   * save should be tried again.
   */
  save(
    position: number,
    body: {
      token: string;
      revision: number;
      target: Piece[];
      status: 'draft' | 'confirmed';
      acknowledged: string[];
      active_ms: number;
    },
  ): Promise<SaveAnswer>;
  /** Returns the matches of a segment; with the segment, if one of them has become its draft. */
  matches(position: number): Promise<{ matches: Match[]; segment?: Segment | undefined }>;
  heartbeat(token: string): Promise<Lease>;
  /** Resolves with the positions of unconfirmed segments if these prevent the submission. */
  submit(token: string): Promise<{ unconfirmed?: number[] }>;
  approve(token: string): Promise<void>;
  returnTask(token: string, note?: string): Promise<void>;
  release(token: string): Promise<void>;
  skip(token: string | undefined, reason: string): Promise<void>;
  report(token: string | undefined, reason: string, note?: string): Promise<void>;
  markIssue(
    token: string,
    issue: { position: number; category: Category; severity: Severity; note?: string; range?: Range },
  ): Promise<Issue>;
  unmarkIssue(token: string, issue: string): Promise<void>;
  /** Resolves with the segments that are listed now, or with the reason why they cannot be joined. */
  join(
    token: string,
    position: number,
    revision: number,
    nextRevision: number,
  ): Promise<Segment[] | JoinRefusal>;
  separate(token: string, position: number, revision: number): Promise<Segment[]>;
  /** @param at the offset in the text of the source. Resolves with the segment, or with the reason why it cannot be split. */
  split(token: string, position: number, revision: number, at: number): Promise<Segment[] | SplitRefusal>;
  unsplit(token: string, position: number, revision: number): Promise<Segment[]>;
  /** Marks a segment as unsure, or removes the mark. */
  markUnsure(token: string, position: number, unsure: boolean): Promise<void>;
  /** Records segments as seen by the reviewer. */
  markSeen(token: string, segments: { position: number; revision: number }[]): Promise<void>;
  comment(text: string, position?: number): Promise<Comment>;
  ask(token: string, position: number, question: string): Promise<Query>;
  withdrawQuery(token: string, query: string): Promise<void>;
  proposeTerm(token: string, term: { source: string; target: string; note?: string }): Promise<TaskTerm>;
  withdrawTerm(token: string, proposal: string): Promise<void>;
  readTask(): Promise<Task>;
}

export type SaveAnswer =
  | { answer: 'saved'; segment: Segment; filled: Segment[]; lease: Lease }
  | { answer: 'conflict'; segment: Segment }
  | { answer: 'checks_failed'; findings: Finding[] }
  | { answer: 'stale'; why: 'lost' | 'canceled' }
  | { answer: 'refused'; code: string };

export function segmentStateOf(segment: Segment): SegmentState {
  return {
    segment,
    target: firstTarget(segment),
    status: segment.status,
    acknowledged: segment.acknowledged,
    issues: segment.issues,
    comments: segment.comments,
    changed: segment.changed,
    asked: segment.asked,
    unsure: segment.unsure,
    seen: segment.seen === undefined || segment.seen === 'seen',
    lastSeen: segment.last_seen,
  };
}

/**
 * Returns the text with which the editing of a segment begins: what was saved, or else the text that other editors
 * confirmed, or else the draft. It has every code of the source.
 */
export function firstTarget({ source, target, draft, mine, vote }: Segment): readonly Piece[] {
  const isArriving = mine && vote?.state === 'next';
  return complete(target ?? (isArriving ? vote.target : draft) ?? [], source);
}

/** Returns true if the segment shows the text that other editors confirmed. */
export function showsVote({ segment, target }: Pick<SegmentState, 'segment' | 'target'>): boolean {
  return segment.vote !== undefined && samePieces(complete(segment.vote.target, segment.source), target);
}

/** Returns the draft of a segment; if it shows the text of other editors, the draft that it had before. */
export function draftToRestore(state: SegmentState): readonly Piece[] {
  const { draft, vote } = state.segment;
  return (vote?.state === 'filled' && showsVote(state) ? vote.former : draft) ?? [];
}

export function serverVersionOf(segment: Segment): ServerVersion {
  return {
    revision: segment.revision,
    target: segment.target ?? segment.draft ?? [],
    status: segment.status,
  };
}

/** Returns why a task cannot be edited, undefined when it can. */
export function readOnlyOf(task: Task): ReadOnly | undefined {
  switch (task.status) {
    case 'open':
    case 'claimed':
      if (task.lease) return undefined;
      return task.access === 'record' ? 'record' : 'not_claimed';
    default:
      return task.status;
  }
}

/**
 * Returns true if a segment still needs work: it is not confirmed and does not wait for the customer, or the
 * reviewer has not seen it.
 */
export function needsWork({ status, seen, asked }: SegmentState): boolean {
  return (status !== 'confirmed' && !asked) || !seen;
}

/** Returns the code of an error answer, undefined for other errors. */
export function codeOfError(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
