/**
 * The scenario of the migrate proof: `dragoman migrate` is killed with SIGKILL between and inside migrations, and
 * then runs again. Then it upgrades data of older versions (`upgrade.ts`).
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Connection } from '../../packages/server/src/database/database.ts';
import { startEmbedded } from '../../packages/server/src/database/embedded.ts';
import { DRAGOMAN } from '../../scripts/program.ts';
import { type Query, withClient } from '../harness/database.ts';
import { createRandom } from '../harness/random.ts';
import type { RunOptions } from '../harness/run.ts';
import { runUpgrades, type Upgrade } from './upgrade.ts';

export interface MigrateOptions extends RunOptions {
  kills: number;
}

export interface MigrateHistory {
  /** The total number of migrations that a new database needs. */
  all: number;
  kills: {
    /** The number of migrations that were applied when the process was killed. */
    applied: number;
    /** The exit status of the next start. `same` is true if the schema then equals that of an undisturbed start. */
    status: number;
    same: boolean;
  }[];
  /** One for each backup of an older version. */
  upgrades: Upgrade[];
}

/**
 * The maximum delay of a kill. With random delays up to this value, some kills hit a migration and others its
 * commit.
 */
const MOST_MILLISECONDS = 800;

/** A query that describes everything that a migration can create, as text. */
const SCHEMA = `
  select 'relation', relname, relkind::text, reloptions::text, relacl::text from pg_class
   where relnamespace = 'public'::regnamespace
  union all
  select 'column', attrelid::regclass::text, attname, format_type(atttypid, atttypmod) || attnotnull,
         pg_get_expr(adbin, adrelid)
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
   where attnum > 0 and attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
  union all
  select 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid), null from pg_constraint
   where connamespace = 'public'::regnamespace
  union all
  select 'index', indexrelid::regclass::text, pg_get_indexdef(indexrelid), null, null from pg_index
   where indrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
  union all
  select 'function', oid::regprocedure::text, prosrc, proacl::text, null from pg_proc
   where pronamespace = 'public'::regnamespace
   order by 1, 2, 3, 4`;

export async function runMigrate({ directory, kills, seed, say }: MigrateOptions): Promise<MigrateHistory> {
  const random = createRandom(seed);
  mkdirSync(join(directory, 'killed'));
  const embedded = await startEmbedded({ dataDir: join(directory, 'killed'), role: 'command' });
  try {
    const whole = await createDatabase(embedded.connection, 'whole');
    await migrate(whole);
    const wanted = await readSchema(whole);
    const all = await appliedIn(whole);
    const history: MigrateHistory = { all, kills: [], upgrades: [] };
    for (let kill = 1; kill <= kills; kill++) {
      const database = await createDatabase(embedded.connection, `killed_${kill}`);
      await startAndKill(database, random.below(all), random.below(MOST_MILLISECONDS));
      const applied = await appliedIn(database);
      const status = await migrate(database);
      history.kills.push({ applied, status, same: (await readSchema(database)) === wanted });
      await ask(embedded.connection, `drop database killed_${kill} with (force)`);
      say(`kill ${kill} of ${kills}, after ${applied} of ${all} migrations`);
    }
    say('upgrades of older data');
    return { ...history, upgrades: await runUpgrades(directory) };
  } finally {
    await embedded.stop();
  }
}

/**
 * Starts a migration and kills it some milliseconds after `target` migrations were applied. If `target` is 0, the
 * time counts from the start.
 */
async function startAndKill(database: Connection, target: number, after: number): Promise<void> {
  const child = spawn(process.execPath, [DRAGOMAN, 'migrate'], {
    env: environment(database),
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  // All queries use one connection, so that the process is killed soon after the migration.
  await withClient(database, async (_, query) => {
    while (child.exitCode === null && (await countApplied(query)) < target) await wait(1);
  });
  await wait(after);
  child.kill('SIGKILL');
  await ended;
}

/**
 * Runs `dragoman migrate`.
 *
 * @returns the exit status
 */
async function migrate(database: Connection): Promise<number> {
  return promisify(execFile)(process.execPath, [DRAGOMAN, 'migrate'], { env: environment(database) }).then(
    () => 0,
    (error: { code: number }) => error.code,
  );
}

/** Counts the applied migrations. Returns -1 if the table of migrations does not exist yet. */
async function countApplied(query: Query): Promise<number> {
  const [row] = await query<{ there: boolean }>(`select to_regclass('migrations') is not null as there`);
  if (!row!.there) return -1;
  return (await query<{ count: number }>('select count(*)::int from migrations'))[0]!.count;
}

const appliedIn = (database: Connection): Promise<number> =>
  withClient(database, (_, query) => countApplied(query));

async function readSchema(database: Connection): Promise<string> {
  return JSON.stringify(await ask(database, SCHEMA));
}

async function createDatabase(connection: Connection, name: string): Promise<Connection> {
  await ask(connection, `create database ${name}`);
  return { ...connection, database: name };
}

async function ask<Row extends object>(connection: Connection, sql: string): Promise<Row[]> {
  return withClient(connection, (_, query) => query<Row>(sql));
}

function environment({ host = '', port, user, database }: Connection): NodeJS.ProcessEnv {
  const url = `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
  return { ...process.env, DATABASE_URL: url };
}
