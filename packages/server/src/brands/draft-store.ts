/** The SQL statements about brand drafts. */
import type { AccountRef } from '../base/account.ts';
import type { Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';

export interface DraftRow {
  external_id: string;
  revision: number;
  based_on: number | null;
  /** The draft in the form of a brand file. */
  brand: unknown;
  changed_at: Date;
  changed_by: string;
}

export const findDraft = statement<DraftRow, { account: AccountRef; externalId: string }>(
  'brands.find_draft',
  `select external_id, revision, based_on, brand, changed_at, changed_by from brand_drafts
    where part = :part and account_id = :account_id and external_id = :externalId`,
).first;
const LOCK = statement(
  'brands.lock_draft',
  'select from brand_drafts where part = $1 and account_id = $2 and external_id = $3 for update',
);

/** Locks a draft and returns it. */
export async function lockDraft(
  transaction: Transaction,
  account: AccountRef,
  externalId: string,
): Promise<DraftRow | undefined> {
  await transaction.query(LOCK, [account.part, account.accountId, externalId]);
  return findDraft(transaction, { account, externalId });
}

export const findDrafts = statement<Omit<DraftRow, 'brand'> & { name: string }, { account: AccountRef }>(
  'brands.list_drafts',
  `select external_id, revision, based_on, changed_at, changed_by, brand->>'name' as name from brand_drafts
    where part = :part and account_id = :account_id order by external_id`,
).rows;

// If a concurrent request has started a draft, `on conflict` inserts no row.
const INSERT = statement<{ revision: number }>(
  'brands.insert_draft',
  `insert into brand_drafts (part, account_id, external_id, based_on, brand, changed_by)
   values ($1, $2, $3, $4, $5, $6)
   on conflict (part, account_id, external_id) do nothing returning revision`,
);
const UPDATE = statement<{ revision: number }>(
  'brands.update_draft',
  `update brand_drafts set revision = revision + 1, brand = $5, changed_at = now(), changed_by = $6
    where part = $1 and account_id = $2 and external_id = $3 and revision = $4
   returning revision`,
);

/** Replaces a draft. @returns the new revision; undefined if the draft does not have the expected revision */
export async function writeDraft(
  transaction: Transaction,
  account: AccountRef,
  draft: { externalId: string; revision: number; basedOn: number | null; brand: object; by: string },
): Promise<number | undefined> {
  const key = [account.part, account.accountId, draft.externalId];
  const brand = JSON.stringify(draft.brand);
  const [row] =
    draft.revision === 0
      ? await transaction.query(INSERT, [...key, draft.basedOn, brand, draft.by])
      : await transaction.query(UPDATE, [...key, draft.revision, brand, draft.by]);
  return row?.revision;
}

/** Deletes a draft. @returns whether a draft existed */
export const deleteDraft = statement<{ revision: number }, { account: AccountRef; externalId: string }>(
  'brands.delete_draft',
  `delete from brand_drafts where part = :part and account_id = :account_id and external_id = :externalId
    returning revision`,
).found;
