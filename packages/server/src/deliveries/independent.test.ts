/** Tests that check signatures and events with third-party libraries, as receivers do. */
import { type CloudEvent, HTTP } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountCredentials } from '../accounts/accounts.ts';
import {
  createClient,
  type Received,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
} from '../testing/harness.ts';
import { sign } from './signature.ts';

let server: TestServer;
let receiver: Receiver;
let account: AccountCredentials;
let job: Received;
let message: Received;

beforeAll(async () => {
  server = await startTestServer();
  receiver = await startReceiver();
  account = await server.createAccount({ chat: true });
  const call = createClient(server.url, account.production_key);
  const languages = { source_language: 'en', target_language: 'es' };
  await call('POST', '/tapi/v2/mt_translation/', {
    ...languages,
    text: 'The ünïcode house is big.',
    callback_url: `${receiver.url}/job`,
  });
  await call('POST', '/v2/chats/messages', {
    ...languages,
    chat_external_id: 'chat',
    external_id: 'message',
    text: 'The train is late. 🚂',
    text_format: 'text',
    callback_url: `${receiver.url}/message`,
  });
  job = await receiver.next(({ path }) => path === '/job');
  message = await receiver.next(({ path }) => path === '/message');
});
afterAll(async () => {
  await receiver.close();
  await server.stop();
});

const headersOf = ({ headers }: Received) => headers as Record<string, string>;

describe("a callback's signature, checked with the Standard Webhooks library", () => {
  const library = () => new Webhook(account.webhook_secret_production);

  it('is valid for a job and for a chat message', () => {
    for (const one of [job, message]) {
      expect(library().verify(one.body, headersOf(one))).toEqual(JSON.parse(one.body));
    }
  });

  it('is invalid for other bytes, another secret or another id', () => {
    const others: [Webhook, string, Record<string, string>][] = [
      [library(), `${job.body} `, headersOf(job)],
      [new Webhook(account.webhook_secret_sandbox), job.body, headersOf(job)],
      [library(), job.body, { ...headersOf(job), 'webhook-id': headersOf(message)['webhook-id']! }],
    ];
    for (const [webhook, body, headers] of others) expect(() => webhook.verify(body, headers)).toThrow();
  });

  it('is identical to the signature that the library itself creates', () => {
    const at = new Date();
    const seconds = Math.floor(at.getTime() / 1000);
    const secret = Buffer.from(account.webhook_secret_production.slice('whsec_'.length), 'base64');
    expect(sign([secret], 'msg_1', seconds, job.body)).toBe(library().sign('msg_1', at, job.body));
  });
});

it('the CloudEvents library reads the event of a chat message', () => {
  const event = HTTP.toEvent({ headers: headersOf(message), body: message.body });
  if (Array.isArray(event)) throw new Error('one event was sent');
  expect((event as CloudEvent<unknown>).validate()).toBe(true);
  expect(event).toMatchObject({
    specversion: '1.0',
    type: 'com.dragoman.chat-api.v2',
    id: `chatapi-${JSON.parse(message.body).message.id}`,
    datacontenttype: 'application/json',
    data: JSON.parse(message.body),
  });
});
