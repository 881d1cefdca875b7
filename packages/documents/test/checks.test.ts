/** Tests of the test helpers: each check reports planted errors and accepts a correct result. */

import { describe, expect, test } from 'vitest';
import { checkHtml, checkHtmlLoosely, checkSrt, checkXliff } from './checks.ts';
import { xliff } from './helpers.ts';

describe('checkXliff', () => {
  const source = xliff('<trans-unit id="1">\n  <source>a <x id="1"/></source>\n</trans-unit>');
  const put = (target: string) => source.replace('</source>', `</source>\n  ${target}`);
  const right = put('<target>b <x id="1"/></target>');

  test('accepts a correct result', () => expect(checkXliff(source, right)).toEqual([]));

  test.each([
    ['no target', source],
    ['a lost code', put('<target>b</target>')],
    ['a doubled code', put('<target><x id="1"/><x id="1"/></target>')],
    ['another code', put('<target><x id="2"/></target>')],
    ['two targets', put('<target><x id="1"/></target><target><x id="1"/></target>')],
    ['not well-formed', put('<target>& <x id="1"/></target>')],
    ['in the wrong place', source.replace('<source>', '<target>b <x id="1"/></target><source>')],
    ['a changed source', right.replace('<source>a', '<source>b')],
    ['a changed header', right.replace('<header/>', '<header></header>')],
    ['a changed line end', right.replace('\n<file', '\r\n<file')],
  ])('reports an error in the result: %s', (_, result) => {
    expect(checkXliff(source, result)).not.toEqual([]);
  });
});

describe('checkHtml', () => {
  const source = '<p class="a">x <b>y</b> <i>z</i></p>';
  test.each([
    ['a lost tag', '<p class="a">X Y <i>Z</i></p>'],
    ['a doubled tag', '<p class="a">X <b>Y</b><b></b> <i>Z</i></p>'],
    ['a changed attribute', '<p class="b">X <b>Y</b> <i>Z</i></p>'],
    ['forged markup', '<p class="a">X <b>Y</b> <i>Z</i><br></p>'],
  ])('reports an error in the result: %s', (_, result) => {
    expect(checkHtml(source, result)).not.toEqual([]);
    expect(checkHtmlLoosely(source, result)).not.toEqual([]);
  });
  test('reports moved markup, which checkHtmlLoosely accepts', () => {
    const moved = '<p class="a"><i>Z</i> X <b>Y</b></p>';
    expect(checkHtml(source, moved)).not.toEqual([]);
    expect(checkHtmlLoosely(source, moved)).toEqual([]);
    expect(checkHtml(source, source.toUpperCase().replace('CLASS="A"', 'class="a"'))).toEqual([]);
  });
});

describe('checkSrt', () => {
  const source = '1\n00:00:01,000 --> 00:00:02,000\na\n\n2\n00:00:03,000 --> 00:00:04,000\nb\n';
  test('accepts a correct result', () =>
    expect(checkSrt(source, source.replace('\na\n', '\nA\nA\n'))).toEqual([]));
  test.each([
    ['a lost number', source.replace('2\n00', '00')],
    ['a moved time', source.replace('02,000', '02,001')],
    ['a forged cue', source.replace('\na\n', '\n00:00:01,000 --> 00:00:02,000\na\n')],
    ['a lost cue', source.slice(0, source.indexOf('2\n00'))],
  ])('reports an error in the result: %s', (_, result) => {
    expect(checkSrt(source, result)).not.toEqual([]);
  });
});
