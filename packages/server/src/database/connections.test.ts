/**
 * Tests of connections that are lost while no query is running: the process continues, and the program
 * recovers.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { administer } from '../testing/cluster.ts';
import {
  createClient,
  createTestDatabase,
  startTestServer,
  type TestDatabase,
  waitForStatus,
} from '../testing/harness.ts';
import { killPrograms, markEngineTested, serve, urlOf } from '../testing/programs.ts';
import { createConnection, createPool } from './connections.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const ROOT = join(import.meta.dirname, '../../../..');

describe('a connection whose database is dropped', () => {
  let test: TestDatabase;
  /** Drops the database although it has connections, like `drop database … with (force)`. */
  const drop = () => test.drop();
  beforeEach(async () => {
    test = await createTestDatabase();
  });

  it('reports the loss of an idle client', async () => {
    const { promise, resolve } = Promise.withResolvers<Error>();
    const client = createConnection(test.connection, resolve);
    await client.connect();
    await drop();
    expect(await promise).toMatchObject({ code: '57P01' });
  });

  it.each(['idle', 'checked out'])('reports the loss of a client that is %s in a pool', async (state) => {
    const { promise, resolve } = Promise.withResolvers<Error>();
    const pool = createPool(test.connection, resolve);
    const client = await pool.connect();
    if (state === 'idle') client.release();
    await drop();
    expect(await promise).toMatchObject({ code: '57P01' });
    if (state === 'checked out') client.release(true);
    await pool.end();
  });

  it('causes no uncaught error when it has no listener, even while the pool is closing', async () => {
    const client = createConnection(test.connection);
    await client.connect();
    const pool = createPool(test.connection);
    const held = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
    for (const one of held) one.release();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    client.on('end', resolve);
    await Promise.all([pool.end(), drop()]);
    await ended;
  });
});

describe('the program', () => {
  afterEach(killPrograms);

  it('answers 503 when its database is dropped, and serves requests again when the database is restored', async () => {
    const made = await startTestServer();
    const { production_key } = await made.createAccount();
    await made.server.stop();
    await markEngineTested(made.database);
    await made.database.close();
    const { connection } = inject('cluster');
    const name = String(createConnection(made.connection).database);
    // In a distributed database, Citus has connections of its own, and a database with connections cannot be copied.
    await administer(
      connection,
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${name}'`,
    );
    await administer(connection, `create database ${name}_copy template ${name}`);

    const program = await serve([], { DATABASE_URL: urlOf(made.connection) });
    await program.answers('/readyz');
    const call = createClient(program.url, production_key);
    const job = (uid: string) => ({ uid, text: 'House.', source_language: 'en', target_language: 'es' });
    expect((await call('POST', MACHINE, job('before'))).status).toBe(201);

    await administer(connection, `drop database ${name} with (force)`);
    const away = [await call('GET', `${MACHINE}before/`), await call('POST', MACHINE, job('away'))];
    expect(away.map(({ status }) => status)).toEqual([503, 503]);
    expect(away.map(({ headers }) => headers.get('retry-after'))).toEqual(['1', '1']);
    expect((await fetch(`${program.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${program.url}/readyz`)).status).toBe(503);

    await administer(connection, `alter database ${name}_copy rename to ${name}`);
    await program.answers('/readyz');
    expect((await call('POST', MACHINE, job('after'))).status).toBe(201);
    await waitForStatus(call, `${MACHINE}after/`);
    expect(await program.terminate()).toBe(0);
    await administer(connection, `drop database ${name} with (force)`);
  });
});

describe('source files that create connections', () => {
  const isOurs = (file: string) => file.endsWith('.ts') && !file.includes('node_modules');
  const files = ['packages', 'prove', 'bench', 'scripts', 'examples'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter(isOurs)
      .map((file) => join(folder, file)),
  );
  /**
   * Finds code that creates the driver's own clients or pools, whose lost connection would end the process.
   */
  const makesItsOwn = (source: string) =>
    /\bnew pg\.(?:Client|Pool)\(/.test(source) ||
    /import (?!type)[^;]*\b(?:Client|Pool)\b[^;]* from 'pg'/.test(source);

  it('are only those in a fixed list', () => {
    const found = files.filter((file) => makesItsOwn(readFileSync(join(ROOT, file), 'utf8')));
    expect(files.length).toBeGreaterThan(300);
    expect(found.sort()).toEqual([
      'packages/embedded-postgres/src/client.ts',
      'packages/server/src/database/connections.test.ts',
      'packages/server/src/database/connections.ts',
      'packages/server/src/database/hosts.ts',
    ]);
  });

  it.each([
    'const one = new pg.Client(connection);',
    'const all = new pg.Pool({ max: 2 });',
    "import { Pool } from 'pg';",
  ])('are found when they contain %s', (planted) => {
    expect(makesItsOwn(planted)).toBe(true);
  });
});
