/** What an operator should look at, the worst first. Pure. */

export type AttentionKind = 'engine' | 'queue' | 'host' | 'dead' | 'overdrawn' | 'reported' | 'requests';

/** `bad`: customers are waiting or losing something now. `look`: it can wait for an hour. */
export type Severity = 'bad' | 'look';

export interface Attention {
  kind: AttentionKind;
  severity: Severity;
  /** What it is about: an engine, a pair (`en>es`), a host, a username; empty where it is about all. */
  subject: string;
  /** An account, where the subject alone does not say. */
  account?: string;
  /** How many, or cents, or seconds: the kind says which. */
  amount: number;
  /** Since when, where that is known. */
  since?: string;
}

/** Waiting longer than a worker may need to look twice is odd, and longer than this is bad; in seconds. */
const SLOW_QUEUE_SECONDS = 60;
const BAD_QUEUE_SECONDS = 300;
/** A host that has not taken anything for so long is a customer's trouble. */
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
  /** Tasks that an editor reported. */
  reported: number;
  /** Requests for a sandbox key that nobody has answered. */
  requests: number;
}

const RANK: Record<Severity, number> = { bad: 0, look: 1 };
/** Of what is equally bad, what stops most comes first. */
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
          ...{ kind: 'engine', severity: state === 'half-open' ? 'look' : 'bad', subject: engine, amount: 1 },
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
        ...{ kind: 'dead', severity: 'bad', subject: username, amount: dead, since: since.toISOString() },
      }),
    ),
    ...overdrawn.map(
      ({ username, balance }): Attention => ({
        ...{ kind: 'overdrawn', severity: 'look', subject: username, amount: -balance },
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
