/**
 * Plain text. Every line is a unit: a single line break inside a paragraph is a border as well, because only then
 * do all line breaks come back exactly as they were. Tabs and wide gaps inside a line are borders too (tables).
 */

import { type Document, emptyDocument, errorAt, type Unit } from './document.ts';
import { Limits } from './limits.ts';
import { isSpaceUnit } from './spaces.ts';

const lineEnd = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;
const otherLineEnd = /[\r\v\f\u0085\u2028\u2029]/;
const noCodes: Unit['codes'] = [];

/** One unit a line that has a visible character, without its line end. */
export function scanText(text: string): Document {
  const document = emptyDocument('text', text);
  const { units } = document;
  const add = (start: number, end: number) => {
    if (isBlank(text, start, end)) return;
    if (units.length >= Limits.units) {
      throw errorAt(text, start, `The text has more than ${Limits.units} lines.`);
    }
    units.push({ index: units.length, form: 'text', start, end, codes: noCodes, translatable: true });
  };
  let start = 0;
  if (otherLineEnd.test(text)) {
    // `test` moves `lastIndex` as `exec` does, without an array for every line.
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

function isBlank(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    if (!isSpaceUnit(text.charCodeAt(at))) return false;
  }
  return true;
}
