/**
 * The scale scenario: the customers of the crash proof create jobs on two API and two worker processes with one
 * PostgreSQL. Processes are killed, and paused for longer than a lease. PostgreSQL is killed and restarted.
 * Connections are cut and blocked. The invariants are those of the crash proof.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { believeEngine, createAccount } from '../../scripts/program.ts';
import type { CrashHistory } from '../crash/checks.ts';
import { CRASH_FACTS, CRASH_SETTINGS, LEASE_SECONDS, OPENING_CENTS } from '../crash/run.ts';
import { startCustomers } from '../harness/customers.ts';
import { countDue, readFacts, waitUntilSettled, withClient } from '../harness/database.ts';
import { createRandom } from '../harness/random.ts';
import { startReceiver } from '../harness/receiver.ts';
import type { RunOptions } from '../harness/run.ts';
import { createFaultInjector, DATABASE_FAULTS, type Fault } from './faults.ts';
import { startFleet } from './fleet.ts';

export interface ScaleOptions extends RunOptions {
  faults: number;
  /** The number of jobs that the service acknowledges between two faults. */
  between: { least: number; most: number };
}

export interface ScaleHistory extends CrashHistory {
  faults: Fault[];
  /**
   * The number of processes that were started with another secret key, and how many of them served requests.
   */
  strangers: { started: number; served: number };
}

const API = 2;
const WORKERS = 2;
/**
 * The next fault is started after this time even if no job is acknowledged, because one fault may stop all processing.
 */
const STALL_MILLISECONDS = 20_000;

export async function runScale({ directory, seed, say, ...options }: ScaleOptions): Promise<ScaleHistory> {
  const { between } = options;
  const random = createRandom(seed);
  const arrivals: ScaleHistory['arrivals'] = [];
  const receiver = await startReceiver((arrival) => arrivals.push(arrival));
  const fleet = await startFleet({
    directory,
    api: API,
    workers: WORKERS,
    environment: CRASH_SETTINGS,
    prepare: (databaseUrl) => believeEngine(directory, databaseUrl),
  });
  try {
    const account = await createAccount(directory, 'scale', OPENING_CENTS);
    const strangers = { started: 0, served: 0 };
    for (const role of ['api', 'worker'] as const) {
      strangers.started++;
      if (await fleet.startStranger(role)) strangers.served++;
    }
    const injector = createFaultInjector(fleet, directory, random, LEASE_SECONDS);
    const customers = startCustomers(random, fleet.urls, account, receiver.url);
    const faults: Fault[] = [];
    const kills: number[] = [];
    while (faults.length < options.faults) {
      const target = customers.acknowledged + between.least + random.below(between.most - between.least);
      const stalled = Date.now() + STALL_MILLISECONDS;
      while (customers.acknowledged < target && Date.now() < stalled) {
        customers.check();
        await wait(5);
      }
      faults.push(injector.next());
      kills.push(Date.now());
      say(`fault ${faults.length} of ${options.faults}: ${faults.at(-1)}, ${customers.acknowledged} jobs`);
    }
    await injector.over();
    kills.push(Date.now());
    await customers.stop();
    say('waiting until everything is settled');
    const facts = await withClient(fleet.connection, async (_, query) => {
      await waitUntilSettled(() => countDue(query));
      return readFacts(query, LEASE_SECONDS);
    });
    return {
      orders: customers.orders,
      arrivals,
      kills,
      databaseKills: faults.filter((fault) => fault in DATABASE_FAULTS).length,
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
