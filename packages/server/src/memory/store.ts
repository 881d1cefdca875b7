/** SQL statements that find and write memory entries. */
import type { Piece } from '@dragoman/documents';
import type { AccountRef } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { columnsOf, statement } from '../database/statements.ts';
import type { EntryKeys } from './form.ts';

export interface MemoryPair {
  from: string;
  to: string;
  /** The brand of the entries; undefined for entries that serve every brand. */
  brand: string | undefined;
}

/** The language pair, brand and tone for which a segment is looked up. */
export interface MemoryPurpose extends MemoryPair {
  /** The tone that the job or its brand asks for; undefined if any tone fits. */
  tone: string | undefined;
}

export type Origin = 'import' | 'job';
const EXISTS = statement<{ found: boolean }>(
  'memory.exists',
  `select exists (select from memory where part = $1 and account_id = $2) as found`,
);

export async function hasEntries(on: Queryable, account: AccountRef): Promise<boolean> {
  const [row] = await on.query(EXISTS, [account.part, account.accountId]);
  return row?.found ?? false;
}

/**
 * SQL condition: the tone of an entry allows its use as a draft. Imported entries without a tone fit every
 * tone.
 */
const hasTone = (asked: string) =>
  `(${asked} = '' or tone = ${asked} or (tone is null and origin = 'import'))`;

/** SQL order of the translations of a source, best first. */
const best = (asked: string) =>
  `brand desc, coalesce(tone, '') = ${asked} desc, weight desc, changed_at desc, memory_id desc`;

/**
 * The maximum number of translations of a source that are tried, because the protected words of the best one
 * may not fit.
 */
const CANDIDATES = 8;

export interface TargetRow {
  memory_id: string;
  source_hash: Buffer;
  source: Piece[];
  target: Piece[];
  weight: number;
}

const EXACT = statement<TargetRow>(
  'memory.exact',
  `select memory_id, source_hash, source, target, weight
     from (
       select memory_id, source_hash, source, target, weight,
              row_number() over (partition by source_hash order by ${best('$7')}) as place
         from memory
        where part = $1 and account_id = $2 and source_language = $3 and target_language = $4
          and source_hash = any($5) and brand in ('', $6) and weight > 0 and withdrawn_at is null
          and ${hasTone('$7')}) m
    where place <= ${CANDIDATES}
    order by place`,
);

/**
 * Returns the best targets of each source that the memory contains, best first. Targets of the brand come
 * before targets for every brand.
 */
export function findTargets(
  on: Queryable,
  account: AccountRef,
  { from, to, brand, tone }: MemoryPurpose,
  hashes: readonly Buffer[],
): Promise<TargetRow[]> {
  return on.query(EXACT, [account.part, account.accountId, from, to, hashes, brand ?? '', tone ?? '']);
}

const IN_CONTEXT = statement<TargetRow & { context_hash: Buffer }>(
  'memory.in_context',
  `select memory_id, source_hash, context_hash, source, target, weight
     from (
       select memory_id, g.source_hash, g.context_hash, source, target, weight,
              row_number() over (partition by g.source_hash, g.context_hash order by ${best('$8')}) as place
         from (select distinct * from unnest($5::bytea[], $6::bytea[]) as g (source_hash, context_hash)) g
         join memory m on m.part = $1 and m.account_id = $2 and m.source_language = $3 and m.target_language = $4
           and m.source_hash = g.source_hash
        where brand in ('', $7) and weight > 0 and withdrawn_at is null and ${hasTone('$8')}
          and exists (
            select from memory_lessons l
             where l.part = $1 and l.account_id = $2 and l.memory_id = m.memory_id
               and l.context_hash = g.context_hash and l.outcome <> 'rejected')) m
    where place <= ${CANDIDATES}
    order by place`,
);

/** Like `findTargets`, for sources that were translated before between the same neighbours. */
export function findTargetsInContext(
  on: Queryable,
  account: AccountRef,
  { from, to, brand, tone }: MemoryPurpose,
  places: readonly { hash: Buffer; context: Buffer }[],
): Promise<(TargetRow & { context_hash: Buffer })[]> {
  return on.query(IN_CONTEXT, [
    account.part,
    account.accountId,
    from,
    to,
    places.map(({ hash }) => hash),
    places.map(({ context }) => context),
    brand ?? '',
    tone ?? '',
  ]);
}

/** A memory entry with the columns that pages show and that the search for matches uses. */
export interface EntryRow {
  memory_id: string;
  brand: string;
  source_language: string;
  target_language: string;
  source: Piece[];
  target: Piece[];
  origin: Origin;
  weight: number;
  /** The tone of the entry's job or brand; null if none or unknown. */
  tone: string | null;
  created_at: Date;
  changed_at: Date;
  withdrawn_at: Date | null;
  withdrawn_by: string | null;
  withdraw_reason: string | null;
}

export const ENTRY_COLUMNS = `memory_id, source_language, target_language, brand, source, target, origin, weight, tone,
  created_at, changed_at, withdrawn_at, withdrawn_by, withdraw_reason`;

/** A segment for whose editor entries are searched. */
export interface OpenSegment {
  jobId: string;
  position: number;
}

/** Where an editor confirmed an entry in a job that was not delivered since. */
export interface Support {
  /** The name of the editor who confirmed it last; in the job of the segment, if it was confirmed there. */
  confirmed_by: string | null;
  /** Whether it was confirmed in the job of the segment. Null: no such lesson. */
  in_job: boolean | null;
}

/** SQL condition: customers may see the entry. A weight is that of a delivery by an older version. */
export const DELIVERED = '(delivered or weight > 0)';

/**
 * SQL condition on a lesson: another segment than `:job` and `:position` taught the entry `m` since its last delivery.
 * Never true without a segment, so that lookups for engines do not read lessons.
 */
const CONFIRMED = `:job::uuid is not null and l.part = :part and l.account_id = :account_id and l.memory_id = m.memory_id
          and l.outcome = 'confirmed' and (l.job_id, l.position) <> (:job::uuid, :position::integer)`;

/** SQL condition: the entry may be used; by an editor, if there is a segment, also before the delivery. */
export const USABLE = `withdrawn_at is null
        and (weight > 0 or exists (select from memory_lessons l where ${CONFIRMED}))`;

/** SQL join of the {@link Support} of entries. */
export const WITH_SUPPORT = `left join lateral (
       select coalesce(u.name, '') as confirmed_by, l.job_id = :job as in_job
         from memory_lessons l left join users u on u.user_id = l.editor_id
        where ${CONFIRMED}
        order by in_job desc, l.created_at desc limit 1) s on true`;

export interface SameRow extends EntryRow, Support {
  in_context: boolean;
  /** True if the entry's tone allows its use as a draft. */
  in_tone: boolean;
}

const SAME = statement<SameRow>(
  'memory.same',
  `select ${ENTRY_COLUMNS}, confirmed_by, in_job, ${hasTone(':tone')} as in_tone, exists (
            select from memory_lessons l
             where l.part = :part and l.account_id = m.account_id and l.memory_id = m.memory_id
               and l.context_hash = :context and l.outcome <> 'rejected') as in_context
     from memory m ${WITH_SUPPORT}
    where part = :part and account_id = :account_id and source_language = :from and target_language = :to
      and source_hash = any(:hashes) and brand in ('', :brand) and ${USABLE}
    order by in_tone desc, in_context desc, ${best(':tone')} limit :limit`,
);

/** The parameters of a search for a purpose. @param at the segment, if the result is for its editor */
export const valuesOf = (
  account: AccountRef,
  { from, to, brand }: MemoryPair,
  at: OpenSegment | undefined,
) => ({
  part: account.part,
  account_id: account.accountId,
  from,
  to,
  brand: brand ?? '',
  job: at?.jobId ?? null,
  position: at?.position ?? null,
});

/**
 * Returns the translations of a source, best first.
 * @param at the segment, if they are for its editor, who also gets what was not delivered yet
 */
export function findSame(
  on: Queryable,
  account: AccountRef,
  purpose: MemoryPurpose,
  search: { hashes: readonly Buffer[]; context: Buffer | undefined; limit: number },
  at: OpenSegment | undefined,
): Promise<SameRow[]> {
  const values = { ...valuesOf(account, purpose, at), ...search };
  return on.query(SAME, { ...values, context: search.context ?? null, tone: purpose.tone ?? '' });
}

/**
 * The maximum number of entries that are read for a segment. Of 100,000 English sentences, about 900 have a number in
 * common with another one. Without the limit, 100,000 sentences such as "Item 1" would all be read for each segment.
 */
const MAX_ALIKE = 2_000;

const alike = (most: string) => `select ${ENTRY_COLUMNS}, confirmed_by, in_job from (
     select * from memory m
      where part = :part and account_id = :account_id and source_language = :from and target_language = :to
        and brand in ('', :brand) and sketch && :sketch and ${USABLE} ${most}) m ${WITH_SUPPORT}
    order by cardinality(array(select unnest(sketch) intersect select unnest(:sketch::integer[]))) desc, brand desc,
             weight desc, changed_at desc
    limit :limit`;
const ALIKE = {
  all: statement<EntryRow & Support>('memory.alike', alike('')),
  some: statement<EntryRow & Support>('memory.alike_of_some', alike(`limit ${MAX_ALIKE}`)),
};

/**
 * Returns entries whose sources may be similar. Entries with the most sketch numbers in common come first.
 * @param search.among `some`: reads only some entries if a great many may be similar
 * @param search.at as in `findSame`
 */
export function findAlike(
  on: Queryable,
  account: AccountRef,
  pair: MemoryPair,
  sketch: readonly number[],
  { limit, among, at }: { limit: number; among: keyof typeof ALIKE; at?: OpenSegment | undefined },
): Promise<(EntryRow & Support)[]> {
  return on.query(ALIKE[among], { ...valuesOf(account, pair, at), sketch, limit });
}

// Counts the common numbers with a join of all sketches of the statement: counting them entry by entry, as the search
// for editors does, takes five times as long.
const SIMILAR = statement<{ place: number; source: Piece[]; target: Piece[] }>(
  'memory.similar',
  `with asked as materialized (
     select place, array(select jsonb_array_elements_text(sketch))::integer[] as sketch
       from unnest(:places::integer[], :sketches::jsonb[]) as g (place, sketch)),
   common as (
     select place, memory_id, count(*) as numbers
       from (
         select a.place, m.memory_id, unnest(m.sketch) as number
           from asked a cross join lateral (
             select * from memory where part = :part and account_id = :account_id and sketch && a.sketch limit ${MAX_ALIKE}) m
          where source_language = :from and target_language = :to and brand in ('', :brand) and weight >= :least_weight
            and withdrawn_at is null and ${hasTone(':tone')}) of_entries
       join (select place, unnest(sketch) as number from asked) of_asked using (place, number)
      group by place, memory_id),
   best as (
     select place, memory_id, row_number() over (partition by place order by numbers desc, memory_id) as rank
       from common)
   select b.place, m.source, m.target
     from best b join memory m on m.part = :part and m.account_id = :account_id and m.memory_id = b.memory_id
    where b.rank <= :limit`,
);

/**
 * Returns for each sketch the entries whose sources may be similar, with the place of the sketch. Entries with the most
 * sketch numbers in common are chosen.
 */
export function findSimilar(
  on: Queryable,
  account: AccountRef,
  { from, to, brand, tone }: MemoryPurpose,
  asked: readonly { place: number; sketch: readonly number[] }[],
  { leastWeight, limit }: { leastWeight: number; limit: number },
): Promise<{ place: number; source: Piece[]; target: Piece[] }[]> {
  return on.query(SIMILAR, {
    part: account.part,
    account_id: account.accountId,
    from,
    to,
    brand: brand ?? '',
    tone: tone ?? '',
    places: asked.map(({ place }) => place),
    sketches: asked.map(({ sketch }) => JSON.stringify(sketch)),
    least_weight: leastWeight,
    limit,
  });
}

export interface NewMemory {
  memoryId: string;
  keys: EntryKeys;
  /** The keys under which earlier versions stored the entry, if they differ. */
  former: EntryKeys | undefined;
  tone: string | undefined;
  source: readonly Piece[];
  target: readonly Piece[];
  sketch: readonly number[];
  searched: string;
}

export interface WrittenRow {
  memory_id: string;
  source_hash: Buffer;
  target_hash: Buffer;
}

// Sketches are passed as JSON, because PostgreSQL arrays cannot hold lists of different lengths. Rows are
// written in key order, so that two jobs with the same segments cannot deadlock. An imported entry keeps the
// origin `import`, so that it survives the rejection of a job with the same translation. An entry that an earlier
// version stored under other keys is renewed under them: a second row would be shown twice, and would not be withdrawn
// with the first.
const WRITE = statement<WrittenRow>(
  'memory.write',
  `insert into memory (part, account_id, memory_id, brand, source_language, target_language, source_hash, source,
     target, origin, weight, delivered, target_hash, sketch, searched, tone)
   select :part, :account_id, g.memory_id, :brand, :from, :to, coalesce(f.source_hash, g.source_hash) as source_hash,
          g.source, g.target, :origin, :weight, :weight::smallint > 0, coalesce(f.target_hash, g.target_hash) as target_hash,
          array(select jsonb_array_elements_text(g.sketch))::integer[], g.searched, g.tone
     from unnest(:ids::uuid[], :source_hashes::bytea[], :target_hashes::bytea[], :former_sources::bytea[],
            :former_targets::bytea[], :sources::jsonb[], :targets::jsonb[], :sketches::jsonb[], :searched::text[],
            :tones::text[])
       as g (memory_id, source_hash, target_hash, former_source, former_target, source, target, sketch, searched, tone)
     left join lateral (
       select source_hash, target_hash from memory
        where part = :part and account_id = :account_id and source_language = :from and target_language = :to
          and source_hash = g.former_source and brand = :brand and target_hash = g.former_target
        limit 1) f on true
    order by source_hash, target_hash
   on conflict (part, account_id, source_language, target_language, source_hash, brand, target_hash)
   do update set weight = greatest(memory.weight, excluded.weight), delivered = memory.delivered or excluded.delivered,
     changed_at = case when excluded.weight > 0 then excluded.changed_at else memory.changed_at end,
     origin = case when excluded.origin = 'import' then 'import' else memory.origin end
   returning memory_id, source_hash, target_hash`,
);

/**
 * Writes entries. If an entry exists already, its weight becomes the higher of the two weights. Without a weight, it does
 * not become the latest entry either, because machine jobs prefer that.
 */
export function writeMemory(
  on: Queryable,
  account: AccountRef,
  { from, to, brand }: MemoryPair,
  { origin, weight }: { origin: Origin; weight: number },
  entries: readonly NewMemory[],
): Promise<WrittenRow[]> {
  return on.query(WRITE, {
    part: account.part,
    account_id: account.accountId,
    brand: brand ?? '',
    from,
    to,
    origin,
    weight,
    ...columnsOf(entries, {
      ids: ({ memoryId }) => memoryId,
      source_hashes: ({ keys }) => keys.sourceHash,
      target_hashes: ({ keys }) => keys.targetHash,
      former_sources: ({ former }) => former?.sourceHash ?? null,
      former_targets: ({ former }) => former?.targetHash ?? null,
      sources: ({ source }) => JSON.stringify(source),
      targets: ({ target }) => JSON.stringify(target),
      sketches: ({ sketch }) => JSON.stringify(sketch),
      searched: ({ searched }) => searched,
      tones: ({ tone }) => tone ?? null,
    }),
  });
}

export const findEntry = statement<EntryRow, { account: AccountRef; memoryId: string }>(
  'memory.find',
  `select ${ENTRY_COLUMNS} from memory
    where part = :part and account_id = :account_id and memory_id = :memoryId and ${DELIVERED}`,
).first;

/** Withdraws an entry. @returns true if the entry existed and was not withdrawn */
export const withdrawEntry = statement<
  { memory_id: string },
  { account: AccountRef; memoryId: string; by: string; reason: string | null }
>(
  'memory.withdraw',
  `update memory set withdrawn_at = now(), withdrawn_by = :by, withdraw_reason = :reason
    where part = :part and account_id = :account_id and memory_id = :memoryId and withdrawn_at is null returning memory_id`,
).found;

/** Makes a withdrawn entry usable again. @returns true if the entry existed and was withdrawn */
export const restoreEntry = statement<{ memory_id: string }, { account: AccountRef; memoryId: string }>(
  'memory.restore',
  `update memory set withdrawn_at = null, withdrawn_by = null, withdraw_reason = null
    where part = :part and account_id = :account_id and memory_id = :memoryId and withdrawn_at is not null
      returning memory_id`,
).found;
