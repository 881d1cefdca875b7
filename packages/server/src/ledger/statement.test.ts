/** Tests refunds, adjustments and statements on a running server. */
import { createFake } from '@dragoman/engines/fake';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { createLog } from '../base/log.ts';
import { createConnection } from '../database/connections.ts';
import { startServer } from '../roles/serve.ts';
import { createClient, startTestServer, type TestServer, until, waitForStatus } from '../testing/harness.ts';
import { expectSoundLedger, refundJob } from '../testing/ledger.ts';
import { adjust, availableCents, readStatement, setCreditLimit, topUp } from './ledger.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const POISON = 'poison';
let server: TestServer;
let owner: pg.Client;
beforeAll(async () => {
  server = await startTestServer({
    engine: () => {
      const engine = createFake();
      engine.failOn(POISON);
      return engine;
    },
    settings: { DRAGOMAN_PRICE_HUMAN: '3', DRAGOMAN_PRICE_MACHINE: '2', DRAGOMAN_SANDBOX_HOLD: '0' },
  });
  owner = await server.connectOwner();
});
afterAll(() => server.stop());

async function createCustomer(balanceCents = 0) {
  const made = await server.createAccount({ balanceCents });
  const { ref } = await accountNamed(server.database, made.username);
  const call = createClient(server.url, made.production_key);
  const job = (text: string, uid: string) => ({ text, uid, source_language: 'en', target_language: 'es' });
  return {
    ref,
    create: (path: string, text: string, uid: string) => call('POST', path, job(text, uid)),
    balance: () => availableCents(server.database, ref, 'production'),
    async completed(uid: string, text = 'The house.') {
      expect((await call('POST', MACHINE, job(text, uid))).status).toBe(201);
      await waitForStatus(call, `${MACHINE}${uid}/`);
    },
    statement: (from: Date, end: Date) =>
      readStatement(server.database, ref, 'production', { from, until: end }),
  };
}

const PRODUCTION = { environment: 'production', memo: 'complaint 5' } as const;
const sound = () => expectSoundLedger(server.database);
const EVER = [new Date(0), new Date('2999-01-01')] as const;

describe('a refund', () => {
  it('returns the captured amount only once', async () => {
    const customer = await createCustomer(10);
    await customer.completed('one');
    const entry = { ...PRODUCTION, uid: 'one' };
    expect(await refundJob(server.database, customer.ref, entry)).toEqual({ cents: 4, balance: 10 });
    await expect(refundJob(server.database, customer.ref, entry)).rejects.toThrow(/already refunded/);
    const unknown = refundJob(server.database, customer.ref, { ...entry, uid: 'nobody-has-this' });
    await expect(unknown).rejects.toThrow('There is no job nobody-has-this in production.');
    const elsewhere = { ...entry, environment: 'sandbox' } as const;
    await expect(refundJob(server.database, customer.ref, elsewhere)).rejects.toThrow(/There is no job/);
    expect(await customer.balance()).toBe(10);
    await sound();
  });

  it('waits for another transfer of the same balance, and takes its result into account', async () => {
    const customer = await createCustomer(10);
    await customer.completed('one');
    const watching = createConnection(server.connection);
    await watching.connect();
    await owner.query('begin');
    await owner.query(
      `select from balances where part = $1 and account_id = $2 and environment = 'production' for update`,
      [customer.ref.part, customer.ref.accountId],
    );
    const tries = [1, 2].map(() => refundJob(server.database, customer.ref, { ...PRODUCTION, uid: 'one' }));
    const ended = Promise.allSettled(tries);
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until(async () => (await watching.query(waiting)).rowCount === 2);
    await owner.query('commit');
    const refused = (await ended).filter(({ status }) => status === 'rejected');
    expect(refused).toMatchObject([{ reason: { name: 'LedgerError' } }]);
    expect(await customer.balance()).toBe(10);
    await watching.end();
  });

  it('succeeds for only one of many simultaneous requests', async () => {
    const customer = await createCustomer(10);
    await customer.completed('one');
    const tries = await Promise.allSettled(
      Array.from({ length: 8 }, () =>
        refundJob(server.database, customer.ref, { ...PRODUCTION, uid: 'one' }),
      ),
    );
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await customer.balance()).toBe(10);
  });

  it('of a machine job does not prevent a refund after its upgrade to a human job', async () => {
    const made = await server.createAccount();
    const { ref } = await accountNamed(server.database, made.username);
    const call = createClient(`${server.url}/sandbox`, made.sandbox_key);
    const completed = (path: string) => waitForStatus(call, `${path}up/`);
    const entry = { environment: 'sandbox', memo: 'complaint 6', uid: 'up' } as const;
    const job = { text: 'The house.', uid: 'up', source_language: 'en', target_language: 'es' };
    await call('POST', MACHINE, job);
    await completed(MACHINE);
    expect(await refundJob(server.database, ref, entry)).toEqual({ cents: 4, balance: 0 });
    await call('PATCH', `${MACHINE}up/`, { status: 'upgrade', properties: null });
    await completed(HUMAN);
    const tries = await Promise.allSettled([1, 2, 3].map(() => refundJob(server.database, ref, entry)));
    expect(tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))).toEqual([
      { cents: 6, balance: 0 },
    ]);
    await expect(refundJob(server.database, ref, entry)).rejects.toThrow(/already refunded/);
    // Each refund has the number of the charge that it refunds.
    const { rows } = await owner.query(
      `select charge, amount_cents::integer as cents from transfers
        where account_id = $1 and kind = 'refund' order by transfer_id`,
      [ref.accountId],
    );
    expect(rows).toEqual([
      { charge: 1, cents: 4 },
      { charge: 2, cents: 6 },
    ]);
    await sound();
  });

  it('is refused for a held amount, a free job, another environment and another account', async () => {
    const customer = await createCustomer(10);
    await customer.create(HUMAN, 'The house.', 'held');
    await customer.completed('free', '…');
    await customer.completed('mine');
    const stranger = await createCustomer();
    const unknown = /There is no job/;
    for (const uid of ['held', 'free']) {
      const refunding = refundJob(server.database, customer.ref, { ...PRODUCTION, uid });
      await expect(refunding).rejects.toThrow(/Nothing was charged/);
    }
    await expect(refundJob(server.database, stranger.ref, { ...PRODUCTION, uid: 'mine' })).rejects.toThrow(
      unknown,
    );
    const astray = { environment: 'sandbox', memo: '', uid: 'mine' } as const;
    await expect(refundJob(server.database, customer.ref, astray)).rejects.toThrow(unknown);
    expect(await customer.balance()).toBe(0);
    await sound();
  });
});

describe('an adjustment', () => {
  it('adds and removes funds, down to the credit limit', async () => {
    const { ref, balance } = await createCustomer(10);
    await setCreditLimit(server.database, ref, 'production', 5);
    expect(await adjust(server.database, ref, { ...PRODUCTION, cents: 7 })).toBe(17);
    expect(await adjust(server.database, ref, { ...PRODUCTION, cents: -22 })).toBe(-5);
    await expect(adjust(server.database, ref, { ...PRODUCTION, cents: -1 })).rejects.toThrow(/credit limit/);
    expect(await balance()).toBe(-5);
    await sound();
  });
});

describe('a statement', () => {
  it('lists every transfer with its job, and ends with the current balance', async () => {
    const customer = await createCustomer(100);
    await customer.completed('done');
    await customer.create(HUMAN, 'The house.', 'held');
    await refundJob(server.database, customer.ref, { ...PRODUCTION, uid: 'done' });
    await topUp(server.database, customer.ref, { ...PRODUCTION, cents: 50 });
    const { opening, lines, closing } = await customer.statement(...EVER);
    expect(opening).toBe(0);
    expect(lines.map(({ at: _, discounts: __, edited_words: ___, ...line }) => Object.values(line))).toEqual([
      ['top_up', null, 'opening balance', 100, 100, 100],
      ['hold', 'done', null, 4, -4, 96],
      ['capture', 'done', null, 4, 0, 96],
      ['hold', 'held', null, 6, -6, 90],
      ['refund', 'done', 'complaint 5', 4, 4, 94],
      ['top_up', null, 'complaint 5', 50, 50, 144],
    ]);
    expect(closing).toBe(144);
    expect(await customer.balance()).toBe(144);
    const sandbox = await readStatement(server.database, customer.ref, 'sandbox', {
      from: EVER[0],
      until: EVER[1],
    });
    expect(sandbox).toEqual({ opening: 0, lines: [], closing: 0 });
    const later = { from: new Date('2998-01-01'), until: EVER[1] };
    expect((await readStatement(server.database, customer.ref, 'sandbox', later)).opening).toBe(0);
    expect((await readStatement(server.database, customer.ref, 'production', later)).opening).toBe(144);
  });

  it('adds up to its closing balance after any transfers and for any periods', async () => {
    const deed = fc.oneof(
      fc.record({ kind: fc.constant('adjust'), cents: fc.integer({ min: -50, max: 50 }).filter(Boolean) }),
      fc.record({ kind: fc.constant('top_up'), cents: fc.integer({ min: 1, max: 50 }) }),
      fc.record({ kind: fc.constant('hold'), cents: fc.constant(0) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(deed, { minLength: 1, maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 3 }),
        async (deeds, cuts) => {
          const customer = await createCustomer();
          for (const [index, { kind, cents }] of deeds.entries()) {
            if (kind === 'adjust') await adjust(server.database, customer.ref, { ...PRODUCTION, cents });
            if (kind === 'top_up') await topUp(server.database, customer.ref, { ...PRODUCTION, cents });
            if (kind === 'hold') await customer.create(HUMAN, 'The house.', `${index}`);
          }
          // The start of a period is a whole millisecond, so the times of transfers are rounded to
          // milliseconds.
          await owner.query(
            `update transfers set created_at = date_bin('1 ms', created_at, '2000-01-01') where account_id = $1`,
            [customer.ref.accountId],
          );
          const whole = await customer.statement(...EVER);
          expect(whole.lines).toHaveLength(deeds.length);
          expect(whole.closing).toBe(await customer.balance());
          // Periods that begin and end at the times of transfers have no gaps or overlaps.
          const moments = cuts.map((cut) => whole.lines[cut % whole.lines.length]!.at);
          const borders = [EVER[0], ...moments.sort((a, b) => +a - +b), EVER[1]];
          const periods = await Promise.all(
            borders.slice(1).map((end, index) => customer.statement(borders[index]!, end)),
          );
          expect(periods.flatMap(({ lines }) => lines)).toEqual(whole.lines);
          let balance = 0;
          for (const { opening, lines, closing } of periods) {
            expect(opening).toBe(balance);
            balance = lines.reduce((sum, { change }) => sum + change, opening);
            expect(closing).toBe(balance);
          }
        },
      ),
      { numRuns: 20 },
    );
    await sound();
  });
});

describe('the last cent of a balance', () => {
  it('pays for only one of fifty jobs that two servers receive at the same time', async () => {
    const { store, settings } = server;
    const role = 'api' as const;
    const log = createLog('silent');
    const second = await startServer({ store, settings, role, log, engines: () => [createFake()] });
    const made = await server.createAccount({ balanceCents: 6 });
    const { ref } = await accountNamed(server.database, made.username);
    await setCreditLimit(server.database, ref, 'production', 0);
    const callers = [server.url, second.url!].map((url) => createClient(url, made.production_key));
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        // Three words in the machine tier have the same price as two words in the human tier, so jobs of both
        // tiers share batches.
        callers[index % 2]!('POST', index % 3 === 0 ? HUMAN : MACHINE, {
          text: index % 3 === 0 ? 'The house.' : 'The big house.',
          source_language: 'en',
          target_language: 'es',
          uid: `rush-${index}`,
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status === 402);
    expect(refused).toHaveLength(49);
    for (const { body } of refused) {
      expect(body).toEqual({ error: 'insufficient balance: needs 6 cents, has 0' });
    }
    expect(await availableCents(server.database, ref, 'production')).toBe(0);
    await sound();
    await second.stop();
  });
});
