/**
 * A run of a fleet: the crash run's customers, before two api and two worker processes on one PostgreSQL. Processes are
 * killed and paused for longer than a lease, PostgreSQL is killed and restarted at once, connections are cut and held
 * up. Its history is that of a crash run, and so are its checks.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { believeEngine, createAccount } from '../../scripts/program.ts';
import { startCustomers } from '../crash/customers.ts';
import type { History } from '../crash/history.ts';
import { startReceiver } from '../crash/receiver.ts';
import { CRASH_FACTS, CRASH_SETTINGS, OPENING_CENTS } from '../crash/run.ts';
import { settle } from '../crash/settle.ts';
import { createRandom } from '../random.ts';
import { DATABASE_KINDS, type Kind, startTroubles } from './faults.ts';
import { startFleet } from './fleet.ts';

export interface ScaleOptions {
  directory: string;
  faults: number;
  /** Jobs acknowledged between two faults. */
  between: { least: number; most: number };
  seed: number;
  say(line: string): void;
}

export interface ScaleHistory extends History {
  faults: Kind[];
  /** Processes that were started with another secret key, and those of them that served. */
  strangers: { started: number; served: number };
}

const API = 2;
const WORKERS = 2;
/** Where nothing is acknowledged for so long, the next fault comes all the same: no other is needed to stop it. */
const STALL_MILLISECONDS = 20_000;

export async function runScale(options: ScaleOptions): Promise<ScaleHistory> {
  const { directory, between, say } = options;
  const random = createRandom(options.seed);
  const receiver = await startReceiver();
  const fleet = await startFleet({
    ...{ directory, api: API, workers: WORKERS, environment: CRASH_SETTINGS },
    prepare: (databaseUrl) => believeEngine(directory, databaseUrl),
  });
  try {
    const credentials = await createAccount(directory, 'scale', OPENING_CENTS);
    const strangers = { started: 0, served: 0 };
    for (const role of ['api', 'worker'] as const) {
      strangers.started++;
      if (await fleet.startStranger(role)) strangers.served++;
    }
    const leaseSeconds = Number(CRASH_SETTINGS.DRAGOMAN_LEASE);
    const troubles = startTroubles(fleet, directory, random, leaseSeconds);
    const customers = startCustomers(random, fleet.urls, credentials, receiver.url);
    const faults: Kind[] = [];
    const kills: number[] = [];
    while (faults.length < options.faults) {
      const target = customers.acknowledged + between.least + random.below(between.most - between.least);
      const stalled = Date.now() + STALL_MILLISECONDS;
      while (customers.acknowledged < target && Date.now() < stalled) await wait(5);
      faults.push(troubles.next());
      kills.push(Date.now());
      say(`fault ${faults.length} of ${options.faults}: ${faults.at(-1)}, ${customers.acknowledged} jobs`);
    }
    await troubles.over();
    kills.push(Date.now());
    await customers.stop();
    say('waiting for everything to settle');
    const facts = await settle(fleet.connection);
    const databaseKills = faults.filter((kind) => DATABASE_KINDS.includes(kind)).length;
    const { attempted } = customers;
    return {
      attempted,
      delivered: receiver.delivered,
      kills,
      databaseKills,
      faults,
      strangers,
      ...CRASH_FACTS,
      ...facts,
    };
  } finally {
    await fleet.stop();
    await receiver.close();
  }
}
