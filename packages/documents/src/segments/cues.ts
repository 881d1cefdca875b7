/**
 * Segments subtitles and writes their translations. A sentence that runs over several cues is translated as one
 * segment; 12 % of the cues of a large collection end in mid-sentence. The translation is divided over the cues at
 * word borders, in proportion to the cues' lengths. Cues are never merged or moved.
 */

import { beginsOwnText, changesSpeaker } from '../formats/cue-codes.ts';
import { withoutTimes } from '../formats/srt.ts';
import { escapeCueEnds } from '../formats/vtt.ts';
import type { Document, Piece, Unit } from '../model/document.ts';
import { Limits } from '../model/limits.ts';
import type { Edit } from '../model/splice.ts';
import { layOut, linesOf } from './lines.ts';
import { encoderOf, type Translations, translationOf } from './render.ts';
import { keyOf } from './repair.ts';
import { codesOfUnit, isText, type Run, runsOf } from './runs.ts';
import { type CutSegment, hasLetters, makeSegment, sentences, trim } from './segmentation.ts';
import { segmenter } from './sentences.ts';

/** A segment of subtitles. `cues` has, for each run (a text or a code), the index of its cue. */
export interface CueSegment {
  id: string;
  unit: number;
  cut: CutSegment;
  cues: number[];
}

/** The minimum pause between two cues that ends a sentence, in milliseconds. */
const longestPause = 1000;

/** The result of `segments` for each document, cached for `rebuild`. */
const cache = new WeakMap<Document, { language: string; cuts: CueSegment[] }>();

/** Returns the segments of a subtitle document, in order. They are cached as long as the document exists. */
export function segmentAndCacheCues(document: Document, language: string): CueSegment[] {
  const cuts = segmentCues(document, language);
  cache.set(document, { language, cuts });
  return cuts;
}

/**
 * Returns the segments of a subtitle document, in order.
 *
 * @param wanted if present, only these cues are segmented, together with the cues that their sentences continue in
 */
export function segmentCues(
  document: Document,
  language: string,
  wanted?: ReadonlySet<number>,
): CueSegment[] {
  const cached = cache.get(document);
  if (cached?.language === language) return cached.cuts;
  const found: CueSegment[] = [];
  const { units } = document;
  for (let first = 0; first < units.length; ) {
    let last = first;
    while (last - first + 1 < Limits.cues && continuesInNext(document, units[last], units[last + 1]))
      last += 1;
    const flow = units.slice(first, last + 1);
    if (!wanted || flow.some(({ index }) => wanted.has(index))) segmentFlow(document, flow, language, found);
    first = last + 1;
  }
  return found;
}

const closers = /(?:<[^<>]*>|\{[^{}]*\}|["'”’»)\]\s])+$/;

/** Returns true if the sentence at the end of a cue continues in the next cue. */
function continuesInNext(document: Document, unit: Unit | undefined, next: Unit | undefined): boolean {
  if (!unit?.translatable || !next?.translatable || !unit.time || !next.time) return false;
  const pause = next.time.from - unit.time.to;
  if (pause >= longestPause || next.time.from < unit.time.from) return false;
  const raw = document.text.slice(Math.max(unit.start, unit.end - 200), unit.end);
  const end = raw.replace(closers, '');
  // A bracket at the end of a cue closes a sound effect. Scripts without spaces rarely use full stops in subtitles,
  // so the end of each cue ends the sentence.
  if (/[)\]]\s*(?:<[^<>]*>)*$/.test(raw)) return false;
  if (
    /[.!?…:;。！？：；♪♫¶—–\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}-]$/u.test(
      end,
    )
  ) {
    return false;
  }
  if (!/[\p{L}\p{N},]$/u.test(end)) return false;
  // A speaker's dash, a bracket or a musical note at the start of a cue begins a new sentence.
  const start = document.text.slice(next.start, next.start + 200);
  const isElsewhere =
    unit.settings !== next.settings ||
    /\{\\an?\d/.exec(start)?.[0] !== /\{\\an?\d/.exec(document.text.slice(unit.start, unit.end))?.[0];
  const begins =
    isElsewhere ||
    (document.format === 'vtt' &&
      changesSpeaker(document.text.slice(unit.start, unit.end), document.text.slice(next.start, next.end))) ||
    /^(?:<[^<>]*>|\{[^{}]*\}|\s)*[-–—‐([♪♫#]/.test(start) ||
    (beginsOwnText(start) && !/^(?:<font|\{)/.test(start));
  // A cue without letters is not translated, so no part of a sentence may be placed in it.
  return !begins && hasLetters(runsOf(document, unit).runs) && hasLetters(runsOf(document, next).runs);
}

/**
 * Joins the runs (texts and codes) of several units with spaces. The codes get new numbers, because each unit
 * numbers its codes separately.
 */
export function flowOf(document: Document, units: readonly Unit[]): Run[] {
  const runs: Run[] = [];
  let number = 0;
  for (const unit of units) {
    const own = runsOf(document, unit).runs;
    if (runs.length > 0) runs.push({ text: ' ', start: unit.start, end: unit.start, whole: true });
    let highest = number;
    for (const run of own) {
      const moved: Run = isText(run)
        ? run
        : { ...run, code: { ...run.code, number: run.code.number === 0 ? 0 : run.code.number + number } };
      if (!isText(moved)) highest = Math.max(highest, moved.code.number);
      runs.push(moved);
    }
    number = highest;
  }
  return runs;
}

/** Divides the text of consecutive cues into segments and adds these to `found`. */
function segmentFlow(document: Document, cues: readonly Unit[], language: string, found: CueSegment[]): void {
  const runs = flowOf(
    document,
    cues.filter(({ translatable }) => translatable),
  );
  const counts = new Map<number, number>();
  for (const stretch of stretchesOf(runs)) {
    for (const sentence of sentences(stretch, language, false)) {
      const cut = makeSegment(trim(sentence));
      if (!cut) continue;
      const inside = cut.runs.map((run) => cueAt(cues, run.start, run.end));
      const unit = inside[0]!;
      const at = counts.get(unit) ?? 0;
      counts.set(unit, at + 1);
      found.push({ id: `${unit}.${at}`, unit, cut, cues: inside });
    }
  }
}

function stretchesOf(runs: readonly Run[]): Run[][] {
  const found: Run[][] = [[]];
  for (const run of runs) {
    if (!isText(run) && run.code.kind === 'gap') found.push([]);
    else found.at(-1)!.push(run);
  }
  return found.filter(hasLetters);
}

/**
 * Returns the index of the cue that contains a run (a text or a code). The space between two cues belongs to
 * the second cue.
 */
function cueAt(cues: readonly Unit[], start: number, end: number): number {
  const cue = cues.find((one) => start >= one.start && end <= one.end);
  return (cue ?? cues[0]!).index;
}

interface Part {
  start: number;
  end: number;
  /** The translated text, or undefined where the text of the source stays. */
  text: string | undefined;
}

/** Returns edits for the cues whose text changes. The new text is divided into lines again. */
export function cueEdits(
  document: Document,
  language: string,
  translations: Translations,
  target: string,
): Edit[] {
  if (translations.size === 0) return [];
  const parts = new Map<number, Part[]>();
  const wanted = new Set<number>();
  for (const id of translations.keys()) wanted.add(Number.parseInt(id, 10));
  for (const { id, cut, cues } of segmentCues(document, language, wanted)) {
    const pieces = translationOf(cut, translations.get(id), document.format);
    if (!pieces) continue;
    share(document, cut, cues, pieces, target).forEach(({ cue, part }) => {
      const list = parts.get(cue);
      if (list) list.push(part);
      else parts.set(cue, [part]);
    });
  }
  const newline = /\r+\n|[\r\n]/.exec(document.text)?.[0] ?? '\n';
  return [...parts].map(([index, list]) => {
    const unit = document.units[index]!;
    const text = renderCue(document, unit, list, newline, target);
    return { start: unit.start, end: unit.end, write: () => text };
  });
}

/** Divides a translation over the cues of its source. */
function share(
  document: Document,
  cut: CutSegment,
  cues: readonly number[],
  pieces: readonly Piece[],
  target: string,
): { cue: number; part: Part }[] {
  const order = [...new Set(cues)];
  const ranges = order.map((cue) => {
    const own = cut.runs.filter((run, index) => cues[index] === cue && run.end > run.start);
    const length = own.reduce((sum, run) => sum + (isText(run) ? run.text.length : 0), 0);
    return { cue, start: own[0]!.start, end: own.at(-1)!.end, length };
  });
  const codes = new Map<string, { run: Run; cue: number }>();
  const codeRuns = cut.runs.flatMap((run, index) => (isText(run) ? [] : [{ run, cue: cues[index]! }]));
  cut.pieces
    .map(keyOf)
    .filter((key) => key !== '')
    .forEach((key, index) => {
      codes.set(key, codeRuns[index]!);
    });
  const borders =
    order.length === 1
      ? []
      : bordersOf(
          pieces,
          ranges.map((range) => range.length),
          target,
        );
  const texts = order.map(() => '');
  let offset = 0;
  let current = 0;
  const encoders = order.map((cue) => encoderOf(document, document.units[cue]!, false));
  // A code never leaves its cue. A code that comes too early is added where its cue begins. A code that comes too
  // late is added at the end of its cue.
  const waiting = order.map((): string[] => []);
  const arrive = () => {
    while (current < borders.length && offset >= borders[current]!) {
      current += 1;
      texts[current] += waiting[current]!.join('');
    }
  };
  for (const piece of pieces) {
    const code = codes.get(keyOf(piece));
    if (!code) {
      const text = 'text' in piece ? piece.text : '';
      let used = 0;
      while (used < text.length) {
        arrive();
        const until = Math.min(text.length, used + ((borders[current] ?? Number.POSITIVE_INFINITY) - offset));
        texts[current] += encoders[current]!(text.slice(used, until));
        offset += until - used;
        used = until;
      }
      continue;
    }
    const raw = document.text.slice(code.run.start, code.run.end);
    // A protected word between two cues goes to its own one.
    if ('keep' in piece && order.indexOf(code.cue) > current) arrive();
    const own = 'keep' in piece ? current : order.indexOf(code.cue);
    if (own > current) waiting[own]!.push(raw);
    else texts[own] += raw;
  }
  offset = Number.POSITIVE_INFINITY;
  arrive();
  return ranges.map(({ cue, start, end }, index) => ({
    cue,
    part: { start, end, text: texts[index]!.trim() },
  }));
}

/** Returns the offsets at word borders that divide a translation in proportion to `lengths`. */
function bordersOf(pieces: readonly Piece[], lengths: readonly number[], language: string): number[] {
  const text = pieces.map((piece) => ('text' in piece && !('keep' in piece) ? piece.text : '')).join('');
  const total = lengths.reduce((sum, length) => sum + length, 0) || 1;
  const words: number[] = [];
  for (const match of text.matchAll(/\s+/g)) words.push(match.index + match[0].length);
  if (words.length < lengths.length && text.length > 2 * lengths.length) {
    for (const { index, isWordLike } of segmenter(language, 'word').segment(text)) {
      if (index > 0 && isWordLike) words.push(index);
    }
    words.sort((a, b) => a - b);
  }
  const borders: number[] = [];
  let sum = 0;
  let least = 0;
  for (const length of lengths.slice(0, -1)) {
    sum += length;
    const wanted = (text.length * sum) / total;
    const free = words.filter((word) => word > least && word < text.length);
    const best = free.reduce(
      (found, word) => (Math.abs(word - wanted) < Math.abs(found - wanted) ? word : found),
      free[0] ?? text.length,
    );
    borders.push(best);
    least = best;
  }
  return borders;
}

/**
 * Returns a cue with its translated parts. A cue has one block for each speaker; only changed blocks get new
 * line breaks.
 */
function renderCue(document: Document, unit: Unit, parts: Part[], newline: string, language: string): string {
  const { text } = document;
  parts.sort((a, b) => a.start - b.start);
  const out: string[] = [];
  let position = unit.start;
  const blocks = [
    ...codesOfUnit(document, unit).filter((code) => code.kind === 'gap'),
    { start: unit.end, end: unit.end },
  ];
  let next = 0;
  for (const gap of blocks) {
    let block = '';
    let changed = false;
    let broken = false;
    const from = position;
    while (next < parts.length && parts[next]!.start < gap.start) {
      const part = parts[next]!;
      next += 1;
      changed = true;
      broken ||= part.text !== undefined && /[\r\n]/.test(part.text);
      block += oneLine(text.slice(position, part.start)) + part.text;
      position = part.end;
    }
    const rest = text.slice(position, gap.start);
    block += changed ? oneLine(rest) : rest;
    if (changed) {
      const source = text.slice(from, gap.start).trimEnd();
      const tail = text.slice(from + source.length, gap.start);
      // Within a block, a line may end with LF, CR, CR LF or CR CR LF.
      const lines = source.trimStart().split(/\r+\n?|\n/).length;
      block = joinLines(unit, broken ? linesOf(block) : layOut(block, lines, language), newline) + tail;
    }
    out.push(block, text.slice(gap.start, gap.end));
    position = gap.end;
  }
  return unit.form === 'vtt' ? escapeCueEnds(out.join('')) : out.join('');
}

/** Replaces the line breaks between two sentences of a cue by spaces. */
function oneLine(text: string): string {
  const lines = text.split(/[\r\n]+/);
  const last = lines.length - 1;
  return lines
    .map((line, index) => (index === 0 ? line : line.trimStart()))
    .map((line, index) => (index === last ? line : line.trimEnd()))
    .join(' ');
}

/** Joins lines, none of which may look like a time line: it would start another cue. */
function joinLines({ form }: Unit, lines: readonly string[], newline: string): string {
  return (form === 'vtt' ? lines : lines.map(withoutTimes)).join(newline);
}
