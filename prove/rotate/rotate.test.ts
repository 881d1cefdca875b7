/** The rotation run, short; and its judgement with faults planted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { judge } from './rotate.ts';
import { type RotateHistory, runRotate } from './run.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-rotate-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('nobody is refused while secrets and keys are rolled', async () => {
  const history = await runRotate({ directory, rolls: 1, seed: 1, say: () => {} });
  expect(judge(history).filter((figure) => !allHeld([figure]))).toEqual([]);
});

describe('the judgement', () => {
  const good: RotateHistory = {
    rolls: 1,
    asked: ['a', 'b'],
    received: [
      { id: 'b', verified: true },
      { id: 'a', verified: true },
    ],
    answers: [201, 201],
    revoked: [401],
  };

  it('holds where nobody is refused', () => {
    expect(allHeld(judge(good))).toBe(true);
  });

  it.each<[string, Partial<RotateHistory>]>([
    ['a signature is refused', { received: [...good.received, { id: 'a', verified: false }] }],
    ['a delivery never came', { received: good.received.slice(1) }],
    ['a good key is refused', { answers: [201, 401] }],
    ['a revoked key opens', { revoked: [200] }],
    ['no key was revoked', { revoked: [] }],
    ['nothing was asked for', { asked: [], received: [] }],
  ])('is missed where %s', (_, planted) => {
    expect(allHeld(judge({ ...good, ...planted }))).toBe(false);
  });
});
