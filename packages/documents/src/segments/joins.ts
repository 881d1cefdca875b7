/** Joins neighbouring segments of a unit, so that an editor can translate them as one. */

import type { Document, Piece } from '../model/document.ts';
import { Limits } from '../model/limits.ts';
import { codeMarkup } from './describe.ts';
import { codesOf } from './render.ts';
import { keyOf, mergeText, plainText, repair } from './repair.ts';
import { isText } from './runs.ts';
import { type CutSegment, joinCuts, sentencesOfUnit } from './segmentation.ts';

/** A segment, or several joined ones, that becomes a part of a joined segment. */
export interface JoinPart {
  /** The number of segments of the document. */
  count: number;
  /** Translations, such as the current target and the draft. Every part has the same number of them. */
  texts: readonly (readonly Piece[])[];
}

export interface Joined {
  source: Piece[];
  /** The translations of the parts, with the spaces and codes of the source between them. */
  texts: Piece[][];
  /** The markup of each code, as in a description. */
  codes: Record<string, string>;
}

/**
 * Why segments cannot be joined. `customer`: the document defines its segments. `paragraph`: a line break or the
 * end of the unit divides them. `length`: the result would be longer than a segment may be.
 */
export type JoinFault = 'customer' | 'paragraph' | 'length';

/**
 * Joins the segment `first` with those after it. Subtitles cannot be joined, because each has its own time.
 * @param first the id of the first segment, as returned by `segments` for the same document and language
 */
export function join(
  document: Document,
  language: string,
  first: string,
  parts: readonly JoinPart[],
): Joined | JoinFault {
  const [index = 0, from = 0] = first.split('.').map(Number);
  const unit = document.units[index];
  if (unit === undefined) return 'paragraph';
  if (unit.segmented) return 'customer';
  const sentences = sentencesOfUnit(document, unit, language);
  const joined = joinCuts(
    sentences,
    from,
    parts.reduce((sum, { count }) => sum + count, 0),
  );
  if (joined === undefined) return 'paragraph';
  if (plainText(joined.pieces).length > Limits.segment) return 'length';
  let next = from;
  const cuts = parts.map(({ count }) => {
    next += count;
    return joinCuts(sentences, next - count, count)!;
  });
  const texts = parts[0]!.texts.map((_, which) =>
    weave(
      joined,
      cuts,
      parts.map((part) => part.texts[which]!),
    ),
  );
  return { source: joined.pieces, texts, codes: codeMarkup(document, joined) };
}

/** Replaces each part of a joined source by its translation. What stands between the parts stays. */
function weave(
  joined: CutSegment,
  parts: readonly CutSegment[],
  texts: readonly (readonly Piece[])[],
): Piece[] {
  // A code has another number in the joined segment, but the same place in the document.
  const codeAt = new Map<number, Piece>();
  const ranges = codesOf(joined);
  for (const piece of joined.pieces) {
    const range = ranges.get(keyOf(piece));
    if (range !== undefined) codeAt.set(range.start, piece);
  }
  const between = (start: number, end: number) =>
    joined.runs.flatMap((run): Piece[] => {
      const isInside = run.start >= start && run.end <= end;
      if (!isText(run)) return isInside ? [codeAt.get(run.start)!] : [];
      if (run.whole) return isInside ? [{ text: run.text }] : [];
      const from = Math.max(start, run.start);
      const to = Math.max(from, Math.min(end, run.end));
      return [{ text: run.text.slice(from - run.start, to - run.start) }];
    });
  const out: Piece[] = [];
  let position = joined.start;
  parts.forEach((part, index) => {
    const own = codesOf(part);
    const text = texts[index]!.map((piece) => {
      const range = own.get(keyOf(piece));
      return range === undefined ? piece : codeAt.get(range.start)!;
    });
    out.push(...between(position, part.start), ...text);
    position = part.end;
  });
  return repair(joined.pieces, mergeText([...out, ...between(position, joined.end)])).pieces;
}
