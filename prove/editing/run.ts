/**
 * An editing run: many editors claim, save, confirm, hand in, give back, skip, walk away and come back late, and two of
 * them are one person with two windows, while the serving process is killed with -9. Everything is real: the program as
 * a process of its own, its embedded PostgreSQL, HTTP. The drafts are the customer's own, so that no engine is waited for.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { type Finding, keyOf } from '../../packages/checks/src/checks.ts';
import { cookieOf } from '../../packages/server/src/accounts/door.ts';
import { createPerson } from '../../packages/server/src/accounts/people.ts';
import { beginSession } from '../../packages/server/src/accounts/sessions.ts';
import { createConnection } from '../../packages/server/src/database/connections.ts';
import { createLog } from '../../packages/server/src/log.ts';
import { openStore } from '../../packages/server/src/program.ts';
import { loadSettings } from '../../packages/server/src/settings.ts';
import { createAccount, startProgram } from '../../scripts/program.ts';
import { startBeside } from '../beside.ts';
import { createRandom, type Random } from '../random.ts';
import type { History, Save } from './history.ts';

export interface EditingOptions {
  /** Where the program keeps its data. */
  directory: string;
  seed: number;
  editors: number;
  tasks: number;
  kills: number;
  say(line: string): void;
}

/** Of a task; a line is a segment of six words. */
const LINES_A_TASK = 2;
const WORDS_A_LINE = 6;
const TASKS_A_JOB = 10;
const CREATORS = 8;
const OPENING_CENTS = 100_000_000;
const LEASE_SECONDS = 5;
/** Of a hundred editors' work so much is reviewed. */
const REVIEW_SHARE = 10;
/** After the last task is there to be taken: what is not done by then is reported. */
const PATIENCE_MILLISECONDS = 1_800_000;

const ENVIRONMENT = {
  DRAGOMAN_LOG_LEVEL: 'silent', // connections break here all the time
  DRAGOMAN_TASK_WORDS: String(LINES_A_TASK * WORDS_A_LINE),
  DRAGOMAN_TASK_LEASE: String(LEASE_SECONDS),
  DRAGOMAN_CLAIM_EXPIRIES: '1000',
  DRAGOMAN_TASK_SKIPS: '1000',
  DRAGOMAN_TASK_RESERVED: '0',
};

/** At each start the offline engine shows anew what it can do; after the first one nobody asks an engine for anything. */
const AGAIN = {
  ...ENVIRONMENT,
  DRAGOMAN_ENGINES: 'llm',
  DRAGOMAN_LLM_URL: 'http://127.0.0.1:9',
  DRAGOMAN_LLM_MODEL: 'none',
  DRAGOMAN_LLM_PAIRS: 'en>es',
};

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is looked into freely
  body: any;
}

export async function runEditing(options: EditingOptions): Promise<History> {
  const { directory, say } = options;
  const random = createRandom(options.seed);
  let program = await startProgram({ directory, environment: ENVIRONMENT });
  const { port, url } = program;
  const credentials = await createAccount(directory, 'editing', OPENING_CENTS);
  const settings = loadSettings({ DRAGOMAN_DATA: directory, DRAGOMAN_PORT: String(port) });
  const store = await openStore(settings, 'command', createLog('silent'));
  const owner = createConnection(store.connection);
  await owner.connect();
  const rows = async <T extends pg.QueryResultRow>(sql: string) => (await owner.query<T>(sql)).rows;

  const jobs = Math.ceil(options.tasks / TASKS_A_JOB);
  say(`${jobs} jobs`);
  let next = 0;
  await Promise.all(
    Array.from({ length: CREATORS }, async () => {
      while (next < jobs) await order(url, credentials.production_key, next++);
    }),
  );
  await until(async () => {
    const [left] = await rows<{ count: number }>(
      'select count(*)::int as count from jobs where due_at is not null',
    );
    return left!.count === 0;
  });

  const cookie = cookieOf(settings).name;
  const editors = await Promise.all(
    Array.from({ length: options.editors }, async (_, index) => {
      const userId = await createPerson(store.database, 'program', {
        email: `editor-${index}@example.com`,
        role: 'editor',
        reviewShare: REVIEW_SHARE,
        languages: [{ source_language: 'en', target_language: 'es', review: true }],
      });
      const visitor = { address: '127.0.0.1', userAgent: undefined, token: undefined };
      const { token } = await beginSession(store.database, settings, { userId, passwordHash: null }, visitor);
      return { userId, cookie: `${cookie}=${token}` };
    }),
  );
  say(`${editors.length} editors`);

  await program.kill();
  program = await startProgram({ directory, port, environment: AGAIN });

  const began = performance.now();
  const record: Recorded = { saves: [], given: [], claimMilliseconds: [], did: {} };
  let stopping = false;
  const working = startBeside(
    ...editors.map((editor) =>
      work({ ...editor, url, random: createRandom(random.below(2 ** 31)), record, stopping: () => stopping }),
    ),
  );
  const done = async () => {
    working.check();
    const sql = `select count(*)::int as count from jobs where status = 'completed'`;
    return (await rows<{ count: number }>(sql))[0]!.count;
  };
  let history: History;
  try {
    for (let kill = 1; kill <= options.kills; kill++) {
      const target = Math.floor((jobs * (kill - 0.5)) / options.kills);
      await until(async () => (await done()) >= target);
      await program.kill();
      say(`kill ${kill} of ${options.kills}, ${await done()} of ${jobs} jobs done`);
      program = await startProgram({ directory, port, environment: AGAIN });
    }
    const patience = Date.now() + PATIENCE_MILLISECONDS;
    await until(async () => (await done()) === jobs || Date.now() > patience);
    const seconds = (performance.now() - began) / 1000;
    stopping = true;
    await working.done();
    history = {
      ...record,
      kills: options.kills,
      seconds,
      settled: (await done()) === jobs,
      ...(await readFacts(rows)),
    };
  } finally {
    stopping = true;
    await owner.end();
    await store.close();
  }
  await program.stop();
  return history;
}

/** A number in letters: no check has anything against it. */
function letters(number: number): string {
  return [...String(number)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
}

/** Two lines of every job are the same, so that one fills the other. */
function lines(job: number, write: (word: string) => string): string {
  return Array.from({ length: TASKS_A_JOB * LINES_A_TASK }, (_, index) =>
    write(index === 3 || index === 4 ? 'again' : letters(job * 100 + index)),
  ).join('\n');
}

async function order(url: string, key: string, job: number): Promise<void> {
  const response = await fetch(`${url}/tapi/v2/translation/`, {
    method: 'POST',
    headers: { authorization: `ApiKey ${key}` },
    body: JSON.stringify({
      uid: `job-${job}`,
      text: lines(job, (word) => `Line ${word} stands in this text.`),
      target_text: lines(job, (word) => `La línea ${word} está en este texto.`),
      source_language: 'en',
      target_language: 'es',
    }),
  });
  if (response.status !== 201) throw new Error(`a job was refused: ${await response.text()}`);
  await response.body?.cancel();
}

type Recorded = Pick<History, 'saves' | 'given' | 'claimMilliseconds' | 'did'>;

interface Editor {
  userId: string;
  cookie: string;
  url: string;
  random: Random;
  record: Recorded;
  stopping(): boolean;
}

/** One editor, until everything is done. */
async function work(editor: Editor): Promise<void> {
  const { random, record } = editor;
  const count = (what: string) => {
    record.did[what] = (record.did[what] ?? 0) + 1;
  };
  while (!editor.stopping()) {
    const asked = performance.now();
    // A twentieth ask in two windows at once.
    const windows = random.below(20) === 0 ? 2 : 1;
    const answers = await Promise.all(
      Array.from({ length: windows }, () => ask(editor, 'POST', '/claims', {})),
    );
    let claimed = answers.find((answer) => answer?.status === 201);
    if (claimed === undefined && answers.some((answer) => answer?.body.error?.code === 'too_many_claims')) {
      // A claim whose answer was lost.
      const queue = await ask(editor, 'GET', '/queue');
      const [held] = queue?.body.held ?? [];
      if (held !== undefined) claimed = await ask(editor, 'POST', '/claims', { task: held.task });
      if (claimed?.status !== 201) claimed = undefined;
    }
    if (claimed === undefined) {
      await wait(50 + random.below(200));
      continue;
    }
    record.claimMilliseconds.push(performance.now() - asked);
    const { task, lease } = claimed.body;
    record.given.push({ task: task.task, token: lease.token, editor: editor.userId });
    count(task.kind === 'edit' ? 'claimed' : 'reviewed');
    await workOn(editor, task, lease.token, count);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the task as the interface gives it
async function workOn(
  editor: Editor,
  task: any,
  token: string,
  count: (what: string) => void,
): Promise<void> {
  const { random } = editor;
  const path = `/tasks/${task.task}`;
  const chance = random.below(100);
  if (chance < 3) {
    count('skipped');
    await ask(editor, 'POST', `${path}/skip`, { token, reason: 'other' });
    return;
  }
  if (task.kind === 'review') {
    const firstTime = !task.segments.some(({ issues }: { issues: object[] }) => issues.length > 0);
    if (firstTime && random.below(5) === 0) {
      const mark = { token, position: 0, category: 'style', severity: 'minor' };
      const marked = await ask(editor, 'POST', `${path}/issues`, mark);
      if (marked?.status !== 201) return;
      count('returned');
      await ask(editor, 'POST', `${path}/return`, { token });
      return;
    }
    await ask(editor, 'POST', `${path}/approve`, { token });
    return;
  }
  for (const segment of task.segments) {
    if (!segment.mine || segment.status === 'confirmed') continue;
    let { revision } = segment;
    if (random.below(3) === 0) {
      const draft = await save(editor, task, segment.position, token, revision, 'draft');
      if (draft === undefined) return;
      revision = draft;
    }
    if (random.below(10) === 0) await ask(editor, 'POST', `${path}/heartbeat`, { token });
    if ((await save(editor, task, segment.position, token, revision, 'confirmed')) === undefined) return;
  }
  if (chance < 6) {
    count('released');
    await ask(editor, 'POST', `${path}/release`, { token });
    await late(editor, task, token);
    return;
  }
  if (chance < 8) {
    // Walks away; comes back when another may have the task.
    count('abandoned');
    await wait(LEASE_SECONDS * 1000 + 500);
    await late(editor, task, token);
    return;
  }
  const handed = await ask(editor, 'POST', `${path}/submit`, { token });
  count(handed?.status === 200 ? 'submitted' : 'refused');
  if (chance > 97) await late(editor, task, token);
}

/** Saves once more under a claim that is over. */
// biome-ignore lint/suspicious/noExplicitAny: as above
async function late(editor: Editor, task: any, token: string): Promise<void> {
  const segment = task.segments.find(({ mine }: { mine: boolean }) => mine);
  await save(editor, task, segment.position, token, segment.revision, 'draft');
}

let written = 0;

/** Saves a text that no other save has. @returns the revision that it became; undefined: the claim is over */
async function save(
  editor: Editor,
  // biome-ignore lint/suspicious/noExplicitAny: as above
  task: any,
  position: number,
  token: string,
  from: number,
  status: 'draft' | 'confirmed',
): Promise<number | undefined> {
  let revision = from;
  let acknowledged: string[] = [];
  for (;;) {
    const text = `La línea ${letters(++written)} está en este texto.`;
    const made: Save = {
      uid: task.job.uid,
      position,
      task: task.task,
      token,
      text,
      answer: 'unknown',
      revision,
    };
    editor.record.saves.push(made);
    const body = { token, revision, target: [{ text }], status, acknowledged, active_ms: 10 };
    const answer = await ask(editor, 'PUT', `/tasks/${task.task}/segments/${position}`, body);
    if (answer === undefined) return undefined;
    if (answer.status === 200) {
      made.answer = 'saved';
      made.revision = answer.body.segment.revision;
      return made.revision;
    }
    const { code, kept, segment, findings } = answer.body.error ?? {};
    made.answer = 'refused';
    if (code === 'stale_lease') {
      if (kept !== undefined) made.answer = kept;
      made.revision = revision + 1;
      return undefined;
    }
    if (code === 'checks_failed') acknowledged = findings.map((one: Finding) => keyOf(one));
    else if (code === 'conflict') revision = segment.revision;
    else throw new Error(`a save was refused: ${answer.status} ${code}`);
  }
}

/** Asks until there is an answer. @returns undefined when the run is over before */
async function ask(editor: Editor, method: string, path: string, body?: object): Promise<Answer | undefined> {
  for (;;) {
    try {
      const response = await fetch(`${editor.url}/api/editing${path}`, {
        method,
        headers: {
          cookie: editor.cookie,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer = { status: response.status, body: await response.json() };
      if (response.status < 500) return answer;
    } catch {
      // Killed just now.
    }
    if (editor.stopping()) return undefined;
    await wait(50);
  }
}

async function until(question: () => Promise<boolean>): Promise<void> {
  while (!(await question())) await wait(100);
}

type Facts = Pick<History, 'tasks' | 'claims' | 'edits' | 'left' | 'jobs' | 'slots'>;

async function readFacts(rows: <T extends pg.QueryResultRow>(sql: string) => Promise<T[]>): Promise<Facts> {
  const claims = await rows<Facts['claims'][number] & { to: number | null; ended: string | null }>(
    `select task_id as task, claim_id as token, user_id as editor, extract(epoch from claimed_at)::float8 * 1000 as "from",
            extract(epoch from ended_at)::float8 * 1000 as "to", ended from claims`,
  );
  return {
    tasks: await rows('select task_id as task, kind, status from tasks'),
    claims: claims.map((claim) => ({ ...claim, to: claim.to ?? undefined, ended: claim.ended ?? undefined })),
    edits: await rows(
      `select j.uid, e.position, e.target -> 0 ->> 'text' as text, e.revision, e.status
         from edits e join jobs j using (part, account_id, job_id)`,
    ),
    left: await rows(
      `select j.uid, h.position, h.target -> 0 ->> 'text' as text
         from edit_history h join jobs j using (part, account_id, job_id) where h.kind = 'left'`,
    ),
    jobs: await rows(
      `select j.uid, j.status, t.body as result
         from jobs j left join job_texts t on t.job_id = j.job_id and t.kind = 'result'`,
    ),
    slots: (await rows<{ count: number }>('select count(*)::int as count from editor_slots'))[0]!.count,
  };
}
