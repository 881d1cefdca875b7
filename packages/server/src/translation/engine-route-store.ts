/** SQL for the operator's engine routes. Their table is a reference table, which every worker reads. */
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';

export type EngineRouteTier = 'human' | 'machine' | 'chat';

export interface EngineRoute {
  source_language: string;
  target_language: string;
  tier: EngineRouteTier | '*';
  /** The account that the rule applies to; null means every account. */
  account_id: string | null;
  /** The brand that the rule applies to; null means every brand. */
  brand: string | null;
  engines: readonly string[];
}

export const listEngineRoutes = statement<EngineRoute & { username: string | null }>(
  'translation.list_engine_routes',
  `select source_language, target_language, tier, r.account_id, a.username, brand, engines
     from engine_routes r left join accounts a using (account_id)
    order by username nulls first, brand nulls first, source_language, target_language, tier`,
).rows;

const SET = statement(
  'translation.write_engine_route',
  `insert into engine_routes (source_language, target_language, tier, account_id, brand, engines)
   values ($1, $2, $3, $4, $5, $6)
   on conflict (source_language, target_language, tier, account_id, brand) do update set engines = excluded.engines`,
);

/** Inserts a rule, or replaces the engines of the rule with the same selector. */
export async function writeEngineRoute(on: Queryable, rule: EngineRoute): Promise<void> {
  await on.query(SET, [...keyOf(rule), rule.engines]);
}

const REMOVE = statement<{ engines: string[] }>(
  'translation.delete_engine_route',
  `delete from engine_routes where source_language = $1 and target_language = $2 and tier = $3
      and account_id is not distinct from $4 and brand is not distinct from $5
   returning engines`,
);

/** Deletes a rule. @returns false when no rule has this selector */
export async function deleteEngineRoute(on: Queryable, rule: Omit<EngineRoute, 'engines'>): Promise<boolean> {
  return (await on.query(REMOVE, keyOf(rule))).length > 0;
}

function keyOf(rule: Omit<EngineRoute, 'engines'>): unknown[] {
  return [rule.source_language, rule.target_language, rule.tier, rule.account_id, rule.brand];
}
