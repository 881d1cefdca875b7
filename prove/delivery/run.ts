/**
 * The delivery scenario: chat messages and test events are delivered to a faulty receiver while the service is killed
 * with SIGKILL. In a run without kills, the receiver has no faults, and at the end one account uses all connections
 * to a host. The intervals between attempts are shortened.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Credentials, createAccount } from '../../scripts/program.ts';
import { startBackgroundLoad } from '../harness/background-load.ts';
import { countDue, readFacts, waitUntilSettled, withDatabase } from '../harness/database.ts';
import { createRandom, type Random } from '../harness/random.ts';
import { sendRequest, sendUntilAccepted } from '../harness/requests.ts';
import type { RunOptions } from '../harness/run.ts';
import { startService } from '../harness/service.ts';
import type { Accepted, DeliveryHistory, Host } from './checks.ts';
import { HELD, type Sink, startSink } from './sink.ts';

export interface DeliveryOptions extends RunOptions {
  deliveries: number;
  kills: number;
  /** True if the receiver has faults. */
  hostile: boolean;
  /** The seconds until another process takes over the work of a killed process. */
  leaseSeconds: number;
}

const CLIENTS = 8;
const MESSAGES_A_CHAT = 6;
/** One of this many deliveries is a chat message. The others are test events. */
const MESSAGE_IN = 3;
/** How long the run waits for its deliveries. How soon they arrive is a goal of the proof; only a hang takes so long. */
const SETTLE_SECONDS = 600;
/** Seconds within which the deliveries of other accounts must arrive at a host that one account fills. */
const SHARED_SECONDS = 90;
/** The maximum number of concurrent requests to one host. */
const PER_HOST = 32;
/** The number of deliveries to a host while another account uses all connections to this host. */
const NEIGHBOURS = 12;

const SETTINGS = {
  DRAGOMAN_CALLBACK_SCHEDULE: '1,1,1,2',
  DRAGOMAN_CALLBACK_BREAKER: '1',
  DRAGOMAN_SENDER_PER_HOST: String(PER_HOST),
  DRAGOMAN_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128', // `localhost` may resolve to an IPv4 or an IPv6 address.
  DRAGOMAN_LOG_LEVEL: 'silent', // Otherwise broken connections would fill the log.
};
/**
 * The sender's timeout in seconds. A receiver without faults (`calm`) delays only the responses to paths that
 * start with `held-`.
 */
const CALLBACK_TIMEOUT = { hostile: '2', calm: '15' };

type Order = Omit<Accepted, 'at'>;

export async function runDelivery(options: DeliveryOptions): Promise<DeliveryHistory> {
  const { directory, hostile, leaseSeconds, say } = options;
  const random = createRandom(options.seed);
  const sink = await startSink(random, hostile);
  mkdirSync(directory, { recursive: true });
  const trusted = join(directory, 'trusted.pem');
  writeFileSync(trusted, sink.certificate);
  const service = await startService(directory, {
    ...SETTINGS,
    DRAGOMAN_LEASE: String(leaseSeconds),
    DRAGOMAN_CALLBACK_TIMEOUT: CALLBACK_TIMEOUT[hostile ? 'hostile' : 'calm'],
    NODE_EXTRA_CA_CERTS: trusted,
  });
  try {
    const account = await createAccount(directory, 'delivery', 0, { chat: true });
    sink.setSecret(account.webhook_secret_production);
    const asked: string[] = [];
    const accepted: Accepted[] = [];
    const place = async (order: Order, { production_key }: Credentials, isCounted = true) => {
      const names = await send(service.url, production_key, sink, order);
      if (!isCounted) return;
      asked.push(...names);
      accepted.push({ ...order, name: names.at(-1)!, at: Date.now() });
    };
    const client = async (orders: Order[]) => {
      for (const order of orders) await place(order, account);
    };
    const clients = startBackgroundLoad(...planOrders(options.deliveries, random, hostile).map(client));
    for (let kill = 1; kill <= options.kills; kill++) {
      const target = (options.deliveries * kill) / (options.kills + 1);
      while (accepted.length < target) {
        clients.check();
        await wait(5);
      }
      await service.kill();
      say(`kill ${kill} of ${options.kills}, ${accepted.length} accepted, ${sink.arrivals.length} arrivals`);
      await service.start();
    }
    await clients.done();
    say(`all ${accepted.length} accepted; waiting for the last to arrive`);
    let shared: DeliveryHistory['shared'];
    if (!hostile) {
      const flooding = await createAccount(directory, 'flooding', 0);
      shared = await shareHost(
        sink,
        (order) => place(order, account),
        (order) => place(order, flooding, false),
      );
    }
    const facts = await withDatabase(directory, async (query) => {
      await waitUntilSettled(() => countDue(query), { seconds: SETTLE_SECONDS });
      return readFacts(query, leaseSeconds);
    });
    await service.stop();
    const isCounted = ({ name }: { name: string }) => !name.startsWith(HELD);
    return {
      asked,
      accepted,
      arrivals: sink.arrivals.filter(isCounted),
      kills: service.kills,
      deliveries: facts.deliveries.filter(isCounted),
      ...(shared && { shared }),
    };
  } finally {
    if (service.program.child.exitCode === null) await service.kill();
    await sink.close();
  }
}

/**
 * Lets one account use all connections to a host: the receiver does not respond to its deliveries. Then sends
 * deliveries of another account to the same host. The receiver responds to the first account when the second
 * account's deliveries have arrived, or when the sender times out.
 */
async function shareHost(
  sink: Sink,
  place: (order: Order) => Promise<void>,
  flood: (order: Order) => Promise<void>,
): Promise<DeliveryHistory['shared']> {
  const order = (name: string): Order => ({ name, host: 'good' });
  for (let n = 0; n < 2 * PER_HOST; n++) await flood(order(`${HELD}${n}`));
  while (sink.held < PER_HOST / 2) await wait(5);
  const names = Array.from({ length: NEIGHBOURS }, (_, n) => `neighbour-${n}`);
  for (const name of names) await place(order(name));
  const end = Date.now() + SHARED_SECONDS * 1000;
  const arrived = () => names.every((one) => sink.arrivals.some(({ name }) => name === one));
  while (!arrived() && Date.now() < end) await wait(5);
  return { names, until: sink.release() };
}

/** Plans the requests of each client. A chat belongs to one client, so that the order of its messages is known. */
function planOrders(count: number, random: Random, hostile: boolean): Order[][] {
  const queues: Order[][] = Array.from({ length: CLIENTS }, () => []);
  const hosts: Host[] = hostile ? ['good', 'hostile', 'hostile', 'tls'] : ['good', 'hostile', 'tls'];
  const chats = new Map<number, { name: string; host: Host; next: number }>();
  for (let n = 0; n < count; n++) {
    const client = n % CLIENTS;
    const host = hosts[random.below(hosts.length)]!;
    const name = `event-${n}`;
    if (n % MESSAGE_IN !== 0) {
      queues[client]!.push({ name, host });
      continue;
    }
    let chat = chats.get(client);
    if (chat === undefined || chat.next === MESSAGES_A_CHAT) {
      chat = { name: `chat-${n}`, host, next: 0 };
      chats.set(client, chat);
    }
    queues[client]!.push({ name, host: chat.host, chat: { name: chat.name, place: chat.next++ } });
  }
  return queues;
}

const TEXTS = ['The house is big.', 'The water is cold.', 'We want three tickets.'];

/**
 * Repeats a request until it is accepted. A repeated chat message is the same message. A repeated test event is
 * another event, so each attempt uses another event name, and only the last one counts as accepted.
 *
 * @returns the event names of all attempts
 */
async function send(url: string, key: string, sink: Sink, { name, host, chat }: Order): Promise<string[]> {
  const asked: string[] = [];
  const post = (path: string, body: object) =>
    sendRequest(`${url}${path}`, {
      method: 'POST',
      key,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await sendUntilAccepted((tried) => {
    const current = chat === undefined && tried > 0 ? `${name}-again-${tried}` : name;
    asked.push(current);
    const callback = `${sink.urls[host]}/${current}`;
    if (chat === undefined) return post('/api/v1/test-event/', { url: callback });
    return post('/v2/chats/messages', {
      chat_external_id: chat.name,
      external_id: current,
      text_format: 'text',
      source_language: 'en',
      target_language: 'es',
      callback_url: callback,
      text: TEXTS[chat.place % TEXTS.length],
    });
  });
  return asked;
}
