/**
 * The only text editor of the page: ProseMirror in the cell of the active segment. The class keeps the editor state of
 * each edited segment, so that undo works after the user has left the segment and returned. A text that was not typed,
 * such as a memory match or a replacement, is applied as an edit that can be undone.
 */
import { closeHistory, history, isHistoryTransaction, redo, undo } from 'prosemirror-history';
import { Fragment, Slice } from 'prosemirror-model';
import { EditorState, NodeSelection, TextSelection, type Transaction } from 'prosemirror-state';
import { EditorView } from 'prosemirror-view';
import {
  type Code,
  type CodeDescription,
  keyOf,
  type Piece,
  parsePieces,
  plainText,
  type Range,
} from '../text/pieces.ts';
import { repeatedEdit } from '../text/repeated-edit.ts';
import { drawChip } from './chip.ts';
import { collapseCodes, markCrossedCodes, markIssues, markSelectedCodes } from './code-marks.ts';
import { codeAtCaret, keepCodes, MOVED_CODES, RESTORED_CODES, selectedCode } from './keep-codes.ts';
import {
  codeAt,
  codeStops,
  documentOf,
  nodeOf,
  nodesOf,
  piecesOf,
  placedCodes,
  placedRanges,
} from './model.ts';
import { trustKeys } from './trust-keys.ts';

/** The functions with which the editor reads the task and reports events. */
export interface EditorHost {
  /** Returns the target with which the editing of a segment begins. The target has every code of the source. */
  initialTarget(position: number): readonly Piece[];
  language(): string;
  allowsLineBreaks(position: number): boolean;
  isEditable(): boolean;
  describeCode(position: number, code: Code): CodeDescription;
  /** The codes of a segment in the order of the source. */
  sourceCodes(position: number): readonly Code[];
  /** Whether neighbouring codes are shown as one chip. */
  collapsesCodes(): boolean;
  /** The ranges of a text that issues mark. */
  issueRanges(position: number, text: string): Range[];
  onChange(position: number, pieces: Piece[]): void;
  /** Reports that Backspace or Delete moved the caret over a code instead of deleting the code. */
  onCodeProtected(code: Code): void;
  onCodeMoved(code: Code): void;
  /** Reports that text was typed over codes. The codes are now after the typed text. */
  onCodesTypedOver(codes: readonly Code[]): void;
  /** @param typed true when a `<` opened the list of codes */
  onCodeListRequested(typed: boolean): void;
}

/** The clipboard type that carries codes between texts of the workbench. No other markup is read. */
const PIECES_TYPE = 'application/x-dragoman-pieces';

/** The name of the highlight for findings in the style sheet. */
const FINDINGS = 'finding';

export class SegmentEditor {
  readonly #host: EditorHost;
  readonly #states = new Map<number, EditorState>();
  /**
   * The keys of codes that an edit would have removed, such as typing over the whole text. They were put back, but the
   * editor has not placed them in the new text yet.
   */
  readonly #unplaced = new Map<number, ReadonlySet<string>>();
  #view: EditorView | undefined;
  #position = -1;

  constructor(host: EditorHost) {
    this.#host = host;
  }

  /** Puts the editor of a segment into an element; returns a function that removes it. */
  mount(element: HTMLElement, position: number, attributes: Record<string, string>): () => void {
    const view = new EditorView(
      { mount: element },
      {
        state: this.#stateOf(position),
        editable: () => this.#host.isEditable(),
        attributes,
        dispatchTransaction: (transaction) => {
          const { state, transactions } = view.state.applyTransaction(transaction);
          view.updateState(state);
          this.#states.set(position, state);
          if (transactions.some((one) => one.docChanged)) this.#host.onChange(position, piecesOf(state.doc));
          this.#recordUnplaced(position, transactions);
          for (const one of transactions) {
            const moved: readonly Code[] = one.getMeta(MOVED_CODES) ?? [];
            if (moved.length > 0) this.#host.onCodesTypedOver(moved);
          }
        },
        nodeViews: {
          code: (node) => {
            const code = codeAt(node);
            return {
              dom: drawChip(code, this.#host.describeCode(position, code)),
              ignoreMutation: () => true,
            };
          },
        },
        handleKeyDown: (_, event) => this.#handleKeyDown(event),
        handleTextInput: (_, from, to, text) => this.#handleTextInput(from, to, text),
        handleDOMEvents: {
          copy: (_, event) => this.#copy(event),
          cut: (_, event) => this.#copy(event) && this.deleteSelection(),
          paste: (_, event) => this.#paste(event),
          drop: (_, event) => this.#drop(event),
          beforeinput: (_, event) => this.#handleInput(event as InputEvent),
        },
      },
    );
    this.#view = view;
    this.#position = position;
    return () => {
      if (this.#view === view) {
        this.#view = undefined;
        this.#position = -1;
        CSS.highlights?.delete(FINDINGS);
      }
      view.destroy();
    };
  }

  focus(): void {
    this.#view?.focus();
  }

  /** Sets the caret at a point of the viewport, given in pixels. */
  placeCaret(left: number, top: number): void {
    const view = this.#view;
    const place = view?.posAtCoords({ left, top });
    if (view && place)
      view.dispatch(view.state.tr.setSelection(TextSelection.create(view.state.doc, place.pos)));
  }

  get hasFocus(): boolean {
    return this.#view?.hasFocus() ?? false;
  }

  /** Replaces the text of a segment as an edit that can be undone. */
  replace(position: number, pieces: readonly Piece[]): void {
    const state = this.#stateOf(position);
    const transaction = state.tr.replaceWith(0, state.doc.content.size, nodesOf(pieces));
    this.#apply(position, transaction.setSelection(TextSelection.atEnd(transaction.doc)));
  }

  /** Repeats the edit from `before` to `after` in the current text. Returns false if that is not possible. */
  repeatEdit(position: number, before: readonly Piece[], after: readonly Piece[]): boolean {
    const { doc, tr } = this.#stateOf(position);
    const edit = repeatedEdit(before, after, piecesOf(doc));
    if (!edit) return false;
    tr.insertText(edit.text, edit.from, edit.to);
    this.#apply(position, tr.setSelection(TextSelection.create(tr.doc, edit.from + edit.text.length)));
    return true;
  }

  /** Applies an edit that was not typed. It is an undo step of its own, even if the editor types just before or after. */
  #apply(position: number, transaction: Transaction): void {
    this.#dispatch(position, closeHistory(transaction));
    this.#dispatch(position, closeHistory(this.#stateOf(position).tr));
  }

  #dispatch(position: number, transaction: Transaction): void {
    if (this.#position === position && this.#view) this.#view.dispatch(transaction);
    else {
      const next = this.#stateOf(position).apply(transaction);
      this.#states.set(position, next);
      if (transaction.docChanged) this.#host.onChange(position, piecesOf(next.doc));
    }
  }

  /** Reads the text of a segment again and discards its undo history. */
  reload(position: number): void {
    this.#unplaced.delete(position);
    if (this.#position === position) this.#view?.updateState(this.#createState(position));
    else this.#states.delete(position);
  }

  /** Applies a change of `isEditable` or of `collapsesCodes`. */
  refreshEditable(): void {
    this.#view?.setProps({});
  }

  /**
   * Underlines ranges of the text that checks name. A highlight leaves the document and the elements of the editor as
   * they are, so it disturbs neither the caret nor an input method. Browsers without highlights show no underline here.
   */
  highlight(ranges: readonly Range[]): void {
    const view = this.#view;
    if (!view || !CSS.highlights) return;
    const marked = placedRanges(view.state.doc, ranges).map(({ from, to }) => {
      const [start, end] = [view.domAtPos(from, 1), view.domAtPos(to, -1)];
      const range = document.createRange();
      range.setStart(start.node, start.offset);
      range.setEnd(end.node, end.offset);
      return range;
    });
    CSS.highlights.set(FINDINGS, new Highlight(...marked));
  }

  selectedText(): string {
    if (!this.#view) return '';
    const { from, to } = this.#view.state.selection;
    return plainText(piecesOf(this.#view.state.doc.cut(from, to)));
  }

  /** Returns the selection in UTF-16 code units of the plain text. */
  selectedRange(): { start: number; end: number } | undefined {
    if (!this.#view || this.#view.state.selection.empty) return undefined;
    const { doc, selection } = this.#view.state;
    const before = (at: number) => plainText(piecesOf(doc.cut(0, at))).length;
    return { start: before(selection.from), end: before(selection.to) };
  }

  /** Returns the caret in viewport coordinates. */
  caret(): { left: number; right: number; top: number; bottom: number } | undefined {
    return this.#view?.coordsAtPos(this.#view.state.selection.head);
  }

  /**
   * Returns the text before and after the caret, up to the nearest code on each side. Returns undefined if text is
   * selected or an input method is composing.
   */
  textAtCaret(): { before: string; after: string } | undefined {
    const view = this.#view;
    if (!view || view.composing || !view.state.selection.empty) return undefined;
    const { nodeBefore, nodeAfter } = view.state.selection.$head;
    return { before: nodeBefore?.text ?? '', after: nodeAfter?.text ?? '' };
  }

  insertText(text: string): void {
    const view = this.#view;
    if (view && this.#host.isEditable()) view.dispatch(view.state.tr.insertText(text).scrollIntoView());
  }

  deleteSelection(): boolean {
    const view = this.#view;
    if (!view || view.state.selection.empty || !this.#host.isEditable()) return false;
    view.dispatch(view.state.tr.deleteSelection().scrollIntoView());
    return true;
  }

  /** Reads the caret from the browser, because ProseMirror is notified of a moved caret later. */
  syncSelection(): void {
    if (this.#view) this.#syncSelection();
  }

  /** Deletes the `<` that opened the list of codes. */
  deleteTrigger(): void {
    const view = this.#view;
    if (!view) return;
    const { head } = view.state.selection;
    if (view.state.doc.textBetween(Math.max(0, head - 1), head) === '<') {
      view.dispatch(view.state.tr.delete(head - 1, head));
    }
  }

  /** Moves the code at the caret to the next word boundary or past the next code. */
  moveCode(direction: -1 | 1): void {
    if (!this.#view || !this.#host.isEditable()) return;
    const view = this.#syncSelection();
    const { state } = view;
    const chosen = selectedCode(state.selection) ?? codeAtCaret(state, -1) ?? codeAtCaret(state, 1);
    if (!chosen) return;
    const { code, at } = chosen;
    const stops = codeStops(state.doc, this.#host.language());
    const stop = direction === -1 ? stops.findLast((one) => one < at) : stops.find((one) => one > at + 1);
    if (stop === undefined) return;
    const place = direction === -1 ? stop : stop - 1;
    const transaction = state.tr.delete(at, at + 1).insert(place, nodeOf(code));
    const behind = state.selection.head > at;
    transaction.setSelection(TextSelection.create(transaction.doc, behind ? place + 1 : place));
    view.dispatch(transaction.scrollIntoView());
    this.#recordPlaced([code]);
    this.#host.onCodeMoved(code);
  }

  /** Moves a code to the caret; with a selection, moves a pair around it. */
  placeCode(code: Code): void {
    const view = this.#view;
    if (!view || !this.#host.isEditable()) return;
    const { from, to, empty } = view.state.selection;
    const halves = placedCodes(view.state.doc).filter(({ code: one }) =>
      empty || (code.kind !== 'open' && code.kind !== 'close')
        ? keyOf(one) === keyOf(code)
        : one.number === code.number && (one.kind === 'open' || one.kind === 'close'),
    );
    const transaction = view.state.tr;
    for (const half of halves) {
      const at = transaction.mapping.map(half.at);
      transaction.delete(at, at + 1);
      const end =
        half.code.kind === 'close' ? transaction.mapping.map(to, -1) : transaction.mapping.map(from, 1);
      transaction.insert(empty ? transaction.mapping.map(from) : end, nodeOf(half.code));
    }
    const last = placedCodes(transaction.doc).findLast(({ code: one }) =>
      halves.some((half) => keyOf(half.code) === keyOf(one)),
    );
    if (last) transaction.setSelection(TextSelection.create(transaction.doc, last.at + 1));
    view.dispatch(transaction.scrollIntoView());
    this.#recordPlaced(halves.map((half) => half.code));
    this.#host.onCodeMoved(code);
  }

  jumpTo(code: Code): void {
    const view = this.#view;
    const place = view && placedCodes(view.state.doc).find(({ code: one }) => keyOf(one) === keyOf(code));
    if (!view || !place) return;
    view.dispatch(
      view.state.tr.setSelection(TextSelection.create(view.state.doc, place.at + 1)).scrollIntoView(),
    );
  }

  /** Returns the codes of the open segment in the order of the source. */
  codes(): readonly Code[] {
    return this.#view ? this.#host.sourceCodes(this.#position) : [];
  }

  /**
   * Returns the next code that the editor has to place: the first one of the source that is after the caret, or that an
   * edit has removed from its place. Undefined when no code is left.
   */
  nextCode(): Code | undefined {
    const view = this.#view;
    if (!view) return undefined;
    const { to } = view.state.selection;
    const behind = new Set(
      placedCodes(view.state.doc).flatMap(({ code, at }) => (at >= to ? [keyOf(code)] : [])),
    );
    const unplaced = this.#unplaced.get(this.#position);
    return this.codes().find((code) => behind.has(keyOf(code)) || unplaced?.has(keyOf(code)));
  }

  /** Moves the next code, in the order of the source, to the caret. Returns false if no code is left. */
  placeNextCode(): boolean {
    if (!this.#view || !this.#host.isEditable()) return false;
    this.#syncSelection();
    const next = this.nextCode();
    if (next) this.placeCode(next);
    return next !== undefined;
  }

  #recordUnplaced(position: number, transactions: readonly Transaction[]): void {
    for (const one of transactions) {
      // Undo and redo return the codes to their earlier places, so none is unplaced.
      if (isHistoryTransaction(one)) this.#unplaced.delete(position);
      const restored: readonly Code[] = one.getMeta(RESTORED_CODES) ?? [];
      if (restored.length === 0) continue;
      const before = this.#unplaced.get(position) ?? [];
      this.#unplaced.set(position, new Set([...before, ...restored.map(keyOf)]));
    }
  }

  #recordPlaced(codes: readonly Code[]): void {
    const unplaced = new Set(this.#unplaced.get(this.#position));
    for (const code of codes) unplaced.delete(keyOf(code));
    this.#unplaced.set(this.#position, unplaced);
  }

  #stateOf(position: number): EditorState {
    return this.#states.get(position) ?? this.#createState(position);
  }

  #createState(position: number): EditorState {
    const state = EditorState.create({
      doc: documentOf(this.#host.initialTarget(position)),
      plugins: [
        history(),
        trustKeys,
        keepCodes(),
        markCrossedCodes,
        markSelectedCodes,
        collapseCodes(
          () => this.#host.collapsesCodes(),
          (code) => this.#host.describeCode(position, code),
        ),
        markIssues((text) => this.#host.issueRanges(position, text)),
      ],
    });
    this.#states.set(position, state);
    return state;
  }

  #handleKeyDown(event: KeyboardEvent): boolean {
    const view = this.#view!;
    if (event.isComposing || event.keyCode === 229) return false;
    const key =
      event.key.charCodeAt(0) > 0x7f ? event.code.replace('Key', '').toLowerCase() : event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && !event.altKey) {
      if (key === 'z') return (event.shiftKey ? redo : undo)(view.state, view.dispatch) || true;
      if (key === 'y') return redo(view.state, view.dispatch) || true;
    }
    if (event.key !== 'Backspace' && event.key !== 'Delete') return false;
    return this.#erase(event.key === 'Backspace' ? -1 : 1);
  }

  /** The browser reports a moved caret late, but the next key must act at the new place. */
  #syncSelection(): EditorView {
    const view = this.#view!;
    const { anchorNode, anchorOffset, focusNode, focusOffset } = getSelection() ?? {};
    if (view.composing || !anchorNode || !focusNode || !view.dom.contains(anchorNode)) return view;
    const anchor = view.posAtDOM(anchorNode, anchorOffset!);
    const head = view.posAtDOM(focusNode, focusOffset!);
    const { selection, doc } = view.state;
    const isThere =
      selection instanceof NodeSelection
        ? Math.min(anchor, head) === selection.from && Math.max(anchor, head) === selection.to
        : selection.anchor === anchor && selection.head === head;
    if (!isThere) view.dispatch(view.state.tr.setSelection(TextSelection.create(doc, anchor, head)));
    return view;
  }

  /** Moves the caret over a code instead of deleting the code. */
  #erase(direction: -1 | 1): boolean {
    const view = this.#syncSelection();
    const { state } = view;
    if (!state.selection.empty && !(state.selection instanceof NodeSelection)) return this.deleteSelection();
    const code = selectedCode(state.selection) ?? codeAtCaret(state, direction);
    if (!code) return false;
    const place = direction === -1 ? code.at : code.at + 1;
    view.dispatch(state.tr.setSelection(TextSelection.create(state.doc, place)).scrollIntoView());
    this.#host.onCodeProtected(code.code);
    return true;
  }

  #handleTextInput(from: number, to: number, text: string): boolean {
    const view = this.#view!;
    if (text !== '<' || view.composing || this.codes().length === 0) return false;
    const transaction = view.state.tr.insertText(text, from, to);
    transaction.setSelection(TextSelection.create(transaction.doc, from + text.length));
    view.dispatch(transaction.scrollIntoView());
    this.#host.onCodeListRequested(true);
    return true;
  }

  #copy(event: ClipboardEvent): boolean {
    const view = this.#syncSelection();
    if (view.state.selection.empty || !event.clipboardData) return false;
    const { from, to } = view.state.selection;
    const pieces = piecesOf(view.state.doc.cut(from, to));
    event.preventDefault();
    event.clipboardData.setData('text/plain', plainText(pieces));
    event.clipboardData.setData(PIECES_TYPE, JSON.stringify(pieces));
    return true;
  }

  #paste(event: ClipboardEvent): boolean {
    event.preventDefault();
    this.#syncSelection();
    if (event.clipboardData) this.#insert(event.clipboardData);
    return true;
  }

  /** Inserts pieces that were copied in a workbench, otherwise the plain text. Foreign markup is never read. */
  #insert(data: DataTransfer): void {
    const view = this.#view!;
    if (!this.#host.isEditable()) return;
    const nodes = nodesOf(
      parsePieces(data.getData(PIECES_TYPE)) ?? [{ text: this.#clean(data.getData('text/plain')) }],
    );
    if (nodes.length === 0) return;
    view.dispatch(view.state.tr.replaceSelection(new Slice(Fragment.from(nodes), 0, 0)).scrollIntoView());
  }

  #clean(text: string): string {
    const lines = text.replace(/\r\n?/g, '\n').replaceAll('\0', '');
    return this.#host.allowsLineBreaks(this.#position)
      ? lines
      : lines.replace(/\s+/g, (run) => (run.includes('\n') ? ' ' : run));
  }

  /** Handles drops from outside the text. ProseMirror moves text that is dragged within it. */
  #drop(event: DragEvent): boolean {
    const view = this.#view!;
    if (view.dragging) return false;
    event.preventDefault();
    const place = view.posAtCoords({ left: event.clientX, top: event.clientY });
    if (!place || !event.dataTransfer) return true;
    view.dispatch(view.state.tr.setSelection(TextSelection.create(view.state.doc, place.pos)));
    this.#insert(event.dataTransfer);
    view.focus();
    return true;
  }

  /** Handles undo and redo from the browser's menu. Refuses bold and italics, because only tags stand for markup. */
  #handleInput(event: InputEvent): boolean {
    const command = { historyUndo: undo, historyRedo: redo }[event.inputType];
    if (!command && !event.inputType.startsWith('format')) return false;
    event.preventDefault();
    command?.(this.#view!.state, this.#view!.dispatch);
    return true;
  }
}
