/** The list of problems that need an operator's attention, most severe first. */
import type { TaskQueue } from '../editing/editing.ts';

/**
 * The list has problems of the same severity in this order of their kinds. Kinds that affect more customers come first.
 */
export const ATTENTION_KINDS = [
  'engine',
  'queue',
  'host',
  'dead',
  'reported',
  'late',
  'unserved',
  'overdrawn',
  'low',
  'requests',
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

/** `bad`: customers are affected now. `look`: an operator should look at the problem within the hour. */
export type Severity = 'bad' | 'look';

export interface Attention {
  kind: AttentionKind;
  severity: Severity;
  /**
   * What has the problem: an engine, a language pair (`en>es`), a host or a user name. Empty for the whole
   * installation.
   */
  subject: string;
  /** If `subject` is a host, the account whose deliveries to it fail; otherwise absent. */
  account?: string;
  /**
   * The number of affected jobs, deliveries, tasks or requests. For an overdrawn account, the cents that it
   * owes; for a low balance, the cents that the account can still spend.
   */
  amount: number;
  /** The time when the problem began, if known. */
  since?: Date;
}

/**
 * If the oldest queued job is at least this many seconds old, the queue counts as slow. A worker polls more than
 * twice in this time.
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
    since: Date | null;
  }[];
  queues: readonly { source_language: string; target_language: string; waiting: number; oldest: number }[];
  hosts: readonly { username: string; host: string; since: Date | null; waiting: number }[];
  dead: readonly { username: string; dead: number; since: Date }[];
  overdrawn: readonly { username: string; balance: number; credit_limit?: number | null }[];
  /** The accounts that can spend less than they spent in the last 24 hours. */
  low: readonly { username: string; cents: number }[];
  tasks: readonly Pick<TaskQueue, 'source_language' | 'target_language' | 'late' | 'reported' | 'unserved'>[];
  /** The number of people who wait for the answer to their request for a sandbox. */
  requests: number;
}

const RANK: Record<Severity, number> = { bad: 0, look: 1 };

export function attentionOf(situation: Situation): Attention[] {
  const { now, engines, queues, hosts, dead, overdrawn, low, tasks, requests } = situation;
  const reported = tasks.reduce((sum, pair) => sum + pair.reported, 0);
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
          since: new Date(now.getTime() - oldest * 1000),
        }),
      ),
    ...hosts.map(
      ({ username, host, since, waiting }): Attention => ({
        kind: 'host',
        severity: since !== null && age(since) >= BAD_HOST_SECONDS ? 'bad' : 'look',
        subject: host,
        account: username,
        amount: waiting,
        ...(since === null ? {} : { since }),
      }),
    ),
    ...dead.map(
      ({ username, dead, since }): Attention => ({
        kind: 'dead',
        severity: 'bad',
        subject: username,
        amount: dead,
        since,
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
    ...low.map(
      ({ username, cents }): Attention => ({
        kind: 'low',
        severity: 'look',
        subject: username,
        amount: cents,
      }),
    ),
    ...tasks.flatMap(({ source_language, target_language, late, unserved }): Attention[] => {
      const subject = `${source_language}>${target_language}`;
      return [
        ...(late > 0 ? [{ kind: 'late', severity: 'bad', subject, amount: late } as const] : []),
        ...(unserved > 0 ? [{ kind: 'unserved', severity: 'look', subject, amount: unserved } as const] : []),
      ];
    }),
    ...(reported > 0 ? [{ kind: 'reported', severity: 'bad', subject: '', amount: reported } as const] : []),
    ...(requests > 0 ? [{ kind: 'requests', severity: 'look', subject: '', amount: requests } as const] : []),
  ];
  return found.sort(
    (a, b) =>
      RANK[a.severity] - RANK[b.severity] ||
      ATTENTION_KINDS.indexOf(a.kind) - ATTENTION_KINDS.indexOf(b.kind) ||
      (a.since?.getTime() ?? Infinity) - (b.since?.getTime() ?? Infinity) ||
      b.amount - a.amount ||
      a.subject.localeCompare(b.subject),
  );
}
