/**
 * The failover scenario: customers create jobs on two API processes and a worker, whose `DATABASE_URL` names the three
 * servers of a cluster under Patroni. The primary is killed, frozen and cut off, one after another. The processes of the
 * service are never restarted.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createKeyFile } from '../../packages/server/src/access/secrets.ts';
import { believeEngine, createAccount, type Program, startProgram } from '../../scripts/program.ts';
import type { CrashHistory } from '../crash/checks.ts';
import { CRASH_FACTS, CRASH_SETTINGS, LEASE_SECONDS, OPENING_CENTS } from '../crash/run.ts';
import { ORDER_PAUSE_MILLISECONDS, startCustomers } from '../harness/customers.ts';
import {
  countDue,
  type Facts,
  readFacts,
  verifyLedger,
  waitUntilSettled,
  withClient,
} from '../harness/database.ts';
import { createRandom } from '../harness/random.ts';
import { startReceiver } from '../harness/receiver.ts';
import { sendRequest } from '../harness/requests.ts';
import type { RunOptions } from '../harness/run.ts';
import { startCluster } from './cluster.ts';
import type { Node } from './node.ts';
import type { Tools } from './tools.ts';

export const FAULTS = ['killed', 'frozen', 'cut off'] as const;
export type Fault = (typeof FAULTS)[number];

export interface FailoverOptions extends RunOptions {
  tools: Tools;
  faults: number;
}

export interface FailoverHistory extends CrashHistory {
  faults: Fault[];
  /** For each fault, the seconds until the service acknowledged a job that was requested after the fault. */
  writesBack: number[];
  /** How long each request of the prober waited for its response, in seconds. */
  waits: number[];
  /** The number of processes of the service that ended by themselves. */
  ended: number;
  /** What `dragoman ledger verify` reported. Empty if it found nothing. */
  ledger: string;
}

/** The name of the account (the prober) whose requests are timed. */
const PROBER = 'prober';
/** A fault lasts until the service has acknowledged a job again, or at most this long. */
const PATIENCE_MILLISECONDS = 60_000;
/** The pause after a recovery, in which the customers create jobs. */
const BETWEEN_MILLISECONDS = 2_000;
const PROBE_EVERY_MILLISECONDS = 250;
/**
 * The prober gives up after this time. It is far longer than the goal, so that a time above the goal is measured and
 * not cut off.
 */
const PROBE_MILLISECONDS = 60_000;

export async function runFailover({ directory, seed, say, tools, faults: count }: FailoverOptions) {
  const random = createRandom(seed);
  const arrivals: FailoverHistory['arrivals'] = [];
  const receiver = await startReceiver((arrival) => arrivals.push(arrival));
  const cluster = await startCluster(tools, directory);
  const programs: Program[] = [];
  try {
    say('waiting for the cluster');
    await cluster.healthy();
    createKeyFile(directory); // The processes of the service and the commands must use the same key.
    await believeEngine(directory, cluster.url);
    const [account, prober] = await Promise.all(
      ['failover', PROBER].map((name) =>
        createAccount(directory, name, OPENING_CENTS, { databaseUrl: cluster.url }),
      ),
    );
    for (const role of ['api', 'api', 'worker'] as const)
      programs.push(
        await startProgram({
          directory,
          role,
          environment: { ...CRASH_SETTINGS, DATABASE_URL: cluster.url },
          logFile: `${directory}/service.log`,
        }),
      );
    const urls = programs.slice(0, 2).map(({ url }) => url);
    const customers = startCustomers(random, urls, account!, receiver.url, ORDER_PAUSE_MILLISECONDS);
    const probes = startProber(urls, prober!.production_key);
    const faults: Fault[] = [];
    const kills: number[] = [];
    const writesBack: number[] = [];
    while (faults.length < count) {
      customers.check();
      const fault = FAULTS[faults.length % FAULTS.length]!;
      const primary = (await cluster.primary())!;
      const began = performance.now();
      kills.push(Date.now());
      await cause(fault, primary);
      writesBack.push(await probes.nextAfter(performance.now(), began));
      faults.push(fault);
      say(
        `${faults.length} of ${count}: ${primary.name} ${fault}, writes back after ${writesBack.at(-1)!.toFixed(1)} s`,
      );
      primary.recover();
      await cluster.healthy();
      await wait(BETWEEN_MILLISECONDS);
    }
    await customers.stop();
    await probes.stop();
    say('waiting until everything is settled');
    const facts = await withClient({ connectionString: cluster.url }, async (_, query) => {
      await waitUntilSettled(() => countDue(query));
      return withoutProber(await readFacts(query, LEASE_SECONDS));
    });
    const ledger = await verifyLedger(directory, cluster.url);
    const history: FailoverHistory = {
      orders: customers.orders,
      arrivals,
      kills,
      databaseKills: faults.length,
      faults,
      writesBack,
      waits: probes.waits,
      ended: programs.filter(({ child }) => child.exitCode !== null || child.signalCode !== null).length,
      ledger,
      ...CRASH_FACTS,
      ...facts,
    };
    return history;
  } finally {
    await Promise.all(programs.map((program) => program.kill()));
    await cluster.stop();
    await receiver.close();
  }
}

/** The prober's jobs have no callback, so the checks of deliveries do not apply to them. */
function withoutProber({ jobs, transfers, balances, deliveries }: Facts): Facts {
  const isOther = ({ account }: { account: string }) => account !== PROBER;
  return {
    deliveries,
    jobs: jobs.filter(isOther),
    transfers: transfers.filter(isOther),
    balances: balances.filter(isOther),
  };
}

async function cause(fault: Fault, node: Node): Promise<void> {
  if (fault === 'killed') await node.kill();
  else if (fault === 'frozen') node.freeze();
  else node.cutOff();
}

/** Sends a request every quarter of a second, whether or not the earlier ones were answered. */
function startProber(urls: readonly string[], key: string) {
  const waits: number[] = [];
  const pending = new Set<Promise<void>>();
  /** The time at which the latest acknowledged request was sent, by `performance.now()`. */
  let last = Number.NEGATIVE_INFINITY;
  let stopping = false;
  async function probe(count: number): Promise<void> {
    const sent = performance.now();
    const body = JSON.stringify({
      text: 'Hello.',
      uid: `probe-${count}`,
      source_language: 'en',
      target_language: 'es',
    });
    const { status } = await sendRequest(`${urls[count % urls.length]}/tapi/v2/mt_translation/`, {
      method: 'POST',
      key,
      body,
      signal: AbortSignal.timeout(PROBE_MILLISECONDS),
    });
    waits.push((performance.now() - sent) / 1000);
    if (status === 201 || status === 200) last = Math.max(last, sent);
  }
  const probing = (async () => {
    for (let count = 0; !stopping; count++) {
      const request = probe(count).finally(() => pending.delete(request));
      pending.add(request);
      await wait(PROBE_EVERY_MILLISECONDS);
    }
    await Promise.all(pending);
  })();
  return {
    waits,
    /** @returns seconds from `moment` until a request that was sent after `sent` is acknowledged */
    async nextAfter(sent: number, moment: number): Promise<number> {
      while (last < sent) {
        if (performance.now() - moment > PATIENCE_MILLISECONDS) return Number.POSITIVE_INFINITY;
        await wait(20);
      }
      return (performance.now() - moment) / 1000;
    },
    async stop() {
      stopping = true;
      await probing;
    },
  };
}
