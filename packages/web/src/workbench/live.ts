/**
 * The one live editor: ProseMirror in the cell of the active segment. A state is kept for each segment that was ever
 * active, so that undo is there when its row comes back. The document is never made anew from outside while somebody
 * types: what comes from outside (a match, a replacement) is an edit like any other, and can be undone.
 */
import { history, redo, undo } from 'prosemirror-history';
import { Fragment, Slice } from 'prosemirror-model';
import { EditorState, NodeSelection, Plugin, TextSelection } from 'prosemirror-state';
import { Decoration, DecorationSet, EditorView } from 'prosemirror-view';
import { drawChip } from './chip.ts';
import { codeBeside, keepCodes } from './keep-codes.ts';
import { codeAt, documentOf, nodeOf, nodesOf, piecesOf, placedCodes } from './model.ts';
import { type Code, crossed, keyOf, type Piece, plainText } from './pieces.ts';

/** What the editor asks and tells. */
export interface Host {
  /** The target of a segment as it is when it is first edited: with every code of its source. */
  begin(position: number): readonly Piece[];
  language(position: number): string;
  /** Whether a line break may be typed there. */
  hasLines(position: number): boolean;
  editable(): boolean;
  /** What a code stands for, and what it is called. */
  chip(position: number, code: Code): { title: string; label: string };
  changed(position: number, pieces: Piece[]): void;
  stepped(code: Code): void;
  moved(code: Code): void;
  /** The list of codes is wanted; `typed` where a `<` was typed for it. */
  codesWanted(typed: boolean): void;
}

/** Our own copies keep their codes by this; nobody else's markup is ever read. */
const OURS = 'application/x-dragoman-pieces';

export class Live {
  readonly #host: Host;
  readonly #states = new Map<number, EditorState>();
  #view: EditorView | undefined;
  #position = -1;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Puts the editor of a segment into an element; returns what takes it out again. */
  mount(element: HTMLElement, position: number, attributes: Record<string, string>): () => void {
    const view = new EditorView(
      { mount: element },
      {
        state: this.#stateOf(position),
        editable: () => this.#host.editable(),
        attributes,
        dispatchTransaction: (transaction) => {
          const { state, transactions } = view.state.applyTransaction(transaction);
          view.updateState(state);
          this.#states.set(position, state);
          if (transactions.some((one) => one.docChanged)) this.#host.changed(position, piecesOf(state.doc));
        },
        nodeViews: {
          code: (node) => {
            const code = codeAt(node);
            return { dom: drawChip(code, this.#host.chip(position, code)), ignoreMutation: () => true };
          },
        },
        handleKeyDown: (_, event) => this.#pressed(event),
        handleTextInput: (_, from, to, text) => this.#typed(from, to, text),
        handleDOMEvents: {
          copy: (_, event) => this.#copied(event),
          cut: (_, event) => this.#copied(event) && this.deleteSelection(),
          paste: (_, event) => this.#pasted(event),
          drop: (_, event) => this.#dropped(event),
          beforeinput: (_, event) => this.#undone(event as InputEvent),
        },
      },
    );
    this.#view = view;
    this.#position = position;
    return () => {
      if (this.#view === view) {
        this.#view = undefined;
        this.#position = -1;
      }
      view.destroy();
    };
  }

  get position(): number {
    return this.#position;
  }

  focus(): void {
    this.#view?.focus();
  }

  get hasFocus(): boolean {
    return this.#view?.hasFocus() ?? false;
  }

  /** Another text for a segment, as an edit that can be undone. */
  replace(position: number, pieces: readonly Piece[]): void {
    const state = this.#stateOf(position);
    const transaction = state.tr.replaceWith(0, state.doc.content.size, nodesOf(pieces));
    transaction.setSelection(TextSelection.atEnd(transaction.doc));
    if (this.#position === position && this.#view) this.#view.dispatch(transaction);
    else {
      const next = state.apply(transaction);
      this.#states.set(position, next);
      this.#host.changed(position, piecesOf(next.doc));
    }
  }

  /** Takes over what is now somewhere else as a beginning: its undo would lead to what is gone. */
  forget(position: number): void {
    if (this.#position === position) this.#view?.updateState(this.#anew(position));
    else this.#states.delete(position);
  }

  /** What may be edited has changed. */
  reread(): void {
    this.#view?.setProps({});
  }

  selectedText(): string {
    if (!this.#view) return '';
    const { from, to } = this.#view.state.selection;
    return plainText(piecesOf(this.#view.state.doc.cut(from, to)));
  }

  /** The selection in the visible text: what an issue is about. */
  selectedRange(): { start: number; end: number } | undefined {
    if (!this.#view || this.#view.state.selection.empty) return undefined;
    const { doc, selection } = this.#view.state;
    const before = (at: number) => plainText(piecesOf(doc.cut(0, at))).length;
    return { start: before(selection.from), end: before(selection.to) };
  }

  /** Where the caret is on the screen. */
  caret(): { left: number; right: number; top: number; bottom: number } | undefined {
    return this.#view?.coordsAtPos(this.#view.state.selection.head);
  }

  insertText(text: string): void {
    const view = this.#view;
    if (view && this.#host.editable()) view.dispatch(view.state.tr.insertText(text).scrollIntoView());
  }

  deleteSelection(): boolean {
    const view = this.#view;
    if (!view || view.state.selection.empty || !this.#host.editable()) return false;
    view.dispatch(view.state.tr.deleteSelection().scrollIntoView());
    return true;
  }

  /** Takes over where the caret is now. */
  settle(): void {
    if (this.#view) this.#sync();
  }

  /** Takes back the `<` that the list of codes was opened with. */
  untype(): void {
    const view = this.#view;
    if (!view) return;
    const { head } = view.state.selection;
    if (view.state.doc.textBetween(Math.max(0, head - 1), head) === '<') {
      view.dispatch(view.state.tr.delete(head - 1, head));
    }
  }

  /** Moves the chip at the caret to the next border of a word, or over the next chip. */
  moveCode(direction: -1 | 1): void {
    if (!this.#view || !this.#host.editable()) return;
    const view = this.#sync();
    const { state } = view;
    const chosen =
      state.selection instanceof NodeSelection
        ? { code: codeAt(state.selection.node), at: state.selection.from }
        : (codeBeside(state, -1) ?? codeBeside(state, 1));
    if (!chosen) return;
    const { code, at } = chosen;
    const stops = this.#stops(state);
    const stop = direction === -1 ? stops.findLast((one) => one < at) : stops.find((one) => one > at + 1);
    if (stop === undefined) return;
    const place = direction === -1 ? stop : stop - 1;
    const transaction = state.tr.delete(at, at + 1).insert(place, nodeOf(code));
    const behind = state.selection.head > at;
    transaction.setSelection(TextSelection.create(transaction.doc, behind ? place + 1 : place));
    view.dispatch(transaction.scrollIntoView());
    this.#host.moved(code);
  }

  /** Moves a code to the caret; where a stretch is selected, a pair goes round it. */
  placeCode(code: Code): void {
    const view = this.#view;
    if (!view || !this.#host.editable()) return;
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
    this.#host.moved(code);
  }

  jumpTo(code: Code): void {
    const view = this.#view;
    const place = view && placedCodes(view.state.doc).find(({ code: one }) => keyOf(one) === keyOf(code));
    if (!view || !place) return;
    view.dispatch(
      view.state.tr.setSelection(TextSelection.create(view.state.doc, place.at + 1)).scrollIntoView(),
    );
  }

  codes(): Code[] {
    return this.#view ? placedCodes(this.#view.state.doc).map(({ code }) => code) : [];
  }

  #stateOf(position: number): EditorState {
    return this.#states.get(position) ?? this.#anew(position);
  }

  #anew(position: number): EditorState {
    const state = EditorState.create({
      doc: documentOf(this.#host.begin(position)),
      plugins: [history(), keepCodes(), crossings],
    });
    this.#states.set(position, state);
    return state;
  }

  /** Where a chip may be set down: at borders of words and beside other chips. */
  #stops(state: EditorState): number[] {
    const segmenter = new Intl.Segmenter(this.#host.language(this.#position), { granularity: 'word' });
    const stops = new Set([0, state.doc.content.size]);
    state.doc.forEach((node, at) => {
      stops.add(at).add(at + node.nodeSize);
      if (node.isText) for (const { index } of segmenter.segment(node.text!)) stops.add(at + index);
    });
    return [...stops].sort((one, other) => one - other);
  }

  #pressed(event: KeyboardEvent): boolean {
    const view = this.#view!;
    if (event.isComposing || event.keyCode === 229) return false;
    const key =
      event.key.charCodeAt(0) > 0x7f ? event.code.replace('Key', '').toLowerCase() : event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && !event.altKey) {
      if (key === 'z') return (event.shiftKey ? redo : undo)(view.state, view.dispatch) || true;
      if (key === 'y') return redo(view.state, view.dispatch) || true;
    }
    if (event.key !== 'Backspace' && event.key !== 'Delete') return false;
    return this.#erased(event.key === 'Backspace' ? -1 : 1);
  }

  /** The browser tells of a moved caret a moment later; a key that follows at once must not act where it was. */
  #sync(): EditorView {
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

  /** Over a chip, erasing is a step: it is said, and nothing is lost. */
  #erased(direction: -1 | 1): boolean {
    const view = this.#sync();
    const { state } = view;
    if (state.selection instanceof NodeSelection) {
      const place = direction === -1 ? state.selection.from : state.selection.to;
      view.dispatch(state.tr.setSelection(TextSelection.create(state.doc, place)));
      this.#host.stepped(codeAt((state.selection as NodeSelection).node));
      return true;
    }
    if (!state.selection.empty) return this.deleteSelection();
    const beside = codeBeside(state, direction);
    if (!beside) return false;
    const place = direction === -1 ? beside.at : beside.at + 1;
    view.dispatch(state.tr.setSelection(TextSelection.create(state.doc, place)).scrollIntoView());
    this.#host.stepped(beside.code);
    return true;
  }

  #typed(from: number, to: number, text: string): boolean {
    const view = this.#view!;
    if (text !== '<' || view.composing || this.codes().length === 0) return false;
    const transaction = view.state.tr.insertText(text, from, to);
    transaction.setSelection(TextSelection.create(transaction.doc, from + text.length));
    view.dispatch(transaction.scrollIntoView());
    this.#host.codesWanted(true);
    return true;
  }

  #copied(event: ClipboardEvent): boolean {
    const view = this.#sync();
    if (view.state.selection.empty || !event.clipboardData) return false;
    const { from, to } = view.state.selection;
    const pieces = piecesOf(view.state.doc.cut(from, to));
    event.preventDefault();
    event.clipboardData.setData('text/plain', plainText(pieces));
    event.clipboardData.setData(OURS, JSON.stringify(pieces));
    return true;
  }

  #pasted(event: ClipboardEvent): boolean {
    event.preventDefault();
    this.#sync();
    if (event.clipboardData) this.#insert(event.clipboardData);
    return true;
  }

  /** Markup from elsewhere is never read: of what comes, the text is taken. */
  #insert(data: DataTransfer): void {
    const view = this.#view!;
    if (!this.#host.editable()) return;
    const nodes = nodesOf(
      readOurs(data.getData(OURS)) ?? [{ text: this.#clean(data.getData('text/plain')) }],
    );
    if (nodes.length === 0) return;
    view.dispatch(view.state.tr.replaceSelection(new Slice(Fragment.from(nodes), 0, 0)).scrollIntoView());
  }

  #clean(text: string): string {
    const lines = text.replace(/\r\n?/g, '\n').replaceAll('\0', '');
    return this.#host.hasLines(this.#position)
      ? lines
      : lines.replace(/\s+/g, (run) => (run.includes('\n') ? ' ' : run));
  }

  /** A chip or a stretch dragged inside the text is moved by the editor itself. */
  #dropped(event: DragEvent): boolean {
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

  /** Undo from the browser's menu. */
  #undone(event: InputEvent): boolean {
    const view = this.#view!;
    const command = { historyUndo: undo, historyRedo: redo }[event.inputType];
    if (!command) return false;
    event.preventDefault();
    command(view.state, view.dispatch);
    return true;
  }
}

/** Chips of pairs that cross are drawn as wrong. */
const crossings = new Plugin({
  props: {
    decorations(state) {
      const placed = placedCodes(state.doc);
      const wrong = crossed(placed.map(({ code }) => code));
      if (wrong.size === 0) return DecorationSet.empty;
      return DecorationSet.create(
        state.doc,
        placed
          .filter(({ code }) => (code.kind === 'open' || code.kind === 'close') && wrong.has(code.number))
          .map(({ at }) => Decoration.node(at, at + 1, { class: 'chip-crossed' })),
      );
    },
  },
});

/** What one of our own copies says, if it is one. Another page may write the same type: it is read as strangers' words. */
function readOurs(text: string): Piece[] | undefined {
  if (text === '') return undefined;
  try {
    const read = JSON.parse(text) as unknown;
    return Array.isArray(read) && read.every(isPiece) ? read : undefined;
  } catch {
    return undefined;
  }
}

function isPiece(value: unknown): value is Piece {
  if (typeof value !== 'object' || value === null) return false;
  const { text, open, close, single, keep } = value as Record<string, unknown>;
  const number = open ?? close ?? single ?? keep;
  if (number === undefined || keep !== undefined) {
    if (typeof text !== 'string') return false;
  }
  return number === undefined || Number.isSafeInteger(number);
}
