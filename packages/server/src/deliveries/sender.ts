/**
 * The sender: posts due deliveries, records every attempt, and retries a delivery until it is delivered or
 * dead.
 */
import { usernameOf } from '../access/accounts.ts';
import type { SecretUse } from '../access/secrets.ts';
import type { AccountRef, Environment } from '../base/account.ts';
import type { Log } from '../base/log.ts';
import type { Database } from '../database/database.ts';
import { type LeaseWorker, startLeaseWorker } from '../work/worker.ts';
import { hostSignal } from './breaker.ts';
import type { OnDeliveriesChanged } from './deliveries.ts';
import { createDeliveryRecorder, type FinishedAttempt } from './delivery-recorder.ts';
import { createDeliverySigner } from './delivery-signer.ts';
import { createOutboxSender, type OutboxSender } from './outbox.ts';
import type { Poster, PostOutcome } from './post.ts';
import { createDeliveryQueue, type DeliveryLease, halfOpen } from './queue.ts';
import { LIFETIME_SECONDS } from './retry-after.ts';
import { nextAttempt, TEST_FAILED, TEST_HEADER, TRIGGER_HEADER } from './schedule.ts';
import {
  type AttemptResult,
  type DeliveryDecision,
  type DeliveryRow,
  endUnwanted,
  expireDeliveries,
  findFailingHosts,
  type HostSignal,
  withdrawAttempt,
} from './store.ts';

export interface SenderOptions {
  database: Database;
  poster: Poster;
  /** Returns the active webhook secrets of an account for one use in the form `whsec_…`, newest first. */
  secrets(account: AccountRef, use: SecretUse): Promise<string[]>;
  scheduleSeconds: readonly number[];
  /**
   * Seconds for which the breaker of a failing host stays open: after its first opening, its second, and so
   * on. The last value repeats.
   */
  breakerSeconds: readonly number[];
  capacity: number;
  /** The maximum number of deliveries sent to one host at a time. */
  perHost: number;
  leaseSeconds: number;
  log: Log;
  /** Called when deliveries are delivered or dead, in the transaction that records this. */
  onDeliveriesChanged?: OnDeliveriesChanged;
  metrics: SenderMetrics;
  now?: () => Date;
  random?: () => number;
}

export interface SenderMetrics {
  /** Counts an attempt. @param decision the status after the attempt; `unsigned` if no request was sent */
  attempted(
    environment: Environment,
    decision: DeliveryDecision['status'] | 'unsigned',
    outcome: string,
    milliseconds: number,
  ): void;
  /** Counts a delivery that was delivered or is dead. @param seconds the time from its creation to its end */
  ended(environment: Environment, status: 'delivered' | 'dead', seconds: number): void;
  breakerOpened(): void;
}

/** Seconds until a delivery that cannot be signed is tried again. */
const UNSIGNED_SECONDS = 60;
/** A freed slot causes a poll at the earliest after this time, so that a busy sender claims several deliveries at a time. */
const POLL_REST_MILLISECONDS = 10;
/** From this number of deliveries in progress on, results are recorded in batches. */
const MANY_AT_WORK = 4;
/** The maximum total size of the bodies in memory. One body has at most some 40 MiB, usually a few kB. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

export interface Sender extends OutboxSender, Pick<LeaseWorker, 'wake' | 'stop' | 'heldCount'> {}

export function startSender(options: SenderOptions): Sender {
  const { database, poster, log, breakerSeconds } = options;
  const now = options.now ?? (() => new Date());
  const recorder = createDeliveryRecorder(database, options.onDeliveriesChanged);
  const signer = createDeliverySigner({ secrets: options.secrets, log, now });

  const secondsSince = ({ queued_at: at }: DeliveryRow) => (now().getTime() - at.getTime()) / 1000;

  async function send(lease: DeliveryLease, delivery: DeliveryRow): Promise<FinishedAttempt | undefined> {
    if (isOverfull(lease.host)) {
      lease.answered = true;
      await withdrawAttempt(database, lease, 0);
      worker.wake(); // A poll in the meantime may have found nothing due.
      return undefined;
    }
    const headers = delivery.unwanted ? 'unwanted' : await signer.headersOf(lease, delivery);
    if (headers === 'unwanted') {
      // No request was sent, so another delivery may be the probe. The customer ended this one, so it is no failure
      // that operators should see.
      if (lease.probe) await halfOpen(database, { account: lease.account, host: lease.host });
      await endUnwanted(database, lease);
      worker.wake();
      return undefined;
    }
    if (headers === undefined) {
      // No request was sent, so no attempt is counted and the host's circuit breaker is not changed.
      await withdrawAttempt(database, lease, UNSIGNED_SECONDS);
      options.metrics.attempted(lease.environment, 'unsigned', 'other', 0);
      return undefined;
    }
    const outcome = await poster.post(delivery.url, headers, delivery.body);
    const signal = signalOf(lease, delivery, outcome, breakerSeconds);
    lease.answered = signal.signal === 'alive';
    // The slot of the host is free now. The result is recorded later, together with others.
    if (lease.answered && queue.sawDue(lease.host)) worker.placeFreed();
    const decision = decide(options, lease, delivery, outcome);
    return { lease, result: toResult(lease, outcome), decision, signal, latencyMs: outcome.latencyMs };
  }

  async function settle(
    lease: DeliveryLease,
    delivery: DeliveryRow,
    attempt: FinishedAttempt,
  ): Promise<void> {
    const { result, decision } = attempt;
    const { changed, opened } = await recorder.finish(attempt, worker.runningCount < MANY_AT_WORK);
    options.metrics.attempted(lease.environment, decision.status, result.outcome, attempt.latencyMs);
    if (opened) options.metrics.breakerOpened();
    if (changed?.next) worker.wake();
    // The failed test of a user is no fault that an operator must see.
    const isFailedTest = decision.status === 'dead' && decision.failure === TEST_FAILED;
    if (changed !== undefined && changed.status !== 'pending' && !isFailedTest) {
      options.metrics.ended(lease.environment, changed.status, secondsSince(delivery));
    }
    if (decision.status !== 'delivered' && !isAccepted(result)) {
      await logFailure(options, lease, result, decision.status === 'dead');
    }
  }

  /**
   * Returns true if the host has too many deliveries in progress. A claim and an insert that lease at the
   * same moment may together exceed the host's slots.
   */
  function isOverfull(host: string): boolean {
    const held = [...worker.heldLeases()].filter((one) => one.host === host && !one.answered);
    return held.length > options.perHost;
  }

  const sweeping = startSweeping(options);
  const { perHost, leaseSeconds, capacity } = options;
  const queue = createDeliveryQueue({ database, log, perHost, leaseSeconds });
  const worker = startLeaseWorker<DeliveryLease, DeliveryRow, FinishedAttempt>({
    name: 'sender',
    queue,
    capacity,
    maxWeight: MAX_BODY_BYTES,
    restMilliseconds: POLL_REST_MILLISECONDS,
    open: async ({ delivery }) => delivery,
    decide: send,
    settle,
    // The receiver may have got the request.
    stoppedCounts: true,
    log,
  });
  return {
    ...createOutboxSender(worker, perHost, queue.sawDue),
    wake: worker.wake,
    get heldCount() {
      return worker.heldCount;
    },
    async stop(graceMilliseconds) {
      clearInterval(sweeping);
      await worker.stop(graceMilliseconds);
    },
  };
}

async function logFailure(
  { database, log }: Pick<SenderOptions, 'database' | 'log'>,
  { id, attempts, account, environment }: DeliveryLease,
  { statusCode, outcome, detail }: FinishedAttempt['result'],
  isDead: boolean,
): Promise<void> {
  const fields = {
    delivery: id,
    account: account.accountId,
    // Only the end of a delivery is rare enough for a query.
    ...(isDead ? { username: await usernameOf(database, account) } : {}),
    environment,
    attempt: attempts,
    status: statusCode,
    reason: outcome,
    detail,
  };
  log.info(fields, isDead ? 'delivery is dead' : 'delivery failed and will be retried');
}

/** Decides what follows an attempt: the delivery is delivered, dead, or tried again at a time. */
function decide(
  { scheduleSeconds, now = () => new Date(), random = Math.random }: SenderOptions,
  lease: DeliveryLease,
  delivery: DeliveryRow,
  outcome: PostOutcome,
): DeliveryDecision {
  const next = nextAttempt({
    attempts: lease.attempts - delivery.attempts_before,
    scheduleSeconds,
    outcome,
    createdAt: delivery.queued_at,
    scheduledAt: delivery.scheduled_at,
    now: now(),
    random,
    twice: delivery.environment === 'sandbox' && delivery.headers[TRIGGER_HEADER] === 'twice',
    once: isTest(delivery),
  });
  if (next.kind === 'delivered') return { status: 'delivered' };
  if (next.kind === 'dead') return { status: 'dead', failure: next.reason };
  return { status: 'pending', dueAt: next.at };
}

/** Returns true for a test of a URL, which a user sends in the web app. */
const isTest = ({ headers }: DeliveryRow): boolean => headers[TEST_HEADER] !== undefined;

/** Returns what an attempt shows about its host. */
function signalOf(
  { host, probe }: DeliveryLease,
  delivery: DeliveryRow,
  outcome: PostOutcome,
  breakerSeconds: readonly number[],
): HostSignal {
  const signal = hostSignal(outcome);
  // A user may test any URL of a host, so failed tests must not pause its callbacks.
  const isIgnored = signal === 'failing' && isTest(delivery) && !probe;
  return { host, signal: isIgnored ? 'none' : signal, probe, breakerSeconds };
}

/** Returns true if the receiver accepted the attempt, even if the trigger `twice` requires another attempt. */
function isAccepted({ statusCode = 0 }: AttemptResult): boolean {
  return statusCode >= 200 && statusCode < 300;
}

const SWEEP_MILLISECONDS = 60_000;

function startSweeping({ database, onDeliveriesChanged, metrics, log }: SenderOptions): NodeJS.Timeout {
  async function sweep(): Promise<void> {
    try {
      await expireLate(database, onDeliveriesChanged, (environment) =>
        metrics.ended(environment, 'dead', LIFETIME_SECONDS),
      );
    } catch (error) {
      log.warn({ error }, 'could not expire deliveries');
    }
  }
  return setInterval(() => void sweep(), SWEEP_MILLISECONDS);
}

/**
 * Ends deliveries to failing hosts that are older than 72 hours. A failing host receives so few deliveries that
 * most of them would never reach their last attempt. An account that was suspended gets another 72 hours.
 */
export async function expireLate(
  database: Database,
  onChanged: OnDeliveriesChanged | undefined,
  expired: (environment: Environment) => void,
): Promise<void> {
  for (const { part, account_id, host } of await findFailingHosts(database, { seconds: LIFETIME_SECONDS })) {
    const account = { part, accountId: account_id } as AccountRef;
    for (;;) {
      const ended = await database.transaction(async (transaction) => {
        const late = await expireDeliveries(transaction, account, host, LIFETIME_SECONDS);
        const ofMessages = late.filter(({ messageId }) => messageId !== null);
        if (ofMessages.length > 0) await onChanged?.(transaction, ofMessages);
        return late;
      });
      if (ended.length === 0) break;
      for (const { environment } of ended) expired(environment);
    }
  }
}

function toResult(lease: DeliveryLease, outcome: PostOutcome): AttemptResult {
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

/**
 * Keeps headers of an answer that help with debugging, within a limit. Cookies are dropped, because they are
 * secrets.
 */
export function cutHeaders(headers: Record<string, string>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => name !== 'set-cookie');
  return Object.fromEntries(
    kept
      .slice(0, MAX_HEADERS)
      .map(([name, value]) => [name.slice(0, MAX_HEADER_LENGTH), value.slice(0, MAX_HEADER_LENGTH)]),
  );
}
