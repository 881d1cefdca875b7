/**
 * The money scenario: each order is requested many times at once, with one uid or one `Idempotency-Key`. Some orders
 * are canceled at a random moment, some are upgraded, and some of these upgrades are canceled. Some orders deliver
 * their draft at the deadline. Meanwhile the service is killed with SIGKILL.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { accountNamed } from '../../packages/server/src/access/accounts.ts';
import { saveBrand } from '../../packages/server/src/brands/brands.ts';
import { verifyLedger } from '../../packages/server/src/ledger/ledger.ts';
import { type Credentials, createAccount } from '../../scripts/program.ts';
import { type BackgroundLoad, startBackgroundLoad } from '../harness/background-load.ts';
import { countDue, readFacts, waitUntilSettled, withDatabase, withStore } from '../harness/database.ts';
import { createRandom } from '../harness/random.ts';
import { startReceiver } from '../harness/receiver.ts';
import { sendRequest, sendUntilAccepted } from '../harness/requests.ts';
import type { RunOptions } from '../harness/run.ts';
import { startService } from '../harness/service.ts';
import type { MoneyHistory, MoneyOrder } from './checks.ts';

export interface MoneyOptions extends RunOptions {
  /** The number of orders, each with its own uid or key. */
  keys: number;
  /** The number of concurrent requests that create each order. */
  creates: number;
  kills: number;
}

const ACCOUNTS = 8;
const OPENING_CENTS = 10_000_000;
const ORDERS_AT_A_TIME = 4;
const LEASE_SECONDS = 5;
const SETTINGS = {
  DRAGOMAN_SANDBOX_HOLD: '0',
  DRAGOMAN_LEASE: String(LEASE_SECONDS),
  DRAGOMAN_LOG_LEVEL: 'silent',
  DRAGOMAN_PRICE_MACHINE: '2',
};
const BRAND = 'fallback';

export async function runMoney({ directory, seed, say, ...options }: MoneyOptions): Promise<MoneyHistory> {
  const { keys, creates } = options;
  const random = createRandom(seed);
  const delivered: string[] = [];
  const receiver = await startReceiver(({ name }) => delivered.push(name));
  const service = await startService(directory, SETTINGS);
  const accounts: Credentials[] = [];
  for (let n = 0; n < ACCOUNTS; n++)
    accounts.push(await createAccount(directory, `money-${n}`, OPENING_CENTS));
  await saveBrands(directory, accounts);
  const orders: MoneyOrder[] = [];
  const killer = startBackgroundLoad();
  let placed = false;

  async function place(number: number): Promise<void> {
    const account = accounts[random.below(ACCOUNTS)]!;
    // Every kind of order occurs with and without a cancellation, even in a short run.
    const turn = number % 12;
    const sandbox = turn % 2 === 1;
    const kind = sandbox ? 'plain' : (['plain', 'fallback', 'upgrade'] as const)[(turn / 2) % 3]!;
    const name = `order-${number}`;
    const by = random.below(2) === 0 ? 'uid' : 'key';
    const order: MoneyOrder = {
      name,
      account: account.username,
      environment: sandbox ? 'sandbox' : 'production',
      ...(by === 'uid' ? { uid: name } : {}),
      kind,
      by,
      answers: [],
      upgrades: [],
      cancels: [],
    };
    orders.push(order);
    const customer: Customer = {
      root: `${service.url}${sandbox ? '/sandbox' : ''}/tapi/v2`,
      key: sandbox ? account.sandbox_key : account.production_key,
      killer,
    };
    const body = JSON.stringify({
      text: `${name} The house is big.${' The sea is blue.'.repeat(random.below(5))}`,
      source_language: 'en',
      target_language: 'es',
      callback_url: `${receiver.url}/${name}`,
      uid: order.uid,
      brand: kind === 'fallback' ? BRAND : undefined,
    });
    const requests = Array.from({ length: creates }, () => create(customer, order, body));
    const isCanceled = turn < 6;
    const after = random.below(40);
    if (kind === 'upgrade') requests.push(upgrade(customer, order, isCanceled ? after : undefined));
    else if (isCanceled) requests.push(cancel(customer, order, after));
    await Promise.all(requests);
  }

  async function placeOrders(): Promise<void> {
    while (orders.length < keys) await place(orders.length);
  }

  async function kill(): Promise<void> {
    for (let kill = 1; kill <= options.kills && !placed; kill++) {
      const target = Math.floor((keys * kill) / (options.kills + 1));
      while (orders.length < target && !placed) await wait(5);
      await wait(random.below(60));
      if (placed) return;
      await service.kill();
      say(`kill ${kill} of ${options.kills}, ${orders.length} orders`);
      await service.start();
    }
  }

  killer.add(kill());
  await Promise.all(Array.from({ length: ORDERS_AT_A_TIME }, placeOrders));
  placed = true;
  await killer.done();
  say('waiting until everything is settled');
  const facts = await readSettled(directory);
  await service.stop();
  await receiver.close();
  return { orders, creates, kills: service.kills, delivered, ...facts };
}

interface Customer {
  root: string;
  key: string;
  /** The kills and restarts of the service. If a restart fails, the customers' loops stop. */
  killer: BackgroundLoad;
}

/** Repeats the request to create a job until it is answered. This is safe with the same uid or idempotency key. */
async function create({ root, key, killer }: Customer, order: MoneyOrder, body: string): Promise<void> {
  const url = `${root}/${order.kind === 'upgrade' ? 'mt_translation' : 'translation'}/`;
  const headers: Record<string, string> = order.by === 'key' ? { 'idempotency-key': order.name } : {};
  const answer = await sendUntilAccepted(() => sendRequest(url, { method: 'POST', key, headers, body }), {
    pause: 20,
    giveUp: () => {
      killer.check();
      return false;
    },
  });
  const { status, text } = answer!;
  const { uid, order_number: orderNumber, price: priceCents } = JSON.parse(text);
  order.answers.push({ status, at: Date.now(), uid, orderNumber, priceCents });
}

async function untilCreated({ killer }: Customer, { answers }: MoneyOrder): Promise<string> {
  while (answers.length === 0) {
    killer.check();
    await wait(2);
  }
  return answers[0]!.uid;
}

/** Cancels an order `after` milliseconds after its first response. A cancellation without a response is repeated. */
async function cancel(customer: Customer, order: MoneyOrder, after: number): Promise<void> {
  const { root, key, killer } = customer;
  const url = `${root}/translation/${await untilCreated(customer, order)}/`;
  await wait(after);
  for (;;) {
    killer.check();
    const { status } = await sendRequest(url, { method: 'DELETE', key });
    order.cancels.push(status);
    if (status > 0 && status < 500) return;
    await wait(20);
  }
}

/**
 * Upgrades a machine job as soon as it is completed.
 *
 * @param cancelAfter milliseconds until the upgrade is canceled
 */
async function upgrade(
  customer: Customer,
  order: MoneyOrder,
  cancelAfter: number | undefined,
): Promise<void> {
  const { root, key, killer } = customer;
  const url = `${root}/mt_translation/${await untilCreated(customer, order)}/`;
  const body = JSON.stringify({ status: 'upgrade', properties: null });
  for (;;) {
    killer.check();
    const { status } = await sendRequest(url, { method: 'PATCH', key, body });
    // Status 400 means that the job is not completed yet.
    if (status !== 400) order.upgrades.push(status);
    if (status >= 200 && status < 300) break;
    await wait(20);
  }
  if (cancelAfter !== undefined) await cancel(customer, order, cancelAfter);
}

/** Gives every account a brand with a fallback. */
async function saveBrands(directory: string, accounts: readonly Credentials[]): Promise<void> {
  await withStore(directory, async ({ database }) => {
    for (const { username } of accounts) {
      const { ref } = await accountNamed(database, username);
      const brand = { externalId: BRAND, name: BRAND, default: undefined, languages: new Map() };
      await saveBrand(database, 'command', ref, { ...brand, fallback: 'machine' }, false);
    }
  });
}

/** Lets every deadline pass, waits until no work is left, and reads what is stored. */
async function readSettled(directory: string) {
  return withDatabase(directory, async (query, { database }) => {
    await waitUntilSettled(async () => {
      await query(
        `update edited_jobs set deadline_at = now(), due_at = now() where due_at is not null and deadline_at > now()`,
      );
      return countDue(query, ['jobs', 'edited_jobs', 'deliveries']);
    });
    const { discrepancies } = await verifyLedger(database);
    return { ...(await readFacts(query, LEASE_SECONDS)), discrepancies: discrepancies.length };
  });
}
