import fc from 'fast-check';
import { history, redo, undo } from 'prosemirror-history';
import { Fragment, Slice } from 'prosemirror-model';
import { EditorState, TextSelection, type Transaction } from 'prosemirror-state';
import { expect, test } from 'vitest';
import { codesOf, crossed, keyOf, type Piece } from '../text/pieces.ts';
import { somePieces } from '../text/testing-pieces.ts';
import { keepCodes } from './keep-codes.ts';
import { documentOf, nodesOf, piecesOf } from './model.ts';

const begin = (pieces: Piece[], guarded = true) =>
  EditorState.create({ doc: documentOf(pieces), plugins: [history(), ...(guarded ? [keepCodes()] : [])] });

const codeKeys = (state: EditorState) => codesOf(piecesOf(state.doc)).map(keyOf).sort();

/** An edit. Its positions are fractions of the length, so that the edit applies to any document. */
type Edit =
  | { how: 'type' | 'paste'; from: number; to: number; text: string; pieces: Piece[] }
  | { how: 'undo' }
  | { how: 'redo' }
  | { how: 'everything' };

const place = fc.double({ min: 0, max: 1, noNaN: true });
const someEdit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({
    how: fc.constantFrom('type' as const, 'paste' as const),
    from: place,
    to: place,
    text: fc.constantFrom('', 'x', 'new words', 'ب'),
    pieces: somePieces,
  }),
  fc.record({ how: fc.constantFrom('undo' as const, 'redo' as const, 'everything' as const) }),
);

function apply(state: EditorState, edit: Edit): EditorState {
  let next = state;
  const dispatch = (transaction: Transaction) => {
    next = state.apply(transaction);
  };
  if (edit.how === 'undo') undo(state, dispatch);
  else if (edit.how === 'redo') redo(state, dispatch);
  else if (edit.how === 'everything') dispatch(state.tr.insertText('z', 0, state.doc.content.size));
  else {
    const size = state.doc.content.size;
    const ends = [Math.round(edit.from * size), Math.round(edit.to * size)].sort((a, b) => a - b);
    const [from, to] = ends as [number, number];
    if (edit.how === 'type') dispatch(state.tr.insertText(edit.text, from, to));
    // Pastes this whole document, or another document, whose codes may have the same numbers as codes of this
    // document.
    else if (edit.text === '') dispatch(state.tr.replace(from, to, state.doc.slice(0, size)));
    else dispatch(state.tr.replace(from, to, new Slice(Fragment.from(nodesOf(edit.pieces)), 0, 0)));
  }
  return next;
}

test('with the plugin keepCodes, edits keep all codes, and pairs stay nested', () => {
  fc.assert(
    fc.property(somePieces, fc.array(someEdit, { maxLength: 12 }), (pieces, edits) => {
      let state = begin(pieces);
      const codes = codeKeys(state);
      for (const edit of edits) {
        state = apply(state, edit);
        expect(codeKeys(state)).toEqual(codes);
        expect(crossed(codesOf(piecesOf(state.doc))).size).toBe(0);
      }
    }),
  );
});

test('without the plugin keepCodes, edits lose codes', () => {
  const lost = fc.check(
    fc.property(somePieces, fc.array(someEdit, { maxLength: 12 }), (pieces, edits) => {
      const state = begin(pieces, false);
      return codeKeys(edits.reduce(apply, state)).join() === codeKeys(state).join();
    }),
  );
  expect(lost.failed).toBe(true);
});

test('undo restores exactly the text before the edit', () => {
  fc.assert(
    fc.property(somePieces, someEdit, (pieces, edit) => {
      const state = begin(pieces);
      const edited = apply(state, edit);
      let back = edited;
      undo(edited, (transaction) => {
        back = edited.apply(transaction);
      });
      expect(piecesOf(back.doc)).toEqual(piecesOf(state.doc));
    }),
  );
});

const bold: Piece[] = [{ text: 'a ' }, { open: 1 }, { text: 'b' }, { close: 1 }, { text: ' c' }];

test('text typed over a whole segment is placed inside the outer pair of codes', () => {
  let state = begin(bold);
  state = state.apply(
    state.tr.setSelection(TextSelection.create(state.doc, 0, state.doc.content.size)).insertText('X'),
  );
  expect(piecesOf(state.doc)).toEqual([{ open: 1 }, { text: 'X' }, { close: 1 }]);
  state = state.apply(state.tr.insertText('Y'));
  expect(piecesOf(state.doc)).toEqual([{ open: 1 }, { text: 'XY' }, { close: 1 }]);
});

test('deleting the whole text of a segment leaves the caret inside the outer pair of codes', () => {
  let state = begin(bold);
  state = state.apply(state.tr.delete(0, state.doc.content.size));
  state = state.apply(state.tr.insertText('Y'));
  expect(piecesOf(state.doc)).toEqual([{ open: 1 }, { text: 'Y' }, { close: 1 }]);
});

test('an opening or closing code that an editor moves may cross another pair of codes', () => {
  const pieces: Piece[] = [
    { open: 1 },
    { text: 'a' },
    { open: 2 },
    { text: 'b' },
    { close: 2 },
    { close: 1 },
  ];
  let state = begin(pieces);
  const half = state.doc.nodeAt(5)!;
  state = state.apply(state.tr.delete(5, 6).insert(2, half));
  expect(piecesOf(state.doc)).toEqual([
    { open: 1 },
    { text: 'a' },
    { close: 1 },
    { open: 2 },
    { text: 'b' },
    { close: 2 },
  ]);
  const crossing = begin(pieces);
  const moved = crossing.apply(crossing.tr.delete(4, 5).insert(5, crossing.doc.nodeAt(4)!));
  expect(crossed(codesOf(piecesOf(moved.doc)))).toEqual(new Set([1, 2]));
});

test('text typed over a selection is placed after a code at the start of the selection and before all other codes', () => {
  const pieces: Piece[] = [{ text: 'Hi ' }, { single: 1 }, { text: ', you' }, { single: 2 }, { text: '.' }];
  const typeOver = (from: number, to: number, text: string) => {
    let state = begin(pieces);
    state = state.apply(state.tr.setSelection(TextSelection.create(state.doc, from, to)));
    for (const letter of text) state = state.apply(state.tr.insertText(letter));
    return piecesOf(state.doc);
  };
  expect(typeOver(3, 9, '!?')).toEqual([
    { text: 'Hi ' },
    { single: 1 },
    { text: '!?' },
    { single: 2 },
    { text: '.' },
  ]);
  expect(typeOver(4, 10, 'Y')).toEqual([
    { text: 'Hi ' },
    { single: 1 },
    { text: 'Y' },
    { single: 2 },
    { text: '.' },
  ]);
  // A code from inside the replaced range is put behind the typed text.
  expect(typeOver(1, 6, 'ello')).toEqual([
    { text: 'Hello' },
    { single: 1 },
    { text: 'you' },
    { single: 2 },
    { text: '.' },
  ]);
});

test('deleting a selection that starts with a code leaves the caret after this code', () => {
  let state = begin([{ text: 'Hi ' }, { single: 1 }, { text: ', you' }]);
  state = state.apply(state.tr.setSelection(TextSelection.create(state.doc, 3, 9)).deleteSelection());
  state = state.apply(state.tr.insertText('!'));
  expect(piecesOf(state.doc)).toEqual([{ text: 'Hi ' }, { single: 1 }, { text: '!' }]);
});

test('text typed over a closing code and the following words is placed outside the pair', () => {
  let state = begin([{ open: 1 }, { text: 'a' }, { close: 1 }, { text: ' b' }]);
  state = state.apply(state.tr.insertText('c', 2, 5));
  expect(piecesOf(state.doc)).toEqual([{ open: 1 }, { text: 'a' }, { close: 1 }, { text: 'c' }]);
});
