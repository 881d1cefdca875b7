/**
 * `npm run prove -- recovery`: how soon the service is back, with a million jobs stored. Flags: `--jobs N` (1,000,000),
 * `--kills N` of each kind (5), `--intruders N` (100).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { type RecoveryHistory, runRecovery } from './run.ts';

/** What it is unless it is set. */
const LEASE_SECONDS = 30;
/** Seconds, at most; of a takeover: a lease, a look for what fell due, and room. */
const GOALS = { start: 5, program: 3, database: 10, refusal: 1, takeover: 35 };

export async function proveRecovery({ numbers }: Flags): Promise<Report> {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-recovery-'));
  try {
    const history = await runRecovery({
      directory,
      jobs: numbers.jobs ?? 1_000_000,
      kills: numbers.kills ?? 5,
      intruders: numbers.intruders ?? 100,
      leaseSeconds: LEASE_SECONDS,
      say: (line) => process.stderr.write(`${line}\n`),
    });
    return { figures: judge(history) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function judge(history: RecoveryHistory): Figure[] {
  const { jobs, starts, programKills, databaseKills, refusals, takeovers } = history;
  return [
    { name: 'recovery, jobs stored', value: jobs, unit: 'jobs' },
    most(`slowest of ${starts.length} starts`, starts, GOALS.start),
    most(
      `first write after ${programKills.length} kills of the program, slowest`,
      programKills,
      GOALS.program,
    ),
    most(
      `first write after ${databaseKills.length} kills of PostgreSQL, slowest`,
      databaseKills,
      GOALS.database,
    ),
    most(
      `second programs refused on the same directory, slowest of ${refusals.length}`,
      refusals,
      GOALS.refusal,
    ),
    most(`jobs in a killed hand, last of ${takeovers.length} done`, takeovers, GOALS.takeover),
  ];
}

/** Of nothing measured, nothing is held. */
function most(name: string, seconds: readonly number[], goal: number): Figure {
  const worst = seconds.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...seconds);
  return {
    name: `recovery, ${name}`,
    value: `${worst.toFixed(2)} s`,
    goal: `at most ${goal} s`,
    held: worst <= goal,
  };
}
