/**
 * Tests documents just below and just above every limit, and hostile documents. The benchmarks measure how long such
 * documents take.
 */

import { describe, expect, test } from 'vitest';
import { DocumentError, type Format, Limits, rebuild, scan, segments } from '../src/documents.ts';
import { silent, translate } from './engines.ts';
import { result, xliff } from './helpers.ts';

const unit = (source: string) => `<trans-unit id="1"><source>${source}</source></trans-unit>`;

function message(text: string, format: Format): string {
  try {
    scan(text, format);
  } catch (error) {
    expect(error).toBeInstanceOf(DocumentError);
    expect((error as DocumentError).line).toBeGreaterThan(0);
    expect((error as DocumentError).column).toBeGreaterThan(0);
    return (error as DocumentError).message;
  }
  return '';
}

const groups = (count: number) => xliff(`${'<group>'.repeat(count)}${unit('a')}${'</group>'.repeat(count)}`);
/**
 * The levels of nesting that the test document has in addition to the groups: xliff, file and body around
 * the groups, trans-unit and source inside.
 */
const around = 5;
const attributes = (count: number) => Array.from({ length: count }, (_, index) => ` a${index}="1"`).join('');
const html = (depth: number) => `${'<div>'.repeat(depth)}a${'</div>'.repeat(depth)}`;

const rows: [string, Format, string, string, RegExp][] = [
  ['bytes', 'text', 'é'.repeat(Limits.bytes / 2), 'é'.repeat(Limits.bytes / 2 + 1), /longer than 10 MiB/],
  [
    // The one-byte letter at the start moves every chunk border of the byte counter into the middle of a
    // surrogate pair.
    'bytes of pairs',
    'text',
    `a${'😀'.repeat(Limits.bytes / 4 - 1)}abc`,
    `a${'😀'.repeat(Limits.bytes / 4 - 1)}abcd`,
    /longer than 10 MiB/,
  ],
  [
    'bytes of wide letters',
    'text',
    `${'中'.repeat(Math.floor(Limits.bytes / 3))}a`,
    `${'中'.repeat(Math.floor(Limits.bytes / 3))}ab`,
    /longer than 10 MiB/,
  ],
  [
    'XML depth',
    'xliff',
    groups(Limits.xmlDepth - around),
    groups(Limits.xmlDepth - around + 1),
    /nested more than 256/,
  ],
  ['HTML depth', 'html', html(Limits.htmlDepth), html(Limits.htmlDepth + 1), /nested more than 512/],
  [
    'XML attributes',
    'xliff',
    xliff(`<group${attributes(Limits.attributes)}/>${unit('a')}`),
    xliff(`<group${attributes(Limits.attributes + 1)}/>${unit('a')}`),
    /more than 256 attributes/,
  ],
  [
    'HTML attributes',
    'html',
    `<p${attributes(Limits.attributes)}>a`,
    `<p${attributes(Limits.attributes + 1)}>a`,
    /more than 256 attributes/,
  ],
  [
    'XML tag',
    'xliff',
    xliff(`<group a="${'x'.repeat(Limits.xmlTag - 13)}"/>${unit('a')}`),
    xliff(`<group a="${'x'.repeat(Limits.xmlTag - 12)}"/>${unit('a')}`),
    /tag is longer/,
  ],
  [
    'HTML tag',
    'html',
    `<p a="${'x'.repeat(Limits.htmlTag - 8)}">a`,
    `<p a="${'x'.repeat(Limits.htmlTag - 7)}">a`,
    /tag is longer/,
  ],
  [
    'XML unit',
    'xliff',
    xliff(unit('x '.repeat(Limits.unit / 2))),
    xliff(unit(`${'x '.repeat(Limits.unit / 2)}y`)),
    /unit is longer/,
  ],
  [
    'HTML paragraph',
    'html',
    `<p>${'x '.repeat(Limits.unit / 2)}`,
    `<p>${'x '.repeat(Limits.unit / 2)}y`,
    /paragraph is longer/,
  ],
  [
    'XML codes',
    'xliff',
    xliff(unit(`a${'<x id="1"/>'.repeat(Limits.codes)}`)),
    xliff(unit(`a${'<x id="1"/>'.repeat(Limits.codes + 1)}`)),
    /more than 500 inline elements/,
  ],
  ['lines', 'text', 'a\n'.repeat(Limits.units), 'a\n'.repeat(Limits.units + 1), /more than 250000 lines/],
  [
    'paragraphs',
    'html',
    'a<p>'.repeat(Limits.units),
    'a<p>'.repeat(Limits.units + 1),
    /more than 250000 paragraphs/,
  ],
];

test.each(rows)(
  'limit of %s: a document just below the limit is accepted, and a document just above it is rejected',
  (_, format, under, over, wanted) => {
    expect(message(under, format)).toBe('');
    expect(message(over, format)).toMatch(wanted);
  },
);

test('scan rejects NUL and lone surrogates and names their position', () => {
  expect(message('a\nb\0', 'text')).toBe('The text contains the character NUL (U+0000). (line 2, column 2)');
  expect(message('a\r\nbc\ud800d', 'html')).toBe(
    'The text contains half a character (a lone surrogate). (line 2, column 3)',
  );
});

const hostile: [string, Format, string][] = [
  [
    'billion laughs',
    'xliff',
    '<!DOCTYPE xliff [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><xliff version="1.2">&b;</xliff>',
  ],
  [
    'an external entity',
    'xliff',
    '<!DOCTYPE xliff [<!ENTITY a SYSTEM "file:///etc/passwd">]><xliff version="1.2">&a;</xliff>',
  ],
  ['200,000 levels of XML', 'xliff', `<xliff version="1.2">${'<g>'.repeat(200_000)}`],
  ['200,000 attributes in XML', 'xliff', `<xliff version="1.2"${attributes(200_000)}/>`],
  ['100,000 levels of HTML', 'html', '<div>'.repeat(100_000)],
];
test.each(hostile)('scan rejects a hostile document: %s', (_, format, text) => {
  expect(message(text, format)).not.toBe('');
});

const odd: [string, Format, string][] = [
  ['a million <', 'html', '<'.repeat(1_000_000)],
  ['a million &', 'html', '&'.repeat(90_000)],
  ['stray end tags', 'html', '</b>'.repeat(100_000)],
  ['open inline tags', 'html', '<br>a<i>'.repeat(500)],
  ['comments that never end', 'html', '<!--'.repeat(100_000)],
  ['templates that never end', 'html', '<%'.repeat(100_000)],
  ['braces', 'text', '{'.repeat(200_000)],
  ['double braces', 'text', '{{a'.repeat(100_000)],
  ['messages that never end', 'text', '{n,plural,'.repeat(20_000)],
  ['percent signs', 'text', '%'.repeat(200_000)],
  ['at signs', 'text', 'a@'.repeat(100_000)],
  ['dots', 'text', '. '.repeat(100_000)],
  ['one long word', 'text', 'a'.repeat(1_000_000)],
  ['one long line of sentences', 'text', 'It is so. '.repeat(50_000)],
  ['one long line without marks', 'text', '你'.repeat(300_000)],
  ['addresses', 'text', 'http://'.repeat(50_000)],
  ['combining marks', 'text', `a${'\u0301'.repeat(200_000)}`],
  ['digits before a time line', 'srt', `${'1'.repeat(100_000)}\n00:00:01,000 --> 00:00:02,000\na`],
  ['open tags in a cue', 'srt', `00:00:01,000 --> 00:00:02,000\n${'<i>a '.repeat(20_000)}`],
  ['cues that never end a sentence', 'srt', '00:00:01,000 --> 00:00:02,000\nand so on\n\n'.repeat(20_000)],
  ['escaped tags', 'xliff', xliff(unit('&lt;b&gt;a'.repeat(9_000)))],
  ['escaped notranslate', 'xliff', xliff(unit('&lt;b class="notranslate" origval="x"&gt;'.repeat(2_000)))],
  ['many CDATA sections', 'xliff', xliff(unit('<![CDATA[a]]> b '.repeat(5_000)))],
  ['many units with CDATA', 'xliff', xliff(unit('a <![CDATA[b]]>').repeat(5_000))],
];
describe('an unusual but valid document', () => {
  test.each(odd)(
    'is divided into segments of at most the maximum length and rebuilt unchanged: %s',
    (_, format, text) => {
      const document = scan(text, format);
      for (const { pieces } of segments(document, 'en')) {
        const size = pieces.reduce((sum, piece) => sum + ('text' in piece ? piece.text.length : 0), 0);
        expect(size).toBeLessThanOrEqual(Limits.segment);
      }
      const after = rebuild(document, translate(document, 'en', silent), 'de');
      if (format !== 'xliff') expect(after).toBe(text);
    },
  );
});

test('a scanned document can be cloned, so that it can be sent to another thread', () => {
  for (const [text, format] of [
    ['One {x}.\nTwo.', 'text'],
    ['<p>a <b class="notranslate" origval="x">b</b> c</p>', 'html'],
    ['00:00:01,000 --> 00:00:02,000\n<i>a</i> b', 'srt'],
    [xliff(unit('a <![CDATA[b]]> <ph id="1">c<sub>d</sub></ph>')), 'xliff'],
  ] as const) {
    const document = scan(text, format);
    const copy = structuredClone(document);
    expect(copy).toEqual(document);
    expect(rebuild(copy, translate(copy, 'en', silent), 'de')).toBe(result(text, format, silent));
  }
});
