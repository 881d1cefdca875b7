/** The idempotency run, short; and each of its checks shown to find what it looks for. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKS } from './checks.ts';
import { type By, type IdempotencyHistory, type Order, runIdempotency } from './run.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-idempotency-'));
const seed = Math.floor(Math.random() * 2 ** 31);
let history: IdempotencyHistory;
beforeAll(async () => {
  history = await runIdempotency({ directory, keys: 24, requests: 10, seed, say: () => {} });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('makes one of each, and refuses another body, however many ask at once', () => {
  const faults = Object.entries(CHECKS).flatMap(([name, check]) =>
    check(history).map((line) => `${name}: ${line}`),
  );
  expect(faults, `seed ${seed}`).toEqual([]);
  expect(new Set(history.orders.map(({ by }) => by))).toEqual(new Set(['key', 'uid', 'chat']));
  expect(history.orders.some(({ later }) => later === undefined)).toBe(true);
});

describe('the checks', () => {
  const orderBy = (copy: IdempotencyHistory, by: By): Order =>
    copy.orders.find((order) => order.by === by && order.later !== undefined)!;

  it.each<[string, string, (copy: IdempotencyHistory) => void]>([
    ['a second job', 'orders not made once, with one hold', ({ made }) => made.push({ ...made[0]! })],
    [
      'a second hold',
      'orders not made once, with one hold',
      ({ made }) => made.find(({ by }) => by === 'job')!.holds++,
    ],
    [
      'a job that nobody asked for',
      'orders not made once, with one hold',
      ({ made }) => made.push({ name: 'ghost', by: 'job', holds: 1 }),
    ],
    [
      'a second chat',
      'chats not made once',
      (copy) => {
        copy.chats++;
      },
    ],
    [
      'two answers that say created',
      'orders not created by exactly one answer',
      (copy) => {
        for (const answer of copy.orders[0]!.answers) answer.status = 201;
      },
    ],
    ['no answer', 'orders not created by exactly one answer', (copy) => copy.orders[0]!.answers.splice(0, 1)],
    [
      'an answer that speaks of another job',
      'orders whose answers differ',
      (copy) => {
        orderBy(copy, 'uid').answers[0]!.said = '{}';
      },
    ],
    [
      'another body that is taken',
      'other bodies not refused',
      (copy) => {
        const order = orderBy(copy, 'key');
        order.later = { ...order.answers[0]!, status: 200, body: 'other' };
      },
    ],
    [
      'a repeat that is refused',
      'other bodies not refused',
      (copy) => {
        const { answers } = orderBy(copy, 'key');
        answers.find(({ status }) => status === 200)!.status = 400;
      },
    ],
    [
      'a job that a follower of the list never saw',
      'jobs that a follower of the list did not see once',
      ({ followed }) => followed[0]!.splice(1, 1),
    ],
    [
      'a job that a follower of the list saw twice',
      'jobs that a follower of the list did not see once',
      ({ followed }) => followed[1]!.push(followed[1]![0]!),
    ],
    [
      'a job that a follower of the list saw too early',
      'jobs that a follower of the list did not see once',
      ({ followed }) => followed[0]!.splice(0, 2, ...followed[0]!.slice(0, 2).toReversed()),
    ],
    [
      'a message that is refused',
      'other bodies not refused',
      (copy) => {
        orderBy(copy, 'chat').later!.status = 400;
      },
    ],
  ])('find %s', (_, name, plant) => {
    const copy = structuredClone(history);
    plant(copy);
    expect(CHECKS[name]!(copy)).not.toEqual([]);
  });
});
