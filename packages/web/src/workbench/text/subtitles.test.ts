import { expect, test } from 'vitest';
import { cuesOf, speedOf } from './subtitles.ts';

test('parsing subtitles returns their times and their texts without tags', () => {
  const [first, second] = cuesOf(
    '1\r\n00:00:01,000 --> 00:00:03,500\r\n<i>Guten</i>\r\nTag\r\n\r\n2\r\n00:01:00.000 --> 00:01:02.000\r\n{\\an8}Ja\r\n',
  );
  expect(first).toEqual({
    number: 1,
    timing: '00:00:01,000 --> 00:00:03,500',
    from: 1_000,
    to: 3_500,
    text: 'Guten\nTag',
  });
  expect(speedOf(first!)).toBe(4);
  expect(second).toMatchObject({ from: 60_000, to: 62_000, text: 'Ja' });
  expect(cuesOf('WEBVTT\n\n00:01.000 --> 00:02.500 line:0\n<v Bo>a &lt; &amp;lt;\n')).toMatchObject([
    { number: 1, from: 1_000, to: 2_500, text: 'a < &lt;' },
  ]);
  expect(cuesOf('no subtitles')).toEqual([]);
});
