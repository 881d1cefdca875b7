/**
 * How long a customer's data is kept, all of it in a file, and its end: `/api/account/retention`, `/export`, `/erase`.
 * Everybody of the account may read how long; the rest is for its owners.
 */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import Type from 'typebox';
import type { AccountRef } from '../account.ts';
import { accountOf, requireOwner } from '../accounts/door.ts';
import { describedOwn, integer, MOMENT, open, readForm, text } from '../console.ts';
import type { Database } from '../database/database.ts';
import { reason } from '../errors.ts';
import { resource } from '../http.ts';
import { recordAudit } from '../operations/audit.ts';
import { exportAccount, requestErasure } from './erase.ts';
import { type Keeping, MAX_DAYS, readKeeping, writeKeeping } from './retention.ts';

const DAYS = Type.Union([Type.Integer({ minimum: 1, maximum: MAX_DAYS }), Type.Null()], {
  description: 'Days; null: for ever.',
});
const Kept = Type.Object(
  { attempts: DAYS, events: DAYS, texts: DAYS },
  { title: 'Keeping', description: 'How long what has ended is kept.' },
);
const Erasing = Type.Object({ requested_at: MOMENT }, { title: 'Erasing' });

const schemas = {
  read: describedOwn('readKeeping', 'How long one’s data is kept', Kept),
  write: describedOwn('changeKeeping', 'Keep one’s data so long from now on', Kept, {
    description: 'For owners. What is past its time ends within ten minutes, for good.',
    body: Type.Object({ attempts: DAYS, events: DAYS, texts: DAYS }, open),
  }),
  export: {
    operationId: 'exportOwnAccount',
    summary: 'All that is kept of one’s account, a JSON object a line',
    description: 'For owners. `{"table": …, "row": {…}}`, without hashes and secrets.',
    tags: ['Own account'],
    response: {
      200: {
        description: 'A file, as a stream.',
        content: { 'application/x-ndjson': { schema: Type.String() } },
      },
    },
  } as FastifySchema,
  erase: describedOwn('eraseOwnAccount', 'Erase one’s account, for good', Erasing, {
    status: 202,
    description:
      'For owners. Keys and people are let in no more from this answer on; the rest is deleted in the minutes after it.',
    body: Type.Object(
      { username: Type.String({ description: 'The account’s name, so that nobody does it by mistake.' }) },
      open,
    ),
  }),
};

export function retentionOfCustomer(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/account/retention', {
    GET: { schema: schemas.read, handler: async (request) => readKeeping(database, accountOf(request).ref) },
    PUT: {
      schema: schemas.write,
      async handler(request) {
        const { ref } = requireOwner(request);
        const keeping = readWanted(request);
        await database.transaction(async (transaction) => {
          await writeKeeping(transaction, ref, keeping);
          await audit(request, ref, 'account.keeping', keeping)(transaction);
        });
        return keeping;
      },
    },
  });

  resource(app, '/api/account/export', {
    // A page of another site can make a browser get, but not post.
    POST: {
      schema: schemas.export,
      async handler(request, reply) {
        const { ref, username } = requireOwner(request);
        await audit(request, ref, 'account.exported', {})(database);
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
      async handler(request, reply) {
        const { ref, username } = requireOwner(request);
        const form = readForm(request.body);
        const named = form.required('username', text(64));
        if (named !== username) form.complain('username', reason('account_name'));
        form.done();
        const since = await requestErasure(database, ref, audit(request, ref, 'account.erasing', {}));
        return reply.code(202).send({ requested_at: since.toISOString() });
      },
    },
  });
}

/** Writes who did it; the audit stays when the account ends. */
function audit({ person }: FastifyRequest, account: AccountRef, action: string, detail: object) {
  const { username } = person.account!;
  return (on: Parameters<typeof recordAudit>[0]) =>
    recordAudit(on, person, { action, account, subject: username, detail });
}

/** @throws ApiError `invalid_request` that names every wrong field */
function readWanted(request: FastifyRequest): Keeping {
  const form = readForm(request.body);
  const read = (name: keyof Keeping) => {
    // Nobody deletes by leaving out, and nobody keeps for ever by mistake.
    if (!form.has(name)) form.complain(name, reason('required'));
    return form.optional(name, integer(1, MAX_DAYS)) ?? null;
  };
  const keeping = { attempts: read('attempts'), events: read('events'), texts: read('texts') };
  form.done();
  return keeping;
}
