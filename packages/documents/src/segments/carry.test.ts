import { expect, test } from 'vitest';
import { carryOver, type Piece, rebuild, scan, segments } from '../documents.ts';

/** Delivers a text whose segments were other ones when an editor translated them. */
function delivered(text: string, former: Former[]): string {
  const document = scan(text, 'text');
  let next = 0;
  const segmentsThen = former.map(([source, target, count = 1]) => {
    const id = `0.${next}`;
    next += count;
    return { id, source, target, count };
  });
  const carried = carryOver(segments(document, 'en'), segmentsThen, 'es');
  return rebuild(document, carried ?? new Map(), 'es');
}
type Former = [source: Piece[], target: Piece[] | undefined, count?: number];
const text = (words: string): Piece => ({ text: words });

test.each<[string, string, Former[], string]>([
  [
    'whose words are protected now',
    'Open JavaScript or house.png now',
    [[[text('Open JavaScript or house.png now')], [text('Abre ahora house.png o JavaScript')]]],
    'Abre ahora house.png o JavaScript',
  ],
  [
    'whose codes have other numbers now',
    'Use iPhone and {name}',
    [
      [
        [text('Use iPhone and '), { keep: 1, text: '{name}' }],
        [{ keep: 1, text: '{name}' }, text(' y usa iPhone')],
      ],
    ],
    '{name} y usa iPhone',
  ],
  [
    'that is several ones now, as its translation is',
    'Color: Red | Size: Big',
    [[[text('Color: Red | Size: Big')], [text('Color: rojo | Talla: grande')]]],
    'Color: rojo | Talla: grande',
  ],
  [
    'that is several ones now, unlike its translation',
    'The house | The dog',
    [[[text('The house | The dog')], [text('La casa y el perro')]]],
    'La casa y el perro | ',
  ],
  [
    'that was several ones',
    'Los EE. UU. son',
    [
      [[text('Los EE.')], [text('The US')]],
      [[text('UU. son')], [text('are')]],
    ],
    'The US are',
  ],
  [
    'after one that is code now',
    '```\nfor x\n```\nThe house',
    [
      [[text('for x')], [text('para x')]],
      [[text('The house')], [text('La casa')]],
    ],
    '```\nfor x\n```\nLa casa',
  ],
  [
    'whose list mark divides it now',
    'a) First item',
    [[[text('a) First item')], [text('a) Primer elemento')]]],
    'a) a) Primer elemento',
  ],
  [
    'with a control tag',
    '{% if x %}The house{% endif %}',
    [
      [
        [{ keep: 1, text: '{% if x %}' }, text('The house'), { keep: 2, text: '{% endif %}' }],
        [{ keep: 1, text: '' }, text('La casa'), { keep: 2, text: '' }],
      ],
    ],
    '{% if x %}La casa{% endif %}',
  ],
  [
    'that was joined with another',
    'Red | Big. One here. Two here.',
    [
      [[text('Red | Big.')], [text('Rojo | Grande.')]],
      [[text('One here. Two here.')], [text('Uno aquí y dos aquí.')], 2],
    ],
    'Rojo | Grande. Uno aquí y dos aquí. ',
  ],
  ['without a translation', 'The house', [[[text('The house')], undefined]], 'The house'],
])('a translation is carried over to a segment %s', (_, source, former, wanted) => {
  expect(delivered(source, former)).toBe(wanted);
});
