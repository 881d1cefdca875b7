import type { Piece } from '@dragoman/documents/pieces';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { glossary } from './glossary.ts';
import type { Term } from './term.ts';

const term = (source: string, target: string, fields: Partial<Term> = {}): Term => ({
  source,
  target,
  caseSensitive: false,
  forbidden: false,
  doNotTranslate: false,
  ...fields,
});

/** Returns the words of a text that match terms of the glossary. */
const found = (text: string, terms: Term[], from: string) =>
  glossary(terms, from, 'es')
    .find(text)
    .map(({ range }) => text.slice(range.start, range.end));

describe('glossary matcher in a source text', () => {
  it.each<[from: string, text: string, sources: string[], found: string[]]>([
    ['en', 'Two houses in the greenhouse.', ['house'], ['houses']],
    ['en', 'A tree house.', ['house', 'tree house'], ['tree house']],
    ['en-GB', 'Cities and a city.', ['city'], ['Cities', 'city']],
    ['en', 'It is IT.', ['IT'], ['IT']],
    ['de', 'Die Einstellungen der Häuser.', ['Einstellung', 'Haus'], ['Einstellungen']],
    ['pl', 'W oknach i pod oknem.', ['okn'], ['oknach', 'oknem']],
    ['fr', 'Les canaux, le canal.', ['canal'], ['canaux', 'canal']],
    ['ko', '서버를 다시', ['서버'], ['서버를']],
    ['ja', 'サーバーを再起動', ['サーバー', '再起動'], ['サーバー', '再起動']],
    ['en', "Don’t panic. Don't panic.", ["don't panic"], ['Don’t panic', "Don't panic"]],
    ['en', "The house's dog", ['house’s'], ["house's"]],
    [
      'en',
      'An e‑mail, an e-mail, New\u00a0York',
      ['e-mail', 'New York'],
      ['e‑mail', 'e-mail', 'New\u00a0York'],
    ],
    ['en', 'The smart\u00adcart', ['smartcart'], ['smart\u00adcart']],
    ['en', 'A .NET app, ASP.NET.', ['.NET'], ['.NET', '.NET']],
    ['ar', 'في الملف الجديد', ['الملف'], ['الملف']],
  ])('finds the terms when the language is %s: %s', (from, text, sources, expected) => {
    const terms = sources.map((source) => term(source, 'x'));
    expect(found(text, terms, from)).toEqual(expected);
  });
});

describe('comparison of a translation with the glossary', () => {
  const terms = [
    term('house', 'casa'),
    term('House', 'hogar'),
    term('Acme', '', { doNotTranslate: true }),
    term('cheap', 'barato', { forbidden: true }),
    term('', 'chollo', { forbidden: true }),
  ];
  const text = (words: string): Piece[] => [{ text: words }];
  const compared = (source: Piece[], target: Piece[]) => {
    const { wanted, forbidden } = glossary(terms, 'en', 'es').compare(source, target);
    return [
      ...wanted.map((one) => `${one.term.source} ${one.present}`),
      ...forbidden.map((one) => one.term.target),
    ];
  };

  it.each<[source: Piece[], target: Piece[], result: string[]]>([
    [text('A house.'), text('Dos casas.'), ['house true']],
    [text('A house.'), text('Un hogar.'), ['house true']],
    [text('A house.'), text('Un chalé.'), ['house false']],
    [text('Acme is cheap.'), text('Acme es barato.'), ['Acme true', 'barato']],
    [text('Acme is good.'), text('Acme es barato: un chollo.'), ['Acme true', 'chollo']],
    [
      [{ text: 'A h' }, { open: 1 }, { text: 'ouse' }, { close: 1 }],
      [{ text: 'Una ' }, { open: 1 }, { text: 'ca' }, { close: 1 }, { text: 'sa' }],
      ['house true'],
    ],
    [
      [{ text: 'A house' }, { single: 1 }],
      [{ text: 'Una ca' }, { single: 1 }, { text: 'sa' }],
      ['house false'],
    ],
    [[{ keep: 1, text: 'house' }], [{ keep: 1, text: 'house' }], []],
  ])('reports which terms are present when %j is translated as %j', (source, target, result) => {
    expect(compared(source, target)).toEqual(result);
  });

  it.each<[to: string, target: string, text: string, present: boolean]>([
    ['de', 'Garantie', 'Die Garantiebedingungen gelten.', true],
    ['de', 'Bedingung', 'Die Garantiebedingungen gelten.', true],
    ['de', 'Reißverschluss', 'Alle Reißverschlüsse schließen.', true],
    ['de', 'kritischer Fehler', 'Wir haben keine kritischen Fehler.', true],
    ['de-AT', 'Haus', 'Drei Häuser.', true],
    ['de', 'Ei', 'Ein Eimer.', false],
    ['de', 'Garantie', 'Die Gewährleistung gilt.', false],
    ['de', 'GARANTIE', 'Die Garantiebedingungen gelten.', false],
    ['sv', 'bok', 'Böckerna ligger här.', false],
    ['nl', 'fiets', 'De fietsenstalling is vol.', true],
    ['it', 'casa bianca', 'Due case bianche.', true],
    ['ru', 'окно', 'Под окном.', true],
    ['es', 'casa', 'El casamiento.', false],
    ['ja', '設定', '定期の設備', false],
  ])(
    'decides whether an inflected form or a compound of the term is present when the language is %s: %s in %s',
    (to, target, words, present) => {
      const one = [term('house', target)];
      const { wanted } = glossary(one, 'en', to).compare(text('A house.'), text(words));
      expect(wanted.map((found) => found.present)).toEqual([present]);
    },
  );

  it('accepts a do-not-translate term only as a separate word, not as part of a compound word', () => {
    const kept = [term('Acme', '', { doNotTranslate: true, caseSensitive: true })];
    const { wanted } = glossary(kept, 'en', 'de').compare(
      text('Acme is good.'),
      text('Das Acmekonto ist gut.'),
    );
    expect(wanted.map(({ present }) => present)).toEqual([false]);
  });

  it('returns ranges in the visible text of the translation', () => {
    const { forbidden } = glossary(terms, 'en', 'es').compare(text('x'), [
      { keep: 3, text: '%s' },
      { open: 1 },
      { text: ' es un ' },
      { close: 1 },
      { text: 'chollo.' },
    ]);
    expect(forbidden[0]!.range).toEqual({ start: 9, end: 15 });
  });

  it('never throws, and returns ranges without overlaps inside the text', () => {
    const word = fc.constantFrom(
      'house',
      'houses',
      'ß',
      'İ',
      '控制',
      ' ',
      '-',
      '.',
      '\n',
      '\u0301',
      '🙂',
      'e',
      '\ud800',
    );
    const texts = fc.array(word, { maxLength: 30 }).map((words) => words.join(''));
    fc.assert(
      fc.property(texts, fc.array(fc.tuple(texts, texts), { maxLength: 5 }), (source, pairs) => {
        const given = pairs.map(([one, other]) => term(one, other));
        let end = 0;
        for (const { range } of glossary(given, 'en', 'de').find(source)) {
          expect(range.start).toBeGreaterThanOrEqual(end);
          expect(range.end).toBeGreaterThan(range.start);
          end = range.end;
        }
        expect(end).toBeLessThanOrEqual(source.length);
      }),
    );
  });
});
