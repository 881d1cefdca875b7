/** What an idempotency run must not show. Each check says what it found wrong, one line a fault. */
import type { Answer, IdempotencyHistory, Order } from './run.ts';

type Check = (history: IdempotencyHistory) => string[];

const isTaken = ({ status }: Answer) => status === 200 || status === 201;
const allOf = ({ answers, later }: Order) => (later === undefined ? answers : [...answers, later]);

/** One thing of each order, with one hold where it is a job. */
const madeOnce: Check = ({ orders, made }) => {
  const byName = Map.groupBy(made, ({ name }) => name);
  const known = new Set(orders.map(({ name }) => name));
  return [
    ...orders.flatMap(({ name, by }) => {
      const own = byName.get(name) ?? [];
      if (own.length !== 1) return [`${name}: made ${own.length} times`];
      const holds = by === 'chat' ? 0 : 1;
      return own[0]!.holds === holds ? [] : [`${name}: ${own[0]!.holds} holds`];
    }),
    ...made.filter(({ name }) => !known.has(name)).map(({ name }) => `${name}: nobody asked for it`),
  ];
};

const oneChatEach: Check = ({ orders, chats }) => {
  const wanted = orders.filter(({ by }) => by === 'chat').length;
  return chats === wanted ? [] : [`${chats} chats, not ${wanted}`];
};

/** Every request was answered, and one of an order's answers says that it was created. */
const createdOnce: Check = ({ orders, requests }) =>
  orders.flatMap(({ name, answers }) => {
    if (answers.length !== requests) return [`${name}: ${answers.length} of ${requests} were answered`];
    const created = answers.filter(({ status }) => status === 201).length;
    return created === 1 ? [] : [`${name}: ${created} answers say that it was created`];
  });

/** Who is told of the order is told the same. */
const sameAnswer: Check = ({ orders }) =>
  orders.flatMap((order) => {
    const said = new Set(
      allOf(order)
        .filter(isTaken)
        .map((answer) => answer.said),
    );
    return said.size > 1 ? [`${order.name}: ${said.size} different answers`] : [];
  });

/** A job's other body is refused, always; a message stays what it is, whatever else is sent under its id. */
const otherBodyRefused: Check = ({ orders }) =>
  orders.flatMap((order) => {
    const { name, by } = order;
    const answers = allOf(order);
    if (by === 'chat') {
      const wrong = answers.filter((answer) => !isTaken(answer));
      return wrong.length === 0 ? [] : [`${name}: answered ${wrong[0]!.status}`];
    }
    const made = answers.find(({ status }) => status === 201)?.body;
    // 409: the first is still being made.
    const fits = ({ status, body }: Answer) =>
      status === 409 || (body === made ? status === 200 || status === 201 : status === 400);
    const wrong = answers.filter((answer) => !fits(answer));
    return wrong.map(({ status, body }) => `${name}: the ${body} body was answered ${status}`);
  });

/** A client that goes on from the last job it saw has seen every job once, in the order of the list. */
const followedWhole: Check = ({ listed, followed }) =>
  followed.flatMap((seen, client) => {
    const known = new Set(seen);
    const lost = listed.filter((uid) => !known.has(uid));
    const wrong = seen.length > known.size || seen.some((uid, place) => uid !== listed[place]);
    return [
      ...lost.map((uid) => `client ${client} never saw ${uid}`),
      ...(lost.length === 0 && wrong ? [`client ${client} saw jobs twice, or in another order`] : []),
    ];
  });

export const CHECKS: Record<string, Check> = {
  'orders not made once, with one hold': madeOnce,
  'chats not made once': oneChatEach,
  'orders not created by exactly one answer': createdOnce,
  'orders whose answers differ': sameAnswer,
  'other bodies not refused': otherBodyRefused,
  'jobs that a follower of the list did not see once': followedWhole,
};
