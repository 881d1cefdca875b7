/** Tests requests, retries and errors of the client with the real server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startReceiver, startTestServer, type TestServer } from '../../server/src/testing/harness.ts';
import {
  createDragoman,
  type Dragoman,
  DragomanError,
  type DragomanOptions,
  verifyWebhook,
} from './client.ts';

const JOB = { text: 'The house is big.', source_language: 'en', target_language: 'es' };

type Credentials = Awaited<ReturnType<TestServer['createAccount']>>;

let server: TestServer;
let account: Credentials;
let dragoman: Dragoman;
beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_SANDBOX_HOLD: '0' } });
  account = await server.createAccount({ balanceCents: 1000 });
  dragoman = client();
});
afterAll(() => server.stop());

/** Returns a client that does not wait between attempts. */
function client(options: Partial<DragomanOptions> = {}): Dragoman {
  return createDragoman({ baseUrl: server.url, key: account.production_key, ...options });
}

const refused = (promise: Promise<unknown>): Promise<DragomanError> =>
  promise.then(
    () => Promise.reject(new Error('was not refused')),
    (error) => (error instanceof DragomanError ? error : Promise.reject(error)),
  );

describe('client: jobs', () => {
  it('can be created, polled until they are completed, and read', async () => {
    const created = await dragoman.machineJobs.create(JOB);
    expect(created).toMatchObject({ ...JOB, status: 'machine_translate_in_progress', origin: 'api' });
    const done = await dragoman.machineJobs.waitForJob(created.uid);
    expect(done).toMatchObject({ status: 'completed', translated_text: 'THE HOUSE IS BIG.' });
    expect(await dragoman.machineJobs.get(created.uid)).toEqual(done);
  });

  it('are created once by calls with the same idempotency key', async () => {
    for (const { create } of [dragoman.jobs, dragoman.machineJobs]) {
      const idempotencyKey = crypto.randomUUID();
      const { uid } = await create(JOB, { idempotencyKey });
      expect((await create(JOB, { idempotencyKey })).uid).toBe(uid);
    }
  });

  it('are created in the sandbox with a sandbox key, with or without a trailing slash in the base URL', async () => {
    for (const baseUrl of [server.url, `${server.url}/`]) {
      const sandbox = client({ baseUrl, key: account.sandbox_key, sandbox: true });
      const created = await sandbox.jobs.create({ ...JOB, tone: 'Formal', topics: ['tech'] });
      expect(created).toMatchObject({ tone: 'Formal', topics: ['tech'], client: account.username });
      expect((await sandbox.jobs.waitForJob(created.uid)).status).toBe('completed');
    }
  });

  it('are rejected with a reason and accepted, also twice', async () => {
    const sandbox = client({ key: account.sandbox_key, sandbox: true });
    const { uid } = await sandbox.jobs.create(JOB);
    expect(await refused(sandbox.jobs.reject('nobody', 'Too formal.'))).toMatchObject({ status: 404 });
    await sandbox.jobs.waitForJob(uid);
    expect(await sandbox.jobs.reject(uid, 'Too formal.')).toMatchObject({ uid });
    await sandbox.jobs.waitForJob(uid);
    for (let times = 0; times < 2; times += 1) {
      expect(await sandbox.jobs.accept(uid)).toMatchObject({ uid, status: 'accepted' });
    }
  });

  it('wait in the sandbox until the time is skipped', async () => {
    const sandbox = client({ key: account.sandbox_key, sandbox: true });
    const { uid } = await sandbox.jobs.create({ ...JOB, text: 'The house [sandbox:wait] is big.' });
    expect(await sandbox.skipSandboxTime(86_400)).toMatchObject({ jobs: 1 });
    expect((await sandbox.jobs.waitForJob(uid)).status).toBe('completed');
    expect(await refused(dragoman.skipSandboxTime(1))).toMatchObject({ status: 404 });
  });

  it('are listed completely, page by page', async () => {
    const lister = client({ key: (await server.createAccount()).production_key });
    const uids = ['a', 'b', 'c', 'd', 'e'];
    for (const uid of uids) await lister.machineJobs.create({ ...JOB, uid });
    const listed = [];
    for await (const job of lister.machineJobs.list({ limit: 2, target_language: 'es' }))
      listed.push(job.uid);
    expect(listed).toEqual(uids);
    const last = [];
    for await (const job of lister.machineJobs.list({ limit: 2, order_by: '-created' })) last.push(job.uid);
    expect(last).toEqual(uids.toReversed());
    const some = [];
    for await (const job of lister.machineJobs.list({ limit: 2, offset: 1 })) some.push(job.uid);
    expect(some).toEqual(uids.slice(1));
    const none = [];
    for await (const job of lister.machineJobs.list({ status: 'failed' })) none.push(job);
    expect(none).toEqual([]);
  });

  it('are created in bulk, or not at all if a field is invalid; then every invalid field is reported', async () => {
    const buyer = client({ key: (await server.createAccount()).production_key });
    const created = await buyer.jobs.createMany([JOB, { ...JOB, uid: 'second' }]);
    expect(created).toMatchObject([JOB, { ...JOB, uid: 'second' }]);
    const error = await refused(buyer.jobs.createMany([JOB, { ...JOB, text: '' }]));
    expect(error.fields).toEqual([{ field: 'objects[1].text', reason: expect.any(String) }]);
    const listed = [];
    for await (const job of buyer.jobs.list()) listed.push(job.uid);
    expect(listed).toEqual(created.map(({ uid }) => uid));
  });

  it('can be canceled, and canceled again without an error, but not when they are completed', async () => {
    const { uid } = await dragoman.jobs.create(JOB);
    await dragoman.jobs.cancel(uid);
    await dragoman.jobs.cancel(uid);
    expect((await dragoman.jobs.waitForJob(uid)).status).toBe('canceled');
    const done = await dragoman.machineJobs.create(JOB);
    await dragoman.machineJobs.waitForJob(done.uid);
    expect(await refused(dragoman.machineJobs.cancel(done.uid))).toMatchObject({ status: 400 });
    expect(await refused(dragoman.jobs.cancel('nobody'))).toMatchObject({ status: 404 });
  });

  it('are upgraded only once when the upgrade is requested several times', async () => {
    const { uid } = await dragoman.machineJobs.create(JOB);
    await dragoman.machineJobs.waitForJob(uid);
    const upgraded = await dragoman.machineJobs.upgrade(uid, { tone: 'Formal' });
    expect(upgraded).toMatchObject({ uid, tone: 'Formal', text: JOB.text });
    expect(await dragoman.machineJobs.upgrade(uid, { tone: 'Formal' })).toMatchObject({ uid });
    expect((await dragoman.jobs.get(uid)).price).toBe(upgraded.price);
    expect(await refused(dragoman.machineJobs.upgrade('nobody'))).toMatchObject({ status: 404 });
  });

  it('are all listed, even if they are upgraded while they are listed', async () => {
    const upgrader = client({ key: (await server.createAccount({ balanceCents: 100 })).production_key });
    const uids = ['a', 'b', 'c', 'd', 'e'];
    for (const uid of uids) await upgrader.machineJobs.create({ ...JOB, uid });
    for (const uid of uids) await upgrader.machineJobs.waitForJob(uid);
    const upgraded = [];
    for await (const { uid } of upgrader.machineJobs.list({ limit: 2, status: 'completed' })) {
      upgraded.push((await upgrader.machineJobs.upgrade(uid)).uid);
    }
    expect(upgraded).toEqual(uids);
  });

  it('can have uids with any allowed characters', async () => {
    const uid = 'a.b_c~d:e@f+g-h';
    await dragoman.machineJobs.create({ ...JOB, uid });
    expect((await dragoman.machineJobs.get(uid)).uid).toBe(uid);
    await expect(dragoman.machineJobs.get('')).rejects.toThrow('uid must not be empty');
    await expect(dragoman.machineJobs.get('.')).rejects.toThrow('uid must not be .');
    await expect(dragoman.machineJobs.cancel('..')).rejects.toThrow('uid must not be ..');
  });
});

it('client: language pairs, tones, topics, account and word count are read', async () => {
  const pairs = await dragoman.languagePairs();
  expect(
    pairs.map(({ source_language, target_language }) => [
      source_language.shortname,
      target_language.shortname,
    ]),
  ).toContainEqual(['en', 'es']);
  expect((await dragoman.tones()).map(({ name }) => name)).toEqual(
    expect.arrayContaining(['Formal', 'Informal']),
  );
  expect((await dragoman.topics()).map(({ name }) => name)).toContain('sex & relationships');
  expect(await dragoman.wordCount({ text: 'The house is big.' })).toBe(4);
  const rich = await server.createAccount({ balanceCents: 1000 });
  const { username } = rich;
  expect(await client({ key: rich.production_key }).account()).toMatchObject({ username, balance: 1000 });
});

describe('client: DragomanError', () => {
  it('lists every invalid field of the request', async () => {
    const wrong = { ...JOB, text: '', text_format: 'pdf' as 'text' };
    const error = await refused(dragoman.jobs.create(wrong));
    expect(error.status).toBe(400);
    expect(error.fields).toEqual([
      { field: 'text', reason: 'must not be empty.' },
      { field: 'text_format', reason: expect.stringMatching(/"pdf" is not one of/) },
    ]);
  });

  it('has the HTTP status of the response', async () => {
    expect(await refused(dragoman.jobs.get('nobody'))).toMatchObject({ status: 404, message: 'Not found' });
    const stranger = client({ key: 'acme:wrong' });
    expect(await refused(stranger.jobs.get('one'))).toMatchObject({ status: 401, fields: [] });
    const astray = client({ sandbox: true });
    expect(await refused(astray.jobs.get('one'))).toMatchObject({ status: 401 });
  });

  it('is also thrown when a proxy responds without JSON', async () => {
    const proxied = client({
      retries: 0,
      fetch: async () => new Response('<h1>Bad gateway</h1>', { status: 502 }),
    });
    const error = await refused(proxied.jobs.get('one'));
    expect(error).toMatchObject({ status: 502, message: 'The service responded with 502.' });
  });
});

describe('client: retries', () => {
  /** Returns a client that loses or replaces its first responses after the service has processed the requests. */
  function losing(lost: (() => Response)[], options: Partial<DragomanOptions> = {}) {
    const waits: number[] = [];
    const requests: string[] = [];
    const flaky = client({
      ...options,
      fetch: async (address, init) => {
        requests.push(init?.method ?? 'GET');
        const response = await fetch(address, init);
        return lost.shift()?.() ?? response;
      },
      pause: async (milliseconds) => {
        waits.push(milliseconds);
      },
    });
    return { flaky, waits, requests };
  }
  const loss = () => {
    throw new TypeError('fetch failed');
  };
  const busy = (status: number, retryAfter: string) => () =>
    new Response('{"error":"later"}', { status, headers: { 'retry-after': retryAfter } });

  it.each([
    ['with a uid', (flaky: Dragoman) => flaky.jobs.create({ ...JOB, uid: 'once' })],
    ['without a uid', (flaky: Dragoman) => flaky.jobs.create(JOB)],
    ['with an empty uid', (flaky: Dragoman) => flaky.jobs.create({ ...JOB, uid: '' })],
    ['for several jobs', async (flaky: Dragoman) => (await flaky.jobs.createMany([JOB]))[0]!],
  ])(
    'create one job and charge it once when the responses to a create request %s are lost',
    async (_, create) => {
      const payer = await server.createAccount({ balanceCents: 1000 });
      const { flaky, requests } = losing([loss, loss], { key: payer.production_key });
      const created = await create(flaky);
      expect(requests).toHaveLength(3);
      const listed = [];
      for await (const job of flaky.jobs.list()) listed.push(job);
      expect(listed).toMatchObject([{ uid: created.uid, price: created.price }]);
      expect((await flaky.account()).balance).toBe(1000 - created.price);
    },
  );

  it('cancel a job only once when the response is lost', async () => {
    const { uid } = await dragoman.jobs.create(JOB);
    const { flaky, requests } = losing([loss]);
    await flaky.jobs.cancel(uid);
    expect(requests).toEqual(['DELETE', 'DELETE', 'GET']);
    expect((await dragoman.jobs.get(uid)).status).toBe('canceled');
  });

  it('wait longer before each attempt, and finally throw an error', async () => {
    const { flaky, waits } = losing(Array(9).fill(loss), { retries: 6 });
    const error = await refused(flaky.jobs.get('one'));
    expect(error).toMatchObject({ status: undefined, cause: { message: 'fetch failed' } });
    expect(waits).toHaveLength(6);
    for (const [index, wait] of waits.entries()) {
      const full = Math.min(500 * 2 ** index, 8000);
      expect(wait).toBeGreaterThanOrEqual(full / 2);
      expect(wait).toBeLessThanOrEqual(full);
    }
  });

  it('follow the header Retry-After, in seconds or as a date', async () => {
    const { uid } = await dragoman.machineJobs.create(JOB);
    const until = new Date(Date.now() + 30_000).toUTCString();
    const { flaky, waits } = losing([busy(503, '7'), busy(429, until)]);
    await flaky.machineJobs.get(uid);
    expect(waits[0]).toBe(7000);
    expect(waits[1]).toBeGreaterThan(20_000);
    expect(waits[1]).toBeLessThanOrEqual(30_000);
  });

  it('are not made when Retry-After is an hour; the error is thrown without waiting', async () => {
    const { flaky, waits } = losing([busy(503, '3600')]);
    expect(await refused(flaky.jobs.get('one'))).toMatchObject({ status: 503 });
    expect(waits).toEqual([]);
  });

  it.each([400, 401, 402, 404, 413])('are not made after status %i', async (status) => {
    const { flaky, requests } = losing([() => new Response('{"error":"no"}', { status })]);
    expect(await refused(flaky.jobs.get('one'))).toMatchObject({ status });
    expect(requests).toHaveLength(1);
  });

  it('end when the signal is aborted', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    const waiting = client({
      fetch: async () => {
        setImmediate(() => controller.abort(reason));
        throw new TypeError('fetch failed');
      },
    });
    await expect(waiting.jobs.get('one', { signal: controller.signal })).rejects.toBe(reason);
    await expect(dragoman.jobs.get('one', { signal: controller.signal })).rejects.toBe(reason);
  });
});

it('client: quotes, memory and terms can be read', async () => {
  const quote = await dragoman.quote(JOB);
  expect(quote).toMatchObject({ word_count: 4, source_language: 'en', target_language: 'es' });
  expect(await dragoman.searchMemory({ q: 'house' })).toEqual({ objects: [], next: null });
  expect(await dragoman.terms({ target_language: 'es' })).toEqual({ total_count: 0, objects: [] });
  expect((await refused(dragoman.quote({ ...JOB, target_language: 'tlh' }))).fields).toMatchObject([
    { field: 'target_language' },
  ]);
});

it('client: verifyWebhook accepts callbacks of the server', async () => {
  const receiver = await startReceiver();
  const callback_url = `${receiver.url}/done`;
  const { uid } = await dragoman.machineJobs.create({ ...JOB, callback_url });
  const { headers, body } = await receiver.next();
  const secret = account.webhook_secret_production;
  expect(await verifyWebhook({ secret, headers, body })).toEqual({ ok: true, id: headers['webhook-id'] });
  expect(JSON.parse(body)).toMatchObject({ uid, status: 'completed' });
  const other = account.webhook_secret_sandbox;
  expect(await verifyWebhook({ secret: other, headers, body })).toMatchObject({ ok: false });
  await receiver.close();
});
