import { expect, it } from 'vitest';
import { repeatedEdit, wholeEdit } from './repeated-edit.ts';

const BEFORE = [{ text: 'One ' }, { open: 1 }, { text: 'dog' }, { close: 1 }, { text: '.' }];
/** The codes have other numbers, and another sentence follows. */
const NOW = [{ text: 'One ' }, { open: 3 }, { text: 'dog' }, { close: 3 }, { text: '. Two cats.' }];

it('an edit of the text is repeated at the same place of the longer text', () => {
  const typed = [...BEFORE.slice(0, 2), { text: 'big dog' }, ...BEFORE.slice(3)];
  expect(repeatedEdit(BEFORE, typed, NOW)).toEqual({ from: 5, to: 5, text: 'big ' });
  const ended = [...BEFORE.slice(0, 4), { text: '.!' }];
  expect(repeatedEdit(BEFORE, ended, NOW)).toEqual({ from: 10, to: 10, text: '!' });
  const removed = [{ text: 'One' }, ...BEFORE.slice(1)];
  expect(repeatedEdit(BEFORE, removed, NOW)).toEqual({ from: 3, to: 4, text: '' });
});

it('nothing is repeated without an edit, after a moved code, or in another text', () => {
  expect(repeatedEdit(BEFORE, BEFORE, NOW)).toBeUndefined();
  const moved = [{ open: 1 }, { text: 'One dog' }, { close: 1 }, { text: '.' }];
  expect(repeatedEdit(BEFORE, moved, NOW)).toBeUndefined();
  const typed = [{ text: 'Only ' }, ...BEFORE.slice(1)];
  expect(repeatedEdit(BEFORE, typed, [{ text: 'One dog.' }])).toBeUndefined();
});

it('an edit is repeated at the same place of the text with other cuts', () => {
  const old = [{ text: 'One dog; two cats.' }];
  const split = [{ text: 'One dog; ' }, { cut: 1 }, { text: 'two cats.' }];
  const edits: [string, object][] = [
    ['One big dog; two cats.', { from: 4, to: 4, text: 'big ' }],
    ['One dog; two cats.!', { from: 19, to: 19, text: '!' }],
    ['One dog; the cats.', { from: 11, to: 13, text: 'he' }],
    ['One dog;two cats.', { from: 8, to: 9, text: '' }],
    ['One dog; wo cats.', { from: 10, to: 11, text: '' }],
    ['Ja', { from: 0, to: 19, text: 'Ja' }],
  ];
  for (const [text, edit] of edits) expect(repeatedEdit(old, [{ text }], split)).toEqual(edit);
  const typed = [...split.slice(0, 2), { text: 'two cats!' }];
  expect(repeatedEdit(split, typed, old)).toEqual({ from: 17, to: 18, text: '!' });
  // A cut that was moved is no edit of the text.
  const moved = [{ text: 'One ' }, { cut: 1 }, { text: 'dog; two cats.' }];
  expect(repeatedEdit(split, moved, old)).toBeUndefined();
});

it('an edit that moves codes of a split text takes the place of the whole text', () => {
  const split = [...BEFORE, { cut: 1 }];
  const moved = [{ open: 1 }, { text: 'One dog' }, { close: 1 }, { text: '.' }];
  expect(wholeEdit(BEFORE, moved, split)).toEqual(moved);
  expect(wholeEdit(split, [...moved, { cut: 1 }], BEFORE)).toEqual(moved);
  expect(wholeEdit(BEFORE, split, BEFORE)).toBeUndefined();
  expect(wholeEdit(BEFORE, moved, NOW)).toBeUndefined();
});
