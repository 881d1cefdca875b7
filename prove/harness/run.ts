/**
 * The common parts of all proofs: a temporary directory, a seed, progress messages on stderr, and checks that become
 * figures.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure, Flags } from '../../bench/figures.ts';

export interface RunOptions {
  /** A temporary directory that is removed after the run. */
  directory: string;
  /** The seed of the run's random numbers. */
  seed: number;
  /** Prints a progress message. */
  say(line: string): void;
}

/** Runs a proof in a temporary directory, with the seed from `--seed` or a random seed. */
export async function runProof(
  name: string,
  { numbers }: Flags,
  prove: (options: RunOptions) => Promise<Figure[]>,
): Promise<{ seed: number; figures: Figure[] }> {
  const seed = numbers.seed ?? randomSeed();
  const directory = temporaryDirectory(name);
  try {
    const say = (line: string) => process.stderr.write(`${line}\n`);
    return { seed, figures: await prove({ directory, seed, say }) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function temporaryDirectory(name: string): string {
  return mkdtempSync(join(tmpdir(), `dragoman-${name}-`));
}

export function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 31);
}

/** An invariant of a run's history. Returns one sentence for each violation. */
export type Check<History> = (history: History) => string[];
/** Invariants by the names of their figures. */
export type Checks<History> = Readonly<Record<string, Check<History>>>;

const MOST_PRINTED = 10;

/**
 * Runs the checks on a history and returns one figure for each check. Prints the first violations on stderr.
 *
 * @param run the first word of the figures' names
 * @param unit printed after the count
 */
export function checkFigures<History>(
  run: string,
  checks: Checks<History>,
  history: History,
  unit = ' faults',
): Figure[] {
  return Object.entries(checks).map(([name, check]) => {
    const faults = check(history);
    for (const fault of faults.slice(0, MOST_PRINTED)) process.stderr.write(`${name}: ${fault}\n`);
    return {
      name: `${run}, ${name}`,
      value: `${faults.length}${unit}`,
      goal: `0${unit}`,
      held: faults.length === 0,
    };
  });
}
