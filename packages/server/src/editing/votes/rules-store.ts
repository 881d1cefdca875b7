/** SQL statements about disagreements of editors, and the rules that end them. */
import type { Piece } from '@dragoman/documents';
import type { AccountRef } from '../../base/account.ts';
import { uuidv7 } from '../../base/ids.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { statement } from '../../database/statements.ts';
import { READING_CONTEXTS, type ReadingContext } from './readings.ts';

/** The text of a rule: a copy of a vote, with the source that it translates. */
export interface Rule {
  vote_id: string;
  editor_id: string;
  source: Piece[];
  target: Piece[];
  target_hash: Buffer;
  acknowledged: string[];
}

const RULES = statement<Rule & { reading: Buffer; context: ReadingContext }>(
  'editing.rules',
  `select reading, context, vote_id, editor_id, source, target, target_hash, acknowledged
     from disagreements where part = $1 and account_id = $2 and reading = any($3) and ruled_at is not null`,
);

export interface Rules {
  count: number;
  /** Returns the rule for a segment's reading and place; undefined if there is none. */
  ruleFor(segment: { reading: Buffer; context: ReadingContext }): Rule | undefined;
}

/** Returns the rules for any of these readings. */
export async function listRules(
  on: Queryable,
  account: AccountRef,
  readings: readonly Buffer[],
): Promise<Rules> {
  const rows = await on.query(RULES, [account.part, account.accountId, readings]);
  const nameOf = ({ reading, context }: { reading: Buffer; context: string }) =>
    `${reading.toString('base64')} ${context}`;
  const byName = new Map(rows.map((row) => [nameOf(row), row]));
  return { count: rows.length, ruleFor: (segment) => byName.get(nameOf(segment)) };
}

/**
 * Returns the SQL of the latest vote of the next editor, found with one search of the index. Reading all votes
 * would take long, because a common source has many votes of few editors.
 */
const nextVote = (of: string, condition: string) =>
  `select v.context, v.editor_id, v.vote_id, v.job_id, v.target_hash, v.voted_at from votes v
    where v.part = $1 and v.account_id = $2 and v.reading = ${of}.reading and v.context = ${of}.context
      and v.withdrawn_at is null ${condition}
    order by v.editor_id, v.voted_at desc, v.vote_id desc limit 1`;

// Another worker may note the same disagreement at the same time. So the row is deleted only if nobody has noted it
// since this statement began. A statement locks no more than one row, so that two workers cannot deadlock.
const note = (
  start: string,
  latest: string,
) => `${start} place as (select $3::bytea as reading, $4::text as context),
   latest as (${latest}),
   differing as (
     select (array_agg(job_id order by voted_at desc, vote_id desc))[1] as job_id from latest
     having count(distinct target_hash) > 1),
   noted as (
     insert into disagreements (part, account_id, disagreement_id, reading, context, job_id)
     select $1, $2, $5, $3, $4, job_id from differing
     on conflict (part, account_id, reading, context) do update
        set job_id = excluded.job_id, noted_at = excluded.noted_at)
   delete from disagreements d using disagreements o
    where d.part = $1 and d.account_id = $2 and d.reading = $3 and d.context = $4 and d.ruled_at is null
      and o.part = $1 and o.account_id = d.account_id and o.disagreement_id = d.disagreement_id
      and o.noted_at = d.noted_at and not exists (select from differing)`;
const NOTE = statement(
  'editing.note_disagreement',
  note(
    'with recursive',
    `
     select n.*, p.reading from place p cross join lateral (${nextVote('p', '')}) n
     union all
     select n.*, l.reading from latest l
      cross join lateral (${nextVote('l', 'and v.editor_id > l.editor_id')}) n`,
  ),
  note(
    'with',
    `
     select distinct on (editor_id) editor_id, vote_id, job_id, target_hash, voted_at from votes
      where part = $1 and account_id = $2 and reading = $3 and context = $4 and withdrawn_at is null
      order by editor_id, voted_at desc, vote_id desc`,
  ),
);

/** Notes in which places of a reading the editors prefer different texts. */
export async function noteDisagreements(on: Queryable, account: AccountRef, reading: Buffer): Promise<void> {
  for (const context of READING_CONTEXTS) {
    await on.query(NOTE, [account.part, account.accountId, reading, context, uuidv7()]);
  }
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** A disagreement with one of its texts, or with none if the customer may not see the texts yet. */
export interface DisagreementRow {
  disagreement: string;
  context: ReadingContext;
  source_language: string;
  target_language: string;
  brand: string | null;
  tone: string | null;
  ruled_at: Date | null;
  rule_vote: string | null;
  rule_source: Piece[] | null;
  rule_target: Piece[] | null;
  rule_hash: Buffer | null;
  vote: string | null;
  source: Piece[] | null;
  target: Piece[];
  target_hash: Buffer;
  editors: number;
}

/** The source of a vote's segment, before the segment was joined with others. */
const OWN_SOURCE = `coalesce(s.joined->'own'->'source', s.source)`;
/**
 * A text of any other job may still change, or was refused. A job whose upgrade was canceled is a machine job again; its
 * customer has not paid for the texts of its editor.
 */
const OF_DELIVERED = `and exists (select from jobs j
     where j.part = $1 and j.account_id = v.account_id and j.job_id = v.job_id
       and j.status in ('completed', 'accepted') and j.tier <> 'machine')`;
const LIST = statement<DisagreementRow>(
  'editing.list_disagreements',
  `with recursive page as (
     select * from disagreements
      where part = $1 and account_id = $2 and disagreement_id < $3
      order by disagreement_id desc limit $4),
   latest as (
     select n.*, p.reading, p.disagreement_id from page p cross join lateral (${nextVote('p', OF_DELIVERED)}) n
     union all
     select n.*, l.reading, l.disagreement_id from latest l
      cross join lateral (${nextVote('l', `and v.editor_id > l.editor_id ${OF_DELIVERED}`)}) n),
   texts as (
     select disagreement_id, count(*)::integer as editors, (array_agg(vote_id order by vote_id))[1] as vote_id
       from latest group by disagreement_id, target_hash)
   select p.disagreement_id as disagreement, p.context, j.source_language, j.target_language,
          coalesce(j.brand, j.default_brand) as brand, j.tone, p.ruled_at, p.vote_id as rule_vote,
          p.source as rule_source, p.target as rule_target, p.target_hash as rule_hash, t.vote_id as vote,
          ${OWN_SOURCE} as source, v.target, v.target_hash, t.editors
     from page p
     join jobs j on j.part = $1 and j.account_id = $2 and j.job_id = p.job_id
     left join texts t on t.disagreement_id = p.disagreement_id
     left join votes v on v.part = $1 and v.account_id = $2 and v.vote_id = t.vote_id
     left join segments s on s.part = $1 and s.account_id = v.account_id and s.job_id = v.job_id
      and s.position = v.position
    order by p.disagreement_id desc, t.editors desc, t.vote_id`,
);

/**
 * Returns a page of disagreements, latest first, with one row for each text of a delivered job. The latest vote
 * of each editor counts. @param before the id of the last disagreement of the page before
 */
export function listDisagreementRows(
  on: Queryable,
  account: AccountRef,
  before: string | undefined,
  limit: number,
): Promise<DisagreementRow[]> {
  return on.query(LIST, [account.part, account.accountId, before ?? LAST_ID, limit]);
}

export interface Choice extends Rule {
  job_id: string;
  segment_id: string;
}

const CHOICE = statement<Choice>(
  'editing.choice',
  `select v.vote_id, v.editor_id, v.target, v.target_hash, v.acknowledged, v.job_id, s.segment_id,
          ${OWN_SOURCE} as source
     from disagreements d
     join votes v on v.part = $1 and v.account_id = d.account_id and v.reading = d.reading
      and v.context = d.context and v.vote_id = $4 and v.withdrawn_at is null ${OF_DELIVERED}
     join segments s on s.part = $1 and s.account_id = v.account_id and s.job_id = v.job_id
      and s.position = v.position
    where d.part = $1 and d.account_id = $2 and d.disagreement_id = $3`,
);

/** Returns the text of a vote for a disagreement; undefined if it cannot become the rule. */
export async function findChoice(
  on: Queryable,
  account: AccountRef,
  disagreementId: string,
  voteId: string,
): Promise<Choice | undefined> {
  return (await on.query(CHOICE, [account.part, account.accountId, disagreementId, voteId]))[0];
}

/** Locks a disagreement, so that its rule is changed once at a time. @returns the rule; its fields are null if there is none */
export const lockDisagreement = statement<
  { target_hash: Buffer | null; vote_id: string | null },
  { account: AccountRef; disagreementId: string },
  Transaction
>(
  'editing.lock_disagreement',
  `select target_hash, vote_id from disagreements
    where part = :part and account_id = :account_id and disagreement_id = :disagreementId for update`,
).first;

const SET_RULE = statement(
  'editing.set_rule',
  `with changed as (
     update disagreements
        set ruled_at = case when $4::uuid is not null then now() end, vote_id = $4, editor_id = $5, source = $6,
            target = $7, target_hash = $8, acknowledged = $9
      where part = $1 and account_id = $2 and disagreement_id = $3
     returning part, account_id, reading)
   insert into propagations (part, account_id, reading) select part, account_id, reading from changed`,
);

/** Makes a text the rule of a locked disagreement, or ends the rule, and queues the propagation. */
export async function setRule(
  transaction: Transaction,
  account: AccountRef,
  disagreementId: string,
  rule: Rule | undefined,
): Promise<void> {
  const text =
    rule === undefined
      ? [null, null, null, null, null, null]
      : [
          rule.vote_id,
          rule.editor_id,
          JSON.stringify(rule.source),
          JSON.stringify(rule.target),
          rule.target_hash,
          rule.acknowledged,
        ];
  await transaction.query(SET_RULE, [account.part, account.accountId, disagreementId, ...text]);
}
