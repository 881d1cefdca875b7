import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../log.ts';
import { withDatabase } from '../testing/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../testing/harness.ts';
import { createConnection } from './connections.ts';
import { openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { describeSchema } from './schema.ts';
import { statement } from './statements.ts';

const WHO = statement<{ current_user: string }>('test.schema_user', 'select current_user');

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('keeps schema.sql equal to what the migrations make', async () => {
  const written = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');
  expect(await describeSchema(test.connection), 'run: npm run schema').toBe(written);
});

it('notices a change of the schema', async () => {
  const client = createConnection(test.connection);
  await client.connect();
  await client.query('alter table jobs add column planted integer');
  await client.end();
  const written = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');
  expect(await describeSchema(test.connection)).not.toBe(written);
});

it('sets n_distinct = 1 on the part of every table', async () => {
  const client = createConnection(test.connection);
  await client.connect();
  const { rows } = await client.query(
    `select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind = 'r' and a.attname = 'part'
        and (not coalesce(a.attoptions, '{}') @> '{n_distinct=1}' or a.attstattarget is distinct from 1)`,
  );
  await client.end();
  // For a new table: alter column part set (n_distinct = 1), set statistics 1 (0010_part_statistics.sql).
  // PostgreSQL 15.20 adds options of its own (pg_attver), so other options are allowed.
  expect(rows).toEqual([]);
});

it('applies each migration once, whoever asks and however many at a time', async () => {
  const again = await Promise.all([1, 2, 3].map(() => migrate(test.connection)));
  expect(again).toEqual([[], [], []]);
});

it('refuses a database that a newer version made', async () => {
  const client = createConnection(test.connection);
  await client.connect();
  await client.query(`insert into migrations (number, name) values (9999, '9999_from_the_future')`);
  await expect(migrate(test.connection)).rejects.toThrow(/run a newer version/);
  await client.query('delete from migrations where number = 9999');
  await client.end();
});

it.each(['transfers', 'job_events'])(
  'does not let the program change or remove rows of %s',
  async (table) => {
    const client = createConnection({ ...test.connection, options: '-c role=dragoman_app' });
    await client.connect();
    await expect(client.query(`update ${table} set created_at = now()`)).rejects.toThrow(/permission denied/);
    await expect(client.query(`delete from ${table}`)).rejects.toThrow(/permission denied/);
    await client.end();
  },
);

describe('an owner who may make roles and is no superuser', () => {
  const OWNER = `dragoman_owner_${process.pid}`;
  const NAME = `dragoman_owned_${process.pid}`;

  it('migrates, and the program works as the application, whatever options the address brings', async () => {
    const admin = createConnection(test.connection);
    await admin.connect();
    await admin.query(`create role ${OWNER} login createrole password 'secret'`);
    await admin.query(`create database ${NAME} owner ${OWNER}`);
    // The role exists in this cluster already; who made it may give it away, as on a server of one's own.
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
