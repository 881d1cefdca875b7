/**
 * `npm run prove -- hold`: nothing leaves the sandbox before its hold has passed, and nothing is lost there. Flags:
 * `--jobs N` (1000), `--hold SECONDS` (120), `--kills N` (5), `--jumps N` (6), `--seed N`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Figure, type Flags, quantile, type Report } from '../../bench/figures.ts';
import { type HoldHistory, type HoldOptions, runHold } from './run.ts';

const MOST_LATE_SECONDS = 5;
/** The hold of the run with jumps: there, time means little. */
const SHORT_SECONDS = 12;

export async function proveHold({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
  const common = { jobs: numbers.jobs ?? 1_000, seed };
  const still = await run({
    ...common,
    holdSeconds: numbers.hold ?? 120,
    kills: numbers.kills ?? 5,
    jumps: 0,
  });
  const jumping = await run({ ...common, holdSeconds: SHORT_SECONDS, kills: 0, jumps: numbers.jumps ?? 6 });
  return { seed, figures: [...judge(still), ...judgeJumps(jumping)] };
}

async function run(options: Omit<HoldOptions, 'directory' | 'say'>): Promise<HoldHistory> {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-hold-'));
  try {
    return await runHold({ ...options, directory, say: (line) => process.stderr.write(`${line}\n`) });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function judge({ holdMilliseconds, jobs, kills }: HoldHistory): Figure[] {
  const first = jobs.flatMap(({ sentAt, answeredAt, deliveries }) =>
    deliveries.length === 0
      ? []
      : [{ least: deliveries[0]!.at - answeredAt, most: deliveries[0]!.at - sentAt }],
  );
  // A job begins between its request and the answer, so an early one is early by the later of the two.
  const early = first.filter(({ most }) => most < holdMilliseconds).length;
  const late = quantile(
    first.map(({ least }) => least),
    0.99,
  );
  const most = holdMilliseconds + MOST_LATE_SECONDS * 1000;
  return [
    { name: `hold of ${holdMilliseconds / 1000} s, ${kills} kills, jobs`, value: jobs.length, unit: 'jobs' },
    none('hold, delivered too early', early, jobs.length > 0),
    ...judgeLosses('hold', jobs),
    {
      name: 'hold, from the answer to the delivery, p99',
      value: `${(late / 1000).toFixed(1)} s`,
      goal: `at most ${most / 1000} s`,
      held: late <= most,
    },
  ];
}

export function judgeJumps({ jobs, jumps }: HoldHistory): Figure[] {
  return [
    { name: 'hold, jumps of the clock by an hour', value: jumps, unit: 'jumps' },
    ...judgeLosses('hold with jumps', jobs),
  ];
}

function judgeLosses(name: string, jobs: HoldHistory['jobs']): Figure[] {
  const lost = jobs.filter(({ deliveries }) => deliveries.length === 0).length;
  const two = jobs.filter(({ deliveries }) => new Set(deliveries.map(({ id }) => id)).size > 1).length;
  return [
    none(`${name}, jobs lost`, lost, jobs.length > 0),
    none(`${name}, jobs delivered under two ids`, two, jobs.length > 0),
  ];
}

function none(name: string, value: number, any: boolean): Figure {
  return { name, value, goal: '0', held: value === 0 && any };
}
