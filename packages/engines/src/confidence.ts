/** The confidence of an engine in its drafts. */

/**
 * How probable an engine found the parts of its draft while it wrote them, each from 0 to 1 with three digits. The parts
 * are the words of the draft with Bergamot, and its tokens with a language model. The figures of two engines or models
 * cannot be compared, and a high figure does not show that a translation is correct.
 */
export interface Confidence {
  /** The arithmetic mean of the probabilities. */
  mean: number;
  /** The lowest probability. */
  minimum: number;
}

/**
 * Returns the confidence for the natural logarithms of the probabilities of a draft's parts. Undefined if there are no
 * parts, or if a number is no such logarithm.
 */
export function confidenceOf(logarithms: readonly number[]): Confidence | undefined {
  if (logarithms.length === 0 || !logarithms.every((one) => one <= 0)) return undefined;
  const probabilities = logarithms.map(Math.exp);
  const sum = probabilities.reduce((total, one) => total + one, 0);
  const minimum = probabilities.reduce((lowest, one) => Math.min(lowest, one));
  return { mean: rounded(sum / probabilities.length), minimum: rounded(minimum) };
}

const rounded = (probability: number): number => Math.round(probability * 1_000) / 1_000;
