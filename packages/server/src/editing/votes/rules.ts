/** Lists the disagreements of editors, makes one of their texts the rule, and ends rules. */
import { plainText } from '@dragoman/documents';
import { type Actor, recordAudit } from '../../audit/audit.ts';
import type { AccountRef } from '../../base/account.ts';
import { ApiError, fieldError, notFound, reason } from '../../base/errors.ts';
import type { Database, Queryable } from '../../database/database.ts';
import { textInputs } from '../model/check-inputs.ts';
import { readTaskJob } from '../model/edited-jobs-store.ts';
import { fitText } from './propagation.ts';
import type { ReadingContext } from './readings.ts';
import * as store from './rules-store.ts';

/** A reading for which editors prefer different texts in one place, or that has a rule. Texts have no codes. */
export interface Disagreement {
  disagreement: string;
  context: ReadingContext;
  source_language: string;
  target_language: string;
  brand: string | null;
  tone: string | null;
  source: string;
  ruled_at: Date | null;
  /** The rule, then the texts of most editors. */
  texts: { vote: string; hash: string; target: string; editors: number; rule: boolean }[];
}

/** A text as the list showed it. The vote keeps its id when its editor changes the text, so the hash names the text. */
export interface ShownText {
  vote: string;
  hash: string;
  /** The hash of the rule; null if the list showed no rule. */
  rule: string | null;
}

/** The maximum number of texts of a disagreement that a list shows. */
const MAX_TEXTS = 10;

/**
 * Returns a page of disagreements, latest first. It may have fewer than `limit`, because disagreements about
 * texts that the customer may not see yet are left out. @param before the `next` of the page before
 */
export async function listDisagreements(
  database: Database,
  account: AccountRef,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<{ disagreements: Disagreement[]; next: string | null }> {
  const rows = await store.listDisagreementRows(database, account, before, limit);
  const found = Map.groupBy(rows, ({ disagreement }) => disagreement);
  const disagreements = [...found.values()].map(present).filter(({ texts, ruled_at }) => {
    return ruled_at !== null || texts.length > 1;
  });
  return { disagreements, next: found.size < limit ? null : rows.at(-1)!.disagreement };
}

function present(rows: readonly store.DisagreementRow[]): Disagreement {
  const { disagreement, context, source_language, target_language, brand, tone, ...first } = rows[0]!;
  const { ruled_at, rule_vote, rule_source, rule_target, rule_hash } = first;
  const isRule = (row: store.DisagreementRow) => rule_hash?.equals(row.target_hash) === true;
  const seen = rows.filter(({ vote }) => vote !== null);
  const texts = seen
    .filter((row) => !isRule(row))
    .map(({ vote, target_hash: hash, target, editors }) => {
      return { vote: vote!, hash: hash.toString('hex'), target: plainText(target), editors, rule: false };
    });
  if (rule_vote !== null) {
    const editors = seen.find(isRule)?.editors ?? 0;
    const hash = rule_hash!.toString('hex');
    texts.unshift({ vote: rule_vote, hash, target: plainText(rule_target!), editors, rule: true });
  }
  return {
    disagreement,
    context,
    source_language,
    target_language,
    brand,
    tone,
    source: plainText(rule_source ?? first.source ?? []),
    ruled_at,
    texts: texts.slice(0, MAX_TEXTS),
  };
}

/**
 * Makes the text of a vote the rule of a disagreement, in place of an earlier rule. Waiting segments follow in
 * the background. Repeating it changes nothing.
 * @throws ApiError `not_found` if the account has no such disagreement, or the text is none of its texts;
 * `text_changed` if the vote has another text now; `rule_changed` if another user has changed the rule;
 * `invalid_request` if the text fails the checks
 */
export async function makeRule(
  database: Database,
  by: Actor,
  account: AccountRef,
  disagreementId: string,
  shown: ShownText,
): Promise<void> {
  const found = await findShown(database, account, disagreementId, shown);
  const job = await readTaskJob(database, account, found.job_id);
  const inputOf = await textInputs(database, { account, jobId: found.job_id }, job);
  if (typeof fitText(found, found, inputOf) === 'string') throw fieldError('vote', reason('rule_fails'));
  await database.transaction(async (transaction) => {
    const rule = await store.lockDisagreement(transaction, { account, disagreementId });
    if (rule === undefined) throw notFound();
    // The editor may have changed the text since it was checked.
    const choice = await findShown(transaction, account, disagreementId, shown);
    if (rule.target_hash?.equals(choice.target_hash)) return;
    requireShown(rule, shown.rule);
    await store.setRule(transaction, account, disagreementId, choice);
    const action = rule.target_hash === null ? 'rule.made' : 'rule.replaced';
    const detail = { vote: shown.vote, ...(rule.vote_id === null ? {} : { replaced: rule.vote_id }) };
    await recordAudit(transaction, by, { action, account, subject: disagreementId, detail });
  });
}

async function findShown(on: Queryable, account: AccountRef, disagreementId: string, shown: ShownText) {
  const choice = await store.findChoice(on, account, disagreementId, shown.vote);
  if (choice === undefined) throw notFound();
  if (choice.target_hash.toString('hex') !== shown.hash) {
    throw new ApiError('text_changed', 'The text has changed. List the texts again.');
  }
  return choice;
}

/** @throws ApiError `rule_changed` if the rule is not the one with this hash */
function requireShown(rule: { target_hash: Buffer | null }, shown: string | null): void {
  if ((rule.target_hash?.toString('hex') ?? null) !== shown) {
    throw new ApiError('rule_changed', 'The rule has changed. List the texts again.');
  }
}

/**
 * Ends the rule of a disagreement, if it has one. Segments that nobody has touched get back what the rule
 * replaced in the background, and the votes count again.
 * @param shown the hash of the rule to end
 * @throws ApiError `not_found` if the account has no such disagreement; `rule_changed` if it has another rule
 */
export async function endRule(
  database: Database,
  by: Actor,
  account: AccountRef,
  disagreementId: string,
  shown: string,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const rule = await store.lockDisagreement(transaction, { account, disagreementId });
    if (rule === undefined) throw notFound();
    if (rule.vote_id === null) return;
    requireShown(rule, shown);
    await store.setRule(transaction, account, disagreementId, undefined);
    const detail = { vote: rule.vote_id };
    await recordAudit(transaction, by, { action: 'rule.ended', account, subject: disagreementId, detail });
  });
}
