/**
 * Runs the crash proof with six kills of the service, once together with PostgreSQL, and tests that its checks report
 * planted faults.
 */
import { describe, expect, it } from 'vitest';
import { FULL } from '../../scripts/full.ts';
import { expectHeld, type PlantedFault, shortRun, testChecks } from '../harness/testing.ts';
import { CHECKS, type CrashHistory } from './checks.ts';
import { runCrash } from './run.ts';

const run = shortRun('crash');

describe.runIf(FULL)('crash proof', () => {
  it('finds no lost job and no double charge when the service is killed six times', async () => {
    const history = await runCrash({ ...run, kills: 6, jobs: 130 });
    expectHeld(CHECKS, history, run.seed);
    expect(history.kills).toHaveLength(6);
    expect(history.orders.filter(({ answers }) => answers.length > 0).length).toBeGreaterThan(30);
  });
});

function soundHistory(): CrashHistory {
  const names = ['one', 'two', 'three'];
  // The server assigned the uid of the third job, because the customer sent none.
  const uidOf = (name: string) => (name === 'three' ? 'assigned' : name);
  const common = { account: 'crash', environment: 'sandbox' } as const;
  const order = { ...common, tier: 'human', text: 'The sea.', sentAt: 0 } as const;
  const moved = { ...common, charge: 1, cents: 6 };
  return {
    orders: [
      ...names.map((name, index) => ({
        ...order,
        name,
        ...(name === 'three' ? {} : { uid: name }),
        answers: [{ status: 201, at: index, uid: uidOf(name), orderNumber: index + 1, priceCents: 6 }],
      })),
      { ...order, name: 'gave-up', uid: 'gave-up', answers: [] },
      { ...order, name: 'gave-up-without-uid', answers: [] },
    ],
    arrivals: names.map((name, index) => ({
      name,
      webhookId: `delivery-${name}`,
      body: JSON.stringify({
        uid: uidOf(name),
        text: 'The sea.',
        translated_text: 'El mar.',
        status: 'completed',
      }),
      at: 1000 + index,
      answer: 204,
    })),
    kills: [1],
    databaseKills: 0,
    holdMilliseconds: 1000,
    deliveriesAtATime: 1,
    jobs: names.map((name, index) => ({
      ...common,
      name,
      uid: uidOf(name),
      jobId: `id-${name}`,
      orderNumber: index + 1,
      tier: 'human',
      status: 'completed',
      failure: null,
      priceCents: 6,
      charge: 1,
      fellBack: false,
      hasResult: true,
      firstWord: null,
    })),
    transfers: names.flatMap((name) => [
      { ...moved, jobId: `id-${name}`, kind: 'hold', debit: 'available', credit: 'held' },
      { ...moved, jobId: `id-${name}`, kind: 'capture', debit: 'held', credit: 'revenue' },
    ]),
    deliveries: names.map((name) => ({
      deliveryId: `delivery-${name}`,
      name,
      jobId: `id-${name}`,
      status: 'delivered',
      attempts: 1,
      unfinishedAttempts: name === 'one' ? 1 : 0,
      overtakenAttempts: 0,
      timedOutAttempts: [],
      otherAttempts: [],
    })),
    balances: [
      { ...common, availableCents: -18 },
      { ...common, environment: 'production', availableCents: 0 },
    ],
  };
}

const change = Object.assign;
const PLANTED: PlantedFault<CrashHistory>[] = [
  ['nothing lost', 'an acknowledged job that is gone', (h) => h.jobs.pop()],
  ['nothing lost', 'a job that is stored twice', (h) => h.jobs.push({ ...h.jobs[0]! })],
  ['nothing lost', 'another order number', (h) => change(h.jobs[0]!, { orderNumber: 99 })],
  ['nothing lost', 'another uid than was answered', (h) => change(h.jobs[2]!, { uid: 'other' })],
  ['nothing lost', 'a job of another account', (h) => change(h.jobs[0]!, { account: 'other' })],
  [
    'nothing invented',
    'a job that nobody asked for',
    (h) => h.jobs.push({ ...h.jobs[0]!, name: 'ghost', uid: 'ghost' }),
  ],
  ['nothing invented', 'another uid than was asked for', (h) => change(h.jobs[0]!, { uid: 'other' })],
  [
    'nothing invented',
    'two jobs of one request without a uid',
    (h) => h.jobs.push({ ...h.jobs[2]!, uid: 'assigned-too', jobId: 'id-four' }),
  ],
  ['everything done', 'a job that never ended', (h) => change(h.jobs[0]!, { status: 'translating' })],
  ['delivered under one id', 'a job that was never delivered', (h) => h.arrivals.pop()],
  [
    'delivered under one id',
    'a job that was delivered under two ids',
    (h) => h.arrivals.push({ ...h.arrivals[0]!, webhookId: 'another' }),
  ],
  [
    'delivered under one id',
    'a retry with other bytes',
    (h) => h.arrivals.push({ ...h.arrivals[0]!, body: `${h.arrivals[0]!.body} ` }),
  ],
  [
    'delivered under one id',
    'an undelivered job of a customer who gave up',
    (h) => h.jobs.push({ ...h.jobs[0]!, name: 'gave-up-without-uid', uid: 'assigned-too' }),
  ],
  [
    'few repeats',
    'a repeat of a delivery whose attempts all ended',
    (h) => h.arrivals.push({ ...h.arrivals[1]! }),
  ],
  [
    'few repeats',
    'more repeats of a delivery than interrupted attempts',
    (h) => h.arrivals.push({ ...h.arrivals[0]! }, { ...h.arrivals[0]! }),
  ],
  [
    'few repeats',
    'more interrupted attempts than were under way at the kill',
    (h) => change(h.deliveries[1]!, { unfinishedAttempts: 1 }),
  ],
  ['not before its hold', 'a held job one millisecond early', (h) => change(h.arrivals[0]!, { at: 999 })],
  [
    'translated',
    'the source in place of its translation',
    (h) => change(h.arrivals[0]!, { body: h.arrivals[0]!.body.replace('El mar.', 'The sea.') }),
  ],
  [
    'translated',
    'the text of another job',
    (h) => change(h.arrivals[0]!, { body: h.arrivals[0]!.body.replace('The sea.', 'The land.') }),
  ],
  ['charged once', 'a job that was charged twice', (h) => h.transfers.push({ ...h.transfers[0]! })],
  ['charged once', 'a job that was never captured', (h) => h.transfers.pop()],
  ['charged once', 'a job that was charged too much', (h) => change(h.transfers[0]!, { cents: 7 })],
  ['charged once', 'a job that was not charged', (h) => h.transfers.splice(0, 2)],
  ['balanced', 'a balance that lost a cent', (h) => h.balances[0]!.availableCents--],
  [
    'outbox settled',
    'a delivery that is still pending',
    (h) => change(h.deliveries[0]!, { status: 'pending' }),
  ],
  [
    'outbox settled',
    'a second delivery of one job',
    (h) => h.deliveries.push({ ...h.deliveries[0]!, deliveryId: 'another' }),
  ],
];

testChecks(CHECKS, soundHistory, PLANTED);

it('crash proof: accepts the one repeated delivery that a kill explains', () => {
  const history = soundHistory();
  history.arrivals.push({ ...history.arrivals[0]! });
  expectHeld(CHECKS, history);
});
