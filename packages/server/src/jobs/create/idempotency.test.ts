/** Tests of `Idempotency-Key` over HTTP: creates that are repeated without a uid. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, createClient, startTestServer, type TestServer, until } from '../../testing/harness.ts';
import { expectSoundLedger } from '../../testing/ledger.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const BALANCE = 1_000;

let server: TestServer;
let owner: pg.Client;
/**
 * The engine is stalled, so that jobs keep their first status, and the response to a repeated request can be
 * compared with the first response.
 */
let engine: FakeEngine;
let production: ReturnType<typeof createClient>;
let sandbox: ReturnType<typeof createClient>;

beforeAll(async () => {
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
  const account = await server.createAccount({ balanceCents: BALANCE });
  production = createClient(server.url, account.production_key);
  sandbox = createClient(`${server.url}/sandbox`, account.sandbox_key);
});
afterAll(async () => {
  engine.resume();
  await server.stop();
});

const job = (fields: object = {}) => ({
  text: 'The house is big.',
  source_language: 'en',
  target_language: 'es',
  ...fields,
});
const keyed = (key: string) => ({ 'idempotency-key': key });
const create = (key: string, fields = {}, path = HUMAN): Promise<Answer> =>
  production('POST', path, job(fields), keyed(key));
const count = async (path = HUMAN) => (await production('GET', path)).body.meta.total_count;

describe('an Idempotency-Key', () => {
  it('returns the same job for the same request and charges once', async () => {
    const first = await create('retry');
    expect(first.status).toBe(201);
    const again = await create('retry', { tone: null, color: 'blue' });
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
    expect(await count()).toBe(1);
  });

  it('refuses a different request with the same key and creates nothing', async () => {
    await create('clash');
    for (const answer of [
      await create('clash', { text: 'Another text.' }),
      await create('clash', { uid: 'a-uid' }),
      await create('clash', {}, MACHINE),
      await production('PATCH', HUMAN, { objects: [job()] }, keyed('clash')),
    ]) {
      expect(answer).toMatchObject({
        status: 400,
        body: { error: 'idempotency_key: was used for another request.' },
      });
    }
    expect([await count(), await count(MACHINE)]).toEqual([1, 0]);
  });

  it('creates one job and charges once when twenty requests arrive at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create('race')));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => body.uid)).size).toBe(1);
    expect(await count()).toBe(1);
    expect((await create('race')).body.balance).toBe(BALANCE - 12);
    await expectSoundLedger(server.database);
  });

  it('creates one job per key when 40 requests with 20 keys and the same body arrive at once', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => create(`many-${index % 20}`)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(await count()).toBe(20);
  });

  it('belongs to one environment of one account: another account or environment may use the same key for another request', async () => {
    await create('shared');
    expect((await sandbox('POST', HUMAN, job(), keyed('shared'))).status).toBe(201);
    const other = createClient(server.url, (await server.createAccount()).production_key);
    expect((await other('POST', HUMAN, job(), keyed('shared'))).status).toBe(201);
  });

  it('of a bulk returns all jobs of the bulk in their order', async () => {
    const body = { objects: [job(), job({ text: 'Big.' }), job({ uid: 'named' })] };
    const first = await production('PATCH', HUMAN, body, keyed('bulk'));
    expect(first.status).toBe(202);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => production('PATCH', HUMAN, body, keyed('bulk'))),
    );
    for (const answer of answers) expect(answer).toMatchObject({ status: 202, body: first.body });
    expect(await count()).toBe(3);
  });

  it('of a bulk also returns jobs that existed before the bulk', async () => {
    await create('unrelated', { uid: 'before' });
    const body = { objects: [job(), job({ uid: 'before' })] };
    const first = await production('PATCH', HUMAN, body, keyed('mixed'));
    const again = await production('PATCH', HUMAN, body, keyed('mixed'));
    expect(again.body).toEqual(first.body);
    expect(await count()).toBe(2);
  });

  it('that is used again leaves other keys, and the same key in the other environment, unchanged', async () => {
    const sandboxed = (key: string) => sandbox('POST', HUMAN, job(), keyed(key));
    await create('named', { uid: 'before' });
    const answers = async () => [await create('other'), await sandboxed('other'), await sandboxed('mixed')];
    await answers();
    const before = (await answers()).map(({ body }) => body.uid);
    expect(new Set(before).size).toBe(3);
    // Sends a bulk in which one job exists already, and a refused request whose key becomes unused again.
    const objects = [job(), job({ uid: 'before' })];
    expect((await production('PATCH', HUMAN, { objects }, keyed('mixed'))).status).toBe(202);
    await sandboxed('refused');
    expect((await create('refused', { uid: 'before', text: 'Other.' })).status).toBe(400);
    const after = await answers();
    expect(after.map(({ status, body }) => [status, body.uid])).toEqual(before.map((uid) => [200, uid]));
    expect((await sandboxed('refused')).status).toBe(200);
    expect((await create('refused')).status).toBe(201);
  });

  it('can be used again after a refused request', async () => {
    expect((await create('free', { target_language: 'tlh' })).status).toBe(400);
    await create('used', { uid: 'taken' });
    expect((await create('free', { uid: 'taken', text: 'Other.' })).status).toBe(400);
    const poor = await server.createAccount();
    await owner.query(
      `update balances set credit_limit_cents = 0 where account_id = (select account_id from accounts where username = $1)`,
      [poor.username],
    );
    const broke = createClient(server.url, poor.production_key);
    expect((await broke('POST', HUMAN, job(), keyed('free'))).status).toBe(402);
    expect((await broke('POST', HUMAN, job({ text: '…' }), keyed('free'))).status).toBe(201);
    expect((await create('free')).status).toBe(201);
  });

  it('returns its job even if the language pair is no longer offered', async () => {
    const first = await create('closed');
    const objects = [job(), job({ text: 'Big.' })];
    const bulk = await production('PATCH', HUMAN, { objects }, keyed('closed-bulk'));
    await owner.query(`update pairs set source_language = 'x' || source_language`);
    await until(async () => (await create(`${Math.random()}`)).status === 400);
    const { order_number } = first.body;
    expect(await create('closed')).toMatchObject({ status: 200, body: { order_number } });
    expect((await create('closed', { text: 'Other.' })).body.error).toMatch(/^idempotency_key: /);
    const again = await production('PATCH', HUMAN, { objects }, keyed('closed-bulk'));
    expect(again.body.objects.map(({ uid }: { uid: string }) => uid)).toEqual(
      bulk.body.objects.map(({ uid }: { uid: string }) => uid),
    );
    expect((await production('PATCH', HUMAN, { objects })).status).toBe(400);
    await owner.query(`update pairs set source_language = substr(source_language, 2)`);
    await until(async () => (await create('open')).status < 300);
  });

  it.each([
    ['of 255 characters', 'k'.repeat(255), 201],
    ['with any printable ASCII', ' ~!"#$%&\'()*+,-./:;<=>?@[]^_`{|}~', 201],
    ['of 256 characters', 'k'.repeat(256), 400],
    ['of nothing', '', 400],
    ['with a letter beyond ASCII', 'caf\u00e9', 400],
    ['with a tab', 'a\tb', 400],
  ])('is checked for its length and characters: %s', async (_, key, status) => {
    const answer = await create(key);
    expect(answer.status).toBe(status);
    if (status === 400) {
      expect(answer.body.error).toBe('idempotency_key: must be 1 to 255 printable ASCII characters.');
    }
  });
});
