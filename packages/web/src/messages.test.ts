/** Every language says the same things, with the same values in them, and nothing that no page says. */
import { readdirSync, readFileSync } from 'node:fs';
import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';
import { describe, expect, it } from 'vitest';
import { ERRORS, REASONS } from '../../server/src/errors.ts';

const SRC = new URL('./', import.meta.url);
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' });
const areas = files
  .filter((file) => file.endsWith('messages/en.json'))
  .map((file) => file.replace('en.json', ''));
const read = (file: string): Record<string, string> => JSON.parse(readFileSync(new URL(file, SRC), 'utf8'));

const code = files
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.test.ts'))
  .map((file) => readFileSync(new URL(file, SRC), 'utf8'))
  .join('\n');

/** What is filled in: names and kinds of values. Where one language has plural forms, another may do with the number. */
function holes(message: string): string[] {
  const found = new Set<string>();
  const look = (elements: MessageFormatElement[]): void => {
    for (const element of elements) {
      if (element.type === TYPE.literal || element.type === TYPE.pound) continue;
      const number = element.type === TYPE.plural || element.type === TYPE.number;
      found.add(`${element.value} ${number ? 'number' : TYPE[element.type]}`);
      if ('options' in element) for (const { value } of Object.values(element.options)) look(value);
      if ('children' in element) look(element.children);
    }
  };
  look(parse(message));
  return [...found].sort();
}

/** A key is said as it is, or as the beginning of a template: `status.${status}`. */
function isSaid(key: string): boolean {
  if (new RegExp(`['"\`]${key.replaceAll('.', '\\.')}['"\`]`).test(code)) return true;
  const starts = [...key.matchAll(/[._]/g)].map(({ index }) => key.slice(0, index + 1));
  return starts.some((start) => code.includes(`\`${start}\${`));
}

describe.each(areas)('%s', (area) => {
  const english = read(`${area}en.json`);

  it.each(['de', 'ar'])('has each sentence in %s, with the same values', (language) => {
    const theirs = read(`${area}${language}.json`);
    expect(Object.keys(theirs).sort()).toEqual(Object.keys(english).sort());
    for (const [key, message] of Object.entries(theirs)) {
      expect(message.trim(), key).not.toBe('');
      expect({ key, holes: holes(message) }).toEqual({ key, holes: holes(english[key]!) });
    }
  });

  it('says nothing that no page says', () => {
    expect(Object.keys(english).filter((key) => !isSaid(key))).toEqual([]);
  });
});

describe.each(['en', 'de', 'ar'])('in %s', (language) => {
  const said = read(`messages/${language}.json`);
  const without = (start: string, codes: readonly string[]) =>
    codes.filter((code) => said[`${start}.${code}`] === undefined);

  it('has a sentence for every error that the server may answer, and for every fault of a field', () => {
    expect(without('error', Object.keys(ERRORS))).toEqual([]);
    expect(without('reason', Object.keys(REASONS))).toEqual([]);
    expect(without('reason', ['no_such_reason'])).toEqual(['no_such_reason']);
  });

  it('fills in the values that the server gives with a fault', () => {
    for (const [code, sentence] of Object.entries(REASONS)) {
      const given = [...sentence.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
      const wanted = holes(said[`reason.${code}`]!).map((hole) => hole.split(' ')[0]);
      expect({ code, wanted }).toEqual({ code, wanted: given });
    }
  });
});

it('would notice a value that a language leaves out', () => {
  expect(holes('{count, plural, one {# job} other {# jobs}} of {name}')).not.toEqual(holes('{name}'));
  expect(holes('Copy {what}')).not.toEqual(holes('Kopieren'));
  expect(isSaid('ui.no_such_key')).toBe(false);
});
