/** A customer's own jobs: `/api/account/jobs…`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { AccountRef, Environment } from '../account.ts';
import { accountOf } from '../accounts/door.ts';
import {
  CENTS,
  describedOwn,
  ENVIRONMENT,
  environment,
  MOMENT,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  oneOf,
  parameter,
  readForm,
} from '../console.ts';
import type { Database } from '../database/database.ts';
import { listDeliveriesOfJob } from '../deliveries/log.ts';
import { Delivery } from '../deliveries/schemas.ts';
import { ApiError, notFound } from '../errors.ts';
import { parametersOf, resource } from '../http.ts';
import * as log from './console-store.ts';
import { cancelJob, type JobFollower } from './jobs.ts';
import { findJobs } from './lists.ts';
import { shownPrice, showsResult } from './present.ts';
import { type Live, Progress, readProgress } from './progress.ts';
import { readListQuery } from './query.ts';
import { isUid } from './request.ts';
import { allows, MOVES, STATUSES } from './states.ts';
import { findJob, type JobRow, readTexts, type Tier } from './store.ts';

const job = {
  uid: Type.String(),
  order_number: Type.Integer(),
  environment: ENVIRONMENT,
  tier: Type.Enum(['human', 'machine']),
  status: Type.Enum([...STATUSES]),
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
    next: Type.Union([Type.String(), Type.Null()], { description: '`after` of the next page.' }),
    total: Type.Integer({
      description: 'All that match; where each has to be looked at, up to ten thousand.',
    }),
  },
  { title: 'OwnJobs' },
);
const Step = Type.Object(
  {
    at: MOMENT,
    status: Type.String({ description: 'What it became.' }),
    actor: Type.Enum(['machine', 'editor', 'customer', 'operator']),
    detail: Type.Optional(Type.String({ description: 'Why.' })),
  },
  { title: 'OwnJobStep' },
);
const Text = Type.Object(
  { text: Type.String(), cut: Type.Boolean({ description: 'There is more than is shown.' }) },
  { title: 'OwnJobText' },
);
const OwnJobDetail = Type.Object(
  {
    ...job,
    words: Type.Integer(),
    finished_at: OPTIONAL_MOMENT,
    tone: OPTIONAL_TEXT,
    topics: Type.Array(Type.String()),
    callback_url: OPTIONAL_TEXT,
    failure: OPTIONAL_TEXT,
    progress: Progress,
    source: Text,
    result: Type.Union([Text, Type.Null()]),
    machine_result: Type.Union([Text, Type.Null()], {
      description: 'Of an upgraded job without a result: what the machine delivered before. It is the draft.',
    }),
    instructions: OPTIONAL_TEXT,
    timeline: Type.Array(Step, { description: 'What it became, and by whom; oldest first.' }),
    deliveries: Type.Array(Delivery),
    may: Type.Object(
      { cancel: Type.Boolean(), accept: Type.Boolean(), reject: Type.Boolean() },
      { description: 'What its state allows now.' },
    ),
  },
  { title: 'OwnJobDetail' },
);

const text = (description: string) => Type.Optional(Type.String({ description }));
const parameters = Type.Object({ uid: Type.String() });
const which = Type.Object({ environment: Type.Optional(ENVIRONMENT) });
const schemas = {
  list: describedOwn('listOwnJobs', 'One’s jobs, newest first', OwnJobs, {
    description:
      'Takes every filter and lookup of `GET /tapi/v2/translation/`: `uid__contains`, `status`, ' +
      '`source_language__in`, `created__gte` and so on.',
    querystring: Type.Object({
      environment: Type.Optional(ENVIRONMENT),
      tier: Type.Optional(Type.Enum(['human', 'machine'], { default: 'human' })),
      status: text('One of the statuses.'),
      uid__startswith: text('What the uid begins with.'),
      uid__contains: text('What is in the uid.'),
      source_language: text('A shortname.'),
      target_language: text('A shortname.'),
      created__gte: text('A moment.'),
      created__lt: text('A moment.'),
      order_by: Type.Optional(Type.Enum(['created', '-created'], { default: '-created' })),
      after: text('`next` of the page before.'),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 20 })),
    }),
  }),
  read: describedOwn('readOwnJob', 'One job with what happened to it', OwnJobDetail, {
    params: parameters,
    querystring: which,
  }),
  cancel: describedOwn('cancelOwnJob', 'Take an unfinished job back', OwnJobDetail, {
    description:
      'What was held for it is given back. An upgraded job is the machine’s completed job again. `conflict`: it is finished.',
    params: parameters,
    querystring: which,
  }),
};

export interface CustomerJobOptions {
  database: Database;
  follower: JobFollower;
  live: Live;
}

export function jobsOfCustomer(app: FastifyInstance, { database, follower, live }: CustomerJobOptions): void {
  resource(app, '/api/account/jobs', {
    GET: {
      schema: schemas.list,
      async handler(request) {
        const { ref } = accountOf(request);
        const form = readForm(request.query);
        const wanted = form.optional('environment', environment) ?? 'production';
        const tier: Tier = form.optional('tier', oneOf('human', 'machine')) ?? 'human';
        form.done();
        const query = readListQuery(newestFirst(request), tier);
        const found = await findJobs(database, { account: ref, environment: wanted }, query);
        return {
          objects: found.jobs.map(present),
          next: found.more ? found.jobs.at(-1)!.uid : null,
          total: found.total,
        };
      },
    },
  });
  resource(app, '/api/account/jobs/:uid', {
    GET: {
      schema: schemas.read,
      async handler(request) {
        const { ref } = accountOf(request);
        return detail(database, live, ref, await requested(database, request));
      },
    },
  });
  resource(app, '/api/account/jobs/:uid/cancel', {
    POST: {
      schema: schemas.cancel,
      async handler(request) {
        const { ref } = accountOf(request);
        const { environment, tier, uid, status } = await requested(database, request);
        if (!allows('cancel', status)) throw new ApiError('conflict', 'The job is finished.');
        await cancelJob(database, follower, { account: ref, environment }, tier, uid);
        return detail(database, live, ref, await requested(database, request));
      },
    },
  });
}

/** The parameters of the list, newest first and page by page where they do not say otherwise. */
function newestFirst(request: FastifyRequest): URLSearchParams {
  const parameters = parametersOf(request);
  if (!parameters.has('order_by')) parameters.set('order_by', '-created');
  if (!parameters.has('after')) parameters.set('after', '');
  return parameters;
}

async function requested(database: Database, request: FastifyRequest): Promise<JobRow> {
  const form = readForm(request.query);
  const wanted: Environment = form.optional('environment', environment) ?? 'production';
  form.done();
  const uid = parameter(request, 'uid');
  const found = isUid(uid) ? await findJob(database, accountOf(request).ref, wanted, uid) : undefined;
  if (found === undefined) throw notFound();
  return found;
}

/** An account's latest jobs in an environment, of both tiers. */
export async function latestJobs(
  database: Database,
  account: AccountRef,
  environment: Environment,
  limit: number,
): Promise<Static<typeof OwnJob>[]> {
  const pages = await Promise.all(
    (['human', 'machine'] as const).map((tier) => {
      const query = readListQuery(new URLSearchParams({ order_by: '-created', limit: String(limit) }), tier);
      return findJobs(database, { account, environment }, query);
    }),
  );
  return pages
    .flatMap(({ jobs }) => jobs)
    .sort((one, other) => (one.job_id < other.job_id ? 1 : -1))
    .slice(0, limit)
    .map(present);
}

function present(row: JobRow): Static<typeof OwnJob> {
  return {
    uid: row.uid,
    order_number: row.order_number,
    environment: row.environment,
    tier: row.tier,
    status: row.status,
    source_language: row.source_language,
    target_language: row.target_language,
    text_format: row.text_format,
    brand: row.brand ?? row.default_brand,
    price: shownPrice(row),
    created_at: row.created_at.toISOString(),
  };
}

/** A page shows no more of a text; the interface for programs gives all of it. */
const MAX_SHOWN = 200_000;

function shown(body: string): Static<typeof Text> {
  return { text: body.slice(0, MAX_SHOWN), cut: body.length > MAX_SHOWN };
}

/** The moves that are delivered. */
const DELIVERED = new Set<string>(
  Object.values(MOVES)
    .filter(({ effects }) => (effects as readonly string[]).includes('callback'))
    .map(({ to }) => to),
);

async function detail(
  database: Database,
  live: Live,
  account: AccountRef,
  row: JobRow,
): Promise<Static<typeof OwnJobDetail>> {
  const isUpgraded = row.tier === 'human' && row.upgrade_hash !== null;
  const [events, texts, more, progress] = await Promise.all([
    log.listEvents(database, account, row.job_id),
    readTexts(database, account, row.job_id, [
      ...(['source', 'instructions'] as const),
      ...(showsResult(row.status) ? (['result'] as const) : isUpgraded ? (['supplied'] as const) : []),
    ]),
    log.findJob(database, account, row.job_id),
    readProgress(database, live, account, row),
  ]);
  const moves = events.filter(({ to_status: to }) => DELIVERED.has(to)).map(({ event_id: id }) => id);
  const deliveries = await listDeliveriesOfJob(database, account, row.job_id, moves);
  return {
    ...present(row),
    words: more?.words ?? 0,
    finished_at: more?.finished_at?.toISOString() ?? null,
    tone: row.tone,
    topics: row.topics ?? [],
    callback_url: row.callback_url,
    failure: row.status === 'failed' ? row.failure : null,
    progress,
    source: shown(texts.source ?? ''),
    result: texts.result === undefined ? null : shown(texts.result),
    machine_result: texts.supplied === undefined ? null : shown(texts.supplied),
    instructions: texts.instructions ?? null,
    timeline: events.map(({ to_status, actor, detail: why, created_at }) => ({
      at: created_at.toISOString(),
      status: to_status,
      actor: actor as Static<typeof Step>['actor'],
      ...(why === null ? {} : { detail: why }),
    })),
    deliveries: deliveries as Static<typeof Delivery>[],
    may: {
      cancel: allows('cancel', row.status),
      accept: row.tier === 'human' && allows('accept', row.status),
      reject: row.tier === 'human' && allows('reject', row.status),
    },
  };
}
