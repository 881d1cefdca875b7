/**
 * The audit: who changed what in which account. An entry is written in the transaction of its change. Entries
 * are never changed: the program's database role may only insert them. Entries contain names and ids, never
 * texts to translate. When an account is erased, `forget_account` (0001_schema.sql) removes the names.
 */
import { userInfo } from 'node:os';
import type { AccountRef, Caller, Person } from '../base/account.ts';
import { notSignedIn } from '../base/errors.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';

/** The originator of a change: a signed-in user, a command, or the program itself. */
export type Actor = Pick<Person, 'userId' | 'email'> | 'command' | 'program';

/** An API key as the originator of a change. Most requests of API keys get no audit entry. */
export type KeyActor = Pick<Caller, 'keyId'>;

export interface AuditEntry {
  /** The action in the form `thing.done`, such as `key.made`. */
  action: string;
  /** The account to which the entry belongs, if any. */
  account?: AccountRef | undefined;
  /** The id or name of the changed object. Erasure removes it unless `forget_account` lists the action. */
  subject: string;
  detail: object;
}

export interface AuditRow {
  audit_id: string;
  at: Date;
  actor: 'person' | 'key' | 'command' | 'program';
  /**
   * The e-mail address that the user had at that time, the id of the API key, or the system user who ran the
   * command. Erasure replaces the e-mail address by the id of the user.
   */
  name: string;
  action: string;
  username: string | null;
  subject: string;
  detail: Record<string, unknown>;
}

// Locks the row of the account against a concurrent erasure. Either the entry is inserted before the erasure,
// which then removes its names, or the statement returns that the account is erased. A distributed database has no
// foreign key from entries to users, so there the statement also locks the user, and inserts no entry without the user.
const INSERT = statement<{ erased: boolean | null; inserted: boolean }>(
  'audit.insert',
  `with account as (
     select erased_at from accounts where part = $1 and account_id = $2 for key share),
   entry as (
     insert into audit (part, account_id, audit_id, actor, user_id, name, action, subject, detail)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9))
   select exists (select from account where erased_at is not null) as erased, true as inserted`,
  `with person as (
     select user_id from users where user_id = $5 for key share),
   account as (
     select erased_at from accounts where part = $1 and account_id = $2 for key share),
   entry as (
     insert into audit (part, account_id, audit_id, actor, user_id, name, action, subject, detail)
     select $1::smallint, $2::uuid, $3::uuid, $4::text, $5::uuid, $6::text, $7::text, $8::text, $9::jsonb
      where $5 is null or exists (select from person)
     returning audit_id)
   select exists (select from account where erased_at is not null) as erased,
          exists (select from entry) as inserted`,
);
/**
 * Replaces the names of an account and its users by ids in the audit, and deletes the memos of the account's
 * transfers. All other changes of these two tables are forbidden.
 */
export const forgetNames = statement<never, { account: AccountRef }>(
  'audit.forget_names',
  'select forget_account(:part, :account_id)',
).run;

const MAX_SUBJECT = 300;
const MAX_DETAIL = 16_384;

/**
 * Inserts an entry in the transaction of its change.
 * @throws ApiError `not_signed_in` when the user was erased. On PostgreSQL, the foreign key to the user is violated
 * instead, and the request gets the same answer.
 */
export async function recordAudit(on: Transaction, by: Actor | KeyActor, entry: AuditEntry): Promise<void> {
  const detail = JSON.stringify(entry.detail);
  const [actor, userId, name] = columnsOf(by);
  const [row] = await on.query(INSERT, [
    entry.account?.part ?? null,
    entry.account?.accountId ?? null,
    uuidv7(),
    actor,
    userId,
    name,
    entry.action,
    entry.subject.slice(0, MAX_SUBJECT),
    // Details that are too long are omitted, because the action alone describes the change well enough.
    detail.length > MAX_DETAIL ? '{"cut":true}' : detail,
  ]);
  if (!row!.inserted) throw notSignedIn();
  if (row!.erased && entry.account !== undefined) await forgetNames(on, { account: entry.account });
}

function columnsOf(by: Actor | KeyActor): [actor: AuditRow['actor'], userId: string | null, name: string] {
  if (by === 'command') return [by, null, systemUser()];
  if (by === 'program') return [by, null, 'dragoman'];
  return 'keyId' in by ? ['key', null, by.keyId] : ['person', by.userId, by.email];
}

/** Returns the name of the operating system's user, or `unknown` when there is none. */
function systemUser(): string {
  try {
    return userInfo().username.slice(0, 254);
  } catch {
    return 'unknown';
  }
}

export interface AuditFilter {
  account?: AccountRef | undefined;
  /** The complete action, such as `key.made`, or its part before the dot. */
  action?: string | undefined;
  /** The complete subject. */
  subject?: string | undefined;
  /** A part of the entry's name (`AuditRow.name`). */
  name?: string | undefined;
  /** The id of the last entry of the previous page. */
  after?: string | undefined;
}

const LIST = statement<AuditRow>(
  'audit.list',
  `select e.audit_id, e.at, e.actor, e.name, e.action, a.username, e.subject, e.detail
     from audit e left join accounts a on a.part = e.part and a.account_id = e.account_id
    where ($1::smallint is null or (e.part = $1 and e.account_id = $2))
      and ($3::text is null or e.action = $3 or e.action like $3 || '.%')
      and ($4::text is null or strpos(lower(e.name), lower($4)) > 0)
      and ($5::uuid is null or e.audit_id < $5) and ($7::text is null or e.subject = $7)
    order by e.audit_id desc limit $6`,
);

/** Lists audit entries, newest first. */
export function listAudit(on: Queryable, filter: AuditFilter, limit: number): Promise<AuditRow[]> {
  const { account, action, name, subject, after } = filter;
  return on.query(LIST, [
    account?.part ?? null,
    account?.accountId ?? null,
    action ?? null,
    name ?? null,
    after ?? null,
    limit,
    subject ?? null,
  ]);
}
