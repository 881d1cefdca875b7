/** Tests of how the decoder repairs spacing and capitals in Apertium's replies. */

import { describe, expect, test } from 'vitest';
import { decode } from '../src/apertium/decode.ts';
import { encode } from '../src/apertium/encode.ts';
import { textOf } from './conformance.ts';

const decoded = (source: string, reply: string): string =>
  textOf(decode(reply, { ...encode([{ text: source }], undefined, false).record, stopAdded: false }));

/** Rows with the source, the reply of eng-spa or eng-cat, and the expected target. */
const ROWS: [string, string, string][] = [
  ['He said: "I am here", and left.', 'Dijo: " soy aquí", y dejó.', 'Dijo: "soy aquí", y dejó.'],
  ['(I see)', '( veo)', '(Veo)'],
  ['( I see )', '( veo )', '( Veo )'],
  ['“I see”', '“ veo ”', '“Veo”'],
  ['« I see »', '« veo »', '« Veo »'],
  ['a "b" c', 'a "b" c', 'a "b" c'],
  ['5" x 3" and "mine"', '5" x 3" y " mío"', '5" x 3" y "mío"'],
  ['and then John left', 'Y entonces John dejó', 'y entonces John dejó'],
  ['and I think', 'Y pienso', 'y pienso'],
  ['sunny Spain', 'España soleada', 'España soleada'],
  ['the us market', 'EE.UU. mercado', 'EE.UU. mercado'],
  ['See more', 'ver más', 'Ver más'],
  ['iPads', 'iPads', 'iPads'],
  ['3 items', '3 Elementos', '3 elementos'],
  ['ﬁne', 'ßx', 'ßx'],
];

describe('decode', () => {
  test.each(ROWS)(
    'repairs spaces and capitals: source “%s”, reply “%s”, target “%s”',
    (source, reply, expected) => {
      expect(decoded(source, reply)).toBe(expected);
    },
  );

  test('lower-cases a word that follows a protected word at the start of the segment', () => {
    const { record, stream } = encode([{ keep: 1, text: '{count}' }, { text: ' items' }]);
    expect(textOf(decode(stream.replace('items', 'Elementos'), record))).toBe('{count} elementos');
  });
});
