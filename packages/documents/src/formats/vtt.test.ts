import { expect, test } from 'vitest';
import { silent } from '../../test/engines.ts';
import { result, sent } from '../../test/helpers.ts';
import { describe, scan, segments } from '../documents.ts';

/** Returns a document with a cue for each text between empty lines. */
const film = (texts: string) =>
  texts
    .split('\n\n')
    .reduce((all, text, at) => `${all}00:0${at}.000 --> 00:0${at + 1}.000\n${text}\n\n`, 'WEBVTT\n\n');

const WHOLE = `WEBVTT - Film
Kind: captions

NOTE of
the author

STYLE
::cue(b) { color: red }

REGION
id:fred

chapter one
100:00:01.000 --> 100:00:02.000 line:0 align:start region:fred
house

\t00:01.000-->00:02.000 algn:x 1%
${' '}
house

lost text

00:01.000 --> 00:02.000
00:02.000 --> 00:03.000
house

00:01,000 --> 00:02,000
lost

00:01.000 --> 00:61.000
lost

id
lost

NOTE end`;

test.each(['\n', '\r\n', '\r'])(
  'WebVTT: only the text of cues changes in a document with the line end %j',
  (end) => {
    for (const text of [WHOLE, `\ufeff${WHOLE}\n`, 'WEBVTT\n00:01.000 --> 00:02.000\nhouse\n']) {
      const sent = text.replaceAll('\n', end);
      expect(result(sent, 'vtt', silent)).toBe(sent);
      expect(result(sent, 'vtt')).toBe(sent.replaceAll('house', 'HOUSE'));
    }
  },
);

test('WebVTT: times with and without hours are read', () => {
  const text = 'WEBVTT\n\n59:01.000 --> 01:00:02.500 line:0\nhouse\n';
  expect(describe(scan(text, 'vtt'), 'en')[0]!.time).toEqual({ from: 3_541_000, to: 3_602_500 });
});

test.each([
  ['The <c.loud.red>big</c> house', 'The |big| house'],
  ['<b>The</b> <i.x>big</i> <u>house</u>', '|The| |big| |house|'],
  ['The <ruby>house<rt>casa</rt></ruby> is big', 'The |house|casa|| is big'],
  ['The <00:00:00.500><c>big</c> <00:00.700>house', 'The ||big| |house'],
  ['The <font color=red>big</font> house', 'The |big| house'],
  ['I <3 you\nvery much', 'I'],
  ['<v Roger\nBingham>The house', 'The house'],
  ['a &amp; b &lt; c &gt; d&nbsp;e&lrm; &eacute; &am;', 'a & b < c > d\u00a0e\u200e é &am;'],
  ['<v.loud Roger Bingham>The house</v>', 'The house'],
  ['<v A>The house <v B>the dog', 'The house / the dog'],
  ['<v A>Hee</v> <i>laughter</i>', 'Hee / laughter'],
  ['<v A>The house</v>\n<v B>the dog</v>', 'The house / the dog'],
  ['- The house.\n- The dog', 'The house. / The dog'],
  ['&gt;&gt; The house\n&gt;&gt; The dog', 'The house / The dog'],
  ['<v A>The house\n\n<v A>is big', 'The house |is big'],
  ['<v A>The house\n\n<v B>the dog', 'The house / the dog'],
  ['The house\n\nis big', 'The house is big'],
  ['<c.red>One</c>\n<c.blue>Two</c>', 'One / Two'],
  ['', ''],
])('WebVTT: the cues %j have the expected sentences', (cues, wanted) => {
  expect(sent(film(cues), 'vtt').join(' / ')).toEqual(wanted);
  expect(result(film(cues), 'vtt', silent)).toBe(film(cues));
});

test('WebVTT: a sentence ends before a cue in another place', () => {
  const text = film('The house\n\nthe dog').replace('01.000\n', '01.000 line:0\n');
  expect(sent(text, 'vtt')).toEqual(['The house', 'the dog']);
});

test('WebVTT: text in another language is kept', () => {
  const text = film(
    '<lang.x es>La casa es grande.</lang>\n\nThe <lang fr>mot</lang> is long.\n\nYes <lang es>no',
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
  expect(result(film('The&nbsp;house&lrm;'), 'vtt', () => [{ text: words }])).toBe(film(written));
});

test('WebVTT: an empty translation leaves no empty line in its cue', () => {
  expect(result(film('A: One\nB: Two\nC: Three'), 'vtt', () => [{ text: '' }])).toBe(film(' \n \n'));
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
  ...['00:00:05,000 --> 00:00:06,000', '00:00:05.000 -> 00:00:06.000', '00:00:05.000 → 00:00:06.000'],
  ...['0:05.000 --> 0:06.000', '00:05.00 --> 00:06.00', '00:65.000 --> 00:66.000'],
])('WebVTT: the line %j, which only looks like a time line, is rejected with its number', (line) => {
  const text = `${film('The house.')}2\n${line}\nThe dog.\n`;
  expect(() => scan(text, 'vtt', { isNew: true })).toThrow(/two times and an arrow.*line 7,/);
  expect(result(text, 'vtt')).toBe(text.replace('The house.', 'THE HOUSE.'));
});
