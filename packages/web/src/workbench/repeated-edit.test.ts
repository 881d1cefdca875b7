import { expect, it } from 'vitest';
import { repeatedEdit } from './repeated-edit.ts';

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
