/**
 * `npm run prove -- teeth` checks that planted faults are caught: each proof must find every fault that its tests
 * plant.
 */
import { existsSync, readdirSync } from 'node:fs';
import { type Figure, type Flags, goalZero, type Report } from '../../bench/figures.ts';
import { runPlanted } from './run.ts';

const HERE = new URL('..', import.meta.url).pathname;

/** The results of the tests that plant faults. */
export interface TeethHistory {
  /** The names of all proofs. */
  proofs: readonly string[];
  tests: readonly { proof: string; name: string; caught: boolean }[];
}

export async function proveTeeth(_: Flags): Promise<Report> {
  const proofs = listProofs();
  process.env.FULL = '1'; // Some faults are planted in a running program.
  return { figures: judge({ proofs, tests: await runPlanted(proofs) }) };
}

/** Returns the names of the folders that contain a proof: `NAME/NAME.ts`. */
export function listProofs(): string[] {
  return readdirSync(HERE)
    .filter((name) => existsSync(`${HERE}${name}/${name}.ts`))
    .sort();
}

export function judge({ proofs, tests }: TeethHistory): Figure[] {
  const missed = tests.filter(({ caught }) => !caught);
  for (const { proof, name } of missed) process.stderr.write(`${proof}: not caught: ${name}\n`);
  const bare = proofs.filter((name) => !tests.some(({ proof }) => proof === name));
  for (const name of bare)
    process.stderr.write(`${name}: no test of its file has "the planted fault" in its name\n`);
  const caught = tests.length - missed.length;
  return [
    { name: 'teeth, proofs', value: proofs.length, unit: 'proofs' },
    {
      name: 'teeth, planted faults caught',
      value: `${caught} of ${tests.length}`,
      goal: 'all',
      held: caught === tests.length && tests.length > 0,
    },
    goalZero('teeth, proofs without a planted fault', bare.length),
  ];
}
