/** Subtitle text in lines. In a large collection the median line has 20 characters, 99 % have at most 51. */

import { segmenter } from './sentences.ts';

const longestLine = 42;
const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/g;

/** Width in Latin letters; a wide letter counts for two, tags for nothing. */
function width(text: string): number {
  const visible = text.replace(/<\/?[a-z][^<>]*>|\{\\[^{}]*\}/gi, '');
  return visible.length + (visible.match(wide)?.length ?? 0);
}

interface Word {
  text: string;
  /** A space stands before it. */
  spaced: boolean;
  width: number;
}

/**
 * One line if it fits, else two of about the same length, else as many as the source had (at least as many as are
 * needed for two). No line is ever empty, so no text can end its cue.
 */
export function layOut(text: string, sourceLines: number, language: string): string[] {
  const flat = oneLine(text);
  const total = width(flat);
  if (total <= longestLine) return [flat];
  const words = wordsOf(flat, language);
  const count = total <= 2 * longestLine ? 2 : Math.max(2, sourceLines);
  return balance(words, Math.min(count, words.length));
}

/** The lines of a text, joined by spaces. White space within a line stays. */
function oneLine(text: string): string {
  const lines = text.trim().split(/[\r\n]+/);
  return lines.length === 1
    ? lines[0]!
    : lines
        .map((line) => line.trim())
        .filter((line) => line !== '')
        .join(' ');
}

function wordsOf(text: string, language: string): Word[] {
  const words: Word[] = [];
  // Tags hold spaces of their own and stick to their word.
  for (const match of text.matchAll(/(\s*)((?:<\/?[a-z][^<>]*>|\{\\[^{}]*\}|\S)+)/gi)) {
    const spaced = match[1] !== '';
    const word = match[2]!;
    if (word.search(wide) < 0 || /[<{]/.test(word)) {
      words.push({ text: word, spaced, width: width(word) });
      continue;
    }
    let first = true;
    for (const { segment, isWordLike } of segmenter(language, 'word').segment(word)) {
      const last = words.at(-1);
      // Punctuation does not begin a line.
      if (!first && !isWordLike && last) {
        last.text += segment;
        last.width += width(segment);
      } else words.push({ text: segment, spaced: first && spaced, width: width(segment) });
      first = false;
    }
  }
  return words;
}

/** Words in `count` lines: each break where the text so far is closest to its share. */
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
