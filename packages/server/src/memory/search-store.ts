/** SQL statements that search, list and count memory entries. */
import type { AccountRef } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { MemorySummary } from './schemas.ts';
import {
  DELIVERED,
  ENTRY_COLUMNS,
  type EntryRow,
  type MemoryPair,
  type OpenSegment,
  type Support,
  USABLE,
  valuesOf,
  WITH_SUPPORT,
} from './store.ts';

export interface SearchFilter {
  from: string | undefined;
  to: string | undefined;
  brand: string | undefined;
  /** Patterns for `like`; an entry must match all of them. */
  patterns: readonly string[];
  state: 'live' | 'withdrawn' | 'all';
  /** The id of the last entry of the previous page: only older entries are selected. */
  before: string | undefined;
  limit: number;
}

const FILTER = `${DELIVERED} and (:from::text is null or source_language = :from)
      and (:to::text is null or target_language = :to) and (:brand::text is null or brand = :brand)
      and (:state = 'all' or (:state = 'withdrawn') = (withdrawn_at is not null or weight = 0))
      and (:before::uuid is null or memory_id < :before)
    order by memory_id desc limit :limit`;

const LIST = statement<EntryRow>(
  'memory.list',
  `select ${ENTRY_COLUMNS} from memory
    where part = :part and account_id = :account_id and :patterns::text[] is not null and ${FILTER}`,
);

// The trigram index serves a single pattern, not `like all`. Without `materialized`, PostgreSQL would read all
// entries in key order until enough match.
const SEARCH = statement<EntryRow>(
  'memory.search',
  `with found as materialized (
     select memory_id as id from memory
      where part = :part and account_id = :account_id and searched like :longest
        and searched like all(:patterns))
   select ${ENTRY_COLUMNS} from found join memory on memory_id = id
    where part = :part and account_id = :account_id and ${FILTER}`,
);

/** Returns the entries whose source or target matches all patterns, latest first. */
export function searchEntries(on: Queryable, account: AccountRef, filter: SearchFilter): Promise<EntryRow[]> {
  const { patterns } = filter;
  const values = {
    part: account.part,
    account_id: account.accountId,
    patterns,
    from: filter.from ?? null,
    to: filter.to ?? null,
    brand: filter.brand ?? null,
    state: filter.state,
    before: filter.before ?? null,
    limit: filter.limit,
  };
  return patterns.length === 0
    ? on.query(LIST, values)
    : on.query(SEARCH, { ...values, longest: longestOf(patterns) });
}

/** Returns the longest pattern, which is usually the rarest. */
function longestOf(patterns: readonly string[]): string {
  return patterns.reduce((longest, one) => (one.length > longest.length ? one : longest), '');
}

// At most 5,000 matches of a common word are ranked, so that the search stays fast.
const CONCORDANCE = statement<EntryRow & Support>(
  'memory.concordance',
  `with found as materialized (
     select memory_id as id from memory
      where part = :part and account_id = :account_id and searched like :longest and searched like all(:patterns)
      limit 5000)
   select ${ENTRY_COLUMNS}, confirmed_by, in_job from found join memory m on memory_id = id ${WITH_SUPPORT}
    where part = :part and account_id = :account_id and source_language = :from and target_language = :to
      and brand in ('', :brand) and ${USABLE}
    order by in_job desc nulls last, weight desc, changed_at desc, memory_id desc limit :limit`,
);

/**
 * Returns the usable entries that match all patterns: those of the document of the segment first, then by their weight.
 * @param search.at the segment for whose editor they are
 */
export function findWithWords(
  on: Queryable,
  account: AccountRef,
  pair: MemoryPair,
  { at, ...search }: { patterns: readonly string[]; limit: number; at: OpenSegment },
): Promise<(EntryRow & Support)[]> {
  const longest = longestOf(search.patterns);
  return on.query(CONCORDANCE, { ...valuesOf(account, pair, at), ...search, longest });
}

const PAGE = statement<EntryRow>(
  'memory.page',
  `select ${ENTRY_COLUMNS} from memory
    where part = $1 and account_id = $2 and memory_id > $3 and weight > 0 and withdrawn_at is null
      and ($4::text is null or source_language = $4) and ($5::text is null or target_language = $5)
      and ($6::text is null or brand = $6)
    order by memory_id limit $7`,
);

/** Returns a page of the usable entries in the order of creation. @param after the last entry of the previous page */
export function listPage(
  on: Queryable,
  account: AccountRef,
  filter: Pick<SearchFilter, 'from' | 'to' | 'brand'>,
  after: string | undefined,
  limit: number,
): Promise<EntryRow[]> {
  return on.query(PAGE, [
    account.part,
    account.accountId,
    after ?? '00000000-0000-0000-0000-000000000000',
    filter.from ?? null,
    filter.to ?? null,
    filter.brand ?? null,
    limit,
  ]);
}

export const summarize = statement<MemorySummary['memory'][number], { account: AccountRef }>(
  'memory.summary',
  `select source_language, target_language, nullif(brand, '') as brand, count(*) as entries,
          count(*) filter (where weight = 0 or withdrawn_at is not null) as withdrawn, max(changed_at) as changed_at
     from memory where part = :part and account_id = :account_id and ${DELIVERED}
    group by source_language, target_language, brand order by source_language, target_language, brand`,
).rows;
