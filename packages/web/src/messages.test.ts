/**
 * Tests that the messages of all languages have the same keys and placeholders, and that no key is unused.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';
import { describe, expect, it } from 'vitest';
import { ERRORS, REASONS } from '../../server/src/base/errors.ts';

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

/** Returns the names and types of a message's placeholders. A plural and a number count as the same type. */
function valuesOf(message: string): string[] {
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

/**
 * Returns whether the source contains the key, or a template that begins like the key, such as
 * `status.${status}`.
 */
function isUsed(key: string): boolean {
  if (new RegExp(`['"\`]${key.replaceAll('.', '\\.')}['"\`]`).test(code)) return true;
  const starts = [...key.matchAll(/[._]/g)].map(({ index }) => key.slice(0, index + 1));
  return starts.some((start) => code.includes(`\`${start}\${`));
}

describe.each(areas)('messages of %s', (area) => {
  const english = read(`${area}en.json`);

  it.each(['de', 'ar'])('have every English key in %s, with the same placeholders', (language) => {
    const theirs = read(`${area}${language}.json`);
    expect(Object.keys(theirs).sort()).toEqual(Object.keys(english).sort());
    for (const [key, message] of Object.entries(theirs)) {
      expect(message.trim(), key).not.toBe('');
      expect({ key, values: valuesOf(message) }).toEqual({ key, values: valuesOf(english[key]!) });
    }
  });

  it('have no unused key', () => {
    expect(Object.keys(english).filter((key) => !isUsed(key))).toEqual([]);
  });
});

describe.each(['en', 'de', 'ar'])('the messages of the app’s shell in %s', (language) => {
  const messages = read(`messages/${language}.json`);
  const without = (start: string, codes: readonly string[]) =>
    codes.filter((code) => messages[`${start}.${code}`] === undefined);

  it('have a text for every error code and every reason code of the server', () => {
    expect(without('error', Object.keys(ERRORS))).toEqual([]);
    expect(without('reason', Object.keys(REASONS))).toEqual([]);
    expect(without('reason', ['no_such_reason'])).toEqual(['no_such_reason']);
  });

  it('use exactly the placeholders that the server sends with a reason', () => {
    for (const [code, sentence] of Object.entries(REASONS)) {
      const given = [...sentence.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
      const wanted = valuesOf(messages[`reason.${code}`]!).map((value) => value.split(' ')[0]);
      expect({ code, wanted }).toEqual({ code, wanted: given });
    }
  });
});

/** Words that may follow a plain number, because they have no plural forms. */
const UNCHANGED: Record<string, RegExp> = {
  en: /^ ?(to|of|until|ms|changed|removed|waiting|kept|more|can be read)\b/,
  de: /^ ?(bis|von|sein|ms|geändert|entfernt|weitere|hier|sind lesbar|Zeichen)(?!\p{L})/u,
  ar: /^ ?(إلى|من|م\.ث|أخرى|بالانتظار|محفوظة هنا|حرف\/ث|كلمة\/ث)(?!\p{L})/u,
};

/** Placeholders that are always counts, so that a message must format them as numbers. */
const COUNTS = new Set(['confirmed', 'count', 'days', 'done', 'rows', 'segments', 'words']);

/** Returns the parts of a message that lack plural forms. */
function uninflected(message: string, language: string): string[] {
  const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  const look = (elements: MessageFormatElement[]): string[] =>
    elements.flatMap((element, at) => {
      if (element.type === TYPE.tag) return look(element.children);
      if (element.type === TYPE.select)
        return Object.values(element.options).flatMap(({ value }) => look(value));
      if (element.type === TYPE.plural) {
        const forms = Object.keys(element.options).map((form) => (form === '=0' ? 'zero' : form));
        const missing = categories
          .filter((one) => !forms.includes(one))
          .map((one) => `${element.value}: ${one}`);
        return [...missing, ...Object.values(element.options).flatMap(({ value }) => look(value))];
      }
      if (element.type === TYPE.argument && COUNTS.has(element.value)) return [`${element.value}: no number`];
      const next = elements[at + 1];
      if (element.type !== TYPE.number || next?.type !== TYPE.literal) return [];
      const inflects = /^ ?\p{L}/u.test(next.value) && !UNCHANGED[language]!.test(next.value);
      return inflects ? [`${element.value}: ${next.value}`] : [];
    });
  return look(parse(message));
}

it.each(['en', 'de', 'ar'])('all messages in %s have the plural forms of the language', (language) => {
  const messages = areas.flatMap((area) => Object.entries(read(`${area}${language}.json`)));
  const found = messages.map(([key, message]) => [key, uninflected(message, language)] as const);
  expect(found.filter(([, missing]) => missing.length > 0)).toEqual([]);
});

it('the check for plural forms finds a missing form', () => {
  const found = (message: string, language = 'en') => uninflected(message, language);
  expect(found('{count, plural, one {# job} other {# jobs}}')).toEqual([]);
  expect(found('{count, plural, other {# jobs}}')).toEqual(['count: one']);
  expect(found('{count, number} jobs')).toEqual(['count:  jobs']);
  expect(found('{count} jobs')).toEqual(['count: no number']);
  expect(found('<b>{count, number} jobs</b>')).toEqual(['count:  jobs']);
  expect(found('{count, plural, =0 {} one {طلب} two {طلبان} few {# طلبات} other {# طلب}}', 'ar')).toEqual([
    'count: many',
  ]);
});

it('the checks of keys find a missing placeholder and an unused key', () => {
  expect(valuesOf('{count, plural, one {# job} other {# jobs}} of {name}')).not.toEqual(valuesOf('{name}'));
  expect(valuesOf('Copy {what}')).not.toEqual(valuesOf('Kopieren'));
  expect(isUsed('ui.no_such_key')).toBe(false);
});
