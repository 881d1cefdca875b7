/** The SQL statements about language pairs, which belong to no account. */
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';

/** A published or disabled language pair. A pair has one row for each of its engines. */
export interface PairRow {
  source_language: string;
  target_language: string;
  enabled: boolean;
  /** The engine that offers the pair; null for a disabled pair that no engine offers. */
  engine: string | null;
  route: string | null;
  hops: number | null;
}

const LIST = statement<PairRow>(
  'languages.pairs',
  `select coalesce(p.source_language, d.source_language) as source_language,
          coalesce(p.target_language, d.target_language) as target_language,
          d.source_language is null as enabled, p.engine, p.route, p.hops
     from pairs p full join disabled_pairs d
       on d.source_language = p.source_language and d.target_language = p.target_language
    order by 1, 2, p.engine`,
);

export function listPairs(on: Queryable): Promise<PairRow[]> {
  return on.query(LIST);
}

const REMOVE_OTHERS = statement(
  'languages.remove_other_pairs',
  `delete from pairs where engine = $1
      and (source_language, target_language) not in (select * from unnest($2::text[], $3::text[]))`,
);
const KEEP = statement(
  'languages.keep_pairs',
  `insert into pairs (source_language, target_language, engine, engine_version, route, hops, checked_at,
     seen_at)
   select source, target, $1, $6, route, hops, now(), now()
     from unnest($2::text[], $3::text[], $4::text[], $5::smallint[]) as p (source, target, route, hops)
   on conflict (source_language, target_language, engine)
   do update set engine_version = excluded.engine_version, route = excluded.route, hops = excluded.hops,
     checked_at = excluded.checked_at, seen_at = excluded.seen_at`,
);

/** Replaces all language pairs of an engine. */
export async function replacePairs(
  transaction: Transaction,
  engine: { name: string; version: string },
  pairs: readonly { from: string; to: string; route: string; hops: number }[],
): Promise<void> {
  const sources = pairs.map(({ from }) => from);
  const targets = pairs.map(({ to }) => to);
  await transaction.query(REMOVE_OTHERS, [engine.name, sources, targets]);
  await transaction.query(KEEP, [
    engine.name,
    sources,
    targets,
    pairs.map(({ route }) => route),
    pairs.map(({ hops }) => hops),
    engine.version,
  ]);
}

const REMOVE_PAIRS = statement(
  'languages.remove_pairs',
  `delete from pairs where engine = $1 and engine_version = $2`,
);

/** Removes the language pairs of one version of an engine. */
export async function removePairs(on: Queryable, engine: { name: string; version: string }): Promise<void> {
  await on.query(REMOVE_PAIRS, [engine.name, engine.version]);
}

const SEE = statement<{ engine: string }>(
  'languages.see_pairs',
  `update pairs set seen_at = now()
    where engine = $1 and engine_version = $2 and checked_at > now() - make_interval(hours => $3)
   returning engine`,
);

/**
 * Renews the pairs of an engine if its version was tested within the last `hours` hours. @returns the number
 * of pairs
 */
export async function seePairs(
  on: Queryable,
  engine: { name: string; version: string },
  hours: number,
): Promise<number> {
  return (await on.query(SEE, [engine.name, engine.version, hours])).length;
}

const DISABLE = statement(
  'languages.disable_pair',
  `insert into disabled_pairs (source_language, target_language) values ($1, $2) on conflict do nothing`,
);
const ENABLE = statement(
  'languages.enable_pair',
  `delete from disabled_pairs where source_language = $1 and target_language = $2`,
);

/** Enables or disables a language pair, independently of the engines. */
export async function setPairEnabled(
  on: Queryable,
  from: string,
  to: string,
  enabled: boolean,
): Promise<void> {
  await on.query(enabled ? ENABLE : DISABLE, [from, to]);
}

const REMOVE_UNSEEN = statement(
  'languages.remove_unseen_pairs',
  `delete from pairs where seen_at < now() - make_interval(mins => $1)`,
);

/** Removes the language pairs that no worker has published in the last `minutes` minutes. */
export async function removeUnseenPairs(on: Queryable, minutes: number): Promise<void> {
  await on.query(REMOVE_UNSEEN, [minutes]);
}
