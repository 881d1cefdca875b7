/** `npm run prove -- teeth`: every proof's checker is given its planted faults, and has to find each. */
import { readdirSync } from 'node:fs';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { PLANTED, type Planted } from './planted.ts';
import { runPlanted } from './run.ts';

const HERE = new URL('..', import.meta.url).pathname;

/** What became of the tests that plant a fault, by proof. */
export interface TeethHistory {
  /** Every proof that there is. */
  proofs: readonly string[];
  planted: Readonly<Record<string, Planted>>;
  tests: readonly { proof: string; name: string; caught: boolean }[];
}

export async function proveTeeth(_: Flags): Promise<Report> {
  const proofs = listProofs();
  return { figures: judge({ proofs, planted: PLANTED, tests: await runPlanted(PLANTED) }) };
}

/** Every proof has a folder of its own. */
export function listProofs(): string[] {
  return readdirSync(HERE, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
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
    none('proofs without a planted fault', bare.length),
    none('planted faults of no proof', gone.length),
  ];
}

function none(name: string, value: number): Figure {
  return { name: `teeth, ${name}`, value, goal: '0', held: value === 0 };
}
