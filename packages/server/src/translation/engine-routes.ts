/**
 * Engine routes: which engines serve a text, in which order. A rule's selector is its languages, tier, account and
 * brand; in these fields, `*` or null matches everything. Only the most specific rule that matches applies. If no rule
 * matches, the order in the settings applies.
 */
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { AccountRef } from '../base/account.ts';
import type { Transaction } from '../database/database.ts';
import type { EngineRoute, EngineRouteTier } from './engine-route-store.ts';
import * as store from './engine-route-store.ts';

export type { EngineRoute, EngineRouteTier } from './engine-route-store.ts';

export interface EngineRouteQuery {
  from: string;
  to: string;
  tier: EngineRouteTier;
  accountId: string | undefined;
  brand: string | undefined;
}

/** Returns the names of the engines to try, in order. */
export function enginesFor(
  rules: readonly EngineRoute[],
  question: EngineRouteQuery,
  fallback: readonly string[],
): readonly string[] {
  let best: EngineRoute | undefined;
  for (const rule of rules) {
    if (fits(rule, question) && (best === undefined || weightOf(rule) > weightOf(best))) best = rule;
  }
  return best?.engines ?? fallback;
}

function fits(rule: EngineRoute, question: EngineRouteQuery): boolean {
  return (
    (rule.source_language === '*' || rule.source_language === question.from) &&
    (rule.target_language === '*' || rule.target_language === question.to) &&
    (rule.tier === '*' || rule.tier === question.tier) &&
    (rule.account_id === null || rule.account_id === question.accountId) &&
    (rule.brand === null || rule.brand === question.brand)
  );
}

/**
 * Returns the weight of a rule by the fields that its selector names. A brand weighs most, then the account, the
 * target language, the source language and the tier. Of the rules that match a text, no two have the same weight.
 */
function weightOf(rule: EngineRoute): number {
  return (
    (rule.brand === null ? 0 : 16) +
    (rule.account_id === null ? 0 : 8) +
    (rule.target_language === '*' ? 0 : 4) +
    (rule.source_language === '*' ? 0 : 2) +
    (rule.tier === '*' ? 0 : 1)
  );
}

/** Creates a rule, or replaces the engines of the rule with the same selector. */
export async function setEngineRoute(
  transaction: Transaction,
  by: Actor,
  account: AccountRef | undefined,
  rule: EngineRoute,
): Promise<void> {
  await store.writeEngineRoute(transaction, rule);
  const { engines } = rule;
  await recordAudit(transaction, by, {
    action: 'route.set',
    account,
    subject: subjectOf(rule),
    detail: { engines },
  });
}

/** Removes a rule. @returns false when no rule has this selector */
export async function removeEngineRoute(
  transaction: Transaction,
  by: Actor,
  account: AccountRef | undefined,
  rule: Omit<EngineRoute, 'engines'>,
): Promise<boolean> {
  if (!(await store.deleteEngineRoute(transaction, rule))) return false;
  await recordAudit(transaction, by, {
    action: 'route.removed',
    account,
    subject: subjectOf(rule),
    detail: {},
  });
  return true;
}

const subjectOf = ({ source_language, target_language, tier }: Omit<EngineRoute, 'engines'>): string =>
  `${source_language}>${target_language} ${tier}`;
