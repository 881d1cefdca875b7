/**
 * The invariants that several proofs share. Each compares what customers and receivers saw with what is stored at the
 * end.
 */
import type { DeliveryFact, Facts, JobFact, TransferFact } from './database.ts';
import type { Arrival } from './receiver.ts';

/** A job that a customer wants exactly once, even if the customer sends the request several times. */
export interface Order {
  /** The unique name of the order, which is also the last part of its callback URL. */
  name: string;
  account: string;
  environment: 'production' | 'sandbox';
  /** The uid that the customer chose. If it is absent, the server assigns one. */
  uid?: string;
  /** The successful responses (201 and 200) to the creation. If there are none, the job may exist or not. */
  answers: Acknowledgement[];
}

export interface Acknowledgement {
  status: number;
  /** The time at which the response arrived, in Unix milliseconds. */
  at: number;
  uid: string;
  /** The order number. Responses for machine jobs have no order number and no price. */
  orderNumber?: number;
  priceCents?: number;
}

interface Ordered<O extends Order = Order> {
  orders: readonly O[];
  jobs: readonly JobFact[];
}

type Jobs = Pick<Facts, 'jobs'>;
type Arrivals = { arrivals: readonly Arrival[] };
type Transfers = Pick<Facts, 'transfers'>;
type Deliveries = Pick<Facts, 'deliveries'>;

export const isSuccess = ({ answer }: Arrival): boolean =>
  answer !== undefined && answer >= 200 && answer < 300;

export const byName = <T extends { name: string }>(things: readonly T[]): Map<string, T[]> =>
  Map.groupBy(things, ({ name }) => name);

/**
 * Checks that every acknowledged job is stored once and with the acknowledged values.
 *
 * @param prices the prices that a response for a job may have contained
 */
export function checkNothingLost<O extends Order>(
  { orders, jobs }: Ordered<O>,
  prices: (order: O, job: JobFact) => readonly number[] = (_, job) => [job.priceCents],
): string[] {
  const stored = byName(jobs);
  return orders.flatMap((order) => {
    const { name, account, environment, answers } = order;
    if (answers.length === 0) return [];
    const [job, ...others] = stored.get(name) ?? [];
    if (job === undefined || others.length > 0)
      return [`${name} was acknowledged and is stored ${job === undefined ? 0 : others.length + 1} times`];
    if (job.account !== account || job.environment !== environment)
      return [`${name} is stored for ${job.account} in ${job.environment}`];
    return answers
      .filter(
        ({ uid, orderNumber = job.orderNumber, priceCents = job.priceCents }) =>
          uid !== job.uid || orderNumber !== job.orderNumber || !prices(order, job).includes(priceCents),
      )
      .map(({ uid }) => `${name} is not as it was acknowledged under ${uid}`);
  });
}

/**
 * Checks that every stored job was ordered, and that each order has at most one job. An order without a uid is sent
 * only once, because after a broken connection the customer cannot know whether the job exists.
 */
export function checkNothingInvented({ orders, jobs }: Ordered): string[] {
  const wanted = new Map(orders.map((order) => [order.name, order]));
  const seen = new Set<string>();
  return jobs.flatMap(({ name, account, uid, environment }) => {
    const order = wanted.get(name);
    if (order?.account !== account || order.environment !== environment || (order.uid ?? uid) !== uid)
      return [`${name} was never asked for as ${uid} by ${account} in ${environment}`];
    if (seen.has(name)) return [`${name} is stored more than once`];
    seen.add(name);
    return [];
  });
}

/** Checks that at most one response to each order says that the job was created. */
export function checkCreatedOnce({ orders }: { orders: readonly Order[] }): string[] {
  return orders.flatMap(({ name, answers }) => {
    const created = answers.filter(({ status }) => status === 201).length;
    return created > 1 ? [`${name}: ${created} answers say that it was created`] : [];
  });
}

export function checkAllCompleted({ jobs }: Jobs): string[] {
  return jobs
    .filter(({ status }) => status !== 'completed')
    .map(({ name, status, failure }) => `${name} is ${status}${failure === null ? '' : `: ${failure}`}`);
}

/** Checks that every callback has one id, and that every id belongs to one callback. */
export function checkOneId({ arrivals }: Arrivals): string[] {
  const ofIds = Map.groupBy(arrivals, ({ webhookId }) => webhookId);
  return [
    ...[...byName(arrivals)].flatMap(([name, of]) => {
      const ids = new Set(of.map(({ webhookId }) => webhookId));
      return ids.size > 1 ? [`${name} came under ${ids.size} ids`] : [];
    }),
    ...[...ofIds].flatMap(([id, of]) => {
      const names = new Set(of.map(({ name }) => name));
      return names.size > 1 ? [`${id} is the id of ${[...names].join(' and ')}`] : [];
    }),
  ];
}

/** Checks that all attempts of a callback have the same bytes. */
export function checkSameBytes({ arrivals }: Arrivals): string[] {
  return [...byName(arrivals)].flatMap(([name, of]) => {
    const bodies = new Set(of.map(({ body }) => body));
    return bodies.size > 1 ? [`${name} came with ${bodies.size} different bodies`] : [];
  });
}

/**
 * Checks that a fault explains every callback that was repeated after the receiver had accepted it. A kill or a pause
 * may have interrupted the attempt, or a connection reset may have destroyed the response. An attempt is stored
 * before the request and updated after it, so an interrupted attempt has no end when the next one begins.
 *
 * @param interrupted returns the number of attempts of a delivery that a fault may have interrupted
 */
export function checkRepeatsExplained(
  { arrivals, deliveries }: Arrivals & Deliveries,
  interrupted: (delivery: DeliveryFact) => number,
): string[] {
  const explained = new Map(deliveries.map((delivery) => [delivery.deliveryId, interrupted(delivery)]));
  return [...Map.groupBy(arrivals, ({ webhookId }) => webhookId)].flatMap(([id, of]) => {
    const repeats = of.slice(0, -1).filter(isSuccess).length;
    const faults = (explained.get(id) ?? 0) + of.filter(({ reset }) => reset).length;
    return repeats > faults
      ? [`${of[0]!.name} came ${repeats} times after it was taken; ${faults} faults explain a repeat`]
      : [];
  });
}

/** Checks that every delivery succeeded. */
export function checkOutboxSettled({ deliveries }: Deliveries): string[] {
  return deliveries
    .filter(({ status }) => status !== 'delivered')
    .map(({ name, deliveryId, status }) => `the delivery ${deliveryId} of ${name} is ${status}`);
}

const ENDS: Readonly<Record<string, string>> = { completed: 'capture', canceled: 'void', failed: 'void' };

/** Returns true if a job with this status does not change any more. */
export const isFinal = (status: string): boolean => status in ENDS;

/**
 * Checks that every job is charged once: one hold, and the one transfer that ends the hold as the job's status
 * requires. The part of the hold for untranslated segments is released before; the rest is the price. An upgraded job has earlier charges. The charge of the machine job must have
 * been captured, and the charge of a canceled upgrade must have been voided.
 */
export function checkChargedOnce({ jobs, transfers }: Jobs & Transfers): string[] {
  const ofJobs = Map.groupBy(transfers, ({ jobId }) => jobId);
  return jobs.flatMap((job) => {
    const own = ofJobs.get(job.jobId) ?? [];
    const charges = Map.groupBy(own, ({ charge }) => charge);
    const end = job.fellBack ? 'void' : ENDS[job.status];
    const isRight = [...charges].every(([charge, of]) => {
      const isLast = charge === job.charge;
      const wanted = ['hold', isLast ? end : charge === 1 ? 'capture' : 'void'];
      const released = of.filter(({ kind }) => kind === 'release').reduce((sum, one) => sum + one.cents, 0);
      const held = of.map((one) => (one.kind === 'hold' ? { ...one, cents: one.cents - released } : one));
      const others = held.filter(({ kind }) => kind !== 'release');
      return sameTransfers(others, wanted, isLast ? job.priceCents : others[0]!.cents);
    });
    if (isRight && charges.has(job.charge) === job.priceCents > 0) return [];
    const found = own.map(({ charge, kind, cents }) => `${charge} ${kind} ${cents}`).join(', ');
    return [`${job.name} (${job.status}${job.fellBack ? ', fell back' : ''}): ${found || 'no transfer'}`];
  });
}

function sameTransfers(
  found: readonly TransferFact[],
  kinds: readonly (string | undefined)[],
  cents: number,
) {
  const wanted = kinds.filter((kind) => kind !== undefined).map((kind) => `${kind} ${cents}`);
  const made = found.map((transfer) => `${transfer.kind} ${transfer.cents}`);
  return String(made.sort()) === String(wanted.sort());
}

/** Checks that every balance is the sum of its transfers. */
export function checkBalanced({ transfers, balances }: Transfers & Pick<Facts, 'balances'>): string[] {
  const of = Map.groupBy(transfers, ({ account, environment }) => `${account} ${environment}`);
  return balances.flatMap(({ account, environment, availableCents }) => {
    const own = of.get(`${account} ${environment}`) ?? [];
    const sum = (side: 'debit' | 'credit') =>
      own.filter((transfer) => transfer[side] === 'available').reduce((all, { cents }) => all + cents, 0);
    const expected = sum('credit') - sum('debit');
    return expected === availableCents
      ? []
      : [`the ${environment} balance of ${account} is ${availableCents}, its transfers are ${expected}`];
  });
}
