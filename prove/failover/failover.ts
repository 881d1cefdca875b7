/**
 * `npm run prove -- failover` kills, freezes and cuts off the primary of three PostgreSQL servers under Patroni. Flags:
 * `--faults N` (default 20), `--seed N`. It needs Debian's packages postgresql, patroni and etcd-server, and installs them
 * when run as root.
 */
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { CHECKS } from '../crash/checks.ts';
import { summarize } from '../crash/crash.ts';
import { checkFigures, runProof } from '../harness/run.ts';
import { FAULTS, type FailoverHistory, runFailover } from './run.ts';
import { findTools } from './tools.ts';

/** The maximum seconds until the service stores jobs again, and until the slowest request is answered. */
const MOST_SECONDS = 15;
const SETTLE_SECONDS = 60;

export async function proveFailover(flags: Flags): Promise<Report> {
  return runProof('failover', flags, async (options) => {
    const tools = findTools();
    if (tools === undefined) {
      options.say('postgresql, patroni and etcd-server are not installed: nothing was run');
      return [];
    }
    options.say(tools.versions);
    return judge(await runFailover({ ...options, tools, faults: flags.numbers.faults ?? 20 }));
  });
}

export function judge(history: FailoverHistory): Figure[] {
  const atMost = (name: string, seconds: number): Figure => ({
    name: `failover, ${name}`,
    value: `${seconds.toFixed(1)} s`,
    goal: `at most ${MOST_SECONDS} s`,
    held: seconds <= MOST_SECONDS,
  });
  const none = (name: string, count: number): Figure => ({
    name: `failover, ${name}`,
    value: count,
    goal: '0',
    held: count === 0,
  });
  return [
    ...summarize('failover', history, SETTLE_SECONDS),
    ...FAULTS.map((fault) =>
      atMost(
        `writes back after the primary was ${fault}`,
        Math.max(...history.writesBack.filter((_, index) => history.faults[index] === fault), 0),
      ),
    ),
    atMost('slowest answer', Math.max(...history.waits, 0)),
    none('processes of the service that ended', history.ended),
    none('faults of the ledger', history.ledger === '' ? 0 : 1),
    ...checkFigures('failover', CHECKS, history),
  ];
}
