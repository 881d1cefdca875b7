/**
 * Tests access to tasks: every route of `/api/editing` in every situation, checked against one table. The
 * routes come from the OpenAPI description of the web app, so a route that is missing in the table fails
 * here.
 */
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { accountNamed } from '../../access/accounts.ts';
import { saveBrand } from '../../brands/brands.ts';
import { describeApp } from '../../roles/app.ts';
import {
  claimTask,
  confirm,
  editNext,
  emptyEditing,
  expireClaims,
  HUMAN,
  orderEdit,
  pathOf,
} from '../../testing/editors.ts';
import {
  type Answer,
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
} from '../../testing/harness.ts';

/**
 * The expected response for each route (rows) in each situation (columns):
 *
 *   yes     success; for GET task, the access
 *   first   refused until the user does something else: confirms all segments, or writes a note
 *   -       not found, as for an unknown task; in the queue: not listed
 *   taken   the task cannot be claimed, or not by this user
 *   late    the claim has ended and the text is discarded
 *   draft, left   the claim has ended and the text is stored for the next editor
 *   gone    the customer canceled the job
 *   out     not signed in
 */
const TABLE = `
                        other  offer  held   taken  skip   skip+  kept   report free   lost   handed done   done-  nolang past   cancel shut   mywork review norev  revs   oper
GET queue               -      open   held   -      -      -      -      -      open   -      -      -      -      -      -      -      out    -      open   -      held   -
GET work                yes    yes    yes    yes    yes    yes    yes    yes    yes    yes    yes    yes    yes    yes    yes    yes    out    yes    yes    yes    yes    yes
GET task                -      offer  held   -      -      record -      -      offer  record record record -      record record gone   out    -      offer  -      held   all
GET preview             -      -      yes    -      -      -      -      -      -      -      -      -      -      -      -      gone   out    -      -      -      yes    yes
GET concordance         -      -      yes    -      -      -      -      -      -      -      -      -      -      -      -      gone   out    -      -      -      yes    yes
GET inconsistencies     -      -      yes    -      -      -      -      -      -      -      -      -      -      -      -      gone   out    -      -      -      yes    yes
GET matches             -      -      yes    -      -      -      -      -      -      -      -      -      -      -      -      gone   out    -      -      -      yes    yes
GET matches, nearby     -      -      yes    -      -      -      -      -      -      -      -      -      -      -      -      gone   out    -      -      -      -      yes
GET matches, far        -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      gone   out    -      -      -      -      yes
GET history, own        -      -      yes    -      -      yes    -      -      yes    yes    yes    yes    -      yes    yes    gone   out    -      -      -      yes    yes
GET history, nearby     -      -      yes    -      -      -      -      -      -      -      -      -      -      -      -      gone   out    -      -      -      yes    yes
GET history, far        -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      gone   out    -      -      -      -      yes
POST comments           -      -      yes    -      -      -      -      -      -      -      -      -      -      -      -      gone   out    -      -      -      yes    yes
POST comments, far      -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      gone   out    -      -      -      -      yes
POST claims             -      yes    yes    taken  taken  taken  taken  taken  yes    taken  taken  taken  taken  -      -      taken  out    taken  yes    -      yes    -
PUT segment             -      -      yes    -      -      draft  -      -      draft  left   left   left   -      late   late   gone   out    -      -      -      yes    -
PUT segment, wrong      -      -      first  -      -      draft  -      -      draft  left   left   left   -      late   late   gone   out    -      -      -      first  -
PUT segment, nearby     -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      out    -      -      -      -      -
PUT unsure              -      late   yes    late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      yes    late
PUT unsure, nearby      -      late   -      late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      -      late
POST join               -      late   first  late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      -      late
POST join, nearby       -      late   -      late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      -      late
POST separate           -      late   first  late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      -      late
POST split              -      late   first  late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      -      late
POST unsplit            -      late   first  late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      -      late
POST terms              -      late   yes    late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      yes    late
DELETE terms            -      late   -      late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      -      late
POST queries            -      late   yes    late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      yes    late
DELETE queries          -      late   -      late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      -      late
POST heartbeat          -      late   yes    late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      yes    late
POST release            -      late   yes    late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      yes    late
POST submit             -      late   first  late   late   late   late   late   late   late   yes    yes    late   late   yes    gone   out    late   late   -      -      late
POST approve            -      late   -      late   late   late   late   late   late   late   yes    yes    late   late   yes    gone   out    late   late   -      first  late
POST skip               -      late   yes    late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      yes    -
POST skip, unclaimed    -      yes    taken  taken  yes    yes    yes    taken  yes    taken  taken  taken  taken  -      -      taken  out    yes    yes    -      taken  -
POST report             -      late   yes    late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      yes    -
POST report, unclaimed  -      yes    taken  taken  taken  taken  taken  taken  yes    taken  taken  taken  taken  -      -      taken  out    taken  yes    -      taken  -
POST return             -      late   -      late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      yes    late
POST seen               -      late   -      late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      yes    late
POST issues             -      late   -      late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      yes    late
DELETE issues           -      late   -      late   late   late   late   late   late   late   late   late   late   late   late   gone   out    late   late   -      yes    late
`;

let server: TestServer;
let owner: pg.Client;
let call: ReturnType<typeof createClient>;
let operator: TestPerson;
let bob: TestPerson;

beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_TASK_WORDS: '6', DRAGOMAN_TASK_SKIPS: '9' } });
  owner = await server.connectOwner();
  const account = await server.createAccount({ balanceCents: 100_000 });
  call = createClient(server.url, account.production_key);
  const { ref } = await accountNamed(server.database, account.username);
  const term = { source: 'house', target: 'casa', caseSensitive: false, forbidden: false };
  const languages = new Map([
    [
      'es',
      { tone: 'Informal' as const, instructions: 'Smile.', terms: [{ ...term, doNotTranslate: false }] },
    ],
  ]);
  const brand = { externalId: 'acme', name: 'Acme', default: true, languages };
  await saveBrand(server.database, 'command', ref, brand, false);
  operator = await createPerson(server, { role: 'operator' });
  bob = await createPerson(server, { role: 'editor', languages: ['en:es'] });
});
afterAll(() => server.stop());

const NOBODY = '00000000-0000-7000-8000-000000000000';
const LINES = 14;
/** The job's text gives seven tasks of two segments. The tests use the fourth task. */
const TEXT = Array.from({ length: LINES }, (_, line) => `The house ${'abcdefghijklmn'[line]}.`).join('\n');

interface Claimed {
  task: string;
  lease: { token: string };
  segments: { position: number; revision: number; draft: never }[];
}

interface Case {
  person: TestPerson;
  task: string;
  /** The lease token of a current or past claim. */
  token: string;
  /** The position of a segment that the user edited, if any. */
  own: number;
  /** The positions of the segments of the task. */
  positions: number[];
  issue?: string;
}

/** Creates a job and removes all other jobs from editing. @returns the tasks of the job in order */
async function order(text = TEXT): Promise<{ uid: string; tasks: string[] }> {
  await emptyEditing(owner);
  const uid = await orderEdit(call, text);
  const { rows } = await owner.query('select task_id from tasks order by first_position');
  return { uid, tasks: rows.map(({ task_id }) => task_id) };
}

const editor = (...languages: string[]) => createPerson(server, { role: 'editor', languages });

/** Claims a task and confirms one of its segments. */
async function work(person: TestPerson, task: string, position: number): Promise<Claimed> {
  const claimed: Claimed = await claimTask(person, task);
  const segment = claimed.segments.find((one) => one.position === position)!;
  expect((await confirm(person, claimed, segment)).status).toBe(200);
  return claimed;
}

const act = async ({ call }: TestPerson, claimed: Claimed, what: string, more: object = {}) => {
  const answer = await call('POST', pathOf(claimed, `/${what}`), { token: claimed.lease.token, ...more });
  expect(answer.status, answer.text).toBe(200);
};

const setLanguages = async ({ userId }: TestPerson, languages: object[]) =>
  expect((await operator.call('PATCH', `/api/console/people/${userId}`, { languages })).status).toBe(200);

/**
 * Returns a function that creates a situation of the table with the fourth of seven tasks. By default the
 * user is an editor of its language pair.
 */
const ofTask =
  (make: (person: TestPerson, task: string, uid: string) => Promise<Claimed | undefined>, pair = 'en:es') =>
  async (): Promise<Case> => {
    const { uid, tasks } = await order();
    const [person, task] = [await editor(pair), tasks[3]!];
    const claimed = await make(person, task, uid);
    return { person, task, token: claimed?.lease.token ?? NOBODY, own: 6, positions: [6, 7] };
  };

/** Bob confirms the other segment, so that the task can be submitted. */
async function handIn(person: TestPerson, task: string): Promise<Claimed> {
  await act(bob, await work(bob, task, 7), 'release');
  const claimed = await work(person, task, 6);
  await act(person, claimed, 'submit');
  return claimed;
}

const deliver = (task: string) => owner.query(`update tasks set status = 'done' where task_id = $1`, [task]);

/** Creates a job whose review is open. `author` edited the job and has review rights too. */
const ofReview =
  (make: (author: TestPerson, reviewer: TestPerson, task: string) => Promise<Partial<Case>>) =>
  async (): Promise<Case> => {
    const [author, reviewer] = [await editor('en:es+review'), await editor('en:es+review')];
    await order('The house a.\nThe house b.');
    await editNext(author);
    const { rows } = await owner.query(`select task_id from tasks where kind = 'review'`);
    const task: string = rows[0].task_id;
    const common = { person: reviewer, task, token: NOBODY, own: 0, positions: [0, 1] };
    return { ...common, ...(await make(author, reviewer, task)) };
  };

const SITUATIONS: Record<string, () => Promise<Case>> = {
  /** The user does not have the task's language pair. */
  other: ofTask(async () => {}, 'en:fr'),
  /** The task is open and the user may claim it. */
  offer: ofTask(async () => {}),
  held: ofTask((person, task) => work(person, task, 6)),
  /** Another editor holds the task. */
  taken: ofTask(async (_, task) => void (await claimTask(bob, task))),
  /** The user skipped the task without editing it. */
  skip: ofTask(async ({ call }, task) => {
    expect((await call('POST', pathOf({ task }, '/skip'), { reason: 'no_time' })).status).toBe(200);
  }),
  /** The user edited the task and then skipped it. */
  'skip+': ofTask(async (person, task) => {
    const claimed = await work(person, task, 6);
    await act(person, claimed, 'skip', { reason: 'no_time' });
    return claimed;
  }),
  /** The task is reserved for another editor. */
  kept: ofTask(async (_, task) => {
    const { status } = await operator.call('POST', `/api/console/tasks/${task}/reassign`, {
      user: bob.userId,
    });
    expect(status).toBe(200);
  }),
  /** Another editor reported the task to the operators. */
  report: ofTask(async (_, task) => {
    await act(bob, await claimTask(bob, task), 'report', { reason: 'other' });
    return undefined;
  }),
  /** The user released the task after editing it. */
  free: ofTask(async (person, task) => {
    const claimed = await work(person, task, 6);
    await act(person, claimed, 'release');
    return claimed;
  }),
  /** The user's claim on the task expired, and another editor holds the task now. */
  lost: ofTask(async (person, task) => {
    const claimed = await work(person, task, 6);
    await expireClaims(owner, { task });
    await claimTask(bob, task);
    return claimed;
  }),
  /** The user submitted the task. */
  handed: ofTask(handIn),
  /** The job was delivered, and the user edited a segment of the task. */
  done: ofTask(async (person, task) => {
    const claimed = await handIn(person, task);
    await deliver(task);
    return claimed;
  }),
  /** The job was delivered, and the user edited no segment of the task. */
  'done-': ofTask(async (_, task) => {
    await handIn(bob, task);
    await deliver(task);
  }),
  /** The user lost the language pair while holding the task. */
  nolang: ofTask(async (person, task) => {
    const claimed = await work(person, task, 6);
    await setLanguages(person, [{ source_language: 'en', target_language: 'fr', review: true }]);
    return claimed;
  }),
  /** The user lost the language pair after submitting the task. */
  past: ofTask(async (person, task) => {
    const claimed = await handIn(person, task);
    await deliver(task);
    await setLanguages(person, []);
    return claimed;
  }),
  /** The customer canceled the job while the user held the task. */
  cancel: ofTask(async (person, task, uid) => {
    const claimed = await work(person, task, 6);
    expect((await call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
    return claimed;
  }),
  /** The user was disabled while holding the task. */
  shut: ofTask(async (person, task) => {
    const claimed = await work(person, task, 6);
    expect((await operator.call('POST', `/api/console/people/${person.userId}/disable`)).status).toBe(200);
    return claimed;
  }),
  /** The task is a review of the user's own work. */
  mywork: ofReview(async (author) => ({ person: author })),
  /** The task is a review of another editor's work, which the user may claim. */
  review: ofReview(async () => ({})),
  /** The task is a review, and the user has no review rights. */
  norev: ofReview(async () => ({ person: bob })),
  /** The task is a review that the user has claimed. */
  revs: ofReview(async (_, reviewer, task) => {
    const { token } = (await claimTask(reviewer, task)).lease;
    const issue = { token, position: 0, category: 'style', severity: 'minor' };
    const marked = await reviewer.call('POST', pathOf({ task }, '/issues'), issue);
    // Leaves one segment unconfirmed. Otherwise the request to approve the job would deliver it before the
    // other requests are tested.
    await owner.query(`update edits set status = 'draft', confirmed_at = null where position = 1`);
    return { token, issue: marked.body.issue };
  }),
  oper: async () => ({ ...(await ofTask(async () => {})()), person: operator }),
};

const WORDS: Record<string, string> = {
  not_signed_in: 'out',
  not_found: '-',
  task_taken: 'taken',
  too_many_claims: 'many',
  job_canceled: 'gone',
  unconfirmed: 'first',
  checks_failed: 'first',
  not_joinable: 'first',
  not_splittable: 'first',
  conflict: 'first',
  invalid_request: 'first',
};

function wordOf({ status, body, text }: Answer): string {
  if (status < 300) return 'yes';
  const { code, kept } = body.error;
  if (code === 'stale_lease') return kept === undefined ? 'late' : kept === 'draft' ? 'draft' : 'left';
  return WORDS[code] ?? text;
}

type Probe = (one: Case) => Promise<string>;

const ask =
  (method: string, path: string | ((one: Case) => string), body?: (one: Case) => object): Probe =>
  async (one) => {
    const rest = typeof path === 'string' ? path : path(one);
    return wordOf(await one.person.call(method, pathOf(one, rest), body?.(one)));
  };

/**
 * Reads the task and checks that the response shows only what the user's access allows. Other texts of the
 * customer may be in the body only while the user holds the task.
 */
async function readTask(one: Case): Promise<string> {
  const answer = await one.person.call('GET', pathOf(one));
  if (answer.status !== 200) return wordOf(answer);
  const { access, segments, job, terms, comments } = answer.body;
  const [first, last] = [Math.max(0, one.positions[0]! - 5), one.positions.at(-1)! + 5];
  const near = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const shown = segments.map(({ position }: { position: number }) => position);
  const all = one.positions[0] === 0 ? one.positions : near;
  const isWhole = access === 'held' || access === 'all';
  expect(shown).toEqual(access === 'record' ? [one.own] : isWhole ? all : one.positions);
  expect([terms.length, comments.length]).toEqual(isWhole ? [1, 1] : [0, 0]);
  expect(job.instructions.length).toBe(access === 'record' ? 0 : 1);
  return access;
}

async function readQueue({ person, task }: Case): Promise<string> {
  const answer = await person.call('GET', '/api/editing/queue');
  if (answer.status !== 200) return wordOf(answer);
  const isIn = (list: { task: string }[]) => list.some((one) => one.task === task);
  return isIn(answer.body.held) ? 'held' : isIn(answer.body.open) ? 'open' : '-';
}

let terms = 0;
const token = ({ token }: Case) => ({ token });
const target = [{ text: 'Una casa' }];
const saving = (more: object) => (one: Case) => ({ token: one.token, revision: 1, target, ...more });
/** Positions outside the task: of the segment right after it, and of a distant segment. */
const nearbyPosition = ({ positions }: Case) => positions.at(-1)! + 1;
const FAR = LINES - 1;
const segment = (rest: string, at: (one: Case) => number) => (one: Case) => `/segments/${at(one)}${rest}`;
const own = ({ own }: Case) => own;
const task = '/api/editing/tasks/{task}';

/**
 * The request of each table row. An operation may have several rows, distinguished by the word after the
 * comma.
 */
const PROBES: Record<string, [operation: string, probe: Probe]> = {
  'GET queue': ['GET /api/editing/queue', readQueue],
  'GET work': [
    'GET /api/editing/work',
    async ({ person }) => wordOf(await person.call('GET', '/api/editing/work')),
  ],
  'GET task': [`GET ${task}`, readTask],
  'GET preview': [`GET ${task}/preview`, ask('GET', '/preview')],
  'GET concordance': [`GET ${task}/concordance`, ask('GET', '/concordance?q=house')],
  'GET inconsistencies': [`GET ${task}/inconsistencies`, ask('GET', '/inconsistencies')],
  'GET matches': [`GET ${task}/segments/{position}/matches`, ask('GET', segment('/matches', own))],
  'GET matches, nearby': [
    `GET ${task}/segments/{position}/matches`,
    ask('GET', segment('/matches', nearbyPosition)),
  ],
  'GET matches, far': [`GET ${task}/segments/{position}/matches`, ask('GET', `/segments/${FAR}/matches`)],
  'GET history, own': [`GET ${task}/segments/{position}/history`, ask('GET', segment('/history', own))],
  'GET history, nearby': [
    `GET ${task}/segments/{position}/history`,
    ask('GET', segment('/history', nearbyPosition)),
  ],
  'GET history, far': [`GET ${task}/segments/{position}/history`, ask('GET', `/segments/${FAR}/history`)],
  'POST comments': [`POST ${task}/comments`, ask('POST', '/comments', () => ({ text: 'Look.' }))],
  'POST comments, far': [
    `POST ${task}/comments`,
    ask('POST', '/comments', () => ({ text: 'Look.', position: FAR })),
  ],
  'POST claims': [
    'POST /api/editing/claims',
    async ({ person, task }) => wordOf(await person.call('POST', '/api/editing/claims', { task })),
  ],
  'PUT segment': [
    `PUT ${task}/segments/{position}`,
    ask('PUT', segment('', own), saving({ status: 'draft' })),
  ],
  'PUT segment, wrong': [
    `PUT ${task}/segments/{position}`,
    ask('PUT', segment('', own), saving({ status: 'confirmed', target: [] })),
  ],
  'PUT segment, nearby': [
    `PUT ${task}/segments/{position}`,
    ask('PUT', segment('', nearbyPosition), saving({ status: 'draft' })),
  ],
  'PUT unsure': [
    `PUT ${task}/segments/{position}/unsure`,
    ask('PUT', segment('/unsure', own), (one) => ({ ...token(one), unsure: true })),
  ],
  'PUT unsure, nearby': [
    `PUT ${task}/segments/{position}/unsure`,
    ask('PUT', segment('/unsure', nearbyPosition), (one) => ({ ...token(one), unsure: true })),
  ],
  'POST join': [
    `POST ${task}/segments/{position}/join`,
    ask('POST', segment('/join', own), (one) => ({ ...token(one), revision: 1, next_revision: 0 })),
  ],
  'POST join, nearby': [
    `POST ${task}/segments/{position}/join`,
    ask('POST', segment('/join', nearbyPosition), (one) => ({
      ...token(one),
      revision: 1,
      next_revision: 0,
    })),
  ],
  'POST separate': [
    `POST ${task}/segments/{position}/separate`,
    ask('POST', segment('/separate', own), (one) => ({ ...token(one), revision: 1 })),
  ],
  'POST split': [
    `POST ${task}/segments/{position}/split`,
    ask('POST', segment('/split', own), (one) => ({ ...token(one), revision: 1, at: 0 })),
  ],
  'POST unsplit': [
    `POST ${task}/segments/{position}/unsplit`,
    ask('POST', segment('/unsplit', own), (one) => ({ ...token(one), revision: 1 })),
  ],
  'POST terms': [
    `POST ${task}/terms`,
    // Each request proposes a new term, because the same term cannot be proposed twice.
    ask('POST', '/terms', (one) => ({ ...token(one), source: `house ${++terms}`, target: 'casa' })),
  ],
  'DELETE terms': [`DELETE ${task}/terms/{proposal}`, ask('DELETE', `/terms/${NOBODY}`, token)],
  'POST queries': [
    `POST ${task}/queries`,
    ask('POST', '/queries', (one) => ({ ...token(one), position: one.own, question: 'Which house?' })),
  ],
  'DELETE queries': [`DELETE ${task}/queries/{query}`, ask('DELETE', `/queries/${NOBODY}`, token)],
  'POST heartbeat': [`POST ${task}/heartbeat`, ask('POST', '/heartbeat', token)],
  'POST release': [`POST ${task}/release`, ask('POST', '/release', token)],
  'POST submit': [`POST ${task}/submit`, ask('POST', '/submit', token)],
  'POST approve': [`POST ${task}/approve`, ask('POST', '/approve', token)],
  'POST skip': [`POST ${task}/skip`, ask('POST', '/skip', (one) => ({ ...token(one), reason: 'other' }))],
  'POST skip, unclaimed': [`POST ${task}/skip`, ask('POST', '/skip', () => ({ reason: 'other' }))],
  'POST report': [
    `POST ${task}/report`,
    ask('POST', '/report', (one) => ({ ...token(one), reason: 'other' })),
  ],
  'POST report, unclaimed': [`POST ${task}/report`, ask('POST', '/report', () => ({ reason: 'other' }))],
  'POST return': [
    `POST ${task}/return`,
    ask('POST', '/return', (one) => ({ ...token(one), note: 'Again, please.' })),
  ],
  'POST seen': [
    `POST ${task}/seen`,
    ask('POST', '/seen', (one) => ({ ...token(one), segments: [{ position: one.own, revision: 1 }] })),
  ],
  'POST issues': [
    `POST ${task}/issues`,
    ask('POST', '/issues', (one) => ({
      ...token(one),
      position: one.own,
      category: 'style',
      severity: 'minor',
    })),
  ],
  'DELETE issues': [
    `DELETE ${task}/issues/{issue}`,
    ask('DELETE', ({ issue = NOBODY }) => `/issues/${issue}`, token),
  ],
};

/** The database tables that the test's requests may change; referenced tables come last. */
const CHANGED = [
  'looks',
  'queries',
  'term_proposals',
  'unsure_marks',
  'issues',
  'task_reports',
  'task_skips',
  'editor_slots',
  'claims',
  'comments',
  'edit_history',
  'edits',
  'tasks',
  'edited_jobs',
];

/**
 * Copies the rows of these tables. @returns a function that restores the rows, so that each request starts
 * from the same situation
 */
async function keep(): Promise<() => Promise<void>> {
  for (const table of CHANGED) {
    await owner.query(`drop table if exists kept_${table}`);
    await owner.query(`create temp table kept_${table} as select * from ${table}`);
  }
  const back = [
    ...CHANGED.map((table) => `delete from ${table}`),
    ...CHANGED.toReversed().map((table) => `insert into ${table} select * from kept_${table}`),
  ];
  return async () => void (await owner.query(`begin; ${back.join('; ')}; commit`));
}

describe('access to a task', () => {
  it('is defined in this file’s table for every route under /api/editing/', async () => {
    const { paths } = await describeApp('web');
    const described = Object.entries(paths)
      .filter(([path]) => path.startsWith('/api/editing/'))
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
    expect(new Set(Object.values(PROBES).map(([operation]) => operation))).toEqual(new Set(described));
  });

  it('is as this file’s table defines it, for every route and every combination of user and task status', async () => {
    const columns = new Map<string, string[]>();
    for (const [name, make] of Object.entries(SITUATIONS)) {
      const one = await make();
      // A customer's glossary term, which only the editor who holds the task may read.
      const said = await operator.call('POST', pathOf(one, '/comments'), { text: 'About the house.' });
      expect(said.status === 201 || name === 'cancel', said.text).toBe(true);
      const restore = await keep();
      const cells: string[] = [];
      for (const [row, [, probe]] of Object.entries(PROBES)) {
        cells.push(await probe(one));
        if (!row.startsWith('GET')) await restore();
      }
      columns.set(name, cells);
    }
    const lines = Object.keys(PROBES).map((row, index) =>
      lineOf([row, ...[...columns.values()].map((cells) => cells[index]!)]),
    );
    expect(`\n${[lineOf(['', ...columns.keys()]), ...lines].join('\n')}\n`).toBe(TABLE);
  });
});

const lineOf = ([row, ...cells]: string[]) =>
  `${row!.padEnd(24)}${cells.map((cell) => cell.padEnd(7)).join('')}`.trimEnd();

it('the concordance search refuses the 121st search of an hour with Retry-After', async () => {
  // The fake date is in the past, because ids never decrease: a future date would stay in all later ids of this
  // process.
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2020-01-01T12:30:00Z') });
  const { person, task } = await SITUATIONS.held!();
  const question = () => person.call('GET', pathOf({ task }, '/concordance?q=house'));
  expect((await question()).status).toBe(200);
  await owner.query('update sign_ins set attempts = 140');
  expect((await question()).status).toBe(200);
  const refused = await question();
  expect([refused.status, refused.body.error.code]).toEqual([429, 'too_many_attempts']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1700);
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(1800);
  vi.setSystemTime(new Date('2020-01-01T13:00:00Z'));
  expect((await question()).status).toBe(200);
});
afterEach(() => vi.useRealTimers());

it('the concordance search counts the letters of one word once', async () => {
  const { person, task } = await SITUATIONS.held!();
  await owner.query('delete from sign_ins');
  const search = async (words: string) => {
    const answer = await person.call('GET', pathOf({ task }, `/concordance?q=${encodeURIComponent(words)}`));
    expect(answer.status).toBe(200);
    const { rows } = await owner.query('select sum(attempts)::integer as count from sign_ins');
    return rows[0].count;
  };
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2020-01-01T12:00:00Z') });
  expect(await search('hou')).toBe(1);
  expect(await search('house')).toBe(1);
  // The next word, the same words again and shorter words are new searches.
  expect(await search('house kee')).toBe(2);
  expect(await search('house keeping')).toBe(2);
  expect(await search('house keeping')).toBe(3);
  expect(await search('house')).toBe(4);
  vi.setSystemTime(new Date('2020-01-01T12:00:11Z'));
  expect(await search('houses')).toBe(5);
  // A longer form of a refused search is refused too.
  await owner.query("update sign_ins set attempts = 140, closed_until = now() + interval '1 hour'");
  const refused = async (words: string) =>
    (await person.call('GET', pathOf({ task }, `/concordance?q=${words}`))).status;
  expect(await refused('boa')).toBe(429);
  expect(await refused('boats')).toBe(429);
});

it("changing an editor's language pairs writes an audit entry", async () => {
  const person = await editor('en:es');
  await setLanguages(person, []);
  const { body } = await operator.call('GET', '/api/console/audit?action=person.languages');
  expect(body.entries[0]).toMatchObject({ subject: person.email, detail: { languages: [] } });
});
