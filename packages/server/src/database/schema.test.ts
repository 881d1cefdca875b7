import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../base/log.ts';
import { withDatabase } from '../testing/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../testing/harness.ts';
import { createConnection } from './connections.ts';
import { openDatabase } from './database.ts';
import { countVersionsBehind, migrate } from './migrate.ts';
import { statement } from './statements.ts';

const WHO = statement<{ current_user: string }>('test.schema_user', 'select current_user');

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('the schema sets n_distinct = 1 on the column `part` of every table', async () => {
  const client = createConnection(test.connection);
  await client.connect();
  const { rows } = await client.query(
    `select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind = 'r' and a.attname = 'part'
        and (not coalesce(a.attoptions, '{}') @> '{n_distinct=1}' or a.attstattarget is distinct from 1)`,
  );
  await client.end();
  // If this fails for a new table, add `alter column part set (n_distinct = 1), set statistics 1`, as in
  // 0001_schema.sql. Other options are allowed, because PostgreSQL 15.20 adds its own (pg_attver).
  expect(rows).toEqual([]);
});

it('no constraint of the schema is checked only at the commit, so a commit fails on Citus only if a node is lost', async () => {
  const client = createConnection(test.connection);
  await client.connect();
  const { rows } = await client.query('select conname from pg_constraint where condeferrable');
  await client.end();
  expect(rows).toEqual([]);
});

it('migrate applies each migration once, even when several processes start at the same time', async () => {
  const again = await Promise.all([1, 2, 3].map(() => migrate(test.connection)));
  expect(again).toEqual([[], [], []]);
});

it('migrate refuses a database that a newer version of the program has migrated', async () => {
  const client = createConnection(test.connection);
  await client.connect();
  await client.query(`insert into migrations (number, name) values (9999, '9999_from_the_future')`);
  await expect(migrate(test.connection)).rejects.toThrow(/run a newer version/);
  await client.query('delete from migrations where number = 9999');
  await client.end();
});

it.each([
  ['with as many migrations', `select`],
  ['with more migrations', `insert into migrations (number, name) values (9999, '9999_last')`],
])('migrate refuses a database created before the first release: %s', async (_, later) => {
  const own = await createTestDatabase();
  const client = createConnection(own.connection);
  await client.connect();
  await client.query(`update migrations set name = '0001_foundation' where number = 1`);
  await client.query(later);
  await client.end();
  const sentence = 'This database was created before the first release: create a new one.';
  await expect(migrate(own.connection)).rejects.toThrow(sentence);
  await expect(countVersionsBehind(own.connection)).rejects.toThrow(sentence);
  await own.drop();
});

it.each(['transfers', 'job_events'])(
  'the application role cannot change or delete rows of %s',
  async (table) => {
    const client = createConnection({ ...test.connection, options: '-c role=dragoman_app' });
    await client.connect();
    await expect(client.query(`update ${table} set created_at = now()`)).rejects.toThrow(/permission denied/);
    await expect(client.query(`delete from ${table}`)).rejects.toThrow(/permission denied/);
    await client.end();
  },
);

describe('a database owner with CREATEROLE that is not a superuser', () => {
  const OWNER = `dragoman_owner_${process.pid}`;
  const NAME = `dragoman_owned_${process.pid}`;

  it('can migrate, and the program then uses the application role, whatever options the database URL has', async () => {
    const admin = createConnection(test.connection);
    await admin.connect();
    await admin.query(`create role ${OWNER} login createrole password 'secret'`);
    await admin.query(`create database ${NAME} owner ${OWNER}`);
    // The server already has this role. Granting it with ADMIN OPTION makes the owner as privileged as the
    // role's creator.
    await admin.query(`grant dragoman_app to ${OWNER} with admin option`);
    const own = { ...withDatabase(test.connection, NAME), user: OWNER, password: 'secret' };
    await migrate(own);
    const { host, port } = own as { host?: string; port?: number };
    const url = `postgres://${OWNER}:secret@localhost:${port ?? 5432}/${NAME}?host=${encodeURIComponent(host ?? '')}`;
    for (const connection of [own, { connectionString: `${url}&options=-c%20search_path%3Dpublic` }]) {
      if (host === undefined && connection !== own) continue;
      const database = openDatabase(connection, createLog('silent'));
      const [row] = await database.query(WHO);
      expect(row).toEqual({ current_user: 'dragoman_app' });
      await database.close();
    }
    await admin.query(`drop database ${NAME} with (force)`);
    await admin.query(`drop role ${OWNER}`);
    await admin.end();
  });
});
