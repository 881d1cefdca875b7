/** A migration run: `dragoman migrate` is killed with -9 between and inside migrations, and then run again. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createConnection } from '../../packages/server/src/database/connections.ts';
import type { Connection } from '../../packages/server/src/database/database.ts';
import { startEmbedded } from '../../packages/server/src/database/embedded.ts';
import { describeSchema } from '../../packages/server/src/database/schema.ts';
import { createRandom } from '../random.ts';

const MAIN = new URL('../../packages/server/src/main.ts', import.meta.url).pathname;

export interface MigrateOptions {
  directory: string;
  kills: number;
  seed: number;
  say(line: string): void;
}

export interface MigrateHistory {
  /** Migrations that there are. */
  all: number;
  kills: {
    /** Migrations that were there after the kill. */
    applied: number;
    /** What the next start ended with, and whether the schema was then that of a start that nobody killed. */
    status: number;
    same: boolean;
  }[];
}

/** Up to this long after a migration was seen: some kills meet the next one at work, some the commit. */
const MOST_MILLISECONDS = 12;

export async function runMigrate({ directory, kills, seed, say }: MigrateOptions): Promise<MigrateHistory> {
  const random = createRandom(seed);
  const embedded = await startEmbedded({ dataDir: directory, role: 'command' });
  try {
    const whole = await createDatabase(embedded.connection, 'whole');
    await migrate(whole);
    const wanted = await describeSchema(whole);
    const all = await appliedIn(whole);
    const history: MigrateHistory = { all, kills: [] };
    for (let kill = 1; kill <= kills; kill++) {
      const database = await createDatabase(embedded.connection, `killed_${kill}`);
      await startAndKill(database, random.below(all), random.below(MOST_MILLISECONDS));
      const applied = await appliedIn(database);
      const status = await migrate(database);
      history.kills.push({ applied, status, same: (await describeSchema(database)) === wanted });
      await administer(embedded.connection, `drop database killed_${kill} with (force)`);
      say(`kill ${kill} of ${kills}, after ${applied} of ${all} migrations`);
    }
    return history;
  } finally {
    await embedded.stop();
  }
}

/** Kills a start once it has applied `target` migrations, and a moment more. */
async function startAndKill(database: Connection, target: number, after: number): Promise<void> {
  const child = spawn(process.execPath, [MAIN, 'migrate'], { env: environment(database), stdio: 'ignore' });
  const ended = once(child, 'exit');
  while (child.exitCode === null && (await appliedIn(database)) < target) await wait(1);
  await wait(after);
  child.kill('SIGKILL');
  await ended;
}

/** @returns the status that it ended with */
async function migrate(database: Connection): Promise<number> {
  return promisify(execFile)(process.execPath, [MAIN, 'migrate'], { env: environment(database) }).then(
    () => 0,
    (error: { code: number }) => error.code,
  );
}

async function appliedIn(database: Connection): Promise<number> {
  const client = createConnection(database);
  await client.connect();
  try {
    const { rows } = await client.query<{ there: boolean }>(
      `select to_regclass('migrations') is not null as there`,
    );
    if (!rows[0]!.there) return 0;
    return (await client.query<{ count: number }>('select count(*) from migrations')).rows[0]!.count;
  } finally {
    await client.end();
  }
}

async function createDatabase(connection: Connection, name: string): Promise<Connection> {
  await administer(connection, `create database ${name}`);
  return { ...connection, database: name };
}

async function administer(connection: Connection, sql: string): Promise<void> {
  const client = createConnection(connection);
  await client.connect();
  await client.query(sql);
  await client.end();
}

function environment({ host = '', port, user, database }: Connection): NodeJS.ProcessEnv {
  const url = `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
  return { ...process.env, DATABASE_URL: url };
}
