/**
 * Mutants of the critical rooms that no test kills, each with the reason why that is right: it does what the original
 * does, or what differs is no promise. A reason whose mutant there is no more is an error.
 */
export interface Survivor {
  /** Below `packages`. */
  file: string;
  /** The line as it stands, without its indentation. */
  line: string;
  mutation: string;
  why: string;
}

export const SURVIVORS: readonly Survivor[] = [];
