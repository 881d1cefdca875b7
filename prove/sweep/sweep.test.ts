/** Runs the sweep proof with few failures, and tests its planted failures and its goals. */
import { describe, expect, it } from 'vitest';
import type { Database, Transaction } from '../../packages/server/src/database/database.ts';
import { FULL } from '../../scripts/full.ts';
import { shortRun, testJudgement } from '../harness/testing.ts';
import { createFaulty } from './faulty.ts';
import { judgeQuota, runSweep, type SweepHistory } from './run.ts';
import { judge } from './sweep.ts';

const run = shortRun('sweep', 1);

it.runIf(FULL)('sweep proof: every scenario ends as expected, wherever the database fails', async () => {
  const history = await runSweep({ ...run, runs: 6 });
  expect(history.runs.filter(({ faults }) => faults.length > 0)).toEqual([]);
  expect(history.runs).toHaveLength(6);
});

describe('planted failure of the sweep proof', () => {
  /** Returns a database that records which statements and commits take effect. */
  function create() {
    const done: string[] = [];
    const transaction: Transaction = {
      inTransaction: true,
      query: async ({ name }) => {
        done.push(name);
        return [];
      },
      changed: () => {},
    };
    const database: Partial<Database> = {
      limited: () => database as Database,
      query: transaction.query,
      transaction: async <T>(work: (transaction: Transaction) => Promise<T>) => {
        const result = await work(transaction);
        done.push('commit');
        return result;
      },
    };
    return { done, faulty: createFaulty(database as Database) };
  }
  const statement = (name: string) => ({ name, text: '' });

  it('makes one statement fail before or after it takes effect, and only once, also with a time limit', async () => {
    for (const [mode, effects] of [
      ['before', ['one', 'three']],
      ['after', ['one', 'two', 'three']],
    ] as const) {
      const { done, faulty } = create();
      faulty.arm(1, mode);
      await faulty.query(statement('one'));
      await expect(faulty.limited(1_000).query(statement('two'))).rejects.toThrow('planted');
      await faulty.query(statement('three'));
      expect(done).toEqual(effects);
      expect(faulty.failed).toBe('two');
    }
  });

  it('makes a commit lose its response, or a statement inside a transaction fail', async () => {
    const after = create();
    after.faulty.arm(0, 'after');
    const work = (transaction: Transaction) => transaction.query(statement('one'));
    await expect(after.faulty.transaction(work)).rejects.toMatchObject({ name: 'CommitUnknown' });
    expect(after.done).toEqual(['one', 'commit']);
    const inside = create();
    inside.faulty.arm(0, 'inside');
    await expect(inside.faulty.transaction(work)).rejects.toMatchObject({ code: '08006' });
    expect(inside.done).toEqual([]);
  });
});

const once = {
  scenario: 'orders',
  mode: 'before',
  at: 0,
  point: 'jobs.insert',
  faults: [] as string[],
} as const;
const points = { before: 1, after: 0, inside: 0 };
const good: SweepHistory = { points: { orders: points, editing: points }, runs: [once] };

testJudgement((history) => judge(history, 1), good, [
  ['a run ends badly', { runs: [once, { ...once, faults: ['a job is lost'] }] }],
  ['no point was reached', { runs: [{ ...once, point: undefined }] }],
]);

describe('sandbox quota in the sweep proof', () => {
  it('may count the words of a request once or twice if the database failed during this request', () => {
    for (const used of [4, 8]) expect(judgeQuota({ used, made: 4, disturbed: true })).toEqual([]);
    expect(judgeQuota({ used: 4, made: 4, disturbed: false })).toEqual([]);
  });

  it.each([
    ['a job of the sandbox is free', { used: 0, made: 4, disturbed: true }],
    ['a job is counted twice without a failure', { used: 8, made: 4, disturbed: false }],
    ['words of failed tries add up', { used: 12, made: 4, disturbed: true }],
  ])('a goal is missed with the planted fault: %s', (_, planted) => {
    expect(judgeQuota(planted)).toHaveLength(1);
  });
});
