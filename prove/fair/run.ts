/**
 * The fairness scenario: accounts with very different loads on one server, with HTTP, PostgreSQL, Apertium and
 * callbacks. The customers are a separate process. The engine is observed directly, because a large document has no
 * results until it is completed.
 *
 * All loads are created before the measurements, with due times in the future. The run then alternates between blocks
 * without a load and blocks in which one load is due. A machine that gets slower therefore slows down both kinds of
 * blocks.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { createApertium, type Engine } from '../../packages/engines/src/engines.ts';
import { createAccount } from '../../packages/server/src/accounts/accounts.ts';
import { createLog } from '../../packages/server/src/base/log.ts';
import { createConnection } from '../../packages/server/src/database/connections.ts';
import { openStore } from '../../packages/server/src/roles/program.ts';
import { type Role, startServer } from '../../packages/server/src/roles/serve.ts';
import { loadSettings } from '../../packages/server/src/settings/settings.ts';
import { privateApertium } from '../../scripts/test-tools.ts';
import type { RunOptions } from '../harness/run.ts';
import type { Customer, Load, Probe, Probed } from './client.ts';

export interface FairOptions extends RunOptions {
  /** The number of jobs of the account with the large load. */
  jobs: number;
  /** The number of rounds for each load. */
  rounds: number;
  /** The number of small jobs in each block. Each block has as many chat messages. */
  probes: number;
}

/** Two measurements: a block without load (`alone`), then a block with a load (`beside`). */
export interface Round {
  alone: Probed;
  beside: Probed;
}

export interface FairHistory {
  /** The characters that the engine translated for each load while the jobs of all loads were queued. */
  served: Record<string, number>;
  /** The rounds with more than ten thousand jobs. */
  flood: Round[];
  /** The rounds with documents of 1 MiB, one after another. */
  document: Round[];
}

/** The number of words in a document of about 1 MiB, including the marks. */
const WORDS_OF_A_DOCUMENT = 170_000;
/** The loads. Every sentence of a load contains its mark, a word that identifies the load in the engine. */
const LOADS = [
  { name: 'flood', mark: 'Ann', wordsAJob: 12 },
  { name: 'pages', mark: 'Bob', wordsAJob: 500 },
  // The worker holds one of the documents at a time. On a fast machine, a document may end during a block.
  { name: 'document', mark: 'Eve', wordsAJob: WORDS_OF_A_DOCUMENT },
] as const;
type Name = (typeof LOADS)[number]['name'];

const SMALL_ACCOUNTS = 9;
/**
 * The average number of words of a job in the load `flood`. A job consists of whole sentences with at least twelve words.
 */
const WORDS_A_FLOODING_JOB = 17;
const WORDS_OF_THE_PAGES = 60_000;
/** The measurement of the loads' shares ends when the engine has translated this number of characters of one load. */
const COUNTED_CHARACTERS = 150_000;
/**
 * The duration of a lease. When a document is postponed, the worker that holds it notices this at its next heartbeat,
 * after at most a third of this time.
 */
const LEASE_SECONDS = 6;

export async function runFair(options: FairOptions): Promise<FairHistory> {
  const { directory, seed, say } = options;
  const settings = loadSettings({
    DRAGOMAN_DATA: directory,
    DRAGOMAN_PORT: '0',
    DRAGOMAN_ALLOWED_NETWORKS: '127.0.0.0/8',
    DRAGOMAN_KEY_REQUESTS: '0',
    DRAGOMAN_LEASE: String(LEASE_SECONDS),
    // The cache is off: a resumed document starts from the beginning, and its sentences must reach the engine again.
    DRAGOMAN_CACHE_MEMORY: '0',
  });
  const log = createLog('silent');
  const store = await openStore(settings, 'serve', log);
  const served = Object.fromEntries(LOADS.map(({ name }) => [name, 0]));
  const engines = () => [
    countCharacters(createApertium({ ...privateApertium(), memoryMebibytes: 2048 }), served),
  ];
  const start = (role: Role) => startServer({ store, settings, role, engines, log });
  const owner = createConnection(store.connection);
  await owner.connect();
  const client = await startClient();
  let server = await start('all');
  try {
    const customers = new Map<string, Customer>();
    const names = [...LOADS.map(({ name }) => name), ...numbered('small', SMALL_ACCOUNTS)];
    for (const [index, username] of names.entries()) {
      const fields = {
        username,
        email: undefined,
        balanceCents: 0,
        prepaid: false,
        dialect: 'spec',
        chat: true,
      } as const;
      const { production_key: key } = await createAccount(store.database, store.vault, 'command', fields);
      customers.set(username, { key, host: `127.0.0.${index + 2}` });
    }
    await until(async () => (await fetch(`${server.url}/readyz`)).status === 200);
    await server.stop(0);
    say('creating and postponing the loads');
    server = await start('api');
    const words = {
      flood: options.jobs * WORDS_A_FLOODING_JOB,
      pages: WORDS_OF_THE_PAGES,
      document: (options.rounds + 2) * WORDS_OF_A_DOCUMENT,
    };
    for (const load of LOADS) {
      const own = { ...load, ...customers.get(load.name)!, seed: seed + load.mark.charCodeAt(0) };
      await client.load({ order: 'load', url: server.url!, ...own, words: words[load.name] });
    }
    await server.stop(0);
    const queue = loadsIn(owner);
    for (const { name } of LOADS) await queue.postpone(name);
    server = await start('all');

    const small = numbered('small', SMALL_ACCOUNTS).map((name) => customers.get(name)!);
    let blocks = 0;
    const probe = (count = options.probes) => {
      const round = `block-${++blocks}`;
      const own = { url: server.url!, customers: small, seed: seed + blocks * 1000 };
      return client.probe({ order: 'probe', round, count, ...own });
    };
    const requireQueued = async (name: Name) => {
      if (!(await queue.has(name))) throw new Error(`the ${name} ended during a measurement`);
    };
    const measureRound = async (name: Name): Promise<Round> => {
      const alone = await probe();
      const before = served[name]!;
      await queue.resume(name);
      await requireQueued(name);
      await until(async () => served[name]! > before);
      const beside = await probe();
      await requireQueued(name);
      await queue.postpone(name);
      await until(() => queue.isIdle());
      await untilStill(() => served[name]!);
      return { alone, beside };
    };
    await probe();
    const flood: Round[] = [];
    const document: Round[] = [];
    for (let round = 1; round <= options.rounds; round++) {
      say(`round ${round}: alone and beside the flood, alone and beside the document`);
      flood.push(await measureRound('flood'));
      document.push(await measureRound('document'));
    }
    say('all loads at once');
    for (const { name } of LOADS) await queue.resume(name);
    const atFirst = { ...served };
    const during = () => Object.fromEntries(LOADS.map(({ name }) => [name, served[name]! - atFirst[name]!]));
    await until(async () => Object.values(during()).some((characters) => characters > COUNTED_CHARACTERS));
    for (const { name } of LOADS) await requireQueued(name);
    return { served: during(), flood, document };
  } finally {
    client.stop();
    await server.stop(0);
    await owner.end();
    await store.close();
  }
}

/** Controls the loads through their rows in the queue. */
function loadsIn(owner: pg.Client) {
  const own = 'account_id = (select account_id from accounts where username = $1)';
  return {
    /** Postpones a load. Its leased jobs may finish, except a document, which loses its lease. */
    async postpone(name: Name): Promise<void> {
      const which = name === 'document' ? '' : 'and lease_token is null';
      await owner.query(
        `update jobs set due_at = now() + interval '1 day', lease_token = null
          where (part, job_id) in (select part, job_id from jobs where ${own} and due_at is not null ${which}
                                      for update skip locked)`,
        [name],
      );
    },
    async resume(name: Name): Promise<void> {
      await owner.query(`update jobs set due_at = now(), attempts = 0 where ${own} and due_at is not null`, [
        name,
      ]);
    },
    /** Returns true if the load has more jobs to translate. */
    async has(name: Name): Promise<boolean> {
      const which = name === 'document' ? '' : 'and lease_token is null';
      const { rows } = await owner.query(
        `select exists (select from jobs where ${own} and due_at is not null ${which}) as more`,
        [name],
      );
      return rows[0].more;
    },
    /** Returns true if no job is leased and no delivery is due. */
    async isIdle(): Promise<boolean> {
      const { rows } = await owner.query(
        `select exists (select from jobs where lease_token is not null and due_at is not null)
             or exists (select from deliveries where due_at is not null) as busy`,
      );
      return !rows[0].busy;
    },
  };
}

/** Counts the characters of each load that the engine translates. */
function countCharacters(engine: Engine, served: Record<string, number>): Engine {
  const draft = engine.draft.bind(engine);
  return Object.assign(engine, {
    async draft(request: Parameters<Engine['draft']>[0]) {
      const drafts = await draft(request);
      for (const { pieces } of request.segments) {
        const text = pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
        const load = LOADS.find(({ mark }) => text.includes(` ${mark}`));
        if (load !== undefined) served[load.name]! += text.length;
      }
      return drafts;
    },
  });
}

async function startClient() {
  // Messages to the child process are not sent as JSON, because JSON turns the number Infinity into null.
  const child: ChildProcess = fork(new URL('./client.ts', import.meta.url), { serialization: 'advanced' });
  const answer = () =>
    new Promise<unknown>((resolve, reject) => {
      child.once('message', ({ answer, error }: { answer?: unknown; error?: string }) => {
        if (error === undefined) resolve(answer);
        else reject(new Error(error));
      });
    });
  await answer();
  const order = (what: Load | Probe) => {
    child.send(what);
    return answer();
  };
  return {
    load: (load: Load) => order(load) as Promise<number>,
    probe: (probe: Probe) => order(probe) as Promise<Probed>,
    stop: () => child.disconnect(),
  };
}

const numbered = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}-${n}`);

/**
 * Waits until the worker has released a postponed document. Otherwise the engine would still be translating it in the
 * next block.
 */
async function untilStill(count: () => number): Promise<void> {
  for (let before = -1; before !== count(); ) {
    before = count();
    await wait((LEASE_SECONDS * 1000) / 3);
  }
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await wait(20);
}
