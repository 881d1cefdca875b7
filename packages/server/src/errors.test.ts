import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ERRORS, reason, sentenceOf, wrongFields } from './errors.ts';

it('says what is wrong with a field by code and by sentence, and by sentence alone where it has no code', () => {
  const { code, message, more } = wrongFields({
    name: reason('text_length', { least: 1, most: 100 }),
    brand: 'must be a brand.',
  });
  expect({ code, message, more }).toEqual({
    code: 'invalid_request',
    message: 'name: must be a text of 1 to 100 characters.\nbrand: must be a brand.',
    more: {
      fields: { name: 'must be a text of 1 to 100 characters.', brand: 'must be a brand.' },
      reasons: { name: { code: 'text_length', least: 1, most: 100 } },
    },
  });
  // Values are never put in for one another, and what is missing is seen.
  expect(sentenceOf(reason('tmx', { why: '{least}' }))).toBe('{least}');
  expect(sentenceOf(reason('list'))).toBe('must be a list of at most {most}.');
});

it('documents every error that a caller can see, and no other', () => {
  const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
  const documented = [...page.matchAll(/^\| `(\w+)` \| (\d+) \| (.+) \|$/gm)].map(
    ([, code, status, meaning]) => ({
      code,
      status: Number(status),
      meaning,
    }),
  );
  const listed = Object.entries(ERRORS).map(([code, { status, meaning }]) => ({ code, status, meaning }));
  expect(documented).toEqual(listed);
});
