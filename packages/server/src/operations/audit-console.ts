/** The audit, as the operator reads it: `/api/console/audit`. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { accountOfField } from '../accounts/console.ts';
import { described, id, integer, MOMENT, OPTIONAL_TEXT, readForm, text } from '../console.ts';
import type { Database } from '../database/database.ts';
import { resource } from '../http.ts';
import { listAudit } from './audit.ts';

const Entry = Type.Object(
  {
    audit_id: Type.String({ format: 'uuid' }),
    at: MOMENT,
    actor: Type.Enum(['person', 'command', 'program']),
    name: Type.String({ description: 'A person’s e-mail then, or who ran the command.' }),
    action: Type.String({ examples: ['key.made'] }),
    account: OPTIONAL_TEXT,
    subject: Type.String(),
    detail: Type.Object({}, { additionalProperties: true }),
  },
  { title: 'AuditEntry' },
);

const listSchema = described(
  'listAudit',
  'Who changed what, newest first',
  Type.Object({ entries: Type.Array(Entry), next: OPTIONAL_TEXT }, { title: 'AuditEntries' }),
  {
    querystring: Type.Object({
      account: Type.Optional(Type.String({ description: 'A username.' })),
      action: Type.Optional(Type.String({ description: '`key.made`, or `key` for all about keys.' })),
      name: Type.Optional(Type.String({ description: 'Part of the name of who did it.' })),
      after: Type.Optional(Type.String()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    }),
  },
);

export function auditConsole(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/console/audit', {
    GET: {
      schema: listSchema,
      async handler(request) {
        const form = readForm(request.query);
        const account = await accountOfField(database, form, 'account');
        const filter = {
          account: account?.ref,
          action: form.optional('action', text(100)),
          name: form.optional('name', text(254)),
          after: form.optional('after', id),
        };
        const limit = form.optional('limit', integer(1, 200)) ?? 50;
        form.done();
        const rows = await listAudit(database, filter, limit + 1);
        const entries = rows.slice(0, limit).map(({ username, ...row }) => ({ ...row, account: username }));
        return { entries, next: rows.length > limit ? entries.at(-1)!.audit_id : null };
      },
    },
  });
}
