/**
 * SubRip subtitles. There is no standard; the rules are those that read every file of a large collection: a cue
 * begins at a time line and runs to the next, whatever stands between. Numbers, gaps and times are never touched.
 */

import { shorten } from './codes.ts';
import { type Code, type Document, DocumentError, emptyDocument, errorAt, type Unit } from './document.ts';
import { Limits } from './limits.ts';

/** Old Mac files end lines with a lone CR; files that went through two tools have CR CR LF. */
const lineEnd = /\r*\n|\r/g;

const clock = '(\\d{1,9}) ?: ?(\\d{1,2}) ?: ?(\\d{1,2})(?: ?[,.] ?(\\d{1,9}))?';
const timeLine = new RegExp(
  `^[ \\t\\ufeff]*${clock}[ \\t]*-->[ \\t]*${clock}(?:[ \\t]+[XY][12]:-?\\d+)*[ \\t]*$`,
);

/** Lines longer than this are text. */
const longestTimeLine = 200;

/** The two times of a time line in milliseconds, or undefined for any other line. */
export function readTimes(line: string): { from: number; to: number } | undefined {
  if (line.length > longestTimeLine || !line.includes('-->')) return undefined;
  const parts = timeLine.exec(line);
  if (!parts) return undefined;
  const ms = (at: number) =>
    ((Number(parts[at]) * 60 + Number(parts[at + 1])) * 60 + Number(parts[at + 2])) * 1000 +
    Math.round(Number(`0.${parts[at + 3] ?? 0}`) * 1000);
  return { from: ms(1), to: ms(5) };
}

interface Line {
  start: number;
  end: number;
}

/**
 * One unit a cue, empty ones included.
 *
 * @throws DocumentError when there is no time line, or a limit is passed.
 */
export function scanSrt(text: string): Document {
  const document = emptyDocument('srt', text);
  let cue: { time: { from: number; to: number }; lines: Line[] } | undefined;
  const finish = (isLast: boolean) => {
    if (!cue) return;
    if (document.units.length >= Limits.units) {
      throw errorAt(text, cue.lines[0]?.start ?? 0, `The text has more than ${Limits.units} cues.`);
    }
    document.units.push(cueUnit(document, cue.time, cue.lines, isLast));
  };
  for (const line of lines(text)) {
    const time = readTimes(text.slice(line.start, Math.min(line.end, line.start + longestTimeLine + 1)));
    if (time && line.end - line.start <= longestTimeLine) {
      finish(false);
      cue = { time, lines: [{ start: line.end, end: line.end }] };
    } else cue?.lines.push(line);
  }
  finish(true);
  if (!cue) {
    throw new DocumentError('This is not SRT: there is no line like "00:00:01,000 --> 00:00:04,000".', 1, 1);
  }
  return document;
}

function* lines(text: string): Generator<Line> {
  let start = text.startsWith('\ufeff') ? 1 : 0;
  const end = new RegExp(lineEnd);
  for (let match = nextEnd(end, text, start); match; match = nextEnd(end, text, start)) {
    yield { start, end: match.index };
    start = match.index + match[0].length;
  }
  if (start < text.length) yield { start, end: text.length };
}

function nextEnd(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}

/** The first of `found` is the end of the time line. The number of the next cue is no text of this one. */
function cueUnit(document: Document, time: Unit['time'], found: Line[], isLast: boolean): Unit {
  const { text } = document;
  const blank = (line: Line) => text.slice(line.start, line.end).trim() === '';
  let from = 1;
  let to = found.length;
  const last = found[to - 1];
  if (!isLast && to > from && last && /^[ \t]*\d{1,9}[ \t]*$/.test(text.slice(last.start, last.end))) to -= 1;
  while (to > from && blank(found[to - 1]!)) to -= 1;
  while (from < to && blank(found[from]!)) from += 1;
  const start = from < to ? found[from]!.start : found[0]!.end;
  const end = from < to ? found[to - 1]!.end : start;
  if (end - start > Limits.unit) {
    throw errorAt(text, start, `A cue is longer than ${Limits.unit} characters.`);
  }
  const unit: Unit = {
    index: document.units.length,
    form: 'srt',
    start,
    end,
    codes: end > start ? cueCodes(text.slice(start, end), start) : [],
    translatable: end > start,
  };
  if (time) unit.time = time;
  return unit;
}

const marks =
  /<(\/?)(i|b|u|s|font)(?:\s[^<>\r\n]{0,500})?>|\{\\[^{}\r\n]{0,200}\}|(?:\r*\n|\r)(?:[ \t]*(?:\r*\n|\r))*[ \t]*|[-–—‐]+[ \t]*/gi;

/** Tags and `{\an8}` are codes; blank lines and the dashes that begin a speaker's line are gaps. */
function cueCodes(raw: string, offset: number): Code[] {
  const codes: Code[] = [];
  if (!/[<{\r\n–—‐-]/.test(raw)) return codes;
  const open = new Map<string, number[]>();
  let number = 0;
  let lineStart = true;
  let position = 0;
  for (const match of raw.matchAll(marks)) {
    const found = match[0];
    const start = offset + match.index;
    const end = start + found.length;
    if (raw.slice(position, match.index).trim() !== '') lineStart = false;
    position = match.index + found.length;
    const add = (kind: Code['kind'], own?: number) => {
      if (own === undefined) number += 1;
      codes.push({ kind, number: own ?? number, start, end });
    };
    const name = match[2]?.toLowerCase();
    if (name !== undefined) {
      if (match[1] === '') {
        add('open');
        const waiting = open.get(name);
        if (waiting) waiting.push(number);
        else open.set(name, [number]);
      } else add('close', open.get(name)?.pop());
    } else if (found.startsWith('{')) add('single');
    else if (/^[\r\n]/.test(found)) {
      lineStart = true;
      if (/^(?:\r*\n|\r)[ \t]*[\r\n]/.test(found) && !/^\r+\n[ \t]*$/.test(found)) add('gap');
    } else if (lineStart) {
      lineStart = false;
      // "-5 degrees" is a number.
      if (!/\d/.test(raw[position] ?? '')) add('gap');
    }
  }
  if (codes.length > Limits.codes)
    return [{ kind: 'keep', number: 1, start: offset, end: offset + raw.length, text: shorten(raw) }];
  return codes;
}
