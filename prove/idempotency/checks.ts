/** The history of an idempotency run, and the invariants that it must satisfy. */
import { byName } from '../harness/invariants.ts';
import type { Check, Checks } from '../harness/run.ts';

export interface Answer {
  status: number;
  /** The body that was sent. Each order has two different bodies. */
  body: 'first' | 'other';
  /** The response body without the fields that may change. */
  lasting: string;
}

/** A job or a chat message that must be created once, although it is requested several times. */
export interface Order {
  /** The unique name of the order. Its texts start with this name. */
  name: string;
  /** The value by which the service recognizes a repeated request. */
  by: 'key' | 'uid' | 'chat';
  /** The responses to the concurrent requests. */
  answers: Answer[];
  /**
   * The response to a later request with the second body. Undefined if some of the concurrent requests
   * already had the second body.
   */
  later: Answer | undefined;
}

export interface IdempotencyHistory {
  orders: Order[];
  /** The number of concurrent requests for each order. */
  requests: number;
  /** The jobs and messages that are stored at the end. A message has no holds. */
  made: { name: string; by: 'job' | 'chat'; holds: number }[];
  /** The number of chats that are stored at the end. Each order that creates a message has its own chat. */
  chats: number;
  /** The uids of all jobs, in the order of the list at the end. */
  listed: string[];
  /** The uids seen by each client that read the growing list during the run. */
  followed: string[][];
}

type IdempotencyCheck = Check<IdempotencyHistory>;

const isAccepted = ({ status }: Answer) => status === 200 || status === 201;
const allOf = ({ answers, later }: Order) => (later === undefined ? answers : [...answers, later]);

/** Checks that each order created exactly one job or message, and that a job has exactly one hold. */
const madeOnce: IdempotencyCheck = ({ orders, made }) => {
  const stored = byName(made);
  const known = new Set(orders.map(({ name }) => name));
  return [
    ...(orders.length === 0 ? ['there are no orders'] : []),
    ...orders.flatMap(({ name, by }) => {
      const own = stored.get(name) ?? [];
      if (own.length !== 1) return [`${name}: made ${own.length} times`];
      const holds = by === 'chat' ? 0 : 1;
      return own[0]!.holds === holds ? [] : [`${name}: ${own[0]!.holds} holds`];
    }),
    ...made.filter(({ name }) => !known.has(name)).map(({ name }) => `${name}: was never asked for`),
  ];
};

const oneChatEach: IdempotencyCheck = ({ orders, chats }) => {
  const wanted = orders.filter(({ by }) => by === 'chat').length;
  return chats === wanted ? [] : [`${chats} chats, not ${wanted}`];
};

/**
 * Checks that every request was answered, and that exactly one response to each order says that the job was created.
 */
const createdOnce: IdempotencyCheck = ({ orders, requests }) =>
  orders.flatMap(({ name, answers }) => {
    if (answers.length !== requests) return [`${name}: ${answers.length} of ${requests} were answered`];
    const created = answers.filter(({ status }) => status === 201).length;
    return created === 1 ? [] : [`${name}: ${created} answers say that it was created`];
  });

/** Checks that all successful responses to an order are identical. */
const sameAnswer: IdempotencyCheck = ({ orders }) =>
  orders.flatMap((order) => {
    const accepted = allOf(order).filter(isAccepted);
    const different = new Set(accepted.map(({ lasting }) => lasting));
    return different.size > 1 ? [`${order.name}: ${different.size} different answers`] : [];
  });

/**
 * Checks that another body for a job is always refused. For a message, another body is accepted but does not change
 * the message.
 */
const otherBodyRefused: IdempotencyCheck = ({ orders }) =>
  orders.flatMap((order) => {
    const answers = allOf(order);
    const made = answers.find(({ status }) => status === 201)?.body;
    const fits = (answer: Answer) => {
      if (order.by === 'chat') return isAccepted(answer);
      // Status 409 means that the first request is still being processed.
      return answer.status === 409 || (answer.body === made ? isAccepted(answer) : answer.status === 400);
    };
    return answers
      .filter((answer) => !fits(answer))
      .map(({ status, body }) => `${order.name}: the ${body} body was answered ${status}`);
  });

/**
 * Checks that each client that read the growing list, always from the last job it had seen, saw every job once and in
 * the order of the list.
 */
const followedWhole: IdempotencyCheck = ({ listed, followed }) =>
  followed.flatMap((seen, client) => {
    const known = new Set(seen);
    const lost = listed.filter((uid) => !known.has(uid));
    const isWrong = seen.length > known.size || seen.some((uid, place) => uid !== listed[place]);
    return [
      ...lost.map((uid) => `client ${client} never saw ${uid}`),
      ...(lost.length === 0 && isWrong ? [`client ${client} saw jobs twice, or in another order`] : []),
    ];
  });

export const CHECKS = {
  'orders not made once, with one hold': madeOnce,
  'chats not made once': oneChatEach,
  'orders not created by exactly one answer': createdOnce,
  'orders whose answers differ': sameAnswer,
  'other bodies not refused': otherBodyRefused,
  'jobs that a follower of the list did not see once': followedWhole,
} satisfies Checks<IdempotencyHistory>;
