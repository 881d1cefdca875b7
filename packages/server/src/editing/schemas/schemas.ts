/**
 * Schemas of the request and response bodies of editing: queue, task, segment, lease. The web app's types are
 * generated from them.
 */
import { FORMATS } from '@dragoman/documents';
import Type, { type Static } from 'typebox';
import type { Answer } from '../../http/answers.ts';
import { describing, ID, MOMENT, momentSchema, OPTIONAL_TEXT } from '../../http/schemas.ts';
import { DRAFT_NOTE_CODES } from '../../translation/draft-notes.ts';
import { Piece, SegmentPiece } from '../model/piece-schemas.ts';
import { QUERY_STATUSES, TASK_STATUSES } from '../model/states.ts';

export const describedEditing = describing('Editing');
export const taskParameters = Type.Object({ task: ID });

export const POSITION = Type.Integer({
  minimum: 0,
  maximum: 2 ** 31 - 1,
  description: 'The number of the segment in its job, from 0.',
});
export const MILLISECONDS = Type.Integer({ minimum: 0 });
export const TASK_KIND = Type.Enum(['edit', 'review'], { title: 'TaskKind' });
export const TASK_STATUS = Type.Enum([...TASK_STATUSES], { title: 'TaskStatus' });
const SegmentStatus = Type.Enum(['open', 'draft', 'confirmed'], { title: 'SegmentStatus' });

/** The error categories of issues: the top level of MQM Core. */
const ISSUE_CATEGORIES = [
  'accuracy',
  'terminology',
  'linguistic_conventions',
  'style',
  'locale_conventions',
  'audience_appropriateness',
  'design_and_markup',
] as const;
const ISSUE_SEVERITIES = ['neutral', 'minor', 'major', 'critical'] as const;
/** The orders of open tasks that an editor may choose. */
export const QUEUE_ORDERS = ['deadline', 'shortest', 'longest', 'pay'] as const;
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
  { description: 'Offsets in the text, in UTF-16 code units; codes have no width.' },
);

const Finding = Type.Object(
  {
    check: Type.String({
      description: 'The check that found the problem; clients make the message from it and `values`.',
    }),
    severity: Type.Enum(['error', 'warning']),
    values: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])),
    range: Type.Optional(RANGE),
    source: Type.Optional({
      ...RANGE,
      description: 'The words of the source that the target lacks, as offsets like those of `range`.',
    }),
  },
  { title: 'Finding', description: 'A problem that an automatic check reports about a target.' },
);

export const Issue = Type.Object(
  {
    issue: ID,
    position: POSITION,
    category: Type.Enum([...ISSUE_CATEGORIES]),
    severity: Type.Enum([...ISSUE_SEVERITIES]),
    note: Type.Optional(Type.String()),
    range: Type.Optional(RANGE),
    by: Type.String({ description: 'The name of the reviewer.' }),
    created_at: MOMENT,
  },
  { title: 'Issue', description: 'An error that a reviewer marked, in MQM categories.' },
);

export const Comment = Type.Object(
  {
    comment: ID,
    position: Type.Optional(POSITION),
    text: Type.String(),
    by: Type.String({ description: 'The name of the author; for a customer, the user name of the account.' }),
    role: Type.Enum(['customer', 'editor', 'operator']),
    created_at: MOMENT,
  },
  { title: 'Comment' },
);

const query = {
  query: ID,
  position: POSITION,
  question: Type.String(),
  status: Type.Enum([...QUERY_STATUSES], {
    description:
      '`open`: waits for the answer. `withdrawn`: by an editor. `closed`: the job was delivered or canceled before.',
  }),
  answer: Type.Optional(Type.String()),
  asked_at: MOMENT,
  ended_at: Type.Union([MOMENT, Type.Null()]),
};
export const Query = Type.Object(
  { ...query, by: Type.String({ description: 'The name of the editor who asked.' }) },
  { title: 'Query', description: 'A question of an editor to the customer about a segment.' },
);
export const JobQuery = Type.Object(
  {
    ...query,
    uid: Type.String({ description: 'The job.' }),
    source: Type.String({ description: 'The source of the segment, without its codes.' }),
  },
  { title: 'JobQuery', description: 'A question of an editor about a segment of a job.' },
);

export const ClaimLease = Type.Object(
  {
    token: Type.String({
      description: 'The lease token. Every change of the task sends it; a later claim invalidates it.',
    }),
    lease_until: momentSchema('The claim ends then unless a heartbeat or a save extends it.'),
    now: momentSchema('The clock of the server, to which these times refer.'),
  },
  { title: 'Lease' },
);

const SegmentVote = Type.Object(
  {
    vote: ID,
    state: Type.Enum(['filled', 'next', 'offered'], {
      description:
        '`filled`: the segment holds the text. `next`: it gets the text when its task returns to the queue, unless the ' +
        'holder edits it; the workbench shows the text already. `offered`: it keeps its draft.',
    }),
    former: Type.Optional(
      Type.Union([Type.Array(Piece), Type.Null()], {
        description: 'The draft that the text replaced; only with `filled`.',
      }),
    ),
    target: Type.Array(Piece),
    agree: Type.Integer({ minimum: 0, description: 'The number of editors who confirmed this text.' }),
    by: Type.Array(Type.String(), { description: 'The names of these editors.' }),
    rule: Type.Boolean({ description: 'True if the customer made the text the rule.' }),
  },
  {
    title: 'SegmentVote',
    description:
      'The text that editors confirmed for the same source in other jobs, or in other tasks of this job.',
  },
);
export type SegmentVote = Static<typeof SegmentVote>;

export const Segment = Type.Object(
  {
    position: POSITION,
    unit: Type.Integer({ description: 'The unit of the document; its segments form one paragraph.' }),
    source: Type.Array(SegmentPiece),
    target: Type.Union([Type.Array(SegmentPiece), Type.Null()], {
      description: 'The latest target that an editor saved.',
    }),
    draft: Type.Union([Type.Array(SegmentPiece), Type.Null()], {
      description: 'The translation that the editor started from.',
    }),
    origin: Type.Enum(['machine', 'memory', 'supplied', 'kept', 'none'], {
      description: 'The origin of the draft.',
    }),
    route: Type.Union([Type.String(), Type.Null()], {
      description: 'The source of the draft, such as `apertium:eng-spa`.',
    }),
    kept: Type.Optional(
      Type.Enum(['language', 'script', 'symbols'], {
        description:
          'Why the draft is a copy of the source: the document declares another language, the text is in another script, ' +
          'or it is mostly symbols. Such words are not counted.',
      }),
    ),
    confidence: Type.Optional(
      Type.Object(
        { mean: Type.Number({ minimum: 0, maximum: 1 }), minimum: Type.Number({ minimum: 0, maximum: 1 }) },
        {
          description:
            'How probable the engine found the words of its draft: the mean and the lowest probability. Only for a draft ' +
            'of an engine that reports it.',
        },
      ),
    ),
    status: SegmentStatus,
    revision: Type.Integer({
      minimum: 0,
      description: 'The revision of the target; a save sends the revision that it changes.',
    }),
    mine: Type.Boolean({
      description: 'Whether the segment belongs to this task; other segments are read-only context.',
    }),
    element: Type.Optional(
      Type.Enum(['heading', 'list_item', 'table_cell', 'link', 'button', 'attribute'], {
        description:
          'What the segment is in its document, where that is not running text. `attribute`: the value of an attribute, ' +
          'such as an alternative text.',
      }),
    ),
    notes: Type.Array(Type.String(), { description: 'The notes of the document for translators.' }),
    draft_notes: Type.Array(
      Type.Object({
        code: Type.Enum([...DRAFT_NOTE_CODES]),
        term: Type.Optional(
          Type.String({ description: 'The term of the glossary, for codes that begin with `term_`.' }),
        ),
      }),
      { description: 'What was changed in the draft, or may be wrong in it.' },
    ),
    failure: Type.Optional(Type.String({ description: 'Why the segment has no draft.' })),
    max_length: Type.Optional(
      Type.Integer({
        description: 'The maximum length of the target in characters, if the document sets one.',
      }),
    ),
    time: Type.Optional(
      Type.Object(
        {
          from: Type.Integer(),
          to: Type.Integer(),
          cues: Type.Optional(
            Type.Integer({ description: 'The number of cues that the sentence spans, if more than one.' }),
          ),
        },
        { description: 'The time of a subtitle, in milliseconds.' },
      ),
    ),
    breaks: Type.Optional(
      Type.Array(Type.Integer(), {
        description:
          'Where a subtitle begins a new line: the offsets of the spaces in the text of `source`, in UTF-16 code units; ' +
          'codes have no width, except for the text of `keep`.',
      }),
    ),
    codes: Type.Record(Type.String(), Type.String(), {
      description:
        'The markup behind each code, by `open1`, `close1`, `single2`, `keep3`. Show it as text, never as HTML.',
    }),
    repeats: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'The position of the first segment of the job with the same text.',
      }),
    ),
    joined_to: Type.Optional({
      ...POSITION,
      description: 'The last of the segments that an editor has joined with this one. They are not listed.',
    }),
    filled: Type.Boolean({
      description: 'Whether the target was copied from a confirmed repeat and not edited since.',
    }),
    vote: Type.Optional(SegmentVote),
    changed: Type.Boolean({
      description: 'Whether this user saved the current target, and it differs from the draft.',
    }),
    acknowledged: Type.Array(Type.String(), {
      description: 'Warnings that the editor acknowledged, each as `keyOf` of `@dragoman/checks` returns it.',
    }),
    asked: Type.Boolean({
      description: 'Whether an open query to the customer holds the segment, so that it cannot be confirmed.',
    }),
    unsure: Type.Boolean({ description: 'Whether an editor marked the segment as unsure.' }),
    comments: Type.Integer({ minimum: 0 }),
    issues: Type.Array(Issue),
    seen: Type.Optional(
      Type.Enum(['unseen', 'changed', 'seen'], {
        description:
          'Only in a review: whether this reviewer has seen the current target. `changed`: they saw an earlier one.',
      }),
    ),
    last_seen: Type.Optional(
      Type.Array(Piece, { description: 'The target that this reviewer saw last, if it has changed since.' }),
    ),
  },
  { title: 'Segment' },
);

export const TaskTerm = Type.Object(
  {
    source: Type.String(),
    target: Type.String(),
    case_sensitive: Type.Boolean(),
    forbidden: Type.Boolean(),
    do_not_translate: Type.Boolean(),
    note: Type.Optional(Type.String()),
    proposal: Type.Optional(
      Type.Object(
        {
          proposal: ID,
          by: Type.String({ description: 'The name of the editor who proposed the term.' }),
          may_withdraw: Type.Boolean(),
        },
        { description: 'Set if the term is only proposed. It applies to this job.' },
      ),
    ),
  },
  { title: 'TaskTerm' },
);

const RETURNED = Type.Boolean({ description: 'Whether a reviewer or the customer returned it.' });

const jobProperties = {
  uid: Type.String({ description: 'The id that the customer gave the job.' }),
  name: Type.Union([Type.String(), Type.Null()], {
    description: 'The name of the file, if it was sent as one.',
  }),
  order_number: Type.Integer(),
  format: Type.Enum([...FORMATS]),
  source_language: Type.String(),
  target_language: Type.String(),
  tone: OPTIONAL_TEXT,
  topics: Type.Array(Type.String()),
  brand: Type.Union([Type.String(), Type.Null()], { description: 'The name of the brand.' }),
};

/** The properties of a task in lists of editors and operators. */
export const listedProperties = {
  task: ID,
  kind: TASK_KIND,
  status: TASK_STATUS,
  returned: RETURNED,
  ...jobProperties,
  words: Type.Integer(),
  segments: Type.Integer(),
  number: Type.Integer({ description: 'The number of the task among those of its job and kind, from 1.' }),
  parts: Type.Integer({ description: 'How many tasks of this kind the job has.' }),
  confirmed: Type.Integer({ description: 'The number of its confirmed segments.' }),
  priority: Type.Integer(),
  urgency: Type.Enum(['late', 'soon', 'normal'], {
    description: '`late`: the deadline has passed. `soon`: less than half of the time is left.',
  }),
  reserved: Type.Boolean({ description: 'Whether the task is reserved for this editor for some hours.' }),
  created_at: MOMENT,
  deadline: MOMENT,
};

const QueueTask = Type.Object(
  {
    ...listedProperties,
    excerpt: Type.String({ description: 'The first words of its source; empty after the text was deleted.' }),
    expected_minutes: Type.Integer({
      minimum: 1,
      description: 'The time for its words at the pace of the installation (`DRAGOMAN_TASK_PACE`).',
    }),
    pay: Type.Optional(
      Type.Integer({
        description: 'What the editor earns, in cents (`DRAGOMAN_EDIT_PAY`, `DRAGOMAN_REVIEW_PAY`).',
      }),
    ),
  },
  { title: 'QueueTask' },
);

const HeldTask = Type.Object({ ...QueueTask.properties, lease: ClaimLease }, { title: 'HeldTask' });

export const EditQueue = Type.Object(
  {
    open: Type.Array(QueueTask, {
      description:
        'At most 100, in the order in which to claim them. Without a pair and an order, at most 10 of each customer.',
    }),
    pairs: Type.Array(
      Type.Object({
        source_language: Type.String(),
        target_language: Type.String(),
        waiting: Type.Integer(),
      }),
      { description: 'The tasks that this editor may claim by language pair, counted up to 1,000 in all.' },
    ),
    held: Type.Array(HeldTask),
    paused_until: Type.Union([MOMENT, Type.Null()], {
      description: 'No claims until then, because too many claims of this editor expired.',
    }),
  },
  { title: 'Queue' },
);

export const TaskBody = Type.Object(
  {
    task: ID,
    kind: TASK_KIND,
    status: TASK_STATUS,
    access: Type.Enum(['record', 'offer', 'held', 'all'], {
      description:
        'What the user may see. `record`: the segments that they edited before. `offer`: the segments of the task, before ' +
        'a claim. `held`: also the segments around it, glossary, comments, memory and preview. `all`: an operator, who ' +
        'sees every segment of the job.',
    }),
    words: Type.Integer(),
    returned: RETURNED,
    active_ms: Type.Integer({
      minimum: 0,
      description: 'The active time of this user on the task, in milliseconds, as far as saves reported it.',
    }),
    job: Type.Object({
      ...jobProperties,
      instructions: Type.Array(Type.Object({ from: Type.Enum(['brand', 'job']), text: Type.String() })),
      words: Type.Integer(),
      revision: Type.Integer({ description: 'Starts at 1 and increases with each rejection.' }),
      created_at: MOMENT,
      deadline: MOMENT,
    }),
    lease: Type.Optional(ClaimLease),
    segments: Type.Array(Segment),
    terms: Type.Array(TaskTerm),
    comments: Type.Array(Comment),
    queries: Type.Array(Query, { description: 'The queries to the customer, oldest first.' }),
  },
  { title: 'Task' },
);

export const Claimed = Type.Object({ task: TaskBody, lease: ClaimLease }, { title: 'Claimed' });

export const Saved = Type.Object(
  {
    segment: Segment,
    filled: Type.Array(Segment, { description: 'Repeats that received the same target.' }),
    findings: Type.Array(Finding, { description: 'Warnings; a target with errors is refused.' }),
    lease: ClaimLease,
  },
  { title: 'SavedSegment', description: 'A save also extends the lease.' },
);

export const ChangedSegments = Type.Object(
  { segments: Type.Array(Segment, { description: 'The segments that are listed now.' }) },
  { title: 'ChangedSegments' },
);

export const HistoryEntry = Type.Object(
  {
    target: Type.Array(Piece),
    kind: Type.Enum(['confirmed', 'left'], {
      description: '`left`: received after the claim had ended, and kept for the next editor of the task.',
    }),
    by: Type.String(),
    revision: Type.Integer(),
    created_at: MOMENT,
  },
  { title: 'HistoryEntry' },
);

export const Preview = Type.Object(
  {
    format: jobProperties.format,
    text: Type.String({
      description: 'The document with the current targets. It is untrusted: show it in a sandboxed frame.',
    }),
    mark: Type.Optional(
      Type.String({
        description:
          'HTML only. The segment at a position stands between the comments `<!--MARK POSITION-->` and ' +
          '`<!--/MARK POSITION-->`. The mark is random, so that a document cannot contain such comments. Segments in ' +
          'attributes have no comments.',
      }),
    ),
  },
  { title: 'Preview' },
);

export const TaskState = Type.Object({ task: ID, status: TASK_STATUS }, { title: 'TaskState' });

export type TermOfTask = Static<typeof TaskTerm>;
export type TaskBody = Answer<typeof TaskBody>;
export type ClaimedBody = Answer<typeof Claimed>;
export type QueueBody = Static<typeof EditQueue>;
const Listed = Type.Object(listedProperties);
export type ListedBody = Static<typeof Listed>;
export type QueueTaskBody = Static<typeof QueueTask>;
export type SegmentBody = Answer<typeof Segment>;
export type LeaseBody = Answer<typeof ClaimLease>;
export type SavedBody = Answer<typeof Saved>;
export type IssueBody = Answer<typeof Issue>;
export type CommentBody = Answer<typeof Comment>;
export type QueryBody = Answer<typeof Query>;
export type JobQueryBody = Answer<typeof JobQuery>;
