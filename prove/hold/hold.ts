/**
 * `npm run prove -- hold` checks that no sandbox job is delivered before its delay has passed, and that no job is
 * lost. Flags: `--jobs N` (default 1000), `--hold SECONDS` (120), `--kills N` (5), `--jumps N` (6), `--seed N`.
 */
import { join } from 'node:path';
import { type Figure, type Flags, goalZero, quantile, type Report } from '../../bench/figures.ts';
import { runProof } from '../harness/run.ts';
import { type HoldHistory, runHold } from './run.ts';

const MOST_LATE_SECONDS = 5;
/** The delay before delivery in the run in which the clock jumps, in seconds. That run does not check times. */
const SHORT_SECONDS = 12;

export async function proveHold(flags: Flags): Promise<Report> {
  const { jobs = 1_000, hold = 120, kills = 5, jumps = 6 } = flags.numbers;
  return runProof('hold', flags, async ({ directory, ...options }) => {
    const run = (name: string, faults: { holdSeconds: number; kills: number; jumps: number }) =>
      runHold({ ...options, ...faults, jobs, directory: join(directory, name) });
    const still = await run('still', { holdSeconds: hold, kills, jumps: 0 });
    const jumping = await run('jumping', { holdSeconds: SHORT_SECONDS, kills: 0, jumps });
    return [...judge(still), ...judgeJumps(jumping)];
  });
}

export function judge({ holdMilliseconds, jobs, kills }: HoldHistory): Figure[] {
  // The service creates a job between the request and the response. The delay is counted from the request, so that no
  // job is reported as early by mistake.
  const early = jobs.filter(({ sentAt, deliveries }) => {
    const [first] = deliveries;
    return first !== undefined && first.at - sentAt < holdMilliseconds;
  });
  const waits = jobs.flatMap(({ answeredAt, deliveries }) =>
    deliveries.slice(0, 1).map(({ at }) => at - answeredAt),
  );
  const late = quantile(waits, 0.99);
  const most = holdMilliseconds + MOST_LATE_SECONDS * 1000;
  return [
    { name: `hold of ${holdMilliseconds / 1000} s, ${kills} kills, jobs`, value: jobs.length, unit: 'jobs' },
    goalZero('hold, delivered too early', early.length, jobs.length > 0),
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
    goalZero(`${name}, jobs lost`, lost, jobs.length > 0),
    goalZero(`${name}, jobs delivered under two ids`, two, jobs.length > 0),
  ];
}
