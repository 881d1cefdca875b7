/**
 * `npm run prove -- fair` checks that a large load of one account does not slow down others. Nine accounts create a
 * small job now and then, while another account has more than ten thousand jobs, or a document of 1 MiB. Flags:
 * `--jobs N` of the large load (default 40000, of which ten thousand are still queued in the last block), `--rounds
 * N` of each load (3), `--probes N` small jobs in a block (40), `--seed N`.
 */
import { type Figure, type Flags, median, quantile, type Report } from '../../bench/figures.ts';
import { runProof } from '../harness/run.ts';
import { type FairHistory, type Round, runFair } from './run.ts';

const LEAST_INDEX = 0.95;
const MOST_SLOWDOWN = 2;

export async function proveFair(flags: Flags): Promise<Report> {
  const { jobs = 40_000, rounds = 3, probes = 40 } = flags.numbers;
  return runProof('fair', flags, async (options) => {
    const history = await runFair({ ...options, jobs, rounds, probes });
    for (const [name, characters] of Object.entries(history.served))
      options.say(`${name}: ${characters} characters served`);
    return judge(history);
  });
}

export function judge({ served, flood, document }: FairHistory): Figure[] {
  const index = jain(Object.values(served));
  return [
    {
      name: 'fair, Jain index of characters served among accounts with a backlog',
      value: index.toFixed(3),
      goal: `at least ${LEAST_INDEX}`,
      held: index >= LEAST_INDEX,
    },
    ...slowdown('small job', 'ten thousand jobs', flood, 'jobs'),
    ...slowdown('small job', 'a document of 1 MiB', document, 'jobs'),
    ...slowdown('chat message', 'ten thousand jobs', flood, 'messages'),
    ...slowdown('chat message', 'a document of 1 MiB', document, 'messages'),
  ];
}

/**
 * Returns the figures that compare waiting times with and without a load. The ratio is computed within each round,
 * because other work on the machine slows down both blocks of a round.
 */
function slowdown(what: string, load: string, rounds: readonly Round[], kind: 'jobs' | 'messages'): Figure[] {
  const p95 = (block: keyof Round) => rounds.map((round) => quantile(round[block][kind], 0.95));
  const [alone, beside] = [p95('alone'), p95('beside')];
  const ratio = median(alone.map((quiet, round) => beside[round]! / quiet));
  return [
    { name: `fair, ${what} alone, p95, before ${load}`, value: median(alone), unit: 'ms' },
    { name: `fair, ${what} beside ${load}, p95`, value: median(beside), unit: 'ms' },
    {
      name: `fair, p95 of a ${what} beside ${load}, as a multiple of alone`,
      value: ratio.toFixed(2),
      goal: `at most ${MOST_SLOWDOWN}`,
      held: ratio <= MOST_SLOWDOWN,
    },
  ];
}

/** Returns Jain's fairness index: 1 when all shares are equal, 1/n when one of n accounts has everything. */
export function jain(shares: readonly number[]): number {
  const sum = shares.reduce((all, share) => all + share, 0);
  const squares = shares.reduce((all, share) => all + share * share, 0);
  return squares === 0 ? 0 : (sum * sum) / (shares.length * squares);
}
