import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ERRORS } from './errors.ts';

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
