/** Tests of deadlocks and lost connections in statements and transactions, and of notifications after a reconnect. */
import { type AddressInfo, connect, createServer } from 'node:net';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createLog } from '../base/log.ts';
import { administer } from '../testing/cluster.ts';
import { createTestDatabase, type TestDatabase, until } from '../testing/harness.ts';
import type { Change } from './changes.ts';
import { createConnection } from './connections.ts';
import {
  CommitUnknown,
  type Connection,
  type Database,
  isConnectionLoss,
  openDatabase,
  type Transaction,
} from './database.ts';
import { statement } from './statements.ts';

const ADD = statement('test.add', 'insert into scratch (name, value) values ($1, $2)');
const BUMP = statement('test.bump', 'update scratch set value = value + 1 where name = $1');
const READ = statement<{ value: number }>('test.read', 'select value from scratch where name = $1');
const SUM = statement<{ sum: number }>(
  'test.sum',
  'select coalesce(sum(value), 0)::bigint as sum from scratch',
);
const SERIALIZABLE = statement('test.serializable', 'set transaction isolation level serializable');
const PID = statement<{ pid: number }>('test.pid', 'select pg_backend_pid() as pid');
const SLEEP = statement('test.sleep', 'select pg_sleep(3600)');
const DIE = statement('test.die', 'select die()');
const CONFLICT = statement('test.conflict', `do $$ begin raise exception using errcode = '40001'; end $$`);
const UNLUCKY = statement('test.unlucky', 'select unlucky()');
const TRY_AND_DIE = statement('test.tryAndDie', `select die() where nextval('tries') > 0`);
const DOOM = statement('test.doom', 'insert into doomed values ($1)');
const LATE = statement('test.late', 'insert into late values (1), (1)');

let test: TestDatabase;
let database: Database;
let owner: pg.Client;

beforeAll(async () => {
  test = await createTestDatabase();
  database = test.database;
  owner = await test.connectOwner();
  await owner.query(`
    create table scratch (name text primary key, value bigint not null);
    create table doomed (value integer);
    create table late (value integer, unique (value) deferrable initially deferred);
    grant all on scratch, doomed, late to dragoman_app;
    -- As its definer: the application's role may not end connections.
    create function die() returns void security definer language sql
      as $$ select pg_terminate_backend(pg_backend_pid()) $$;
    create function die_at_commit() returns trigger security definer language plpgsql
      as $$ begin
        -- As the coordinator of a Citus cluster answers when a node does not confirm the commit.
        if new.value = 2 then raise exception 'could not commit transaction for shard 1 on at least one active node'
          using errcode = 'XX000'; end if;
        perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(60); return null;
      end $$;
    -- A rollback does not reset a sequence.
    create sequence tries;
    grant all on tries to dragoman_app;
    create function unlucky() returns void language plpgsql as $$ begin
      if nextval('tries') < 5 then raise exception using errcode = '40P01'; end if;
    end $$;
    create constraint trigger doomed after insert on doomed deferrable initially deferred
      for each row execute function die_at_commit();`);
});
beforeEach(() => owner.query('truncate scratch, doomed, late; alter sequence tries restart'));
afterAll(() => test.drop());

const countTries = async () => Number((await owner.query('select last_value from tries')).rows[0].last_value);
const readValue = async (name: string) => (await database.query(READ, [name]))[0]?.value;
const pidOf = async (transaction: Transaction) => (await transaction.query(PID))[0]!.pid;

/** Returns a function whose calls wait until `count` callers have arrived; later calls resolve at once. */
function barrier(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let arrived = 0;
  return () => {
    if (++arrived === count) resolve();
    return promise;
  };
}

/** Starts a proxy to the database server that counts connections. */
async function startPassage() {
  const { host, port, user, password, database } = createConnection(test.connection);
  let passed = 0;
  const passage = createServer((inside) => {
    passed++;
    const outside = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    inside.pipe(outside).pipe(inside);
    inside.on('error', () => outside.destroy());
    outside.on('error', () => inside.destroy());
  });
  await new Promise<void>((resolve) => passage.listen(0, '127.0.0.1', resolve));
  return {
    connection: {
      host: '127.0.0.1',
      port: (passage.address() as AddressInfo).port,
      user,
      password,
      database,
    } as Connection,
    passed: () => passed,
    close: () => new Promise((resolve) => passage.close(resolve)),
  };
}

describe('a statement outside a transaction', () => {
  it('is repeated after a deadlock, up to five times', async () => {
    await database.query(UNLUCKY);
    expect(await countTries()).toBe(5);
  });

  it('is not repeated after its connection was lost, because it may have been executed', async () => {
    const lost: unknown = await database.query(TRY_AND_DIE).catch((error: unknown) => error);
    expect(isConnectionLoss(lost)).toBe(true);
    expect(await countTries()).toBe(1);
  });
});

describe('a transaction', () => {
  it('commits its work and returns the result', async () => {
    const result = await database.transaction(async (transaction) => {
      await transaction.query(ADD, ['a', 1]);
      // Other connections do not see the row before the commit.
      expect(await readValue('a')).toBeUndefined();
      return 'done';
    });
    expect(result).toBe('done');
    expect(await readValue('a')).toBe(1);
  });

  it('rolls back when its work throws, and rejects with the same error', async () => {
    const bug = new Error('a bug');
    const work = database.transaction(async (transaction) => {
      await transaction.query(ADD, ['a', 1]);
      throw bug;
    });
    await expect(work).rejects.toBe(bug);
    expect(await readValue('a')).toBeUndefined();
  });

  it('publishes the live updates of the committed attempt after the commit', async () => {
    const received: (readonly Change[])[] = [];
    const unsubscribe = database.onChanges((changes) => received.push(changes));
    const account = { accountId: 'a' };
    let tries = 0;
    await database.transaction(async (transaction) => {
      transaction.changed('jobs', account, `try ${++tries}`);
      if (tries === 1) await transaction.query(CONFLICT);
      expect(received).toEqual([]);
      transaction.changed('engines');
    });
    const undone = database.transaction(async (transaction) => {
      transaction.changed('jobs', account);
      throw new Error('a bug');
    });
    await expect(undone).rejects.toThrow('a bug');
    database.changed('sessions');
    unsubscribe();
    database.changed('sessions');
    expect(received).toEqual([
      [
        { kind: 'jobs', account: 'a', job: 'try 2' },
        { kind: 'engines', account: undefined, job: undefined },
      ],
      [{ kind: 'sessions', account: undefined, job: undefined }],
    ]);
  });

  it('is not repeated when a retry would fail in the same way', async () => {
    await database.transaction((transaction) => transaction.query(ADD, ['a', 1]));
    let tries = 0;
    const work = database.transaction(async (transaction) => {
      tries++;
      await transaction.query(ADD, ['b', 1]);
      await transaction.query(ADD, ['a', 2]);
    });
    await expect(work).rejects.toMatchObject({ code: '23505' });
    expect(tries).toBe(1);
    expect(await readValue('b')).toBeUndefined();
  });

  it('is rolled back when its commit fails, and rejects with the error of the commit', async () => {
    const work = database.transaction((transaction) => transaction.query(LATE));
    await expect(work).rejects.toMatchObject({ code: '23505' });
    expect((await owner.query('select from late')).rowCount).toBe(0);
  });

  it('returns its connection to the pool after success and failure', async () => {
    // 32 transactions are twice the number of connections in the pool. If the transactions did not return
    // their connections, the last transaction would wait forever.
    for (let ended = 0; ended < 32; ended++) {
      await database.transaction(() => Promise.reject(new Error('a bug'))).catch(() => {});
    }
    await database.transaction((transaction) => transaction.query(ADD, ['a', 1]));
    expect(await readValue('a')).toBe(1);
  });

  it('is repeated after a deadlock, so that both transactions succeed', async () => {
    await owner.query(`insert into scratch values ('a', 0), ('b', 0)`);
    const bothHoldOne = barrier(2);
    let tries = 0;
    const side = (first: string, second: string) =>
      database.transaction(async (transaction) => {
        tries++;
        await transaction.query(BUMP, [first]);
        await bothHoldOne();
        await transaction.query(BUMP, [second]);
      });
    await Promise.all([side('a', 'b'), side('b', 'a')]);
    expect(tries).toBeGreaterThan(2);
    expect([await readValue('a'), await readValue('b')]).toEqual([2, 2]);
  });

  it('is repeated after a serialization failure, and then reads current data', async () => {
    const bothHaveRead = barrier(2);
    let tries = 0;
    // Each transaction adds up both values and writes the sum plus 1. In any serial order, one of them writes
    // 1 and the other 2.
    const side = (name: string) =>
      database.transaction(async (transaction) => {
        tries++;
        await transaction.query(SERIALIZABLE);
        const [row] = await transaction.query(SUM);
        await bothHaveRead();
        await transaction.query(ADD, [name, row!.sum + 1]);
      });
    await Promise.all([side('a'), side('b')]);
    expect(tries).toBeGreaterThan(2);
    expect([await readValue('a'), await readValue('b')].sort()).toEqual([1, 2]);
  });

  it('rejects with the last error after five attempts', async () => {
    let tries = 0;
    const work = database.transaction(async (transaction) => {
      tries++;
      await transaction.query(CONFLICT);
    });
    await expect(work).rejects.toMatchObject({ code: '40001' });
    expect(tries).toBe(5);
  });

  it('is repeated when its connection is killed during a query', async () => {
    const pids: number[] = [];
    const { connection } = database.retries;
    const work = database.transaction(async (transaction) => {
      pids.push(await pidOf(transaction));
      await transaction.query(ADD, ['a', pids.length]);
      if (pids.length === 1) await transaction.query(SLEEP);
    });
    await until(async () => {
      const sql = `select pg_terminate_backend(pid) from pg_stat_activity
        where pid = $1 and query like '%pg_sleep(3600)%' and state = 'active'`;
      return (await owner.query(sql, [pids[0] ?? 0])).rowCount === 1;
    });
    await work;
    expect(pids).toHaveLength(2);
    expect(pids[0]).not.toBe(pids[1]);
    expect(await readValue('a')).toBe(2);
    expect(database.retries.connection).toBe(connection + 1);
  });

  it('is repeated when its connection is killed between two queries', async () => {
    let tries = 0;
    await database.transaction(async (transaction) => {
      const pid = await pidOf(transaction);
      await transaction.query(ADD, ['a', ++tries]);
      if (tries > 1) return;
      await owner.query('select pg_terminate_backend($1::integer)', [pid]);
      await until(async () => {
        const sql = 'select from pg_stat_activity where pid = $1';
        return (await owner.query(sql, [pid])).rowCount === 0;
      });
      await transaction.query(BUMP, ['a']);
    });
    expect(tries).toBe(2);
    expect(await readValue('a')).toBe(2);
  });

  it('rejects after five lost connections', async () => {
    let tries = 0;
    const work = database.transaction(async (transaction) => {
      tries++;
      await transaction.query(DIE);
    });
    await expect(work).rejects.toSatisfy(isConnectionLoss);
    expect(tries).toBe(5);
  });

  it.each([
    ['its connection', 1],
    ['a node of a Citus cluster', 2],
  ])('is not repeated when %s is lost during the commit, because it may be committed', async (_, value) => {
    let tries = 0;
    const work = database.transaction(async (transaction) => {
      tries++;
      await transaction.query(DOOM, [value]);
    });
    await expect(work).rejects.toBeInstanceOf(CommitUnknown);
    expect(tries).toBe(1);
  });

  it('gets a working connection after earlier connections were killed', async () => {
    await database.transaction((transaction) => transaction.query(DIE)).catch(() => {});
    const reads = Array.from({ length: 32 }, () =>
      database.transaction((transaction) => transaction.query(SUM)),
    );
    expect((await Promise.all(reads)).flat()).toEqual(Array(32).fill({ sum: 0 }));
  });
});

describe('isConnectionLoss', () => {
  const coded = (code: string) => Object.assign(new Error('x'), { code });

  it.each(['08006', '08001', '57P01', '57P02', '57P03', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOENT'])(
    'is true for error codes of a lost server or connection: %s',
    (code) => {
      expect(isConnectionLoss(coded(code))).toBe(true);
    },
  );

  it.each(['23505', '40001', '40P01', '55P03', '57014', '42P01', 'EACCES'])(
    'is false for other error codes: %s',
    (code) => {
      expect(isConnectionLoss(coded(code))).toBe(false);
    },
  );

  it.each([
    ['XX000', 'server closed the connection unexpectedly'],
    ['XX000', 'SSL connection has been closed unexpectedly'],
    ['XX000', 'SSL error: unexpected eof while reading'],
    ['XX000', 'terminating connection because of crash of another server process'],
    ['XX000', 'could not commit transaction for shard 102032 on at least one active node'],
    ['58030', 'failed to COPY to shard 102373 on db1:5432'],
  ])('is true for an error of Citus that means that a node is lost: %s %s', (code, message) => {
    expect(isConnectionLoss(Object.assign(new Error(message), { code }))).toBe(true);
  });

  it.each([
    ['XX000', 'cache lookup failed for type 7'],
    ['58030', 'could not read block 7: Input/output error'],
  ])('is false for other internal errors and errors of the disk: %s %s', (code, message) => {
    expect(isConnectionLoss(Object.assign(new Error(message), { code }))).toBe(false);
  });

  it('is true for every refused session, whatever the error code', () => {
    expect(isConnectionLoss(Object.assign(coded('3D000'), { severity: 'FATAL' }))).toBe(true);
    expect(isConnectionLoss(Object.assign(coded('23505'), { severity: 'ERROR' }))).toBe(false);
  });

  it('is true for errors of the database driver without a code, and false for values that are not errors', () => {
    expect(isConnectionLoss(new Error('Connection terminated unexpectedly'))).toBe(true);
    expect(isConnectionLoss(new Error('Connection terminated'))).toBe(true);
    expect(isConnectionLoss(new Error('something else'))).toBe(false);
    expect(isConnectionLoss('Connection terminated')).toBe(false);
  });
});

describe('notifications', () => {
  const LISTENERS = `select pid from pg_stat_activity
    where application_name = 'dragoman listener' and datname = current_database()`;

  it('arrive with their payload on their own channel', async () => {
    const received: string[] = [];
    await database.listen('test_a', (payload) => received.push(`a ${payload}`));
    await database.listen('test_b', (payload) => received.push(`b ${payload}`));
    await database.notify('test_b', 'it’s two');
    await database.notify('test_c', 'nobody');
    await database.notify('test_a');
    await until(() => received.length === 2);
    expect(received).toEqual(['b it’s two', 'a ']);
  });

  it('arrive exactly once over one connection, even after that connection was killed', async () => {
    const received: string[] = [];
    await database.listen('test_again', (payload) => received.push(payload));
    const { rows: before } = await owner.query(LISTENERS);
    expect(before).toHaveLength(1);
    await owner.query('select pg_terminate_backend($1::integer)', [before[0].pid]);
    // Notifications sent before the reconnect are lost, so the test repeats them until one arrives.
    await until(async () => {
      await database.notify('test_again', 'anybody');
      return received.length > 0;
    });
    const { rows: after } = await owner.query(LISTENERS);
    expect(after).toHaveLength(1);
    expect(after[0].pid).not.toBe(before[0].pid);
    received.length = 0;
    await database.notify('test_again', 'once');
    await database.notify('test_again', 'last');
    await until(() => received.includes('last'));
    expect(received.filter((payload) => payload !== 'anybody')).toEqual(['once', 'last']);
  });

  it('arrive again after several refused connections', async () => {
    const { connection } = inject('cluster');
    const { database: name } = createConnection(test.connection);
    const received: string[] = [];
    await database.listen('test_away', (payload) => received.push(payload));
    const reach = await startPassage();
    const other = openDatabase(reach.connection, createLog('silent'));
    await other.listen('test_away', (payload) => received.push(`other ${payload}`));
    await administer(connection, `alter database ${name} allow_connections false`);
    const { rows } = await owner.query(LISTENERS);
    for (const { pid } of rows) await owner.query('select pg_terminate_backend($1::integer)', [pid]);
    await until(() => reach.passed() >= 4);
    await administer(connection, `alter database ${name} allow_connections true`);
    await until(async () => {
      await owner.query(`notify test_away, 'back'`);
      return received.includes('back') && received.includes('other back');
    });
    expect((await owner.query(LISTENERS)).rows).toHaveLength(2);
    await other.close();
    await reach.close();
  });

  it('leave no connection open when the server refuses to send them', async () => {
    const ownPids = new Set((await owner.query(LISTENERS)).rows.map(({ pid }) => pid));
    const other = openDatabase(test.connection, createLog('silent'));
    await expect(other.listen('not\0valid', () => {})).rejects.toThrow();
    await until(async () => (await owner.query(LISTENERS)).rows.every(({ pid }) => ownPids.has(pid)));
    await other.close();
  });

  it('leave no connection open when the database is closed', async () => {
    const other = openDatabase(test.connection, createLog('silent'));
    const ownPids = new Set((await owner.query(LISTENERS)).rows.map(({ pid }) => pid));
    await other.listen('test_close', () => {});
    const { rows } = await owner.query(LISTENERS);
    expect(rows.filter(({ pid }) => !ownPids.has(pid))).toHaveLength(1);
    await other.close();
    await until(async () => (await owner.query(LISTENERS)).rows.every(({ pid }) => ownPids.has(pid)));
  });
});

describe('a bigint column', () => {
  const BIGINT = statement<{ value: number }>('test.bigint', 'select $1::bigint as value');

  it('is read as a number while the number is exact', async () => {
    for (const value of [0, -1, 1_234_567_890_123, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
      expect(await database.query(BIGINT, [value])).toEqual([{ value }]);
    }
  });

  it('causes an error when its value would have to be rounded', async () => {
    await expect(database.query(BIGINT, ['9007199254740992'])).rejects.toThrow(
      'a bigint too large for a number: 9007199254740992',
    );
    await expect(database.query(BIGINT, ['9223372036854775807'])).rejects.toThrow('a bigint too large');
    // The connection is still usable after the error.
    expect(await database.query(BIGINT, ['1'])).toEqual([{ value: 1 }]);
  });
});

it('has the settings that the program relies on, whatever the defaults of the database are', async () => {
  const name = (await owner.query('select quote_ident(current_database()) as name')).rows[0].name;
  for (const setting of [
    'jit = on',
    "datestyle = 'SQL, DMY'",
    'intervalstyle = iso_8601',
    "timezone = 'Asia/Tokyo'",
  ])
    await owner.query(`alter database ${name} set ${setting}`);
  const other = openDatabase(test.connection, createLog('silent'));
  const read = statement<{ name: string; setting: string }>(
    'test.settings',
    "select name, setting from pg_settings where name in ('jit', 'DateStyle', 'IntervalStyle', 'TimeZone')",
  );
  const found = Object.fromEntries((await other.query(read)).map((row) => [row.name, row.setting]));
  expect(found).toEqual({ DateStyle: 'ISO, MDY', IntervalStyle: 'postgres', TimeZone: 'UTC', jit: 'off' });
  await other.close();
});

describe('the application’s role', () => {
  it.each(['transfers', 'job_events'])(
    'may insert rows into %s, but not update or delete its rows',
    async (table) => {
      const may = async (privilege: string) => {
        const sql = `select has_table_privilege('dragoman_app', $1, $2) as may`;
        return (await owner.query(sql, [table, privilege])).rows[0].may;
      };
      expect(await may('insert')).toBe(true);
      expect([await may('update'), await may('delete'), await may('truncate')]).toEqual([
        false,
        false,
        false,
      ]);
    },
  );

  it("is the role of the program's connections", async () => {
    const WHO = statement<{ current_user: string }>('test.who', 'select current_user');
    expect(await database.query(WHO)).toEqual([{ current_user: 'dragoman_app' }]);
    const FORGE = statement('test.forge', 'delete from transfers where part = 0 and account_id is null');
    await expect(database.query(FORGE)).rejects.toMatchObject({ code: '42501' });
  });
});
