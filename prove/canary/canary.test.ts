/** The canary run; and its judgement with faults planted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { judge } from './canary.ts';
import { type CanaryHistory, runCanary } from './run.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-canary-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('what customers write is said nowhere, and gone when it is erased', async () => {
  const history = await runCanary(directory, () => {});
  expect(judge(history).filter((figure) => !allHeld([figure]))).toEqual([]);
});

describe('the judgement', () => {
  const hits = { log: 0, metrics: 0, errors: 0, before: 9, dump: 0, tables: 0, writeAheadLog: 9 };
  const good: CanaryHistory = { statuses: { 201: 2, 400: 2 }, hits, logLines: 50 };

  it('holds where it is found nowhere', () => {
    expect(allHeld(judge(good))).toBe(true);
  });

  it.each<[string, Partial<CanaryHistory>]>([
    ...(['log', 'metrics', 'errors', 'dump', 'tables'] as const).map(
      (place): [string, Partial<CanaryHistory>] => [`it is in ${place}`, { hits: { ...hits, [place]: 1 } }],
    ),
    ['it was never there', { hits: { ...hits, before: 0 } }],
    ['nothing was said', { logLines: 0 }],
    ['nothing was refused', { statuses: { 201: 4 } }],
  ])('is missed where %s', (_, planted) => {
    expect(allHeld(judge({ ...good, ...planted }))).toBe(false);
  });
});
