/**
 * `npm run prove -- soak` checks that the service does not grow while it works. Flags: `--minutes N` (default 3) or
 * `--hours N`. The growth of the resident memory has a goal from one hour on, because a younger process still fills
 * its caches. Shorter runs have a goal for the heap that each job leaves after a garbage collection.
 */
import { type Figure, type Flags, goalZero, median, type Report } from '../../bench/figures.ts';
import { runProof } from '../harness/run.ts';
import { runSoak, type Sample, type SoakHistory } from './run.ts';

const MINUTES = 3;
/**
 * The first part of the run, in which the service warms up, as a share of the run. Samples from this part are
 * ignored.
 */
const WARM = 1 / 3;
const LEAST_SAMPLES = 6;
const LONG_SECONDS = 3_600;
const GOALS = { rssMegabytesAnHour: 2, heapKilobytes: 256 };
/**
 * The accepted growth in the number of handles and other resources. A connection pool may grow to its maximum
 * size, and a connection of a callback may still be open.
 */
const GROWTH = { share: 1.25, more: 12 };
const MOST_ENGINES = 64;
/** The maximum number of refused requests that are printed. */
const SHOWN = 10;

export async function proveSoak(flags: Flags): Promise<Report> {
  const { hours, minutes = MINUTES } = flags.numbers;
  const seconds = hours === undefined ? minutes * 60 : hours * 3_600;
  const { figures } = await runProof('soak', flags, async (options) =>
    judge(await runSoak({ ...options, seconds })),
  );
  return { figures };
}

export function judge({ samples, rate, capacity, refused, walLimitBytes, left }: SoakHistory): Figure[] {
  const seconds = samples.at(-1)?.at ?? 0;
  const warm = samples.filter(({ at }) => at >= seconds * WARM);
  const made = samples.at(-1)?.made ?? 0;
  const heap = theilSen(warm.map(({ made, heapBytes }) => [made / 1_000, heapBytes / 1024]));
  const rss = theilSen(warm.map(({ at, rssBytes }) => [at / 3_600, rssBytes / 2 ** 20]));
  const measured = warm.length >= LEAST_SAMPLES && made > 0;
  const grows = (name: string, of: (sample: Sample) => number): Figure => {
    const middle = Math.ceil(warm.length / 2);
    const [early, late] = [warm.slice(0, middle), warm.slice(middle)].map((part) =>
      Math.max(0, ...part.map(of)),
    );
    const limit = Math.floor(Math.max(early! * GROWTH.share, early! + GROWTH.more));
    const value = `${late} after ${early}`;
    return { name: `soak, ${name}`, value, goal: `at most ${limit}`, held: measured && late! <= limit };
  };
  for (const answer of refused.slice(0, SHOWN)) process.stderr.write(`refused: ${answer}\n`);
  const wal = Math.max(0, ...samples.map(({ walBytes }) => walBytes));
  return [
    { name: 'soak, minutes', value: seconds / 60, unit: 'min' },
    { name: 'soak, requests a second, of those it takes', value: rate, unit: `/s of ${capacity.toFixed(0)}` },
    {
      name: 'soak, jobs and messages',
      value: made,
      goal: 'some, over enough samples',
      held: measured,
    },
    {
      name: 'soak, heap after collection, for every 1,000 jobs and messages',
      value: `${heap.toFixed(0)} KB`,
      goal: `at most ${GOALS.heapKilobytes} KB`,
      held: measured && heap <= GOALS.heapKilobytes,
    },
    seconds >= LONG_SECONDS
      ? {
          name: 'soak, resident memory',
          value: `${rss.toFixed(1)} MB an hour`,
          goal: `less than ${GOALS.rssMegabytesAnHour} MB an hour`,
          held: rss < GOALS.rssMegabytesAnHour,
        }
      : { name: 'soak, resident memory, judged from an hour on', value: rss, unit: 'MB an hour' },
    {
      name: 'soak, resident memory at the end',
      value: (samples.at(-1)?.rssBytes ?? 0) / 2 ** 20,
      unit: 'MB',
    },
    grows('sockets, pipes and servers', ({ handles }) => handles),
    grows('timers', ({ timers }) => timers),
    grows('open files', ({ files }) => files),
    grows('database connections', ({ connections }) => connections),
    grows('statements prepared on one', ({ statements }) => statements),
    grows('processes of engines', ({ engines }) => engines),
    {
      name: 'soak, processes of engines at the most',
      value: Math.max(0, ...samples.map(({ engines }) => engines)),
      goal: `at most ${MOST_ENGINES}`,
      held: samples.every(({ engines }) => engines <= MOST_ENGINES),
    },
    {
      name: 'soak, log of writes',
      value: `${(wal / 2 ** 20).toFixed(0)} MB`,
      goal: `at most ${(walLimitBytes / 2 ** 20).toFixed(0)} MB`,
      held: wal <= walLimitBytes,
    },
    goalZero('soak, requests that were refused', refused.length),
    goalZero('soak, due at the end', left.due),
    goalZero('soak, jobs, messages and deliveries not done', left.unfinished),
    goalZero('soak, temporary files left', left.files.length),
    goalZero('soak, discrepancies of the ledger', left.discrepancies),
  ];
}

/**
 * The Theil–Sen estimator: the median slope of all pairs of points, which is robust against outliers. Returns 0 for
 * fewer than two points.
 */
export function theilSen(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x, y], index) =>
    points
      .slice(index + 1)
      .flatMap(([otherX, otherY]) => (otherX === x ? [] : [(otherY - y) / (otherX - x)])),
  );
  return slopes.length === 0 ? 0 : median(slopes);
}
