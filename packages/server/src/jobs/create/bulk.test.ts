/**
 * Tests of creating many jobs in one PATCH request over HTTP: all jobs or none are created, in the order of
 * the request, and each is charged once.
 */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createClient, startTestServer, type TestServer } from '../../testing/harness.ts';
import { expectSoundLedger } from '../../testing/ledger.ts';

const HUMAN = '/tapi/v2/translation/';
const BALANCE = 100_000;

let server: TestServer;
let owner: pg.Client;
/**
 * The engine is stalled, so that jobs keep their first status, and the response to a repeated request can be
 * compared with the first response.
 */
let engine: FakeEngine;
let call: ReturnType<typeof createClient>;

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
  call = createClient(server.url, account.production_key);
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
const bulk = (objects: unknown, headers = {}) => call('PATCH', HUMAN, { objects }, headers);
const count = async () => (await call('GET', HUMAN)).body.meta.total_count;

async function balance(): Promise<number> {
  return (await call('POST', HUMAN, job({ text: '…' }))).body.balance;
}

describe('a bulk create (PATCH /translation/)', () => {
  it('creates all jobs in order and answers with the same bodies as single creates', async () => {
    const answer = await bulk([
      job({ uid: 'one', tone: 'Formal' }),
      job(),
      job({ text: 'Big.', uid: 'three' }),
    ]);
    expect(answer.status).toBe(202);
    const { objects } = answer.body;
    expect(objects[0]).toEqual({
      uid: 'one',
      text: 'The house is big.',
      order_number: expect.any(Number),
      price: 12,
      source_language: 'en',
      status: 'new',
      target_language: 'es',
      text_format: 'text',
      tone: 'Formal',
      balance: BALANCE - 27,
      client: expect.any(String),
    });
    expect(objects[1].uid).toMatch(/^[0-9a-f]{10}$/);
    expect(objects[2]).toMatchObject({ uid: 'three', text: 'Big.', price: 3 });
    const list = await call('GET', HUMAN);
    expect(list.body.objects.map(({ uid }: { uid: string }) => uid)).toEqual(
      objects.map(({ uid }: { uid: string }) => uid),
    );
    expect((await call('GET', `${HUMAN}three/`)).body).toMatchObject({ text: 'Big.' });
  });

  it('accepts 1,000 jobs, which need more than one SQL statement, and refuses 1,001 jobs', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => job({ uid: `many-${index}` }));
    const { status, body } = await bulk(many);
    expect(status).toBe(202);
    expect(body.objects.map(({ uid }: { uid: string }) => uid)).toEqual(many.map((one) => Object(one).uid));
    expect(await count()).toBe(1000);
    expect(await balance()).toBe(BALANCE - 12_000);
    expect(await bulk([...many, job()])).toMatchObject({
      status: 400,
      body: { error: 'objects: must be a list of 1 to 1000 items.' },
    });
  });

  it('leaves the server responsive to other requests while it scans large texts', async () => {
    const text = 'A long text is looked through elsewhere. '.repeat(2000);
    let done = false;
    const large = bulk(Array.from({ length: 20 }, () => job({ text }))).finally(() => {
      done = true;
    });
    let answered = 0;
    while (!done) {
      await call('GET', `${HUMAN}nobody/`);
      answered++;
    }
    expect((await large).status).toBe(202);
    expect(answered).toBeGreaterThan(20);
  });

  it('returns the same jobs when it is repeated, and charges nothing more', async () => {
    const objects = [job({ uid: 'a' }), job({ uid: 'b', text: 'Big.' })];
    const first = await bulk(objects);
    const again = await bulk(objects);
    expect(again.status).toBe(202);
    expect(again.body).toEqual(first.body);
    expect(await count()).toBe(2);
  });

  it('returns the jobs that exist already and creates the others', async () => {
    const single = await call('POST', HUMAN, job({ uid: 'before' }));
    const { body } = await bulk([job({ uid: 'after' }), job({ uid: 'before' })]);
    expect(body.objects[1].order_number).toBe(single.body.order_number);
    expect(body.objects[0].balance).toBe(BALANCE - 24);
  });

  it('creates its jobs once when it arrives ten times at once', async () => {
    const objects = Array.from({ length: 20 }, (_, index) => job({ uid: `rush-${index}` }));
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, turn) => bulk(turn % 2 === 0 ? objects : objects.toReversed())),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(202));
    expect(await count()).toBe(20);
    expect(await balance()).toBe(BALANCE - 240);
    await expectSoundLedger(server.database);
  });
});

describe('a bulk create is refused as a whole', () => {
  const nothingCame = async () => {
    expect(await count()).toBe(0);
    expect(await balance()).toBe(BALANCE);
  };

  it.each([
    ['no objects', {}, 'objects: This field is required.'],
    ['null', { objects: null }, 'objects: This field is required.'],
    ['no list', { objects: { 0: job() } }, 'objects: must be a list of 1 to 1000 items.'],
    ['an empty list', { objects: [] }, 'objects: must be a list of 1 to 1000 items.'],
    ['no object', [], 'body: must be a JSON object.'],
  ])('when its list of objects is invalid: %s', async (_, body, error) => {
    expect(await call('PATCH', HUMAN, body)).toMatchObject({ status: 400, body: { error } });
  });

  it('and its error names every invalid field with the index of its object', async () => {
    const answer = await bulk([job(), {}, 5, job({ tone: 'Rude' })]);
    expect(answer.status).toBe(400);
    expect(answer.body.error.split('\n')).toEqual([
      'objects[1].text: This field is required.',
      'objects[1].target_language: This field is required.',
      'objects[2]: must be a JSON object.',
      'objects[3].tone: "Rude" is not one of Informal, Formal.',
    ]);
    await nothingCame();
  });

  it('for errors that are found only when its texts are scanned', async () => {
    const answer = await bulk([
      job({ target_language: 'tlh' }),
      job(),
      job({ text_format: 'xliff', text: '<xliff' }),
      job({ callback_url: 'ftp://example.com/' }),
    ]);
    expect(answer.status).toBe(400);
    expect(answer.body.error.split('\n').map((line: string) => line.split(':')[0])).toEqual([
      'objects[0].target_language',
      'objects[2].text',
      'objects[3].callback_url',
    ]);
    await nothingCame();
  });

  it('with a short error message, however many fields are invalid', async () => {
    const lines = async (objects: unknown) => {
      const { status, body } = await bulk(objects);
      expect(status).toBe(400);
      return body.error.split('\n');
    };
    const empty = await lines(Array(1000).fill({}));
    expect(empty).toHaveLength(101);
    expect(empty.slice(-2)).toEqual([
      'objects[49].target_language: This field is required.',
      'and 1900 more like these.',
    ]);
    const brands = await lines(Array.from({ length: 1000 }, (_, index) => job({ brand: `b${index}` })));
    expect(brands).toHaveLength(101);
    expect(brands.at(-1)).toBe('objects: those after objects[99] were not checked.');
    expect(await lines([job({ topics: Array(90_000).fill('tehc') })])).toEqual([
      'objects[0].topics: must be a list of at most 50 items.',
    ]);
    await nothingCame();
  });

  it('when a uid occurs twice', async () => {
    const answer = await bulk([job({ uid: 'x' }), job(), job({ uid: 'x' })]);
    expect(answer.body).toEqual({ error: 'objects[2].uid: is the uid of objects[0] as well.' });
    await nothingCame();
  });

  it('and its error names every uid that belongs to another job', async () => {
    await call('POST', HUMAN, job({ uid: 'taken', text: '…' }));
    await call('POST', '/tapi/v2/mt_translation/', job({ uid: 'other-tier' }));
    const answer = await bulk([job({ uid: 'free' }), job({ uid: 'taken' }), job({ uid: 'other-tier' })]);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: 'objects[1].uid: already exists\nobjects[2].uid: already exists' },
    });
    expect((await call('GET', `${HUMAN}free/`)).status).toBe(404);
    expect(await balance()).toBe(BALANCE);
  });

  it('with 402 when the account can pay for some of the jobs only', async () => {
    const poor = await server.createAccount({ balanceCents: 30 });
    await owner.query(
      `update balances set credit_limit_cents = 0 where account_id = (select account_id from accounts where username = $1)`,
      [poor.username],
    );
    call = createClient(server.url, poor.production_key);
    expect(await bulk([job({ uid: 'p' }), job(), job()])).toMatchObject({
      status: 402,
      body: { error: 'insufficient balance: needs 36 cents, has 30' },
    });
    expect(await count()).toBe(0);
    expect((await bulk([job({ uid: 'p' }), job()])).status).toBe(202);
  });

  it('with 413 when one text is too large', async () => {
    const answer = await bulk([job(), job({ text: 'word '.repeat(2 * 1024 * 1024 + 1) })]);
    expect(answer.status).toBe(413);
    expect(answer.body.error).toMatch(/^objects\[1\]\.text: must be at most/);
  });

  it('with 405 on /mt_translation/, which has no bulk creation', async () => {
    expect((await call('PATCH', '/tapi/v2/mt_translation/', { objects: [job()] })).status).toBe(405);
  });
});
