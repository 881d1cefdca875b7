import { expect, describe as group, it } from 'vitest';
import { describe, type Format, plainText, scan, segments } from '../documents.ts';

/** Returns the descriptions of all segments. First checks that they match the segments that an engine gets. */
function described(text: string, format: Format) {
  const ids = segments(scan(text, format, { sourceLanguage: 'en' }), 'en').map(({ id }) => id);
  const descriptions = describe(scan(text, format, { sourceLanguage: 'en' }), 'en');
  expect(descriptions.map(({ id }) => id)).toEqual(ids);
  return descriptions;
}

group('the description of a segment', () => {
  it('segment description has the markup of the codes in its own unit, even if another unit has a code with the same number', () => {
    const page = '<p>A <b class="x">big</b> house, {{name}}.</p><p>A <i>red</i><br>one.</p>';
    expect(described(page, 'html')).toMatchObject([
      { unit: 0, codes: { open1: '<b class="x">', close1: '</b>', keep2: '{{name}}' } },
      { unit: 1, codes: { open1: '<i>', close1: '</i>' } },
      { unit: 1, codes: {} },
    ]);
  });

  it('segment description truncates long codes, but never inside a surrogate pair', () => {
    const [one] = described(`<p>A <a href="/${'x'.repeat(191)}😀">house</a> here.</p>`, 'html');
    expect(one!.codes.open1).toHaveLength(201);
    expect(one!.codes.open1!.isWellFormed()).toBe(true);
  });

  it('segment description has the display time of a subtitle, from its first cue to its last', () => {
    const subtitles =
      '1\n00:00:01,000 --> 00:00:03,500\nThe train leaves at ten,\n\n2\n00:00:03,700 --> 00:00:06,000\nand the city is <i>big</i>.\n';
    expect(described(subtitles, 'srt')).toMatchObject([
      { unit: 0, time: { from: 1000, to: 6000 }, codes: { open1: '<i>', close1: '</i>' } },
    ]);
  });

  it('segment description has the notes for translators and the maximum length of the target', () => {
    const file = `<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en" target-language="es" datatype="plaintext"><body>
<trans-unit id="1" maxwidth="20" size-unit="char"><source>The house.</source><note>A button.</note></trans-unit>
<trans-unit id="2" maxwidth="40" size-unit="char"><source>One house. Two houses.</source></trans-unit>
</body></file></xliff>`;
    const descriptions = described(file, 'xliff');
    expect(descriptions[0]).toMatchObject({ notes: ['A button.'], maxLength: 20 });
    // A maximum length applies to a whole unit, so the segments of a unit with several sentences have no
    // maximum length.
    expect(descriptions.slice(1).every(({ maxLength }) => maxLength === undefined)).toBe(true);
    expect(descriptions).toHaveLength(3);
  });

  it('segment description has the positions of the line breaks of a subtitle in the source text', () => {
    const srt = `1
00:00:01,000 --> 00:00:02,000
The <i>wind</i> was
stronger than {name}
and

2
00:00:02,100 --> 00:00:03,000
the sea.
`;
    const document = scan(srt, 'srt', { sourceLanguage: 'en' });
    const [segment] = segments(document, 'en');
    const [description] = describe(document, 'en');
    const text = plainText(segment!.pieces);
    expect(text).toBe('The wind was stronger than {name} and the sea.');
    const marked = [...text].map((character, at) => (description!.breaks!.includes(at) ? '/' : character));
    expect(marked.join('')).toBe('The wind was/stronger than {name}/and/the sea.');
  });

  it('segment description names the kind of an HTML segment, or no kind when it is running text', () => {
    const page = `<title>Shop</title><h2>Our <a href="/x">houses</a></h2><p>One house. <a href="/y">Two houses.</a></p>
<p>See <a href="/z">the house</a>.</p><ul><li>One<li><a href="/x">Two</a></ul><dl><dt>Name<dd>Ann</dl>
<table><tr><th>Price<td><p>Ten dollars</p></table><div><button><b>Send</b></button></div>
<p><img src="x" alt="A house"> Here.</p><form><input type="submit" value="Order"></form><a href="/w"><h3>News</h3></a><p>End.</p>`;
    const found = described(page, 'html').map(({ element }) => element);
    expect(found).toEqual([
      'heading',
      'heading',
      undefined,
      'link',
      undefined,
      'list_item',
      'link',
      'list_item',
      'list_item',
      'table_cell',
      'table_cell',
      'button',
      undefined,
      'attribute',
      'button',
      'heading',
      undefined,
    ]);
  });

  it('segment description names the kind of an XLIFF unit when its resource type is known', () => {
    const unit = (id: number, restype: string) =>
      `<trans-unit id="${id}"${restype}><source>The house.</source></trans-unit>`;
    const file = `<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en" target-language="es" datatype="plaintext"><body>
${unit(1, ' restype="button"')}${unit(2, ' restype="x-own"')}${unit(3, '')}${unit(4, ' restype="constructor"')}
</body></file></xliff>`;
    const found = described(file, 'xliff').map(({ element }) => element);
    expect(found).toEqual(['button', undefined, undefined, undefined]);
  });
});
