/**
 * Scans plain text. Every line is a unit, even inside a paragraph, because only then are all line breaks preserved
 * exactly. Tabs and wide gaps inside a line (tables) also separate segments.
 */

import { type Document, emptyDocument, errorAt, type Unit } from '../model/document.ts';
import { Limits } from '../model/limits.ts';
import { isSpaceUnit } from '../model/spaces.ts';

const lineEnd = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;
const otherLineEnd = /[\r\v\f\u0085\u2028\u2029]/;
const noCodes: Unit['codes'] = [];

/** Scans plain text. Each line with a visible character is a unit, without its line end. */
export function scanText(text: string): Document {
  const document = emptyDocument('text', text);
  const { units } = document;
  const code = fencedCode(text);
  let next = 0;
  const add = (start: number, end: number) => {
    while (next < code.length && code[next]!.end <= start) next += 1;
    if (isBlank(text, start, end) || (code[next]?.start ?? end) < end) return;
    if (units.length >= Limits.units) {
      throw errorAt(text, start, `The text has more than ${Limits.units} lines.`);
    }
    units.push({ index: units.length, form: 'text', start, end, codes: noCodes, translatable: true });
  };
  let start = 0;
  if (otherLineEnd.test(text)) {
    // `test` advances `lastIndex` like `exec`, but does not allocate an array for each line.
    lineEnd.lastIndex = 0;
    while (lineEnd.test(text)) {
      const next = lineEnd.lastIndex;
      const isPair = text.charCodeAt(next - 1) === 10 && text.charCodeAt(next - 2) === 13;
      add(start, next - (isPair ? 2 : 1));
      start = next;
    }
  } else {
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      add(start, end);
      start = end + 1;
    }
  }
  add(start, text.length);
  return document;
}

/**
 * Returns the blocks of code between two lines of backticks (CommonMark 0.31 §4.5), with these lines. A block without an
 * end is text. Lines of tildes are no fences: they also underline headings and divide scenes.
 */
function fencedCode(text: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  if (!text.includes('```')) return found;
  let open: { fence: string; start: number } | undefined;
  for (const { index, 0: line, 1: fence = '', 2: rest = '' } of text.matchAll(
    /^ {0,3}(`{3,100}(?=[^`\r\n]*$))([^\r\n]*)/gm,
  )) {
    if (open === undefined) open = { fence, start: index };
    else if (fence.startsWith(open.fence) && rest.trim() === '') {
      found.push({ start: open.start, end: index + line.length });
      open = undefined;
    }
  }
  return found;
}

function isBlank(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    if (!isSpaceUnit(text.charCodeAt(at))) return false;
  }
  return true;
}
