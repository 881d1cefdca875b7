/**
 * The idempotency scenario: each order is requested many times at once, with one uid, one `Idempotency-Key` or, in a
 * chat, one external id. Some requests have another body. Meanwhile two clients read the growing list of jobs. No
 * process is killed here; the money proof does that.
 */
import { Pool } from 'undici';
import { createAccount } from '../../scripts/program.ts';
import { withDatabase } from '../harness/database.ts';
import { createRandom } from '../harness/random.ts';
import type { RunOptions } from '../harness/run.ts';
import { startService } from '../harness/service.ts';
import type { Answer, IdempotencyHistory, Order } from './checks.ts';

export interface IdempotencyOptions extends RunOptions {
  /** The number of jobs to order. A quarter as many chat messages are added. */
  keys: number;
  /** The number of concurrent requests for each order. */
  requests: number;
}

const ORDERS_AT_A_TIME = 5;
const CHAT_SHARE = 4;
/** The number of clients that read the list while it grows. `PAGE` is the number of jobs on a page. */
const FOLLOWERS = 2;
const PAGE = 1000;
/**
 * One order in this many has a text of `LONG_SENTENCES` sentences, so that its creation takes longer and
 * overlaps with later requests.
 */
const LONG_IN = 10;
const LONG_SENTENCES = 1_000;
/** One of this number of orders is requested with two different bodies at the same time. */
const MIXED_IN = 5;
const OPENING_CENTS = 100_000_000;
const LANGUAGES = { source_language: 'en', target_language: 'es' };

export async function runIdempotency(options: IdempotencyOptions): Promise<IdempotencyHistory> {
  const { directory, keys, requests, say } = options;
  const random = createRandom(options.seed);
  const service = await startService(directory);
  const { production_key } = await createAccount(directory, 'idempotency', OPENING_CENTS, { chat: true });
  const pool = new Pool(service.url, { connections: ORDERS_AT_A_TIME * requests + FOLLOWERS });
  const list = createList(pool, production_key);
  const orders: Order[] = [];
  const total = keys + Math.floor(keys / CHAT_SHARE);

  async function send(order: Order, body: Answer['body']): Promise<Answer> {
    const { path, headers, content } = requestOf(order, body);
    const answer = await pool.request({
      method: 'POST',
      path,
      headers: {
        authorization: `ApiKey ${production_key}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(content),
    });
    const lasting = withoutChanges(await answer.body.text());
    // The request did not arrive in time, because this process was too busy to send it.
    if (answer.statusCode === 408) return send(order, body);
    return { status: answer.statusCode, body, lasting };
  }

  async function place(order: Order): Promise<void> {
    const mixed = random.below(MIXED_IN) === 0;
    order.answers = await Promise.all(
      Array.from({ length: requests }, (_, n) => send(order, mixed && n % 2 === 1 ? 'other' : 'first')),
    );
    if (!mixed) order.later = await send(order, 'other');
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

  const followed: string[][] = Array.from({ length: FOLLOWERS }, () => []);
  let over = false;
  const customers = Promise.all(Array.from({ length: ORDERS_AT_A_TIME }, customer)).finally(() => {
    over = true;
  });
  const followers = followed.map(async (seen) => {
    while (!over) await list.follow(seen);
  });
  await Promise.all([customers, ...followers]);
  for (const seen of followed) await list.follow(seen);
  const listed = await list.all();
  const facts = await readStored(directory);
  await pool.close();
  await service.stop();
  return { orders, requests, ...facts, listed, followed };
}

function requestOf({ name, by }: Order, body: Answer['body']) {
  const sentence = `${name} The house is ${body === 'first' ? 'big' : 'small'}.`;
  if (by === 'chat') {
    const message = { text_format: 'text', chat_external_id: name, external_id: name };
    return {
      path: '/v2/chats/messages',
      headers: {},
      content: { ...LANGUAGES, ...message, text: sentence },
    };
  }
  const isLong = Number(name.split('-')[1]) % LONG_IN === 0;
  const text = isLong ? sentence.concat(' The house is old.'.repeat(LONG_SENTENCES)) : sentence;
  return {
    path: '/tapi/v2/translation/',
    headers: by === 'key' ? { 'idempotency-key': name } : {},
    content: { ...LANGUAGES, text, ...(by === 'uid' ? { uid: name } : {}) },
  };
}

/** Returns functions that read the list of jobs through the API. */
function createList(pool: Pool, key: string) {
  async function page(query: string): Promise<string[]> {
    const answer = await pool.request({
      method: 'GET',
      path: `/tapi/v2/translation/?limit=${PAGE}&${query}`,
      headers: { authorization: `ApiKey ${key}` },
    });
    const { objects } = (await answer.body.json()) as { objects: { uid: string }[] };
    return objects.map(({ uid }) => uid);
  }
  return {
    /** Reads the jobs after the last one that the client has seen. */
    async follow(seen: string[]): Promise<void> {
      for (let uids: string[] | undefined; uids === undefined || uids.length === PAGE; ) {
        uids = await page(`after=${seen.at(-1) ?? ''}`);
        seen.push(...uids);
      }
    },
    /** Reads all pages of the list. */
    async all(): Promise<string[]> {
      const listed: string[] = [];
      for (let uids: string[] | undefined; uids === undefined || uids.length === PAGE; ) {
        uids = await page(`offset=${listed.length}`);
        listed.push(...uids);
      }
      return listed;
    },
  };
}

/** Removes the fields that change while a job is processed: its status, and the balance of the account. */
function withoutChanges(text: string): string {
  const body = JSON.parse(text) as Record<string, unknown>;
  if (typeof body.message === 'object') {
    const { id, external_id, text } = body.message as Record<string, unknown>;
    return JSON.stringify({ id, external_id, text });
  }
  const { status: _, balance: __, ...rest } = body;
  return JSON.stringify(rest);
}

async function readStored(directory: string): Promise<Pick<IdempotencyHistory, 'made' | 'chats'>> {
  return withDatabase(directory, async (query) => {
    const made = await query<IdempotencyHistory['made'][number]>(
      `select split_part(t.body, ' ', 1) as name, 'job' as by,
              (select count(*)::int from transfers h where h.job_id = j.job_id and h.kind = 'hold') as holds
         from jobs j join job_texts t on t.job_id = j.job_id and t.kind = 'source'
       union all
       select external_id, 'chat', 0 from messages`,
    );
    const [chats] = await query<{ count: number }>('select count(*)::int as count from chats');
    return { made, chats: chats!.count };
  });
}
