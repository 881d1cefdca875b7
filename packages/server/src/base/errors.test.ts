import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ERRORS, reason, sentenceOf, wrongFields } from './errors.ts';

it('wrongFields describes an invalid field by a sentence, and also by a code if the error message has a code', () => {
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
  // Braces in a value are not replaced, even if they look like a placeholder.
  expect(sentenceOf(reason('tmx', { why: '{least}' }))).toBe('{least}');
});

it('docs/errors.md documents exactly the errors that a caller can get', () => {
  const page = readFileSync(new URL('../../../../docs/errors.md', import.meta.url), 'utf8');
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
