import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeForm } from './form.ts';

it('encodeForm writes the same bytes as URLSearchParams', () => {
  // The samples include lone surrogates and every ASCII byte.
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'binary-ascii' }),
    fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text)), (entries) => {
      const fields = Object.fromEntries(entries);
      expect(encodeForm(fields).toString()).toBe(new URLSearchParams(fields).toString());
    }),
  );
});
