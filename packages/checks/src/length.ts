import type { Check } from './finding.ts';
import { visible } from './pieces.ts';

/**
 * The minimum length of a source that is checked, as returned by {@link weigh}. Below it, the ratio between
 * translation and source varies too much.
 */
const LEAST_WEIGHT = 10;
/**
 * The largest accepted ratio between the lengths of target and source. `SLACK` raises it for short texts, whose
 * ratios vary more.
 */
const RATIO = 2;
const SLACK = 20;

/**
 * In a finding, `percent` is the target's length relative to the source. Ideographs and Hangul syllables
 * count more than letters.
 */
export const lengthRatio: Check = {
  id: 'length-ratio',
  severity: 'warning',
  question:
    'Is the translation much longer or shorter than the source, if characters are weighted by their script (a Chinese character counts more than a Latin letter)?',
  find({ source, target }) {
    const weight = weigh(visible(source));
    const made = weigh(visible(target));
    if (weight < LEAST_WEIGHT || made === 0) return [];
    const most = RATIO + SLACK / weight;
    const ratio = made / weight;
    return ratio > most || ratio < 1 / most ? [{ values: { percent: Math.round(ratio * 100) } }] : [];
  },
};

export const maxLength: Check = {
  id: 'max-length',
  severity: 'error',
  question: 'Is the translation longer than the document allows?',
  find({ target, maxLength: most }) {
    if (most === undefined) return [];
    const text = visible(target);
    const length = count(text);
    if (length <= most) return [];
    return [{ values: { length, most }, range: { start: offsetOf(text, most), end: text.length } }];
  },
};

/** Returns the approximate length that a text would have in Latin letters. Zero-width marks do not count. */
export function weigh(text: string): number {
  const dense = text.match(/[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/gu)?.length ?? 0;
  const syllables = text.match(/\p{sc=Hang}/gu)?.length ?? 0;
  const bare = text.match(/[\p{M}\p{Cf}\ud800-\udbff]/gu)?.length ?? 0;
  return text.length - bare + 1.6 * dense + syllables;
}

/** Counts Unicode code points, because XLIFF limits lengths in code points. */
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
