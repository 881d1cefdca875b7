/** Editing as the web app sees it: queue, task, segment, lease. The types of its answers are made from these. */
import type { FastifySchema } from 'fastify';
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import { answer } from '../schemas.ts';

const ID = Type.String({ format: 'uuid' });
const MOMENT = Type.String({ format: 'date-time', description: 'ISO 8601, in UTC.' });
const POSITION = Type.Integer({ minimum: 0, description: 'The number of a segment in its job, from 0.' });
const MILLISECONDS = Type.Integer({ minimum: 0 });

const open = { additionalProperties: true } as const;

export const Piece = Type.Union(
  [
    Type.Object({ text: Type.String() }),
    Type.Object({ open: Type.Integer() }),
    Type.Object({ close: Type.Integer() }),
    Type.Object({ single: Type.Integer() }),
    Type.Object({ keep: Type.Integer(), text: Type.String() }),
  ],
  {
    title: 'Piece',
    description:
      'A stretch of a segment: text; the halves of a paired code; a code alone; a word that is kept as it is.',
  },
);
const Pieces = Type.Array(Piece);

export const TaskKind = Type.Enum(['edit', 'review'], { title: 'TaskKind' });
export const TaskStatus = Type.Enum(['open', 'claimed', 'submitted', 'done', 'reported', 'canceled'], {
  title: 'TaskStatus',
});
export const SegmentStatus = Type.Enum(['open', 'draft', 'confirmed'], { title: 'SegmentStatus' });

/** The types of error of the MQM core, by their top level. */
export const ISSUE_CATEGORIES = [
  'accuracy',
  'terminology',
  'linguistic_conventions',
  'style',
  'locale_conventions',
  'audience_appropriateness',
  'design_and_markup',
] as const;
export const ISSUE_SEVERITIES = ['neutral', 'minor', 'major', 'critical'] as const;
export const SKIP_REASONS = ['too_hard', 'not_my_topic', 'no_time', 'other'] as const;
export const REPORT_REASONS = [
  'bad_source',
  'wrong_language',
  'mixed_languages',
  'offensive',
  'unclear_instructions',
  'other',
] as const;

const RANGE = Type.Object(
  { start: Type.Integer({ minimum: 0 }), end: Type.Integer({ minimum: 0 }) },
  { description: 'UTF-16 offsets in a text, codes without width.' },
);

export const Finding = Type.Object(
  {
    check: Type.String({ description: 'Which check found it: the sentence is made from this and `values`.' }),
    severity: Type.Enum(['error', 'warning']),
    values: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])),
    range: Type.Optional(RANGE),
  },
  { title: 'Finding', description: 'What an automatic check says of a target.' },
);

export const Issue = Type.Object(
  {
    issue: ID,
    position: POSITION,
    category: Type.Enum([...ISSUE_CATEGORIES]),
    severity: Type.Enum([...ISSUE_SEVERITIES]),
    note: Type.Optional(Type.String()),
    range: Type.Optional(RANGE),
    by: Type.String({ description: 'The reviewer’s name.' }),
    created_at: MOMENT,
  },
  { title: 'Issue', description: 'An error that a reviewer marked, by MQM.' },
);

export const Comment = Type.Object(
  {
    comment: ID,
    position: Type.Optional(POSITION),
    text: Type.String(),
    by: Type.String({ description: 'A name; of a customer, the account’s.' }),
    role: Type.Enum(['customer', 'editor', 'operator']),
    created_at: MOMENT,
  },
  { title: 'Comment' },
);

export const Lease = Type.Object(
  {
    token: Type.String({ description: 'Goes with every change; a later claim makes it stale.' }),
    lease_until: Type.String({ format: 'date-time', description: 'Without a heartbeat before, it ends.' }),
    limit_until: Type.String({ format: 'date-time', description: 'The time for the task ends.' }),
    warn_at: Type.String({ format: 'date-time', description: 'Four fifths of that time are over.' }),
    extended: Type.Boolean({ description: 'The one extension is used.' }),
    now: Type.String({ format: 'date-time', description: 'By the clock that all of these are told by.' }),
  },
  { title: 'Lease' },
);

const OPTIONAL_TEXT = Type.Union([Type.String(), Type.Null()]);

export const Segment = Type.Object(
  {
    position: POSITION,
    unit: Type.Integer({ description: 'Segments of one unit stand in one paragraph.' }),
    source: Pieces,
    target: Type.Union([Pieces, Type.Null()], { description: 'What an editor has made of it so far.' }),
    draft: Type.Union([Pieces, Type.Null()], { description: 'What it began with.' }),
    origin: Type.Enum(['machine', 'memory', 'supplied', 'kept', 'none'], {
      description: 'Where the draft is from.',
    }),
    route: Type.Union([Type.String(), Type.Null()], {
      description: 'What made it, such as `apertium:eng-spa`.',
    }),
    kept: Type.Optional(
      Type.Enum(['language', 'script', 'symbols'], {
        description:
          'Why the draft is a copy of the source: the document declares another language, the letters are of another script, or it is mostly symbols. Such words are not counted.',
      }),
    ),
    status: SegmentStatus,
    revision: Type.Integer({
      minimum: 0,
      description: 'Of the target; a save names the one that it changes.',
    }),
    mine: Type.Boolean({ description: 'Of this task. Others are there to be read.' }),
    notes: Type.Array(Type.String(), { description: 'What the document and the machine say about it.' }),
    failure: Type.Optional(Type.String({ description: 'Why there is no draft.' })),
    max_length: Type.Optional(Type.Integer({ description: 'Characters of the target, by the document.' })),
    time: Type.Optional(
      Type.Object(
        {
          from: Type.Integer(),
          to: Type.Integer(),
          cues: Type.Optional(
            Type.Integer({ description: 'That the sentence runs over, where it is more than one.' }),
          ),
        },
        { description: 'Of a subtitle, in ms.' },
      ),
    ),
    codes: Type.Record(Type.String(), Type.String(), {
      description:
        'What each code stands for, by `open1`, `close1`, `single2`, `keep3`: text to show, never HTML.',
    }),
    repeats: Type.Optional(
      Type.Integer({ minimum: 0, description: 'The first segment of the job that reads the same.' }),
    ),
    filled: Type.Boolean({
      description: 'The target came from confirming a repeat, and nobody has touched it.',
    }),
    acknowledged: Type.Array(Type.String(), {
      description: 'Warnings that the editor has seen, each by `keyOf` of `@dragoman/checks`.',
    }),
    comments: Type.Integer({ minimum: 0 }),
    issues: Type.Array(Issue),
  },
  { title: 'Segment' },
);

/** As `@dragoman/engines` has it, in the words of the web app. */
export const Term = Type.Object(
  {
    source: Type.String(),
    target: Type.String(),
    case_sensitive: Type.Boolean(),
    forbidden: Type.Boolean(),
    do_not_translate: Type.Boolean(),
    note: Type.Optional(Type.String()),
  },
  { title: 'TaskTerm' },
);

const jobProperties = {
  order_number: Type.Integer(),
  format: Type.Enum(['text', 'html', 'srt', 'xliff']),
  source_language: Type.String(),
  target_language: Type.String(),
  tone: OPTIONAL_TEXT,
  topics: Type.Array(Type.String()),
  brand: Type.Union([Type.String(), Type.Null()], { description: 'The brand’s name.' }),
};

/** A task in a list. */
export const QueueTask = Type.Object(
  {
    task: ID,
    kind: TaskKind,
    status: TaskStatus,
    ...jobProperties,
    words: Type.Integer(),
    segments: Type.Integer(),
    confirmed: Type.Integer({ description: 'Segments of it that are confirmed.' }),
    priority: Type.Integer(),
    urgency: Type.Enum(['late', 'soon', 'normal'], {
      description: 'By what is left of the time to the deadline.',
    }),
    reserved: Type.Boolean({ description: 'Came back for this editor, who may have it before others.' }),
    minutes: Type.Integer({ description: 'The time that a claim gives.' }),
    created_at: MOMENT,
    deadline: MOMENT,
  },
  { title: 'QueueTask' },
);

export const HeldTask = Type.Object({ ...QueueTask.properties, lease: Lease }, { title: 'HeldTask' });

export const Queue = Type.Object(
  {
    open: Type.Array(QueueTask, {
      description: 'In the order in which they should be taken; of one customer at most some at a time.',
    }),
    waiting: Type.Integer({
      description: 'How many this editor could take, shown or not; counted up to 1000.',
    }),
    held: Type.Array(HeldTask),
    paused_until: Type.Union([MOMENT, Type.Null()], {
      description: 'No claims until then: too many of them have run out.',
    }),
  },
  { title: 'Queue' },
);

export const TaskBody = Type.Object(
  {
    task: ID,
    kind: TaskKind,
    status: TaskStatus,
    access: Type.Enum(['record', 'offer', 'held', 'all'], {
      description:
        'What the reader sees. `record`: the segments that they wrote in, once. `offer`: the task’s own segments, before ' +
        'a claim. `held`: also those around it, the glossary, comments, the memory and the preview. `all`: an operator.',
    }),
    words: Type.Integer(),
    returned: Type.Boolean({ description: 'A reviewer or the customer sent it back.' }),
    job: Type.Object({
      uid: Type.String(),
      ...jobProperties,
      instructions: Type.Array(Type.Object({ from: Type.Enum(['brand', 'job']), text: Type.String() })),
      words: Type.Integer(),
      revision: Type.Integer({ description: 'From 1; one more after each rejection.' }),
      created_at: MOMENT,
      deadline: MOMENT,
    }),
    lease: Type.Optional(Lease),
    segments: Type.Array(Segment),
    terms: Type.Array(Term),
    comments: Type.Array(Comment),
  },
  { title: 'Task' },
);

export const Claimed = Type.Object({ task: TaskBody, lease: Lease }, { title: 'Claimed' });

export const Saved = Type.Object(
  {
    segment: Segment,
    filled: Type.Array(Segment, { description: 'Repeats that took the same target.' }),
    findings: Type.Array(Finding, { description: 'Warnings; errors would have refused it.' }),
    lease: Lease,
  },
  { title: 'SavedSegment', description: 'A save is a heartbeat, too.' },
);

export const HistoryEntry = Type.Object(
  {
    target: Pieces,
    kind: Type.Enum(['confirmed', 'left'], {
      description: '`left`: sent after the claim had ended, and kept for whoever has the task next.',
    }),
    by: Type.String(),
    revision: Type.Integer(),
    created_at: MOMENT,
  },
  { title: 'HistoryEntry' },
);

export const MatchBody = Type.Object(
  {
    memory: ID,
    source: Type.Array(Piece, { description: 'As it was remembered.' }),
    target: Type.Array(Piece, { description: 'In the codes of the segment.' }),
    score: Type.Integer({ minimum: 0, maximum: 100 }),
    kind: Type.Enum(['context', 'exact', 'fuzzy']),
    origin: Type.String({ examples: ['job', 'import'] }),
    brand: Type.Optional(Type.String()),
    tone: Type.Optional(Type.String({ description: 'The tone that it was confirmed under.' })),
    created_at: MOMENT,
  },
  { title: 'TaskMatch', description: 'What was translated before.' },
);
export const Matches = Type.Object(
  {
    matches: Type.Array(MatchBody, { description: 'The best first.' }),
    terms: Type.Array(Term, { description: 'Those that are in the segment.' }),
  },
  { title: 'Matches' },
);

export const Concordance = Type.Object(
  {
    entries: Type.Array(
      Type.Object({
        memory: ID,
        source: Type.String(),
        target: Type.String(),
        source_ranges: Type.Array(RANGE),
        target_ranges: Type.Array(RANGE),
        created_at: MOMENT,
      }),
    ),
  },
  { title: 'Concordance' },
);

export const Preview = Type.Object(
  {
    format: jobProperties.format,
    text: Type.String({
      description: 'The document with what is there now. Not to be trusted: show it in a sandbox.',
    }),
  },
  { title: 'Preview' },
);

export const TaskState = Type.Object({ task: ID, status: TaskStatus }, { title: 'TaskState' });

export const WorkEntry = Type.Object(
  {
    task: ID,
    kind: TaskKind,
    order_number: Type.Integer(),
    source_language: Type.String(),
    target_language: Type.String(),
    words: Type.Integer(),
    ended: Type.Enum([
      'submitted',
      'returned',
      'released',
      'lease_expired',
      'limit_expired',
      'skipped',
      'reported',
      'canceled',
      'reassigned',
    ]),
    claimed_at: MOMENT,
    ended_at: MOMENT,
  },
  { title: 'WorkEntry' },
);

export const Work = Type.Object(
  {
    days: Type.Array(
      Type.Object({
        day: Type.String({ format: 'date' }),
        segments: Type.Integer(),
        words: Type.Integer(),
        active_ms: MILLISECONDS,
        distance: Type.Integer({ description: 'Characters changed of the drafts.' }),
      }),
      { description: 'Segments confirmed, the last thirty days, latest first.' },
    ),
    issues: Type.Array(
      Type.Object({
        category: Issue.properties.category,
        severity: Issue.properties.severity,
        count: Type.Integer(),
      }),
      { description: 'What reviewers marked in them.' },
    ),
    tasks: Type.Array(WorkEntry, { description: 'The last hundred claims that have ended, latest first.' }),
  },
  { title: 'Work' },
);

/** An operator's view of a task. */
export const ConsoleTask = Type.Object(
  {
    ...QueueTask.properties,
    uid: Type.String(),
    account: Type.String({ description: 'The customer’s username.' }),
    editor: Type.Union([Type.Object({ user: ID, name: Type.String() }), Type.Null()], {
      description: 'Who has it, or had it last.',
    }),
    lease_until: Type.Union([MOMENT, Type.Null()]),
    skips: Type.Integer(),
    reports: Type.Array(
      Type.Object({
        reason: Type.String(),
        note: OPTIONAL_TEXT,
        by: Type.String(),
        created_at: MOMENT,
      }),
    ),
  },
  { title: 'ConsoleTask' },
);

export const ConsoleTasks = Type.Object(
  {
    tasks: Type.Array(ConsoleTask),
    counts: Type.Array(
      Type.Object({
        source_language: Type.String(),
        target_language: Type.String(),
        kind: TaskKind,
        status: TaskStatus,
        tasks: Type.Integer(),
        words: Type.Integer(),
        oldest_at: MOMENT,
      }),
      { description: 'Of everything that is not over, by pair.' },
    ),
    more: Type.Boolean(),
  },
  { title: 'ConsoleTasks' },
);

export const Effort = Type.Object(
  {
    rows: Type.Array(
      Type.Object({
        key: Type.String({ description: 'The job’s uid, the route, or the editor’s name, as asked.' }),
        segments: Type.Integer(),
        words: Type.Integer(),
        active_ms: MILLISECONDS,
        distance: Type.Integer(),
        untouched: Type.Integer({ description: 'Segments confirmed as the draft was.' }),
      }),
    ),
  },
  { title: 'Effort' },
);

const TOKEN = Type.String({ description: 'The lease’s.' });
const taskParameters = Type.Object({ task: ID });
const segmentParameters = Type.Object({ task: ID, position: POSITION });

const SaveRequest = Type.Object(
  {
    token: TOKEN,
    revision: Type.Integer({ minimum: 0 }),
    target: Pieces,
    status: Type.Enum(['draft', 'confirmed']),
    acknowledged: Type.Optional(Type.Array(Type.String())),
    active_ms: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Time at this segment since the last save of it.' }),
    ),
  },
  open,
);

/** An operation of the web app; its refusals are the door's. */
function described(
  operationId: string,
  summary: string,
  returns: TSchema,
  more: {
    status?: number;
    description?: string;
    params?: TObject;
    querystring?: TObject;
    body?: TSchema;
  } = {},
): FastifySchema {
  const { status = 200, ...rest } = more;
  return {
    operationId,
    summary,
    tags: ['Editing'],
    ...rest,
    response: { [status]: answer(summary, returns) },
  };
}

const withToken = (more: TProperties = {}) => Type.Object({ token: TOKEN, ...more }, open);

export const schemas = {
  queue: described('readQueue', 'What this editor may claim, and holds', Queue),
  claim: described('claimTask', 'Claim the next task, or the one that is named', Claimed, {
    status: 201,
    description:
      'Refused with `nothing_waits`, `task_taken`, `too_many_claims` or `claims_paused`; `stale_lease`: over before it was answered. ' +
      'Claiming what one holds gives it again, with a lease from now.',
    body: Type.Object({ task: Type.Optional(ID) }, open),
  }),
  task: described('readTask', 'A task with everything that the workbench shows', TaskBody, {
    params: taskParameters,
  }),
  save: described('saveSegment', 'Save a segment as a draft, or confirm it', Saved, {
    description:
      '`stale_lease`: the claim is over; the text is kept. `conflict`: another revision is there; `error.segment` is it. ' +
      '`checks_failed`: `error.findings` says what is wrong.',
    params: segmentParameters,
    body: SaveRequest,
  }),
  matches: described('listMatches', 'Memory and terms for one segment', Matches, {
    params: segmentParameters,
  }),
  history: described(
    'readHistory',
    'What a segment has been before',
    Type.Object({ entries: Type.Array(HistoryEntry) }, { title: 'History' }),
    { params: segmentParameters },
  ),
  concordance: described('searchMemory', 'Where words stand in the memory', Concordance, {
    params: taskParameters,
    querystring: Type.Object({ q: Type.String() }),
  }),
  preview: described('previewTask', 'The document with what is there now', Preview, {
    params: taskParameters,
  }),
  heartbeat: described('heartbeat', 'Keep the lease', Lease, { params: taskParameters, body: withToken() }),
  extend: described('extendTask', 'Half as much time again, once', Lease, {
    params: taskParameters,
    body: withToken(),
  }),
  release: described('releaseTask', 'Give a task back; its drafts stay', TaskState, {
    params: taskParameters,
    body: withToken(),
  }),
  skip: described('skipTask', 'Never be offered a task again', TaskState, {
    description: 'Free. With a token where one has it, without where not.',
    params: taskParameters,
    body: Type.Object({ token: Type.Optional(TOKEN), reason: Type.Enum([...SKIP_REASONS]) }, open),
  }),
  report: described('reportTask', 'Put a task before an operator', TaskState, {
    params: taskParameters,
    body: Type.Object(
      {
        token: Type.Optional(TOKEN),
        reason: Type.Enum([...REPORT_REASONS]),
        note: Type.Optional(Type.String({ maxLength: 2000 })),
      },
      open,
    ),
  }),
  submit: described('submitTask', 'Hand a task in', TaskState, {
    description: '`unconfirmed`: `error.positions` are the segments that are not confirmed.',
    params: taskParameters,
    body: withToken(),
  }),
  addIssue: described('markIssue', 'Mark an error', Issue, {
    status: 201,
    params: taskParameters,
    body: withToken({
      position: POSITION,
      category: Issue.properties.category,
      severity: Issue.properties.severity,
      note: Type.Optional(Type.String({ maxLength: 2000 })),
      range: Type.Optional(RANGE),
    }),
  }),
  removeIssue: described('unmarkIssue', 'Take a mark back', TaskState, {
    params: Type.Object({ task: ID, issue: ID }),
    body: withToken(),
  }),
  approve: described('approveTask', 'Let the job be delivered', TaskState, {
    params: taskParameters,
    body: withToken(),
  }),
  return: described('returnTask', 'Send the job back to its editors', TaskState, {
    description: 'With issues marked, the tasks that have them; without, all of them, and a note is needed.',
    params: taskParameters,
    body: withToken({ note: Type.Optional(Type.String({ maxLength: 2000 })) }),
  }),
  comments: described(
    'listComments',
    'What was said about the job',
    Type.Object({ comments: Type.Array(Comment) }, { title: 'Comments' }),
    { params: taskParameters },
  ),
  addComment: described('addComment', 'Say something about the job, or a segment of it', Comment, {
    status: 201,
    params: taskParameters,
    body: Type.Object(
      { text: Type.String({ minLength: 1, maxLength: 2000 }), position: Type.Optional(POSITION) },
      open,
    ),
  }),
  work: described('readWork', 'What this editor has done', Work),
  consoleTasks: described('listTasks', 'Tasks of all customers', ConsoleTasks, {
    querystring: Type.Object({
      status: Type.Optional(TaskStatus),
      kind: Type.Optional(TaskKind),
      source_language: Type.Optional(Type.String()),
      target_language: Type.Optional(Type.String()),
      account: Type.Optional(Type.String()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, default: 0 })),
    }),
  }),
  consoleRelease: described(
    'releaseTaskOfAnother',
    'Give a task back to the queue, whoever has it',
    TaskState,
    {
      description: 'A reported one, too: that is how a report is settled.',
      params: taskParameters,
    },
  ),
  consolePriority: described('setPriority', 'Let a task go before others, or after', TaskState, {
    params: taskParameters,
    body: Type.Object({ priority: Type.Integer({ minimum: -10, maximum: 10 }) }, open),
  }),
  consoleReassign: described('reassignTask', 'Keep a task for an editor', TaskState, {
    description: 'It is taken from whoever has it; for some hours nobody else may claim it.',
    params: taskParameters,
    body: Type.Object({ user: ID }, open),
  }),
  consoleEffort: described('readEffort', 'What editing took, by job, route or editor', Effort, {
    querystring: Type.Object({
      by: Type.Enum(['job', 'route', 'editor']),
      since: Type.Optional(MOMENT),
    }),
  }),
} as const;

export type TaskBody = Static<typeof TaskBody>;
export type ClaimedBody = Static<typeof Claimed>;
export type QueueBody = Static<typeof Queue>;
export type QueueTaskBody = Static<typeof QueueTask>;
export type SegmentBody = Static<typeof Segment>;
export type LeaseBody = Static<typeof Lease>;
export type SavedBody = Static<typeof Saved>;
export type IssueBody = Static<typeof Issue>;
export type CommentBody = Static<typeof Comment>;
export type MatchesBody = Static<typeof Matches>;
export type ConcordanceBody = Static<typeof Concordance>;
export type WorkBody = Static<typeof Work>;
export type ConsoleTaskBody = Static<typeof ConsoleTask>;
export type EffortBody = Static<typeof Effort>;
