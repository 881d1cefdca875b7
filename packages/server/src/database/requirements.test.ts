/** Tests that a database or a pooler that the program cannot use is refused in one sentence, with nothing locked. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { createLog } from '../base/log.ts';
import { administer, withDatabase } from '../testing/cluster.ts';
import {
  createClient,
  createTestDatabase,
  startTestServer,
  type TestDatabase,
  until,
  waitForStatus,
} from '../testing/harness.ts';
import { findPgbouncer, type Pooler, startPooler } from '../testing/pooler.ts';
import {
  dragoman,
  engineWithoutLanguages,
  killPrograms,
  markEngineTested,
  serve,
  urlOf,
} from '../testing/programs.ts';
import { createConnection } from './connections.ts';
import { openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { requireSessions } from './requirements.ts';
import { statement } from './statements.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-requirements-'));
const own = ['--data', directory];
afterAll(() => rmSync(directory, { recursive: true, force: true }));
afterEach(killPrograms);

const SENTENCE = /^[A-Z][^\n]*: [^\n]*\.\n$/;

/** Runs every kind of command, and expects that each one prints the sentence. */
async function expectRefused(url: string, sentence: RegExp): Promise<void> {
  const backup = join(directory, 'any.backup');
  writeFileSync(backup, gzipSync('{"dragoman":"backup","format":1,"migration":1}\n'));
  for (const command of [
    ['migrate'],
    ['serve'],
    ['user', 'list'],
    ['restore', backup],
    ['backup', `${backup}.new`],
  ]) {
    const ended = await dragoman([...command, ...own], { DATABASE_URL: url });
    expect(ended, command[0]!).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(sentence),
    });
    expect(ended.stderr).toMatch(SENTENCE);
  }
  const doctor = await dragoman(['doctor', '--json', ...own], {
    DATABASE_URL: url,
    ...engineWithoutLanguages(directory),
  });
  const { findings } = JSON.parse(doctor.stdout);
  const { ok, detail, remedy } = findings.find(({ check }: { check: string }) => check === 'database');
  expect(ok).toBe(false);
  expect(`${detail}: ${remedy.charAt(0).toLowerCase()}${remedy.slice(1)}`).toMatch(sentence);
}

/** Counts the advisory locks in a database. Other test files use other databases of the same server. */
async function countLocks(name: string): Promise<number> {
  const [row] = await administer(
    inject('cluster').connection,
    `select count(*)::int as count from pg_locks join pg_database d on d.oid = database
      where locktype = 'advisory' and datname = '${name}'`,
  );
  return row!.count as number;
}

describe('the encoding of a database', () => {
  const create = async (encoding: string) => {
    const name = `dragoman_${encoding.toLowerCase()}_${process.pid}`;
    const { connection } = inject('cluster');
    await administer(
      connection,
      `create database ${name} encoding '${encoding}' locale_provider libc locale 'C' template template0`,
    );
    return { name, connection: withDatabase(connection, name) };
  };
  const drop = (name: string) =>
    administer(inject('cluster').connection, `drop database ${name} with (force)`);

  it.each(['LATIN1', 'EUC_JP'])('is refused when it is %s', async (encoding) => {
    const { name, connection } = await create(encoding);
    await expectRefused(
      urlOf(connection),
      new RegExp(`^The database has the encoding ${encoding}, .*: create .*UTF8`),
    );
    const [row] = await administer(connection, `select to_regclass('migrations') as made`);
    expect(row).toEqual({ made: null });
    await drop(name);
  });

  it('may be SQL_ASCII, in which texts of every script are kept', async () => {
    const { name, connection } = await create('SQL_ASCII');
    await migrate(connection);
    const database = openDatabase(connection, createLog('silent'));
    const echo = statement<{ text: string }>('test.echo', 'select lower($1) as text');
    expect(await database.query(echo, ['Łódź 家 👍'])).toEqual([{ text: expect.stringContaining('家 👍') }]);
    await database.close();
    await drop(name);
  });
});

describe('a request with a text that the database cannot store', () => {
  it('gets 400 about NUL only for NUL, and 500 when the encoding is the reason', async () => {
    const server = await startTestServer();
    const { production_key } = await server.createAccount();
    const call = createClient(server.url, production_key);
    const post = (text: string) =>
      call('POST', '/tapi/v2/mt_translation/', { text, source_language: 'en', target_language: 'es' });
    expect(await post('The \0 house')).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('NUL') },
    });
    const owner = await server.connectOwner();
    // Stands for a server that converts texts to another encoding.
    await owner.query(
      `create function refuse() returns trigger language plpgsql as $$ begin
         raise exception 'character with byte sequence 0xe2 0x82 0xac has no equivalent' using errcode = '22P05';
       end $$;
       create trigger refuse before insert on job_texts for each row execute function refuse()`,
    );
    const refused = await post('The house costs 5 €');
    expect(refused.status).toBe(500);
    expect(refused.text).not.toContain('NUL');
    await server.stop();
  });
});

describe('the lock of migrations', () => {
  it('is waited for with a log line that names the process that has it', async () => {
    const test = await createTestDatabase();
    const holder = await test.connectOwner();
    await holder.query('select pg_advisory_lock(4672001)');
    const { pid } = (await holder.query('select pg_backend_pid() as pid')).rows[0];
    const lines: string[] = [];
    const log = createLog('error', { write: (line) => lines.push(line) });
    const migrated = migrate(test.connection, { log, patience: 1 });
    await until(() => lines.length > 0);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      pid,
      msg: expect.stringContaining('waiting for another process'),
    });
    await holder.query('select pg_advisory_unlock(4672001)');
    expect(await migrated).toEqual([]);
    await test.drop();
  });
});

describe.runIf(findPgbouncer() !== undefined)('PgBouncer', () => {
  let test: TestDatabase;
  let name: string;
  let pooler: Pooler | undefined;
  beforeAll(async () => {
    test = await createTestDatabase();
    await markEngineTested(test.database);
    name = String(createConnection(test.connection).database);
  });
  afterEach(async () => {
    await killPrograms();
    await pooler?.stop();
    pooler = undefined;
  });
  afterAll(() => test.drop());

  it.each(['transaction', 'statement'] as const)(
    'is refused in %s mode, and nothing stays locked',
    async (mode) => {
      pooler = await startPooler(test.connection, mode);
      const sentence =
        mode === 'transaction'
          ? /^A pooler at DATABASE_URL .*\(transaction mode\): set pool_mode = session in PgBouncer, or connect to PostgreSQL/
          : /^PostgreSQL refuses \(transaction blocks not allowed in statement pooling mode\): .*session mode/;
      await expectRefused(pooler.urlOf(name), sentence);
      expect(await countLocks(name)).toBe(0);
      // The direct address still works, so nothing waits for a lock that the pooler has kept.
      expect(await migrate(test.connection)).toEqual([]);
    },
  );

  it('is refused in transaction mode when other connections are idle in its pool', async () => {
    pooler = await startPooler(test.connection, 'transaction');
    const url = pooler.urlOf(name);
    const others = [1, 2, 3, 4].map(() => createConnection({ connectionString: url }));
    await Promise.all(others.map((other) => other.connect()));
    await Promise.all(others.map((other) => other.query('select pg_sleep(0.1)')));
    for (let time = 0; time < 5; time++)
      await expect(migrate({ connectionString: url })).rejects.toThrow('transaction mode');
    await Promise.all(others.map((other) => other.end()));
  });

  it('works in session mode as it comes: with the role of the program, jobs complete, and the lock is free', async () => {
    pooler = await startPooler(test.connection, 'session');
    const url = pooler.urlOf(name);
    const database = openDatabase({ connectionString: url }, createLog('silent'));
    const settings = statement<Record<string, string>>(
      'test.pooled',
      `select current_user as role, current_setting('jit') as jit, current_setting('statement_timeout') as timeout`,
    );
    expect(await database.query(settings)).toEqual([{ role: 'dragoman_app', jit: 'off', timeout: '1min' }]);
    await database.close();
    const created = await dragoman(['account', 'create', 'pooled', '--json', ...own], { DATABASE_URL: url });
    const call = createClient((await start(url)).url, JSON.parse(created.stdout).production_key);
    const body = { uid: 'pooled', text: 'The house is big.', source_language: 'en', target_language: 'es' };
    expect((await call('POST', '/tapi/v2/mt_translation/', body)).status).toBe(201);
    await waitForStatus(call, '/tapi/v2/mt_translation/pooled/');
    expect(await countLocks(name)).toBe(0);
  });

  it('is refused with its own message when it refuses a parameter of DATABASE_URL', async () => {
    pooler = await startPooler(test.connection, 'session');
    const url = `${pooler.urlOf(name)}?options=-c%20search_path%3Dpublic`;
    await expectRefused(
      url,
      /^PostgreSQL refuses \(unsupported startup parameter: options\): remove the parameter from DATABASE_URL, or/,
    );
  });

  it('is refused for reads in transaction mode, with the name of their setting', async () => {
    pooler = await startPooler(test.connection, 'transaction');
    const [client, other] = [1, 2].map(() => createConnection({ connectionString: pooler!.urlOf(name) }));
    await client!.connect();
    await expect(requireSessions(client!, other!, 'DATABASE_READ_URL')).rejects.toThrow(
      /^A pooler at DATABASE_READ_URL /,
    );
    await client!.end();
  });

  async function start(url: string) {
    const program = await serve(own, { DATABASE_URL: url });
    await program.answers('/readyz');
    return program;
  }
});
