/** Runs the delivery proof with two kills, and tests that its checks report planted faults. */
import { describe, expect, it } from 'vitest';
import { FULL } from '../../scripts/full.ts';
import { isSuccess } from '../harness/invariants.ts';
import { expectHeld, type PlantedFault, shortRun, testChecks, testJudgement } from '../harness/testing.ts';
import { CHECKS, type DeliveryHistory, type SinkArrival } from './checks.ts';
import { ARRIVAL_SECONDS, judge } from './delivery.ts';
import { runDelivery } from './run.ts';

const run = shortRun('delivery');

describe.runIf(FULL)('delivery proof', () => {
  it('finds that a faulty receiver gets every event once and in order when the service is killed twice', async () => {
    const options = { ...run, deliveries: 60, kills: 2, hostile: true, leaseSeconds: 2 };
    const history = await runDelivery(options);
    expectHeld(CHECKS, history, run.seed);
    expect(history.kills).toHaveLength(2);
    expect(history.accepted).toHaveLength(60);
    // The receiver must have refused some requests. Otherwise the run would prove nothing.
    expect(history.arrivals.some((arrival) => !isSuccess(arrival))).toBe(true);
  });
});

function soundHistory(): DeliveryHistory {
  const names = ['first', 'second', 'alone'];
  const arrival = (name: string, at: number, fields: Partial<SinkArrival> = {}): SinkArrival => ({
    name,
    webhookId: `id-${name}`,
    body: `bytes of ${name}`,
    signed: true,
    at,
    answer: 200,
    ...fields,
  });
  return {
    asked: [...names, 'given up'],
    accepted: [
      { name: 'first', host: 'hostile', chat: { name: 'chat', place: 0 }, at: 1 },
      { name: 'second', host: 'hostile', chat: { name: 'chat', place: 1 }, at: 2 },
      { name: 'alone', host: 'good', at: 3 },
    ],
    arrivals: [
      arrival('first', 100, { answer: 429, retryAfter: 1 }),
      arrival('alone', 200),
      arrival('first', 1200),
      // The event `first` is delivered again, because a kill interrupted its previous attempt.
      arrival('first', 1300),
      arrival('second', 1400, { answer: undefined }),
      arrival('second', 2400),
    ],
    kills: [1250],
    shared: { names: ['alone'], until: 250 },
    deliveries: [3, 2, 1].map((attempts, index) => ({
      deliveryId: `id-${names[index]}`,
      name: names[index]!,
      jobId: null,
      status: 'delivered',
      attempts,
      unfinishedAttempts: index === 0 ? 1 : 0,
      overtakenAttempts: 0,
      timedOutAttempts: index === 1 ? [[1390, 1900]] : [],
      otherAttempts: index === 1 ? [[2390, 2410]] : [],
    })),
  };
}

const change = Object.assign;
const PLANTED: PlantedFault<DeliveryHistory>[] = [
  ['everything arrives', 'one that never came', (h) => h.arrivals.splice(1, 1)],
  ['everything arrives', 'one that was never taken', (h) => change(h.arrivals[1]!, { answer: 500 })],
  [
    'nothing invented',
    'one that was never asked for',
    (h) => h.arrivals.push({ ...h.arrivals[0]!, name: 'ghost' }),
  ],
  ['one id an event', 'a retry under a new id', (h) => change(h.arrivals[2]!, { webhookId: 'id-new' })],
  ['one id an event', 'two events under one id', (h) => change(h.arrivals[1]!, { webhookId: 'id-first' })],
  ['same bytes', 'a retry with other bytes', (h) => change(h.arrivals[2]!, { body: 'other bytes' })],
  ['all signed', 'a wrong signature', (h) => change(h.arrivals[0]!, { signed: false })],
  [
    'in order',
    'the second message before the first was taken',
    (h) => h.arrivals.splice(1, 0, { ...h.arrivals[4]! }),
  ],
  ['few repeats', 'a repeat that no kill explains', (h) => h.arrivals.push({ ...h.arrivals[1]! })],
  [
    'few repeats',
    'a refused repeat of a taken delivery',
    (h) => h.arrivals.push({ ...h.arrivals[1]!, answer: 500 }),
  ],
  [
    'few repeats',
    'a repeat after a time-out in which nothing was taken',
    (h) => {
      h.arrivals.push({ ...h.arrivals.at(-1)! });
      h.deliveries[1]!.otherAttempts.push([2395, 2410]);
    },
  ],
  ['few repeats', 'more repeats than unfinished attempts', (h) => h.arrivals.push({ ...h.arrivals[3]! })],
  [
    'few repeats',
    'more repeats than answers that a reset overtook',
    (h) => {
      h.arrivals[1]!.reset = true;
      h.arrivals.push({ ...h.arrivals[1]!, reset: false }, { ...h.arrivals[1]!, reset: false });
    },
  ],
  ['Retry-After held', 'a retry that came too soon', (h) => change(h.arrivals[2]!, { at: 900 })],
  [
    'outbox settled',
    'a delivery that is still pending',
    (h) => change(h.deliveries[0]!, { status: 'pending' }),
  ],
  [
    'outbox settled',
    'a delivery that a long Retry-After ended at its first attempt',
    (h) => change(h.deliveries[0]!, { status: 'dead', attempts: 1 }),
  ],
  [
    'hosts shared',
    'a delivery that slow answers to another account delayed',
    (h) => change(h.arrivals[1]!, { at: 251 }),
  ],
  [
    'hosts shared',
    'a delivery that never came while another account filled the host',
    (h) => h.arrivals.splice(1, 1),
  ],
  [
    'attempts on record',
    'a request without a stored attempt',
    (h) => change(h.deliveries[1]!, { attempts: 1 }),
  ],
];

testChecks(CHECKS, soundHistory, PLANTED);

const late = soundHistory();
change(late.arrivals.at(-1)!, { at: 1250 + ARRIVAL_SECONDS * 1000 + 1 });
testJudgement((history) => judge('delivery', history), soundHistory(), [
  ['an event that came too late after the last kill', { arrivals: late.arrivals }],
]);

it('delivery proof: the check "few repeats" accepts a repeated delivery when the receiver read a request after the sender had timed out', () => {
  const history = soundHistory();
  change(history.arrivals[4]!, { answer: 200, at: 2380 });
  expect(CHECKS['few repeats'](history)).toEqual([]);
});
