/** Tests how the distributed proof reads plans, and what it does without a cluster. */
import { expect, it, vi } from 'vitest';
import { judge, proveDistributed } from './distributed.ts';
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

it('counts statements by their place, without those of the coordinator alone', () => {
  const figures = judge(47, [
    { name: 'a', place: 'local' },
    { name: 'b', place: 'one' },
    { name: 'c', place: 'refused', reason: 'not supported' },
  ]);
  expect(figures).toContainEqual({ name: 'distributed, statements on one node', value: 1, unit: 'of 2' });
  expect(figures).toContainEqual({ name: 'distributed, statements refused', value: 1, unit: 'of 2' });
});

it('says that it needs a cluster when no address is set', async () => {
  vi.stubEnv('DISTRIBUTED_DATABASE_URL', undefined);
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const report = await proveDistributed({ names: [], json: false, numbers: {}, words: {} });
  expect(report.figures).toEqual([]);
  expect(written).toHaveBeenCalledWith('DISTRIBUTED_DATABASE_URL is not set: nothing was run\n');
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});
