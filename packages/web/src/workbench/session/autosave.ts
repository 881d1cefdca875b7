/**
 * Saves edited segments and applies the server's answers. An answer changes a segment's revision, never a text that is
 * being typed.
 */
import type { SegmentEditor } from '../editor/segment-editor.ts';
import { complete, type Piece, samePieces } from '../text/pieces.ts';
import type { Drafts } from './drafts.ts';
import type { EffortTracker } from './effort-tracker.ts';
import { type Save, type ServerVersion, saveStatusOf } from './save-queue.ts';
import { type SaveOutcome, Saver } from './saver.ts';
import { segmentStateOf, serverVersionOf, type TaskServer } from './state.ts';
import type { WorkbenchStore } from './store.ts';
import type { Lease, Segment } from './task.ts';

interface AutosaveOptions {
  store: WorkbenchStore;
  server: TaskServer;
  drafts: Drafts;
  editor: SegmentEditor;
  effort: EffortTracker;
  now: () => number;
  onLease: (lease: Lease) => void;
  /** Called when the server has stored or taken back a confirmed text. */
  onTaught: (position: number) => void;
  onStale: (why: 'lost' | 'canceled') => void;
}

export class Autosave {
  readonly #options: AutosaveOptions;
  readonly #store: WorkbenchStore;
  readonly #saver: Saver;

  constructor(options: AutosaveOptions) {
    const { now } = options;
    this.#options = options;
    this.#store = options.store;
    this.#saver = new Saver({
      drafts: options.drafts,
      send: (position, save, revision, activeMs) => this.#send(position, save, revision, activeMs),
      now,
      at: (time, call) => {
        const timer = setTimeout(call, Math.max(0, time - now()));
        return () => clearTimeout(timer);
      },
      onChange: () => this.#showStatus(),
    });
  }

  /** True if the server has acknowledged every text. */
  get isEmpty(): boolean {
    return this.#saver.isEmpty;
  }

  /** Returns true if a text of the segment was not acknowledged yet. */
  isSaving(position: number): boolean {
    return this.#saver.queue.entries.has(position);
  }

  /** Queues the segment's current text. */
  save(position: number): void {
    const activeMs = this.#options.effort.take(position);
    const { segment, target, status, acknowledged } = this.#store.segment(position);
    this.#saver.edit(position, {
      revision: segment.revision,
      save: {
        target: [...target],
        status: status === 'confirmed' ? 'confirmed' : 'draft',
        acknowledged: [...acknowledged],
      },
      activeMs,
    });
  }

  /** Sends the queued texts of these positions now. @param positions all positions when omitted */
  flush(positions?: readonly number[]): void {
    this.#saver.flush(positions);
  }

  /** Starts or stops holding back all texts. */
  hold(held: boolean): void {
    this.#saver.hold(held);
  }

  /** Sends the queued text of a segment as an edit of the segment's current revision. */
  rebase(position: number): void {
    this.#saver.rebase(position, this.#store.segment(position).segment.revision);
  }

  /** Records that the server has changed saved texts, so that the document is read again. */
  recordSaved(): void {
    this.#saver.recordSaved();
  }

  /**
   * Sends all queued texts now. Resolves true when the server has all of them, false when one could not be
   * saved.
   */
  async drain(): Promise<boolean> {
    this.#options.effort.assign();
    this.flush();
    return new Promise((resolve) => {
      const look = () => {
        if (!this.isEmpty && this.#store.page.saving.state === 'saving') return;
        stop();
        resolve(this.isEmpty);
      };
      const stop = this.#store.watch('page', look);
      look();
    });
  }

  /** Restores texts that an earlier page stored in the browser but did not send. */
  async restore(): Promise<void> {
    const versions = new Map(
      this.#store.editable.map(({ segment }) => [segment.position, serverVersionOf(segment)]),
    );
    if (this.#store.page.readOnly) this.#saver.stopSending('all');
    for (const [position, save] of await this.#saver.restore(versions)) {
      const { segment } = this.#store.segment(position);
      this.#store.change(position, {
        target: complete(save.target, segment.source),
        status: save.status,
        acknowledged: save.acknowledged,
        findings: undefined,
        changed: true,
      });
      this.#options.editor.reload(position);
    }
  }

  /** Marks the lease as lost. Each unsent text is still sent once, so that the server stores it. */
  stopSending(): void {
    this.#saver.stopSending([]);
  }

  stop(): void {
    this.flush();
    this.#saver.stop();
  }

  /** The server's version of a segment in conflict. */
  serverVersion(position: number): ServerVersion | undefined {
    return this.#saver.queue.entries.get(position)?.theirs;
  }

  /**
   * Resolves a conflict with the given text. If it is the server's text, the segment keeps the server's
   * status.
   */
  resolve(position: number, target: readonly Piece[]): void {
    const state = this.#store.segment(position);
    const pieces = complete(target, state.segment.source);
    const theirs = this.serverVersion(position);
    if (theirs) {
      this.#store.change(position, { segment: { ...state.segment, revision: theirs.revision } });
    }
    const status =
      theirs && samePieces(pieces, theirs.target) && theirs.status === 'confirmed' ? 'confirmed' : 'draft';
    this.#store.change(position, { target: pieces, status, findings: undefined });
    this.#options.editor.reload(position);
    this.#saver.resolve(position, {
      target: [...pieces],
      status,
      acknowledged: [...state.acknowledged],
    });
  }

  /**
   * Undoes the filling of repeats: restores the texts that they had before the confirmation. Repeats that were edited
   * since then stay unchanged.
   */
  #undoFill(before: readonly { position: number; save: Save; filled: Segment }[]): void {
    for (const { position, save, filled } of before) {
      if (!samePieces(this.#store.segment(position).target, filled.target)) continue;
      this.#store.change(position, { target: save.target, status: 'draft', findings: undefined });
      this.#options.editor.reload(position);
      this.save(position);
    }
    this.flush();
  }

  async #send(position: number, save: Save, revision: number, activeMs: number): Promise<SaveOutcome> {
    const store = this.#store;
    // The text stays queued until the user who wrote it has signed in again. The server would refuse it from
    // another user.
    if (store.page.signedOut) throw new Error('signed out');
    const answer = await this.#options.server.save(position, {
      token: store.token,
      revision,
      target: save.target,
      status: save.status,
      acknowledged: save.acknowledged,
      active_ms: activeMs,
    });
    switch (answer.answer) {
      case 'saved': {
        // The answer to a save contains no vote, so the segment keeps the vote that the page already has.
        const { vote, status: before } = store.segment(position).segment;
        const segment = { ...answer.segment, vote };
        store.change(position, { segment, issues: segment.issues, comments: segment.comments });
        this.#fill(answer.filled);
        this.#options.onLease(answer.lease);
        if ([before, segment.status].includes('confirmed')) this.#options.onTaught(position);
        return { outcome: 'saved', revision: segment.revision };
      }
      case 'conflict':
        // Another tab has joined the segment with an earlier one. The server has the text in the history of that segment.
        if (answer.segment.position !== position) return { outcome: 'refused', code: 'conflict' };
        // The server's revision may be an earlier save of this page whose reply was lost. `markConflict`
        // compares the texts.
        store.change(position, { segment: answer.segment });
        return { outcome: 'conflict', theirs: serverVersionOf(answer.segment) };
      case 'checks_failed':
        store.change(position, { findings: answer.findings, status: 'draft' });
        store.announce({ type: 'checks', errors: answer.findings.length, warnings: 0 });
        return { outcome: 'refused', code: 'checks_failed' };
      case 'stale':
        queueMicrotask(() => this.#options.onStale(answer.why));
        return { outcome: 'stale' };
      case 'refused':
        return { outcome: 'refused', code: answer.code };
    }
  }

  /** Shows the texts of the repeats that the server filled. Repeats with unsaved edits keep their text. */
  #fill(filled: readonly Segment[]): void {
    const before: { position: number; save: Save; filled: Segment }[] = [];
    for (const segment of filled) {
      const { position } = segment;
      if (!this.#store.has(position) || this.isSaving(position)) continue;
      const { target, acknowledged } = this.#store.segment(position);
      before.push({
        position,
        filled: segment,
        save: { target: [...target], status: 'draft', acknowledged: [...acknowledged] },
      });
      this.#store.put(position, segmentStateOf(segment));
      this.#options.editor.reload(position);
    }
    if (before.length === 0) return;
    const { length: count } = before;
    this.#store.update({ notice: { type: 'filled', count, undo: () => this.#undoFill(before) } });
    this.#store.announce({ type: 'filled', count });
  }

  /** Shows the status of the save queue. Announces the status when its kind changes, for example from saving to saved. */
  #showStatus(): void {
    const store = this.#store;
    const saving = saveStatusOf(this.#saver.queue);
    const before = store.page.saving;
    if (JSON.stringify(saving) === JSON.stringify(before)) return;
    store.update({ saving });
    if (saving.state === before.state) return;
    if (saving.state === 'conflict' || saving.state === 'refused') {
      store.announce({ type: saving.state, position: store.numberOf(saving.positions[0]!) });
    }
    if (saving.state === 'offline') store.announce({ type: 'offline', count: saving.waiting });
    if (saving.state === 'saved' && before.state !== 'saving') store.announce({ type: 'saved' });
  }
}
