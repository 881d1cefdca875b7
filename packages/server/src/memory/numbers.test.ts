/** Tests of the numbers that are put into the translation of a text that differs only in numbers. */
import { type Piece, plainText } from '@dragoman/documents';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { withNumbersOf } from './numbers.ts';

const text = (written: string): Piece[] => [{ text: written }];
const filled = (asked: string, source: string, target: string, to = 'es') =>
  withNumbersOf(text(asked), { source: text(source), target: text(target) }, ['en', to])?.target;

it.each([
  ['Order 48213 is here.', 'Order 51777 is here.', 'El pedido 51777 llegó.', 'El pedido 48213 llegó.'],
  ['Call 911', 'Call 112', 'Llame al 112', 'Llame al 911'],
  [
    '300 of 400, see page 120.',
    '500 of 600, see page 150.',
    '500 de 600, página 150.',
    '300 de 400, página 120.',
  ],
  ['No number.', 'No numbers.', 'Ningún número.', 'Ningún número.'],
  // The numbers are the same, so nothing is filled in.
  ['It is now -5 °C.', 'It was -5 °C.', 'Estaba a -5 °C.', 'Estaba a -5 °C.'],
  ['Come at 5 pm.', 'Go at 5 pm.', 'Ve a las 17:00.', 'Ve a las 17:00.'],
])('puts the numbers of %j into the translation of %j', (asked, source, target, expected) => {
  expect(filled(asked, source, target)).toEqual([{ text: expected }]);
});

it.each([
  ['a sign', 'It may exceed -500 m.', 'It may exceed -700 m.', 'Puede pasar de -700 m.'],
  ['a sign of its own', 'It may exceed − 500 m.', 'It may exceed − 700 m.', 'Puede pasar de − 700 m.'],
  [
    'a sign that only one of them has',
    'It may exceed -500 m.',
    'It may exceed 500 m.',
    'Puede pasar de 500 m.',
  ],
  ['a degree', 'Heat it to 200 °C.', 'Heat it to 180 °C.', 'Caliente a 180 °C.'],
  ['a short number', 'It has 3 parts.', 'It has 2 parts.', 'Tiene 2 piezas.'],
  ['a time', 'Come at 9 pm.', 'Come at 8 pm.', 'Ven a las 8 de la tarde.'],
  ['a time with minutes', 'Come at 10:30 now.', 'Come at 11:30 now.', 'Ven a las 11:30 ya.'],
  ['a superscript', 'Use 200 m² here.', 'Use 300 m² here.', 'Use 300 m² aquí.'],
  ['a fraction', 'Use 200½ cups.', 'Use 300½ cups.', 'Use 300½ tazas.'],
  ['another script', 'Call ٩١١ now', 'Call 112 now', 'Llame al 112 ya'],
  ['groups of thousands', 'It costs 1,200 dollars.', 'It costs 1,500 dollars.', 'Cuesta 1,500 dólares.'],
  ['spaced groups of thousands', 'It has 1 200 users.', 'It has 1 500 users.', 'Tiene 1 500 usuarios.'],
  ['a longer number', 'It has 25000 users.', 'It has 1000 users.', 'Tiene 1000 usuarios.'],
  ['a decimal number', 'It costs 100.50 dollars.', 'It costs 200.50 dollars.', 'Cuesta 200.50 dólares.'],
  ['an identifier', 'Model A-100 is new.', 'Model A-200 is new.', 'El modelo A-200 es nuevo.'],
  ['a leading zero', 'Room 012 is free', 'Room 013 is free', 'La sala 013 está libre'],
  ['another count of numbers', 'Order 100 of 200', 'Order 300', 'Pedido 300'],
  ['another order in the translation', 'From 300 to 400', 'From 100 to 200', 'Hasta 200 desde 100'],
  ['a number that occurs twice', 'From 300 to 400', 'From 100 to 100', 'De 100 a 100'],
  ['a number that the translation lacks', 'Order 300 now', 'Order 100 now', 'Pida cien ya'],
  ['another number in the translation', 'Order 300 now', 'Order 100 now', 'Pida 100 de 900 ya'],
  [
    'a number that the translation writes otherwise',
    'Run 300 miles',
    'Run 100 miles',
    'Corra 161 kilómetros',
  ],
  ['other words', 'Sell 300 cars', 'Buy 100 cars', 'Compre 100 coches'],
])('fills in nothing for %s', (_, asked, source, target) => {
  expect(filled(asked, source, target)).toBeUndefined();
});

it('fills in nothing when the noun after the number has another form in the target language', () => {
  const at = (count: string) =>
    filled(`It has ${count} parts`, 'It has 105 parts', 'В нём 105 деталей', 'ru');
  expect(at('106')).toEqual(text('В нём 106 деталей'));
  expect(at('102')).toBeUndefined();
});

it.each(['ca-val', 'oc_aran', 'xx'])(
  'fills in nothing for the language %s, whose noun forms are not known',
  (to) => {
    expect(filled('Order 300 now', 'Order 100 now', 'Pida 100 ya', to)).toBeUndefined();
    expect(filled('Order 100 soon', 'Order 100 now', 'Pida 100 ya', to)).toEqual(text('Pida 100 ya'));
  },
);

it('fills in nothing when a text has codes or protected words', () => {
  const source: Piece[] = [{ text: 'Call ' }, { keep: 1, text: 'Ann' }, { text: ' at 200' }];
  const stored: Piece[] = [{ text: 'Call ' }, { keep: 1, text: 'Ann' }, { text: ' at 300' }];
  const target: Piece[] = [{ text: 'Llame a ' }, { keep: 1, text: 'Ann' }, { text: ' al 300' }];
  expect(withNumbersOf(source, { source: stored, target }, ['en', 'es'])).toBeUndefined();
});

it('never returns a translation with digits that the segment does not have', () => {
  const part = fc.constantFrom(
    'from ',
    '-',
    '100',
    '250',
    ' 999',
    ' to ',
    '7',
    '.',
    ',',
    ' ',
    ':',
    '²',
    '%',
    'pm',
  );
  const phrase = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
  const digitsOf = (written: string) => (written.match(/\p{N}+/gu) ?? []).join(' ');
  fc.assert(
    fc.property(phrase, phrase, (asked, stored) => {
      // A translation that repeats its source has the numbers of the source, in its order.
      const found = filled(asked, stored, stored);
      if (found !== undefined) expect(digitsOf(plainText(found))).toBe(digitsOf(asked));
    }),
  );
});
