/**
 * `npm run prove -- slow`: slow clients are closed and slow nobody down, and one account's long texts delay no other
 * account. Flags: `--clients N` of each kind (170).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Figure, type Flags, quantile, type Report } from '../../bench/figures.ts';
import { runSlow, type SlowHistory, type Slowness } from './run.ts';

/**
 * Seconds. A body may be ten mebibytes over a thin line, so it has the 30 s of the service's limit for a whole
 * request, and a look a second.
 */
const MOST_SECONDS: Record<Slowness, number> = {
  'says nothing': 8,
  'trickles its headers': 8,
  'trickles its body': 33,
};
const MOST_SLOWDOWN = 2;
/** A busy process looks four times a second whether its program is alive. */
const MOST_ORPHAN_SECONDS = 2;

export async function proveSlow({ numbers }: Flags): Promise<Report> {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-slow-'));
  try {
    const say = (line: string) => process.stderr.write(`${line}\n`);
    return { figures: judge(await runSlow({ directory, clients: numbers.clients ?? 170, say })) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function judge({ closed, alone, beside, texts }: SlowHistory): Figure[] {
  const last = texts.ended.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...texts.ended);
  const [quiet, busy] = [quantile(alone, 0.99), quantile(beside, 0.99)];
  return [
    ...Object.entries(closed).map(([kind, times]) => {
      const seconds = times.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...times) / 1000;
      const most = MOST_SECONDS[kind as Slowness];
      return {
        name: `slow, a client that ${kind}, last of ${times.length} closed after`,
        value: `${seconds.toFixed(1)} s`,
        goal: `at most ${most} s`,
        held: seconds <= most,
      };
    }),
    { name: 'slow, an ordinary request alone, p99', value: quiet, unit: 'ms' },
    { name: 'slow, an ordinary request beside them, p99', value: busy, unit: 'ms' },
    {
      name: 'slow, p99 beside slow clients, as a multiple of alone',
      value: (busy / quiet).toFixed(2),
      goal: `at most ${MOST_SLOWDOWN}`,
      held: busy <= MOST_SLOWDOWN * quiet,
    },
    {
      name: 'slow, requests answered before the long texts of another account',
      value: texts.answeredFirst,
      goal: String(texts.others),
      held: texts.others > 0 && texts.answeredFirst === texts.others,
    },
    {
      name: `slow, last of ${texts.ended.length} busy scanner processes ended after its program was killed`,
      value: `${last.toFixed(1)} s`,
      goal: `at most ${MOST_ORPHAN_SECONDS} s`,
      held: last <= MOST_ORPHAN_SECONDS,
    },
  ];
}
