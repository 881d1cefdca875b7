/** Helpers for tests of editing: they create jobs with tasks, and act as editors who work on the tasks. */
import type pg from 'pg';
import { afterAll, expect } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { type BrandFile, saveBrand } from '../brands/brands.ts';
import { type Connection, createConnection } from '../database/connections.ts';
import type { Answer, TestPerson } from './harness.ts';
import { createClient, createPerson, startTestServer, until, waitForStatus } from './harness.ts';

export const HUMAN = '/tapi/v2/translation/';

type Call = ReturnType<typeof createClient>;

/**
 * Starts a server that is stopped after the tests of the file, with the users that they need: a customer with a balance,
 * an operator, and three editors from English into Spanish whose work is not reviewed. Bob and Cy may review.
 */
export async function startEditing(settings: Record<string, string> = {}) {
  const server = await startTestServer({ settings });
  afterAll(() => server.stop());
  const owner = await server.connectOwner();
  const keys = await server.createAccount({ balanceCents: 1_000_000 });
  const { ref: account } = await accountNamed(server.database, keys.username);
  const edits = (name: string, pair = 'en:es+review') =>
    createPerson(server, { role: 'editor', languages: [pair], name });
  const [ann, bob, cy, customer, operator] = await Promise.all([
    edits('Ann', 'en:es'),
    edits('Bob'),
    edits('Cy'),
    createPerson(server, { role: 'customer', account: keys }),
    createPerson(server, { role: 'operator' }),
  ]);
  await owner.query('update users set review_share = 0');
  const call = createClient(server.url, keys.production_key);
  const brand = async (externalId: string, fields: Partial<BrandFile> = {}): Promise<void> => {
    const made = { externalId, name: externalId, default: undefined, languages: new Map(), ...fields };
    await saveBrand(server.database, 'command', account, made, false);
  };
  return { server, owner, keys, account, call, ann, bob, cy, customer, operator, brand };
}

const DEADLOCK = '40P01';

/**
 * Empties the tables of editing. The server's worker may use them at the same time, so the statement is repeated after
 * a deadlock.
 */
export async function emptyEditing(owner: Pick<pg.Client, 'query'>): Promise<void> {
  for (;;) {
    try {
      await owner.query(
        `truncate tasks, claims, editor_slots, task_skips, task_reports, edits, edit_history, issues, edited_jobs,
           comments cascade`,
      );
      return;
    } catch (error) {
      if ((error as pg.DatabaseError).code !== DEADLOCK) throw error;
    }
  }
}

/** Moves the deadline of an edited job into the past. */
export async function expireDeadline(
  owner: Pick<pg.Client, 'query'>,
  job: { part: number; job_id: string },
): Promise<void> {
  await owner.query(
    `update edited_jobs set deadline_at = now() - interval '1 s', due_at = (select now() where due_at is not null)
      where part = $1 and job_id = $2`,
    [job.part, job.job_id],
  );
}

/** Ends the claims of a task, or of all tasks of a job, without their editors. */
export async function expireClaims(
  owner: Pick<pg.Client, 'query'>,
  of: { task: string } | { job_id: string },
): Promise<void> {
  await owner.query(
    `update claims set lease_until = now() - interval '1 s'
      where ${'task' in of ? 'task_id' : 'job_id'} = $1 and ended_at is null`,
    Object.values(of),
  );
}

/** Waits until the queued work on votes is done. */
export const votesSettled = (owner: Pick<pg.Client, 'query'>) =>
  until(async () => (await owner.query('select from propagations limit 1')).rowCount === 0);

let orders = 0;

/** Creates a human job and waits for its tasks. @returns the uid of the job */
export async function orderEdit(call: Call, text: string, fields: object = {}): Promise<string> {
  const { uid = `edit-${++orders}` } = fields as { uid?: string };
  const body = { text, source_language: 'en', target_language: 'es', ...fields, uid };
  const created = await call('POST', HUMAN, body);
  if (created.status !== 201) throw new Error(created.text);
  await waitForStatus(call, `${HUMAN}${uid}/`, 'translating');
  return uid;
}

/** Claims a task: `task`, or the next task if `task` is undefined. @returns the task with its lease */
export async function claimTask({ call }: TestPerson, task?: string) {
  const claimed = await call('POST', '/api/editing/claims', task === undefined ? {} : { task });
  expect(claimed.status, claimed.text).toBe(201);
  return claimed.body.task;
}

/** Claims the next open task of a job. @returns the task with its lease */
export async function claimJob(person: TestPerson, uid: string) {
  const { open } = (await person.call('GET', '/api/editing/queue')).body;
  return claimTask(person, open.find((one: { uid: string }) => one.uid === uid).task);
}

export const pathOf = (task: { task: string }, rest = '') => `/api/editing/tasks/${task.task}${rest}`;

export function save(
  { call }: TestPerson,
  task: { task: string; lease: { token: string } },
  segment: { position: number; revision: number; draft: unknown },
  fields: object = {},
): Promise<Answer> {
  const { token } = task.lease;
  return call('PUT', pathOf(task, `/segments/${segment.position}`), {
    token,
    revision: segment.revision,
    target: segment.draft,
    status: 'draft',
    ...fields,
  });
}

/** Confirms a segment unchanged and accepts its warnings. */
export async function confirm(
  person: TestPerson,
  task: { task: string; lease: { token: string } },
  segment: { position: number; revision: number; draft: unknown },
  fields: object = {},
): Promise<Answer> {
  const first = await save(person, task, segment, { status: 'confirmed', ...fields });
  if (first.status !== 422) return first;
  const findings: { check: string; severity: string; values: object }[] = first.body.error.findings;
  if (findings.some(({ severity }) => severity === 'error')) return first;
  const { keyOf } = await import('@dragoman/checks');
  const acknowledged = findings.map((one) => keyOf(one as Parameters<typeof keyOf>[0]));
  return save(person, task, segment, { status: 'confirmed', acknowledged, ...fields });
}

export async function confirmAll(person: TestPerson, task: { task: string; lease: { token: string } }) {
  const { body } = await person.call('GET', pathOf(task));
  for (const segment of body.segments) {
    if (!segment.mine) continue;
    const now = (await person.call('GET', pathOf(task))).body.segments.find(
      ({ position }: { position: number }) => position === segment.position,
    );
    if (now.status === 'confirmed') continue;
    const saved = await confirm(person, task, { ...now, draft: now.target ?? now.draft });
    expect(saved.status, saved.text).toBe(200);
  }
}

/**
 * Claims, confirms and submits a task: `named`, or the next task if `named` is undefined. @returns the task
 */
export async function editNext(person: TestPerson, named?: string) {
  const task = await claimTask(person, named);
  await confirmAll(person, task);
  const { token } = task.lease;
  const handed = await person.call('POST', pathOf(task, '/submit'), { token });
  expect(handed.status, handed.text).toBe(200);
  return task;
}

/**
 * Has each editor deliver an own text for the same source. @param list the path of the account's disagreements
 * @returns the disagreement, as a reader of the list sees it
 */
export async function disagree(
  call: Call,
  editors: readonly TestPerson[],
  reader: TestPerson,
  list: string,
  source: string,
) {
  for (const [index, person] of editors.entries()) {
    const uid = await orderEdit(call, source);
    const task = await claimJob(person, uid);
    const target = [{ text: `Texto ${index + 1} de una casa.` }];
    const saved = await confirm(person, task, task.segments[0], { target });
    expect(saved.status, saved.text).toBe(200);
    await person.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
  }
  return until(async () => {
    const { disagreements } = (await reader.call('GET', list)).body;
    return disagreements.find((one: { source: string }) => one.source === source) as
      | { disagreement: string; texts: { vote: string; hash: string; target: string }[] }
      | undefined;
  });
}

/**
 * Makes a second change of votes or rules while a worker still writes the text of the first change into a job. Waits
 * until the background work is done.
 */
export async function overtake(
  connection: Connection,
  uid: string,
  first: () => Promise<Answer>,
  second: () => Promise<Answer>,
): Promise<void> {
  const [other, observer] = [createConnection(connection), createConnection(connection)];
  await Promise.all([other.connect(), observer.connect()]);
  const waitsFor = async (pattern: string) => {
    const found = await observer.query(
      `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
      [pattern],
    );
    return found.rowCount! > 0;
  };
  const queued = async () => (await observer.query('select from propagations')).rowCount;
  try {
    const { rows } = await other.query('select part, job_id from jobs where uid = $1', [uid]);
    await other.query('begin');
    await other.query('select from segments where part = $1 and job_id = $2 for no key update', [
      rows[0].part,
      rows[0].job_id,
    ]);
    expect((await first()).status).toBe(200);
    await until(() => waitsFor('%update segments s set draft%'));
    expect((await second()).status).toBe(200);
    // The work on the second change waits for the first, or has ended.
    await until(async () => (await waitsFor('%for key share of t%')) || (await queued()) === 1);
    await other.query('rollback');
    await votesSettled(observer);
  } finally {
    await Promise.all([other.end(), observer.end()]);
  }
}
