/** The settings of workers, streams and editing. */
import { decimal, integer, optional, setting, text } from './checks.ts';

export const WORK_SETTINGS = {
  leaseSeconds: setting(
    'DRAGOMAN_LEASE',
    '30',
    integer(2, 3600),
    'Seconds after which another worker takes over the work of a dead one.',
  ),
  workerJobs: setting(
    'DRAGOMAN_WORKER_JOBS',
    '256',
    integer(1, 10_000),
    'Jobs that one worker processes at a time.',
  ),
  senderDeliveries: setting(
    'DRAGOMAN_SENDER_DELIVERIES',
    '256',
    integer(1, 10_000),
    'Deliveries that one worker sends at a time.',
  ),
  maxRequests: setting(
    'DRAGOMAN_MAX_REQUESTS',
    '256',
    integer(1, 100_000),
    'API requests that one process handles at a time. Further ones get 503 with Retry-After at once.',
  ),
  liveStreams: setting(
    'DRAGOMAN_LIVE_STREAMS',
    '1000',
    integer(0, 100_000),
    'Event streams of one process. Further pages, and all with 0, reload every half minute.',
  ),
  senderPerHost: setting(
    'DRAGOMAN_SENDER_PER_HOST',
    '8',
    integer(1, 1_000),
    'Deliveries that one worker sends to one host at a time. Accounts share them; a quarter is reserved for accounts without a current delivery to the host.',
  ),
  autoAcceptHours: setting(
    'DRAGOMAN_AUTO_ACCEPT_AFTER',
    '0',
    integer(0, 87_600),
    'Hours after which a delivered job counts as accepted unless its customer rejects it; 0 means never.',
  ),
  maxUntranslated: setting(
    'DRAGOMAN_MAX_UNTRANSLATED',
    '0.1',
    decimal(0, 1),
    'The share of a machine-translated job’s words that may stay untranslated. A job with more fails.',
  ),
  editDeadlineHours: setting(
    'DRAGOMAN_EDIT_DEADLINE',
    '24',
    integer(1, 8760),
    'Hours from the draft of a job to its deadline. Some brands deliver the machine’s result then.',
  ),
  taskWords: setting(
    'DRAGOMAN_TASK_WORDS',
    '300',
    integer(1, 100_000),
    'Maximum source words of an editing task.',
  ),
  taskLeaseSeconds: setting(
    'DRAGOMAN_TASK_LEASE',
    '1800',
    integer(5, 86_400),
    'Seconds without activity of an editor after which their task returns to the queue, with its drafts.',
  ),
  taskWordsPerMinute: setting(
    'DRAGOMAN_TASK_PACE',
    '10',
    integer(1, 10_000),
    'Words that an editor edits in a minute. Editors see the expected time of each task.',
  ),
  editorTasks: setting(
    'DRAGOMAN_EDITOR_TASKS',
    '1',
    integer(1, 100),
    'Editing tasks that one editor can claim at a time.',
  ),
  editorReviews: setting(
    'DRAGOMAN_EDITOR_REVIEWS',
    '1',
    integer(1, 100),
    'Reviews that one editor can claim at a time.',
  ),
  claimExpiries: setting(
    'DRAGOMAN_CLAIM_EXPIRIES',
    '3',
    integer(1, 1000),
    'Claims of an editor that may expire in a day before the editor must pause for 30 minutes.',
  ),
  taskReservedHours: setting(
    'DRAGOMAN_TASK_RESERVED',
    '4',
    integer(0, 720),
    'Hours for which a returned task is reserved for its former editor.',
  ),
  taskSkips: setting(
    'DRAGOMAN_TASK_SKIPS',
    '3',
    integer(1, 1000),
    'Editors who can skip a task before an operator must look at it.',
  ),
  editPay: setting(
    'DRAGOMAN_EDIT_PAY',
    '',
    optional(decimal(0, 1000)),
    'Cents that an editor earns for a source word. The queue shows it; Dragoman makes no payments. Not set: not shown.',
  ),
  reviewPay: setting(
    'DRAGOMAN_REVIEW_PAY',
    '',
    optional(decimal(0, 1000)),
    'Cents that a reviewer earns for a source word. Not set: not shown.',
  ),
  metricsToken: setting(
    'DRAGOMAN_METRICS_TOKEN',
    '',
    optional(text),
    'The bearer token for /metrics. Not set: /metrics is turned off.',
  ),
} as const;
