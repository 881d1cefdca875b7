/**
 * The chrF2 score of translations against references: how many sequences of one to six characters they have in common.
 * The score of several texts is computed over all of them together, as sacreBLEU does (Popović 2015, with the effective
 * order).
 */

const ORDERS = [1, 2, 3, 4, 5, 6];
/** The square of beta = 2: recall counts twice as much as precision. */
const BETA_SQUARED = 4;

/** The sequences of a text without its white space: for each length from one to six, how often each sequence occurs. */
export interface Sequences {
  characters: number;
  counts: readonly ReadonlyMap<string, number>[];
}

export function sequencesOf(text: string): Sequences {
  const characters = [...text.replace(/\s/gu, '')];
  return { characters: characters.length, counts: ORDERS.map((order) => countSequences(characters, order)) };
}

function countSequences(characters: readonly string[], order: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let at = 0; at + order <= characters.length; at += 1) {
    const sequence = characters.slice(at, at + order).join('');
    counts.set(sequence, (counts.get(sequence) ?? 0) + 1);
  }
  return counts;
}

/** The numbers of sequences, by their length: those that a text and its reference share, those of each. */
export interface Overlap {
  shared: number[];
  text: number[];
  reference: number[];
}

export const noOverlap = (): Overlap => ({
  shared: ORDERS.map(() => 0),
  text: ORDERS.map(() => 0),
  reference: ORDERS.map(() => 0),
});

export function overlapOf(text: Sequences, reference: Sequences): Overlap {
  const overlap = noOverlap();
  for (const [index, order] of ORDERS.entries()) {
    for (const [sequence, count] of text.counts[index]!) {
      overlap.shared[index]! += Math.min(count, reference.counts[index]!.get(sequence) ?? 0);
    }
    overlap.text[index] = Math.max(0, text.characters - order + 1);
    overlap.reference[index] = Math.max(0, reference.characters - order + 1);
  }
  return overlap;
}

/** Adds the overlap of another text to `sum`. */
export function addOverlap(sum: Overlap, { shared, text, reference }: Overlap): void {
  for (const index of ORDERS.keys()) {
    sum.shared[index]! += shared[index]!;
    sum.text[index]! += text[index]!;
    sum.reference[index]! += reference[index]!;
  }
}

/** Returns the overlap after the text and its reference have changed places. */
export const reversed = ({ shared, text, reference }: Overlap): Overlap => ({
  shared,
  text: reference,
  reference: text,
});

/** Returns the score, 0 to 100. */
export function chrf({ shared, text, reference }: Overlap): number {
  let [precision, recall, orders] = [0, 0, 0];
  for (const index of ORDERS.keys()) {
    if (text[index] === 0 || reference[index] === 0) continue;
    precision += shared[index]! / text[index]!;
    recall += shared[index]! / reference[index]!;
    orders += 1;
  }
  if (precision + recall === 0) return 0;
  return (100 * (1 + BETA_SQUARED) * precision * recall) / ((BETA_SQUARED * precision + recall) * orders);
}
