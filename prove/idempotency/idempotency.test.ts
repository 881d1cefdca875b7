/** Runs the idempotency proof, and tests that its checks report faults planted in its history. */
import { beforeAll, describe, expect, it } from 'vitest';
import { expectHeld, type PlantedFault, shortHistory, shortRun, testChecks } from '../harness/testing.ts';
import { CHECKS, type IdempotencyHistory, type Order } from './checks.ts';
import { runIdempotency } from './run.ts';

const run = shortRun('idempotency');
let history: IdempotencyHistory;
beforeAll(async () => {
  history = await shortHistory('idempotency', () => runIdempotency({ ...run, keys: 24, requests: 10 }));
});

describe('idempotency proof', () => {
  it('finds exactly one job or message for each order when its requests are concurrent', () => {
    expectHeld(CHECKS, history, run.seed);
    expect(new Set(history.orders.map(({ by }) => by))).toEqual(new Set(['key', 'uid', 'chat']));
    expect(history.orders.some(({ later }) => later === undefined)).toBe(true);
  });
});

const orderBy = ({ orders }: IdempotencyHistory, by: Order['by']): Order =>
  orders.find((order) => order.by === by && order.later !== undefined)!;

const change = Object.assign;
const MADE = 'orders not made once, with one hold';
const FOLLOWED = 'jobs that a follower of the list did not see once';
const PLANTED: PlantedFault<IdempotencyHistory>[] = [
  [MADE, 'a second job', ({ made }) => made.push({ ...made[0]! })],
  [MADE, 'a second hold', ({ made }) => made.find(({ by }) => by === 'job')!.holds++],
  [MADE, 'a job that was never asked for', ({ made }) => made.push({ name: 'ghost', by: 'job', holds: 1 })],
  [MADE, 'a run without orders', (h) => change(h, { orders: [], made: [] })],
  ['chats not made once', 'a second chat', (h) => h.chats++],
  [
    'orders not created by exactly one answer',
    'two answers that say created',
    ({ orders }) => orders[0]!.answers.map((answer) => change(answer, { status: 201 })),
  ],
  [
    'orders not created by exactly one answer',
    'a request without an answer',
    ({ orders }) => orders[0]!.answers.pop(),
  ],
  [
    'orders whose answers differ',
    'an answer about another job',
    (h) => change(orderBy(h, 'uid').answers[0]!, { lasting: '{}' }),
  ],
  [
    'other bodies not refused',
    'another body that was accepted',
    (h) => {
      const order = orderBy(h, 'key');
      order.later = { ...order.answers[0]!, status: 200, body: 'other' };
    },
  ],
  [
    'other bodies not refused',
    'a repeat that was refused',
    (h) => change(orderBy(h, 'key').answers.find(({ status }) => status === 200)!, { status: 400 }),
  ],
  [
    'other bodies not refused',
    'a message that was refused',
    (h) => change(orderBy(h, 'chat').later!, { status: 400 }),
  ],
  [FOLLOWED, 'a job that was never seen', ({ followed }) => followed[0]!.splice(1, 1)],
  [FOLLOWED, 'a job that was seen twice', ({ followed }) => followed[1]!.push(followed[1]![0]!)],
  [
    FOLLOWED,
    'a job that was seen too early',
    ({ followed }) => followed[0]!.splice(0, 2, ...followed[0]!.slice(0, 2).toReversed()),
  ],
];

testChecks(CHECKS, () => history, PLANTED);
