/** Memory entries in the web app: search, concordance, usage, withdrawal. */
import { plainText } from '@dragoman/documents';
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { AccountRef, Person } from '../base/account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { searchable } from './form.ts';
import * as lessonsStore from './lessons-store.ts';
import { confirmationOf, type Match } from './memory.ts';
import type { Entry, MemorySummary } from './schemas.ts';
import * as searchStore from './search-store.ts';
import * as store from './store.ts';

interface ConcordanceEntry {
  memoryId: string;
  sourceText: string;
  targetText: string;
  createdAt: Date;
  /** See `Match`. */
  confirmed: Match['confirmed'];
}

const MAX_FOUND = 20;

/**
 * Returns the usable entries whose source or target contains every word of `query`.
 * @param at the segment for whose editor they are: also what editors confirmed in jobs that are open
 */
export async function concordance(
  on: Queryable,
  account: AccountRef,
  pair: store.MemoryPair,
  query: string,
  at: store.OpenSegment,
): Promise<ConcordanceEntry[]> {
  const patterns = patternsOf(query);
  if (patterns.length === 0) return [];
  const rows = await searchStore.findWithWords(on, account, pair, { patterns, limit: MAX_FOUND, at });
  return rows.map((row) => ({
    memoryId: row.memory_id,
    sourceText: plainText(row.source),
    targetText: plainText(row.target),
    createdAt: row.created_at,
    confirmed: confirmationOf(row),
  }));
}

export interface MemorySearch {
  q?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  brand?: string | undefined;
  state?: 'live' | 'withdrawn' | 'all' | undefined;
  /** The id of the last entry of the previous page: only entries that were created earlier are selected. */
  before?: string | undefined;
  limit: number;
}

/** Returns the entries of an account that match a search, latest first. */
export async function searchMemory(
  on: Queryable,
  account: AccountRef,
  search: MemorySearch,
): Promise<Entry[]> {
  const rows = await searchStore.searchEntries(on, account, {
    from: search.from,
    to: search.to,
    brand: search.brand,
    patterns: patternsOf(search.q ?? ''),
    state: search.state ?? 'live',
    before: search.before,
    limit: search.limit,
  });
  return rows.map(entryOf);
}

/**
 * Returns an entry with the segments from which it was made or in which it was used; undefined if the account
 * has no such entry.
 */
export async function readEntry(
  on: Queryable,
  account: AccountRef,
  memoryId: string,
): Promise<{ entry: Entry; touched: lessonsStore.TouchRow[] } | undefined> {
  const row = await store.findEntry(on, { account, memoryId });
  if (row === undefined) return undefined;
  return {
    entry: entryOf(row),
    touched: await lessonsStore.findTouched(on, { account, memoryId, limit: MAX_TOUCHED, open: false }),
  };
}

const MAX_TOUCHED = 1_000;

/**
 * Withdraws the votes for an entry's translation in the segments from which the entry was made, so that these
 * votes fill no more segments.
 */
export type WithdrawVotes = (
  transaction: Transaction,
  account: AccountRef,
  taught: readonly { job_id: string; position: number }[],
  entry: Pick<store.EntryRow, 'source' | 'target'>,
) => Promise<void>;

/**
 * Withdraws an entry. It stays unused until a user restores it, even if a later job confirms it.
 * @returns true if the entry existed and was not withdrawn
 */
export async function withdraw(
  transaction: Transaction,
  by: Pick<Person, 'userId' | 'email' | 'name'> | 'command',
  account: AccountRef,
  { memoryId, reason }: { memoryId: string; reason: string | undefined },
  withdrawVotes: WithdrawVotes,
): Promise<boolean> {
  const name = by === 'command' ? 'operator' : by.name;
  const changed = await store.withdrawEntry(transaction, {
    account,
    memoryId,
    by: name,
    reason: reason ?? null,
  });
  if (changed) {
    const all = { account, memoryId, limit: MAX_TOUCHED, open: true };
    const touched = await lessonsStore.findTouched(transaction, all);
    const taught = touched.filter(({ how }) => how === 'taught');
    const row = await store.findEntry(transaction, { account, memoryId });
    await withdrawVotes(transaction, account, taught, row!);
    await recordAudit(transaction, by, {
      action: 'memory.withdrawn',
      account,
      subject: memoryId,
      detail: { jobs: touched.length },
    });
  }
  return changed;
}

/** Makes a withdrawn entry usable again. @returns true if the entry existed and was withdrawn */
export async function restore(
  transaction: Transaction,
  by: Actor,
  account: AccountRef,
  memoryId: string,
): Promise<boolean> {
  const changed = await store.restoreEntry(transaction, { account, memoryId });
  if (changed) {
    await recordAudit(transaction, by, {
      action: 'memory.restored',
      account,
      subject: memoryId,
      detail: {},
    });
  }
  return changed;
}

function entryOf(row: store.EntryRow): Entry {
  const { withdrawn_at: at, withdrawn_by: by, withdraw_reason: why, ...entry } = row;
  return {
    ...entry,
    brand: row.brand === '' ? null : row.brand,
    source: plainText(row.source),
    target: plainText(row.target),
    weight: at === null ? row.weight : 0,
    withdrawn: at === null ? null : { at, by: by!, reason: why },
  };
}

/** The maximum number of search words that are used; further words are ignored. */
const MAX_WORDS = 10;

/** Returns a `like` pattern for each word. Words have only letters and digits, so nothing needs escaping. */
function patternsOf(query: string): string[] {
  const words = searchable(query)
    .split(' ')
    .filter((word) => word !== '');
  return [...new Set(words)].slice(0, MAX_WORDS).map((word) => `%${word}%`);
}

/** Counts entries by language pair and brand. */
export function summarizeMemory(on: Queryable, account: AccountRef): Promise<MemorySummary['memory']> {
  return searchStore.summarize(on, { account });
}
