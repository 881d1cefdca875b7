/** What must be so after a delivery run. Each check says what it found wrong, one line a fault. */
import { type Arrival, type History, isSuccess } from './history.ts';

type Check = (history: History) => string[];

/** After the last kill, or after its acceptance where that was later. */
export const ARRIVAL_SECONDS = 60;
/** Of the clocks of sink and sender, which are one machine's, and of a timer. */
const CLOCK_MILLISECONDS = 50;

const byName = (history: History): Map<string, Arrival[]> =>
  Map.groupBy(history.arrivals, ({ name }) => name);

const everythingArrives: Check = (history) => {
  const arrivals = byName(history);
  const last = history.kills.at(-1) ?? 0;
  return history.accepted.flatMap(({ name, at }) => {
    const success = arrivals.get(name)?.find(isSuccess);
    if (success === undefined) return [`${name} never arrived`];
    const seconds = (success.at - Math.max(at, last)) / 1000;
    return seconds > ARRIVAL_SECONDS ? [`${name} arrived ${seconds.toFixed(1)} s after the last fault`] : [];
  });
};

const nothingInvented: Check = ({ asked, arrivals }) => {
  const names = new Set(asked);
  return arrivals.filter(({ name }) => !names.has(name)).map(({ name }) => `${name} was never asked for`);
};

const oneId: Check = (history) => [
  ...[...byName(history)].flatMap(([name, arrivals]) => {
    const ids = new Set(arrivals.map(({ webhookId }) => webhookId));
    return ids.size > 1 ? [`${name} came under ${ids.size} ids`] : [];
  }),
  ...[...Map.groupBy(history.arrivals, ({ webhookId }) => webhookId)].flatMap(([id, arrivals]) => {
    const names = new Set(arrivals.map(({ name }) => name));
    return names.size > 1 ? [`${id} is the id of ${[...names].join(' and ')}`] : [];
  }),
];

const sameBytes: Check = (history) =>
  [...byName(history)].flatMap(([name, arrivals]) =>
    new Set(arrivals.map(({ digest }) => digest)).size > 1 ? [`${name} came with different bytes`] : [],
  );

const allSigned: Check = ({ arrivals }) =>
  arrivals.filter(({ signed }) => !signed).map(({ name }) => `${name} came with a wrong signature`);

/** Nothing of a chat arrives before what stands before it has been answered with 2xx. */
const inOrder: Check = ({ accepted, arrivals }) => {
  const first = new Map<string, number>();
  const success = new Map<string, number>();
  for (const [index, arrival] of arrivals.entries()) {
    if (!first.has(arrival.name)) first.set(arrival.name, index);
    if (isSuccess(arrival) && !success.has(arrival.name)) success.set(arrival.name, index);
  }
  const chats = Map.groupBy(
    accepted.filter(({ chat }) => chat !== undefined),
    ({ chat }) => chat!.name,
  );
  return [...chats.values()].flatMap((messages) => {
    const sorted = messages.toSorted((a, b) => a.chat!.place - b.chat!.place);
    return sorted.slice(1).flatMap(({ name }, index) => {
      const before = sorted[index]!.name;
      const came = first.get(name);
      return came !== undefined && came < (success.get(before) ?? Infinity)
        ? [`${name} came before ${before} was taken`]
        : [];
    });
  });
};

/**
 * What was taken does not come again, unless a kill cut off the attempt, or a reset overtook the answer: the sender
 * knows nothing of having been told then. (What comes again may be refused before it is taken anew.)
 */
const fewRepeats: Check = (history) => {
  const unfinished = new Map(history.deliveries.map(({ id, unfinished }) => [id, unfinished]));
  return [...Map.groupBy(history.arrivals, ({ webhookId }) => webhookId)].flatMap(([id, arrivals]) => {
    const lost = arrivals.slice(0, -1).filter(isSuccess);
    const overtaken = arrivals.filter((arrival) => arrival.overtaken).length;
    const explained = (unfinished.get(id) ?? 0) + overtaken;
    return lost.length > explained
      ? [`${arrivals[0]!.name} came ${lost.length} times after it was taken`]
      : [];
  });
};

const retryAfterHeld: Check = (history) =>
  [...byName(history)].flatMap(([name, arrivals]) =>
    arrivals.flatMap(({ retryAfter, at }, index) => {
      const next = arrivals[index + 1];
      if (retryAfter === undefined || next === undefined) return [];
      const waited = next.at - at;
      return waited < retryAfter * 1000 - CLOCK_MILLISECONDS
        ? [`${name} came again after ${waited} ms, asked for ${retryAfter} s`]
        : [];
    }),
  );

const outboxSettled: Check = ({ deliveries }) =>
  deliveries.filter(({ status }) => status !== 'delivered').map(({ id, status }) => `${id} is ${status}`);

/** Every request that arrived was on record as an attempt before. */
const attemptsOnRecord: Check = (history) => {
  const attempts = new Map(history.deliveries.map(({ id, attempts }) => [id, attempts]));
  return [...Map.groupBy(history.arrivals, ({ webhookId }) => webhookId)].flatMap(([id, arrivals]) =>
    arrivals.length > (attempts.get(id) ?? 0)
      ? [`${id} arrived ${arrivals.length} times, ${attempts.get(id) ?? 0} attempts are on record`]
      : [],
  );
};

/** An account's deliveries do not wait for a host's slow answers to another account. */
const hostsShared: Check = ({ arrivals, shared }) => {
  const first = new Map(arrivals.toReversed().map(({ name, at }) => [name, at]));
  return (shared?.names ?? []).flatMap((name) =>
    (first.get(name) ?? Infinity) > shared!.until
      ? [`${name} waited for answers to another account’s deliveries`]
      : [],
  );
};

export const CHECKS = {
  'everything arrives': everythingArrives,
  'nothing invented': nothingInvented,
  'one id an event': oneId,
  'same bytes': sameBytes,
  'all signed': allSigned,
  'in order': inOrder,
  'few repeats': fewRepeats,
  'Retry-After held': retryAfterHeld,
  'hosts shared': hostsShared,
  'outbox settled': outboxSettled,
  'attempts on record': attemptsOnRecord,
} as const satisfies Record<string, Check>;
