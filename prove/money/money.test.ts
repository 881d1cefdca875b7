/** The money run, short; and each of its checks shown to find what it looks for. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKS } from './checks.ts';
import type { History, JobFact, Order } from './history.ts';
import { runMoney } from './run.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-money-'));
const seed = Math.floor(Math.random() * 2 ** 31);
let history: History;
beforeAll(async () => {
  history = await runMoney({ directory, keys: 60, creates: 20, kills: 3, seed, say: () => {} });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const faultsOf = (of: History) =>
  Object.entries(CHECKS).flatMap(([name, check]) => (check(of).length > 0 ? [name] : []));

it('twenty requests an order, cancels, completions and kills: nothing lost, nothing charged twice', () => {
  const faults = Object.entries(CHECKS).flatMap(([name, check]) =>
    check(history).map((line) => `${name}: ${line}`),
  );
  expect(faults, `seed ${seed}`).toEqual([]);
  expect(history.orders).toHaveLength(60);
  expect(history.kills.length).toBeGreaterThan(0);
  const statuses = new Set(history.jobs.map(({ status }) => status));
  expect([...statuses]).toEqual(expect.arrayContaining(['completed', 'canceled']));
  expect(history.jobs.some(({ fellBack }) => fellBack)).toBe(true);
  const isBack = ({ kind, cancels }: Order) => kind === 'upgrade' && cancels.includes(200);
  expect(history.orders.some(isBack)).toBe(true);
  expect(history.orders.some((order) => order.upgrades.includes(202) && !isBack(order))).toBe(true);
});

describe('the checks', () => {
  /** A copy in which something is wrong. */
  const planted = (plant: (copy: History) => void) => {
    const copy = structuredClone(history);
    plant(copy);
    return faultsOf(copy);
  };
  const jobOf = (copy: History, status: string) => copy.jobs.find((job) => job.status === status)!;
  const isCompleted = (copy: History, name: string) =>
    copy.jobs.some((job) => job.name === name && job.status === 'completed');
  const canceledUpgrade = (copy: History) => {
    const order = copy.orders.find(({ kind, cancels }) => kind === 'upgrade' && cancels.includes(200))!;
    return copy.jobs.find(({ name }) => name === order.name)!;
  };
  const capture = (copy: History, { uid }: JobFact) => {
    for (const transfer of copy.transfers) {
      if (transfer.uid === uid && transfer.kind === 'void') transfer.kind = 'capture';
    }
  };

  it.each<[string, string, (copy: History) => void]>([
    ['a job that is gone', 'orders lost', (copy) => copy.jobs.pop()],
    ['an answer that never came', 'orders lost', (copy) => copy.orders[0]!.answers.pop()],
    [
      'an answer that speaks of another price',
      'orders lost',
      (copy) => {
        copy.orders.find(({ kind }) => kind === 'plain')!.answers[0]!.priceCents = 1;
      },
    ],
    [
      'a second job of an order',
      'orders doubled',
      (copy) => copy.jobs.push({ ...copy.jobs[0]!, uid: 'another' }),
    ],
    [
      'two answers that say created',
      'orders doubled',
      (copy) => {
        for (const answer of copy.orders[0]!.answers) answer.status = 201;
      },
    ],
    [
      'a second hold',
      'jobs not charged exactly once',
      (copy) => {
        const { account, environment, uid, charge, priceCents } = copy.jobs[0]!;
        copy.transfers.push({ account, environment, uid, charge, kind: 'hold', cents: priceCents });
      },
    ],
    [
      'a canceled job that is paid',
      'jobs not charged exactly once',
      (copy) => {
        capture(copy, jobOf(copy, 'canceled'));
      },
    ],
    [
      'a job that fell back and is paid',
      'jobs not charged exactly once',
      (copy) => {
        capture(copy, copy.jobs.find(({ fellBack }) => fellBack)!);
      },
    ],
    [
      'a job that fell back and does not say so',
      'fallbacks that are not said',
      (copy) => {
        copy.jobs.find(({ fellBack }) => fellBack)!.fellBack = false;
      },
    ],
    [
      'a job that waits for an editor past its deadline',
      'jobs left unfinished',
      (copy) => {
        Object.assign(copy.jobs.find(({ fellBack }) => fellBack)!, {
          status: 'translating',
          fellBack: false,
        });
      },
    ],
    [
      'a canceled upgrade that is paid',
      'jobs not charged exactly once',
      (copy) => {
        capture(copy, canceledUpgrade(copy));
      },
    ],
    [
      'a canceled upgrade whose machine’s result is gone',
      'upgrades that are not so',
      (copy) => {
        canceledUpgrade(copy).hasResult = false;
      },
    ],
    [
      'a canceled upgrade that is a human’s still',
      'upgrades that are not so',
      (copy) => {
        canceledUpgrade(copy).tier = 'human';
      },
    ],
    [
      'a cancel that was not done',
      'cancels that are not so',
      (copy) => {
        copy.orders.find(({ kind, name }) => kind === 'plain' && isCompleted(copy, name))!.cancels.push(200);
      },
    ],
    [
      'a job that nobody canceled',
      'cancels that are not so',
      (copy) => {
        const { name } = jobOf(copy, 'canceled');
        copy.orders.find((order) => order.name === name)!.cancels = [];
      },
    ],
    [
      'a canceled job that was delivered',
      'canceled and delivered, or completed and not',
      (copy) => copy.delivered.push(jobOf(copy, 'canceled').name),
    ],
    [
      'a completed job that was not',
      'canceled and delivered, or completed and not',
      (copy) => {
        const { name } = jobOf(copy, 'completed');
        copy.delivered = copy.delivered.filter((one) => one !== name);
      },
    ],
    [
      'a cent too many',
      'balances that do not add up',
      (copy) => {
        copy.balances[0]!.availableCents++;
      },
    ],
    [
      'a job that was left',
      'jobs left unfinished',
      (copy) => {
        copy.jobs.find(({ environment }) => environment === 'sandbox')!.status = 'translating';
      },
    ],
    [
      'a ledger that does not verify',
      'ledger verify',
      (copy) => {
        copy.discrepancies = 1;
      },
    ],
  ])('find %s', (_, name, plant) => {
    expect(planted(plant)).toContain(name);
  });
});
