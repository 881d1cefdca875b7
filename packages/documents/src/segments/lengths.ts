/**
 * Aligns the sentences of a text and its translation by their lengths alone (Gale and Church 1993): long sentences
 * correspond to long ones. Sentences stay in order. One sentence may correspond to one, two or no sentences.
 */

/** A bead: some source sentences and the target sentences that correspond to them. */
export interface Bead {
  source: { from: number; to: number };
  target: { from: number; to: number };
  /**
   * How far the target's length is from the expected length, in standard deviations. 0 if the source or the
   * target has no sentences.
   */
  strain: number;
}

/**
 * The possible numbers of source and target sentences in a bead. The cost of each is the negative logarithm
 * of its frequency in real texts.
 */
const KINDS = [
  { source: 1, target: 1, cost: 0.12 },
  { source: 1, target: 2, cost: 3.1 },
  { source: 2, target: 1, cost: 3.1 },
  { source: 1, target: 0, cost: 5.3 },
  { source: 0, target: 1, cost: 5.3 },
] as const;

/** The variance of the target length per source character (Gale and Church 1993). */
const VARIANCE = 6.8;
/**
 * The maximum distance between the positions of corresponding sentences, after scaling to the same number of
 * sentences.
 */
const REACH = 50;

/** Returns beads (groups of corresponding sentences) that cover every sentence exactly once. Takes linear time. */
export function alignLengths(source: readonly number[], target: readonly number[]): Bead[] {
  const sums = [source, target].map((all) => all.reduce((sum, one) => sum + one, 0));
  const growth = (sums[1]! + 1) / (sums[0]! + 1);
  const slope = target.length / Math.max(1, source.length);
  const reach = REACH + Math.ceil(slope);
  const width = 2 * reach + 1;
  const firstOf = (i: number) => Math.round(i * slope) - reach;
  const steps = new Int8Array((source.length + 1) * width).fill(-1);
  // Three rows of the cost table are enough, because a bead has at most two source sentences.
  const rows = [0, 1, 2].map(() => new Float64Array(width));
  const costAt = (i: number, j: number): number => {
    const at = j - firstOf(i);
    return i < 0 || j < 0 || at < 0 || at >= width ? Number.POSITIVE_INFINITY : rows[i % 3]![at]!;
  };
  for (let i = 0; i <= source.length; i++) {
    const row = rows[i % 3]!.fill(Number.POSITIVE_INFINITY);
    const first = firstOf(i);
    for (let at = 0; at < width; at++) {
      const j = first + at;
      if (j < 0 || j > target.length) continue;
      if (i === 0 && j === 0) row[at] = 0;
      for (const [kind, step] of KINDS.entries()) {
        const before = costAt(i - step.source, j - step.target);
        if (before === Number.POSITIVE_INFINITY) continue;
        const cost = before + step.cost + misfit(strainOf(source, target, i, j, kind, growth));
        if (cost < row[at]!) {
          row[at] = cost;
          steps[i * width + at] = kind;
        }
      }
    }
  }
  const beads: Bead[] = [];
  for (let i = source.length, j = target.length; i > 0 || j > 0; ) {
    const kind = steps[i * width + j - firstOf(i)]!;
    const step = KINDS[kind]!;
    beads.push({
      source: { from: i - step.source, to: i },
      target: { from: j - step.target, to: j },
      strain: strainOf(source, target, i, j, kind, growth),
    });
    i -= step.source;
    j -= step.target;
  }
  return beads.reverse();
}

/**
 * Returns the deviation (see `Bead.strain`) of a bead that ends before source sentence `i` and target sentence `j`.
 * `kind` is the index of the bead's kind in `KINDS`.
 */
function strainOf(
  source: readonly number[],
  target: readonly number[],
  i: number,
  j: number,
  kind: number,
  growth: number,
): number {
  const step = KINDS[kind]!;
  if (step.source === 0 || step.target === 0) return 0;
  let [given, made] = [0, 0];
  for (let at = i - step.source; at < i; at++) given += source[at]!;
  for (let at = j - step.target; at < j; at++) made += target[at]!;
  const wanted = given * growth;
  return Math.abs(made - wanted) / Math.sqrt(((wanted + made) / 2) * VARIANCE + 1);
}

/**
 * Approximates the negative logarithm of the two-sided probability of a deviation. The result is never
 * infinite.
 */
const misfit = (strain: number): number => strain * (0.8 + 0.5 * strain);
