/** The memory in the web app: `/api/account/memory…` for customers, `/api/console/accounts/:username/memory…`. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type, { type TObject } from 'typebox';
import type { AccountRef } from '../account.ts';
import { AccountError, accountNamed } from '../accounts/accounts.ts';
import { accountOf, type DoorOptions, requirePerson } from '../accounts/door.ts';
import { BrandError, requireBrand } from '../brands/brands.ts';
import type { Database } from '../database/database.ts';
import { fieldError, notFound, type Reason, reason, wrongFields } from '../errors.ts';
import { resource } from '../http.ts';
import { recordAudit } from '../operations/audit.ts';
import { findUnusable } from '../text.ts';
import {
  type Entry,
  readEntry,
  restore,
  retract,
  type Search,
  searchMemory,
  summarizeMemory,
  type TouchRow,
} from './entries.ts';
import { exportTmx, importTmx, inSlices, TmxError } from './exchange.ts';
import { memorySchemas } from './schemas.ts';

export function memoryRoutes(app: FastifyInstance, options: DoorOptions): void {
  const { database } = options;
  void app.register(async (own) => {
    requirePerson(own, options, 'customer');
    serve(own, database, {
      path: '/api/account/memory',
      whose: 'My',
      account: async (request) => accountOf(request).ref,
      shown: ({ editor_id: _, ...touch }) => touch,
    });
  });
  void app.register(async (console) => {
    requirePerson(console, options, 'operator');
    serve(console, database, {
      path: '/api/console/accounts/:username/memory',
      whose: 'Account',
      params: Type.Object({ username: Type.String() }),
      async account(request) {
        const { username } = request.params as { username: string };
        try {
          return (await accountNamed(database, username)).ref;
        } catch (error) {
          throw error instanceof AccountError ? notFound() : error;
        }
      },
      shown: (touch) => touch,
    });
  });
}

interface Place {
  path: string;
  whose: 'My' | 'Account';
  params?: TObject;
  account(request: FastifyRequest): Promise<AccountRef>;
  /** What of a job that an entry touched its reader may know. */
  shown(touch: TouchRow): object;
}

const PAGE = 50;
const MAX_PAGE = 200;
const MAX_REASON = 500;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const LANGUAGE = /^[a-z]{2,8}(-[a-z0-9]{1,8})*$/;

function serve(app: FastifyInstance, database: Database, place: Place): void {
  const { path, account, shown } = place;
  const schemas = memorySchemas(place.whose, place.params);
  const present = async (ref: AccountRef, id: string) => {
    const found = UUID.test(id) ? await readEntry(database, ref, id) : undefined;
    if (found === undefined) throw notFound();
    return { entry: found.entry, touched: found.touched.map(shown) };
  };
  const idOf = (request: FastifyRequest) => (request.params as { memory_id: string }).memory_id;

  resource(app, path, {
    GET: {
      schema: schemas.search,
      async handler(request): Promise<{ entries: Entry[]; next: string | null }> {
        const search = readSearch(request.query);
        const entries = await searchMemory(database, await account(request), search);
        return { entries, next: entries.length < search.limit ? null : entries.at(-1)!.memory_id };
      },
    },
  });
  resource(app, `${path}/summary`, {
    GET: {
      schema: schemas.summarize,
      handler: async (request) => ({ memory: await summarizeMemory(database, await account(request)) }),
    },
  });
  resource(app, `${path}/import`, {
    POST: {
      schema: schemas.import,
      bodyLimit: 'texts',
      async handler(request) {
        const ref = await account(request);
        const { from, to, brand, dryRun, tmx } = readImport(request.body);
        try {
          if (brand !== undefined) await requireBrand(database, ref, brand);
          const counts = await importTmx(database, ref, { from, to, brand }, inSlices(tmx), dryRun);
          if (!dryRun) {
            await recordAudit(database, request.person, {
              ...{ action: 'memory.imported', account: ref, subject: `${from}>${to}` },
              detail: { brand: brand ?? null, ...counts },
            });
          }
          return counts;
        } catch (error) {
          if (error instanceof TmxError) throw fieldError('tmx', reason('tmx', { why: error.message }));
          if (error instanceof BrandError) throw fieldError('brand', error.message);
          throw error;
        }
      },
    },
  });
  resource(app, `${path}/export`, {
    GET: {
      schema: schemas.export,
      async handler(request, reply) {
        const { from, to, brand } = readSearch(request.query);
        const tmx = exportTmx(database, await account(request), { from, to, brand });
        return reply
          .header('content-type', 'application/xml; charset=utf-8')
          .header('content-disposition', 'attachment; filename="memory.tmx"')
          .send(Readable.from(tmx, { objectMode: false }));
      },
    },
  });
  resource(app, `${path}/:memory_id`, {
    GET: {
      schema: schemas.read,
      handler: async (request) => present(await account(request), idOf(request)),
    },
  });
  resource(app, `${path}/:memory_id/retract`, {
    POST: {
      schema: schemas.retract,
      async handler(request) {
        const [ref, id] = [await account(request), idOf(request)];
        const { touched } = await present(ref, id);
        const why = readReason(request.body);
        if (await retract(database, ref, id, { by: request.person.name, reason: why })) {
          const detail = { jobs: touched.length };
          await recordAudit(database, request.person, {
            ...{ action: 'memory.retracted', account: ref, subject: id, detail },
          });
        }
        return present(ref, id);
      },
    },
  });
  resource(app, `${path}/:memory_id/restore`, {
    POST: {
      schema: schemas.restore,
      async handler(request) {
        const [ref, id] = [await account(request), idOf(request)];
        await present(ref, id);
        if (await restore(database, ref, id)) {
          await recordAudit(database, request.person, {
            ...{ action: 'memory.restored', account: ref, subject: id, detail: {} },
          });
        }
        return present(ref, id);
      },
    },
  });
}

/** @throws ApiError `invalid_request` that names every wrong parameter */
function readSearch(given: unknown): Search {
  const query = given as Record<string, unknown>;
  const faults: Record<string, Reason> = {};
  const read = (name: string, right: (value: string) => boolean, why: Reason): string | undefined => {
    const value = query[name];
    if (value === undefined || value === '') return undefined;
    if (typeof value === 'string' && isText(value) && right(value)) return value;
    faults[name] = why;
    return undefined;
  };
  const language = reason('language');
  const search = {
    q: read('q', (value) => value.length <= MAX_REASON, reason('text_at_most', { most: MAX_REASON })),
    from: read('from', (value) => LANGUAGE.test(value), language),
    to: read('to', (value) => LANGUAGE.test(value), language),
    brand: read('brand', () => true, 'must be one brand.'),
    state: read(
      'state',
      (value) => STATES.includes(value),
      reason('one_of', { accepted: STATES.join(', ') }),
    ) as Search['state'],
    before: read('before', (value) => UUID.test(value), 'must be the `next` of a page.'),
    limit: Number(
      read(
        'limit',
        (value) => /^\d{1,3}$/.test(value) && Number(value) >= 1 && Number(value) <= MAX_PAGE,
        reason('whole_number', { least: 1, most: MAX_PAGE }),
      ) ?? PAGE,
    ),
  };
  if (Object.keys(faults).length > 0) throw wrongFields(faults);
  return search;
}

const STATES = ['live', 'retracted', 'all'];
const isText = (value: string) => findUnusable(value) === undefined;

interface ImportRequest {
  from: string;
  to: string;
  brand: string | undefined;
  dryRun: boolean;
  tmx: string;
}

function readImport(given: unknown): ImportRequest {
  const body = fieldsOf(given);
  const faults: Record<string, Reason> = {};
  const language = (name: 'from' | 'to') => {
    const value = body[name];
    if (typeof value !== 'string' || !LANGUAGE.test(value)) faults[name] = reason('language');
    return value as string;
  };
  const [from, to] = [language('from'), language('to')];
  const brand = body.brand ?? undefined;
  if (brand !== undefined && (typeof brand !== 'string' || !isText(brand))) faults.brand = 'must be a brand.';
  const dryRun = body.dry_run ?? false;
  if (typeof dryRun !== 'boolean') faults.dry_run = reason('yes_or_no');
  const { tmx } = body;
  if (typeof tmx !== 'string') faults.tmx = reason(tmx == null ? 'required' : 'text');
  else if (!isText(tmx)) faults.tmx = 'holds a character that no text has.';
  if (Object.keys(faults).length > 0) throw wrongFields(faults);
  return { from, to, brand: brand as string | undefined, dryRun: dryRun as boolean, tmx: tmx as string };
}

function readReason(given: unknown): string | undefined {
  const why = fieldsOf(given).reason ?? undefined;
  if (why === undefined || why === '') return undefined;
  if (typeof why !== 'string' || !isText(why) || why.length > MAX_REASON) {
    throw fieldError('reason', reason('text_at_most', { most: MAX_REASON }));
  }
  return why;
}

function fieldsOf(given: unknown): Record<string, unknown> {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
    ? (given as Record<string, unknown>)
    : {};
}
