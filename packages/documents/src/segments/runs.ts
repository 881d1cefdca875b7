/**
 * Represents a unit as a list of runs: the decoded text, each run with its position in the document. A text run may
 * be identical to the document's characters and can then be divided anywhere. Otherwise (a character reference,
 * collapsed white space) it is indivisible.
 */

import { protectedRanges, type Range } from '../codes/codes.ts';
import { isHtml, markupRanges } from '../codes/escaped.ts';
import { readingOf, readReference } from '../codes/escapes.ts';
import { insideWords } from '../codes/html-elements.ts';
import { patternRanges } from '../codes/patterns.ts';
import { cueCodes } from '../formats/cue-codes.ts';
import type { Code, Document, Form, Unit } from '../model/document.ts';

export interface TextRun {
  text: string;
  start: number;
  end: number;
  /** True if the run is indivisible. Its `text` then stands for everything from `start` to `end`. */
  whole: boolean;
}

export interface CodeRun {
  code: Code;
  start: number;
  end: number;
}

export type Run = TextRun | CodeRun;

/** The parts of a document that are needed to read a unit. */
type Source = Pick<Document, 'text' | 'sections'>;

export interface UnitRuns {
  runs: Run[];
  /** True if the text of an XML unit is escaped HTML. New text is then escaped for HTML first and for XML second. */
  html: boolean;
  /** How the source escapes quotation marks, as programs do: `\'` for all that it escapes so, or `''` of ICU messages. */
  quoting: Quoting | undefined;
}

export interface Quoting {
  /** Matches an escaped mark in the source. */
  escaped: RegExp;
  /** The marks that are escaped in new text. */
  marks: RegExp;
  /** What is written before each of them. */
  prefix: '\\' | "'";
}

export const isText = (run: Run): run is TextRun => 'text' in run;

/** Returns the codes of a unit. Codes of subtitle cues are not stored, so they are searched here. */
export function codesOfUnit(document: Source, unit: Unit): readonly Code[] {
  const { form, start, end } = unit;
  return form === 'srt' || form === 'vtt'
    ? cueCodes(document.text.slice(start, end), start, form)
    : unit.codes;
}

/**
 * Returns the codes that the scanner found, and the decoded text between them. Line breaks are gaps with number 0.
 */
export function rawRuns(document: Source, unit: Unit): Run[] {
  const runs: Run[] = [];
  let position = unit.start;
  for (const code of codesOfUnit(document, unit)) {
    textRuns(document, position, code.start, unit.form, runs);
    runs.push({ code, start: code.start, end: code.end });
    position = code.end;
  }
  textRuns(document, position, unit.end, unit.form, runs);
  return runs;
}

/** Returns the runs of a unit. Markup (also escaped HTML in XML) and protected words become codes. */
export function runsOf(document: Document, unit: Unit): UnitRuns {
  const runs = rawRuns(document, unit);
  let number = 0;
  for (const run of runs) if (!isText(run)) number = Math.max(number, run.code.number);
  const counter = { next: number + 1 };
  const isXml = unit.form.startsWith('xml') || unit.form.startsWith('cdata');
  let html = false;
  let list = runs;
  if (isXml && runs.some((run) => isText(run) && /[<&]/.test(run.text))) {
    html = isHtml(joinText(runs));
    // In HTML, a line break is white space.
    if (html && unit.form === 'xml') list = list.map((run) => (isLineBreak(run) ? blank(run) : run));
    list = mapText(list, counter, (text) => markupRanges(text, html));
  }
  const quoting = unit.form === 'text' || isXml ? quotingOf(runs) : undefined;
  if (quoting) list = mapText(list, counter, (text) => quoteRanges(text, quoting));
  const { protect = [] } = document;
  const find =
    protect.length === 0
      ? protectedRanges
      : (text: string, begins: boolean) => protectedRanges(text, begins, patternRanges(text, protect));
  list = mapText(list, counter, find);
  if (quoting?.prefix === '\\') {
    const { marks } = quoting;
    // An odd number is a mistake, or means inches.
    const isOdd =
      list.reduce((sum, run) => sum + (isText(run) && !run.whole ? run.text.split('"').length - 1 : 0), 0) %
      2;
    list = list.flatMap((run) =>
      isText(run) && !run.whole ? withoutDelimiters(document, unit, run, marks, isOdd === 0) : [run],
    );
  }
  return { runs: separate(document, list), html, quoting };
}

const isLineBreak = (run: Run): boolean => !isText(run) && run.code.kind === 'gap' && run.code.number === 0;
const blank = ({ start, end }: Run): TextRun => ({ text: ' ', start, end, whole: true });

/**
 * Makes gaps of the quotation marks that stand unescaped around strings, as in `"a \"b\""`: a translation must neither
 * move nor escape them. Other single ones are apostrophes.
 */
function withoutDelimiters(
  { text }: Source,
  unit: Unit,
  run: TextRun,
  marks: RegExp,
  isEven: boolean,
): Run[] {
  const found: Run[] = [];
  let position = 0;
  for (const { index, 0: mark } of run.text.matchAll(marks)) {
    const at = { start: run.start + index, end: run.start + index + 1 };
    const isDelimiter =
      (mark === '"' && isEven) ||
      at.start === unit.start ||
      at.end === unit.end ||
      /[=(:,[{]\s?$/.test(text.slice(at.start - 2, at.start)) ||
      /^\s?[,;)\]}:]/.test(text.slice(at.end, at.end + 2));
    if (!isDelimiter) continue;
    if (index > position) found.push(sliceRun(run, position, index));
    found.push({ code: { kind: 'gap', number: 0, ...at }, ...at });
    position = index + 1;
  }
  if (position < run.text.length) found.push(sliceRun(run, position, run.text.length));
  return found;
}

/** In `"\" and '\'`, the marks are around a backslash. */
const ESCAPED_MARK = /(?<!\\)(?!(?<=")\\"(?![^\s,.;)])|(?<=')\\'(?![^\s,.;)]))\\['"]/g;

/** Returns how the text of a unit escapes quotation marks, or undefined if it does not. */
function quotingOf(runs: readonly Run[]): Quoting | undefined {
  if (!runs.some((run) => isText(run) && /\\['"]|''/.test(run.text))) return undefined;
  const text = joinText(runs);
  const marks = [...new Set(text.match(ESCAPED_MARK)?.map((found) => found[1]))].join('');
  if (marks !== '') {
    return { escaped: ESCAPED_MARK, marks: new RegExp(`[${marks}]`, 'g'), prefix: '\\' };
  }
  return /\p{L}''\p{L}/u.test(text) ? { escaped: /''/g, marks: /'/g, prefix: "'" } : undefined;
}

/** Returns the escaped quotation marks of a text. Engines and editors see the marks alone. */
function quoteRanges(text: string, { escaped }: Quoting): Range[] {
  return Array.from(text.matchAll(escaped), ({ index: from }) => ({
    from,
    to: from + 2,
    text: text[from + 1]!,
  }));
}

/** A letter or digit of a script that writes spaces between words. */
const SPACED = '[\\p{N}\\p{sc=Latn}\\p{sc=Cyrl}\\p{sc=Grek}\\p{sc=Arab}\\p{sc=Hebr}\\p{sc=Deva}\\p{sc=Hang}]';
const ENDS_WORD = new RegExp(`${SPACED}[)\\]»”"']?$`, 'u');
const BEGINS_WORD = new RegExp(`^[(\\[«“"']?${SPACED}`, 'u');

/**
 * Adds a gap where two elements meet between two words without white space, such as two links of a menu: their texts
 * are not one word. Elements that may stand inside a word, such as `b`, are left alone.
 */
function separate(document: Source, runs: Run[]): Run[] {
  const out: Run[] = [];
  const blanks = blanksOfLinks(document, runs);
  let codes = 0;
  let ends = false;
  /** True if a small letter ends the last text. */
  let isSmall = false;
  for (const run of runs) {
    if (blanks.has(run)) {
      const { start, end } = run;
      out.push({ code: { kind: 'gap', number: 0, start, end }, start, end });
      ends = false;
      continue;
    }
    if (isText(run)) {
      const mayJoin = ends && codes > 0 && BEGINS_WORD.test(run.text);
      const at = mayJoin
        ? borderIn(document, out.slice(-codes), isSmall && /^\p{Lu}\p{Ll}/u.test(run.text))
        : -1;
      if (at >= 0) {
        const { start } = out[out.length - codes + at] ?? run;
        out.splice(out.length - codes + at, 0, {
          code: { kind: 'gap', number: 0, start, end: start },
          start,
          end: start,
        });
      }
      ends = ENDS_WORD.test(run.text);
      isSmall = /\p{Ll}$/u.test(run.text);
      codes = 0;
    } else if (run.code.kind === 'gap' || run.code.kind === 'keep') ends = false;
    else codes += 1;
    out.push(run);
  }
  return out;
}

/** Returns the white space between links where a text consists of links alone, as a menu does. */
function blanksOfLinks(document: Source, runs: readonly Run[]): ReadonlySet<Run> {
  const found = new Set<Run>();
  const isBlank = (run: Run | undefined) => run !== undefined && isText(run) && run.text.trim() === '';
  const kindOf = (run: Run | undefined) => (run === undefined || isText(run) ? undefined : run.code.kind);
  const may = (index: number) => kindOf(runs[index - 1]) === 'close' && kindOf(runs[index + 1]) === 'open';
  if (!runs.some((run, index) => isBlank(run) && may(index))) return found;
  let blanks: Run[] = [];
  let depth = 0;
  let links = 0;
  let isRow = true;
  const flush = () => {
    if (isRow && links > 1 && depth === 0) for (const run of blanks) found.add(run);
    [blanks, depth, links, isRow] = [[], 0, 0, true];
  };
  for (const run of runs) {
    if (isText(run)) {
      // A link that begins with a small letter continues the sentence of the one before.
      if (depth > 0) isRow &&= links < 2 || !/^\s*\p{Ll}/u.test(run.text);
      else if (isBlank(run)) blanks.push(run);
      else isRow = false;
    } else if (run.code.kind === 'gap') flush();
    else if (run.code.kind === 'keep') isRow &&= depth > 0;
    else {
      const { name, isEnd } = tagOf(document.text.slice(run.start, Math.min(run.end, run.start + 200)));
      if (name !== 'a') continue;
      depth += isEnd ? -1 : 1;
      links += isEnd ? 0 : 1;
    }
  }
  flush();
  return found;
}

/**
 * Returns the index of the code before which one element ends and another begins, or -1.
 * @param isCapital true if a capital follows a small letter, as in `Name<span>Ann</span>`
 */
function borderIn(document: Source, codes: readonly Run[], isCapital: boolean): number {
  const tags = codes.map(({ start, end }) => tagOf(document.text.slice(start, Math.min(end, start + 200))));
  for (const [index, tag] of tags.entries()) {
    const next = tags[index + 1];
    if (tag.isCustom) return tag.isEnd ? index + 1 : index;
    if (next && tag.isEnd && !next.isEnd && !tag.isInner && !next.isInner) return index + 1;
  }
  const [only] = tags;
  return isCapital && tags.length === 1 && /^(?:a|span)$/.test(only!.name) ? +only!.isEnd : -1;
}

/** Reads the markup of a code: a tag, an escaped tag, or an inline element of XLIFF with its native code. */
function tagOf(markup: string): { name: string; isEnd: boolean; isInner: boolean; isCustom: boolean } {
  const inline = /^<(\/?)(g|bpt|ept|bx|ex|x|ph|it|mrk)(?![\w-])([^>]*)>/.exec(markup);
  const tag = /^(?:<|&lt;|&amp;lt;)(\/?)([A-Za-z][\w-]*)/.exec(
    inline ? markup.slice(inline[0].length) : markup,
  );
  const name = tag?.[2]?.toLowerCase() ?? '';
  const type = /\bctype="(?:x-html-|x-)?([\w-]+)"/.exec(inline?.[3] ?? '')?.[1] ?? '';
  const isHalf = inline !== null && /^(?:ept|ex)$/.test(inline[2]!);
  return {
    name,
    isEnd:
      inline === null ? tag?.[1] === '/' : isHalf || inline[1] === '/' || /\bid="CLOSE_/.test(inline[3]!),
    isInner: insideWords.has(name) || insideWords.has(type) || /^(?:bold|italic|underlined)$/.test(type),
    isCustom: inline === null && name.includes('-'),
  };
}

const finders = {
  html: { collapse: /&#?\w+;?|[ \t\n\f\r]{2,}|[\t\n\f\r]/g, lines: /&#?\w+;?|[\t\n\f\r]+| {3,}/g },
  xml: { collapse: /&#?\w+;|[ \t\n\r]{2,}|[\t\n\r]/g, lines: /&#?\w+;|[\t\n\r]+| {3,}/g },
  srt: { collapse: /&#?\w+;|[ \t\n\r]{2,}|[\t\n\r]/g, lines: /&#?\w+;|[\t\n\r]+| {3,}/g },
  none: { collapse: /[ \t\n\r]{2,}|[\t\n\r]/g, lines: /[\t\n\f\r\v\u0085\u2028\u2029]+| {3,}/g },
};

/** Adds the text between two offsets to `runs`. */
function textRuns(document: Source, start: number, end: number, form: Form, runs: Run[]): void {
  if (end <= start) return;
  if (document.sections.length > 0 && form.startsWith('xml')) {
    sectionRuns(document, start, end, form, runs);
    return;
  }
  plainRuns(document.text, start, end, form, runs);
}

function plainRuns(text: string, start: number, end: number, form: Form, runs: Run[]): void {
  const { references, space } = readingOf(form);
  const raw = text.slice(start, end);
  let position = 0;
  const verbatim = (to: number) => {
    if (to > position) {
      runs.push({ text: raw.slice(position, to), start: start + position, end: start + to, whole: false });
    }
  };
  for (const match of raw.matchAll(finders[references][space])) {
    const found = match[0];
    const from = match.index;
    const to = from + found.length;
    if (found.startsWith('&')) {
      const decoded = readReference(found, references);
      if (decoded === undefined) continue;
      verbatim(from);
      const at = { start: start + from, end: start + to };
      // A reference to a line break is one as much as a literal line break.
      if ((space === 'lines' || references === 'xml') && /^[\t\n\r\u0085\u2028\u2029]$/.test(decoded)) {
        runs.push({ code: { kind: 'gap', number: 0, ...at }, ...at });
      } else runs.push({ text: decoded, ...at, whole: true });
    } else if (space === 'collapse') {
      verbatim(from);
      runs.push({ text: ' ', start: start + from, end: start + to, whole: true });
    } else {
      verbatim(from);
      runs.push({
        code: { kind: 'gap', number: 0, start: start + from, end: start + to },
        start: start + from,
        end: start + to,
      });
    }
    position = to;
  }
  verbatim(raw.length);
}

/** Adds text that contains CDATA sections to `runs`. The brackets of the sections are in no run. */
function sectionRuns(document: Source, start: number, end: number, form: Form, runs: Run[]): void {
  let position = start;
  const inside: Form = form === 'xml' ? 'cdata' : 'cdata-kept';
  for (let i = firstSection(document, start); i < document.sections.length; i += 1) {
    const section = document.sections[i]!;
    if (section.start >= end) break;
    plainRuns(document.text, position, section.start, form, runs);
    plainRuns(document.text, section.start + 9, section.end - 3, inside, runs);
    position = section.end;
  }
  plainRuns(document.text, position, end, form, runs);
}

/** Returns the index of the first CDATA section that ends after an offset. */
export function firstSection(document: Source, offset: number): number {
  let low = 0;
  let high = document.sections.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (document.sections[middle]!.end <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

function joinText(runs: readonly Run[]): string {
  return runs.map((run) => (isText(run) ? run.text : '')).join('');
}

/**
 * Replaces ranges of the text with codes. `find` is called for each text between two codes and returns the ranges;
 * `begins` is true if no word stands before the text in its line.
 */
function mapText(
  runs: Run[],
  counter: { next: number },
  find: (text: string, begins: boolean) => Range[],
): Run[] {
  const out: Run[] = [];
  let stretch: TextRun[] = [];
  let begins = true;
  const flush = () => {
    if (stretch.length === 0) return;
    const text = stretch.length === 1 ? stretch[0]!.text : joinText(stretch);
    const ranges = find(text, begins);
    begins &&= text.trim() === '';
    if (ranges.length === 0) for (const run of stretch) out.push(run);
    else replaceRanges(stretch, ranges, counter, out);
    stretch = [];
  };
  for (const run of runs) {
    if (isText(run)) stretch.push(run);
    else {
      flush();
      out.push(run);
      begins ||= run.code.kind === 'gap';
    }
  }
  flush();
  return out;
}

/** Returns a part of a text run. An indivisible run is returned whole. */
export function sliceRun(run: TextRun, from: number, to: number): TextRun {
  if (run.whole || (from === 0 && to === run.text.length)) return run;
  return { text: run.text.slice(from, to), start: run.start + from, end: run.start + to, whole: false };
}

function replaceRanges(stretch: TextRun[], ranges: Range[], counter: { next: number }, out: Run[]): void {
  const numbers = new Map<number, number>();
  let index = 0;
  let offset = 0; // The length of the joined text before `stretch[index]`.
  let used = 0; // The number of characters of `stretch[index]` that are already consumed.
  /**
   * Adds the text up to the offset `to` to the result. With `swallow`, adds nothing and returns the range of
   * the text in the document.
   */
  const advance = (to: number, swallow: boolean): { start: number; end: number } | undefined => {
    let covered: { start: number; end: number } | undefined;
    while (index < stretch.length && offset + used < to) {
      const run = stretch[index]!;
      const until = run.whole ? run.text.length : Math.min(run.text.length, to - offset);
      // If two ranges share an indivisible run, it belongs to the first of them.
      const part = sliceRun(run, used, until);
      if (swallow) covered = { start: covered?.start ?? part.start, end: part.end };
      else if (part.end > part.start) out.push(part);
      used = until;
      if (used >= run.text.length) {
        offset += run.text.length;
        index += 1;
        used = 0;
      }
    }
    return covered;
  };
  for (const range of ranges) {
    advance(range.from, false);
    const covered = advance(range.to, true);
    if (!covered) continue;
    if (range.text !== undefined) {
      out.push({ text: range.text, ...covered, whole: true });
      continue;
    }
    let number = range.pair === undefined ? undefined : numbers.get(range.pair);
    if (number === undefined) {
      number = counter.next;
      counter.next += 1;
      if (range.pair !== undefined) numbers.set(range.pair, number);
    }
    const code: Code = { kind: range.code!.kind, number, ...covered };
    if (range.code!.text !== undefined) code.text = range.code!.text;
    out.push({ code, start: code.start, end: code.end });
  }
  advance(Number.POSITIVE_INFINITY, false);
}
