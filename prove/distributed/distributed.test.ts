/** Tests how the distributed proof reads plans, and what it does without a cluster. */
import { expect, it, vi } from 'vitest';
import { testJudgement } from '../harness/testing.ts';
import { type DistributedHistory, judge, proveDistributed } from './distributed.ts';
import { placeOf } from './plans.ts';

it.each([
  ['Seq Scan on users', 'local'],
  ['Custom Scan (Citus Adaptive)\n  Task Count: 1', 'one'],
  ['Custom Scan (Citus Adaptive)\n  ->  Distributed Subplan 3_1\n  Task Count: 1', 'steps'],
  ['Custom Scan (Citus INSERT ... SELECT)\n  INSERT/SELECT method: pull to coordinator', 'steps'],
  ['Custom Scan (Citus Adaptive)\n  ->  Distributed Subplan 3_1\n  Task Count: 16', 'all'],
])('reads from the plan %j that a statement runs in the place %s', (text, place) => {
  expect(placeOf(text)).toBe(place);
});

const good: DistributedHistory = {
  orders: [],
  arrivals: [],
  kills: [1, 2],
  databaseKills: 1,
  holdMilliseconds: 0,
  deliveriesAtATime: 1,
  jobs: [],
  transfers: [],
  deliveries: [],
  balances: [],
  faults: ['api', 'coordinator:5432'],
  ledger: '',
  tables: 47,
  statements: [
    { name: 'a', place: 'local' },
    { name: 'b', place: 'one' },
  ],
};

it('counts statements by their place, without those of the coordinator alone', () => {
  expect(judge(good)).toContainEqual({
    name: 'distributed, statements on one node',
    value: 1,
    unit: 'of 1',
  });
});

testJudgement(judge, good, [
  ['a statement is refused', { statements: [{ name: 'c', place: 'refused', reason: 'not supported' }] }],
  ['the ledger has a fault', { ledger: 'The balance of nodes is wrong.' }],
  [
    'a check found something',
    { balances: [{ account: 'nodes', environment: 'sandbox', availableCents: 1 }] },
  ],
]);

it('says that it needs a cluster when no address is set', async () => {
  vi.stubEnv('DISTRIBUTED_DATABASE_URL', undefined);
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const report = await proveDistributed({ names: [], json: false, numbers: {}, words: {} });
  expect(report.figures).toEqual([]);
  expect(written).toHaveBeenCalledWith('DISTRIBUTED_DATABASE_URL is not set: nothing was run\n');
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});
