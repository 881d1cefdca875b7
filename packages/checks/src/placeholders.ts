import { protectedRanges } from '@dragoman/documents/pieces';
import { addressesIn } from './addresses.ts';
import type { Check } from './finding.ts';
import { type Stretch, stretches, texts } from './pieces.ts';

/**
 * Placeholders that a document scanner cannot recognize with certainty. The pattern has length limits, so
 * that matching takes linear time.
 */
const PLACEHOLDER =
  /\[\[[^[\]\n]{1,100}\]\]|__[A-Z][A-Z0-9_]{0,60}__|⟦[^⟦⟧\n]{0,100}⟧|<\/?[a-z][a-z0-9-]{0,30}(?:\s[^<>\n]{0,200})?\/?>|\[[A-Z][A-Z0-9_ ]{1,60}\]/gu;

/**
 * The `codes` check compares placeholders inside protected words, so this check skips them. In a finding, `problem`
 * is `missing` or `unknown`.
 */
export const placeholders: Check = {
  id: 'placeholders',
  severity: 'warning',
  question: 'Does the translation have exactly the placeholders of the source?',
  find({ source, target }) {
    const wanted = placeholdersIn(stretches(source));
    const found = placeholdersIn(stretches(target));
    if (wanted.length + found.length === 0) return [];
    const inSource = new Set(placeholdersIn(texts(source)).map(({ text }) => text));
    const inTarget = new Set(placeholdersIn(texts(target)).map(({ text }) => text));
    // A missing placeholder is reported once, even if the source has it several times.
    const missing = new Map(wanted.flatMap(({ text, range }) => (inTarget.has(text) ? [] : [[text, range]])));
    return [
      ...[...missing].map(([placeholder, range]) => ({
        values: { problem: 'missing', placeholder },
        source: range,
      })),
      ...found
        .filter(({ text }) => !inSource.has(text))
        .map(({ text, range }) => ({ values: { problem: 'unknown', placeholder: text }, range })),
    ];
  },
};

/**
 * Returns the variables that a scanner would protect, and other placeholders. Addresses and long words are
 * left out.
 */
function placeholdersIn(all: readonly Stretch[]) {
  return all.flatMap(({ text, start }) => {
    const addresses = addressesIn([{ text, start: 0 }]);
    let next = 0;
    const isAddress = (from: number) => {
      while (next < addresses.length && addresses[next]!.range.end <= from) next++;
      const address = addresses[next];
      return address !== undefined && address.range.start <= from;
    };
    // Names, such as `JavaScript`, are protected, but an editor may write them where the source has none.
    const variables = protectedRanges(text)
      .filter(
        ({ from, to, code }) => code?.kind !== 'gap' && to - from <= MAX_PLACEHOLDER && !isAddress(from),
      )
      .map(({ from, to }) => ({ start: from, end: to }))
      .filter((one) => !/^[\p{L}\p{N}./~`-]/u.test(text.slice(one.start, one.end)));
    const others = Array.from(text.matchAll(PLACEHOLDER), ({ 0: found, index }) => ({
      start: index,
      end: index + found.length,
    })).filter(({ start, end }) => !variables.some((one) => one.start < end && one.end > start));
    return [...variables, ...others].map((range) => ({
      text: text.slice(range.start, range.end),
      range: { start: start + range.start, end: start + range.end },
    }));
  });
}

const MAX_PLACEHOLDER = 250;
