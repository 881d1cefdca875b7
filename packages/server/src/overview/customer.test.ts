/**
 * Tests the pages of a customer's account in the web app. `tenants.test.ts` tests the separation of accounts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { webhookSecrets } from '../access/webhook-secrets.ts';
import { listAudit } from '../audit/audit.ts';
import { parseBrand } from '../brands/brand.ts';
import { saveBrand } from '../brands/brands.ts';
import { statement } from '../database/statements.ts';
import {
  createBrowser,
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    settings: {
      DRAGOMAN_SANDBOX_HOLD: '0',
      DRAGOMAN_PRICE_MACHINE: '2',
      DRAGOMAN_PRICE_HUMAN: '3',
      // The second attempt of a callback comes after an hour, so no test sees it.
      DRAGOMAN_CALLBACK_SCHEDULE: '3600',
    },
  });
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const job = (uid: string) => ({
  uid,
  text: 'The house is big.',
  source_language: 'en',
  target_language: 'es',
});

interface Customer extends TestPerson {
  /** Calls the API with the account's production key. */
  program: ReturnType<typeof createClient>;
  finish(uid: string, callback?: string): Promise<void>;
}

async function createCustomer(balanceCents = 0): Promise<Customer> {
  const account = await server.createAccount({ balanceCents, chat: true });
  const person = await createPerson(server, { role: 'customer', account });
  const program = createClient(server.url, account.production_key);
  return {
    ...person,
    program,
    async finish(uid, callback) {
      const address = callback === undefined ? {} : { callback_url: callback };
      expect((await program('POST', MACHINE, { ...job(uid), ...address })).status).toBe(201);
      await waitForStatus(program, `${MACHINE}${uid}/`);
    },
  };
}

const auditOf = async ({ account }: TestPerson) => {
  const { ref } = await accountNamed(server.database, account!.username);
  const entries = await listAudit(server.database, { account: ref }, 50);
  return entries.map(({ action, name }) => [action, name]);
};

it('the account page shows the balances, the number of jobs by status, and the jobs and charges of each day', async () => {
  const customer = await createCustomer(1000);
  await customer.finish('done');
  await customer.program('POST', HUMAN, job('waiting'));
  const { status, body } = await customer.call('GET', '/api/account');
  expect(status).toBe(200);
  expect(body).toMatchObject({ username: customer.account!.username, chat: true });
  expect(body.balances).toContainEqual({
    environment: 'production',
    balance: 980,
    credit_limit: null,
    on_hold: 12,
  });
  expect(body.jobs).toContainEqual({
    environment: 'production',
    tier: 'machine',
    status: 'completed',
    jobs: 1,
  });
  expect(body.last_30_days).toEqual([
    { environment: 'production', tier: 'human', jobs: 1, words: 4, cents: 12 },
    { environment: 'production', tier: 'machine', jobs: 1, words: 4, cents: 8 },
  ]);
  // What the unfinished job holds is not charged.
  expect(body.charged).toEqual({ production: 8, sandbox: 0 });
  expect(body.days.production).toHaveLength(30);
  expect(body.days.production[0]).toMatchObject({ jobs: 0, cents: 0 });
  // A day may end between the two requests, so only the sums of all days are compared.
  const sums = (days: { jobs: number; cents: number }[]) =>
    days.reduce((sum, { jobs, cents }) => [sum[0]! + jobs, sum[1]! + cents], [0, 0]);
  expect([sums(body.days.production), sums(body.days.sandbox)]).toEqual([
    [2, 20],
    [0, 0],
  ]);
  expect(body.failed_deliveries).toEqual({ production: 0, sandbox: 0 });
  expect(body.latest_jobs.production.map(({ uid }: { uid: string }) => uid)).toEqual(['waiting', 'done']);
  expect(body.latest_jobs.sandbox).toEqual([]);
});

describe('API keys', () => {
  it('are created, replaced with an overlap (rolled) and revoked, with audit entries', async () => {
    const customer = await createCustomer();
    const wanted = {
      name: 'build',
      environment: 'sandbox',
      read_only: true,
      scopes: ['account', 'jobs'],
      expires_at: '2999-01-01',
    };
    const made = await customer.call('POST', '/api/account/keys', wanted);
    expect(made.status).toBe(201);
    const knock = async (key: string) =>
      (await createClient(server.url, key)('GET', `/sandbox${HUMAN}`)).status;
    expect(await knock(made.body.key)).toBe(200);
    const listed = (await customer.call('GET', '/api/account/keys')).body.objects;
    const { name, read_only } = wanted;
    expect(listed).toContainEqual(
      expect.objectContaining({
        key_id: made.body.key_id,
        name,
        read_only,
        scopes: ['jobs', 'account'],
        live: true,
      }),
    );
    expect(JSON.stringify(listed)).not.toContain(made.body.key.split(':')[1]);
    const path = `/api/account/keys/${made.body.key_id}`;
    const rolled = await customer.call('POST', `${path}/roll`, { overlap: '1h' });
    expect(rolled.status).toBe(201);
    expect(Date.parse(rolled.body.previous_ends)).toBeGreaterThan(Date.now() + 3_000_000);
    const last = await customer.call('POST', `/api/account/keys/${rolled.body.key_id}/roll`, {
      overlap: 'now',
    });
    await until(async () => (await knock(rolled.body.key)) === 401);
    await customer.call('POST', `/api/account/keys/${last.body.key_id}/revoke`);
    const again = await customer.call('POST', `/api/account/keys/${last.body.key_id}/revoke`);
    expect([again.status, again.body.error.code]).toEqual([409, 'conflict']);
    expect((await auditOf(customer)).slice(0, -2)).toEqual(
      ['key.revoked', 'key.rolled', 'key.rolled', 'key.made'].map((action) => [action, customer.email]),
    );
  });

  it('are not created when the request is invalid, and the error has a sentence for each invalid field', async () => {
    const { call } = await createCustomer();
    const wrong = { name: ' ', environment: 'moon', read_only: 'yes', scopes: [], expires_at: '2001-01-01' };
    const { status, body } = await call('POST', '/api/account/keys', wrong);
    expect(status).toBe(400);
    expect(Object.keys(body.error.fields).toSorted()).toEqual([
      'environment',
      'expires_at',
      'name',
      'read_only',
      'scopes',
    ]);
  });
});

it('a webhook secret that was replaced (rolled) and its successor both sign during the overlap', async () => {
  const customer = await createCustomer();
  const rolled = await customer.call('POST', '/api/account/webhook-secrets/production/roll', {
    overlap: '24h',
  });
  expect(rolled.body.webhook_secret).toMatch(/^whsec_/);
  const { objects } = (await customer.call('GET', '/api/account/webhook-secrets')).body;
  const live = objects.filter((one: { environment: string }) => one.environment === 'production');
  expect(live.map((one: { expires_at: string | null }) => one.expires_at === null)).toEqual([true, false]);
  expect(JSON.stringify(objects)).not.toContain('whsec_');
  const { ref } = await accountNamed(server.database, customer.account!.username);
  expect(await webhookSecrets(server.database, server.store.vault, ref, 'production')).toEqual([
    rolled.body.webhook_secret,
    customer.account!.webhook_secret_production,
  ]);
  expect(
    (await customer.call('POST', '/api/account/webhook-secrets/moon/roll', { overlap: 'now' })).status,
  ).toBe(404);
});

describe('the limits of credentials', () => {
  const roll = (customer: Customer, overlap: string) =>
    customer.call('POST', '/api/account/webhook-secrets/production/roll', { overlap });
  const kept = async (customer: Customer) => {
    const { ref } = await accountNamed(server.database, customer.account!.username);
    return webhookSecrets(server.database, server.store.vault, ref, 'production');
  };

  it('refuse a sixth active webhook secret, and the error names the times at which the others end', async () => {
    const customer = await createCustomer();
    for (let rolled = 0; rolled < 4; rolled++) expect((await roll(customer, '24h')).status).toBe(201);
    const before = await kept(customer);
    const { objects } = (await customer.call('GET', '/api/account/webhook-secrets')).body;
    const refused = await roll(customer, '1h');
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict']);
    const ending = objects.filter(({ expires_at }: { expires_at: string | null }) => expires_at !== null);
    expect(ending).toHaveLength(4);
    for (const { secret_id, expires_at } of ending) {
      expect(refused.body.error.message).toContain(`${secret_id} ends at ${expires_at}`);
    }
    expect([before.length, await kept(customer)]).toEqual([5, before]);
    expect((await customer.call('GET', '/api/account/webhook-secrets')).body.objects).toEqual(objects);
    await customer.finish('five', `${receiver.url}/five`);
    const { headers } = await receiver.next(({ path }) => path === '/five');
    expect(String(headers['webhook-signature']).split(' ')).toHaveLength(5);
    // Earlier versions of the program could store more than five active secrets. Only the newest five sign.
    const { ref } = await accountNamed(server.database, customer.account!.username);
    const copy = statement(
      'test.old_secret',
      `insert into webhook_secrets (part, account_id, secret_id, environment, sealed, expires_at)
       select part, account_id, gen_random_uuid(), environment, sealed, now() + interval '1 day' from webhook_secrets
        where part = $1 and account_id = $2 and environment = 'production' limit 1`,
    );
    await server.database.query(copy, [ref.part, ref.accountId]);
    expect(await kept(customer)).toHaveLength(6);
    await customer.finish('six', `${receiver.url}/six`);
    const signed = await receiver.next(({ path }) => path === '/six');
    expect(String(signed.headers['webhook-signature']).split(' ')).toHaveLength(5);
    expect((await roll(customer, 'now')).status).toBe(201);
    expect(await kept(customer)).toHaveLength(1);
  });

  it('are not exceeded by concurrent rolls of webhook secrets', async () => {
    const customer = await createCustomer();
    const rolls = await Promise.all(Array.from({ length: 12 }, () => roll(customer, '24h')));
    const made = rolls.filter(({ status }) => status === 201).length;
    // At most four of the twelve rolls are accepted; the others exceed a limit.
    expect(made).toBeLessThanOrEqual(4);
    expect(rolls.every(({ status }) => [201, 409, 429].includes(status))).toBe(true);
    expect(await kept(customer)).toHaveLength(made + 1);
  });

  it('allow at most a hundred rolls a day, and ended secrets are deleted', async () => {
    const customer = await createCustomer();
    for (let rolled = 0; rolled < 100; rolled++) expect((await roll(customer, 'now')).status).toBe(201);
    // The delays of further rolls are 1, 3, 7 … s, so the first may have passed on a busy machine.
    const statuses: number[] = [];
    for (let rolled = 0; rolled < 6; rolled++) statuses.push((await roll(customer, 'now')).status);
    expect(statuses).toContain(429);
    const { ref } = await accountNamed(server.database, customer.account!.username);
    const count = statement<{ count: number }>(
      'test.secrets',
      'select count(*)::int as count from webhook_secrets where part = $1 and account_id = $2',
    );
    expect((await server.database.query(count, [ref.part, ref.accountId]))[0]!.count).toBe(2);
  });

  it('refuse a fifty-first active key, created or rolled, until one has ended', async () => {
    const customer = await createCustomer();
    const make = () =>
      customer.call('POST', '/api/account/keys', { name: 'many', environment: 'production' });
    const made = [];
    for (let count = 0; count < 49; count++) made.push(await make());
    expect(made.every(({ status }) => status === 201)).toBe(true);
    const refused = await make();
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict']);
    const path = `/api/account/keys/${made[0]!.body.key_id}`;
    expect((await customer.call('POST', `${path}/roll`, { overlap: '24h' })).status).toBe(409);
    expect((await customer.call('POST', `${path}/roll`, { overlap: 'now' })).status).toBe(201);
    expect((await make()).status).toBe(409);
    expect(
      (await customer.call('POST', '/api/account/keys', { name: 's', environment: 'sandbox' })).status,
    ).toBe(201);
  });
});

describe('a customer’s jobs', () => {
  it('are listed in pages and with the same filters as in the API', async () => {
    const customer = await createCustomer();
    for (const uid of ['one', 'two', 'three']) await customer.program('POST', HUMAN, job(uid));
    await customer.finish('machine');
    const list = async (query: string) => (await customer.call('GET', `/api/account/jobs?${query}`)).body;
    const uids = ({ objects }: { objects: { uid: string }[] }) => objects.map(({ uid }) => uid);
    const first = await list('limit=2');
    expect([uids(first), first.total]).toEqual([['three', 'two'], 3]);
    const second = await list(`limit=2&after=${first.next}`);
    expect([uids(second), second.next]).toEqual([['one'], null]);
    expect(uids(await list('tier=machine'))).toEqual(['machine']);
    expect(uids(await list('uid__contains=hre'))).toEqual(['three']);
    expect(uids(await list('environment=sandbox'))).toEqual([]);
    expect((await customer.call('GET', '/api/account/jobs?status=eaten')).body.error.message).toMatch(
      /status/,
    );
  });

  it('are shown with their events and deliveries', async () => {
    const customer = await createCustomer();
    await customer.finish('told', `${receiver.url}/told`);
    await receiver.next(({ path }) => path === '/told');
    const read = async () => (await customer.call('GET', '/api/account/jobs/told')).body;
    await until(async () => (await read()).deliveries[0]?.status === 'delivered');
    expect(await read()).toMatchObject({
      uid: 'told',
      tier: 'machine',
      status: 'completed',
      words: 4,
      price: 8,
      failure: null,
      source: { text: 'The house is big.', cut: false },
      timeline: [{ status: 'completed', actor: 'machine' }],
      deliveries: [{ event: 'job.completed', uid: 'told', attempts: 1 }],
      may: { cancel: false, accept: false, reject: false },
    });
    expect((await read()).result.text).not.toBe('');
  });

  it('can be canceled once before they are completed', async () => {
    const customer = await createCustomer(100);
    await customer.program('POST', HUMAN, job('mistake'));
    const canceled = await customer.call('POST', '/api/account/jobs/mistake/cancel');
    expect(canceled.body).toMatchObject({ status: 'canceled', may: { cancel: false } });
    const again = await customer.call('POST', '/api/account/jobs/mistake/cancel');
    expect([again.status, again.body.error.code]).toEqual([409, 'conflict']);
    const { balances } = (await customer.call('GET', '/api/account')).body;
    expect(balances[0]).toMatchObject({ environment: 'production', balance: 100 });
  });
});

it('a customer sees deliveries with their attempts and can replay them', async () => {
  const customer = await createCustomer();
  await customer.finish('again', `${receiver.url}/again`);
  const arrived = () => receiver.received.filter(({ path }) => path === '/again');
  const list = async (query = '') => (await customer.call('GET', `/api/account/deliveries${query}`)).body;
  const done = async () => (await list('?status=delivered')).objects[0];
  const { id } = await until(done);
  const detail = (await customer.call('GET', `/api/account/deliveries/${id}`)).body;
  expect(detail).toMatchObject({ uid: 'again', attempts: [{ attempt: 1, status_code: 200 }] });
  expect((await customer.call('POST', `/api/account/deliveries/${id}/replay`)).status).toBe(202);
  await until(() => arrived().length === 2);
  expect(arrived()[0]!.body).toBe(arrived()[1]!.body);
  await until(async () => (await done())?.attempts === 2);
  expect((await list('?environment=sandbox')).objects).toEqual([]);
});

it('a customer sees the last HTTP status of a pending delivery, and can replay the delivery at once', async () => {
  const customer = await createCustomer();
  let status = 500;
  receiver.answer(({ path }) => (path === '/broken' ? status : 200));
  await customer.finish('broken', `${receiver.url}/broken`);
  const read = async () => (await customer.call('GET', '/api/account/jobs/broken')).body.deliveries[0];
  const pending = await until(async () => {
    const found = await read();
    return found?.last_outcome === 'answered' && found;
  });
  expect(pending).toMatchObject({ status: 'pending', attempts: 1, last_status_code: 500 });
  const listed = (await customer.call('GET', '/api/account/deliveries')).body.objects[0];
  expect(listed).toEqual(pending);
  status = 200;
  expect((await customer.call('POST', `/api/account/deliveries/${pending.id}/replay`)).status).toBe(202);
  const delivered = await until(async () => {
    const found = await read();
    return found.status === 'delivered' && found;
  });
  expect(delivered).toMatchObject({ attempts: 2, last_status_code: 200 });
  expect(await auditOf(customer)).toContainEqual(['delivery.replayed', customer.email]);
});

it('a customer sees chats with their messages', async () => {
  const customer = await createCustomer();
  const message = (chat: string, id: string) => ({
    chat_external_id: chat,
    external_id: id,
    text: 'The house.',
    text_format: 'text',
    source_language: 'en',
    target_language: 'es',
  });
  for (const chat of ['first', 'second']) {
    for (const id of ['1', '2']) await customer.program('POST', '/v2/chats/messages', message(chat, id));
  }
  const { objects, next } = (await customer.call('GET', '/api/account/chats?limit=1')).body;
  expect(objects).toMatchObject([{ external_id: 'second', messages: 2 }]);
  const page = (await customer.call('GET', `/api/account/chats?limit=1&after=${next}`)).body;
  expect(page).toMatchObject({ objects: [{ external_id: 'first' }], next: null });
  const path = `/api/account/chats/${objects[0].id}/messages`;
  const { body } = await customer.call('GET', `${path}?index=2`);
  expect(body).toMatchObject({ length: 2, index: 2, messages: [{ external_id: '2', text: 'The house.' }] });
  expect((await customer.call('GET', `${path}?environment=sandbox`)).status).toBe(404);
});

it('a customer sees the transfers of a balance, and can download them as CSV in which no cell is a formula', async () => {
  const customer = await createCustomer(100);
  await customer.program('POST', HUMAN, job('@sum'));
  const ledger = (await customer.call('GET', '/api/account/ledger')).body;
  expect(ledger).toMatchObject({ opening: 0, closing: 88, left_out: 0 });
  expect(ledger.entries).toMatchObject([
    { kind: 'top_up', change: 100 },
    { kind: 'hold', uid: '@sum', on_hold: 12, charged: 0, change: -12 },
  ]);
  const { balances } = (await customer.call('GET', '/api/account')).body;
  expect(balances[0]).toMatchObject({ environment: 'production', balance: 88, on_hold: 12 });
  const csv = await customer.call('GET', '/api/account/ledger.csv');
  expect(csv.headers.get('content-type')).toMatch(/^text\/csv/);
  expect(csv.headers.get('content-disposition')).toMatch(
    /^attachment; filename="customer-\d+-production-[\d-]+\.csv"$/,
  );
  expect(csv.text).toMatch(/,hold,'@sum,,12,-12,88,,,\n/);
  const wrong = await customer.call('GET', '/api/account/ledger?from=2020-01-01&until=2024-01-01');
  expect(Object.keys(wrong.body.error.fields)).toEqual(['from']);
});

it('a customer sees brands with their glossaries', async () => {
  const customer = await createCustomer();
  const { ref } = await accountNamed(server.database, customer.account!.username);
  const glossary = [{ source: 'house', target: 'casa', note: 'Always.' }];
  const file = {
    external_id: 'shop',
    name: 'Shop',
    default: true,
    languages: { es: { tone: 'Formal', instructions: 'Be kind.', glossary } },
  };
  await saveBrand(server.database, 'command', ref, parseBrand('shop', file), false);
  const [listed] = (await customer.call('GET', '/api/account/brands')).body.objects;
  expect(listed).toMatchObject({
    external_id: 'shop',
    default: true,
    languages: [{ language: 'es', terms: 1 }],
  });
  expect((await customer.call('GET', '/api/account/brands/shop')).body.languages).toEqual([
    { language: 'es', tone: 'Formal', instructions: 'Be kind.', terms: glossary },
  ]);
});

describe('the team of an account', () => {
  it('is invited, disabled and enabled by its users', async () => {
    const customer = await createCustomer();
    const invited = await customer.call('POST', '/api/account/team', {
      email: `mate-${customer.email}`,
      name: 'Mate',
    });
    expect(invited.status).toBe(201);
    expect(invited.body.mailed).toBeNull();
    const mate = createBrowser(server.url);
    const path = `/api/invitations/${invited.body.link.split('/').at(-1)}`;
    await mate.call('POST', path, { name: 'Mate', password: 'a password of mine' });
    expect((await mate.call('GET', '/api/account')).body.username).toBe(customer.account!.username);
    const team = (await mate.call('GET', '/api/account/team')).body.objects;
    expect(team).toMatchObject([
      { name: customer.name, me: false, status: 'active' },
      { name: 'Mate', me: true, status: 'active' },
    ]);
    const [{ user_id: owner }, { user_id: own }] = team;
    const self = await mate.call('POST', `/api/account/team/${own}/disable`);
    expect([self.status, self.body.error.code]).toEqual([409, 'conflict']);
    // Only an owner may disable or enable another owner, or create an invitation link for another owner.
    for (const act of ['disable', 'enable', 'link']) {
      const refused = await mate.call('POST', `/api/account/team/${owner}/${act}`);
      expect([refused.status, refused.body.error.code], act).toEqual([403, 'owner_only']);
    }
    await customer.call('POST', `/api/account/team/${own}/owner`, { owner: true });
    await mate.call('POST', `/api/account/team/${owner}/disable`);
    expect((await customer.call('GET', '/api/account')).status).toBe(401);
    expect((await mate.call('POST', `/api/account/team/${owner}/link`)).status).toBe(409);
    const after = (await mate.call('POST', `/api/account/team/${owner}/enable`)).body.objects;
    expect(after[0].status).toBe('active');
    expect((await mate.call('POST', `/api/account/team/${owner}/link`)).body.link).toMatch(
      /\/app\/invitation\//,
    );
    expect((await auditOf(customer)).map(([action]) => action)).toEqual([
      'person.link',
      'person.enabled',
      'person.disabled',
      'person.owner',
      'person.accepted',
      'person.link',
      'person.made',
      'person.made',
      'account.created',
    ]);
  });

  it('cannot use many invitations to find out which addresses are already in use', async () => {
    const { call } = await createCustomer();
    const known = (await createCustomer()).email;
    const invite = (email: string) => call('POST', '/api/account/team', { email });
    const statuses: number[] = [];
    for (let n = 0; n < 10; n++) {
      statuses.push((await invite(known)).status);
      // A successful invitation does not reset the count of refused invitations.
      if (n === 2) expect((await invite(`mate-of-${known}`)).status).toBe(201);
    }
    expect(statuses.slice(0, 5)).toEqual([400, 400, 400, 400, 400]);
    expect(statuses).toContain(429);
    const { body } = await (await createCustomer()).call('POST', '/api/account/team', { email: known });
    expect(body.error.fields.email).not.toMatch(/is already in use/);
  });

  it('has its first user as an owner; owners can add owners, and the last owner must stay one', async () => {
    const first = await createCustomer();
    const second = await createPerson(server, { role: 'customer', account: first.account! });
    const stranger = await createCustomer();
    const set = (by: TestPerson, of: TestPerson, owner: unknown) =>
      by.call('POST', `/api/account/team/${of.userId}/owner`, { owner });
    const owners = async () =>
      (await first.call('GET', '/api/account/team')).body.objects
        .filter((member: { owner: boolean }) => member.owner)
        .map((member: { user_id: string }) => member.user_id);
    expect(await owners()).toEqual([first.userId]);
    expect((await first.call('GET', '/api/session')).body.owner).toBe(true);
    expect((await second.call('GET', '/api/session')).body.owner).toBe(false);
    expect((await set(second, second, true)).body.error.code).toBe('owner_only');
    expect((await set(stranger, second, true)).status).toBe(404);
    expect((await set(first, second, 'yes')).body.error.fields).toHaveProperty('owner');
    expect((await set(first, first, false)).body.error.code).toBe('conflict');
    expect((await set(first, second, true)).status).toBe(200);
    expect(await owners()).toEqual([first.userId, second.userId]);
    // Each owner removes the other at the same time. One of them must stay an owner.
    await Promise.all([set(first, second, false), set(second, first, false)]);
    expect(await owners()).toHaveLength(1);
  });

  it('can replace an owner who never accepted the invitation', async () => {
    const { call, userId, account } = await createCustomer();
    const invited = await call('POST', '/api/account/team', {
      email: `late-${account!.username}@example.com`,
    });
    expect(invited.status).toBe(201);
    const [, late] = (await call('GET', '/api/account/team')).body.objects;
    await call('POST', `/api/account/team/${late.user_id}/owner`, { owner: true });
    const left = await call('POST', `/api/account/team/${userId}/owner`, { owner: false });
    expect([left.status, left.body.error.code]).toEqual([409, 'conflict']);
  });

  it('cannot invite users whose address is invalid or already in use', async () => {
    const { call, email } = await createCustomer();
    for (const wrong of [email, 'nobody']) {
      const { status, body } = await call('POST', '/api/account/team', { email: wrong });
      expect([status, Object.keys(body.error.fields)]).toEqual([400, ['email']]);
    }
  });
});
