/**
 * The guard of the codes. Whatever an edit does (typing over everything, a paste, a composition, an undo), the document
 * holds the same codes afterwards: one that would be lost is put back where it stood, one that came twice or from
 * elsewhere is taken out. Moving is allowed, for languages order their words differently.
 *
 * A half of a pair that is put back may come to stand wrongly; then the places are dealt out anew. A half that somebody
 * moves is left where they want it, though it crosses another: the way to a right order may lead through a wrong one.
 * Chips that cross are drawn as wrong, and the checks keep such a segment from being confirmed.
 */
import { type EditorState, Plugin, TextSelection, type Transaction } from 'prosemirror-state';
import { Mapping } from 'prosemirror-transform';
import { codeAt, nodeOf, placedCodes } from './model.ts';
import { type Code, crossed, keyOf, nested } from './pieces.ts';

type Placed = { code: Code; at: number };

export function keepCodes(): Plugin {
  return new Plugin({
    appendTransaction(transactions, before, after) {
      if (!transactions.some((transaction) => transaction.docChanged)) return null;
      const mapping = new Mapping();
      for (const transaction of transactions) mapping.appendMapping(transaction.mapping);
      return guard(placedCodes(before.doc), after, mapping);
    },
  });
}

function guard(before: Placed[], after: EditorState, mapping: Mapping): Transaction | null {
  const wasNested = crossed(before.map(({ code }) => code)).size === 0;
  const { surplus, lost } = compare(before, placedCodes(after.doc), mapping);
  if (surplus.length === 0 && lost.length === 0) return null;

  const back = lost.map(({ code, at }) => ({
    code,
    // What opens stands before what was typed in its place; everything else after it.
    at: code.kind === 'open' ? mapping.map(at, -1) : mapping.map(at + 1, 1),
  }));
  back.sort((one, other) => one.at - other.at);

  const transaction = after.tr;
  const caret = after.selection.empty ? after.selection.head : undefined;
  // From the end to the beginning; in one place, what is too many goes before anything comes.
  const edits = [...back, ...surplus.map(({ at }) => ({ at, code: undefined }))];
  edits.sort((one, other) => one.at - other.at);
  for (const edit of edits.reverse()) {
    if (edit.code) transaction.insert(edit.at, nodeOf(edit.code));
    else transaction.delete(edit.at, edit.at + 1);
  }
  if (wasNested) nest(transaction);
  if (caret !== undefined) {
    const gone = surplus.filter(({ at }) => at < caret).length;
    const place = caret + standBefore(back, caret) - gone;
    transaction.setSelection(TextSelection.create(transaction.doc, place));
  }
  return transaction;
}

/** How many of the codes put back stand before the caret: of those at its very place, the ones up to the last that opens. */
function standBefore(back: readonly Placed[], caret: number): number {
  const here = back.filter(({ at }) => at === caret);
  return (
    back.filter(({ at }) => at < caret).length + here.findLastIndex(({ code }) => code.kind === 'open') + 1
  );
}

/** The codes that an edit lost, with their old places, and those that it has too many, with their new ones. */
function compare(before: Placed[], now: Placed[], mapping: Mapping): { surplus: Placed[]; lost: Placed[] } {
  const had = new Map(before.map((placed) => [keyOf(placed.code), placed]));
  const has = Map.groupBy(now, ({ code }) => keyOf(code));
  const surplus: Placed[] = [];
  for (const [key, copies] of has) {
    const old = had.get(key);
    if (!old) surplus.push(...copies);
    else if (copies.length > 1) {
      // The one that stayed is the code; the others are copies of it.
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

/** Whether a place is just before or just behind a code. */
export function codeBeside(state: EditorState, direction: -1 | 1): { code: Code; at: number } | undefined {
  const { $head, empty } = state.selection;
  if (!empty) return undefined;
  const node = direction === -1 ? $head.nodeBefore : $head.nodeAfter;
  if (!node || node.isText) return undefined;
  return { code: codeAt(node), at: direction === -1 ? $head.pos - 1 : $head.pos };
}
