/** Puts the numbers of a segment into the translation of a similar text. */
import type { Piece } from '@dragoman/documents';
import type { StoredPair } from './form.ts';

const NUMBER = /\p{Nd}+(?:[.,:]\p{Nd}+)*/gu;

/**
 * Returns an entry with the numbers of `source` in place of its own.
 *
 * @returns undefined if a place is uncertain: the sources must have the same count of numbers, and each number that
 * differs must occur in the target as often as in the entry's source. The separators of both numbers must be equal,
 * because languages write `1,000.5` differently
 */
export function withNumbersOf(source: readonly Piece[], entry: StoredPair): StoredPair | undefined {
  const [asked, stored, translated] = [source, entry.source, entry.target].map(numbersIn) as [
    string[],
    string[],
    string[],
  ];
  if (asked.length !== stored.length) return undefined;
  const replacements = new Map<string, string>();
  for (const [index, number] of stored.entries()) {
    const replacement = asked[index]!;
    if ((replacements.get(number) ?? replacement) !== replacement) return undefined;
    replacements.set(number, replacement);
  }
  for (const [number, replacement] of replacements) {
    if (number === replacement) continue;
    if (separatorsOf(number) !== separatorsOf(replacement)) return undefined;
    const countIn = (numbers: readonly string[]) => numbers.filter((one) => one === number).length;
    if (countIn(stored) !== countIn(translated)) return undefined;
  }
  const replaced = (pieces: readonly Piece[]) =>
    pieces.map((piece) =>
      isText(piece)
        ? { text: piece.text.replaceAll(NUMBER, (number) => replacements.get(number) ?? number) }
        : piece,
    );
  return { source: replaced(entry.source), target: replaced(entry.target) };
}

function numbersIn(pieces: readonly Piece[]): string[] {
  return pieces.flatMap((piece) => (isText(piece) ? (piece.text.match(NUMBER) ?? []) : []));
}

const separatorsOf = (number: string): string => number.replaceAll(/\p{Nd}/gu, '');

function isText(piece: Piece): piece is { text: string } {
  return 'text' in piece && !('keep' in piece);
}
