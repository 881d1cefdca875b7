/** Runs the money proof, and tests that its checks report faults planted in its history. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { JobFact } from '../harness/database.ts';
import { expectHeld, type PlantedFault, shortHistory, shortRun, testChecks } from '../harness/testing.ts';
import { CHECKS, type MoneyHistory, type MoneyOrder } from './checks.ts';
import { runMoney } from './run.ts';

const run = shortRun('money');
let history: MoneyHistory;
beforeAll(async () => {
  history = await shortHistory('money', () => runMoney({ ...run, keys: 60, creates: 20, kills: 3 }));
});

describe('money proof', () => {
  it('finds no lost job and no double charge after concurrent requests, cancellations and kills', () => {
    expectHeld(CHECKS, history, run.seed);
    expect(history.orders).toHaveLength(60);
    expect(history.kills.length).toBeGreaterThan(0);
    const statuses = new Set(history.jobs.map(({ status }) => status));
    expect([...statuses]).toEqual(expect.arrayContaining(['completed', 'canceled']));
    expect(history.jobs.some(({ fellBack }) => fellBack)).toBe(true);
    expect(history.orders.some(isCanceledUpgrade)).toBe(true);
    expect(history.orders.some((order) => order.upgrades.includes(202) && !isCanceledUpgrade(order))).toBe(
      true,
    );
  });
});

const isCanceledUpgrade = ({ kind, cancels }: MoneyOrder) => kind === 'upgrade' && cancels.includes(200);
const jobOf = (h: MoneyHistory, status: string) => h.jobs.find((job) => job.status === status)!;
const fallenBack = (h: MoneyHistory) => h.jobs.find(({ fellBack }) => fellBack)!;
const orderOf = (h: MoneyHistory, { name }: JobFact) => h.orders.find((order) => order.name === name)!;
const canceledUpgrade = (h: MoneyHistory) => {
  const { name } = h.orders.find(isCanceledUpgrade)!;
  return h.jobs.find((job) => job.name === name)!;
};
/** Turns the voids of a job into captures. */
const capture = (h: MoneyHistory, { jobId }: JobFact) =>
  h.transfers
    .filter((transfer) => transfer.jobId === jobId && transfer.kind === 'void')
    .map((transfer) => change(transfer, { kind: 'capture' }));

const change = Object.assign;
const PLANTED: PlantedFault<MoneyHistory>[] = [
  ['orders lost', 'a job that is gone', (h) => h.jobs.pop()],
  ['orders lost', 'an answer that never came', (h) => h.orders[0]!.answers.pop()],
  [
    'orders lost',
    'an answer with another price',
    (h) => change(h.orders.find(({ kind }) => kind === 'plain')!.answers[0]!, { priceCents: 1 }),
  ],
  ['orders doubled', 'a second job of an order', (h) => h.jobs.push({ ...h.jobs[0]!, uid: 'another' })],
  [
    'orders doubled',
    'a job with the text of another order',
    (h) => change(h.jobs[0]!, { firstWord: h.jobs[1]!.name }),
  ],
  [
    'jobs not charged exactly once',
    'a job that was stored without a price',
    (h) => {
      const [job] = h.jobs;
      change(job!, { priceCents: 0 });
      h.transfers = h.transfers.filter(({ jobId }) => jobId !== job!.jobId);
    },
  ],
  [
    'orders doubled',
    'two answers that say created',
    (h) => h.orders[0]!.answers.map((answer) => change(answer, { status: 201 })),
  ],
  [
    'jobs not charged exactly once',
    'a second hold',
    (h) => h.transfers.push({ ...h.transfers.find(({ kind }) => kind === 'hold')! }),
  ],
  [
    'jobs not charged exactly once',
    'a canceled job that was charged',
    (h) => capture(h, jobOf(h, 'canceled')),
  ],
  ['jobs not charged exactly once', 'a fallback that was charged', (h) => capture(h, fallenBack(h))],
  [
    'jobs not charged exactly once',
    'a canceled upgrade that was charged',
    (h) => capture(h, canceledUpgrade(h)),
  ],
  [
    'fallbacks that are not said',
    'a fallback that is not marked',
    (h) => change(fallenBack(h), { fellBack: false }),
  ],
  [
    'jobs left unfinished',
    'a job that waits for an editor after its deadline',
    (h) => change(fallenBack(h), { status: 'translating', fellBack: false }),
  ],
  [
    'jobs left unfinished',
    'a job that a worker left',
    (h) => change(h.jobs.find(({ environment }) => environment === 'sandbox')!, { status: 'translating' }),
  ],
  [
    'upgrades that are not so',
    'a canceled upgrade without the machine’s result',
    (h) => change(canceledUpgrade(h), { hasResult: false }),
  ],
  [
    'upgrades that are not so',
    'a canceled upgrade that is still a human job',
    (h) => change(canceledUpgrade(h), { tier: 'human' }),
  ],
  [
    'cancels that are not so',
    'a confirmed cancel of a completed job',
    (h) => {
      const isCompleted = (order: MoneyOrder) =>
        h.jobs.some((job) => job.name === order.name && job.status === 'completed');
      h.orders.find((order) => order.kind === 'plain' && isCompleted(order))!.cancels.push(200);
    },
  ],
  [
    'cancels that are not so',
    'a job that was canceled without a request',
    (h) => change(orderOf(h, jobOf(h, 'canceled')), { cancels: [] }),
  ],
  [
    'canceled and delivered, or completed and not',
    'a canceled job that was delivered',
    (h) => h.delivered.push(jobOf(h, 'canceled').name),
  ],
  [
    'canceled and delivered, or completed and not',
    'a completed job that was not delivered',
    (h) => change(h, { delivered: h.delivered.filter((name) => name !== jobOf(h, 'completed').name) }),
  ],
  ['balances that do not add up', 'a cent too many', (h) => h.balances[0]!.availableCents++],
  ['ledger verify', 'a discrepancy of the ledger', (h) => change(h, { discrepancies: 1 })],
];

testChecks(CHECKS, () => history, PLANTED);
