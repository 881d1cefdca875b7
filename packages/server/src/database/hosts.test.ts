/**
 * Tests of DATABASE_URL with several hosts. Each of the two hosts is a proxy to one server: the primary, which accepts
 * writes, or the standby, which does not. Tests swap the servers.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFake } from '@dragoman/engines/fake';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createVault } from '../access/secrets.ts';
import { createAccount } from '../accounts/accounts.ts';
import { createLog } from '../base/log.ts';
import { startServer } from '../roles/serve.ts';
import { loadSettings } from '../settings/settings.ts';
import { administer } from '../testing/cluster.ts';
import { type DatabaseHost, startDatabaseHost } from '../testing/database-hosts.ts';
import {
  createClient,
  createTestDatabase,
  SECRET_KEY,
  type TestDatabase,
  until,
} from '../testing/harness.ts';
import { createConnection } from './connections.ts';
import { type Connection, type Database, isUnavailable, openDatabase } from './database.ts';
import { startEmbedded } from './embedded.ts';
import { statement } from './statements.ts';

const ROLE_OF = statement<{ writable: boolean }>(
  'hosts.writable',
  "select current_setting('transaction_read_only') = 'off' as writable",
);
const WRITE = statement('hosts.write', "select pg_notify('written', txid_current()::text)");

const MACHINE = '/tapi/v2/mt_translation/';
const JOB = { text: 'The house is big.', source_language: 'en', target_language: 'es' };

const isShared = process.env.DATABASE_URL !== undefined;

describe.skipIf(isShared)('a database with several hosts', () => {
  let directory: string;
  let other: Connection;
  /** The database of the same name on the other server. It accepts no writes. */
  let standby: Connection;
  let stopStandby: () => Promise<void>;
  let test: TestDatabase;
  let hosts: DatabaseHost[];
  let database: Database;

  /** Opens the database through one host for each of these servers, in this order. */
  async function open(...servers: Connection[]): Promise<void> {
    hosts = await Promise.all(servers.map(startDatabaseHost));
    database = openDatabase({ connectionString: address() }, createLog('silent'));
  }
  const address = () => {
    const { user, database } = test.connection;
    return `postgres://${user}@${hosts.map((host) => host.address).join(',')}/${database}`;
  };
  const isWritable = async () => (await database.query(ROLE_OF))[0]!.writable;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dragoman-hosts-'));
    const server = await startEmbedded({ dataDir: directory, role: 'serve', settings: { fsync: 'off' } });
    await administer(server.connection, 'create role dragoman_app');
    other = server.connection;
    stopStandby = server.stop;
  });
  afterAll(async () => {
    await stopStandby();
    rmSync(directory, { recursive: true, force: true });
  });
  beforeEach(async () => {
    test = await createTestDatabase();
    const name = test.connection.database;
    await administer(other, `create database ${name}`);
    await administer(other, `alter database ${name} set default_transaction_read_only = on`);
    standby = { ...other, database: name! };
  });
  afterEach(async () => {
    await database.close();
    await Promise.all(hosts.map((host) => host.fail().catch(() => {})));
    await test.drop();
  });

  it('connects to the host that accepts writes, wherever it stands in the list', async () => {
    await open(standby, test.connection);
    expect(await isWritable()).toBe(true);
  });

  it('connects to the host that accepts writes when another host does not answer or refuses the connection', async () => {
    await open(standby, test.connection);
    hosts[0]!.freeze();
    expect(await isWritable()).toBe(true);
    await hosts[0]!.fail();
    const client = createConnection({ connectionString: address() });
    await client.connect();
    await client.end();
  });

  it('writes to the new primary after the roles of the hosts have changed', async () => {
    await open(test.connection, standby);
    await database.transaction((transaction) => transaction.query(WRITE));
    hosts[0]!.forwardTo(standby);
    hosts[1]!.forwardTo(test.connection);
    await until(async () =>
      database
        .transaction((transaction) => transaction.query(WRITE))
        .then(
          () => true,
          () => false,
        ),
    );
    expect(await isWritable()).toBe(true);
  });

  it('drops a session that its server has made read-only, and repeats the transaction elsewhere', async () => {
    await open(test.connection, standby);
    await database.query(ROLE_OF);
    let tries = 0;
    await database.transaction(async (transaction) => {
      tries += 1;
      if (tries === 1) await transaction.query(READ_ONLY);
      await transaction.query(CREATE);
    });
    expect(tries).toBe(2);
  });

  it('rejects with an error of an unavailable database when no host accepts writes', async () => {
    await open(standby, standby);
    await expect(database.query(ROLE_OF)).rejects.toMatchObject({
      code: '08001',
      message: expect.stringMatching(/no host accepts writes: 127\.0\.0\.1:\d+ accepts no writes; /),
    });
  });

  it('rejects with the error of the servers when they refuse the user', async () => {
    await open(test.connection, standby);
    const wrong = address().replace(/\/\/\w+@/, '//nobody_known@');
    const refused = createConnection({ connectionString: wrong }).connect();
    await expect(refused).rejects.toMatchObject({ code: expect.stringMatching(/^28/) });
  });

  it('receives notifications again after the server of its listener connection has frozen', async () => {
    await open(test.connection, standby);
    const heard: string[] = [];
    await database.listen('written', (payload) => heard.push(payload));
    hosts[0]!.freeze();
    hosts[1]!.forwardTo(test.connection);
    const direct = openDatabase(test.connection, createLog('silent'));
    await until(async () => {
      await direct.notify('written', 'again');
      return heard.includes('again');
    });
    await direct.close();
  });

  it('ends a statement that waits for a frozen server, as soon as another host accepts writes', async () => {
    await open(test.connection, standby);
    const waiting = database.transaction(async (transaction) => {
      await transaction.query(ROLE_OF);
      hosts[0]!.freeze();
      hosts[1]!.forwardTo(test.connection);
      await transaction.query(ROLE_OF);
    });
    expect(isUnavailable(await waiting.catch((error: unknown) => error))).toBe(true);
    expect(await isWritable()).toBe(true);
  });

  it('makes requests fail with 503 while the primary is frozen, and serves them when it is back', async () => {
    await open(test.connection, standby);
    const log = createLog('silent');
    const vault = createVault(Buffer.from(SECRET_KEY, 'base64'));
    const store = {
      database,
      vault,
      migrated: [],
      behind: 0,
      connection: test.connection,
      close: async () => {},
    };
    const settings = loadSettings({ DRAGOMAN_PORT: '0', DRAGOMAN_KEY_REQUESTS: '0' });
    const server = await startServer({ store, settings, role: 'all', engines: () => [createFake()], log });
    const account = { username: 'frozen', email: undefined, balanceCents: 0, prepaid: false, chat: false };
    const { production_key } = await createAccount(database, vault, 'command', {
      ...account,
      dialect: 'spec',
    });
    const call = createClient(server.url!, production_key);
    const create = (uid: string) => call('POST', MACHINE, { ...JOB, uid });
    await until(async () => (await create('before')).status === 201);

    // A statement of a worker waits for a frozen server for more than a minute.
    let unlimited: Promise<unknown>;
    await new Promise<void>((resolve) => {
      const work = database.transaction(async (transaction) => {
        await transaction.query(ROLE_OF);
        hosts[0]!.freeze();
        resolve();
        await transaction.query(ROLE_OF);
      });
      unlimited = work.catch((error: unknown) => error);
    });
    const requests = Promise.all([call('GET', MACHINE), create('during')]);
    expect(await Promise.race([requests, unlimited!])).toBe(await requests);
    for (const { status, headers } of await requests) {
      expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    }

    hosts[0]!.forwardTo(test.connection);
    expect(isUnavailable(await unlimited!)).toBe(true);
    await until(async () => (await create('after')).status === 201);
    const { body } = await call('GET', MACHINE);
    expect(body.objects.map(({ uid }: { uid: string }) => uid)).toEqual(['before', 'after']);
    await server.stop();
  });
});

const READ_ONLY = statement('hosts.readOnly', 'set transaction read only');
const CREATE = statement('hosts.create', 'create temporary table made (id int) on commit drop');

describe('a database with a time limit for each statement', () => {
  it('treats a server that does not answer in time as lost, and is usable afterwards', async () => {
    const { connection, template } = inject('cluster');
    expect(template).toBeDefined();
    const database = openDatabase(connection, createLog('silent'));
    const limited = database.limited(50);
    await expect(limited.query(SLEEP)).rejects.toThrow('Query read timeout');
    await expect(limited.transaction((transaction) => transaction.query(SLEEP))).rejects.toThrow(
      'Query read timeout',
    );
    await database.close();
  });

  it('ends a statement within a second after its client has disconnected', async () => {
    const { connection } = inject('cluster');
    const database = openDatabase(connection, createLog('silent'));
    expect(await database.query(INTERVAL)).toEqual([{ interval: '1s' }]);
    await database.close();
  });
});

const INTERVAL = statement(
  'hosts.interval',
  "select current_setting('client_connection_check_interval') as interval",
);
const SLEEP = statement('hosts.sleep', 'select pg_sleep(1)');
