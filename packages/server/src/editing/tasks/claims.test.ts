/**
 * Tests of claims, the queue, skips, reports and saves. Time passes by changing the times in rows, never by
 * waiting.
 */
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createConnection } from '../../database/connections.ts';
import {
  claimTask,
  confirm,
  confirmAll,
  editNext,
  emptyEditing,
  orderEdit,
  pathOf,
  save,
} from '../../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
} from '../../testing/harness.ts';

let server: TestServer;
let owner: pg.Client;
/** A second connection, because the first one may hold a transaction. */
let observer: pg.Client;
let call: ReturnType<typeof createClient>;
let other: ReturnType<typeof createClient>;
let ann: TestPerson;
let bob: TestPerson;
let operator: TestPerson;

beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_TASK_SKIPS: '2', DRAGOMAN_CLAIM_EXPIRIES: '2' } });
  owner = await server.connectOwner();
  observer = createConnection(server.connection);
  await observer.connect();
  call = createClient(server.url, (await server.createAccount({ balanceCents: 100_000 })).production_key);
  other = createClient(server.url, (await server.createAccount({ balanceCents: 100_000 })).production_key);
  ann = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  bob = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  operator = await createPerson(server, { role: 'operator' });
  await owner.query('update users set review_share = 0');
});
afterAll(async () => {
  await observer.end();
  await server.stop();
});
beforeEach(async () => {
  await emptyEditing(owner);
});

/** Counts the connections of this server on which a claim waits for a locked task. Other test files have other databases. */
const waitingClaims = async () => {
  const { rowCount } = await observer.query(
    `select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like 'select task_id%job_id = $3%'`,
  );
  return rowCount;
};
/** Returns the key of the only task of a job. */
const taskOf = async (uid: string): Promise<{ part: number; task_id: string }> => {
  const { rows } = await owner.query(
    'select part, task_id from tasks join jobs using (part, account_id, job_id) where uid = $1',
    [uid],
  );
  return rows[0];
};
const lock = ({ part, task_id }: { part: number; task_id: string }) =>
  owner.query('select from tasks where part = $1 and task_id = $2 for update', [part, task_id]);
/** Moves the end of a claim into the past. */
const runOut = (task: { lease: { token: string } }) =>
  owner.query(`update claims set lease_until = now() - interval '1 s' where claim_id = $1`, [
    task.lease.token,
  ]);
const statusOf = async (task: { task: string }) =>
  (await owner.query('select status from tasks where task_id = $1', [task.task])).rows[0].status;
const codeOf = ({ status, body }: { status: number; body: { error: { code: string } } }) => [
  status,
  body.error.code,
];

describe('a claim', () => {
  it('is limited to one task per editor; claiming it again returns the same claim', async () => {
    await orderEdit(call, 'One house.\n');
    await orderEdit(call, 'Two houses.\n');
    const task = await claimTask(ann);
    expect(codeOf(await ann.call('POST', '/api/editing/claims', {}))).toEqual([409, 'too_many_claims']);
    expect((await claimTask(ann, task.task)).lease.token).toBe(task.lease.token);
    expect(codeOf(await bob.call('POST', '/api/editing/claims', { task: task.task }))).toEqual([
      409,
      'task_taken',
    ]);
    expect((await claimTask(bob)).task).not.toBe(task.task);
  });

  it('has its lease renewed when its editor claims the task again', async () => {
    await orderEdit(call, 'One house.\n');
    const { task, lease } = await claimTask(ann);
    await owner.query(`update claims set lease_until = now() + interval '5 s' where claim_id = $1`, [
      lease.token,
    ]);
    const again = (await claimTask(ann, task)).lease;
    expect(Date.parse(again.lease_until) - Date.parse(again.now)).toBeGreaterThan(590_000);
  });

  it('gets the error stale_lease when its lease expires before the server has read the task', async () => {
    await orderEdit(call, 'One house.\n');
    await owner.query(`
      create function run_out() returns trigger language plpgsql as $$
        begin new.lease_until := now() - interval '1 s'; return new; end $$`);
    // Otherwise Citus refuses triggers on its tables. PostgreSQL ignores the setting.
    await owner.query('set citus.enable_unsafe_triggers = on');
    await owner.query(
      'create trigger run_out before insert on claims for each row execute function run_out()',
    );
    try {
      expect(codeOf(await ann.call('POST', '/api/editing/claims', {}))).toEqual([409, 'stale_lease']);
    } finally {
      await owner.query('drop function run_out cascade');
    }
    expect((await claimTask(ann)).lease.token).toEqual(expect.any(String));
  });

  it('is granted to only one of many editors who claim the same task at once', async () => {
    for (let job = 0; job < 3; job++) await orderEdit(call, `Job ${job} of three.\n`);
    const people = await Promise.all(
      Array.from({ length: 6 }, () => createPerson(server, { role: 'editor', languages: ['en:es'] })),
    );
    const answers = await Promise.all(
      people.flatMap(({ call }) => [
        call('POST', '/api/editing/claims', {}),
        call('POST', '/api/editing/claims', {}),
      ]),
    );
    const claimed = answers.filter(({ status }) => status === 201).map(({ body }) => body.task.task);
    expect(claimed).toHaveLength(3);
    expect(new Set(claimed).size).toBe(3);
    const { rows } = await owner.query('select count(*)::int from claims where ended_at is null');
    expect(rows[0].count).toBe(3);
  });

  it('of the next task succeeds for each of many editors at once while there are tasks', async () => {
    const uids = Array.from({ length: 16 }, (_, job) => `many-${job}`);
    await Promise.all(uids.map((uid) => orderEdit(call, `Job ${uid}.\n`, { uid })));
    const people = await Promise.all(
      uids.map(() => createPerson(server, { role: 'editor', languages: ['en:es'] })),
    );
    const claimed = await Promise.all(people.map((person) => claimTask(person)));
    expect(new Set(claimed.map(({ task }) => task)).size).toBe(uids.length);
  });

  it.each(['next', 'named'])(
    'of the %s task waits while another transaction has the task locked',
    async (which) => {
      const uid = await orderEdit(call, 'One house.\n');
      const locked = await taskOf(uid);
      await owner.query('begin');
      await lock(locked);
      const claimed = ann.call(
        'POST',
        '/api/editing/claims',
        which === 'named' ? { task: locked.task_id } : {},
      );
      await expect.poll(waitingClaims).toBe(1);
      await owner.query('rollback');
      expect(await claimed).toMatchObject({ status: 201, body: { task: { task: locked.task_id } } });
    },
  );

  it('of a locked task shares its wait with others, so that the server keeps connections for other requests', async () => {
    const uid = await orderEdit(call, 'One house.\n');
    const task = await taskOf(uid);
    await owner.query('begin');
    await lock(task);
    // More claims than the server has connections.
    const claims = Array.from({ length: 24 }, () => ann.call('POST', '/api/editing/claims', {}));
    await expect.poll(waitingClaims).toBe(1);
    expect((await bob.call('GET', '/api/editing/queue')).status).toBe(200);
    expect(await waitingClaims()).toBe(1);
    await owner.query('rollback');
    const statuses = (await Promise.all(claims)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.every((status) => status < 500)).toBe(true);
  });

  it('is extended by heartbeats and saves, without a limit', async () => {
    await orderEdit(call, 'One house.\n');
    const task = await claimTask(ann);
    await owner.query(`update claims set lease_until = now() + interval '5 s' where claim_id = $1`, [
      task.lease.token,
    ]);
    const { token } = task.lease;
    const kept = (await ann.call('POST', pathOf(task, '/heartbeat'), { token })).body;
    expect(Date.parse(kept.lease_until) - Date.parse(kept.now)).toBe(1_800_000);
    // A program of the version before gave the claim a limit.
    await owner.query(`update claims set limit_until = now() - interval '1 s' where claim_id = $1`, [token]);
    expect((await ann.call('POST', pathOf(task, '/heartbeat'), { token })).status).toBe(200);
    expect(codeOf(await bob.call('POST', pathOf(task, '/heartbeat'), { token }))).toEqual([
      409,
      'stale_lease',
    ]);
  });

  it('ends with its lease, and its edits are stored for the next editor', async () => {
    await orderEdit(call, 'One house.\n');
    const task = await claimTask(ann);
    const target = [{ text: 'Una casa' }];
    await save(ann, task, task.segments[0], { target });
    await runOut(task);
    expect(codeOf(await ann.call('POST', pathOf(task, '/heartbeat'), { token: task.lease.token }))).toEqual([
      409,
      'stale_lease',
    ]);
    const next = await claimTask(bob);
    expect(next.task).toBe(task.task);
    expect(next.segments[0]).toMatchObject({ status: 'draft', target, revision: 1 });
    const { rows } = await owner.query('select ended from claims where claim_id = $1', [task.lease.token]);
    expect(rows[0].ended).toBe('lease_expired');
  });

  it('is refused after too many claims of the editor expired, and the error names the end of the pause', async () => {
    await orderEdit(call, 'One house.\n');
    for (let times = 0; times < 2; times++) await runOut(await claimTask(ann));
    const refused = await ann.call('POST', '/api/editing/claims', {});
    expect(codeOf(refused)).toEqual([409, 'claims_paused']);
    const queue = (await ann.call('GET', '/api/editing/queue')).body;
    expect(queue.paused_until).toBe(refused.body.error.until);
    await claimTask(bob);
    await owner.query(
      `update claims set ended_at = (ended_at at time zone 'utc' - interval '31 minutes') at time zone 'utc'
        where ended is not null`,
    );
    await orderEdit(call, 'Another house.\n');
    await claimTask(ann);
  });
});

describe('the order of the queue', () => {
  it('is by urgency, then by fewest claimed tasks of the account, then by age', async () => {
    const uids: string[] = [];
    for (const text of ['A one.', 'A two.', 'A three.']) uids.push(await orderEdit(call, text));
    uids.push(await orderEdit(other, 'B one.'));
    await owner.query(
      `update edited_jobs e set deadline_at = now() - interval '1 s' from jobs j
        where j.part = e.part and j.job_id = e.job_id and j.uid = $1`,
      [uids[2]],
    );
    await owner.query(
      `update tasks t set deadline_at = e.deadline_at from edited_jobs e
        where e.part = t.part and e.job_id = t.job_id`,
    );
    const { open } = (await ann.call('GET', '/api/editing/queue')).body;
    expect(open.map(({ urgency }: never) => urgency)).toEqual(['late', 'normal', 'normal', 'normal']);
    const taken: string[] = [];
    for (let turn = 0; turn < 4; turn++) {
      const person = await createPerson(server, { role: 'editor', languages: ['en:es'] });
      taken.push((await claimTask(person)).job.uid);
    }
    expect(taken).toEqual([uids[2], uids[3], uids[0], uids[1]]);
  });

  it('puts tasks of higher priority first, and hides a reassigned task from other editors', async () => {
    await orderEdit(call, 'One house.\n');
    const uid = await orderEdit(call, 'Two houses.\n');
    const { tasks } = (await operator.call('GET', '/api/console/tasks')).body;
    const [, second] = tasks;
    expect(second).toMatchObject({ uid, status: 'open', editor: null, skips: 0, reports: [] });
    const path = `/api/console/tasks/${second.task}`;
    expect((await operator.call('POST', `${path}/priority`, { priority: 5 })).status).toBe(200);
    expect((await ann.call('GET', '/api/editing/queue')).body.open[0].task).toBe(second.task);
    await operator.call('POST', `${path}/reassign`, { user: bob.userId });
    expect((await ann.call('GET', '/api/editing/queue')).body.open).toHaveLength(1);
    expect(codeOf(await ann.call('POST', '/api/editing/claims', { task: second.task }))).toEqual([
      409,
      'task_taken',
    ]);
    const task = await claimTask(bob);
    expect(task.task).toBe(second.task);
    const stranger = await createPerson(server, { role: 'editor', languages: ['en:fr'] });
    const refused = await operator.call('POST', `${path}/reassign`, { user: stranger.userId });
    expect(refused.status).toBe(400);
    expect(refused.body.error.reasons.user.code).toBe('task_not_for_editor');
    await operator.call('POST', `${path}/release`);
    expect(codeOf(await save(bob, task, task.segments[0]))).toEqual([409, 'stale_lease']);
    expect(await statusOf(task)).toBe('open');
  });
});

describe('the queue', () => {
  it('has every task that an editor may claim, by a chosen pair and order', async () => {
    for (let task = 0; task < 11; task++) await orderEdit(call, 'One house.\n');
    const uid = await orderEdit(call, 'The longest of all of these texts is this one.\n');
    const read = async (query: string) => (await ann.call('GET', `/api/editing/queue${query}`)).body;
    // Unless the editor chooses, the tasks of one customer do not fill the page.
    expect((await read('')).open).toHaveLength(10);
    const { open, pairs } = await read('?sort=longest');
    expect([open.length, open[0].uid]).toEqual([12, uid]);
    expect(pairs).toEqual([{ source_language: 'en', target_language: 'es', waiting: 12 }]);
    expect((await read('?source_language=en&target_language=es')).open).toHaveLength(12);
    expect((await read('?source_language=es&target_language=en')).open).toEqual([]);
    expect((await ann.call('GET', '/api/editing/queue?sort=size')).body.error).toMatchObject({
      fields: { sort: expect.anything() },
    });
  });
});

describe('skipping and reporting a task', () => {
  it('hides a skipped task from the editor, and reports it to operators after enough skips', async () => {
    await orderEdit(call, 'One house.\n');
    const task = await claimTask(ann);
    const skipped = await ann.call('POST', pathOf(task, '/skip'), {
      token: task.lease.token,
      reason: 'too_hard',
    });
    expect(skipped.body.status).toBe('open');
    expect((await ann.call('GET', '/api/editing/queue')).body).toMatchObject({ open: [], pairs: [] });
    expect(codeOf(await ann.call('POST', '/api/editing/claims', { task: task.task }))).toEqual([
      409,
      'task_taken',
    ]);
    // Bob skips the task without claiming it.
    const second = await bob.call('POST', pathOf(task, '/skip'), { reason: 'no_time' });
    expect(second.body.status).toBe('reported');
    const { tasks } = (await operator.call('GET', '/api/console/tasks?status=reported')).body;
    expect(tasks[0]).toMatchObject({ skips: 2, reports: [{ reason: 'skipped' }] });
    await operator.call('POST', `/api/console/tasks/${task.task}/release`);
    expect(await statusOf(task)).toBe('open');
  });

  it("keeps the task's reservation for another editor", async () => {
    await orderEdit(call, 'One house.\n');
    const [task] = (await ann.call('GET', '/api/editing/queue')).body.open;
    await operator.call('POST', `/api/console/tasks/${task.task}/reassign`, { user: bob.userId });
    const skipped = await ann.call('POST', pathOf(task, '/skip'), { reason: 'no_time' });
    expect(skipped.body.status).toBe('open');
    expect((await bob.call('GET', '/api/editing/queue')).body.open).toMatchObject([{ reserved: true }]);
    // The task cannot be reassigned to an editor who has skipped it.
    const back = await operator.call('POST', `/api/console/tasks/${task.task}/reassign`, {
      user: ann.userId,
    });
    expect(back.status).toBe(400);
  });

  it('shows operators the reason that an editor gave for reporting a task', async () => {
    await orderEdit(call, 'One house.\n');
    const task = await claimTask(ann);
    const { token } = task.lease;
    const report = { token, reason: 'bad_source', note: 'It is cut off.' };
    expect((await ann.call('POST', pathOf(task, '/report'), report)).body.status).toBe('reported');
    expect(codeOf(await bob.call('POST', '/api/editing/claims', {}))).toEqual([409, 'nothing_waits']);
    const { tasks, counts } = (await operator.call('GET', '/api/console/tasks')).body;
    expect(tasks[0].reports).toMatchObject([{ reason: 'bad_source', note: 'It is cut off.', by: ann.name }]);
    expect(counts).toMatchObject([
      { source_language: 'en', target_language: 'es', status: 'reported', tasks: 1 },
    ]);
  });

  it('counts skips from zero after an operator released the task', async () => {
    await orderEdit(call, 'One house.\n');
    const task = await claimTask(ann);
    const cat = await createPerson(server, { role: 'editor', languages: ['en:es'] });
    const skip = ({ call }: TestPerson) => call('POST', pathOf(task, '/skip'), { reason: 'too_hard' });
    const { token } = task.lease;
    await ann.call('POST', pathOf(task, '/skip'), { token, reason: 'too_hard' });
    await skip(bob);
    expect(await statusOf(task)).toBe('reported');
    await operator.call('POST', `/api/console/tasks/${task.task}/release`);
    expect((await skip(cat)).body.status).toBe('open');
    const dan = await createPerson(server, { role: 'editor', languages: ['en:es'] });
    expect((await skip(dan)).body.status).toBe('reported');
  });

  it('lets the same editor claim a task again after releasing it', async () => {
    await orderEdit(call, 'One house.\n');
    const task = await claimTask(ann);
    await ann.call('POST', pathOf(task, '/release'), { token: task.lease.token });
    expect(await statusOf(task)).toBe('open');
    expect((await claimTask(ann)).task).toBe(task.task);
  });
});

describe('an editor who reads a task', () => {
  it('sees only tasks that they hold or have edited, and sees fewer segments after releasing a task', async () => {
    // The text needs two tasks, because the words of a task are limited.
    const uid = await orderEdit(call, 'The house is big.\n'.repeat(220));
    const [first, second] = (await ann.call('GET', '/api/editing/queue')).body.open;
    const held = await claimTask(ann, first.task);
    await confirm(ann, held, held.segments[0]);
    await claimTask(bob, second.task);
    for (const rest of ['', '/preview', '/segments/219/history']) {
      expect((await ann.call('GET', pathOf(second, rest))).status, rest).toBe(404);
    }
    // The editor sees the history of a segment that they edited, but not the history of a distant segment of
    // the same job.
    expect((await ann.call('GET', pathOf(first, '/segments/0/history'))).status).toBe(200);
    expect((await ann.call('GET', pathOf(first, '/segments/219/history'))).status).toBe(404);
    const comment = { text: 'Look.', position: 219 };
    expect((await ann.call('POST', pathOf(first, '/comments'), comment)).status).toBe(404);
    // A task that was released without an edit is no longer visible to the editor; a task with edits stays
    // visible.
    const { token } = held.lease;
    await ann.call('POST', pathOf(first, '/release'), { token });
    const cat = await createPerson(server, { role: 'editor', languages: ['en:es'] });
    const taken = await claimTask(cat, first.task);
    expect((await ann.call('GET', pathOf(first))).status).toBe(200);
    await cat.call('POST', pathOf(first, '/release'), { token: taken.lease.token });
    await claimTask(ann, first.task);
    expect((await cat.call('GET', pathOf(first))).status).toBe(404);
    await owner.query(`update tasks set status = 'done' where task_id = $1`, [first.task]);
    await owner.query(`update claims set ended = 'submitted', ended_at = now() where ended_at is null`);
    expect((await ann.call('GET', pathOf(first))).body.status).toBe('done');
    expect((await ann.call('GET', pathOf(first, '/preview'))).status).toBe(404);
    expect((await operator.call('GET', pathOf(first, '/preview'))).status).toBe(200);
    expect(uid).toBeDefined();
  });
});

describe('saving a segment', () => {
  it('is refused when the revision is outdated, and the error has the current segment', async () => {
    await orderEdit(call, 'One house.\n');
    const task = await claimTask(ann);
    const [segment] = task.segments;
    await save(ann, task, segment, { target: [{ text: 'Una casa' }] });
    const refused = await save(ann, task, segment, { target: [{ text: 'Otra' }] });
    expect(codeOf(refused)).toEqual([409, 'conflict']);
    expect(refused.body.error.segment).toMatchObject({ revision: 1, target: [{ text: 'Una casa' }] });
    // Sends the same save again, as a client does when it has not received the response.
    expect((await save(ann, task, segment, { target: [{ text: 'Una casa' }] })).body.segment.revision).toBe(
      1,
    );
  });

  it('after the claim has ended stores the text as a draft, or in the history if another editor holds the task', async () => {
    await orderEdit(call, 'One house.\n');
    const task = await claimTask(ann);
    const [segment] = task.segments;
    await runOut(task);
    const kept = await save(ann, task, segment, { target: [{ text: 'Una casa' }] });
    expect(kept.body.error).toMatchObject({ code: 'stale_lease', kept: 'draft' });
    const next = await claimTask(bob);
    expect(next.segments[0]).toMatchObject({ status: 'draft', target: [{ text: 'Una casa' }] });
    const late = await save(ann, task, { ...segment, revision: 1 }, { target: [{ text: 'Una casita' }] });
    expect(late.body.error).toMatchObject({ code: 'stale_lease', kept: 'history' });
    const history = (await bob.call('GET', pathOf(next, '/segments/0/history'))).body;
    expect(history.entries).toMatchObject([{ kind: 'left', target: [{ text: 'Una casita' }], by: ann.name }]);
    const forged = await save(bob, { ...next, lease: { token: task.lease.token } }, segment);
    expect(codeOf(forged)).toEqual([409, 'stale_lease']);
    expect(forged.body.error).not.toHaveProperty('kept');
  });

  it('refuses to confirm a target with errors or unacknowledged warnings', async () => {
    await orderEdit(call, 'It costs 15 <b>euros</b> now.', { text_format: 'html' });
    const task = await claimTask(ann);
    const [segment] = task.segments;
    const broken = await save(ann, task, segment, {
      target: [{ text: 'Cuesta 15 euros.' }],
      status: 'confirmed',
    });
    expect(codeOf(broken)).toEqual([422, 'checks_failed']);
    expect(broken.body.error.findings).toContainEqual(
      expect.objectContaining({ check: 'codes', severity: 'error' }),
    );
    expect(Object.values(segment.codes)).toEqual(['<b>', '</b>']);
    const target = segment.draft.map((piece: { text?: string }) =>
      piece.text === undefined ? piece : { text: piece.text.replace('15', '16') },
    );
    const warned = await save(ann, task, segment, { target, status: 'confirmed' });
    expect(codeOf(warned)).toEqual([422, 'checks_failed']);
    const seen = await confirm(ann, task, segment, { target });
    expect(seen.body).toMatchObject({ segment: { status: 'confirmed' } });
    expect(seen.body.findings).not.toEqual([]);
    expect(seen.body.segment.acknowledged).not.toEqual([]);
  });

  it('names every invalid field', async () => {
    await orderEdit(call, 'One house.\n');
    const task = await claimTask(ann);
    const wrong = { token: 'x', revision: -1, target: [{ bold: 1 }], status: 'done', active_ms: 1e12 };
    const { body } = await ann.call('PUT', pathOf(task, '/segments/0'), wrong);
    expect(Object.keys(body.error.fields)).toEqual(['token', 'revision', 'target', 'status', 'active_ms']);
    expect((await ann.call('PUT', pathOf(task, '/segments/77'), wrong)).status).toBe(400);
    expect((await save(ann, task, { position: 77, revision: 0, draft: [] })).status).toBe(404);
  });
});

it('the console sums confirmed segments and words by editor, job and source of the draft', async () => {
  const uid = await orderEdit(call, 'One house here.\n');
  await editNext(ann);
  const work = (await ann.call('GET', '/api/editing/work')).body;
  expect(work.days[0]).toMatchObject({ segments: 1, words: 3 });
  expect(work.tasks[0]).toMatchObject({ ended: 'submitted', words: 3 });
  for (const [by, key] of [
    ['job', uid],
    ['route', 'fake'],
    ['editor', ann.name],
  ]) {
    const { rows } = (await operator.call('GET', `/api/console/effort?by=${by}`)).body;
    expect(rows).toMatchObject([{ key: expect.stringContaining(key!), segments: 1, words: 3, untouched: 1 }]);
  }
  await orderEdit(call, 'Nothing.\n');
  await confirmAll(bob, await claimTask(bob));
});
