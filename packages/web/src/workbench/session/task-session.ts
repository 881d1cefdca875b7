/**
 * The editor's work on a claimed task: the lease of the claim, comments and issues, and the actions that end
 * the claim.
 */
import { TRAITS } from '@dragoman/documents/formats';
import type { SegmentEditor } from '../editor/segment-editor.ts';
import { type Range, samePieces } from '../text/pieces.ts';
import { wholeEdit } from '../text/repeated-edit.ts';
import type { Autosave } from './autosave.ts';
import type { EffortTracker } from './effort-tracker.ts';
import {
  codeOfError,
  firstTarget,
  type JoinRefusal,
  type ReadOnly,
  readOnlyOf,
  type SplitRefusal,
  showsVote,
  type TaskServer,
} from './state.ts';
import type { WorkbenchStore } from './store.ts';
import type { Category, Issue, Query, Segment, Severity, TaskTerm } from './task.ts';

interface SessionOptions {
  store: WorkbenchStore;
  server: TaskServer;
  autosave: Autosave;
  editor: SegmentEditor;
  effort: EffortTracker;
  /** Called when the glossary terms for this task have changed. */
  onTerms: () => void;
}

export class TaskSession {
  readonly #options: SessionOptions;
  readonly #store: WorkbenchStore;
  readonly #server: TaskServer;
  /** The last request about an unsure mark; the next one waits for it, so that they arrive in order. */
  #marking: Promise<void> = Promise.resolve();
  /** Number of running actions that may end the claim. */
  #running = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#server = options.server;
  }

  async heartbeat(): Promise<void> {
    const { lease, readOnly, signedOut } = this.#store.page;
    // While the page waits for a new sign-in, the session may belong to another user, who does not hold the claim.
    if (!lease || readOnly || signedOut) return;
    try {
      this.#store.update({ lease: await this.#server.heartbeat(lease.token) });
    } catch (error) {
      if (codeOfError(error) === 'stale_lease') this.endEditing('lost');
      if (codeOfError(error) === 'job_canceled') this.endEditing('canceled');
    }
  }

  /**
   * Reads the task again after a live update. Updates its state, its comments and the segments with texts of other
   * editors. Never changes a text that this editor has edited, or that has the focus.
   */
  async refresh(): Promise<void> {
    if (this.#running > 0 || this.#store.page.signedOut) return;
    const task = await this.#server.readTask().catch((error: unknown) => {
      if (this.#running > 0) return;
      if (codeOfError(error) === 'job_canceled') this.endEditing('canceled');
      else if (codeOfError(error) === 'not_found') this.#loseTask('lost');
    });
    // During an action of this page, a live update changes nothing: the action shows the new state itself.
    if (!task || this.#running > 0) return;
    this.#addOthersComments(task.comments);
    this.#setTerms(task.terms);
    this.#showAnswers(task.queries);
    this.#showJoins(task.segments);
    this.#showVotes(task.segments);
    const { lease, readOnly } = this.#store.page;
    const now = readOnlyOf(task);
    if (readOnly === undefined) {
      if (task.lease?.token === lease?.token) return;
      this.#loseTask(now === 'canceled' || now === 'done' ? now : 'lost');
    } else if (now !== undefined && now !== readOnly && readOnly !== 'lost') {
      this.#store.task.status = task.status;
      this.#store.update({ readOnly: now });
    }
  }

  /** Makes the page read-only. Later calls change nothing. */
  endEditing(why: ReadOnly): void {
    if (this.#store.page.readOnly) return;
    this.#store.update({ readOnly: why });
    this.#options.autosave.stopSending();
    this.#options.editor.refreshEditable();
    this.#store.announce({ type: 'read-only', why });
  }

  /**
   * Submits the task. Returns the positions that are not confirmed; if there are any, the task was not
   * submitted.
   */
  async submit(): Promise<number[]> {
    const { unconfirmed } = await this.#run(this.#server.submit(this.#store.token));
    if (unconfirmed) return unconfirmed;
    this.#store.update({ readOnly: 'submitted' });
    return [];
  }

  async approve(): Promise<void> {
    await this.#run(this.#server.approve(this.#store.token));
    this.#store.update({ readOnly: 'submitted' });
  }

  async returnTask(note?: string): Promise<void> {
    await this.#run(this.#server.returnTask(this.#store.token, note));
    this.#store.update({ readOnly: 'submitted' });
  }

  async release(): Promise<void> {
    await this.#run(this.#server.release(this.#store.token));
    this.#store.update({ readOnly: 'not_claimed' });
  }

  async skip(reason: string): Promise<void> {
    await this.#run(this.#server.skip(this.#store.page.lease?.token, reason));
    this.#store.update({ readOnly: 'not_claimed' });
  }

  async report(reason: string, note?: string): Promise<void> {
    await this.#run(this.#server.report(this.#store.page.lease?.token, reason, note));
    this.#store.update({ readOnly: 'reported' });
  }

  async markIssue(
    position: number,
    category: Category,
    severity: Severity,
    note?: string,
    range?: Range,
  ): Promise<void> {
    const issue = await this.#server.markIssue(this.#store.token, {
      position,
      category,
      severity,
      ...(note ? { note } : {}),
      ...(range ? { range } : {}),
    });
    this.#store.change(position, { issues: [...this.#store.segment(position).issues, issue] });
    this.#options.editor.refreshEditable();
    this.#store.update({});
    this.#store.announce({ type: 'issue' });
  }

  async unmarkIssue({ issue, position }: Issue): Promise<void> {
    await this.#server.unmarkIssue(this.#store.token, issue);
    const { issues } = this.#store.segment(position);
    this.#store.change(position, { issues: issues.filter((one) => one.issue !== issue) });
    this.#options.editor.refreshEditable();
    this.#store.update({});
  }

  /** Marks a segment as unsure, or removes the mark. A mark that cannot be saved disappears again. */
  async toggleUnsure(position: number): Promise<void> {
    const store = this.#store;
    if (!store.canEdit(position)) return;
    const unsure = !store.segment(position).unsure;
    store.change(position, { unsure });
    store.announce({ type: unsure ? 'unsure' : 'sure' });
    const segment = () => store.segment(position).segment;
    this.#marking = this.#marking
      .then(async () => {
        await this.#server.markUnsure(store.token, position, unsure);
        store.change(position, { segment: { ...segment(), unsure } });
      })
      .catch(() => {
        // Restores the mark that the server last acknowledged. If an earlier request failed too, this need not be the
        // opposite of `unsure`.
        store.change(position, { unsure: segment().unsure });
        store.update({ notice: { type: 'unsure-unsent', number: store.numberOf(position) } });
      });
    await this.#marking;
  }

  /** Joins a segment with the next one, after all texts are saved. */
  async join(position: number): Promise<void> {
    const store = this.#store;
    const next = store.nextToJoin(position);
    if (next === undefined) {
      const why = TRAITS[store.task.job.format].isSubtitles ? 'subtitles' : 'paragraph';
      store.update({ notice: { type: 'not-joined', why } });
      return;
    }
    const revisionOf = (at: number) => store.segment(at).segment.revision;
    // What the row shows of other editors is saved, because the server joins only saved texts.
    for (const at of [position, next]) if (showsVote(store.segment(at))) this.#options.autosave.save(at);
    const joined = await this.#relist(position, () =>
      this.#server.join(store.token, position, revisionOf(position), revisionOf(next)),
    );
    if (joined) store.announce({ type: 'joined' });
  }

  /** Separates the segments that are joined with this one, after all texts are saved. */
  async separate(position: number): Promise<void> {
    const store = this.#store;
    const separated = await this.#relist(position, () =>
      this.#server.separate(store.token, position, store.segment(position).segment.revision),
    );
    if (separated) store.announce({ type: 'separated' });
  }

  /** Splits a segment, after all texts are saved. @param at the offset in the text of the source */
  async split(position: number, at: number): Promise<void> {
    const store = this.#store;
    if (showsVote(store.segment(position))) this.#options.autosave.save(position);
    const revision = () => store.segment(position).segment.revision;
    let refused: SplitRefusal | undefined;
    const split = await this.#relist(position, async () => {
      const answer = await this.#server.split(store.token, position, revision(), at);
      if (typeof answer !== 'string') return answer;
      refused = answer;
      return [];
    });
    if (refused) store.update({ notice: { type: 'not-split', why: refused } });
    else if (split) store.announce({ type: 'split' });
  }

  /** Puts the parts of a split segment together, after all texts are saved. */
  async unsplit(position: number): Promise<void> {
    const store = this.#store;
    const whole = await this.#relist(position, () =>
      this.#server.unsplit(store.token, position, store.segment(position).segment.revision),
    );
    if (whole) store.announce({ type: 'unsplit' });
  }

  /**
   * Saves all texts, then lists the segments that a request returns. Returns false if it was refused. What the editor
   * types into the segment while the request runs stays.
   */
  async #relist(
    position: number,
    request: () => Promise<readonly Segment[] | JoinRefusal>,
  ): Promise<boolean> {
    const { autosave, editor } = this.#options;
    const store = this.#store;
    let listed: readonly Segment[] | JoinRefusal = 'unsent';
    let { target: sent } = store.segment(position);
    let isHolding = false;
    try {
      if (await this.#run(autosave.drain())) {
        // A text that is typed from now on belongs to the revision that the answer names.
        autosave.hold(true);
        isHolding = true;
        sent = store.segment(position).target;
        listed = await this.#run(request());
      }
      if (typeof listed === 'string') {
        store.update({ notice: { type: 'not-joined', why: listed } });
        return false;
      }
      if (listed.length === 0) return false;
      const { target: typed } = store.segment(position);
      store.relist(listed);
      const whole = wholeEdit(sent, typed, store.segment(position).target);
      const isRepeated = editor.repeatEdit(position, sent, typed);
      if (!isRepeated && whole) editor.replace(position, whole);
      if (isRepeated || whole) autosave.rebase(position);
      store.update({ notice: undefined });
      autosave.recordSaved();
      store.focusActive();
      return true;
    } catch (error) {
      if (codeOfError(error) === 'stale_lease') return this.#lose('lost');
      if (codeOfError(error) === 'job_canceled') return this.#lose('canceled');
      store.update({ notice: { type: 'not-joined', why: 'unsent' } });
      return false;
    } finally {
      if (isHolding) autosave.hold(false);
    }
  }

  #lose(why: ReadOnly): false {
    this.endEditing(why);
    return false;
  }

  /** Lists segments that were joined, separated or split on another page. A segment with an unsaved text waits. */
  #showJoins(segments: readonly Segment[]): void {
    const store = this.#store;
    const cutsIn = ({ source }: Segment) => source.filter((piece) => 'cut' in piece).length;
    for (const segment of segments) {
      const { position, revision, joined_to } = segment;
      if (!store.has(position)) continue;
      const known = store.segment(position).segment;
      const isSame = known.joined_to === joined_to && cutsIn(known) === cutsIn(segment);
      if (isSame || revision <= known.revision) continue;
      const last = Math.max(known.joined_to ?? position, joined_to ?? position);
      const isInside = (at: number) => at >= position && at <= last;
      if (store.positions.some((at) => isInside(at) && this.#options.autosave.isSaving(at))) continue;
      store.relist(segments.filter((one) => isInside(one.position)));
    }
  }

  /** Asks the customer about a segment, which then cannot be confirmed until the query ends. */
  async ask(position: number, question: string): Promise<void> {
    const made = await this.#run(this.#server.ask(this.#store.token, position, question));
    this.#setQueries([...this.#store.task.queries, made]);
    this.#store.announce({ type: 'query' });
  }

  async withdrawQuery(query: string): Promise<void> {
    await this.#run(this.#server.withdrawQuery(this.#store.token, query));
    this.#setQueries(this.#store.task.queries.filter((one) => one.query !== query));
  }

  /** Shows the queries as the server now has them, and reports an answer that is new on this page. */
  #showAnswers(queries: readonly Query[]): void {
    const { task } = this.#store;
    if (JSON.stringify(queries) === JSON.stringify(task.queries)) return;
    const open = new Set(task.queries.filter(({ status }) => status === 'open').map(({ query }) => query));
    const answered = queries.find(({ query, status }) => status === 'answered' && open.has(query));
    this.#setQueries(queries);
    if (!answered || !this.#store.has(answered.position)) return;
    const position = this.#store.numberOf(answered.position);
    this.#store.update({ notice: { type: 'answered', number: position } });
    this.#store.announce({ type: 'answered', position });
  }

  #setQueries(queries: readonly Query[]): void {
    const store = this.#store;
    store.task.queries = [...queries];
    const open = new Set(queries.filter(({ status }) => status === 'open').map(({ position }) => position));
    for (const position of store.positions) {
      const asked = open.has(position);
      if (store.segment(position).asked !== asked) store.change(position, { asked });
    }
    store.update({});
  }

  /** Proposes a term for the glossary of the brand. It applies to this job at once. */
  async proposeTerm(term: { source: string; target: string; note?: string }): Promise<void> {
    const made = await this.#run(this.#server.proposeTerm(this.#store.token, term));
    this.#setTerms([...this.#store.task.terms, made]);
    this.#store.announce({ type: 'term' });
  }

  /** Withdraws a term that this editor proposed. */
  async withdrawTerm(proposal: string): Promise<void> {
    await this.#run(this.#server.withdrawTerm(this.#store.token, proposal));
    this.#setTerms(this.#store.task.terms.filter((term) => term.proposal?.proposal !== proposal));
  }

  #setTerms(terms: readonly TaskTerm[]): void {
    const { task } = this.#store;
    if (JSON.stringify(terms) === JSON.stringify(task.terms)) return;
    task.terms = [...terms];
    this.#options.onTerms();
  }

  /** Shows the votes as the server now has them. */
  #showVotes(segments: readonly Segment[]): void {
    const store = this.#store;
    let count = 0;
    for (const { position, revision, vote, draft, origin, route, confidence } of segments) {
      if (revision > 0 || !this.#isUnedited(position)) continue;
      const { segment } = store.segment(position);
      if (JSON.stringify([vote, draft]) === JSON.stringify([segment.vote, segment.draft])) continue;
      store.change(position, { segment: { ...segment, vote, draft, origin, route, confidence } });
      if (this.showVote(position) && vote) count += 1;
    }
    if (count > 0) store.announce({ type: 'arrived', count });
  }

  /**
   * Shows the text that other editors have confirmed for a segment, or its draft if they withdrew it. The active
   * segment and edited segments keep their text. Returns false if the text stays the same.
   */
  showVote(position: number): boolean {
    const store = this.#store;
    if (position === store.page.active || !this.#isUnedited(position)) return false;
    const { segment, target: before } = store.segment(position);
    const target = firstTarget(segment);
    if (samePieces(before, target)) return false;
    store.change(position, { target, findings: undefined, arrived: segment.vote !== undefined });
    this.#options.editor.reload(position);
    return true;
  }

  /** Shows a better draft of a segment, also in the active one, if nobody has edited it. */
  showDraft({ position, draft, origin, route, confidence }: Segment): void {
    const store = this.#store;
    if (!this.#isUnedited(position)) return;
    const { segment, target: before } = store.segment(position);
    const now = { ...segment, draft, origin, route, confidence };
    const target = firstTarget(now);
    store.change(position, { segment: now });
    if (samePieces(before, target)) return;
    store.change(position, { target, findings: undefined, arrived: true });
    this.#options.editor.reload(position);
  }

  #isUnedited(position: number): boolean {
    const store = this.#store;
    if (!store.canEdit(position) || this.#options.autosave.isSaving(position)) return false;
    return store.segment(position).segment.revision === 0;
  }

  async comment(text: string, position?: number): Promise<void> {
    const comment = await this.#run(this.#server.comment(text, position));
    this.#store.addComments([comment]);
    // If the editor has moved to another segment, its comment field stays open.
    this.#store.update(this.#store.page.active === position ? { commenting: false } : {});
    this.#store.announce({ type: 'comment' });
  }

  /** Counts an action as running, so that `refresh` does not interfere. */
  async #run<T>(action: Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await action;
    } finally {
      this.#running -= 1;
    }
  }

  /**
   * Makes the page read-only, but first sends the unsent texts. The server stores them and answers that the
   * lease is stale, which then ends the editing.
   */
  #loseTask(why: ReadOnly): void {
    if (this.#store.page.readOnly !== undefined) return;
    this.#options.effort.assign();
    this.#options.autosave.flush();
    if (this.#options.autosave.isEmpty) this.endEditing(why);
  }

  #addOthersComments(comments: Parameters<WorkbenchStore['addComments']>[0]): void {
    const known = new Set(this.#store.comments.map(({ comment }) => comment));
    const others = comments.filter(({ comment }) => !known.has(comment));
    if (others.length === 0) return;
    this.#store.addComments(others);
    this.#store.update({});
    this.#store.announce({ type: 'commented', count: others.length });
  }
}
