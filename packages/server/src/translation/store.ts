/** What is asked of the database about routes. A reference table: rules of the operator, read by every worker. */
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { RouteRule } from './routes.ts';

const LIST = statement<RouteRule & { username: string | null }>(
  'translation.routes',
  `select source_language, target_language, tier, r.account_id, a.username, brand, engines
     from routes r left join accounts a using (account_id)
    order by username nulls first, brand nulls first, source_language, target_language, tier`,
);

export function listRoutes(on: Queryable): Promise<(RouteRule & { username: string | null })[]> {
  return on.query(LIST);
}

const SET = statement(
  'translation.set_route',
  `insert into routes (source_language, target_language, tier, account_id, brand, engines)
   values ($1, $2, $3, $4, $5, $6)
   on conflict (source_language, target_language, tier, account_id, brand) do update set engines = excluded.engines`,
);

/** Makes a rule, or gives the one for the same its engines. */
export async function setRoute(on: Queryable, rule: RouteRule): Promise<void> {
  await on.query(SET, [...keyOf(rule), rule.engines]);
}

const REMOVE = statement<{ engines: string[] }>(
  'translation.remove_route',
  `delete from routes where source_language = $1 and target_language = $2 and tier = $3
      and account_id is not distinct from $4 and brand is not distinct from $5
   returning engines`,
);

/** @returns false when there is no such rule */
export async function removeRoute(on: Queryable, rule: Omit<RouteRule, 'engines'>): Promise<boolean> {
  return (await on.query(REMOVE, keyOf(rule))).length > 0;
}

function keyOf(rule: Omit<RouteRule, 'engines'>): unknown[] {
  return [rule.source_language, rule.target_language, rule.tier, rule.account_id, rule.brand];
}
