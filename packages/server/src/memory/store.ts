/** What is asked of the database about the translation memory. */
import type { Piece } from '@dragoman/documents';
import type { AccountRef } from '../account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';

export interface MemoryPair {
  from: string;
  to: string;
  /** Undefined: what is for every brand. */
  brand: string | undefined;
}

const EXISTS = statement<{ found: boolean }>(
  'memory.exists',
  `select exists (select from memory where part = $1 and account_id = $2) as found`,
);

export async function hasMemory(on: Queryable, account: AccountRef): Promise<boolean> {
  const [row] = await on.query(EXISTS, [account.part, account.accountId]);
  return row?.found ?? false;
}

const EXACT = statement<{ source_hash: Buffer; target: Piece[] }>(
  'memory.exact',
  `select distinct on (source_hash) source_hash, target from memory
    where part = $1 and account_id = $2 and source_language = $3 and target_language = $4
      and source_hash = any($5) and brand in ('', $6)
    order by source_hash, brand desc, weight desc`,
);

/** The best target of each source that is known; a brand's own before one for every brand. */
export function findTargets(
  on: Queryable,
  account: AccountRef,
  { from, to, brand }: MemoryPair,
  hashes: readonly Buffer[],
): Promise<{ source_hash: Buffer; target: Piece[] }[]> {
  return on.query(EXACT, [account.part, account.accountId, from, to, hashes, brand ?? '']);
}

export interface NewMemory {
  memoryId: string;
  hash: Buffer;
  source: readonly Piece[];
  target: readonly Piece[];
  weight: number;
}

const WRITE = statement<{ memory_id: string }>(
  'memory.write',
  `insert into memory (part, account_id, memory_id, brand, source_language, target_language, source_hash, source,
     target, origin, weight)
   select $1, $2, memory_id, $3, $4, $5, source_hash, source, target, $6, weight
     from unnest($7::uuid[], $8::bytea[], $9::jsonb[], $10::jsonb[], $11::smallint[])
       as g (memory_id, source_hash, source, target, weight)
   on conflict (part, account_id, source_language, target_language, source_hash, brand)
   do update set target = excluded.target, origin = excluded.origin, weight = excluded.weight
     where memory.weight <= excluded.weight
   returning memory_id`,
);

/** Writes entries; a heavier one that is there already stays. @returns how many were written */
export async function writeMemory(
  on: Queryable,
  account: AccountRef,
  { from, to, brand }: MemoryPair,
  origin: 'import' | 'job',
  entries: readonly NewMemory[],
): Promise<number> {
  const rows = await on.query(WRITE, [
    account.part,
    account.accountId,
    brand ?? '',
    from,
    to,
    origin,
    entries.map(({ memoryId }) => memoryId),
    entries.map(({ hash }) => hash),
    entries.map(({ source }) => JSON.stringify(source)),
    entries.map(({ target }) => JSON.stringify(target)),
    entries.map(({ weight }) => weight),
  ]);
  return rows.length;
}
