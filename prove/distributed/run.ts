/**
 * The scenario on a distributed database: customers create jobs on two API and two worker processes, while processes of
 * the service and nodes of the cluster are killed in turn.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createKeyFile } from '../../packages/server/src/access/secrets.ts';
import { believeEngine, createAccount, type Program, startProgram } from '../../scripts/program.ts';
import type { CrashHistory } from '../crash/checks.ts';
import { CRASH_FACTS, CRASH_SETTINGS, LEASE_SECONDS, OPENING_CENTS } from '../crash/run.ts';
import { ORDER_PAUSE_MILLISECONDS, startCustomers } from '../harness/customers.ts';
import { countDue, readFacts, verifyLedger, waitUntilSettled, withClient } from '../harness/database.ts';
import { createRandom } from '../harness/random.ts';
import { startReceiver } from '../harness/receiver.ts';
import type { RunOptions } from '../harness/run.ts';

export interface NodesOptions extends RunOptions {
  /** The address of a distributed database on the coordinator, as a superuser. */
  databaseUrl: string;
  faults: number;
}

export interface NodesHistory extends CrashHistory {
  /** What was killed, in order: the name of a role, or the address of a node. */
  faults: string[];
  /** What `dragoman ledger verify` reported. Empty if it found nothing. */
  ledger: string;
}

/** The number of jobs that the service acknowledges between two faults. */
const JOBS_BETWEEN = { least: 20, most: 80 };
/** The next fault is started after this time even if no job is acknowledged. */
const STALL_MILLISECONDS = 20_000;
const SETTLE_SECONDS = 600;
const ROLES = ['api', 'api', 'worker', 'worker'] as const;

export async function runNodes(options: NodesOptions): Promise<NodesHistory> {
  const { directory, seed, say, databaseUrl } = options;
  const random = createRandom(seed);
  const arrivals: NodesHistory['arrivals'] = [];
  const receiver = await startReceiver((arrival) => arrivals.push(arrival));
  createKeyFile(directory); // The processes of the service and the commands must use the same key.
  await believeEngine(directory, databaseUrl);
  const account = await createAccount(directory, 'nodes', OPENING_CENTS, { databaseUrl });
  const environment = { ...CRASH_SETTINGS, DATABASE_URL: databaseUrl };
  const start = (place: number, port?: number) =>
    startProgram({ directory, role: ROLES[place]!, environment, ...(port !== undefined && { port }) });
  const programs: Program[] = [];
  try {
    for (const place of ROLES.keys()) programs.push(await start(place));
    const nodes = await listNodes(databaseUrl);
    const urls = programs.filter((_, place) => ROLES[place] === 'api').map(({ url }) => url);
    const customers = startCustomers(random, urls, account, receiver.url, ORDER_PAUSE_MILLISECONDS);
    const faults: string[] = [];
    const kills: number[] = [];
    while (faults.length < options.faults) {
      const target =
        customers.acknowledged + JOBS_BETWEEN.least + random.below(JOBS_BETWEEN.most - JOBS_BETWEEN.least);
      const stalled = Date.now() + STALL_MILLISECONDS;
      while (customers.acknowledged < target && Date.now() < stalled) {
        customers.check();
        await wait(5);
      }
      const place = faults.length % (programs.length + nodes.length);
      if (place < programs.length) {
        const { port } = programs[place]!;
        await programs[place]!.kill();
        kills.push(Date.now());
        programs[place] = await start(place, port);
        faults.push(ROLES[place]!);
      } else {
        const node = nodes[place - programs.length]!;
        kills.push(Date.now());
        await crashNode(node);
        faults.push(new URL(node).host);
      }
      say(`fault ${faults.length} of ${options.faults}: ${faults.at(-1)}, ${customers.acknowledged} jobs`);
    }
    await customers.stop();
    // A node that recovers refuses the queries below.
    for (const connectionString of nodes) await withClient({ connectionString }, async () => {});
    say('waiting until everything is settled');
    const facts = await withClient({ connectionString: databaseUrl }, async (_, query) => {
      await waitUntilSettled(() => countDue(query), { seconds: SETTLE_SECONDS });
      return readFacts(query, LEASE_SECONDS);
    });
    const ledger = await verifyLedger(directory, databaseUrl);
    const databaseKills = faults.filter((fault) => fault.includes(':')).length;
    return {
      orders: customers.orders,
      arrivals,
      kills,
      databaseKills,
      faults,
      ledger,
      ...CRASH_FACTS,
      ...facts,
    };
  } finally {
    await Promise.all(programs.map((program) => program.kill()));
    await receiver.close();
  }
}

/** Returns the address of the database on each node, the coordinator included. */
async function listNodes(databaseUrl: string): Promise<string[]> {
  return withClient({ connectionString: databaseUrl }, async (_, query) => {
    const nodes = await query<{ name: string; port: number }>(
      'select nodename as name, nodeport as port from pg_dist_node where isactive order by groupid',
    );
    return nodes.map(({ name, port }) => {
      const url = new URL(databaseUrl);
      url.hostname = name;
      url.port = String(port);
      return url.href;
    });
  });
}

/**
 * Makes a node lose all sessions and recover from its log, as after a loss of its machine: kills one of its server
 * processes with SIGKILL.
 */
async function crashNode(connectionString: string): Promise<void> {
  await withClient({ connectionString }, async (client) => {
    const kill = `copy (select 1) to program 'kill -9 $PPID'`;
    const failure = await client.query(kill).then(
      () => new Error('the node still runs'),
      (error: Error & { code?: string }) => error,
    );
    // The connection is lost. Any other error means that the user may not kill the process.
    if ((failure as { severity?: string }).severity === 'ERROR' || failure.message === 'the node still runs')
      throw failure;
  });
}
