/** A soak of seconds, of which the growth is not asked; and the judgement with leaks planted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { type Look, runSoak, type SoakHistory } from './run.ts';
import { judge, theilSen } from './soak.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-soak-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('a short one is watched, finishes what it began, and leaves nothing behind', async () => {
  const { looks, refused, left } = await runSoak({ directory, seconds: 5, say: () => {} });
  expect({ refused, left }).toEqual({
    refused: [],
    left: { due: 0, unfinished: 0, files: [], discrepancies: 0 },
  });
  expect(looks.length).toBeGreaterThan(0);
  for (const look of looks) {
    for (const [name, value] of Object.entries(look)) expect(value, name).toBeGreaterThan(0);
  }
});

describe('the judgement', () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const looks = (change: (look: Look, index: number) => Partial<Look> = () => ({})): Look[] =>
    Array.from({ length: 40 }, (_, index) => {
      const look: Look = {
        ...{ at: index * 6, made: index * 500, walBytes: 64 * 2 ** 20 },
        // It warms up, and breathes.
        rssBytes: (180 + Math.min(index, 10)) * 2 ** 20,
        heapBytes: (60 + Math.min(index, 10) + (index % 3) / 4) * 2 ** 20,
        ...{
          handles: 20 + (index % 4),
          timers: 10,
          files: 60,
          connections: 16,
          statements: 120,
          engines: 12,
        },
      };
      return { ...look, ...change(look, index) };
    });
  const good: SoakHistory = {
    ...{ looks: looks(), rate: 100, capacity: 300, refused: [], walLimitBytes: 2 ** 30 },
    left: { due: 0, unfinished: 0, files: [], discrepancies: 0 },
  };
  const hours = (megabytes: number) =>
    looks((look, index) => ({
      at: index * 200,
      rssBytes: look.rssBytes + (index * 200 * megabytes * 2 ** 20) / 3_600,
    }));

  it('holds where nothing grows', () => {
    expect(allHeld(judge(good))).toBe(true);
    expect(allHeld(judge({ ...good, looks: hours(1) }))).toBe(true);
  });

  it.each<[string, Partial<SoakHistory>]>([
    [
      'each job leaves half a kilobyte',
      { looks: looks((look) => ({ heapBytes: look.heapBytes + look.made * 512 })) },
    ],
    ['memory grows for hours', { looks: hours(3) }],
    ['sockets stay open', { looks: looks((look, index) => ({ handles: look.handles + index })) }],
    ['timers are never cleared', { looks: looks((look, index) => ({ timers: look.timers + index })) }],
    ['files stay open', { looks: looks((look, index) => ({ files: look.files + 4 * index })) }],
    ['connections stay open', { looks: looks((look, index) => ({ connections: look.connections + index })) }],
    ['every question is prepared anew', { looks: looks((look) => ({ statements: look.made })) }],
    ['engines are started and not ended', { looks: looks((_, index) => ({ engines: 5 * index })) }],
    ['the log of writes grows', { looks: looks(() => ({ walBytes: 2 ** 31 })) }],
    ['requests are refused', { refused: ['503 GET /api/me'] }],
    ['something waits', { left: { ...good.left, due: 1 } }],
    ['a job is not done', { left: { ...good.left, unfinished: 1 } }],
    ['a file is left', { left: { ...good.left, files: ['upload-1'] } }],
    ['the ledger is wrong', { left: { ...good.left, discrepancies: 1 } }],
    ['nobody looked', { looks: [] }],
    ['nothing was made', { looks: looks(() => ({ made: 0 })) }],
  ])('is missed where %s', (_, planted) => {
    expect(allHeld(judge({ ...good, ...planted }))).toBe(false);
  });
});

it('a slope is not moved by what is far off', () => {
  const points = Array.from({ length: 21 }, (_, x) => [x, 2 * x + (x === 10 ? 1_000 : 0)] as const);
  expect(theilSen(points)).toBe(2);
  expect(theilSen([[1, 1]])).toBe(0);
});
