/**
 * The routes for retention, export and erasure of an account: `/api/account/retention`, `/export`, `/erase`.
 * All users of the account may read the retention. The other operations are for owners.
 */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifySchema } from 'fastify';
import Type from 'typebox';
import { accountOf, requireOwner } from '../access/session-auth.ts';
import { recordAudit } from '../audit/audit.ts';
import { fieldError, reason } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import { describedOwn, MOMENT, textOf } from '../http/schemas.ts';
import { exportAccount, requestErasure } from './erase.ts';
import { MAX_DAYS, readRetention, setRetention } from './retention.ts';

const DAYS = Type.Union([Type.Integer({ minimum: 1, maximum: MAX_DAYS }), Type.Null()], {
  description: 'The period in days; null for no limit.',
});
const Retention = Type.Object(
  { attempts: DAYS, events: DAYS, texts: DAYS },
  { title: 'Retention', description: 'How long finished data is kept.' },
);
const Erasing = Type.Object({ requested_at: MOMENT }, { title: 'Erasing' });

const schemas = {
  read: describedOwn('readRetention', 'Read how long your data is kept', Retention),
  write: describedOwn('changeRetention', 'Set how long your data is kept', Retention, {
    description: 'For owners. Expired data is deleted permanently within ten minutes.',
    // All fields are required, so that a forgotten field neither deletes data nor makes its retention
    // unlimited.
    body: Type.Object({ attempts: DAYS, events: DAYS, texts: DAYS }),
  }),
  export: {
    operationId: 'exportOwnAccount',
    summary: 'Export all data of your account as JSON lines',
    description:
      'For owners. Each line is `{"table": …, "row": {…}}`, without hashes, secrets, and translations that are not delivered.',
    tags: ['Own account'],
    response: {
      200: {
        description: 'The exported file, as a stream.',
        content: { 'application/x-ndjson': { schema: Type.String() } },
      },
    },
  } as FastifySchema,
  erase: describedOwn('eraseOwnAccount', 'Erase your account permanently', Erasing, {
    status: 202,
    description: 'For owners. API keys and users lose access at once; the rest is deleted within minutes.',
    body: Type.Object({
      username: textOf(64, 1, 'The user name of the account, as a confirmation.'),
    }),
  }),
};

export function retentionOfCustomer(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/account/retention', {
    GET: {
      schema: schemas.read,
      handler: async (request) => readRetention(database, accountOf(request).ref),
    },
    PUT: {
      schema: schemas.write,
      allow: requireOwner,
      async handler(request) {
        const periods = request.body;
        await database.transaction((transaction) =>
          setRetention(transaction, request.person, accountOf(request), periods),
        );
        return periods;
      },
    },
  });

  resource(app, '/api/account/export', {
    // The export is a POST, because with a GET, a page of another site could make a browser start an export with the
    // user's cookies.
    POST: {
      schema: schemas.export,
      allow: requireOwner,
      async handler(request, reply) {
        const { ref, username } = accountOf(request);
        const entry = { action: 'account.exported', account: ref, subject: username, detail: {} };
        await database.transaction((transaction) => recordAudit(transaction, request.person, entry));
        return reply
          .header('content-type', 'application/x-ndjson; charset=utf-8')
          .header('content-disposition', `attachment; filename="${username}.jsonl"`)
          .send(Readable.from(exportAccount(database, ref), { objectMode: false }));
      },
    },
  });

  resource(app, '/api/account/erase', {
    POST: {
      schema: schemas.erase,
      allow: requireOwner,
      async handler(request, reply) {
        const { ref, username } = accountOf(request);
        if (request.body.username !== username) throw fieldError('username', reason('account_name'));
        const since = await requestErasure(database, request.person, ref);
        return reply.code(202).send({ requested_at: since });
      },
    },
  });
}
