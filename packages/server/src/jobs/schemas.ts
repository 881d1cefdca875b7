/** Schemas of the job API: requests, responses and callbacks. */
import { FORMATS } from '@dragoman/documents';
import type { FastifySchema } from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';
import { TONE_NAMES, TOPIC_NAMES } from '../brands/tones.ts';
import { Delivery } from '../deliveries/schemas.ts';
import {
  answer,
  CENTS,
  type DescribedResponse,
  type DescribedWebhook,
  EditedWords,
  ENVIRONMENT,
  emptyAnswer,
  errorResponses,
  ID,
  IGNORED,
  MOMENT,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  pageOf,
  pageParameters,
  UNTRANSLATED,
} from '../http/schemas.ts';
import { DiscountBody } from '../ledger/price-list.ts';
import { createHeaders, idempotencyHeader } from './header-schemas.ts';
import { JobProgress } from './progress.ts';
import { FILTERED_STATUSES } from './query.ts';
import { JOB_STATUSES } from './states.ts';
import type { JobTier } from './store.ts';
import { UID_PATTERN } from './uid.ts';

const UID = Type.String({
  pattern: UID_PATTERN,
  description: 'The name of the job, unique in its account and environment. `.` and `..` are not allowed.',
  examples: ['article-7'],
});
const LANGUAGE = Type.String({ description: 'A language code.', examples: ['en'] });
const TARGET_LANGUAGE = Type.String({ description: 'A language code.', examples: ['es'] });
const TextFormat = Type.Enum([...FORMATS], { title: 'TextFormat' });
export const JobStatusSchema = Type.Enum([...JOB_STATUSES], {
  title: 'JobStatus',
  description:
    'The first status of a machine job is `machine_translate_in_progress`, of any other job `new`.',
});
/** In the legacy format, the status of a completed machine job is `deliver_ok`. */
const LegacyJobStatus = Type.Enum([...JOB_STATUSES, 'deliver_ok'], {
  title: 'LegacyJobStatus',
  description: 'Like `JobStatus`, except that a completed machine job is `deliver_ok`.',
});
const ORDER_NUMBER = Type.Integer({
  description: 'Number of the job in its account and environment. There may be gaps.',
  examples: [41],
});
const PRICE = Type.Integer({ minimum: 0, description: 'Cents.', examples: [12] });
const BALANCE = Type.Integer({ description: 'The account’s available cents.', examples: [9988] });
const CLIENT = Type.String({ description: 'The username of the account.', examples: ['acme'] });
const TONE = Type.String({ examples: ['Formal'] });
const TOPICS = Type.Array(Type.String({ examples: ['tech'] }));
/** The maximum number of topics in a request, which is well above the number of existing topics. */
const MAX_TOPICS = 50;
const REQUESTED_TONE = Type.Enum([...TONE_NAMES], { examples: ['Formal'] });
const REQUESTED_TOPICS = Type.Array(Type.Enum([...TOPIC_NAMES], { examples: ['tech'] }), {
  maxItems: MAX_TOPICS,
});
const BRAND = Type.String({ description: 'The external identifier of a brand of the account.' });
const CALLBACK_URL = Type.String({
  format: 'uri',
  description: 'URL to which the finished job is posted: public, http or https, without credentials.',
  examples: ['https://example.com/done'],
});

const requested = {
  text: Type.String({
    pattern: '\\S',
    description: 'The text to translate, in the format of `text_format`. At most 10 MiB of UTF-8.',
    examples: ['The house is big.'],
  }),
  source_language: Type.Optional(
    Type.String({ description: 'A language code; detected when absent.', examples: ['en'] }),
  ),
  target_language: Type.String({ ...TARGET_LANGUAGE, pattern: '\\S' }),
  // Has no keyword `default`, because some code generators make a field with a default required.
  text_format: Type.Optional(
    Type.Enum([...FORMATS], { description: 'The format of `text`; plain text when absent.' }),
  ),
  uid: Type.Optional(
    Type.String({
      ...UID,
      description: 'Your name for the job; assigned when absent. Makes a retry safe.',
    }),
  ),
  callback_url: Type.Optional(CALLBACK_URL),
  brand: Type.Optional(BRAND),
  tone: Type.Optional(REQUESTED_TONE),
  formality: Type.Optional(
    Type.Enum([...TONE_NAMES], { deprecated: true, description: 'The older name of `tone`.' }),
  ),
  topics: Type.Optional(REQUESTED_TOPICS),
  instructions: Type.Optional(
    Type.String({
      maxLength: 10_000,
      description: 'Instructions for the editor, and for engines that support them.',
    }),
  ),
  retranslate: Type.Optional(
    Type.Boolean({
      description:
        'XLIFF only: whether segments whose target has the state `translated` are translated again.',
    }),
  ),
  set_lang: Type.Optional(
    Type.Boolean({
      description:
        'HTML only: whether the `lang` of the page becomes the target language where it was the source language.',
    }),
  ),
};

const EXAMPLE_REQUEST = {
  uid: 'product-4711',
  text: '<p>The <b>house</b> is big.</p>',
  text_format: 'html',
  source_language: 'en',
  target_language: 'es',
  callback_url: 'https://example.com/done',
};
export const MachineJobRequest = Type.Object(requested, {
  title: 'MachineJobRequest',
  description: IGNORED,
  examples: [EXAMPLE_REQUEST],
});
export const JobRequest = Type.Object(
  {
    ...requested,
    target_text: Type.Optional(
      Type.String({ description: 'Your own translation, used as the draft instead of machine translation.' }),
    ),
  },
  {
    title: 'JobRequest',
    description: IGNORED,
    examples: [{ ...EXAMPLE_REQUEST, instructions: 'Address customers formally.' }],
  },
);

const created = {
  source_language: LANGUAGE,
  status: JobStatusSchema,
  target_language: TARGET_LANGUAGE,
  text: Type.String(),
  text_format: TextFormat,
  uid: UID,
  tone: Type.Optional(TONE),
  topics: Type.Optional(TOPICS),
  brand: Type.Optional(BRAND),
  callback_url: Type.Optional(CALLBACK_URL),
};

/** Absent without discounts, so that most bodies have only the fields of the specification. */
const discounted = { discounts: Type.Optional(Type.Array(DiscountBody)) };

export const JobCreation = Type.Object(
  { order_number: ORDER_NUMBER, price: PRICE, ...discounted, ...created, balance: BALANCE, client: CLIENT },
  { title: 'JobCreation', description: 'Fields that the request did not contain are absent.' },
);
export const MachineJobCreation = Type.Object(
  { origin: Type.Literal('api'), ...created },
  { title: 'MachineJobCreation', description: 'Fields that the request did not contain are absent.' },
);

const read = {
  price: PRICE,
  source_language: LANGUAGE,
  status: JobStatusSchema,
  target_language: TARGET_LANGUAGE,
  text: Type.String(),
  text_format: TextFormat,
  uid: UID,
};
const accountBalance = { balance: BALANCE, client: CLIENT };
const TRANSLATED = Type.String({
  description: 'The translation, in the format of `text`; present when the job is completed.',
});
const FAILURE = Type.String({ description: 'Why the job failed.' });
const result = {
  ...discounted,
  fallback: Type.Optional(
    Type.Literal('machine', {
      description:
        'The deadline passed before an editor finished: the result is a machine’s, and nothing was charged. Set by the brand.',
    }),
  ),
  translated_text: Type.Optional(TRANSLATED),
  untranslated: Type.Optional(UNTRANSLATED),
  failure: Type.Optional(FAILURE),
};

export const Job = Type.Object({ ...read, ...result, ...accountBalance }, { title: 'Job' });
export const LegacyJob = Type.Object(
  {
    order_number: ORDER_NUMBER,
    ...read,
    status: LegacyJobStatus,
    translatedText: Type.Optional(TRANSLATED),
    ...accountBalance,
  },
  { title: 'LegacyJob', description: 'The body for a key of the legacy dialect.' },
);

const listed = {
  order_number: ORDER_NUMBER,
  price: PRICE,
  source_language: LANGUAGE,
  status: JobStatusSchema,
  target_language: TARGET_LANGUAGE,
  text_format: TextFormat,
  uid: UID,
};
export const JobListItem = Type.Object(listed, { title: 'JobListItem' });
export const LegacyJobListItem = Type.Object(
  { ...listed, status: LegacyJobStatus },
  { title: 'LegacyJobListItem', description: 'The body for a key of the legacy dialect.' },
);
export const JobList = pageOf(JobListItem, 'JobList');
export const LegacyJobList = pageOf(LegacyJobListItem, 'LegacyJobList');

export const JobCallback = Type.Object(
  { order_number: ORDER_NUMBER, ...read, ...result },
  {
    title: 'JobCallback',
    description: 'A job that has completed or failed.',
  },
);
/** The callback of the legacy format is a form, so all its fields are strings. */
export const LegacyJobCallback = Type.Object(
  {
    uid: UID,
    status: LegacyJobStatus,
    order_number: Type.Optional(Type.String({ description: 'Human jobs only.' })),
    price: Type.Optional(Type.String({ description: 'The price in cents; human jobs only.' })),
    source_language: LANGUAGE,
    target_language: TARGET_LANGUAGE,
    text: Type.String(),
    text_format: TextFormat,
    translated_text: Type.String(),
  },
  { title: 'LegacyJobCallback' },
);

export type JobCreationBody = Static<typeof JobCreation> | Static<typeof MachineJobCreation>;
export type JobBody = Static<typeof Job> | Static<typeof LegacyJob>;
export type JobListItemBody = Static<typeof JobListItem> | Static<typeof LegacyJobListItem>;

/** The wording that differs between the API descriptions of human jobs and machine jobs. */
interface TierWords {
  tag: string;
  /** The noun in operation ids: `createJob`, `createMachineJob`. */
  name: string;
  a: string;
}
const WORDS: Record<JobTier, TierWords> = {
  human: { tag: 'Jobs', name: 'Job', a: 'a job that an editor corrects' },
  machine: { tag: 'Machine jobs', name: 'MachineJob', a: 'a machine translation job' },
};

const EXAMPLE = { source_language: 'en', target_language: 'es', text_format: 'text', uid: 'article-7' };
const EXAMPLE_JOB = {
  ...EXAMPLE,
  price: 12,
  status: 'completed',
  text: 'The house is big.',
  translated_text: 'La casa es grande.',
};
const EXAMPLE_BALANCE = { balance: 9988, client: 'acme' };

/** The errors of every request that orders work. */
const ORDER_ERRORS = [
  'invalid_request',
  'insufficient_balance',
  'key_limit',
  'read_only_key',
  'too_large',
] as const;

export function createJobSchema(tier: JobTier): FastifySchema {
  const { tag, name, a } = WORDS[tier];
  const creation = tier === 'human' ? JobCreation : MachineJobCreation;
  const example = {
    ...EXAMPLE,
    ...(tier === 'human'
      ? { order_number: 41, price: 12, status: 'new', ...EXAMPLE_BALANCE }
      : { origin: 'api', status: 'machine_translate_in_progress' }),
    text: 'The house is big.',
  };
  return {
    operationId: `create${name}`,
    summary: `Create ${a}`,
    description:
      'Returns after the job is on disk. A repeated request with the same `uid`, or the same `Idempotency-Key`, returns the existing job.',
    tags: [tag],
    headers: createHeaders,
    body: tier === 'human' ? JobRequest : MachineJobRequest,
    response: {
      200: answer('The job that the same request created before; nothing is charged.', creation),
      201: answer('The job, created.', creation, example),
      ...errorResponses(...ORDER_ERRORS, 'price_changed', 'sandbox_quota'),
    },
  };
}

export const jobParameters = Type.Object({ uid: UID });

export const BulkRequest = Type.Object(
  { objects: Type.Array(JobRequest, { minItems: 1, maxItems: 1000 }) },
  {
    title: 'BulkRequest',
    examples: [{ objects: ['product-4711', 'product-4712'].map((uid) => ({ ...EXAMPLE_REQUEST, uid })) }],
  },
);
export const BulkCreation = Type.Object(
  { objects: Type.Array(JobCreation, { description: 'The jobs in the order of the request.' }) },
  { title: 'BulkCreation' },
);

export const createJobsSchema: FastifySchema = {
  operationId: 'createJobs',
  summary: 'Create up to 1000 jobs, all or none',
  description:
    'Each object is the body of a create; errors name its index. A retry is idempotent for each `uid`: a job that exists with the same body is returned and not charged again.',
  tags: [WORDS.human.tag],
  headers: idempotencyHeader,
  body: BulkRequest,
  response: {
    202: answer('The created or existing jobs.', BulkCreation),
    ...errorResponses(...ORDER_ERRORS, 'sandbox_quota'),
  },
};

export function cancelJobSchema(tier: JobTier): FastifySchema & { params: typeof jobParameters } {
  const { tag, name } = WORDS[tier];
  return {
    operationId: `cancel${name}`,
    summary: 'Cancel a job that is not finished',
    description:
      tier === 'human'
        ? 'Its price is released; no callback is sent. An upgraded job becomes the completed machine job again: read it at `/mt_translation/`.'
        : 'Its price is released; no callback is sent.',
    tags: [tag],
    params: jobParameters,
    response: {
      200: emptyAnswer('Canceled.'),
      ...errorResponses('invalid_request', 'not_found', 'read_only_key'),
    },
  };
}

export const acceptJobSchema = {
  operationId: 'acceptJob',
  summary: 'Accept a completed job',
  description:
    'An extension. An accepted job cannot be rejected any more, and the translation memory prefers its translations. Accepting it again changes nothing.',
  tags: [WORDS.human.tag],
  params: jobParameters,
  response: {
    200: inDialects('The job, accepted.', Job, LegacyJob, {
      ...EXAMPLE_JOB,
      ...EXAMPLE_BALANCE,
      status: 'accepted',
    }),
    ...errorResponses('invalid_request', 'not_found', 'read_only_key'),
  },
} satisfies FastifySchema;

const REASON = Type.String({
  pattern: '\\S',
  maxLength: 2000,
  'x-trim': true,
  description: 'What is wrong with the translation; editors read it.',
});
export const RejectRequest = Type.Object(
  { reason: REASON },
  { title: 'RejectRequest', examples: [{ reason: 'The price in the second paragraph is missing.' }] },
);

export const rejectJobSchema = {
  operationId: 'rejectJob',
  summary: 'Send a completed job back to its editors',
  description:
    'An extension. The job is edited again free of charge, completes again, and is delivered again with a new `webhook-id`. Until then the translation memory does not use its translations. Machine jobs cannot be rejected. In the sandbox, which has no editors, the job completes again at once.',
  tags: [WORDS.human.tag],
  params: jobParameters,
  body: RejectRequest,
  response: {
    200: inDialects('The job.', Job, LegacyJob, { ...EXAMPLE_JOB, ...EXAMPLE_BALANCE, status: 'rejected' }),
    ...errorResponses('invalid_request', 'not_found', 'read_only_key', 'too_large'),
  },
} satisfies FastifySchema;

export const UpgradedProperties = Type.Object({
  callback_url: requested.callback_url,
  brand: requested.brand,
  tone: requested.tone,
  formality: requested.formality,
  topics: requested.topics,
  instructions: requested.instructions,
});

export const UpgradeRequest = Type.Object(
  {
    status: Type.Literal('upgrade'),
    properties: Type.Optional(Type.Union([UpgradedProperties, Type.Null()])),
  },
  {
    title: 'UpgradeRequest',
    description: 'Given properties replace those of the job.',
    examples: [{ status: 'upgrade', properties: { instructions: 'Address customers formally.' } }],
  },
);

export const upgradeJobSchema = {
  operationId: 'upgradeMachineJob',
  summary: 'Upgrade a completed machine job to a human one',
  description:
    'It becomes a job of `/translation/` with the same uid, at the price of a human job. Its draft is the machine’s result. A repeated request returns it and charges nothing.',
  tags: [WORDS.machine.tag],
  params: jobParameters,
  body: UpgradeRequest,
  response: {
    202: answer('The job as a human one.', JobCreation),
    ...errorResponses(...ORDER_ERRORS, 'not_found'),
  },
} satisfies FastifySchema;

const LANGUAGES = Type.String({
  description: 'Language codes: a comma list, a JSON array, or the parameter repeated.',
  examples: ['en,es'],
});
const ISO_TIME = Type.String({
  description: 'A time in ISO 8601; without a time zone it is UTC.',
  examples: ['2026-01-31T08:00:00Z'],
});

export function listJobsSchema(tier: JobTier): FastifySchema {
  const { tag, name } = WORDS[tier];
  return {
    operationId: `list${name}s`,
    summary: 'List jobs, oldest first',
    description:
      'All filters apply together. `total_count` is exact; with filters by parts of a uid or by time, a total of 10000 or more is a lower bound.',
    tags: [tag],
    querystring: Type.Object({
      ...pageParameters,
      uid: Type.Optional(UID),
      uid__startswith: Type.Optional(Type.String({ examples: ['article-'] })),
      uid__endswith: Type.Optional(Type.String()),
      uid__contains: Type.Optional(
        Type.String({ description: 'Use at least three characters; shorter parts are slow.' }),
      ),
      status: Type.Optional(
        Type.Enum([...FILTERED_STATUSES[tier], 'deliver_ok'], {
          description: '`deliver_ok` means `completed` for a legacy key; other keys cannot use it.',
        }),
      ),
      source_language: Type.Optional(LANGUAGE),
      source_language__in: Type.Optional(LANGUAGES),
      source_language__nin: Type.Optional(LANGUAGES),
      source_language__ne: Type.Optional(LANGUAGE),
      target_language: Type.Optional(TARGET_LANGUAGE),
      target_language__in: Type.Optional(LANGUAGES),
      target_language__nin: Type.Optional(LANGUAGES),
      target_language__ne: Type.Optional(TARGET_LANGUAGE),
      created__gte: Type.Optional(ISO_TIME),
      created__lt: Type.Optional(ISO_TIME),
      order_by: Type.Optional(Type.Enum(['created', '-created'], { default: 'created' })),
      after: Type.Optional(
        Type.String({
          description:
            'For many pages: the page begins after this uid, and `next` has the following one. Empty for the first page; not with `offset`.',
        }),
      ),
    }),
    response: {
      200: inDialects('A page of jobs.', JobList, LegacyJobList, {
        meta: { limit: 20, offset: 0, next: null, previous: null, total_count: 1 },
        objects: [{ ...EXAMPLE, order_number: 41, price: 12, status: 'completed' }],
      }),
      ...errorResponses('invalid_request'),
    },
  };
}

export function readJobSchema(tier: JobTier): FastifySchema & { params: typeof jobParameters } {
  const { tag, name } = WORDS[tier];
  return {
    operationId: `get${name}`,
    summary: 'Read a job',
    description: 'The response has `translated_text` when the job is `completed`.',
    tags: [tag],
    params: jobParameters,
    response: {
      200: inDialects('The job.', Job, LegacyJob, { ...EXAMPLE_JOB, ...EXAMPLE_BALANCE }),
      ...errorResponses('invalid_request', 'not_found'),
    },
  };
}

/** Describes a response, whose format depends on the API key. The example has the `spec` format. */
function inDialects(
  description: string,
  spec: TSchema,
  legacy: TSchema,
  example: unknown,
): DescribedResponse {
  return answer(description, Type.Union([spec, legacy]), example);
}

/** Descriptions of the callbacks to a job's `callback_url`. */
export const jobWebhooks: Record<string, DescribedWebhook> = {
  jobFinished: {
    operationId: 'jobFinished',
    summary: 'A job has completed or failed',
    description: 'Posted to the `callback_url` of the job, in the dialect of the API key that created it.',
    content: {
      'application/json': { schema: JobCallback, example: { order_number: 41, ...EXAMPLE_JOB } },
      'application/x-www-form-urlencoded': { schema: LegacyJobCallback },
    },
  },
};

/** A job in the console, with the account that it belongs to. */
const consoleJob = {
  account: Type.String(),
  job: ID,
  order_number: Type.Integer(),
  environment: ENVIRONMENT,
  tier: Type.Enum(['human', 'machine']),
  uid: Type.String(),
  status: Type.Enum([...JOB_STATUSES]),
  source_language: Type.String(),
  target_language: Type.String(),
  text_format: Type.String(),
  words: Type.Integer(),
  price: CENTS,
  created_at: MOMENT,
  finished_at: OPTIONAL_MOMENT,
  failure: OPTIONAL_TEXT,
};
export const ConsoleJob = Type.Object(consoleJob, { title: 'ConsoleJob' });
export const ConsoleJobs = Type.Object(
  { jobs: Type.Array(ConsoleJob), next: OPTIONAL_TEXT },
  { title: 'ConsoleJobs' },
);

const ConsoleJobStep = Type.Object(
  {
    at: MOMENT,
    kind: Type.Enum(['created', 'moved', 'money']),
    status: Type.Optional(Type.String({ description: 'The new status.' })),
    actor: Type.Optional(Type.String()),
    detail: Type.Optional(Type.String()),
    money: Type.Optional(Type.String({ description: 'The kind of transfer.' })),
    cents: Type.Optional(CENTS),
  },
  { title: 'ConsoleJobStep' },
);
export const ConsoleJobDetail = Type.Object(
  {
    ...consoleJob,
    discounts: Type.Array(DiscountBody),
    brand: OPTIONAL_TEXT,
    tone: OPTIONAL_TEXT,
    callback_url: OPTIONAL_TEXT,
    due_at: Type.Union([MOMENT, Type.Null()], {
      description: 'The time at which a worker processes the job next; null for never.',
    }),
    attempts: Type.Integer(),
    leased: Type.Boolean({ description: 'Whether a worker processes the job now.' }),
    progress: JobProgress,
    edited_words: EditedWords,
    may: Type.Object({
      cancel: Type.Boolean(),
      retry: Type.Boolean(),
      refund: Type.Boolean(),
      redraft: Type.Boolean(),
    }),
    untouched: Type.Integer({
      description: 'Segments that no editor has claimed or touched; a redraft replaces them.',
    }),
    redraft: Type.Union([Type.String(), Type.Null()], {
      description:
        'The engine of a redraft in progress, or empty for the engine route; null without a redraft.',
    }),
    engines: Type.Array(Type.String(), { description: 'The engines that serve the job’s language pair.' }),
    timeline: Type.Array(ConsoleJobStep),
    deliveries: Type.Array(Delivery),
    routes: Type.Array(
      Type.Object({ route: OPTIONAL_TEXT, failure: OPTIONAL_TEXT, segments: Type.Integer() }),
      {
        description:
          'Segments by the engine route that drafted them, or by the reason for which they have no draft.',
      },
    ),
    untranslated: Type.Array(Type.Object({ failure: Type.String(), segments: Type.Integer() }), {
      description: 'Segments that keep their source text in the result, by the reason of their failure.',
    }),
    texts: Type.Array(Type.Object({ kind: Type.String(), body: Type.String(), characters: Type.Integer() }), {
      description: 'The first 20,000 characters of each text.',
    }),
  },
  { title: 'ConsoleJobDetail' },
);
