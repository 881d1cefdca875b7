import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkVtt } from '../../test/checks.ts';
import { faulty, silent, upperCasing } from '../../test/engines.ts';
import { result, sent } from '../../test/helpers.ts';
import { describe as describeSegments, scan, segments } from '../documents.ts';

const cues = (...texts: string[]) =>
  `WEBVTT\n\n${texts.map((text, at) => `00:0${at}.000 --> 00:0${at + 1}.000\n${text}\n\n`).join('')}`;

/** Documents whose cues have the text `house`, the only one that is translated. */
test.each([
  [
    'a header with text and metadata',
    'WEBVTT - Film\nKind: captions\nLanguage: en\n\n00:01.000 --> 00:02.000\nhouse',
  ],
  ['a byte order mark and CR LF', '\ufeffWEBVTT\r\n\r\n00:01.000 --> 00:02.000\r\nhouse\r\n'],
  ['CR', 'WEBVTT\r\r1\r00:01.000 --> 00:02.000\rhouse\r\rNOTE a\r'],
  ['a time line right after the header', 'WEBVTT\n00:01.000 --> 00:02.000\nhouse\n'],
  [
    'comments, styles and regions',
    'WEBVTT\n\nNOTE of\nthe author\n\nSTYLE\n::cue(b) { color: red }\n\nREGION\nid:fred\n\n00:01.000 --> 00:02.000\nhouse\n\nNOTE end',
  ],
  [
    'identifiers and settings',
    'WEBVTT\n\nchapter one\n100:00:01.000 --> 100:00:02.000 line:0 align:start region:fred\nhouse\n',
  ],
  ['unknown settings', 'WEBVTT\n\n\t00:01.000-->00:02.000 algn:x 1%\nhouse\n'],
  ['text outside cues', 'WEBVTT\n\n00:01.000 --> 00:02.000\nhouse\n\nlost text\n'],
  ['a line of spaces in a cue', 'WEBVTT\n\n00:01.000 --> 00:02.000\n \nhouse\n'],
  [
    'two cues without an empty line between them',
    'WEBVTT\n\n00:01.000 --> 00:02.000\n00:02.000 --> 00:03.000\nhouse\n',
  ],
  [
    'a wrong time line',
    'WEBVTT\n\n00:01,000 --> 00:02,000\nlost\n\n00:01.000 --> 00:61.000\nlost\n\n00:01.000 --> 00:02.000\nhouse\n',
  ],
  ['no arrow', 'WEBVTT\n\nid\nlost\n\n00:01.000 --> 00:02.000\nhouse'],
])('WebVTT: of a document with %s, only the text of cues changes', (_, text) => {
  expect(result(text, 'vtt', silent)).toBe(text);
  expect(result(text, 'vtt')).toBe(text.replace('house', 'HOUSE'));
});

test('WebVTT: times with and without hours are read', () => {
  const text = 'WEBVTT\n\n59:01.000 --> 01:00:02.500 line:0\nhouse\n';
  expect(describeSegments(scan(text, 'vtt'), 'en')[0]!.time).toEqual({ from: 3_541_000, to: 3_602_500 });
});

describe('segments of WebVTT cues', () => {
  test.each([
    ['a class', cues('The <c.loud.red>big</c> house'), ['The |big| house']],
    [
      'bold, italic and underlined text',
      cues('<b>The</b> <i.x>big</i> <u>house</u>'),
      ['|The| |big| |house|'],
    ],
    ['ruby', cues('The <ruby>house<rt>casa</rt></ruby> is big'), ['The |house|casa|| is big']],
    ['times in the text', cues('The <00:00:00.500><c>big</c> <00:00.700>house'), ['The ||big| |house']],
    ['an unknown tag', cues('The <font color=red>big</font> house'), ['The |big| house']],
    ['a tag that is not closed', cues('I <3 you\nvery much'), ['I']],
    ['a tag with a line break', cues('<v Roger\nBingham>The house'), ['The house']],
    [
      'references',
      cues('a &amp; b &lt; c &gt; d&nbsp;e&lrm; &eacute; &am;'),
      ['a & b < c > d\u00a0e\u200e é &am;'],
    ],
    ['a voice', cues('<v.loud Roger Bingham>The house</v>'), ['The house']],
    ['two voices', cues('<v A>The house <v B>the dog'), ['The house', 'the dog']],
    ['text after a voice', cues('<v A>Hee</v> <i>laughter</i>'), ['Hee', 'laughter']],
    ['voices on two lines', cues('<v A>The house</v>\n<v B>the dog</v>'), ['The house', 'the dog']],
    ['dashes', cues('- The house.\n- The dog'), ['The house.', 'The dog']],
    ['marks of speakers', cues('&gt;&gt; The house\n&gt;&gt; The dog'), ['The house', 'The dog']],
    ['a sentence of one speaker in two cues', cues('<v A>The house', '<v A>is big'), ['The house |is big']],
    ['sentences of two speakers', cues('<v A>The house', '<v B>the dog'), ['The house', 'the dog']],
    ['a sentence in two cues', cues('The house', 'is big'), ['The house is big']],
    [
      'two positions',
      cues('The house', 'the dog').replace('01.000\n', '01.000 line:0\n'),
      ['The house', 'the dog'],
    ],
    ['two colours', cues('<c.red>One</c>\n<c.blue>Two</c>'), ['One', 'Two']],
    ['no text', cues(''), []],
  ])('are the expected sentences of a cue with %s', (_, text, wanted) => {
    expect(sent(text, 'vtt')).toEqual(wanted);
    expect(result(text, 'vtt', silent)).toBe(text);
  });
});

test('WebVTT: text in another language is kept', () => {
  const text = cues(
    '<lang.x es>La casa es grande.</lang>',
    'The <lang fr>mot</lang> is long.',
    'Yes <lang es>no',
  );
  expect(segments(scan(text, 'vtt'), 'en').map(({ kept }) => kept)).toEqual([
    'language',
    undefined,
    undefined,
  ]);
});

test.each([
  ['a --> b', 'a --&gt; b'],
  ['a & <b>\n\n00:09.000 --> 00:10.000\nc', 'a &amp; &lt;b&gt;\n00:09.000 --&gt; 00:10.000\nc'],
  ['x\u00a0y\u200ez\u200f', 'x&nbsp;y&lrm;z&rlm;'],
  ['\r\n\r\n', ''],
])('WebVTT: the translation %j is written so that it does not end its cue', (words, written) => {
  const text = cues('The&nbsp;house&lrm;', 'Bye.');
  const made = result(text, 'vtt', (pieces) => [
    { text: pieces.some((one) => 'text' in one && one.text === 'Bye.') ? 'BYE.' : words },
  ]);
  expect(made).toBe(cues(written, 'BYE.'));
  expect(scan(made, 'vtt').units).toHaveLength(2);
});

test('WebVTT: an empty translation leaves no empty line', () => {
  const text = cues('A: One\nB: Two\nC: Three');
  const made = result(text, 'vtt', () => [{ text: '' }]);
  expect(made).toBe(cues(' \n \n'));
});

test.each(['', 'Hello', 'WEBVTTx\n', ' WEBVTT\n', 'webvtt\n'])(
  'WebVTT: the text %j has no header',
  (text) => {
    expect(() => scan(text, 'vtt')).toThrow(/not WebVTT.*line 1,/);
  },
);

test.each(['WEBVTT', '\ufeffWEBVTT\t', 'WEBVTT\n\nNOTE a\n'])('WebVTT: the text %j has no cues', (text) => {
  expect(scan(text, 'vtt', { isNew: true }).units).toEqual([]);
});

test.each([
  '00:00:05,000 --> 00:00:06,000',
  '00:00:05.000 -> 00:00:06.000',
  '00:00:05.000 → 00:00:06.000',
  '0:05.000 --> 0:06.000',
  '00:05.00 --> 00:06.00',
  '00:65.000 --> 00:66.000',
])('WebVTT: the line %j, which only looks like a time line, is rejected with its number', (line) => {
  const text = `${cues('The house.')}2\n${line}\nThe dog.\n`;
  expect(() => scan(text, 'vtt', { isNew: true })).toThrow(/two times and an arrow.*line 7,/);
  expect(result(text, 'vtt')).toBe(text.replace('The house.', 'THE HOUSE.'));
});

const ends = fc.constantFrom('\n', '\r\n', '\r', '\r\r\n');
const line = fc.constantFrom(
  ...[
    'Hello there.',
    'it goes on',
    '- You?',
    '<i>Yes</i>',
    '<v A>Top',
    '<v Bo\nb>so</v> then',
    '',
    ' ',
    '12',
    'NOTE a',
  ],
  ...[
    '<c.red>x y</c>',
    'a &amp; b&nbsp;c',
    '<b>open',
    '[noise]',
    '--> arrow',
    'a --',
    '> b',
    '你好吗&amp;我',
    '>> fun',
    '<',
  ],
  ...[
    '<00:01.000>A long line of text that will have to be broken in two parts at least.',
    'A: b',
    '<lang es>la casa',
  ],
  ...['00:01.000 --> 00:02.000', '00:00:02.100 --> 00:00:03.000 line:0', '00:01,000 --> 00:02,000'],
);
const documents = fc
  .tuple(ends, fc.array(line, { maxLength: 24 }))
  .map(([end, lines]) => ['WEBVTT', ...lines].join(end));

test.each([
  ['silent', () => silent],
  ['upperCasing', () => upperCasing],
  ['faulty', faulty],
  ['empty', () => () => [{ text: '' }]],
] as const)('random WebVTT keeps everything outside cues with a %s engine', (name, engine) => {
  fc.assert(
    fc.property(documents, fc.integer({ min: 1 }), (text, seed) => {
      const made = result(text, 'vtt', engine(seed));
      if (name === 'silent') expect(made).toBe(text);
      expect(checkVtt(text, made)).toEqual([]);
      expect(scan(made, 'vtt').units.length).toBe(scan(text, 'vtt').units.length);
    }),
  );
});
