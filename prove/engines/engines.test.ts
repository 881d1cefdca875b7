import { describe, expect, it } from 'vitest';
import type { Piece, Segment } from '../../packages/documents/src/documents.ts';
import { findApertium } from '../../packages/engines/src/engines.ts';
import { FULL } from '../../scripts/full.ts';
import { privateApertium } from '../../scripts/test-tools.ts';
import { CHECKS } from './checks.ts';
import { createApertiumUnderFaults, createBergamotUnderFaults, type EngineUnderFaults } from './faults.ts';
import { type EngineHistory, runEngines } from './run.ts';

const faults = (history: EngineHistory) =>
  Object.entries(CHECKS).flatMap(([name, check]) => (check(history).length > 0 ? [name] : []));

const segment = (id: string): Segment => ({
  id,
  unit: 0,
  pieces: [{ keep: 1, text: `MARK-${id.replace('.', '-')}` }, { text: ' x' }],
});
const NONE: ReadonlySet<string> = new Set();
const batch = (
  number: number,
  change: Partial<{ pieces: Piece[]; as: Segment; route: string; foreign: boolean }> = {},
) => {
  const asked = [segment(`${number}.0`)];
  const foreign = change.foreign ? new Set([`${number}.0`]) : NONE;
  const answered = asked.map((one) => ({
    segment: change.as ?? one,
    status: 'translated' as const,
    pieces: change.pieces ?? one.pieces,
    route: change.route ?? 'r',
    notes: [],
  }));
  return { asked, answered, foreign };
};

describe('checks of the engines proof', () => {
  const kept = batch(2, { foreign: true, route: 'kept:script' });
  const sound: EngineHistory = {
    batches: [batch(0), batch(1), kept],
    faults: { killed: 1, stopped: 1 },
    isRandom: false,
  };
  const changed: Piece[] = [{ keep: 1, text: 'MARK-0-0' }, { text: ' X' }];

  it('report nothing when the history has no fault', () => expect(faults(sound)).toEqual([]));

  it.each<[string, EngineHistory]>([
    [
      'every batch ends',
      { ...sound, batches: [{ asked: [segment('0.0')], foreign: NONE, answered: undefined }] },
    ],
    [
      'no segment is lost',
      {
        ...sound,
        batches: [
          ...Array.from({ length: 20 }, (_, n) => batch(n)),
          { asked: [segment('2.0'), segment('2.1')], foreign: NONE, answered: batch(2).answered },
        ],
      },
    ],
    ['no segment is swapped', { ...sound, batches: [batch(0, { pieces: segment('1.0').pieces }), batch(1)] }],
    ['no segment is swapped', { ...sound, batches: [batch(0, { as: segment('1.0') }), batch(1)] }],
    ['no code is lost', { ...sound, batches: [batch(0, { pieces: [{ text: 'x' }] })] }],
    ['what is not in the source language is kept', { ...sound, batches: [batch(0, { foreign: true })] }],
    [
      'what is not in the source language is kept',
      { ...sound, batches: [batch(0, { foreign: true, route: 'kept:script', pieces: changed })] },
    ],
    ['each kind of fault was injected', { ...sound, faults: { killed: 0, stopped: 1 } }],
  ])('the check "%s" finds the planted fault', (name, history) => {
    expect(faults(history)).toContain(name);
  });

  it('the check "most are translated" finds the planted fault', () => {
    const failed = {
      segment: segment('0.0'),
      status: 'failed' as const,
      reason: 'x',
      retry: 'soon' as const,
    };
    expect(
      faults({ ...sound, batches: [{ asked: [segment('0.0')], foreign: NONE, answered: [failed] }] }),
    ).toEqual(['most are translated']);
  });
});

const { missing } = await findApertium(privateApertium());
const hasApertium = missing.length === 0 || process.env.CI === 'true';
describe.runIf(FULL)('engines proof', () => {
  it.each<[string, () => EngineUnderFaults | Promise<EngineUnderFaults>]>([
    ...(hasApertium ? [['Apertium', createApertiumUnderFaults] as [string, () => EngineUnderFaults]] : []),
    ['Bergamot', createBergamotUnderFaults],
  ])('finds no lost or swapped segment when faults are injected into %s', async (_, create) => {
    const subject = await create();
    const history = await runEngines({ subject, seed: 7, batches: 80, every: 12, say: () => {} });
    expect(history.batches).toHaveLength(80);
    expect(faults(history)).toEqual([]);
  });
});
