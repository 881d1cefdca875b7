/**
 * Units into segments: sentences with their codes, without what stands between them. White space, line breaks and
 * codes at the edges of a sentence stay in the document and are never sent.
 */

import type { Document, Piece, Unit } from './document.ts';
import { Limits } from './limits.ts';
import { type CodeRun, cutRun, isText, type Run, runsOf } from './runs.ts';
import { cutLong, sentenceEnds } from './sentences.ts';
import { blankEnd, blankStart } from './spaces.ts';

/** A segment and the runs it was made of. */
export interface Cut {
  runs: Run[];
  pieces: Piece[];
  /** The stretch of the document it stands for. */
  start: number;
  end: number;
}

export interface UnitCuts {
  cuts: Cut[];
  html: boolean;
}

/** Stands for a kept word when sentences are looked for: a letter without case, so no rule takes it for an ending. */
const keptWord = 'א';

const letter = /\p{L}/u;

/**
 * What `segments` has cut, for `rebuild` of the same document: cutting is most of the work of both. Kept beside the
 * document, which stays plain data; a copy posted to a thread is cut anew.
 */
const known = new WeakMap<Unit, { language: string; cuts: UnitCuts }>();

/** The segments of one unit, in order, remembered for as long as the document lives. */
export function cutAndKeep(document: Document, unit: Unit, language: string): UnitCuts {
  const cuts = cutUnit(document, unit, language);
  known.set(unit, { language, cuts });
  return cuts;
}

/** The segments of one unit, in order. */
export function cutUnit(document: Document, unit: Unit, language: string): UnitCuts {
  const kept = known.get(unit);
  if (kept?.language === language) return kept.cuts;
  const { runs, html } = runsOf(document, unit);
  const cuts: Cut[] = [];
  for (const stretch of stretches(runs)) {
    for (const sentence of sentences(stretch, language, unit.segmented === true)) {
      const cut = makeCut(trim(sentence));
      if (cut) cuts.push(cut);
    }
  }
  return { cuts, html };
}

/** Runs between gaps, where there is something to translate. */
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

/** The text of runs as the sentence rules see it: codes have no width, kept words have one letter. */
export function flowText(runs: readonly Run[]): string {
  let text = '';
  for (const run of runs) {
    if (isText(run)) text += run.text;
    else if (run.code.kind === 'keep') text += keptWord;
  }
  return text;
}

/** Cuts runs at sentence ends and, where a sentence is too long for an engine, inside. */
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
      const inner = cutLong(text.slice(start, end), Limits.segment, cost && ((at) => cost[offset + at]!));
      for (const cut of inner) all.push(offset + cut);
    }
    start = end;
  }
  return all.length <= 1 ? [runs] : split(runs, all);
}

/** What each character of the flow text costs, when kept words make some cost more than one. */
function costs(runs: readonly Run[]): number[] | undefined {
  if (!runs.some((run) => !isText(run) && run.code.kind === 'keep')) return undefined;
  const cost: number[] = [];
  for (const run of runs) {
    if (isText(run)) for (let i = 0; i < run.text.length; i += 1) cost.push(1);
    else if (run.code.kind === 'keep') cost.push(Math.max(1, run.code.text?.length ?? 1));
  }
  return cost;
}

/** At a border, closing codes stay with what is before, everything else goes with what follows. */
function split(runs: readonly Run[], ends: readonly number[]): Run[][] {
  const out: Run[][] = [];
  let current: Run[] = [];
  let next = 0;
  let offset = 0;
  let full = false; // The sentence is complete; only closing codes may still join it.
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
      current.push(cutRun(run, used, until));
      offset += until - used;
      used = until;
      reached();
    }
  }
  if (current.length > 0) flush();
  return out;
}

/**
 * Takes white space, control characters and codes off both ends, as long as what is left stays in balance: a pair is only taken off
 * together, half a pair (the other half stands in another sentence) like a standalone code.
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
  // A pair with nothing in it at an edge would stay inside; that is harmless.
  const kept = runs.slice(from, to);
  const first = kept[0] && isText(kept[0]) ? kept[0] : undefined;
  if (first) kept[0] = cutRun(first, blankStart(first.text).length, first.text.length);
  const end = kept.at(-1);
  const last = end && isText(end) ? end : undefined;
  if (last) kept[kept.length - 1] = cutRun(last, 0, last.text.length - blankEnd(last.text).length);
  return kept;
}

/**
 * Index of the other half, for pairs that are whole and nested within these runs. Where a pair of tags and a pair of
 * tied halves cross, the tags are the pair: taken apart, they could be put back in an order that no parser takes.
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
      // Pairs that are still open above this one cross it, or never close: they are halves.
      partner.set(open[at]!, index);
      partner.set(index, open[at]!);
      open.length = at;
      waiting.delete(number);
    }
  });
  return partner;
}

/** Pieces for the runs of a segment; undefined when there is nothing to translate in them. */
export function makeCut(runs: Run[]): Cut | undefined {
  if (!hasLetters(runs)) return undefined;
  return { runs, pieces: piecesOf(runs), start: runs[0]!.start, end: runs.at(-1)!.end };
}

/** Added to the number of a closing half, where both halves of a crossing pair stand in one segment. */
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
