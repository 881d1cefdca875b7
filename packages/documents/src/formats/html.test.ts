import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkHtml, checkHtmlLoosely } from '../../test/checks.ts';
import { faulty, silent } from '../../test/engines.ts';
import { result, sent } from '../../test/helpers.ts';
import { countWords, rebuild, scan, segments } from '../documents.ts';

describe('HTML units', () => {
  test.each([
    ['<p>One. <b>Two</b> three.</p><p>Four</p>', ['One.', '|Two| three.', 'Four']],
    ['<li><b>Label</b></li>', ['Label']],
    ['One<br>two<br><br>three', ['One', 'two', 'three']],
    ['<p>a\n   b</p>', ['a b']],
    ['<pre translate=yes>a  b\n c</pre><pre>d</pre>', ['a  b', 'c']],
    ['<p>Fish &amp; chips &eacute;&nbsp;x</p>', ['Fish & chips é\u00a0x']],
    ['<p>x<script>var a = "words";</script>y</p><style>b {}</style>', ['x|y']],
    ['<!-- comment --><p>a<!-- b -->c</p>', ['a|c']],
    ['<p>12</p><p>&nbsp;</p>', []],
    ['<td>alone', ['alone']],
    ['stray</p>end', ['stray', 'end']],
    ['<p>one<p>two', ['one', 'two']],
    ['<custom-tag>in <x-y>it</x-y></custom-tag>', ['in |it|']],
    ['<title>T &lt; U</title>', ['T < U']],
    ['<select><option label="L">O</select>', ['L', 'O']],
    ['<p>Sum <math><mi>x</mi></math> here</p>', ['Sum [x] here']],
    ['<p>Hi <%= if a > b %> you</p>', ['Hi [<%= if a > b %>] you']],
    ['<?php echo "<p>x</p>" ?><p>y</p>', ['y']],
    ['<p>Hi {{name}}, see www.example.com</p>', ['Hi [{{name}}], see [www.example.com]']],
    ['a < b and c > d', ['a < b and c > d']],
  ] as [string, string[]][])('contain the expected text for: %s', (html, wanted) => {
    expect(sent(html, 'html')).toEqual(wanted);
  });
});

describe('HTML attributes', () => {
  test.each([
    ['<img alt="a dog" title="T" src="dog">', '<img alt="A DOG" title="T" src="dog">'],
    ["<a title='it is'>x</a>", "<a title='IT IS'>X</a>"],
    [
      '<input type=submit value=send placeholder="go &amp; see">',
      '<input type=submit value=SEND placeholder="GO &amp; SEE">',
    ],
    ['<input type=text value=keep>', '<input type=text value=keep>'],
    [
      '<meta name="description" content="words"><meta name="viewport" content="width">',
      '<meta name="description" content="WORDS"><meta name="viewport" content="width">',
    ],
    ['<p>See <img alt="the dog"> run</p>', '<p>SEE <img alt="THE DOG"> RUN</p>'],
    [
      '<div data-x="no" lang="en" aria-label="yes"></div>',
      '<div data-x="no" lang="en" aria-label="YES"></div>',
    ],
  ])('with visible text are translated: %s', (html, wanted) => {
    expect(result(html, 'html')).toBe(wanted);
  });

  test('get quotation marks when their translation needs them', () => {
    const words = (text: string) => result(text, 'html', () => [{ text: 'a "b" & \'c\'' }]);
    expect(words('<img alt=dog>')).toBe('<img alt="a &quot;b&quot; &amp; \'c\'">');
    expect(words('<img alt="dog">')).toBe('<img alt="a &quot;b&quot; &amp; \'c\'">');
    expect(words("<img alt='dog'>")).toBe('<img alt=\'a "b" &amp; &#39;c&#39;\'>');
  });
});

describe('translate="no", notranslate and origval in HTML', () => {
  test.each([
    ['<p translate="NO">a</p><p>b</p>', '<p translate="NO">a</p><p>B</p>'],
    ['<div translate=no>a<p translate=yes>b</p>c</div>', '<div translate=no>a<p translate=yes>B</p>c</div>'],
    [
      '<div translate=no>a <b translate="">b</b> c</div>',
      '<div translate=no>a <b translate="">B</b> c</div>',
    ],
    [
      '<div class="x notranslate">a<p translate=yes>b</p></div>d',
      '<div class="x notranslate">a<p translate=yes>b</p></div>D',
    ],
    ['<p>a <span translate=no>b <i>c</i></span> d</p>', '<p>A <span translate=no>b <i>c</i></span> D</p>'],
    ['<img translate=no alt="a"><img alt="b">', '<img translate=no alt="a"><img alt="B">'],
    ['<p translate=no>one<p>two', '<p translate=no>one<p>TWO'],
    ['<p>x <code>y</code></p>', '<p>X <code>y</code></p>'],
    ['<kbd translate=yes>y</kbd> <tt>z</tt>', '<kbd translate=yes>Y</kbd> <tt>z</tt>'],
  ])('decide what is translated in: %s', (html, wanted) => {
    expect(result(html, 'html')).toBe(wanted);
  });
});

test('HTML: translates ICU messages inside an attribute without breaking its quotation marks', () => {
  const hostile = () => [{ text: 'a "b" \'c\' <d>' }];
  expect(result(`<img alt="{n, plural, one {dog} other {dogs}}">`, 'html', hostile)).toBe(
    `<img alt="{n, plural, one {a &quot;b&quot; 'c' <d>} other {a &quot;b&quot; 'c' <d>}}">`,
  );
  expect(result(`<img alt='{n, plural, other {dogs}}'>`, 'html', hostile)).toBe(
    `<img alt='{n, plural, other {a "b" &#39;c&#39; <d>}}'>`,
  );
  expect(result('<img alt={n,plural,other{dogs}}>', 'html', hostile)).toBe(
    '<img alt={n,plural,other{dogs}}>',
  );
});

describe('neighbours in HTML', () => {
  test.each([
    ['<a>Home</a><a>About us</a><a>Contact</a>', ['Home', 'About us', 'Contact']],
    ['<span>New</span><span>Red house</span>', ['New', 'Red house']],
    ['<x-card>The house</x-card><x-buy>Buy</x-buy>', ['The house', 'Buy']],
    ['The house<x-icon></x-icon>Big', ['The house', '||Big']],
    ['<label>Name <input name="n"></label> <label>Email <input></label>', ['Name', 'Email']],
    ['<button>Save</button> <button>Cancel</button>', ['Save', 'Cancel']],
    ['Name <input> Email', ['Name', 'Email']],
    ['<a>Privacy</a> | <a>Terms</a>', ['Privacy', 'Terms']],
    ['Go to <b>Settings</b> &gt; <b>Privacy</b>', ['Go to |Settings|', 'Privacy']],
    ['<p>- <b>Two</b> dogs</p>', ['|Two| dogs']],
    ['<a>Home (3)</a><a>(Shop)</a>', ['Home (3)', '(Shop)']],
    ['<b>W</b>elcome <i>h</i><b>ome</b>', ['|W|elcome |h||ome|']],
    ['<a>Home</a> <a>About us</a>\n<a>Shop</a>', ['Home', 'About us', 'Shop']],
    ['See <a>one</a> <a>two</a>, e<i>Bay</i>', ['See |one| |two|, e|Bay|']],
    ['<b>a)</b> Name<span>Ann</span>', ['Name', 'Ann']],
    ['<i class="material-icons">home</i> Go', ['[home] Go']],
    ['<0>One</0> two', ['|One| two']],
    ['<amp-img alt="The dog" /> <b aria-description="The cat">x</b>', ['x', 'The dog', 'The cat']],
    ['a <a>house</a>s and <a>dog</a>, <a>cat</a>', ['a |house|s and |dog|, |cat|']],
    ['m<sup>2</sup> and H<sub>2</sub>O', ['m|2| and H|2|O']],
    ['<span>中</span><span>文</span>', ['|中||文|']],
  ] as [string, string[]][])('are separate texts where elements meet between words: %s', (html, wanted) => {
    expect(sent(html, 'html')).toEqual(wanted);
    expect(result(html, 'html').toLowerCase()).toBe(html.toLowerCase());
  });

  test('count as separate words', () => {
    expect(countWords(scan('<a>Home</a><a>About us</a>', 'html'), 'en')).toBe(3);
  });
});

describe('<% or <? in HTML', () => {
  test.each([
    [
      '<p>Really <? yes. The house is big.</p><p>The dog sleeps.</p><p>Who knows ?> well.</p>',
      '<p>Really <? yes. The house is big.</p><p>The dog sleeps.</p><p>Who knows ?> well.</p>'
        .replace('Really', 'REALLY')
        .replace('The dog sleeps.', 'THE DOG SLEEPS.')
        .replace('Who knows ?> well.', 'WHO KNOWS ?&gt; WELL.'),
    ],
    [
      '<p>Under <% of it.</p><p>One.</p><p>So %> it is.</p>',
      '<p>UNDER &lt;% OF IT.</p><p>ONE.</p><p>SO %&gt; IT IS.</p>',
    ],
    ['<p>a <% of <b>all</b> %> b</p>', '<p>A &lt;% OF <b>ALL</b> %&gt; B</p>'],
    [`<p>a <% ${'b '.repeat(1_001)}%> c</p>`, `<p>A &lt;% ${'B '.repeat(1_001)}%&gt; C</p>`],
    ['<p>a <% no end</p><p>b <%= c %> d</p>', '<p>A &lt;% NO END</p><p>B <%= c %> D</p>'],
  ])('is part of the translated text when it does not start a template: %s', (html, wanted) => {
    expect(result(html, 'html')).toBe(wanted);
  });

  test.each([
    '<% if a > b %>',
    '<%= link_to "<b>x</b>" %>',
    '<%-- <p>off</p> --%>',
    '<? if ($a > 1): ?>',
    '<?= $a->b ?>',
    '<?php echo "<p>x</p>"; ?>',
  ])('starts a template, which is not translated: %s', (template) => {
    expect(result(`<p>a ${template} b</p>`, 'html')).toBe(`<p>A ${template} B</p>`);
  });
});

test('HTML: escapes text in translations and writes U+00A0 in the same way as the source', () => {
  expect(result('<p>word</p>', 'html', () => [{ text: '<script>&\u00a0' }])).toBe(
    '<p>&lt;script&gt;&amp;</p>',
  );
  expect(result('<p>a&nbsp;b</p>', 'html', () => [{ text: 'c\u00a0d' }])).toBe('<p>c&nbsp;d</p>');
  expect(result('<p>a\u00a0b</p>', 'html', () => [{ text: 'c\u00a0d' }])).toBe('<p>c\u00a0d</p>');
});

test('HTML: preserves unusual character references of a segment whose translation equals the source', () => {
  const html = '<p>AT&T  &#x27;x&#39;. Next one.</p>';
  const partly = result(html, 'html', (pieces) =>
    pieces.map((piece) => ('text' in piece && piece.text === 'Next one.' ? { text: 'Neu.' } : piece)),
  );
  expect(partly).toBe('<p>AT&T  &#x27;x&#39;. Neu.</p>');
});

const bits = fc.constantFrom(
  'words ',
  'Two. ',
  '<b>',
  '</b>',
  '<p>',
  '</p>',
  '<div title="tip">',
  '</div>',
  '<br>',
  '<i class=x>',
  '</i>',
  '&amp;',
  '&nbsp;',
  '<img alt="pic">',
  '<!-- c -->',
  '<pre>',
  '</pre>',
  '\n  ',
  '<span translate=no>',
  '</span>',
  '<span class="notranslate" origval="{v}">',
  '<table><tr><td>',
  '</td>',
  '<',
  '&',
  '>',
  '<script>a<b</script>',
  '{{x}}',
  '<a href="x">',
  '</a>',
  '<svg><title>',
  '</svg>',
  '😀',
  '\r\n',
  '<textarea>',
  '</textarea>',
  '<%= x > y %>',
  '<?x y?>',
  '<li>',
  '<![CDATA[x]]>',
  '<math>',
  '</math>',
  '<p translate=yes>',
);
const page = fc.array(bits, { maxLength: 25 }).map((parts) => parts.join(''));

describe('HTML comments that mark the segments of a document', () => {
  const marked = (html: string, translations: [string, string][] = []) => {
    const document = scan(html, 'html');
    const found = segments(document, 'en');
    const pieces = new Map(translations.map(([id, text]) => [id, [{ text }]]));
    const marks = new Map(found.map(({ id }, index) => [id, `m ${index}`]));
    return rebuild(document, pieces, 'de', { marks });
  };

  test('surround every segment of the text, with or without a translation', () => {
    expect(marked('<h1>One</h1><p>Two. <b>Three.</b></p>', [['0.0', 'Eins & mehr']])).toBe(
      '<h1><!--m 0-->Eins &amp; mehr<!--/m 0--></h1>' +
        '<p><!--m 1-->Two.<!--/m 1--> <b><!--m 2-->Three.<!--/m 2--></b></p>',
    );
  });

  test('are not inserted into attribute values', () => {
    expect(marked('<img alt="a dog"><pre translate=yes>x\ny</pre>')).toBe(
      '<img alt="a dog"><pre translate=yes><!--m 1-->x<!--/m 1-->\n<!--m 2-->y<!--/m 2--></pre>',
    );
  });

  test('leave everything else in the document unchanged', () => {
    fc.assert(
      fc.property(page, (html) => {
        fc.pre(!html.includes('origval'));
        expect(marked(html).replace(/<!--\/?m \d+-->/g, '')).toBe(html);
      }),
    );
  });
});

describe('random HTML', () => {
  test('stays unchanged when the engine changes nothing', () => {
    fc.assert(
      fc.property(page, (html) => {
        fc.pre(!html.includes('origval'));
        expect(result(html, 'html', silent)).toBe(html);
      }),
    );
  });

  test('keeps its markup when the engine translates to upper case', () => {
    fc.assert(
      fc.property(page, (html) => {
        fc.pre(!/origval|<%|<\?/.test(html));
        expect(checkHtml(html, result(html, 'html'))).toEqual([]);
      }),
    );
  });

  test('keeps all its markup when the engine breaks codes', () => {
    fc.assert(
      fc.property(page, fc.integer({ min: 1 }), (html, seed) => {
        fc.pre(!/origval|<%|<\?/.test(html));
        expect(checkHtmlLoosely(html, result(html, 'html', faulty(seed)))).toEqual([]);
      }),
    );
  });

  /** White space, and markup that HTML renders as white space or not at all. */
  const blank = fc
    .array(
      fc.constantFrom(
        ' ',
        '\n',
        '\t',
        '\r\n',
        '\r',
        '\f',
        '\v',
        '\u0001',
        '\u001f',
        '\u007f',
        '\u0085',
        '&nbsp;',
        '&#32;',
        '\u3000',
      ),
      { maxLength: 4 },
    )
    .map((parts) => parts.join(''));
  const part = fc.constantFrom(
    'word',
    'two words.',
    '<b>',
    '</b>',
    '<i translate="no">excluded text</i>',
    '<span class="notranslate">more excluded text</span>',
    '<!-- c -->',
    '<img src="x">',
    '{name}',
    '<%= x %>',
    '<p>',
    '</p>',
    '<br>',
  );
  const excluded = ['excluded text', 'more excluded text', '<!-- c -->', '{name}', '<%= x %>'];

  test('keeps the white space around codes exactly', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(part, blank), { maxLength: 12 }), (parts) => {
        // An engine may change the white space between two words.
        const isWord = (at: number) => /^[a-z]/.test(parts[at]?.[0] ?? '');
        const html = parts
          .map(([text, space], at) => text + (isWord(at) && isWord(at + 1) ? ' ' : space))
          .join('');
        const after = result(html, 'html');
        expect(after.toLowerCase()).toBe(html);
        const count = (text: string, some: string) => text.split(some).length;
        for (const some of excluded) expect(count(after, some)).toBe(count(html, some));
      }),
    );
  });
});
