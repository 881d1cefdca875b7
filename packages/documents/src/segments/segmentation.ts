/**
 * Divides units into segments: sentences with their codes. White space, line breaks and codes at the edges of a
 * sentence stay in the document and are not part of the segment.
 */

import type { Document, Piece, Unit } from '../model/document.ts';
import { Limits } from '../model/limits.ts';
import { blankEnd, blankStart } from '../model/spaces.ts';
import { type CodeRun, isText, type Quoting, type Run, runsOf, sliceRun } from './runs.ts';
import { KEPT_NUMBER, KEPT_WORD, sentenceEnds, splitLong } from './sentences.ts';

/** A segment with its runs: the texts and codes of the document that it consists of. */
export interface CutSegment {
  runs: Run[];
  pieces: Piece[];
  /** The range of the segment in the document. */
  start: number;
  end: number;
}

export interface UnitSegments {
  cuts: CutSegment[];
  html: boolean;
  quoting: Quoting | undefined;
}

const numberFormat = /^%(?:\d\$)?[lz]{0,2}[diu]$/;

const letter = /\p{L}/u;

/**
 * The segments of each unit, cached because segmentation takes most of the time of `segments` and of
 * `rebuild`. A copy of the document in another thread is segmented again.
 */
const cache = new WeakMap<Unit, { language: string; cuts: UnitSegments }>();

/** Returns the segments of a unit, in order. They are cached as long as the document exists. */
export function segmentAndCacheUnit(document: Document, unit: Unit, language: string): UnitSegments {
  const cuts = segmentUnit(document, unit, language);
  cache.set(unit, { language, cuts });
  return cuts;
}

/** Returns the segments of a unit, in order. */
export function segmentUnit(document: Document, unit: Unit, language: string): UnitSegments {
  const cached = cache.get(unit);
  if (cached?.language === language) return cached.cuts;
  const { runs, html, quoting } = runsOf(document, unit);
  const cuts: CutSegment[] = [];
  for (const stretch of stretches(runs)) {
    for (const sentence of sentences(stretch, language, unit.segmented === true)) {
      const cut = makeSegment(trim(sentence));
      if (cut) cuts.push(cut);
    }
  }
  return { cuts, html, quoting };
}

/**
 * The segments that were joined with those after them: the number of segments by the id of the first one. The first
 * one stands for all of them, and the others have no translation of their own.
 */
export type Joins = ReadonlyMap<string, number>;

/** Returns the segments of a unit with their ids, after the joins. @param cuts the segments before the joins */
export function applyJoins(
  document: Document,
  unit: Unit,
  language: string,
  cuts: readonly CutSegment[],
  joins: Joins | undefined,
): { id: string; cut: CutSegment }[] {
  const found: { id: string; cut: CutSegment }[] = [];
  let sentences: Run[][][] | undefined;
  for (let index = 0; index < cuts.length; ) {
    const id = `${unit.index}.${index}`;
    const count = joins?.get(id) ?? 1;
    if (count > 1) sentences ??= sentencesOfUnit(document, unit, language);
    const joined = sentences && count > 1 ? joinCuts(sentences, index, count) : undefined;
    found.push({ id, cut: joined ?? cuts[index]! });
    index += joined === undefined ? 1 : count;
  }
  return found;
}

/** Returns the sentences of a unit with the white space and codes around them, in one list for each part between gaps. */
export function sentencesOfUnit(document: Document, unit: Unit, language: string): Run[][][] {
  const isSegmented = unit.segmented === true;
  return stretches(runsOf(document, unit).runs).map((stretch) => sentences(stretch, language, isSegmented));
}

/**
 * Returns `count` neighbouring segments as one, with what stands between them. Returns undefined if there are not so
 * many, or a gap is between them.
 * @param sentences as `sentencesOfUnit` returns them
 */
export function joinCuts(
  sentences: readonly Run[][][],
  first: number,
  count: number,
): CutSegment | undefined {
  let index = 0;
  for (const stretch of sentences) {
    const joined: Run[] = [];
    /** Sentences without letters, which are no segments. */
    let between: Run[] = [];
    let found = 0;
    for (const sentence of stretch) {
      if (!hasLetters(sentence)) {
        between.push(...sentence);
        continue;
      }
      if (index >= first && index < first + count) {
        joined.push(...(found === 0 ? [] : between), ...sentence);
        found += 1;
      }
      between = [];
      index += 1;
    }
    if (found > 0) return found === count ? makeSegment(trim(joined)) : undefined;
  }
  return undefined;
}

/** Divides runs at gaps and returns the parts that have letters. */
function stretches(runs: readonly Run[]): Run[][] {
  const found: Run[][] = [];
  let current: Run[] = [];
  const flush = () => {
    if (hasLetters(current)) found.push(current);
    current = [];
  };
  for (const run of runs) {
    if (!isText(run) && run.code.kind === 'gap') flush();
    else current.push(run);
  }
  flush();
  return found;
}

export function hasLetters(runs: readonly Run[]): boolean {
  return runs.some((run) => isText(run) && letter.test(run.text));
}

/** Returns the text of runs for sentence detection, without codes and with one letter for each protected word. */
export function flowText(runs: readonly Run[]): string {
  let text = '';
  for (const run of runs) {
    if (isText(run)) text += run.text;
    else if (run.code.kind === 'keep')
      text += numberFormat.test(run.code.text ?? '') ? KEPT_NUMBER : KEPT_WORD;
  }
  return text;
}

/** Divides runs at sentence ends. Sentences that are too long for an engine are divided further. */
export function sentences(runs: Run[], language: string, segmented: boolean): Run[][] {
  const text = flowText(runs);
  const ends = segmented ? [text.length] : sentenceEnds(text, language);
  const cost = costs(runs);
  const all: number[] = [];
  let start = 0;
  for (const end of ends) {
    if (end - start <= Limits.segment && !cost) all.push(end);
    else {
      const offset = start;
      const inner = splitLong(text.slice(start, end), Limits.segment, cost && ((at) => cost[offset + at]!));
      for (const cut of inner) all.push(offset + cut);
    }
    start = end;
  }
  return all.length <= 1 ? [runs] : split(runs, all);
}

/**
 * Returns the length to count for each character of the joined text: 1, or for the letter that stands for a
 * protected word, the length of the word. Returns undefined if there are no protected words.
 */
function costs(runs: readonly Run[]): number[] | undefined {
  if (!runs.some((run) => !isText(run) && run.code.kind === 'keep')) return undefined;
  const cost: number[] = [];
  for (const run of runs) {
    if (isText(run)) for (let i = 0; i < run.text.length; i += 1) cost.push(1);
    else if (run.code.kind === 'keep') cost.push(Math.max(1, run.code.text?.length ?? 1));
  }
  return cost;
}

/** Divides runs at offsets. At a border, closing codes go to the part before, all other codes to the part after. */
function split(runs: readonly Run[], ends: readonly number[]): Run[][] {
  const out: Run[][] = [];
  let current: Run[] = [];
  let next = 0;
  let offset = 0;
  let full = false; // The sentence is complete. Only closing codes may be added.
  const flush = () => {
    out.push(current);
    current = [];
    full = false;
  };
  const reached = () => {
    while (next < ends.length - 1 && ends[next]! <= offset) {
      next += 1;
      full = true;
    }
  };
  for (const run of runs) {
    if (!isText(run)) {
      if (full && run.code.kind !== 'close') flush();
      current.push(run);
      if (run.code.kind === 'keep') {
        offset += 1;
        reached();
      }
      continue;
    }
    let used = 0;
    while (used < run.text.length) {
      if (full) flush();
      const end = next < ends.length - 1 ? ends[next]! : Number.POSITIVE_INFINITY;
      const until = run.whole ? run.text.length : Math.min(run.text.length, used + (end - offset));
      current.push(sliceRun(run, used, until));
      offset += until - used;
      used = until;
      reached();
    }
  }
  if (current.length > 0) flush();
  return out;
}

/**
 * Removes white space, control characters and codes from both ends. A pair is removed only as a whole. Half a pair,
 * whose other half is in another sentence, is removed like a single code.
 */
export function trim(runs: Run[]): Run[] {
  const partner = pairs(runs);
  let from = 0;
  let to = runs.length;
  const peels = (index: number): boolean => {
    const run = runs[index]!;
    if (isText(run)) return blankStart(run.text) === run.text;
    if (run.code.kind === 'keep') return false;
    return !partner.has(index);
  };
  for (;;) {
    while (from < to && peels(from)) from += 1;
    while (to > from && peels(to - 1)) to -= 1;
    if (to - from >= 2 && partner.get(from) === to - 1) {
      from += 1;
      to -= 1;
    } else break;
  }
  // An empty pair at an edge stays in the segment, which does no harm.
  const kept = runs.slice(from, to);
  const first = kept[0] && isText(kept[0]) ? kept[0] : undefined;
  if (first) kept[0] = sliceRun(first, blankStart(first.text).length, first.text.length);
  const end = kept.at(-1);
  const last = end && isText(end) ? end : undefined;
  if (last) kept[kept.length - 1] = sliceRun(last, 0, last.text.length - blankEnd(last.text).length);
  return kept;
}

/**
 * Maps the index of each half to the index of the other half, for pairs that are complete and nested within the runs.
 * If a pair of separate elements (`bpt`, `ept`) crosses a pair of tags, only the tags count as a pair: the halves of
 * the former may be anywhere, but tags must stay nested.
 */
export function pairs(runs: readonly Run[]): Map<number, number> {
  const partner = new Map<number, number>();
  const open: number[] = [];
  const waiting = new Map<number, number>();
  const codeAt = (index: number) => (runs[index] as CodeRun).code;
  let closing: Set<number> | undefined;
  const closes = (number: number) => {
    closing ??= new Set(
      runs.flatMap((run) => (!isText(run) && run.code.kind === 'close' ? [run.code.number] : [])),
    );
    return closing.has(number);
  };
  runs.forEach((run, index) => {
    if (isText(run)) return;
    const { kind, number, tied } = run.code;
    if (kind === 'open') {
      open.push(index);
      waiting.set(number, open.length - 1);
    } else if (kind === 'close') {
      const at = waiting.get(number);
      if (at === undefined || at >= open.length) return;
      if (codeAt(open[at]!).number !== number) return;
      if (tied && open.slice(at + 1).some((above) => !codeAt(above).tied && closes(codeAt(above).number)))
        return;
      // Pairs that are still open inside this pair either cross it or never close, so they are halves.
      partner.set(open[at]!, index);
      partner.set(index, open[at]!);
      open.length = at;
      waiting.delete(number);
    }
  });
  return partner;
}

/** Makes a segment from runs (texts and codes). Returns undefined if the runs have no letters. */
export function makeSegment(runs: Run[]): CutSegment | undefined {
  if (!hasLetters(runs)) return undefined;
  return { runs, pieces: piecesOf(runs), start: runs[0]!.start, end: runs.at(-1)!.end };
}

/**
 * An offset for the number of a closing half. It is added if both halves of a crossing pair are in one
 * segment, so that the two halves have different numbers.
 */
const closingHalf = 1_000_000;

export function piecesOf(runs: readonly Run[]): Piece[] {
  const partner = pairs(runs);
  const openHalves = new Set<number>();
  const pieces: Piece[] = [];
  let words = '';
  const flush = () => {
    if (words !== '') pieces.push({ text: words });
    words = '';
  };
  runs.forEach((run, index) => {
    if (isText(run)) {
      words += run.text;
      return;
    }
    flush();
    const { kind, number, text } = run.code;
    if (kind === 'keep') pieces.push({ keep: number, text: text ?? '' });
    else if (kind === 'open' && partner.has(index)) pieces.push({ open: number });
    else if (kind === 'close' && partner.has(index)) pieces.push({ close: number });
    else if (kind === 'close' && openHalves.has(number)) pieces.push({ single: number + closingHalf });
    else {
      if (kind === 'open') openHalves.add(number);
      pieces.push({ single: number });
    }
  });
  flush();
  return pieces;
}
