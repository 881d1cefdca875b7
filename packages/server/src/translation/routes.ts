/**
 * Which engines serve a text, in which order. A rule names what it is for, `*` or nothing standing for all; of the
 * rules that fit, the most specific one decides alone. Where none fits, the settings' order does.
 */
export type RouteTier = 'human' | 'machine' | 'chat';

export interface RouteRule {
  source_language: string;
  target_language: string;
  tier: RouteTier | '*';
  /** Null: every account. */
  account_id: string | null;
  /** Null: every brand. */
  brand: string | null;
  engines: readonly string[];
}

export interface RouteQuestion {
  from: string;
  to: string;
  tier: RouteTier;
  accountId: string | undefined;
  brand: string | undefined;
}

/** The names of the engines to try, in order. */
export function chainFor(
  rules: readonly RouteRule[],
  question: RouteQuestion,
  fallback: readonly string[],
): readonly string[] {
  let best: RouteRule | undefined;
  for (const rule of rules) {
    if (fits(rule, question) && (best === undefined || weightOf(rule) > weightOf(best))) best = rule;
  }
  return best?.engines ?? fallback;
}

function fits(rule: RouteRule, question: RouteQuestion): boolean {
  return (
    (rule.source_language === '*' || rule.source_language === question.from) &&
    (rule.target_language === '*' || rule.target_language === question.to) &&
    (rule.tier === '*' || rule.tier === question.tier) &&
    (rule.account_id === null || rule.account_id === question.accountId) &&
    (rule.brand === null || rule.brand === question.brand)
  );
}

/** A brand before its account, that before languages (the target first), those before the tier; no two are equal. */
function weightOf(rule: RouteRule): number {
  return (
    (rule.brand === null ? 0 : 16) +
    (rule.account_id === null ? 0 : 8) +
    (rule.target_language === '*' ? 0 : 4) +
    (rule.source_language === '*' ? 0 : 2) +
    (rule.tier === '*' ? 0 : 1)
  );
}
