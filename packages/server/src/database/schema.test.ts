import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../testing/harness.ts';
import { migrate } from './migrate.ts';
import { describeSchema } from './schema.ts';

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
  const client = new pg.Client(test.connection);
  await client.connect();
  await client.query('alter table jobs add column planted integer');
  await client.end();
  const written = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');
  expect(await describeSchema(test.connection)).not.toBe(written);
});

it('applies each migration once, whoever asks and however many at a time', async () => {
  const again = await Promise.all([1, 2, 3].map(() => migrate(test.connection)));
  expect(again).toEqual([[], [], []]);
});

it('refuses a database that a newer version made', async () => {
  const client = new pg.Client(test.connection);
  await client.connect();
  await client.query(`insert into migrations (number, name) values (9999, '9999_from_the_future')`);
  await expect(migrate(test.connection)).rejects.toThrow(/run a newer version/);
  await client.query('delete from migrations where number = 9999');
  await client.end();
});

it.each(['transfers', 'job_events'])(
  'does not let the program change or remove rows of %s',
  async (table) => {
    const client = new pg.Client({ ...test.connection, options: '-c role=dragoman_app' });
    await client.connect();
    await expect(client.query(`update ${table} set created_at = now()`)).rejects.toThrow(/permission denied/);
    await expect(client.query(`delete from ${table}`)).rejects.toThrow(/permission denied/);
    await client.end();
  },
);
