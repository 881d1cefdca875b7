/** Routes of the job API: `/tapi/v2/translation/` and `/tapi/v2/mt_translation/`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Database } from '../../database/database.ts';
import { type Operation, parametersOf, resource } from '../../http/http.ts';
import { acceptJob, type Reopen, rejectJob } from '../acceptance.ts';
import type { JobCreator } from '../create/create.ts';
import { readQuotedPrice } from '../create/request.ts';
import { cancelJob, type JobHooks, readJob } from '../jobs.ts';
import { type JobPage, listJobs } from '../list/lists.ts';
import { type Page, readListQuery } from '../query.ts';
import {
  acceptJobSchema,
  cancelJobSchema,
  createJobSchema,
  createJobsSchema,
  listJobsSchema,
  readJobSchema,
  rejectJobSchema,
  upgradeJobSchema,
} from '../schemas.ts';

const PATHS = [
  { path: '/tapi/v2/translation/', tier: 'human', scope: 'jobs' },
  { path: '/tapi/v2/mt_translation/', tier: 'machine', scope: 'machine' },
] as const;

/**
 * The body limit of an upgrade in bytes. Instructions of 10,000 characters fit: they take up to 120,000 bytes
 * when each character is escaped as `\ud83d\ude00`.
 */
const UPGRADE_BODY_LIMIT = 256 * 1024;

export function jobRoutes(
  app: FastifyInstance,
  options: { database: Database; creator: JobCreator; hooks: JobHooks; reopen: Reopen },
): void {
  const { database, creator, hooks } = options;
  const bulk: Operation = {
    schema: createJobsSchema,
    scope: 'jobs',
    bodyLimit: 'texts',
    unchecked: true,
    async handler(request, reply) {
      const key = request.headers['idempotency-key'];
      const objects = await creator.createBulk(request.caller, request.body, key);
      return reply.code(202).send({ objects });
    },
  };
  const upgrade: Operation<typeof upgradeJobSchema> = {
    schema: upgradeJobSchema,
    scope: 'jobs',
    bodyLimit: UPGRADE_BODY_LIMIT,
    unchecked: true,
    async handler(request, reply) {
      const { uid } = request.params;
      return reply.code(202).send(await creator.upgrade(request.caller, uid, request.body));
    },
  };
  for (const { path, tier, scope } of PATHS) {
    resource(app, path, {
      POST: {
        schema: createJobSchema(tier),
        scope,
        bodyLimit: 'texts',
        unchecked: true,
        async handler(request, reply) {
          const key = request.headers['idempotency-key'];
          const price = readQuotedPrice(request.headers['quoted-price']);
          const { caller } = request;
          const { status, body } = await creator.create(caller, tier, request.body, key, undefined, price);
          return reply.code(status).send(body);
        },
      },
      GET: {
        schema: listJobsSchema(tier),
        scope,
        unchecked: true,
        async handler(request) {
          const parameters = parametersOf(request);
          const query = readListQuery(parameters, tier, request.caller.dialect);
          const found = await database.read((reader) => listJobs(reader, request.caller, query));
          return { meta: pageMeta(request, parameters, query.page, found), objects: found.objects };
        },
      },
      ...(tier === 'human' ? { PATCH: bulk } : {}),
    });
    resource(app, `${path}:uid/`, {
      GET: {
        schema: readJobSchema(tier),
        scope,
        async handler(request) {
          const { uid } = request.params;
          return database.read((reader) => readJob(reader, request.caller, tier, uid));
        },
      },
      DELETE: {
        schema: cancelJobSchema(tier),
        scope,
        async handler(request, reply) {
          const { uid } = request.params;
          await cancelJob(database, hooks, request.caller, tier, uid);
          return reply.code(200).send();
        },
      },
      ...(tier === 'machine' ? { PATCH: upgrade } : {}),
    });
    if (tier === 'machine') continue;
    resource(app, `${path}:uid/accept/`, {
      POST: {
        schema: acceptJobSchema,
        scope: 'jobs',
        async handler(request) {
          const { uid } = request.params;
          await acceptJob(database, request.caller, uid, tier);
          return readJob(database, request.caller, tier, uid);
        },
      },
    });
    resource(app, `${path}:uid/reject/`, {
      POST: {
        schema: rejectJobSchema,
        scope: 'jobs',
        async handler(request) {
          const { uid } = request.params;
          const { reason } = request.body;
          await rejectJob(database, options.reopen, request.caller, uid, { reason, userId: undefined }, tier);
          return readJob(database, request.caller, tier, uid);
        },
      },
    });
  }
}

/**
 * Returns the `meta` object of a page. Its links are relative to the server and keep the other parameters;
 * they are null at the ends of the list.
 */
function pageMeta(
  request: FastifyRequest,
  parameters: URLSearchParams,
  { limit, offset, after }: Page,
  { objects, total, more }: JobPage,
) {
  const path = request.originalUrl.split('?')[0];
  const link = (name: string, value: string | number) => {
    const changed = new URLSearchParams(parameters);
    changed.set('limit', String(limit));
    changed.set(name, String(value));
    return `${path}?${changed}`;
  };
  const next =
    after === undefined ? link('offset', offset + limit) : link('after', objects.at(-1)?.uid ?? '');
  return {
    limit,
    offset,
    next: more ? next : null,
    previous: offset > 0 ? link('offset', Math.max(0, offset - limit)) : null,
    total_count: total,
  };
}
