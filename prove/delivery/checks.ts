/** The history of a delivery run, and the invariants that it must satisfy. */
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

/** An event that the service accepted and must deliver. */
export interface Accepted {
  /** The unique name of the event, which is also the path of its URL at the receiver. */
  name: string;
  host: Host;
  /** The chat of a message, and the number of the message in it, from 0. A test event has no chat. */
  chat?: { name: string; place: number };
  /** The time at which the service accepted the event, in Unix milliseconds. */
  at: number;
}

export interface SinkArrival extends Arrival {
  /** True if the signature is valid. */
  signed: boolean;
  /** The `Retry-After` of the response in whole seconds. */
  retryAfter?: number;
}

export interface DeliveryHistory {
  /** The names of all requested events. The responses to some requests were lost. */
  asked: string[];
  accepted: Accepted[];
  /** The requests that the receiver got, in order of arrival. */
  arrivals: SinkArrival[];
  /** The time of each kill in Unix milliseconds. */
  kills: readonly number[];
  deliveries: DeliveryFact[];
  /**
   * The names of one account's deliveries to a host at which another account has the maximum number of open requests.
   * `until` is the time at which the first of these requests ended, in Unix milliseconds. Only in a run without
   * kills.
   */
  shared?: { names: string[]; until: number };
}

type DeliveryCheck = Check<DeliveryHistory>;

/** The tolerance for differences between the clocks of receiver and sender and for the accuracy of timers. */
const CLOCK_MILLISECONDS = 50;

/**
 * Returns the seconds from an event's acceptance, or from the last kill if that is later, to its first successful
 * delivery. Infinity if the event was never delivered.
 */
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
    .filter(([, seconds]) => !Number.isFinite(seconds))
    .map(([name]) => `${name} never arrived`);

const nothingInvented: DeliveryCheck = ({ asked, arrivals }) => {
  const names = new Set(asked);
  return arrivals.filter(({ name }) => !names.has(name)).map(({ name }) => `${name} was never asked for`);
};

const allSigned: DeliveryCheck = ({ arrivals }) =>
  arrivals.filter(({ signed }) => !signed).map(({ name }) => `${name} came with a wrong signature`);

/** Checks that no message of a chat is delivered before the previous message was answered with 2xx. */
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
 * Checks that a fault explains every repeated delivery. The faults are a kill, a connection reset, a worker that was
 * paused longer than its lease, and a request that the receiver accepted although the attempt timed out at the
 * sender. The last two faults happen on a busy machine.
 */
const fewRepeats: DeliveryCheck = (history) => {
  const taken = Map.groupBy(history.arrivals.filter(isSuccess), ({ webhookId }) => webhookId);
  return checkRepeatsExplained(history, (delivery) => {
    const times = (taken.get(delivery.deliveryId) ?? []).map(({ at }) => at);
    return delivery.unfinishedAttempts + delivery.overtakenAttempts + countTakenLate(times, delivery);
  });
};

/**
 * Returns how many of the requests that the receiver accepted belong to attempts that timed out at the sender. An
 * attempt that did not time out explains one request between its start and its end. An attempt that timed out
 * explains one of the remaining requests after its start, because a busy receiver may read a request only after the
 * sender gave up.
 */
function countTakenLate(times: readonly number[], { timedOutAttempts, otherAttempts }: DeliveryFact): number {
  const left = [...times];
  const take = (start: number, end: number): boolean => {
    const index = left.findIndex((at) => at >= start && at <= end);
    if (index >= 0) left.splice(index, 1);
    return index >= 0;
  };
  for (const [start, end] of otherAttempts) take(start, end + CLOCK_MILLISECONDS);
  return timedOutAttempts.filter(([start]) => take(start, Number.POSITIVE_INFINITY)).length;
}

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

/** Checks that an attempt was stored for every request that arrived. */
const attemptsOnRecord: DeliveryCheck = ({ arrivals, deliveries }) => {
  const attempts = new Map(deliveries.map(({ deliveryId, attempts }) => [deliveryId, attempts]));
  return [...Map.groupBy(arrivals, ({ webhookId }) => webhookId)].flatMap(([id, of]) =>
    of.length > (attempts.get(id) ?? 0)
      ? [`${id} arrived ${of.length} times, ${attempts.get(id) ?? 0} attempts are stored`]
      : [],
  );
};

/** Checks that slow responses of a host to one account do not delay the deliveries of another account. */
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
