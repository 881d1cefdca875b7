/** Tests accounts, transfers and prices in the console, over HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';
import { expectSoundLedger } from '../testing/ledger.ts';

let server: TestServer;
let operator: TestPerson;
beforeAll(async () => {
  server = await startTestServer();
  operator = await createPerson(server, { role: 'operator' });
});
afterAll(() => server.stop());

const fieldsOf = (body: { error: { fields?: object } }) => Object.keys(body.error.fields ?? {});
const TOP_UP = { kind: 'top_up', environment: 'production', cents: 500, memo: 'invoice 1' };
const transfers = (username: string) => `/api/console/accounts/${username}/transfers`;

describe('accounts in the console', () => {
  it('are created with credentials that are shown once, and found by a part of name or e-mail', async () => {
    const made = await operator.call('POST', '/api/console/accounts', {
      username: 'First-One',
      email: 'first@one.test',
      balance_cents: 100,
    });
    expect(made.status).toBe(201);
    const own = await createClient(server.url, made.body.production_key)('GET', '/tapi/v2/account/');
    expect(own.body.objects[0].account.balance).toBe(100);
    for (const q of ['st-o', 'ONE.TEST']) {
      const { body } = await operator.call('GET', `/api/console/accounts?q=${q}`);
      expect(body.accounts.map(({ username }: { username: string }) => username)).toEqual(['First-One']);
    }
    const detail = await operator.call('GET', '/api/console/accounts/First-One');
    expect(detail.text).not.toContain(made.body.production_key.split(':')[1].slice(10));
    const audit = await operator.call('GET', '/api/console/audit?account=First-One');
    expect(audit.body.entries[0]).toMatchObject({ action: 'account.created', name: operator.email });
    expect(audit.text).not.toContain(made.body.production_key);
  });

  it('are listed in pages, and can be filtered by a negative balance', async () => {
    for (const username of ['page-1', 'page-2', 'page-3']) await server.createAccount({ username });
    const first = await operator.call('GET', '/api/console/accounts?q=page-&limit=2');
    expect(first.body).toMatchObject({ next: 'page-2' });
    const rest = await operator.call('GET', `/api/console/accounts?q=page-&after=${first.body.next}`);
    expect(rest.body.accounts).toHaveLength(1);
    await operator.call(
      'POST',
      transfers('page-3'),
      { ...TOP_UP, kind: 'adjustment', cents: -1 },
      { 'idempotency-key': 'owes' },
    );
    const owing = await operator.call('GET', '/api/console/accounts?overdrawn=true');
    expect(owing.body.accounts.map(({ username }: { username: string }) => username)).toEqual(['page-3']);
  });

  it.each([
    [{}, ['username']],
    [{ username: 'with space' }, ['username']],
    [{ username: 'First-One' }, ['username']],
    [
      { username: 'a', email: 'no', balance_cents: -1, dialect: 'other' },
      ['email', 'balance_cents', 'dialect'],
    ],
  ])('are not created when the request %j has invalid or missing fields', async (body, fields) => {
    const answer = await operator.call('POST', '/api/console/accounts', body);
    expect(answer.status).toBe(400);
    expect(fieldsOf(answer.body)).toEqual(fields);
  });

  it('are changed completely or not at all, and stay unchanged when the request has an outdated version', async () => {
    await server.createAccount({ username: 'changing', balanceCents: 10 });
    const path = '/api/console/accounts/changing';
    const { body: before } = await operator.call('GET', path);
    const chat = { pairs: ['en-es'], from: null, until: '2999-01-01T00:00:00.000Z' };
    const { body: after } = await operator.call('PATCH', path, {
      version: before.version,
      email: 'a@b.test',
      chat,
      credit_limit: 0,
    });
    expect(after).toMatchObject({ email: 'a@b.test', chat });
    expect(after.balances[0]).toMatchObject({ credit_limit: 0, balance: 10 });
    const late = await operator.call('PATCH', path, { version: before.version, email: 'late@b.test' });
    expect(late.status).toBe(409);
    expect(late.body.error).toMatchObject({ code: 'conflict', account: { email: 'a@b.test' } });
    for (const [more, fields] of [
      [{ chat: { pairs: [] }, credit_limit: -1 }, ['chat', 'credit_limit']],
      [{ default_brand: 'none such' }, ['default_brand']],
    ] as const) {
      const changes = { version: after.version, email: 'c@d.test', ...more };
      const wrong = await operator.call('PATCH', path, changes);
      expect(fieldsOf(wrong.body)).toEqual(fields);
    }
    const none = await operator.call('PATCH', path, {
      version: after.version,
      chat: null,
      credit_limit: null,
    });
    expect(none.body).toMatchObject({ email: 'a@b.test', chat: null });
    expect((await operator.call('GET', '/api/console/accounts/nobody')).status).toBe(404);
  });

  it('stay unchanged when the new credit limit is below the debt', async () => {
    await server.createAccount({ username: 'deep' });
    const entry = { ...TOP_UP, kind: 'adjustment', cents: -50 };
    await operator.call('POST', transfers('deep'), entry, { 'idempotency-key': 'k' });
    const { body } = await operator.call('GET', '/api/console/accounts/deep');
    const answer = await operator.call('PATCH', '/api/console/accounts/deep', {
      version: body.version,
      credit_limit: 10,
      email: 'x@y.test',
    });
    expect(fieldsOf(answer.body)).toEqual(['credit_limit']);
    expect((await operator.call('GET', '/api/console/accounts/deep')).body.email).toBeNull();
  });

  it('can start a chat only during their chat subscription', async () => {
    const { production_key } = await server.createAccount({ username: 'chatting' });
    const call = createClient(server.url, production_key);
    const path = '/api/console/accounts/chatting';
    const period = async (from: string | null, until: string | null) => {
      const { body } = await operator.call('GET', path);
      await operator.call('PATCH', path, { version: body.version, chat: { pairs: null, from, until } });
      return (await call('POST', '/chats', { external_id: `c ${from} ${until}` })).status;
    };
    expect(await period(null, '2999-01-01')).toBe(200);
    expect(await period('2998-01-01', '2999-01-01')).toBe(402);
    expect(await period(null, '2020-01-01')).toBe(402);
  });

  it('get a new key that is accepted until it is revoked', async () => {
    await server.createAccount({ username: 'keys' });
    const path = '/api/console/accounts/keys/keys';
    const made = await operator.call('POST', path, { name: 'second', environment: 'production' });
    const call = createClient(server.url, made.body.key);
    expect((await call('GET', '/tapi/v2/account/')).status).toBe(200);
    const ended = await operator.call('DELETE', `${path}/${made.body.key_id}`);
    expect(ended.status).toBe(200);
    await until(async () => (await call('GET', '/tapi/v2/account/')).status === 401);
    expect((await operator.call('DELETE', `${path}/${made.body.key_id}`)).status).toBe(409);
  });
});

describe('a transfer in the console', () => {
  it('shows its result in a dry run, and is made only once when the request is repeated', async () => {
    await server.createAccount({ username: 'rich' });
    const path = transfers('rich');
    const rehearsed = await operator.call('POST', path, { ...TOP_UP, dry_run: true });
    expect(rehearsed.body).toMatchObject({ before: 0, after: 500, cents: 500, dry_run: true });
    const key = { 'idempotency-key': 'one' };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => operator.call('POST', path, TOP_UP, key)),
    );
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body).toEqual(answers[0]!.body);
    }
    const statement = await operator.call('GET', '/api/console/accounts/rich/statement');
    expect(statement.body).toMatchObject({ opening: 0, closing: 500 });
    expect(statement.body.entries).toHaveLength(1);
    expect(statement.body.days.at(-1)).toMatchObject({ put: 500, spent: 0 });
    const other = await operator.call('POST', path, { ...TOP_UP, cents: 1 }, key);
    expect(fieldsOf(other.body)).toEqual(['Idempotency-Key']);
    const { body } = await operator.call('GET', '/api/console/audit?account=rich&action=money');
    expect(body.entries).toHaveLength(1);
  });

  it('is answered with the first answer again when its idempotency key is repeated', async () => {
    await server.createAccount({ username: 'two-keys' });
    const path = transfers('two-keys');
    const put = (cents: number) =>
      operator.call('POST', path, { ...TOP_UP, cents }, { 'idempotency-key': `put ${cents}` });
    const first = [(await put(1)).body, (await put(2)).body, (await put(4)).body];
    expect(first.map(({ before, after }) => [before, after])).toEqual([
      [0, 1],
      [1, 3],
      [3, 7],
    ]);
    expect([(await put(1)).body, (await put(2)).body, (await put(4)).body]).toEqual(first);
  });

  it('refunds the charge of a job only once', async () => {
    const { production_key } = await server.createAccount({ username: 'refunded', balanceCents: 100 });
    const call = createClient(server.url, production_key);
    await operator.call('POST', '/api/console/prices', {
      tier: 'machine',
      source_language: '*',
      target_language: '*',
      account: 'refunded',
      cents_per_word: 2,
    });
    await until(async () => {
      const job = { uid: `${Math.random()}`, text: 'One two.', source_language: 'en', target_language: 'es' };
      const { body } = await call('POST', '/tapi/v2/mt_translation/', job);
      if ((await call('GET', '/tapi/v2/account/')).body.objects[0].account.balance === 100) return false;
      await waitForStatus(call, `/tapi/v2/mt_translation/${body.uid}/`);
      const refund = { kind: 'refund', environment: 'production', uid: body.uid, memo: 'was not right' };
      const rehearsed = await operator.call('POST', transfers('refunded'), { ...refund, dry_run: true });
      expect(rehearsed.body).toMatchObject({ cents: 4, before: 96, after: 100 });
      const path = transfers('refunded');
      expect((await operator.call('POST', path, refund, { 'idempotency-key': 'a' })).status).toBe(200);
      const again = await operator.call('POST', path, refund, { 'idempotency-key': 'b' });
      expect(fieldsOf(again.body)).toEqual(['uid']);
      return true;
    });
    await expectSoundLedger(server.database);
  });

  it.each([
    [{}, ['kind', 'environment', 'memo']],
    [{ ...TOP_UP, cents: undefined }, ['cents']],
    [{ ...TOP_UP, kind: 'refund' }, ['uid']],
    [{ ...TOP_UP, cents: 0 }, ['cents']],
    [{ ...TOP_UP, cents: -5 }, ['cents']],
    [{ ...TOP_UP, cents: 1.5 }, ['cents']],
    [{ ...TOP_UP, kind: 'adjustment', cents: 0 }, ['cents']],
    [{ ...TOP_UP, kind: 'refund', uid: 'unknown' }, ['uid']],
    [{ ...TOP_UP, kind: 'hold' }, ['kind']],
    [{ ...TOP_UP, memo: ' ' }, ['memo']],
  ])('is refused when the request is %j', async (body, fields) => {
    await server.createAccount({ username: 'refusals' }).catch(() => {});
    const answer = await operator.call('POST', transfers('refusals'), { ...body, dry_run: true });
    expect(answer.status).toBe(400);
    expect(fieldsOf(answer.body)).toEqual(fields);
  });

  it('is refused without an idempotency key or for an unknown account', async () => {
    await server.createAccount({ username: 'keyless' });
    const answer = await operator.call('POST', transfers('keyless'), TOP_UP);
    expect(fieldsOf(answer.body)).toEqual(['Idempotency-Key']);
    const key = { 'idempotency-key': 'k' };
    expect((await operator.call('POST', transfers('nobody'), TOP_UP, key)).status).toBe(404);
  });
});

describe('prices in the console', () => {
  const scope = { tier: 'human', source_language: 'en', target_language: 'de' };

  it('end when the next price begins, and are refused when they overlap the next price or start at the same time', async () => {
    const set = (more: object) => operator.call('POST', '/api/console/prices', { ...scope, ...more });
    const rehearsed = await set({ cents_per_word: 5, dry_run: true });
    expect(rehearsed.body).toMatchObject({ ends: null, dry_run: true });
    expect((await operator.call('GET', '/api/console/prices')).text).not.toContain('"de"');
    await set({ cents_per_word: 5 });
    const later = await set({ cents_per_word: 6, from: '2999-01-01' });
    expect(later.body.ends).toMatchObject({ cents_per_word: 5 });
    const overlapping = await set({ cents_per_word: 7, from: '2998-01-01', until: '2999-06-01' });
    expect(fieldsOf(overlapping.body)).toEqual(['until']);
    const twice = await set({ cents_per_word: 8, from: '2999-01-01' });
    expect(fieldsOf(twice.body)).toEqual(['from']);
    const { body } = await operator.call('GET', '/api/console/prices');
    expect(body.shares).toEqual({
      context: 30,
      exact: 50,
      fuzzy95: 100,
      fuzzy85: 100,
      fuzzy75: 100,
      repeat: 100,
    });
    const own = body.prices.filter(
      ({ target_language }: { target_language: string }) => target_language === 'de',
    );
    expect(own.map(({ cents_per_word }: { cents_per_word: number }) => cents_per_word)).toEqual([5, 6]);
    await operator.call('POST', '/api/console/prices/end', scope);
    expect((await operator.call('POST', '/api/console/prices/end', scope)).status).toBe(404);
  });

  it.each([
    [{ source_language: '?' }, ['cents_per_word', 'source_language']],
    [{ cents_per_word: 3, source_language: '*' }, ['target_language']],
    [{ cents_per_word: 3, from: '2020-01-01' }, ['from']],
    [{ cents_per_word: 3, until: '2020-01-01' }, ['until']],
    [{ cents_per_word: 100_001, from: 'x' }, ['cents_per_word', 'from']],
    [{ cents_per_word: 3, account: 'nobody at all' }, ['account']],
  ])('are refused when the request contains %j', async (more, fields) => {
    const answer = await operator.call('POST', '/api/console/prices', { ...scope, ...more });
    expect(fieldsOf(answer.body).sort()).toEqual(fields);
  });
});
