/** The history of a money run, and the invariants that it must satisfy. */
import type { Facts } from '../harness/database.ts';
import {
  checkBalanced,
  checkChargedOnce,
  checkCreatedOnce,
  checkNothingInvented,
  checkNothingLost,
  isFinal,
  type Order,
} from '../harness/invariants.ts';
import type { Check, Checks } from '../harness/run.ts';

export interface MoneyOrder extends Order {
  /**
   * `fallback`: the job's brand delivers the draft if no editor finishes in time. `upgrade`: a machine job that
   * becomes a human job.
   */
  kind: 'plain' | 'fallback' | 'upgrade';
  /** The value by which the service recognizes a repeated request: the customer's uid or the `Idempotency-Key`. */
  by: 'uid' | 'key';
  /** The statuses of all responses to upgrades. */
  upgrades: number[];
  /**
   * The statuses of all responses to cancellations, or 0 for a missing response. Empty when no cancellation was
   * requested.
   */
  cancels: number[];
}

export interface MoneyHistory extends Facts {
  orders: MoneyOrder[];
  /** The number of concurrent requests that create each order. */
  creates: number;
  /** The time of each kill in Unix milliseconds. */
  kills: readonly number[];
  /** The names of the delivered orders, one for each callback. */
  delivered: string[];
  /** The number of discrepancies that `ledger verify` found. */
  discrepancies: number;
}

type MoneyCheck = Check<MoneyHistory>;

/** Checks that every request to create a job was answered, and that every response describes the stored job. */
const lost: MoneyCheck = ({ orders, creates, jobs, transfers }) => {
  const transfersOf = Map.groupBy(transfers, ({ jobId }) => jobId);
  return [
    ...orders
      .filter(({ answers }) => answers.length !== creates)
      .map(({ name, answers }) => `${name}: ${answers.length} of ${creates} creates were answered`),
    // Responses may also have other prices: 0 for a canceled job, and any earlier price of an upgraded job.
    ...checkNothingLost({ orders, jobs }, ({ kind }, { jobId, status, priceCents }) => [
      priceCents,
      ...(status === 'canceled' ? [0] : []),
      ...(kind === 'upgrade' ? (transfersOf.get(jobId) ?? []).map(({ cents }) => cents) : []),
    ]),
  ];
};

/** Checks that the text of each job begins with the name of its order. */
const mistaken: MoneyCheck = ({ jobs }) =>
  jobs
    .filter(({ name, firstWord }) => firstWord !== name)
    .map(({ name, firstWord }) => `${name} has the text of ${firstWord}`);

const doubled: MoneyCheck = (history) => [
  ...checkNothingInvented(history),
  ...checkCreatedOnce(history),
  ...mistaken(history),
];

/** Checks that every job is charged once. Every job of this run has a price, so every job must have a charge. */
const chargedOnce: MoneyCheck = (history) => {
  const { jobs, transfers } = history;
  const charges = new Set(transfers.map(({ jobId, charge }) => `${jobId} ${charge}`));
  return [
    ...checkChargedOnce(history),
    ...jobs
      .filter(({ jobId, charge }) => !charges.has(`${jobId} ${charge}`))
      .map(({ name }) => `${name} was never charged`),
  ];
};

const statusesOf = ({ jobs }: MoneyHistory) => new Map(jobs.map((job) => [job.name, job]));

/** Checks that a confirmed cancellation canceled the job once, and that no other job is canceled. */
const canceled: MoneyCheck = (history) => {
  const jobs = statusesOf(history);
  return history.orders.flatMap(({ name, kind, cancels }) => {
    if (kind === 'upgrade') return [];
    const status = jobs.get(name)?.status ?? 'missing';
    if (cancels.includes(200) && status !== 'canceled') return [`${name}: canceled, and it is ${status}`];
    if (cancels.length === 0 && status === 'canceled') return [`${name}: canceled without a request`];
    if (cancels.filter((answer) => answer === 200).length > 1) return [`${name}: canceled twice`];
    return [];
  });
};

/**
 * Checks that an upgraded job is a human job. After a canceled upgrade, it must be a machine job again and have its
 * result.
 */
const upgraded: MoneyCheck = (history) => {
  const jobs = statusesOf(history);
  return history.orders.flatMap(({ name, kind, upgrades, cancels }) => {
    const job = jobs.get(name);
    if (kind !== 'upgrade' || job === undefined) return [];
    const isBack = cancels.some((status) => status < 300);
    // A cancellation without a response may have succeeded.
    if (!isBack && cancels.some((status) => status === 0 || status >= 500)) return [];
    const wanted = upgrades.includes(202) && !isBack ? 'human' : 'machine';
    if (job.tier !== wanted) return [`${name}: its tier is ${job.tier}, not ${wanted}`];
    if (wanted === 'human') return [];
    return job.status === 'completed' && job.hasResult ? [] : [`${name}: the machine's result is gone`];
  });
};

/**
 * Checks that exactly the completed human jobs of production have their draft as the result. No editor works in this
 * run, so these jobs reach their deadline.
 */
const fellBack: MoneyCheck = ({ jobs }) =>
  jobs
    .filter((job) => {
      const isDraft = job.environment === 'production' && job.tier === 'human' && job.status === 'completed';
      return job.fellBack !== isDraft;
    })
    .map(({ name, status, fellBack }) => `${name} is ${status}, and fell back: ${fellBack}`);

/** Checks that no canceled job was delivered and every completed job was. */
const notified: MoneyCheck = ({ jobs, delivered }) => {
  const names = new Set(delivered);
  return jobs.flatMap(({ name, status }) => {
    if (status === 'canceled' && names.has(name)) return [`${name}: canceled, and delivered`];
    if (status === 'completed' && !names.has(name)) return [`${name}: completed, and not delivered`];
    return [];
  });
};

/** Checks that no machine work is left, and that no job with a fallback is still open after its deadline. */
const finished: MoneyCheck = ({ orders, jobs }) => {
  const fallbacks = new Set(orders.filter(({ kind }) => kind === 'fallback').map(({ name }) => name));
  return jobs
    .filter(({ name, environment }) => environment === 'sandbox' || fallbacks.has(name))
    .filter(({ status }) => !isFinal(status))
    .map(({ name, status }) => `${name} is still ${status}`);
};

const verified: MoneyCheck = ({ discrepancies }) =>
  discrepancies === 0 ? [] : [`ledger verify: ${discrepancies} discrepancies`];

export const CHECKS = {
  'orders lost': lost,
  'orders doubled': doubled,
  'jobs not charged exactly once': chargedOnce,
  'cancels that are not so': canceled,
  'upgrades that are not so': upgraded,
  'fallbacks that are not said': fellBack,
  'canceled and delivered, or completed and not': notified,
  'balances that do not add up': checkBalanced,
  'jobs left unfinished': finished,
  'ledger verify': verified,
} satisfies Checks<MoneyHistory>;
