/** Routes for the jobs of a customer's account in the web app: `/api/account/jobs…`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { accountOf } from '../../access/session-auth.ts';
import type { AccountRef, Environment } from '../../base/account.ts';
import { ApiError, notFound } from '../../base/errors.ts';
import type { Database, Queryable } from '../../database/database.ts';
import { listDeliveriesOfJob } from '../../deliveries/log.ts';
import { Delivery } from '../../deliveries/schemas.ts';
import type { Answer } from '../../http/answers.ts';
import { type Checked, parametersOf, resource } from '../../http/http.ts';
import {
  CENTS,
  describedOwn,
  EditedWords,
  ENVIRONMENT,
  IN_ENVIRONMENT,
  MOMENT,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
} from '../../http/schemas.ts';
import { DiscountBody } from '../../ledger/price-list.ts';
import { cancelJob, type JobHooks } from '../jobs.ts';
import { shownDiscounts, shownPrice, shownUntranslated, showsResult } from '../present.ts';
import { JobProgress, type ProgressSource, readEditedWords, readProgress } from '../progress.ts';
import { readListQuery } from '../query.ts';
import { jobParameters } from '../schemas.ts';
import { allowsJobMove, JOB_MOVES, JOB_STATUSES } from '../states.ts';
import { findJob, type JobRow } from '../store.ts';
import { readNames, readTexts } from '../text-store.ts';
import * as log from './console-store.ts';
import { findJobPage } from './lists.ts';

const job = {
  uid: Type.String(),
  order_number: Type.Integer(),
  name: Type.Union([Type.String(), Type.Null()], {
    description: 'The name of the document’s file; null if the job has none.',
  }),
  environment: ENVIRONMENT,
  tier: Type.Enum(['human', 'machine']),
  status: Type.Enum([...JOB_STATUSES]),
  source_language: Type.String(),
  target_language: Type.String(),
  text_format: Type.String(),
  brand: OPTIONAL_TEXT,
  price: CENTS,
  created_at: MOMENT,
};
export const OwnJob = Type.Object(job, { title: 'OwnJob' });
const OwnJobs = Type.Object(
  {
    objects: Type.Array(OwnJob),
    next: Type.Union([Type.String(), Type.Null()], {
      description: 'The value of `after` for the next page; null on the last page.',
    }),
    total: Type.Integer({
      description: 'The number of matches; at most ten thousand with filters by parts of a uid or by time.',
    }),
  },
  { title: 'OwnJobs' },
);
const Step = Type.Object(
  {
    at: MOMENT,
    status: Type.String({ description: 'The new status.' }),
    actor: Type.Enum(['machine', 'editor', 'customer', 'operator']),
    detail: Type.Optional(Type.String({ description: 'The reason.' })),
  },
  { title: 'OwnJobStep' },
);
const Text = Type.Object(
  { text: Type.String(), cut: Type.Boolean({ description: 'Whether the text is longer than shown.' }) },
  { title: 'OwnJobText' },
);
const OwnJobDetail = Type.Object(
  {
    ...job,
    words: Type.Integer(),
    untranslated: Type.Integer({ description: 'The sentences that keep their source text in the result.' }),
    discounts: Type.Array(DiscountBody),
    finished_at: OPTIONAL_MOMENT,
    tone: OPTIONAL_TEXT,
    topics: Type.Array(Type.String()),
    callback_url: OPTIONAL_TEXT,
    failure: OPTIONAL_TEXT,
    progress: JobProgress,
    edited_words: EditedWords,
    source: Text,
    result: Type.Union([Text, Type.Null()]),
    machine_result: Type.Union([Text, Type.Null()], {
      description: 'For an upgraded job without a result: the machine’s result, which is its draft.',
    }),
    instructions: OPTIONAL_TEXT,
    timeline: Type.Array(Step, { description: 'Status changes, oldest first.' }),
    deliveries: Type.Array(Delivery),
    may: Type.Object(
      { cancel: Type.Boolean(), accept: Type.Boolean(), reject: Type.Boolean() },
      { description: 'The actions that the job’s status allows.' },
    ),
  },
  { title: 'OwnJobDetail' },
);

const text = (description: string) => Type.Optional(Type.String({ description }));
const which = Type.Object({ environment: IN_ENVIRONMENT });
type Asked = Checked<{ params: typeof jobParameters; querystring: typeof which }>;
const schemas = {
  list: describedOwn('listOwnJobs', 'List your jobs, newest first', OwnJobs, {
    description:
      'Takes every filter and lookup of `GET /tapi/v2/translation/`: `uid__contains`, `status`, ' +
      '`source_language__in`, `created__gte` and so on.',
    querystring: Type.Object({
      environment: IN_ENVIRONMENT,
      tier: Type.Enum(['human', 'machine'], { default: 'human' }),
      status: text('One of the statuses.'),
      uid__startswith: text('A prefix of the uid.'),
      uid__contains: text('A part of the uid.'),
      source_language: text('Shortname of a language.'),
      target_language: text('Shortname of a language.'),
      created__gte: text('Date and time in ISO 8601.'),
      created__lt: text('Date and time in ISO 8601.'),
      order_by: Type.Optional(Type.Enum(['created', '-created'], { default: '-created' })),
      after: text('`next` of the previous page.'),
      limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000, default: 20 })),
    }),
  }),
  read: describedOwn('readOwnJob', 'Read a job with its history', OwnJobDetail, {
    params: jobParameters,
    querystring: which,
  }),
  cancel: describedOwn('cancelOwnJob', 'Cancel an unfinished job', OwnJobDetail, {
    description:
      'The job’s hold is released. An upgraded job becomes the completed machine job again. `conflict`: the job is finished.',
    params: jobParameters,
    querystring: which,
  }),
};

export interface CustomerJobOptions {
  database: Database;
  hooks: JobHooks;
  live: ProgressSource;
}

export function customerJobRoutes(app: FastifyInstance, { database, hooks, live }: CustomerJobOptions): void {
  resource(app, '/api/account/jobs', {
    GET: {
      schema: schemas.list,
      async handler(request) {
        const { ref } = accountOf(request);
        const { environment, tier } = request.query;
        const query = readListQuery(newestFirst(request), tier);
        return database.read(async (reader) => {
          const found = await findJobPage(reader, { account: ref, environment }, query);
          return {
            objects: await presentAll(reader, ref, found.jobs),
            next: found.more ? found.jobs.at(-1)!.uid : null,
            total: found.total,
          };
        });
      },
    },
  });
  resource(app, '/api/account/jobs/:uid', {
    GET: {
      schema: schemas.read,
      async handler(request) {
        const { ref } = accountOf(request);
        return database.read(async (reader) => detail(reader, live, ref, await requested(reader, request)));
      },
    },
  });
  resource(app, '/api/account/jobs/:uid/cancel', {
    POST: {
      schema: schemas.cancel,
      async handler(request) {
        const { ref } = accountOf(request);
        const { environment, tier, uid, status } = await requested(database, request);
        if (!allowsJobMove('cancel', status)) throw new ApiError('conflict', 'The job is finished.');
        await cancelJob(database, hooks, { account: ref, environment }, tier, uid);
        return detail(database, live, ref, await requested(database, request));
      },
    },
  });
}

/**
 * Returns the query parameters of a job list. Without `order_by`, the list has the newest jobs first and is
 * paged with `after`.
 */
function newestFirst(request: FastifyRequest): URLSearchParams {
  const parameters = parametersOf(request);
  if (!parameters.has('order_by')) parameters.set('order_by', '-created');
  if (!parameters.has('after')) parameters.set('after', '');
  return parameters;
}

async function requested(on: Queryable, request: Asked): Promise<JobRow> {
  const { environment } = request.query;
  const found = await findJob(on, { account: accountOf(request).ref, environment, uid: request.params.uid });
  if (found === undefined) throw notFound();
  return found;
}

/** Returns an account's latest jobs of both tiers in one environment. */
export async function listLatestJobs(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
  limit: number,
): Promise<Static<typeof OwnJob>[]> {
  const pages = await Promise.all(
    (['human', 'machine'] as const).map((tier) => {
      const query = readListQuery(new URLSearchParams({ order_by: '-created', limit: String(limit) }), tier);
      return findJobPage(on, { account, environment }, query);
    }),
  );
  const latest = pages
    .flatMap(({ jobs }) => jobs)
    .sort((one, other) => (one.job_id < other.job_id ? 1 : -1))
    .slice(0, limit);
  return presentAll(on, account, latest);
}

async function presentAll(
  on: Queryable,
  account: AccountRef,
  rows: readonly JobRow[],
): Promise<Static<typeof OwnJob>[]> {
  const ids = rows.map(({ job_id }) => job_id);
  const names = await readNames(on, account, ids);
  return rows.map((row) => presentOwnJob(row, names.get(row.job_id)));
}

/** @param name the name of the document's file, if there is one */
export function presentOwnJob(row: JobRow, name: string | undefined): Static<typeof OwnJob> {
  return { ...row, name: name ?? null, brand: row.brand ?? row.default_brand, price: shownPrice(row) };
}

/** The maximum number of characters of a text that a page shows. The API returns the whole text. */
const MAX_SHOWN = 200_000;

function shown(body: string): Static<typeof Text> {
  return { text: body.slice(0, MAX_SHOWN), cut: body.length > MAX_SHOWN };
}

/** The statuses that have an event when a job enters them, and so a callback or deliveries to webhook endpoints. */
const DELIVERED = new Set<string>([
  'canceled',
  ...Object.values(JOB_MOVES)
    .filter(({ effects }) => (effects as readonly string[]).includes('callback'))
    .map(({ to }) => to),
]);

/** Lists the deliveries of a job, oldest first. @param events the status changes of the job */
export async function readDeliveries(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  events: readonly log.JobEventRow[],
): Promise<Static<typeof Delivery>[]> {
  const moves = events.filter(({ status }) => DELIVERED.has(status)).map(({ event_id: id }) => id);
  const rows = await listDeliveriesOfJob(on, account, jobId, moves);
  return rows as Static<typeof Delivery>[];
}

async function detail(
  on: Queryable,
  live: ProgressSource,
  account: AccountRef,
  row: JobRow,
): Promise<Answer<typeof OwnJobDetail>> {
  const isUpgraded = row.tier === 'human' && row.upgrade_hash !== null;
  const [events, texts, more, progress, editedWords] = await Promise.all([
    log.listJobEvents(on, { account, jobId: row.job_id }),
    readTexts(on, account, row.job_id, [
      ...(['source', 'instructions', 'name'] as const),
      ...(showsResult(row.status) ? (['result'] as const) : isUpgraded ? (['supplied'] as const) : []),
    ]),
    log.findConsoleJob(on, { account, jobId: row.job_id }),
    readProgress(on, live, account, row),
    readEditedWords(on, account, row),
  ]);
  const deliveries = await readDeliveries(on, account, row.job_id, events);
  return {
    ...row,
    ...presentOwnJob(row, texts.name),
    words: more?.words ?? 0,
    untranslated: shownUntranslated(row),
    discounts: shownDiscounts(row),
    finished_at: more?.finished_at ?? null,
    topics: row.topics ?? [],
    failure: row.status === 'failed' ? row.failure : null,
    progress,
    edited_words: editedWords,
    source: shown(texts.source ?? ''),
    result: texts.result === undefined ? null : shown(texts.result),
    machine_result: texts.supplied === undefined ? null : shown(texts.supplied),
    instructions: texts.instructions ?? null,
    timeline: events,
    deliveries,
    may: {
      cancel: allowsJobMove('cancel', row.status),
      accept: row.tier === 'human' && allowsJobMove('accept', row.status),
      reject: row.tier === 'human' && allowsJobMove('reject', row.status),
    },
  };
}
