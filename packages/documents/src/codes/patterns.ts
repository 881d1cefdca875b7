/**
 * Protects the words that a customer's own patterns match. The patterns are regular expressions of RE2, which match in
 * linear time for every pattern and text. The regular expressions of JavaScript take exponential time for some patterns.
 */

import { RE2JS, RE2JSSyntaxException, RE2Set } from 're2js';
import { Limits } from '../model/limits.ts';
import { protectedRanges, type Range, shorten } from './codes.ts';

export const PatternLimits = {
  /** The maximum number of patterns of a list. */
  patterns: 50,
  /** The maximum length of a pattern in characters. */
  length: 200,
  /**
   * The maximum number of instructions of all patterns. `x{200}` has two hundred, `x{0,200}` four hundred. The slowest lists
   * and texts that we found take 5 ms for 100 characters, and twice that with a thousand instructions.
   */
  instructions: 600,
} as const;

/** Texts in which a pattern is tried for a match without a character. */
const SAMPLES = ['', 'a', ' ', 'a 1'];

/** Returns why a list of patterns cannot be used, with the index of the pattern. The index of the whole list is -1. */
export function patternFaults(patterns: readonly string[]): { index: number; fault: string }[] {
  if (patterns.length > PatternLimits.patterns) {
    return [{ index: -1, fault: `has more than ${PatternLimits.patterns} patterns.` }];
  }
  const faults: { index: number; fault: string }[] = [];
  let instructions = 0;
  for (const [index, pattern] of patterns.entries()) {
    const compiled = compileOne(pattern);
    if (typeof compiled === 'string') {
      faults.push({ index, fault: compiled });
      continue;
    }
    // A pattern may have tens of thousands of instructions, so the rest of a list that is too large is not read.
    instructions += compiled.programSize();
    if (instructions > PatternLimits.instructions) {
      faults.push({
        index: -1,
        fault: 'has patterns that are too large together. Use smaller repetitions.',
      });
      break;
    }
    if (SAMPLES.some((sample) => hasEmptyMatch(compiled, sample))) {
      faults.push({ index, fault: 'matches without any character.' });
    }
  }
  return faults;
}

function compileOne(pattern: string): string | RE2JS {
  if (pattern.trim() === '') return 'is empty.';
  if ([...pattern].length > PatternLimits.length) {
    return `is longer than ${PatternLimits.length} characters.`;
  }
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return sayFault(pattern, error.getDescription());
  }
}

/** The parts of other regular expressions that RE2 does not have, because they cannot be matched in linear time. */
function sayFault(pattern: string, fault: string): string {
  if (/\\[1-9]|\\k<|\(\?P=/.test(pattern)) return 'has a backreference, which is not supported.';
  if (/\(\?<?[=!]/.test(pattern)) return 'has a lookahead or lookbehind, which is not supported.';
  return `is not a regular expression: ${fault}.`;
}

function hasEmptyMatch(compiled: RE2JS, text: string): boolean {
  const matcher = compiled.matcher(text);
  while (matcher.find()) if (matcher.start() === matcher.end()) return true;
  return false;
}

interface Compiled {
  set: RE2Set;
  patterns: RE2JS[];
}

/** The compiled lists by their JSON text, and the latest list: a document asks for the same one at every unit. */
const compiled = new Map<string, Compiled>();
let latest: { list: readonly string[]; compiled: Compiled } | undefined;
const MAX_COMPILED = 100;

function compile(list: readonly string[]): Compiled {
  if (latest?.list === list) return latest.compiled;
  const key = JSON.stringify(list);
  let found = compiled.get(key);
  if (found === undefined) {
    const set = new RE2Set();
    for (const pattern of list) set.add(pattern);
    found = { set, patterns: list.map((pattern) => RE2JS.compile(pattern)) };
    if (compiled.size >= MAX_COMPILED) compiled.clear();
    compiled.set(key, found);
  }
  latest = { list, compiled: found };
  return found;
}

/**
 * Returns the ranges of a text that patterns match, as protected words. A longer match than the limit of a word is no match.
 *
 * A search that goes on behind a match may read the rest of the text, such as `a.*b|a` in a text of many `a`. The text is
 * therefore searched in windows: a match begins in the first half of a window and ends before its end.
 */
export function patternRanges(text: string, list: readonly string[]): Range[] {
  const { set, patterns } = compile(list);
  const found: Range[] = [];
  /** For each pattern, where its next match may begin. */
  const next = patterns.map(() => 0);
  for (let start = 0; start < text.length; start += Limits.word) {
    // The character before the window decides whether a word begins with it.
    const from = Math.max(0, start - 1);
    const part = text.slice(from, start + 2 * Limits.word);
    // Between the halves of a surrogate pair no match begins.
    const begin = (text.charCodeAt(start) & 0xfc00) === 0xdc00 ? start + 1 : start;
    for (const index of set.match(part)) {
      const matcher = patterns[index]!.matcher(part);
      const first = Math.max(next[index]!, begin);
      if (first >= start + Limits.word) continue;
      for (let more = matcher.find(first - from); more; more = matcher.find()) {
        const at = from + matcher.start();
        if (at >= start + Limits.word) break;
        const to = from + matcher.end();
        next[index] = to;
        if (to > at && to - at <= Limits.word) found.push({ from: at, to });
      }
    }
  }
  return merge(text, found);
}

/** Sorts ranges, and joins those that overlap. */
function merge(text: string, ranges: Range[]): Range[] {
  const merged: Range[] = [];
  for (const { from, to } of ranges.sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    const overlapped = last !== undefined && from < last.to ? merged.pop() : undefined;
    const start = overlapped?.from ?? from;
    const end = Math.max(to, overlapped?.to ?? to);
    merged.push({ from: start, to: end, code: { kind: 'keep', text: shorten(text.slice(start, end)) } });
  }
  return merged;
}

/** Returns the parts of a plain text that are not translated, by the program's patterns and those of the list. */
export function protectedParts(text: string, list: readonly string[]): { start: number; end: number }[] {
  return protectedRanges(text, true, patternRanges(text, list)).flatMap(({ from, to, code }) =>
    code?.kind === 'keep' ? [{ start: from, end: to }] : [],
  );
}
