/** Schemas of the pieces of a segment: text and codes. */
import Type, { type Static } from 'typebox';

const CODE = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 });

export const Piece = Type.Union(
  [
    Type.Object({ text: Type.String() }),
    Type.Object({ open: CODE }),
    Type.Object({ close: CODE }),
    Type.Object({ single: CODE }),
    Type.Object({ keep: CODE, text: Type.String() }),
  ],
  {
    title: 'Piece',
    description:
      'A part of a segment: text, the opening or closing code of a pair, a single code, or a word that stays untranslated.',
  },
);

export const SegmentPiece = Type.Union(
  [...Piece.anyOf, Type.Object({ cut: Type.Integer({ minimum: 1, maximum: 9 }) })],
  {
    title: 'SegmentPiece',
    description:
      'A `Piece`, or a place where an editor has split the segment. Cuts are numbered from 1 in the order of the source.',
  },
);
export type SegmentPiece = Static<typeof SegmentPiece>;
