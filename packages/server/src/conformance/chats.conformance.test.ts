/**
 * Tests the specification of the chat API, sentence by sentence. The fake engine translates by writing the
 * text in upper case.
 */
import { createFake } from '@dragoman/engines/fake';
import { afterAll, beforeAll, expect } from 'vitest';
import { createConnection } from '../database/connections.ts';
import {
  createClient,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { conforms } from './conforms.ts';

const MESSAGES = '/v2/chats/messages';
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

let server: TestServer;
let receiver: Receiver;
let production: ReturnType<typeof createClient>;
let unsubscribed: ReturnType<typeof createClient>;

beforeAll(async () => {
  server = await startTestServer({ engine: () => createFake({ directions: ['en>es', 'es>en'] }) });
  receiver = await startReceiver();
  production = createClient(server.url, (await server.createAccount({ chat: true })).production_key);
  unsubscribed = createClient(server.url, (await server.createAccount()).production_key);
});
afterAll(async () => {
  await receiver.close();
  await server.stop();
});

let names = 0;
/** Returns a name that no other chat or message of these tests has. */
const fresh = (kind: string) => `${kind}-${++names}`;

const message = (fields: Record<string, unknown> = {}) => ({
  chat_external_id: fresh('chat'),
  external_id: fresh('message'),
  source_language: 'en',
  target_language: 'es',
  text: 'The train is late.',
  text_format: 'text',
  ...fields,
});

async function post(fields: Record<string, unknown> = {}) {
  const sent = message(fields);
  const answer = await production('POST', MESSAGES, sent);
  expect(answer.status, answer.text).toBe(201);
  return { sent, ...answer.body };
}

const withStatus = (chatId: string, messageId: string, status: string) =>
  until(async () => {
    const { body } = await production('GET', `/v2/chats/${chatId}/messages/${messageId}`);
    return body.message.status === status && body;
  });

conforms('2.8.1', async () => {
  const { chat, sent } = await post({ agent_external_id: 'agent@example.com', brand: 'shop' });
  expect(chat).toEqual({
    id: expect.any(String),
    external_id: sent.chat_external_id,
    agent_external_id: 'agent@example.com',
    brand: 'shop',
    creation_date: expect.stringMatching(TIMESTAMP),
  });
  expect((await post()).chat).toMatchObject({ agent_external_id: null, brand: null });
});

conforms('2.9.1', async () => {
  const { chat, message, sent } = await post({
    callback_url: `${receiver.url}/2.9.1`,
    is_inbound: true,
    author_external_id: 'ann',
  });
  const given = {
    id: expect.any(String),
    chat_id: chat.id,
    external_id: sent.external_id,
    author_external_id: 'ann',
    callback_url: `${receiver.url}/2.9.1`,
    is_inbound: true,
    source_language: 'en',
    target_language: 'es',
    text: 'The train is late.',
    text_format: 'text',
    creation_date: expect.stringMatching(TIMESTAMP),
  };
  expect(message).toMatchObject({ ...given, status: 'mt_init' });
  expect(message).not.toHaveProperty('translated_text');
  expect((await withStatus(chat.id, message.id, 'deliver_complete')).message).toMatchObject({
    ...given,
    translated_text: 'THE TRAIN IS LATE.',
    translation_uid: expect.any(String),
    completion_date: expect.stringMatching(TIMESTAMP),
  });
  expect((await post()).message).toMatchObject({ author_external_id: null, is_inbound: null });
});

conforms('2.9.2', async () => {
  const { chat, message, sent } = await post();
  const same = await production('POST', MESSAGES, { ...sent, text: 'Another text.' });
  expect([same.status, same.body.message.id]).toEqual([200, message.id]);
  const elsewhere = await post({ external_id: sent.external_id });
  expect(elsewhere.chat.id).not.toBe(chat.id);
  expect(elsewhere.message.id).not.toBe(message.id);
});

conforms('3.2.1', async () => {
  const { chat, message } = await post({ callback_url: `${receiver.url}/3.2.1` });
  expect(message.status).toBe('mt_init');
  const { body } = await receiver.next(({ path }) => path === '/3.2.1');
  expect(JSON.parse(body).message.status).toBe('deliver_init');
  await withStatus(chat.id, message.id, 'deliver_complete');
});

conforms('4.10.2', async () => {
  const required = [
    'chat_external_id',
    'source_language',
    'target_language',
    'text',
    'text_format',
    'external_id',
  ];
  for (const field of required) {
    const refused = await production('POST', MESSAGES, message({ [field]: undefined }));
    expect(refused.status, field).toBe(400);
    expect(refused.body.error.message).toContain(field);
  }
  const optional = ['callback_url', 'brand', 'agent_external_id', 'is_inbound', 'author_external_id'];
  await post(Object.fromEntries(optional.map((field) => [field, null])));
  expect((await production('POST', `${MESSAGES}/`, message())).status).toBe(201);
});

conforms('4.10.3', async () => {
  const first = await post();
  const second = await post({ chat_external_id: first.sent.chat_external_id });
  expect(second.chat).toEqual(first.chat);
  expect(second.message.id).not.toBe(first.message.id);
  expect((await post()).chat.id).not.toBe(first.chat.id);
});

conforms('4.10.4', async () => {
  const sent = message();
  const statuses = [
    await production('POST', MESSAGES, sent),
    await production('POST', MESSAGES, { ...sent, external_id: fresh('message') }),
    await production('POST', MESSAGES, sent),
  ];
  expect(statuses.map(({ status }) => status)).toEqual([201, 201, 200]);
  const { body } = await production('GET', `/chats/${statuses[0]!.body.chat.id}/messages`);
  expect(body.length).toBe(2);
});

conforms('4.10.5', async () => {
  const { chat, message, sent } = await post({ agent_external_id: 'first@example.com' });
  const again = await production('POST', MESSAGES, {
    ...sent,
    agent_external_id: 'second@example.com',
    text: 'Another text.',
    brand: 'another',
  });
  expect(again.body.chat).toEqual(chat);
  expect(again.body.message).toMatchObject({ id: message.id, text: sent.text });
});

conforms('4.10.6', async () => {
  const { sent, message } = await post();
  const read = await until(async () => {
    const { status, body } = await production('POST', MESSAGES, sent);
    expect(status).toBe(200);
    return body.message.status === 'deliver_complete' && body.message;
  });
  expect(read).toMatchObject({ id: message.id, translated_text: 'THE TRAIN IS LATE.' });
});

conforms('4.10.7', async () => {
  const { body } = await production('POST', MESSAGES, message());
  expect(Object.keys(body).sort()).toEqual(['chat', 'message']);
});

conforms('4.10.8', async () => {
  const { chat, message } = await post();
  const path = `/v2/chats/${chat.id}/messages/${message.id}`;
  const { status, body } = await production('GET', path);
  expect(status).toBe(200);
  expect(body).toMatchObject({ chat, message: { id: message.id } });
  expect((await createClient(server.url, 'nobody:wrong')('GET', path)).status).toBe(401);
  expect((await unsubscribed('GET', path)).status).toBe(403);
  const other = await post();
  for (const unknown of [`/v2/chats/${chat.id}/messages/${other.message.id}`, '/v2/chats/a/messages/b']) {
    expect((await production('GET', unknown)).status).toBe(404);
  }
});

conforms('4.10.9', async () => {
  const external_id = fresh('chat');
  const answer = await production('POST', '/chats', { external_id, agent_external_id: 'a@example.com' });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    chat_id: expect.any(String),
    created_at: expect.stringMatching(TIMESTAMP),
    external_id,
    agent_external_id: 'a@example.com',
  });
  expect((await production('POST', '/chats', { external_id })).body).toEqual(answer.body);
  expect((await production('POST', '/chats', { external_id: 7 })).status).toBe(400);
  const posted = await post({ chat_external_id: external_id });
  expect(posted.chat.id).toBe(answer.body.chat_id);
});

conforms('4.10.10', async () => {
  const first = await post();
  const texts = ['The first.', 'The second.', 'The third.'];
  for (const text of texts) await post({ chat_external_id: first.sent.chat_external_id, text });
  const path = `/chats/${first.chat.id}/messages`;
  const { body } = await production('GET', path);
  expect(body).toMatchObject({ length: 4, index: 1, limit: 50 });
  expect(body.messages.map(({ text }: { text: string }) => text)).toEqual([first.sent.text, ...texts]);
  const page = (await production('GET', `${path}?index=2&limit=2`)).body;
  expect(page).toMatchObject({ length: 4, index: 2, limit: 2 });
  expect(page.messages.map(({ text }: { text: string }) => text)).toEqual(['The first.', 'The second.']);
  for (const query of ['index=0', 'limit=0', 'limit=x']) {
    expect((await production('GET', `${path}?${query}`)).status, query).toBe(400);
  }
});

conforms('5.4', async () => {
  for (const key of ['nobody:wrong', '', 'acme']) {
    expect((await createClient(server.url, key)('POST', MESSAGES, message())).status).toBe(401);
  }
});

conforms('6.2', async () => {
  const { message } = await post({ callback_url: `${receiver.url}/6.2` });
  const { headers } = await receiver.next(({ path }) => path === '/6.2');
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'ce-type': 'com.dragoman.chat-api.v2',
    'ce-time': expect.stringMatching(TIMESTAMP),
    'ce-specversion': '1.0',
    'ce-source': expect.stringMatching(/^http/),
    'ce-id': `chatapi-${message.id}`,
    'ce-datacontenttype': 'application/json',
  });
});

conforms('6.3', async () => {
  const { chat } = await post({ callback_url: `${receiver.url}/6.3` });
  const body = JSON.parse((await receiver.next(({ path }) => path === '/6.3')).body);
  expect(Object.keys(body).sort()).toEqual(['chat', 'message']);
  expect(body.chat).toEqual(chat);
  expect(body.message).toMatchObject({
    status: 'deliver_init',
    translated_text: 'THE TRAIN IS LATE.',
    completion_date: expect.stringMatching(TIMESTAMP),
    translation_uid: expect.any(String),
    is_inbound: null,
    author_external_id: null,
  });
});

conforms('6.4', async () => {
  receiver.answer(({ path }) => (path === '/6.4' ? 302 : 200));
  const { chat, message } = await post({ callback_url: `${receiver.url}/6.4` });
  await receiver.next(({ path }) => path === '/6.4');
  const { body } = await production('GET', `/v2/chats/${chat.id}/messages/${message.id}`);
  expect(body.message.status).toBe('deliver_init');
  receiver.answer(() => 204);
  const accepted = await post({ callback_url: `${receiver.url}/6.4b` });
  await withStatus(accepted.chat.id, accepted.message.id, 'deliver_complete');
});

conforms('6.5', async () => {
  const { chat, message, sent } = await post();
  const polled = await withStatus(chat.id, message.id, 'deliver_complete');
  expect(polled.message.translated_text).toBe('THE TRAIN IS LATE.');
  expect((await production('POST', MESSAGES, sent)).body).toEqual(polled);
});

conforms('7.2', async () => {
  const refused = await production('POST', MESSAGES, message({ text_format: 'srt', is_inbound: 'yes' }));
  expect(refused.status).toBe(400);
  expect(refused.body).toEqual({ error: { code: 'validation_error', message: expect.any(String) } });
  expect(refused.body.error.message).toMatch(/text_format: /);
  expect(refused.body.error.message).toMatch(/is_inbound: /);
});

conforms('7.3', async () => {
  const refused = await unsubscribed('POST', MESSAGES, message());
  expect(refused.status).toBe(402);
  expect(refused.body).toEqual({ error: { code: 'invalid_subscription', message: expect.any(String) } });
});

conforms('7.4', async () => {
  const sent = message();
  // Renames the table, so that the server fails for a reason that is not the caller's.
  await ownerQuery('alter table messages rename to messages_away');
  const failed = await production('POST', MESSAGES, sent);
  await ownerQuery('alter table messages_away rename to messages');
  expect(failed.status).toBeGreaterThanOrEqual(500);
  expect(failed.body).toEqual({ error: { code: 'server_error', message: expect.any(String) } });
  expect((await production('POST', MESSAGES, sent)).status).toBe(201);
  expect((await production('POST', MESSAGES, sent)).status).toBe(200);
});

conforms('7.5', async () => {
  const refused = await createClient(server.url, 'nobody:wrong')('POST', MESSAGES, message());
  expect(refused.status).toBe(401);
  expect(refused.body).toEqual({ error: 'Unauthorized' });
});

conforms('7.6', async () => {
  const { chat, message } = await post();
  const forbidden = await unsubscribed('GET', `/v2/chats/${chat.id}/messages/${message.id}`);
  expect([forbidden.status, forbidden.text]).toEqual([403, '']);
  const unknown = await production('GET', `/v2/chats/${chat.id}/messages/unknown`);
  expect([unknown.status, unknown.text]).toEqual([404, '']);
});

conforms('9.2', async () => {
  expect((await production('POST', '/chats/messages', message())).status).toBe(404);
  expect((await production('POST', '/v2/chats', {})).status).toBe(404);
  const { chat } = await post({ callback_url: `${receiver.url}/9.2` });
  expect((await production('GET', `/chats/${chat.id}/messages`)).status).toBe(200);
  const { headers } = await receiver.next(({ path }) => path === '/9.2');
  expect(headers['ce-type']).toMatch(/\.v2$/);
});

/** Runs a statement as the owner of the database schema. */
async function ownerQuery(sql: string): Promise<void> {
  const owner = createConnection(server.connection);
  await owner.connect();
  await owner.query(sql);
  await owner.end();
}
