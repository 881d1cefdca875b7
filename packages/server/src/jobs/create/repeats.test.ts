/**
 * Tests that a repeated create over HTTP gets what its first attempt created, also if the same request would be refused
 * today. Each kind of create is repeated after each change.
 */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountNamed } from '../../access/accounts.ts';
import type { AccountRef } from '../../base/account.ts';
import { removeBrand, saveBrand } from '../../brands/brands.ts';
import { subscribe } from '../../chats/chats.ts';
import {
  type Answer,
  createClient,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
} from '../../testing/harness.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';

let server: TestServer;
let owner: pg.Client;
let call: ReturnType<typeof createClient>;
let key: string;
let ref: AccountRef;
let callback: string;
/** The engine is stalled, so that jobs keep their first status and answers can be compared. */
let engine: FakeEngine;

beforeAll(async () => {
  const receiver = await startReceiver();
  callback = receiver.url;
  await receiver.close();
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      engine.stall();
      return engine;
    },
  });
  owner = await server.connectOwner();
});
beforeEach(async () => {
  const account = await server.createAccount({ balanceCents: 100_000, chat: true });
  ({ ref } = await accountNamed(server.database, account.username));
  key = account.production_key;
  call = createClient(server.url, key);
  const brand = { externalId: 'house', name: 'House', default: false, languages: new Map() };
  await saveBrand(server.database, 'command', ref, brand, false);
});
afterAll(async () => {
  engine.resume();
  await server.stop();
});

const job = (fields: object = {}) => ({
  text: 'The house is big.',
  source_language: 'en',
  target_language: 'es',
  brand: 'house',
  callback_url: callback,
  ...fields,
});
const message = (fields: object = {}) => ({
  chat_external_id: 'chat',
  external_id: 'first',
  text: 'Hello.',
  text_format: 'text',
  source_language: 'en',
  target_language: 'es',
  brand: 'house',
  callback_url: callback,
  ...fields,
});
const bulk = (...uids: string[]) => ({ objects: uids.map((uid) => job({ uid })) });

/** A create, and the same create of something new. */
const CREATES: Record<string, (fresh: boolean) => Promise<Answer>> = {
  'human job': (fresh) => call('POST', HUMAN, job({ uid: fresh ? 'human-2' : 'human' })),
  'machine job': (fresh) => call('POST', MACHINE, job({ uid: fresh ? 'machine-2' : 'machine' })),
  'job with a key': (fresh) => call('POST', HUMAN, job(), { 'idempotency-key': fresh ? 'b' : 'a' }),
  bulk: (fresh) => call('PATCH', HUMAN, fresh ? bulk('bulk-3') : bulk('bulk-1', 'bulk-2')),
  'bulk with a key': (fresh) =>
    call('PATCH', HUMAN, { objects: [job(), job()] }, { 'idempotency-key': fresh ? 'd' : 'c' }),
  message: (fresh) => call('POST', '/v2/chats/messages', message({ external_id: fresh ? 'm2' : 'm1' })),
  chat: (fresh) => call('POST', '/chats', { external_id: fresh ? 'chat-2' : 'chat-1' }),
};

const quote = async (fields: object = {}) =>
  (await call('POST', '/api/v1/quote/', { ...job(), brand: '', ...fields })).status;
async function restart(settings: Record<string, string>): Promise<void> {
  await server.restart(settings);
  call = createClient(server.url, key);
}
/** Removes the brand, and waits until the server knows. */
async function removeHouse(): Promise<void> {
  await removeBrand(server.database, 'command', ref, 'house');
  await until(async () => (await quote({ brand: 'house' })) === 400);
}

interface Change {
  apply(): Promise<unknown>;
  undo?(): Promise<unknown>;
  /** The creates that are refused after it. */
  refuses: (keyof typeof CREATES)[];
}
const JOBS = ['human job', 'machine job', 'job with a key', 'bulk', 'bulk with a key'];
const CHANGES: Record<string, Change> = {
  'its brand was removed': {
    apply: removeHouse,
    refuses: JOBS,
  },
  'its language pair was closed': {
    apply: async () => {
      await owner.query(`update pairs set source_language = 'x' || source_language`);
      await until(async () => (await quote()) === 400);
    },
    undo: async () => {
      await owner.query('update pairs set source_language = substr(source_language, 2)');
      await until(async () => (await quote()) === 200);
    },
    refuses: [...JOBS, 'message'],
  },
  'its callback address was closed': {
    apply: () => restart({ DRAGOMAN_ALLOWED_NETWORKS: '10.0.0.0/8' }),
    undo: () => restart({}),
    refuses: [...JOBS, 'message'],
  },
  'the chat subscription ended': {
    apply: () => subscribe(server.database, ref, undefined),
    refuses: ['message', 'chat'],
  },
};

/** Returns what an answer says about identity. */
const identityOf = ({ body }: Answer) =>
  (body.objects ?? [body]).map((one: Record<string, never>) => {
    const { uid, order_number, id, message } = one as Record<string, unknown>;
    return [uid, order_number, id, (message as { id: string } | undefined)?.id];
  });
const balances = async () => (await owner.query('select available_cents from balances order by 1')).rows;

describe('a repeated create', () => {
  it.each(Object.entries(CHANGES))(
    'gets what the first attempt created when %s',
    async (_, { apply, undo, refuses }) => {
      const first = new Map<string, Answer>();
      for (const [kind, create] of Object.entries(CREATES)) {
        const answer = await create(false);
        expect(answer.status, `${kind}: ${answer.text}`).toBeLessThan(300);
        first.set(kind, answer);
      }
      await apply();
      try {
        const before = await balances();
        for (const [kind, create] of Object.entries(CREATES)) {
          const again = await create(false);
          expect(again.status, `${kind}: ${again.text}`).toBeLessThan(300);
          expect(identityOf(again), kind).toEqual(identityOf(first.get(kind)!));
          if (refuses.includes(kind)) expect((await create(true)).status, kind).toBeGreaterThan(399);
        }
        expect(await balances()).toEqual(before);
      } finally {
        await undo?.();
      }
    },
  );

  it('in a bulk, checks and charges only the objects that are new', async () => {
    const first = await call('PATCH', HUMAN, bulk('one', 'two'));
    await removeHouse();
    const { objects } = bulk('one', 'two', 'three');
    expect((await call('PATCH', HUMAN, { objects })).body.error).toMatch(/^objects\[2\]\.brand: /);
    const other = { ...objects[2], brand: undefined };
    const key = { 'idempotency-key': 'mixed' };
    const mixed = { objects: [objects[0], other, objects[1]] };
    const answer = await call('PATCH', HUMAN, mixed, key);
    expect(answer.status, answer.text).toBe(202);
    const numbers = answer.body.objects.map((one: { order_number: number }) => one.order_number);
    const [one, two] = first.body.objects;
    expect(numbers).toEqual([one.order_number, expect.any(Number), two.order_number]);
    expect(answer.body.objects[1].balance).toBe(one.balance - 12);
    // The key finds the whole request, in its order.
    const again = await call('PATCH', HUMAN, mixed, key);
    expect(again.body.objects.map((object: { order_number: number }) => object.order_number)).toEqual(
      numbers,
    );
    // Another request under one of the uids is refused.
    const changed = { objects: [{ ...objects[0], text: 'Other.' }, objects[1]] };
    expect((await call('PATCH', HUMAN, changed)).status).toBe(400);
  });
});
