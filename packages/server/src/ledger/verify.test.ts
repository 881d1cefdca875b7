/**
 * Tests `verifyLedger` with faulty data of upgraded, accepted and canceled jobs, and with concurrent
 * transfers.
 */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import type { AccountRef } from '../base/account.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { createClient, startTestServer, type TestServer, waitForStatus } from '../testing/harness.ts';
import { expectSoundLedger, refundJob } from '../testing/ledger.ts';
import {
  adjust,
  availableCents,
  creditLimitOf,
  holdPrices,
  LedgerError,
  listJobTransfers,
  readBalances,
  readStatement,
  setCreditLimit,
  topUp,
  verifyLedger,
  voidPrice,
} from './ledger.ts';
import { findDiscrepancies } from './verify-store.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';

let server: TestServer;
let engine: FakeEngine;
let owner: pg.Client;
beforeAll(async () => {
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      return engine;
    },
    settings: { DRAGOMAN_SANDBOX_HOLD: '0', DRAGOMAN_PRICE_HUMAN: '3', DRAGOMAN_PRICE_MACHINE: '2' },
  });
  owner = await server.connectOwner();
});
afterAll(() => server.stop());

const job = (uid: string) => ({ uid, text: 'The house.', source_language: 'en', target_language: 'es' });

/**
 * Creates an account with four jobs: one upgraded (charged 4 and then 6 cents), one accepted, one rejected
 * and one canceled.
 */
async function createCustomer(): Promise<AccountRef> {
  const made = await server.createAccount({ balanceCents: 100 });
  const production = createClient(server.url, made.production_key);
  const sandbox = createClient(`${server.url}/sandbox`, made.sandbox_key);
  const completed = (path: string) => waitForStatus(sandbox, path);
  await sandbox('POST', MACHINE, job('up'));
  await completed(`${MACHINE}up/`);
  await sandbox('PATCH', `${MACHINE}up/`, { status: 'upgrade', properties: null });
  for (const uid of ['yes', 'no']) await sandbox('POST', HUMAN, job(uid));
  for (const uid of ['up', 'yes', 'no']) await completed(`${HUMAN}${uid}/`);
  expect((await sandbox('POST', `${HUMAN}yes/accept/`)).status).toBe(200);
  await production('POST', HUMAN, job('back'));
  expect((await production('DELETE', `${HUMAN}back/`)).status).toBe(200);
  return (await accountNamed(server.database, made.username)).ref;
}

/**
 * Makes a fault in a transaction, returns the discrepancies that the verifier finds, and rolls the
 * transaction back.
 */
async function findings(planted: string, account: AccountRef): Promise<{ rule: string; detail: string }[]> {
  const on: Queryable = {
    query: async ({ text }, values) => (await owner.query(text, values as unknown[])).rows as never,
    changed: () => {},
  };
  await owner.query('begin');
  try {
    const { rowCount } = await owner.query(planted, [account.accountId]);
    expect(rowCount, planted).toBe(1);
    const found = await findDiscrepancies(on);
    expect(found.every(({ account_id }) => account_id === account.accountId)).toBe(true);
    return found.map(({ rule, detail }) => ({ rule, detail })).sort((a, b) => (a.rule < b.rule ? -1 : 1));
  } finally {
    await owner.query('rollback');
  }
}

describe('verifyLedger', () => {
  it('reports wrong transfers of an upgraded job’s first charge, and of accepted, rejected and canceled jobs', async () => {
    const account = await createCustomer();
    const of = (uid: string, more: string) =>
      `where account_id = $1 and job_id = (select job_id from jobs where account_id = $1 and uid = '${uid}') and ${more}`;
    const rules = async (planted: string) => (await findings(planted, account)).map(({ rule }) => rule);
    const FIRST = `kind = 'capture' and charge = 1`;
    await expectSoundLedger(server.database);

    expect(await findings(`delete from transfers ${of('up', FIRST)}`, account)).toEqual([
      { rule: 'earlier', detail: 'charge 1 of 2, ended by nothing' },
    ]);
    const voided = `update transfers set kind = 'void', credit = 'available' ${of('up', FIRST)}`;
    expect(await findings(voided, account)).toEqual([
      { rule: 'balance', detail: 'balance says -22, transfers say -18' },
      { rule: 'earlier', detail: 'charge 1 of 2, ended by void' },
    ]);
    const back = `update jobs set charge = 1 where account_id = $1 and uid = 'up'`;
    expect(await findings(back, account)).toEqual([
      { rule: 'earlier', detail: 'charge 2 of 1, ended by capture' },
      { rule: 'hold', detail: 'price 6, held 4' },
    ]);
    expect(await rules(`delete from transfers ${of('up', `kind = 'hold' and charge = 1`)}`)).toEqual([
      'amount',
      'balance',
    ]);
    const dearer = `update transfers set amount_cents = 5 ${of('up', FIRST)}`;
    expect(await findings(dearer, account)).toEqual([{ rule: 'amount', detail: 'held 4, ended with 5' }]);
    const last = `delete from transfers ${of('up', `kind = 'capture' and charge = 2`)}`;
    expect(await findings(last, account)).toEqual([
      { rule: 'end', detail: 'status completed, price 6, ended by nothing' },
    ]);

    await owner.query(`update jobs set status = 'rejected' where account_id = $1 and uid = 'no'`, [
      account.accountId,
    ]);
    await expectSoundLedger(server.database);
    for (const uid of ['yes', 'no']) {
      expect(await rules(`delete from transfers ${of(uid, `kind = 'capture'`)}`), uid).toEqual(['end']);
    }
    expect(await rules(`delete from transfers ${of('back', `kind = 'void'`)}`)).toEqual(['balance', 'end']);
    const more = `update transfers set amount_cents = 7 ${of('back', `kind = 'void'`)}`;
    expect(await rules(more)).toEqual(['amount', 'balance']);
  });

  it('reports a wrong or unexplained release of a part of a hold', async () => {
    const made = await server.createAccount({ balanceCents: 1000 });
    const production = createClient(server.url, made.production_key);
    const lines = Array.from({ length: 10 }, (_, line) => (line === 3 ? 'A poison line' : `A sound line`));
    engine.failOn('poison', 'garbled');
    await production('POST', MACHINE, { ...job('partly'), text: lines.join('\n') });
    const completed = await waitForStatus(production, `${MACHINE}partly/`);
    engine.failOn(null);
    expect(completed).toMatchObject({ untranslated: 1, price: 54, balance: 946 });
    const account = (await accountNamed(server.database, made.username)).ref;
    const rules = async (planted: string) => (await findings(planted, account)).map(({ rule }) => rule);
    const update = (set: string, kind: string) =>
      `update transfers set ${set} where account_id = $1 and kind = '${kind}'`;
    await expectSoundLedger(server.database);
    expect(
      await findings(`delete from transfers where account_id = $1 and kind = 'release'`, account),
    ).toEqual([
      { rule: 'amount', detail: 'held 60, ended with 54' },
      { rule: 'balance', detail: 'balance says 946, transfers say 940' },
      { rule: 'hold', detail: 'price 54, held 60' },
    ]);
    expect(await rules(update('amount_cents = 7', 'release'))).toEqual(['amount', 'balance', 'hold']);
    expect(await rules(update('amount_cents = 60', 'capture'))).toEqual(['amount']);
    expect(await findings('update jobs set untranslated = null where account_id = $1', account)).toEqual([
      { rule: 'release', detail: 'status completed, 0 untranslated, released 6' },
    ]);
    expect(await rules('update jobs set words = 30 where account_id = $1')).toEqual(['price']);
  });

  it('counts accounts, transfers and cents', async () => {
    const before = await verifyLedger(server.database);
    const made = await server.createAccount({ balanceCents: 7 });
    const { ref } = await accountNamed(server.database, made.username);
    await topUp(server.database, ref, { environment: 'sandbox', cents: 5, memo: 'test' });
    expect(await verifyLedger(server.database)).toEqual({
      discrepancies: [],
      accounts: before.accounts + 1,
      transfers: before.transfers + 2,
      cents: before.cents + 12,
    });
  });
});

describe('the transfers of a job', () => {
  it('are listed for that job only, each once, in order', async () => {
    const account = await createCustomer();
    const transfersOf = async (uid: string) => {
      const { rows } = await owner.query('select job_id from jobs where account_id = $1 and uid = $2', [
        account.accountId,
        uid,
      ]);
      const moved = await listJobTransfers(server.database, account, rows[0].job_id);
      return moved.map(({ kind, cents, memo }) => [kind, cents, memo]);
    };
    await refundJob(server.database, account, { environment: 'sandbox', uid: 'yes', memo: 'complaint' });
    expect(await transfersOf('up')).toEqual([
      ['hold', 4, null],
      ['capture', 4, null],
      ['hold', 6, null],
      ['capture', 6, null],
    ]);
    expect(await transfersOf('yes')).toEqual([
      ['hold', 6, null],
      ['capture', 6, null],
      ['refund', 6, 'complaint'],
    ]);
    expect(await transfersOf('back')).toEqual([
      ['hold', 6, null],
      ['void', 6, null],
    ]);
    // A refund of this amount exceeds what was captured for every other job of the account, but not for this
    // job.
    await refundJob(server.database, account, { environment: 'sandbox', uid: 'up', memo: 'complaint' });
    expect((await transfersOf('up')).at(-1)).toEqual(['refund', 10, 'complaint']);
    await expectSoundLedger(server.database);
  });
});

describe('voiding a hold', () => {
  it('releases only the amount of that hold, also when the amount is one cent', async () => {
    const made = await server.createAccount({ balanceCents: 100 });
    const { ref: account } = await accountNamed(server.database, made.username);
    const call = createClient(server.url, made.production_key);
    await call('POST', MACHINE, job('up'));
    await waitForStatus(call, `${MACHINE}up/`);
    await call('PATCH', `${MACHINE}up/`, { status: 'upgrade', properties: null });
    expect(await availableCents(server.database, account, 'production')).toBe(90);
    expect((await call('DELETE', `${HUMAN}up/`)).status).toBe(200);
    expect(await availableCents(server.database, account, 'production')).toBe(96);

    const { rows } = await owner.query('select job_id from jobs where account_id = $1', [account.accountId]);
    const hold = { account, environment: 'production', jobId: rows[0].job_id, charge: 3, cents: 1 } as const;
    let left: number | undefined;
    const rolledBack = server.database.transaction(async (transaction) => {
      left = (await holdPrices(transaction, [hold]))(account, 'production');
      await voidPrice(transaction, account, hold);
      throw new Error('and everything is rolled back');
    });
    await expect(rolledBack).rejects.toThrow('and everything is rolled back');
    expect(left).toBe(95);
    expect(await availableCents(server.database, account, 'production')).toBe(96);
  });
});

describe('a balance', () => {
  const ENTRY = { environment: 'production', memo: 'test' } as const;
  const account = async (balanceCents: number) =>
    (await accountNamed(server.database, (await server.createAccount({ balanceCents })).username)).ref;

  it('starts with the amount that was set for each environment, also when the amount is zero or one cent', async () => {
    for (const cents of [0, 1]) {
      const ref = await account(cents);
      const { lines } = await readStatement(server.database, ref, 'production', {
        from: new Date(0),
        until: new Date('2999-01-01'),
      });
      expect(lines.map(({ kind, amount }) => [kind, amount])).toEqual(cents === 0 ? [] : [['top_up', 1]]);
      expect(await readBalances(server.database, ref)).toMatchObject([
        { environment: 'production', balance: cents },
        { environment: 'sandbox', balance: 0 },
      ]);
    }
  });

  it('is 0 when the account does not exist', async () => {
    const nobody = { part: 0, accountId: '00000000-0000-7000-8000-000000000000' } as AccountRef;
    expect(await availableCents(server.database, nobody, 'production')).toBe(0);
    expect(await creditLimitOf(server.database, nobody, 'production')).toBeNull();
    expect(await readBalances(server.database, nobody)).toEqual([]);
  });

  it('has its own credit limit and its own transfers in each environment', async () => {
    const ref = await account(10);
    await setCreditLimit(server.database, ref, 'sandbox', 20);
    await setCreditLimit(server.database, ref, 'production', 5);
    expect(await topUp(server.database, ref, { ...ENTRY, cents: 3 })).toBe(13);
    expect(await adjust(server.database, ref, { ...ENTRY, environment: 'sandbox', cents: -20 })).toBe(-20);
    expect(await creditLimitOf(server.database, ref, 'production')).toBe(5);
    expect(await readBalances(server.database, ref)).toEqual([
      { environment: 'production', balance: 13, credit_limit: 5 },
      { environment: 'sandbox', balance: -20, credit_limit: 20 },
    ]);
  });

  it('refuses adjustments by zero or below its credit limit, with a message for the operator', async () => {
    const ref = await account(0);
    await setCreditLimit(server.database, ref, 'production', 0);
    const beyond = await adjust(server.database, ref, { ...ENTRY, cents: -1 }).catch((error) => error);
    expect(beyond).toBeInstanceOf(LedgerError);
    expect(beyond.name).toBe('LedgerError');
    const nothing = adjust(server.database, ref, { ...ENTRY, cents: 0 });
    await expect(nothing).rejects.toMatchObject({ constraint: 'transfers_amount_cents_check' });
  });
});

describe('a statement', () => {
  it('shows the balance and the transfers of one moment, even if transfers are committed while it is read', async () => {
    const made = await server.createAccount({ balanceCents: 10 });
    const { ref } = await accountNamed(server.database, made.username);
    let moved = 0;
    // Commits another top-up between the first query and the second.
    const interrupting = {
      transaction: <T>(work: (transaction: Transaction) => Promise<T>) =>
        server.database.transaction((transaction) =>
          work({
            inTransaction: true,
            query: async (...given: Parameters<Transaction['query']>) => {
              const rows = await transaction.query(...given);
              if (given[0].name.startsWith('ledger.opening')) {
                moved = await topUp(server.database, ref, { environment: 'production', cents: 5, memo: '' });
              }
              return rows;
            },
          } as Transaction),
        ),
    } as Database;
    const period = { from: new Date(0), until: new Date('2999-01-01') };
    const { closing } = await readStatement(interrupting, ref, 'production', period);
    expect([closing, moved]).toEqual([10, 15]);
    expect((await readStatement(server.database, ref, 'production', period)).closing).toBe(15);
  });
});
