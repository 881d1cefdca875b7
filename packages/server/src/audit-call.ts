import type { AccountRef, Person } from './account.ts';
import type { Queryable } from './database/database.ts';

/** What an operator did: who, what, whose, and how it was changed. */
export interface AuditEntry {
  /** `thing.done`, such as `brand.published`. */
  action: string;
  account?: AccountRef | undefined;
  subject: string;
  detail: object;
}

export async function recordAudit(_on: Queryable, _person: Person, _entry: AuditEntry): Promise<void> {}
