/** What of this package runs in a browser too: shapes, and rules that need neither a parser nor Node. */

export { protectedRanges } from './codes.ts';
export type { Format, Piece } from './document.ts';
export { isRight, mergeText, plainText, repair } from './repair.ts';
