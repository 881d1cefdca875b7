/** Tests of queries: questions of editors to the customer about a segment. */
import { describe, expect, it } from 'vitest';
import { claimTask, confirm, HUMAN, orderEdit, pathOf, startEditing } from '../../testing/editors.ts';
import { createClient, until, waitForStatus } from '../../testing/harness.ts';
import { QUERY_MOVES, QUERY_STATUSES } from '../model/states.ts';

const { server, owner, keys, call, customer, ann } = await startEditing({ DRAGOMAN_EDITOR_TASKS: '20' });
const sandbox = createClient(server.url, keys.sandbox_key);

type Claimed = Awaited<ReturnType<typeof claimTask>>;

async function claimNew(text: string): Promise<{ task: Claimed; uid: string }> {
  const uid = await orderEdit(call, text);
  const task = await claimTask(ann);
  expect(task.job.uid).toBe(uid);
  return { task, uid };
}
const askAbout = (task: Claimed, position: number, question: unknown = 'Which one?') =>
  ann.call('POST', pathOf(task, '/queries'), { token: task.lease.token, position, question });
const queriesOf = async (uid?: string) =>
  (await customer.call('GET', `/api/account/queries${uid === undefined ? '' : `?uid=${uid}`}`)).body.objects;
const segmentsOf = async (task: Claimed) => (await ann.call('GET', pathOf(task))).body.segments;

describe('a query', () => {
  it('comes before earlier queries in the list of its job', async () => {
    const { task, uid } = await claimNew('The seal is broken.\n');
    for (const question of ['First?', 'Second?']) {
      expect((await askAbout(task, 0, question)).status).toBe(201);
      const [open] = await queriesOf();
      await customer.call('POST', `/api/account/queries/${open.query}/answer`, { answer: 'Yes.' });
    }
    expect((await askAbout(task, 0, 'Third?')).status).toBe(201);
    const questions = (await queriesOf(uid)).map(({ question }: { question: string }) => question);
    expect(questions).toEqual(['Third?', 'Second?', 'First?']);
    expect((await call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
  });

  it('keeps its segment from being confirmed until the customer answers', async () => {
    const { task, uid } = await claimNew('The bank is closed.\nThe sky is blue.\n');
    const [bank, sky] = task.segments;
    expect((await askAbout(task, 0, ' ')).body.error.fields).toHaveProperty('question');
    expect((await askAbout(task, 9)).status).toBe(404);
    const asked = await askAbout(task, 0, 'A bank for money, or of a river?');
    expect(asked.status, asked.text).toBe(201);
    expect(asked.body).toMatchObject({ position: 0, by: 'Ann', status: 'open', ended_at: null });
    expect((await askAbout(task, 0)).body.error.fields).toHaveProperty('question');
    expect(await segmentsOf(task)).toMatchObject([{ asked: true }, { asked: false }]);
    expect((await confirm(ann, task, bank)).body.error.code).toBe('query_open');
    expect((await confirm(ann, task, sky)).status).toBe(200);
    const early = await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    expect(early.body.error).toMatchObject({ code: 'unconfirmed', positions: [0] });

    const [open] = await queriesOf();
    expect(open).toMatchObject({
      uid,
      question: 'A bank for money, or of a river?',
      source: 'The bank is closed.',
    });
    // The customer does not see which editor asked.
    expect(open).not.toHaveProperty('by');
    const path = `/api/account/queries/${open.query}/answer`;
    expect((await customer.call('POST', path, { answer: '' })).body.error.fields).toHaveProperty('answer');
    const tooLong = await customer.call('POST', path, { answer: 'a'.repeat(2001) });
    expect(tooLong.body.error.fields).toHaveProperty('answer');
    const answered = await customer.call('POST', path, { answer: 'For money.' });
    expect(answered.body.objects).toMatchObject([{ status: 'answered', answer: 'For money.' }]);
    expect((await customer.call('POST', path, { answer: 'Of a river.' })).status).toBe(404);
    expect(await queriesOf()).toEqual([]);

    const { body } = await ann.call('GET', pathOf(task));
    expect(body.queries).toMatchObject([{ status: 'answered', answer: 'For money.' }]);
    expect((await confirm(ann, task, bank)).status).toBe(200);
    const done = await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    expect(done.status, done.text).toBe(200);
  });

  it('is listed and answered with an API key', async () => {
    const { task, uid } = await claimNew('The bat sleeps.\n');
    const { query } = (await askAbout(task, 0, 'An animal, or for baseball?')).body;
    const listed = await call('GET', '/api/v1/queries/');
    expect(listed.body.objects).toMatchObject([
      { query, uid, question: 'An animal, or for baseball?', source: 'The bat sleeps.', status: 'open' },
    ]);
    expect(listed.body.objects[0]).not.toHaveProperty('by');
    expect((await call('GET', '/api/v1/queries/?uid=nobody-has-this')).body.objects).toEqual([]);
    // The event feed reports the question. A key of the other environment sees no question.
    await until(async () => {
      const { objects } = (await call('GET', '/api/v1/events/')).body;
      return objects.some((one: { type: string; job?: { uid: string } }) => {
        return one.type === 'job.asked' && one.job?.uid === uid;
      });
    });
    const path = `/api/v1/queries/${query}/answer/`;
    expect((await sandbox('GET', '/sandbox/api/v1/queries/')).body.objects).toEqual([]);
    expect((await sandbox('POST', `/sandbox${path}`, { answer: 'Mine.' })).status).toBe(404);
    expect(await queriesOf()).toMatchObject([{ query, status: 'open' }]);

    const refused = await call('POST', path, { answer: ' ' });
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining('answer: ')]);
    const answered = await call('POST', path, { answer: ' An animal. ' });
    expect(answered.status, answered.text).toBe(200);
    expect(answered.body.objects).toMatchObject([{ query, status: 'answered', answer: 'An animal.' }]);
    expect((await call('POST', path, { answer: 'An animal.' })).text).toBe(answered.text);
    expect((await call('POST', path, { answer: 'For baseball.' })).status).toBe(404);
    expect((await call('GET', '/api/v1/queries/')).body.objects).toEqual([]);
    expect((await call('GET', `/api/v1/queries/?uid=${uid}`)).body.objects).toHaveLength(1);
    expect((await confirm(ann, task, task.segments[0])).status).toBe(200);
  });

  it('prevents submitting the task even when its segment was confirmed before, and keeps a copied target unconfirmed', async () => {
    const { task } = await claimNew('Open it.\nClose it.\nOpen it.\n');
    const [first, second] = task.segments;
    await confirm(ann, task, second);
    await askAbout(task, 1);
    await askAbout(task, 2);
    const saved = await confirm(ann, task, first);
    expect(saved.body.filled).toMatchObject([{ position: 2, status: 'draft', asked: true }]);
    const early = await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    expect(early.body.error.positions).toEqual([1, 2]);
  });

  it('does not keep its segment from being confirmed after the editor has withdrawn it', async () => {
    const { task, uid } = await claimNew('It runs.\n');
    const { body } = await askAbout(task, 0);
    const path = pathOf(task, `/queries/${body.query}`);
    const { token } = task.lease;
    expect((await ann.call('DELETE', path, { token })).status).toBe(200);
    expect((await ann.call('DELETE', path, { token })).status).toBe(404);
    expect(await queriesOf(uid)).toEqual([]);
    const answer = await customer.call('POST', `/api/account/queries/${body.query}/answer`, {
      answer: 'Late.',
    });
    expect(answer.status).toBe(404);
    // The segment can have a new query.
    expect((await askAbout(task, 0)).status).toBe(201);
  });

  it('is closed when the job is canceled or delivered without the answer', async () => {
    const { task, uid } = await claimNew('It is late.\n');
    await askAbout(task, 0);
    expect((await call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
    expect(await queriesOf(uid)).toMatchObject([{ status: 'closed' }]);

    const late = await claimNew('It is early.\n');
    await askAbout(late.task, 0);
    await ann.call('POST', pathOf(late.task, '/release'), { token: late.task.lease.token });
    await owner.query(
      `update edited_jobs set fallback = 'machine', deadline_at = now() - interval '1 s', due_at = now()
        where job_id = (select job_id from jobs where uid = $1)`,
      [late.uid],
    );
    await waitForStatus(call, `${HUMAN}${late.uid}/`);
    expect(await queriesOf(late.uid)).toMatchObject([{ status: 'closed' }]);
  });

  it('is shown although the job has more than a thousand older queries', async () => {
    const { task, uid } = await claimNew('The crane is tall.\n');
    await owner.query(
      `insert into queries (part, account_id, query_id, job_id, position, user_id, question, status, answer, ended_at)
       select part, account_id, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, job_id, 0, $2, 'Old?',
              'answered', 'Yes.', now()
         from jobs, generate_series(1, 1001) n where uid = $1`,
      [uid, ann.userId],
    );
    const asked = await askAbout(task, 0, 'A bird, or a machine?');
    expect(asked.status, asked.text).toBe(201);
    const { queries } = (await ann.call('GET', pathOf(task))).body;
    expect(queries).toHaveLength(1000);
    expect(queries.at(-1)).toMatchObject({ query: asked.body.query, status: 'open' });
    expect((await queriesOf(uid))[0]).toMatchObject({ query: asked.body.query, status: 'open' });
  });

  it('can be answered, withdrawn or closed only while it is open', () => {
    expect(Object.values(QUERY_MOVES).map(({ from }) => from)).toEqual([['open'], ['open'], ['open']]);
    expect(new Set(Object.values(QUERY_MOVES).map(({ to }) => to))).toEqual(
      new Set(QUERY_STATUSES.filter((status) => status !== 'open')),
    );
  });
});
