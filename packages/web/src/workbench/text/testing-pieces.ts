/** Generates pieces for property tests: codes of every kind, each code once, and nested pairs. */
import fc from 'fast-check';
import { type Code, nested, normalize, type Piece, pieceOf } from './pieces.ts';

const words = fc.oneof(
  fc.string({ maxLength: 6, unit: 'grapheme' }),
  fc.constantFrom(' ', 'نص', '次に', 'a b', '\n', 'ﬀ e\u0301', '{1}', '<', '\u00a0', '👩‍👩‍👧'),
);

const codes: fc.Arbitrary<Code[]> = fc
  .uniqueArray(fc.integer({ min: 1, max: 9 }), { maxLength: 4 })
  .chain((numbers) =>
    fc.tuple(
      ...numbers.map((number) =>
        fc.constantFrom<Code[]>(
          [
            { kind: 'open', number, text: '' },
            { kind: 'close', number, text: '' },
          ],
          [{ kind: 'single', number, text: '' }],
          [{ kind: 'keep', number, text: `{v${number}}` }],
        ),
      ),
    ),
  )
  .chain((groups) => fc.shuffledSubarray(groups.flat(), { minLength: groups.flat().length }))
  .map(nested);

export const somePieces: fc.Arbitrary<Piece[]> = codes.chain((list) =>
  fc
    .array(words, { minLength: list.length + 1, maxLength: list.length + 1 })
    .map((texts) =>
      normalize(
        texts.flatMap((text, index) => [{ text }, ...(index < list.length ? [pieceOf(list[index]!)] : [])]),
      ),
    ),
);
