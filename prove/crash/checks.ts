/** The invariants of a crash run, in which customers create jobs while processes are killed. */

import type { CustomerOrder } from '../harness/customers.ts';
import type { Facts } from '../harness/database.ts';
import {
  byName,
  checkAllCompleted,
  checkBalanced,
  checkChargedOnce,
  checkNothingInvented,
  checkNothingLost,
  checkOneId,
  checkOutboxSettled,
  checkRepeatsExplained,
  checkSameBytes,
} from '../harness/invariants.ts';
import type { Arrival } from '../harness/receiver.ts';
import type { Check, Checks } from '../harness/run.ts';

export interface CrashHistory extends Facts {
  orders: readonly CustomerOrder[];
  arrivals: Arrival[];
  /** The time of each kill of the service in Unix milliseconds. */
  kills: readonly number[];
  /** The number of times that PostgreSQL was killed too. */
  databaseKills: number;
  /** The delay before a human job in the sandbox is delivered, in milliseconds. */
  holdMilliseconds: number;
  /** The number of concurrent deliveries. Each kill may cause that many repeated deliveries. */
  deliveriesAtATime: number;
}

/** Checks that every stored job was delivered with one id and with the same bytes at each attempt. */
const deliveredUnderOneId: Check<CrashHistory> = (history) => {
  const arrived = byName(history.arrivals);
  return [
    ...history.jobs.filter(({ name }) => !arrived.has(name)).map(({ name }) => `${name} was not delivered`),
    ...checkOneId(history),
    ...checkSameBytes(history),
  ];
};

/**
 * Checks that a kill explains every repeated delivery, and that the average number of attempts that a kill
 * interrupted does not exceed the number of concurrent deliveries.
 */
const fewRepeats: Check<CrashHistory> = (history) => {
  const { deliveries, kills, databaseKills, deliveriesAtATime } = history;
  const faults = checkRepeatsExplained(history, (one) => one.unfinishedAttempts + one.overtakenAttempts);
  const interrupted = countInterrupted(deliveries);
  const underWay = (kills.length + databaseKills) * deliveriesAtATime;
  if (interrupted > underWay)
    faults.push(`${interrupted} attempts have no end, at most ${underWay} can have been under way`);
  return faults;
};

export function countInterrupted(deliveries: Facts['deliveries']): number {
  return deliveries.reduce((sum, one) => sum + one.unfinishedAttempts + one.overtakenAttempts, 0);
}

/**
 * Checks that no human job is delivered before its delay has passed. The delay starts when the job is created. The
 * check measures from the first request for the job, which is never after the creation. So each delivery that it
 * reports was certainly too early.
 */
const notBeforeItsHold: Check<CrashHistory> = ({ orders, arrivals, holdMilliseconds }) => {
  const held = orders.filter(({ environment, tier }) => environment === 'sandbox' && tier === 'human');
  const ends = new Map(held.map(({ name, sentAt }) => [name, sentAt + holdMilliseconds]));
  return arrivals.flatMap(({ name, at }) => {
    const early = (ends.get(name) ?? at) - at;
    return early > 0 ? [`${name} was delivered ${early} ms before its hold can have ended`] : [];
  });
};

/**
 * Checks that every callback has the translation of its own job, and that the translation differs from the source.
 */
const translated: Check<CrashHistory> = ({ orders, jobs, arrivals }) => {
  const texts = new Map(orders.map(({ name, text }) => [name, text]));
  const uids = new Map(jobs.map(({ name, uid }) => [name, uid]));
  const isWrong = ({ name, body }: Arrival) => {
    const { uid, text, translated_text: result, status } = JSON.parse(body);
    return (
      uid !== uids.get(name) ||
      text !== texts.get(name) ||
      status !== 'completed' ||
      typeof result !== 'string' ||
      result === text
    );
  };
  return arrivals
    .filter(isWrong)
    .map(({ name }) => `${name} was delivered with something other than its translation`);
};

/** Checks that every job has exactly one delivery and that it succeeded. */
const outboxSettled: Check<CrashHistory> = (history) => {
  const ofJobs = Map.groupBy(history.deliveries, ({ jobId }) => jobId);
  const wrong = history.jobs.filter(({ jobId }) => ofJobs.get(jobId)?.length !== 1);
  return [
    ...wrong.map(({ name, jobId }) => `${name} has ${ofJobs.get(jobId)?.length ?? 0} deliveries`),
    ...checkOutboxSettled(history),
  ];
};

export const CHECKS = {
  'nothing lost': checkNothingLost,
  'nothing invented': checkNothingInvented,
  'everything done': checkAllCompleted,
  'delivered under one id': deliveredUnderOneId,
  'few repeats': fewRepeats,
  'not before its hold': notBeforeItsHold,
  translated,
  'charged once': checkChargedOnce,
  balanced: checkBalanced,
  'outbox settled': outboxSettled,
} satisfies Checks<CrashHistory>;
