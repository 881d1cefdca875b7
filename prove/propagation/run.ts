/**
 * The propagation scenario: jobs whose lines repeat, also in the other task of a job, wait for editors, who confirm at
 * the same time, mostly with the same words, while the service is killed with SIGKILL. Then all votes are undone.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type Finding, keyOf } from '../../packages/checks/src/checks.ts';
import { accountNamed } from '../../packages/server/src/access/accounts.ts';
import { saveBrand } from '../../packages/server/src/brands/brands.ts';
import { undoVote } from '../../packages/server/src/editing/votes/undo-votes.ts';
import { loadSettings } from '../../packages/server/src/settings/settings.ts';
import { createAccount } from '../../scripts/program.ts';
import { startBackgroundLoad } from '../harness/background-load.ts';
import { countDue, type Query, waitUntilSettled, withDatabase } from '../harness/database.ts';
import { createEditor, MANY_EDITORS, NO_ENGINE, sendAsEditor } from '../harness/editors.ts';
import { createRandom, type Random } from '../harness/random.ts';
import { sendRequest } from '../harness/requests.ts';
import type { RunOptions } from '../harness/run.ts';
import { startService } from '../harness/service.ts';
import type { PropagationHistory, Save, StoredSegment, StoredVote } from './checks.ts';

export interface PropagationOptions extends RunOptions {
  editors: number;
  jobs: number;
  kills: number;
  /** The percentage of segments that editors edit. Votes fill other segments of the same lines. */
  editedPercent: number;
}

const LINES_A_JOB = 6;
/** How often each line occurs in all jobs, on average. */
const REPETITION = 4;
/** The percentage of confirmations with words that no other editor uses. */
const DISAGREEMENT = 10;
const OPENING_CENTS = 100_000_000;
const LEASE_SECONDS = 5;
const ACCOUNT = 'propagation';
const BRAND = 'agree';
const SETTLE_SECONDS = 600;

const SETTINGS = {
  ...MANY_EDITORS,
  DRAGOMAN_TASK_LEASE: String(LEASE_SECONDS),
  // Half the lines of a job.
  DRAGOMAN_TASK_WORDS: '18',
  // Otherwise each editor would claim each task, and find nothing to edit in most of them.
  DRAGOMAN_TASK_SKIPS: '6',
};

export async function runPropagation({
  directory,
  say,
  seed,
  ...options
}: PropagationOptions): Promise<PropagationHistory> {
  const random = createRandom(seed);
  const service = await startService(directory, SETTINGS);
  const { production_key: key } = await createAccount(directory, ACCOUNT, OPENING_CENTS);
  const history = await withDatabase(directory, async (query, { database }) => {
    const { ref } = await accountNamed(database, ACCOUNT);
    const brand = { externalId: BRAND, name: BRAND, default: undefined, languages: new Map() };
    await saveBrand(database, 'program', ref, { ...brand, votes: 'confirm' }, false);
    const different = Math.ceil((options.jobs * LINES_A_JOB) / REPETITION);
    for (let job = 0; job < options.jobs; job++) {
      const lines = Array.from({ length: LINES_A_JOB - 1 }, () => random.below(different));
      await order(service.url, key, job, [...lines, lines[0]!]);
    }
    await waitUntilSettled(() => countDue(query, ['jobs', 'propagations']));
    const before = await readSegments(query);
    const settings = loadSettings({ DRAGOMAN_DATA: directory, DRAGOMAN_PORT: String(service.port) });
    const editors = await Promise.all(
      Array.from({ length: options.editors }, (_, index) =>
        createEditor(database, settings, {
          email: `editor-${index}@example.com`,
          reviewShare: 0,
          review: false,
        }),
      ),
    );
    say(`${before.length} segments, ${different} different ones, ${editors.length} editors`);
    await service.kill();
    await service.start({ ...SETTINGS, ...NO_ENGINE });

    const began = performance.now();
    const record: Recorded = { saves: [], sights: [] };
    let stopping = false;
    const common = { url: service.url, record, giveUp: () => stopping };
    const working = startBackgroundLoad(
      ...editors.map((editor, number) =>
        work({ ...common, ...editor, number, random: createRandom(random.below(2 ** 31)) }),
      ),
    );
    const confirmed = async () => {
      working.check();
      const [row] = await query<{ count: number }>(
        'select count(*)::int as count from edits e left join fills f using (part, account_id, job_id, position) ' +
          'where f.revision is distinct from e.revision',
      );
      return row!.count;
    };
    const wanted = Math.floor((before.length * options.editedPercent) / 100);
    const reach = async (target: number) => {
      const end = Date.now() + SETTLE_SECONDS * 1000;
      while ((await confirmed()) < target && Date.now() < end) await wait(50);
    };
    try {
      for (let kill = 1; kill <= options.kills; kill++) {
        await reach(Math.floor((wanted * (kill - 0.5)) / options.kills));
        await service.kill();
        say(`kill ${kill} of ${options.kills}, ${await confirmed()} segments edited`);
        await service.start({ ...SETTINGS, ...NO_ENGINE });
      }
      await reach(wanted);
    } finally {
      stopping = true;
    }
    await working.done();
    const settled = await settle(query);
    const seconds = (performance.now() - began) / 1000;
    const after = await readSegments(query);
    const votes = await readVotes(query);
    say(`${votes.length} votes; undoing them`);
    const ids = await query<{ vote: string }>('select vote_id as vote from votes where withdrawn_at is null');
    for (const { vote } of ids) await undoVote(database, 'program', ref, vote);
    const isUndone = await settle(query);
    const undone = await readSegments(query);
    const stored = { before, after, undone, votes, seconds };
    return { ...record, ...stored, kills: options.kills, settled: settled && isUndone };
  });
  await service.stop();
  return history;
}

/** Waits until every claim and all work on votes has ended. */
async function settle(query: Query): Promise<boolean> {
  const left = async () => {
    const [row] = await query<{ count: number }>(
      'select ((select count(*) from propagations) + (select count(*) from editor_slots))::int as count',
    );
    return row!.count;
  };
  await waitUntilSettled(left, { seconds: SETTLE_SECONDS });
  return (await left()) === 0;
}

/** Writes a number in letters, because the automatic checks compare the digits of source and translation. */
function letters(number: number): string {
  return [...String(number)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
}

async function order(url: string, key: string, job: number, lines: readonly number[]): Promise<void> {
  const { status, text } = await sendRequest(`${url}/tapi/v2/translation/`, {
    method: 'POST',
    key,
    body: JSON.stringify({
      uid: `job-${job}`,
      brand: BRAND,
      text_format: 'html',
      text: lines.map((line) => `<p>${sourceOf(line)}</p>`).join('\n'),
      source_language: 'en',
      target_language: 'es',
    }),
  });
  if (status !== 201) throw new Error(`a job was refused: ${status} ${text}`);
}

/** Every third line has its code in another place. */
function sourceOf(line: number): string {
  const word = letters(line);
  return line % 3 === 0
    ? `Line ${word} stands <b>in this text</b>.`
    : `Line <b>${word}</b> stands in this text.`;
}

type Recorded = Pick<PropagationHistory, 'saves' | 'sights'>;

interface Editor {
  userId: string;
  cookie: string;
  url: string;
  number: number;
  random: Random;
  record: Recorded;
  /** Returns true when the run is over. */
  giveUp(): boolean;
}

type Piece = Record<string, unknown>;

interface Segment {
  position: number;
  /** False for a segment of another task that is shown around this one. */
  mine: boolean;
  revision: number;
  status: string;
  source: Piece[];
  draft: Piece[];
}

interface Task {
  task: string;
  job: { uid: string };
  segments: Segment[];
}

/** Works as one editor until the run is over. */
async function work(editor: Editor): Promise<void> {
  while (!editor.giveUp()) {
    let claimed = await sendAsEditor(editor, 'POST', '/claims', {});
    if (claimed?.body.error?.code === 'too_many_claims') {
      // The response to an earlier claim was lost, so the editor looks up the task that it already has claimed.
      const queue = await sendAsEditor(editor, 'GET', '/queue');
      const [held] = queue?.body.held ?? [];
      if (held !== undefined) claimed = await sendAsEditor(editor, 'POST', '/claims', { task: held.task });
    }
    if (claimed?.status !== 201) await wait(50 + editor.random.below(100));
    else await workOn(editor, claimed.body.task, claimed.body.lease.token);
  }
}

/** Confirms some segments of a task, and leaves the task. */
async function workOn(editor: Editor, task: Task, token: string): Promise<void> {
  const { random, record } = editor;
  const untouched: Segment[] = [];
  for (const segment of task.segments) {
    if (segment.status === 'confirmed' || !segment.mine) continue;
    if (random.below(3) === 0) {
      untouched.push(segment);
      continue;
    }
    if (editor.giveUp() || !(await save(editor, task, segment, token))) return;
  }
  const now = await sendAsEditor(editor, 'GET', `/tasks/${task.task}`);
  // The read segments count only if the editor still held the claim when the task was read.
  const lease = await sendAsEditor(editor, 'POST', `/tasks/${task.task}/heartbeat`, { token });
  if (now?.status === 200 && lease?.status === 200) {
    for (const { position, draft, revision } of untouched) {
      const segment = (now.body as Task).segments.find((one) => one.position === position)!;
      // The editor's own confirmation of a repeat in the same task has filled this segment.
      if (segment.revision !== revision) continue;
      const [before, later] = [JSON.stringify(draft), JSON.stringify(segment.draft)];
      record.sights.push({ uid: task.job.uid, position, before, now: later });
    }
  }
  // One in five editors leaves without releasing the task, so its lease expires. The others skip the task, because the
  // queue would give them a released task again.
  const skip = { token, reason: 'other' };
  if (random.below(5) > 0) await sendAsEditor(editor, 'POST', `/tasks/${task.task}/skip`, skip);
}

/** Saves a segment as a draft or confirms it. @returns false when the claim has ended */
async function save(editor: Editor, task: Task, segment: Segment, token: string): Promise<boolean> {
  const { random, number, record } = editor;
  const { position, source } = segment;
  const codes = source.filter((piece) => !('text' in piece));
  const disagrees = random.below(100) < DISAGREEMENT;
  const words = source.map(({ text }) => text ?? '').join('');
  const line = /Line (\w+) /.exec(words)![1]!;
  const target = [
    { text: disagrees ? `La frase de ${letters(number)} con ` : 'La frase con ' },
    codes[0]!,
    { text: `la palabra ${line}` },
    codes[1]!,
    { text: ' está en este texto.' },
  ];
  const text = target.map((piece) => ('text' in piece ? piece.text : '|')).join('');
  const status = random.below(6) === 0 ? 'draft' : 'confirmed';
  let { revision } = segment;
  let acknowledged: string[] = [];
  for (;;) {
    const made: Save = { uid: task.job.uid, position, text, status, answer: 'unknown', revision };
    record.saves.push(made);
    const body = { token, revision, target, status, acknowledged, active_ms: 10 };
    const answer = await sendAsEditor(editor, 'PUT', `/tasks/${task.task}/segments/${position}`, body);
    if (answer === undefined) return false;
    if (answer.status === 200) {
      for (const saved of [answer.body.segment, ...answer.body.filled]) {
        const { position: place, revision: at, target: written } = saved;
        const stored = written.map((piece: Piece) => piece.text ?? '|').join('');
        const own = place === position;
        const done = { uid: task.job.uid, position: place, text: stored, status, revision: at } as const;
        if (own) Object.assign(made, { answer: 'saved', revision: at });
        else record.saves.push({ ...done, answer: 'saved' });
      }
      return true;
    }
    const { code, kept, segment: newer, findings } = answer.body.error ?? {};
    // The claim had ended when the text arrived, but the server stored the text as the draft of the segment.
    if (code === 'stale_lease' && kept === 'draft')
      Object.assign(made, { answer: 'saved', revision: revision + 1 });
    if (code === 'stale_lease') return false;
    if (code === 'checks_failed') acknowledged = findings.map((one: Finding) => keyOf(one));
    else if (code === 'conflict') revision = newer.revision;
    else throw new Error(`a save was refused: ${answer.status} ${code}`);
  }
}

function readSegments(query: Query): Promise<StoredSegment[]> {
  return query<StoredSegment>(
    `select j.uid, s.position, s.source::text as source, s.draft::text as draft, s.route, s.notes::text as notes,
            e.target::text as target, e.revision, f.revision as filled
       from segments s join jobs j using (part, account_id, job_id)
       left join edits e using (part, account_id, job_id, position)
       left join fills f using (part, account_id, job_id, position) order by j.uid, s.position`,
  );
}

function readVotes(query: Query): Promise<StoredVote[]> {
  return query<StoredVote>(
    `select j.uid, v.position, v.editor_id as editor, v.target::text as target
       from votes v join jobs j using (part, account_id, job_id) where v.withdrawn_at is null`,
  );
}
