/**
 * The cuts of a split segment. A cut is only a place: the segment keeps one source and one target, so that whatever
 * does not know cuts (the delivery, checks, votes, exports) reads the whole texts. Only the workbench gets the cuts among
 * the pieces, and the memory learns the parts.
 */
import {
  divide,
  hasWords,
  isCorrect,
  lengthOf,
  likelyPlace,
  mergeText,
  type Piece,
  plainText,
  trimPart,
} from '@dragoman/documents';
import type { Cuts, SegmentRow } from './edits-store.ts';
import type { SegmentPiece } from './piece-schemas.ts';

/** Returns pieces with the cuts, numbered from 1 in the order of the source. */
export function withCuts(pieces: readonly Piece[], places: readonly number[] = []): SegmentPiece[] {
  if (places.length === 0) return [...pieces];
  const cuts = places.map((place, index) => ({ place, cut: index + 1 })).sort((a, b) => a.place - b.place);
  const parts = divide(
    pieces,
    cuts.map(({ place }) => place),
  );
  return parts.flatMap((part, index): SegmentPiece[] => [
    ...(index > 0 ? [{ cut: cuts[index - 1]!.cut }] : []),
    ...part,
  ]);
}

/** Returns the draft of a split segment with the cuts in their likely places. */
export function draftWithCuts({ source, draft, cuts }: SegmentRow, language: string): SegmentPiece[] | null {
  if (draft === null || cuts === null) return draft;
  return withCuts(
    draft,
    textBefore(source, cuts.source)
      .map((share) => likelyPlace(draft, share, language))
      .sort((a, b) => a - b),
  );
}

/** Returns how much of the text is before each place, from 0 to 1. */
export function textBefore(pieces: readonly Piece[], places: readonly number[]): number[] {
  const lengths = divide(pieces, places).map((part) => plainText(part).length);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  let before = 0;
  return places.map((_, index) => {
    before += lengths[index]!;
    return total === 0 ? 0 : before / total;
  });
}

/** The characters of scripts that are written without spaces, and their punctuation. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3000-\u303f\uff00-\uffef]/u;

/**
 * Takes the cuts out of a target. If two parts have a space between them in the source, they get one in the target too,
 * because the workbench shows each part on its own line, where a missing space is not visible.
 *
 * @returns the target, and the cuts to store; undefined if the segment is not split
 */
export function takeCuts(
  row: SegmentRow,
  given: readonly SegmentPiece[],
): { target: Piece[]; cuts: Cuts | undefined } {
  if (row.cuts === null) return { target: given.filter(isPiece), cuts: undefined };
  const sources = divide(row.source, row.cuts.source);
  const places = [...row.cuts.target];
  const target: Piece[] = [];
  const seen = new Set<number>();
  given.forEach((piece, index) => {
    if (isPiece(piece)) {
      target.push(piece);
      return;
    }
    if (piece.cut > places.length || seen.has(piece.cut)) return;
    seen.add(piece.cut);
    const left = plainText(sources[piece.cut - 1] ?? []);
    const before = plainText(target);
    const after = plainText(given.slice(index + 1).filter(isPiece));
    const isTogether = /\S$/.test(before) && /^\S/.test(after);
    const isUnspaced = UNSPACED.test(before.slice(-1)) || UNSPACED.test(after.slice(0, 1));
    if (/\s$/.test(left) && isTogether && !isUnspaced) target.push({ text: ' ' });
    places[piece.cut - 1] = lengthOf(target);
  });
  return { target: mergeText(target), cuts: { source: row.cuts.source, target: places } };
}

const isPiece = (piece: SegmentPiece): piece is Piece => !('cut' in piece);

/** A part of a split segment. */
export interface SegmentPart {
  source: Piece[];
  target: Piece[];
}

/**
 * Returns the sources of the parts of a split segment, without the spaces around them; none if the segment is whole.
 */
export function sourceParts({ source, cuts }: SegmentRow): Piece[][] {
  return cuts === null ? [] : divide(source, cuts.source).map(trimPart);
}

/**
 * Returns the parts of a split segment whose target translates exactly their source. A part whose tags are in another
 * part of the target is left out. All are if a part has no words or the parts have another order, because the texts of
 * the others may then be of more than one part.
 */
export function translatedParts(row: SegmentRow): (SegmentPart | undefined)[] {
  const { target, cuts } = row;
  if (cuts === null || target === null) return [];
  const isOrdered = cuts.target.every((place, index) => index === 0 || place >= cuts.target[index - 1]!);
  const targets = isOrdered ? divide(target, cuts.target).map(trimPart) : [];
  if (targets.length === 0 || !targets.every(hasWords)) return [];
  return sourceParts(row).map((source, index) => {
    const part = { source, target: targets[index]! };
    return hasWords(source) && isCorrect(source, part.target) ? part : undefined;
  });
}
