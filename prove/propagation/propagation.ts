/**
 * `npm run prove -- propagation` lets editors confirm texts that repeat in many waiting jobs, while the service is
 * killed with SIGKILL, and then undoes all votes. Flags: `--editors N` (default 200), `--jobs N` (2000), `--kills N`
 * (20), `--seed N`.
 */
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { checkFigures, runProof } from '../harness/run.ts';
import { CHECKS, type PropagationHistory } from './checks.ts';
import { runPropagation } from './run.ts';

/**
 * With a larger percentage, most editors claim tasks in which votes have confirmed everything, so that the run takes
 * hours.
 */
const EDITED_PERCENT = 10;

export async function provePropagation(flags: Flags): Promise<Report> {
  const { editors = 200, jobs = 2_000, kills = 20 } = flags.numbers;
  return runProof('propagation', flags, async (options) => {
    const history = await runPropagation({ ...options, editors, jobs, kills, editedPercent: EDITED_PERCENT });
    return [...summarize(history), ...checkFigures('propagation', CHECKS, history)];
  });
}

function summarize({ after, votes, saves, sights, kills, seconds }: PropagationHistory): Figure[] {
  const filled = after.filter((one) => one.filled !== null);
  return [
    { name: 'propagation, kills', value: kills, unit: 'kills' },
    { name: 'propagation, segments', value: after.length, unit: 'segments' },
    { name: 'propagation, votes', value: votes.length, unit: 'votes' },
    { name: 'propagation, saves acknowledged', value: saves.filter(isSaved).length, unit: 'saves' },
    { name: 'propagation, segments filled', value: filled.length, unit: 'segments' },
    {
      name: 'propagation, segments confirmed by votes',
      value: filled.filter((one) => one.filled! > 0).length,
      unit: 'segments',
    },
    { name: 'propagation, texts read under a claim', value: sights.length, unit: 'texts' },
    { name: 'propagation, duration', value: Math.round(seconds), unit: 's' },
  ];
}

const isSaved = ({ answer }: { answer: string }) => answer === 'saved';
