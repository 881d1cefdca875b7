/**
 * `npm run prove -- engines` sends batches through the translator and Apertium while processes of Apertium's
 * pipelines are killed and stopped. Flags: `--batches N` (default 1000), `--every N` batches between two faults (20),
 * `--seed N`.
 */
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { checkFigures, randomSeed } from '../harness/run.ts';
import { CHECKS } from './checks.ts';
import { runEngines } from './run.ts';

export async function proveEngines({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? randomSeed();
  const history = await runEngines({
    seed,
    batches: numbers.batches ?? 1_000,
    every: numbers.every ?? 20,
    say: (line) => process.stderr.write(`${line}\n`),
  });
  const drafted = history.batches.flatMap(({ answered }) => answered ?? []);
  const failed = drafted.filter(({ status }) => status === 'failed').length;
  const figures: Figure[] = [
    { name: 'engines, segments', value: drafted.length, unit: 'segments' },
    { name: 'engines, failed segments', value: failed, unit: 'segments' },
    { name: 'engines, stages killed and stopped', value: history.kills + history.stops, unit: 'stages' },
    ...checkFigures('engines', CHECKS, history),
  ];
  return { seed, figures };
}
