/** The list of problems that need an operator's attention, most severe first. */

export type AttentionKind = 'engine' | 'queue' | 'host' | 'dead' | 'overdrawn' | 'reported' | 'requests';

/** `bad`: customers are affected now. `look`: an operator should look at the problem within the hour. */
export type Severity = 'bad' | 'look';

export interface Attention {
  kind: AttentionKind;
  severity: Severity;
  /**
   * An engine, a language pair (`en>es`), a host or a user name. Empty if the whole installation is affected.
   */
  subject: string;
  /** The account that delivers to the host; absent for other kinds. */
  account?: string;
  /**
   * The number of affected jobs, deliveries, tasks or requests. For an overdrawn account, the amount in
   * cents.
   */
  amount: number;
  /** The time when the problem began, if known. */
  since?: string;
}

/**
 * The age in seconds of the oldest queued job from which a queue counts as slow. It is longer than the time
 * of two polls of a worker.
 */
const SLOW_QUEUE_SECONDS = 60;
const BAD_QUEUE_SECONDS = 300;
/**
 * The number of seconds without a successful delivery to a host after which the severity of the problem is
 * `bad`.
 */
const BAD_HOST_SECONDS = 3_600;

export interface Situation {
  now: Date;
  engines: readonly {
    engine: string;
    state: 'closed' | 'half-open' | 'open' | 'away';
    since: string | null;
  }[];
  queues: readonly { source_language: string; target_language: string; waiting: number; oldest: number }[];
  hosts: readonly { username: string; host: string; since: Date | null; waiting: number }[];
  dead: readonly { username: string; dead: number; since: Date }[];
  overdrawn: readonly { username: string; balance: number; credit_limit?: number | null }[];
  /** The number of tasks that editors reported. */
  reported: number;
  /** The number of open sandbox requests. */
  requests: number;
}

const RANK: Record<Severity, number> = { bad: 0, look: 1 };
/** The order within a severity: kinds that affect more customers come first. */
const ORDER: readonly AttentionKind[] = [
  'engine',
  'queue',
  'host',
  'dead',
  'reported',
  'overdrawn',
  'requests',
];

export function attentionOf(situation: Situation): Attention[] {
  const { now, engines, queues, hosts, dead, overdrawn, reported, requests } = situation;
  const age = (since: Date) => (now.getTime() - since.getTime()) / 1000;
  const found: Attention[] = [
    ...engines
      .filter(({ state }) => state !== 'closed')
      .map(
        ({ engine, state, since }): Attention => ({
          kind: 'engine',
          severity: state === 'half-open' ? 'look' : 'bad',
          subject: engine,
          amount: 1,
          ...(since === null ? {} : { since }),
        }),
      ),
    ...queues
      .filter(({ waiting, oldest }) => waiting > 0 && oldest >= SLOW_QUEUE_SECONDS)
      .map(
        ({ source_language, target_language, waiting, oldest }): Attention => ({
          kind: 'queue',
          severity: oldest >= BAD_QUEUE_SECONDS ? 'bad' : 'look',
          subject: `${source_language}>${target_language}`,
          amount: waiting,
          since: new Date(now.getTime() - oldest * 1000).toISOString(),
        }),
      ),
    ...hosts.map(
      ({ username, host, since, waiting }): Attention => ({
        kind: 'host',
        severity: since !== null && age(since) >= BAD_HOST_SECONDS ? 'bad' : 'look',
        subject: host,
        account: username,
        amount: waiting,
        ...(since === null ? {} : { since: since.toISOString() }),
      }),
    ),
    ...dead.map(
      ({ username, dead, since }): Attention => ({
        kind: 'dead',
        severity: 'bad',
        subject: username,
        amount: dead,
        since: since.toISOString(),
      }),
    ),
    ...overdrawn.map(
      ({ username, balance }): Attention => ({
        kind: 'overdrawn',
        severity: 'look',
        subject: username,
        amount: -balance,
      }),
    ),
    ...(reported > 0 ? [{ kind: 'reported', severity: 'bad', subject: '', amount: reported } as const] : []),
    ...(requests > 0 ? [{ kind: 'requests', severity: 'look', subject: '', amount: requests } as const] : []),
  ];
  return found.sort(
    (a, b) =>
      RANK[a.severity] - RANK[b.severity] ||
      ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) ||
      (a.since ?? '9').localeCompare(b.since ?? '9') ||
      b.amount - a.amount ||
      a.subject.localeCompare(b.subject),
  );
}
