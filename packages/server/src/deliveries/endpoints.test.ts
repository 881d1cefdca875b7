/** Tests of webhook endpoints over HTTP, with receivers on the loopback. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountNamed, moveAccount } from '../access/accounts.ts';
import type { AccountCredentials } from '../accounts/accounts.ts';
import type { Transaction } from '../database/database.ts';
import {
  createClient,
  createPerson,
  type Received,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';
import { recordEvents } from './deliveries.ts';
import { MAX_ENDPOINTS } from './endpoint-schemas.ts';
import { parseSecret, type SignatureHeaders, verify } from './signature.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const HUMAN = '/tapi/v2/translation/';
const ENDPOINTS = '/api/v1/webhook-endpoints/';
const TEXT = { text: 'A house.', source_language: 'en', target_language: 'es' };

let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ settings: { DRAGOMAN_SANDBOX_HOLD: '0' } });
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});
beforeEach(() => receiver.answer(() => 200));

type Call = ReturnType<typeof createClient>;
const as = (account: AccountCredentials): Call => createClient(server.url, account.production_key);
const at = (path: string) => receiver.received.filter((one) => one.path === path);
const eventsAt = (path: string) => at(path).map(({ body }) => JSON.parse(body));

/** Registers an endpoint at a path of the receiver. @returns the endpoint with its secret */
async function register(call: Call, path: string, more: object = {}, prefix = '') {
  const body = { url: `${receiver.url}${path}`, ...more };
  const { status, body: made, text } = await call('POST', `${prefix}${ENDPOINTS}`, body);
  expect(status, text).toBe(201);
  return made;
}

async function completed(call: Call, uid: string, prefix = '', more: object = {}): Promise<void> {
  expect((await call('POST', `${prefix}${MACHINE}`, { ...TEXT, uid, ...more })).status).toBe(201);
  await waitForStatus(call, `${prefix}${MACHINE}${uid}/`);
}

async function send(call: Call, id: string, more: object = {}) {
  const message = { ...TEXT, chat_external_id: 'chat', external_id: id, text_format: 'text', ...more };
  const { status, body } = await call('POST', '/v2/chats/messages', message);
  expect(status).toBe(201);
  return body as { chat: { id: string }; message: { id: string } };
}

const deliveriesOf = async (call: Call, endpointId: string) =>
  (await call('GET', '/api/v1/deliveries/?limit=1000')).body.objects
    .filter(({ endpoint_id }: { endpoint_id?: string }) => endpoint_id === endpointId)
    .toReversed();

function isSignedWith(secret: string, { headers, body }: Received): boolean {
  return verify([parseSecret(secret)!], headers as unknown as SignatureHeaders, body, new Date()).ok;
}

describe('a webhook endpoint', () => {
  it('gets every event of its environment as the event feed shows it, signed with its own secret', async () => {
    const account = await server.createAccount({ chat: true, balanceCents: 10_000 });
    const call = as(account);
    const sandbox = createClient(server.url, account.sandbox_key);
    const endpoint = await register(call, '/all');
    const apart = await register(sandbox, '/all-sandbox', {}, '/sandbox');
    expect(apart.environment).toBe('sandbox');
    await completed(call, 'with', '', { callback_url: `${receiver.url}/all-callback` });
    await completed(call, 'without');
    await call('POST', HUMAN, { ...TEXT, uid: 'canceled' });
    expect((await call('DELETE', `${HUMAN}canceled/`)).status).toBe(200);
    await send(call, 'm1');
    await completed(sandbox, 'in-sandbox', '/sandbox');
    await until(() => at('/all').length === 4 && at('/all-sandbox').length === 1);

    const feed = (await call('GET', '/api/v1/events/')).body.objects;
    const inFeed = feed.map(({ delivery: _, ...event }: { delivery?: unknown }) => event);
    const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);
    expect(eventsAt('/all').sort(byId)).toEqual(inFeed.sort(byId));
    expect(eventsAt('/all-sandbox')).toMatchObject([{ type: 'job.completed', job: { uid: 'in-sandbox' } }]);
    const [callback] = at('/all-callback');
    for (const received of at('/all')) {
      expect(isSignedWith(endpoint.webhook_secret, received)).toBe(true);
      expect(isSignedWith(account.webhook_secret_production, received)).toBe(false);
      expect(received.headers['webhook-id']).not.toBe(callback!.headers['webhook-id']);
    }
    expect(isSignedWith(account.webhook_secret_production, callback!)).toBe(true);
    // The feed still shows the callback of an event, and not its delivery to an endpoint.
    expect(feed.filter(({ delivery }: { delivery?: unknown }) => delivery !== undefined)).toHaveLength(1);
    const job = await createPerson(server, { role: 'customer', account });
    const shown = async (uid: string) =>
      (await job.call('GET', `/api/account/jobs/${uid}`)).body.deliveries
        .map(({ endpoint_id }: { endpoint_id?: string }) => endpoint_id ?? 'callback')
        .sort();
    expect(await shown('with')).toEqual([endpoint.id, 'callback']);
    expect(await shown('canceled')).toEqual([endpoint.id]);
  });

  it('gets only the events of its filter, and no test events for other URLs', async () => {
    const account = await server.createAccount({ chat: true });
    const call = as(account);
    const { id } = await register(call, '/filtered', { events: ['message.translated'] });
    const all = await register(call, '/unfiltered');
    await completed(call, 'filtered');
    await call('POST', '/api/v1/test-event/', { url: `${receiver.url}/tested` });
    const { message } = await send(call, 'm1');
    await until(
      () => at('/filtered').length === 1 && at('/unfiltered').length === 2 && at('/tested').length === 1,
    );
    expect(eventsAt('/filtered')).toMatchObject([
      { type: 'message.translated', message: { id: message.id } },
    ]);
    expect(await deliveriesOf(call, all.id)).toHaveLength(2);
    const wider = { events: null, description: 'Shop' };
    expect((await call('PATCH', `${ENDPOINTS}${id}/`, wider)).body).toMatchObject(wider);
    await completed(call, 'wider');
    await until(() => at('/filtered').length === 2);
  });

  it('that fails delays neither callbacks nor other endpoints, and leaves messages as their callbacks do', async () => {
    const account = await server.createAccount({ chat: true });
    const call = as(account);
    const failing = await register(call, '/failing');
    await register(call, '/other');
    let isFailing = true;
    receiver.answer(({ path }) => (isFailing && path === '/failing' ? 500 : 200));
    const callback_url = `${receiver.url}/failing-callback`;
    const sent = [await send(call, 'm1', { callback_url })];
    await until(async () => (await deliveriesOf(call, failing.id))[0]?.last_status_code === 500);
    sent.push(await send(call, 'm2', { callback_url }));
    await until(() => at('/failing-callback').length === 2 && at('/other').length === 2);
    for (const { chat, message } of sent) {
      await until(async () => {
        const { body } = await call('GET', `/v2/chats/${chat.id}/messages/${message.id}`);
        return body.message.status === 'deliver_complete';
      });
    }
    // The second event of the chat waits for the first one at the failing endpoint.
    const [first, second] = await deliveriesOf(call, failing.id);
    expect([first.status, second.status, second.attempts]).toEqual(['pending', 'pending', 0]);
    isFailing = false;
    const person = await createPerson(server, { role: 'customer', account });
    expect((await person.call('POST', `/api/account/deliveries/${first.id}/replay`)).status).toBe(202);
    await until(async () =>
      (await deliveriesOf(call, failing.id)).every(
        ({ status }: { status: string }) => status === 'delivered',
      ),
    );
    const order = (path: string) => [...new Set(eventsAt(path).map(({ message }) => message.id))];
    expect(order('/failing')).toEqual(sent.map(({ message }) => message.id));
    expect(order('/other')).toEqual(order('/failing'));
  });

  it('whose message has no callback or a dead delivery leaves the status of the message', async () => {
    const account = await server.createAccount({ chat: true });
    const call = as(account);
    const { id } = await register(call, '/refusing');
    receiver.answer(({ path }) => (path === '/refusing' ? 410 : 200));
    const { chat, message } = await send(call, 'm1');
    await until(async () => (await deliveriesOf(call, id))[0]?.status === 'dead');
    const read = await call('GET', `/v2/chats/${chat.id}/messages/${message.id}`);
    expect(read.body.message.status).toBe('deliver_complete');
    const [{ id: delivery }] = await deliveriesOf(call, id);
    receiver.answer(() => 200);
    expect((await call('POST', `/api/v1/deliveries/${delivery}/replay/`)).status).toBe(202);
    await until(async () => (await deliveriesOf(call, id))[0].status === 'delivered');
    expect((await call('GET', `/v2/chats/${chat.id}/messages/${message.id}`)).body).toEqual(read.body);
  });

  it('that is disabled or deleted gets no further requests, and its pending deliveries end', async () => {
    const account = await server.createAccount();
    const call = as(account);
    const person = await createPerson(server, { role: 'customer', account });
    receiver.answer(() => 500);
    for (const [path, end] of [
      ['/disabled', (id: string) => call('PATCH', `${ENDPOINTS}${id}/`, { status: 'disabled' })],
      ['/deleted', (id: string) => call('DELETE', `${ENDPOINTS}${id}/`)],
    ] as const) {
      const { id } = await register(call, path);
      await completed(call, `before${path}`.replace('/', '-'));
      await until(async () => (await deliveriesOf(call, id))[0]?.last_status_code === 500);
      expect((await end(id)).status).toBeLessThan(300);
      const requests = at(path).length;
      const [pending] = await deliveriesOf(call, id);
      expect(pending.status).toBe('pending');
      await person.call('POST', `/api/account/deliveries/${pending.id}/replay`);
      const ended = await until(async () => {
        const [delivery] = await deliveriesOf(call, id);
        return delivery.status === 'dead' && delivery;
      });
      expect(ended).toMatchObject({ failure: 'endpoint disabled', attempts: pending.attempts });
      await completed(call, `after${path}`.replace('/', '-'));
      expect(await deliveriesOf(call, id)).toHaveLength(1);
      expect(at(path)).toHaveLength(requests);
      // A replay of the dead delivery also ends without a request.
      expect((await call('POST', `/api/v1/deliveries/${pending.id}/replay/`)).status).toBe(202);
      await until(async () => (await deliveriesOf(call, id))[0].status === 'dead');
      expect(at(path)).toHaveLength(requests);
    }
    // The customer ended these deliveries, so they count as no failure, and are not replayed with failed ones.
    const since = new Date(0).toISOString();
    const failed = await person.call(
      'GET',
      `/api/account/deliveries/failed?environment=production&since=${since}`,
    );
    expect(failed.body.failed).toBe(0);
    expect((await call('POST', '/api/v1/deliveries/replay/', { since })).body).toEqual({ replayed: 0 });
    receiver.answer(() => 200);
    const [{ id, status }] = (await call('GET', ENDPOINTS)).body.objects;
    expect(status).toBe('disabled');
    expect((await call('PATCH', `${ENDPOINTS}${id}/`, { status: 'active' })).body.status).toBe('active');
    await completed(call, 'enabled');
    await until(() => eventsAt('/disabled').some(({ job }) => job.uid === 'enabled'));
  });

  it('gets test events that are signed with its own secret, also while it is disabled', async () => {
    const account = await server.createAccount();
    const call = as(account);
    const person = await createPerson(server, { role: 'customer', account });
    const { id, webhook_secret: secret } = await register(call, '/own-test');
    const url = `${receiver.url}/own-test`;
    await call('PATCH', `${ENDPOINTS}${id}/`, { status: 'disabled' });
    await call('POST', '/api/v1/test-event/', { url });
    await person.call('POST', '/api/account/deliveries/test', { url, environment: 'production' });
    await until(() => at('/own-test').length === 2);
    // The sandbox has no endpoint with this URL, so the secret of its callbacks signs.
    await person.call('POST', '/api/account/deliveries/test', { url, environment: 'sandbox' });
    await until(() => at('/own-test').length === 3);
    const signed = [secret, account.webhook_secret_production, account.webhook_secret_sandbox].map((one) =>
      at('/own-test').map((received) => isSignedWith(one, received)),
    );
    expect(signed).toEqual([
      [true, true, false],
      [false, false, false],
      [false, false, true],
    ]);
    expect(eventsAt('/own-test').map(({ type }) => type)).toEqual(['test', 'test', 'test']);
    expect(await deliveriesOf(call, id)).toHaveLength(2);
  });

  it('that is deleted keeps no callback of its host behind the breaker', async () => {
    const account = await server.createAccount();
    const call = as(account);
    const { ref } = await accountNamed(server.database, account.username);
    const person = await createPerson(server, { role: 'customer', account });
    receiver.answer(() => 500);
    const { id } = await register(call, '/broken');
    await completed(call, 'broken');
    await until(async () => (await deliveriesOf(call, id))[0]?.last_status_code === 500);
    expect((await call('DELETE', `${ENDPOINTS}${id}/`)).status).toBe(204);
    const breakers = (name: string, text: string) =>
      server.database.query<{ open: boolean }>({ name, text }, [ref.accountId]);
    await breakers(
      'test.half_open',
      'update breakers set failures = 5, openings = 1, open_until = now() where account_id = $1',
    );
    const [{ id: delivery }] = await deliveriesOf(call, id);
    await person.call('POST', `/api/account/deliveries/${delivery}/replay`);
    await until(async () => (await deliveriesOf(call, id))[0].status === 'dead');
    const read = 'select open_until > now() as open from breakers where account_id = $1';
    expect(await breakers('test.breaker', read)).toEqual([{ open: false }]);
  });

  it('that is deleted while a delivery to it begins causes no alert about its secrets', async () => {
    const account = await server.createAccount();
    const call = as(account);
    const { ref } = await accountNamed(server.database, account.username);
    const { id } = await register(call, '/unsigned');
    // The sender sees this state if it reads the endpoint before the deletion, and the secrets after it.
    const text = 'delete from webhook_secrets where account_id = $1 and endpoint_id = $2';
    await server.database.query({ name: 'test.delete_secrets', text }, [ref.accountId, id]);
    await completed(call, 'unsigned');
    const ended = await until(async () => {
      const [delivery] = await deliveriesOf(call, id);
      return delivery?.status === 'dead' && delivery;
    });
    expect(ended).toMatchObject({ failure: 'endpoint disabled', attempts: 0 });
    expect(at('/unsigned')).toEqual([]);
  });

  it('of a suspended account waits until the account is resumed', async () => {
    const account = await server.createAccount();
    const call = as(account);
    await register(call, '/suspended');
    const named = await accountNamed(server.database, account.username);
    await moveAccount(server.database, 'command', named, 'suspend');
    await server.database.transaction((transaction) =>
      recordEvents(transaction, [
        {
          account: named.ref,
          environment: 'production',
          type: 'message.failed',
          subject: { kind: 'message', chatId: crypto.randomUUID(), messageId: crypto.randomUUID() },
        },
      ]),
    );
    await completed(as(await server.createAccount()), 'meanwhile', '', {
      callback_url: `${receiver.url}/meanwhile`,
    });
    await receiver.next(({ path }) => path === '/meanwhile');
    expect(at('/suspended')).toEqual([]);
    await moveAccount(server.database, 'command', named, 'resume');
    await until(() => at('/suspended').length === 1);
  });

  it('has a secret that rolls with an overlap, without changing the secret of callbacks', async () => {
    const account = await server.createAccount();
    const call = as(account);
    const { id, webhook_secret: before } = await register(call, '/rolled');
    const roll = (overlap: string) => call('POST', `${ENDPOINTS}${id}/roll/`, { overlap });
    const { webhook_secret: after } = (await roll('1h')).body;
    await completed(call, 'overlap', '', { callback_url: `${receiver.url}/rolled-callback` });
    await until(() => at('/rolled').length === 1 && at('/rolled-callback').length === 1);
    const [both] = at('/rolled');
    expect([before, after].map((secret) => isSignedWith(secret, both!))).toEqual([true, true]);
    expect(isSignedWith(account.webhook_secret_production, at('/rolled-callback')[0]!)).toBe(true);
    const last = (await roll('now')).body.webhook_secret;
    await completed(call, 'rolled');
    await until(() => at('/rolled').length === 2);
    const signed = [before, after, last].map((secret) => isSignedWith(secret, at('/rolled')[1]!));
    expect(signed).toEqual([false, false, true]);
    const person = await createPerson(server, { role: 'customer', account });
    const { objects } = (await person.call('GET', '/api/account/webhook-secrets')).body;
    expect(objects).toHaveLength(2);
  });
});

describe('a request for a webhook endpoint', () => {
  it.each([
    [
      { url: 'http://10.0.0.1/x' },
      'url: This URL must point to a public address, not a private or reserved one.',
    ],
    [{ url: 'ftp://example.com/' }, 'url: This URL must begin with http:// or https://.'],
    [{}, 'url: This field is required.'],
    [{ url: 'https://example.com/', events: ['test'] }, /^events: "test" is not one of job\.completed, /],
    [{ url: 'https://example.com/', events: [] }, 'events: must be a list of 1 to 7 items.'],
    [{ url: 'https://example.com/', description: 'two\nlines' }, 'description: must be a text of one line.'],
  ])('is refused and names the field when it is invalid: %j', async (body, expected) => {
    const call = as(await server.createAccount());
    const { status, body: refused } = await call('POST', ENDPOINTS, body);
    expect(status).toBe(400);
    expect(refused.error).toMatch(expected);
    expect((await call('GET', ENDPOINTS)).body.objects).toEqual([]);
  });

  it('is refused when the URL is registered or the environment has too many endpoints, even at the same moment', async () => {
    const account = await server.createAccount();
    const call = as(account);
    const tried = Array.from({ length: MAX_ENDPOINTS + 2 }, (_, n) =>
      call('POST', ENDPOINTS, { url: `https://example.com/${n}` }),
    );
    const refused = (await Promise.all(tried)).filter(({ status }) => status !== 201);
    const full = `url: cannot be registered, because there are ${MAX_ENDPOINTS} webhook endpoints already.`;
    expect(refused.map(({ status, body }) => [status, body.error])).toEqual([
      [400, full],
      [400, full],
    ]);
    const { objects } = (await call('GET', ENDPOINTS)).body;
    expect(objects).toHaveLength(MAX_ENDPOINTS);
    const [one, other] = objects;
    const again = await call('POST', ENDPOINTS, { url: one.url });
    const exists = 'url: is already registered as a webhook endpoint.';
    expect([again.status, again.body.error]).toEqual([400, exists]);
    const moved = await call('PATCH', `${ENDPOINTS}${other.id}/`, { url: one.url });
    expect([moved.status, moved.body.error]).toEqual([400, exists]);
    // The same URL may be registered in the other environment, and an endpoint may keep its own URL.
    const sandbox = createClient(server.url, account.sandbox_key);
    expect((await sandbox('POST', `/sandbox${ENDPOINTS}`, { url: one.url })).status).toBe(201);
    expect((await call('PATCH', `${ENDPOINTS}${one.id}/`, { url: one.url })).status).toBe(200);
    expect((await call('GET', `${ENDPOINTS}${one.id.toUpperCase()}/`)).body).toEqual(one);
    const twice = { events: ['job.failed', 'job.failed'] };
    expect((await call('PATCH', `${ENDPOINTS}${one.id}/`, twice)).body.events).toEqual(['job.failed']);
    const foreign = await sandbox('GET', `/sandbox${ENDPOINTS}${one.id}/`);
    expect(foreign.status).toBe(404);
  });

  it.each(['created and deleted', 'changed', 'given new secrets'])(
    'cannot be %s without limit by an API key, because each time leaves an audit entry',
    async (what) => {
      const call = as(await server.createAccount());
      const { id } = await register(call, '/limited');
      const statuses: number[] = [];
      for (let n = 0; n < 125 && !statuses.includes(429); n++) {
        if (what === 'changed') {
          statuses.push((await call('PATCH', `${ENDPOINTS}${id}/`, { description: `${n}` })).status);
        } else if (what === 'given new secrets') {
          statuses.push((await call('POST', `${ENDPOINTS}${id}/roll/`, { overlap: 'now' })).status);
        } else {
          const made = await call('POST', ENDPOINTS, { url: `https://example.com/${n}` });
          statuses.push(made.status);
          if (made.status === 201) await call('DELETE', `${ENDPOINTS}${made.body.id}/`);
        }
      }
      expect(statuses.slice(0, 99)).not.toContain(429);
      expect(statuses).toContain(429);
      // A change that changes nothing leaves no entry, and is not counted.
      expect((await call('PATCH', `${ENDPOINTS}${id}/`, { status: 'active' })).status).toBe(200);
    },
  );

  it('disables an endpoint with a URL that is not allowed any more', async () => {
    const account = await server.createAccount();
    const call = as(account);
    const { id } = await register(call, '/refused-now');
    const url = 'http://10.0.0.1/';
    const text = 'update webhook_endpoints set url = $1 where endpoint_id = $2';
    await server.database.query({ name: 'test.refused_now', text }, [url, id]);
    const change = { url, status: 'disabled' };
    expect((await call('PATCH', `${ENDPOINTS}${id}/`, change)).body).toMatchObject(change);
    expect((await call('PATCH', `${ENDPOINTS}${id}/`, { url: `${url}x` })).status).toBe(400);
  });

  it('by a user is recorded in the audit without the URL', async () => {
    const account = await server.createAccount();
    const person = await createPerson(server, { role: 'customer', account });
    const own = '/api/account/webhook-endpoints';
    const url = 'https://example.com/token-in-url';
    const made = await person.call('POST', own, { environment: 'sandbox', url });
    expect(made.status).toBe(201);
    const { id } = made.body;
    const change = { url: `${url}-2`, status: 'disabled' };
    expect((await person.call('PATCH', `${own}/${id}`, change)).body).toMatchObject(change);
    expect((await person.call('DELETE', `${own}/${id}`)).status).toBe(204);
    const operator = await createPerson(server, { role: 'operator' });
    const audit = await operator.call(
      'GET',
      `/api/console/audit?account=${account.username}&action=endpoint`,
    );
    expect(audit.text).not.toContain('token-in-url');
    expect(audit.text.match(/endpoint\.\w+/g)).toEqual(
      ['deleted', 'disabled', 'changed', 'created'].map((done) => `endpoint.${done}`),
    );
  });
});

it('changes of webhook endpoints by an API key are recorded, and lists name the key that set the URL', async () => {
  const account = await server.createAccount();
  const call = as(account);
  const person = await createPerson(server, { role: 'customer', account });
  const operator = await createPerson(server, { role: 'operator' });
  const { id, key_id } = await register(call, '/by-key');
  const keys = (await person.call('GET', '/api/account/keys')).body.objects;
  expect(keys.find(({ environment }: { environment: string }) => environment === 'production').key_id).toBe(
    key_id,
  );
  const own = '/api/account/webhook-endpoints';
  const renamed = await person.call('PATCH', `${own}/${id}`, { description: 'Shop' });
  expect(renamed.body).toMatchObject({ description: 'Shop', key_id });
  const console = `/api/console/accounts/${account.username}`;
  const listed = (await operator.call('GET', `${console}/webhook-endpoints`)).body;
  expect(listed).toEqual((await person.call('GET', own)).body);
  expect(listed.objects).toEqual([renamed.body]);
  const moved = await person.call('PATCH', `${own}/${id}`, { url: `${receiver.url}/by-user` });
  expect(moved.body.key_id).toBeNull();
  await call('PATCH', `${ENDPOINTS}${id}/`, { events: ['job.failed'] });
  await call('POST', `${ENDPOINTS}${id}/roll/`, { overlap: 'now' });
  await call('DELETE', `${ENDPOINTS}${id}/`);
  const { entries } = (await operator.call('GET', `/api/console/audit?account=${account.username}`)).body;
  const byKey = entries.filter(({ actor }: { actor: string }) => actor === 'key').toReversed();
  expect(byKey.map(({ action, name }: { action: string; name: string }) => [action, name])).toEqual(
    ['endpoint.created', 'endpoint.changed', 'webhook_secret.rolled', 'endpoint.deleted'].map((action) => [
      action,
      key_id,
    ]),
  );
});

it('recording an event takes one statement, with and without webhook endpoints', async () => {
  const account = await server.createAccount();
  const { ref } = await accountNamed(server.database, account.username);
  const record = () =>
    server.database.transaction(async (transaction) => {
      const names: string[] = [];
      const counting = new Proxy(transaction, {
        get: (target, name) =>
          name === 'query'
            ? (...given: Parameters<Transaction['query']>) => {
                names.push(given[0].name);
                return target.query(...given);
              }
            : Reflect.get(target, name),
      });
      await recordEvents(counting, [
        { account: ref, environment: 'production', type: 'message.failed', subject: { kind: 'none' } },
      ]);
      return names;
    });
  expect(await record()).toEqual(['deliveries.insert_events']);
  await register(as(account), '/counted');
  expect(await record()).toEqual(['deliveries.insert_events']);
  await until(() => at('/counted').length === 1);
});
