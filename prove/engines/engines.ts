/**
 * `npm run prove -- engines`: batches through the translator and Apertium while its stages are killed and stopped.
 * Flags: `--batches N` (1000), `--every N` batches a harm (20), `--seed N`.
 */
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { CHECKS } from './checks.ts';
import { runEngines } from './run.ts';

export async function proveEngines({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
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
  ];
  for (const [name, check] of Object.entries(CHECKS)) {
    const faults = check(history);
    for (const fault of faults.slice(0, 10)) process.stderr.write(`${name}: ${fault}\n`);
    figures.push({
      name: `engines, ${name}`,
      value: `${faults.length} faults`,
      goal: '0 faults',
      held: faults.length === 0,
    });
  }
  return { seed, figures };
}
