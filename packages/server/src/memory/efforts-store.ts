/** SQL statements about the effort of editors with the drafts of engines and of similar memory entries. */
import type { AccountRef } from '../base/account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { columnsOf, statement } from '../database/statements.ts';
import type { MemoryPurpose } from './store.ts';

/** Sums over delivered segments that had an engine's draft and a similar memory entry of one band. */
export interface EffortSums {
  /** The route of the engine's draft, such as `apertium:eng-spa`, with the model if there is one. */
  route: string;
  /** The lowest score of the entries, in percent. */
  band: number;
  /** The draft from which the editors started. */
  started: 'engine' | 'memory';
  segments: number;
  /** The words of the delivered texts. */
  words: number;
  /** The words that differ between the engine's draft and the delivered text. */
  engine_edits: number;
  memory_edits: number;
}

type Scope = Pick<MemoryPurpose, 'from' | 'to' | 'tone'>;

// Older figures may describe another state of the engine or the memory.
const SUMS = `select route, band, started, sum(segments)::float8 as segments, sum(words)::float8 as words,
          sum(engine_edits)::float8 as engine_edits, sum(memory_edits)::float8 as memory_edits
     from memory_efforts`;
const RECENT = 'day > current_date - 365 group by route, band, started';
const EFFORTS = statement<EffortSums>(
  'memory.efforts',
  `${SUMS} where part = $1 and account_id = $2 and source_language = $3 and target_language = $4 and tone = $5
      and ${RECENT}`,
);
const POOLED_EFFORTS = statement<EffortSums>(
  'memory.pooled_efforts',
  `${SUMS} where source_language = $1 and target_language = $2 and tone = $3 and ${RECENT}`,
);

/** Returns the sums of an account for a language pair and tone, of the last 365 days. */
export function listEfforts(
  on: Queryable,
  account: AccountRef,
  { from, to, tone }: Scope,
): Promise<EffortSums[]> {
  return on.query(EFFORTS, [account.part, account.accountId, from, to, tone ?? '']);
}

/** Returns the sums of all accounts for a language pair and tone, of the last 365 days. */
export function listPooledEfforts(on: Queryable, { from, to, tone }: Scope): Promise<EffortSums[]> {
  return on.query(POOLED_EFFORTS, [from, to, tone ?? '']);
}

// Rows are written in key order, so that two jobs cannot deadlock.
const ADD = statement(
  'memory.add_efforts',
  `insert into memory_efforts (part, account_id, source_language, target_language, tone, day, route, band, started,
     segments, words, engine_edits, memory_edits)
   select :part, :account_id, :from, :to, :tone, current_date, route, band, started, segments, words, engine_edits,
          memory_edits
     from unnest(:routes::text[], :bands::integer[], :started::text[], :segments::bigint[], :words::bigint[],
       :engine_edits::bigint[], :memory_edits::bigint[])
       as g (route, band, started, segments, words, engine_edits, memory_edits)
    order by route, band, started
   on conflict (part, account_id, source_language, target_language, tone, day, route, band, started) do update
      set segments = memory_efforts.segments + excluded.segments, words = memory_efforts.words + excluded.words,
          engine_edits = memory_efforts.engine_edits + excluded.engine_edits,
          memory_edits = memory_efforts.memory_edits + excluded.memory_edits`,
);

/** Adds to the sums of an account, in the transaction that delivers the job. */
export async function addEfforts(
  transaction: Transaction,
  account: AccountRef,
  { from, to, tone }: Scope,
  rows: readonly EffortSums[],
): Promise<void> {
  if (rows.length === 0) return;
  await transaction.query(ADD, {
    part: account.part,
    account_id: account.accountId,
    from,
    to,
    tone: tone ?? '',
    ...columnsOf(rows, {
      routes: ({ route }) => route,
      bands: ({ band }) => band,
      started: ({ started }) => started,
      segments: ({ segments }) => segments,
      words: ({ words }) => words,
      engine_edits: (row) => row.engine_edits,
      memory_edits: (row) => row.memory_edits,
    }),
  });
}
