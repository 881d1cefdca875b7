/**
 * Tests that a page of a job list does not read more of the database when the account has more jobs, and that no
 * filter reads a multiple of the account's jobs. `explain` counts rows and buffers of plans that are made with and
 * without knowledge of the parameters.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { AccountRef } from '../../base/account.ts';
import type { Database } from '../../database/database.ts';
import { positionalValues, type Statement, type Values } from '../../database/statements.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/harness.ts';
import { readListQuery } from '../query.ts';
import { findJobPage } from './lists.ts';

interface Holder {
  account: AccountRef;
  jobs: number;
}
const holder = (digit: string, jobs: number): Holder => ({
  account: { part: 3, accountId: `${digit.repeat(8)}-0000-7000-8000-000000000000` } as AccountRef,
  jobs,
});
const SMALL = holder('1', 2_000);
const LARGE = holder('2', 16_000);

/** Every tenth job failed. The last 30 of these are the only failed jobs from German. */
const FILL = `
  insert into jobs (part, account_id, job_id, environment, tier, uid, request_hash, dialect, status, source_language,
    target_language, text_format, words, characters, price_cents, cents_per_word)
  select $1, $2, ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'production', 'human', 'many-' || n,
    '\\x00', 'spec', case when n % 10 = 0 then 'failed' else 'completed' end,
    case when n % 10 = 0 and n > $3 - 300 then 'de' when n % 10 = 5 then 'fr' else 'en' end,
    case when n % 3 = 0 then 'es' else 'pt' end, 'text', 1, 1, 0, 0
    from generate_series(1, $3::int) n`;
const COUNT = `
  insert into job_counts (part, account_id, environment, tier, status, source_language, target_language, jobs)
  select part, account_id, environment, tier, status, source_language, target_language, count(*)
    from jobs group by 1, 2, 3, 4, 5, 6, 7`;

let test: TestDatabase;
let owner: pg.Client;

interface Cost {
  rows: number;
  buffers: number;
}
interface PlanNode {
  'Node Type': string;
  'Actual Loops': number;
  'Actual Rows': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

/** Returns the number of rows and index entries that a plan read from tables. */
function countRead(node: PlanNode): number {
  const isTable = /^(Seq|Index|Index Only|Bitmap Heap) Scan$/.test(node['Node Type']);
  const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = node;
  const own = isTable ? (node['Actual Rows'] + filtered + rechecked) * node['Actual Loops'] : 0;
  return (node.Plans ?? []).reduce((sum, child) => sum + countRead(child), own);
}

const literal = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `array[${value.map(literal).join(', ')}]::text[]`;
  return pg.escapeLiteral(value instanceof Date ? value.toISOString() : String(value));
};

/** Returns the cost of a page: the sum of its statements. */
async function costOf({ account }: Holder, query: string, mode: string): Promise<Cost> {
  const cost: Cost = { rows: 0, buffers: 0 };
  const explain = async (statement: Statement, given: Values) => {
    const values = positionalValues(statement, given).map(literal);
    const name = `"${statement.name}"`;
    await owner.query(`prepare ${name} as ${statement.text}`);
    const run = `execute ${name}(${values.join(', ')})`;
    const explained = await owner.query(`explain (analyze, buffers, format json) ${run}`);
    const plan: PlanNode = explained.rows[0]['QUERY PLAN'][0].Plan;
    cost.rows += countRead(plan);
    cost.buffers += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    const { rows } = await owner.query(run);
    await owner.query(`deallocate ${name}`);
    return rows;
  };
  await owner.query(`set plan_cache_mode = ${mode}`);
  const caller = { account, environment: 'production' as const };
  const listQuery = readListQuery(new URLSearchParams(query), 'human');
  const { jobs } = await findJobPage({ query: explain } as unknown as Database, caller, listQuery);
  expect(jobs.length, query).toBeGreaterThan(0);
  return cost;
}

const FIXED = [
  '',
  'order_by=-created',
  'after=many-1500',
  'after=many-1500&order_by=-created',
  'status=completed',
  'status=failed',
  'status=failed&order_by=-created',
  'status=failed&source_language=de',
  'source_language=fr',
  'target_language__nin=pt',
  'uid=many-1500',
];
const ANY = [
  ...FIXED,
  'limit=1000&offset=900',
  'status=failed&limit=1000',
  'uid__startswith=many&limit=1000',
  'uid__contains=many',
  'uid__contains=ma&limit=1000',
  'uid__contains=ma&source_language=en',
  'uid__endswith=77',
  'uid__endswith=0&status=failed',
  'created__gte=2020-01-01&limit=1000',
  'created__gte=2020-01-01&status=failed',
  'created__lt=2100-01-01&source_language=en',
];

beforeAll(async () => {
  test = await createTestDatabase();
  owner = await test.connectOwner();
  await owner.query('alter table jobs set (autovacuum_enabled = off)');
  for (const { account, jobs } of [SMALL, LARGE]) {
    await owner.query(FILL, [account.part, account.accountId, jobs]);
  }
  await owner.query(COUNT);
});
afterAll(() => test.drop());

const MODES = ['force_custom_plan', 'force_generic_plan'];

/** Citus prints the plan of a prepared statement on a node as text, also in JSON, and without its buffers. */
const { isDistributed } = inject('cluster');

describe.skipIf(isDistributed).each(MODES)('a page of jobs, %s', (mode) => {
  /** `pg_statistic` is empty in a table's first minute. The planner then considers every account small. */
  it.each(['without', 'with'])(
    'reads no multiple of the account’s jobs, %s statistics',
    async (statistics) => {
      await owner.query(statistics === 'with' ? 'analyze jobs' : 'delete from pg_statistic');
      for (const query of ANY) {
        const { rows } = await costOf(SMALL, query, mode);
        expect(rows, query).toBeLessThanOrEqual(5 * SMALL.jobs);
      }
    },
  );

  it('reads the same number of rows and buffers when the account is larger', async () => {
    await owner.query('analyze jobs');
    for (const query of FIXED) {
      const small = await costOf(SMALL, query, mode);
      const large = await costOf(LARGE, query, mode);
      expect(large.rows, `rows of ${query}`).toBeLessThanOrEqual(small.rows * 1.2 + 10);
      expect(large.buffers, `buffers of ${query}`).toBeLessThanOrEqual(small.buffers * 1.2 + 10);
    }
  });
});
