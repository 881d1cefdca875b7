/**
 * `npm run prove -- recovery` measures how soon the service works again after a kill, with a million jobs stored.
 * Flags: `--jobs N` (default 1,000,000), `--kills N` of each kind (5), `--intruders N` (100) attempts to start a second
 * service on the same data directory.
 */
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { runProof } from '../harness/run.ts';
import { type RecoveryHistory, runRecovery } from './run.ts';

/** The default lease of the service, in seconds. */
const LEASE_SECONDS = 30;
/**
 * The goals in seconds. The time of a takeover includes a lease, the time until the next poll, and the
 * translation.
 */
const GOALS = { start: 5, program: 3, database: 10, refusal: 1, takeover: 35 };

export async function proveRecovery(flags: Flags): Promise<Report> {
  const { jobs = 1_000_000, kills = 5, intruders = 100 } = flags.numbers;
  const { figures } = await runProof('recovery', flags, async (options) =>
    judge(await runRecovery({ ...options, jobs, kills, intruders, leaseSeconds: LEASE_SECONDS })),
  );
  return { figures };
}

export function judge(history: RecoveryHistory): Figure[] {
  const { jobs, starts, programKills, databaseKills, refusals, takeovers } = history;
  const written = (killed: string, { length }: number[]) =>
    `first write after ${length} kills of ${killed}, slowest`;
  return [
    { name: 'recovery, jobs stored', value: jobs, unit: 'jobs' },
    atMost(`slowest of ${starts.length} starts`, starts, GOALS.start),
    atMost(written('the program', programKills), programKills, GOALS.program),
    atMost(written('PostgreSQL', databaseKills), databaseKills, GOALS.database),
    atMost(
      `second programs refused on the same directory, slowest of ${refusals.length}`,
      refusals,
      GOALS.refusal,
    ),
    atMost(`jobs in a killed hand, last of ${takeovers.length} done`, takeovers, GOALS.takeover),
  ];
}

/** Returns the figure for the longest time. Without a measurement, the goal is missed. */
function atMost(name: string, seconds: readonly number[], goal: number): Figure {
  const worst = seconds.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...seconds);
  return {
    name: `recovery, ${name}`,
    value: `${worst.toFixed(2)} s`,
    goal: `at most ${goal} s`,
    held: worst <= goal,
  };
}
