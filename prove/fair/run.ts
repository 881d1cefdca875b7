/**
 * A fairness run: accounts with very different loads on one server, everything real: HTTP, PostgreSQL, Apertium,
 * callbacks. The customers are a process of their own; the engine is watched on its way, because a large document shows
 * nothing until it is done.
 *
 * What loads it is there before anything is measured, put off by its due time, and brought back for a while: so small
 * jobs alone and beside a load take turns in one run, and a machine that gets slower is slower for both.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { createApertium, type Engine } from '../../packages/engines/src/engines.ts';
import { createAccount } from '../../packages/server/src/accounts/accounts.ts';
import { createConnection } from '../../packages/server/src/database/connections.ts';
import { createLog } from '../../packages/server/src/log.ts';
import { openStore } from '../../packages/server/src/program.ts';
import { type Role, startServer } from '../../packages/server/src/serve.ts';
import { loadSettings } from '../../packages/server/src/settings.ts';
import type { Customer, Load, Probe, Probed } from './client.ts';

export interface FairOptions {
  directory: string;
  seed: number;
  /** Jobs of the account that floods. */
  jobs: number;
  /** Blocks alone and beside, of each load. */
  rounds: number;
  /** Small jobs in each block, and as many chat messages. */
  probes: number;
  say(line: string): void;
}

/** A block alone, and the one beside a load after it. */
export interface Round {
  alone: Probed;
  beside: Probed;
}

export interface FairHistory {
  /** Characters that the engine was asked for, by load, while all of them waited for more. */
  served: Record<string, number>;
  /** Beside ten thousand jobs. */
  flood: Round[];
  /** Beside one document of 1 MiB. */
  document: Round[];
}

/** Names that mark whose text it is, in every sentence. */
const LOADS = [
  { name: 'flood', mark: 'Ann', wordsAJob: 12 },
  { name: 'pages', mark: 'Bob', wordsAJob: 500 },
  { name: 'document', mark: 'Eve', wordsAJob: Number.POSITIVE_INFINITY },
] as const;
type Name = (typeof LOADS)[number]['name'];

const SMALL_ACCOUNTS = 9;
/** Of whole sentences until a job has twelve. */
const WORDS_A_FLOODING_JOB = 17;
/** With their marks some 1 MiB. */
const WORDS_OF_THE_DOCUMENT = 170_000;
const WORDS_OF_THE_PAGES = 60_000;
/** Of one load, while the shares are counted. */
const COUNTED_CHARACTERS = 150_000;
/** A document that was taken back is let go at the next heartbeat, a third of this. */
const LEASE_SECONDS = 6;

export async function runFair(options: FairOptions): Promise<FairHistory> {
  const { directory, seed, say } = options;
  const settings = loadSettings({
    DRAGOMAN_DATA: directory,
    DRAGOMAN_PORT: '0',
    DRAGOMAN_ALLOWED_NETWORKS: '127.0.0.0/8',
    DRAGOMAN_LEASE: String(LEASE_SECONDS),
    // A document that is brought back begins anew: its sentences shall be asked again.
    DRAGOMAN_CACHE_MEMORY: '0',
  });
  const log = createLog('silent');
  const store = await openStore(settings, 'serve', log);
  const served = Object.fromEntries(LOADS.map(({ name }) => [name, 0]));
  const engines = () => [watched(createApertium({ memoryMebibytes: 2048 }), served)];
  const start = (role: Role) => startServer({ store, settings, role, engines, log });
  const owner = createConnection(store.connection);
  await owner.connect();
  const client = await startClient();
  let server = await start('all');
  try {
    const customers = new Map<string, Customer>();
    const names = [...LOADS.map(({ name }) => name), ...numbered('small', SMALL_ACCOUNTS)];
    for (const [index, username] of names.entries()) {
      const fields = { username, email: undefined, balanceCents: 0, dialect: 'spec', chat: true } as const;
      const { production_key: key } = await createAccount(store.database, store.vault, fields);
      customers.set(username, { key, host: `127.0.0.${index + 2}` });
    }
    await until(async () => (await fetch(`${server.url}/readyz`)).status === 200);
    await server.stop(0);
    say('the loads are sent, and put off');
    server = await start('api');
    const words = {
      flood: options.jobs * WORDS_A_FLOODING_JOB,
      pages: WORDS_OF_THE_PAGES,
      document: WORDS_OF_THE_DOCUMENT,
    };
    for (const load of LOADS) {
      const own = { ...load, ...customers.get(load.name)!, seed: seed + load.mark.charCodeAt(0) };
      const sent = await client.load({ order: 'load', url: server.url!, ...own, words: words[load.name] });
      if (load.name === 'document' && sent !== 1) throw new Error(`the document was sent as ${sent} jobs`);
    }
    await server.stop(0);
    const queue = loadsIn(owner);
    for (const { name } of LOADS) await queue.putOff(name);
    server = await start('all');

    const small = numbered('small', SMALL_ACCOUNTS).map((name) => customers.get(name)!);
    let blocks = 0;
    const probe = (count = options.probes) => {
      const round = `block-${++blocks}`;
      const own = { url: server.url!, customers: small, seed: seed + blocks * 1000 };
      return client.probe({ order: 'probe', round, count, ...own });
    };
    const besides = async (name: Name): Promise<Round> => {
      const alone = await probe();
      const before = served[name]!;
      await queue.bringBack(name);
      await until(async () => served[name]! > before);
      const beside = await probe();
      await queue.putOff(name);
      await until(() => queue.isIdle());
      await untilStill(() => served[name]!);
      return { alone, beside };
    };
    await probe();
    const flood: Round[] = [];
    const document: Round[] = [];
    for (let round = 1; round <= options.rounds; round++) {
      say(`round ${round}: alone and beside the flood, alone and beside the document`);
      flood.push(await besides('flood'));
      document.push(await besides('document'));
    }
    say('all loads at once');
    for (const { name } of LOADS) await queue.bringBack(name);
    const atFirst = { ...served };
    const during = () => Object.fromEntries(LOADS.map(({ name }) => [name, served[name]! - atFirst[name]!]));
    await until(async () => Object.values(during()).some((characters) => characters > COUNTED_CHARACTERS));
    for (const { name } of LOADS) {
      if (!(await queue.has(name))) throw new Error(`the ${name} came to its end while shares were counted`);
    }
    return { served: during(), flood, document };
  } finally {
    client.stop();
    await server.stop(0);
    await owner.end();
    await store.close();
  }
}

/** The loads as rows of the queue. */
function loadsIn(owner: pg.Client) {
  const own = 'account_id = (select account_id from accounts where username = $1)';
  return {
    /** What is in hand of many jobs is done; the one document is taken away. */
    async putOff(name: Name): Promise<void> {
      const which = name === 'document' ? '' : 'and lease_token is null';
      await owner.query(
        `update jobs set due_at = now() + interval '1 day', lease_token = null
          where (part, job_id) in (select part, job_id from jobs where ${own} and due_at is not null ${which}
                                      for update skip locked)`,
        [name],
      );
    },
    async bringBack(name: Name): Promise<void> {
      await owner.query(`update jobs set due_at = now(), attempts = 0 where ${own} and due_at is not null`, [
        name,
      ]);
    },
    /** There is more of it to do. */
    async has(name: Name): Promise<boolean> {
      const which = name === 'document' ? '' : 'and lease_token is null';
      const { rows } = await owner.query(
        `select exists (select from jobs where ${own} and due_at is not null ${which}) as more`,
        [name],
      );
      return rows[0].more;
    },
    /** Nothing is in hand or under way. */
    async isIdle(): Promise<boolean> {
      const { rows } = await owner.query(
        `select exists (select from jobs where lease_token is not null and due_at is not null)
             or exists (select from deliveries where due_at is not null) as busy`,
      );
      return !rows[0].busy;
    },
  };
}

/** Counts by mark what the engine is asked for. */
function watched(engine: Engine, served: Record<string, number>): Engine {
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
  // As JSON, a number without an end would arrive as null.
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

/** A document whose lease was taken is worked on until the next heartbeat: that would be a load beside nobody. */
async function untilStill(count: () => number): Promise<void> {
  for (let before = -1; before !== count(); ) {
    before = count();
    await wait((LEASE_SECONDS * 1000) / 3);
  }
}

async function until(question: () => Promise<boolean>): Promise<void> {
  while (!(await question())) await wait(20);
}
