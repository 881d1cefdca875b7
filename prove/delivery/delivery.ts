/**
 * `npm run prove -- delivery`: 2,000 deliveries to a hostile sink over twenty kills, then five times as many without
 * a fault. Flags: `--deliveries N` (2000), `--kills N` (20), `--seed N`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { CHECKS } from './checks.ts';
import { type History, isSuccess } from './history.ts';
import { type DeliveryRun, runDeliveries } from './run.ts';

const FAULT_FREE_TIMES = 5;

export async function proveDelivery({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
  const deliveries = numbers.deliveries ?? 2000;
  const kills = numbers.kills ?? 20;
  const options = { deliveries, kills, seed, leaseSeconds: 10 };
  const hostile = await inDirectory({ ...options, hostile: true });
  const calm = await inDirectory({
    ...options,
    deliveries: deliveries * FAULT_FREE_TIMES,
    kills: 0,
    hostile: false,
  });
  return { seed, figures: [...figures('delivery', hostile), ...figures('delivery without faults', calm)] };
}

async function inDirectory(options: Omit<DeliveryRun, 'directory' | 'say'>): Promise<History> {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-delivery-'));
  try {
    return await runDeliveries({ ...options, directory, say: (line) => process.stderr.write(`${line}\n`) });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function figures(run: string, history: History): Figure[] {
  return [...summary(run, history), ...verdicts(run, history)];
}

function summary(run: string, { accepted, arrivals, kills }: History): Figure[] {
  const first = new Map<string, number>();
  for (const arrival of arrivals) {
    if (isSuccess(arrival) && !first.has(arrival.name)) first.set(arrival.name, arrival.at);
  }
  const last = kills.at(-1) ?? 0;
  const seconds = accepted.map(({ name, at }) => ((first.get(name) ?? Infinity) - Math.max(at, last)) / 1000);
  const taken = arrivals.filter(isSuccess).length;
  return [
    { name: `${run}, kills`, value: kills.length, unit: 'kills' },
    { name: `${run}, accepted`, value: accepted.length, unit: 'events' },
    { name: `${run}, attempts that arrived`, value: arrivals.length, unit: 'requests' },
    { name: `${run}, of them refused or cut`, value: arrivals.length - taken, unit: 'requests' },
    { name: `${run}, repeats of what was taken`, value: taken - first.size, unit: 'requests' },
    {
      name: `${run}, last arrival after the last kill or its acceptance`,
      value: Math.max(0, ...seconds),
      unit: 's',
    },
  ];
}

function verdicts(run: string, history: History): Figure[] {
  return Object.entries(CHECKS).map(([name, check]) => {
    const faults = check(history);
    for (const fault of faults.slice(0, 10)) process.stderr.write(`${name}: ${fault}\n`);
    return {
      name: `${run}, ${name}`,
      value: `${faults.length} faults`,
      goal: '0 faults',
      held: faults.length === 0,
    };
  });
}
