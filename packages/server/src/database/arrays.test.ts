/** Tests that PostgreSQL reads the arrays that the program writes in the binary format. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../testing/harness.ts';
import { encodeArray } from './arrays.ts';
import type { Database } from './database.ts';
import { statement } from './statements.ts';

const READ = statement<{ texts: string[]; json: unknown[]; bytes: Buffer[]; numbers: number[] }>(
  'test.arrays',
  `select array(select t from unnest(:texts::text[]) t) as texts, to_jsonb(:json::jsonb[]) as json,
          array(select b from unnest(:bytes::bytea[]) b) as bytes, :numbers::integer[] as numbers`,
);

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = test.database;
});
afterAll(() => test.drop());

it('writes texts, JSON and bytes as they are, with nulls', async () => {
  const texts = ['', '"\\{},', 'null', null, 'a\n😀é', '\\n'.repeat(100_000)];
  const json = ['{"text":"\\"\\\\😀"}', null, '[]', 'null'];
  const bytes = [Buffer.from([0, 1, 255]), null, Buffer.alloc(0)];
  const [row] = await database.query(READ, { texts, json, bytes, numbers: [1, 2] });
  expect(row).toEqual({
    texts,
    json: json.map((one) => (one === null ? null : JSON.parse(one))),
    bytes,
    numbers: [1, 2],
  });
});

it('writes empty arrays', async () => {
  const [row] = await database.query(READ, { texts: [], json: [], bytes: [], numbers: [] });
  expect(row).toEqual({ texts: [], json: [], bytes: [], numbers: [] });
});

it('refuses a text with a null character, as the driver does', async () => {
  const given = { texts: ['a\0b'], json: [], bytes: [], numbers: [] };
  await expect(database.query(READ, given)).rejects.toMatchObject({ code: '22021' });
});

it('leaves arrays of other values, null and arrays of arrays to the driver', () => {
  for (const value of [null, [1, 'a'], [['a']], [new Date(0)]])
    expect(encodeArray(value, 'text')).toBe(value);
});
