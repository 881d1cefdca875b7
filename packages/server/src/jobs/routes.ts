/** The job interface: `/tapi/v2/translation/` and `/tapi/v2/mt_translation/`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Database } from '../database/database.ts';
import { fieldError, notFound } from '../errors.ts';
import { type Operation, resource } from '../http.ts';
import type { Creator } from './create.ts';
import { cancelJob, listJobs, readJob } from './jobs.ts';
import { isUid } from './request.ts';
import {
  bulkSchema,
  cancelSchema,
  createSchema,
  detailSchema,
  listSchema,
  upgradeSchema,
} from './schemas.ts';
import { STATUSES, type Status } from './states.ts';
import type { ListFilter, Tier } from './store.ts';

const PATHS: { path: string; tier: Tier }[] = [
  { path: '/tapi/v2/translation/', tier: 'human' },
  { path: '/tapi/v2/mt_translation/', tier: 'machine' },
];

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1000;

export function jobRoutes(app: FastifyInstance, options: { database: Database; creator: Creator }): void {
  const { database, creator } = options;
  const bulk: Operation = {
    schema: bulkSchema,
    async handler(request, reply) {
      const key = request.headers['idempotency-key'];
      const objects = await creator.createBulk(request.caller, request.body, key);
      return reply.code(202).send({ objects });
    },
  };
  const upgrade: Operation = {
    schema: upgradeSchema,
    async handler(request, reply) {
      const { uid } = request.params as { uid: string };
      if (!isUid(uid)) throw notFound();
      return reply.code(202).send(await creator.upgrade(request.caller, uid, request.body));
    },
  };
  for (const { path, tier } of PATHS) {
    resource(app, path, {
      POST: {
        schema: createSchema(tier),
        async handler(request, reply) {
          const key = request.headers['idempotency-key'];
          const { status, body } = await creator.create(request.caller, tier, request.body, key);
          return reply.code(status).send(body);
        },
      },
      GET: {
        schema: listSchema(tier),
        async handler(request) {
          const query = readQuery(request);
          const page = readPage(query);
          const { objects, total } = await listJobs(database, request.caller, readFilter(query, tier), page);
          return { meta: pageMeta(request, query, page, total), objects };
        },
      },
      ...(tier === 'human' ? { PATCH: bulk } : {}),
    });
    resource(app, `${path}:uid/`, {
      GET: {
        schema: detailSchema(tier),
        async handler(request) {
          const { uid } = request.params as { uid: string };
          if (!isUid(uid)) throw notFound();
          return readJob(database, request.caller, tier, uid);
        },
      },
      DELETE: {
        schema: cancelSchema(tier),
        async handler(request, reply) {
          const { uid } = request.params as { uid: string };
          if (!isUid(uid)) throw notFound();
          await cancelJob(database, request.caller, tier, uid);
          return reply.code(200).send();
        },
      },
      ...(tier === 'machine' ? { PATCH: upgrade } : {}),
    });
  }
}

/** Query parameters as they were written, each with its last value. */
function readQuery(request: FastifyRequest): Map<string, string> {
  const begin = request.url.indexOf('?');
  const query = new Map(new URLSearchParams(begin < 0 ? '' : request.url.slice(begin + 1)));
  for (const [name, value] of query) {
    if (value.includes('\0')) throw fieldError(name.slice(0, 40), 'must not contain NUL characters.');
  }
  return query;
}

function readFilter(
  query: Map<string, string>,
  tier: Tier,
): Omit<ListFilter, 'environment'> & { uid: string | undefined } {
  for (const name of query.keys()) {
    const [field, lookup] = name.split('__');
    if (lookup !== undefined && ['uid', 'status', 'source_language', 'target_language'].includes(field!)) {
      throw fieldError(field!, `has no lookup "${lookup.slice(0, 20)}".`);
    }
  }
  return {
    tier,
    uid: query.get('uid'),
    statuses: readStatus(query.get('status'), tier),
    sourceLanguage: query.get('source_language'),
    targetLanguage: query.get('target_language'),
  };
}

/**
 * A machine-only job is `machine_translate_in_progress` until it is done, a state that the interface's filter
 * does not name: `new` and `translating` find it too.
 */
function readStatus(written: string | undefined, tier: Tier): Status[] | undefined {
  if (written === undefined) return undefined;
  const accepted = STATUSES.filter(
    (status) => tier === 'machine' || status !== 'machine_translate_in_progress',
  );
  const status = accepted.find((name) => name === written);
  if (status === undefined) {
    throw fieldError('status', `"${written.slice(0, 40)}" is not one of ${accepted.join(', ')}.`);
  }
  const unstarted = tier === 'machine' && (status === 'new' || status === 'translating');
  return unstarted ? [status, 'machine_translate_in_progress'] : [status];
}

interface Page {
  limit: number;
  offset: number;
}

function readPage(query: Map<string, string>): Page {
  const limit = readInteger('limit', query.get('limit'), DEFAULT_LIMIT, MAX_LIMIT);
  return {
    limit: limit === 0 ? MAX_LIMIT : limit,
    offset: readInteger('offset', query.get('offset'), 0, Number.MAX_SAFE_INTEGER),
  };
}

function readInteger(field: string, written: string | undefined, fallback: number, most: number): number {
  if (written === undefined) return fallback;
  const value = Number(written);
  if (!/^\d+$/.test(written) || value > most) {
    throw fieldError(field, `must be a whole number from 0${most === MAX_LIMIT ? ` to ${most}` : ''}.`);
  }
  return value;
}

/** Links are relative to the server and keep the other parameters; null at the ends. */
function pageMeta(request: FastifyRequest, query: Map<string, string>, page: Page, total: number) {
  const path = request.originalUrl.split('?')[0];
  const link = (offset: number) => {
    const parameters = new URLSearchParams([...query]);
    parameters.set('limit', String(page.limit));
    parameters.set('offset', String(offset));
    return `${path}?${parameters}`;
  };
  const { limit, offset } = page;
  return {
    limit,
    offset,
    next: offset + limit < total ? link(offset + limit) : null,
    previous: offset > 0 ? link(Math.max(0, offset - limit)) : null,
    total_count: total,
  };
}
