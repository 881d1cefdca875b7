/** SQL statements for the texts of jobs: source, supplied translation, instructions, result and file name. */
import type { AccountRef } from '../base/account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { type LeaseKey, leaseColumns } from './store.ts';

export type TextKind = 'source' | 'supplied' | 'instructions' | 'result' | 'name';

const TEXTS = statement<{ kind: TextKind; body: string }>(
  'jobs.texts',
  `select kind, body from job_texts where part = $1 and account_id = $2 and job_id = $3 and kind = any($4)`,
);

export async function readTexts(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  kinds: readonly TextKind[],
): Promise<Partial<Record<TextKind, string>>> {
  const rows = await on.query(TEXTS, [account.part, account.accountId, jobId, kinds]);
  return Object.fromEntries(rows.map(({ kind, body }) => [kind, body]));
}

/** SQL query: the name of the file of job `j`. @param part the SQL of the account's part */
export const fileNameOf = (part: string) => `(select x.body from job_texts x
    where x.part = ${part} and x.account_id = j.account_id and x.job_id = j.job_id and x.kind = 'name')`;

const NAMES = statement<{ job_id: string; body: string }>(
  'jobs.names',
  `select job_id, body from job_texts
    where part = $1 and account_id = $2 and job_id = any($3) and kind = 'name'`,
);

/** Returns the file names of jobs by their ids. Jobs without a file name are left out. */
export async function readNames(
  on: Queryable,
  account: AccountRef,
  jobIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await on.query(NAMES, [account.part, account.accountId, jobIds]);
  return new Map(rows.map(({ job_id, body }) => [job_id, body]));
}

const LEASED_TEXTS = statement<{ job_id: string; kind: TextKind; body: string }>(
  'jobs.leased_texts',
  `select t.job_id, t.kind, t.body
     from unnest($1::smallint[], $2::uuid[], $3::uuid[]) as g (part, account_id, id)
     join job_texts t on t.part = g.part and t.account_id = g.account_id and t.job_id = g.id
    where t.kind = any($4)`,
);

export function readLeasedTexts(
  on: Queryable,
  leases: readonly LeaseKey[],
  kinds: readonly TextKind[],
): Promise<{ job_id: string; kind: TextKind; body: string }[]> {
  return on.query(LEASED_TEXTS, [...leaseColumns(leases).slice(0, 3), kinds]);
}

const WRITE_RESULTS = statement(
  'jobs.write_results',
  `insert into job_texts (part, account_id, job_id, kind, body)
   select part, account_id, job_id, 'result', body
     from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::text[]) as g (part, account_id, job_id, body)
   on conflict (part, account_id, job_id, kind) do update set body = excluded.body`,
);

export async function writeResults(
  transaction: Transaction,
  results: readonly { account: AccountRef; jobId: string; result: string }[],
): Promise<void> {
  await transaction.query(WRITE_RESULTS, [
    results.map(({ account }) => account.part),
    results.map(({ account }) => account.accountId),
    results.map(({ jobId }) => jobId),
    results.map(({ result }) => result),
  ]);
}
