/** The page that a whole run writes. */
import { expect, it } from 'vitest';
import type { Report } from '../bench/figures.ts';
import { describeReport } from '../bench/report.ts';

const page = { title: 'Proofs', lead: 'By hand.', reasons: { 'crash, jobs': 'the disk | is slow' } };
const reports: Record<string, Report> = {
  crash: {
    seed: 7,
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

it('has every figure beside its goal, and says why one is missed', () => {
  expect(describeReport(page, reports, 'today.')).toBe(`# Proofs

By hand.

Made today.

**1 of 3 goals held.** A figure without a goal is there to be compared.

## crash

Seed 7.

| figure | value | goal | |
| --- | --- | --- | --- |
| crash, kills | 8.00 kills |  |  |
| crash, jobs lost | 1 | 0 | **missed**: the disk \\| is slow |
| crash, balances wrong | 0 | 0 | held |
| creations | 3000 jobs/s, ratio 0.50 against pgbench | 1 | **missed** |
`);
});
