/**
 * Property test: random task transitions on the real database, compared with a model. No task has two
 * holders, no acknowledged text is lost, and the end of a claim loses no work.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '../base/errors.ts';
import { createScanner, type Scanner } from '../scanning/scanner.ts';
import { emptyEditing, orderEdit } from '../testing/editors.ts';
import { createClient, createPerson, startTestServer, type TestServer } from '../testing/harness.ts';
import { createEditing } from './editing.ts';
import type { EditingContext, EditingUser } from './model/context.ts';
import { submit } from './review/review.ts';
import { saveSegment } from './segments/save.ts';
import { claim, endExpiredClaims, heartbeat, release, skip } from './tasks/claims.ts';
import { freeTask } from './tasks/console.ts';
import { locateTask, type TaskKey } from './tasks/store.ts';

const EDITORS = 3;
const SEGMENTS = 4;

type Step =
  | { do: 'claim' | 'release' | 'submit' | 'heartbeat' | 'skip'; editor: number }
  | { do: 'expire' | 'free'; task: number }
  | {
      do: 'save';
      editor: number;
      position: number;
      status: 'draft' | 'confirmed';
      old: boolean;
      here: boolean;
      behind: boolean;
    };

const editor = fc.nat(EDITORS - 1);
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('claim' as const), editor }) },
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('save' as const),
        editor,
        position: fc.nat(SEGMENTS - 1),
        status: fc.constantFrom('draft' as const, 'confirmed' as const),
        // `old`: the action sends the token of an earlier claim. `behind`: it sends an old revision.
        old: fc.boolean(),
        // If true (the usual case), the action concerns a task that the editor holds.
        here: fc.boolean(),
        behind: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('release', 'skip', 'heartbeat'), editor }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('submit' as const), editor }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constantFrom('expire', 'free'), task: fc.nat(SEGMENTS - 1) }),
    },
  ),
  { minLength: 10, maxLength: 40 },
) as fc.Arbitrary<Step[]>;

let server: TestServer;
let owner: pg.Client;
let scanner: Scanner;
let call: ReturnType<typeof createClient>;
let context: EditingContext;

beforeAll(async () => {
  // Four words per task make each segment a task. The other limits are too high to cause pauses or reports.
  const settings = { DRAGOMAN_TASK_WORDS: '4', DRAGOMAN_TASK_SKIPS: '100', DRAGOMAN_CLAIM_EXPIRIES: '1000' };
  server = await startTestServer({ settings });
  owner = await server.connectOwner();
  call = createClient(server.url, (await server.createAccount({ balanceCents: 10_000_000 })).production_key);
  scanner = createScanner();
  const observer = {
    opened() {},
    claimed() {},
    ended() {},
    expired() {},
    delivered() {},
    filled() {},
    notFilled() {},
  };
  context = createEditing({
    database: server.database,
    scanner,
    settings: server.settings,
    observer,
    wake() {},
    wakePropagation() {},
  }).context;
});
afterAll(async () => {
  await scanner.close();
  await server.stop();
});

/** The expected state. A segment's position identifies its task, because a task has one segment. */
interface Model {
  open: Set<number>;
  submitted: Set<number>;
  /** The editor who holds each task, and the lease token. */
  held: Map<number, { editor: number; token: string }>;
  /** All lease tokens that claims have ever returned, with their editor and task. */
  past: { editor: number; task: number; token: string }[];
  skipped: Set<string>;
  text: Map<number, { text: string; revision: number; status: string }>;
  /** Texts that arrived after the end of their claim and were stored in the history. */
  left: string[];
}

async function refusal(work: Promise<unknown>): Promise<ApiError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

class Run {
  readonly model: Model = {
    open: new Set(Array.from({ length: SEGMENTS }, (_, index) => index)),
    submitted: new Set(),
    held: new Map(),
    past: [],
    skipped: new Set(),
    text: new Map(),
    left: [],
  };
  readonly editors: EditingUser[];
  readonly keys: TaskKey[];
  written = 0;

  constructor(editors: EditingUser[], keys: TaskKey[]) {
    this.editors = editors;
    this.keys = keys;
  }

  heldBy(editor: number): [number, string] | undefined {
    for (const [task, one] of this.model.held) if (one.editor === editor) return [task, one.token];
    return undefined;
  }

  async hasEnded(token: string): Promise<boolean> {
    const { rows } = await owner.query('select ended_at from claims where claim_id = $1', [token]);
    return rows[0].ended_at !== null;
  }

  end(task: number, to: 'open' | 'submitted'): void {
    this.model.held.delete(task);
    this.model[to].add(task);
    count(to);
  }

  async step(step: Step): Promise<void> {
    const { model } = this;
    if (step.do === 'expire' || step.do === 'free') {
      const key = this.keys[step.task]!;
      if (step.do === 'free') {
        const refused = await refusal(freeTask(context, 'command', key));
        expect(refused?.code).toBe(model.submitted.has(step.task) ? 'task_taken' : undefined);
        if (refused === undefined) this.end(step.task, 'open');
        return;
      }
      const held = model.held.get(step.task);
      if (held === undefined) return;
      await owner.query(`update claims set lease_until = now() - interval '1 s' where claim_id = $1`, [
        held.token,
      ]);
      // The server's own upkeep may have begun to end the claim.
      await endExpiredClaims(context);
      await expect.poll(() => this.hasEnded(held.token)).toBe(true);
      this.end(step.task, 'open');
      return;
    }
    const { editor } = step as Step & { editor: number };
    const user = this.editors[editor]!;
    const held = this.heldBy(editor);
    if (step.do === 'claim') return this.claim(editor, user, held);
    if (step.do === 'save') return this.save(step, user, held);
    if (held === undefined) return;
    const [task, token] = held;
    const key = this.keys[task]!;
    if (step.do === 'heartbeat') await heartbeat(context, user, key, token);
    if (step.do === 'release') {
      await release(context, user, key, token);
      this.end(task, 'open');
    }
    if (step.do === 'skip') {
      await skip(context, user, key, token, 'other');
      model.skipped.add(`${editor} ${task}`);
      this.end(task, 'open');
    }
    if (step.do === 'submit') {
      const refused = await refusal(submit(context, user, key, token));
      const ready = model.text.get(task)?.status === 'confirmed';
      expect(refused?.code).toBe(ready ? undefined : 'unconfirmed');
      if (ready) this.end(task, 'submitted');
    }
  }

  async claim(editor: number, user: EditingUser, held: [number, string] | undefined): Promise<void> {
    const { model } = this;
    const may = [...model.open].filter((task) => !model.skipped.has(`${editor} ${task}`));
    let key: TaskKey | undefined;
    const refused = await refusal(
      claim(context, user, undefined).then((claimed) => {
        key = claimed;
      }),
    );
    const expected = held !== undefined ? 'too_many_claims' : may.length === 0 ? 'nothing_waits' : undefined;
    expect(refused?.code).toBe(expected);
    if (key === undefined) return;
    const task = this.keys.findIndex(({ taskId }) => taskId === key!.taskId);
    expect(may).toContain(task);
    const { rows } = await owner.query(
      `select claim_id from claims where task_id = $1 and ended_at is null and user_id = $2`,
      [key.taskId, user.userId],
    );
    expect(rows).toHaveLength(1);
    model.open.delete(task);
    model.held.set(task, { editor, token: rows[0].claim_id });
    model.past.push({ editor, task, token: rows[0].claim_id });
  }

  async save(
    step: Step & { do: 'save' },
    user: EditingUser,
    held: [number, string] | undefined,
  ): Promise<void> {
    const { model } = this;
    const position = step.here && held !== undefined ? held[0] : step.position;
    const own = model.past.filter((one) => one.editor === step.editor && one.task === position);
    const token = step.old ? own[0]?.token : own.at(-1)?.token;
    if (token === undefined) return;
    const now = model.text.get(position);
    const revision = Math.max(0, (now?.revision ?? 0) - (step.behind ? 1 : 0));
    const isCurrent = revision === (now?.revision ?? 0);
    const text = sentence(++this.written);
    const request = {
      token,
      revision,
      target: [{ text }],
      status: step.status,
      acknowledged: [],
      active_ms: 1,
    };
    const refused = await refusal(saveSegment(context, user, this.keys[position]!, position, request));
    const holds = held?.[0] === position && held[1] === token;
    count(holds ? (isCurrent ? step.status : 'conflict') : JSON.stringify(refused?.more));
    if (holds) {
      expect(refused?.code).toBe(isCurrent ? undefined : 'conflict');
      if (isCurrent) model.text.set(position, { text, revision: revision + 1, status: step.status });
      return;
    }
    expect(refused?.code).toBe('stale_lease');
    const draft = model.open.has(position) && isCurrent;
    expect(refused?.more).toEqual({ kept: draft ? 'draft' : 'history' });
    if (draft) model.text.set(position, { text, revision: revision + 1, status: 'draft' });
    else model.left.push(text);
  }

  /** Checks that claims, tasks, slots, edits and history match the model. */
  async check(): Promise<void> {
    const ids = this.keys.map(({ taskId }) => taskId);
    const [claims, tasks, slots, edits, history] = [
      await owner.query(
        'select task_id, user_id, claim_id from claims where task_id = any($1) and ended_at is null',
        [ids],
      ),
      await owner.query('select task_id, status from tasks where task_id = any($1)', [ids]),
      await owner.query('select task_id, user_id from editor_slots where task_id = any($1)', [ids]),
      await owner.query('select position, status, target, revision from edits where job_id = $1', [
        this.keys[0]!.jobId,
      ]),
      await owner.query(`select target from edit_history where job_id = $1 and kind = 'left'`, [
        this.keys[0]!.jobId,
      ]),
    ] as const;
    const expected = [...this.model.held].map(([task, one]) => ({
      task_id: ids[task],
      user_id: this.editors[one.editor]!.userId,
      claim_id: one.token,
    }));
    expect(sorted(claims.rows)).toEqual(sorted(expected));
    expect(sorted(slots.rows)).toEqual(
      sorted(expected.map(({ task_id, user_id }) => ({ task_id, user_id }))),
    );
    for (const { task_id, status } of tasks.rows) {
      const task = ids.indexOf(task_id);
      const { open, held } = this.model;
      expect(status).toBe(open.has(task) ? 'open' : held.has(task) ? 'claimed' : 'submitted');
    }
    const texts = edits.rows.map(({ position, status, target, revision }) => [
      position,
      { text: target[0].text, revision, status },
    ]);
    expect(new Map(texts as [])).toEqual(this.model.text);
    expect(history.rows.map(({ target }) => target[0].text).sort()).toEqual([...this.model.left].sort());
  }
}

const sorted = (rows: object[]) => rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();

/** Returns a unique sentence that passes all checks. */
function sentence(number: number): string {
  const word = [...String(number)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
  return `Aquí está ${word}.`;
}

/** How often each event occurred; the runs must cover all of them. */
const seen: Record<string, number> = {};
const count = (what: string) => {
  seen[what] = (seen[what] ?? 0) + 1;
};

async function newRun(): Promise<Run> {
  await emptyEditing(owner);
  const text = Array.from({ length: SEGMENTS }, (_, index) => `Line ${'abcd'[index]} is here.`).join('\n');
  const uid = await orderEdit(call, text);
  const { rows } = await owner.query(
    `select task_id from tasks t join jobs j using (part, account_id, job_id) where uid = $1 order by first_position`,
    [uid],
  );
  expect(rows).toHaveLength(SEGMENTS);
  const keys = await Promise.all(
    rows.map(async ({ task_id }) => (await locateTask(context.database, task_id))!),
  );
  return new Run(editors, keys);
}

let editors: EditingUser[] = [];

describe('tasks under random actions', () => {
  it('have the states, holders and texts that a simple model predicts', async () => {
    editors = await Promise.all(
      Array.from({ length: EDITORS }, async () => {
        const { userId, name } = await createPerson(server, { role: 'editor', languages: ['en:es'] });
        return { userId, name, role: 'editor' as const };
      }),
    );
    await owner.query('update users set review_share = 0');
    await fc.assert(
      fc.asyncProperty(steps, async (planned) => {
        const run = await newRun();
        for (const step of planned) {
          await run.step(step);
          await run.check();
        }
      }),
      { numRuns: 25 },
    );
    for (const what of [
      'draft',
      'confirmed',
      'conflict',
      'open',
      'submitted',
      '{"kept":"draft"}',
      '{"kept":"history"}',
    ]) {
      expect(seen[what] ?? 0, what).toBeGreaterThan(0);
    }
  });

  it('cannot be claimed twice, and differ from the model when a planted fault overwrites a text', async () => {
    const run = await newRun();
    await run.step({ do: 'claim', editor: 0 });
    await run.step({
      do: 'save',
      editor: 0,
      position: [...run.model.held.keys()][0]!,
      status: 'draft',
      old: false,
      here: true,
      behind: false,
    });
    await run.check();
    await owner.query(`update edits set target = '[{"text": "planted"}]' where job_id = $1`, [
      run.keys[0]!.jobId,
    ]);
    await expect(run.check()).rejects.toThrow('planted');
    const [[task]] = [...run.model.held] as [[number, unknown]];
    const { account, taskId, jobId } = run.keys[task]!;
    const twice = owner.query(
      `insert into claims (part, account_id, claim_id, task_id, job_id, kind, user_id, lease_until)
       values ($1, $2, $3, $4, $5, 'edit', $6, now() + interval '1 h')`,
      [account.part, account.accountId, randomUUID(), taskId, jobId, randomUUID()],
    );
    // The unique key of the database prevents a second claim.
    await expect(twice).rejects.toThrow(/claims_held/);
  });
});
