/** Tests the chat functions of the client with the real server. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startReceiver, startTestServer, type TestServer, until } from '../../server/src/testing/harness.ts';
import {
  type ChatMessageRequest,
  createDragoman,
  type Dragoman,
  DragomanError,
  type DragomanOptions,
  verifyWebhook,
} from './client.ts';

const MESSAGE: ChatMessageRequest = {
  chat_external_id: 'ticket-1',
  external_id: 'message-1',
  source_language: 'en',
  target_language: 'es',
  text: 'Where is the house?',
  text_format: 'text',
};

let server: TestServer;
let account: Awaited<ReturnType<TestServer['createAccount']>>;
let dragoman: Dragoman;
beforeAll(async () => {
  server = await startTestServer();
  account = await server.createAccount({ chat: true });
  dragoman = client();
});
afterAll(() => server.stop());

function client(options: Partial<DragomanOptions> = {}): Dragoman {
  return createDragoman({ baseUrl: server.url, key: account.production_key, ...options });
}

/** Returns a client that loses its first response after the service has processed the request. */
function losingOne(): { flaky: Dragoman; calls: () => number } {
  let calls = 0;
  const flaky = client({
    fetch: async (address, init) => {
      const response = await fetch(address, init);
      if (calls++ === 0) throw new TypeError('fetch failed');
      return response;
    },
    pause: async () => {},
  });
  return { flaky, calls: () => calls };
}

it('client: postMessage creates a message and returns the same message when it is posted again', async () => {
  const { chat, message } = await dragoman.chats.postMessage(MESSAGE);
  expect(message).toMatchObject({ chat_id: chat.id, external_id: 'message-1', status: 'mt_init' });
  const done = await until(async () => {
    const read = await dragoman.chats.getMessage(chat.id, message.id);
    return read.message.status === 'deliver_complete' && read;
  });
  expect(done.message.translated_text).toBe('WHERE IS THE HOUSE?');
  expect(await dragoman.chats.postMessage(MESSAGE)).toEqual(done);
});

it('client: listMessages returns the messages of a chat in order, in pages, from any index', async () => {
  const { chat_id, external_id } = await dragoman.chats.createChat({ external_id: 'ticket-2' });
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) {
    await dragoman.chats.postMessage({ ...MESSAGE, chat_external_id: external_id, external_id: name });
  }
  const listed = async (from?: { index?: number; limit?: number }) => {
    const found = [];
    for await (const message of dragoman.chats.listMessages(chat_id, from)) found.push(message.external_id);
    return found;
  };
  expect(await listed()).toEqual(names);
  expect(await listed({ limit: 2 })).toEqual(names);
  expect(await listed({ limit: 5 })).toEqual(names);
  expect(await listed({ index: 3, limit: 2 })).toEqual(['c', 'd', 'e']);
  expect(await listed({ index: 6 })).toEqual([]);
});

it('client: chat requests are retried after a lost response, unless that would create another chat', async () => {
  const posting = losingOne();
  const { chat } = await posting.flaky.chats.postMessage({ ...MESSAGE, chat_external_id: 'ticket-3' });
  const found = [];
  for await (const { external_id } of dragoman.chats.listMessages(chat.id)) found.push(external_id);
  expect(found).toEqual(['message-1']);
  expect(posting.calls()).toBe(2);

  const named = losingOne();
  expect((await named.flaky.chats.createChat({ external_id: 'ticket-3' })).chat_id).toBe(chat.id);
  const unnamed = losingOne();
  await expect(unnamed.flaky.chats.createChat()).rejects.toThrow('The service did not respond.');
  expect(unnamed.calls()).toBe(1);
});

it('client: errors of the chat API have the error code and the message of the response', async () => {
  const wrong = dragoman.chats.postMessage({ ...MESSAGE, chat_external_id: 'ticket-4', text: '' });
  const error: DragomanError = await wrong.then(
    () => expect.unreachable(),
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(DragomanError);
  expect(error).toMatchObject({ status: 400, code: 'validation_error', fields: [{ field: 'text' }] });
  const without = client({ key: (await server.createAccount()).production_key });
  await expect(without.chats.postMessage(MESSAGE)).rejects.toMatchObject({
    status: 402,
    code: 'invalid_subscription',
  });
  await expect(dragoman.chats.getMessage('nobody', 'nothing')).rejects.toMatchObject({ status: 404 });
});

it('client: verifyWebhook accepts the callback of a chat message', async () => {
  const receiver = await startReceiver();
  const callback_url = `${receiver.url}/chat`;
  const { message } = await dragoman.chats.postMessage({
    ...MESSAGE,
    external_id: 'delivered',
    callback_url,
  });
  const { headers, body } = await receiver.next();
  const verdict = await verifyWebhook({ secret: account.webhook_secret_production, headers, body });
  expect(verdict).toMatchObject({ ok: true });
  expect(headers['ce-id']).toBe(`chatapi-${message.id}`);
  await receiver.close();
});
