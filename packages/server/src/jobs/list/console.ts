/** Console routes for the jobs of all accounts: `/api/console/jobs…`. */
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import { accountOfField, requestedAccount } from '../../access/accounts.ts';
import { recordAudit } from '../../audit/audit.ts';
import type { AccountRef } from '../../base/account.ts';
import { fieldError, notFound } from '../../base/errors.ts';
import type { Database, Queryable } from '../../database/database.ts';
import type { Answer } from '../../http/answers.ts';
import { type Checked, resource } from '../../http/http.ts';
import { described, ENVIRONMENT, ID, LANGUAGE, PAGE, textOf, USERNAME } from '../../http/schemas.ts';
import { listPublishedPairs } from '../../languages/languages.ts';
import { listJobTransfers } from '../../ledger/ledger.ts';
import { cancelJob, type JobHooks } from '../jobs.ts';
import { shownDiscounts, shownPrice } from '../present.ts';
import { type ProgressSource, readEditedWords, readProgress } from '../progress.ts';
import { redraftJob, refusalOf } from '../redraft.ts';
import { ConsoleJobDetail, ConsoleJobs } from '../schemas.ts';
import { allowsJobMove, JOB_STATUSES } from '../states.ts';
import * as store from './console-store.ts';
import { readDeliveries } from './customer.ts';

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
  list: described('listConsoleJobs', 'List the jobs of all accounts, newest first', ConsoleJobs, {
    querystring: jobQuery,
  }),
  read: described('readConsoleJob', 'Read a job with its history', ConsoleJobDetail, {
    params: jobParameters,
  }),
  cancel: described('cancelConsoleJob', 'Cancel an unfinished job for its customer', ConsoleJobDetail, {
    description: 'The job’s hold is released. No callback is sent.',
    params: jobParameters,
    body: Type.Object({
      note: Type.Optional(textOf(1000, 1, 'A message that the customer sees in the job’s history.')),
    }),
  }),
  redraft: described(
    'redraftConsoleJob',
    'Redraft the segments that no editor has claimed or touched',
    ConsoleJobDetail,
    {
      description:
        'The job keeps its tasks, and nothing is charged. `invalid_request`: no segment is untouched, the job does not wait for editors, or a redraft is in progress.',
      params: jobParameters,
      body: Type.Object({
        engine: Type.Optional(textOf(40, 1, 'Only this engine; without it, the engine route decides.')),
      }),
    },
  ),
  retry: described('retryConsoleJob', 'Retry a job now that waits for its next try', ConsoleJobDetail, {
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
    const row = await store.findConsoleJob(on, { account: ref, jobId: request.params.job });
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
        await redraftJob(database, hooks, request.person, ref, row.job, engine);
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
          if (!(await store.makeJobDueNow(transaction, { account: ref, jobId: row.job }))) {
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

async function list(on: Queryable, query: Static<typeof jobQuery>): Promise<Static<typeof ConsoleJobs>> {
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
  const once = new Map([...numbered, ...page].map((row) => [row.job, row]));
  return {
    jobs: [...once.values()].map((row) => ({ ...row, price: shownPrice(row) })),
    next: rows.length > limit ? page.at(-1)!.job : null,
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
): Promise<Answer<typeof ConsoleJobDetail>> {
  const [events, transfers, routes, texts, progress, editedWords, engines, untouched] = await Promise.all([
    store.listJobEvents(on, { account, jobId: row.job }),
    listJobTransfers(on, account, row.job),
    store.countSegmentsByRoute(on, { account, jobId: row.job }),
    store.readTextBeginnings(on, { account, jobId: row.job }),
    readProgress(on, live, account, { ...row, job_id: row.job }),
    readEditedWords(on, account, { ...row, job_id: row.job }),
    enginesOf(on, row),
    hooks.countUntouched(on, account, row.job),
  ]);
  const deliveries = await readDeliveries(on, account, row.job, events);
  const timeline: Answer<typeof ConsoleJobDetail>['timeline'] = [
    { at: row.created_at, kind: 'created' },
    ...events.map((event) => ({ ...event, kind: 'moved' as const })),
    ...transfers.map(({ at, kind, cents, memo }) => ({
      at,
      kind: 'money' as const,
      money: kind,
      cents,
      detail: memo,
    })),
  ];
  const captured = transfers.some(({ kind }) => kind === 'capture');
  const waits = row.due_at !== null && !row.leased;
  return {
    ...row,
    price: shownPrice(row),
    discounts: shownDiscounts(row),
    progress,
    edited_words: editedWords,
    may: {
      cancel: allowsJobMove('cancel', row.status),
      retry: waits && (row.status === 'new' || row.status === 'machine_translate_in_progress'),
      refund: captured && transfers.every(({ kind }) => kind !== 'refund'),
      redraft: untouched > 0 && refusalOf(row) === undefined,
    },
    untouched,
    engines,
    timeline: timeline.sort((one, other) => one.at.getTime() - other.at.getTime()),
    deliveries,
    routes,
    untranslated: Object.entries(row.untranslated?.reasons ?? {}).map(([failure, segments]) => ({
      failure,
      segments,
    })),
    texts,
  };
}
