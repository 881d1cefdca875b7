/** Schemas of the editors' operations (`/api/editing/…`). */
import Type, { type Static } from 'typebox';
import { ID } from '../../http/schemas.ts';
import { SegmentPiece } from '../model/piece-schemas.ts';
import {
  ChangedSegments,
  Claimed,
  ClaimLease,
  Comment,
  describedEditing,
  EditQueue,
  HistoryEntry,
  Issue,
  POSITION,
  Preview,
  QUEUE_ORDERS,
  Query,
  REPORT_REASONS,
  Saved,
  SKIP_REASONS,
  TaskBody,
  TaskState,
  TaskTerm,
  taskParameters,
} from './schemas.ts';
import { Concordance, Inconsistencies, Matches } from './suggestion-schemas.ts';
import { Work } from './work-schemas.ts';

const TOKEN = Type.String({
  format: 'uuid',
  'x-fault': 'must be a lease token.',
  description: 'The lease token.',
});
const NOTE = Type.String({ pattern: '\\S', maxLength: 2000 });
/** The words of a term. */
const WORDS = Type.String({ pattern: '\\S', maxLength: 500 });
/** The maximum length of a target in UTF-16 code units. */
export const MAX_TARGET = 100_000;
const OFFSET = Type.Integer({ minimum: 0, maximum: MAX_TARGET });
const segmentParameters = Type.Object({ task: ID, position: POSITION });

export const WRONG_TARGET = 'must be a list of pieces: text, open, close, single, keep.';
const REVISION = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 2 });
const SaveRequest = Type.Object({
  token: TOKEN,
  revision: Type.Integer({
    minimum: 0,
    maximum: 2 ** 31 - 2,
    'x-fault': 'must be the revision that the save changes, a whole number.',
  }),
  target: Type.Array(SegmentPiece, { maxItems: 10_000, 'x-fault': WRONG_TARGET }),
  status: Type.Enum(['draft', 'confirmed']),
  acknowledged: Type.Array(Type.String({ pattern: '\\S', maxLength: 1000 }), {
    maxItems: 200,
    default: [],
  }),
  active_ms: Type.Integer({
    minimum: 0,
    maximum: 3_600_000,
    default: 0,
    description: 'Milliseconds of work on this segment since its last save.',
  }),
});
export type SaveRequest = Static<typeof SaveRequest>;

const JoinRequest = Type.Object({
  token: TOKEN,
  revision: REVISION,
  next_revision: { ...REVISION, description: 'The revision of the next segment.' },
});
export type JoinRequest = Static<typeof JoinRequest>;
const SeparateRequest = Type.Object({ token: TOKEN, revision: REVISION });
export type SeparateRequest = Static<typeof SeparateRequest>;
const SplitRequest = Type.Object({
  token: TOKEN,
  revision: REVISION,
  at: {
    ...OFFSET,
    description:
      'The offset of the first character of the second part in the text of `source`, in UTF-16 code units; codes have ' +
      'no width, except for the text of `keep`.',
  },
});
export type SplitRequest = Static<typeof SplitRequest>;
const UnsplitRequest = Type.Object({ token: TOKEN, revision: REVISION });
export type UnsplitRequest = Static<typeof UnsplitRequest>;

export const WRONG_RANGE = 'must have start and end, with the end not before the start.';
const TokenBody = Type.Object({ token: TOKEN });

const SeenSegments = Type.Object(
  { positions: Type.Array(POSITION, { description: 'The segments that are recorded as seen.' }) },
  { title: 'SeenSegments' },
);

const UnsureMark = Type.Object(
  { position: POSITION, unsure: Type.Boolean() },
  { title: 'UnsureMark', description: 'Whether a segment is marked as unsure.' },
);

export const editorSchemas = {
  queue: describedEditing('readQueue', 'List the tasks that this editor may claim or holds', EditQueue, {
    querystring: Type.Object({
      source_language: Type.Optional(Type.String()),
      target_language: Type.Optional(Type.String()),
      sort: Type.Optional(Type.Enum([...QUEUE_ORDERS])),
    }),
  }),
  claim: describedEditing('claimTask', 'Claim the next task or a given task', Claimed, {
    status: 201,
    description:
      'Claiming a task that the editor already holds returns it again with a renewed lease. Errors: `nothing_waits`, ' +
      '`task_taken`, `too_many_claims`, `claims_paused`; `stale_lease` if the claim ended before the response.',
    body: Type.Object({ task: Type.Optional(ID) }),
  }),
  task: describedEditing('readTask', 'Read a task with everything that the workbench shows', TaskBody, {
    params: taskParameters,
  }),
  save: describedEditing('saveSegment', 'Save a segment as a draft or confirm it', Saved, {
    description:
      'Errors: `stale_lease` if the claim has ended (the text is kept); `conflict` if the segment has another revision, ' +
      'which is `error.segment`; `checks_failed` with the problems in `error.findings`; `query_open` if the segment waits ' +
      'for the customer.',
    params: segmentParameters,
    body: SaveRequest,
  }),
  unsure: describedEditing('markUnsure', 'Mark a segment as unsure, or remove the mark', UnsureMark, {
    description: 'A job with such a mark is reviewed, if another editor may review its language pair.',
    params: segmentParameters,
    body: Type.Object({ token: TOKEN, unsure: Type.Boolean() }),
  }),
  join: describedEditing('joinSegments', 'Join a segment with the next one', ChangedSegments, {
    description:
      'The targets are put together, and the result is a draft. The next segment is not listed any more. Errors: ' +
      '`not_joinable` with `error.reason`: `subtitles`, `customer` (the document defines its segments), `paragraph` (the ' +
      'next segment is in another line, paragraph or task), `kept` (it is not translated), `asked` (it waits for the ' +
      'customer), `split` or `length`; `conflict` if one of them has another revision.',
    params: segmentParameters,
    body: JoinRequest,
  }),
  separate: describedEditing('separateSegments', 'Separate joined segments', ChangedSegments, {
    description:
      'The segments have the targets from before the join, as drafts. If the joined target was changed since then, the ' +
      'first segment has all of it. Error: `conflict` if the segment has another revision, or is not joined.',
    params: segmentParameters,
    body: SeparateRequest,
  }),
  split: describedEditing('splitSegment', 'Split a segment', ChangedSegments, {
    description:
      'The segment stays one segment, whose source and target have a `cut` between the parts. The result is a draft. ' +
      'Matches name the part that they translate, and the memory learns each part. Errors: `not_splittable` with ' +
      '`error.reason`: `joined`, `kept` (it is not translated), `empty` (a part would have no word), `tags` (a part ' +
      'would have half of a pair, or of a word that stays untranslated) or `many` (it has ten parts); `conflict` if the ' +
      'segment has another revision.',
    params: segmentParameters,
    body: SplitRequest,
  }),
  unsplit: describedEditing('unsplitSegment', 'Put the parts of a split segment together', ChangedSegments, {
    description:
      'The target does not change; the result is a draft. Error: `conflict` if the segment has another revision, or is ' +
      'not split.',
    params: segmentParameters,
    body: UnsplitRequest,
  }),
  matches: describedEditing(
    'listMatches',
    'List the memory matches and glossary terms of a segment',
    Matches,
    {
      params: segmentParameters,
    },
  ),
  history: describedEditing(
    'readHistory',
    'List the earlier targets of a segment',
    Type.Object({ entries: Type.Array(HistoryEntry) }, { title: 'History' }),
    { params: segmentParameters },
  ),
  concordance: describedEditing('searchMemory', 'Search the translation memory for words', Concordance, {
    params: taskParameters,
    querystring: Type.Object({ q: Type.String({ pattern: '\\S' }) }),
  }),
  inconsistencies: describedEditing(
    'listInconsistencies',
    'List the sources with several confirmed texts, and the texts of sources with different terms',
    Inconsistencies,
    { params: taskParameters },
  ),
  preview: describedEditing('previewTask', 'Preview the document with the current targets', Preview, {
    params: taskParameters,
  }),
  heartbeat: describedEditing('heartbeat', 'Extend the lease of a claim', ClaimLease, {
    params: taskParameters,
    body: TokenBody,
  }),
  release: describedEditing('releaseTask', 'Release a task; its edits are kept', TaskState, {
    params: taskParameters,
    body: TokenBody,
  }),
  skip: describedEditing('skipTask', 'Skip a task for good', TaskState, {
    description: 'The editor is not offered the task again. Send the token if the editor holds the task.',
    params: taskParameters,
    body: Type.Object({ token: Type.Optional(TOKEN), reason: Type.Enum([...SKIP_REASONS]) }),
  }),
  report: describedEditing('reportTask', 'Report a task to the operators', TaskState, {
    params: taskParameters,
    body: Type.Object({
      token: Type.Optional(TOKEN),
      reason: Type.Enum([...REPORT_REASONS]),
      note: Type.Optional(NOTE),
    }),
  }),
  submit: describedEditing('submitTask', 'Submit a task', TaskState, {
    description: 'Error `unconfirmed`: `error.positions` lists the unconfirmed segments.',
    params: taskParameters,
    body: TokenBody,
  }),
  proposeTerm: describedEditing('proposeTerm', 'Propose a term for the glossary of the brand', TaskTerm, {
    status: 201,
    description:
      'The term applies to this job at once. The customer takes it into the glossary or declines it.',
    params: taskParameters,
    body: Type.Object({
      token: TOKEN,
      source: WORDS,
      target: WORDS,
      note: Type.Optional(NOTE),
    }),
  }),
  withdrawTerm: describedEditing('withdrawTerm', 'Withdraw a term that this editor proposed', TaskState, {
    params: Type.Object({ task: ID, proposal: ID }),
    body: TokenBody,
  }),
  ask: describedEditing('askCustomer', 'Ask the customer about a segment', Query, {
    status: 201,
    description: 'While the query is open, the segment cannot be confirmed and the task cannot be submitted.',
    params: taskParameters,
    body: Type.Object({ token: TOKEN, position: POSITION, question: NOTE }),
  }),
  withdrawQuery: describedEditing('withdrawQuery', 'Withdraw an open query to the customer', TaskState, {
    params: Type.Object({ task: ID, query: ID }),
    body: TokenBody,
  }),
  addIssue: describedEditing('markIssue', 'Mark an error in a segment', Issue, {
    status: 201,
    params: taskParameters,
    body: Type.Object({
      token: TOKEN,
      position: POSITION,
      category: Issue.properties.category,
      severity: Issue.properties.severity,
      note: Type.Optional(NOTE),
      range: Type.Optional(Type.Object({ start: OFFSET, end: OFFSET }, { 'x-fault': WRONG_RANGE })),
    }),
  }),
  removeIssue: describedEditing('unmarkIssue', 'Remove a marked error', TaskState, {
    params: Type.Object({ task: ID, issue: ID }),
    body: TokenBody,
  }),
  see: describedEditing('markSeen', 'Record the segments that the reviewer has seen', SeenSegments, {
    description:
      'A segment with another revision is ignored, because the reviewer saw an older target. Saving a segment also ' +
      'records it as seen.',
    params: taskParameters,
    body: Type.Object({
      token: TOKEN,
      segments: Type.Array(Type.Object({ position: POSITION, revision: REVISION }), {
        minItems: 1,
        maxItems: 1000,
      }),
    }),
  }),
  approve: describedEditing('approveTask', 'Approve the job for delivery', TaskState, {
    params: taskParameters,
    body: TokenBody,
  }),
  return: describedEditing('returnTask', 'Return the job to its editors', TaskState, {
    description:
      'Returns the tasks with marked errors. Without marked errors it returns all tasks and requires a note.',
    params: taskParameters,
    body: Type.Object({ token: TOKEN, note: Type.Optional(NOTE) }),
  }),
  addComment: describedEditing('addComment', 'Comment on the job or one of its segments', Comment, {
    status: 201,
    params: taskParameters,
    body: Type.Object({ text: NOTE, position: Type.Optional(POSITION) }),
  }),
  work: describedEditing('readWork', 'Read statistics of this editor’s work', Work),
} as const;
