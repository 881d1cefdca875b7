/** Routes of the memory: `/api/account/memory…` for customers, `/api/console/accounts/:username/memory…` for operators. */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import Type, { type TObject } from 'typebox';
import { requestedAccount } from '../access/accounts.ts';
import { accountOf, requirePerson, type SessionAuthOptions } from '../access/session-auth.ts';
import type { AccountRef } from '../base/account.ts';
import { fieldError, notFound, reason } from '../base/errors.ts';
import { inSlices } from '../base/turns.ts';
import { BrandError, requireBrand } from '../brands/brands.ts';
import type { Database } from '../database/database.ts';
import { type Checked, resource } from '../http/http.ts';
import { accountParameters } from '../http/schemas.ts';
import {
  readEntry,
  restore,
  searchMemory,
  summarizeMemory,
  type TouchRow,
  type WithdrawVotes,
  withdraw,
} from './entries.ts';
import { exportTmx, importTmx, TmxError } from './exchange.ts';
import { type Entry, memorySchemas } from './schemas.ts';

type MemoryOptions = SessionAuthOptions & { withdrawVotes: WithdrawVotes };

export function memoryRoutes(app: FastifyInstance, options: MemoryOptions): void {
  void app.register(async (own) => {
    requirePerson(own, options, 'customer');
    addRoutes(own, options, {
      path: '/api/account/memory',
      whose: 'My',
      params: Type.Object({}),
      account: async (request) => accountOf(request).ref,
      presentTouch: ({ editor_id: _, ...touch }) => touch,
    });
  });
  void app.register(async (console) => {
    requirePerson(console, options, 'operator');
    addRoutes(console, options, {
      path: '/api/console/accounts/:username/memory',
      whose: 'Account',
      params: accountParameters,
      account: async (request) => (await requestedAccount(options.database, request)).ref,
      presentTouch: (touch) => touch,
    });
  });
}

interface MemoryRoutes<Params extends TObject> {
  path: string;
  whose: 'My' | 'Account';
  params: Params;
  account(request: Checked<{ params: Params }>): Promise<AccountRef>;
  /** Removes the fields that the caller's role may not see. */
  presentTouch(touch: TouchRow): object;
}

function addRoutes<Params extends TObject>(
  app: FastifyInstance,
  options: MemoryOptions,
  routes: MemoryRoutes<Params>,
): void {
  const { database } = options;
  const schemas = memorySchemas(routes.whose, routes.params);
  searchRoutes(app, database, routes, schemas);
  exchangeRoutes(app, database, routes, schemas);
  entryRoutes(app, options, routes, schemas);
}

type Schemas<Params extends TObject> = ReturnType<typeof memorySchemas<Params>>;

function searchRoutes<Params extends TObject>(
  app: FastifyInstance,
  database: Database,
  { path, account }: MemoryRoutes<Params>,
  schemas: Schemas<Params>,
): void {
  resource(app, path, {
    GET: {
      schema: schemas.search,
      emptyIsAbsent: true,
      async handler(request): Promise<{ entries: Entry[]; next: string | null }> {
        const entries = await searchMemory(database, await account(request), request.query);
        return { entries, next: entries.length < request.query.limit ? null : entries.at(-1)!.memory_id };
      },
    },
  });
  resource(app, `${path}/summary`, {
    GET: {
      schema: schemas.summarize,
      handler: async (request) => ({ memory: await summarizeMemory(database, await account(request)) }),
    },
  });
}

function exchangeRoutes<Params extends TObject>(
  app: FastifyInstance,
  database: Database,
  { path, account }: MemoryRoutes<Params>,
  schemas: Schemas<Params>,
): void {
  resource(app, `${path}/import`, {
    POST: {
      schema: schemas.import,
      bodyLimit: 'texts',
      async handler(request) {
        const ref = await account(request);
        const { from, to, brand, dry_run: dryRun, tmx } = request.body;
        try {
          if (brand !== undefined) await requireBrand(database, ref, brand);
          return await importTmx(database, request.person, ref, { from, to, brand }, inSlices(tmx), dryRun);
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
      emptyIsAbsent: true,
      async handler(request, reply) {
        const { from, to, brand } = request.query;
        const tmx = exportTmx(database, await account(request), { from, to, brand });
        return reply
          .header('content-type', 'application/xml; charset=utf-8')
          .header('content-disposition', 'attachment; filename="memory.tmx"')
          .send(Readable.from(tmx, { objectMode: false }));
      },
    },
  });
}

function entryRoutes<Params extends TObject>(
  app: FastifyInstance,
  { database, withdrawVotes }: MemoryOptions,
  { path, account, presentTouch }: MemoryRoutes<Params>,
  schemas: Schemas<Params>,
): void {
  const idOf = ({ params }: { params: unknown }) => (params as { memory_id: string }).memory_id;
  const present = async (ref: AccountRef, id: string) => {
    const found = await readEntry(database, ref, id);
    if (found === undefined) throw notFound();
    return { entry: found.entry, touched: found.touched.map(presentTouch) };
  };

  resource(app, `${path}/:memory_id`, {
    GET: {
      schema: schemas.read,
      handler: async (request) => present(await account(request), idOf(request)),
    },
  });
  resource(app, `${path}/:memory_id/withdraw`, {
    POST: {
      schema: schemas.withdraw,
      emptyIsAbsent: true,
      async handler(request) {
        const [ref, id] = [await account(request), idOf(request)];
        const found = await readEntry(database, ref, id);
        if (found === undefined) throw notFound();
        const entry = { memoryId: id, reason: request.body.reason };
        await database.transaction((transaction) =>
          withdraw(transaction, request.person, ref, entry, withdrawVotes),
        );
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
        await database.transaction((transaction) => restore(transaction, request.person, ref, id));
        return present(ref, id);
      },
    },
  });
}
