/**
 * The recovery scenario: a client creates jobs without a pause, in a database with the jobs of a year, while the
 * service and PostgreSQL are killed with SIGKILL. The run measures when the next creation is acknowledged, and when
 * the jobs of a killed worker are completed. It also measures how soon a second service on the same data directory is
 * refused.
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
  /** The number of jobs that are stored at the start. */
  jobs: number;
  /** The number of kills of the service, and of PostgreSQL. */
  kills: number;
  /** The number of attempts to start a second service on the data directory of the running service. */
  intruders: number;
  /** The seconds until another process takes over the work of a killed process. */
  leaseSeconds: number;
}

/** The measured times in seconds. Infinity if the event did not happen within {@link PATIENCE_SECONDS}. */
export interface RecoveryHistory {
  jobs: number;
  /** The time from each start until the service was ready. */
  starts: number[];
  /** The time from each kill of the service to the first acknowledged request that was sent after the kill. */
  programKills: number[];
  databaseKills: number[];
  /** The time until each second service was refused. Infinity if it was not refused. */
  refusals: number[];
  /** The time from the kill of a worker to the end of each job that it had leased. */
  takeovers: number[];
}

const PATIENCE_SECONDS = 120;
/** The number of accounts. The first account has a fifth of all jobs. */
const ACCOUNTS = 5;
const ORPHANS = 40;
const SENTENCES = 60;
/**
 * The time between an acknowledgement and the next kill. During this time, PostgreSQL gets writes that it must replay
 * in its recovery.
 */
const BETWEEN_MILLISECONDS = 1_000;
/** The time in which the backends of a killed PostgreSQL may still commit before they end. */
const BACKENDS_MILLISECONDS = 200;

export async function runRecovery(options: RecoveryOptions): Promise<RecoveryHistory> {
  const { directory, jobs, kills, say } = options;
  const service = await startService(directory, {
    DRAGOMAN_LEASE: String(options.leaseSeconds),
    DRAGOMAN_LOG_LEVEL: 'silent', // The log is off, because connections break all the time.
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

/** Starts a client that creates jobs one after another. */
function startWriter(url: string, key: string) {
  /** The times at which the latest acknowledged request was sent and acknowledged. */
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
    /**
     * Waits for the acknowledgement of a request that was sent after `asked`.
     *
     * @returns seconds from `moment` to the first such acknowledgement
     */
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

/**
 * Creates a job.
 *
 * @returns true if the service acknowledged it
 */
async function create(url: string, key: string, uid: string, text: string): Promise<boolean> {
  const { status } = await sendRequest(`${url}/tapi/v2/mt_translation/`, {
    method: 'POST',
    key,
    body: JSON.stringify({ uid, text, source_language: 'en', target_language: 'es' }),
    signal: AbortSignal.timeout(PATIENCE_SECONDS * 1000),
  });
  return status === 201;
}

/**
 * Starts a second service on the data directory.
 *
 * @returns seconds until it was refused; Infinity if it was not refused
 */
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

/** Creates jobs that the worker still has leased when the last of them is acknowledged. */
async function createOrphans(url: string, key: string): Promise<void> {
  const text = Array.from({ length: SENTENCES }, (_, n) => `There are ${n} houses in the village.`).join(' ');
  await Promise.all(Array.from({ length: ORPHANS }, (_, n) => create(url, key, `orphan-${n}`, text)));
}

/**
 * Waits until other workers have completed the jobs of the killed worker.
 *
 * @returns seconds from the kill to the end of each job
 */
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
