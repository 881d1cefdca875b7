/** The checks of a crash run: pure, over its history. Each returns what is wrong, one sentence a fault. */
import type { Delivered, History } from './history.ts';

export type Check = (history: History) => string[];

/** Every acknowledged job is there, once, as it was acknowledged. */
const nothingLost: Check = ({ attempted, jobs }) => {
  const stored = Map.groupBy(jobs, ({ name }) => name);
  return attempted.flatMap(({ name, environment, acknowledged }) => {
    if (acknowledged === undefined) return [];
    const found = stored.get(name) ?? [];
    if (found.length !== 1) return [`${name} was acknowledged and is there ${found.length} times`];
    const [job] = found;
    const same =
      (acknowledged.orderNumber === undefined || job!.orderNumber === acknowledged.orderNumber) &&
      job!.priceCents === acknowledged.priceCents &&
      job!.uid === acknowledged.uid &&
      job!.environment === environment;
    return same ? [] : [`${name} is not as it was acknowledged`];
  });
};

/**
 * Nothing is there that nobody asked for, and nothing twice that was asked for once. Without a uid the second
 * part is all that a client can know: of a broken answer it cannot tell whether there is a job.
 */
const nothingInvented: Check = ({ attempted, jobs }) => {
  const asked = new Map(attempted.map((job) => [job.name, job]));
  const seen = new Set<string>();
  return jobs.flatMap(({ name, uid, environment }) => {
    const job = asked.get(name);
    if (job === undefined || job.environment !== environment || (job.uid ?? uid) !== uid) {
      return [`${name} was never asked for as ${uid} in ${environment}`];
    }
    if (seen.has(name)) return [`${name} is there more than once`];
    seen.add(name);
    return [];
  });
};

/** Every job is completed. */
const everythingDone: Check = ({ jobs }) =>
  jobs
    .filter(({ status }) => status !== 'completed')
    .map((job) => `${job.name} is ${job.status}${job.failure === null ? '' : `: ${job.failure}`}`);

/** Every job that is there was delivered, under one id, with the same bytes each time. */
const deliveredUnderOneId: Check = ({ jobs, delivered }) => {
  const byName = Map.groupBy(delivered, ({ name }) => name);
  return jobs.flatMap(({ name }) => {
    const arrived = byName.get(name) ?? [];
    if (arrived.length === 0) return [`${name} was not delivered`];
    const ids = new Set(arrived.map(({ webhookId }) => webhookId));
    const bodies = new Set(arrived.map(({ body }) => body));
    return [
      ...(ids.size > 1 ? [`${name} was delivered under ${ids.size} ids`] : []),
      ...(bodies.size > 1 ? [`${name} was delivered with ${bodies.size} different bodies`] : []),
    ];
  });
};

/**
 * A delivery is repeated only when a fault met it under way. The attempt is on record before it is made, and its
 * end after it: what arrived once more than that needs an attempt of the same delivery that had no end when the next
 * was begun. (Who was paused for longer than its lease, which it extends twice in that time, writes the end when it goes
 * on; a next attempt sooner than half a lease after is nobody's fault but ours.) Of those there are no more than
 * can have been under way at a fault.
 */
const fewRepeats: Check = ({ delivered, deliveries, kills, databaseKills, deliveriesAtATime }) => {
  const arrived = Map.groupBy(delivered, ({ webhookId }) => webhookId);
  const faults = deliveries.flatMap(({ deliveryId, unfinishedAttempts }) => {
    const repeats = (arrived.get(deliveryId)?.length ?? 0) - 1;
    return repeats > unfinishedAttempts
      ? [`${deliveryId} was repeated ${repeats} times, ${unfinishedAttempts} attempts had no end`]
      : [];
  });
  const unfinished = deliveries.reduce((sum, one) => sum + one.unfinishedAttempts, 0);
  const underWay = (kills.length + databaseKills) * deliveriesAtATime;
  if (unfinished > underWay) {
    faults.push(`${unfinished} attempts have no end, at most ${underWay} can have been under way`);
  }
  return faults;
};

/** Nothing held is delivered early: its hold begins with its creation, which is not before its first request. */
const notBeforeItsHold: Check = ({ attempted, delivered, holdMilliseconds }) => {
  const held = new Map(
    attempted
      .filter(({ environment, tier }) => environment === 'sandbox' && tier === 'human')
      .map(({ name, sentAt }) => [name, sentAt + holdMilliseconds]),
  );
  return delivered.flatMap(({ name, at }) => {
    const early = (held.get(name) ?? at) - at;
    return early > 0 ? [`${name} was delivered ${early} ms before its hold can have passed`] : [];
  });
};

/** What was delivered is a translation: of the right job, and not the source again. */
const translated: Check = ({ attempted, jobs, delivered }) => {
  const texts = new Map(attempted.map(({ name, text }) => [name, text]));
  const uids = new Map(jobs.map(({ name, uid }) => [name, uid]));
  const wrong = ({ name, body }: Delivered) => {
    const { uid, text, translated_text: result, status } = JSON.parse(body);
    return (
      uid !== uids.get(name) ||
      text !== texts.get(name) ||
      status !== 'completed' ||
      typeof result !== 'string' ||
      result === text
    );
  };
  return delivered
    .filter(wrong)
    .map(({ name }) => `${name} was delivered with something else than its translation`);
};

/** Every job is charged once: one hold and one capture, of its price. */
const chargedOnce: Check = ({ jobs, transfers }) => {
  const byJob = Map.groupBy(transfers, ({ jobId }) => jobId);
  return jobs.flatMap((job) => {
    const own = byJob.get(job.jobId) ?? [];
    const kinds =
      own
        .map(({ kind }) => kind)
        .sort()
        .join(' and ') || 'nothing';
    const expected = job.priceCents > 0 ? 'capture and hold' : 'nothing';
    if (kinds !== expected) return [`${job.name} has ${kinds}, not ${expected}`];
    const right = own.every(({ cents }) => cents === job.priceCents);
    return right ? [] : [`${job.name} was charged another amount than its price`];
  });
};

/** Every balance is what its transfers add up to. */
const balanced: Check = ({ transfers, balances }) =>
  balances.flatMap(({ environment, availableCents }) => {
    const own = transfers.filter((transfer) => transfer.environment === environment);
    const sum = (side: 'debit' | 'credit') =>
      own.filter((transfer) => transfer[side] === 'available').reduce((total, { cents }) => total + cents, 0);
    const expected = sum('credit') - sum('debit');
    return expected === availableCents
      ? []
      : [`the ${environment} balance is ${availableCents}, not ${expected}`];
  });

/** Every delivery in the outbox is settled, one for each job. */
const outboxSettled: Check = ({ jobs, deliveries }) => {
  const byJob = Map.groupBy(deliveries, ({ jobId }) => jobId);
  return jobs.flatMap((job) => {
    const own = byJob.get(job.jobId) ?? [];
    if (own.length !== 1) return [`${job.name} has ${own.length} deliveries`];
    return own[0]!.status === 'delivered' ? [] : [`the delivery of ${job.name} is ${own[0]!.status}`];
  });
};

export const CHECKS = {
  'nothing lost': nothingLost,
  'nothing invented': nothingInvented,
  'everything done': everythingDone,
  'delivered under one id': deliveredUnderOneId,
  'few repeats': fewRepeats,
  'not before its hold': notBeforeItsHold,
  translated,
  'charged once': chargedOnce,
  balanced,
  'outbox settled': outboxSettled,
} satisfies Record<string, Check>;
