/**
 * Tests of elements with the class `notranslate` and the attribute `origval`: in the result, the value of
 * `origval` must be the content of the element. No public sample exists, so the cases are written by hand: in
 * HTML, and in XLIFF as elements, as escaped text and in CDATA.
 */

import { describe, expect, test } from 'vitest';
import { rebuild, scan } from '../src/documents.ts';
import { silent } from './engines.ts';
import { result, sent, target, xliff } from './helpers.ts';

const unit = (source: string) => xliff(`<trans-unit id="1"><source>${source}</source></trans-unit>`);
const escaped = (html: string) =>
  html.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const content = (text: string) => target(text)!.replace(/^<target>|<\/target>$/g, '');

/** For each format: wraps a fragment of HTML in a document, and reads the fragment from the result. */
const forms = {
  html: (html: string) => ({
    text: `<p>${html}</p>`,
    read: (after: string) => after.slice(3, -4),
    format: 'html' as const,
  }),
  'XLIFF elements': (html: string) => ({ text: unit(html), read: content, format: 'xliff' as const }),
  'XLIFF escaped': (html: string) => ({
    text: unit(escaped(html)),
    read: (after: string) =>
      content(after).replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
    format: 'xliff' as const,
  }),
  'XLIFF CDATA': (html: string) => ({
    text: unit(`<![CDATA[${html}]]>`),
    read: (after: string) => content(after).replace(/^<!\[CDATA\[|\]\]>$/g, ''),
    format: 'xliff' as const,
  }),
};

const one = (origval: string, shown = 'Ann', quote = '"') =>
  `<span class="notranslate" origval=${quote}${origval}${quote}>${shown}</span>`;

/**
 * Rows: name, source, expected result when the engine translates to upper case, and the text that the engine gets.
 */
const rows: [string, string, string, string[]][] = [
  [
    'in the middle',
    `Hi ${one('{{name}}')}, you`,
    `HI ${one('{{name}}', '{{name}}')}, YOU`,
    ['Hi [Ann], you'],
  ],
  ['single quotes', `Hi ${one('{a}', 'Ann', "'")}`, `HI ${one('{a}', '{a}', "'")}`, ['Hi [Ann]']],
  [
    'references, decoded once and escaped once',
    `Hi ${one('&lt;script&gt; &amp; &quot;')}`,
    `HI ${one('&lt;script&gt; &amp; &quot;', '&lt;script&gt; &amp; "')}`,
    ['Hi [Ann]'],
  ],
  ['empty value', `Hi ${one('')}`, `HI ${one('', '')}`, ['Hi [Ann]']],
  ['empty content', `Hi ${one('x', '')}`, `HI ${one('x', 'x')}`, ['Hi []']],
  [
    'an element without content',
    'Hi <span class="notranslate" origval="%N%"/> you',
    'HI <span class="notranslate" origval="%N%">%N%</span> YOU',
    ['Hi [] you'],
  ],
  [
    'an element without content, with a space and markup in its value',
    'Hi <b class="notranslate" origval="&lt;a&gt; &amp; b" />',
    'HI <b class="notranslate" origval="&lt;a&gt; &amp; b" >&lt;a&gt; &amp; b</b>',
    ['Hi []'],
  ],
  [
    'more classes',
    'Hi <b class="a notranslate b" origval="v">Ann</b>',
    'HI <b class="a notranslate b" origval="v">v</b>',
    ['Hi [Ann]'],
  ],
  [
    'inside a link',
    `See <a href="x">the ${one('v')} page</a>.`,
    `SEE <a href="x">THE ${one('v', 'v')} PAGE</a>.`,
    ['See |the [Ann] page|.'],
  ],
  [
    'two adjacent',
    `Hi ${one('a')}${one('b')} you`,
    `HI ${one('a', 'a')}${one('b', 'b')} YOU`,
    ['Hi [Ann][Ann] you'],
  ],
  [
    'first and last',
    `${one('a')} to ${one('b')}`,
    `${one('a', 'a')} TO ${one('b', 'b')}`,
    ['[Ann] to [Ann]'],
  ],
  ['alone in its unit', one('a'), one('a', 'a'), []],
  [
    'twice the same value',
    `${one('a')} and ${one('a')}`,
    `${one('a', 'a')} AND ${one('a', 'a')}`,
    ['[Ann] and [Ann]'],
  ],
  ['markup in the content', `Hi ${one('v', 'A <i>b</i>')}`, `HI ${one('v', 'v')}`, ['Hi [A b]']],
  [
    'nested: the outer one wins',
    `Hi ${one('v', `x ${one('w')} y`)}`,
    `HI ${one('v', 'v')}`,
    ['Hi [x Ann y]'],
  ],
  [
    'Liquid, Jinja',
    `Hi ${one('{{ a | b }}')} ${one('{% c %}')}`,
    `HI ${one('{{ a | b }}', '{{ a | b }}')} ${one('{% c %}', '{% c %}')}`,
    ['Hi [Ann] [Ann]'],
  ],
  ['printf', `Hi ${one('%1$s')}`, `HI ${one('%1$s', '%1$s')}`, ['Hi [Ann]']],
  ['ICU', `Hi ${one('{n, number}')}`, `HI ${one('{n, number}', '{n, number}')}`, ['Hi [Ann]']],
  [
    'without origval: kept, not replaced',
    'Hi <b class="notranslate">Ann</b>',
    'HI <b class="notranslate">Ann</b>',
    ['Hi [Ann]'],
  ],
  ['without the class: plain markup', 'Hi <b origval="v">Ann</b>', 'HI <b origval="v">ANN</b>', ['Hi |Ann|']],
];

describe.each(Object.entries(forms))(
  'an element with the class notranslate and the attribute origval in %s',
  (_, form) => {
    test.each(rows)('gets the value of origval as content: %s', (_name, html, wanted, engine) => {
      const { text, read, format } = form(html);
      expect(sent(text, format)).toEqual(engine);
      expect(read(result(text, format))).toBe(wanted);
    });

    test.each(rows)(
      'gets the value of origval as content when there is no translation: %s',
      (_name, html) => {
        const { text, read, format } = form(html);
        const shown = (all: string) => all.replace(/<[^<>]*>/g, '');
        const wanted = read(result(text, format, silent));
        expect(read(rebuild(scan(text, format), new Map(), 'de'))).toBe(wanted);
        expect(shown(wanted)).not.toContain(
          html.includes('origval') && html.includes('notranslate') ? 'Ann' : '\0',
        );
      },
    );

    test('gets the value of origval as content in right-to-left text', () => {
      const { text, read, format } = form(`Hi ${one('{{a}}')}!`);
      const after = result(
        text,
        format,
        (pieces) => [{ text: 'שלום ' }, ...pieces.filter((piece) => 'keep' in piece), { text: '!' }],
        'he',
      );
      expect(read(after)).toBe(`שלום ${one('{{a}}', '{{a}}')}!`);
    });
  },
);

test.each([
  [
    'an upper-case tag without quotes',
    '<P>Hi <SPAN CLASS=notranslate ORIGVAL=v>Ann</SPAN></P>',
    '<P>HI <SPAN CLASS=notranslate ORIGVAL=v>v</SPAN></P>',
  ],
  [
    'void: nothing to replace',
    '<p>a <img class="notranslate" origval="v" alt="b"> c</p>',
    '<p>A <img class="notranslate" origval="v" alt="b"> C</p>',
  ],
  [
    'unclosed: up to the end of its unit',
    '<p>a <b class="notranslate" origval="v">b c</p><p>d</p>',
    '<p>A <b class="notranslate" origval="v">v</p><p>D</p>',
  ],
  [
    'a block',
    '<div class="notranslate" origval="v">a<p>b</p></div><p>c</p>',
    '<div class="notranslate" origval="v">v</div><p>C</p>',
  ],
  [
    'under translate="no"',
    '<p translate="no">a <b class="notranslate" origval="v">b</b></p>',
    '<p translate="no">a <b class="notranslate" origval="v">v</b></p>',
  ],
  [
    'inside an outer one without a value',
    '<p class="notranslate">a <b class="notranslate" origval="v">b</b></p>',
    '<p class="notranslate">a <b class="notranslate" origval="v">v</b></p>',
  ],
  [
    'as an attribute value: no markup',
    '<p title=\'<b class="notranslate" origval="v">Ann</b>\'>a</p>',
    '<p title=\'<b class="notranslate" origval="v">ANN</b>\'>A</p>',
  ],
])(
  'an HTML element with the class notranslate gets the value of origval as content: %s',
  (_, html, wanted) => {
    expect(result(html, 'html')).toBe(wanted);
  },
);

test('the attribute origval replaces the content of an XLIFF element with the class notranslate only in the target, not in source and alt-trans', () => {
  const tag = '<mrk mtype="x" class="notranslate" origval="v">Ann</mrk>';
  const text = xliff(
    `<trans-unit id="1"><source>Hi ${tag}</source><alt-trans><target>Hi ${tag}</target></alt-trans></trans-unit>`,
  );
  const after = result(text, 'xliff');
  expect(after).toBe(text.replace('</source>', `</source><target>HI ${tag.replace('Ann', 'v')}</target>`));
});

test('the attribute origval replaces the content of XLIFF elements with the class notranslate, also in a unit with translate="no", but not of self-closed elements', () => {
  const text = xliff(
    '<trans-unit id="1" translate="no"><source>Hi <ph id="1" class="notranslate" origval="v">Ann</ph><x id="2" class="notranslate" origval="w"/></source></trans-unit>',
  );
  expect(content(result(text, 'xliff'))).toBe(
    'Hi <ph id="1" class="notranslate" origval="v">v</ph><x id="2" class="notranslate" origval="w"/>',
  );
});

/** HTML as most tools write it in XLIFF 1.2: the tags are escaped in the native code of inline elements. */
const start = '&lt;span class="notranslate" origval="%CUSTOMER%"&gt;';
const stop = '&lt;/span&gt;';
const native: [string, string, string, string[]][] = [
  [
    'bpt and ept',
    `Dear <bpt id="1">${start}</bpt>red house<ept id="1">${stop}</ept>, welcome`,
    `DEAR <bpt id="1">${start}</bpt>%CUSTOMER%<ept id="1">${stop}</ept>, WELCOME`,
    ['Dear [red house], welcome'],
  ],
  [
    'bpt and an ept without content',
    `Dear <bpt id="1" rid="2">${start}</bpt>red house<ept id="7" rid="2"/>, <bpt id="3"/>you<ept id="3"/>`,
    `DEAR <bpt id="1" rid="2">${start}</bpt>%CUSTOMER%<ept id="7" rid="2"/>, <bpt id="3"/>YOU<ept id="3"/>`,
    ['Dear [red house], |you|'],
  ],
  [
    'it',
    `Dear <it id="1" pos="open">${start}</it>red house<it id="2" pos="close">${stop}</it>, welcome`,
    `DEAR <it id="1" pos="open">${start}</it>%CUSTOMER%<it id="2" pos="close">${stop}</it>, WELCOME`,
    ['Dear [red house], welcome'],
  ],
  [
    'two ph',
    `Dear <ph id="1">${start}</ph>red house<ph id="2">${stop}</ph>, welcome`,
    `DEAR <ph id="1">${start}</ph>%CUSTOMER%<ph id="2">${stop}</ph>, WELCOME`,
    ['Dear [red house], welcome'],
  ],
  [
    'one ph',
    `Dear <ph id="1">${start}red house${stop}</ph>, welcome`,
    `DEAR <ph id="1">${start}%CUSTOMER%${stop}</ph>, WELCOME`,
    ['Dear [red house], welcome'],
  ],
  [
    'one ph, in CDATA',
    'Dear <ph id="1"><![CDATA[<b class="notranslate" origval="a&amp;b">x</b>]]></ph>, welcome',
    'DEAR <ph id="1"><![CDATA[<b class="notranslate" origval="a&amp;b">a&amp;b</b>]]></ph>, WELCOME',
    ['Dear [x], welcome'],
  ],
  [
    'one ph, without content',
    'Dear <ph id="1">&lt;span class="notranslate" origval="%N%"/&gt;</ph>, welcome',
    'DEAR <ph id="1">&lt;span class="notranslate" origval="%N%"&gt;%N%&lt;/span&gt;</ph>, WELCOME',
    ['Dear [], welcome'],
  ],
  [
    'elements of the same name inside',
    `A <bpt id="1">${start}</bpt>b <bpt id="2">&lt;span&gt;</bpt>c<ept id="2">${stop}</ept> d<ept id="1">${stop}</ept> e`,
    `A <bpt id="1">${start}</bpt>%CUSTOMER%<ept id="1">${stop}</ept> E`,
    ['A [b c d] e'],
  ],
  [
    'a pair that crosses it stays a pair',
    `A <bpt id="1">${start}</bpt>b <bpt id="2">&lt;i&gt;</bpt>c<ept id="1">${stop}</ept> d<ept id="2">&lt;/i&gt;</ept> e`,
    `A <bpt id="1">${start}</bpt>B <bpt id="2">&lt;i&gt;</bpt>C<ept id="1">${stop}</ept> D<ept id="2">&lt;/i&gt;</ept> E`,
    ['A |b |c| d| e'],
  ],
  [
    'attributes with a prefix',
    'Dear <g id="1" h:class="notranslate" h:origval="%C%">red house</g>, welcome',
    'DEAR <g id="1" h:class="notranslate" h:origval="%C%">%C%</g>, WELCOME',
    ['Dear [red house], welcome'],
  ],
  [
    'an element without content',
    'Dear <g id="1" class="notranslate" origval="&lt;C&gt;"/>, welcome',
    'DEAR <g id="1" class="notranslate" origval="&lt;C&gt;">&lt;C&gt;</g>, WELCOME',
    ['Dear [], welcome'],
  ],
];

describe('an element with the class notranslate and the attribute origval in native codes of XLIFF', () => {
  test.each(native)('gets the value of origval as content: %s', (_, source, wanted, engine) => {
    expect(sent(unit(source), 'xliff')).toEqual(engine);
    expect(content(result(unit(source), 'xliff'))).toBe(wanted);
  });
});
