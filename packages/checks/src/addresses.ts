import type { Check, Range } from './finding.ts';
import { type Stretch, stretches, texts } from './pieces.ts';

/**
 * Matches a URL or an email address. Each alternative of the pattern has a length limit and starts at a
 * literal such as `http://` or at the beginning of a word, so matching takes linear time.
 */
const ADDRESS =
  /(?:https?|ftps?|sftp|wss?):\/\/[^\s<>"'«»“”]{1,2000}|(?<![\w.-])www\.[\w-]{1,63}\.[^\s<>"'«»“”]{1,2000}|(?<![\w.+%-])[\w.+%-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}/giu;
/** Matches punctuation after an address. It belongs to the sentence and not to the address. */
const AFTER = /[.,;:!?)\]}…。、，）]/;

/**
 * The `codes` check compares addresses inside protected words, so this check skips them. In a finding, `problem` is
 * `missing` or `unknown`.
 */
export const addresses: Check = {
  id: 'addresses',
  severity: 'warning',
  question: 'Does the translation have exactly the URLs and email addresses of the source?',
  find({ source, target }) {
    const wanted = addressesIn(stretches(source));
    const found = addressesIn(stretches(target));
    if (wanted.length + found.length === 0) return [];
    const inSource = new Set(addressesIn(texts(source)).map(({ address }) => address));
    const inTarget = new Set(addressesIn(texts(target)).map(({ address }) => address));
    // A missing address is reported once, even if the source has it several times.
    const missing = new Map(
      wanted.flatMap(({ address, range }) => (inTarget.has(address) ? [] : [[address, range]])),
    );
    return [
      ...[...missing].map(([address, range]) => ({ values: { problem: 'missing', address }, source: range })),
      ...found
        .filter(({ address }) => !inSource.has(address))
        .map(({ address, range }) => ({ values: { problem: 'unknown', address }, range })),
    ];
  },
};

export function addressesIn(all: readonly Stretch[]): { address: string; range: Range }[] {
  return all.flatMap(({ text, start }) =>
    Array.from(text.matchAll(ADDRESS), ({ 0: found, index }) => {
      let length = found.length;
      while (length > 0 && AFTER.test(found[length - 1]!)) length--;
      return {
        address: found.slice(0, length),
        range: { start: start + index, end: start + index + length },
      };
    }),
  );
}
