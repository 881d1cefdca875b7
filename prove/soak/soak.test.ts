/** Runs a short soak proof without the goals for growth, and tests that it misses a goal for each planted leak. */
import { describe, expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { FULL } from '../../scripts/full.ts';
import { shortRun, testJudgement } from '../harness/testing.ts';
import { runSoak, type Sample, type SoakHistory } from './run.ts';
import { judge, theilSen } from './soak.ts';

const run = shortRun('soak');

describe.runIf(FULL)('soak proof', () => {
  it('finds all work finished, and no rows or files left behind', async () => {
    const { samples, refused, left } = await runSoak({ ...run, seconds: 5 });
    expect({ refused, left }).toEqual({
      refused: [],
      left: { due: 0, unfinished: 0, files: [], discrepancies: 0 },
    });
    expect(samples.length).toBeGreaterThan(0);
    for (const sample of samples) {
      for (const [name, value] of Object.entries(sample)) expect(value, name).toBeGreaterThan(0);
    }
  });
});

const samples = (change: (sample: Sample, index: number) => Partial<Sample> = () => ({})): Sample[] =>
  Array.from({ length: 40 }, (_, index) => {
    const sample: Sample = {
      at: index * 6,
      made: index * 500,
      walBytes: 64 * 2 ** 20,
      // The memory grows during the warm-up and varies after it.
      rssBytes: (180 + Math.min(index, 10)) * 2 ** 20,
      heapBytes: (60 + Math.min(index, 10) + (index % 3) / 4) * 2 ** 20,
      handles: 20 + (index % 4),
      timers: 10,
      files: 60,
      connections: 16,
      statements: 120,
      engines: 12,
    };
    return { ...sample, ...change(sample, index) };
  });
const good: SoakHistory = {
  samples: samples(),
  rate: 100,
  capacity: 300,
  refused: [],
  walLimitBytes: 2 ** 30,
  left: { due: 0, unfinished: 0, files: [], discrepancies: 0 },
};
/** Returns samples of more than two hours in which memory grows by a number of MiB per hour. */
const hours = (mebibytes: number) =>
  samples(({ rssBytes }, index) => ({
    at: index * 200,
    rssBytes: rssBytes + (index * 200 * mebibytes * 2 ** 20) / 3_600,
  }));

testJudgement(judge, good, [
  [
    'each job leaves half a kilobyte',
    { samples: samples(({ heapBytes, made }) => ({ heapBytes: heapBytes + made * 512 })) },
  ],
  ['memory grows for hours', { samples: hours(3) }],
  ['sockets stay open', { samples: samples(({ handles }, index) => ({ handles: handles + index })) }],
  ['timers are never cleared', { samples: samples(({ timers }, index) => ({ timers: timers + index })) }],
  ['files stay open', { samples: samples(({ files }, index) => ({ files: files + 4 * index })) }],
  [
    'connections stay open',
    { samples: samples(({ connections }, index) => ({ connections: connections + index })) },
  ],
  ['every query prepares a new statement', { samples: samples(({ made }) => ({ statements: made })) }],
  ['engine processes do not end', { samples: samples((_, index) => ({ engines: 5 * index })) }],
  ['the write-ahead log grows', { samples: samples(() => ({ walBytes: 2 ** 31 })) }],
  ['requests are refused', { refused: ['503 GET /api/me'] }],
  ['work is due', { left: { ...good.left, due: 1 } }],
  ['a job is not done', { left: { ...good.left, unfinished: 1 } }],
  ['a file is left', { left: { ...good.left, files: ['upload-1'] } }],
  ['the ledger is wrong', { left: { ...good.left, discrepancies: 1 } }],
  ['there are no samples', { samples: [] }],
  ['there are no jobs', { samples: samples(() => ({ made: 0 })) }],
]);

it('soak proof: all goals are reached by a long run whose memory grows by 1 MiB per hour', () => {
  expect(allHeld(judge({ ...good, samples: hours(1) }))).toBe(true);
});

it('theilSen estimates a slope that an outlier does not change', () => {
  const points = Array.from({ length: 21 }, (_, x) => [x, 2 * x + (x === 10 ? 1_000 : 0)] as const);
  expect(theilSen(points)).toBe(2);
  expect(theilSen([[1, 1]])).toBe(0);
});
