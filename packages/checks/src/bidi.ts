import type { Check, Range } from './finding.ts';
import { visible } from './pieces.ts';

const CONTROL = /[\u202a-\u202e\u2066-\u2069]/g;
const POP = '\u202c';
const POP_ISOLATE = '\u2069';

/**
 * Severity is error, because an unclosed control character also reverses the text that follows the segment in
 * the document.
 */
export const bidi: Check = {
  id: 'bidi',
  severity: 'error',
  question: 'Are all directional control characters opened and closed correctly?',
  find({ target }) {
    const text = visible(target);
    const open: { closer: string; range: Range }[] = [];
    const stray: Range[] = [];
    for (const { 0: control, index } of text.matchAll(CONTROL)) {
      const range = { start: index, end: index + 1 };
      if (control !== POP && control !== POP_ISOLATE) {
        open.push({ closer: control >= '\u2066' ? POP_ISOLATE : POP, range });
      } else if (open.at(-1)?.closer === control) open.pop();
      else stray.push(range);
    }
    return [
      ...stray.map((range) => ({ values: { problem: 'stray' }, range })),
      ...open.map(({ range }) => ({ values: { problem: 'open' }, range })),
    ];
  },
};
