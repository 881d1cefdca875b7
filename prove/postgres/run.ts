/**
 * The scenario of the postgres proof: the service on PostgreSQL as others run it. On each server that is supported, jobs
 * complete and an editor reads the queue; the others are refused, and keep no lock.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createLog } from '../../packages/server/src/base/log.ts';
import { openDatabase } from '../../packages/server/src/database/database.ts';
import { loadSettings } from '../../packages/server/src/settings/settings.ts';
import { findPgbouncer, type PoolMode, startPooler } from '../../packages/server/src/testing/pooler.ts';
import {
  type DebianServer,
  findDebianPostgresql,
  startDebianServer,
} from '../../scripts/debian-postgresql.ts';
import { believeEngine, createAccount, DRAGOMAN, startProgram } from '../../scripts/program.ts';
import { withClient } from '../harness/database.ts';
import { createEditor, sendAsEditor } from '../harness/editors.ts';
import { sendRequest } from '../harness/requests.ts';
import type { RunOptions } from '../harness/run.ts';

interface Place {
  name: string;
  /** The encoding of the database; UTF8 by default. */
  encoding?: string;
  /** The pooler between the service and the server. */
  pooler?: PoolMode;
  isSupported: boolean;
}

const PLACES: readonly Place[] = [
  { name: 'Debian', isSupported: true },
  { name: 'PgBouncer in session mode', pooler: 'session', isSupported: true },
  { name: 'SQL_ASCII', encoding: 'SQL_ASCII', isSupported: true },
  { name: 'PgBouncer in transaction mode', pooler: 'transaction', isSupported: false },
  { name: 'LATIN1', encoding: 'LATIN1', isSupported: false },
];

export interface Visit {
  name: string;
  isSupported: boolean;
  /** What `dragoman migrate` printed when it refused the database; empty if it did not. */
  refusal: string;
  /** The number of advisory locks on the server after the program has ended. */
  locks: number;
  /** The translations of the machine jobs. Undefined if the database was refused. */
  translations?: string[];
  /** Milliseconds in which the editors' queue was read, for each reading. */
  queue?: number[];
}

export interface PostgresHistory {
  visits: Visit[];
}

export interface PostgresOptions extends RunOptions {
  /** The number of human jobs in the editors' queue. */
  tasks: number;
}

const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');
const READINGS = 5;
/** Letters and signs that an encoding of one byte does not have. */
export const TEXTS = ['The house is big.', 'Łódź: the house costs 5 € 👍.'];

/** @throws Error when Debian's PostgreSQL or PgBouncer is missing and cannot be installed */
export async function runPostgres({ directory, tasks, say }: PostgresOptions): Promise<PostgresHistory> {
  const bin = await findDebianPostgresql();
  if (bin === undefined || findPgbouncer() === undefined)
    throw new Error('the proof needs the Debian packages postgresql and pgbouncer');
  const server = await startDebianServer(bin);
  try {
    const visits: Visit[] = [];
    for (const [index, place] of PLACES.entries()) {
      say(place.name);
      visits.push(await visit(server, place, join(directory, String(index)), `dragoman_${index}`, tasks));
    }
    return { visits };
  } finally {
    await server.stop();
  }
}

async function visit(
  server: DebianServer,
  { name, encoding = 'UTF8', pooler: mode, isSupported }: Place,
  directory: string,
  database: string,
  tasks: number,
): Promise<Visit> {
  const admin = { host: server.host, user: 'owner', database: 'postgres' };
  await withClient(admin, (client) =>
    client.query(`create database ${database} encoding '${encoding}' locale 'C' template template0`),
  );
  const pooler = mode && (await startPooler(admin, mode));
  try {
    const url = pooler?.urlOf(database) ?? server.url(database);
    const refusal = await migrate(directory, url);
    const used = refusal === '' ? await use(directory, url, tasks) : {};
    const locks = await withClient(admin, async (_, query) => {
      const rows = await query<{ count: number }>(
        `select count(*)::int as count from pg_locks where locktype = 'advisory'`,
      );
      return rows[0]!.count;
    });
    return { name, isSupported, refusal, locks, ...used };
  } finally {
    await pooler?.stop();
  }
}

/** Runs `dragoman migrate`. @returns what it printed when it failed; empty if it succeeded */
function migrate(directory: string, url: string): Promise<string> {
  const env = { ...process.env, DATABASE_URL: url };
  return promisify(execFile)(process.execPath, [DRAGOMAN, 'migrate', '--data', directory], { env }).then(
    () => '',
    ({ stderr }: { stderr: string }) => stderr,
  );
}

async function use(
  directory: string,
  databaseUrl: string,
  tasks: number,
): Promise<Pick<Visit, 'translations' | 'queue'>> {
  const environment = { DATABASE_URL: databaseUrl, DRAGOMAN_SECRET_KEY: SECRET_KEY };
  const settings = loadSettings({ ...environment, DRAGOMAN_DATA: directory });
  await believeEngine(directory, databaseUrl);
  const { production_key: key } = await createAccount(directory, 'postgres', 1_000_000, {
    databaseUrl,
    secretKey: SECRET_KEY,
  });
  const program = await startProgram({ directory, environment });
  const database = openDatabase({ connectionString: databaseUrl }, createLog('silent'));
  try {
    const fields = { email: 'editor@example.com', reviewShare: 0, review: false };
    const { cookie } = await createEditor(database, settings, fields);
    const api = `${program.url}/tapi/v2`;
    const post = (path: string, text: string) =>
      sendRequest(`${api}${path}`, {
        method: 'POST',
        key,
        body: JSON.stringify({ text, source_language: 'en', target_language: 'es' }),
      });
    const translations: string[] = [];
    for (const text of TEXTS) translations.push(await translate(api, key, post, text));
    for (let task = 0; task < tasks; task++) await post('/translation/', `The house ${task} is green.`);
    return { translations, queue: await readQueue(program.url, cookie, tasks) };
  } finally {
    await database.close();
    await program.stop();
  }
}

type Post = (path: string, text: string) => Promise<{ status: number; text: string }>;

/** Creates a machine job. @returns its translation, or the answer if it was refused */
async function translate(api: string, key: string, post: Post, text: string): Promise<string> {
  const created = await post('/mt_translation/', text);
  if (created.status !== 201) return created.text;
  const { uid } = JSON.parse(created.text);
  for (;;) {
    const { text: answer } = await sendRequest(`${api}/mt_translation/${uid}/`, { key });
    const job = JSON.parse(answer);
    if (job.status === 'completed') return job.translated_text;
    if (job.status === 'failed') return answer;
    await wait(50);
  }
}

/** Waits until all tasks are in the editors' queue, and measures how long it takes to read it. */
async function readQueue(url: string, cookie: string, tasks: number): Promise<number[]> {
  const read = async () => (await sendAsEditor({ url, cookie }, 'GET', '/queue'))!.body;
  while (Number((await read()).total) < tasks) await wait(100);
  const readings: number[] = [];
  for (let reading = 0; reading < READINGS; reading++) {
    const started = performance.now();
    await read();
    readings.push(performance.now() - started);
  }
  return readings;
}
