/** The sender: posts due deliveries, records every attempt, and settles what follows from its outcome. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import type { AccountRef, Environment } from '../account.ts';
import { MAX_LIVE_SECRETS } from '../accounts/secrets.ts';
import { type Database, isUnavailable } from '../database/database.ts';
import type { Log } from '../log.ts';
import { type Loop, startLoop } from '../work/loop.ts';
import { signOf } from './breaker.ts';
import type { DeliveriesMoved } from './deliveries.ts';
import { createDeliveryDesk } from './desk.ts';
import type { Outcome, Poster } from './post.ts';
import { createDeliveryQueue, type DeliveryLease } from './queue.ts';
import { LIFETIME_SECONDS, nextAttempt } from './schedule.ts';
import { parseSecret, signatureHeadersInTurns } from './signature.ts';
import {
  type AttemptResult,
  type DeliveryRow,
  expireDeliveries,
  findFailingHosts,
  type Verdict,
  withdrawAttempt,
} from './store.ts';

export interface SenderOptions {
  database: Database;
  poster: Poster;
  /** The live webhook secrets of an account, `whsec_…`, newest first. */
  secrets(account: AccountRef, environment: Environment): Promise<string[]>;
  scheduleSeconds: readonly number[];
  /** How long the breaker of a failing host stays open, the first time, the second, …; the last one repeats. */
  breakerSeconds: readonly number[];
  capacity: number;
  /** Deliveries under way to one host at a time. */
  perHost: number;
  leaseSeconds: number;
  log: Log;
  /** What follows for the subjects of deliveries that have ended, in the same transaction. */
  moved?: DeliveriesMoved;
  /** What there is to count. */
  metrics: SenderMetrics;
  now?: () => Date;
  random?: () => number;
}

export interface SenderMetrics {
  /** An attempt has ended: what followed, how it ended, how long the receiver took. `unsigned`: nothing was sent. */
  attempted(verdict: Verdict['status'] | 'unsigned', outcome: string, milliseconds: number): void;
  /** A delivery has ended: after so many seconds. */
  ended(status: 'delivered' | 'dead', seconds: number): void;
  breakerOpened(): void;
}

/** After so long a delivery that could not be signed is looked at again. */
const UNSIGNED_SECONDS = 60;
/** Of all bodies in hand; one body is at most some 40 MiB, mostly a few kB. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Starts sending. The loop's `wake` says that a delivery may be due; its `stop` gives back what is left. */
export function startSender(options: SenderOptions): Loop {
  const { database, poster, log } = options;
  const now = options.now ?? (() => new Date());
  const random = options.random ?? Math.random;
  const desk = createDeliveryDesk(database, options.moved);
  const keys = new WeakMap<readonly string[], readonly KeyObject[]>();
  let quietUntil = 0;

  async function work(lease: DeliveryLease): Promise<void> {
    const [delivery, secrets] = await Promise.all([desk.begin(lease), secretsOf(lease)]);
    if (delivery === undefined) return;
    const headers = secrets && (await headersOf(lease, delivery, secrets));
    if (headers === undefined) return putBack(lease);
    const outcome = await poster.post(delivery.url, headers, delivery.body);
    const verdict = judge(lease, delivery, outcome);
    const result = toResult(lease, outcome);
    const { breakerSeconds } = options;
    const sign = { host: lease.host, sign: signOf(outcome), probe: lease.probe, breakerSeconds };
    lease.answered = sign.sign === 'life';
    const { moved, opened } = await desk.finish({ lease, result, verdict, sign });
    options.metrics.attempted(verdict.status, result.outcome, outcome.latencyMs);
    if (opened) options.metrics.breakerOpened();
    if (moved !== undefined && moved.status !== 'pending') {
      options.metrics.ended(moved.status, (now().getTime() - delivery.queued_at.getTime()) / 1000);
    }
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

  /**
   * A delivery that cannot be signed waits. The fault is ours: nothing was sent, so it uses up no attempt and says
   * nothing about the receiver's host. The log tells of it once a minute, the metric each time.
   */
  async function putBack(lease: DeliveryLease): Promise<void> {
    await withdrawAttempt(database, lease, lease.attempts, UNSIGNED_SECONDS);
    options.metrics.attempted('unsigned', 'other', 0);
  }

  function logUnsigned(fields: object): void {
    if (now().getTime() < quietUntil) return;
    quietUntil = now().getTime() + UNSIGNED_SECONDS * 1000;
    log.error(fields, 'deliveries cannot be signed and wait; npx dragoman doctor says more');
  }

  /** Undefined where they cannot be read, which is a fault of this account alone. */
  async function secretsOf({ account, environment, id }: DeliveryLease): Promise<string[] | undefined> {
    try {
      return await options.secrets(account, environment);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      logUnsigned({ error, delivery: id, account: account.accountId });
      return undefined;
    }
  }

  /** Undefined where it cannot be signed: the account has no secret that can be used. */
  async function headersOf(
    lease: DeliveryLease,
    delivery: DeliveryRow,
    secrets: readonly string[],
  ): Promise<Record<string, string> | undefined> {
    try {
      return {
        ...delivery.headers,
        'content-type': delivery.content_type,
        'user-agent': 'dragoman',
        ...(await signatureHeadersInTurns(keysOf(secrets), lease.id, now(), delivery.body)),
      };
    } catch (error) {
      logUnsigned({ error, delivery: lease.id, account: lease.account.accountId });
      return undefined;
    }
  }

  /** Made ready once for all deliveries whose secrets were read together, the newest of them. */
  function keysOf(secrets: readonly string[]): readonly KeyObject[] {
    const ready = keys.get(secrets) ?? secrets.slice(0, MAX_LIVE_SECRETS).flatMap(toKey);
    keys.set(secrets, ready);
    return ready;
  }

  function judge(lease: DeliveryLease, delivery: DeliveryRow, outcome: Outcome): Verdict {
    const next = nextAttempt({
      attempts: lease.attempts - delivery.attempts_before,
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

  async function sweep(): Promise<void> {
    try {
      await expireLate(database, options.moved, (count) => {
        for (let n = 0; n < count; n++) options.metrics.ended('dead', LIFETIME_SECONDS);
      });
    } catch (error) {
      log.warn({ error }, 'could not give up deliveries whose time is over');
    }
  }

  const sweeping = setInterval(() => void sweep(), SWEEP_MILLISECONDS);
  const loop = startLoop<DeliveryLease>({
    name: 'sender',
    queue: createDeliveryQueue({
      ...{ database, log, perHost: options.perHost, leaseSeconds: options.leaseSeconds },
    }),
    capacity: options.capacity,
    maxWeight: MAX_BODY_BYTES,
    work,
    log,
  });
  return {
    wake: loop.wake,
    get inHand() {
      return loop.inHand;
    },
    async stop(graceMilliseconds) {
      clearInterval(sweeping);
      await loop.stop(graceMilliseconds);
    },
  };
}

const SWEEP_MILLISECONDS = 60_000;

/**
 * Gives up what is past its time at hosts that do not answer: so little is sent there that most would never meet
 * the attempt after which they are given up.
 */
export async function expireLate(
  database: Database,
  moved: DeliveriesMoved | undefined,
  expired: (count: number) => void,
): Promise<void> {
  for (const { part, account_id, host } of await findFailingHosts(database)) {
    const account = { part, accountId: account_id } as AccountRef;
    for (;;) {
      const ended = await database.transaction(async (transaction) => {
        const late = await expireDeliveries(transaction, account, host, LIFETIME_SECONDS);
        const ofMessages = late.filter(({ messageId }) => messageId !== null);
        if (ofMessages.length > 0) await moved?.(transaction, ofMessages);
        return late.length;
      });
      if (ended === 0) break;
      expired(ended);
    }
  }
}

function toKey(secret: string): KeyObject[] {
  const bytes = parseSecret(secret);
  return bytes === undefined ? [] : [createSecretKey(bytes)];
}

function toResult(lease: DeliveryLease, outcome: Outcome): AttemptResult {
  const answered = outcome.kind === 'answered';
  return {
    attempt: lease.attempts,
    outcome: answered ? 'answered' : outcome.reason,
    detail: answered ? undefined : outcome.detail,
    statusCode: answered ? outcome.status : undefined,
    milliseconds: Math.round(outcome.latencyMs),
    headers: answered ? cutHeaders(outcome.headers) : undefined,
    answer: answered ? outcome.body : undefined,
    answerComplete: answered ? outcome.bodyComplete : undefined,
  };
}

const MAX_HEADERS = 32;
const MAX_HEADER_LENGTH = 256;

/** As much of an answer's headers as helps whoever looks for a fault; no cookies, which are secrets. */
export function cutHeaders(headers: Record<string, string>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => name !== 'set-cookie');
  return Object.fromEntries(
    kept
      .slice(0, MAX_HEADERS)
      .map(([name, value]) => [name.slice(0, MAX_HEADER_LENGTH), value.slice(0, MAX_HEADER_LENGTH)]),
  );
}
