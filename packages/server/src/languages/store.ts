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
  /** False while the engine has not finished the self-test of a new pair. */
  tested: boolean;
  route: string | null;
  hops: number | null;
}

/** The version that is stored for new pairs before their self-test. No engine has this version. */
const TESTING = 'testing';

export const listPairs = statement<PairRow>(
  'languages.pairs',
  `select coalesce(p.source_language, d.source_language) as source_language,
          coalesce(p.target_language, d.target_language) as target_language,
          d.source_language is null as enabled, p.engine, p.route, p.hops,
          p.engine_version is distinct from '${TESTING}' as tested
     from pairs p full join disabled_pairs d
       on d.source_language = p.source_language and d.target_language = p.target_language
    order by 1, 2, p.engine`,
).rows;

const REMOVE_OTHERS = statement(
  'languages.remove_other_pairs',
  `delete from pairs where engine = $1
      and (source_language, target_language) not in (select * from unnest($2::text[], $3::text[]))`,
);
const INSERT = `insert into pairs (source_language, target_language, engine, engine_version, route, hops, checked_at,
     seen_at)
   select source, target, $1, $6, route, hops, now(), now()
     from unnest($2::text[], $3::text[], $4::text[], $5::smallint[]) as p (source, target, route, hops)`;
const KEEP = statement(
  'languages.keep_pairs',
  `${INSERT}
   on conflict (source_language, target_language, engine)
   do update set engine_version = excluded.engine_version, route = excluded.route, hops = excluded.hops,
     checked_at = excluded.checked_at, seen_at = excluded.seen_at`,
);

const ADD_TESTING = statement(
  'languages.add_testing_pairs',
  `${INSERT}
   on conflict do nothing`,
);
const PASS = statement(
  'languages.pass_pairs',
  `update pairs set engine_version = $2, checked_at = now(), seen_at = now()
     from unnest($3::text[], $4::text[]) as p (source, target)
    where engine = $1 and engine_version = '${TESTING}' and source_language = source and target_language = target`,
);

interface Engine {
  name: string;
  version: string;
}
type Pairs = readonly { from: string; to: string; route: string; hops: number }[];

/** Replaces all language pairs of an engine. */
export async function replacePairs(transaction: Transaction, engine: Engine, pairs: Pairs): Promise<void> {
  const { sources, targets } = languagesOf(pairs);
  await transaction.query(REMOVE_OTHERS, [engine.name, sources, targets]);
  await transaction.query(KEEP, valuesOf(engine, pairs));
}

/** Adds the language pairs that an engine is about to test. Those that it has already stay as they are. */
export async function addTestingPairs(on: Queryable, engine: string, pairs: Pairs): Promise<void> {
  await on.query(ADD_TESTING, valuesOf({ name: engine, version: TESTING }, pairs));
}

/** Offers new language pairs that passed their self-test. */
export async function passPairs(on: Queryable, engine: Engine, pairs: Pairs): Promise<void> {
  const { sources, targets } = languagesOf(pairs);
  await on.query(PASS, [engine.name, engine.version, sources, targets]);
}

const languagesOf = (pairs: Pairs) => ({
  sources: pairs.map(({ from }) => from),
  targets: pairs.map(({ to }) => to),
});

function valuesOf(engine: Engine, pairs: Pairs): unknown[] {
  const { sources, targets } = languagesOf(pairs);
  const routes = pairs.map(({ route }) => route);
  const hops = pairs.map(({ hops }) => hops);
  return [engine.name, sources, targets, routes, hops, engine.version];
}

/** Removes the language pairs of an engine that have the version for untested pairs, or are being tested. */
export const removeUntestedPairs = statement<never, Engine>(
  'languages.remove_untested_pairs',
  `delete from pairs where engine = :name and engine_version in (:version, '${TESTING}')`,
).run;

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
export async function seePairs(on: Queryable, engine: Engine, hours: number): Promise<number> {
  return (await on.query(SEE, [engine.name, engine.version, hours])).length;
}

/** Lists the pairs of each version of an engine that were tested within the last `hours` hours. */
export const listTests = statement<
  { engine: string; version: string; since: Date; pairs: string[] },
  { hours: number }
>(
  'languages.tests',
  `select engine, engine_version as version, min(checked_at) as since,
          array_agg(source_language || '-' || target_language order by source_language, target_language) as pairs
     from pairs where checked_at > now() - make_interval(hours => :hours)
    group by engine, engine_version`,
).rows;

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

/** Removes the language pairs that no worker has published in the last `minutes` minutes. */
export const removeUnseenPairs = statement<never, { minutes: number }>(
  'languages.remove_unseen_pairs',
  `delete from pairs where seen_at < now() - make_interval(mins => :minutes)`,
).run;
