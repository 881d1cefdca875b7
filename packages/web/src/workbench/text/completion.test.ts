import { expect, test } from 'vitest';
import { completionOf, completionWords } from './completion.ts';

const words = completionWords({
  source: 'Anna Müller has 1200 houses and 1,500 trees in Lisbon.',
  terms: ['Garantiebedingungen'],
  translations: ['Die roten Häuser der Garantie gehören uns.', 'Die roten Bäume'],
  language: 'de',
});
const rest = (before: string, after = '') => completionOf(words, before, after)?.rest;

test('completionWords returns the terms, then words of translations, then names and numbers of the source', () => {
  expect(words).toEqual([
    'Garantiebedingungen',
    'Die',
    'roten',
    'Häuser',
    'der',
    'Garantie',
    'gehören',
    'uns',
    'Bäume',
    'Anna',
    'Müller',
    '1200',
    '1,500',
    'Lisbon',
  ]);
});

test('completionOf completes the word that is being typed, with a term if one matches', () => {
  expect(rest('Alle Gar')).toBe('antiebedingungen');
  expect(rest('Alle geh')).toBe('ören');
  expect(rest('In Lis')).toBe('bon');
  expect(rest('Es sind 12')).toBe('00');
});

test('completionOf keeps the typed capital letter when the word begins a sentence', () => {
  expect(completionOf(words, 'Geh', '')).toEqual({ typed: 'Geh', rest: 'ören' });
  // A name with a capital letter does not complete a word that was typed without one.
  expect(rest('lis')).toBeUndefined();
});

test('completionOf completes no word that is too short, complete, or followed by letters', () => {
  expect(rest('Ga')).toBeUndefined();
  expect(rest('1')).toBeUndefined();
  expect(rest('rote')).toBeUndefined();
  expect(rest('Garantiebedingungen')).toBeUndefined();
  expect(rest('Gar', 'ten')).toBeUndefined();
  expect(rest('Gar', ' ist')).toBe('antiebedingungen');
  expect(rest('Häuser ')).toBeUndefined();
});
