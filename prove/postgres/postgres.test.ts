/** Runs the postgres proof with few tasks, and tests that it misses a goal for each planted fault. */
import { describe, expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { FULL } from '../../scripts/full.ts';
import { shortRun, testJudgement } from '../harness/testing.ts';
import { judge } from './postgres.ts';
import { type PostgresHistory, runPostgres, type Visit } from './run.ts';

const run = shortRun('postgres', 1);

describe.runIf(FULL)('postgres proof', () => {
  it('finds that the service works on supported servers and poolers, and refuses the others', async () => {
    const figures = judge(await runPostgres({ ...run, tasks: 20 }));
    expect(figures.filter((figure) => !allHeld([figure]))).toEqual([]);
  });
});

const used: Visit = {
  name: 'Debian',
  isSupported: true,
  refusal: '',
  locks: 0,
  translations: ['La casa es grande.', 'Łódź: la casa cuesta 5 € 👍.'],
  queue: [40, 50],
};
const refused: Visit = { name: 'LATIN1', isSupported: false, refusal: 'It is LATIN1: use UTF8.\n', locks: 0 };
const good: PostgresHistory = { visits: [used, refused] };
const withUsed = (fields: Partial<Visit>) => ({ visits: [{ ...used, ...fields }, refused] });
const withRefused = (fields: Partial<Visit>) => ({ visits: [used, { ...refused, ...fields }] });

testJudgement(judge, good, [
  [
    'a supported server is refused',
    withUsed({ refusal: 'It is old: use another.\n', translations: [], queue: [] }),
  ],
  ['a job is not translated', withUsed({ translations: ['La casa es grande.'] })],
  ['a text loses its signs', withUsed({ translations: ['La casa es grande.', '?: la casa cuesta 5 ? ?.'] })],
  ['the queue is compiled for seconds', withUsed({ queue: [40, 3_500] })],
  ['a pooler in transaction mode is accepted', withRefused({ refusal: '' })],
  ['a refusal is a stack', withRefused({ refusal: 'Error: x\n    at main.ts:1:1\n' })],
  ['a refused start keeps its lock', withRefused({ locks: 1 })],
  ['only one server is visited', { visits: [used] }],
]);
