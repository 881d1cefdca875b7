/**
 * The editing scenario: editors claim, save, confirm, submit, release, skip, leave and come back late, some in two
 * windows, while the service is killed with SIGKILL. The customers supply the drafts, so no engine is needed.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type Finding, keyOf } from '../../packages/checks/src/checks.ts';
import { loadSettings } from '../../packages/server/src/settings/settings.ts';
import { createAccount } from '../../scripts/program.ts';
import { startBackgroundLoad } from '../harness/background-load.ts';
import { countDue, type Query, withDatabase } from '../harness/database.ts';
import { createEditor, MANY_EDITORS, NO_ENGINE, sendAsEditor } from '../harness/editors.ts';
import { createRandom, type Random } from '../harness/random.ts';
import { sendRequest } from '../harness/requests.ts';
import type { RunOptions } from '../harness/run.ts';
import { startService } from '../harness/service.ts';
import type { EditingHistory, Save } from './checks.ts';

export interface EditingOptions extends RunOptions {
  editors: number;
  tasks: number;
  kills: number;
}

/** The number of lines of a task. Each line is a segment. */
const LINES_A_TASK = 2;
const WORDS_A_LINE = 6;
const TASKS_A_JOB = 10;
const CREATORS = 8;
const OPENING_CENTS = 100_000_000;
const LEASE_SECONDS = 5;
/** The percentage of tasks that are reviewed. */
const REVIEW_SHARE = 10;
/** The maximum milliseconds until all work is done, counted from the last kill. */
const PATIENCE_MILLISECONDS = 1_800_000;

const SETTINGS = {
  ...MANY_EDITORS,
  DRAGOMAN_TASK_WORDS: String(LINES_A_TASK * WORDS_A_LINE),
  DRAGOMAN_TASK_LEASE: String(LEASE_SECONDS),
};

export async function runEditing({ directory, say, ...options }: EditingOptions): Promise<EditingHistory> {
  const random = createRandom(options.seed);
  const service = await startService(directory, SETTINGS);
  const { url } = service;
  const { production_key } = await createAccount(directory, 'editing', OPENING_CENTS);
  const jobs = Math.ceil(options.tasks / TASKS_A_JOB);
  say(`${jobs} jobs`);
  let next = 0;
  const creators = Array.from({ length: CREATORS }, async () => {
    while (next < jobs) await order(url, production_key, next++);
  });
  await Promise.all(creators);
  const history = await withDatabase(directory, async (query, { database }) => {
    await until(async () => (await countDue(query, ['jobs'])) === 0);
    const settings = loadSettings({ DRAGOMAN_DATA: directory, DRAGOMAN_PORT: String(service.port) });
    const editors = await Promise.all(
      Array.from({ length: options.editors }, (_, index) => {
        const email = `editor-${index}@example.com`;
        return createEditor(database, settings, { email, reviewShare: REVIEW_SHARE, review: true });
      }),
    );
    say(`${editors.length} editors`);
    await service.kill();
    await service.start({ ...SETTINGS, ...NO_ENGINE });

    const began = performance.now();
    const record: Recorded = { saves: [], given: [], claimMilliseconds: [], moves: {} };
    let stopping = false;
    const common = { url, record, giveUp: () => stopping };
    const working = startBackgroundLoad(
      ...editors.map((editor) => work({ ...common, ...editor, random: createRandom(random.below(2 ** 31)) })),
    );
    const done = async () => {
      working.check();
      const [row] = await query<{ count: number }>(
        `select count(*)::int as count from jobs where status = 'completed'`,
      );
      return row!.count;
    };
    try {
      for (let kill = 1; kill <= options.kills; kill++) {
        const target = Math.floor((jobs * (kill - 0.5)) / options.kills);
        await until(async () => (await done()) >= target);
        await service.kill();
        say(`kill ${kill} of ${options.kills}, ${await done()} of ${jobs} jobs done`);
        await service.start({ ...SETTINGS, ...NO_ENGINE });
      }
      const patience = Date.now() + PATIENCE_MILLISECONDS;
      await until(async () => (await done()) === jobs || Date.now() > patience);
      const seconds = (performance.now() - began) / 1000;
      stopping = true;
      await working.done();
      const settled = (await done()) === jobs;
      return { ...record, kills: options.kills, seconds, settled, ...(await readEdited(query)) };
    } finally {
      stopping = true;
    }
  });
  await service.stop();
  return history;
}

/** Writes a number in letters, because the automatic checks compare the digits of source and translation. */
function letters(number: number): string {
  return [...String(number)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
}

/** Returns the text of a job. Two of its lines are identical, so the second is a repeated segment. */
function lines(job: number, write: (word: string) => string): string {
  return Array.from({ length: TASKS_A_JOB * LINES_A_TASK }, (_, index) =>
    write(index === 3 || index === 4 ? 'again' : letters(job * 100 + index)),
  ).join('\n');
}

async function order(url: string, key: string, job: number): Promise<void> {
  const { status, text } = await sendRequest(`${url}/tapi/v2/translation/`, {
    method: 'POST',
    key,
    body: JSON.stringify({
      uid: `job-${job}`,
      text: lines(job, (word) => `Line ${word} stands in this text.`),
      target_text: lines(job, (word) => `La línea ${word} está en este texto.`),
      source_language: 'en',
      target_language: 'es',
    }),
  });
  if (status !== 201) throw new Error(`a job was refused: ${status} ${text}`);
}

type Recorded = Pick<EditingHistory, 'saves' | 'given' | 'claimMilliseconds' | 'moves'>;

interface Editor {
  userId: string;
  cookie: string;
  url: string;
  random: Random;
  record: Recorded;
  /** Returns true when the run is over. */
  giveUp(): boolean;
}

/** A task as the API returns it. */
interface Task {
  task: string;
  kind: 'edit' | 'review';
  job: { uid: string };
  segments: { position: number; revision: number; status: string; mine: boolean; issues: object[] }[];
}

/** Works as one editor until the run is over. */
async function work(editor: Editor): Promise<void> {
  const { random, record } = editor;
  const count = (move: string) => {
    record.moves[move] = (record.moves[move] ?? 0) + 1;
  };
  while (!editor.giveUp()) {
    const asked = performance.now();
    // In one of twenty cases, the editor works in two windows.
    const windows = random.below(20) === 0 ? 2 : 1;
    const answers = await Promise.all(
      Array.from({ length: windows }, () => sendAsEditor(editor, 'POST', '/claims', {})),
    );
    let claimed = answers.find((answer) => answer?.status === 201);
    if (claimed === undefined && answers.some((answer) => answer?.body.error?.code === 'too_many_claims')) {
      // The response to an earlier claim was lost, so the editor looks up the task that it already has claimed.
      const queue = await sendAsEditor(editor, 'GET', '/queue');
      const [held] = queue?.body.held ?? [];
      if (held !== undefined) claimed = await sendAsEditor(editor, 'POST', '/claims', { task: held.task });
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

async function workOn(
  editor: Editor,
  task: Task,
  token: string,
  count: (move: string) => void,
): Promise<void> {
  const { random } = editor;
  const path = `/tasks/${task.task}`;
  const chance = random.below(100);
  if (chance < 3) {
    count('skipped');
    await sendAsEditor(editor, 'POST', `${path}/skip`, { token, reason: 'other' });
    return;
  }
  if (task.kind === 'review') {
    const firstTime = !task.segments.some(({ issues }) => issues.length > 0);
    if (firstTime && random.below(5) === 0) {
      const mark = { token, position: 0, category: 'style', severity: 'minor' };
      const marked = await sendAsEditor(editor, 'POST', `${path}/issues`, mark);
      if (marked?.status !== 201) return;
      count('returned');
      await sendAsEditor(editor, 'POST', `${path}/return`, { token });
      return;
    }
    await sendAsEditor(editor, 'POST', `${path}/approve`, { token });
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
    if (random.below(10) === 0) await sendAsEditor(editor, 'POST', `${path}/heartbeat`, { token });
    if ((await save(editor, task, segment.position, token, revision, 'confirmed')) === undefined) return;
  }
  if (chance < 6) {
    count('released');
    await sendAsEditor(editor, 'POST', `${path}/release`, { token });
    await late(editor, task, token);
    return;
  }
  if (chance < 8) {
    // The editor leaves, and comes back when another editor may have the task.
    count('abandoned');
    await wait(LEASE_SECONDS * 1000 + 500);
    await late(editor, task, token);
    return;
  }
  const submitted = await sendAsEditor(editor, 'POST', `${path}/submit`, { token });
  count(submitted?.status === 200 ? 'submitted' : 'refused');
  if (chance > 97) await late(editor, task, token);
}

/** Saves a segment with the token of a claim that has ended. */
async function late(editor: Editor, task: Task, token: string): Promise<void> {
  const segment = task.segments.find(({ mine }) => mine)!;
  await save(editor, task, segment.position, token, segment.revision, 'draft');
}

let written = 0;

/**
 * Saves a text that differs from the texts of all other saves.
 *
 * @returns the new revision, or undefined when the claim has ended
 */
async function save(
  editor: Editor,
  task: Task,
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
    const answer = await sendAsEditor(editor, 'PUT', `/tasks/${task.task}/segments/${position}`, body);
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

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await wait(100);
}

async function readEdited(query: Query) {
  const [row] = await query<{ count: number }>('select count(*)::int as count from editor_slots');
  return {
    tasks: await query<EditingHistory['tasks'][number]>('select task_id as task, kind, status from tasks'),
    claims: await query<EditingHistory['claims'][number]>(
      `select task_id as task, claim_id as token, user_id as editor, extract(epoch from claimed_at)::float8 * 1000 as "from",
              extract(epoch from ended_at)::float8 * 1000 as "to" from claims`,
    ),
    edits: await query<EditingHistory['edits'][number]>(
      `select j.uid, e.position, e.target -> 0 ->> 'text' as text, e.revision, e.status
         from edits e join jobs j using (part, account_id, job_id)`,
    ),
    late: await query<EditingHistory['late'][number]>(
      `select j.uid, h.position, h.target -> 0 ->> 'text' as text
         from edit_history h join jobs j using (part, account_id, job_id) where h.kind = 'left'`,
    ),
    jobs: await query<EditingHistory['jobs'][number]>(
      `select j.uid, j.status, t.body as result
         from jobs j left join job_texts t on t.job_id = j.job_id and t.kind = 'result'`,
    ),
    slots: row!.count,
  };
}
