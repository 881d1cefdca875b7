/** Tests of event streams: access, limits, end, and updates from other processes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../base/log.ts';
import { openDatabase } from '../database/database.ts';
import { startServer } from '../roles/serve.ts';
import { loadSettings } from '../settings/settings.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';
import { createSlow, sentences } from '../testing/slow-engine.ts';
import { subscribe } from '../testing/subscriber.ts';
import { STREAMS_PER_USER } from './hub.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const JOB = { source_language: 'en', target_language: 'es', text: 'The house is small.' };

let server: TestServer;
let customer: TestPerson;
let editor: TestPerson;
let operator: TestPerson;
const subscribeTo = (person: TestPerson, ...topics: string[]) => subscribe(server.url, person, topics);

beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_LIVE_STREAMS: String(STREAMS_PER_USER + 2) } });
  customer = await createPerson(server, { role: 'customer' });
  editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  operator = await createPerson(server, { role: 'operator' });
});
afterAll(() => server.stop());

it('an event stream is refused without a session, to other sites, and for topics of another role', async () => {
  expect((await subscribe(server.url, customer, ['jobs'], { cookie: 'none=1' })).status).toBe(401);
  const elsewhere = { headers: { 'sec-fetch-site': 'same-site' } };
  expect((await subscribe(server.url, customer, ['jobs'], elsewhere)).status).toBe(403);
  for (const [person, topic] of [
    ...([[customer, 'tasks'] as const, [customer, 'console'] as const] as const),
    ...([[customer, 'constructor'] as const, [customer, 'task:1'] as const] as const),
    ...([[editor, 'jobs'] as const, [editor, 'job:production:1'] as const] as const),
    ...([[editor, 'console'] as const, [operator, 'balance'] as const] as const),
  ]) {
    const refused = await subscribeTo(person, topic);
    expect(refused.status, topic).toBe(400);
    expect(refused.body).toMatchObject({ error: { code: 'invalid_request' } });
  }
  expect((await subscribeTo(customer)).status).toBe(400);
  const many = Array.from({ length: 13 }, (_, one) => `job:production:${one}`);
  expect((await subscribeTo(customer, ...many)).status).toBe(400);
});

it('an event stream is refused above the limits of its user and of the process', async () => {
  const { cookie, ...first } = await subscribeTo(customer, 'jobs');
  const more = [];
  while (more.length < STREAMS_PER_USER - 1) {
    more.push(await subscribe(server.url, customer, ['jobs'], { cookie }));
  }
  const refused = await subscribe(server.url, customer, ['jobs'], { cookie });
  expect(refused.status).toBe(429);
  expect(refused.body).toMatchObject({ error: { code: 'too_many_streams' } });
  const others = [await subscribeTo(editor, 'tasks'), await subscribeTo(operator, 'console')];
  expect(others.map(({ status }) => status)).toEqual([200, 200]);
  const full = await subscribeTo(await createPerson(server, { role: 'customer' }), 'jobs');
  expect(full.status).toBe(503);
  // A disconnected stream no longer counts towards the limit.
  first.disconnect();
  await until(async () => {
    const again = await subscribe(server.url, customer, ['jobs'], { cookie });
    if (again.status === 200) more.push(again);
    return again.status === 200;
  });
  for (const page of [...more, ...others]) page.disconnect();
  await until(async () => {
    const page = await subscribeTo(editor, 'tasks');
    page.disconnect();
    return page.status === 200;
  });
});

it('an event stream is refused when the users of its account have too many, and those of others are not', async () => {
  const { account } = customer;
  const mate = await createPerson(server, { role: 'customer', account: account! });
  const { cookie, ...first } = await subscribeTo(mate, 'jobs');
  const pages: { disconnect(): void }[] = [first];
  while (pages.length < STREAMS_PER_USER - 1) {
    pages.push(await subscribe(server.url, mate, ['jobs'], { cookie }));
  }
  const last = await subscribeTo(customer, 'jobs');
  expect(last.status).toBe(200);
  const refused = await subscribeTo(customer, 'jobs');
  expect(refused.status).toBe(429);
  const message = 'Too many live-update streams for the users of this account. Close some tabs.';
  expect(refused.body).toMatchObject({ error: { code: 'too_many_streams', message } });
  const other = await subscribeTo(await createPerson(server, { role: 'customer' }), 'jobs');
  expect(other.status).toBe(200);
  for (const page of [...pages, last, other]) page.disconnect();
});

describe('an event stream ends', () => {
  it('with its session, and no other stream ends', async () => {
    const page = await subscribeTo(customer, 'jobs');
    const other = await subscribeTo(customer, 'jobs');
    expect((await page.call('DELETE', '/api/session')).status).toBe(204);
    await until(() => page.ended);
    expect(page.events.at(-1)).toEqual({ event: 'ended', data: {} });
    expect(other.ended).toBe(false);
    other.disconnect();
  });

  it('when its user is disabled', async () => {
    const gone = await createPerson(server, { role: 'editor' });
    const page = await subscribeTo(gone, 'tasks');
    const { status } = await operator.call('POST', `/api/console/people/${gone.userId}/disable`, {});
    expect(status).toBe(200);
    await until(() => page.ended);
    expect(page.events.at(-1)?.event).toBe('ended');
  });

  it('when the server stops, without delaying the stop', async () => {
    const page = await subscribeTo(customer, 'jobs');
    await server.restart();
    await until(() => page.ended);
    expect(page.events).toEqual([]);
    const again = await subscribeTo(customer, 'jobs');
    expect(again.status).toBe(200);
    again.disconnect();
  });
});

/** Starts another API process on the same database; it serves one request at a time. */
async function startApi(first: TestServer) {
  const database = openDatabase(first.connection, createLog('silent'));
  const api = await startServer({
    store: { ...first.store, database },
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

it('an event stream reports changes of other processes, and does not count as a request in progress', async () => {
  const { api, stop } = await startApi(server);
  const page = await subscribe(api.url!, customer, ['jobs', 'job:production:elsewhere']);
  const second = await subscribe(api.url!, customer, ['jobs']);
  expect(page.status).toBe(200);
  const call = createClient(server.url, customer.account!.production_key);
  const received = Promise.all([page.nextEvent('jobs'), second.nextEvent('jobs')]);
  await call('POST', MACHINE, { ...JOB, uid: 'elsewhere' });
  await received;
  const here = createClient(api.url!, customer.account!.production_key);
  expect((await here('GET', `${MACHINE}elsewhere/`)).status).toBe(200);
  await stop();
  await until(() => page.ended && second.ended);
});

it('an event stream reports drafting progress of another process, also to a later subscriber', async () => {
  // The engine reports progress only six times, so it starts after the page has subscribed.
  const opened = Promise.withResolvers<void>();
  const engine = createSlow(6, opened.promise);
  const own = await startTestServer({ engine: () => engine });
  const person = await createPerson(own, { role: 'customer' });
  const { api, stop } = await startApi(own);
  const topic = 'job:production:book';
  const path = '/api/account/jobs/book';
  const call = createClient(own.url, person.account!.production_key);
  expect((await call('POST', MACHINE, { ...JOB, text: sentences(400), uid: 'book' })).status).toBe(201);
  const page = await subscribe(api.url!, person, [topic]);
  const received = page.nextEvent(topic, 'progress');
  opened.resolve();
  const { drafted, segments } = await received;
  expect(segments).toBe(400);
  expect(drafted).toBeGreaterThan(0);
  expect(drafted).toBeLessThan(400);
  // The process with the engine and the process with the page both know the progress.
  const { body } = await page.call('GET', path);
  expect(body.progress).toMatchObject({ work: 'drafting', segments: 400 });
  const late = await subscribe(api.url!, person, [topic]);
  await until(() => late.events.some(({ event }) => event === 'progress'));
  const done = page.nextEvent(topic);
  engine.goOn();
  await done;
  await waitForStatus(person.call, path);
  expect((await person.call('GET', path)).body.progress).toBeNull();
  for (const one of [page, late]) one.disconnect();
  await stop();
  await own.stop();
});

it('the metrics count streams and events, but no request durations of streams', async () => {
  await server.restart({ DRAGOMAN_METRICS_TOKEN: 'a metrics token' });
  const page = await subscribeTo(customer, 'jobs');
  const call = createClient(server.url, customer.account!.production_key);
  const received = page.nextEvent('jobs');
  await call('POST', MACHINE, JOB);
  await received;
  const headers = { authorization: 'Bearer a metrics token' };
  const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
  expect(text).toContain('dragoman_live_streams 1');
  expect(text).toMatch(/dragoman_live_events_total\{event="changed"\} [1-9]/);
  // The duration of a stream is not reported as a request duration.
  expect(text).not.toContain('route="/api/live"');
  page.disconnect();
});
