/**
 * Reads SubRip subtitles (SRT). The format has no standard; these rules read every file of a large collection. A cue
 * starts at a time line and ends at the next time line. Numbers, gaps and times never change. Lines end with CRLF or
 * LF, with a lone CR (old Mac files), or with CR CR LF (files that two tools have processed).
 */

import { shorten } from '../codes/codes.ts';
import { type Code, type Document, DocumentError, emptyDocument, errorAt } from '../model/document.ts';
import { Limits } from '../model/limits.ts';
import { isSpaceUnit } from '../model/spaces.ts';

const clock = '(\\d{1,9}) ?: ?(\\d{1,2}) ?: ?(\\d{1,2})(?: ?[,.] ?(\\d{1,9}))?';
const timeLine = new RegExp(
  `^[ \\t\\ufeff]*${clock}[ \\t]*-->[ \\t]*${clock}(?:[ \\t]+(?:[XY][12]:-?\\d+|(?:align|line|position|region|size|vertical):[^ \\t]+))*[ \\t]*$`,
);

/** Matches what stands for a time on both sides of an arrow, but need not be one: `00:05`, `00:00:05:000`. */
const nearClock =
  '[-−]?\\p{Nd}{1,9} ?[:：] ?\\p{Nd}{1,9}(?: ?[:：;] ?\\p{Nd}{1,9}){0,2}(?: ?[,.;，٫] ?\\p{Nd}{0,9})?';
const nearTimeLine = new RegExp(
  `^([ \\t\\ufeff]{0,9}${nearClock}[ \\t]{0,9})(?:-{1,3}>|[–—]>|→|⇒|=>|[-–—]?＞)(?=[ \\t]{0,9}${nearClock})`,
  'gmu',
);

/** The maximum length of a time line. Longer lines are text. */
const longestTimeLine = 200;

/** Returns the times of a time line in milliseconds, or undefined for any other line. */
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
 * Scans subtitles: one unit for each cue, including empty cues.
 *
 * @param isNew true to reject a line that only looks like a time line
 * @throws DocumentError when there is no time line or a limit is exceeded
 */
export function scanSrt(text: string, isNew = false): Document {
  const document = emptyDocument('srt', text);
  let cue: TimeLine | undefined;
  let position = 0;
  for (let line = nextTimeLine(text, 0); line; line = nextTimeLine(text, line.end)) {
    if (isNew) checkTimes(text, position, line.start);
    if (cue) addCue(document, cue, line.start, false);
    cue = line;
    position = line.end;
  }
  if (isNew) checkTimes(text, position, text.length);
  if (!cue) {
    throw new DocumentError('This is not SRT: there is no line like "00:00:01,000 --> 00:00:04,000".', 1, 1);
  }
  addCue(document, cue, text.length, true);
  return document;
}

/** Rejects a line between two time lines that only looks like one. Its cue would become text of the cue before. */
function checkTimes(text: string, from: number, to: number): void {
  const between = text.slice(from, to);
  if (!/[>→⇒＞]/.test(between)) return;
  nearTimeLine.lastIndex = 0;
  const found = nearTimeLine.exec(between);
  if (found === null) return;
  throw errorAt(
    text,
    from + found.index,
    'This line has two times and an arrow, but it is not a time line like "00:00:01,000 --> 00:00:04,000".',
  );
}

/** Replaces the arrow between two times, so that a translation has no line that looks like a time line. */
export function withoutTimes(line: string): string {
  return readTimes(line) ? line.replace('-->', '–') : line.replace(nearTimeLine, '$1–');
}

/** Finds the next time line. Only lines with an arrow are examined, up to the maximum length of a time line. */
function nextTimeLine(text: string, from: number): TimeLine | undefined {
  for (let arrow = text.indexOf('-->', from); arrow >= 0; arrow = text.indexOf('-->', arrow + 3)) {
    const usual = usualTimeLine(text, from, arrow);
    if (usual) return usual;
    let start = arrow;
    while (start > from && arrow - start <= longestTimeLine && !isLineEnd(text, start - 1)) start -= 1;
    let end = arrow;
    while (end < text.length && end - start <= longestTimeLine && !isLineEnd(text, end)) end += 1;
    const time = readTimes(text.slice(start, end));
    if (time) return { start, end, time };
  }
  return undefined;
}

/** In the usual form, each side of the arrow has at most this many characters. */
const longestUsual = 16;

/**
 * Returns the line around an arrow if it has the form "00:00:01,000 --> 00:00:04,000" and nothing else. The
 * result equals that of `readTimes`, but no regular expression is used. Together with the search for cue ends
 * by code unit, this makes a scan of the sample files three to four times as fast.
 */
function usualTimeLine(text: string, from: number, arrow: number): TimeLine | undefined {
  if (text.charCodeAt(arrow - 1) !== 32 || text.charCodeAt(arrow + 3) !== 32) return undefined;
  // Nine of ten time lines in the sample files have milliseconds and two-digit hours, so the line ends are
  // expected at fixed offsets. If another line end came in between, the times would be invalid.
  let start = arrow - 13;
  if (start !== from && (start < from || !isLineEnd(text, start - 1))) {
    start = arrow - 1;
    while (start > from && arrow - start <= longestUsual && !isLineEnd(text, start - 1)) start -= 1;
    if (start > from && !isLineEnd(text, start - 1)) return undefined;
  }
  let end = arrow + 16;
  if (end !== text.length && (end > text.length || !isLineEnd(text, end))) {
    end = arrow + 4;
    while (end < text.length && end - arrow <= longestUsual && !isLineEnd(text, end)) end += 1;
    if (end < text.length && !isLineEnd(text, end)) return undefined;
  }
  const first = usualClock(text, start, arrow - 1);
  if (first < 0) return undefined;
  const second = usualClock(text, arrow + 4, end);
  return second < 0 ? undefined : { start, end, time: { from: first, to: second } };
}

/**
 * Returns the milliseconds of a time such as "00:00:01,000", with or without a fraction. Returns a negative number
 * for anything else.
 */
function usualClock(text: string, from: number, to: number): number {
  // The hours and minutes read so far, in the unit of the next part: minutes, then seconds.
  let before = 0;
  let part = 0;
  let value = 0;
  let digits = 0;
  for (let at = from; at < to; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 48 && unit <= 57) {
      value = value * 10 + unit - 48;
      digits += 1;
      continue;
    }
    if (digits === 0 || digits > (part === 0 ? 9 : 2)) return -1;
    if (unit === 58 && part < 2) before = (before + value) * 60;
    else if ((unit === 44 || unit === 46) && part === 2) before += value;
    else return -1;
    part += 1;
    value = 0;
    digits = 0;
  }
  if (part === 2 && (digits === 1 || digits === 2)) return (before + value) * 1000;
  if (part !== 3 || digits === 0 || digits > 3) return -1;
  return before * 1000 + value * (digits === 3 ? 1 : digits === 2 ? 10 : 100);
}

function isLineEnd(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit === 10 || unit === 13;
}

/**
 * Adds a unit for the text between two time lines, without the number of the next cue and the blank lines around it.
 */
function addCue(document: Document, line: TimeLine, next: number, isLast: boolean): void {
  const { text, units } = document;
  let end = trimmedEnd(text, line.end, next);
  if (!isLast && end > line.end && isOneLineEnd(text, end, Math.min(next, end + blanks))) {
    let number = end;
    while (number > line.end && isDigit(text, number - 1)) number -= 1;
    if (number < end && end - number < 10 && beginsLine(text, Math.max(line.end, number - blanks), number)) {
      end = trimmedEnd(text, line.end, number);
    }
  }
  let start = line.end;
  while (start < end && isSpaceUnit(text.charCodeAt(start))) start += 1;
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

/** The maximum number of characters that are examined around the number of a cue. */
const blanks = 200;

/** Returns true if the text from `at` to `to` has only blanks and exactly one line end. */
function isOneLineEnd(text: string, at: number, to: number): boolean {
  while (at < to && isBlank(text, at)) at += 1;
  const first = at;
  while (at < to && text.charCodeAt(at) === 13) at += 1;
  if (at < to) return at + 1 === to && text.charCodeAt(at) === 10;
  return at === first + 1;
}

/** Returns true if only blanks precede `at` in its line. The line starts at `from` or later. */
function beginsLine(text: string, from: number, at: number): boolean {
  while (at > from && isBlank(text, at - 1)) at -= 1;
  return at > from && isLineEnd(text, at - 1);
}

function isBlank(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit === 32 || unit === 9;
}

const noCodes: Code[] = [];

function trimmedEnd(text: string, start: number, end: number): number {
  while (end > start && isSpaceUnit(text.charCodeAt(end - 1))) end -= 1;
  return end;
}

function isDigit(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 48 && unit <= 57;
}

const marks =
  /<(\/?)(i|b|u|s|font)(?:\s[^<>\r\n]{0,500})?>|<\d{1,3}(?::\d{2}){1,2}[.,]\d{1,3}>|(?<!\b[a-z]:(?:\\\S{0,60})?|\\\\\S{0,60}|\\)\\N|(?<=^|[\s>}]|\\h)\\h|\{\\[^{}\r\n]{0,200}\}|[\r\n][ \t\r\n]*|(?:[-–—‐]+|>{2,3}|[•▪◦])[ \t]*/gi;

/**
 * Matches the beginning of a line that another speaker says, or that is another text: a colour, a position, a speaker's
 * name or mark, a musical note, a sound in brackets, the mark of a list.
 */
const ownLine =
  /^(?:<font\b|\{\\an?\d|(?:<[^<>\r\n]{0,100}>|\{[^{}\r\n]{0,60}\}){0,9}[ \t]{0,9}(?:>>|[♪♫¶•▪◦[]|\([^()\r\n]{1,80}\)(?:<\/[a-z]{1,9}>)?[ \t]{0,9}(?:[\r\n]{1,9}(?!\s{0,9}\p{Ll})|$)|[#*][ \t]|(?:\d{1,2}[.)]|[a-z]\))[ \t]|\(?\p{Lu}[\p{Lu}\p{N} #.'’-]{0,30}\)?:|\p{Lu}[\p{L} .'’-]{0,20}(?: #?\d)?:[ \t]))/u;

/** Matches a sound in brackets that is the whole last line of a text. In round brackets, it may belong to a sentence. */
const soundLine =
  /(?:^|[\r\n])(?:<[^<>\r\n]{0,100}>|[ \t]){0,9}(?:\[[^[\]\r\n]{1,80}\]|(\([^()\r\n]{1,80}\)))(?:<\/[a-z]{1,9}>)?[ \t]{0,9}$/u;

/** Returns true if a line begins a text of its own, whatever stands before it. */
export const beginsOwnText = (line: string): boolean => ownLine.test(line);

/**
 * Returns the codes of a cue. Tags and `{\an8}` are codes. Blank lines, line breaks between speakers, and the marks
 * before a speaker's text are gaps.
 */
export function cueCodes(raw: string, offset: number): readonly Code[] {
  const codes: Code[] = [];
  if (!/[<{\\\r\n–—‐•▪◦>-]/.test(raw)) return noCodes;
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
    } else if (/^\\N$/i.test(found)) add('gap');
    else if (/^[{<\\]/.test(found)) add('single');
    else if (/^[\r\n]/.test(found)) {
      lineStart = true;
      const isBlankLine = /^(?:\r*\n|\r)[ \t]*[\r\n]/.test(found) && !/^\r+\n[ \t]*$/.test(found);
      const before = soundLine.exec(raw.slice(Math.max(0, match.index - longestTimeLine), match.index));
      const isOwn =
        beginsOwnText(raw.slice(position, position + longestTimeLine)) ||
        (before !== null && !(before[1] !== undefined && /^\p{Ll}/u.test(raw.slice(position))));
      if (isBlankLine || isOwn) add('gap');
    } else if (lineStart) {
      lineStart = false;
      // A dash before a digit is a minus sign, as in "-5 degrees".
      if (!/\d/.test(raw[position] ?? '')) add('gap');
    }
  }
  if (codes.length > Limits.codes)
    return [{ kind: 'keep', number: 1, start: offset, end: offset + raw.length, text: shorten(raw) }];
  return codes;
}
