/** Tests of the confidence of engines in their drafts, from the engine to the task of an editor. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimJob, confirm, orderEdit, pathOf } from '../../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../../testing/harness.ts';

const LOW = { mean: 0.42, minimum: 0.071 };
const HIGH = { mean: 1, minimum: 0.999 };

let server: TestServer;
let owner: pg.Client;
let fake: FakeEngine;
let second: FakeEngine;
let operator: TestPerson;
let ann: TestPerson;
let call: ReturnType<typeof createClient>;
let who: string;

beforeAll(async () => {
  fake = createFake({ directions: ['en>es'] });
  second = Object.assign(createFake({ directions: ['en>es'] }), { name: 'second' });
  fake.rate('house', LOW);
  second.rate('garden', HIGH);
  server = await startTestServer({
    engines: () => [fake, second],
    settings: { DRAGOMAN_TASK_WORDS: '60', DRAGOMAN_EDITOR_TASKS: '9' },
  });
  owner = await server.connectOwner();
  operator = await createPerson(server, { role: 'operator' });
  ann = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  const { username, production_key } = await server.createAccount({ balanceCents: 100_000 });
  call = createClient(server.url, production_key);
  who = `/api/console/accounts/${username}/jobs`;
});
afterAll(() => server.stop());

const confidencesOf = (segments: { confidence?: unknown }[]) => segments.map(({ confidence }) => confidence);

it('is part of each segment whose draft is of an engine that reports it', async () => {
  const task = await claimJob(ann, await orderEdit(call, 'The house is big.\nThe cat is small.\n'));
  expect(confidencesOf(task.segments)).toEqual([LOW, undefined]);
  const read = await ann.call('GET', pathOf(task));
  expect(confidencesOf(read.body.segments)).toEqual([LOW, undefined]);
});

it('is hidden while a segment is joined with another one', async () => {
  const task = await claimJob(ann, await orderEdit(call, 'The house is here. The dog sleeps.'));
  const change = async (what: string, fields: object) => {
    const body = { token: task.lease.token, ...fields };
    const answer = await ann.call('POST', pathOf(task, `/segments/0/${what}`), body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body.segments;
  };
  const [joined] = await change('join', { revision: 0, next_revision: 0 });
  expect(joined).toMatchObject({ joined_to: 1, origin: 'machine' });
  expect(joined).not.toHaveProperty('confidence');
  const parts = await change('separate', { revision: joined.revision });
  expect(confidencesOf(parts)).toEqual([LOW, undefined]);
});

it('is replaced when an operator has the drafts made again by another engine', async () => {
  const uid = await orderEdit(call, 'The house was old.\nThe garden was old.\n');
  const { rows } = await owner.query('select job_id from jobs where uid = $1', [uid]);
  const path = `${who}/${rows[0].job_id}`;
  const asked = await operator.call('POST', `${path}/redraft`, { engine: 'second' });
  expect(asked.status, asked.text).toBe(200);
  await until(async () => (await operator.call('GET', path)).body.redraft === null);
  expect(confidencesOf((await claimJob(ann, uid)).segments)).toEqual([undefined, HIGH]);
});

it('is not shown for the text of an editor that replaced the draft of the engine', async () => {
  const text = 'A house without windows.';
  const first = await orderEdit(call, text);
  const other = await orderEdit(call, text);
  const stored = async () =>
    (
      await owner.query(
        `select s.route, s.confidence, s.least_confidence from segments s join jobs j using (part, account_id, job_id)
          where j.uid = $1`,
        [other],
      )
    ).rows[0];
  // The draft of the second job is from the cache.
  expect(await stored()).toMatchObject({ confidence: LOW.mean, least_confidence: LOW.minimum });
  const task = await claimJob(ann, first);
  const saved = await confirm(ann, task, task.segments[0], { target: [{ text: 'Una casa sin ventanas.' }] });
  expect(saved.status, saved.text).toBe(200);
  await until(async () => (await stored()).route === 'memory:vote');
  const [segment] = (await claimJob(ann, other)).segments;
  expect(segment).toMatchObject({ origin: 'memory' });
  expect(segment).not.toHaveProperty('confidence');
});
