/**
 * `npm run prove -- slow` checks three things. Slow clients are disconnected and do not slow down others. Long texts
 * of one account do not delay other accounts. The number of webhook secrets does not change the time of a delivery.
 * Flags: `--clients N` of each kind (default 170).
 */
import { type Figure, type Flags, quantile, type Report } from '../../bench/figures.ts';
import { runProof } from '../harness/run.ts';
import { runSlow, type SlowHistory, type Slowness } from './run.ts';

/**
 * The maximum seconds until the server closes the connection. A request body may have 10 MiB and come over a
 * slow connection, so its limit is the 30 s of a whole request. The service checks the limits once a second.
 */
const MOST_SECONDS: Record<Slowness, number> = {
  'says nothing': 8,
  'trickles its headers': 8,
  'trickles its body': 33,
};
const MOST_SLOWDOWN = 2;
/**
 * The maximum number of signatures of a delivery. It is not imported from the service, because the
 * documentation promises this number.
 */
const MOST_SIGNATURES = 5;
/**
 * The maximum seconds until a busy scanner process ends after its parent died. The process checks four times
 * a second whether the parent is alive.
 */
const MOST_ORPHAN_SECONDS = 2;

export async function proveSlow(flags: Flags): Promise<Report> {
  const { figures } = await runProof('slow', flags, async (options) =>
    judge(await runSlow({ ...options, clients: flags.numbers.clients ?? 170 })),
  );
  return { figures };
}

export function judge({ closed, alone, beside, secrets, texts }: SlowHistory): Figure[] {
  const last = texts.ended.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...texts.ended);
  const [quiet, busy] = [quantile(alone, 0.99), quantile(beside, 0.99)];
  const signatures = Math.max(...secrets.signatures);
  const [one, many] = [quantile(secrets.one, 0.5), quantile(secrets.many, 0.5)];
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
      name: `slow, signatures of ${secrets.signatures.length} deliveries of an account with thousands of secrets, most`,
      value: signatures,
      goal: `1 to ${MOST_SIGNATURES}`,
      held: signatures >= 1 && signatures <= MOST_SIGNATURES,
    },
    {
      name: 'slow, such a delivery, p50, as a multiple of one with one secret',
      value: (many / one).toFixed(2),
      goal: `at most ${MOST_SLOWDOWN}`,
      held: many <= MOST_SLOWDOWN * one,
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
