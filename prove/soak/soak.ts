/**
 * `npm run prove -- soak`: nothing grows while the program works. Flags: `--minutes N` (3) or `--hours N`. The slope of
 * its memory is judged from an hour on, since a younger process still fills its caches; before, what each job leaves on
 * the heap after a garbage collection is.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Figure, type Flags, median, type Report } from '../../bench/figures.ts';
import { type Look, runSoak, type SoakHistory } from './run.ts';

const MINUTES = 3;
/** Looks before this share of the run are of a program that is warming up. */
const WARM = 1 / 3;
const LEAST_LOOKS = 6;
const LONG_SECONDS = 3_600;
const GOALS = { rssMegabytesAnHour: 2, heapKilobytes: 256 };
/** What may come and go: a pool that grows to its size, a callback's connection that is still open. */
const GROWTH = { share: 1.25, more: 12 };
const MOST_ENGINES = 64;
/** Refusals that are told of one by one. */
const SHOWN = 10;

export async function proveSoak({ numbers }: Flags): Promise<Report> {
  const seconds = numbers.hours === undefined ? (numbers.minutes ?? MINUTES) * 60 : numbers.hours * 3_600;
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-soak-'));
  try {
    const say = (line: string) => process.stderr.write(`${line}\n`);
    return { figures: judge(await runSoak({ directory, seconds, say })) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function judge({ looks, rate, capacity, refused, walLimitBytes, left }: SoakHistory): Figure[] {
  const seconds = looks.at(-1)?.at ?? 0;
  const warm = looks.filter(({ at }) => at >= seconds * WARM);
  const made = looks.at(-1)?.made ?? 0;
  const heap = theilSen(warm.map((look) => [look.made / 1_000, look.heapBytes / 1024]));
  const rss = theilSen(warm.map(({ at, rssBytes }) => [at / 3_600, rssBytes / 2 ** 20]));
  const enough = warm.length >= LEAST_LOOKS && made > 0;
  const grows = (name: string, of: (look: Look) => number): Figure => {
    const middle = Math.ceil(warm.length / 2);
    const [early, late] = [warm.slice(0, middle), warm.slice(middle)].map((part) =>
      Math.max(0, ...part.map(of)),
    );
    const limit = Math.floor(Math.max(early! * GROWTH.share, early! + GROWTH.more));
    const value = `${late} after ${early}`;
    return { name: `soak, ${name}`, value, goal: `at most ${limit}`, held: enough && late! <= limit };
  };
  const none = (name: string, value: number): Figure => ({
    ...{ name: `soak, ${name}`, value, goal: '0', held: value === 0 },
  });
  for (const answer of refused.slice(0, SHOWN)) process.stderr.write(`refused: ${answer}\n`);
  const wal = Math.max(0, ...looks.map(({ walBytes }) => walBytes));
  return [
    { name: 'soak, minutes', value: seconds / 60, unit: 'min' },
    { name: 'soak, requests a second, of those it takes', value: rate, unit: `/s of ${capacity.toFixed(0)}` },
    {
      name: 'soak, jobs and messages',
      value: made,
      goal: 'some, over enough looks',
      held: enough,
    },
    {
      name: 'soak, heap after collection, for every 1,000 jobs and messages',
      value: `${heap.toFixed(0)} KB`,
      goal: `at most ${GOALS.heapKilobytes} KB`,
      held: enough && heap <= GOALS.heapKilobytes,
    },
    seconds >= LONG_SECONDS
      ? {
          name: 'soak, resident memory',
          value: `${rss.toFixed(1)} MB an hour`,
          goal: `less than ${GOALS.rssMegabytesAnHour} MB an hour`,
          held: rss < GOALS.rssMegabytesAnHour,
        }
      : { name: 'soak, resident memory, judged from an hour on', value: rss, unit: 'MB an hour' },
    { name: 'soak, resident memory at the end', value: (looks.at(-1)?.rssBytes ?? 0) / 2 ** 20, unit: 'MB' },
    grows('sockets, pipes and servers', ({ handles }) => handles),
    grows('timers', ({ timers }) => timers),
    grows('open files', ({ files }) => files),
    grows('database connections', ({ connections }) => connections),
    grows('statements prepared on one', ({ statements }) => statements),
    grows('processes of engines', ({ engines }) => engines),
    {
      name: 'soak, processes of engines at the most',
      value: Math.max(0, ...looks.map(({ engines }) => engines)),
      goal: `at most ${MOST_ENGINES}`,
      held: looks.every(({ engines }) => engines <= MOST_ENGINES),
    },
    {
      name: 'soak, log of writes',
      value: `${(wal / 2 ** 20).toFixed(0)} MB`,
      goal: `at most ${(walLimitBytes / 2 ** 20).toFixed(0)} MB`,
      held: wal <= walLimitBytes,
    },
    none('requests that were refused', refused.length),
    none('due at the end', left.due),
    none('jobs, messages and deliveries not done', left.unfinished),
    none('temporary files left', left.files.length),
    none('discrepancies of the ledger', left.discrepancies),
  ];
}

/** The median of the slopes between all pairs of points: one that is far off moves it little. 0 of fewer than two. */
export function theilSen(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x, y], index) =>
    points
      .slice(index + 1)
      .flatMap(([otherX, otherY]) => (otherX === x ? [] : [(otherY - y) / (otherX - x)])),
  );
  return slopes.length === 0 ? 0 : median(slopes);
}
