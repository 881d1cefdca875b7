import type { Check } from './finding.ts';
import { base } from './language.ts';
import { visible } from './pieces.ts';

const CLOSERS = /[\s\p{Pe}\p{Pf}\p{Pi}\p{Cf}"'„‚*_]/u;

/** Maps the punctuation marks of all languages to the Western mark with the same meaning. */
const MARKS: Record<string, string> = {
  ...named('.', '.。．｡।॥۔։።'),
  ...named('?', '?？؟⁇፧'),
  ...named('!', '!！‼'),
  ...named(':', ':：'),
  ...named('…', '…⋯'),
  ...named(',', ',，、،'),
};

/**
 * Languages whose sentences have no final mark (Thai, Lao, Khmer, Burmese, Tibetan) or a mark inside the last
 * word (Armenian).
 */
const WITHOUT = new Set(['th', 'lo', 'km', 'my', 'hy', 'bo']);

/** In a finding, `wanted` and `found` are punctuation marks, or `''` if there is no mark. */
export const endMark: Check = {
  id: 'end-mark',
  severity: 'warning',
  question: 'Does the translation end with the same mark as the source, in the form of its language?',
  find({ source, target, from, to }) {
    if (WITHOUT.has(base(from)) || WITHOUT.has(base(to))) return [];
    const wanted = lastMark(visible(source), from);
    const found = lastMark(visible(target), to);
    if (wanted.mark === found.mark) return [];
    return [
      {
        values: { wanted: wanted.mark, found: found.mark },
        range: { start: found.at, end: found.at + found.length },
      },
    ];
  },
};

/**
 * Returns the final punctuation mark of a text, without the closing quotes and brackets after it. `mark` is
 * `''` if there is none.
 */
function lastMark(text: string, language: string): { mark: string; at: number; length: number } {
  let end = text.length;
  while (end > 0 && CLOSERS.test(text[end - 1]!)) end--;
  const last = text[end - 1] ?? '';
  let mark = Object.hasOwn(MARKS, last) ? MARKS[last]! : '';
  if (base(language) === 'el' && (last === ';' || last === '\u037e')) mark = '?';
  if (mark === '.' && text[end - 2] === '.') mark = '…';
  // In `Wait?…` and `What?!`, the first mark decides that the sentence is a question.
  if (mark === '!' && MARKS[text[end - 2] ?? ''] === '?') mark = '?';
  return mark === '' ? { mark, at: end, length: 0 } : { mark, at: end - 1, length: 1 };
}

function named(mark: string, all: string): Record<string, string> {
  return Object.fromEntries(Array.from(all, (one) => [one, mark]));
}
