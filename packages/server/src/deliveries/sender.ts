/** The sender: posts due deliveries, records every attempt, and settles what follows from its outcome. */
import type { AccountRef, Environment } from '../account.ts';
import { type Database, isConnectionLoss } from '../database/database.ts';
import type { Log } from '../log.ts';
import { type Loop, startLoop } from '../work/loop.ts';
import { createQueue, type Lease } from '../work/queue.ts';
import type { DeliveryMoved } from './deliveries.ts';
import type { Outcome, Poster } from './post.ts';
import { nextAttempt } from './schedule.ts';
import { parseSecret, signatureHeaders } from './signature.ts';
import { type AttemptResult, beginAttempt, type DeliveryRow, finishAttempt, type Verdict } from './store.ts';

export interface SenderOptions {
  database: Database;
  poster: Poster;
  /** The live webhook secrets of an account, `whsec_…`, newest first. */
  secrets(account: AccountRef, environment: Environment): Promise<string[]>;
  scheduleSeconds: readonly number[];
  capacity: number;
  leaseSeconds: number;
  log: Log;
  /** What follows for the subject of a delivery that has ended, in the same transaction. */
  moved?: DeliveryMoved;
  /** Called after each attempt, for metrics. */
  attempted(verdict: Verdict['status'], milliseconds: number): void;
  now?: () => Date;
  random?: () => number;
}

/** Of all bodies in hand; one body is at most some 40 MiB, mostly a few kB. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Starts sending. The loop's `wake` says that a delivery may be due; its `stop` gives back what is left. */
export function startSender(options: SenderOptions): Loop {
  const { database, poster, log } = options;
  const now = options.now ?? (() => new Date());
  const random = options.random ?? Math.random;

  async function work(lease: Lease): Promise<void> {
    const delivery = await beginAttempt(database, lease.account, lease);
    if (delivery === undefined) return;
    const outcome = await attempt(lease, delivery);
    const verdict = judge(lease, delivery, outcome);
    const result = {
      attempt: lease.attempts,
      outcome: outcome.kind === 'answered' ? 'answered' : outcome.reason,
      statusCode: outcome.kind === 'answered' ? outcome.status : undefined,
      milliseconds: Math.round(outcome.latencyMs),
    };
    await finish(lease, delivery, result, verdict);
    options.attempted(verdict.status, outcome.latencyMs);
    if (verdict.status !== 'delivered') {
      const fields = {
        delivery: lease.id,
        attempt: lease.attempts,
        status: result.statusCode,
        reason: result.outcome,
      };
      log.info(fields, verdict.status === 'dead' ? 'delivery is dead' : 'delivery will be tried again');
    }
  }

  async function finish(
    lease: Lease,
    delivery: DeliveryRow,
    result: AttemptResult,
    verdict: Verdict,
  ): Promise<void> {
    const { moved } = options;
    // One statement is a transaction of its own, and one round trip instead of three.
    if (moved === undefined || delivery.message_id === null || verdict.status === 'pending') {
      await finishAttempt(database, lease.account, lease, result, verdict);
      return;
    }
    await database.transaction(async (transaction) => {
      const ended = await finishAttempt(transaction, lease.account, lease, result, verdict);
      if (ended !== undefined) await moved(transaction, lease.account, ended);
    });
  }

  /** A delivery that cannot even be signed counts as an attempt that failed: it is tried again, and not for ever. */
  async function attempt(lease: Lease, delivery: DeliveryRow): Promise<Outcome> {
    let headers: Record<string, string>;
    try {
      const secrets = await options.secrets(lease.account, delivery.environment);
      headers = headersOf(lease, delivery, secrets);
    } catch (error) {
      if (isConnectionLoss(error)) throw error;
      log.error({ error, delivery: lease.id }, 'a delivery could not be signed');
      return { kind: 'failed', reason: 'other', detail: 'It could not be signed.', latencyMs: 0 };
    }
    return poster.post(delivery.url, headers, delivery.body);
  }

  function headersOf(
    lease: Lease,
    delivery: DeliveryRow,
    secrets: readonly string[],
  ): Record<string, string> {
    const keys = secrets.flatMap((secret) => parseSecret(secret) ?? []);
    return {
      ...delivery.headers,
      'content-type': delivery.content_type,
      'user-agent': 'dragoman',
      ...signatureHeaders(keys, lease.id, now(), delivery.body),
    };
  }

  function judge(lease: Lease, delivery: DeliveryRow, outcome: Outcome): Verdict {
    const next = nextAttempt({
      attempts: lease.attempts,
      scheduleSeconds: options.scheduleSeconds,
      outcome,
      createdAt: delivery.queued_at,
      now: now(),
      random,
    });
    if (next.kind === 'delivered') return { status: 'delivered' };
    if (next.kind === 'dead') return { status: 'dead', failure: next.reason };
    return { status: 'pending', dueAt: next.at };
  }

  return startLoop({
    name: 'sender',
    queue: createQueue(database, 'deliveries', options.leaseSeconds, log),
    capacity: options.capacity,
    maxWeight: MAX_BODY_BYTES,
    work,
    log,
  });
}
