/**
 * The workbench of one task: moving, editing and confirming. Components observe it through `WorkbenchStore`.
 * Confirming does not wait for the server.
 */

import type { Glossary, Term } from '@dragoman/checks';
import { TRAITS } from '@dragoman/documents/formats';
import { SegmentEditor } from '../editor/segment-editor.ts';
import {
  type Code,
  type CodeDescription,
  codesOf,
  complete,
  labelOf,
  type Piece,
  samePieces,
  shownCode,
  withoutCuts,
} from '../text/pieces.ts';
import { Autosave } from './autosave.ts';
import type * as checking from './checking.ts';
import type { Finding } from './checking.ts';
import { EffortTracker } from './effort-tracker.ts';
import { whenIdle, whileIdle } from './idle.ts';
import { Matches } from './matches.ts';
import type { ServerVersion } from './save-queue.ts';
import { SeenSegments } from './seen.ts';
import { draftToRestore, needsWork, type PageState, type SegmentState } from './state.ts';
import { WorkbenchStore } from './store.ts';
import type { Match, Segment } from './task.ts';
import { TaskSession } from './task-session.ts';
import type { WorkbenchOptions } from './workbench-options.ts';

/** The minimum pause in typing before the checks run, in milliseconds. */
const CHECK_DELAY_MS = 300;
const HEARTBEAT_MS = 60_000;
/** The number of segments after the active one whose matches and checks are prepared. */
const SEGMENTS_AHEAD = 2;

export class Workbench extends WorkbenchStore {
  glossary: Glossary;
  readonly editor: SegmentEditor;
  readonly session: TaskSession;
  /** The comments that the editor has written but not sent, by segment. */
  readonly unsentComments = new Map<number, string>();
  readonly #options: WorkbenchOptions;
  #terms: readonly Term[];
  readonly #autosave: Autosave;
  readonly #effort: EffortTracker;
  readonly #seen: SeenSegments;
  readonly #checkTimers = new Map<number, ReturnType<typeof setTimeout>>();
  readonly #matches: Matches;
  #timers: ReturnType<typeof setInterval>[] = [];
  #stopChecks = () => {};
  /** Whether the editor was active since the last heartbeat. An open page alone keeps no claim. */
  #wasActive = true;

  constructor(options: WorkbenchOptions) {
    const { task, server, drafts } = options;
    super(task, options.announce);
    this.#options = options;
    this.#terms = options.checks.termsOf(task);
    this.glossary = this.#createGlossary();
    this.#matches = new Matches(async (position) => {
      const { matches, segment } = await server.matches(position);
      if (segment) this.session.showDraft(segment);
      return matches;
    });
    this.#effort = new EffortTracker(this, Date.now);
    this.#seen = new SeenSegments(this, server);
    this.editor = this.#createEditor();
    const parts = { store: this, server, editor: this.editor, effort: this.#effort };
    this.#autosave = new Autosave({
      ...parts,
      drafts,
      now: Date.now,
      onLease: (lease) => this.update({ lease }),
      onTaught: (position) => this.#renewMatches(position),
      onStale: (why) => this.session.endEditing(why),
    });
    this.session = new TaskSession({ ...parts, autosave: this.#autosave, onTerms: () => this.#applyTerms() });
  }

  #createGlossary(): Glossary {
    const { source_language, target_language } = this.task.job;
    return this.#options.checks.glossary(this.#terms, source_language, target_language);
  }

  /** Applies changed glossary terms. The checks of each segment run again when their result is needed. */
  #applyTerms(): void {
    this.#terms = this.#options.checks.termsOf(this.task);
    this.glossary = this.#createGlossary();
    for (const position of this.positions) this.change(position, { findings: undefined });
  }

  #createEditor(): SegmentEditor {
    return new SegmentEditor({
      initialTarget: (position) => this.segment(position).target,
      language: () => this.task.job.target_language,
      allowsLineBreaks: () => this.allowsLineBreaks,
      isEditable: () => this.canEdit(this.page.active),
      describeCode: (position, code) => this.describeCode(position, code),
      sourceCodes: (position) => codesOf(this.segment(position).segment.source),
      collapsesCodes: () => this.page.collapsed,
      issueRanges: (position, text) => this.issueRanges(position, text),
      onChange: (position, pieces) => this.#edited(position, pieces),
      onCodeProtected: (code) => this.announce({ type: 'code-kept', label: this.labelOf(code) }),
      onCodeMoved: (code) => this.announce({ type: 'code-moved', label: this.labelOf(code) }),
      onCodesTypedOver: (codes) => {
        const moved = {
          type: 'code-moved',
          label: codes.map((code) => this.labelOf(code)).join(' '),
        } as const;
        this.announce(moved);
        this.update({ notice: moved });
      },
      onCodeListRequested: (typed) => this.update({ codes: { typed } }),
    });
  }

  /** Restores unsent texts of an earlier page and starts the timers of the lease and of the active time. */
  async begin(): Promise<void> {
    await this.#autosave.restore();
    this.update({ active: this.firstOpen() });
    if (this.page.active >= 0) this.#seen.add(this.page.active);
    this.#timers = [
      setInterval(() => this.#keepAlive(), HEARTBEAT_MS),
      setInterval(() => this.#tick(), 1_000),
    ];
    this.#tick();
    if (this.page.readOnly === undefined) this.checkAll();
  }

  #keepAlive(): void {
    if (this.#wasActive) void this.session.heartbeat();
    this.#wasActive = false;
    void this.#seen.send();
  }

  #tick(): void {
    this.#effort.refresh();
  }

  /** Stops all timers. Unsent texts stay in the browser's storage; requests that have started continue. */
  end(): void {
    this.#stopChecks();
    for (const timer of this.#timers) clearInterval(timer);
    for (const timer of this.#checkTimers.values()) clearTimeout(timer);
    this.#autosave.stop();
  }

  describeCode(position: number, code: Code): CodeDescription {
    const { source, codes } = this.segment(position).segment;
    return this.#options.describeCode(shownCode(code, source), codes[`${code.kind}${code.number}`]);
  }

  /** Returns the label of a code's chip. */
  labelOf(code: Code, position = this.page.active): string {
    return labelOf(shownCode(code, this.segment(position).segment.source));
  }

  /** Returns the findings for a segment's current text; runs the checks if they have not run on it. */
  findings(position: number): readonly Finding[] {
    const state = this.segment(position);
    const findings =
      state.findings ?? this.#options.checks.findingsOf(this.task, this.#terms, state.segment, state.target);
    if (!state.findings) this.change(position, { findings });
    return findings;
  }

  /** Returns the findings that the editor has not acknowledged. Empty until the checks have run. */
  openFindings(position: number): readonly Finding[] {
    const { findings = [], acknowledged } = this.segment(position);
    const { keyOfFinding } = this.#options.checks;
    return findings.filter((finding) => !acknowledged.includes(keyOfFinding(finding)));
  }

  /** Runs the checks that have not run yet, while the browser is idle. */
  checkAll(): void {
    this.#stopChecks();
    this.#stopChecks = whileIdle(this.editable, ({ segment: { position } }) => {
      if (!this.segment(position).findings) this.findings(position);
    });
  }

  /** Returns the memory matches of a segment, requested once. */
  matches(position: number): Promise<Match[]> {
    return this.#matches.get(position);
  }

  /** Requests the matches of segments again that are similar to one whose text was confirmed or changed. */
  #renewMatches(taught: number): void {
    const { source } = this.segment(taught).segment;
    const { isAlike } = this.#options.checks;
    this.#matches.renew(
      (position) => this.has(position) && isAlike(source, this.segment(position).segment.source),
    );
    this.update({ taught: this.page.taught + 1 });
  }

  /** Returns the memory matches of a segment if they have arrived. */
  receivedMatches(position: number): readonly Match[] {
    return this.#matches.received(position);
  }

  /**
   * Requests the matches and runs the checks of the next segments, so that both are ready when the editor
   * moves there.
   */
  prepareNext(position: number): void {
    const index = this.rows.indexOf(position);
    for (const next of this.rows.slice(index + 1, index + 1 + SEGMENTS_AHEAD)) {
      if (!this.canEdit(next)) continue;
      this.matches(next).catch(() => {});
      if (!this.segment(next).findings) this.findings(next);
    }
  }

  override relist(segments: readonly Segment[]): void {
    super.relist(segments);
    for (const { position } of segments) {
      this.#matches.forget(position);
      this.editor.reload(position);
    }
    this.checkAll();
  }

  // — Moving —

  /** Makes a segment the active one and sends the text of the segment that was active before. */
  activate(position: number, focus: PageState['focus'] = this.page.focus === 'row' ? 'row' : 'text'): void {
    if (!this.has(position)) return;
    if (!this.rows.includes(position)) this.update({ filter: undefined });
    const { active } = this.page;
    this.#effort.assign();
    if (position === active) {
      this.update({ focus, moves: this.page.moves + 1 });
      this.notify(position);
      return;
    }
    this.#autosave.flush([active]);
    const closed = { codes: undefined, blocked: undefined, concordance: undefined, commenting: false };
    if (this.page.notice?.type === 'code-moved') this.update({ notice: undefined });
    this.update({ ...closed, active: position, focus, moves: this.page.moves + 1 });
    this.notify(active);
    this.notify(position);
    this.session.showVote(active);
    this.#seen.add(position);
    this.announce({ type: 'moved-to', at: this.numberOf(position), of: this.positions.length });
  }

  /** Records that the text of the active segment has the focus. */
  focusText(): void {
    if (this.page.focus !== 'text') this.update({ focus: 'text' });
  }

  step(by: -1 | 1): void {
    const position = this.rows[this.rows.indexOf(this.page.active) + by];
    if (position !== undefined) this.activate(position);
  }

  /** Moves to the next segment in the grid that needs work, wrapping around. Returns false when there is none. */
  stepOpen(by: -1 | 1): boolean {
    return this.stepTo(needsWork, by);
  }

  /**
   * Moves to the next segment of this task in the grid for which `wanted` returns true, wrapping around. Returns false
   * when there is none.
   */
  stepTo(wanted: (state: SegmentState) => boolean, by: -1 | 1 = 1): boolean {
    const { rows } = this;
    const count = rows.length;
    const from = rows.indexOf(this.page.active);
    for (let step = 1; step <= count; step += 1) {
      const position = rows[(from + by * step + count * 2) % count]!;
      const state = this.segment(position);
      if (state.segment.mine && wanted(state)) {
        this.activate(position);
        return true;
      }
    }
    return false;
  }

  // — Editing —

  /**
   * Whether a segment may contain line breaks. Only subtitles may: in other documents a segment is a part of
   * one line.
   */
  get allowsLineBreaks(): boolean {
    return TRAITS[this.task.job.format].isSubtitles === true;
  }

  /** Returns the duration, reading speed and line length of a subtitle, with their maximums; undefined for other segments. */
  subtitleFigures(position: number): ReturnType<typeof checking.subtitleFigures> | undefined {
    const { segment, target } = this.segment(position);
    if (!segment.time) return undefined;
    const { from, to, cues } = segment.time;
    const time = { from, to, ...(cues === undefined ? {} : { cues }) };
    return this.#options.checks.subtitleFigures(withoutCuts(target), this.task.job.target_language, time);
  }

  #edited(position: number, pieces: readonly Piece[]): void {
    if (!this.canEdit(position) || samePieces(pieces, this.segment(position).target)) return;
    this.change(position, { findings: undefined, target: pieces, status: 'draft', changed: true });
    if (this.page.blocked === position) this.update({ blocked: undefined });
    this.#autosave.save(position);
    this.#checkSoon(position);
  }

  #checkSoon(position: number): void {
    clearTimeout(this.#checkTimers.get(position));
    const timer = setTimeout(() => {
      whenIdle(() => {
        this.#checkTimers.delete(position);
        this.findings(position);
      });
    }, CHECK_DELAY_MS);
    this.#checkTimers.set(position, timer);
  }

  /** Replaces the text of a segment, for example by a match or the source, as an edit that can be undone. */
  setTarget(position: number, pieces: readonly Piece[]): void {
    if (!this.canEdit(position)) return;
    this.editor.replace(position, complete(pieces, this.segment(position).segment.source));
  }

  copySource(): void {
    const { active } = this.page;
    this.setTarget(active, this.segment(active).segment.source);
  }

  /** Restores the draft. In a segment with the text of other editors, restores the draft that it had before. */
  reset(): void {
    const { active } = this.page;
    this.setTarget(active, draftToRestore(this.segment(active)));
  }

  /** Confirms the active or the selected segments and moves to the next one that needs work. */
  confirm(): void {
    const { active, selected, focus } = this.page;
    if (this.page.readOnly) return;
    if (focus === 'row' && selected.size > 0) {
      this.#confirmSelected();
      return;
    }
    if (!this.canEdit(active)) {
      this.step(1);
      return;
    }
    if (!this.#confirmOne(active)) return;
    if (this.stepOpen(1)) {
      const next = this.numberOf(this.page.active);
      this.announce({
        type: 'confirmed',
        position: this.numberOf(active),
        at: next,
        of: this.positions.length,
      });
    } else if (this.page.filter && this.page.confirmed < this.total) {
      this.announce({ type: 'filter-done' });
      this.step(1);
    } else {
      this.announce({ type: this.task.kind === 'review' ? 'all-seen' : 'all-confirmed' });
      this.update({ dialog: { dialog: 'submit' } });
    }
  }

  /**
   * Returns false when findings prevent the confirmation: errors always, warnings only at the first attempt.
   */
  #confirmOne(position: number): boolean {
    const state = this.segment(position);
    if (state.asked) {
      this.update({ notice: { type: 'asked', number: this.numberOf(position) } });
      return false;
    }
    if (state.status === 'confirmed') return true;
    const { keyOfFinding } = this.#options.checks;
    const findings = this.findings(position);
    const errors = findings.filter(({ severity }) => severity === 'error');
    const open = findings.filter(
      (finding) => finding.severity === 'warning' && !state.acknowledged.includes(keyOfFinding(finding)),
    );
    if (errors.length > 0 || (open.length > 0 && this.page.blocked !== position)) {
      this.update({ blocked: position });
      // Confirming again accepts warnings, but not while there are errors.
      const warnings = errors.length > 0 ? 0 : open.length;
      this.announce({ type: 'checks', errors: errors.length, warnings });
      return false;
    }
    this.update({
      blocked: this.page.blocked === position ? undefined : this.page.blocked,
      notice: undefined,
    });
    this.change(position, {
      status: 'confirmed',
      acknowledged: [...new Set(findings.map(keyOfFinding))],
    });
    this.#saveAtOnce(position);
    return true;
  }

  #confirmSelected(): void {
    for (const position of this.page.selected) {
      if (!this.canEdit(position)) continue;
      if (this.#confirmOne(position)) continue;
      this.activate(position, 'text');
      return;
    }
    this.update({ selected: new Set() });
  }

  /**
   * Confirms a segment, or makes a confirmed segment a draft again. The editor moves to another segment only
   * when the confirmed segment is the active one, or when findings prevent the confirmation.
   */
  toggleConfirmed(position: number): void {
    if (this.segment(position).status === 'confirmed') this.reopen(position);
    else if (position === this.page.active) {
      this.update({ focus: 'text' });
      this.confirm();
    } else if (this.canEdit(position) && !this.#confirmOne(position)) {
      this.activate(position, 'text');
      this.update({ blocked: position });
    }
  }

  /** True if the next confirmation of the active segment accepts its warnings. */
  get keepsWarnings(): boolean {
    const { active, blocked } = this.page;
    return (
      blocked === active &&
      (this.segment(active).findings ?? []).every(({ severity }) => severity !== 'error')
    );
  }

  /** Changes a confirmed segment to a draft again. */
  reopen(position = this.page.active): void {
    if (!this.canEdit(position) || this.segment(position).status !== 'confirmed') return;
    this.change(position, { status: 'draft' });
    this.#saveAtOnce(position);
    this.announce({ type: 'reopened', position: this.numberOf(position) });
  }

  /** Restores the target of a segment, as an edit that can be undone, and then the status. */
  restore(position: number, target: readonly Piece[], status: SegmentState['status']): void {
    this.setTarget(position, target);
    if (status !== 'draft') this.change(position, { status });
    this.#autosave.save(position);
  }

  // — Saving —

  /** Whether texts wait to be sent. After the end of the claim they wait in the browser for the next claim. */
  get hasUnsaved(): boolean {
    const isLost = this.page.saving.state === 'lost' || this.page.readOnly === 'lost';
    return !isLost && !this.#autosave.isEmpty;
  }

  /**
   * Sends all edits now. Resolves true when the server has all of them, false when one could not be saved.
   */
  async saveAll(): Promise<boolean> {
    const saved = await this.#autosave.drain();
    await this.#seen.send();
    return saved;
  }

  /** Sends all edits now, without waiting for the replies. */
  saveNow(): void {
    this.#effort.assign();
    this.#autosave.flush();
    if (this.#autosave.isEmpty) this.announce({ type: 'saved' });
  }

  #saveAtOnce(position: number): void {
    this.#autosave.save(position);
    this.#autosave.flush([position]);
  }

  /** Returns the server's version of a segment in conflict. */
  serverVersion(position: number): ServerVersion | undefined {
    return this.#autosave.serverVersion(position);
  }

  /** Resolves a conflict with this text. */
  resolve(position: number, target: readonly Piece[]): void {
    this.#autosave.resolve(position, target);
    this.update({ dialog: undefined });
    this.activate(position, 'text');
  }

  /** Closes a part of the page and returns the focus to the active segment. */
  close(what: 'dialog' | 'find' | 'concordance' | 'codes' | 'notice'): void {
    const closed: { [Key in keyof PageState]?: undefined } = { [what]: undefined };
    this.update(closed);
    this.focusActive();
  }

  recordActivity(): void {
    this.#wasActive = true;
    this.#effort.recordActivity();
  }

  setVisible(visible: boolean): void {
    this.#effort.setVisible(visible);
    if (visible) return;
    this.#effort.assign();
    this.#autosave.flush();
  }

  /** Called when the browser is online again. */
  online(): void {
    this.#autosave.flush();
    this.#keepAlive();
  }
}
