/** Console routes for the jobs of all accounts: `/api/console/jobs…`. */
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import { accountOfField, requestedAccount } from '../access/accounts.ts';
import { recordAudit } from '../audit/audit.ts';
import type { AccountRef } from '../base/account.ts';
import { fieldError, notFound } from '../base/errors.ts';
import type { Database, Queryable } from '../database/database.ts';
import { Delivery } from '../deliveries/schemas.ts';
import { type Checked, resource } from '../http/http.ts';
import {
  CENTS,
  described,
  EditedWords,
  ENVIRONMENT,
  ID,
  LANGUAGE,
  MOMENT,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  PAGE,
  textOf,
  USERNAME,
} from '../http/schemas.ts';
import { listPublishedPairs } from '../languages/languages.ts';
import { listJobTransfers } from '../ledger/ledger.ts';
import { DiscountBody } from '../ledger/price-list.ts';
import * as store from './console-store.ts';
import { readDeliveries } from './customer.ts';
import { cancelJob, type JobHooks } from './jobs.ts';
import { shownDiscounts, shownPrice } from './present.ts';
import { JobProgress, type ProgressSource, readEditedWords, readProgress } from './progress.ts';
import { redraftJob, refusalOf } from './redraft.ts';
import { allowsJobMove, JOB_STATUSES } from './states.ts';

const job = {
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
const ListedJob = Type.Object(job, { title: 'ConsoleJob' });
const JobList = Type.Object({ jobs: Type.Array(ListedJob), next: OPTIONAL_TEXT }, { title: 'ConsoleJobs' });

const Step = Type.Object(
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
const JobDetail = Type.Object(
  {
    ...job,
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
    timeline: Type.Array(Step),
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

const jobParameters = Type.Object({ username: Type.String(), job: ID });
type Asked = Checked<{ params: typeof jobParameters }>;
const jobQuery = Type.Object({
  q: Type.Optional(textOf(128, 1, 'The beginning of a uid, or an order number.')),
  account: Type.Optional(USERNAME),
  environment: Type.Optional(ENVIRONMENT),
  status: Type.Optional(Type.Enum([...JOB_STATUSES, 'unfinished'])),
  source_language: Type.Optional(LANGUAGE),
  target_language: Type.Optional(LANGUAGE),
  after: Type.Optional(ID),
  limit: PAGE,
});
const schemas = {
  list: described('listConsoleJobs', 'List the jobs of all accounts, newest first', JobList, {
    querystring: jobQuery,
  }),
  read: described('readConsoleJob', 'Read a job with its history', JobDetail, { params: jobParameters }),
  cancel: described('cancelConsoleJob', 'Cancel an unfinished job for its customer', JobDetail, {
    description: 'The job’s hold is released. No callback is sent.',
    params: jobParameters,
    body: Type.Object({
      note: Type.Optional(textOf(1000, 1, 'A message that the customer sees in the job’s history.')),
    }),
  }),
  redraft: described(
    'redraftConsoleJob',
    'Redraft the segments that no editor has claimed or touched',
    JobDetail,
    {
      description:
        'The job keeps its tasks, and nothing is charged. `invalid_request`: no segment is untouched, the job does not wait for editors, or a redraft is in progress.',
      params: jobParameters,
      body: Type.Object({
        engine: Type.Optional(textOf(40, 1, 'Only this engine; without it, the engine route decides.')),
      }),
    },
  ),
  retry: described('retryConsoleJob', 'Retry a job now that waits for its next try', JobDetail, {
    params: jobParameters,
  }),
};

const UNFINISHED = JOB_STATUSES.filter((status) => allowsJobMove('cancel', status));

export function consoleJobRoutes(
  app: FastifyInstance,
  { database, hooks, live }: { database: Database; hooks: JobHooks; live: ProgressSource },
): void {
  resource(app, '/api/console/jobs', {
    GET: {
      schema: schemas.list,
      handler: (request) => database.read((reader) => list(reader, request.query)),
    },
  });

  async function requested(
    request: Asked,
    on: Queryable = database,
  ): Promise<{ ref: AccountRef; row: store.ConsoleJobRow }> {
    const { ref } = await requestedAccount(on, request);
    const row = await store.findConsoleJob(on, ref, request.params.job);
    if (row === undefined) throw notFound();
    return { ref, row };
  }

  const detailOf = (ref: AccountRef, row: store.ConsoleJobRow) => detail(database, live, hooks, ref, row);

  resource(app, '/api/console/accounts/:username/jobs/:job', {
    GET: {
      schema: schemas.read,
      async handler(request) {
        return database.read(async (reader) => {
          const { ref, row } = await requested(request, reader);
          return detail(reader, live, hooks, ref, row);
        });
      },
    },
  });
  resource(app, '/api/console/accounts/:username/jobs/:job/cancel', {
    POST: {
      schema: schemas.cancel,
      async handler(request) {
        const { ref, row } = await requested(request);
        const where = { account: ref, environment: row.environment };
        await cancelJob(database, hooks, where, row.tier, row.uid, request.person, request.body.note);
        return detailOf(ref, (await requested(request)).row);
      },
    },
  });
  resource(app, '/api/console/accounts/:username/jobs/:job/redraft', {
    POST: {
      schema: schemas.redraft,
      async handler(request) {
        const { ref, row } = await requested(request);
        const { engine } = request.body;
        const able = await enginesOf(database, row);
        if (engine !== undefined && !able.includes(engine)) {
          throw fieldError(
            'engine',
            `must be one that serves the pair: ${able.join(', ') || 'there is none'}.`,
          );
        }
        await redraftJob(database, hooks, request.person, ref, row.job_id, engine);
        await database.notify(JOBS_CHANNEL);
        return detailOf(ref, (await requested(request)).row);
      },
    },
  });
  resource(app, '/api/console/accounts/:username/jobs/:job/retry', {
    POST: {
      schema: schemas.retry,
      async handler(request) {
        const { ref, row } = await requested(request);
        await database.transaction(async (transaction) => {
          if (!(await store.makeJobDueNow(transaction, ref, row.job_id))) {
            throw fieldError('status', 'The job does not wait for another try.');
          }
          await recordAudit(transaction, request.person, {
            action: 'job.retried',
            account: ref,
            subject: row.uid,
            detail: { order_number: row.order_number },
          });
        });
        await database.notify(JOBS_CHANNEL);
        return detailOf(ref, (await requested(request)).row);
      },
    },
  });
}

/** The NOTIFY channel on which workers are notified of due jobs. */
export const JOBS_CHANNEL = 'dragoman_jobs';

async function list(on: Queryable, query: Static<typeof jobQuery>): Promise<Static<typeof JobList>> {
  const { q, status, limit } = query;
  const account = await accountOfField(on, query.account);
  const filter = {
    username: account?.username,
    environment: query.environment,
    statuses: status === undefined ? undefined : status === 'unfinished' ? UNFINISHED : [status],
    source: query.source_language,
    target: query.target_language,
    uid: q,
    after: query.after,
  };
  const rows = await store.listConsoleJobs(on, filter, limit + 1);
  const numbered =
    q !== undefined && /^\d{1,15}$/.test(q) && filter.after === undefined
      ? await store.findConsoleJobsByNumber(on, Number(q), filter, limit)
      : [];
  const page = rows.slice(0, limit);
  const once = new Map([...numbered, ...page].map((row) => [row.job_id, row]));
  return {
    jobs: [...once.values()].map(present),
    next: rows.length > limit ? page.at(-1)!.job_id : null,
  };
}

function present(row: store.ConsoleJobRow): Static<typeof ListedJob> {
  return {
    account: row.username,
    job: row.job_id,
    order_number: row.order_number,
    environment: row.environment,
    tier: row.tier,
    uid: row.uid,
    status: row.status,
    source_language: row.source_language,
    target_language: row.target_language,
    text_format: row.text_format,
    words: row.words,
    price: shownPrice(row),
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    failure: row.failure,
  };
}

/** Returns the engines that passed the self-test of the job's language pair on some worker. */
async function enginesOf(on: Queryable, row: store.ConsoleJobRow): Promise<string[]> {
  const pairs = await listPublishedPairs(on);
  const pair = pairs.find(
    (one) => one.source_language === row.source_language && one.target_language === row.target_language,
  );
  return [...new Set(pair?.engines.map(({ engine }) => engine) ?? [])];
}

async function detail(
  on: Queryable,
  live: ProgressSource,
  hooks: JobHooks,
  account: AccountRef,
  row: store.ConsoleJobRow,
): Promise<Static<typeof JobDetail>> {
  const [events, transfers, routes, texts, progress, editedWords, engines, untouched] = await Promise.all([
    store.listJobEvents(on, account, row.job_id),
    listJobTransfers(on, account, row.job_id),
    store.countSegmentsByRoute(on, account, row.job_id),
    store.readTextBeginnings(on, account, row.job_id),
    readProgress(on, live, account, row),
    readEditedWords(on, account, row),
    enginesOf(on, row),
    hooks.countUntouched(on, account, row.job_id),
  ]);
  const deliveries = await readDeliveries(on, account, row.job_id, events);
  const steps: Static<typeof Step>[] = [
    { at: row.created_at.toISOString(), kind: 'created' },
    ...events.map((event) => ({
      at: event.created_at.toISOString(),
      kind: 'moved' as const,
      status: event.to_status,
      actor: event.actor,
      ...(event.detail === null ? {} : { detail: event.detail }),
    })),
    ...transfers.map(({ at, kind, cents, memo }) => ({
      at: at.toISOString(),
      kind: 'money' as const,
      money: kind,
      cents,
      ...(memo === null ? {} : { detail: memo }),
    })),
  ];
  const captured = transfers.some(({ kind }) => kind === 'capture');
  const waits = row.due_at !== null && !row.leased;
  return {
    ...present(row),
    discounts: shownDiscounts(row),
    brand: row.brand,
    tone: row.tone,
    callback_url: row.callback_url,
    due_at: row.due_at?.toISOString() ?? null,
    attempts: row.attempts,
    leased: row.leased,
    progress,
    edited_words: editedWords,
    may: {
      cancel: allowsJobMove('cancel', row.status),
      retry: waits && (row.status === 'new' || row.status === 'machine_translate_in_progress'),
      refund: captured && transfers.every(({ kind }) => kind !== 'refund'),
      redraft: untouched > 0 && refusalOf(row) === undefined,
    },
    untouched,
    redraft: row.redraft,
    engines,
    timeline: steps.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
    deliveries,
    routes,
    untranslated: Object.entries(row.untranslated?.reasons ?? {}).map(([failure, segments]) => ({
      failure,
      segments,
    })),
    texts,
  };
}
