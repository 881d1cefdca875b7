/**
 * Runs a scenario again and again. Each time, the database fails once at another statement or commit (a point),
 * before or after the point takes effect. Every run must end like an undisturbed run. Everything but the engine is
 * real: the server with its workers, PostgreSQL, HTTP and a receiver.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { createFake } from '@dragoman/engines/fake';
import { createVault } from '../../packages/server/src/access/secrets.ts';
import { createAccount, setAccount } from '../../packages/server/src/accounts/accounts.ts';
import { createLog } from '../../packages/server/src/base/log.ts';
import { type Connection, openDatabase } from '../../packages/server/src/database/database.ts';
import { startEmbedded } from '../../packages/server/src/database/embedded.ts';
import { migrate } from '../../packages/server/src/database/migrate.ts';
import { verifyLedger } from '../../packages/server/src/ledger/ledger.ts';
import { startServer } from '../../packages/server/src/roles/serve.ts';
import { loadSettings } from '../../packages/server/src/settings/settings.ts';
import { countDue, type Query, waitUntilSettled, withClient } from '../harness/database.ts';
import { createEditor } from '../harness/editors.ts';
import { createRandom, type Random } from '../harness/random.ts';
import { type Arrival, startReceiver } from '../harness/receiver.ts';
import { type Answer, sendRequest, sendUntilAnswered } from '../harness/requests.ts';
import type { RunOptions } from '../harness/run.ts';
import { edit } from './editing.ts';
import { createFaulty, type FaultyDatabase, MODES, type Mode } from './faulty.ts';

export interface SweepOptions extends RunOptions {
  /** The number of failures to try, one in each run. They are chosen at random. Undefined to try all failures. */
  runs: number | undefined;
}

/**
 * `orders`: a job of each tier, a canceled job, and a chat message. `editing`: a job and a chat message that an
 * editor corrects.
 */
export const SCENARIOS = ['orders', 'editing'] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** A failure of the database in a run. */
interface Failure {
  scenario: Scenario;
  mode: Mode;
  /** The number of the statement or commit that fails, from 0. */
  at: number;
}

export interface SweepRun extends Failure {
  /** The name of the statement or commit that failed. Undefined if the scenario ended before it. */
  point: string | undefined;
  /** One sentence for each difference from an undisturbed run. */
  faults: string[];
}

export interface SweepHistory {
  /** The number of statements and commits in an undisturbed run. */
  points: Record<Scenario, Record<Mode, number>>;
  runs: SweepRun[];
}

const AT_A_TIME = 4;
/** The number of statements or commits of the same name that fail, in addition to the first and the last. */
const BETWEEN_OF_A_NAME = 2;
/** The maximum duration of a run. It is longer than the leases of jobs (2 s) and of messages (10 s). */
const PATIENCE_SECONDS = 60;
const SETTINGS = loadSettings({
  DRAGOMAN_PORT: '0',
  DRAGOMAN_ALLOWED_NETWORKS: '127.0.0.0/8',
  DRAGOMAN_KEY_REQUESTS: '0',
  DRAGOMAN_SANDBOX_HOLD: '0',
  DRAGOMAN_LEASE: '2',
  DRAGOMAN_CALLBACK_SCHEDULE: '1',
});
const PAIR = { source_language: 'en', target_language: 'es' };

export async function runSweep({ directory, runs, seed, say }: SweepOptions): Promise<SweepHistory> {
  const random = createRandom(seed);
  const embedded = await startEmbedded({ dataDir: directory, role: 'command' });
  const { connection } = embedded;
  try {
    await execute(connection, 'create database sweep_template');
    await migrate({ ...connection, database: 'sweep_template' });
    let databases = 0;
    const once = (failure: Failure) => runOnce(connection, `sweep_${++databases}`, failure);

    const points = { orders: {}, editing: {} } as SweepHistory['points'];
    const planned: Failure[] = [];
    for (const scenario of SCENARIOS) {
      for (const mode of MODES) {
        const { faults, passed } = await once({ scenario, mode, at: Number.POSITIVE_INFINITY });
        if (faults.length > 0) throw new Error(`undisturbed: ${faults.join('; ')}`);
        points[scenario][mode] = passed.length;
        planned.push(...choosePoints(passed, random).map((at) => ({ scenario, mode, at })));
      }
    }
    while (runs !== undefined && planned.length > runs) planned.splice(random.below(planned.length), 1);
    say(`${planned.length} runs`);
    const done: SweepRun[] = [];
    const worker = async () => {
      for (let failure = planned.shift(); failure !== undefined; failure = planned.shift()) {
        const { faults, point } = await once(failure);
        done.push({ ...failure, point, faults });
        if (done.length % 50 === 0) say(`${done.length} runs done`);
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, worker));
    return { points, runs: done };
  } finally {
    await embedded.stop();
  }
}

/**
 * Chooses the statements and commits that fail: the first and the last of each name, and some in between. Not
 * all are needed, because polling repeats the same statement all the time.
 */
function choosePoints(passed: readonly string[], random: Random): number[] {
  const places = Map.groupBy(passed.keys(), (at) => passed[at]!);
  return [...places.values()].flatMap((all) => {
    const between = all.slice(1, -1);
    while (between.length > BETWEEN_OF_A_NAME) between.splice(random.below(between.length), 1);
    return [...new Set([all[0]!, ...between, all.at(-1)!])];
  });
}

/** Runs a scenario in its own database. */
async function runOnce(connection: Connection, name: string, { scenario, mode, at }: Failure) {
  await execute(connection, `create database ${name} template sweep_template`);
  const own: Connection = { ...connection, database: name };
  const log = createLog('silent');
  const database = openDatabase(own, log);
  const faulty = createFaulty(database);
  const vault = createVault(randomBytes(32));
  const account = await createAccount(database, vault, 'command', {
    username: 'sweep',
    email: undefined,
    balanceCents: 1_000,
    prepaid: false,
    dialect: 'spec',
    chat: true,
  });
  let cookie = '';
  if (scenario === 'editing') {
    await setAccount(database, 'command', 'sweep', { chatCorrection: true, environment: 'production' });
    const editor = { email: 'editor@example.com', reviewShare: 0, review: false };
    ({ cookie } = await createEditor(database, SETTINGS, editor));
  }
  const store = { database: faulty, vault, migrated: [], behind: 0, connection: own, close: async () => {} };
  const engines = () => [createFake()];
  const server = await startServer({ store, settings: SETTINGS, role: 'all', engines, log });
  const arrivals: Arrival[] = [];
  const receiver = await startReceiver((arrival) => arrivals.push(arrival));
  try {
    const url = server.url!;
    while ((await fetch(`${url}/readyz`)).status !== 200) await wait(10);
    faulty.arm(at, mode);
    const answers = await ORDERS[scenario](url, account, receiver.url);
    const faults = await withClient(own, async (_, query) => {
      if (scenario === 'editing') {
        const end = Date.now() + PATIENCE_SECONDS * 1000;
        await edit(url, cookie, async () => Date.now() < end && !(await isEdited(query)));
      }
      await waitUntilSettled(async () => (await countDue(query)) + (await countUntranslated(query)), {
        seconds: PATIENCE_SECONDS,
        pause: 20,
      });
      return findFaults(query, scenario, faulty, answers, arrivals);
    });
    const { discrepancies } = await verifyLedger(database);
    if (discrepancies.length > 0) faults.push(`${discrepancies.length} discrepancies of the ledger`);
    return { faults, passed: [...faulty.passed], point: faulty.failed };
  } finally {
    await server.stop(1_000);
    await receiver.close();
    await database.close();
    await execute(connection, `drop database ${name} with (force)`);
  }
}

type Answers = Record<string, Answer>;
type Keys = { production_key: string; sandbox_key: string };

/** The customer's requests of each scenario. They are repeated until they are answered. */
const ORDERS: Record<Scenario, (url: string, keys: Keys, callbacks: string) => Promise<Answers>> = {
  async orders(url, { production_key: production, sandbox_key: sandbox }, callbacks) {
    const order = (uid: string) => jobBody(callbacks, uid);
    return {
      human: await send(url, sandbox, 'POST', '/sandbox/tapi/v2/translation/', order('human')),
      machine: await send(url, production, 'POST', '/tapi/v2/mt_translation/', order('machine')),
      canceled: await send(url, production, 'POST', '/tapi/v2/translation/', order('canceled')),
      cancel: await send(url, production, 'DELETE', '/tapi/v2/translation/canceled/'),
      message: await send(url, production, 'POST', '/v2/chats/messages', messageBody(callbacks)),
    };
  },
  async editing(url, { production_key: key }, callbacks) {
    return {
      edited: await send(url, key, 'POST', '/tapi/v2/translation/', jobBody(callbacks, 'edited')),
      message: await send(url, key, 'POST', '/v2/chats/messages', messageBody(callbacks)),
    };
  },
};

const jobBody = (callbacks: string, uid: string) => ({
  ...PAIR,
  uid,
  text: 'The house is big.',
  callback_url: `${callbacks}/${uid}`,
});

const messageBody = (callbacks: string) => ({
  ...PAIR,
  chat_external_id: 'chat',
  external_id: 'message',
  text: 'Hello.',
  text_format: 'text',
  callback_url: `${callbacks}/message`,
});

async function send(url: string, key: string, method: string, path: string, body?: object): Promise<Answer> {
  const request = { method, key, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const send = async () => {
    const answer = await sendRequest(`${url}${path}`, request);
    if (answer.status === 0) throw new Error(`no answer to ${method} ${path}`);
    return answer;
  };
  return (await sendUntilAnswered(send, { pause: 20 }))!;
}

/** Returns true if the job is completed and the message's translation is corrected. */
async function isEdited(query: Query): Promise<boolean> {
  const [row] = await query<{ count: number }>(
    `select (select count(*) from jobs where uid = 'edited' and status = 'completed')
          + (select count(*) from message_corrections where finished_at is not null) as count`,
  );
  return row!.count === 2;
}

async function countUntranslated(query: Query): Promise<number> {
  const [row] = await query<{ count: number }>(
    `select count(*)::int as count from jobs where status in ('new', 'machine_translate_in_progress')`,
  );
  return row!.count;
}

/** The expected end: the customer's jobs with their transfers, and the number of callbacks. */
const EXPECTED: Record<Scenario, { jobs: string; deliveries: Record<string, number> }> = {
  orders: {
    jobs: 'canceled canceled hold+void, human completed capture+hold, machine completed ',
    deliveries: { human: 1, machine: 1, message: 1, canceled: 0 },
  },
  editing: {
    jobs: 'edited completed capture+hold',
    // The message is delivered twice: its translation, then the correction.
    deliveries: { edited: 1, message: 2 },
  },
};

async function findFaults(
  query: Query,
  scenario: Scenario,
  { failed }: FaultyDatabase,
  answers: Answers,
  arrivals: readonly Arrival[],
): Promise<string[]> {
  const faults: string[] = [];
  const expectThat = (holds: boolean, fault: string) => {
    if (!holds) faults.push(fault);
  };
  for (const [name, { status, text }] of Object.entries(answers)) {
    // A repeated cancellation is refused if the first one succeeded but its response was lost.
    const isRepeated = name === 'cancel' && status === 400 && failed !== undefined;
    expectThat(status < 300 || isRepeated, `${name} was answered ${status} ${text.slice(0, 200)}`);
  }
  const expected = EXPECTED[scenario];
  const jobs = await query<{ uid: string; status: string; kinds: string[] }>(
    `select j.uid, j.status, array(select t.kind from transfers t where t.job_id = j.job_id order by t.kind) as kinds
       from jobs j where tier <> 'chat' order by uid`,
  );
  const found = jobs.map(({ uid, status, kinds }) => `${uid} ${status} ${kinds.join('+')}`).join(', ');
  expectThat(found === expected.jobs, `jobs: ${found}`);
  const messages = await query<{ status: string }>('select status from messages');
  const statuses = messages.map(({ status }) => status).join();
  expectThat(statuses === 'deliver_complete', `messages: ${statuses}`);
  for (const [name, count] of Object.entries(expected.deliveries)) {
    const ids = new Set(arrivals.filter((one) => one.name === name).map(({ webhookId }) => webhookId));
    expectThat(ids.size === count, `${name} was delivered under ${ids.size} ids, not ${count}`);
  }
  const [row] = await query<{ left: number; used: number; made: number }>(
    `select (select count(*) from jobs where lease_token is not null)
          + (select count(*) from deliveries where status = 'pending') as left,
            (select coalesce(sum(words), 0)::integer from sandbox_words) as used,
            (select coalesce(sum(words), 0)::integer from jobs where environment = 'sandbox') as made`,
  );
  const { left, used, made } = row!;
  expectThat(left === 0, `${left} leases or deliveries are left`);
  return [...faults, ...judgeQuota({ used, made, disturbed: failed !== undefined })];
}

/**
 * Compares the sandbox's counted words with the words of its jobs. The request during which the database
 * failed may be counted twice, because its outcome is not always known. No job may be left out.
 */
export function judgeQuota({ used, made, disturbed }: { used: number; made: number; disturbed: boolean }) {
  const most = disturbed ? made * 2 : made;
  return used >= made && used <= most ? [] : [`${used} words are counted in the sandbox, ${made} were made`];
}

async function execute(connection: Connection, sql: string): Promise<void> {
  await withClient(connection, (_, query) => query(sql));
}
