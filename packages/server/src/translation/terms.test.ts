import type { Piece } from '@dragoman/documents';
import type { Term } from '@dragoman/engines';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGlossary } from './terms.ts';

const term = (source: string, target: string, fields: Partial<Term> = {}): Term => ({
  source,
  target,
  caseSensitive: false,
  forbidden: false,
  doNotTranslate: false,
  ...fields,
});

/** Returns the text with its terms replaced, as if an engine had translated nothing else. */
function through(text: string, terms: Term[], from = 'en', to = 'es'): string {
  const placed = createGlossary(terms, from, to).put([{ text }]);
  return placed
    .take(placed.pieces)
    .map((piece) => ('text' in piece ? piece.text : ''))
    .join('');
}

describe('the glossary', () => {
  it.each<[what: string, text: string, terms: Term[], result: string]>([
    ['a word', 'The house is big.', [term('house', 'casa')], 'The casa is big.'],
    [
      'the longest',
      'A tree house here.',
      [term('house', 'casa'), term('tree house', 'cabaña')],
      'A cabaña here.',
    ],
    [
      'the left one of two that overlap',
      'big tree house',
      [term('tree house', 'B'), term('big tree', 'A')],
      'A house',
    ],
    [
      'not a part of a word',
      'The greenhouse, a household.',
      [term('house', 'casa')],
      'The greenhouse, a household.',
    ],
    [
      'an ending',
      'Two houses and three cities.',
      [term('house', 'casa'), term('city', 'ciudad')],
      'Two casa and three ciudad.',
    ],
    [
      'an ending only where it can be one',
      'He cares: boxes, planes, rates; the princess goes.',
      [term('car', 'X'), term('box', 'caja'), term('plan', 'X'), term('rat', 'X'), term('princes', 'X')],
      'He cares: caja, planes, rates; the princess goes.',
    ],
    ['a word in another Unicode form', 'A cafe\u0301.', [term('caf\u00e9', 'bar')], 'A bar.'],
    ['no ending that is none', 'A party of partners.', [term('part', 'pieza')], 'A party of partners.'],
    ['a capital at the start', 'Houses burn.', [term('house', 'casa')], 'Casa burn.'],
    ['capitals throughout', 'HOUSE RULES', [term('house', 'casa')], 'CASA RULES'],
    ['an abbreviation only as it is written', 'It is IT.', [term('IT', 'TI')], 'It is TI.'],
    [
      'case where it matters',
      'a Window, a window',
      [term('Window', 'Ventana', { caseSensitive: true })],
      'a Ventana, a window',
    ],
    [
      'a hyphen and spaces',
      'state-of-the-art  work',
      [term('state-of-the-art work', 'obra moderna')],
      'obra moderna',
    ],
    ['signs', 'C++ and C', [term('C++', 'ce más más')], 'ce más más and C'],
    [
      'what is not to be translated',
      'Open the Console.',
      [term('console', '', { doNotTranslate: true })],
      'Open the Console.',
    ],
    [
      'nothing of what is forbidden',
      'The house.',
      [term('house', 'hogar', { forbidden: true })],
      'The house.',
    ],
  ])('replaces a term, or leaves it in the text: %s', (_what, text, terms, result) => {
    expect(through(text, terms)).toBe(result);
  });

  it.each([
    ['zh', '请打开控制台窗口。', [term('控制台', 'console'), term('控制', 'control')], '请打开console窗口。'],
    ['ja', 'サーバーを再起動します。', [term('サーバー', 'server')], 'serverを再起動します。'],
    ['ko', '서버를 다시 시작합니다.', [term('서버', 'server')], 'server 다시 시작합니다.'],
    [
      'ko',
      '서버들은 물론 서버실에 물이 있다.',
      [term('서버', 'server'), term('물', 'water')],
      'server 물론 서버실에 water 있다.',
    ],
    ['ru', 'Мы открыли окна.', [term('окно', 'window'), term('окн', 'pane')], 'Мы открыли pane.'],
  ])('finds terms in a text in %s', (from, text, terms, result) => {
    expect(through(text, terms, from, 'en')).toBe(result);
  });

  const [b, i] = [1, 2];
  it.each<[what: string, source: Piece[], sent: Piece[]]>([
    [
      'inside it',
      [{ text: 'In New ' }, { open: b }, { text: 'York' }, { close: b }, { text: ' now.' }],
      [{ text: 'In ' }, { open: b }, { keep: 1, text: 'New York' }, { close: b }, { text: ' now.' }],
    ],
    [
      'that begins inside it',
      [{ text: 'New ' }, { open: b }, { text: 'York is big' }, { close: b }],
      [{ open: b }, { keep: 1, text: 'New York' }, { text: ' is big' }, { close: b }],
    ],
    [
      'that ends inside it',
      [{ open: b }, { text: 'In New' }, { close: b }, { text: ' York.' }],
      [{ open: b }, { text: 'In ' }, { keep: 1, text: 'New York' }, { close: b }, { text: '.' }],
    ],
    [
      'twice',
      [
        { open: b },
        { text: 'New' },
        { close: b },
        { text: ' ' },
        { open: i },
        { text: 'York' },
        { close: i },
      ],
      [{ open: b }, { open: i }, { keep: 1, text: 'New York' }, { close: i }, { close: b }],
    ],
    [
      'that could not stay nested, and leaves it',
      [{ open: b }, { text: 'New' }, { close: b }, { text: ' ' }, { single: 3 }, { text: 'York' }],
      [{ open: b }, { text: 'New' }, { close: b }, { text: ' ' }, { single: 3 }, { text: 'York' }],
    ],
    [
      'crossing tags, and leaves it',
      [{ open: b }, { text: 'In New ' }, { close: b }, { open: i }, { text: 'York now' }, { close: i }],
      [{ open: b }, { text: 'In New ' }, { close: b }, { open: i }, { text: 'York now' }, { close: i }],
    ],
  ])('replaces a term with a tag %s', (_what, source, sent) => {
    const placed = createGlossary([term('New York', 'Nueva York')], 'en', 'es').put(source);
    const withoutEmpty = placed.pieces.filter((piece) => !('text' in piece) || piece.text !== '');
    expect(withoutEmpty).toEqual(sent);
    const texts = placed.take(placed.pieces).map((piece) => ('text' in piece ? piece.text : ''));
    if (sent.some((piece) => 'keep' in piece)) expect(texts.join('')).toContain('Nueva York');
  });

  it('causes a note when the text has an inflected form of a term instead of the form in the glossary', () => {
    const glossary = createGlossary([term('house', 'casa')], 'en', 'es');
    expect(glossary.put([{ text: 'Two houses.' }]).notes).toEqual(['term not inflected: house']);
    expect(glossary.put([{ text: 'One house.' }]).notes).toEqual([]);
  });

  it('replaces neither protected words nor a term that a single code divides', () => {
    const pieces: Piece[] = [{ text: 'big ' }, { single: 1 }, { text: 'house' }, { keep: 4, text: 'house' }];
    const placed = createGlossary([term('house', 'casa'), term('big house', 'mansión')], 'en', 'es').put(
      pieces,
    );
    expect(placed.pieces).toEqual([
      { text: 'big ' },
      { single: 1 },
      { keep: 5, text: 'house' },
      { keep: 4, text: 'house' },
    ]);
    expect(placed.take(placed.pieces)[2]).toEqual({ text: 'casa' });
  });

  it('preserves every character, whatever the text and the terms are', () => {
    const word = fc.constantFrom(
      'house',
      'houses',
      'big',
      'ß',
      'İ',
      '控制',
      ' ',
      '-',
      '.',
      '\n',
      '́',
      '🙂',
      'e',
    );
    const texts = fc.array(word, { maxLength: 30 }).map((words) => words.join(''));
    const terms = fc.array(fc.tuple(texts, texts), { maxLength: 5 });
    fc.assert(
      fc.property(texts, terms, (text, given) => {
        const all = given.map(([source, target]) => term(source, target));
        const { pieces } = createGlossary(all, 'en', 'es').put([{ text }]);
        expect(pieces.map((piece) => ('text' in piece ? piece.text : '')).join('')).toBe(text);
      }),
    );
  });
});

describe('the glossary check of a draft', () => {
  const glossary = createGlossary(
    [
      term('house', 'casa'),
      term('Acme', '', { doNotTranslate: true }),
      term('cheap', 'barato', { forbidden: true }),
      term('', 'chollo', { forbidden: true }),
    ],
    'en',
    'es',
  );
  it.each<[string, string, string[]]>([
    ['The house.', 'La casa.', []],
    ['The houses.', 'Las casas.', []],
    ['The house.', 'El hogar.', ['term missing: casa']],
    ['Acme sells.', 'Acme vende.', []],
    ['Acme sells.', 'La cima vende.', ['term missing: Acme']],
    ['A cheap car.', 'Un coche barato.', ['term forbidden: barato']],
    ['A good car.', 'Un coche barato.', []],
    ['A good car.', 'Un chollo.', ['term forbidden: chollo']],
    ['No terms.', 'Sin términos.', []],
  ])('finds for the source “%s” and the draft “%s” the notes %j', (source, reply, notes) => {
    expect(glossary.check([{ text: source }], [{ text: reply }])).toEqual(notes);
  });
});
