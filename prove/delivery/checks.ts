/** The history of a delivery run, and its invariants. */
import type { DeliveryFact } from '../harness/database.ts';
import {
  byName,
  checkOneId,
  checkOutboxSettled,
  checkRepeatsExplained,
  checkSameBytes,
  isSuccess,
} from '../harness/invariants.ts';
import type { Arrival } from '../harness/receiver.ts';
import type { Check, Checks } from '../harness/run.ts';

export type Host = 'good' | 'hostile' | 'tls';

/** An event that the service accepted and so has to deliver. */
export interface Accepted {
  /** Unique; the path of its URL at the sink. */
  name: string;
  host: Host;
  /** Its place in a chat, from 0. Absent for a test event, which has no order. */
  chat?: { name: string; place: number };
  /** Unix milliseconds. */
  at: number;
}

export interface SinkArrival extends Arrival {
  /** Whether its signature is right. */
  signed: boolean;
  /** Whole seconds of the `Retry-After` in the answer. */
  retryAfter?: number;
}

export interface DeliveryHistory {
  /** All names that were asked for; the answer to some requests was lost. */
  asked: string[];
  accepted: Accepted[];
  /** In the order in which they arrived. */
  arrivals: SinkArrival[];
  /** Unix milliseconds of each kill. */
  kills: readonly number[];
  deliveries: DeliveryFact[];
  /**
   * In the run without faults: deliveries of one account to a host while another account had as many unanswered
   * requests there as it may have. `until` (Unix milliseconds) is when the first of these ended.
   */
  shared?: { names: string[]; until: number };
}

type DeliveryCheck = Check<DeliveryHistory>;

/** After the last kill, or after the acceptance if that was later. */
export const ARRIVAL_SECONDS = 60;
/** Differences between the clocks of sink and sender, and of a timer. */
const CLOCK_MILLISECONDS = 50;

/** Seconds from an event's acceptance, or the last kill, to its first success; Infinity when it never came. */
export function arrivalSeconds({ accepted, arrivals, kills }: DeliveryHistory): Map<string, number> {
  const taken = new Map(
    arrivals
      .filter(isSuccess)
      .toReversed()
      .map(({ name, at }) => [name, at]),
  );
  const lastKill = kills.at(-1) ?? 0;
  return new Map(
    accepted.map(({ name, at }) => {
      const arrived = taken.get(name) ?? Number.POSITIVE_INFINITY;
      return [name, (arrived - Math.max(at, lastKill)) / 1000];
    }),
  );
}

const everythingArrives: DeliveryCheck = (history) =>
  [...arrivalSeconds(history)]
    .filter(([, seconds]) => seconds > ARRIVAL_SECONDS)
    .map(([name, seconds]) =>
      Number.isFinite(seconds)
        ? `${name} arrived ${seconds.toFixed(1)} s after the last fault`
        : `${name} never arrived`,
    );

const nothingInvented: DeliveryCheck = ({ asked, arrivals }) => {
  const names = new Set(asked);
  return arrivals.filter(({ name }) => !names.has(name)).map(({ name }) => `${name} was never asked for`);
};

const allSigned: DeliveryCheck = ({ arrivals }) =>
  arrivals.filter(({ signed }) => !signed).map(({ name }) => `${name} came with a wrong signature`);

/** No message of a chat arrives before the previous one has been answered with 2xx. */
const inOrder: DeliveryCheck = ({ accepted, arrivals }) => {
  const first = new Map<string, number>();
  const success = new Map<string, number>();
  for (const [index, arrival] of arrivals.entries()) {
    if (!first.has(arrival.name)) first.set(arrival.name, index);
    if (isSuccess(arrival) && !success.has(arrival.name)) success.set(arrival.name, index);
  }
  const messages = accepted.filter(({ chat }) => chat !== undefined);
  return [...Map.groupBy(messages, ({ chat }) => chat!.name).values()].flatMap((of) => {
    const sorted = of.toSorted((one, other) => one.chat!.place - other.chat!.place);
    return sorted.slice(1).flatMap(({ name }, index) => {
      const previous = sorted[index]!.name;
      const arrived = first.get(name);
      return arrived !== undefined && arrived < (success.get(previous) ?? Number.POSITIVE_INFINITY)
        ? [`${name} came before ${previous} was taken`]
        : [];
    });
  });
};

/**
 * Faults explain every repeat: a kill, a reset, a worker that was paused longer than its lease, or an arrival that was
 * taken during an attempt that timed out for the sender (both on a busy machine).
 */
const fewRepeats: DeliveryCheck = (history) => {
  const taken = Map.groupBy(history.arrivals.filter(isSuccess), ({ webhookId }) => webhookId);
  return checkRepeatsExplained(history, (delivery) => {
    const { deliveryId, unfinishedAttempts, overtakenAttempts, timedOutAttempts } = delivery;
    const late = (taken.get(deliveryId) ?? []).filter(({ at }) =>
      timedOutAttempts.some(([start, end]) => at >= start && at <= end),
    );
    return unfinishedAttempts + overtakenAttempts + late.length;
  });
};

const retryAfterHeld: DeliveryCheck = ({ arrivals }) =>
  [...byName(arrivals)].flatMap(([name, of]) =>
    of.flatMap(({ retryAfter, at }, index) => {
      const next = of[index + 1];
      if (retryAfter === undefined || next === undefined) return [];
      const waited = next.at - at;
      return waited < retryAfter * 1000 - CLOCK_MILLISECONDS
        ? [`${name} came again after ${waited} ms, asked for ${retryAfter} s`]
        : [];
    }),
  );

/** Every request that arrived was stored as an attempt before. */
const attemptsOnRecord: DeliveryCheck = ({ arrivals, deliveries }) => {
  const attempts = new Map(deliveries.map(({ deliveryId, attempts }) => [deliveryId, attempts]));
  return [...Map.groupBy(arrivals, ({ webhookId }) => webhookId)].flatMap(([id, of]) =>
    of.length > (attempts.get(id) ?? 0)
      ? [`${id} arrived ${of.length} times, ${attempts.get(id) ?? 0} attempts are stored`]
      : [],
  );
};

/** Slow answers of a host to one account do not delay the deliveries of another account. */
const hostsShared: DeliveryCheck = ({ arrivals, shared }) => {
  if (shared === undefined) return [];
  const first = new Map(arrivals.toReversed().map(({ name, at }) => [name, at]));
  return shared.names
    .filter((name) => (first.get(name) ?? Number.POSITIVE_INFINITY) > shared.until)
    .map((name) => `${name} was delayed by the deliveries of another account`);
};

export const CHECKS = {
  'everything arrives': everythingArrives,
  'nothing invented': nothingInvented,
  'one id an event': checkOneId,
  'same bytes': checkSameBytes,
  'all signed': allSigned,
  'in order': inOrder,
  'few repeats': fewRepeats,
  'Retry-After held': retryAfterHeld,
  'hosts shared': hostsShared,
  'outbox settled': checkOutboxSettled,
  'attempts on record': attemptsOnRecord,
} satisfies Checks<DeliveryHistory>;
