/** The part of this package that also runs in browsers: types, and functions that need neither a parser nor Node. */

export { protectedRanges } from './codes/codes.ts';
export type { Piece } from './model/document.ts';
export { type Format, TRAITS } from './model/formats.ts';
export { isCorrect, mergeText, plainText, repair } from './segments/repair.ts';
