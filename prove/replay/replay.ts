/**
 * `npm run prove -- replay` repeats recorded edits of support conversations through the service and measures how fast
 * confirmed texts reach waiting jobs, and how good they are. The edits come from `--file PATH` (CSV, TSV or JSON Lines
 * with the columns source, edit, editor, client, tone), or are generated: `--rows N` (default 3000), `--clients N` (3),
 * `--editors N` (200), `--repetition PERCENT` (55), `--disagreement PERCENT` (31), `--seed N`. Further flags: `--from
 * LANGUAGE` (en) and `--to LANGUAGE` (es) of a file; `--compared N`, the number of edits for the comparison of
 * confirmations with votes on and off (1500).
 */
import type { Flags, Report } from '../../bench/figures.ts';
import { OperatorError } from '../../packages/server/src/base/errors.ts';
import { createRandom } from '../harness/random.ts';
import { runProof } from '../harness/run.ts';
import { readEdits } from './edits.ts';
import { generateEdits } from './generate.ts';
import { judge } from './judge.ts';
import { runReplay } from './run.ts';

export async function proveReplay(flags: Flags): Promise<Report> {
  const { rows = 3_000, clients = 3, editors = 200, repetition = 55, disagreement = 31 } = flags.numbers;
  const { compared = 1_500 } = flags.numbers;
  const { file, from = 'en', to = 'es' } = flags.words;
  if (file === '') throw new OperatorError('--file needs a path.');
  return runProof('replay', flags, async (options) => {
    const stated = { rows, clients, editors, repetition, disagreement };
    const edits =
      file === undefined ? generateEdits(createRandom(options.seed), stated) : await readEdits(file);
    return judge(await runReplay({ ...options, edits, pair: { from, to }, compared }));
  });
}
