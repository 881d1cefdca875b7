/**
 * A money run: every order is asked for by many requests at once, under one uid or one `Idempotency-Key`, and some
 * are canceled at a random moment, while the machine completes what it can and the program is killed with -9. Some are
 * a machine's and go on to a human, and some of these upgrades are canceled. Some are of a brand that does not wait for an
 * editor: at the end their deadline passes, and they fall back.
 * Everything is real: the program as a process of its own, its embedded PostgreSQL, Apertium, HTTP.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { accountNamed } from '../../packages/server/src/accounts/accounts.ts';
import { saveBrand } from '../../packages/server/src/brands/brands.ts';
import { createConnection } from '../../packages/server/src/database/connections.ts';
import { verifyLedger } from '../../packages/server/src/ledger/ledger.ts';
import { createLog } from '../../packages/server/src/log.ts';
import { openStore } from '../../packages/server/src/program.ts';
import { loadSettings } from '../../packages/server/src/settings.ts';
import { believeEngine, type Credentials, createAccount, startProgram } from '../../scripts/program.ts';
import { type Beside, startBeside } from '../beside.ts';
import { startReceiver } from '../crash/receiver.ts';
import { createRandom } from '../random.ts';
import type { History, Order } from './history.ts';

export interface MoneyOptions {
  /** Where the program keeps its data. */
  directory: string;
  /** Orders: distinct uids and keys. */
  keys: number;
  /** Concurrent creates of each. */
  creates: number;
  kills: number;
  seed: number;
  say(line: string): void;
}

const ACCOUNTS = 8;
const OPENING_CENTS = 10_000_000;
/** Orders under way at a time. */
const ORDERS_AT_A_TIME = 4;
/** After the last kill: a lease and much room. What is not done by then is reported. */
const SETTLE_MILLISECONDS = 120_000;
const ENVIRONMENT = {
  DRAGOMAN_SANDBOX_HOLD: '0',
  DRAGOMAN_LEASE: '5',
  DRAGOMAN_LOG_LEVEL: 'silent',
  DRAGOMAN_PRICE_MACHINE: '2',
};
const BRAND = 'fallback';

export async function runMoney(options: MoneyOptions): Promise<History> {
  const { directory, creates } = options;
  const random = createRandom(options.seed);
  const receiver = await startReceiver();
  await believeEngine(directory);
  let program = await startProgram({ directory, environment: ENVIRONMENT });
  const { port, url } = program;
  const accounts: Credentials[] = [];
  for (let n = 0; n < ACCOUNTS; n++) {
    accounts.push(await createAccount(directory, `money-${n}`, OPENING_CENTS));
  }
  await saveBrands(directory, accounts);
  const orders: Order[] = [];
  const kills: number[] = [];
  let stopped = false;
  const killing = startBeside();

  async function place(number: number): Promise<void> {
    const account = accounts[random.below(ACCOUNTS)]!;
    // Every kind with and without a cancel, however short the run is.
    const turn = number % 12;
    const sandbox = turn % 2 === 1;
    const kind = sandbox ? 'plain' : (['plain', 'fallback', 'upgrade'] as const)[(turn / 2) % 3]!;
    const order: Order = {
      name: `order-${number}`,
      account: account.username,
      environment: sandbox ? 'sandbox' : 'production',
      kind,
      by: random.below(2) === 0 ? 'uid' : 'key',
      answers: [],
      upgrades: [],
      cancels: [],
    };
    orders.push(order);
    const authorization = `ApiKey ${sandbox ? account.sandbox_key : account.production_key}`;
    const root = `${url}${sandbox ? '/sandbox' : ''}/tapi/v2`;
    const path = `${root}/${kind === 'upgrade' ? 'mt_translation' : 'translation'}/`;
    const text = `${order.name} The house is big.${' The sea is blue.'.repeat(random.below(5))}`;
    const body = {
      text,
      source_language: 'en',
      target_language: 'es',
      callback_url: `${receiver.url}/${order.name}`,
      ...(order.by === 'uid' ? { uid: order.name } : {}),
      ...(kind === 'fallback' ? { brand: BRAND } : {}),
    };
    const headers = { authorization, ...(order.by === 'key' ? { 'idempotency-key': order.name } : {}) };
    const asks = Array.from({ length: creates }, () =>
      create(path, headers, JSON.stringify(body), order, killing),
    );
    const cancels = turn < 6;
    const after = random.below(40);
    if (kind === 'upgrade')
      asks.push(upgrade(root, authorization, order, cancels ? after : undefined, killing));
    else if (cancels) asks.push(cancel(path, authorization, order, after, killing));
    await Promise.all(asks);
  }

  async function customers(): Promise<void> {
    while (orders.length < options.keys) await place(orders.length);
  }

  async function killer(): Promise<void> {
    for (let kill = 1; kill <= options.kills && !stopped; kill++) {
      const target = Math.floor((options.keys * kill) / (options.kills + 1));
      while (orders.length < target && !stopped) await wait(5);
      await wait(random.below(60));
      if (stopped) return;
      await program.kill();
      kills.push(Date.now());
      options.say(`kill ${kill} of ${options.kills}, ${orders.length} orders`);
      program = await startProgram({ directory, port, environment: ENVIRONMENT });
    }
  }

  killing.add(killer());
  await Promise.all(Array.from({ length: ORDERS_AT_A_TIME }, customers));
  stopped = true;
  await killing.done();
  options.say('waiting for everything to settle');
  const facts = await settle(directory);
  await program.stop();
  await receiver.close();
  const delivered = receiver.delivered.map(({ name }) => name);
  return { orders, creates, kills, delivered, ...facts };
}

/** Asks until it is answered: with the same uid or key that is safe. */
async function create(
  path: string,
  headers: Record<string, string>,
  body: string,
  order: Order,
  killing: Beside,
): Promise<void> {
  for (;;) {
    killing.check();
    try {
      const response = await fetch(path, { method: 'POST', headers, body });
      const answer = (await response.json()) as {
        uid: string;
        order_number: number;
        price: number;
        error?: string;
      };
      if (response.ok) {
        const { uid, order_number: orderNumber, price: priceCents } = answer;
        order.answers.push({ status: response.status, uid, orderNumber, priceCents });
        return;
      }
      if (response.status < 500) throw new Refused(`${response.status} ${answer.error}`);
    } catch (error) {
      if (error instanceof Refused) throw error;
    }
    await wait(20);
  }
}

/** Cancels it a moment after its first answer, once; a broken answer is asked for again, as a customer would. */
async function cancel(
  path: string,
  authorization: string,
  order: Order,
  after: number,
  killing: Beside,
): Promise<void> {
  while (order.answers.length === 0) {
    killing.check();
    await wait(2);
  }
  await wait(after);
  for (;;) {
    killing.check();
    try {
      const { status } = await fetch(`${path}${order.answers[0]!.uid}/`, {
        method: 'DELETE',
        headers: { authorization },
      });
      order.cancels.push(status);
      if (status < 500) return;
    } catch {
      order.cancels.push(0);
    }
    await wait(20);
  }
}

/** Upgrades a machine's job as soon as it is completed, and cancels that a moment later where one is named. */
async function upgrade(
  root: string,
  authorization: string,
  order: Order,
  cancelAfter: number | undefined,
  killing: Beside,
): Promise<void> {
  while (order.answers.length === 0) {
    killing.check();
    await wait(2);
  }
  const path = `${root}/mt_translation/${order.answers[0]!.uid}/`;
  for (;;) {
    killing.check();
    try {
      const body = JSON.stringify({ status: 'upgrade', properties: null });
      const { status } = await fetch(path, { method: 'PATCH', headers: { authorization }, body });
      // Until it is completed it is refused.
      if (status !== 400) order.upgrades.push(status);
      if (status < 300) break;
    } catch {
      order.upgrades.push(0);
    }
    await wait(20);
  }
  if (cancelAfter !== undefined)
    await cancel(`${root}/translation/`, authorization, order, cancelAfter, killing);
}

/** Gives every account a brand that does not wait for an editor. */
async function saveBrands(directory: string, accounts: readonly Credentials[]): Promise<void> {
  const store = await openStore(loadSettings({ DRAGOMAN_DATA: directory }), 'command', createLog('silent'));
  try {
    for (const { username } of accounts) {
      const { ref } = await accountNamed(store.database, username);
      const brand = { externalId: BRAND, name: BRAND, default: undefined, languages: new Map() };
      await saveBrand(store.database, ref, { ...brand, fallback: 'machine' }, false);
    }
  } finally {
    await store.close();
  }
}

class Refused extends Error {}

type Facts = Pick<History, 'jobs' | 'transfers' | 'balances' | 'discrepancies'>;

/** Waits until no machine has anything to do, or its patience ends; then reads what there is. */
async function settle(directory: string): Promise<Facts> {
  const store = await openStore(loadSettings({ DRAGOMAN_DATA: directory }), 'command', createLog('silent'));
  const client = createConnection(store.connection);
  await client.connect();
  const rows = async <T extends pg.QueryResultRow>(sql: string) => (await client.query<T>(sql)).rows;
  try {
    const until = Date.now() + SETTLE_MILLISECONDS;
    while (Date.now() < until) {
      await client.query(
        `update edited_jobs set deadline_at = now(), due_at = now() where due_at is not null and deadline_at > now()`,
      );
      const [left] = await rows<{ count: number }>(
        `select (select count(*) from jobs where due_at is not null)
              + (select count(*) from edited_jobs where due_at is not null)
              + (select count(*) from deliveries where due_at is not null) as count`,
      );
      if (left!.count === 0) break;
      await wait(200);
    }
    return {
      jobs: await rows(
        `select a.username as account, j.environment, j.uid, j.order_number::float8 as "orderNumber", j.tier,
                j.status, j.price_cents::float8 as "priceCents", j.charge, j.fell_back as "fellBack",
                exists (select from job_texts r where r.job_id = j.job_id and r.kind = 'result') as "hasResult",
                split_part(t.body, ' ', 1) as name
           from jobs j join accounts a using (part, account_id)
           join job_texts t on t.job_id = j.job_id and t.kind = 'source'`,
      ),
      transfers: await rows(
        `select a.username as account, t.environment, j.uid, t.kind, t.charge, t.amount_cents::float8 as cents
           from transfers t join accounts a using (part, account_id) left join jobs j on j.job_id = t.job_id`,
      ),
      balances: await rows(
        `select a.username as account, b.environment, b.available_cents::float8 as "availableCents"
           from balances b join accounts a using (part, account_id)`,
      ),
      discrepancies: (await verifyLedger(store.database)).discrepancies.length,
    };
  } finally {
    await client.end();
    await store.close();
  }
}
