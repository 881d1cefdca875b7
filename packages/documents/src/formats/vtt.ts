/**
 * Reads WebVTT as its standard does (W3C WebVTT §6.1). A line with `-->` begins a block, and an empty line ends it. Only
 * the text of cues is translated: the header, comments, styles, regions, identifiers, times and settings never change,
 * nor does a block whose time line is wrong.
 */

import { type Document, DocumentError, emptyDocument } from '../model/document.ts';
import { Languages } from '../model/languages.ts';
import { primaryLanguage } from '../model/scripts.ts';
import { addUnit, checkTimes, isLineEnd } from './srt.ts';

const header = /^\ufeff?WEBVTT(?![^ \t\r\n])/;

/** Matches a time line without its settings. */
const timeLine =
  /[ \t\f]{0,99}(?:\d{1,9}:)?[0-5]\d:[0-5]\d\.\d{3}[ \t\f]{0,99}-->[ \t\f]{0,99}(?:\d{1,9}:)?[0-5]\d:[0-5]\d\.\d{3}(?!\d)/y;

/** Matches the end of a line that an empty line follows. */
const blankLine = /(?:\r\n|\n|\r(?!\n))(?=[\r\n])/g;

interface Line {
  start: number;
  end: number;
  time: { from: number; to: number } | undefined;
  settings: string;
}

/**
 * Scans WebVTT: one unit for each cue, including empty cues.
 *
 * @param isNew true to reject a line that only looks like a time line
 * @throws DocumentError when the header is missing or a limit is exceeded
 */
export function scanVtt(text: string, isNew = false): Document {
  if (!header.test(text)) {
    throw new DocumentError('This is not WebVTT: its first line does not begin with "WEBVTT".', 1, 1);
  }
  const document = emptyDocument('vtt', text);
  const languages = new Languages();
  let blank = -1;
  let checked = 0;
  const addCue = ({ start, end: from, time, settings }: Line, next: number) => {
    if (time === undefined) return;
    if (blank < from) {
      blankLine.lastIndex = from;
      blank = blankLine.exec(text)?.index ?? text.length;
    }
    const end = Math.min(blank, next);
    addUnit(document, 'vtt', { start, end: from, time }, from, end, settings);
    noteLanguages(text, from, end, languages);
  };
  let cue: Line | undefined;
  for (let line = nextLine(text, lineEnd(text, 0)); line; line = nextLine(text, line.end)) {
    if (cue) addCue(cue, line.start);
    if (isNew && line.time) {
      checkTimes(text, checked, line.start, USUAL);
      checked = line.end;
    }
    cue = line;
  }
  if (cue) addCue(cue, text.length);
  if (isNew) checkTimes(text, checked, text.length, USUAL);
  document.languages = languages.changes;
  return document;
}

const USUAL = '00:00:01.000 --> 00:00:04.000';

/** Returns the next line with an arrow. Its time is undefined if it is not a time line. */
function nextLine(text: string, from: number): Line | undefined {
  const arrow = text.indexOf('-->', from);
  if (arrow < 0) return undefined;
  let start = arrow;
  while (start > from && !isLineEnd(text, start - 1)) start -= 1;
  timeLine.lastIndex = start;
  if (!timeLine.test(text)) return { start, end: lineEnd(text, arrow), time: undefined, settings: '' };
  const { lastIndex } = timeLine;
  const end = lineEnd(text, lastIndex);
  let first = arrow;
  while (text.charCodeAt(first - 1) <= 32) first -= 1;
  const time = { from: readClock(text, first), to: readClock(text, lastIndex) };
  return { start, end, time, settings: end === lastIndex ? '' : text.slice(lastIndex, end).trim() };
}

/** Returns the milliseconds of the time that ends at an offset. Reading code units is faster than any other way. */
function readClock(text: string, end: number): number {
  const digit = (before: number) => text.charCodeAt(end - before) - 48;
  let value = (digit(9) * 10 + digit(8)) * 60_000 + (digit(6) * 10 + digit(5)) * 1000;
  value += digit(3) * 100 + digit(2) * 10 + digit(1);
  if (text[end - 10] !== ':') return value;
  for (let at = 11, unit = 3_600_000; digit(at) >= 0 && digit(at) <= 9; at += 1, unit *= 10)
    value += digit(at) * unit;
  return value;
}

function lineEnd(text: string, at: number): number {
  while (at < text.length && !isLineEnd(text, at)) at += 1;
  return at;
}

/** Records the languages that tags like `<lang en>` declare. A tag that is not closed ends with its cue. */
function noteLanguages(text: string, from: number, to: number, languages: Languages): void {
  const open: (string | undefined)[] = [];
  const raw = text.slice(from, to);
  if (raw.includes('<lang')) {
    for (const { 0: found, 1: tag, index } of raw.matchAll(/<lang(?:\.[^\s<>]*)?[ \t]([^<>]*)>|<\/lang>/g)) {
      if (tag === undefined) open.pop();
      else open.push(primaryLanguage(tag));
      languages.note(from + index + found.length, open.at(-1));
    }
  }
  languages.note(to, undefined);
}

/** Returns a translated cue without what would end it: an arrow is escaped, and an empty line gets a space. */
export const escapeCueEnds = (cue: string): string =>
  cue.replaceAll('-->', '--&gt;').replace(/(?<=^|\n|\r(?!\n))(?=[\r\n])/g, ' ');
