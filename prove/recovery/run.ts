/**
 * The recovery scenario: a client creates jobs without a pause, in a database with a year's jobs, while the program and
 * PostgreSQL are killed with SIGKILL. It measures when the next creation is acknowledged, how soon a second program is
 * refused, and when the jobs of a killed worker are done.
 */
import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { fillJobs } from '../../scripts/fill.ts';
import { createAccount, DRAGOMAN, killDatabase } from '../../scripts/program.ts';
import { withClient, withDatabase, withStore } from '../harness/database.ts';
import { sendRequest } from '../harness/requests.ts';
import type { RunOptions } from '../harness/run.ts';
import { startService } from '../harness/service.ts';

export interface RecoveryOptions extends Omit<RunOptions, 'seed'> {
  /** Jobs that are stored at the start. */
  jobs: number;
  /** Kills of the program, and as many of PostgreSQL. */
  kills: number;
  /** Second programs on the same data directory. */
  intruders: number;
  /** After how long another process takes over the work of a killed one. */
  leaseSeconds: number;
}

/** Seconds; Infinity for what did not happen within {@link PATIENCE_SECONDS}. */
export interface RecoveryHistory {
  jobs: number;
  /** From each start until the service was ready. */
  starts: number[];
  /** From each kill to the first acknowledgement of a request that was sent after it. */
  programKills: number[];
  databaseKills: number[];
  /** Until each second program was refused; Infinity if it was not. */
  refusals: number[];
  /** From the kill of a worker to the end of each job that it had leased. */
  takeovers: number[];
}

const PATIENCE_SECONDS = 120;
/** The first has a fifth of all jobs. */
const ACCOUNTS = 5;
const ORPHANS = 40;
const SENTENCES = 60;
/** Between an acknowledgement and the next kill: writes that PostgreSQL replays in its recovery. */
const BETWEEN_MILLISECONDS = 1_000;
/** The backends of a killed PostgreSQL live for a moment and commit what they have begun. */
const BACKENDS_MILLISECONDS = 200;

export async function runRecovery(options: RecoveryOptions): Promise<RecoveryHistory> {
  const { directory, jobs, kills, say } = options;
  const service = await startService(directory, {
    DRAGOMAN_LEASE: String(options.leaseSeconds),
    DRAGOMAN_LOG_LEVEL: 'silent', // connections break all the time
  });
  const keys: string[] = [];
  for (let n = 0; n < ACCOUNTS; n++)
    keys.push((await createAccount(directory, `recovery-${n}`)).production_key);
  await withStore(directory, ({ connection }) =>
    withClient(connection, (client) => fillJobs(client, jobs, ACCOUNTS)),
  );
  await service.stop();

  const starts: number[] = [];
  const programKills: number[] = [];
  const databaseKills: number[] = [];
  const start = async () => {
    const begun = performance.now();
    await service.start();
    starts.push(secondsSince(begun));
  };
  await start();
  const writer = startWriter(service.url, keys[1]!);
  try {
    await writer.nextAfter(performance.now());
    for (let kill = 1; kill <= kills; kill++) {
      await wait(BETWEEN_MILLISECONDS);
      await service.kill();
      let killed = performance.now();
      await start();
      programKills.push(await writer.nextAfter(killed));
      await wait(BETWEEN_MILLISECONDS);
      killed = performance.now();
      killDatabase(directory);
      await wait(BACKENDS_MILLISECONDS);
      databaseKills.push(await writer.nextAfter(killed, killed + BACKENDS_MILLISECONDS));
      const [program, database] = [programKills, databaseKills].map((of) => of.at(-1)!.toFixed(1));
      say(`kill ${kill} of ${kills}: program ${program} s, PostgreSQL ${database} s`);
    }
  } finally {
    await writer.stop();
  }
  say(`${options.intruders} second programs on the directory`);
  const refusals: number[] = [];
  for (let n = 0; n < options.intruders; n++) refusals.push(await startIntruder(directory));
  await createOrphans(service.url, keys[2]!);
  await service.kill();
  const killed = performance.now();
  await start();
  const takeovers = await untilTakenOver(directory, killed, say);
  await service.stop();
  return { jobs, starts, programKills, databaseKills, refusals, takeovers };
}

/** A client that creates jobs one after another. */
function startWriter(url: string, key: string) {
  /** When the latest acknowledged request was sent, and when it was acknowledged. */
  let last = { asked: Number.NEGATIVE_INFINITY, acknowledged: 0 };
  let stopping = false;
  const writing = (async () => {
    for (let count = 0; !stopping; count++) {
      const asked = performance.now();
      if (await create(url, key, `written-${count}`, 'The house is big.'))
        last = { asked, acknowledged: performance.now() };
      else await wait(10);
    }
  })();
  return {
    /** @returns seconds from `moment` to the first acknowledgement of a request that was sent after `asked` */
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

/** @returns whether the job was created */
async function create(url: string, key: string, uid: string, text: string): Promise<boolean> {
  const { status } = await sendRequest(`${url}/tapi/v2/mt_translation/`, {
    method: 'POST',
    key,
    body: JSON.stringify({ uid, text, source_language: 'en', target_language: 'es' }),
    signal: AbortSignal.timeout(PATIENCE_SECONDS * 1000),
  });
  return status === 201;
}

/** Starts a second program on the data directory. @returns seconds until it was refused, Infinity if it was not */
async function startIntruder(directory: string): Promise<number> {
  const begun = performance.now();
  const args = [DRAGOMAN, 'serve', '--data', directory, '--port', '0'];
  const started = promisify(execFile)(process.execPath, args, { timeout: PATIENCE_SECONDS * 1000 });
  const isRefused = await started.then(
    () => false,
    ({ code, stderr }: { code: number; stderr: string }) =>
      code === 1 && stderr.includes('already running on the data directory'),
  );
  return isRefused ? secondsSince(begun) : Number.POSITIVE_INFINITY;
}

/** Creates jobs that the worker still has leased when the last one is acknowledged. */
async function createOrphans(url: string, key: string): Promise<void> {
  const text = Array.from({ length: SENTENCES }, (_, n) => `There are ${n} houses in the village.`).join(' ');
  await Promise.all(Array.from({ length: ORPHANS }, (_, n) => create(url, key, `orphan-${n}`, text)));
}

/** @returns seconds from the kill to the end of each orphan */
async function untilTakenOver(directory: string, killed: number, say: RunOptions['say']): Promise<number[]> {
  return withDatabase(directory, async (query) => {
    const left = async () => {
      const [row] = await query<{ left: number }>(
        `select count(*)::int as left from jobs where uid like 'orphan-%' and due_at is not null`,
      );
      return row!.left;
    };
    let before = await left();
    say(`the killed worker had ${before} jobs`);
    const ends: number[] = [];
    while (before > 0 && secondsSince(killed) < PATIENCE_SECONDS) {
      await wait(100);
      const now = await left();
      for (; before > now; before--) ends.push(secondsSince(killed));
    }
    return [...ends, ...Array<number>(before).fill(Number.POSITIVE_INFINITY)];
  });
}

function secondsSince(moment: number): number {
  return (performance.now() - moment) / 1000;
}
