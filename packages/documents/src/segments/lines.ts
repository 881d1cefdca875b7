/**
 * Line breaks in subtitles. In a large collection, the median line has 20 characters and 99 % of the lines have at
 * most 51.
 */

import { segmenter } from './sentences.ts';

const longestLine = 42;
const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/g;

/** Returns the width of a text, measured in Latin letters: a wide letter counts as two, a tag as zero. */
function width(text: string): number {
  const visible = text.replace(/<(?:\/?[a-z]|\d+:\d)[^<>]*>|\{\\[^{}]*\}/gi, '');
  return visible.length + (visible.match(wide)?.length ?? 0);
}

interface Word {
  text: string;
  /** True if a space precedes the word. */
  spaced: boolean;
  width: number;
}

/**
 * Divides a text into lines: one line if the text fits, otherwise two of about the same length, otherwise as many as
 * the source has. No line is empty, because an empty line would end the cue.
 */
export function layOut(text: string, sourceLines: number, language: string): string[] {
  const flat = oneLine(text);
  const total = width(flat);
  if (total <= longestLine) return [flat];
  const words = wordsOf(flat, language);
  const count = total <= 2 * longestLine ? 2 : Math.max(2, sourceLines);
  return balance(words, Math.min(count, words.length));
}

/** Joins the lines of a text with spaces. White space within a line stays unchanged. */
const oneLine = (text: string) => linesOf(text).join(' ');

/** Returns the lines of a text that are not empty. */
export function linesOf(text: string): string[] {
  const lines = text.trim().split(/[\r\n]+/);
  return lines.length === 1 ? lines : lines.map((line) => line.trim()).filter((line) => line !== '');
}

function wordsOf(text: string, language: string): Word[] {
  const words: Word[] = [];
  // Tags and placeholders may contain spaces, and stay attached to their word.
  for (const match of text.matchAll(/(\s*)((?:<\/?[a-z][^<>]*>|\{[^{}]{1,200}\}|\S)+)/gi)) {
    const spaced = match[1] !== '';
    const word = match[2]!;
    if (word.search(wide) < 0 || /[<{]|&\w+;/.test(word)) {
      words.push({ text: word, spaced, width: width(word) });
      continue;
    }
    let first = true;
    for (const { segment, isWordLike } of segmenter(language, 'word').segment(word)) {
      const last = words.at(-1);
      // Punctuation is attached to the word before it, because a line must not begin with punctuation.
      if (!first && !isWordLike && last) {
        last.text += segment;
        last.width += width(segment);
      } else words.push({ text: segment, spaced: first && spaced, width: width(segment) });
      first = false;
    }
  }
  return words;
}

/** Divides words into `count` lines of nearly the same width. */
function balance(words: readonly Word[], count: number): string[] {
  const total = words.reduce((sum, word) => sum + word.width + (word.spaced ? 1 : 0), 0);
  const lines: string[] = [];
  let line = '';
  let sum = 0;
  words.forEach((word, index) => {
    const size = word.width + (word.spaced ? 1 : 0);
    const share = (total * (lines.length + 1)) / count;
    const left = words.length - index;
    const isFull = sum > 0 && Math.abs(sum - share) <= Math.abs(sum + size - share);
    if (line !== '' && lines.length < count - 1 && (isFull || left <= count - 1 - lines.length)) {
      lines.push(line);
      line = '';
    }
    line += (word.spaced && line !== '' ? ' ' : '') + word.text;
    sum += size;
  });
  lines.push(line);
  return lines;
}
