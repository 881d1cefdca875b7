import type { Check } from './finding.ts';
import { visible } from './pieces.ts';

/** From so much weight on a translation can be told to be too short or too long. */
const LEAST_WEIGHT = 10;
/** Times as long or as short; short texts vary more. */
const RATIO = 2;
const SLACK = 20;

/** `percent`: of the source's length, characters that stand for a syllable or a word weighed as more. */
export const lengthRatio: Check = {
  id: 'length-ratio',
  severity: 'warning',
  asks: 'Is the translation much longer or shorter than the source, scripts weighed?',
  find({ source, target }) {
    const weight = weigh(visible(source));
    const made = weigh(visible(target));
    if (weight < LEAST_WEIGHT || made === 0) return [];
    const most = RATIO + SLACK / weight;
    const ratio = made / weight;
    return ratio > most || ratio < 1 / most ? [{ values: { percent: Math.round(ratio * 100) } }] : [];
  },
};

/** The document cannot take more. */
export const maxLength: Check = {
  id: 'max-length',
  severity: 'error',
  asks: 'Is the translation longer than the document allows?',
  find({ target, maxLength: most }) {
    if (most === undefined) return [];
    const text = visible(target);
    const length = count(text);
    if (length <= most) return [];
    return [{ values: { length, most }, range: { start: offsetOf(text, most), end: text.length } }];
  },
};

/** Letters in Latin; marks without width count for nothing. */
export function weigh(text: string): number {
  const dense = text.match(/[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/gu)?.length ?? 0;
  const syllables = text.match(/\p{sc=Hang}/gu)?.length ?? 0;
  const bare = text.match(/[\p{M}\p{Cf}\ud800-\udbff]/gu)?.length ?? 0;
  return text.length - bare + 1.6 * dense + syllables;
}

/** Characters as XLIFF counts them: code points. */
function count(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

function offsetOf(text: string, characters: number): number {
  let offset = 0;
  let left = characters;
  for (const character of text) {
    if (left-- <= 0) break;
    offset += character.length;
  }
  return offset;
}
