/** Tests of the console over HTTP: jobs, callbacks, language pairs, engine routes and engines. */
import { createFake } from '@dragoman/engines/fake';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
  waitForStatus,
} from '../../testing/harness.ts';

let server: TestServer;
let operator: TestPerson;
let receiver: Receiver;
const fakeEngine = createFake();
beforeAll(async () => {
  server = await startTestServer({
    engine: () => fakeEngine,
    settings: { DRAGOMAN_CALLBACK_SCHEDULE: '3600', DRAGOMAN_ENGINES: 'apertium,llm:qwen' },
  });
  operator = await createPerson(server, { role: 'operator' });
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await server.stop();
});

const JOB = { source_language: 'en', target_language: 'es', text: 'The house.' };
const fieldsOf = (body: { error: { fields?: object } }) => Object.keys(body.error.fields ?? {});
interface Listed {
  uid: string;
  account: string;
  job: string;
}

describe("the console's jobs", () => {
  it('are found in all accounts by uid, order number, account, status and pair, newest first', async () => {
    const [one, two] = [await server.createAccount(), await server.createAccount()];
    const [first, second] = [one, two].map(({ production_key }) => createClient(server.url, production_key));
    await first!('POST', '/tapi/v2/translation/', { ...JOB, uid: 'same' });
    const other = await second!('POST', '/tapi/v2/translation/', { ...JOB, uid: 'same' });
    await first!('POST', '/tapi/v2/translation/', {
      ...JOB,
      uid: 'same-too',
      source_language: 'es',
      target_language: 'en',
    });
    const list = async (query: string): Promise<[string, string][]> => {
      const { body } = await operator.call('GET', `/api/console/jobs?${query}`);
      return body.jobs.map(({ account, uid }: Listed) => [account, uid]);
    };
    expect(await list('q=same')).toEqual([
      [one.username, 'same-too'],
      [two.username, 'same'],
      [one.username, 'same'],
    ]);
    expect(await list(`q=same&account=${two.username}`)).toEqual([[two.username, 'same']]);
    expect(await list(`q=${other.body.order_number}`)).toContainEqual([two.username, 'same']);
    expect(await list('q=same&source_language=es')).toEqual([[one.username, 'same-too']]);
    expect(await list('q=same&status=canceled')).toEqual([]);
    expect(await list('q=same_')).toEqual([]);
    const page = await operator.call('GET', '/api/console/jobs?q=same&limit=2');
    expect(await list(`q=same&after=${page.body.next}`)).toEqual([[one.username, 'same']]);
    const wrong = await operator.call('GET', '/api/console/jobs?status=odd&limit=0&after=x');
    expect(fieldsOf(wrong.body).sort()).toEqual(['after', 'limit', 'status']);
    const unknown = await operator.call('GET', '/api/console/jobs?account=nobody-here');
    expect(fieldsOf(unknown.body)).toEqual(['account']);
  });

  it("can be canceled once by an operator, which releases the customer's hold", async () => {
    const account = await server.createAccount({ balanceCents: 100 });
    const { username, production_key } = account;
    const call = createClient(server.url, production_key);
    await call('POST', '/tapi/v2/translation/', { ...JOB, uid: 'back' });
    const { body: list } = await operator.call('GET', `/api/console/jobs?account=${username}`);
    const path = `/api/console/accounts/${username}/jobs/${list.jobs[0].job}`;
    const { body } = await operator.call('GET', path);
    expect(body).toMatchObject({ uid: 'back', price: 6, may: { cancel: true } });
    expect(body.texts).toContainEqual({ kind: 'source', body: 'The house.', characters: 10 });
    const note = 'We do not translate this text.';
    const canceled = await operator.call('POST', `${path}/cancel`, { note });
    expect(canceled.body).toMatchObject({ status: 'canceled', may: { cancel: false } });
    expect(canceled.body.timeline).toContainEqual(
      expect.objectContaining({ kind: 'moved', status: 'canceled', actor: 'operator', detail: note }),
    );
    expect(canceled.body.timeline.map(({ money }: { money?: string }) => money)).toContain('void');
    const customer = await createPerson(server, { role: 'customer', account });
    const own = await customer.call('GET', '/api/account/jobs/back?environment=production');
    expect(own.body.timeline.at(-1)).toMatchObject({ status: 'canceled', actor: 'operator', detail: note });
    expect((await call('GET', '/tapi/v2/account/')).body.objects[0].account.balance).toBe(100);
    expect((await operator.call('POST', `${path}/cancel`)).status).toBe(400);
    expect((await operator.call('POST', `${path}/retry`)).status).toBe(400);
    const stranger = await server.createAccount();
    const theirs = `/api/console/accounts/${stranger.username}/jobs/${list.jobs[0].job}`;
    expect((await operator.call('GET', theirs)).status).toBe(404);
    expect((await operator.call('POST', `${theirs}/cancel`)).status).toBe(404);
    expect((await operator.call('GET', `/api/console/accounts/${username}/jobs/odd`)).status).toBe(404);
  });
});

describe("the console's callbacks", () => {
  it('are listed with the host that fails, and can be replayed one by one or all together', async () => {
    receiver.answer(() => 410);
    const { username, production_key } = await server.createAccount();
    const call = createClient(server.url, production_key);
    for (const uid of ['a', 'b']) {
      await call('POST', '/tapi/v2/mt_translation/', { ...JOB, uid, callback_url: `${receiver.url}/x` });
    }
    const query = `/api/console/deliveries?account=${username}`;
    const dead = await until(async () => {
      const { body } = await operator.call('GET', `${query}&status=dead`);
      return body.deliveries.length === 2 && body.deliveries;
    });
    const path = `/api/console/deliveries/${dead[0].id}`;
    const { body } = await operator.call('GET', path);
    expect(body).toMatchObject({ account: username, failure: 'gone' });
    expect(body.attempts).toMatchObject([{ status_code: 410 }]);
    expect(JSON.parse(body.request.body)).toMatchObject({ uid: body.uid });
    receiver.answer(() => 200);
    const jobs = (await operator.call('GET', `/api/console/jobs?account=${username}&q=${body.uid}`)).body
      .jobs;
    const job = await operator.call('GET', `/api/console/accounts/${username}/jobs/${jobs[0].job}`);
    expect(job.body.deliveries).toMatchObject([{ id: dead[0].id, status: 'dead', last_status_code: 410 }]);
    expect((await operator.call('POST', `${path}/replay`)).status).toBe(202);
    await waitForStatus(operator.call, path, 'delivered');
    const wanted = { account: username, environment: 'production', since: '2020-01-01' };
    const all = await operator.call('POST', '/api/console/deliveries/replay', wanted);
    expect(all.body).toEqual({ replayed: 1, left: 0 });
    await until(
      async () => (await operator.call('GET', `${query}&status=delivered`)).body.deliveries.length === 2,
    );
    const audit = await operator.call('GET', `/api/console/audit?account=${username}`);
    expect(audit.body.entries.map(({ action }: { action: string }) => action)).toEqual([
      'deliveries.replayed',
      'delivery.replayed',
      'account.created',
    ]);
    for (const id of ['odd', '00000000-0000-7000-8000-000000000000']) {
      expect((await operator.call('GET', `/api/console/deliveries/${id}`)).status).toBe(404);
      expect((await operator.call('POST', `/api/console/deliveries/${id}/replay`)).status).toBe(404);
    }
    const wrong = await operator.call('POST', '/api/console/deliveries/replay', { since: 'yesterday' });
    expect(fieldsOf(wrong.body)).toEqual(['account', 'environment', 'since']);
  });
});

describe("the console's pages for language pairs, engine routes and engines", () => {
  it('let an operator stop offering a language pair for new jobs and offer it again', async () => {
    const { production_key } = await server.createAccount();
    const call = createClient(server.url, production_key);
    const offered = async () => (await call('GET', '/tapi/v2/language_pair/')).body.objects.length;
    const before = await offered();
    await operator.call('PUT', '/api/console/pairs/es/en', { enabled: false });
    await until(async () => (await offered()) === before - 1);
    const { body } = await operator.call('GET', '/api/console/pairs?enabled=false&q=spanish');
    expect(body).toMatchObject({ total: 1, pairs: [{ source_language: 'es', enabled: false }] });
    await operator.call('PUT', '/api/console/pairs/es/en', { enabled: true });
    await until(async () => (await offered()) === before);
    expect((await operator.call('PUT', '/api/console/pairs/es/EN!', { enabled: true })).status).toBe(404);
    expect((await operator.call('PUT', '/api/console/pairs/es/en', {})).status).toBe(400);
  });

  it('save and delete engine routes, and refuse routes with unknown engines', async () => {
    const { username } = await server.createAccount();
    const selector = { source_language: 'en', target_language: '*', tier: 'chat', account: username };
    const set = await operator.call('PUT', '/api/console/routes', {
      ...selector,
      engines: ['deepl', 'llm:qwen', 'apertium'],
    });
    expect(set.body).toMatchObject({ fallback: ['apertium', 'llm:qwen'] });
    expect(set.body.routes).toContainEqual({
      ...selector,
      brand: null,
      engines: ['deepl', 'llm:qwen', 'apertium'],
    });
    for (const [more, fields] of [
      [{ engines: ['none such'] }, ['engines']],
      [{ engines: ['llm:'] }, ['engines']],
      [{ engines: ['llm:unknown'] }, ['engines']],
      [{ engines: [] }, ['engines']],
      [{ engines: ['llm', 'llm'] }, ['engines']],
      [{ engines: ['llm'], account: null, brand: 'x' }, ['brand']],
    ] as const) {
      const answer = await operator.call('PUT', '/api/console/routes', { ...selector, ...more });
      expect(fieldsOf(answer.body)).toEqual(fields);
    }
    expect((await operator.call('DELETE', '/api/console/routes', selector)).body.routes).toEqual([]);
    expect((await operator.call('DELETE', '/api/console/routes', selector)).status).toBe(404);
  });

  it('show the state and request counts of engines, and translate a test sentence with one engine', async () => {
    const test = { source_language: 'en', target_language: 'es', text: 'The house.' };
    const engine = await until(async () => {
      const { body } = await operator.call('GET', '/api/console/engines');
      const fake = body.engines.find((one: { engine: string }) => one.engine === 'fake');
      return fake?.last_hour.answered > 0 && fake;
    });
    expect(engine).toMatchObject({ state: 'closed', workers: 1, pairs: 2 });
    expect(engine.minutes.length).toBeGreaterThan(0);
    const { body } = await operator.call('POST', '/api/console/engines/fake/test', test);
    expect(body).toMatchObject({ status: 'translated', route: 'fake:en-es' });
    const unknown = await operator.call('POST', '/api/console/engines/fake/test', {
      ...test,
      target_language: 'xx',
    });
    expect(unknown.body.status).toBe('unsupported');
    expect((await operator.call('POST', '/api/console/engines/none/test', test)).status).toBe(404);
    const wrong = await operator.call('POST', '/api/console/engines/fake/test', {});
    expect(fieldsOf(wrong.body)).toEqual(['source_language', 'target_language', 'text']);
  });

  it('count the failed segments of requests that an engine answered', async () => {
    const { production_key } = await server.createAccount();
    fakeEngine.failOn('faulty', 'too long');
    const job = { ...JOB, text: 'The house. This is faulty. A garden.' };
    expect(
      (await createClient(server.url, production_key)('POST', '/tapi/v2/mt_translation/', job)).status,
    ).toBe(201);
    const engine = await until(async () => {
      const { body } = await operator.call('GET', '/api/console/engines');
      const fake = body.engines.find((one: { engine: string }) => one.engine === 'fake');
      return fake.last_hour.failed_segments > 0 && fake;
    });
    fakeEngine.failOn(null);
    const { failed, segments, failed_segments } = engine.last_hour;
    expect({ failed, failed_segments }).toEqual({ failed: 0, failed_segments: 1 });
    expect(segments).toBeGreaterThan(2);
    expect(engine.errors).toMatchObject([{ reason: 'too long', count: 1 }]);
  });
});
