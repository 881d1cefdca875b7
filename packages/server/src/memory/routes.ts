/** The operations of the memory: `…/memory…`, for customers and operators. */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { type Audience, type Subject, share } from '../access/audiences.ts';
import { fieldError, notFound, reason } from '../base/errors.ts';
import { inSlices } from '../base/turns.ts';
import { BrandError, requireBrand } from '../brands/brands.ts';
import type { Database } from '../database/database.ts';
import {
  readEntry,
  restore,
  searchMemory,
  summarizeMemory,
  type WithdrawVotes,
  withdraw,
} from './entries.ts';
import { exportTmx, importTmx, TmxError } from './exchange.ts';
import { memorySchemas as schemas } from './schemas.ts';

interface MemoryOptions {
  database: Database;
  withdrawVotes: WithdrawVotes;
}

const who = { customer: true, operator: true } as const;

export function memoryRoutes(app: FastifyInstance, options: MemoryOptions, audience: Audience): void {
  const { database } = options;
  share(app, database, audience, '/memory', {
    GET: {
      who,
      schema: schemas.search,
      emptyIsAbsent: true,
      async handler({ query }, { account }) {
        const entries = await searchMemory(database, account, query);
        return { entries, next: entries.length < query.limit ? null : entries.at(-1)!.memory_id };
      },
    },
  });
  share(app, database, audience, '/memory/summary', {
    GET: {
      who,
      schema: schemas.summarize,
      handler: async (_, { account }) => ({ memory: await summarizeMemory(database, account) }),
    },
  });
  exchangeRoutes(app, database, audience);
  entryRoutes(app, options, audience);
}

function exchangeRoutes(app: FastifyInstance, database: Database, audience: Audience): void {
  share(app, database, audience, '/memory/import', {
    POST: {
      who,
      schema: schemas.import,
      bodyLimit: 'texts',
      async handler({ person, body }, { account }) {
        const { from, to, brand, dry_run: dryRun, tmx } = body;
        try {
          if (brand !== undefined) await requireBrand(database, account, brand);
          return await importTmx(database, person, account, { from, to, brand }, inSlices(tmx), dryRun);
        } catch (error) {
          if (error instanceof TmxError) throw fieldError('tmx', reason('tmx', { why: error.message }));
          if (error instanceof BrandError) throw fieldError('brand', error.message);
          throw error;
        }
      },
    },
  });
  share(app, database, audience, '/memory/export', {
    GET: {
      who,
      schema: schemas.export,
      emptyIsAbsent: true,
      async handler({ query: { from, to, brand } }, { account }, reply) {
        const tmx = exportTmx(database, account, { from, to, brand });
        return reply
          .header('content-type', 'application/xml; charset=utf-8')
          .header('content-disposition', 'attachment; filename="memory.tmx"')
          .send(Readable.from(tmx, { objectMode: false }));
      },
    },
  });
}

function entryRoutes(
  app: FastifyInstance,
  { database, withdrawVotes }: MemoryOptions,
  audience: Audience,
): void {
  async function present({ account, audience }: Subject, id: string): Promise<object> {
    const found = await readEntry(database, account, id);
    if (found === undefined) throw notFound();
    // Only operators see which editor it was.
    const touched = found.touched.map(({ editor_id, ...touch }) =>
      audience === 'operator' ? { ...touch, editor_id } : touch,
    );
    return { entry: found.entry, touched };
  }

  share(app, database, audience, '/memory/:memory_id', {
    GET: {
      who,
      schema: schemas.read,
      handler: async ({ params }, subject) => present(subject, params.memory_id),
    },
  });
  share(app, database, audience, '/memory/:memory_id/withdraw', {
    POST: {
      who,
      schema: schemas.withdraw,
      emptyIsAbsent: true,
      async handler({ person, params: { memory_id: id }, body }, subject) {
        await present(subject, id);
        await database.transaction((transaction) => {
          const entry = { memoryId: id, reason: body.reason };
          return withdraw(transaction, person, subject.account, entry, withdrawVotes);
        });
        return present(subject, id);
      },
    },
  });
  share(app, database, audience, '/memory/:memory_id/restore', {
    POST: {
      who,
      schema: schemas.restore,
      async handler({ person, params: { memory_id: id } }, subject) {
        await present(subject, id);
        await database.transaction((transaction) => restore(transaction, person, subject.account, id));
        return present(subject, id);
      },
    },
  });
}
