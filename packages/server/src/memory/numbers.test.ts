/** Tests of numbers in translations of similar texts. */
import { expect, it } from 'vitest';
import { withNumbersOf } from './numbers.ts';

const filled = (asked: string, source: string, target: string) =>
  withNumbersOf([{ text: asked }], { source: [{ text: source }], target: [{ text: target }] })?.target;

it.each([
  [
    'Order 12 has 3 parts.',
    'Order 7 has 2 parts.',
    'El pedido 7 tiene 2 piezas.',
    'El pedido 12 tiene 3 piezas.',
  ],
  ['Swap 2 and 1.', 'Swap 1 and 2.', 'Cambia 1 por 2.', 'Cambia 2 por 1.'],
  ['From 8:30 to 9.', 'From 7:15 to 9.', 'De 7:15 a 9.', 'De 8:30 a 9.'],
  ['No number.', 'No numbers.', 'Ningún número.', 'Ningún número.'],
  ['Room 4, 4 beds.', 'Room 3, 3 beds.', 'Cuarto 3, 3 camas.', 'Cuarto 4, 4 camas.'],
])('puts the numbers of %j into the translation of %j', (asked, source, target, expected) => {
  expect(filled(asked, source, target)).toEqual([{ text: expected }]);
});

it.each([
  ['another count of numbers', 'Order 12.', 'Order 7 of 8.', 'Pedido 7 de 8.'],
  ['a number that the target writes as a word', 'It has 3 parts.', 'It has 2 parts.', 'Tiene dos piezas.'],
  ['a number that the target has more often', 'It has 3 parts.', 'It has 2 parts.', 'Tiene 2 piezas (2).'],
  ['one number that would become two', 'Room 4, 5 beds.', 'Room 3, 3 beds.', 'Cuarto 3, 3 camas.'],
  ['a number in the format of the other language', 'It costs 2.5.', 'It costs 1.5.', 'Cuesta 1,5.'],
  ['other separators', 'It costs 2.5.', 'It costs 1.', 'Cuesta 1.'],
])('returns nothing for %s', (_, asked, source, target) => {
  expect(filled(asked, source, target)).toBeUndefined();
});

it('leaves protected words alone', () => {
  const source = [{ text: 'Call ' }, { keep: 1, text: '7' }, { text: ' at 8.' }];
  const stored = [{ text: 'Call ' }, { keep: 1, text: '7' }, { text: ' at 7.' }];
  const target = [{ text: 'A las 7, llame a ' }, { keep: 1, text: '7' }];
  expect(withNumbersOf(source, { source: stored, target })?.target).toEqual([
    { text: 'A las 8, llame a ' },
    { keep: 1, text: '7' },
  ]);
});
