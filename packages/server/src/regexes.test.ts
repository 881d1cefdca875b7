/** Checks that no regular expression of the program takes quadratic time. */
import { describe, expect, it } from 'vitest';
import { PARTS } from '../../documents/src/codes/codes.ts';
import { QUOTED } from '../../engines/src/apertium/quotes.ts';
import { collectRegexes, isSuperlinear, regexesOf } from './testing/regexes.ts';

const ROOT = new URL('../../..', import.meta.url).pathname;

/**
 * Expressions that take quadratic time but only get short inputs. When an expression is repaired, it must be removed
 * here.
 */
const BOUNDED: Record<string, string> = {
  '/(?:<[^<>]*>|\\{[^{}]*\\}|["\'”’»)\\]\\s])+$/': 'the last 200 characters of a cue',
  '/\\r+\\n|[\\r\\n]/': 'a run of CR ends in a match: none is tried twice',
  '/\'((?:[^\'\\\\]|\\\\.)*)\'|"((?:[^"\\\\]|\\\\.)*)"|([^{},:]+)(?=:)/g':
    'the source of a package of ours, once',
  '/(\\s*)((?:<\\/?[a-z][^<>]*>|\\{[^{}]{1,200}\\}|\\S)+)/gi':
    'a trimmed text: white space always ends in a match',
  '/([\\p{L}\\p{M}\\p{N}.]+)\\.$/u': 'forty characters before a full stop',
  '/^\\S*?\\d+:\\d+:\\s*/': 'a message of the XML parser',
};

/** The number of regular expressions that the sources build at run time, for example from several parts. */
const MADE = 34;

const regexes = collectRegexes(ROOT);

it('the program has no regular expression with quadratic time', () => {
  expect(regexes.length).toBeGreaterThan(400);
  const found = regexes.filter(({ literal }) => literal !== undefined && isSuperlinear(literal));
  const unbounded = found.filter(({ written }) => !(written in BOUNDED));
  expect(unbounded.map(({ file, line, written }) => `${file}:${line} ${written}`)).toEqual([]);
  const gone = Object.keys(BOUNDED).filter((written) => !found.some((one) => one.written === written));
  expect(gone, 'repaired: take them out of BOUNDED').toEqual([]);
});

it('the program builds at run time only the regular expressions that this test counts', () => {
  const made = regexes.filter(({ literal }) => literal === undefined);
  expect(made.map(({ file, line, written }) => `${file}:${line} ${written}`)).toHaveLength(MADE);
});

it('no pattern of protected or quoted words takes quadratic time', () => {
  const sources = [...PARTS, QUOTED.source];
  expect(sources.filter((source) => isSuperlinear({ source, flags: 'gu' }))).toEqual([]);
  expect(PARTS.length).toBeGreaterThan(40);
});

describe('the search for slow regular expressions', () => {
  it.each([
    ['of the Authorization header', '/^apikey +([^:]*):(.*)$/i'],
    ['of a self-closing tag', '/\\s*\\/>$/'],
    ['of line ends in a cue', '/\\s*[\\r\\n]+\\s*/g'],
    ['of blank lines', '/(?:\\r*\\n|\\r)(?:[ \\t]*(?:\\r*\\n|\\r))*[ \\t]*/g'],
    ['with Unicode classes', '/[\\p{L}\\p{M}]+$/v'],
    ['that is exponential', '/^(a+)+$/'],
  ])('finds a slow expression %s', (_, written) => {
    const [found] = regexesOf('planted.ts', `export const planted = ${written};`);
    expect(found?.written).toBe(written);
    expect(isSuperlinear(found!.literal!)).toBe(true);
  });

  it.each(['/^[a-z]{1,8}$/', '/(?<! ) +$/', '/\\p{L}+/gu', '/^apikey ([^: ]*):/i', '/\\r\\n?|\\n/g'])(
    'accepts the fast expression %s',
    (written) => {
      const [found] = regexesOf('sound.ts', `const sound: RegExp = ${written};`);
      expect(isSuperlinear(found!.literal!)).toBe(false);
    },
  );

  it('finds expressions in arguments, classes and templates, and expressions that are built at run time', () => {
    const code = 'class A { #b = `$' + '{c.replace(/d+$/, "")}`; e = new RegExp(f); g = RegExp("h") }';
    const found = regexesOf('hidden.ts', code);
    expect(found.map(({ written }) => written)).toEqual(['/d+$/', 'new RegExp(f)', 'RegExp("h")']);
  });
});
