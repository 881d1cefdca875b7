/** SQL statements about the effort of editors with the texts of engines and of similar memory entries. */
import type { AccountRef } from '../base/account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { columnsOf, statement } from '../database/statements.ts';

/** Sums over delivered segments that had an engine's text and a similar memory entry of one band. */
export interface EffortSums {
  /** The route of the engine's text, such as `apertium:eng-spa`, with the model if there is one. */
  route: string;
  /** The lowest score of the matches, in percent. */
  band: number;
  /** The text that the editors started from. */
  drafted: 'engine' | 'memory';
  segments: number;
  /** The words of the delivered texts. */
  words: number;
  /** The words that differ between the engine's text and the delivered text. */
  engine_edits: number;
  memory_edits: number;
}

interface Pair {
  from: string;
  to: string;
}

const EFFORTS = statement<EffortSums>(
  'memory.efforts',
  `select route, band, drafted, segments, words, engine_edits, memory_edits from memory_efforts
    where part = $1 and account_id = $2 and source_language = $3 and target_language = $4`,
);

/** Returns the sums of an account and language pair. */
export function listEfforts(on: Queryable, account: AccountRef, { from, to }: Pair): Promise<EffortSums[]> {
  return on.query(EFFORTS, [account.part, account.accountId, from, to]);
}

// Rows are written in key order, so that two jobs cannot deadlock.
const ADD = statement(
  'memory.add_efforts',
  `insert into memory_efforts (part, account_id, source_language, target_language, route, band, drafted, segments, words,
     engine_edits, memory_edits)
   select :part, :account_id, :from, :to, route, band, drafted, segments, words, engine_edits, memory_edits
     from unnest(:routes::text[], :bands::integer[], :drafted::text[], :segments::bigint[], :words::bigint[],
       :engine_edits::bigint[], :memory_edits::bigint[])
       as g (route, band, drafted, segments, words, engine_edits, memory_edits)
    order by route, band, drafted
   on conflict (part, account_id, source_language, target_language, route, band, drafted) do update
      set segments = memory_efforts.segments + excluded.segments, words = memory_efforts.words + excluded.words,
          engine_edits = memory_efforts.engine_edits + excluded.engine_edits,
          memory_edits = memory_efforts.memory_edits + excluded.memory_edits`,
);

/** Adds to the sums of an account and language pair. */
export async function addEfforts(
  transaction: Transaction,
  account: AccountRef,
  { from, to }: Pair,
  rows: readonly EffortSums[],
): Promise<void> {
  await transaction.query(ADD, {
    part: account.part,
    account_id: account.accountId,
    from,
    to,
    ...columnsOf(rows, {
      routes: ({ route }) => route,
      bands: ({ band }) => band,
      drafted: ({ drafted }) => drafted,
      segments: ({ segments }) => segments,
      words: ({ words }) => words,
      engine_edits: (row) => row.engine_edits,
      memory_edits: (row) => row.memory_edits,
    }),
  });
}
