/** Some runs of the sweep; what its planted failures do; and its judgement with faults planted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import type { Database, Transaction } from '../../packages/server/src/database/database.ts';
import { createFaulty } from './faulty.ts';
import { runSweep, type SweepHistory } from './run.ts';
import { judge } from './sweep.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-sweep-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('a customer’s orders end as they should, wherever the database fails', async () => {
  const history = await runSweep({ directory, runs: 6, seed: 1, say: () => {} });
  expect(history.runs.filter(({ faults }) => faults.length > 0)).toEqual([]);
  expect(history.runs).toHaveLength(6);
});

describe('a planted failure', () => {
  /** A database that writes down what takes effect. */
  function create() {
    const done: string[] = [];
    const transaction: Transaction = {
      inTransaction: true,
      query: async ({ name }) => {
        done.push(name);
        return [];
      },
    };
    const database = {
      query: transaction.query,
      transaction: async (work: (transaction: Transaction) => Promise<unknown>) => {
        const result = await work(transaction);
        done.push('commit');
        return result;
      },
    } as Database;
    return { done, faulty: createFaulty(database) };
  }
  const question = (name: string) => ({ name, text: '' });

  it('comes before its point, or after it took effect, once', async () => {
    for (const [mode, effects] of [
      ['before', ['one', 'three']],
      ['after', ['one', 'two', 'three']],
    ] as const) {
      const { done, faulty } = create();
      faulty.arm(1, mode);
      await faulty.query(question('one'));
      await expect(faulty.query(question('two'))).rejects.toThrow('planted');
      await faulty.query(question('three'));
      expect(done).toEqual(effects);
      expect(faulty.failed).toBe('two');
    }
  });

  it('is a commit whose answer is lost, or a statement inside', async () => {
    const after = create();
    after.faulty.arm(0, 'after');
    const work = (transaction: Transaction) => transaction.query(question('one'));
    await expect(after.faulty.transaction(work)).rejects.toMatchObject({ name: 'CommitUnknown' });
    expect(after.done).toEqual(['one', 'commit']);
    const inside = create();
    inside.faulty.arm(0, 'inside');
    await expect(inside.faulty.transaction(work)).rejects.toMatchObject({ code: '08006' });
    expect(inside.done).toEqual([]);
  });
});

describe('the judgement', () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const run = {
    scenario: 'orders',
    mode: 'before',
    at: 0,
    point: 'jobs.insert',
    faults: [] as string[],
  } as const;
  const one = { before: 1, after: 0, inside: 0 };
  const good: SweepHistory = { points: { orders: one, editing: one }, runs: [run] };

  it('holds where every run ends well', () => {
    expect(allHeld(judge(good, 1))).toBe(true);
  });

  it.each<[string, SweepHistory]>([
    ['a run ends badly', { ...good, runs: [run, { ...run, faults: ['a job is lost'] }] }],
    ['no point was reached', { ...good, runs: [{ ...run, point: undefined }] }],
  ])('is missed where %s', (_, planted) => {
    expect(allHeld(judge(planted, 1))).toBe(false);
  });
});
