/** The operator's console for the jobs of all accounts: `/api/console/jobs…`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { AccountRef } from '../account.ts';
import { accountOfField, requestedAccount } from '../accounts/console.ts';
import {
  CENTS,
  described,
  ENVIRONMENT,
  environment,
  id as idCheck,
  integer,
  isId,
  MOMENT,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  oneOf,
  open,
  parameter,
  readForm,
  shortname,
  text,
} from '../console.ts';
import type { Database } from '../database/database.ts';
import { fieldError, notFound } from '../errors.ts';
import { resource } from '../http.ts';
import { listKeptPairs } from '../languages/languages.ts';
import { listJobTransfers } from '../ledger/ledger.ts';
import { recordAudit } from '../operations/audit.ts';
import * as store from './console-store.ts';
import { cancelJob, type JobFollower } from './jobs.ts';
import { shownPrice } from './present.ts';
import { type Live, Progress, readProgress } from './progress.ts';
import { redraftJob, refusalOf } from './redraft.ts';
import { allows, STATUSES } from './states.ts';

const job = {
  account: Type.String(),
  job: Type.String({ format: 'uuid' }),
  order_number: Type.Integer(),
  environment: ENVIRONMENT,
  tier: Type.Enum(['human', 'machine']),
  uid: Type.String(),
  status: Type.Enum([...STATUSES]),
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
    status: Type.Optional(Type.String({ description: 'What it became.' })),
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
    brand: OPTIONAL_TEXT,
    tone: OPTIONAL_TEXT,
    callback_url: OPTIONAL_TEXT,
    due_at: Type.Union([MOMENT, Type.Null()], {
      description: 'When a machine looks at it next; null: never.',
    }),
    attempts: Type.Integer(),
    leased: Type.Boolean({ description: 'A worker has it now.' }),
    progress: Progress,
    may: Type.Object({
      cancel: Type.Boolean(),
      retry: Type.Boolean(),
      refund: Type.Boolean(),
      redraft: Type.Boolean(),
    }),
    untouched: Type.Integer({
      description: 'Segments that no editor has or has touched: what would be drafted anew.',
    }),
    redraft: Type.Union([Type.String(), Type.Null()], {
      description: 'It is being drafted anew: by which engine, or empty by the route. Null: it is not.',
    }),
    engines: Type.Array(Type.String(), { description: 'Those that have shown that they can do its pair.' }),
    timeline: Type.Array(Step),
    routes: Type.Array(
      Type.Object({ route: OPTIONAL_TEXT, failure: OPTIONAL_TEXT, segments: Type.Integer() }),
      { description: 'How many segments were drafted by which route, or not and why.' },
    ),
    texts: Type.Array(Type.Object({ kind: Type.String(), body: Type.String(), characters: Type.Integer() }), {
      description: 'Of each, the first 20,000 characters.',
    }),
  },
  { title: 'ConsoleJobDetail' },
);

const jobParameters = Type.Object({ username: Type.String(), job: Type.String() });
const schemas = {
  list: described('listConsoleJobs', 'Jobs of all accounts, newest first', JobList, {
    querystring: Type.Object({
      q: Type.Optional(Type.String({ description: 'The beginning of a uid, or an order number.' })),
      account: Type.Optional(Type.String()),
      environment: Type.Optional(ENVIRONMENT),
      status: Type.Optional(Type.String({ description: 'A status, or `unfinished`.' })),
      source_language: Type.Optional(Type.String()),
      target_language: Type.Optional(Type.String()),
      after: Type.Optional(Type.String()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    }),
  }),
  read: described('readConsoleJob', 'One job with what happened to it', JobDetail, { params: jobParameters }),
  cancel: described('cancelConsoleJob', 'Take an unfinished job back for its customer', JobDetail, {
    description: 'What was held for it is given back. No callback is sent.',
    params: jobParameters,
  }),
  redraft: described(
    'redraftConsoleJob',
    'Have the machine draft anew what no editor has or has touched',
    JobDetail,
    {
      description:
        'The job stays with its tasks; nobody pays for it. `invalid_request` where nothing is left untouched, the job does not wait for editors, or it is being drafted anew already.',
      params: jobParameters,
      body: Type.Object(
        {
          engine: Type.Optional(
            Type.String({ description: 'By this engine alone; by the route otherwise.' }),
          ),
        },
        open,
      ),
    },
  ),
  retry: described('retryConsoleJob', 'Have a job drafted at once that waits for its next try', JobDetail, {
    params: jobParameters,
  }),
};

const UNFINISHED = STATUSES.filter((status) => allows('cancel', status));

export function jobConsole(
  app: FastifyInstance,
  { database, follower, live }: { database: Database; follower: JobFollower; live: Live },
): void {
  resource(app, '/api/console/jobs', {
    GET: { schema: schemas.list, handler: (request) => list(database, request) },
  });

  async function requested(request: FastifyRequest): Promise<{ ref: AccountRef; row: store.ConsoleJobRow }> {
    const { ref } = await requestedAccount(database, request);
    const jobId = parameter(request, 'job');
    const row = isId(jobId) ? await store.findJob(database, ref, jobId) : undefined;
    if (row === undefined) throw notFound();
    return { ref, row };
  }

  const detailOf = (ref: AccountRef, row: store.ConsoleJobRow) => detail(database, live, follower, ref, row);

  resource(app, '/api/console/accounts/:username/jobs/:job', {
    GET: {
      schema: schemas.read,
      async handler(request) {
        const { ref, row } = await requested(request);
        return detailOf(ref, row);
      },
    },
  });
  resource(app, '/api/console/accounts/:username/jobs/:job/cancel', {
    POST: {
      schema: schemas.cancel,
      async handler(request) {
        const { ref, row } = await requested(request);
        const where = { account: ref, environment: row.environment };
        await cancelJob(database, follower, where, row.tier, row.uid, 'operator');
        await recordAudit(database, request.person, {
          ...{
            action: 'job.canceled',
            account: ref,
            subject: row.uid,
            detail: { order_number: row.order_number },
          },
        });
        return detailOf(ref, (await requested(request)).row);
      },
    },
  });
  resource(app, '/api/console/accounts/:username/jobs/:job/redraft', {
    POST: {
      schema: schemas.redraft,
      async handler(request) {
        const { ref, row } = await requested(request);
        const form = readForm(request.body);
        const engine = form.optional('engine', text(40));
        const able = await enginesOf(database, row);
        if (engine !== undefined && !able.includes(engine)) {
          form.complain('engine', `must be one that can do the pair: ${able.join(', ') || 'there is none'}.`);
        }
        form.done();
        await redraftJob(database, follower, request.person, ref, row.job_id, engine);
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
        if (!(await store.hasten(database, ref, row.job_id))) {
          throw fieldError('status', 'The job does not wait for another try.');
        }
        await database.notify(JOBS_CHANNEL);
        await recordAudit(database, request.person, {
          ...{
            action: 'job.retried',
            account: ref,
            subject: row.uid,
            detail: { order_number: row.order_number },
          },
        });
        return detailOf(ref, (await requested(request)).row);
      },
    },
  });
}

/** Said when a job is due; workers listen. */
export const JOBS_CHANNEL = 'dragoman_jobs';

async function list(database: Database, request: FastifyRequest): Promise<Static<typeof JobList>> {
  const form = readForm(request.query);
  const q = form.optional('q', text(128));
  const account = await accountOfField(database, form, 'account');
  const status = form.optional('status', oneOf(...STATUSES, 'unfinished'));
  const filter = {
    username: account?.username,
    environment: form.optional('environment', environment),
    statuses: status === undefined ? undefined : status === 'unfinished' ? UNFINISHED : [status],
    source: form.optional('source_language', shortname),
    target: form.optional('target_language', shortname),
    uid: q,
    after: form.optional('after', idCheck),
  };
  const limit = form.optional('limit', integer(1, 200)) ?? 50;
  form.done();
  const rows = await store.listJobs(database, filter, limit + 1);
  const numbered =
    q !== undefined && /^\d{1,15}$/.test(q) && filter.after === undefined
      ? await store.findByNumber(database, Number(q), filter, limit)
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

/** Those that a worker has and that have shown that they can do a job's pair. */
async function enginesOf(database: Database, row: store.ConsoleJobRow): Promise<string[]> {
  const pairs = await listKeptPairs(database);
  const pair = pairs.find(
    (one) => one.source_language === row.source_language && one.target_language === row.target_language,
  );
  return [...new Set(pair?.engines.map(({ engine }) => engine) ?? [])];
}

async function detail(
  database: Database,
  live: Live,
  follower: JobFollower,
  account: AccountRef,
  row: store.ConsoleJobRow,
): Promise<Static<typeof JobDetail>> {
  const [events, transfers, routes, texts, progress, engines, untouched] = await Promise.all([
    store.listEvents(database, account, row.job_id),
    listJobTransfers(database, account, row.job_id),
    store.countRoutes(database, account, row.job_id),
    store.readBeginnings(database, account, row.job_id),
    readProgress(database, live, account, row),
    enginesOf(database, row),
    follower.untouched(database, account, row.job_id),
  ]);
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
    brand: row.brand,
    tone: row.tone,
    callback_url: row.callback_url,
    due_at: row.due_at?.toISOString() ?? null,
    attempts: row.attempts,
    leased: row.leased,
    progress,
    may: {
      cancel: allows('cancel', row.status),
      retry: waits && (row.status === 'new' || row.status === 'machine_translate_in_progress'),
      refund: captured && transfers.every(({ kind }) => kind !== 'refund'),
      redraft: untouched > 0 && refusalOf(row) === undefined,
    },
    untouched,
    redraft: row.redraft,
    engines,
    timeline: steps.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
    routes,
    texts,
  };
}
