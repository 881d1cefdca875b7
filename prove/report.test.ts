/** Tests the report page of a whole run, runs with errors, and the age of the last full run of the tests. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it, vi } from 'vitest';
import { allHeld, type Report, runOne, summarise } from '../bench/figures.ts';
import { describeReport } from '../bench/report.ts';
import { FULL, LAST_FULL_RUN } from '../scripts/full.ts';

const page = { title: 'Proofs', lead: 'By hand.', reasons: { 'crash, jobs': 'the disk | is slow' } };
const reports: Record<string, Report> = {
  crash: {
    seed: 7,
    seconds: 64.4,
    figures: [
      { name: 'crash, kills', value: 8, unit: 'kills' },
      { name: 'crash, jobs lost', value: 1, goal: '0', held: false },
      { name: 'crash, balances wrong', value: 0, goal: '0', held: true },
      {
        name: 'creations',
        value: 3000,
        unit: 'jobs/s',
        ratio: { value: 0.5, against: 'pgbench', atLeast: 1 },
      },
    ],
  },
};

it('report of a run: lists every figure with its goal and, if the goal was missed, the reason', () => {
  expect(describeReport(page, reports, 'today.')).toBe(`# Proofs

By hand.

Made today. All of it took 1 min.

**1 of 3 goals held.** A figure without a goal is there to be compared.

## crash

Seed 7. Took 64 s.

| figure | value | goal | |
| --- | --- | --- | --- |
| crash, kills | 8.00 kills |  |  |
| crash, jobs lost | 1 | 0 | **missed**: the disk \\| is slow |
| crash, balances wrong | 0 | 0 | held |
| creations | 3000 jobs/s, ratio 0.50 against pgbench | 1 | **missed** |
`);
});

it('run of several proofs: continues after a proof that throws, which counts as a missed goal', async () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const fail = async () => Promise.reject(new Error('the port is taken\nand more'));
  const report = await runOne('slow', fail, { names: [], json: false, numbers: {}, words: {} });
  vi.restoreAllMocks();
  expect(allHeld(report.figures)).toBe(false);
  expect(report.seconds).toBeGreaterThanOrEqual(0);
  expect(summarise({ slow: report, crash: reports.crash! })).toEqual([
    '1 of 4 goals held',
    'slow, completed: the port is taken, goal yes, missed',
    'crash, jobs lost: 1, goal 0, missed',
    'creations: 3000 jobs/s, ratio 0.50 against pgbench, goal 1, missed',
  ]);
});

it('run of several proofs: continues after an unhandled error, which counts as a missed goal', async () => {
  const script = `
    const { runNamed } = await import(${JSON.stringify(new URL('../bench/figures.ts', import.meta.url).href)});
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const held = { name: 'the rest', value: 1, goal: '1', held: true };
    const rejects = async () => {
      const working = [Promise.reject(new Error('no lease'))];
      await turn();
      await Promise.allSettled(working);
      return { seed: 7, figures: [held] };
    };
    const throws = async () => {
      setImmediate(() => { throw undefined; });
      await turn();
      await turn();
      return { figures: [held] };
    };
    const last = async () => {
      void Promise.reject(new Error('at the very end'));
      return { figures: [held] };
    };
    await runNamed({ rejects, throws, last, whole: async () => ({ figures: [held] }) }, {}, async () => {
      process.stdout.write('tidied\\n');
    });`;
  const args = ['--input-type=module', '-e', script, 'script', 'rejects', 'throws', 'last', 'whole'];
  const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) =>
    execFile(process.execPath, args, (error, output) => resolve({ code: error?.code, output })),
  );
  expect(output.split('\n')).toEqual([
    'tidied',
    'the rest: 1, goal 1, held',
    'rejects, unhandled errors: no lease, goal none, missed',
    'seed: 7',
    'tidied',
    'the rest: 1, goal 1, held',
    'throws, unhandled errors: undefined, goal none, missed',
    'tidied',
    'the rest: 1, goal 1, held',
    'last, unhandled errors: at the very end, goal none, missed',
    'tidied',
    'the rest: 1, goal 1, held',
    '',
  ]);
  expect(code).toBe(1);
});

// The full run itself renews it.
it.skipIf(FULL)('the last full run of the tests is at most 200 commits old', async ({ skip }) => {
  const git = (...args: string[]) =>
    promisify(execFile)('git', args, { cwd: import.meta.dirname }).then(({ stdout }) => stdout.trim());
  // A release has no history, and a shallow clone only its last commits.
  const isShallow = await git('rev-parse', '--is-shallow-repository').catch(() => 'true');
  if (isShallow === 'true') skip();
  const { commit, ran } = JSON.parse(readFileSync(LAST_FULL_RUN, 'utf8'));
  const age = Number(await git('rev-list', '--count', `${commit}..HEAD`));
  const since = ran
    ? 'the last `npm run test:full`'
    : 'this test was added; `npm run test:full` was never run';
  expect(age, `commits since ${since}`).toBeLessThanOrEqual(200);
});
