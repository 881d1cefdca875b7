/**
 * What the workbench knows and does. Components read a segment or the page and are told when that changes; nothing of a
 * task goes through React's state, so that a key typed into one of ten thousand segments draws one row.
 *
 * A segment's text is the editor's from the moment it changes: what the server answers changes its revision, never what
 * is being typed. Confirming does not wait for the server.
 */
import type { Glossary, Term } from '@dragoman/checks';
import type * as checking from './checking.ts';
import type { Finding } from './checking.ts';
import type { Drafts } from './drafts.ts';
import { counted, type Effort, idle, seen, used } from './effort.ts';
import { countIn, replaceIn } from './find.ts';
import { Live } from './live.ts';
import { type Code, complete, labelOf, type Piece, plainText, samePieces } from './pieces.ts';
import { type Outcome, Saver } from './saver.ts';
import { type Save, type Shown, shown, type Theirs } from './saving.ts';
import type {
  Category,
  Comment,
  Issue,
  Lease,
  Match,
  Range,
  Segment,
  SegmentStatus,
  Severity,
  Task,
} from './task.ts';

/** Checks run when typing has rested this long. */
const CHECK_MS = 300;
const HEARTBEAT_MS = 60_000;

export interface SegmentState {
  /** As the server last said. */
  segment: Segment;
  /** As it stands here, with every code of its source. */
  target: readonly Piece[];
  status: SegmentStatus;
  acknowledged: readonly string[];
  /** What the checks say of it; nothing before they have looked. */
  findings?: readonly Finding[];
  issues: readonly Issue[];
  comments: number;
}

/** Why nothing can be changed. */
export type ReadOnly =
  | 'not_claimed'
  | 'record'
  | 'lost'
  | 'over'
  | 'submitted'
  | 'done'
  | 'reported'
  | 'canceled';

export type Dialog =
  | { dialog: 'help' | 'submit' | 'skip' | 'report' | 'release' | 'return' | 'goTo' }
  | { dialog: 'issue'; position: number; range?: Range; quote: string }
  | { dialog: 'conflict'; position: number };

export interface PageState {
  active: number;
  /** Where the focus belongs: in the text of the active segment or on its row. */
  focus: 'text' | 'row';
  /** Grows with each move, so that rows take the focus again. */
  moves: number;
  selected: ReadonlySet<number>;
  saving: Shown;
  lease?: Lease;
  /** Four fifths of the time are over. */
  late: boolean;
  readOnly?: ReadOnly;
  effort: Effort;
  confirmed: number;
  plain: boolean;
  preview: boolean;
  /** The segment whose warnings stand against its being confirmed. */
  asked?: number;
  find?: { wanted: string; replacing: boolean };
  concordance?: string;
  commenting: boolean;
  dialog?: Dialog;
  /** The list of codes is open at the caret; `typed` where a `<` opened it. */
  codes?: { typed: boolean };
  filled?: { from: number; before: readonly { position: number; save: Save }[] };
}

/** What is said aloud: the words are made where the language is known. */
export type Announcement =
  | { say: 'confirmed'; position: number; at: number; of: number }
  | { say: 'moved-to'; at: number; of: number }
  | { say: 'reopened'; position: number }
  | { say: 'checks'; errors: number; warnings: number }
  | { say: 'code-kept' | 'code-moved'; label: string }
  | { say: 'saved' | 'all-confirmed' | 'codes-restored' | 'issue' | 'comment' | 'extended' }
  | { say: 'conflict' | 'refused'; position: number }
  | { say: 'read-only'; why: ReadOnly }
  | { say: 'offline' | 'replaced' | 'filled' | 'found' | 'commented'; count: number };

/** What the workbench asks of the server. Throws `offline` and its like as they come. */
export interface Server {
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
  matches(position: number): Promise<Match[]>;
  heartbeat(token: string): Promise<Lease>;
  extend(token: string): Promise<Lease>;
  submit(token: string): Promise<{ unconfirmed?: number[] }>;
  approve(token: string): Promise<void>;
  giveBack(token: string, note?: string): Promise<void>;
  release(token: string): Promise<void>;
  skip(token: string | undefined, reason: string): Promise<void>;
  report(token: string | undefined, reason: string, note?: string): Promise<void>;
  markIssue(
    token: string,
    issue: { position: number; category: Category; severity: Severity; note?: string; range?: Range },
  ): Promise<Issue>;
  unmarkIssue(token: string, issue: string): Promise<void>;
  comment(text: string, position?: number): Promise<Comment>;
  /** The task as it is now. */
  look(): Promise<Task>;
}

export type SaveAnswer =
  | { answer: 'saved'; segment: Segment; filled: Segment[]; lease: Lease }
  | { answer: 'conflict'; segment: Segment }
  | { answer: 'checks_failed'; findings: Finding[] }
  | { answer: 'stale'; why: 'lost' | 'canceled' }
  | { answer: 'refused'; code: string };

export interface WorkbenchOptions {
  task: Task;
  /** Fetched while the task is. */
  checks: typeof checking;
  server: Server;
  drafts: Drafts;
  announce: (what: Announcement) => void;
  /** How chips are called in the language of the app. */
  chip: (code: Code, stands: string | undefined) => { title: string; label: string };
  now?: () => number;
}

export class Workbench {
  readonly task: Task;
  readonly glossary: Glossary;
  readonly terms: readonly Term[];
  readonly live: Live;
  readonly positions: readonly number[];
  readonly #options: WorkbenchOptions;
  readonly #now: () => number;
  readonly #segments = new Map<number, SegmentState>();
  readonly #indexes: ReadonlyMap<number, number>;
  readonly #listeners = new Map<number | 'page' | 'text', Set<() => void>>();
  readonly #saver: Saver;
  readonly #checks = new Map<number, () => void>();
  readonly #matches = new Map<number, Promise<Match[]>>();
  /** Active time that no save has taken along, by segment. */
  readonly #spent = new Map<number, number>();
  #attributed = 0;
  /** What the server's clock is ahead of this one. */
  #ahead = 0;
  #page: PageState;
  #comments: readonly Comment[];
  #stops: (() => void)[] = [];
  /** What is being done to the task from here. */
  #acting = 0;

  constructor(options: WorkbenchOptions) {
    const { task } = options;
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.task = task;
    this.terms = task.terms.map(({ source, target, case_sensitive, forbidden, do_not_translate, note }) => ({
      source,
      target,
      caseSensitive: case_sensitive,
      forbidden,
      doNotTranslate: do_not_translate,
      ...(note === undefined ? {} : { note }),
    }));
    this.glossary = options.checks.glossary(this.terms, task.job.source_language, task.job.target_language);
    this.positions = task.segments.map(({ position }) => position);
    this.#indexes = new Map(this.positions.map((position, index) => [position, index]));
    for (const segment of task.segments) this.#segments.set(segment.position, stateOf(segment));
    this.#comments = task.comments;
    this.total = task.segments.filter(({ mine }) => mine).length;
    if (task.lease) this.#ahead = Date.parse(task.lease.now) - this.#now();
    this.#page = {
      active: this.#firstOpen(),
      focus: 'text',
      moves: 1,
      selected: new Set(),
      saving: { state: 'saved' },
      late: false,
      effort: idle,
      confirmed: this.#countConfirmed(),
      plain: false,
      preview: false,
      commenting: false,
      ...(task.lease ? { lease: task.lease } : {}),
      ...readOnlyOf(task),
    };
    this.#saver = new Saver({
      drafts: options.drafts,
      send: (position, save, revision, activeMs) => this.#send(position, save, revision, activeMs),
      now: this.#now,
      at: (time, call) => {
        const timer = setTimeout(call, Math.max(0, time - this.#now()));
        return () => clearTimeout(timer);
      },
      changed: () => this.#savingChanged(),
    });
    this.live = new Live({
      begin: (position) => this.segment(position).target,
      language: () => task.job.target_language,
      hasLines: (position) => plainText(this.segment(position).segment.source).includes('\n'),
      editable: () => this.canEdit(this.#page.active),
      chip: (position, code) => this.chip(position, code),
      changed: (position, pieces) => this.typed(position, pieces),
      stepped: (code) => options.announce({ say: 'code-kept', label: labelOf(code) }),
      moved: (code) => options.announce({ say: 'code-moved', label: labelOf(code) }),
      codesWanted: (typed) => this.update({ codes: { typed } }),
    });
  }

  // — What components read —

  segment(position: number): SegmentState {
    return this.#segments.get(position)!;
  }

  get page(): PageState {
    return this.#page;
  }

  get comments(): readonly Comment[] {
    return this.#comments;
  }

  /** @param what a segment's position, the page, or the text of any segment */
  watch(what: number | 'page' | 'text', listener: () => void): () => void {
    const listeners = this.#listeners.get(what) ?? new Set();
    this.#listeners.set(what, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  canEdit(position: number): boolean {
    return this.#page.readOnly === undefined && this.#segments.get(position)?.segment.mine === true;
  }

  chip(position: number, code: Code): { title: string; label: string } {
    return this.#options.chip(code, this.segment(position).segment.codes[`${code.kind}${code.number}`]);
  }

  /** How many texts have changed since the page was opened: what is counted over all of them is counted anew. */
  texts = 0;
  /** What the panel offers for the active segment, in its order. */
  suggestions: readonly (readonly Piece[])[] = [];
  /** Of this task, not of its context. */
  readonly total: number;

  /** Whether the segments before and after stand in the same paragraph. */
  joined(position: number): 'both' | 'before' | 'after' | undefined {
    const index = this.#indexes.get(position)!;
    const unit = (at: number) => {
      const there = this.positions[at];
      return there === undefined ? undefined : this.segment(there).segment.unit;
    };
    const before = unit(index - 1) === unit(index);
    const after = unit(index + 1) === unit(index);
    if (before && after) return 'both';
    return before ? 'before' : after ? 'after' : undefined;
  }

  /** The number that people say: from 1. */
  numberOf(position: number): number {
    return position + 1;
  }

  get editable(): SegmentState[] {
    return this.positions.map((position) => this.segment(position)).filter(({ segment }) => segment.mine);
  }

  /** Everything there is to say of a segment's text, now. */
  findings(position: number): readonly Finding[] {
    const state = this.segment(position);
    const findings =
      state.findings ?? this.#options.checks.findingsOf(this.task, this.terms, state.segment, state.target);
    if (!state.findings) this.#change(position, { findings });
    return findings;
  }

  matches(position: number): Promise<Match[]> {
    const known = this.#matches.get(position);
    if (known) return known;
    const asked = this.#options.server.matches(position);
    this.#matches.set(position, asked);
    asked.catch(() => this.#matches.delete(position));
    return asked;
  }

  // — Begin and end —

  /** Takes up what an earlier page left unsent, and begins to keep the lease and the time. */
  async begin(): Promise<void> {
    const server = new Map<number, Theirs>();
    for (const [position, { segment }] of this.#segments) {
      if (segment.mine) server.set(position, theirsOf(segment));
    }
    if (this.#page.readOnly) this.#saver.lose('all');
    for (const [position, save] of await this.#saver.restore(server)) {
      const { segment } = this.segment(position);
      this.#change(position, {
        target: complete(save.target, segment.source),
        status: save.status,
        acknowledged: save.acknowledged,
        findings: undefined,
      });
      this.live.forget(position);
    }
    this.#page = { ...this.#page, active: this.#firstOpen() };
    const beat = setInterval(() => void this.#beat(), HEARTBEAT_MS);
    const tick = setInterval(() => this.#tick(), 1_000);
    this.#stops.push(
      () => clearInterval(beat),
      () => clearInterval(tick),
    );
    this.#tick();
  }

  /**
   * Something has happened to the task elsewhere: it was taken away, freed, returned, or somebody has said something.
   * Nothing that is written here is touched.
   */
  async look(): Promise<void> {
    if (this.#acting > 0) return;
    const task = await this.#options.server.look().catch((error: unknown) => {
      if (this.#acting > 0) return;
      if (codeOfError(error) === 'job_canceled') this.#over('canceled');
      else if (codeOfError(error) === 'not_found') this.#taken('lost');
    });
    // What is done here just now says itself what becomes of the task.
    if (!task || this.#acting > 0) return;
    this.#hear(task.comments);
    const { lease, readOnly } = this.#page;
    const now = readOnlyOf(task).readOnly;
    if (readOnly === undefined) {
      if (task.lease?.token === lease?.token) return;
      this.#taken(now === 'canceled' || now === 'done' ? now : 'lost');
    } else if (now !== undefined && now !== readOnly && readOnly !== 'lost' && readOnly !== 'over') {
      this.task.status = task.status;
      this.update({ readOnly: now });
    }
  }

  /** Another has the task. What is not sent yet is sent first: the server keeps it, and answers that the task is lost. */
  #taken(why: ReadOnly): void {
    if (this.#page.readOnly !== undefined) return;
    this.#attribute();
    this.#saver.hurry();
    if (this.#saver.empty) this.#over(why);
  }

  /** What others have said since. */
  #hear(comments: readonly Comment[]): void {
    const known = new Set(this.#comments.map(({ comment }) => comment));
    const others = comments.filter(({ comment }) => !known.has(comment));
    if (others.length === 0) return;
    this.#comments = [...this.#comments, ...others];
    for (const { position } of others) {
      if (position === undefined || !this.#segments.has(position)) continue;
      this.#change(position, { comments: this.segment(position).comments + 1 });
    }
    this.update({});
    this.#options.announce({ say: 'commented', count: others.length });
  }

  /** The page is left. What is unsent is in the browser, and is sent as long as there is a page to send it. */
  end(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
    for (const cancel of this.#checks.values()) cancel();
    this.#saver.hurry();
    this.#saver.stop();
  }

  get unsent(): boolean {
    return !this.#saver.empty && this.#page.saving.state !== 'lost';
  }

  // — Moving —

  /** Makes a segment the active one. Its text is sent now, the one before has rested. */
  activate(position: number, focus: 'text' | 'row' = this.#page.focus): void {
    if (!this.#segments.has(position)) return;
    const { active } = this.#page;
    this.#attribute();
    if (position !== active) {
      this.#saver.hurry([active]);
      const { codes: _, asked: __, concordance: ___, ...page } = this.#page;
      this.#page = { ...page, active: position, commenting: false };
      this.#tell(active);
    }
    this.update({ focus, moves: this.#page.moves + 1 });
    this.#tell(position);
    if (position !== active) {
      this.#options.announce({ say: 'moved-to', at: this.numberOf(position), of: this.positions.length });
    }
  }

  step(by: -1 | 1): void {
    const at = this.#indexes.get(this.#page.active)! + by;
    if (at >= 0 && at < this.positions.length) this.activate(this.positions[at]!);
  }

  /** To the next segment that is not confirmed, round the end; false where there is none. */
  stepOpen(by: -1 | 1): boolean {
    const count = this.positions.length;
    const from = this.#indexes.get(this.#page.active)!;
    for (let step = 1; step <= count; step += 1) {
      const position = this.positions[(from + by * step + count * 2) % count]!;
      const { segment, status } = this.segment(position);
      if (segment.mine && status !== 'confirmed') {
        this.activate(position);
        return true;
      }
    }
    return false;
  }

  // — Editing —

  typed(position: number, pieces: readonly Piece[]): void {
    const state = this.segment(position);
    if (!this.canEdit(position) || samePieces(pieces, state.target)) return;
    const { findings: _, ...rest } = state;
    this.#put(position, { ...rest, target: pieces, status: 'draft' });
    if (this.#page.asked === position) this.#without('asked');
    this.#save(position);
    this.#checkSoon(position);
  }

  /** Another text for a segment: a match, the source, a replacement. Can be undone where it is edited. */
  setTarget(position: number, pieces: readonly Piece[]): void {
    if (!this.canEdit(position)) return;
    this.live.replace(position, complete(pieces, this.segment(position).segment.source));
  }

  copySource(): void {
    const { active } = this.#page;
    this.setTarget(active, this.segment(active).segment.source);
  }

  /** Back to what the segment began with. */
  reset(): void {
    const { active } = this.#page;
    this.setTarget(active, this.segment(active).segment.draft ?? []);
  }

  /** The n-th of what the panel offers. */
  use(index: number): void {
    const suggestion = this.suggestions[index];
    if (suggestion) this.setTarget(this.#page.active, suggestion);
  }

  /** Through what the panel offers, from what stands there. */
  cycle(by: -1 | 1): void {
    const { length } = this.suggestions;
    if (length === 0) return;
    const { target } = this.segment(this.#page.active);
    const now = this.suggestions.findIndex((one) => samePieces(one, target));
    this.use(now === -1 ? (by === 1 ? 0 : length - 1) : (now + by + length) % length);
  }

  askIssue(): void {
    const { active } = this.#page;
    const range = this.live.selectedRange();
    const quote = range ? this.live.selectedText() : '';
    this.update({ dialog: { dialog: 'issue', position: active, quote, ...(range ? { range } : {}) } });
  }

  confirm(): void {
    const { active, selected, focus } = this.#page;
    if (this.#page.readOnly) return;
    if (focus === 'row' && selected.size > 0) {
      this.#confirmSelected();
      return;
    }
    if (!this.canEdit(active)) {
      this.step(1);
      return;
    }
    if (!this.#confirmOne(active)) return;
    const at = this.numberOf(active);
    if (this.stepOpen(1)) {
      const next = this.numberOf(this.#page.active);
      this.#options.announce({ say: 'confirmed', position: at, at: next, of: this.positions.length });
    } else {
      this.#options.announce({ say: 'all-confirmed' });
      this.update({ dialog: { dialog: 'submit' } });
    }
  }

  /** Errors stand in the way; warnings do once, and are let stand by confirming again. */
  #confirmOne(position: number): boolean {
    const state = this.segment(position);
    if (state.status === 'confirmed') return true;
    const { keyOfFinding } = this.#options.checks;
    const findings = this.findings(position);
    const errors = findings.filter(({ severity }) => severity === 'error');
    const open = findings.filter(
      (finding) => finding.severity === 'warning' && !state.acknowledged.includes(keyOfFinding(finding)),
    );
    if (errors.length > 0 || (open.length > 0 && this.#page.asked !== position)) {
      this.update({ asked: position });
      this.#options.announce({ say: 'checks', errors: errors.length, warnings: open.length });
      return false;
    }
    if (this.#page.asked === position) this.#without('asked');
    const acknowledged = [...new Set(findings.map(keyOfFinding))];
    this.#change(position, { status: 'confirmed', acknowledged });
    this.#save(position);
    this.#saver.hurry([position]);
    return true;
  }

  #confirmSelected(): void {
    for (const position of this.#page.selected) {
      if (!this.canEdit(position)) continue;
      if (this.#confirmOne(position)) continue;
      this.activate(position, 'text');
      return;
    }
    this.update({ selected: new Set() });
  }

  reopen(): void {
    const { active } = this.#page;
    if (!this.canEdit(active) || this.segment(active).status !== 'confirmed') return;
    this.#change(active, { status: 'draft' });
    this.#save(active);
    this.#saver.hurry([active]);
    this.#options.announce({ say: 'reopened', position: this.numberOf(active) });
  }

  select(position: number): void {
    const selected = new Set(this.#page.selected);
    if (!selected.delete(position)) selected.add(position);
    this.update({ selected });
    this.#tell(position);
  }

  saveNow(): void {
    this.#attribute();
    this.#saver.hurry();
    if (this.#saver.empty) this.#options.announce({ say: 'saved' });
  }

  /** How often a text stands in the sources and targets. */
  count(wanted: string): { position: number; count: number }[] {
    if (wanted === '') return [];
    return this.positions.flatMap((position) => {
      const { segment, target } = this.segment(position);
      const count = countIn(segment.source, wanted) + countIn(target, wanted);
      return count === 0 ? [] : [{ position, count }];
    });
  }

  /** Returns in how many segments something was replaced. */
  replaceAll(wanted: string, by: string, positions: readonly number[] = this.positions): number {
    let count = 0;
    for (const position of positions) {
      const { target } = this.segment(position);
      if (!this.canEdit(position)) continue;
      const replaced = replaceIn(target, wanted, by);
      if (replaced === target) continue;
      this.setTarget(position, replaced);
      count += 1;
    }
    this.#options.announce({ say: 'replaced', count });
    return count;
  }

  /** Where two texts stood against each other, this one is to be. */
  resolve(position: number, target: readonly Piece[], status: 'draft' | 'confirmed' = 'draft'): void {
    const state = this.segment(position);
    const pieces = complete(target, state.segment.source);
    const theirs = this.#saver.state.entries.get(position)?.theirs;
    if (theirs) {
      this.#change(position, { segment: { ...state.segment, revision: theirs.revision } });
    }
    const chosen =
      theirs && samePieces(pieces, theirs.target) && theirs.status !== 'open' ? theirs.status : status;
    this.#change(position, { target: pieces, status: chosen as SegmentStatus, findings: undefined });
    this.live.forget(position);
    this.#saver.resolve(position, {
      target: [...pieces],
      status: chosen as 'draft' | 'confirmed',
      acknowledged: [...state.acknowledged],
    });
    this.#without('dialog');
    this.activate(position, 'text');
  }

  theirs(position: number): Theirs | undefined {
    return this.#saver.state.entries.get(position)?.theirs;
  }

  /** The repeats that a confirmation filled, as they were before. */
  unfill(): void {
    const { filled } = this.#page;
    if (!filled) return;
    this.#without('filled');
    for (const { position, save } of filled.before) {
      this.#change(position, { target: save.target, status: 'draft', findings: undefined });
      this.live.forget(position);
      this.#save(position);
    }
    this.#saver.hurry();
  }

  // — The task —

  async extend(): Promise<void> {
    const lease = await this.#options.server.extend(this.#token());
    this.#leased(lease);
    this.#options.announce({ say: 'extended' });
  }

  /** When everything is on the server. Fails where something stands against it. */
  async sent(): Promise<boolean> {
    this.#attribute();
    this.#saver.hurry();
    return new Promise((resolve) => {
      const look = () => {
        const { state } = this.#page.saving;
        if (!this.#saver.empty && state === 'saving') return;
        stop();
        resolve(this.#saver.empty);
      };
      const stop = this.watch('page', look);
      look();
    });
  }

  async #acts<T>(done: Promise<T>): Promise<T> {
    this.#acting++;
    try {
      return await done;
    } finally {
      this.#acting--;
    }
  }

  async submit(): Promise<number[]> {
    const { unconfirmed } = await this.#acts(this.#options.server.submit(this.#token()));
    if (unconfirmed) return unconfirmed;
    this.update({ readOnly: 'submitted' });
    return [];
  }

  async approve(): Promise<void> {
    await this.#acts(this.#options.server.approve(this.#token()));
    this.update({ readOnly: 'submitted' });
  }

  async giveBack(note?: string): Promise<void> {
    await this.#acts(this.#options.server.giveBack(this.#token(), note));
    this.update({ readOnly: 'submitted' });
  }

  async release(): Promise<void> {
    await this.#acts(this.#options.server.release(this.#token()));
    this.update({ readOnly: 'not_claimed' });
  }

  async skip(reason: string): Promise<void> {
    await this.#acts(this.#options.server.skip(this.#page.lease?.token, reason));
    this.update({ readOnly: 'not_claimed' });
  }

  async report(reason: string, note?: string): Promise<void> {
    await this.#acts(this.#options.server.report(this.#page.lease?.token, reason, note));
    this.update({ readOnly: 'reported' });
  }

  async markIssue(
    position: number,
    category: Category,
    severity: Severity,
    note?: string,
    range?: Range,
  ): Promise<void> {
    const issue = await this.#options.server.markIssue(this.#token(), {
      position,
      category,
      severity,
      ...(note ? { note } : {}),
      ...(range ? { range } : {}),
    });
    this.#change(position, { issues: [...this.segment(position).issues, issue] });
    this.update({});
    this.#options.announce({ say: 'issue' });
  }

  async unmarkIssue(issue: Issue): Promise<void> {
    await this.#options.server.unmarkIssue(this.#token(), issue.issue);
    const { issues } = this.segment(issue.position);
    this.#change(issue.position, { issues: issues.filter((one) => one.issue !== issue.issue) });
    this.update({});
  }

  async comment(text: string, position?: number): Promise<void> {
    const comment = await this.#acts(this.#options.server.comment(text, position));
    this.#comments = [...this.#comments, comment];
    if (position !== undefined) this.#change(position, { comments: this.segment(position).comments + 1 });
    this.update({ commenting: false });
    this.#options.announce({ say: 'comment' });
  }

  // — The page —

  update(change: Partial<PageState>): void {
    this.#page = { ...this.#page, ...change };
    this.#tell('page');
  }

  close(what: 'dialog' | 'find' | 'concordance' | 'codes' | 'filled' | 'asked'): void {
    this.#without(what);
    this.update({ moves: this.#page.moves + 1 });
    this.#tell(this.#page.active);
  }

  /** Something was done: the time counts. */
  used(): void {
    const before = this.#page.effort;
    const effort = used(before, this.#now());
    if (before.since === undefined) this.update({ effort });
    else this.#page = { ...this.#page, effort };
  }

  visible(visible: boolean): void {
    this.update({ effort: seen(this.#page.effort, visible, this.#now()) });
    if (!visible) {
      this.#attribute();
      this.#saver.hurry();
    }
  }

  online(): void {
    this.#saver.hurry();
    void this.#beat();
  }

  // — Inside —

  #tick(): void {
    const now = this.#now();
    const effort = counted(this.#page.effort, now);
    const { lease, late, readOnly } = this.#page;
    const server = now + this.#ahead;
    const isLate = lease !== undefined && server >= Date.parse(lease.warn_at);
    const second = (one: Effort) => Math.floor(one.totalMs / 1_000);
    const paused = (one: Effort) => one.since === undefined;
    if (lease && !readOnly && server >= Date.parse(lease.limit_until)) this.#over('over');
    if (
      second(effort) !== second(this.#page.effort) ||
      paused(effort) !== paused(this.#page.effort) ||
      late !== isLate
    ) {
      this.update({ effort, late: isLate });
    }
  }

  async #beat(): Promise<void> {
    const { lease, readOnly } = this.#page;
    if (!lease || readOnly) return;
    try {
      this.#leased(await this.#options.server.heartbeat(lease.token));
    } catch (error) {
      if (codeOfError(error) === 'stale_lease') this.#over('lost');
      if (codeOfError(error) === 'job_canceled') this.#over('canceled');
    }
  }

  #leased(lease: Lease): void {
    this.#ahead = Date.parse(lease.now) - this.#now();
    this.update({ lease, late: Date.parse(lease.now) >= Date.parse(lease.warn_at) });
  }

  #over(why: ReadOnly): void {
    if (this.#page.readOnly) return;
    this.update({ readOnly: why });
    this.#saver.lose([]);
    this.live.reread();
    this.#options.announce({ say: 'read-only', why });
  }

  #token(): string {
    return this.#page.lease?.token ?? '';
  }

  /** Gives the time since the last look to the active segment. */
  #attribute(): void {
    const effort = counted(this.#page.effort, this.#now());
    this.#page = { ...this.#page, effort };
    const spent = effort.totalMs - this.#attributed;
    this.#attributed = effort.totalMs;
    const { active } = this.#page;
    this.#spent.set(active, (this.#spent.get(active) ?? 0) + spent);
  }

  #save(position: number): void {
    this.#attribute();
    const { segment, target, status, acknowledged } = this.segment(position);
    this.#saver.edit(position, {
      revision: segment.revision,
      save: {
        target: [...target],
        status: status === 'confirmed' ? 'confirmed' : 'draft',
        acknowledged: [...acknowledged],
      },
      activeMs: Math.round(this.#spent.get(position) ?? 0),
    });
    this.#spent.delete(position);
  }

  async #send(position: number, save: Save, revision: number, activeMs: number): Promise<Outcome> {
    const answer = await this.#options.server.save(position, {
      token: this.#token(),
      revision,
      target: save.target,
      status: save.status,
      acknowledged: save.acknowledged,
      active_ms: activeMs,
    });
    switch (answer.answer) {
      case 'saved': {
        const { segment } = answer;
        this.#change(position, { segment, issues: segment.issues, comments: segment.comments });
        this.#fill(position, answer.filled);
        this.#leased(answer.lease);
        return { outcome: 'saved', revision: segment.revision };
      }
      case 'conflict': {
        const theirs = theirsOf(answer.segment);
        // The server may have what we sent before, and only its answer was lost: then its revision is ours.
        this.#change(position, { segment: answer.segment });
        return { outcome: 'conflict', theirs };
      }
      case 'checks_failed':
        this.#change(position, { findings: answer.findings, status: 'draft' });
        this.#options.announce({ say: 'checks', errors: answer.findings.length, warnings: 0 });
        return { outcome: 'refused', code: 'checks_failed' };
      case 'stale':
        queueMicrotask(() => this.#over(answer.why));
        return { outcome: 'stale' };
      case 'refused':
        return { outcome: 'refused', code: answer.code };
    }
  }

  /** Repeats that the server filled with the same text; what somebody is typing at is left alone. */
  #fill(from: number, filled: readonly Segment[]): void {
    const before: { position: number; save: Save }[] = [];
    for (const segment of filled) {
      const state = this.#segments.get(segment.position);
      if (!state || this.#saver.state.entries.has(segment.position)) continue;
      before.push({
        position: segment.position,
        save: { target: [...state.target], status: 'draft', acknowledged: [...state.acknowledged] },
      });
      this.#put(segment.position, stateOf(segment));
      this.live.forget(segment.position);
    }
    if (before.length === 0) return;
    this.update({ filled: { from, before } });
    this.#options.announce({ say: 'filled', count: before.length });
  }

  #savingChanged(): void {
    const saving = shown(this.#saver.state);
    const before = this.#page.saving;
    if (JSON.stringify(saving) === JSON.stringify(before)) return;
    this.update({ saving });
    if (saving.state === before.state) return;
    if (saving.state === 'conflict') {
      this.#options.announce({ say: 'conflict', position: this.numberOf(saving.positions[0]!) });
    }
    if (saving.state === 'refused') {
      this.#options.announce({ say: 'refused', position: this.numberOf(saving.positions[0]!) });
    }
    if (saving.state === 'offline') this.#options.announce({ say: 'offline', count: saving.waiting });
    if (saving.state === 'saved' && before.state !== 'saving') this.#options.announce({ say: 'saved' });
  }

  #checkSoon(position: number): void {
    this.#checks.get(position)?.();
    const timer = setTimeout(() => {
      const whenIdle = globalThis.requestIdleCallback ?? ((call: () => void) => setTimeout(call, 0));
      whenIdle(() => {
        this.#checks.delete(position);
        this.findings(position);
      });
    }, CHECK_MS);
    this.#checks.set(position, () => clearTimeout(timer));
  }

  #change(position: number, change: { [Key in keyof SegmentState]?: SegmentState[Key] | undefined }): void {
    const next = { ...this.segment(position), ...change };
    if (next.findings === undefined) delete next.findings;
    this.#put(position, next as SegmentState);
  }

  #put(position: number, state: SegmentState): void {
    const before = this.#segments.get(position);
    this.#segments.set(position, state);
    if ((before?.status === 'confirmed') !== (state.status === 'confirmed') && state.segment.mine) {
      this.update({ confirmed: this.#page.confirmed + (state.status === 'confirmed' ? 1 : -1) });
    }
    this.#tell(position);
    if (before?.target !== state.target) {
      this.texts += 1;
      this.#tell('text');
    }
  }

  #without(what: 'dialog' | 'find' | 'concordance' | 'codes' | 'filled' | 'asked'): void {
    const { [what]: _, ...page } = this.#page;
    this.#page = page;
    this.#tell('page');
  }

  #tell(what: number | 'page' | 'text'): void {
    for (const listener of this.#listeners.get(what) ?? []) listener();
  }

  #firstOpen(): number {
    const states = this.positions.map((position) => this.segment(position));
    const first =
      states.find(({ segment, status }) => segment.mine && status !== 'confirmed') ??
      states.find(({ segment }) => segment.mine) ??
      states[0];
    return first?.segment.position ?? -1;
  }

  #countConfirmed(): number {
    let count = 0;
    for (const { segment, status } of this.#segments.values()) {
      if (segment.mine && status === 'confirmed') count += 1;
    }
    return count;
  }
}

function stateOf(segment: Segment): SegmentState {
  return {
    segment,
    target: complete(segment.target ?? segment.draft ?? [], segment.source),
    status: segment.status,
    acknowledged: segment.acknowledged,
    issues: segment.issues,
    comments: segment.comments,
  };
}

function theirsOf(segment: Segment): Theirs {
  return {
    revision: segment.revision,
    target: segment.target ?? segment.draft ?? [],
    status: segment.status,
  };
}

function readOnlyOf(task: Task): { readOnly?: ReadOnly } {
  switch (task.status) {
    case 'open':
    case 'claimed':
      if (task.lease) return {};
      return { readOnly: task.access === 'record' ? 'record' : 'not_claimed' };
    default:
      return { readOnly: task.status };
  }
}

/** The code of a refusal, whatever threw it. */
export function codeOfError(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
