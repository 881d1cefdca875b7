/**
 * The observable state of one task. It is outside React's state, so that a key typed in one of ten thousand segments
 * renders one row.
 */

import { TRAITS } from '@dragoman/documents/formats';
import type { Completion } from '../text/completion.ts';
import { type Piece, plainText, type Range } from '../text/pieces.ts';
import { type Effort, idle } from './effort.ts';
import { FilterCounts } from './filters.ts';
import {
  type Announcement,
  needsWork,
  type PageState,
  readOnlyOf,
  type SegmentState,
  segmentStateOf,
} from './state.ts';
import type { Comment, Issue, Segment, Task } from './task.ts';
import { readView } from './view.ts';

/** What a listener observes: the segment at a position, the page, the text of any segment, or the filters' counts. */
export type Observed = number | 'page' | 'text' | 'filters' | 'completion';

type Change<State> = { [Key in keyof State]?: State[Key] | undefined };

export class WorkbenchStore {
  readonly task: Task;
  readonly announce: (what: Announcement) => void;
  /** The number of segments that match each filter. */
  readonly filterCounts: FilterCounts;
  /** Number of text changes since the page was opened. */
  textVersion = 0;
  readonly #segments = new Map<number, SegmentState>();
  #positions: readonly number[] = [];
  #indexes: ReadonlyMap<number, number> = new Map();
  readonly #listeners = new Map<Observed, Set<() => void>>();
  /** The words that each issue marked when the page first received the issue. Later edits change their offsets. */
  readonly #quotes = new Map<string, string>();
  #page: PageState;
  #comments: readonly Comment[];
  #completion: Completion | undefined;
  #suggestions: { position: number; targets: readonly (readonly Piece[] | undefined)[] } | undefined;

  constructor(task: Task, announce: (what: Announcement) => void) {
    this.task = task;
    this.announce = announce;
    this.#list(task.segments.map(({ position }) => position));
    for (const segment of task.segments) {
      this.#segments.set(segment.position, segmentStateOf(segment));
      for (const issue of segment.issues) this.quoteOf(issue);
    }
    this.filterCounts = new FilterCounts(this.#segments.values());
    this.#comments = task.comments;
    this.#page = {
      active: this.firstOpen(),
      focus: readView(task.job.format) === 'flow' ? 'row' : 'text',
      moves: 1,
      taught: 0,
      selected: new Set(),
      saving: { state: 'saved' },
      lease: task.lease,
      readOnly: readOnlyOf(task),
      effort: { ...idle, totalMs: task.active_ms },
      confirmed: this.editable.filter(({ status }) => status === 'confirmed').length,
      seen: this.editable.filter(({ seen }) => seen).length,
      plain: false,
      preview: false,
      collapsed: false,
      filtering: false,
      view: readView(task.job.format),
      commenting: false,
      signedOut: false,
      otherTab: false,
    };
  }

  get page(): PageState {
    return this.#page;
  }

  /** The shown completion of the word that is being typed. */
  get completion(): Completion | undefined {
    return this.#completion;
  }

  /** Sets the completion. It is not part of the page's state, because it changes with each key. */
  setCompletion(completion: Completion | undefined): void {
    const before = this.#completion;
    if (completion?.typed === before?.typed && completion?.rest === before?.rest) return;
    this.#completion = completion;
    this.notify('completion');
  }

  /**
   * The suggestions for the active segment, in the order of the panel. Until the panel shows this segment, the draft is
   * the only suggestion. The panel shows the draft first too. The place of a withdrawn suggestion is undefined.
   */
  get suggestions(): readonly (readonly Piece[] | undefined)[] {
    const { active } = this.#page;
    if (this.#suggestions?.position === active) return this.#suggestions.targets;
    const draft = this.has(active) && this.segment(active).segment.draft;
    return draft ? [draft] : [];
  }

  /** Sets the suggestions that the panel shows for a segment. */
  setSuggestions(position: number, targets: readonly (readonly Piece[] | undefined)[]): void {
    this.#suggestions = { position, targets };
  }

  /** The positions of all segments, in order. A segment that is joined with an earlier one is not among them. */
  get positions(): readonly number[] {
    return this.#positions;
  }

  /**
   * Number of segments of this task. Its context, the segments around it that belong to other tasks, is not
   * counted.
   */
  get total(): number {
    return this.editable.length;
  }

  /** The positions of the rows that the grid shows. */
  get rows(): readonly number[] {
    return this.#page.filter?.positions ?? this.positions;
  }

  get comments(): readonly Comment[] {
    return this.#comments;
  }

  /** The lease token, empty without a lease. */
  get token(): string {
    return this.#page.lease?.token ?? '';
  }

  has(position: number): boolean {
    return this.#indexes.has(position);
  }

  segment(position: number): SegmentState {
    return this.#segments.get(position)!;
  }

  /** All segments of this task, without the context (segments of other tasks). */
  get editable(): SegmentState[] {
    return this.positions.map((position) => this.segment(position)).filter(({ segment }) => segment.mine);
  }

  canEdit(position: number): boolean {
    return (
      this.#page.readOnly === undefined && this.has(position) && this.segment(position).segment.mine === true
    );
  }

  /** Returns the index of a segment's row, counted from 0. */
  indexOf(position: number): number {
    return this.#indexes.get(position)!;
  }

  /** Returns the number that the page shows for a segment, counted from 1. */
  numberOf(position: number): number {
    return position + 1;
  }

  /** Returns which neighbours of a segment belong to the same paragraph. */
  inParagraph(position: number): 'both' | 'before' | 'after' | undefined {
    const index = this.indexOf(position);
    const unit = (at: number) => {
      const there = this.positions[at];
      return there === undefined ? undefined : this.segment(there).segment.unit;
    };
    const before = unit(index - 1) === unit(index);
    const after = unit(index + 1) === unit(index);
    if (before && after) return 'both';
    return before ? 'before' : after ? 'after' : undefined;
  }

  /** Returns the position of the next segment if it may be joined with this one. The server decides. */
  nextToJoin(position: number): number | undefined {
    const next = this.positions[this.indexOf(position) + 1];
    const { kind, job } = this.task;
    if (next === undefined || kind !== 'edit' || TRAITS[job.format].isSubtitles) return undefined;
    if (!this.canEdit(position) || !this.canEdit(next)) return undefined;
    const [one, other] = [this.segment(position).segment, this.segment(next).segment];
    return one.unit === other.unit && one.kept === undefined && other.kept === undefined ? next : undefined;
  }

  /** Returns true if a segment may be split. The server decides. */
  maySplit(position: number): boolean {
    const { source, kept, joined_to } = this.segment(position).segment;
    const isWhole = kept === undefined && joined_to === undefined;
    return (
      this.task.kind === 'edit' &&
      this.canEdit(position) &&
      isWhole &&
      /\p{L}[^\p{L}]+\p{L}/u.test(plainText(source))
    );
  }

  /** Lists segments that were joined, separated or split, as the server now has them. */
  relist(segments: readonly Segment[]): void {
    const listed = new Set(this.positions);
    for (const segment of segments) {
      const { position, joined_to: last = position } = segment;
      this.#segments.set(position, segmentStateOf(segment));
      listed.add(position);
      for (let hidden = position + 1; hidden <= last; hidden += 1) {
        listed.delete(hidden);
        this.filterCounts.forget(hidden);
      }
    }
    this.#list([...listed].sort((a, b) => a - b));
    for (const { position } of segments) this.filterCounts.count(this.segment(position));
    // The server has moved what was written about the hidden segments in the same way.
    const moved = <One extends { position?: number | undefined }>(one: One): One => {
      const to = segments.find(
        ({ position, joined_to: last = position }) => one.position! > position && one.position! <= last,
      );
      return to ? { ...one, position: to.position } : one;
    };
    this.#comments = this.#comments.map(moved);
    this.task.queries = this.task.queries.map(moved);
    const { active, filter, selected } = this.#page;
    const shown = new Set([...(filter?.positions ?? []), ...segments.map(({ position }) => position)]);
    this.textVersion += 1;
    this.update({
      active: this.has(active) ? active : segments[0]!.position,
      selected: new Set([...selected].filter((position) => this.has(position))),
      filter: filter && { ...filter, positions: this.positions.filter((position) => shown.has(position)) },
      confirmed: this.editable.filter(({ status }) => status === 'confirmed').length,
      seen: this.editable.filter(({ seen }) => seen).length,
    });
    for (const what of [...segments.map(({ position }) => position), 'filters', 'text'] as const) {
      this.notify(what);
    }
  }

  #list(positions: readonly number[]): void {
    this.#positions = positions;
    this.#indexes = new Map(positions.map((position, index) => [position, index]));
  }

  /** Returns the words that an issue marks, or an empty text when the issue marks the whole segment. */
  quoteOf({ issue, position, range }: Issue): string {
    const known = this.#quotes.get(issue);
    if (known !== undefined || !range) return known ?? '';
    const quote = plainText(this.segment(position).target).slice(range.start, range.end);
    this.#quotes.set(issue, quote);
    return quote;
  }

  /** Returns the ranges of a target that its issues mark and that still have the marked words. */
  issueRanges(position: number, text: string): Range[] {
    return this.segment(position).issues.flatMap((issue) => {
      const { range } = issue;
      return range && text.slice(range.start, range.end) === this.quoteOf(issue) ? [range] : [];
    });
  }

  /**
   * Returns the position of the first segment of this task that needs work. If none does, returns its first
   * segment; if the task has none, the first segment of the context; -1 without segments.
   */
  firstOpen(): number {
    const { editable } = this;
    const first = editable.find(needsWork)?.segment ?? editable[0]?.segment ?? this.task.segments[0];
    return first?.position ?? -1;
  }

  /** Calls `listener` after each change; returns a function that unsubscribes it. */
  watch(what: Observed, listener: () => void): () => void {
    const listeners = this.#listeners.get(what) ?? new Set();
    this.#listeners.set(what, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  notify(what: Observed): void {
    for (const listener of this.#listeners.get(what) ?? []) listener();
  }

  update(change: Change<PageState>): void {
    this.#page = { ...this.#page, ...change } as PageState;
    this.notify('page');
  }

  /**
   * Sets the effort without notifying listeners: it changes with each key, but the page shows only whole
   * seconds.
   */
  setEffort(effort: Effort): void {
    this.#page = { ...this.#page, effort };
  }

  change(position: number, change: Change<SegmentState>): void {
    this.put(position, { ...this.segment(position), ...change } as SegmentState);
  }

  /** Changes the state of a listed segment. */
  put(position: number, state: SegmentState): void {
    if (!this.has(position)) return;
    const before = this.#segments.get(position);
    this.#segments.set(position, state);
    if ((before?.status === 'confirmed') !== (state.status === 'confirmed') && state.segment.mine) {
      this.update({ confirmed: this.#page.confirmed + (state.status === 'confirmed' ? 1 : -1) });
    }
    if ((before?.seen ?? false) !== state.seen && state.segment.mine) {
      this.update({ seen: this.#page.seen + (state.seen ? 1 : -1) });
    }
    this.notify(position);
    if (this.filterCounts.count(state)) this.notify('filters');
    if (before?.target !== state.target) {
      this.textVersion += 1;
      this.notify('text');
    }
  }

  /** Adds comments and counts them on their segments. Notifies only the listeners of these segments. */
  addComments(comments: readonly Comment[]): void {
    this.#comments = [...this.#comments, ...comments];
    for (const { position } of comments) {
      if (position === undefined || !this.has(position)) continue;
      this.change(position, { comments: this.segment(position).comments + 1 });
    }
  }

  /** Adds a segment to the selection or removes it. */
  select(position: number): void {
    const selected = new Set(this.page.selected);
    if (!selected.delete(position)) selected.add(position);
    this.update({ selected });
    this.notify(position);
  }

  /** Returns the focus to the active segment, to its text or its row, whichever had the focus before. */
  focusActive(): void {
    this.update({ moves: this.page.moves + 1 });
    this.notify(this.page.active);
  }
}
