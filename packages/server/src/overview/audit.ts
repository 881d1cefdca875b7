/** The console's route for the audit entries: `/api/console/audit`. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { accountOfField } from '../access/accounts.ts';
import { listAudit } from '../audit/audit.ts';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import { described, ID, MOMENT, OPTIONAL_TEXT, PAGE, textOf, USERNAME } from '../http/schemas.ts';

const Entry = Type.Object(
  {
    audit_id: ID,
    at: MOMENT,
    actor: Type.Enum(['person', 'key', 'command', 'program']),
    name: Type.String({
      description:
        'The e-mail address of the user at that time, the public part of the API key, or the system user who ran the command.',
    }),
    action: Type.String({ examples: ['key.made'] }),
    account: OPTIONAL_TEXT,
    subject: Type.String(),
    detail: Type.Object({}, { additionalProperties: true }),
  },
  { title: 'AuditEntry' },
);

const listSchema = described(
  'listAudit',
  'List audit entries, newest first',
  Type.Object({ entries: Type.Array(Entry), next: OPTIONAL_TEXT }, { title: 'AuditEntries' }),
  {
    querystring: Type.Object({
      account: Type.Optional(USERNAME),
      action: Type.Optional(textOf(100, 1, '`key.made`, or `key` for all actions on keys.')),
      name: Type.Optional(textOf(254, 1, 'A part of the name.')),
      subject: Type.Optional(textOf(300, 1, 'The complete subject, such as the uid of a job.')),
      after: Type.Optional(ID),
      limit: PAGE,
    }),
  },
);

export function auditConsole(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/console/audit', {
    GET: {
      schema: listSchema,
      async handler(request) {
        const { account: username, limit, ...filter } = request.query;
        const rows = await database.read(async (reader) => {
          const account = (await accountOfField(reader, username))?.ref;
          return listAudit(reader, { ...filter, account }, limit + 1);
        });
        const entries = rows.slice(0, limit).map(({ username, ...row }) => ({ ...row, account: username }));
        return { entries, next: rows.length > limit ? entries.at(-1)!.audit_id : null };
      },
    },
  });
}
