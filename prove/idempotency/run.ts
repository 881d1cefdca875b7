/**
 * An idempotency run: every order is asked for by many requests at once, under one uid, one `Idempotency-Key` or, in a
 * chat, one external id; some of them with another body. Nothing is killed: what kills do, the money run shows.
 */

import { Pool } from 'undici';
import { createConnection } from '../../packages/server/src/database/connections.ts';
import { createLog } from '../../packages/server/src/log.ts';
import { openStore } from '../../packages/server/src/program.ts';
import { loadSettings } from '../../packages/server/src/settings.ts';
import { believeEngine, createAccount, startProgram } from '../../scripts/program.ts';
import { createRandom } from '../random.ts';

export interface IdempotencyOptions {
  directory: string;
  /** Orders of jobs; a quarter as many messages besides. */
  keys: number;
  /** Requests of each at once. */
  requests: number;
  seed: number;
  say(line: string): void;
}

/** How a repeat is told. */
export type By = 'key' | 'uid' | 'chat';

export interface Answer {
  status: number;
  /** Which of the two bodies asked. */
  body: 'first' | 'other';
  /** What it said of what was made, without what may change: its status, and the account's balance. */
  said: string;
}

export interface Order {
  /** Unique in the run; every text of it begins with it. */
  name: string;
  by: By;
  /** Answers to the requests that were sent at once. */
  answers: Answer[];
  /** Of an order that all asked for with the same body: the answer to the other body afterwards. */
  later: Answer | undefined;
}

export interface IdempotencyHistory {
  orders: Order[];
  requests: number;
  /** What there is in the end. A message has no holds. */
  made: { name: string; by: 'job' | 'chat'; holds: number }[];
  /** Chats that there are; each order of a message has one of its own. */
  chats: number;
  /** The uids of all jobs, in the order of the list at the end. */
  listed: string[];
  /** Those that clients saw who followed the list meanwhile, each going on from the last one it had seen. */
  followed: string[][];
}

const ORDERS_AT_A_TIME = 5;
const CHAT_SHARE = 4;
/** Clients that follow the list while it grows, and jobs of a page. */
const FOLLOWERS = 2;
const PAGE = 1000;
/** One order in so many has a text of this many sentences: its creation overlaps those after it. */
const LONG_IN = 10;
const LONG_SENTENCES = 1_000;
/** One order in so many is asked for with two bodies at once. */
const MIXED_IN = 5;
const OPENING_CENTS = 100_000_000;
const LANGUAGES = { source_language: 'en', target_language: 'es' };

export async function runIdempotency(options: IdempotencyOptions): Promise<IdempotencyHistory> {
  const { directory, keys, requests, say } = options;
  const random = createRandom(options.seed);
  await believeEngine(directory);
  const program = await startProgram({ directory });
  const { production_key } = await createAccount(directory, 'idempotency', OPENING_CENTS, '--chat');
  const pool = new Pool(program.url, { connections: ORDERS_AT_A_TIME * requests + FOLLOWERS });
  const orders: Order[] = [];
  const total = keys + Math.floor(keys / CHAT_SHARE);

  async function ask({ name, by }: Order, body: Answer['body']): Promise<Answer> {
    const sentence = `${name} The house is ${body === 'first' ? 'big' : 'small'}.`;
    const isLong = by !== 'chat' && Number(name.split('-')[1]) % LONG_IN === 0;
    const text = isLong ? sentence.concat(' The house is old.'.repeat(LONG_SENTENCES)) : sentence;
    const job = { ...LANGUAGES, text, ...(by === 'uid' ? { uid: name } : {}) };
    const message = { ...LANGUAGES, text, text_format: 'text', chat_external_id: name, external_id: name };
    const answer = await pool.request({
      method: 'POST',
      path: by === 'chat' ? '/v2/chats/messages' : '/tapi/v2/translation/',
      headers: {
        authorization: `ApiKey ${production_key}`,
        'content-type': 'application/json',
        ...(by === 'key' ? { 'idempotency-key': name } : {}),
      },
      body: JSON.stringify(by === 'chat' ? message : job),
    });
    const said = withoutWhatChanges(await answer.body.text());
    return { status: answer.statusCode, body, said };
  }

  async function place(order: Order): Promise<void> {
    const mixed = random.below(MIXED_IN) === 0;
    const asked = Array.from({ length: requests }, (_, n) =>
      ask(order, mixed && n % 2 === 1 ? 'other' : 'first'),
    );
    order.answers = await Promise.all(asked);
    if (!mixed) order.later = await ask(order, 'other');
  }

  async function customer(): Promise<void> {
    while (orders.length < total) {
      const number = orders.length;
      const by = number >= keys ? 'chat' : random.below(2) === 0 ? 'key' : 'uid';
      const order: Order = { name: `order-${number}`, by, answers: [], later: undefined };
      orders.push(order);
      if (number % 250 === 0) say(`${number} of ${total} orders`);
      await place(order);
    }
  }

  async function page(query: string): Promise<string[]> {
    const answer = await pool.request({
      method: 'GET',
      path: `/tapi/v2/translation/?limit=${PAGE}&${query}`,
      headers: { authorization: `ApiKey ${production_key}` },
    });
    const { objects } = (await answer.body.json()) as { objects: { uid: string }[] };
    return objects.map(({ uid }) => uid);
  }

  async function follow(seen: string[]): Promise<void> {
    const uids = await page(`after=${seen.at(-1) ?? ''}`);
    seen.push(...uids);
    if (uids.length === PAGE) await follow(seen);
  }

  const followed: string[][] = Array.from({ length: FOLLOWERS }, () => []);
  let over = false;
  const customers = Promise.all(Array.from({ length: ORDERS_AT_A_TIME }, customer)).finally(() => {
    over = true;
  });
  const followers = followed.map(async (seen) => {
    while (!over) await follow(seen);
  });
  await Promise.all([customers, ...followers]);
  for (const seen of followed) await follow(seen);
  const listed: string[] = [];
  while (listed.length % PAGE === 0) {
    const uids = await page(`offset=${listed.length}`);
    if (uids.length === 0) break;
    listed.push(...uids);
  }
  const facts = await read(directory);
  await pool.close();
  await program.stop();
  return { orders, requests, ...facts, listed, followed };
}

/** An error says the same to everybody; a thing that was made moves on while it is looked at. */
function withoutWhatChanges(text: string): string {
  const body = JSON.parse(text) as Record<string, unknown>;
  if (typeof body.message === 'object') {
    const { id, external_id, text } = body.message as Record<string, unknown>;
    return JSON.stringify({ id, external_id, text });
  }
  const { status: _, balance: __, ...rest } = body;
  return JSON.stringify(rest);
}

async function read(directory: string): Promise<Pick<IdempotencyHistory, 'made' | 'chats'>> {
  const store = await openStore(loadSettings({ DRAGOMAN_DATA: directory }), 'command', createLog('silent'));
  const client = createConnection(store.connection);
  await client.connect();
  try {
    const { rows: jobs } = await client.query(
      `select split_part(t.body, ' ', 1) as name, 'job' as by,
              (select count(*)::int from transfers h where h.job_id = j.job_id and h.kind = 'hold') as holds
         from jobs j join job_texts t on t.job_id = j.job_id and t.kind = 'source'`,
    );
    const { rows: messages } = await client.query(
      `select external_id as name, 'chat' as by, 0 as holds from messages`,
    );
    const { rows: chats } = await client.query('select count(*)::int as count from chats');
    return { made: [...jobs, ...messages], chats: chats[0].count };
  } finally {
    await client.end();
    await store.close();
  }
}
