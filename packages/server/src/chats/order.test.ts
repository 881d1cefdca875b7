/**
 * Tests of the order of a chat's messages while several processes on one database create, translate and die.
 */
import type { DraftRequest, Engine } from '@dragoman/engines';
import { createFake } from '@dragoman/engines/fake';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../base/log.ts';
import { type Role, type Server, startServer } from '../roles/serve.ts';
import {
  createClient,
  type Received,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { createLeaseQueue } from '../work/queue.ts';
import { createMessageSettler } from './chats.ts';

const MESSAGES = '/v2/chats/messages';

/** An engine that answers a request only after the test has called `open` with the first word of the text. */
interface GatedEngine extends Engine {
  /** Resolves when the engine has received this word `times` times. */
  asked(word: string, times?: number): Promise<void>;
  open(word: string): void;
  readonly requests: DraftRequest[];
}

function createGated(): GatedEngine {
  const fake = createFake();
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const gate = (word: string) => {
    if (!gates.has(word)) gates.set(word, Promise.withResolvers<void>());
    return gates.get(word)!;
  };
  const wordOf = (request: DraftRequest) => {
    const [piece] = request.segments[0]!.pieces;
    return piece !== undefined && 'text' in piece ? piece.text.split(' ')[0]! : '';
  };
  const requests: DraftRequest[] = [];
  return {
    name: 'fake',
    capabilities: { ...fake.capabilities, context: true },
    requests,
    version: () => fake.version(),
    directions: () => fake.directions(),
    health: () => fake.health(),
    stop: () => fake.stop(),
    async draft(request) {
      requests.push(request);
      const word = wordOf(request);
      await gate(word).promise;
      if (!word.startsWith('fail')) return fake.draft(request);
      const { id } = request.segments[0]!;
      return [{ id, status: 'failed', reason: 'too long', detail: 'as it was told' }];
    },
    async asked(word, times = 1) {
      await until(() => requests.filter((request) => wordOf(request) === word).length >= times);
    },
    open: (word) => gate(word).resolve(),
  };
}

let server: TestServer;
const others: Server[] = [];
let receiver: Receiver;
let engine: GatedEngine;
let call: ReturnType<typeof createClient>;
let chats = 0;
beforeAll(async () => {
  engine = createGated();
  server = await startTestServer({ engine: () => engine, settings: { DRAGOMAN_CALLBACK_SCHEDULE: '1' } });
  receiver = await startReceiver();
  const { production_key } = await server.createAccount({ chat: true });
  call = createClient(server.url, production_key);
  key = production_key;
});
let key: string;
afterAll(async () => {
  for (const other of others) await other.stop();
  await receiver.close();
  await server.stop();
});

/** Starts a second server process, with the role `role`, on the same database. */
async function startAnother(role: Role): Promise<Server> {
  const { store, settings } = server;
  const log = createLog('silent');
  const another = await startServer({ store, settings, role, engines: () => [createFake()], log });
  others.push(another);
  return another;
}

const message = (chat_external_id: string, external_id: string, text: string, more: object = {}) => ({
  chat_external_id,
  external_id,
  text,
  source_language: 'en',
  target_language: 'es',
  text_format: 'text',
  callback_url: `${receiver.url}/${chat_external_id}`,
  ...more,
});

const to = (path: string) => (received: Received) => received.path === path;
const idOf = ({ body }: Received): string => JSON.parse(body).message.external_id;

describe('two processes that create chat messages', () => {
  it('create one message when both receive the same first request, and answer once with 201 and once with 200', async () => {
    const another = createClient((await startAnother('api')).url!, key);
    engine.open('same');
    for (let round = 0; round < 20; round++) {
      const body = message(`race-${++chats}`, 'm1', 'same');
      const [one, two] = await Promise.all([call('POST', MESSAGES, body), another('POST', MESSAGES, body)]);
      expect([one.status, two.status].sort()).toEqual([200, 201]);
      expect(two.body.message.id).toBe(one.body.message.id);
      expect(two.body.chat).toEqual(one.body.chat);
    }
  });

  it('give the messages of a new chat consecutive positions without gaps', async () => {
    const another = createClient((await startAnother('api')).url!, key);
    const chat = `crowd-${++chats}`;
    const made = await Promise.all(
      // Each message is sent twice. The second request must not get another position.
      [...Array(60).keys()].map((n) =>
        (n % 2 === 0 ? call : another)('POST', MESSAGES, message(chat, `m${n >> 1}`, 'same')),
      ),
    );
    expect(new Set(made.map(({ body }) => body.chat.id)).size).toBe(1);
    expect(made.filter(({ status }) => status === 201)).toHaveLength(30);
    const list = (await call('GET', `/chats/${made[0]!.body.chat.id}/messages`)).body;
    expect(list.length).toBe(30);
    expect(new Set(list.messages.map((one: { external_id: string }) => one.external_id)).size).toBe(30);
    const times = list.messages.map((one: { creation_date: string }) => one.creation_date);
    expect(times).toEqual([...times].sort());
    const sent = await until(() => {
      const found = receiver.received.filter(to(`/${chat}`));
      return found.length === 30 && found;
    });
    expect(sent.map(idOf)).toEqual(list.messages.map((one: { external_id: string }) => one.external_id));
  });

  it('notify the worker in the other process of a new message', async () => {
    const heard = Promise.withResolvers<void>();
    await server.database.listen('dragoman_messages', () => heard.resolve());
    const another = createClient((await startAnother('api')).url!, key);
    expect((await another('POST', MESSAGES, message(`hint-${++chats}`, 'm1', 'same'))).status).toBe(201);
    await heard.promise;
  });
});

describe('a chat message that is translated before an earlier one', () => {
  it('is readable at once, but its callback waits for the earlier message', async () => {
    const chat = `order-${++chats}`;
    await call('POST', MESSAGES, message(chat, 'm1', 'first-of-order'));
    const second = await call('POST', MESSAGES, message(chat, 'm2', 'second-of-order'));
    engine.open('second-of-order');
    const read = await until(async () => {
      const answer = await call('POST', MESSAGES, message(chat, 'm2', 'second-of-order'));
      return answer.body.message.status !== 'mt_init' && answer;
    });
    expect(read.body.message).toMatchObject({ status: 'deliver_init', translated_text: 'SECOND-OF-ORDER' });
    expect(read.body.message.id).toBe(second.body.message.id);
    expect(receiver.received.filter(to(`/${chat}`))).toEqual([]);
    engine.open('first-of-order');
    const sent = await until(() => {
      const found = receiver.received.filter(to(`/${chat}`));
      return found.length === 2 && found;
    });
    expect(sent.map(idOf)).toEqual(['m1', 'm2']);
  });

  it('has its callback sent only after the earlier message was delivered; retries of that delivery repeat the same bytes', async () => {
    const chat = `retry-${++chats}`;
    let refusals = 2;
    receiver.answer(({ path }) => (path === `/${chat}` && refusals-- > 0 ? 500 : 200));
    for (const id of ['m1', 'm2']) await call('POST', MESSAGES, message(chat, id, 'same'));
    const sent = await until(() => {
      const found = receiver.received.filter(to(`/${chat}`));
      return found.length === 4 && found;
    });
    expect(sent.map(idOf)).toEqual(['m1', 'm1', 'm1', 'm2']);
    const stable = ({ body, headers }: Received) => [
      body,
      ...Object.entries(headers).filter(([name]) => /^(ce-|content-|webhook-id)/.test(name)),
    ];
    expect(stable(sent[1]!)).toEqual(stable(sent[0]!));
    expect(stable(sent[2]!)).toEqual(stable(sent[0]!));
    expect(stable(sent[3]!)).not.toEqual(stable(sent[0]!));
  });

  it('is translated with the earlier messages as context, in its own source language', async () => {
    const chat = `context-${++chats}`;
    engine.open('context');
    const say = async (id: string, text: string, more = {}) => {
      await call('POST', MESSAGES, message(chat, id, text, more));
      await until(() => receiver.received.filter(to(`/${chat}`)).some((one) => idOf(one) === id));
    };
    await say('m1', 'context one');
    await say('m2', '<p>context <b>two</b></p>', { text_format: 'html' });
    await say('m3', 'context three', { source_language: 'es', target_language: 'en' });
    await say('m4', 'context four');
    const { lane, segments } = engine.requests.at(-1)!;
    expect(lane).toBe('interactive');
    expect(segments[0]!.before).toBe('context one\ncontext two\nCONTEXT THREE');
  });
});

/** A chat message that the property test generates. */
interface Planned {
  chat: number;
  fails: boolean;
  hasAddress: boolean;
  /** The engine answers the messages in the order of this number. */
  turn: number;
}

/** Compares the callbacks received for a chat with its planned messages. @returns the differences */
function faults(planned: readonly { id: string; fails: boolean }[], received: readonly Received[]): string[] {
  const arrived = received.map((one) => {
    const { external_id, status } = JSON.parse(one.body).message;
    return `${external_id} ${status}`;
  });
  const wanted = planned.map(({ id, fails }) => `${id} ${fails ? 'mt_failed' : 'deliver_init'}`);
  return arrived.join() === wanted.join() ? [] : [`${arrived.join()} arrived, not ${wanted.join()}`];
}

it('callbacks keep the order of every chat even if messages fail or are translated in another order', async () => {
  const plan = fc.array(
    fc.record({
      chat: fc.integer({ min: 0, max: 2 }),
      fails: fc.boolean(),
      hasAddress: fc.boolean(),
      turn: fc.integer(),
    }),
    { minLength: 2, maxLength: 12 },
  );
  let run = 0;
  const property = fc.asyncProperty(plan, async (messages: Planned[]) => {
    const mark = `p${++run}`;
    const named = messages.map((one, n) => ({
      ...one,
      id: `m${n}`,
      path: `${mark}-${one.chat}`,
      word: `${one.fails ? 'fail' : 'good'}-${mark}-${n}`,
    }));
    const made = new Map<string, string>();
    for (const { id, path, word, hasAddress } of named) {
      const created = await call(
        'POST',
        MESSAGES,
        message(path, id, word, hasAddress ? {} : { callback_url: null }),
      );
      made.set(id, `/v2/chats/${created.body.chat.id}/messages/${created.body.message.id}`);
    }
    for (const { word } of named.toSorted((a, b) => a.turn - b.turn)) engine.open(word);
    for (const { id, fails } of named) {
      const status = await until(async () => {
        const { message: read } = (await call('GET', made.get(id)!)).body;
        return !['mt_init', 'deliver_init'].includes(read.status) && read.status;
      });
      expect(status).toBe(fails ? 'mt_failed' : 'deliver_complete');
    }
    for (const [path, ofChat] of Map.groupBy(named, (one) => one.path)) {
      const told = ofChat.filter(({ hasAddress }) => hasAddress);
      await until(() => receiver.received.filter(to(`/${path}`)).length >= told.length);
      expect(faults(told, receiver.received.filter(to(`/${path}`)))).toEqual([]);
    }
  });
  await fc.assert(property, { numRuns: 6, seed: 7 });
});

it('the check of the callbacks’ order in this test detects callbacks in the wrong order, a lost callback and a duplicate callback', () => {
  const received = (id: string) =>
    ({ body: JSON.stringify({ message: { external_id: id, status: 'deliver_init' } }) }) as Received;
  const planned = ['a', 'b'].map((id) => ({ id, fails: false }));
  const [a, b] = [received('a'), received('b')];
  expect(faults(planned, [a, b])).toEqual([]);
  for (const wrong of [[b, a], [a], [a, a, b]]) expect(faults(planned, wrong)).toHaveLength(1);
});

it('a message of a dead worker is taken over by another worker and sends exactly one callback', async () => {
  // All workers are stopped, so that the simulated worker can claim the message and then die.
  await server.server.stop();
  const api = await startAnother('api');
  const create = createClient(api.url!, key);
  const chat = `dead-${++chats}`;
  const made = await create('POST', MESSAGES, message(chat, 'm1', 'same'));
  const queue = createLeaseQueue(server.database, 'messages', 2, createLog('silent'));
  const [lease] = await queue.claim(1);
  expect(lease!.id).toBe(made.body.message.id);
  const source = { vendor: 'x', chatBaseUrl: 'http://x.example' };
  const dead = createMessageSettler(server.database, () => source, { withOutbox: (run) => run() });
  const held = (await dead.open(lease!))!;
  await startAnother('worker');
  await receiver.next(to(`/${chat}`));
  // The stale lease token refuses the late write of the dead worker.
  const outcome = { kind: 'translated', translated: 'LATE' } as const;
  expect(await dead.settle({ lease: lease!, leased: held, outcome })).toBe(false);
  const read = await until(async () => {
    const { body } = await create('GET', `/chats/${made.body.chat.id}/messages`);
    return body.messages[0].status === 'deliver_complete' && body.messages[0];
  });
  expect(read.translated_text).toBe('SAME');
  expect(receiver.received.filter(to(`/${chat}`))).toHaveLength(1);
  expect(await dead.open(lease!)).toBeUndefined();
  await server.restart();
});
