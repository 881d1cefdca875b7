/**
 * A sweep: one scenario, run again and again, and each time the database fails once, at another point, before or
 * after the point took effect. Whatever fails, the scenario ends as it should. Everything but the engine is real: the
 * server with its workers, PostgreSQL, HTTP, a receiver.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createFake } from '@dragoman/engines/fake';
import type pg from 'pg';
import { createAccount } from '../../packages/server/src/accounts/accounts.ts';
import { createVault } from '../../packages/server/src/accounts/secrets.ts';
import { createConnection } from '../../packages/server/src/database/connections.ts';
import { type Connection, openDatabase } from '../../packages/server/src/database/database.ts';
import { startEmbedded } from '../../packages/server/src/database/embedded.ts';
import { migrate } from '../../packages/server/src/database/migrate.ts';
import { verifyLedger } from '../../packages/server/src/ledger/ledger.ts';
import { createLog } from '../../packages/server/src/log.ts';
import { startServer } from '../../packages/server/src/serve.ts';
import { loadSettings } from '../../packages/server/src/settings.ts';
import { createRandom, type Random } from '../random.ts';
import { edit, prepareEditing } from './editing.ts';
import { createFaulty, type FaultyDatabase, MODES, type Mode } from './faulty.ts';

export interface SweepOptions {
  directory: string;
  /** At most so many runs, chosen by chance; all of them where undefined. */
  runs: number | undefined;
  seed: number;
  say(line: string): void;
}

/**
 * `orders`: a job of each kind, one that is taken back, and a message. `editing`: a job and a message's answer that an
 * editor corrects.
 */
export const SCENARIOS = ['orders', 'editing'] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** How one run ended. */
export interface SweepRun {
  scenario: Scenario;
  mode: Mode;
  at: number;
  /** The point that failed; undefined where the scenario was over before it. */
  point: string | undefined;
  /** What was not as it should be, a line each. */
  faults: string[];
}

export interface SweepHistory {
  /** Points of an undisturbed run. */
  points: Record<Scenario, Record<Mode, number>>;
  runs: SweepRun[];
}

const AT_A_TIME = 4;
const BETWEEN_OF_A_KIND = 2;
/** Every lease runs out in this time (a message's takes ten seconds), and much room. */
const PATIENCE_MILLISECONDS = 60_000;
const SETTINGS = {
  DRAGOMAN_PORT: '0',
  DRAGOMAN_ALLOWED_NETWORKS: '127.0.0.0/8',
  DRAGOMAN_SANDBOX_HOLD: '0',
  DRAGOMAN_LEASE: '2',
  DRAGOMAN_CALLBACK_SCHEDULE: '1',
};
const JOB = { source_language: 'en', target_language: 'es' };

export async function runSweep({ directory, runs, seed, say }: SweepOptions): Promise<SweepHistory> {
  const random = createRandom(seed);
  const embedded = await startEmbedded({ dataDir: directory, role: 'command' });
  const { connection } = embedded;
  const template: Connection = { ...connection, database: 'sweep_template' };
  try {
    await administer(connection, 'create database sweep_template');
    await migrate(template);
    let databases = 0;
    const once = (scenario: Scenario, mode: Mode, at: number) =>
      runOnce(connection, `sweep_${++databases}`, scenario, mode, at);

    const points = { orders: {}, editing: {} } as SweepHistory['points'];
    const wanted: { scenario: Scenario; mode: Mode; at: number }[] = [];
    for (const scenario of SCENARIOS) {
      for (const mode of MODES) {
        const { faults, passed } = await once(scenario, mode, Number.POSITIVE_INFINITY);
        if (faults.length > 0) throw new Error(`undisturbed: ${faults.join('; ')}`);
        points[scenario][mode] = passed.length;
        for (const at of fewOfEach(passed, random)) wanted.push({ scenario, mode, at });
      }
    }
    while (runs !== undefined && wanted.length > runs) wanted.splice(random.below(wanted.length), 1);
    say(`${wanted.length} runs`);
    const history: SweepHistory = { points, runs: [] };
    const worker = async () => {
      for (let next = wanted.shift(); next !== undefined; next = wanted.shift()) {
        const { faults, point } = await once(next.scenario, next.mode, next.at);
        history.runs.push({ ...next, point, faults });
        if (history.runs.length % 50 === 0) say(`${history.runs.length} runs done`);
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, worker));
    return history;
  } finally {
    await embedded.stop();
  }
}

/** Of each kind of point the first, the last, and those between by chance: what looks for work asks the same all day. */
function fewOfEach(passed: readonly string[], random: Random): number[] {
  const places = Map.groupBy(passed.keys(), (at) => passed[at]!);
  return [...places.values()].flatMap((all) => {
    const between = all.slice(1, -1);
    while (between.length > BETWEEN_OF_A_KIND) between.splice(random.below(between.length), 1);
    return [...new Set([all[0]!, ...between, all.at(-1)!])];
  });
}

async function runOnce(connection: Connection, name: string, scenario: Scenario, mode: Mode, at: number) {
  await administer(connection, `create database ${name} template sweep_template`);
  const own: Connection = { ...connection, database: name };
  const log = createLog('silent');
  const database = openDatabase(own, log);
  const faulty = createFaulty(database);
  const vault = createVault(randomBytes(32));
  const account = await createAccount(database, vault, {
    ...{ username: 'sweep', email: undefined, balanceCents: 1_000, dialect: 'spec', chat: true },
  });
  const settings = loadSettings(SETTINGS);
  const cookie = scenario === 'editing' ? await prepareEditing(database, settings, 'sweep') : '';
  const store = { database: faulty, vault, migrated: [], behind: 0, connection: own, close: async () => {} };
  const server = await startServer({
    ...{ store, settings, role: 'all', engines: () => [createFake()], log },
  });
  const receiver = await startReceiver();
  const client = createConnection(own);
  await client.connect();
  try {
    const url = server.url!;
    while ((await fetch(`${url}/readyz`)).status !== 200) await wait(10);
    faulty.arm(at, mode);
    const answers = await ORDERS[scenario](url, account, receiver.url);
    if (scenario === 'editing') {
      const until = Date.now() + PATIENCE_MILLISECONDS;
      await edit(url, cookie, async () => Date.now() < until && !(await isEdited(client)));
    }
    await untilSettled(client);
    const faults = await judgeRun(client, scenario, faulty, answers, receiver.arrivals);
    const { discrepancies } = await verifyLedger(database);
    if (discrepancies.length > 0) faults.push(`${discrepancies.length} discrepancies of the ledger`);
    return { faults, passed: [...faulty.passed], point: faulty.failed };
  } finally {
    await server.stop(1_000);
    await client.end();
    await receiver.close();
    await database.close();
    await administer(connection, `drop database ${name} with (force)`);
  }
}

type Answers = Record<string, { status: number; text: string }>;
type Account = { production_key: string; sandbox_key: string };

/** What a customer does. */
const ORDERS: Record<Scenario, (url: string, account: Account, hook: string) => Promise<Answers>> = {
  async orders(url, { production_key: production, sandbox_key: sandbox }, hook) {
    const human = await ask(url, sandbox, 'POST', '/sandbox/tapi/v2/translation/', job(hook, 'human'));
    const machine = await ask(url, production, 'POST', '/tapi/v2/mt_translation/', job(hook, 'machine'));
    const taken = await ask(url, production, 'POST', '/tapi/v2/translation/', job(hook, 'taken'));
    const cancel = await ask(url, production, 'DELETE', '/tapi/v2/translation/taken/');
    const message = await ask(url, production, 'POST', '/v2/chats/messages', chatMessage(hook));
    return { human, machine, taken, cancel, message };
  },
  async editing(url, { production_key: production }, hook) {
    const edited = await ask(url, production, 'POST', '/tapi/v2/translation/', job(hook, 'edited'));
    const message = await ask(url, production, 'POST', '/v2/chats/messages', chatMessage(hook));
    return { edited, message };
  },
};

const job = (hook: string, uid: string) => ({
  ...JOB,
  uid,
  text: 'The house is big.',
  callback_url: `${hook}/${uid}`,
});
const chatMessage = (hook: string) => ({
  ...{ ...JOB, chat_external_id: 'chat', external_id: 'message', text: 'Hello.', text_format: 'text' },
  callback_url: `${hook}/message`,
});

/** Asks again until it is answered. */
async function ask(url: string, key: string, method: string, path: string, body?: object) {
  for (;;) {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `ApiKey ${key}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status < 500) return { status: response.status, text };
    await wait(20);
  }
}

/** Whether the job is done, and the message's answer corrected. */
async function isEdited(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ count: number }>(
    `select (select count(*) from jobs where uid = 'edited' and status = 'completed')
          + (select count(*) from message_corrections where finished_at is not null) as count`,
  );
  return rows[0]!.count === 2;
}

/** How it is to end: the customer's jobs, and under how many ids each callback comes. */
const WANTED: Record<Scenario, { jobs: string; deliveries: Record<string, number> }> = {
  orders: {
    jobs: 'human completed capture+hold, machine completed , taken canceled hold+void',
    deliveries: { '/human': 1, '/machine': 1, '/message': 1, '/taken': 0 },
  },
  editing: {
    jobs: 'edited completed capture+hold',
    // The answer, and its correction.
    deliveries: { '/edited': 1, '/message': 2 },
  },
};

async function untilSettled(client: pg.Client): Promise<void> {
  const until = Date.now() + PATIENCE_MILLISECONDS;
  while (Date.now() < until) {
    const { rows } = await client.query<{ left: number }>(
      `select (select count(*) from jobs where due_at is not null)
            + (select count(*) from messages where due_at is not null)
            + (select count(*) from deliveries where due_at is not null)
            + (select count(*) from jobs where status in ('new', 'machine_translate_in_progress')) as left`,
    );
    if (Number(rows[0]!.left) === 0) return;
    await wait(20);
  }
}

async function judgeRun(
  client: pg.Client,
  scenario: Scenario,
  faulty: FaultyDatabase,
  answers: Answers,
  arrivals: { path: string; id: string }[],
): Promise<string[]> {
  const faults: string[] = [];
  const expectThat = (so: boolean, line: string) => {
    if (!so) faults.push(line);
  };
  for (const [name, { status, text }] of Object.entries(answers)) {
    // A cancel that happened without an answer is refused the second time: it is canceled already.
    const again = name === 'cancel' && status === 400 && faulty.failed !== undefined;
    expectThat(status < 300 || again, `${name} was answered ${status} ${text.slice(0, 200)}`);
  }
  const { rows: jobs } = await client.query(
    `select j.uid, j.status, j.price_cents,
            array(select t.kind from transfers t where t.job_id = j.job_id order by t.kind) as kinds
       from jobs j where tier <> 'chat' order by uid`,
  );
  const found = jobs.map(({ uid, status, kinds }) => `${uid} ${status} ${kinds.join('+')}`).join(', ');
  const wanted = WANTED[scenario];
  expectThat(found === wanted.jobs, `jobs: ${found}`);
  const { rows: messages } = await client.query('select status from messages');
  const states = messages.map(({ status }) => status).join();
  expectThat(states === 'deliver_complete', `messages: ${states}`);
  for (const [path, count] of Object.entries(wanted.deliveries)) {
    const ids = new Set(arrivals.filter((one) => one.path === path).map(({ id }) => id));
    expectThat(ids.size === count, `${path} was delivered under ${ids.size} ids, not ${count}`);
  }
  const { rows: leases } = await client.query(
    `select (select count(*) from jobs where lease_token is not null)
          + (select count(*) from deliveries where status = 'pending') as left`,
  );
  expectThat(Number(leases[0]!.left) === 0, `${leases[0]!.left} leases or deliveries are left`);
  return faults;
}

async function startReceiver() {
  const arrivals: { path: string; id: string }[] = [];
  const server: HttpServer = createServer((request, response) => {
    arrivals.push({ path: request.url ?? '', id: String(request.headers['webhook-id']) });
    request.resume().on('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    arrivals,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function administer(connection: Connection, sql: string): Promise<void> {
  const client = createConnection(connection);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
