/**
 * A ProseMirror plugin that keeps all codes of a document in every edit, such as typing over the whole text,
 * a paste, a composition or an undo. It restores a lost code at its old place, and removes a doubled or
 * foreign code. Codes may be moved, because languages order their words differently.
 *
 * When restored halves of pairs cross, the plugin reorders them. A half that the editor moves may cross
 * another pair, because a correct order sometimes needs an incorrect one in between. Crossing codes are
 * marked as wrong, and the checks prevent the confirmation of the segment.
 */
import type { Node } from 'prosemirror-model';
import {
  type EditorState,
  NodeSelection,
  Plugin,
  type Selection,
  TextSelection,
  type Transaction,
} from 'prosemirror-state';
import { Mapping } from 'prosemirror-transform';
import { type Code, crossed, keyOf, nested } from '../text/pieces.ts';
import { codeAt, nodeOf, placedCodes } from './model.ts';

type Placed = { code: Code; at: number };
/**
 * A code to put back. `place` says where the code stood in the replaced text: at its start, inside it, or at
 * its end.
 */
type Restored = Placed & { place: 'start' | 'inside' | 'end' };

/**
 * The metadata key under which a transaction lists the codes that stood inside the replaced text and were put
 * behind the new text. The value is an array of `Code`.
 */
export const MOVED_CODES = 'moved codes';
/**
 * The metadata key under which a transaction lists all codes that it put back. The value is an array of
 * `Code`.
 */
export const RESTORED_CODES = 'restored codes';

export function keepCodes(): Plugin {
  return new Plugin({
    appendTransaction(transactions, before, after) {
      if (!transactions.some((transaction) => transaction.docChanged)) return null;
      const mapping = new Mapping();
      for (const transaction of transactions) mapping.appendMapping(transaction.mapping);
      return guard(before.doc, after, mapping);
    },
  });
}

function guard(old: Node, after: EditorState, mapping: Mapping): Transaction | null {
  const before = placedCodes(old);
  const wasNested = crossed(before.map(({ code }) => code)).size === 0;
  const { surplus, lost } = compare(before, placedCodes(after.doc), mapping);
  if (surplus.length === 0 && lost.length === 0) return null;

  const gone = new Set(lost.map(({ code }) => keyOf(code)));
  const restored = lost.map(({ code, at }): Restored => {
    const place = placeOf(code, at, old, mapping, gone);
    return { code, place, at: place === 'start' ? mapping.map(at, -1) : mapping.map(at + 1, 1) };
  });
  restored.sort((one, other) => one.at - other.at);

  const transaction = after.tr;
  const caret = after.selection.empty ? after.selection.head : undefined;
  // Edits are applied from the end of the text to its beginning, so that earlier positions stay valid. At the
  // same position, removals come before insertions.
  const edits = [...restored, ...surplus.map(({ at }) => ({ at, code: undefined }))];
  edits.sort((one, other) => one.at - other.at);
  for (const edit of edits.reverse()) {
    if (edit.code) transaction.insert(edit.at, nodeOf(edit.code));
    else transaction.delete(edit.at, edit.at + 1);
  }
  if (wasNested) nest(transaction);
  if (caret !== undefined) {
    const removed = surplus.filter(({ at }) => at < caret).length;
    const place = caret + countBefore(restored, caret) - removed;
    transaction.setSelection(TextSelection.create(transaction.doc, place));
  }
  const moved = restored.filter(({ place }) => place === 'inside').map(({ code }) => code);
  if (moved.length > 0) transaction.setMeta(MOVED_CODES, moved);
  if (restored.length > 0)
    transaction.setMeta(
      RESTORED_CODES,
      restored.map(({ code }) => code),
    );
  return transaction;
}

/**
 * Returns where a lost code stood in the replaced text. A selection of whole words often includes the code in front of
 * the words. Such a code counts as standing at the start, so that it stays in front of the new text. The same applies
 * to an opening code whose closing code was lost too, so that the new text is inside the pair.
 */
function placeOf(
  code: Code,
  at: number,
  old: Node,
  mapping: Mapping,
  gone: ReadonlySet<string>,
): Restored['place'] {
  const hasLostHalf = (kind: 'open' | 'close') => gone.has(keyOf({ ...code, kind }));
  if (code.kind === 'open') {
    return hasLostHalf('close') || !reaches('end', at, old, mapping, gone) ? 'start' : 'end';
  }
  if (code.kind === 'close' && hasLostHalf('open')) return 'end';
  if (reaches('start', at, old, mapping, gone)) return 'start';
  return reaches('end', at, old, mapping, gone) ? 'end' : 'inside';
}

/** Returns true if only lost codes stand between the lost code at `at` and the given end of the replaced text. */
function reaches(
  end: 'start' | 'end',
  at: number,
  old: Node,
  mapping: Mapping,
  gone: ReadonlySet<string>,
): boolean {
  const step = end === 'start' ? -1 : 1;
  for (let place = at; ; place += step) {
    const node = old.nodeAt(place);
    if (!node || node.isText || !gone.has(keyOf(codeAt(node)))) {
      const border = end === 'start' ? place + 1 : place;
      const { deletedBefore, deletedAfter } = mapping.mapResult(border, step);
      return end === 'start' ? !deletedBefore : !deletedAfter;
    }
    if (place === 0 && end === 'start') return true;
  }
}

/**
 * Counts the restored codes that belong before the caret. Of the codes at the caret's position, those that stood at the
 * start of the replaced text belong before it.
 */
function countBefore(restored: readonly Restored[], caret: number): number {
  const here = restored.filter(({ at }) => at === caret);
  return (
    restored.filter(({ at }) => at < caret).length + here.findLastIndex(({ place }) => place === 'start') + 1
  );
}

/** Returns the codes that an edit lost, with their old places, and its surplus codes, with their new places. */
function compare(before: Placed[], now: Placed[], mapping: Mapping): { surplus: Placed[]; lost: Placed[] } {
  const had = new Map(before.map((placed) => [keyOf(placed.code), placed]));
  const has = Map.groupBy(now, ({ code }) => keyOf(code));
  const surplus: Placed[] = [];
  for (const [key, copies] of has) {
    const old = had.get(key);
    if (!old) surplus.push(...copies);
    else if (copies.length > 1) {
      // If the text has several copies of a code, the copy that stayed in place is kept.
      const stayed = mapping.mapResult(old.at, 1);
      const kept = copies.find(({ at }) => !stayed.deletedAfter && at === stayed.pos) ?? copies[0];
      surplus.push(...copies.filter((copy) => copy !== kept));
    }
  }
  return { surplus, lost: before.filter(({ code }) => !has.has(keyOf(code))) };
}

function nest(transaction: Transaction): void {
  const placed = placedCodes(transaction.doc);
  const right = nested(placed.map(({ code }) => code));
  placed.forEach(({ code, at }, index) => {
    const wanted = right[index]!;
    if (keyOf(wanted) !== keyOf(code)) transaction.replaceWith(at, at + 1, nodeOf(wanted));
  });
}

/** Returns the code directly before (-1) or after (1) the caret. */
export function codeAtCaret(state: EditorState, direction: -1 | 1): Placed | undefined {
  const { $head, empty } = state.selection;
  if (!empty) return undefined;
  const node = direction === -1 ? $head.nodeBefore : $head.nodeAfter;
  if (!node || node.isText) return undefined;
  return { code: codeAt(node), at: direction === -1 ? $head.pos - 1 : $head.pos };
}

/** Returns the code that is selected as a whole. */
export function selectedCode(selection: Selection): Placed | undefined {
  return selection instanceof NodeSelection
    ? { code: codeAt(selection.node), at: selection.from }
    : undefined;
}
