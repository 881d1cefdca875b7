/**
 * `npm run prove -- teeth` checks that planted faults are caught: each proof must find every fault that its tests
 * plant.
 */
import { existsSync, readdirSync } from 'node:fs';
import { type Figure, type Flags, goalZero, type Report } from '../../bench/figures.ts';
import { PLANTED, type Planted } from './planted.ts';
import { runPlanted } from './run.ts';

const HERE = new URL('..', import.meta.url).pathname;

/** The results of the tests that plant faults. */
export interface TeethHistory {
  /** The names of all proofs. */
  proofs: readonly string[];
  planted: Readonly<Record<string, Planted>>;
  tests: readonly { proof: string; name: string; caught: boolean }[];
}

export async function proveTeeth(_: Flags): Promise<Report> {
  const proofs = listProofs();
  return { figures: judge({ proofs, planted: PLANTED, tests: await runPlanted(PLANTED) }) };
}

/** Returns the names of the folders that contain a proof: `NAME/NAME.ts`. */
export function listProofs(): string[] {
  return readdirSync(HERE)
    .filter((name) => existsSync(`${HERE}${name}/${name}.ts`))
    .sort();
}

export function judge({ proofs, planted, tests }: TeethHistory): Figure[] {
  const missed = tests.filter(({ caught }) => !caught);
  for (const { proof, name } of missed) process.stderr.write(`${proof}: not caught: ${name}\n`);
  const bare = proofs.filter((name) => !tests.some(({ proof }) => proof === name));
  for (const name of bare) process.stderr.write(`${name}: no planted fault, see prove/teeth/planted.ts\n`);
  const gone = Object.keys(planted).filter((name) => !proofs.includes(name));
  for (const name of gone) process.stderr.write(`${name}: planted faults of no proof\n`);
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
    goalZero('teeth, planted faults of no proof', gone.length),
  ];
}
