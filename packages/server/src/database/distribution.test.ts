/**
 * Tests how the tables of a database are distributed. One test needs a server with Citus, one a server without.
 * `npm run prove -- distributed` runs the program on a cluster.
 */
import { expect, inject, it } from 'vitest';
import { createTestDatabase } from '../testing/harness.ts';
import { dragoman, urlOf } from '../testing/programs.ts';
import { planDistribution } from './distribution.ts';
import { REFERENCE_TABLES } from './reference-tables.ts';

const { isDistributed } = inject('cluster');

const key = (from: string, to: string) => ({ name: `${from}_${to}`, from, to });

it('each table follows those that it references, and reference tables come last', () => {
  const keys = [key('segments', 'jobs'), key('balances', 'accounts'), key('jobs', 'jobs')];
  const { order, refused } = planDistribution(['balances', 'segments', 'jobs'], keys);
  expect(refused).toEqual([]);
  expect(order.slice(0, 2)).toEqual(['jobs', 'segments']);
  expect(order.indexOf('balances')).toBeGreaterThan(order.indexOf('accounts'));
  expect(order.toSorted()).toEqual(['balances', 'jobs', 'segments', ...REFERENCE_TABLES].sort());
});

it('foreign keys between reference tables and local tables, and from reference tables to others, are refused', () => {
  const refused = [key('accounts', 'brands'), key('keys', 'accounts')];
  const kept = [key('users', 'accounts'), key('brands', 'accounts'), key('pairs', 'prices')];
  expect(planDistribution(['brands'], [...refused, ...kept]).refused).toEqual(refused);
});

it('tables that reference each other are an error', () => {
  const keys = [key('a', 'b'), key('b', 'a')];
  expect(() => planDistribution(['a', 'b'], keys)).toThrow('tables reference each other: a, b');
});

it.skipIf(isDistributed)(
  'the command for a distributed database changes nothing without Citus, and the error says what is missing',
  async () => {
    const { connection, drop } = await createTestDatabase();
    const ended = await dragoman(['migrate', '--distributed'], { DATABASE_URL: urlOf(connection) });
    expect(ended).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'The database lacks the extension citus: on each node, run CREATE EXTENSION citus, and add the nodes.\n',
    });
    await drop();
  },
);

it.runIf(isDistributed)('the command deletes the hidden local rows of a run that ended early', async () => {
  const { connection, connectOwner, drop } = await createTestDatabase();
  const owner = await connectOwner();
  await owner.query('create table interrupted (part smallint, id integer, primary key (part, id))');
  await owner.query('insert into interrupted select part, 1 from generate_series(0, 99) as g (part)');
  await owner.query(`select create_distributed_table('interrupted', 'part', colocate_with => 'jobs')`);
  const read = `select (select count(*)::integer from interrupted) as rows, pg_relation_size('interrupted')::integer as bytes`;
  expect((await owner.query(read)).rows).toEqual([{ rows: 100, bytes: 8192 }]);
  const ended = await dragoman(['migrate', '--distributed'], { DATABASE_URL: urlOf(connection) });
  expect(ended).toEqual({
    status: 0,
    stdout: 'The schema is up to date.\nDistributed 0 tables.\n',
    stderr: '',
  });
  expect((await owner.query(read)).rows).toEqual([{ rows: 100, bytes: 0 }]);
  await drop();
});
