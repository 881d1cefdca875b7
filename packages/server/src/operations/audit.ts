/**
 * The audit: who changed what, and whose it is. Written in the transaction of the change where there is one, and
 * never changed: the program's role may only add to it. It names things; it never quotes a customer's text.
 */
import { userInfo } from 'node:os';
import type { AccountRef, Person } from '../account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { uuidv7 } from '../ids.ts';

/** Somebody who is signed in, whoever ran a command, or the program by itself. */
export type Actor = Pick<Person, 'userId' | 'email'> | 'command' | 'program';

export interface AuditEntry {
  /** `thing.done`, such as `key.made`. */
  action: string;
  /** Whose it is, where it is an account's. */
  account?: AccountRef | undefined;
  /** What was changed, by its id or name. */
  subject: string;
  detail: object;
}

export interface AuditRow {
  audit_id: string;
  at: Date;
  actor: 'person' | 'command' | 'program';
  /** A person's e-mail then, or who ran the command. */
  name: string;
  action: string;
  username: string | null;
  subject: string;
  detail: Record<string, unknown>;
}

const INSERT = statement(
  'audit.insert',
  `insert into audit (part, account_id, audit_id, actor, user_id, name, action, subject, detail)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

const MAX_SUBJECT = 300;
const MAX_DETAIL = 16_384;

export async function recordAudit(on: Queryable, by: Actor, entry: AuditEntry): Promise<void> {
  const detail = JSON.stringify(entry.detail);
  const [actor, userId, name] =
    typeof by === 'string'
      ? [by, null, by === 'command' ? whoRuns() : 'dragoman']
      : ['person', by.userId, by.email];
  await on.query(INSERT, [
    entry.account?.part ?? null,
    entry.account?.accountId ?? null,
    uuidv7(),
    actor,
    userId,
    name,
    entry.action,
    entry.subject.slice(0, MAX_SUBJECT),
    // A list of a thousand things says that there were many.
    detail.length > MAX_DETAIL ? '{"cut":true}' : detail,
  ]);
}

/** The name that the system knows them by; there need be none. */
function whoRuns(): string {
  try {
    return userInfo().username.slice(0, 254);
  } catch {
    return 'unknown';
  }
}

export interface AuditFilter {
  account?: AccountRef | undefined;
  /** A whole action, or the thing before its dot. */
  action?: string | undefined;
  /** Part of the name of who did it. */
  name?: string | undefined;
  /** The last one of the page before. */
  after?: string | undefined;
}

const LIST = statement<AuditRow>(
  'audit.list',
  `select e.audit_id, e.at, e.actor, e.name, e.action, a.username, e.subject, e.detail
     from audit e left join accounts a on a.part = e.part and a.account_id = e.account_id
    where ($1::smallint is null or (e.part = $1 and e.account_id = $2))
      and ($3::text is null or e.action = $3 or e.action like $3 || '.%')
      and ($4::text is null or strpos(lower(e.name), lower($4)) > 0)
      and ($5::uuid is null or e.audit_id < $5)
    order by e.audit_id desc limit $6`,
);

/** Newest first. */
export function listAudit(on: Queryable, filter: AuditFilter, limit: number): Promise<AuditRow[]> {
  const { account, action, name, after } = filter;
  return on.query(LIST, [
    account?.part ?? null,
    account?.accountId ?? null,
    action ?? null,
    name ?? null,
    after ?? null,
    limit,
  ]);
}
