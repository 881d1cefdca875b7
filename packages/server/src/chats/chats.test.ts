/** Tests of the chat interface over HTTP: creating and reading messages, refused requests, and callbacks. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { uuidv7 } from '../base/ids.ts';
import { saveBrand } from '../brands/brands.ts';
import { parseSecret, type SignatureHeaders, verify } from '../deliveries/signature.ts';
import {
  type Answer,
  createClient,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { subscribe } from './chats.ts';
import * as store from './store.ts';

const MESSAGES = '/v2/chats/messages';
const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/);
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

let server: TestServer;
let engine: FakeEngine;
let receiver: Receiver;
let credentials: AccountCredentials;
let call: ReturnType<typeof createClient>;
beforeAll(async () => {
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      return engine;
    },

    settings: { DRAGOMAN_PUBLIC_URL: 'https://translate.example', DRAGOMAN_VENDOR: 'acme' },
  });
  receiver = await startReceiver();
  credentials = await server.createAccount({ chat: true });
  call = createClient(server.url, credentials.production_key);
});
afterAll(async () => {
  await receiver.close();
  await server.stop();
});

let chats = 0;
const newChat = () => `chat-${++chats}`;
const message = (fields: Record<string, unknown> = {}) => ({
  chat_external_id: newChat(),
  external_id: 'm1',
  source_language: 'en',
  target_language: 'es',
  text: 'Where is the house?',
  text_format: 'text',
  ...fields,
});

/** Waits until a created message has the status, and returns the answer that shows it. */
function settled(created: Answer, status: string, by = call, prefix = ''): Promise<Answer> {
  const { chat, message: made } = created.body;
  return until(async () => {
    const read = await by('GET', `${prefix}/v2/chats/${chat.id}/messages/${made.id}`);
    return read.body?.message.status === status && read;
  });
}

it('change notifications for chats and messages are published only when an insert created rows', async () => {
  const { ref: account } = await accountNamed(server.database, credentials.username);
  const environment = 'sandbox';
  const chat = {
    account,
    environment,
    externalId: newChat(),
    agentExternalId: undefined,
    brand: undefined,
  } as const;
  let published = 0;
  const unsubscribe = server.database.onChanges((changes) => {
    published += changes.length;
  });
  const create = () =>
    server.database.transaction(async (transaction) => {
      const [held] = await store.findOrCreateChats(transaction, [{ ...chat, chatId: uuidv7() }]);
      const made = {
        ...chat,
        messageId: uuidv7(),
        chatId: held!.chat_id,
        externalId: 'm1',
        authorExternalId: undefined,
        callbackUrl: undefined,
        isInbound: undefined,
        sourceLanguage: 'en',
        targetLanguage: 'es',
        textFormat: 'text',
        text: 'House.',
        defaultBrand: undefined,
        documentSettings: undefined,
        translationId: uuidv7(),
        status: 'mt_init',
        leaseToken: uuidv7(),
      } as const;
      await store.insertMessages(transaction, [made], 3600);
    });
  await create();
  expect(published).toBe(2);
  await create();
  expect(published).toBe(2);
  unsubscribe();
});

describe('POST /v2/chats/messages', () => {
  it('creates a chat and a message, then another message in the chat (201), and reads both back (200)', async () => {
    const chat_external_id = newChat();
    const first = await call('POST', MESSAGES, message({ chat_external_id }));
    expect(first.status).toBe(201);
    expect(first.body).toEqual({
      chat: {
        id: UUID,
        external_id: chat_external_id,
        agent_external_id: null,
        brand: null,
        creation_date: TIME,
      },
      message: {
        id: UUID,
        chat_id: first.body.chat.id,
        external_id: 'm1',
        author_external_id: null,
        is_inbound: null,
        source_language: 'en',
        target_language: 'es',
        text: 'Where is the house?',
        text_format: 'text',
        translation_uid: UUID,
        status: 'mt_init',
        creation_date: TIME,
      },
    });
    const second = await call('POST', MESSAGES, message({ chat_external_id, external_id: 'm2' }));
    expect(second.status).toBe(201);
    expect(second.body.chat).toEqual(first.body.chat);
    expect(second.body.message.id).not.toBe(first.body.message.id);
    await settled(first, 'deliver_complete');
    const again = await call('POST', MESSAGES, message({ chat_external_id }));
    expect(again.status).toBe(200);
    expect(again.body).toEqual({
      chat: first.body.chat,
      message: {
        ...first.body.message,
        status: 'deliver_complete',
        translated_text: 'WHERE IS THE HOUSE?',
        completion_date: TIME,
      },
    });
  });

  it('returns brand, agent, author and direction as in the request, and treats null fields as absent', async () => {
    const told = { brand: 'shop', agent_external_id: 'agent@example.com' };
    const of = { is_inbound: false, author_external_id: 'agent@example.com' };
    const made = await call('POST', MESSAGES, message({ ...told, ...of, ignored: 1 }));
    expect(made.body.chat).toMatchObject(told);
    expect(made.body.message).toMatchObject(of);
    const none = { callback_url: null, brand: null, is_inbound: null, author_external_id: null };
    expect((await call('POST', MESSAGES, message(none))).status).toBe(201);
  });

  it('returns the first message and chat unchanged when a request repeats the external ids with other values', async () => {
    const chat_external_id = newChat();
    const first = await call('POST', MESSAGES, message({ chat_external_id, brand: 'one' }));
    const other = { chat_external_id, brand: 'two', text: 'Another text.', target_language: 'nowhere' };
    const again = await call('POST', MESSAGES, message(other));
    expect(again.status).toBe(200);
    expect(again.body.chat).toEqual(first.body.chat);
    expect(again.body.message).toMatchObject({ text: 'Where is the house?', target_language: 'es' });
    const next = await call('POST', MESSAGES, message({ chat_external_id, brand: 'two', external_id: 'm2' }));
    expect(next.body.chat.brand).toBe('one');
  });

  it.each(['/v2/chats/messages/', '//v2/chats//messages'])(
    'is also answered at the path %s',
    async (path) => {
      expect((await call('POST', path, message())).status).toBe(201);
    },
  );

  it('keeps messages of production and sandbox apart', async () => {
    const sandbox = createClient(server.url, credentials.sandbox_key);
    const body = message();
    const live = await call('POST', MESSAGES, body);
    const tried = await sandbox('POST', `/sandbox${MESSAGES}`, body);
    expect([live.status, tried.status]).toEqual([201, 201]);
    expect(tried.body.chat.id).not.toBe(live.body.chat.id);
    await settled(tried, 'deliver_complete', sandbox, '/sandbox');
    const path = `/v2/chats/${tried.body.chat.id}/messages/${tried.body.message.id}`;
    expect((await call('GET', path)).status).toBe(404);
    expect((await sandbox('GET', path)).status).toBe(401);
  });

  it('translates the text of HTML and leaves the markup unchanged', async () => {
    const text = '<p class="x">The <b>house</b>.<br></p>\n<span class="notranslate" origval="{n}">7</span>';
    const made = await call('POST', MESSAGES, message({ text, text_format: 'html' }));
    const { body } = await settled(made, 'deliver_complete');
    expect(body.message.translated_text).toBe(
      '<p class="x">THE <b>HOUSE</b>.<br></p>\n<span class="notranslate" origval="{n}">{n}</span>',
    );
  });

  it('returns the text unchanged when nothing in it can be translated', async () => {
    const made = await call('POST', MESSAGES, message({ text: ':-) 42' }));
    expect((await settled(made, 'deliver_complete')).body.message.translated_text).toBe(':-) 42');
  });

  it('accepts 20,000 characters, where an emoji counts as one, and refuses 20,001', async () => {
    const text = '🙂'.repeat(20_000);
    expect((await call('POST', MESSAGES, message({ text }))).status).toBe(201);
    const longer = await call('POST', MESSAGES, message({ text: `${text}x` }));
    expect(longer.status).toBe(400);
    expect(longer.body.error.message).toBe('text: must be at most 20000 characters.');
  });
});

describe('the chat interface refuses', () => {
  it.each(['\0', '\ufffe', '\uffff', '\ufdd0', '\u{2ffff}'])(
    'the unusable character %j in any field',
    async (unusable) => {
      for (const field of ['chat_external_id', 'external_id', 'text', 'callback_url', 'agent_external_id']) {
        const answer = await call('POST', MESSAGES, message({ [field]: `a${unusable}b` }));
        expect([answer.status, answer.body.error?.message]).toEqual([
          400,
          `${field}: must not contain NUL characters, noncharacters such as U+FFFF, or half surrogate pairs.`,
        ]);
      }
    },
  );

  it('several invalid fields with one error message', async () => {
    const wrong = {
      chat_external_id: 7,
      external_id: ' ',
      source_language: null,
      text: '\0',
      text_format: 'srt',
      callback_url: ['x'],
      brand: 'x'.repeat(513),
      is_inbound: 'yes',
    };
    const answer = await call('POST', MESSAGES, wrong);
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe('validation_error');
    expect(answer.body.error.message.split('\n')).toEqual([
      'chat_external_id: must be a string.',
      'external_id: must not be empty.',
      'source_language: This field is required.',
      'target_language: This field is required.',
      'text: must not contain NUL characters, noncharacters such as U+FFFF, or half surrogate pairs.',
      'text_format: "srt" is not one of html, text.',
      'callback_url: must be a string.',
      'brand: must be at most 512 characters.',
      'is_inbound: must be true or false.',
    ]);
  });

  it.each([
    ['no JSON', '{', /^body: must be valid JSON/],
    ['a list', [], /^body: must be a JSON object/],
    [
      'a language that is not offered',
      message({ target_language: 'xx' }),
      /^target_language: "xx" is not off/,
    ],
    [
      'a pair that is not offered',
      message({ source_language: 'es' }),
      /^source_language: "es" into es is not/,
    ],
    ['an address that may not be reached', message({ callback_url: 'http://10.0.0.1/' }), /^callback_url: /],
    ['white space', message({ text: ' \n' }), /^text: must not be empty/],
    ['no format', message({ text_format: undefined }), /^text_format: This field is required/],
  ])('a request with %s, with the code validation_error', async (_, body, reason) => {
    const answer = await call('POST', MESSAGES, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      error: { code: 'validation_error', message: expect.stringMatching(reason) },
    });
  });

  it('requests to read (403) or create (402) messages when the account has no chat subscription', async () => {
    const { username, production_key } = await server.createAccount({ chat: true });
    const customer = createClient(server.url, production_key);
    const made = await customer('POST', MESSAGES, message());
    await subscribe(server.database, (await accountNamed(server.database, username)).ref, undefined);
    const refused = {
      error: { code: 'invalid_subscription', message: 'The account has no chat subscription.' },
    };
    for (const [path, body] of [
      [MESSAGES, message()],
      [MESSAGES, message({ chat_external_id: made.body.chat.external_id, external_id: 'm2' })],
      ['/chats', {}],
    ] as const) {
      const answer = await customer('POST', path, body);
      expect([answer.status, answer.body]).toEqual([402, refused]);
    }
    const { chat, message: one } = made.body;
    for (const path of [
      `/v2/chats/${chat.id}/messages/${one.id}`,
      `/chats/${chat.id}/messages`,
      '/chats/x/messages',
    ]) {
      const answer = await customer('GET', path);
      expect([answer.status, answer.text], path).toEqual([403, '']);
    }
    await subscribe(server.database, (await accountNamed(server.database, username)).ref, { pairs: null });
    expect((await customer('GET', `/chats/${chat.id}/messages`)).body.length).toBe(1);
  });

  it('a language pair outside the subscription with 402', async () => {
    const { username, production_key } = await server.createAccount();
    await subscribe(server.database, (await accountNamed(server.database, username)).ref, {
      pairs: ['es-en'],
    });
    const customer = createClient(server.url, production_key);
    const answer = await customer('POST', MESSAGES, message());
    expect(answer.status).toBe(402);
    expect(answer.body.error).toEqual({
      code: 'invalid_subscription',
      message: 'The pair en-es is not in the account’s chat subscription.',
    });
    const other = message({ source_language: 'es', target_language: 'en' });
    expect((await customer('POST', MESSAGES, other)).status).toBe(201);
  });

  it('wrong credentials with 401 and plain text, other methods with 405 and Allow, writes of a read-only key with 403', async () => {
    const nobody = await createClient(server.url, 'nobody:x')('POST', MESSAGES, message());
    expect([nobody.status, nobody.body]).toEqual([401, { error: 'Unauthorized' }]);
    const put = await call('PUT', MESSAGES, {});
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('unknown ids, ids of another chat and ids of another account with the same empty 404', async () => {
    const [one, two] = [await call('POST', MESSAGES, message()), await call('POST', MESSAGES, message())];
    const stranger = await server.createAccount({ chat: true });
    const of = createClient(server.url, stranger.production_key);
    const own = `/v2/chats/${one.body.chat.id}/messages/${one.body.message.id}`;
    const unknown = '00000000-0000-7000-8000-000000000000';
    const answers = [
      await call('GET', `/v2/chats/${one.body.chat.id}/messages/${unknown}`),
      await call('GET', `/v2/chats/${one.body.chat.id}/messages/${two.body.message.id}`),
      await call('GET', '/v2/chats/x/messages/y'),
      await call('GET', `/chats/${unknown}/messages`),
      await of('GET', own),
      await of('GET', `/chats/${one.body.chat.id}/messages`),
    ];
    for (const { status, text } of answers) expect([status, text]).toEqual([404, '']);
    expect((await call('GET', own)).status).toBe(200);
  });

  it('a valid request with server_error when the insert into the database fails', async () => {
    const planted = message({ external_id: 'fault' });
    const owner = new (await import('pg')).default.Client(server.connection);
    await owner.connect();
    await owner.query('revoke insert on messages from dragoman_app');
    const answer = await call('POST', MESSAGES, planted);
    await owner.query('grant insert on messages to dragoman_app');
    await owner.end();
    expect([answer.status, answer.body.error.code]).toEqual([500, 'server_error']);
    expect((await call('POST', MESSAGES, planted)).status).toBe(201);
  });
});

describe('POST /chats', () => {
  it('creates a chat with the external id of the request or a generated one, and returns it unchanged when the request is repeated', async () => {
    const external_id = newChat();
    const made = await call('POST', '/chats', {
      external_id,
      agent_external_id: 'a@example.com',
      brand: 'shop',
    });
    expect(made.status).toBe(200);
    expect(made.body).toEqual({
      chat_id: UUID,
      created_at: TIME,
      external_id,
      agent_external_id: 'a@example.com',
    });
    const again = await call('POST', '/chats/', { external_id, agent_external_id: 'b@example.com' });
    expect([again.status, again.body]).toEqual([200, made.body]);
    const first = await call('POST', MESSAGES, message({ chat_external_id: external_id, brand: 'other' }));
    expect([first.status, first.body.chat.id, first.body.chat.brand]).toEqual([
      201,
      made.body.chat_id,
      'shop',
    ]);
    const assigned = await call('POST', '/chats');
    expect(assigned.body).toEqual({
      chat_id: UUID,
      created_at: TIME,
      external_id: UUID,
      agent_external_id: null,
    });
    const wrong = await call('POST', '/chats', { external_id: 1, brand: {} });
    expect(wrong.body.error.message).toBe('external_id: must be a string.\nbrand: must be a string.');
  });
});

describe('GET /chats/:chat_id/messages', () => {
  it('lists messages in the order of creation, beginning at the requested index, which is 1 for the first message', async () => {
    const chat_external_id = newChat();
    let chat = '';
    for (let n = 1; n <= 5; n++) {
      const made = await call('POST', MESSAGES, message({ chat_external_id, external_id: `m${n}` }));
      // Sends each message again. The repeated request must not add a message to the chat.
      await call('POST', MESSAGES, message({ chat_external_id, external_id: `m${n}` }));
      chat = made.body.chat.id;
    }
    const list = async (query: string) => (await call('GET', `/chats/${chat}/messages${query}`)).body;
    const ids = (body: { messages: { external_id: string }[] }) =>
      body.messages.map((one) => one.external_id);
    const all = await list('');
    expect(all).toMatchObject({ length: 5, index: 1, limit: 50 });
    expect(ids(all)).toEqual(['m1', 'm2', 'm3', 'm4', 'm5']);
    const some = await list('/?index=2&limit=3&other=x');
    expect(some).toMatchObject({ length: 5, index: 2, limit: 3 });
    expect(ids(some)).toEqual(['m2', 'm3', 'm4']);
    expect(ids(await list('?index=6'))).toEqual([]);
    const wrong = await call('GET', `/chats/${chat}/messages?index=0&limit=1001`);
    expect([wrong.status, wrong.body.error]).toEqual([
      400,
      {
        code: 'validation_error',
        message:
          'limit: must be a whole number from 1 to 1000.\nindex: must be a whole number from 1 to 2147483647.',
      },
    ]);
  });
});

describe('the chat callback', () => {
  it('is a signed CloudEvent with the translated message', async () => {
    const made = await call(
      'POST',
      MESSAGES,
      message({ callback_url: `${receiver.url}/event`, is_inbound: true }),
    );
    const { headers, body } = await receiver.next(({ path }) => path === '/event');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'ce-type': 'com.acme.chat-api.v2',
      'ce-specversion': '1.0',
      'ce-source': 'https://translate.example',
      'ce-id': `chatapi-${made.body.message.id}`,
      'ce-datacontenttype': 'application/json',
      'ce-time': TIME,
    });
    const signed = headers as unknown as SignatureHeaders;
    const secret = parseSecret(credentials.webhook_secret_production)!;
    expect(verify([secret], signed, body, new Date()).ok).toBe(true);
    expect(JSON.parse(body)).toEqual({
      chat: made.body.chat,
      message: {
        ...made.body.message,
        status: 'deliver_init',
        translated_text: 'WHERE IS THE HOUSE?',
        completion_date: headers['ce-time'],
      },
    });
    await settled(made, 'deliver_complete');
  });

  it('carries a translation made with the chat’s brand, or with the default brand when the chat’s brand is unknown', async () => {
    const { username, production_key } = await server.createAccount({ chat: true });
    const { ref } = await accountNamed(server.database, username);
    for (const [external_id, source, isDefault] of [
      ['usual', 'house', true],
      ['shop', 'door', false],
    ] as const) {
      const term = {
        source,
        target: `${external_id} word`,
        caseSensitive: false,
        forbidden: false,
        doNotTranslate: false,
      };
      const languages = new Map([['es', { tone: undefined, instructions: undefined, terms: [term] }]]);
      const brand = { externalId: external_id, name: external_id, default: isDefault, languages };
      await saveBrand(server.database, 'command', ref, brand, false);
    }
    const customer = createClient(server.url, production_key);
    const translated = async (brand: string | null) => {
      const made = await customer('POST', MESSAGES, message({ brand, text: 'The house, the door.' }));
      return (await settled(made, 'deliver_complete', customer)).body.message.translated_text;
    };
    expect(await translated('shop')).toBe('THE HOUSE, THE shop word.');
    expect(await translated('a word of the platform')).toBe('THE usual word, THE DOOR.');
    expect(await translated(null)).toBe('THE usual word, THE DOOR.');
  });

  it('names the sandbox’s URL as ce-source when the message was sent in the sandbox', async () => {
    const sandbox = createClient(server.url, credentials.sandbox_key);
    await sandbox('POST', `/sandbox${MESSAGES}`, message({ callback_url: `${receiver.url}/sandbox` }));
    const { headers } = await receiver.next(({ path }) => path === '/sandbox');
    expect(headers['ce-source']).toBe('https://translate.example/sandbox');
  });

  it('reports mt_failed without a translation when a message cannot be translated', async () => {
    engine.failOn('unspeakable', 'too long');
    const made = await call(
      'POST',
      MESSAGES,
      message({ text: 'unspeakable', callback_url: `${receiver.url}/failed` }),
    );
    const { body } = await receiver.next(({ path }) => path === '/failed');
    engine.failOn(null);
    expect(JSON.parse(body).message).toEqual({ ...made.body.message, status: 'mt_failed' });
    const read = await settled(made, 'mt_failed');
    expect(read.body.message).not.toHaveProperty('translated_text');
  });

  it('delivers a message of which an engine could not translate some segments, with their number', async () => {
    engine.failOn('unspeakable', 'too long');
    const text = 'Where is it?\nunspeakable\nunspeakable too';
    const made = await call('POST', MESSAGES, message({ text, callback_url: `${receiver.url}/some` }));
    const { body } = await receiver.next(({ path }) => path === '/some');
    engine.failOn(null);
    const result = { translated_text: 'WHERE IS IT?\nunspeakable\nunspeakable too', untranslated: 2 };
    expect(JSON.parse(body).message).toMatchObject({ status: 'deliver_init', ...result });
    const { body: read } = await settled(made, 'deliver_complete');
    expect(read.message).toMatchObject(result);
    const listed = await call('GET', `/chats/${made.body.chat.id}/messages`);
    expect(listed.body.messages).toMatchObject([result]);
  });

  it('reports mt_failed when every translated segment failed, also if others are kept', async () => {
    engine.failOn('unspeakable', 'too long');
    const text = `unspeakable\n${'これは日本語の長い文章です。'.repeat(4)}`;
    const made = await call('POST', MESSAGES, message({ text }));
    await settled(made, 'mt_failed');
    engine.failOn(null);
  });

  it('leaves the message in the status deliver_failed, with a readable translation, when the receiver answers 410', async () => {
    receiver.answer(({ path }) => (path === '/gone' ? 410 : 200));
    const made = await call('POST', MESSAGES, message({ callback_url: `${receiver.url}/gone` }));
    const read = await settled(made, 'deliver_failed');
    expect(read.body.message.translated_text).toBe('WHERE IS THE HOUSE?');
  });
});

it('chat routes are served at the sandbox’s own host without a path prefix, and events name that host in ce-source', async () => {
  await server.restart({ DRAGOMAN_SANDBOX_URL: 'https://sandbox.example' });
  const made = await server.server.app!.inject({
    method: 'POST',
    url: MESSAGES,
    headers: { host: 'sandbox.example', authorization: `ApiKey ${credentials.sandbox_key}` },
    payload: message({ callback_url: `${receiver.url}/own-host` }),
  });
  expect(made.statusCode).toBe(201);
  const { headers } = await receiver.next(({ path }) => path === '/own-host');
  expect(headers['ce-source']).toBe('https://sandbox.example');
});
