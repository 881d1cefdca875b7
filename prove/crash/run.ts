/**
 * A crash run: clients create jobs while the serving process is killed with -9 again and again. Everything is
 * real: the program as a process of its own, its embedded PostgreSQL, Apertium, HTTP, a receiver.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createLog } from '../../packages/server/src/log.ts';
import { openStore } from '../../packages/server/src/program.ts';
import { loadSettings } from '../../packages/server/src/settings.ts';
import { believeEngine, createAccount, killDatabase, startProgram } from '../../scripts/program.ts';
import { createRandom } from '../random.ts';
import { startCustomers } from './customers.ts';
import type { History } from './history.ts';
import { startReceiver } from './receiver.ts';
import { settle } from './settle.ts';

export interface CrashOptions {
  /** Where the program keeps its data. */
  directory: string;
  kills: number;
  seed: number;
  say(line: string): void;
}

/** Jobs acknowledged between two kills. */
const JOBS_BETWEEN = { least: 5, most: 40 };
const DELIVERIES_AT_A_TIME = 64;
const HOLD_SECONDS = 1;
/** After every so many kills of the program, its database server is killed as well, under the running program. */
const DATABASE_EVERY = 5;
export const OPENING_CENTS = 1_000_000;

/** Short leases, and holds that pass while one looks. */
export const CRASH_SETTINGS = {
  DRAGOMAN_LEASE: '5',
  DRAGOMAN_SANDBOX_HOLD: String(HOLD_SECONDS),
  DRAGOMAN_SENDER_DELIVERIES: String(DELIVERIES_AT_A_TIME),
  DRAGOMAN_LOG_LEVEL: 'silent', // connections break here all the time
};
/** What the checks need to know of them. */
export const CRASH_FACTS = {
  holdMilliseconds: HOLD_SECONDS * 1000,
  deliveriesAtATime: DELIVERIES_AT_A_TIME,
};

export async function runCrash(options: CrashOptions): Promise<History> {
  const random = createRandom(options.seed);
  const receiver = await startReceiver();
  const { directory } = options;
  await believeEngine(directory);
  let program = await startProgram({ directory, environment: CRASH_SETTINGS });
  const { port, url } = program;
  const credentials = await createAccount(directory, 'crash', OPENING_CENTS);
  const kills: number[] = [];
  let databaseKills = 0;
  const customers = startCustomers(random, [url], credentials, receiver.url);
  for (let kill = 1; kill <= options.kills; kill++) {
    const target =
      customers.acknowledged + JOBS_BETWEEN.least + random.below(JOBS_BETWEEN.most - JOBS_BETWEEN.least);
    while (customers.acknowledged < target) await wait(5);
    await program.kill();
    kills.push(Date.now());
    options.say(`kill ${kill} of ${options.kills}, ${customers.acknowledged} jobs acknowledged`);
    program = await startProgram({ directory, port, environment: CRASH_SETTINGS });
    if (kill % DATABASE_EVERY === 0) {
      killDatabase(directory);
      databaseKills++;
      options.say('and PostgreSQL');
    }
  }
  await customers.stop();
  options.say('waiting for everything to settle');
  const store = await openStore(loadSettings({ DRAGOMAN_DATA: directory }), 'command', createLog('silent'));
  const facts = await settle(store.connection);
  await store.close();
  await program.stop();
  await receiver.close();
  const { attempted } = customers;
  return { attempted, delivered: receiver.delivered, kills, databaseKills, ...CRASH_FACTS, ...facts };
}
