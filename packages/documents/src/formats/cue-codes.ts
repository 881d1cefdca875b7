/**
 * The codes of a subtitle: its tags and positions, and the gaps between the texts of speakers. They are found when they
 * are needed, because most cues are only copied.
 */

import { shorten } from '../codes/codes.ts';
import type { Code } from '../model/document.ts';
import { Limits } from '../model/limits.ts';

/** The forms of units that are cues. */
export type CueForm = 'srt' | 'vtt';

/** How far around a line break a cue is read, in characters. */
const NEAR = 200;

const noCodes: Code[] = [];

/**
 * What is no text in a cue, and the names in its tags. In WebVTT, every `<` begins a tag, which ends with the next `>` or
 * with the cue. A tag that is not of the usual form has no name: it may have a line break, so it never moves.
 */
const dialects: Record<CueForm, { marks: RegExp; tag: RegExp }> = {
  srt: {
    marks:
      /<\/?(?:i|b|u|s|font)(?:\s[^<>\r\n]{0,500})?>|<\d{1,3}(?::\d{2}){1,2}[.,]\d{1,3}>|(?<!\b[a-z]:(?:\\\S{0,60})?|\\\\\S{0,60}|\\)\\N|(?<=^|[\s>}]|\\h)\\h|\{\\[^{}\r\n]{0,200}\}|[\r\n][ \t\r\n]*|(?:[-–—‐]+|>{2,3}|[•▪◦])[ \t]*/gi,
    tag: /^<(\/?)([a-z]+)/i,
  },
  vtt: {
    marks: /<[^>]*>?|\{\\[^{}\r\n]{0,200}\}|[\r\n][ \t\r\n]*|(?:[-–—‐]+|(?:>|&gt;){2,3}|[•▪◦])[ \t]*/g,
    tag: /^<(\/?)([a-z]+)(?:[ \t.][^<\r\n]*)?>$/i,
  },
};

/**
 * Matches the beginning of a line that another speaker says, or that is another text: a colour, a position, a speaker's
 * name or mark, a musical note, a sound in brackets, the mark of a list.
 */
const ownLine =
  /^(?:<(?:font\b|c\.)|\{\\an?\d|(?:<[^<>\r\n]{0,100}>|\{[^{}\r\n]{0,60}\}){0,9}[ \t]{0,9}(?:>>|[♪♫¶•▪◦[]|\([^()\r\n]{1,80}\)(?:<\/[a-z]{1,9}>)?[ \t]{0,9}(?:[\r\n]{1,9}(?!\s{0,9}\p{Ll})|$)|[#*][ \t]|(?:\d{1,2}[.)]|[a-z]\))[ \t]|\(?\p{Lu}[\p{Lu}\p{N} #.'’-]{0,30}\)?:|\p{Lu}[\p{L} .'’-]{0,20}(?: #?\d)?:[ \t]))/u;

/** Matches a sound in brackets that is the whole last line of a text. In round brackets, it may belong to a sentence. */
const soundLine =
  /(?:^|[\r\n])(?:<[^<>\r\n]{0,100}>|[ \t]){0,9}(?:\[[^[\]\r\n]{1,80}\]|(\([^()\r\n]{1,80}\)))(?:<\/[a-z]{1,9}>)?[ \t]{0,9}$/u;

/** Returns true if the first voice (`<v Name>`) of a cue of WebVTT is of another speaker than the last one before it. */
export function changesSpeaker(before: string, next: string): boolean {
  const speakers = (raw: string) =>
    Array.from(raw.matchAll(/<v(?:\.[^\s<>]*)?[ \t]([^<>]*)>/gi), ([, name]) => name!.trim());
  const [first] = speakers(next);
  return first !== undefined && first !== speakers(before).at(-1);
}

/** Returns true if a line begins a text of its own, whatever stands before it. */
export const beginsOwnText = (line: string): boolean => ownLine.test(line);

/**
 * Returns the codes of a cue. Tags and `{\an8}` are codes. Blank lines, line breaks between speakers, and the marks
 * before a speaker's text are gaps. So is a voice (`<v Name>`) that begins or ends between two texts.
 */
export function cueCodes(raw: string, offset: number, form: CueForm): readonly Code[] {
  const codes: Code[] = [];
  if (!/[<{\\\r\n–—‐•▪◦>&-]/.test(raw)) return noCodes;
  const { marks, tag } = dialects[form];
  let hasText = false;
  let voiceEnd: Code | undefined;
  const open = new Map<string, number[]>();
  let number = 0;
  let lineStart = true;
  let position = 0;
  const textBefore = () => {
    lineStart = false;
    hasText = true;
    if (voiceEnd) voiceEnd.kind = 'gap';
  };
  for (const match of raw.matchAll(marks)) {
    const found = match[0];
    const start = offset + match.index;
    const end = start + found.length;
    if (raw.slice(position, match.index).trim() !== '') textBefore();
    position = match.index + found.length;
    const add = (kind: Code['kind'], own?: number) => {
      if (own === undefined) number += 1;
      codes.push({ kind, number: own ?? number, start, end });
    };
    if (found.startsWith('<')) {
      const [, slash, given] = tag.exec(found) ?? [];
      const name = given?.toLowerCase();
      if (name === undefined) add(/^<\d[\d:.,]*>$/.test(found) ? 'single' : 'gap');
      else if (slash === '' && name === 'v' && hasText) add('gap');
      else if (slash === '') {
        add('open');
        const waiting = open.get(name);
        if (waiting) waiting.push(number);
        else open.set(name, [number]);
      } else {
        add('close', open.get(name)?.pop());
        if (name === 'v') voiceEnd = codes.at(-1);
      }
    } else if (/^\\N$/i.test(found)) add('gap');
    else if (/^[{\\]/.test(found)) add('single');
    else if (/^[\r\n]/.test(found)) {
      lineStart = true;
      const isBlankLine = /^(?:\r*\n|\r)[ \t]*[\r\n]/.test(found) && !/^\r+\n[ \t]*$/.test(found);
      const before = soundLine.exec(raw.slice(Math.max(0, match.index - NEAR), match.index));
      const isOwn =
        beginsOwnText(raw.slice(position, position + NEAR)) ||
        (before !== null && !(before[1] !== undefined && /^\p{Ll}/u.test(raw.slice(position))));
      if (isBlankLine || isOwn) add('gap');
    } else if (lineStart) {
      lineStart = false;
      // A dash before a digit is a minus sign, as in "-5 degrees".
      if (!/\d/.test(raw[position] ?? '')) add('gap');
    }
  }
  if (raw.slice(position).trim() !== '') textBefore();
  if (codes.length > Limits.codes)
    return [{ kind: 'keep', number: 1, start: offset, end: offset + raw.length, text: shorten(raw) }];
  return codes;
}
