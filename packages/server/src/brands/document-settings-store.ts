/** The SQL statements about document settings. */
import type { AccountRef } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { DocumentSettings } from '../scanning/scanner.ts';

const INSERT = statement(
  'brands.insert_document_settings',
  `insert into document_settings (part, account_id, hash, settings) values ($1, $2, $3, $4)
   on conflict (part, account_id, hash) do nothing`,
);

export async function insertSettings(
  on: Queryable,
  account: AccountRef,
  hash: string,
  settings: DocumentSettings,
): Promise<void> {
  await on.query(INSERT, [account.part, account.accountId, hash, JSON.stringify(settings)]);
}

export const findSettings = statement<{ settings: DocumentSettings }, { account: AccountRef; hash: string }>(
  'brands.document_settings',
  `select settings from document_settings where part = :part and account_id = :account_id and hash = :hash`,
).firstValue;

const PROTECT = statement<{ protect: string[] }>(
  'brands.protect',
  `select protect from brands where part = $1 and account_id = $2 and external_id = $3`,
);

/** Returns the patterns of a brand; none without the brand. */
export async function findProtect(
  on: Queryable,
  account: AccountRef,
  externalId: string,
): Promise<readonly string[]> {
  return (await on.query(PROTECT, [account.part, account.accountId, externalId]))[0]?.protect ?? [];
}
