/** Tests of comparisons of engines over HTTP, with two fake engines. The tests of the command test the measures. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';

const ROUTE = '/api/console/comparisons';
const PAIR = { source_language: 'en', target_language: 'es' };
const ENGINES = ['fake', 'other'];

let server: TestServer;
let operator: TestPerson;
let owner: pg.Client;
let fake: FakeEngine;
let other: FakeEngine;
beforeAll(async () => {
  fake = createFake();
  other = Object.assign(createFake(), { name: 'other' });
  server = await startTestServer({ engines: () => [fake, other] });
  operator = await createPerson(server, { role: 'operator' });
  owner = await server.connectOwner();
  // The engines are known from the first report of the worker.
  await until(async () => (await owner.query('select from engine_states')).rowCount === 2);
});
afterAll(() => server.stop());

async function start(body: object): Promise<string> {
  const answer = await operator.call('POST', ROUTE, { ...PAIR, engines: ENGINES, ...body });
  expect(answer.status, answer.text).toBe(200);
  return `${ROUTE}/${answer.body.comparison}`;
}
const read = async (path: string) => (await operator.call('GET', path)).body;
const finished = (path: string) =>
  until(async () => {
    const body = await read(path);
    return body.finished && body;
  });
const rows = async () => (await owner.query('select comparison_id from engine_comparisons')).rowCount;

it('shows the translations of each line side by side with their measures, and deletes them on request', async () => {
  other.failOn('faulty', 'too long');
  other.rate('The house', { mean: 0.9, minimum: 0.1 });
  other.rate('It is small', { mean: 0.5, minimum: 0.5 });
  const path = await start({
    text: 'The house.\n\nIt is small. This is faulty.\n',
    references: 'THE HOUSE.\n\nIT IS SMALL. THIS IS FAULTY.',
  });
  const body = await finished(path);
  other.failOn(null);
  expect(body).toMatchObject({
    ...PAIR,
    engines: [
      {
        engine: 'fake',
        state: 'done',
        translated: 3,
        segments: 3,
        measures: { chrf: 100, copied: 0, confidence: null, cents: 0, failed: {} },
      },
      { engine: 'other', state: 'done', measures: { copied: 0, confidence: 0.7, failed: { 'too long': 1 } } },
    ],
  });
  const [first, second] = body.engines.map((one: { measures: object }) => one.measures);
  expect(second.chrf).toBeLessThan(100);
  expect(first.agreement).toBeGreaterThan(0);
  expect(first.words_per_second).toBeGreaterThan(0);
  const complete = { text: 'THE HOUSE.', complete: true, chrf: 100, copied: [] };
  expect(body.texts).toMatchObject([
    {
      source: 'The house.',
      reference: 'THE HOUSE.',
      translations: [
        { engine: 'fake', ...complete },
        { engine: 'other', ...complete },
      ],
    },
    { translations: [{ complete: true }, { text: 'IT IS SMALL. ', complete: false }] },
  ]);
  expect((await operator.call('DELETE', path)).status).toBe(204);
  expect((await operator.call('GET', path)).status).toBe(404);
  expect((await operator.call('DELETE', path)).status).toBe(404);
  expect(await rows()).toBe(0);
});

it('gives no chrF without references, and translates the same text again in the next comparison', async () => {
  const before = fake.requests.length;
  for (const number of [1, 2]) {
    const path = await start({ text: 'A garden.', references: ' ', engines: ['fake'] });
    const { engines, texts } = await finished(path);
    expect(engines).toMatchObject([{ measures: { chrf: null, agreement: null } }]);
    expect(texts).toMatchObject([{ reference: null, translations: [{ text: 'A GARDEN.', chrf: null }] }]);
    expect(fake.requests.length).toBe(before + number);
    await operator.call('DELETE', path);
  }
});

it('stops translating when the operator cancels, and then begins the next comparison', async () => {
  fake.stall();
  const before = fake.requests.length;
  const path = await start({ text: 'One house. Two houses.' });
  await fake.waitForRequests(before + 1);
  await until(async () => (await read(path)).engines[0].segments === 2);
  expect(await read(path)).toMatchObject({
    finished: false,
    engines: [{ state: 'translating', translated: 0, measures: null }, { state: 'waiting' }],
    texts: [],
  });
  const next = await start({ text: 'Three houses.', engines: ['other'] });
  expect((await operator.call('DELETE', path)).status).toBe(204);
  await until(() => fake.requests[before]!.signal!.aborted);
  await finished(next);
  fake.resume();
  await operator.call('DELETE', next);
  expect(await rows()).toBe(0);
});

it('begins a task again whose worker has died, and takes no result of a lost lease', async () => {
  fake.stall();
  const before = fake.requests.length;
  const path = await start({ text: 'Four houses.', engines: ['fake'] });
  await fake.waitForRequests(before + 1);
  // As if another worker had leased the task, and had died.
  await owner.query('update engine_comparisons set lease_token = gen_random_uuid(), leased_until = now()');
  await until(() => fake.requests[before]!.signal!.aborted);
  fake.resume();
  await finished(path);
  expect(fake.requests.length).toBe(before + 2);
  await operator.call('DELETE', path);
});

it('deletes a comparison after ten minutes', async () => {
  const path = await start({ text: 'Five houses.' });
  await finished(path);
  await owner.query(`update engine_comparisons set created_at = now() - interval '11 minutes'`);
  expect((await operator.call('GET', path)).status).toBe(404);
  await until(async () => (await rows()) === 0);
});

it('deletes a comparison after ten minutes also while the worker translates another one', async () => {
  const expired = await start({ text: 'Six houses.', engines: ['other'] });
  await finished(expired);
  fake.stall();
  const before = fake.requests.length;
  const path = await start({ text: 'Seven houses.', engines: ['fake'] });
  await fake.waitForRequests(before + 1);
  await owner.query(
    `update engine_comparisons set created_at = now() - interval '11 minutes' where engine = 'other'`,
  );
  await until(async () => (await rows()) === 1);
  expect(await read(path)).toMatchObject({ engines: [{ engine: 'fake', state: 'translating' }] });
  fake.resume();
  await finished(path);
  await operator.call('DELETE', path);
});

it.each([
  ['an empty text', { text: ' \n ' }, { text: 'not_empty' }],
  ['too many lines', { text: 'A house.\n'.repeat(101) }, { text: 'lines_at_most' }],
  ['a long line', { text: 'a '.repeat(1_001) }, { text: 'line_at_most' }],
  ['a long reference', { text: 'A house.', references: 'a '.repeat(1_001) }, { references: 'line_at_most' }],
  ['a long text', { text: 'a\n'.repeat(10_001) }, { text: 'text_length' }],
  ['a line without a reference', { text: 'A\nB', references: 'A' }, { references: 'line_without_reference' }],
  ['a reference without a line', { text: 'A', references: 'A\nB' }, { references: 'reference_without_line' }],
  ['an engine that no worker has', { text: 'A', engines: ['fake', 'llm:none'] }, { engines: 'one_of' }],
  ['no engine', { text: 'A', engines: [] }, { engines: 'list_length' }],
  ['a NUL character', { text: 'A\0' }, { text: 'unusable' }],
])('refuses %s', async (_, more, wrong) => {
  const { status, body } = await operator.call('POST', ROUTE, { ...PAIR, engines: ENGINES, ...more });
  expect(status).toBe(400);
  const reasons: Record<string, { code: string }> = body.error.reasons;
  const codes = Object.entries(reasons).map(([field, { code }]) => [field, code]);
  expect(Object.fromEntries(codes)).toEqual(wrong);
});
