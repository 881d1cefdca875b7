/**
 * `npm run prove -- engines` sends batches through the translator and an engine while faults are injected into the
 * engine: first Apertium, then Bergamot with small models of random weights. Flags: `--batches N` (default 1000) for each
 * engine, `--every N` batches between two faults (20), `--seed N`.
 */
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { checkFigures, randomSeed } from '../harness/run.ts';
import { CHECKS } from './checks.ts';
import { createApertiumUnderFaults, createBergamotUnderFaults, type EngineUnderFaults } from './faults.ts';
import { runEngines } from './run.ts';

export async function proveEngines({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? randomSeed();
  const { batches = 1_000, every = 20 } = numbers;
  async function run(name: string, subject: EngineUnderFaults): Promise<Figure[]> {
    const say = (line: string) => process.stderr.write(`${line}\n`);
    const history = await runEngines({ subject, seed, batches, every, say });
    const drafted = history.batches.flatMap(({ answered }) => answered ?? []);
    const failed = drafted.filter(({ status }) => status === 'failed').length;
    const faults = Object.values(history.faults).reduce((sum, count) => sum + count, 0);
    return [
      { name: `${name}, segments`, value: drafted.length, unit: 'segments' },
      { name: `${name}, failed segments`, value: failed, unit: 'segments' },
      { name: `${name}, faults`, value: faults, unit: 'faults' },
      ...checkFigures(name, CHECKS, history),
    ];
  }
  const figures = [
    ...(await run('engines, apertium', createApertiumUnderFaults())),
    ...(await run('engines, bergamot', await createBergamotUnderFaults())),
  ];
  return { seed, figures };
}
