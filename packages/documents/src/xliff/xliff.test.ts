import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkXliff } from '../../test/checks.ts';
import { faulty, silent, upperCasing } from '../../test/engines.ts';
import { result, sent, target, xliff } from '../../test/helpers.ts';
import { countWords, rebuild, scan } from '../documents.ts';

const unit = (inner: string, attributes = '') => `<trans-unit id="1"${attributes}>${inner}</trans-unit>`;
const upperCase = (inner: string, attributes = '') => target(result(xliff(unit(inner, attributes)), 'xliff'));

describe('XLIFF: a new target element is inserted', () => {
  test('after the source, with its line break, indent and prefix', () => {
    const text =
      '<x:xliff version="1.2"><x:file source-language="en" original="a" datatype="b"><x:body>\r\n' +
      '\t<x:trans-unit id="a">\r\n\t\t<x:source xml:lang="en" xml:space="preserve">Words</x:source>\r\n\t</x:trans-unit></x:body></x:file></x:xliff>';
    expect(result(text, 'xliff')).toBe(
      text.replace(
        '</x:source>',
        '</x:source>\r\n\t\t<x:target xml:lang="de" xml:space="preserve">WORDS</x:target>',
      ),
    );
  });

  test('on the same line as the source in a compact file', () => {
    const text = xliff(unit('<source>Words</source><note>n</note>'));
    expect(result(text, 'xliff')).toBe(text.replace('</source>', '</source><target>WORDS</target>'));
  });

  test('after seg-source and before alt-trans', () => {
    expect(
      result(
        xliff(
          unit(
            '<alt-trans><source>x</source><target>y</target></alt-trans>\n <source>Words</source><seg-source><mrk mtype="seg" mid="1">Words</mrk></seg-source>',
          ),
        ),
        'xliff',
      ),
    ).toContain('</seg-source>\n <target><mrk mtype="seg" mid="1">WORDS</mrk></target></trans-unit>');
  });
});

describe('XLIFF: an existing target element', () => {
  test.each([
    ['', '<target/>', '<target>WORDS</target>'],
    ['', '<target xml:lang="de" state="new"/>', '<target xml:lang="de" state="translated">WORDS</target>'],
    ['', '<target></target>', '<target>WORDS</target>'],
    [
      '',
      '<target state="needs-review-translation" a="1">Wort</target>',
      '<target state="translated" a="1">WORDS</target>',
    ],
    ['', '<target>Wort</target>', '<target>WORDS</target>'],
    ['', '<target state="final">Wort</target>', '<target state="final">Wort</target>'],
    ['', '<target state="signed-off">Wort</target>', '<target state="signed-off">Wort</target>'],
    [' approved="yes"', '<target>Wort</target>', '<target>Wort</target>'],
    [
      ' approved="yes"',
      '<target state="needs-translation">Wort</target>',
      '<target state="translated">WORDS</target>',
    ],
    [' approved="yes"', '<target></target>', '<target>WORDS</target>'],
    [' translate="no"', '', '<target>Words</target>'],
    [' translate="no"', '<target>Wort</target>', '<target>Wort</target>'],
  ])(
    'becomes the expected target when the trans-unit has the attributes "%s" and the target "%s"',
    (attributes, old, wanted) => {
      expect(upperCase(`<source>Words</source>${old}`, attributes)).toBe(wanted);
    },
  );

  test('stays unchanged when the source has nothing to translate', () => {
    expect(upperCase('<source>12</source><target>zwölf</target>')).toBe('<target>zwölf</target>');
    expect(upperCase('<source>12</source>')).toBe('<target>12</target>');
    expect(upperCase('<source/>')).toBe('<target></target>');
  });

  test('stays unchanged when the nearest group has translate="no"', () => {
    const text = xliff(
      `<group translate="no">${unit('<source>A word</source>')}${unit('<source>B word</source>', ' translate="yes"')}</group>`,
    );
    expect(sent(text, 'xliff')).toEqual(['B word']);
  });
});

describe('XLIFF: inline elements', () => {
  test.each([
    ['One <g id="1">two</g> three', ['One |two| three']],
    ['<g id="1">All of it</g>', ['All of it']],
    ['a <x id="1"/> b', ['a | b']],
    ['One.<x id="1" ctype="lb"/>Two', ['One.', 'Two']],
    ['a <bx id="1"/>b<ex id="1"/> c', ['a |b| c']],
    ['a <bpt id="1">&lt;b></bpt>b<ept id="1">&lt;/b></ept> c', ['a |b| c']],
    ['a <ph id="1">code</ph> b <it id="2" pos="open">code</it> c', ['a | b | c']],
    ['a <ph id="1">[<sub>alt text</sub>]</ph> b', ['a | b', 'alt text']],
    ['a <mrk mtype="protected">Name</mrk> b', ['a [Name] b']],
    ['a <mrk mtype="term">word</mrk> b', ['a |word| b']],
    ['a <b>bold</b><br/>c', ['a |bold|', 'c']],
    ['Hi <x id="INTERPOLATION" equiv-text="{{name}}"/>!', ['Hi [{{name}}]!']],
    ['<x id="START_BOLD_TEXT"/>Hi<x id="CLOSE_BOLD_TEXT"/> you', ['|Hi| you']],
    ['a<!-- c --><?p q?>b', ['a||b']],
    ['a &lt;b&gt;bold&lt;/b&gt; &amp;amp; c', ['a |bold| & c']],
    ['<![CDATA[a <b>bold</b> &amp; c]]>', ['a |bold| & c']],
    ['Tom &amp; Jerry &lt; 3', ['Tom & Jerry < 3']],
    ['{n, plural, one {# dog} other {# dogs}}', ['# dog', '# dogs']],
    ['line\n      two', ['line two']],
    ['one&#10;two', ['one', 'two']],
    ['&lt;1&gt;one&lt;/1&gt; two', ['|one| two']],
  ] as [string, string[]][])('become the expected codes in %s', (source, wanted) => {
    const text = xliff(unit(`<source>${source}</source>`));
    expect(sent(text, 'xliff')).toEqual(wanted);
    const after = result(text, 'xliff');
    expect(checkXliff(text, after)).toEqual([]);
    const content = target(after)!.replace(/^<target>|<\/target>$/g, '');
    expect(content.toLowerCase().replace(/\s+/g, ' ')).toBe(source.toLowerCase().replace(/\s+/g, ' '));
  });

  test('keep the white space around them when xml:space is preserve', () => {
    const text = xliff(unit('<source>one\n   two</source>', ' xml:space="preserve"'));
    expect(sent(text, 'xliff')).toEqual(['one', 'two']);
    expect(target(result(text, 'xliff'))).toBe('<target>ONE\n   TWO</target>');
  });

  test('in a CDATA source are written to a CDATA target', () => {
    const words = (source: string, text: string) =>
      target(result(xliff(unit(`<source><![CDATA[${source}]]></source>`)), 'xliff', () => [{ text }]));
    expect(words('a', 'x ]]> & y')).toBe('<target><![CDATA[x ]]]]><![CDATA[> & y]]></target>');
    expect(words('a <b>b</b>', 'x ]]> & y')).toBe('<target><![CDATA[<b>x ]]&gt; &amp; y</b>]]></target>');
  });

  test('are written to a target without CDATA when the source mixes text and CDATA', () => {
    const text = xliff(unit('<source>a <![CDATA[<b>b</b>]]> c</source>'));
    expect(target(result(text, 'xliff'))).toBe('<target>A &lt;b&gt;B&lt;/b&gt; C</target>');
  });

  test('are escaped when only a part of their CDATA section is copied', () => {
    const text = xliff(unit('<source>One. <![CDATA[Two & <b>x</b>. Three.]]></source>'));
    const after = result(text, 'xliff', (pieces) =>
      pieces.map((piece) => ('text' in piece && piece.text === 'Three.' ? { text: 'DREI.' } : piece)),
    );
    expect(checkXliff(text, after)).toEqual([]);
    expect(target(after)).toBe('<target>One. Two &amp; &lt;b&gt;x&lt;/b&gt;. DREI.</target>');
  });

  test('whose other half is in another sentence never move into a pair', () => {
    const text = xliff(unit('<source>One <b>two <g id="1">three</g>. Four</b> five.</source>'));
    const after = result(text, 'xliff', (pieces) =>
      [...pieces].sort((a, b) => Number('close' in a) - Number('close' in b)),
    );
    expect(checkXliff(text, after)).toEqual([]);
  });

  test('stay in the order bx, ex even if their pair crosses another pair', () => {
    const source = '<bpt id="1">A</bpt>one <bx id="2"/>two<ept id="1">B</ept> three<ex id="2"/> four';
    const text = xliff(unit(`<source>${source}</source>`));
    expect(checkXliff(text, result(text, 'xliff', faulty(3)))).toEqual([]);
    expect(target(result(text, 'xliff', upperCasing))).toContain('<bx id="2"/>TWO');
  });
});

describe('XLIFF: segments defined by seg-source', () => {
  test('are written as mrk elements, and everything between them is copied', () => {
    const seg =
      '<g id="1"><mrk mtype="seg" mid="1">One. Still one.</mrk> <x id="2"/> <mrk mtype="seg" mid="2">Two</mrk></g>';
    const text = xliff(
      unit(`<source>One. Still one. <x id="2"/> Two</source><seg-source>${seg}</seg-source>`),
    );
    expect(sent(text, 'xliff')).toEqual(['One. Still one.', 'Two']);
    expect(target(result(text, 'xliff'))).toBe(
      `<target>${seg.replace('One. Still one.', 'ONE. STILL ONE.').replace('Two', 'TWO')}</target>`,
    );
  });

  test('are ignored if seg-source has no mrk element', () => {
    expect(sent(xliff(unit('<source>One. Two.</source><seg-source>x</seg-source>')), 'xliff')).toEqual([
      'One.',
      'Two.',
    ]);
  });
});

describe('scanning XLIFF throws an error', () => {
  test.each([
    ['not xml', /not well-formed/],
    ['<a/>', /document element is "a"/],
    ['<xliff version="2.0"/>', /XLIFF 2 is not supported; send XLIFF 1.2/],
    ['<xliff version="9"/>', /version "9" is unknown/],
    ['<xliff version="1.2"/>', /no trans-unit/],
    ['<!DOCTYPE xliff [<!ENTITY a "b">]><xliff version="1.2"/>', /DOCTYPE/],
    ['<!DOCTYPE xliff [<!ENTITY % p SYSTEM "http://a.example/"> %p;]><xliff version="1.2"/>', /DOCTYPE/],
    [xliff(unit('<source>&a;</source>')), /not well-formed/],
    [xliff(unit('<source>a')), /not well-formed/],
  ])('for %s', (text, message) => {
    expect(() => scan(text, 'xliff')).toThrow(message);
  });

  test('with the line and column of the fault', () => {
    try {
      scan('<xliff version="1.2">\n  <file></xliff>', 'xliff');
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ name: 'DocumentError', line: 2 });
    }
  });

  test("when the document's target language differs from the job's", () => {
    const text = xliff(unit('<source>a</source>'), ' target-language="fr-CA"');
    for (const fine of ['fr', 'fr-ca', 'FR-CA'])
      expect(() => scan(text, 'xliff', { targetLanguage: fine })).not.toThrow();
    for (const other of ['de', 'fr-fr']) {
      expect(() => scan(text, 'xliff', { targetLanguage: other })).toThrow(
        /target language of the document is "fr-CA"/,
      );
    }
  });
});

describe('XLIFF: HTML inside a unit has the paragraphs of HTML', () => {
  const markup =
    '<style>p { color: red }</style><h2>Red house</h2>\n<p>The <b>dog</b></p><ul>\n<li>One</li></ul>';
  const escaped = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  test.each([
    ['escaped', escaped(markup)],
    ['in a CDATA section', `<![CDATA[${markup}]]>`],
  ])('%s', (_, source) => {
    const text = xliff(unit(`<source>${source}</source>`));
    expect(sent(text, 'xliff')).toEqual(['Red house', 'The |dog|', 'One']);
    const upper = source
      .replace('Red house', 'RED HOUSE')
      .replace('The ', 'THE ')
      .replace('dog', 'DOG')
      .replace('One', 'ONE');
    expect(target(result(text, 'xliff'))).toBe(`<target>${upper}</target>`);
  });
  test.each([
    '<bpt id="1">&lt;p&gt;</bpt>The house<ept id="1">&lt;/p&gt;</ept><bpt id="2">&lt;p&gt;</bpt>The dog<ept id="2">&lt;/p&gt;</ept>',
    '<g id="1" ctype="x-html-p">The house</g><g id="2" ctype="x-html-p">The dog</g>',
    '<g id="1">The house</g><g id="2">The dog</g>',
    'The house<ph id="1">&lt;br/&gt;</ph>The dog',
    '<x id="START_PARAGRAPH"/>The house<x id="CLOSE_PARAGRAPH"/><x id="START_PARAGRAPH"/>The dog<x id="CLOSE_PARAGRAPH"/>',
  ])('as codes: %s', (source) => {
    const text = xliff(unit(`<source>${source}</source>`));
    expect(sent(text, 'xliff')).toEqual(['The house', 'The dog']);
  });
});

test('XLIFF: references to line breaks end a sentence where white space is preserved', () => {
  const text = xliff(unit('<source xml:space="preserve">The house:&#10;the dog&#xA;and</source>'));
  expect(target(result(text, 'xliff'))).toBe(
    '<target xml:space="preserve">THE HOUSE:&#10;THE DOG&#xA;AND</target>',
  );
});

describe('XLIFF: a target is kept', () => {
  test.each([
    ['locked by memoQ', ' mq:locked="locked"', '', ''],
    ['locked by Memsource', ' m:locked="true"', '', ''],
    ['locked by Trados', '', '', '<sdl:seg-defs><sdl:seg id="1" locked="true"/></sdl:seg-defs>'],
    ['translated', '', ' state="translated"', ''],
  ])('that is %s', (_, attributes, state, more) => {
    const text = xliff(unit(`<source>words</source><target${state}>Wort</target>${more}`, attributes));
    expect(target(result(text, 'xliff'))).toBe(`<target${state}>Wort</target>`);
    expect(countWords(scan(text, 'xliff'), 'en')).toBe(0);
  });
});

test("XLIFF: another source language than the job's is rejected", () => {
  const text = xliff(unit('<source>a</source>'));
  expect(() => scan(text, 'xliff', { sourceLanguage: 'fr', isNew: true })).toThrow(
    /source language of the document is "en".*"fr"/,
  );
  expect(scan(text, 'xliff', { sourceLanguage: 'en-GB', isNew: true }).units).toHaveLength(1);
});

test('XLIFF: language, name, notes and maximum length of a unit are read from the document', () => {
  const text = xliff(
    unit('<source>a</source><note>See &amp; do</note>', ' resname="ok" maxwidth="20" size-unit="char"'),
  );
  const document = scan(text, 'xliff');
  expect(document.sourceLanguage).toBe('en');
  expect(document.units[0]).toMatchObject({ name: 'ok', notes: ['See & do'], maxLength: 20 });
});

test('XLIFF: characters that the declared encoding may lack are written as references', () => {
  const text = xliff(unit('<source>a</source>')).replace('UTF-8', 'windows-1252');
  expect(target(result(text, 'xliff', () => [{ text: 'ü & 😀' }]))).toBe(
    '<target>&#xFC; &amp; &#x1F600;</target>',
  );
});

const inline = fc.constantFrom(
  'words ',
  'More. ',
  '<g id="1">in</g>',
  '<g id="2">',
  '</g>',
  '<x id="3"/>',
  '<bx id="4"/>',
  '<ex id="4"/>',
  '<bpt id="5">b</bpt>',
  '<ept id="5">e</ept>',
  '<ph id="6">p<sub>sub text</sub></ph>',
  '<mrk mtype="protected">P</mrk>',
  '<!-- c -->',
  '&lt;b&gt;',
  '&lt;/b&gt;',
  '&amp;amp;',
  '&amp;',
  '{x}',
  '\n   ',
  '<![CDATA[c <i>d</i>]]>',
  '<it id="7" pos="open">i</it>',
  '😀',
  '<x id="8" ctype="lb"/>',
  '{n, plural, one {# a} other {# b}}',
  '<b>',
  '</b>',
);
const file = fc
  .array(fc.array(inline, { maxLength: 12 }), { minLength: 1, maxLength: 3 })
  .map((units) => xliff(units.map((parts) => unit(`<source>${balanced(parts)}</source>`)).join('\n')));

/** Removes tags that would make the text not well-formed. */
function balanced(parts: readonly string[]): string {
  const open: string[] = [];
  const out: string[] = [];
  for (const part of parts) {
    const name = /^<(\/?)(g|b)\b[^/]*>$/.exec(part);
    if (name?.[1]) {
      if (open.at(-1) !== name[2]) continue;
      open.pop();
    } else if (name) open.push(name[2]!);
    out.push(part);
  }
  return [...out, ...open.reverse().map((name) => `</${name}>`)].join('');
}

test('XLIFF: tags stay nested when a bpt and ept pair crosses them', () => {
  const source =
    'words <g id="2"><bpt id="5">b</bpt><g id="1">in</g><g id="3"><ept id="5">e</ept></g></g> and <g id="4">more</g>';
  const text = `<xliff version="1.2"><file source-language="en"><body><trans-unit id="1"><source>${source}</source></trans-unit></body></file></xliff>`;
  for (let seed = 1; seed <= 300; seed++) {
    expect(checkXliff(text, result(text, 'xliff', faulty(seed)))).toEqual([]);
  }
});

describe('random XLIFF units', () => {
  test.each([
    ['silent', () => silent],
    ['upperCasing', () => upperCasing],
    ['faulty', faulty],
  ] as const)('have a correct translation when the engine is %s', (_, engine) => {
    fc.assert(
      fc.property(file, fc.integer({ min: 1 }), (text, seed) => {
        expect(checkXliff(text, result(text, 'xliff', engine(seed)))).toEqual([]);
      }),
    );
  });

  test('get a copy of the source as target when there are no translations', () => {
    fc.assert(
      fc.property(file, (text) => {
        const after = rebuild(scan(text, 'xliff'), new Map(), 'de');
        const contents = [...after.matchAll(/<source>([\s\S]*?)<\/source><target>([\s\S]*?)<\/target>/g)];
        expect(contents.length).toBeGreaterThan(0);
        for (const [, source, copy] of contents) expect(copy).toBe(source);
      }),
    );
  });
});
