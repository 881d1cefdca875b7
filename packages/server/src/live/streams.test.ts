/** Who may look on, for how long, and how many; and hints between processes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../database/database.ts';
import { createLog } from '../log.ts';
import { startServer } from '../serve.ts';
import { loadSettings } from '../settings.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { lookOn } from '../testing/onlooker.ts';
import { createSlow, sentences } from '../testing/slow-engine.ts';
import { STREAMS_A_PERSON } from './hub.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const JOB = { source_language: 'en', target_language: 'es', text: 'The house is small.' };

let server: TestServer;
let customer: TestPerson;
let editor: TestPerson;
let operator: TestPerson;
const look = (person: TestPerson, ...topics: string[]) => lookOn(server.url, person, topics);

beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_LIVE_STREAMS: String(STREAMS_A_PERSON + 2) } });
  customer = await createPerson(server, { role: 'customer' });
  editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  operator = await createPerson(server, { role: 'operator' });
});
afterAll(() => server.stop());

it('is refused to nobody, to other sites, and for topics that are not theirs', async () => {
  expect((await lookOn(server.url, customer, ['jobs'], { cookie: 'none=1' })).status).toBe(401);
  const elsewhere = { headers: { 'sec-fetch-site': 'same-site' } };
  expect((await lookOn(server.url, customer, ['jobs'], elsewhere)).status).toBe(403);
  for (const [person, topic] of [
    ...([[customer, 'tasks'] as const, [customer, 'console'] as const] as const),
    ...([[customer, 'constructor'] as const, [customer, 'task:1'] as const] as const),
    ...([[editor, 'jobs'] as const, [editor, 'job:production:1'] as const] as const),
    ...([[editor, 'console'] as const, [operator, 'balance'] as const] as const),
  ]) {
    const refused = await look(person, topic);
    expect(refused.status, topic).toBe(400);
    expect(refused.body).toMatchObject({ error: { code: 'invalid_request' } });
  }
  expect((await look(customer)).status).toBe(400);
  const many = Array.from({ length: 13 }, (_, one) => `job:production:${one}`);
  expect((await look(customer, ...many)).status).toBe(400);
});

it('is for a person so often, and for so many in all', async () => {
  const { cookie, ...first } = await look(customer, 'jobs');
  const more = [];
  while (more.length < STREAMS_A_PERSON - 1) {
    more.push(await lookOn(server.url, customer, ['jobs'], { cookie }));
  }
  const refused = await lookOn(server.url, customer, ['jobs'], { cookie });
  expect(refused.status).toBe(429);
  expect(refused.body).toMatchObject({ error: { code: 'too_many_streams' } });
  const others = [await look(editor, 'tasks'), await look(operator, 'console')];
  expect(others.map(({ status }) => status)).toEqual([200, 200]);
  const full = await look(await createPerson(server, { role: 'customer' }), 'jobs');
  expect(full.status).toBe(503);
  // A place that is left is free.
  first.leave();
  await until(async () => {
    const again = await lookOn(server.url, customer, ['jobs'], { cookie });
    if (again.status === 200) more.push(again);
    return again.status === 200;
  });
  for (const page of [...more, ...others]) page.leave();
  await until(async () => {
    const page = await look(editor, 'tasks');
    page.leave();
    return page.status === 200;
  });
});

describe('a stream ends', () => {
  it('with its session, and no other', async () => {
    const page = await look(customer, 'jobs');
    const other = await look(customer, 'jobs');
    expect((await page.call('DELETE', '/api/session')).status).toBe(204);
    await until(() => page.over);
    expect(page.events.at(-1)).toEqual({ event: 'ended', data: {} });
    expect(other.over).toBe(false);
    other.leave();
  });

  it('when its person is disabled', async () => {
    const gone = await createPerson(server, { role: 'editor' });
    const page = await look(gone, 'tasks');
    const { status } = await operator.call('POST', `/api/console/people/${gone.userId}/disable`, {});
    expect(status).toBe(200);
    await until(() => page.over);
    expect(page.events.at(-1)?.event).toBe('ended');
  });

  it('when the server stops, which does not wait for it', async () => {
    const page = await look(customer, 'jobs');
    await server.restart();
    await until(() => page.over);
    expect(page.events).toEqual([]);
    const again = await look(customer, 'jobs');
    expect(again.status).toBe(200);
    again.leave();
  });
});

/** Another process on the same database, which answers one request at a time. */
async function startApi(beside: TestServer) {
  const database = openDatabase(beside.connection, createLog('silent'));
  const api = await startServer({
    store: { ...beside.store, database },
    settings: loadSettings({ DRAGOMAN_PORT: '0', DRAGOMAN_MAX_REQUESTS: '1' }),
    role: 'api',
    engines: () => [],
    log: createLog('silent'),
  });
  const stop = async () => {
    await api.stop();
    await database.close();
  };
  return { api, stop };
}

it('hears of what other processes do, and takes no request’s place', async () => {
  const { api, stop } = await startApi(server);
  const page = await lookOn(api.url!, customer, ['jobs', 'job:production:elsewhere']);
  const second = await lookOn(api.url!, customer, ['jobs']);
  expect(page.status).toBe(200);
  const call = createClient(server.url, customer.account!.production_key);
  const heard = Promise.all([page.hears('jobs'), second.hears('jobs')]);
  await call('POST', MACHINE, { ...JOB, uid: 'elsewhere' });
  await heard;
  const here = createClient(api.url!, customer.account!.production_key);
  expect((await here('GET', `${MACHINE}elsewhere/`)).status).toBe(200);
  await stop();
  await until(() => page.over && second.over);
});

it('says how far a machine is that works in another process, also to who comes late', async () => {
  const engine = createSlow(6);
  const own = await startTestServer({ engine: () => engine });
  const person = await createPerson(own, { role: 'customer' });
  const { api, stop } = await startApi(own);
  const topic = 'job:production:book';
  const path = '/api/account/jobs/book';
  const call = createClient(own.url, person.account!.production_key);
  expect((await call('POST', MACHINE, { ...JOB, text: sentences(400), uid: 'book' })).status).toBe(201);
  const page = await lookOn(api.url!, person, [topic]);
  const { drafted, segments } = await page.hears(topic, 'progress');
  expect(segments).toBe(400);
  expect(drafted).toBeGreaterThan(0);
  expect(drafted).toBeLessThan(400);
  // Both know: who has the machine, and who has the page.
  const { body } = await page.call('GET', path);
  expect(body.progress).toMatchObject({ work: 'drafting', segments: 400 });
  const late = await lookOn(api.url!, person, [topic]);
  await until(() => late.events.some(({ event }) => event === 'progress'));
  const done = page.hears(topic);
  engine.goOn();
  await done;
  await until(async () => (await person.call('GET', path)).body.status === 'completed');
  expect((await person.call('GET', path)).body.progress).toBeNull();
  for (const one of [page, late]) one.leave();
  await stop();
  await own.stop();
});

it('is counted', async () => {
  await server.restart({ DRAGOMAN_METRICS_TOKEN: 'a metrics token' });
  const page = await look(customer, 'jobs');
  const call = createClient(server.url, customer.account!.production_key);
  const heard = page.hears('jobs');
  await call('POST', MACHINE, JOB);
  await heard;
  const headers = { authorization: 'Bearer a metrics token' };
  const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
  expect(text).toContain('dragoman_live_streams 1');
  expect(text).toMatch(/dragoman_live_events_total\{event="changed"\} [1-9]/);
  // How long somebody looked on is no time that a request took.
  expect(text).not.toContain('route="/api/live"');
  page.leave();
});
