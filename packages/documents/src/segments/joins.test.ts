import { describe, expect, test } from 'vitest';
import { type Format, join, type Piece, plainText, rebuild, scan, segments } from '../documents.ts';

/** Joins the first `counts.length` parts of a text, each with a translation in capitals. */
function joined(text: string, counts: readonly number[], format: Format = 'html', first = 0) {
  const document = scan(text, format, { targetLanguage: 'es' });
  const found = segments(document, 'en').slice(first);
  const parts = counts.map((count, index) => ({ count, texts: [capitals(found[index]!.pieces)] }));
  const result = join(document, 'en', found[0]!.id, parts);
  if (typeof result === 'string') return result;
  const [target] = result.texts;
  const count = counts.reduce((sum, one) => sum + one, 0);
  const back = (pieces: Piece[]) =>
    rebuild(document, new Map([[found[0]!.id, pieces]]), 'es', { joins: new Map([[found[0]!.id, count]]) });
  return { ...result, target: target!, back };
}

const capitals = (pieces: readonly Piece[]): Piece[] =>
  pieces.map((piece) => ('text' in piece && !('keep' in piece) ? { text: piece.text.toUpperCase() } : piece));

describe('joined segments', () => {
  test.each([
    ['text', 'One dog. Two cats.\nThree.', 'ONE DOG. TWO CATS.\nThree.'],
    ['html', '<p>One dog.  <b>Two cats.</b>\n Three.</p>', '<p>ONE DOG.  <b>TWO CATS.</b>\n Three.</p>'],
    ['html', '<p><i>One dog.</i>\n<b>Two cats.</b></p>', '<p><i>ONE DOG.</i>\n<b>TWO CATS.</b></p>'],
    // Each half of the pair is in another segment before the join.
    ['html', '<p>One <b>dog. Two</b> cats.</p>', '<p>ONE <b>DOG. TWO</b> CATS.</p>'],
    ['html', '<p>One dog. 12! <img> Two cats.</p>', '<p>ONE DOG. 12! <img> TWO CATS.</p>'],
    ['html', '<p>One {{dog}}. Two {{cats}}.</p>', '<p>ONE {{dog}}. TWO {{cats}}.</p>'],
  ] as [Format, string, string][])('keep what stands between them in %s: %s', (format, text, wanted) => {
    const result = joined(text, [1, 1], format);
    if (typeof result === 'string') throw new Error(result);
    expect(result.back(result.target)).toBe(wanted);
    expect(result.back([...result.source])).toBe(text);
  });

  test('take a text whose sentences and tags are in another order', () => {
    const result = joined('<p>One dog. See <a href="/x">two cats</a>. Three.</p>', [1, 1]);
    if (typeof result === 'string') throw new Error(result);
    expect(plainText(result.source)).toBe('One dog. See two cats.');
    expect(result.codes).toEqual({ open1: '<a href="/x">', close1: '</a>' });
    expect(result.back([{ open: 1 }, { text: 'Dos gatos' }, { close: 1 }, { text: ' y un perro.' }])).toBe(
      '<p><a href="/x">Dos gatos</a> y un perro. Three.</p>',
    );
  });

  test('are joined with the next one again', () => {
    const result = joined('One dog. Two cats. Three. Four.', [1, 1, 1], 'text', 1);
    if (typeof result === 'string') throw new Error(result);
    expect(result.back(result.target)).toBe('One dog. TWO CATS. THREE. FOUR.');
    expect(plainText(result.source)).toBe('Two cats. Three. Four.');
    const whole = joined('One <b>dog. Two</b> cats. Three.', [2, 1]);
    // The first part is a joined segment, whose pair of tags is whole.
    expect(whole).toMatchObject({ source: [{ text: 'One ' }, { open: 1 }, {}, { close: 1 }, {}] });
  });

  const unit = (source: string) =>
    `<xliff version="1.2"><file original="f" source-language="en" datatype="plaintext"><body><trans-unit id="1">${source}</trans-unit></body></file></xliff>`;
  test('are possible in an XLIFF unit that is not segmented', () => {
    const result = joined(unit('<source>One. <g id="1">Two.</g></source>'), [1, 1], 'xliff');
    if (typeof result === 'string') throw new Error(result);
    expect(result.back(result.target)).toContain('>ONE. <g id="1">TWO.</g></target>');
  });

  const seg =
    '<seg-source><mrk mtype="seg" mid="1">One.</mrk> <mrk mtype="seg" mid="2">Two.</mrk></seg-source>';
  test.each([
    ['paragraph', 'text', 'One.\nTwo.'],
    ['paragraph', 'html', '<p>One.<br>Two.</p>'],
    ['paragraph', 'html', '<p>One.</p><p>Two.</p>'],
    ['customer', 'xliff', unit(`<source>One. Two.</source>${seg}`)],
    [
      'length',
      'text',
      `${'One and two. '.repeat(80)}Two ${'words '.repeat(240)}. And ${'more '.repeat(240)}.`,
    ],
  ] as [string, Format, string][])('are refused because of %s in %s', (fault, format, text) => {
    const counts = fault === 'length' ? Array.from({ length: 82 }, () => 1) : [1, 1];
    expect(joined(text, counts, format)).toBe(fault);
  });
});
