import { describe, expect, it } from 'vitest';
import type { CheckId } from '../src/checks.ts';
import { found, type Row, term, verdict } from './reading.ts';

const rows = (id: CheckId, all: Row[]) =>
  describe(id, () => {
    it.each(all)(
      'automatic check reports exactly the expected findings when (%s) %j is translated as %j',
      (...row) => {
        expect(verdict(id, row)).toEqual(row[3]);
      },
    );
  });

rows('codes', [
  ['en>es', 'A <1>big</1> house', 'Una <1>gran</1> casa', []],
  ['en>es', 'A <1>big</1> <2/>house', 'Una <2/>casa <1>grande</1>', []],
  ['en>es', 'A <1>big</1> house', 'Una <1>gran casa', ['missing close 1']],
  ['en>es', 'A <1>big</1> house', 'Una gran casa', ['missing open 1', 'missing close 1']],
  ['en>es', 'Hi {3:%s}', 'Hola', ['missing keep 3 %s']],
  ['en>es', 'Hi {3:%s}', 'Hola {3:%s} {3:%s}', ['doubled keep 3 %s [%s]']],
  ['en>es', 'Hi', 'Hola <4/>', ['unknown single 4 []']],
  ['en>es', '<1>a <2>b</2></1>', '<1>a <2>b</1></2>', ['crossing close 1 []', 'crossing close 2 []']],
  ['en>es', 'a <1>b</1>', 'a </1>b<1>', ['crossing close 1 []']],
  ['en>es', 'Hi {3:%s}', 'Hola {3:%d}', ['changed keep 3 %s [%d]']],
]);

rows('empty', [
  ['en>es', 'House', 'Casa', []],
  ['en>es', 'House', '', ['']],
  ['en>es', 'House', ' \u200b\u00a0', ['']],
  ['en>es', 'House {1:%s}', '{1:%s}', ['']],
  ['en>es', '{1:%s}', '{1:%s}', []],
]);

rows('untranslated', [
  ['en>es', 'Open the door.', 'Abra la puerta.', []],
  ['en>es', 'Open the door.', 'Open  the door. ', ['']],
  ['en>es', 'open', 'open', ['']],
  ['en>es', 'Maria Sharapova', 'Maria Sharapova', []],
  ['en>es', '42 %', '42 %', []],
  ['en>es', 'https://example.com/a', 'https://example.com/a', []],
  ['en>es', 'USB', 'USB', []],
  ['en>en-gb', 'colour of the door', 'colour of the door', []],
  ['zh>ja', '打开控制台', '打开控制台', ['']],
  ['en>es', 'Use {1:%s} now', 'Use {1:%s} now', ['']],
  ['en>es', 'acme cloud', 'acme cloud', [], { terms: [term('acme cloud', '', { doNotTranslate: true })] }],
]);

rows('terms', [
  ['en>es', 'Two houses.', 'Dos casas.', [], { terms: [term('house', 'casa')] }],
  [
    'en>es',
    'Two houses, a house.',
    'Dos chalés, un chalé.',
    ['house casa'],
    { terms: [term('house', 'casa')] },
  ],
  ['en>es', 'The <1>house</1>.', 'La <1>casa</1>.', [], { terms: [term('house', 'casa')] }],
  ['en>de', 'The files.', 'Die Dateien.', [], { terms: [term('file', 'Datei')] }],
]);

rows('forbidden-terms', [
  [
    'en>es',
    'A cheap car.',
    'Un coche barato.',
    ['cheap barato [barato]'],
    { terms: [term('cheap', 'barato', { forbidden: true })] },
  ],
  ['en>es', 'A good car.', 'Un coche barato.', [], { terms: [term('cheap', 'barato', { forbidden: true })] }],
  [
    'en>es',
    'Anything.',
    'Un <1>chollo</1>.',
    ['chollo [chollo]'],
    { terms: [term('', 'chollo', { forbidden: true })] },
  ],
]);

rows('do-not-translate', [
  ['en>es', 'Acme sells.', 'Acme vende.', [], { terms: [term('Acme', '', { doNotTranslate: true })] }],
  [
    'en>es',
    'Acme sells.',
    'La cima vende.',
    ['Acme Acme'],
    { terms: [term('Acme', '', { doNotTranslate: true })] },
  ],
]);

rows('doubled-words', [
  ['en>es', 'The house.', 'La la casa.', ['la [La la]']],
  ['en>es', 'The house.', 'La casa.', []],
  ['en>es', 'Very very big.', 'Muy muy grande.', []],
  ['en>de', 'Those who know it', 'Die, die es wissen', []],
  ['en>de', 'Those who know it', 'Die die es wissen', []],
  ['en>id', 'The houses', 'Rumah rumah', []],
  ['en>ja', 'Slowly', 'ゆっくり ゆっくり', []],
  ['en>fr', 'We wash.', 'Nous nous lavons.', []],
  ['en>es', '3 3 times', '3 3 veces', []],
  ['en>es', 'The house.', 'La<1/> la casa.', []],
]);

rows('addresses', [
  ['en>es', 'See https://a.example/x.', 'Vea https://a.example/x.', []],
  [
    'en>es',
    'See https://a.example/x.',
    'Vea https://a.example/y.',
    ['missing https://a.example/x', 'unknown https://a.example/y [https://a.example/y]'],
  ],
  ['en>es', 'See {1:https://a.example/x}', 'Vea {1:https://a.example/x}', []],
  ['en>es', 'Write to us.', 'Escriba a a@b.example.', ['unknown a@b.example [a@b.example]']],
  ['en>es', 'See www.a.example!', 'Vea www.a.example', []],
]);

rows('placeholders', [
  ['en>es', 'Dear [NAME]', 'Estimado [NAME]', []],
  ['en>es', 'Dear [NAME]', 'Estimado', ['missing [NAME]']],
  ['en>es', 'Dear {1:%s}', 'Estimado {1:%s}', []],
  ['en>es', 'Hello', 'Hola {name}', ['unknown {name} [{name}]']],
  ['en>es', 'Hello', 'Hola __VAR_1__ ⟦2⟧', ['unknown __VAR_1__ [__VAR_1__]', 'unknown ⟦2⟧ [⟦2⟧]']],
  ['en>es', 'Hello', 'Hola <b>tú</b>', ['unknown <b> [<b>]', 'unknown </b> [</b>]']],
  ['en>es', 'If a < b and c > d', 'Si a < b y c > d', []],
  ['en>es', 'Write to {1:a@b.example}', 'Escriba a x@b.example', []],
]);

describe('findings for one segment', () => {
  it('contain only `empty` when there is no translation', () => {
    expect(found('en>es', 'A <1>house</1>!', '')).toEqual([
      { check: 'empty', severity: 'error', values: {} },
    ]);
  });

  it('are limited to twenty for each check', () => {
    const target = Array.from({ length: 50 }, (_, index) => `<${index + 1}/>`).join('');
    expect(found('en>es', 'House.', `Casa${target}.`)).toHaveLength(20);
  });
});
