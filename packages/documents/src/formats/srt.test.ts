import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkSrt, checkVtt } from '../../test/checks.ts';
import { faulty, silent, upperCasing } from '../../test/engines.ts';
import { result, sent } from '../../test/helpers.ts';
import { scan } from '../documents.ts';
import { readTimes } from './srt.ts';

const cue = (number: number, from: string, to: string, text: string) =>
  `${number}\n00:00:${from} --> 00:00:${to}\n${text}\n\n`;

test.each([
  ['00:00:01,000 --> 00:00:04,500', { from: 1_000, to: 4_500 }],
  ['0:0:1.5 --> 0:0:2', { from: 1_500, to: 2_000 }],
  ['100:00:00,000-->100:00:01,000 ', { from: 360_000_000, to: 360_001_000 }],
  ['00: 00: 01,000 --> 00 :00 :02,000', { from: 1_000, to: 2_000 }],
  ['00:00:20,000 --> 00:00:24,400 X1:100 X2:600 Y1:050 Y2:100', { from: 20_000, to: 24_400 }],
  ['one --> two', undefined],
  [`00:00:01,000 --> 00:00:02,000${' '.repeat(200)}`, undefined],
])('readTimes parses the SRT time line %j', (line, wanted) => {
  expect(readTimes(line)).toEqual(wanted);
});

test('SRT: a cue without letters in the middle of a sentence stays unchanged', () => {
  const house = cue(1, '01,0', '02,0', 'The house');
  const numbers = cue(2, '02,0', '03,0', '7\n8');
  expect(result(house + numbers, 'srt')).toBe(house.replace('The house', 'THE HOUSE') + numbers);
});

describe('segments of SRT cues', () => {
  test.each([
    [cue(1, '01,0', '02,0', 'Two lines\nof one cue.'), ['Two lines of one cue.']],
    [cue(1, '01,0', '02,0', '- Hi.\n- Hello you.'), ['Hi.', 'Hello you.']],
    [cue(1, '01,0', '02,0', '<i>Hi</i> {\\an8}there &amp; here'), ['|Hi| |there & here']],
    [cue(1, '01,0', '02,0', '2<3 and <unknown>'), ['2<3 and <unknown>']],
    [cue(1, '01,0', '02,0', 'a\n\nb'), ['a', 'b']],
    [cue(1, '01,0', '02,0', '-5 degrees'), ['-5 degrees']],
    [cue(1, '01,0', '02,0', ''), []],
    [
      cue(1, '01,0', '02,0', 'It goes on') + cue(2, '02,1', '03,0', 'in the next. And new.'),
      ['It goes on in the next.', 'And new.'],
    ],
    [cue(1, '01,0', '02,0', 'A pause') + cue(2, '03,5', '04,0', 'between them'), ['A pause', 'between them']],
    [
      cue(1, '01,0', '02,0', 'The house') +
        cue(2, '02,0', '03,0', '<i>7\n8</i>') +
        cue(3, '03,0', '04,0', 'is big'),
      ['The house', 'is big'],
    ],
    [cue(1, '01,0', '02,0', 'A title') + cue(2, '02,0', '04,0', '- Who?'), ['A title', 'Who?']],
    [cue(1, '01,0', '02,0', '>> The house.\n>> The dog'), ['The house.', 'The dog']],
    [cue(1, '01,0', '02,0', 'MAN 1: The house\nMAN 2: The dog'), ['MAN 1: The house', 'MAN 2: The dog']],
    [cue(1, '01,0', '02,0', '♪ The house ♪\n♪ The dog ♪'), ['♪ The house ♪', '♪ The dog ♪']],
    [cue(1, '01,0', '02,0', '<font color="red">One</font>\n<font color="blue">Two</font>'), ['One', 'Two']],
    [cue(1, '01,0', '02,0', '{\\an8}The house\n{\\an2}The dog'), ['The house', 'The dog']],
    [cue(1, '01,0', '02,0', '• One\n2. Two'), ['One', 'Two']],
    [cue(1, '01,0', '02,0', 'John: Hello\nMary: Hi'), ['John: Hello', 'Mary: Hi']],
    [cue(1, '01,0', '02,0', 'I think so\n(laughs)'), ['I think so', '(laughs)']],
    [
      cue(1, '01,0', '02,0', '<i>[door opens]</i>\nIt goes\n(very) well'),
      ['[door opens]', 'It goes (very) well'],
    ],
    [
      cue(1, '01,0', '02,0', 'He said <i>yes</i> (I think)\nand left.\n') +
        cue(2, '03,5', '04,0', 'I saw John\n(my brother)\nat home.'),
      ['He said |yes| (I think) and left.', 'I saw John (my brother) at home.'],
    ],
    [cue(1, '01,0', '02,0', 'Man #1: yes\nMan #2: no\n¶ la ¶'), ['Man #1: yes', 'Man #2: no', '¶ la ¶']],
    [
      cue(1, '01,0', '02,0', '\\h\\hOne\\NTwo <00:00:01.500>words C:\\Name'),
      ['One', 'Two |words [C:\\Name]'],
    ],
    [
      cue(1, '01,0', '02,0', 'The house is big') + cue(2, '02,0', '04,0', '{\\an8}RED HOUSE'),
      ['The house is big', 'RED HOUSE'],
    ],
    [cue(1, '01,0', '02,0', '今天天气') + cue(2, '02,0', '04,0', '很好'), ['今天天气', '很好']],
  ] as [string, string[]][])('are the expected sentences for %j', (text, wanted) => {
    expect(sent(text, 'srt')).toEqual(wanted);
  });
});

test('SRT: the translation of a sentence in two cues is divided between these cues, and each cue keeps its markup', () => {
  const text =
    cue(1, '01,0', '02,0', '<i>I told you that</i>') +
    cue(2, '02,1', '03,0', 'this would <b>happen</b> one day.');
  expect(result(text, 'srt')).toBe(text.replace(/[a-z](?![^<]*>)/g, (letter) => letter.toUpperCase()));
  const short = result(text, 'srt', (pieces) => [
    ...pieces.filter((piece) => !('text' in piece)),
    { text: 'Ich sagte es dir doch schon lange.' },
  ]);
  expect(short).toBe(
    cue(1, '01,0', '02,0', '<i></i>Ich sagte es').replace('<i></i>', '<i></i>') +
      cue(2, '02,1', '03,0', '<b></b>dir doch schon lange.'),
  );
});

test('layOut returns one line when the text fits, otherwise two lines of about the same length', () => {
  const text = cue(1, '01,0', '02,0', 'Short\ntext here.');
  expect(result(text, 'srt')).toBe(cue(1, '01,0', '02,0', 'SHORT TEXT HERE.'));
  const long = result(text, 'srt', () => [
    { text: 'This is a much longer text than the source had in it, really.' },
  ]);
  expect(long).toBe(cue(1, '01,0', '02,0', 'This is a much longer text than\nthe source had in it, really.'));
  const terms = result(
    cue(1, '01,0', '02,0', 'Welcome to our big { -brand-name }, { $userName } now!'),
    'srt',
  );
  expect(terms).toContain('WELCOME TO OUR BIG { -brand-name },\n{ $userName } NOW!');
});

test('SRT: line breaks in a translation are preserved', () => {
  const said = (source: string, ...targets: string[]) => {
    let next = 0;
    return result(cue(1, '01,0', '02,0', source), 'srt', () => [{ text: targets[next++]! }]);
  };
  const wanted = (text: string) => cue(1, '01,0', '02,0', text);
  expect(said('Short text here.', 'Der Wind war stärker\nals alles.')).toBe(
    wanted('Der Wind war stärker\nals alles.'),
  );
  // Empty lines are removed, because an empty line would end the cue.
  expect(said('Short text here.', 'Der Wind \n\n als alles.')).toBe(wanted('Der Wind\nals alles.'));
  expect(said('One.\nTwo.', 'Eins\nund.', 'Zwei.')).toBe(wanted('Eins\nund. Zwei.'));
  expect(said('- Hi there.\n- Hello you.', 'Na\nda.', 'Hallo.')).toBe(wanted('- Na\nda.\n- Hallo.'));
});

test('SRT: a translation that contains a time line does not create a cue', () => {
  const text = cue(1, '01,0', '02,0', 'Hello there.') + cue(2, '03,5', '04,0', 'Bye now.');
  for (const words of [
    '00:00:05,000 --> 00:00:06,000',
    'a\n\n9\n00:00:05,000 --> 00:00:06,000\nb',
    '--&gt;',
    '\r\n\r\n',
  ]) {
    const forged = result(text, 'srt', () => [{ text: words }]);
    expect(checkSrt(text, forged)).toEqual([]);
    expect(scan(forged, 'srt').units.length).toBe(2);
  }
});

test.each([
  '00:05,000 --> 00:06,000',
  '00:00:05,000 -> 00:00:06,000',
  '00:00:05,000 –> 00:00:06,000',
  '00:00:05,000 → 00:00:06,000',
  '00:00:05:000 --> 00:00:06:000',
  '00:00:05，000 --> 00:00:06，000',
  '٠٠:٠٠:٠٥,٠٠٠ --> ٠٠:٠٠:٠٦,٠٠٠',
  '-00:00:05,000 --> 00:00:06,000',
  '00:00:05,000 --> 00:00:06,000 The dog',
])('SRT: the line %j, which only looks like a time line, is rejected with its number', (line) => {
  const text = `${cue(1, '01,0', '02,0', 'The house.')}2\n${line}\nThe dog.\n`;
  expect(() => scan(text, 'srt', { isNew: true })).toThrow(/two times and an arrow.*line 6,/);
});

test.each(['Open 9:00 → 17:00 every day.', 'See John 3:16 -> 4:2'])(
  'SRT: the text %j is accepted',
  (line) => {
    const text = cue(1, '01,0', '02,0', line);
    expect(scan(text, 'srt', { isNew: true }).units).toHaveLength(1);
  },
);

test('SRT: settings of WebVTT after the times are kept', () => {
  const text = '1\n00:00:03.000 --> 00:00:04.000 align:start position:0%\nThe house.\n';
  expect(result(text, 'srt')).toBe(text.replace('The house.', 'THE HOUSE.'));
});

test('SRT: a text without a time line is rejected', () => {
  expect(() => scan('Hello\n', 'srt')).toThrow(/not SRT/);
});

const ends = fc.constantFrom('\n', '\r\n', '\r', '\r\r\n');
const lines = fc.constantFrom(
  ...[
    'Hello there.',
    'it goes on',
    '- You?',
    '<i>Yes</i>',
    '{\\an8}Top',
    '',
    '   ',
    '12',
    '[noise]',
    '--> arrow',
  ],
  ...[
    '<font color="#fff">x y</font>',
    'a &amp; b',
    '<b>open',
    '你好吗',
    '♪ la la ♪',
    '😀 fun',
    'a --',
    '> b',
    '>> c',
  ],
  ...[
    '<v A>Top',
    '<v Bo\nb>so</v> then',
    '<c.red>x y</c>',
    '<lang es>la casa',
    '<',
    'A: b',
    'NOTE a',
    '你好&lrm;吗',
  ],
  'Long line of text that will have to be broken in two parts at least.',
);
const TIMES = {
  srt: ['00:00:01,000 --> 00:00:02,000', '0:0:2.5 --> 0:0:3', '00:00:02,100 --> 00:00:03,000 X1:1 X2:2'],
  vtt: [
    '00:01.000 --> 00:02.000',
    '00:02.100 --> 00:00:03.000',
    '00:00:02.000 --> 00:01.000 line:0',
    '0:01 --> 1',
  ],
};

describe.each(['srt', 'vtt'] as const)('random subtitles in %s', (format) => {
  const cueText = fc.record({
    number: fc.constantFrom('1', '2', '7', undefined),
    time: fc.constantFrom(...TIMES[format]),
    text: fc.array(lines, { maxLength: 4 }),
    blank: fc.nat(2),
  });
  const subtitles = fc
    .tuple(fc.boolean(), ends, fc.array(cueText, { minLength: 1, maxLength: 8 }))
    .map(([bom, end, cues]) => {
      const all = cues.flatMap(({ number, time, text, blank }) => [
        ...(number ? [number] : []),
        ...[time, ...text, ...Array(blank).fill('')],
      ]);
      return (bom ? '\ufeff' : '') + [...(format === 'vtt' ? ['WEBVTT', ''] : []), ...all].join(end);
    });

  test('stay unchanged when the engine changes nothing', () => {
    fc.assert(
      fc.property(subtitles, (text) => {
        expect(result(text, format, silent)).toBe(text);
      }),
    );
  });

  test.each([
    ['upperCasing', () => upperCasing],
    ['faulty', faulty],
    ['empty', () => () => [{ text: '' }]],
  ] as const)('keep the number and the times of their cues with an engine that is %s', (_, engine) => {
    fc.assert(
      fc.property(subtitles, fc.integer({ min: 1 }), (text, seed) => {
        const after = result(text, format, engine(seed));
        const times = (all: string) => all.split(/\r*\n|\r/).filter((line) => readTimes(line));
        if (format === 'srt') expect(times(after)).toEqual(times(text));
        else expect(checkVtt(text, after)).toEqual([]);
        expect(scan(after, format).units.length).toBe(scan(text, format).units.length);
      }),
    );
  });
});
