/**
 * A delivery run: messages of many chats and test events are accepted and delivered to a sink, while the program is
 * killed with -9 again and again. Everything is real but the schedule, which is shortened by settings.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createConnection } from '../../packages/server/src/database/connections.ts';
import { createLog } from '../../packages/server/src/log.ts';
import { openStore } from '../../packages/server/src/program.ts';
import { loadSettings } from '../../packages/server/src/settings.ts';
import { believeEngine, type Credentials, createAccount, startProgram } from '../../scripts/program.ts';
import { startBeside } from '../beside.ts';
import { createRandom } from '../random.ts';
import type { Accepted, History, Host } from './history.ts';
import { type Sink, startSink } from './sink.ts';

export interface DeliveryRun {
  directory: string;
  deliveries: number;
  kills: number;
  seed: number;
  /** Whether the sink misbehaves. */
  hostile: boolean;
  /** After how long the work of a killed program is taken over. */
  leaseSeconds: number;
  say(line: string): void;
}

const CLIENTS = 8;
const MESSAGES_A_CHAT = 6;
/** One delivery in so many is a chat's message; the others are test events. */
const MESSAGE_IN = 3;
/** After the last fault; what has not arrived by then is reported. */
const SETTLE_MILLISECONDS = 90_000;

const PER_HOST = 32;
/** Deliveries to a host that another account has filled. */
const NEIGHBOURS = 12;

const SETTINGS = {
  DRAGOMAN_CALLBACK_SCHEDULE: '1,1,1,2',
  DRAGOMAN_CALLBACK_BREAKER: '1',
  DRAGOMAN_CALLBACK_TIMEOUT: '2',
  DRAGOMAN_SENDER_PER_HOST: String(PER_HOST),
  DRAGOMAN_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128', // `localhost` may be either
  DRAGOMAN_LOG_LEVEL: 'silent', // connections break here all the time
};

interface Order {
  name: string;
  host: Host;
  chat?: { name: string; place: number };
}

export async function runDeliveries(options: DeliveryRun): Promise<History> {
  const { directory, kills: planned, say } = options;
  const random = createRandom(options.seed);
  const sink = await startSink(random, options.hostile);
  const trusted = join(directory, 'trusted.pem');
  writeFileSync(trusted, sink.certificate);
  const environment = {
    ...SETTINGS,
    DRAGOMAN_LEASE: String(options.leaseSeconds),
    // A calm sink answers late only where the run has it wait.
    ...(options.hostile ? {} : { DRAGOMAN_CALLBACK_TIMEOUT: '15' }),
    NODE_EXTRA_CA_CERTS: trusted,
  };
  await believeEngine(directory);
  let program = await startProgram({ directory, environment });
  const { port, url } = program;
  try {
    const account = await createAccount(directory, 'delivery', 0, '--chat');
    sink.setSecret(account.webhook_secret_production);
    const accepted: Accepted[] = [];
    const asked: string[] = [];
    const kills: number[] = [];
    const queues = planOrders(options.deliveries, (limit) => random.below(limit), options.hostile);

    async function client(orders: Order[]): Promise<void> {
      for (const order of orders) {
        await place(url, account.production_key, sink, order, asked);
        accepted.push({ ...order, at: Date.now() });
      }
    }

    const clients = startBeside(...queues.map(client));
    for (let kill = 1; kill <= planned; kill++) {
      const target = (options.deliveries * kill) / (planned + 1);
      while (accepted.length < target) {
        clients.check();
        await wait(5);
      }
      await program.kill();
      kills.push(Date.now());
      say(`kill ${kill} of ${planned}, ${accepted.length} accepted, ${sink.arrivals.length} arrivals`);
      program = await startProgram({ directory, port, environment });
    }
    await clients.done();
    say(`all ${accepted.length} accepted; waiting for the last to arrive`);
    const flooding = options.hostile ? undefined : await createAccount(directory, 'flooding', 0);
    const shared = flooding && (await shareHost(url, account, flooding, sink, asked, accepted));
    const deliveries = await settle(directory);
    await program.stop();
    const arrivals = sink.arrivals.filter(({ name }) => !name.startsWith('held-'));
    return {
      asked,
      accepted,
      arrivals,
      kills,
      hostile: options.hostile,
      deliveries,
      ...(shared && { shared }),
    };
  } finally {
    if (program.child.exitCode === null) await program.kill();
    await sink.close();
  }
}

/**
 * Fills a host with one account's deliveries, which the sink does not answer, and then sends another account's there.
 * The sink answers when those have arrived, or the sender's patience with the first ones ends.
 */
async function shareHost(
  url: string,
  account: Credentials,
  flooding: Credentials,
  sink: Sink,
  asked: string[],
  accepted: Accepted[],
): Promise<History['shared']> {
  const order = (name: string): Order => ({ name, host: 'good' });
  for (let n = 0; n < 2 * PER_HOST; n++) {
    await place(url, flooding.production_key, sink, order(`held-${n}`), []);
  }
  while (sink.held < PER_HOST / 2) await wait(5);
  const neighbours = Array.from({ length: NEIGHBOURS }, (_, n) => order(`neighbour-${n}`));
  for (const neighbour of neighbours) {
    await place(url, account.production_key, sink, neighbour, asked);
    accepted.push({ ...neighbour, at: Date.now() });
  }
  const names = neighbours.map(({ name }) => name);
  const given = Date.now() + SETTLE_MILLISECONDS;
  const arrived = () => names.every((one) => sink.arrivals.some(({ name }) => name === one));
  while (!arrived() && Date.now() < given) await wait(5);
  return { names, until: sink.release() };
}

/** What each client asks for, one after another; a chat belongs to one client, so that its order is known. */
function planOrders(count: number, below: (limit: number) => number, hostile: boolean): Order[][] {
  const queues: Order[][] = Array.from({ length: CLIENTS }, () => []);
  const hosts: Host[] = hostile ? ['good', 'hostile', 'hostile', 'tls'] : ['good', 'hostile', 'tls'];
  const chats = new Map<number, { name: string; host: Host; next: number }>();
  for (let n = 0; n < count; n++) {
    const client = n % CLIENTS;
    const host = hosts[below(hosts.length)]!;
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
 * Asks until it is accepted. A message may be asked for again, being named; a test event that was accepted without
 * our hearing of it is another event, so each try has a name of its own, and what nobody heard of is not counted.
 */
async function place(url: string, key: string, sink: Sink, order: Order, asked: string[]): Promise<void> {
  const base = order.name;
  for (let tried = 0; ; tried++) {
    if (order.chat === undefined && tried > 0) order.name = `${base}-again-${tried}`;
    asked.push(order.name);
    const address = `${sink.urls[order.host]}/${order.name}`;
    const [path, body] =
      order.chat === undefined
        ? ['/api/v1/test-event/', { url: address }]
        : [
            '/v2/chats/messages',
            {
              ...{ chat_external_id: order.chat.name, external_id: order.name, text_format: 'text' },
              ...{ source_language: 'en', target_language: 'es', callback_url: address },
              text: TEXTS[order.chat.place % TEXTS.length],
            },
          ];
    try {
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      if (response.status < 300) return;
      if (response.status < 500) throw new Refused(`${response.status} ${text}`);
    } catch (error) {
      if (error instanceof Refused) throw error;
    }
    await wait(50);
  }
}

class Refused extends Error {}

/** Waits until nothing is pending, or its patience ends; then reads what there is. */
async function settle(directory: string): Promise<History['deliveries']> {
  const settings = loadSettings({ DRAGOMAN_DATA: directory });
  const store = await openStore(settings, 'command', createLog('silent'));
  const client = createConnection(store.connection);
  await client.connect();
  try {
    const until = Date.now() + SETTLE_MILLISECONDS;
    while (Date.now() < until) {
      const { rows } = await client.query(
        `select (select count(*) from deliveries where due_at is not null)
              + (select count(*) from messages where due_at is not null) as count`,
      );
      if (rows[0].count === 0) break;
      await wait(200);
    }
    const { rows } = await client.query(
      `select delivery_id as id, status, attempts::int,
              (select count(*) from attempts a
                where a.part = d.part and a.account_id = d.account_id and a.delivery_id = d.delivery_id
                  and finished_at is null)::int as unfinished
         from deliveries d where url not like '%/held-%'`,
    );
    return rows;
  } finally {
    await client.end();
    await store.close();
  }
}
