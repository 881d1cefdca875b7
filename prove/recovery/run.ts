/**
 * A recovery run: somebody creates jobs without a pause, in a database of a year's jobs, while the program and its
 * PostgreSQL are killed with -9, and it is measured when the next creation is acknowledged. Then a program is killed
 * with jobs in hand, and it is measured when they are done by the next.
 */
import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type pg from 'pg';
import { createConnection } from '../../packages/server/src/database/connections.ts';
import { createLog } from '../../packages/server/src/log.ts';
import { openStore } from '../../packages/server/src/program.ts';
import { loadSettings } from '../../packages/server/src/settings.ts';
import { fillJobs } from '../../scripts/fill.ts';
import {
  believeEngine,
  createAccount,
  DRAGOMAN,
  killDatabase,
  type Program,
  startProgram,
} from '../../scripts/program.ts';

export interface RecoveryOptions {
  directory: string;
  /** Jobs that are stored before anything happens. */
  jobs: number;
  /** Kills of each kind. */
  kills: number;
  /** Second programs on the same data directory. */
  intruders: number;
  /** After how long the work of a killed program is taken over. */
  leaseSeconds: number;
  say(line: string): void;
}

/** Seconds; Infinity for what did not happen in {@link PATIENCE_SECONDS}. */
export interface RecoveryHistory {
  jobs: number;
  /** From each start to its being ready. */
  starts: number[];
  /** From each kill of the program, or of PostgreSQL, to the first acknowledgement of a creation asked for after it. */
  programKills: number[];
  databaseKills: number[];
  /** Until each second program on the data directory was refused; Infinity where it was not. */
  refusals: number[];
  /** From the kill of a program to the end of each job that it had in hand. */
  takeovers: number[];
}

export const PATIENCE_SECONDS = 120;
/** The first has a fifth of all jobs. */
const ACCOUNTS = 5;
const ORPHANS = 40;
const SENTENCES = 60;
/** Between an acknowledgement and the next kill: writes that the recovery has to replay. */
const BETWEEN_MILLISECONDS = 1_000;
/** What serves a connection outlives the server's first process for a moment, and commits what it has begun. */
const AGONY_MILLISECONDS = 200;

export async function runRecovery(options: RecoveryOptions): Promise<RecoveryHistory> {
  const { directory, jobs, kills, say } = options;
  const environment = {
    DRAGOMAN_LEASE: String(options.leaseSeconds),
    DRAGOMAN_LOG_LEVEL: 'silent', // connections break here all the time
  };
  await believeEngine(directory);
  let program = await startProgram({ directory, environment });
  const { port } = program;
  const keys: string[] = [];
  for (let n = 0; n < ACCOUNTS; n++)
    keys.push((await createAccount(directory, `recovery-${n}`)).production_key);
  await withClient(directory, (client) => fillJobs(client, jobs, ACCOUNTS));
  await program.stop();

  const history: RecoveryHistory = {
    jobs,
    starts: [],
    programKills: [],
    databaseKills: [],
    refusals: [],
    takeovers: [],
  };
  const start = async () => {
    const begun = performance.now();
    program = await startProgram({ directory, port, environment });
    history.starts.push(secondsSince(begun));
  };
  await start();
  const writer = startWriter(program.url, keys[1]!);
  try {
    await writer.nextAfter(performance.now());
    for (let kill = 1; kill <= kills; kill++) {
      await wait(BETWEEN_MILLISECONDS);
      await program.kill();
      let killed = performance.now();
      await start();
      history.programKills.push(await writer.nextAfter(killed));
      await wait(BETWEEN_MILLISECONDS);
      killed = performance.now();
      killDatabase(directory);
      await wait(AGONY_MILLISECONDS);
      history.databaseKills.push(await writer.nextAfter(killed, killed + AGONY_MILLISECONDS));
      say(
        `kill ${kill} of ${kills}: program ${history.programKills.at(-1)!.toFixed(1)} s, ` +
          `PostgreSQL ${history.databaseKills.at(-1)!.toFixed(1)} s`,
      );
    }
  } finally {
    await writer.stop();
  }
  say(`${options.intruders} second programs on the directory`);
  for (let n = 0; n < options.intruders; n++) history.refusals.push(await intrude(directory));
  history.takeovers = await orphan(directory, program, keys[2]!, start, say);
  await program.stop();
  return history;
}

/** Creates jobs one after another, and never gives up. */
function startWriter(url: string, key: string) {
  /** When what was acknowledged last was asked for, and when it was acknowledged. */
  let last = { asked: Number.NEGATIVE_INFINITY, acknowledged: 0 };
  let stopping = false;
  const writing = (async () => {
    for (let count = 0; !stopping; count++) {
      const asked = performance.now();
      const made = await create(url, key, `written-${count}`, 'The house is big.').catch(() => false);
      if (made) last = { asked, acknowledged: performance.now() };
      else await wait(10);
    }
  })();
  return {
    /** @returns seconds from `moment` to the first acknowledgement of what was asked for later, or after `asked` */
    async nextAfter(moment: number, asked = moment): Promise<number> {
      while (last.asked < asked) {
        if (secondsSince(moment) > PATIENCE_SECONDS) return Number.POSITIVE_INFINITY;
        await wait(2);
      }
      return (last.acknowledged - moment) / 1000;
    },
    async stop() {
      stopping = true;
      await writing;
    },
  };
}

async function create(url: string, key: string, uid: string, text: string): Promise<boolean> {
  const response = await fetch(`${url}/tapi/v2/mt_translation/`, {
    method: 'POST',
    headers: { authorization: `ApiKey ${key}` },
    body: JSON.stringify({ uid, text, source_language: 'en', target_language: 'es' }),
    signal: AbortSignal.timeout(PATIENCE_SECONDS * 1000),
  });
  await response.arrayBuffer();
  return response.status === 201;
}

/** Starts a second program on the data directory. @returns seconds until it was refused, Infinity where it was not */
async function intrude(directory: string): Promise<number> {
  const begun = performance.now();
  const args = [DRAGOMAN, 'serve', '--data', directory, '--port', '0'];
  const started = promisify(execFile)(process.execPath, args, { timeout: PATIENCE_SECONDS * 1000 });
  const refused = await started.then(
    () => false,
    ({ code, stderr }: { code: number; stderr: string }) =>
      code === 1 && stderr.includes('already running on the data directory'),
  );
  return refused ? secondsSince(begun) : Number.POSITIVE_INFINITY;
}

/** Kills the program with jobs in hand. @returns seconds from the kill to the end of each */
async function orphan(
  directory: string,
  program: Program,
  key: string,
  start: () => Promise<void>,
  say: (line: string) => void,
): Promise<number[]> {
  const text = Array.from({ length: SENTENCES }, (_, n) => `There are ${n} houses in the village.`).join(' ');
  const made = Array.from({ length: ORPHANS }, (_, n) => create(program.url, key, `orphan-${n}`, text));
  await Promise.all(made);
  await program.kill();
  const killed = performance.now();
  await start();
  return withClient(directory, async (client) => {
    const leased = `select count(*)::int as left from jobs where uid like 'orphan-%' and due_at is not null`;
    const left = async () => (await client.query<{ left: number }>(leased)).rows[0]!.left;
    let before = await left();
    say(`${before} jobs were in hand`);
    const ends: number[] = [];
    while (before > 0 && secondsSince(killed) < PATIENCE_SECONDS) {
      await wait(100);
      const now = await left();
      for (; before > now; before--) ends.push(secondsSince(killed));
    }
    return [...ends, ...Array.from({ length: before }, () => Number.POSITIVE_INFINITY)];
  });
}

async function withClient<T>(directory: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const store = await openStore(loadSettings({ DRAGOMAN_DATA: directory }), 'command', createLog('silent'));
  const client = createConnection(store.connection);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
    await store.close();
  }
}

function secondsSince(moment: number): number {
  return (performance.now() - moment) / 1000;
}
