/** Tests transfers over the API by comparison with a model, and `verifyLedger` with faulty data. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountCredentials } from '../accounts/accounts.ts';
import type { AccountRef, Environment } from '../base/account.ts';
import { createClient, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { refundJob } from '../testing/ledger.ts';
import { adjust, availableCents, capturePrices, holdPrices, verifyLedger, voidPrice } from './ledger.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
/** A word that makes the engine fail for every text that contains it. */
const POISON = 'poison';

let engine: FakeEngine;
let server: TestServer;
let owner: pg.Client;

beforeAll(async () => {
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      engine.failOn(POISON);
      return engine;
    },
    settings: { DRAGOMAN_SANDBOX_HOLD: '0', DRAGOMAN_PRICE_HUMAN: '3', DRAGOMAN_PRICE_MACHINE: '2' },
  });
  owner = await server.connectOwner();
});
afterAll(() => server.stop());

interface Customer extends AccountCredentials {
  ref: AccountRef;
  call: Record<Environment, ReturnType<typeof createClient>>;
  balance(environment: Environment): Promise<number>;
  transfers(): Promise<{ kind: string; cents: number }[]>;
}

async function createCustomer(balanceCents = 0, creditLimit?: number): Promise<Customer> {
  const made = await server.createAccount({ balanceCents });
  const { rows } = await owner.query('select part, account_id from accounts where username = $1', [
    made.username,
  ]);
  const ref = { part: rows[0].part, accountId: rows[0].account_id } as AccountRef;
  if (creditLimit !== undefined) {
    await owner.query('update balances set credit_limit_cents = $1 where account_id = $2', [
      creditLimit,
      ref.accountId,
    ]);
  }
  return {
    ...made,
    ref,
    call: {
      production: createClient(server.url, made.production_key),
      sandbox: createClient(`${server.url}/sandbox`, made.sandbox_key),
    },
    balance: (environment) => availableCents(server.database, ref, environment),
    async transfers() {
      const sql =
        'select kind, amount_cents as cents from transfers where account_id = $1 order by transfer_id';
      return (await owner.query(sql, [ref.accountId])).rows;
    },
  };
}

const job = (words: string, fields: object = {}) => ({
  text: words,
  source_language: 'en',
  target_language: 'es',
  ...fields,
});

/** Makes postponed jobs due at once with one attempt left, until no job of the account waits for a worker. */
async function settled({ ref }: Customer): Promise<void> {
  await until(async () => {
    const hurried = await owner.query(
      `update jobs set due_at = now(), attempts = 4
        where account_id = $1 and lease_token is null and due_at > now()`,
      [ref.accountId],
    );
    if (hurried.rowCount !== 0) await owner.query('notify dragoman_jobs');
    const sql = 'select from jobs where account_id = $1 and due_at is not null';
    return (await owner.query(sql, [ref.accountId])).rowCount === 0;
  });
}

const found = async () => (await verifyLedger(server.database)).discrepancies.map(({ rule }) => rule);

describe('the price of a job', () => {
  it('is held when the job is created and captured when it completes', async () => {
    const customer = await createCustomer();
    const { body } = await customer.call.sandbox('POST', HUMAN, job('The house is big.'));
    expect(body).toMatchObject({ price: 12, balance: -12 });
    await settled(customer);
    expect(await customer.balance('sandbox')).toBe(-12);
    expect(await customer.transfers()).toEqual([
      { kind: 'hold', cents: 12 },
      { kind: 'capture', cents: 12 },
    ]);
  });

  it('is held when the job is created and voided when it fails', async () => {
    const customer = await createCustomer(100);
    await customer.call.production('POST', MACHINE, job(`A ${POISON} pill.`));
    expect(await customer.balance('production')).toBe(94);
    await settled(customer);
    expect(await customer.balance('production')).toBe(100);
    expect(await customer.transfers()).toEqual([
      { kind: 'top_up', cents: 100 },
      { kind: 'hold', cents: 6 },
      { kind: 'void', cents: 6 },
    ]);
  });

  it('stays held while the job waits for an editor', async () => {
    const customer = await createCustomer(100);
    await customer.call.production('POST', HUMAN, job('The house.'));
    await settled(customer);
    expect(await customer.transfers()).toEqual([
      { kind: 'top_up', cents: 100 },
      { kind: 'hold', cents: 6 },
    ]);
  });

  it('changes only the balance of the job’s own environment', async () => {
    const customer = await createCustomer(100);
    await customer.call.sandbox('POST', HUMAN, job('The house.'));
    expect([await customer.balance('production'), await customer.balance('sandbox')]).toEqual([100, -6]);
  });

  it('is not held when the request is refused, and is not held again when the request is repeated', async () => {
    const customer = await createCustomer(100);
    await customer.call.production('POST', HUMAN, job('The house.', { uid: 'once' }));
    await customer.call.production('POST', HUMAN, job('The house.', { uid: 'once' }));
    await customer.call.production('POST', HUMAN, job('Another house.', { uid: 'once' }));
    await customer.call.production('POST', HUMAN, job('', {}));
    expect(await customer.balance('production')).toBe(94);
  });

  it('has no transfer when it is zero', async () => {
    const customer = await createCustomer();
    await customer.call.sandbox('POST', HUMAN, job('…'));
    await settled(customer);
    expect(await customer.transfers()).toEqual([]);
  });
});

describe('the constraints of the database', () => {
  /** Creates a job whose hold is neither captured nor voided. */
  async function heldJob(): Promise<{ customer: Customer; jobId: string }> {
    const customer = await createCustomer(100);
    await customer.call.production('POST', HUMAN, job('The house.'));
    await settled(customer);
    const { rows } = await owner.query('select job_id from jobs where account_id = $1', [
      customer.ref.accountId,
    ]);
    return { customer, jobId: rows[0].job_id };
  }
  const UNIQUE = { code: '23505' };

  it('refuse a second hold for the same charge of a job', async () => {
    const { customer, jobId } = await heldJob();
    const hold = { account: customer.ref, environment: 'production' as const, jobId, charge: 1, cents: 6 };
    const again = server.database.transaction((transaction) => holdPrices(transaction, [hold]));
    await expect(again).rejects.toMatchObject({
      ...UNIQUE,
      constraint: expect.stringMatching(/^transfers_hold(_\d+)?$/),
    });
    expect(await customer.balance('production')).toBe(94);
  });

  const ends: Record<'capture' | 'void', typeof voidPrice> = {
    capture: (transaction, account, charge) => capturePrices(transaction, [{ account, ...charge }]),
    void: voidPrice,
  };
  it.each([
    ['capture', 'capture'],
    ['capture', 'void'],
    ['void', 'capture'],
    ['void', 'void'],
  ] as const)('refuse, after a %s of a charge, a %s of the same charge', async (first, second) => {
    const { customer, jobId } = await heldJob();
    const end = (kind: keyof typeof ends) =>
      server.database.transaction((transaction) =>
        ends[kind](transaction, customer.ref, { jobId, charge: 1 }),
      );
    await end(first);
    await expect(end(second)).rejects.toMatchObject({
      ...UNIQUE,
      constraint: expect.stringMatching(/^transfers_end(_\d+)?$/),
    });
    expect(await customer.balance('production')).toBe(first === 'void' ? 100 : 94);
    for (const table of [
      'transfers',
      'tasks',
      'edits',
      'edited_jobs',
      'job_texts',
      'segments',
      'job_events',
    ]) {
      await owner.query(`delete from ${table} where job_id = $1`, [jobId]);
    }
    await owner.query('delete from jobs where job_id = $1', [jobId]);
    await owner.query(
      `update balances set available_cents = 100 where account_id = $1 and environment = 'production'`,
      [customer.ref.accountId],
    );
  });

  it('refuse a transfer of zero or less, and a transfer between the wrong sides of the ledger for its kind', async () => {
    const { customer, jobId } = await heldJob();
    const add = (kind: string, debit: string, credit: string, cents: number) =>
      owner.query(
        `insert into transfers (part, account_id, transfer_id, environment, job_id, kind, debit, credit, amount_cents)
         values ($1, $2, gen_random_uuid(), 'production', $3, $4, $5, $6, $7)`,
        [customer.ref.part, customer.ref.accountId, jobId, kind, debit, credit, cents],
      );
    await expect(add('capture', 'available', 'revenue', 6)).rejects.toMatchObject({ code: '23514' });
    await expect(add('void', 'held', 'available', 0)).rejects.toMatchObject({ code: '23514' });
    await expect(add('void', 'held', 'available', -6)).rejects.toMatchObject({ code: '23514' });
    await expect(add('gift', 'funding', 'available', 6)).rejects.toMatchObject({ code: '23514' });
  });
});

describe('an account that cannot pay', () => {
  it('gets an error with the needed and the available amount, and no job is created', async () => {
    const customer = await createCustomer(10, 0);
    const refused = await customer.call.production('POST', HUMAN, job('The house is big.', { uid: 'dear' }));
    expect(refused).toMatchObject({
      status: 402,
      body: { error: 'insufficient balance: needs 12 cents, has 10' },
    });
    expect((await customer.call.production('GET', `${HUMAN}dear/`)).status).toBe(404);
    expect(await customer.balance('production')).toBe(10);
  });

  it('can use its credit up to the last cent', async () => {
    const customer = await createCustomer(5, 4);
    const create = () => customer.call.production('POST', HUMAN, job('The house. Big.'));
    expect((await create()).body).toMatchObject({ price: 9, balance: -4 });
    expect(await create()).toMatchObject({
      status: 402,
      body: { error: 'insufficient balance: needs 9 cents, has -4' },
    });
    const free = await customer.call.production('POST', HUMAN, job('…'));
    expect(free.status).toBe(201);
  });

  it('gets exactly one of fifty simultaneous jobs when it can pay for one', async () => {
    const customer = await createCustomer(12, 0);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        customer.call.production('POST', HUMAN, job('The house is big.', { uid: `rush-${index}` })),
      ),
    );
    const refused = answers.filter(({ status }) => status === 402);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(refused).toHaveLength(49);
    for (const { body } of refused) {
      expect(body).toEqual({ error: 'insufficient balance: needs 12 cents, has 0' });
    }
    const list = await customer.call.production('GET', HUMAN);
    expect(list.body.meta.total_count).toBe(1);
    expect(await customer.balance('production')).toBe(0);
    expect(await customer.transfers()).toEqual([
      { kind: 'top_up', cents: 12 },
      { kind: 'hold', cents: 12 },
    ]);
  });

  it('does not affect the jobs of another account in the same commit', async () => {
    const poor = await createCustomer(0, 0);
    const rich = await createCustomer(1000, 0);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? poor : rich).call.production('POST', HUMAN, job('The house.')),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 402 : 201)),
    );
    expect(await rich.balance('production')).toBe(1000 - 10 * 6);
  });
});

describe('a model of the ledger', () => {
  /**
   * Generates a request and its outcome: `words` determines the price, and `fails` determines whether the
   * engine fails.
   */
  const wish = fc.record({
    tier: fc.constantFrom('human', 'machine'),
    environment: fc.constantFrom<Environment[]>('production', 'sandbox'),
    words: fc.integer({ min: 1, max: 8 }),
    fails: fc.boolean(),
    repeat: fc.boolean(),
  });

  it('predicts every balance and every refusal of the database', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(wish, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 0, max: 20 }),
        async (wishes, opening, credit) => {
          const customer = await createCustomer(opening, credit);
          const balance = { production: opening, sandbox: 0 };
          const givenBack = { production: 0, sandbox: 0 };
          for (const [index, { tier, environment, words, fails, repeat }] of wishes.entries()) {
            const path = tier === 'human' ? HUMAN : MACHINE;
            const text = Array(words)
              .fill(fails ? POISON : 'house')
              .join(' ');
            const price = words * (tier === 'human' ? 3 : 2);
            const body = job(text, { uid: `wish-${index}` });
            // Waits until the worker has voided the holds of failed jobs, so that the model knows the
            // balance.
            await settled(customer);
            balance[environment] += givenBack[environment];
            givenBack[environment] = 0;
            const affordable = balance[environment] - price >= -credit;
            const answer = await customer.call[environment]('POST', path, body);
            expect(answer.status).toBe(affordable ? 201 : 402);
            if (repeat) {
              const again = await customer.call[environment]('POST', path, body);
              expect(again.status).toBe(affordable ? 200 : 402);
            }
            if (!affordable) continue;
            balance[environment] -= price;
            const waitsForEditor = tier === 'human' && environment === 'production';
            if (fails && !waitsForEditor) givenBack[environment] += price;
          }
          await settled(customer);
          for (const environment of ['production', 'sandbox'] as const) {
            expect(await customer.balance(environment)).toBe(balance[environment] + givenBack[environment]);
          }
          expect(await found()).toEqual([]);
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('verifyLedger', () => {
  it('reports no discrepancy in the program’s own transfers, and counts them', async () => {
    const customer = await createCustomer(100);
    await customer.call.production('POST', HUMAN, job('The house.'));
    await settled(customer);
    const { discrepancies, accounts, transfers, cents } = await verifyLedger(server.database);
    expect(discrepancies).toEqual([]);
    expect(accounts).toBeGreaterThan(0);
    expect(transfers).toBeGreaterThan(accounts);
    expect(cents).toBeGreaterThan(0);
  });

  it('names the violated rule and the account', async () => {
    const customer = await createCustomer(100);
    await owner.query('begin');
    await owner.query(
      `update balances set available_cents = 99 where account_id = $1 and environment = 'production'`,
      [customer.ref.accountId],
    );
    await owner.query('commit');
    expect((await verifyLedger(server.database)).discrepancies).toEqual([
      {
        rule: 'balance',
        part: customer.ref.part,
        account_id: customer.ref.accountId,
        subject: 'production',
        detail: 'balance says 99, transfers say 100',
      },
    ]);
    await owner.query(
      `update balances set available_cents = 100 where account_id = $1 and environment = 'production'`,
      [customer.ref.accountId],
    );
    expect(await found()).toEqual([]);
  });

  const ADD = `insert into transfers (part, account_id, transfer_id, environment, job_id, kind, debit, credit, amount_cents)
    select part, account_id, gen_random_uuid(), environment, job_id`;
  const OF = (uid: string) =>
    `job_id = (select job_id from jobs where account_id = '$ACCOUNT' and uid = '${uid}')`;

  it.each([
    [
      'a changed balance',
      `update balances set available_cents = available_cents + 1`,
      ['balance', 'balance'],
    ],
    ['a missing balance', `delete from balances where environment = 'production'`, ['balance']],
    ['a missing top-up', `delete from transfers where kind = 'top_up'`, ['balance']],
    ['a missing hold', `delete from transfers where kind = 'hold' and ${OF('waits')}`, ['balance', 'hold']],
    [
      'a hold that differs from the price',
      `update transfers set amount_cents = amount_cents + 1 where kind = 'hold' and ${OF('waits')}`,
      ['balance', 'hold'],
    ],
    [
      'a changed price',
      `update jobs set price_cents = price_cents + 1 where uid = 'waits'`,
      ['hold', 'price'],
    ],
    ['a missing capture', `delete from transfers where kind = 'capture' and ${OF('done')}`, ['end']],
    [
      'a capture that differs from the hold',
      `update transfers set amount_cents = amount_cents - 1 where kind = 'capture' and ${OF('done')}`,
      ['amount'],
    ],
    [
      'a capture of an unfinished job',
      `${ADD}, 'capture', 'held', 'revenue', amount_cents from transfers where kind = 'hold' and ${OF('waits')}`,
      ['end'],
    ],
    [
      'a void instead of a capture',
      `update transfers set kind = 'void', credit = 'available' where kind = 'capture' and ${OF('done')}`,
      ['balance', 'end'],
    ],
    ['a missing void', `delete from transfers where kind = 'void' and ${OF('failed')}`, ['balance', 'end']],
    [
      'a failed job that was charged',
      `update transfers set kind = 'capture', credit = 'revenue' where kind = 'void' and ${OF('failed')}`,
      ['balance', 'end'],
    ],
    ['a job that failed after it was paid', `update jobs set status = 'failed' where uid = 'done'`, ['end']],
    [
      'a hold in the other environment',
      `with moved as (update transfers set environment = 'sandbox' where kind = 'hold' and ${OF('waits')} returning amount_cents)
       update balances set available_cents = available_cents
         + case environment when 'sandbox' then -1 else 1 end * (select amount_cents from moved)`,
      ['environment'],
    ],
    [
      'a refund above the captured amount',
      `update transfers set amount_cents = amount_cents + 1 where kind = 'refund'`,
      ['balance', 'refund'],
    ],
    ['a missing refund', `delete from transfers where kind = 'refund'`, ['balance']],
    [
      'a refund without a capture',
      `update transfers set job_id = (select job_id from jobs
where part = $PART and account_id = '$ACCOUNT' and uid = 'waits') where kind = 'refund'`,
      ['refund'],
    ],
    ['a missing adjustment', `delete from transfers where kind = 'adjustment'`, ['balance']],
    [
      'a refund in the other environment',
      `with moved as (update transfers set environment = 'sandbox' where kind = 'void' and ${OF('failed')} returning amount_cents)
       update balances set available_cents = available_cents
         + case environment when 'sandbox' then 1 else -1 end * (select amount_cents from moved)`,
      ['environment'],
    ],
  ])('reports %s', async (_, fault, rules) => {
    const customer = await createCustomer(100);
    const { production } = customer.call;
    await production('POST', HUMAN, job('The house is big.', { uid: 'waits' }));
    await production('POST', MACHINE, job('The house.', { uid: 'done' }));
    await production('POST', MACHINE, job(`The ${POISON}.`, { uid: 'failed' }));
    await production('POST', MACHINE, job('The house.', { uid: 'refunded' }));
    await settled(customer);
    const moved = { environment: 'production', memo: 'test' } as const;
    await refundJob(server.database, customer.ref, { ...moved, uid: 'refunded' });
    await adjust(server.database, customer.ref, { ...moved, cents: 5 });
    expect(await found()).toEqual([]);
    // The fault is made only in the data of this account. The data is restored afterwards.
    const mine = `part = ${customer.ref.part} and account_id = '${customer.ref.accountId}'`;
    const tables = ['transfers', 'balances', 'jobs'];
    for (const table of tables) {
      await owner.query(`create temporary table kept_${table} as select * from ${table} where ${mine}`);
    }
    const planted = fault
      .replaceAll('$ACCOUNT', customer.ref.accountId)
      .replaceAll('$PART', String(customer.ref.part))
      .replace(/^(update|delete from)( \w+)(.*?)( where |$)/s, (_all, verb, table, rest, where) =>
        where === ' where '
          ? `${verb}${table}${rest} where ${mine} and `
          : `${verb}${table}${rest} where ${mine}`,
      )
      .replace(/(update balances set .*\(select amount_cents from moved\))$/s, `$1 where ${mine}`);
    expect((await owner.query(planted)).rowCount).toBeGreaterThan(0);
    const caught = (await verifyLedger(server.database)).discrepancies;
    await owner.query(`delete from transfers where ${mine}`);
    await owner.query(`delete from balances where ${mine}`);
    await owner.query('insert into balances select * from kept_balances');
    await owner.query('insert into transfers select * from kept_transfers');
    await owner.query(
      `update jobs j set price_cents = k.price_cents, status = k.status from kept_jobs k where j.job_id = k.job_id`,
    );
    for (const table of tables) await owner.query(`drop table kept_${table}`);
    expect(caught.map(({ rule }) => rule).sort()).toEqual(rules);
    expect(caught.every(({ account_id }) => account_id === customer.ref.accountId)).toBe(true);
    expect(await found()).toEqual([]);
  });

  it('reports a balance beyond its credit limit when the database does not enforce the limit', async () => {
    const { ref } = await createCustomer();
    const plant = (limit: number | null) =>
      owner.query(
        `update balances set credit_limit_cents = $2 where account_id = $1 and environment = 'sandbox'`,
        [ref.accountId, limit],
      );
    await adjust(server.database, ref, { environment: 'sandbox', cents: -6, memo: 'test' });
    const constraint = 'balances_credit_limit';
    await owner.query(`alter table balances drop constraint ${constraint}`);
    await plant(5);
    expect((await verifyLedger(server.database)).discrepancies).toEqual([
      expect.objectContaining({
        rule: 'credit',
        account_id: ref.accountId,
        subject: 'sandbox',
        detail: 'balance -6, may owe 5',
      }),
    ]);
    await plant(6);
    await owner.query(
      `alter table balances add constraint ${constraint} check (available_cents >= -credit_limit_cents)`,
    );
    expect(await found()).toEqual([]);
  });
});
