/** Simulates customers who create jobs and repeat each request until it is answered. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Credentials } from '../../scripts/program.ts';
import { type BackgroundLoad, startBackgroundLoad } from './background-load.ts';
import type { Order } from './invariants.ts';
import type { Random } from './random.ts';
import { sendRequest, sendUntilAccepted } from './requests.ts';

export interface CustomerOrder extends Order {
  tier: 'human' | 'machine';
  text: string;
  /** The time at which the customer sends the first request, in Unix milliseconds. */
  sentAt: number;
}

export interface Customers {
  readonly orders: CustomerOrder[];
  /** The number of acknowledged orders. */
  readonly acknowledged: number;
  /** Throws if the service refused an order. */
  check(): void;
  /**
   * Resolves when each customer has received a response or has given up.
   *
   * @throws Error when the service refused an order
   */
  stop(): Promise<void>;
}

const CUSTOMERS = 8;
/**
 * The pause of each customer after an order, in proofs with several database servers. Without it, the eight customers
 * created 85 jobs a second, more than the workers translated next to three servers on two cores. The last job then waited
 * for 98 s, for other jobs and not for the recovery.
 */
export const ORDER_PAUSE_MILLISECONDS = 200;
/** The maximum time that a customer waits for a response. */
const PATIENCE_MILLISECONDS = 5_000;

const TEXTS = [
  'The house is big.',
  'The children walk to the school every day. Their mother works in the city.',
  'A red car stops in front of the hotel.\n\nNobody gets out.',
  'We want to buy three tickets for the train to Madrid.',
  'The doctor said that the water is cold and clean.',
];

/**
 * Starts the customers. Half of the orders are human jobs in the sandbox, half are machine jobs in production.
 *
 * @param urls the URLs of the API processes; after a missing response, the customer tries the next URL
 * @param callbacks the URL of the receiver
 * @param pauseMilliseconds the pause of each customer after each order. Without it, customers may create more jobs than
 *   the service can translate, so that jobs wait for each other.
 */
export function startCustomers(
  random: Random,
  urls: readonly string[],
  account: Credentials,
  callbacks: string,
  pauseMilliseconds = 0,
): Customers {
  const orders: CustomerOrder[] = [];
  let acknowledged = 0;
  let stopping = false;

  async function customer(number: number): Promise<void> {
    for (let count = 0; !stopping; count++) {
      const human = random.below(2) === 0;
      const name = `job-${number}-${count}`;
      // A fifth of the orders leave the uid to the server. Such an order is sent only once, because another request
      // would create another job.
      const isAssigned = random.below(5) === 0;
      const order: CustomerOrder = {
        name,
        account: account.username,
        ...(isAssigned ? {} : { uid: name }),
        environment: human ? 'sandbox' : 'production',
        tier: human ? 'human' : 'machine',
        text: TEXTS[random.below(TEXTS.length)]!,
        sentAt: Date.now(),
        answers: [],
      };
      orders.push(order);
      // A tenth of the customers give up after a broken connection. Their job may exist or not.
      const givesUp = random.below(10) === 0;
      await create(order, count, () => stopping || givesUp || isAssigned);
      if (pauseMilliseconds > 0) await wait(pauseMilliseconds);
    }
  }

  async function create(order: CustomerOrder, first: number, giveUp: () => boolean): Promise<void> {
    const sandbox = order.environment === 'sandbox';
    const path = `${sandbox ? '/sandbox' : ''}/tapi/v2/${order.tier === 'human' ? '' : 'mt_'}translation/`;
    const body = JSON.stringify({
      uid: order.uid,
      text: order.text,
      source_language: 'en',
      target_language: 'es',
      callback_url: `${callbacks}/${order.name}`,
    });
    const answer = await sendUntilAccepted(
      (tried) =>
        sendRequest(`${urls[(first + tried) % urls.length]}${path}`, {
          method: 'POST',
          key: sandbox ? account.sandbox_key : account.production_key,
          body,
          signal: AbortSignal.timeout(PATIENCE_MILLISECONDS),
        }),
      { giveUp },
    );
    if (answer === undefined) return;
    acknowledged++;
    const { uid, order_number: orderNumber, price: priceCents = 0 } = JSON.parse(answer.text);
    order.answers.push({ status: answer.status, at: Date.now(), uid, orderNumber, priceCents });
  }

  const load: BackgroundLoad = startBackgroundLoad(
    ...Array.from({ length: CUSTOMERS }, (_, number) => customer(number)),
  );
  return {
    orders,
    get acknowledged() {
      return acknowledged;
    },
    check: load.check,
    async stop() {
      stopping = true;
      await load.done();
    },
  };
}
