/**
 * A crash run: clients create jobs while the serving process is killed with -9 again and again. Everything is
 * real: the program as a process of its own, its embedded PostgreSQL, Apertium, HTTP, a receiver.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { createLog } from '../../packages/server/src/log.ts';
import { openStore } from '../../packages/server/src/program.ts';
import { loadSettings } from '../../packages/server/src/settings.ts';
import {
  believeEngine,
  type Credentials,
  createAccount,
  killDatabase,
  startProgram,
} from '../../scripts/program.ts';
import { createRandom } from '../random.ts';
import type { Attempted, Delivered, History } from './history.ts';

export interface CrashOptions {
  /** Where the program keeps its data. */
  directory: string;
  kills: number;
  seed: number;
  say(line: string): void;
}

const CLIENTS = 8;
/** Jobs acknowledged between two kills. */
const JOBS_BETWEEN = { least: 5, most: 40 };
const DELIVERIES_AT_A_TIME = 64;
const HOLD_SECONDS = 1;
/** After every so many kills of the program, its database server is killed as well, under the running program. */
const DATABASE_EVERY = 5;
const OPENING_CENTS = 1_000_000;
/** After the last kill: a lease (5 s), a retry of a delivery, and room. What is not done by then is reported. */
const SETTLE_MILLISECONDS = 120_000;

const TEXTS = [
  'The house is big.',
  'The children walk to the school every day. Their mother works in the city.',
  'A red car stops in front of the hotel.\n\nNobody gets out.',
  'We want to buy three tickets for the train to Madrid.',
  'The doctor said that the water is cold and clean.',
];

export async function runCrash(options: CrashOptions): Promise<History> {
  const random = createRandom(options.seed);
  const receiver = await startReceiver();
  const { directory } = options;
  await believeEngine(directory);
  let program = await startProgram({ directory, environment: ENVIRONMENT });
  const { port, url } = program;
  const credentials = await createAccount(directory, 'crash', OPENING_CENTS);
  const attempted: Attempted[] = [];
  const kills: number[] = [];
  let databaseKills = 0;
  let acknowledgements = 0;
  let stopping = false;

  async function client(name: number): Promise<void> {
    for (let count = 0; !stopping; count++) {
      const human = random.below(2) === 0;
      const own = `job-${name}-${count}`;
      // A fifth leaves the uid to the server: asking again would make another job, so nobody does.
      const assigned = random.below(5) === 0;
      const job: Attempted = {
        name: own,
        ...(assigned ? {} : { uid: own }),
        environment: human ? 'sandbox' : 'production',
        tier: human ? 'human' : 'machine',
        text: TEXTS[random.below(TEXTS.length)]!,
        sentAt: Date.now(),
      };
      attempted.push(job);
      // A tenth of the clients do not come back after a broken answer: their job may exist or not.
      const givesUp = random.below(10) === 0;
      await create(url, credentials, receiver.url, job, () => stopping || givesUp || assigned);
      if (job.acknowledged !== undefined) acknowledgements++;
    }
  }

  const clients = Array.from({ length: CLIENTS }, (_, name) => client(name));
  for (let kill = 1; kill <= options.kills; kill++) {
    const target =
      acknowledgements + JOBS_BETWEEN.least + random.below(JOBS_BETWEEN.most - JOBS_BETWEEN.least);
    while (acknowledgements < target) await wait(5);
    await program.kill();
    kills.push(Date.now());
    options.say(`kill ${kill} of ${options.kills}, ${acknowledgements} jobs acknowledged`);
    program = await startProgram({ directory, port, environment: ENVIRONMENT });
    if (kill % DATABASE_EVERY === 0) {
      killDatabase(directory);
      databaseKills++;
      options.say('and PostgreSQL');
    }
  }
  stopping = true;
  await Promise.all(clients);
  options.say('waiting for everything to settle');
  const facts = await settle(directory);
  await program.stop();
  await receiver.close();
  return {
    attempted,
    delivered: receiver.delivered,
    kills,
    databaseKills,
    holdMilliseconds: HOLD_SECONDS * 1000,
    deliveriesAtATime: DELIVERIES_AT_A_TIME,
    ...facts,
  };
}

/** Asks for a job, again and again until it is acknowledged or `giveUp` says so. */
async function create(
  url: string,
  credentials: Credentials,
  callbacks: string,
  job: Attempted,
  giveUp: () => boolean,
): Promise<void> {
  const sandbox = job.environment === 'sandbox';
  const path = `${sandbox ? '/sandbox' : ''}/tapi/v2/${job.tier === 'human' ? '' : 'mt_'}translation/`;
  for (;;) {
    try {
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: {
          authorization: `ApiKey ${sandbox ? credentials.sandbox_key : credentials.production_key}`,
        },
        body: JSON.stringify({
          uid: job.uid,
          text: job.text,
          source_language: 'en',
          target_language: 'es',
          callback_url: `${callbacks}/${job.name}`,
        }),
      });
      const body = (await response.json()) as {
        uid: string;
        order_number?: number;
        price?: number;
        error?: string;
      };
      if (response.status === 201 || response.status === 200) {
        job.acknowledged = {
          at: Date.now(),
          uid: body.uid,
          orderNumber: body.order_number,
          priceCents: body.price ?? 0,
        };
        return;
      }
      if (response.status < 500) throw new Refused(`${response.status} ${body.error}`);
    } catch (error) {
      if (error instanceof Refused) throw error;
    }
    if (giveUp()) return;
    await wait(50);
  }
}

class Refused extends Error {}

const ENVIRONMENT = {
  DRAGOMAN_LEASE: '5',
  DRAGOMAN_SANDBOX_HOLD: String(HOLD_SECONDS),
  DRAGOMAN_SENDER_DELIVERIES: String(DELIVERIES_AT_A_TIME),
  DRAGOMAN_LOG_LEVEL: 'silent', // connections break here all the time
};

type Facts = Pick<History, 'jobs' | 'transfers' | 'deliveries' | 'balances'>;

/** Waits until no machine has anything to do, or its patience ends; then reads what there is. */
async function settle(directory: string): Promise<Facts> {
  const settings = loadSettings({ DRAGOMAN_DATA: directory });
  const store = await openStore(settings, 'command', createLog('silent'));
  const client = new pg.Client(store.connection);
  await client.connect();
  const rows = async <T extends pg.QueryResultRow>(sql: string) => (await client.query<T>(sql)).rows;
  try {
    const until = Date.now() + SETTLE_MILLISECONDS;
    while (Date.now() < until) {
      const [left] = await rows<{ count: number }>(
        `select (select count(*) from jobs where due_at is not null)
              + (select count(*) from deliveries where due_at is not null) as count`,
      );
      if (left!.count === 0) break;
      await wait(200);
    }
    return {
      jobs: await rows(
        `select substring(callback_url from '[^/]*$') as name, uid, environment, job_id as "jobId", order_number as "orderNumber", status,
                price_cents as "priceCents" from jobs`,
      ),
      transfers: await rows(
        `select job_id as "jobId", environment, kind, debit, credit, amount_cents as cents from transfers`,
      ),
      deliveries: await rows(
        `select delivery_id as "deliveryId", job_id as "jobId", status,
                (select count(*) from attempts a
                  where a.delivery_id = d.delivery_id and finished_at is null) as "unfinishedAttempts"
           from deliveries d`,
      ),
      balances: await rows(`select environment, available_cents as "availableCents" from balances`),
    };
  } finally {
    await client.end();
    await store.close();
  }
}

async function startReceiver() {
  const delivered: Delivered[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      delivered.push({
        name: (request.url ?? '').slice(1),
        webhookId: String(request.headers['webhook-id']),
        body: Buffer.concat(chunks).toString(),
        at: Date.now(),
      });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    delivered,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
