/** The checks of a crash run: pure, over its history. Each returns what is wrong, one sentence a fault. */
import type { Delivered, History } from './history.ts';

export type Check = (history: History) => string[];

const key = (job: { environment: string; uid: string }) => `${job.environment} ${job.uid}`;

/** Every acknowledged job is there, once, as it was acknowledged. */
const nothingLost: Check = ({ attempted, jobs }) => {
  const stored = Map.groupBy(jobs, key);
  return attempted.flatMap((job) => {
    if (job.acknowledged === undefined) return [];
    const found = stored.get(key(job)) ?? [];
    if (found.length !== 1) return [`${key(job)} was acknowledged and is there ${found.length} times`];
    const { orderNumber, priceCents } = job.acknowledged;
    const same =
      (orderNumber === undefined || found[0]!.orderNumber === orderNumber) &&
      found[0]!.priceCents === priceCents;
    return same ? [] : [`${key(job)} is not as it was acknowledged`];
  });
};

/** Nothing is there that nobody asked for. */
const nothingInvented: Check = ({ attempted, jobs }) => {
  const asked = new Set(attempted.map(key));
  return jobs.filter((job) => !asked.has(key(job))).map((job) => `${key(job)} was never asked for`);
};

/** Every acknowledged job is completed. */
const everythingDone: Check = ({ jobs }) =>
  jobs.filter(({ status }) => status !== 'completed').map((job) => `${key(job)} is ${job.status}`);

/** Every acknowledged job was delivered, under one id, with the same bytes each time. */
const deliveredUnderOneId: Check = ({ attempted, delivered }) => {
  const byUid = Map.groupBy(delivered, ({ uid }) => uid);
  return attempted.flatMap((job) => {
    const arrived = byUid.get(job.uid) ?? [];
    if (arrived.length === 0) return job.acknowledged === undefined ? [] : [`${key(job)} was not delivered`];
    const ids = new Set(arrived.map(({ webhookId }) => webhookId));
    const bodies = new Set(arrived.map(({ body }) => body));
    return [
      ...(ids.size > 1 ? [`${key(job)} was delivered under ${ids.size} ids`] : []),
      ...(bodies.size > 1 ? [`${key(job)} was delivered with ${bodies.size} different bodies`] : []),
    ];
  });
};

/** A delivery is repeated only when a kill may have met it under way. */
const fewRepeats: Check = ({ delivered, kills, deliveriesAtATime }) => {
  const repeats = delivered.length - new Set(delivered.map(({ webhookId }) => webhookId)).size;
  const allowed = kills.length * deliveriesAtATime;
  return repeats > allowed
    ? [`${repeats} deliveries were repeated, at most ${allowed} can have been under way`]
    : [];
};

/** What was delivered is a translation: of the right job, and not the source again. */
const translated: Check = ({ attempted, delivered }) => {
  const texts = new Map(attempted.map(({ uid, text }) => [uid, text]));
  const wrong = ({ uid, body }: Delivered) => {
    const { text, translated_text: result, status } = JSON.parse(body);
    return text !== texts.get(uid) || status !== 'completed' || typeof result !== 'string' || result === text;
  };
  return delivered
    .filter(wrong)
    .map(({ uid }) => `${uid} was delivered with something else than its translation`);
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
    if (kinds !== expected) return [`${key(job)} has ${kinds}, not ${expected}`];
    const right = own.every(({ cents }) => cents === job.priceCents);
    return right ? [] : [`${key(job)} was charged another amount than its price`];
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
    if (own.length !== 1) return [`${key(job)} has ${own.length} deliveries`];
    return own[0]!.status === 'delivered' ? [] : [`the delivery of ${key(job)} is ${own[0]!.status}`];
  });
};

export const CHECKS = {
  'nothing lost': nothingLost,
  'nothing invented': nothingInvented,
  'everything done': everythingDone,
  'delivered under one id': deliveredUnderOneId,
  'few repeats': fewRepeats,
  translated,
  'charged once': chargedOnce,
  balanced,
  'outbox settled': outboxSettled,
} satisfies Record<string, Check>;
