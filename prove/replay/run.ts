/**
 * The replay scenario: customers create jobs with the recorded sources, and editors confirm the recorded edits in their
 * order, through HTTP. If a brand uses votes, confirmed texts also fill its waiting jobs.
 *
 * The jobs are created in three waves, and each wave is delivered before the next is created:
 *
 *   1  the memory is empty, so an engine makes every draft
 *   2  the memory has texts that are the same or similar; the service measures the similar ones against the engine
 *   3  the service chooses between both by these figures
 *
 * The first conversations are then edited twice more, with votes on and off in turns, to compare the times of
 * confirmations.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type Finding, keyOf } from '../../packages/checks/src/checks.ts';
import { countSegmentWords, type Piece } from '../../packages/documents/src/documents.ts';
import { accountNamed } from '../../packages/server/src/access/accounts.ts';
import { createAccount } from '../../packages/server/src/accounts/accounts.ts';
import { saveBrand } from '../../packages/server/src/brands/brands.ts';
import { TONE_NAMES } from '../../packages/server/src/brands/tones.ts';
import type { Store } from '../../packages/server/src/roles/program.ts';
import { loadSettings } from '../../packages/server/src/settings/settings.ts';
import type { Pair } from '../../scripts/program.ts';
import { startBackgroundLoad } from '../harness/background-load.ts';
import { countDue, type Query, waitUntilSettled, withDatabase } from '../harness/database.ts';
import { createEditor, sendAsEditor } from '../harness/editors.ts';
import { sendRequest } from '../harness/requests.ts';
import type { RunOptions } from '../harness/run.ts';
import { startService } from '../harness/service.ts';
import type { RecordedEdit } from './edits.ts';
import { placeOf, readStored } from './stored.ts';
import { targetOf } from './targets.ts';

export interface ReplayOptions extends RunOptions {
  edits: readonly RecordedEdit[];
  pair: Pair;
  /** The number of recorded edits for the comparison of confirmations with votes on and off. */
  compared: number;
}

/** A recorded edit, with the times and texts of its segment in the service. Times are in Unix milliseconds. */
export interface ReplayedRow extends RecordedEdit {
  uid: string;
  /** The wave in which the job was created, from 1. */
  wave: number;
  /** The number of words in the source. */
  words: number;
  /** When the job was drafted. */
  draftedAt: number;
  /** When the editor claimed the task of the segment. */
  claimedAt: number;
  /** When the service had confirmed the editor's text. Undefined if the editor did not open the segment. */
  confirmedAt: number | undefined;
  /** When the text of a vote was first seen in the segment. */
  filledAt: number | undefined;
  /** True if a vote had confirmed the segment before its task was claimed. */
  byVote: boolean;
  /** The draft of an engine; empty if it failed. Undefined if an exact match of the memory replaced it. */
  engine: string | undefined;
  /** The text of the memory when the job was drafted, from 75 % similarity. */
  memory: { score: number; text: string } | undefined;
  /** The draft that the service chose: the engine's or the memory's. A vote may have replaced it later. */
  chosen: string;
  /** The final text of the segment. */
  delivered: string;
}

export type Side = 'on' | 'off';

export interface ReplayHistory {
  /** The segments in the order of the recorded edits. */
  rows: ReplayedRow[];
  /** The milliseconds of confirmations in jobs of brands with votes and without. */
  confirmations: Record<Side, number[]>;
  /** The number of recorded edits that could not be confirmed. Their editors confirmed the draft. */
  refused: number;
  /** The number of jobs that were not delivered. */
  undelivered: number;
  seconds: number;
}

/** The number of conversations that are edited, and of jobs that are created, at the same time. */
const AT_ONCE = 4;
const WAVES = 3;
/** The maximum number of rows of a conversation. */
const MOST_ROWS = 20;
/**
 * The number of conversations in one turn of the comparison. Turns are short, so that other work on the
 * machine disturbs both sides of the comparison equally.
 */
const TURN = 8;
const OPENING_CENTS = 100_000_000;
const DRAFT_SECONDS = 1_800;
/** The pause between two reads of the segments that votes have filled. */
const LOOK_MILLISECONDS = 100;

const SETTINGS = {
  DRAGOMAN_LOG_LEVEL: 'silent',
  DRAGOMAN_EDITOR_TASKS: String(AT_ONCE),
  // Sessions must not expire during the run, because some editors appear only at the end of a long file.
  DRAGOMAN_SESSION_IDLE: '604800',
  DRAGOMAN_SESSION: '604800',
};

export async function runReplay({
  directory,
  say,
  edits,
  pair,
  compared,
}: ReplayOptions): Promise<ReplayHistory> {
  const service = await startService(directory, SETTINGS, undefined, pair);
  const history = await withDatabase(directory, async (query, store): Promise<ReplayHistory> => {
    const own = { DRAGOMAN_DATA: directory, DRAGOMAN_PORT: String(service.port) };
    const settings = loadSettings({ ...SETTINGS, ...own });
    const editors = new Map<string, Editor>();
    for (const name of new Set(edits.map(({ editor }) => editor))) {
      const email = `editor-${editors.size}@example.com`;
      const person = { email, reviewShare: 0, review: false };
      editors.set(name, {
        ...(await createEditor(store.database, settings, person, pair)),
        url: service.url,
      });
    }
    const scene: Scene = { url: service.url, query, store, pair, editors, refused: 0 };
    const conversations = conversationsOf(edits);
    say(`${edits.length} edits of ${editors.size} editors in ${conversations.length} jobs`);

    const { touches, seen, seconds } = await editAll(scene, conversations, say);
    const stored = await readStored(query);
    const rows = touches.map(({ edit, job, segment, milliseconds: _, ...touch }): ReplayedRow => {
      const place = placeOf(job.uid, segment.position);
      const words = countSegmentWords(segment.source, pair.from);
      return { ...edit, ...touch, ...stored.get(place)!, uid: job.uid, words, filledAt: seen.get(place) };
    });
    const { refused } = scene;
    say('comparing confirmations with votes on and off');
    const first = conversations.filter(({ at }) => at < compared);
    const confirmations = await compareConfirmations(scene, first);
    const [left] = await query<{ count: number }>(
      `select count(*)::int as count from jobs where status <> 'completed'`,
    );
    return { rows, confirmations, refused, undelivered: left!.count, seconds };
  });
  await service.stop();
  return history;
}

/** Neighboring edits of one client, editor and tone. They become one job. */
interface Conversation extends Pick<RecordedEdit, 'client' | 'editor' | 'tone'> {
  /** The index of this conversation's first edit in the list of all recorded edits. */
  at: number;
  edits: RecordedEdit[];
}

function conversationsOf(edits: readonly RecordedEdit[]): Conversation[] {
  const made: Conversation[] = [];
  for (const [at, edit] of edits.entries()) {
    const last = made.at(-1);
    const { client, editor, tone } = edit;
    const isSame = last?.client === client && last.editor === editor && last.tone === tone;
    if (isSame && last.edits.length < MOST_ROWS) last.edits.push(edit);
    else made.push({ client, editor, tone, at, edits: [edit] });
  }
  return made;
}

interface Editor {
  url: string;
  cookie: string;
}

interface Scene {
  url: string;
  query: Query;
  store: Store;
  pair: Pair;
  editors: ReadonlyMap<string, Editor>;
  /** The number of recorded edits that could not be confirmed so far. */
  refused: number;
}

interface Job extends Conversation {
  uid: string;
  /** The ids of the job's tasks, in the order of the text. */
  tasks: string[];
}

/** The accounts of the clients. Each has a brand for each tone. */
interface Customers {
  /** Distinguishes the accounts and jobs of several calls. */
  prefix: string;
  /** The API key of each client. */
  keys: ReadonlyMap<string, string>;
  tones: readonly string[];
}

async function createCustomers(
  { store: { database, vault } }: Scene,
  prefix: string,
  votes: 'confirm' | 'off',
  conversations: readonly Conversation[],
): Promise<Customers> {
  const tones = [...new Set(conversations.map(({ tone }) => tone))];
  const keys = new Map<string, string>();
  for (const client of new Set(conversations.map((one) => one.client))) {
    const username = `${prefix}-${keys.size}`;
    const fields = { email: undefined, dialect: 'spec', prepaid: false, chat: false } as const;
    const account = { ...fields, username, balanceCents: OPENING_CENTS };
    keys.set(client, (await createAccount(database, vault, 'program', account)).production_key);
    const { ref } = await accountNamed(database, username);
    for (const index of tones.keys()) {
      const brand = { name: brandOf(index), default: undefined, languages: new Map(), votes };
      await saveBrand(database, 'program', ref, { ...brand, externalId: brandOf(index) }, false);
    }
  }
  return { prefix, keys, tones };
}

/** Creates a job for each conversation, and waits for the drafts. */
async function createJobs(
  { url, query, pair }: Scene,
  { prefix, keys, tones }: Customers,
  conversations: readonly Conversation[],
): Promise<Job[]> {
  await inOrder(conversations, async ({ client, tone, at, edits }) => {
    const known = TONE_NAMES.find((name) => name.toLowerCase() === tone.toLowerCase());
    const { status, text } = await sendRequest(`${url}/tapi/v2/translation/`, {
      method: 'POST',
      key: keys.get(client)!,
      body: JSON.stringify({
        uid: `${prefix}-${at}`,
        brand: brandOf(tones.indexOf(tone)),
        ...(known === undefined ? {} : { tone: known }),
        text_format: 'xliff',
        text: documentOf(edits, pair),
        source_language: pair.from,
        target_language: pair.to,
      }),
    });
    if (status !== 201) throw new Error(`a job was refused: ${status} ${text}`);
  });
  await waitUntilSettled(() => countDue(query, ['jobs']), { seconds: DRAFT_SECONDS });
  const rows = await query<{ uid: string; task: string }>(
    `select j.uid, t.task_id as task from tasks t join jobs j using (part, account_id, job_id) order by t.first_position`,
  );
  const tasks = Map.groupBy(rows, ({ uid }) => uid);
  return conversations.map((one) => {
    const uid = `${prefix}-${one.at}`;
    return { ...one, uid, tasks: (tasks.get(uid) ?? []).map(({ task }) => task) };
  });
}

/** Each recorded tone gets its own brand, because recorded tones need not be tones of the service. */
const brandOf = (tone: number) => `tone-${tone}`;

/** Returns an XLIFF document in which each source is one segment, however many sentences it has. */
function documentOf(edits: readonly RecordedEdit[], { from, to }: Pair): string {
  const units = edits.map(({ source }, index) => {
    const text = source.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    const segment = `<mrk mtype="seg" mid="1">${text}</mrk>`;
    return `<trans-unit id="${index}"><source>${text}</source><seg-source>${segment}</seg-source></trans-unit>`;
  });
  const file = `<file original="chat" source-language="${from}" target-language="${to}" datatype="plaintext">`;
  return `<xliff version="1.2">${file}<body>${units.join('')}</body></file></xliff>`;
}

/** Calls `work` for the items in their order, with up to `AT_ONCE` calls at the same time. */
async function inOrder<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  let next = 0;
  const works = Array.from({ length: AT_ONCE }, async () => {
    while (next < items.length) await work(items[next++]!);
  });
  await Promise.all(works);
}

interface Segment {
  position: number;
  unit: number;
  revision: number;
  status: string;
  mine: boolean;
  route: string | null;
  source: Piece[];
  draft: Piece[] | null;
  codes: Record<string, string>;
}

/** What an editor did with a segment. */
interface Touch extends Pick<ReplayedRow, 'claimedAt' | 'confirmedAt' | 'byVote'> {
  job: Job;
  edit: RecordedEdit;
  /** The segment when its task was claimed. */
  segment: Segment;
  /** The duration of the confirmation. */
  milliseconds: number | undefined;
}

type TouchInWave = Touch & Pick<ReplayedRow, 'wave'>;

/**
 * Creates the jobs in waves, and lets the editors work in the recorded order.
 *
 * @returns what the editors did, when each filled segment was seen first, and the seconds that the editing took
 */
async function editAll(
  scene: Scene,
  conversations: readonly Conversation[],
  say: (line: string) => void,
): Promise<{ touches: TouchInWave[]; seen: Map<string, number>; seconds: number }> {
  const { query } = scene;
  const customers = await createCustomers(scene, 'replay', 'confirm', conversations);
  const touches: TouchInWave[] = [];
  const seen = new Map<string, number>();
  let seconds = 0;
  let isOver = false;
  let done = 0;
  const looking = startBackgroundLoad(
    (async () => {
      for (; !isOver; await wait(LOOK_MILLISECONDS)) await lookAtFills(query, seen);
    })(),
  );
  try {
    for (let wave = 1; wave <= WAVES; wave++) {
      const [start, end] = [wave - 1, wave].map((part) => Math.round((conversations.length * part) / WAVES));
      const jobs = await createJobs(scene, customers, conversations.slice(start, end));
      say(`wave ${wave}: ${jobs.length} jobs are waiting`);
      const began = performance.now();
      await inOrder(jobs, async (job) => {
        looking.check();
        for (const touch of await editJob(scene, job)) touches.push({ ...touch, wave });
        if (++done % 100 === 0) say(`${done} of ${conversations.length} jobs edited`);
      });
      await settle(query);
      seconds += (performance.now() - began) / 1000;
    }
  } finally {
    isOver = true;
  }
  await looking.done();
  const place = ({ job, segment }: Touch) => job.at + segment.unit;
  return { touches: touches.sort((one, other) => place(one) - place(other)), seen, seconds };
}

/** Waits until no vote has segments left to fill, and every submitted job is delivered. */
function settle(query: Query): Promise<void> {
  const left = async () => {
    const [row] = await query<{ count: number }>(
      `select ((select count(*) from propagations) +
               (select count(*) from edited_jobs where stage = 'assembling'))::int as count`,
    );
    return row!.count;
  };
  return waitUntilSettled(left, { pause: 20 });
}

async function lookAtFills(query: Query, seen: Map<string, number>): Promise<void> {
  const rows = await query<{ uid: string; position: number }>(
    `select j.uid, f.position from fills f join jobs j using (part, account_id, job_id)
      where f.filled_at > now() - interval '10 s'`,
  );
  const now = Date.now();
  for (const { uid, position } of rows) {
    const place = placeOf(uid, position);
    if (!seen.has(place)) seen.set(place, now);
  }
}

/** Claims the tasks of a job, confirms every segment that no vote has confirmed, and submits the tasks. */
async function editJob(scene: Scene, job: Job): Promise<Touch[]> {
  const editor = scene.editors.get(job.editor)!;
  const touches: Touch[] = [];
  for (const id of job.tasks) {
    const claimedAt = Date.now();
    const { task, lease } = await claim(editor, id);
    const path = `/tasks/${id}`;
    const own = (task.segments as Segment[]).filter(({ mine }) => mine);
    const now = new Map(own.map((segment) => [segment.position, segment]));
    for (const segment of own) {
      const edit = job.edits[segment.unit]!;
      const byVote = segment.status === 'confirmed';
      const touch: Touch = {
        job,
        edit,
        segment,
        claimedAt,
        byVote,
        confirmedAt: undefined,
        milliseconds: undefined,
      };
      const latest = now.get(segment.position)!;
      // The confirmation of a repeat in the same task has confirmed this segment too.
      const isRepeat = !byVote && latest.status === 'confirmed';
      if (!byVote && !isRepeat) {
        const saved = await confirm(scene, editor, path, lease.token, latest, edit.edit);
        Object.assign(touch, { milliseconds: saved.milliseconds, confirmedAt: Date.now() });
        for (const filled of saved.filled) now.set(filled.position, filled);
      }
      const isKept = segment.route?.startsWith('kept:') === true;
      if (!isRepeat && !isKept) touches.push(touch);
    }
    const submitted = await sendAsEditor(editor, 'POST', `${path}/submit`, { token: lease.token });
    if (submitted?.status !== 200) throw new Error(`a task was not submitted: ${submitted?.status}`);
  }
  return touches;
}

async function claim(editor: Editor, task: string) {
  for (;;) {
    const claimed = await sendAsEditor(editor, 'POST', '/claims', { task });
    if (claimed?.status === 201) return claimed.body;
    const code = claimed?.body.error?.code;
    if (code !== 'task_taken') throw new Error(`a claim was refused: ${claimed?.status} ${code}`);
    // A claim is refused while the text of a vote is written into the task. It is tried again.
    await wait(10);
  }
}

/** Confirms a segment with a recorded edit, or with its draft if the edit cannot be confirmed. */
async function confirm(
  scene: Scene,
  editor: Editor,
  path: string,
  token: string,
  segment: Segment,
  edit: string,
): Promise<{ milliseconds: number; filled: Segment[] }> {
  let target = targetOf(segment.source, segment.codes, edit);
  let acknowledged: string[] = [];
  let { revision } = segment;
  const refuse = () => {
    scene.refused++;
    return segment.draft ?? segment.source;
  };
  target ??= refuse();
  for (;;) {
    const body = { token, revision, target, status: 'confirmed', acknowledged, active_ms: 10 };
    const began = performance.now();
    const answer = await sendAsEditor(editor, 'PUT', `${path}/segments/${segment.position}`, body);
    const milliseconds = performance.now() - began;
    if (answer?.status === 200) return { milliseconds, filled: answer.body.filled };
    const { code, findings = [], segment: newer } = answer?.body.error ?? {};
    const keys = (findings as Finding[]).map((one) => keyOf(one));
    const isNew = keys.some((key) => !acknowledged.includes(key));
    if (code === 'conflict') revision = newer.revision;
    else if (code === 'checks_failed' && isNew) acknowledged = keys;
    else if (code === 'checks_failed' && target !== segment.draft) target = refuse();
    else throw new Error(`a save was refused: ${answer?.status} ${code}`);
  }
}

/** Edits the same conversations for accounts with votes on and off, in turns, and returns the times. */
async function compareConfirmations(
  scene: Scene,
  conversations: readonly Conversation[],
): Promise<Record<Side, number[]>> {
  const createAll = async (prefix: Side, votes: 'confirm' | 'off') =>
    createJobs(scene, await createCustomers(scene, prefix, votes, conversations), conversations);
  const jobs = {
    on: await createAll('on', 'confirm'),
    off: await createAll('off', 'off'),
  };
  const measured: Record<Side, number[]> = { on: [], off: [] };
  for (let start = 0; start < conversations.length; start += TURN) {
    const sides: Side[] = start % (2 * TURN) === 0 ? ['on', 'off'] : ['off', 'on'];
    for (const side of sides) {
      await inOrder(jobs[side].slice(start, start + TURN), async (job) => {
        const touches = await editJob(scene, job);
        measured[side].push(...touches.flatMap(({ milliseconds }) => milliseconds ?? []));
      });
      await settle(scene.query);
    }
  }
  return measured;
}
