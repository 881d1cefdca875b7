/** The job interface, described: what it takes, what it answers, what it posts. */
import type { FastifySchema } from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';
import {
  answer,
  type DescribedResponse,
  type DescribedWebhook,
  emptyAnswer,
  errorResponses,
  pageOf,
  pageParameters,
} from '../schemas.ts';
import { FILTERED_STATUSES } from './query.ts';
import { TEXT_FORMATS, UID_PATTERN } from './request.ts';
import { STATUSES } from './states.ts';
import type { Tier } from './store.ts';

const UID = Type.String({
  pattern: UID_PATTERN,
  description: 'Names the job within its account and environment. `.` and `..` are no uids.',
  examples: ['article-7'],
});
const LANGUAGE = Type.String({ description: 'Shortname of a language.', examples: ['en'] });
const TARGET_LANGUAGE = Type.String({ description: 'Shortname of a language.', examples: ['es'] });
const TextFormat = Type.Enum([...TEXT_FORMATS], { title: 'TextFormat' });
export const JobStatus = Type.Enum([...STATUSES], {
  title: 'JobStatus',
  description: 'A machine-only job begins as `machine_translate_in_progress`, any other as `new`.',
});
/** `deliver_ok` is what a legacy key reads of a finished machine-only job. */
const LegacyJobStatus = Type.Enum([...STATUSES, 'deliver_ok'], {
  title: 'LegacyJobStatus',
  description: 'As `JobStatus`; a finished machine-only job is `deliver_ok`.',
});
const ORDER_NUMBER = Type.Integer({
  description: 'Counts the account’s jobs in this environment; a number may be left out.',
  examples: [41],
});
const PRICE = Type.Integer({ minimum: 0, description: 'Cents.', examples: [12] });
const BALANCE = Type.Integer({ description: 'What the account can spend, in cents.', examples: [9988] });
const CLIENT = Type.String({ description: 'The username of the account.', examples: ['acme'] });
const TONE = Type.String({ examples: ['Formal'] });
const TOPICS = Type.Array(Type.String({ examples: ['tech'] }));
const BRAND = Type.String({ description: 'External identifier of a brand of the account.' });
const CALLBACK_URL = Type.String({
  format: 'uri',
  description: 'Where the finished job is posted. A public http or https address without credentials.',
  examples: ['https://example.com/done'],
});

const requested = {
  text: Type.String({
    minLength: 1,
    description: 'What to translate, in the format of `text_format`. At most 10 MiB of UTF-8.',
    examples: ['The house is big.'],
  }),
  source_language: Type.Optional(
    Type.String({ description: 'Shortname of a language; detected when absent.', examples: ['en'] }),
  ),
  target_language: TARGET_LANGUAGE,
  text_format: Type.Optional(Type.Enum([...TEXT_FORMATS], { default: 'text' })),
  uid: Type.Optional(
    Type.String({
      ...UID,
      description: 'Your own name for the job; assigned when absent. With it, retrying is safe.',
    }),
  ),
  callback_url: Type.Optional(CALLBACK_URL),
  brand: Type.Optional(BRAND),
  tone: Type.Optional(TONE),
  topics: Type.Optional(TOPICS),
  instructions: Type.Optional(
    Type.String({ maxLength: 10_000, description: 'For the editor, and for engines that follow it.' }),
  ),
};

const IGNORED = '`null` is the same as absent; unknown fields are ignored.';

export const MachineJobRequest = Type.Object(requested, { title: 'MachineJobRequest', description: IGNORED });
export const JobRequest = Type.Object(
  {
    ...requested,
    target_text: Type.Optional(
      Type.String({ description: 'A translation of your own, to be edited instead of a machine’s.' }),
    ),
  },
  { title: 'JobRequest', description: IGNORED },
);

const created = {
  source_language: LANGUAGE,
  status: JobStatus,
  target_language: TARGET_LANGUAGE,
  text: Type.String(),
  text_format: TextFormat,
  uid: UID,
  tone: Type.Optional(TONE),
  topics: Type.Optional(TOPICS),
  brand: Type.Optional(BRAND),
  callback_url: Type.Optional(CALLBACK_URL),
};

export const JobCreation = Type.Object(
  { order_number: ORDER_NUMBER, price: PRICE, ...created, balance: BALANCE, client: CLIENT },
  { title: 'JobCreation', description: 'Fields that were not supplied are not there.' },
);
export const MachineJobCreation = Type.Object(
  { origin: Type.Literal('api'), ...created },
  { title: 'MachineJobCreation', description: 'Fields that were not supplied are not there.' },
);

const read = {
  price: PRICE,
  source_language: LANGUAGE,
  status: JobStatus,
  target_language: TARGET_LANGUAGE,
  text: Type.String(),
  text_format: TextFormat,
  uid: UID,
};
const purse = { balance: BALANCE, client: CLIENT };
const TRANSLATED = Type.String({
  description: 'The translation, in the format of `text`; there once completed.',
});
const FAILURE = Type.String({ description: 'Why a failed job was given up.' });
const result = {
  fallback: Type.Optional(
    Type.Literal('machine', {
      description:
        'No editor came in time: the result is a machine’s, and nothing was charged. As the brand says.',
    }),
  ),
  translated_text: Type.Optional(TRANSLATED),
  failure: Type.Optional(FAILURE),
};

export const Job = Type.Object({ ...read, ...result, ...purse }, { title: 'Job' });
export const LegacyJob = Type.Object(
  { ...read, status: LegacyJobStatus, translatedText: Type.Optional(TRANSLATED), ...purse },
  { title: 'LegacyJob', description: 'What a key of the legacy dialect reads.' },
);

const listed = {
  order_number: ORDER_NUMBER,
  price: PRICE,
  source_language: LANGUAGE,
  status: JobStatus,
  target_language: TARGET_LANGUAGE,
  text_format: TextFormat,
  uid: UID,
};
export const JobListItem = Type.Object(listed, { title: 'JobListItem' });
export const LegacyJobListItem = Type.Object(
  { ...listed, status: LegacyJobStatus },
  { title: 'LegacyJobListItem', description: 'What a key of the legacy dialect reads.' },
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
/** As form fields: all of them text. */
export const LegacyJobCallback = Type.Object(
  {
    uid: UID,
    status: LegacyJobStatus,
    order_number: Type.Optional(Type.String({ description: 'Of jobs that people edit.' })),
    price: Type.Optional(Type.String({ description: 'Cents. Of jobs that people edit.' })),
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

/** How the two tiers differ in what is said of them. */
interface Words {
  tag: string;
  /** Goes into operation ids: `createJob`, `createMachineJob`. */
  name: string;
  a: string;
}
const WORDS: Record<Tier, Words> = {
  human: { tag: 'Jobs', name: 'Job', a: 'a job that a human edits after the machine' },
  machine: { tag: 'Machine jobs', name: 'MachineJob', a: 'a job that the machine does alone' },
};

const EXAMPLE = { source_language: 'en', target_language: 'es', text_format: 'text', uid: 'article-7' };
const EXAMPLE_JOB = {
  ...EXAMPLE,
  price: 12,
  status: 'completed',
  text: 'The house is big.',
  translated_text: 'La casa es grande.',
};
const EXAMPLE_PURSE = { balance: 9988, client: 'acme' };

export function createSchema(tier: Tier): FastifySchema {
  const { tag, name, a } = WORDS[tier];
  const creation = tier === 'human' ? JobCreation : MachineJobCreation;
  const example = {
    ...EXAMPLE,
    ...(tier === 'human'
      ? { order_number: 41, price: 12, status: 'new', ...EXAMPLE_PURSE }
      : { origin: 'api', status: 'machine_translate_in_progress' }),
    text: 'The house is big.',
  };
  return {
    operationId: `create${name}`,
    summary: `Create ${a}`,
    description:
      'Answered after the job is on disk. The same request with the same `uid`, or the same `Idempotency-Key`, finds it again.',
    tags: [tag],
    headers: idempotencyHeader,
    body: tier === 'human' ? JobRequest : MachineJobRequest,
    response: {
      200: answer('The job that the same request made before; nothing is charged.', creation),
      201: answer('The job, created.', creation, example),
      ...errorResponses('invalid_request', 'insufficient_balance', 'read_only_key', 'too_large'),
    },
  };
}

export const jobParameters = Type.Object({ uid: UID });

const idempotencyHeader = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[ -~]*$',
      description: 'Makes the request safe to send again within 24 hours, also without a `uid`.',
      examples: ['7d0c1f5e'],
    }),
  ),
});

export const BulkRequest = Type.Object(
  { objects: Type.Array(JobRequest, { minItems: 1, maxItems: 1000 }) },
  { title: 'BulkRequest' },
);
export const BulkCreation = Type.Object(
  { objects: Type.Array(JobCreation, { description: 'In the order of the request.' }) },
  { title: 'BulkCreation' },
);

export const bulkSchema: FastifySchema = {
  operationId: 'createJobs',
  summary: 'Create up to 1000 jobs, all or none',
  description:
    'Each object is the body of a create; errors name its index. What an earlier request made under the same `uid` with the same body is found and not charged again.',
  tags: [WORDS.human.tag],
  headers: idempotencyHeader,
  body: BulkRequest,
  response: {
    202: answer('The jobs, created or found.', BulkCreation),
    ...errorResponses('invalid_request', 'insufficient_balance', 'read_only_key', 'too_large'),
  },
};

export function cancelSchema(tier: Tier): FastifySchema {
  const { tag, name } = WORDS[tier];
  return {
    operationId: `cancel${name}`,
    summary: 'Cancel a job that is not finished',
    description:
      tier === 'human'
        ? 'Its price is refunded; no callback is sent. A machine job that was upgraded is that completed machine job again: it is read at `/mt_translation/`, and not found here.'
        : 'Its price is refunded; no callback is sent.',
    tags: [tag],
    params: jobParameters,
    response: {
      200: emptyAnswer('Canceled.'),
      ...errorResponses('invalid_request', 'not_found', 'read_only_key'),
    },
  };
}

export const acceptSchema: FastifySchema = {
  operationId: 'acceptJob',
  summary: 'Accept a completed job',
  description:
    'An extension. The last word on a job: it cannot be rejected any more, and its translations weigh most in the memory. Accepting it again changes nothing.',
  tags: [WORDS.human.tag],
  params: jobParameters,
  response: {
    200: inDialects('The job, accepted.', Job, LegacyJob, {
      ...EXAMPLE_JOB,
      ...EXAMPLE_PURSE,
      status: 'accepted',
    }),
    ...errorResponses('invalid_request', 'not_found', 'read_only_key'),
  },
};

export const RejectRequest = Type.Object(
  {
    reason: Type.String({
      minLength: 1,
      maxLength: 2000,
      description: 'What is wrong: the editors read it.',
    }),
  },
  { title: 'RejectRequest' },
);

export const rejectSchema: FastifySchema = {
  operationId: 'rejectJob',
  summary: 'Send a completed job back to its editors',
  description:
    'An extension. The job is edited again at no price, completes again, and is delivered again under a new `webhook-id`. What it had taught the memory is not used meanwhile. Not for what a machine alone has done. In the sandbox, where nobody edits, it completes again at once.',
  tags: [WORDS.human.tag],
  params: jobParameters,
  body: RejectRequest,
  response: {
    200: inDialects('The job.', Job, LegacyJob, { ...EXAMPLE_JOB, ...EXAMPLE_PURSE, status: 'rejected' }),
    ...errorResponses('invalid_request', 'not_found', 'read_only_key', 'too_large'),
  },
};

export const UpgradeRequest = Type.Object(
  {
    status: Type.Literal('upgrade'),
    properties: Type.Optional(
      Type.Union([
        Type.Object({
          callback_url: requested.callback_url,
          brand: requested.brand,
          tone: requested.tone,
          topics: requested.topics,
          instructions: requested.instructions,
        }),
        Type.Null(),
      ]),
    ),
  },
  { title: 'UpgradeRequest', description: 'What is given takes the place of what the job was created with.' },
);

export const upgradeSchema: FastifySchema = {
  operationId: 'upgradeMachineJob',
  summary: 'Let a human edit a completed machine job',
  description:
    'From then on it is a job of `/translation/` under the same uid, whose draft is the machine’s result, at the price of one. The same request again finds it and charges nothing.',
  tags: [WORDS.machine.tag],
  params: jobParameters,
  body: UpgradeRequest,
  response: {
    202: answer('The job, as a human one.', JobCreation),
    ...errorResponses('invalid_request', 'insufficient_balance', 'not_found', 'read_only_key', 'too_large'),
  },
};

const LANGUAGES = Type.String({
  description: 'Shortnames: a comma list, a JSON array, or the parameter repeated.',
  examples: ['en,es'],
});
const MOMENT = Type.String({
  description: 'ISO 8601; of UTC where it names no zone.',
  examples: ['2026-01-31T08:00:00Z'],
});

export function listSchema(tier: Tier): FastifySchema {
  const { tag, name } = WORDS[tier];
  return {
    operationId: `list${name}s`,
    summary: 'List jobs, oldest first',
    description:
      'Filters narrow each other down. `total_count` is exact; with filters by parts of a uid or by time, up to 10000.',
    tags: [tag],
    querystring: Type.Object({
      ...pageParameters,
      uid: Type.Optional(UID),
      uid__startswith: Type.Optional(Type.String({ examples: ['article-'] })),
      uid__endswith: Type.Optional(Type.String()),
      uid__contains: Type.Optional(
        Type.String({ description: 'At best three characters or more: fewer are looked for in every job.' }),
      ),
      status: Type.Optional(
        Type.Enum([...FILTERED_STATUSES[tier], 'deliver_ok'], {
          description: '`deliver_ok` is `completed` for a legacy key, and refused to others.',
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
      created__gte: Type.Optional(MOMENT),
      created__lt: Type.Optional(MOMENT),
      order_by: Type.Optional(Type.Enum(['created', '-created'], { default: 'created' })),
      after: Type.Optional(
        Type.String({
          description:
            'For many pages: each begins after this uid, and `next` carries on. Empty for the first; not with `offset`.',
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

export function detailSchema(tier: Tier): FastifySchema {
  const { tag, name } = WORDS[tier];
  return {
    operationId: `get${name}`,
    summary: 'Read a job',
    tags: [tag],
    params: jobParameters,
    response: {
      200: inDialects('The job.', Job, LegacyJob, { ...EXAMPLE_JOB, ...EXAMPLE_PURSE }),
      ...errorResponses('invalid_request', 'not_found'),
    },
  };
}

/** An answer in the dialect of the key; the example is in ours. */
function inDialects(
  description: string,
  spec: TSchema,
  legacy: TSchema,
  example: unknown,
): DescribedResponse {
  return answer(description, Type.Union([spec, legacy]), example);
}

/** What is posted to a job's `callback_url`. */
export const jobWebhooks: Record<string, DescribedWebhook> = {
  jobFinished: {
    operationId: 'jobFinished',
    summary: 'A job has completed or failed',
    description: 'Posted to the `callback_url` of the job; in the dialect of the key that created it.',
    content: {
      'application/json': { schema: JobCallback, example: { order_number: 41, ...EXAMPLE_JOB } },
      'application/x-www-form-urlencoded': { schema: LegacyJobCallback },
    },
  },
};
