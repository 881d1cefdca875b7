/**
 * `npm run prove -- delivery` makes 2,000 deliveries to a faulty receiver with twenty kills, then five times as many
 * without faults. Flags: `--deliveries N` (default 2000), `--kills N` (20), `--seed N`.
 */
import { join } from 'node:path';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { isSuccess } from '../harness/invariants.ts';
import { checkFigures, runProof } from '../harness/run.ts';
import { arrivalSeconds, CHECKS, type DeliveryHistory } from './checks.ts';
import { runDelivery } from './run.ts';

const WITHOUT_FAULTS_TIMES = 5;
const LEASE_SECONDS = 10;
/** The maximum seconds until an event arrives, from its acceptance or the last kill, whichever is later. */
export const ARRIVAL_SECONDS = 60;

export async function proveDelivery(flags: Flags): Promise<Report> {
  const { deliveries = 2000, kills = 20 } = flags.numbers;
  return runProof('delivery', flags, async ({ directory, ...options }) => {
    const hostile = await runDelivery({
      ...options,
      directory: join(directory, 'hostile'),
      deliveries,
      kills,
      hostile: true,
      leaseSeconds: LEASE_SECONDS,
    });
    const calm = await runDelivery({
      ...options,
      directory: join(directory, 'calm'),
      deliveries: deliveries * WITHOUT_FAULTS_TIMES,
      kills: 0,
      hostile: false,
      leaseSeconds: LEASE_SECONDS,
    });
    return [...judge('delivery', hostile), ...judge('delivery without faults', calm)];
  });
}

export function judge(run: string, history: DeliveryHistory): Figure[] {
  const { accepted, arrivals, kills } = history;
  const taken = arrivals.filter(isSuccess);
  const repeats = taken.length - new Set(taken.map(({ name }) => name)).size;
  const slowest = Math.max(0, ...arrivalSeconds(history).values());
  return [
    { name: `${run}, kills`, value: kills.length, unit: 'kills' },
    { name: `${run}, accepted`, value: accepted.length, unit: 'events' },
    { name: `${run}, attempts that arrived`, value: arrivals.length, unit: 'requests' },
    { name: `${run}, of them refused or cut`, value: arrivals.length - taken.length, unit: 'requests' },
    { name: `${run}, repeats of what was taken`, value: repeats, unit: 'requests' },
    {
      name: `${run}, last arrival after the last kill or its acceptance`,
      value: `${slowest.toFixed(1)} s`,
      goal: `at most ${ARRIVAL_SECONDS} s`,
      held: slowest <= ARRIVAL_SECONDS,
    },
    ...checkFigures(run, CHECKS, history),
  ];
}
