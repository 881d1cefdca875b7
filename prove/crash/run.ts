/**
 * The crash scenario: customers create jobs while the service is killed with SIGKILL again and again, and every fifth
 * time PostgreSQL too. The service is a separate process with its embedded PostgreSQL, Apertium and HTTP.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createAccount, killDatabase } from '../../scripts/program.ts';
import { startCustomers } from '../harness/customers.ts';
import { countDue, readFacts, waitUntilSettled, withDatabase } from '../harness/database.ts';
import { createRandom } from '../harness/random.ts';
import { startReceiver } from '../harness/receiver.ts';
import type { RunOptions } from '../harness/run.ts';
import { startService } from '../harness/service.ts';
import type { CrashHistory } from './checks.ts';

export interface CrashOptions extends RunOptions {
  kills: number;
  /** The number of jobs that the service acknowledges until the last kill, on average. */
  jobs: number;
}

const DATABASE_EVERY = 5;
const DELIVERIES_AT_A_TIME = 64;
const HOLD_SECONDS = 1;
const SETTLE_SECONDS = 600;
export const LEASE_SECONDS = 5;
export const OPENING_CENTS = 100_000_000;

/** Settings with short leases and short delays before delivery. */
export const CRASH_SETTINGS = {
  DRAGOMAN_LEASE: String(LEASE_SECONDS),
  DRAGOMAN_SANDBOX_HOLD: String(HOLD_SECONDS),
  DRAGOMAN_SENDER_DELIVERIES: String(DELIVERIES_AT_A_TIME),
  DRAGOMAN_LOG_LEVEL: 'silent', // Otherwise broken connections would fill the log.
};
/** The settings that the checks need. */
export const CRASH_FACTS = {
  holdMilliseconds: HOLD_SECONDS * 1000,
  deliveriesAtATime: DELIVERIES_AT_A_TIME,
};

export async function runCrash({ directory, seed, say, kills, jobs }: CrashOptions): Promise<CrashHistory> {
  const random = createRandom(seed);
  const arrivals: CrashHistory['arrivals'] = [];
  const receiver = await startReceiver((arrival) => arrivals.push(arrival));
  const service = await startService(directory, CRASH_SETTINGS);
  const account = await createAccount(directory, 'crash', OPENING_CENTS);
  const customers = startCustomers(random, [service.url], account, receiver.url);
  let databaseKills = 0;
  for (let kill = 1; kill <= kills; kill++) {
    const target = customers.acknowledged + 1 + random.below(Math.ceil((2 * jobs) / kills));
    while (customers.acknowledged < target) {
      customers.check();
      await wait(5);
    }
    await service.kill();
    say(`kill ${kill} of ${kills}, ${customers.acknowledged} jobs acknowledged`);
    await service.start();
    if (kill % DATABASE_EVERY === 0) {
      killDatabase(directory);
      databaseKills++;
      say('and PostgreSQL');
    }
  }
  await customers.stop();
  say('waiting until everything is settled');
  const facts = await withDatabase(directory, async (query) => {
    // How soon the last job is done is a goal of the proof. Here only a hang may end the wait.
    await waitUntilSettled(() => countDue(query), { seconds: SETTLE_SECONDS });
    return readFacts(query, LEASE_SECONDS);
  });
  await service.stop();
  await receiver.close();
  return {
    orders: customers.orders,
    arrivals,
    kills: service.kills,
    databaseKills,
    ...CRASH_FACTS,
    ...facts,
  };
}
