/** What is asked of the database about the translation memory. */
import type { Piece } from '@dragoman/documents';
import type { AccountRef } from '../account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';

export interface MemoryPair {
  from: string;
  to: string;
  /** Undefined: what is for every brand. */
  brand: string | undefined;
}

/** What a segment is translated for. */
export interface Purpose extends MemoryPair {
  /** The tone that the job or its brand asks for; undefined: any. */
  tone: string | undefined;
}

export type Origin = 'import' | 'job';
/** How a job's translation was received, in the order of what it weighs. */
export type Outcome = 'rejected' | 'delivered' | 'reviewed' | 'accepted';
/** Put into a draft by the machine, or confirmed by an editor as it was there. */
export type Use = 'applied' | 'taken';

const EXISTS = statement<{ found: boolean }>(
  'memory.exists',
  `select exists (select from memory where part = $1 and account_id = $2) as found`,
);

export async function hasMemory(on: Queryable, account: AccountRef): Promise<boolean> {
  const [row] = await on.query(EXISTS, [account.part, account.accountId]);
  return row?.found ?? false;
}

/**
 * Whether an entry may be a draft as far as its tone goes. A file says nothing of its tone, and who brought it in
 * vouches for it.
 */
const hasTone = (asked: string) =>
  `(${asked} = '' or tone = ${asked} or (tone is null and origin = 'import'))`;

/** The order of several translations of a source, the best first. */
const best = (asked: string) =>
  `brand desc, coalesce(tone, '') = ${asked} desc, weight desc, changed_at desc, memory_id desc`;

/**
 * So many translations of a source are looked at: the best may be of other kept words, or hold them in a form that is
 * not understood.
 */
const CANDIDATES = 8;

export interface TargetRow {
  memory_id: string;
  source_hash: Buffer;
  source: Piece[];
  target: Piece[];
}

const EXACT = statement<TargetRow>(
  'memory.exact',
  `select memory_id, source_hash, source, target
     from (
       select memory_id, source_hash, source, target,
              row_number() over (partition by source_hash order by ${best('$7')}) as place
         from memory
        where part = $1 and account_id = $2 and source_language = $3 and target_language = $4
          and source_hash = any($5) and brand in ('', $6) and weight > 0 and retracted_at is null
          and ${hasTone('$7')}) m
    where place <= ${CANDIDATES}
    order by place`,
);

/** The best targets of each source that is known, the best first; a brand's own before one for every brand. */
export function findTargets(
  on: Queryable,
  account: AccountRef,
  { from, to, brand, tone }: Purpose,
  hashes: readonly Buffer[],
): Promise<TargetRow[]> {
  return on.query(EXACT, [account.part, account.accountId, from, to, hashes, brand ?? '', tone ?? '']);
}

const IN_CONTEXT = statement<TargetRow & { context_hash: Buffer }>(
  'memory.in_context',
  `select memory_id, source_hash, context_hash, source, target
     from (
       select memory_id, g.source_hash, g.context_hash, source, target,
              row_number() over (partition by g.source_hash, g.context_hash order by ${best('$8')}) as place
         from (select distinct * from unnest($5::bytea[], $6::bytea[]) as g (source_hash, context_hash)) g
         join memory m on m.part = $1 and m.account_id = $2 and m.source_language = $3 and m.target_language = $4
           and m.source_hash = g.source_hash
        where brand in ('', $7) and weight > 0 and retracted_at is null and ${hasTone('$8')}
          and exists (
            select from memory_lessons l
             where l.part = $1 and l.account_id = $2 and l.memory_id = m.memory_id
               and l.context_hash = g.context_hash and l.outcome <> 'rejected')) m
    where place <= ${CANDIDATES}
    order by place`,
);

/** The same for sources between their neighbours, where they were translated there before. */
export function findTargetsInContext(
  on: Queryable,
  account: AccountRef,
  { from, to, brand, tone }: Purpose,
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

/** An entry, as it is shown and compared. */
export interface EntryRow {
  memory_id: string;
  brand: string;
  source_language: string;
  target_language: string;
  source: Piece[];
  target: Piece[];
  origin: Origin;
  weight: number;
  /** The tone that its job or its brand asked for; null: none, or it is not known. */
  tone: string | null;
  created_at: Date;
  changed_at: Date;
  retracted_at: Date | null;
  retracted_by: string | null;
  retract_reason: string | null;
}

const COLUMNS = `memory_id, brand, source_language, target_language, source, target, origin, weight, tone,
  created_at, changed_at, retracted_at, retracted_by, retract_reason`;

/** @param in_tone whether it may be a draft as far as its tone goes */
export interface SameRow extends EntryRow {
  in_context: boolean;
  in_tone: boolean;
}

const SAME = statement<SameRow>(
  'memory.same',
  `select ${COLUMNS}, ${hasTone('$9')} as in_tone, exists (
            select from memory_lessons l
             where l.part = m.part and l.account_id = m.account_id and l.memory_id = m.memory_id
               and l.context_hash = $7 and l.outcome <> 'rejected') as in_context
     from memory m
    where part = $1 and account_id = $2 and source_language = $3 and target_language = $4 and source_hash = $5
      and brand in ('', $6) and weight > 0 and retracted_at is null
    order by in_tone desc, in_context desc, ${best('$9')} limit $8`,
);

/** Every translation of a source, the best first. */
export function findSame(
  on: Queryable,
  account: AccountRef,
  { from, to, brand, tone }: Purpose,
  { hash, context, limit }: { hash: Buffer; context: Buffer | undefined; limit: number },
): Promise<SameRow[]> {
  return on.query(SAME, [
    account.part,
    account.accountId,
    from,
    to,
    hash,
    brand ?? '',
    context ?? null,
    limit,
    tone ?? '',
  ]);
}

const ALIKE = statement<EntryRow>(
  'memory.alike',
  `select ${COLUMNS} from memory
    where part = $1 and account_id = $2 and source_language = $3 and target_language = $4 and brand in ('', $5)
      and sketch && $6 and weight > 0 and retracted_at is null
    order by cardinality(array(select unnest(sketch) intersect select unnest($6::integer[]))) desc, brand desc,
             weight desc, changed_at desc
    limit $7`,
);

/** Entries whose sources may be alike, the likelier first. */
export function findAlike(
  on: Queryable,
  account: AccountRef,
  { from, to, brand }: MemoryPair,
  sketch: readonly number[],
  limit: number,
): Promise<EntryRow[]> {
  return on.query(ALIKE, [account.part, account.accountId, from, to, brand ?? '', sketch, limit]);
}

export interface NewMemory {
  memoryId: string;
  sourceHash: Buffer;
  targetHash: Buffer;
  tone: string | undefined;
  source: readonly Piece[];
  target: readonly Piece[];
  sketch: readonly number[];
  searched: string;
}

// Lists within a list cannot be nested in an array of PostgreSQL, so sketches come as JSON. Written in the order of
// their key: two jobs that teach the same must not wait for each other.
export interface WrittenRow {
  memory_id: string;
  source_hash: Buffer;
  target_hash: Buffer;
  /** It was there before. */
  confirmed: boolean;
}

// What was brought in stays when the job that teaches the same is rejected, whichever of the two came first.
const WRITE = statement<WrittenRow>(
  'memory.write',
  `insert into memory (part, account_id, memory_id, brand, source_language, target_language, source_hash, source,
     target, origin, weight, target_hash, sketch, searched, tone)
   select $1, $2, memory_id, $3, $4, $5, source_hash, source, target, $6, $7, target_hash,
          array(select jsonb_array_elements_text(sketch))::integer[], searched, tone
     from unnest($8::uuid[], $9::bytea[], $10::bytea[], $11::jsonb[], $12::jsonb[], $13::jsonb[], $14::text[], $15::text[])
       as g (memory_id, source_hash, target_hash, source, target, sketch, searched, tone)
    order by source_hash, target_hash
   on conflict (part, account_id, source_language, target_language, source_hash, brand, target_hash)
   do update set weight = greatest(memory.weight, excluded.weight), changed_at = now(),
     origin = case when excluded.origin = 'import' then 'import' else memory.origin end
   returning memory_id, source_hash, target_hash, xmax <> 0 as confirmed`,
);

/** Writes entries; one that is there is confirmed. */
export function writeMemory(
  on: Queryable,
  account: AccountRef,
  { from, to, brand }: MemoryPair,
  { origin, weight }: { origin: Origin; weight: number },
  entries: readonly NewMemory[],
): Promise<WrittenRow[]> {
  return on.query(WRITE, [
    account.part,
    account.accountId,
    brand ?? '',
    from,
    to,
    origin,
    weight,
    entries.map(({ memoryId }) => memoryId),
    entries.map(({ sourceHash }) => sourceHash),
    entries.map(({ targetHash }) => targetHash),
    entries.map(({ source }) => JSON.stringify(source)),
    entries.map(({ target }) => JSON.stringify(target)),
    entries.map(({ sketch }) => JSON.stringify(sketch)),
    entries.map(({ searched }) => searched),
    entries.map(({ tone }) => tone ?? null),
  ]);
}

const FORGET_LESSONS = statement<{ memory_id: string }>(
  'memory.forget_lessons',
  `delete from memory_lessons where part = $1 and account_id = $2 and job_id = $3 returning memory_id`,
);

/** Takes back what a job taught. @returns the entries that it had taught */
export async function forgetLessons(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
): Promise<string[]> {
  const rows = await transaction.query(FORGET_LESSONS, [account.part, account.accountId, jobId]);
  return rows.map(({ memory_id }) => memory_id);
}

export interface NewLesson {
  position: number;
  memoryId: string;
  editor: string | undefined;
  context: Buffer | undefined;
}

const TEACH = statement(
  'memory.teach',
  `insert into memory_lessons (part, account_id, job_id, position, memory_id, editor_id, outcome, context_hash)
   select $1, $2, $3, position, memory_id, editor_id, $4, context_hash
     from unnest($5::integer[], $6::uuid[], $7::uuid[], $8::bytea[]) as g (position, memory_id, editor_id, context_hash)`,
);

export async function writeLessons(
  transaction: Transaction,
  account: AccountRef,
  { jobId, outcome }: { jobId: string; outcome: Outcome },
  lessons: readonly NewLesson[],
): Promise<void> {
  await transaction.query(TEACH, [
    account.part,
    account.accountId,
    jobId,
    outcome,
    lessons.map(({ position }) => position),
    lessons.map(({ memoryId }) => memoryId),
    lessons.map(({ editor }) => editor ?? null),
    lessons.map(({ context }) => context ?? null),
  ]);
}

const JUDGE = statement<{ memory_id: string }>(
  'memory.judge',
  `update memory_lessons set outcome = $4 where part = $1 and account_id = $2 and job_id = $3 returning memory_id`,
);

/** Says how all that a job taught was received. @returns the entries that it taught */
export async function judgeLessons(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  outcome: Outcome,
): Promise<string[]> {
  const rows = await transaction.query(JUDGE, [account.part, account.accountId, jobId, outcome]);
  return rows.map(({ memory_id }) => memory_id);
}

const WEIGH = statement(
  'memory.weigh',
  `with heaviest as (
     select m.part, m.account_id, m.memory_id,
            greatest(case m.origin when 'import' then $4::smallint else 0 end,
              coalesce(max(array_position(array['delivered', 'reviewed', 'accepted'], l.outcome) + $4), 0)) as weight
       from memory m left join memory_lessons l
         on l.part = m.part and l.account_id = m.account_id and l.memory_id = m.memory_id
      where m.part = $1 and m.account_id = $2 and m.memory_id = any($3)
      group by m.part, m.account_id, m.memory_id, m.origin)
   update memory m set weight = h.weight from heaviest h
    where m.part = h.part and m.account_id = h.account_id and m.memory_id = h.memory_id and m.weight <> h.weight`,
);

/** Weighs entries anew by their lessons. @param importWeight of what was brought in; what people taught here is above it */
export async function weigh(
  transaction: Transaction,
  account: AccountRef,
  memoryIds: readonly string[],
  importWeight: number,
): Promise<void> {
  await transaction.query(WEIGH, [account.part, account.accountId, memoryIds, importWeight]);
}

const USED = statement(
  'memory.used',
  `insert into memory_uses (part, account_id, memory_id, job_id, position, how)
   select $1, $2, memory_id, $3, position, how
     from unnest($4::uuid[], $5::integer[], $6::text[]) as g (memory_id, position, how)
    where exists (select from memory m where m.part = $1 and m.account_id = $2 and m.memory_id = g.memory_id)
   on conflict (part, account_id, memory_id, job_id, position, how) do nothing`,
);

export async function writeUses(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  uses: readonly { memoryId: string; position: number; how: Use }[],
): Promise<void> {
  await on.query(USED, [
    account.part,
    account.accountId,
    jobId,
    uses.map(({ memoryId }) => memoryId),
    uses.map(({ position }) => position),
    uses.map(({ how }) => how),
  ]);
}

const FIND = statement<EntryRow>(
  'memory.find',
  `select ${COLUMNS} from memory where part = $1 and account_id = $2 and memory_id = $3`,
);

export async function findEntry(
  on: Queryable,
  account: AccountRef,
  memoryId: string,
): Promise<EntryRow | undefined> {
  const [row] = await on.query(FIND, [account.part, account.accountId, memoryId]);
  return row;
}

const RETRACT = statement<{ memory_id: string }>(
  'memory.retract',
  `update memory set retracted_at = now(), retracted_by = $4, retract_reason = $5
    where part = $1 and account_id = $2 and memory_id = $3 and retracted_at is null returning memory_id`,
);

/** @returns whether it was there, and not retracted before */
export async function retractEntry(
  on: Queryable,
  account: AccountRef,
  memoryId: string,
  by: string,
  reason: string | undefined,
): Promise<boolean> {
  const key = [account.part, account.accountId, memoryId];
  return (await on.query(RETRACT, [...key, by, reason ?? null])).length > 0;
}

const RESTORE = statement<{ memory_id: string }>(
  'memory.restore',
  `update memory set retracted_at = null, retracted_by = null, retract_reason = null
    where part = $1 and account_id = $2 and memory_id = $3 and retracted_at is not null returning memory_id`,
);

/** @returns whether it was there, and retracted */
export async function restoreEntry(on: Queryable, account: AccountRef, memoryId: string): Promise<boolean> {
  return (await on.query(RESTORE, [account.part, account.accountId, memoryId])).length > 0;
}

export interface TouchRow {
  job_id: string;
  uid: string;
  environment: string;
  status: string;
  position: number;
  /** `taught`: the entry comes from there. */
  how: Use | 'taught';
  outcome: Outcome | null;
  editor_id: string | null;
  created_at: Date;
}

const TOUCHED = statement<TouchRow>(
  'memory.touched',
  `select t.job_id, j.uid, j.environment, j.status, t.position, t.how, t.outcome, t.editor_id, t.created_at
     from (
       select part, account_id, job_id, position, how, null as outcome, null::uuid as editor_id, created_at
         from memory_uses where part = $1 and account_id = $2 and memory_id = $3
       union all
       select part, account_id, job_id, position, 'taught', outcome, editor_id, created_at
         from memory_lessons where part = $1 and account_id = $2 and memory_id = $3) t
     join jobs j on j.part = t.part and j.account_id = t.account_id and j.job_id = t.job_id
    order by t.created_at desc, t.job_id, t.position limit $4`,
);

/** The segments of jobs that an entry came from or went to, the last first. */
export function findTouched(
  on: Queryable,
  account: AccountRef,
  memoryId: string,
  limit: number,
): Promise<TouchRow[]> {
  return on.query(TOUCHED, [account.part, account.accountId, memoryId, limit]);
}

export interface SearchFilter {
  from: string | undefined;
  to: string | undefined;
  brand: string | undefined;
  /** As `like` reads them; all of them must match. */
  patterns: readonly string[];
  state: 'live' | 'retracted' | 'all';
  /** Entries older than this one. */
  before: string | undefined;
  limit: number;
}

const FILTER = `($4::text is null or source_language = $4) and ($5::text is null or target_language = $5)
      and ($6::text is null or brand = $6)
      and ($7 = 'all' or ($7 = 'retracted') = (retracted_at is not null or weight = 0))
      and ($8::uuid is null or memory_id < $8)
    order by memory_id desc limit $9`;

const LIST = statement<EntryRow>(
  'memory.list',
  `select ${COLUMNS} from memory where part = $1 and account_id = $2 and $3::text[] is not null and ${FILTER}`,
);

// An index finds one pattern (`like all` has none), and is asked first: in the order of the key all entries would be
// read until there are enough that fit.
const SEARCH = statement<EntryRow>(
  'memory.search',
  `with found as materialized (
     select memory_id as id from memory
      where part = $1 and account_id = $2 and searched like $10 and searched like all($3))
   select ${COLUMNS} from found join memory on memory_id = id
    where part = $1 and account_id = $2 and ${FILTER}`,
);

/** Entries that have all the patterns in their source or target, the last made first. */
export function searchEntries(on: Queryable, account: AccountRef, filter: SearchFilter): Promise<EntryRow[]> {
  const { patterns } = filter;
  const values = [
    account.part,
    account.accountId,
    patterns,
    filter.from ?? null,
    filter.to ?? null,
    filter.brand ?? null,
    filter.state,
    filter.before ?? null,
    filter.limit,
  ];
  return patterns.length === 0 ? on.query(LIST, values) : on.query(SEARCH, [...values, longestOf(patterns)]);
}

/** The longest is the rarest, more often than not. */
function longestOf(patterns: readonly string[]): string {
  return patterns.reduce((longest, one) => (one.length > longest.length ? one : longest), '');
}

// Of a word that is everywhere, some places say enough: somebody waits for the answer.
const CONCORDANCE = statement<EntryRow>(
  'memory.concordance',
  `with found as materialized (
     select memory_id as id from memory
      where part = $1 and account_id = $2 and searched like $8 and searched like all($3)
      limit 5000)
   select ${COLUMNS} from found join memory on memory_id = id
    where part = $1 and account_id = $2 and source_language = $4 and target_language = $5 and brand in ('', $6)
      and weight > 0 and retracted_at is null
    order by weight desc, changed_at desc, memory_id desc limit $7`,
);

/** The same among what an editor may take, the weightiest first. */
export function findWithWords(
  on: Queryable,
  account: AccountRef,
  { from, to, brand }: MemoryPair,
  patterns: readonly string[],
  limit: number,
): Promise<EntryRow[]> {
  const filter = [patterns, from, to, brand ?? '', limit, longestOf(patterns)];
  return on.query(CONCORDANCE, [account.part, account.accountId, ...filter]);
}

const PAGE = statement<EntryRow>(
  'memory.page',
  `select ${COLUMNS} from memory
    where part = $1 and account_id = $2 and memory_id > $3 and weight > 0 and retracted_at is null
      and ($4::text is null or source_language = $4) and ($5::text is null or target_language = $5)
      and ($6::text is null or brand = $6)
    order by memory_id limit $7`,
);

/** What is in use, in the order of its making. @param after the last entry of the page before */
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

const SUMMARY = statement<SummaryRow>(
  'memory.summary',
  `select source_language, target_language, nullif(brand, '') as brand, count(*) as entries,
          count(*) filter (where weight = 0 or retracted_at is not null) as retracted, max(changed_at) as changed_at
     from memory where part = $1 and account_id = $2
    group by source_language, target_language, brand order by source_language, target_language, brand`,
);

export interface SummaryRow {
  source_language: string;
  target_language: string;
  brand: string | null;
  entries: number;
  /** Of them, those that are not used any more. */
  retracted: number;
  changed_at: Date;
}

export function summarize(on: Queryable, account: AccountRef): Promise<SummaryRow[]> {
  return on.query(SUMMARY, [account.part, account.accountId]);
}
