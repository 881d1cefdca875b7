/**
 * Plain text. Every line is a unit: a single line break inside a paragraph is a border as well, because only then
 * do all line breaks come back exactly as they were. Tabs and wide gaps inside a line are borders too (tables).
 */

import { type Document, emptyDocument, errorAt } from './document.ts';
import { Limits } from './limits.ts';

const lineEnd = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;

/** One unit a line that has a visible character, without its line end. */
export function scanText(text: string): Document {
  const document = emptyDocument('text', text);
  const { units } = document;
  const add = (start: number, end: number) => {
    if (!/\S/.test(text.slice(start, Math.min(end, start + 64))) && text.slice(start, end).trim() === '')
      return;
    if (units.length >= Limits.units) {
      throw errorAt(text, start, `The text has more than ${Limits.units} lines.`);
    }
    units.push({ index: units.length, form: 'text', start, end, codes: [], translatable: true });
  };
  let start = 0;
  lineEnd.lastIndex = 0;
  for (let match = lineEnd.exec(text); match; match = lineEnd.exec(text)) {
    if (match.index > start) add(start, match.index);
    start = lineEnd.lastIndex;
  }
  if (text.length > start) add(start, text.length);
  return document;
}
