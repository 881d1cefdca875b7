/**
 * SubRip subtitles. There is no standard; the rules are those that read every file of a large collection: a cue
 * begins at a time line and runs to the next, whatever stands between. Numbers, gaps and times are never touched.
 * Lines end with CRLF or LF, with a lone CR (old Mac files), or with CR CR LF (files that went through two tools).
 */

import { shorten } from './codes.ts';
import { type Code, type Document, DocumentError, emptyDocument, errorAt } from './document.ts';
import { Limits } from './limits.ts';

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
  const ms = (at: number) => {
    const fraction = parts[at + 3];
    const rest =
      fraction === undefined ? 0 : fraction.length === 3 ? +fraction : Math.round(+`0.${fraction}` * 1000);
    return ((+parts[at]! * 60 + +parts[at + 1]!) * 60 + +parts[at + 2]!) * 1000 + rest;
  };
  return { from: ms(1), to: ms(5) };
}

interface TimeLine {
  start: number;
  end: number;
  time: { from: number; to: number };
}

/**
 * One unit a cue, empty ones included.
 *
 * @throws DocumentError when there is no time line, or a limit is passed.
 */
export function scanSrt(text: string): Document {
  const document = emptyDocument('srt', text);
  let cue: TimeLine | undefined;
  for (let line = nextTimeLine(text, 0); line; line = nextTimeLine(text, line.end)) {
    if (cue) addCue(document, cue, line.start, false);
    cue = line;
  }
  if (!cue) {
    throw new DocumentError('This is not SRT: there is no line like "00:00:01,000 --> 00:00:04,000".', 1, 1);
  }
  addCue(document, cue, text.length, true);
  return document;
}

/** Only lines with an arrow are looked at, and of those only as much as a time line may have. */
function nextTimeLine(text: string, from: number): TimeLine | undefined {
  for (let arrow = text.indexOf('-->', from); arrow >= 0; arrow = text.indexOf('-->', arrow + 3)) {
    let start = arrow;
    while (start > from && arrow - start <= longestTimeLine && !isLineEnd(text, start - 1)) start -= 1;
    let end = arrow;
    while (end < text.length && end - start <= longestTimeLine && !isLineEnd(text, end)) end += 1;
    const time = readTimes(text.slice(start, end));
    if (time) return { start, end, time };
  }
  return undefined;
}

function isLineEnd(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit === 10 || unit === 13;
}

/** The text between two time lines, less the number of the next cue and the blank lines round it. */
function addCue(document: Document, line: TimeLine, next: number, isLast: boolean): void {
  const { text, units } = document;
  let end = trimmedEnd(text, line.end, next);
  if (!isLast && end > line.end && oneLineEnd.test(text.slice(end, Math.min(next, end + 200)))) {
    let number = end;
    while (number > line.end && isDigit(text, number - 1)) number -= 1;
    const before = text.slice(Math.max(line.end, number - 200), number);
    if (number < end && end - number < 10 && /[\r\n][ \t]*$/.test(before)) {
      end = trimmedEnd(text, line.end, number);
    }
  }
  let start = line.end;
  while (start < end && isSpace(text, start)) start += 1;
  if (end - start > Limits.unit) {
    throw errorAt(text, start, `A cue is longer than ${Limits.unit} characters.`);
  }
  if (units.length >= Limits.units) {
    throw errorAt(text, line.start, `The text has more than ${Limits.units} cues.`);
  }
  units.push({
    index: units.length,
    form: 'srt',
    start,
    end,
    codes: noCodes,
    translatable: end > start,
    time: line.time,
  });
}

/** The end of a line and nothing after it. */
const oneLineEnd = /^[ \t]*(?:\r*\n|\r)$/;

const noCodes: Code[] = [];

function trimmedEnd(text: string, start: number, end: number): number {
  while (end > start && isSpace(text, end - 1)) end -= 1;
  return end;
}

function isSpace(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit <= 32 || (unit > 127 && text[at]!.trim() === '');
}

function isDigit(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 48 && unit <= 57;
}

const marks =
  /<(\/?)(i|b|u|s|font)(?:\s[^<>\r\n]{0,500})?>|\{\\[^{}\r\n]{0,200}\}|(?:\r*\n|\r)(?:[ \t]*(?:\r*\n|\r))*[ \t]*|[-–—‐]+[ \t]*/gi;

/** The codes of a cue, found when they are needed. Tags and `{\an8}` are codes; blank lines and the dashes that begin a speaker's line are gaps. */
export function cueCodes(raw: string, offset: number): readonly Code[] {
  const codes: Code[] = [];
  if (!/[<{\r\n–—‐-]/.test(raw)) return noCodes;
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
