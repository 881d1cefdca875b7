/**
 * Finds words that a translation must not change, in every format: variables in the common template and printf
 * styles, URLs, email addresses, references to noncharacters, and words too long for an engine. Such words become
 * `keep` codes.
 */

import { Limits } from './limits.ts';
import type { Range } from './runs.ts';

// Matching takes linear time even for hostile text. No pattern can match the same characters in two ways, and every
// repetition has a limit or follows a literal.
const variable = [
  /\{\{\{?[^{}\n]{1,200}\}\}\}?/u, // {{x}} {{{x}}}
  /\{%[^{}%\n]{1,200}%\}/u, // {% tag %}
  /<%[^%\n]{1,200}%>/u, // <%= x %>
  /[$%#]\{[^{}\n]{1,200}\}/u, // ${x} %{x} #{x}
  /\{[\p{L}\p{N}_][\p{L}\p{N}_.:$[\]-]{0,100}(?:,\s*(?:number|date|time|spellout|ordinal|duration)[^{}\n]{0,100})?\}/u, // {x} {0} {0,number}
  /%\([A-Za-z_]\w{0,100}\)[a-z]/u, // %(x)s
  /(?<![\p{N}%])%(?:\d{1,2}\$)?[-+0#']?\d{0,3}(?:\.\d{1,3})?(?:hh|h|ll|l|q|L|z|t|j)?[@sdiufFxXeEgGcCoSpaA](?!\p{L}{2})/u, // %s %1$d %@ %.2f
  /%[A-Za-z_][\w.-]{0,60}%/u, // %x%
];

const address = [
  /(?:https?|ftps?|sftp|wss?|file):\/\/[\w~:/?#[\]@!$&'()*+,;=.%\u00a1-\u02ff\u0400-\u04ff-]*[\w~/#@$&*+=%\u00a1-\u02ff\u0400-\u04ff-]/u,
  /(?<![\w.-])www\.[\w-]{1,63}\.[\w~:/?#[\]@!$&'()*+,;=.%-]*[\w~/#@$&*+=%-]/u,
  /(?<![\w.+%-])[\w.+%-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,126}/u,
];

/** References to the 66 noncharacters of Unicode, such as `&#xFFFF;` and `&#65535`. They are never decoded. */
const noncharacter = [
  /&#[xX]0*(?:(?:10|[1-9a-fA-F])?[fF]{3}[eEfF]|[fF][dD][dDeE][\da-fA-F])(?![\da-fA-F]);?/u,
  /&#0*(?:6497[6-9]|649[89]\d|6500[0-7]|6553[45]|13107[01]|19660[67]|26214[23]|32767[89]|39321[45]|45875[01]|52428[67]|58982[23]|65535[89]|72089[45]|78643[01]|85196[67]|91750[23]|98303[89]|104857[45]|111411[01])(?!\d);?/u,
];

/**
 * A character at which a word ends: white space, or a character of a script without spaces, in which a long
 * run of characters is a sentence.
 */
const wordEnd =
  /[\s\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\u3000-\u303f\uff00-\uffef]/gu;
const words = new RegExp(
  [...address, ...variable, ...noncharacter].map((pattern) => pattern.source).join('|'),
  'gu',
);
const gate = /[{%@]|:\/\/|www\.|&#/;

/** Returns the ranges of a text that must not be translated, in order. */
export function protectedRanges(text: string): Range[] {
  const ranges: Range[] = [];
  if (gate.test(text)) {
    for (const match of text.matchAll(words)) ranges.push(keep(match.index, match[0]));
  }
  if (text.length <= Limits.word || !hasLongRun(text)) return ranges;
  const long = longWords(text);
  return long.length === 0 ? ranges : merge(ranges, long);
}

/**
 * Finds words above the length limit. It searches for word ends, because one match of several million characters
 * would overflow the stack of V8's regular expressions.
 */
function longWords(text: string): Range[] {
  const found: Range[] = [];
  let start = 0;
  const end = (at: number) => {
    if (at - start <= Limits.word) return;
    const word = text.slice(start, at);
    // The limit is a number of code points. A code point has at most two UTF-16 code units, so a word of more than
    // twice the limit in units need not be counted.
    if (word.length > 2 * Limits.word || [...word].length > Limits.word) found.push(keep(start, word));
  };
  for (const match of text.matchAll(wordEnd)) {
    end(match.index);
    start = match.index + match[0].length;
  }
  end(text.length);
  return found;
}

/**
 * Returns true if a run without an ASCII space is longer than the limit of a word. Only characters at
 * distances of the limit plus one are examined, because a longer run contains at least one of them.
 */
function hasLongRun(text: string): boolean {
  const step = Limits.word + 1;
  for (let at = Limits.word; at < text.length; at += step) {
    let start = at;
    let end = at;
    while (start >= 0 && text.charCodeAt(start) > 0x20 && at - start < step) start -= 1;
    while (end < text.length && text.charCodeAt(end) > 0x20 && end - at < step) end += 1;
    if (end - start - 1 >= step) return true;
  }
  return false;
}

function keep(from: number, found: string): Range {
  return { from, to: from + found.length, code: { kind: 'keep', text: shorten(found) } };
}

/** Returns what readers see in place of a protected range. Long text is truncated. */
export function shorten(text: string): string {
  if (text.length <= Limits.word) return text;
  return `${text
    .slice(0, Limits.word - 1)
    .toWellFormed()
    .replace(/\ufffd$/, '')}…`;
}

/** Merges protected ranges and long words in order of position. Ranges inside a long word are left out. */
function merge(ranges: Range[], long: Range[]): Range[] {
  const kept = [...long];
  let next = 0;
  for (const range of ranges) {
    while (next < long.length && long[next]!.to <= range.from) next += 1;
    const word = long[next];
    // An address may begin before and end after the long word that it overlaps, so the range becomes the
    // union of both.
    if (word && range.from < word.to && range.to > word.from) {
      word.to = Math.max(word.to, range.to);
      word.from = Math.min(word.from, range.from);
    } else kept.push(range);
  }
  return kept.sort((a, b) => a.from - b.from);
}
