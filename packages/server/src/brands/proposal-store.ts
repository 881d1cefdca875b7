/** SQL statements about the terms that editors propose. */
import type { AccountRef } from '../base/account.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';

export type ProposalStatus = 'proposed' | 'taken' | 'declined';

export interface ProposalRow {
  proposal: string;
  language: string;
  source: string;
  target: string;
  note: string | null;
  status: ProposalStatus;
  user_id: string;
  /** The name of the editor; empty if the user no longer exists. */
  by: string;
  job_id: string;
  proposed_at: Date;
}

const COLUMNS = `p.proposal_id as proposal, p.language, p.source, p.target, p.note, p.status, p.user_id, coalesce(u.name, '') as by,
          p.job_id, p.proposed_at
     from term_proposals p left join users u on u.user_id = p.user_id`;

const INSERT = statement<{ proposal_id: string }>(
  'brands.insert_proposal',
  `insert into term_proposals (part, account_id, proposal_id, external_id, language, job_id, user_id, source, target, note)
   values (:part, :account_id, :proposal_id, :external_id, :language, :job_id, :user_id, :source, :target, :note)
   on conflict (part, account_id, external_id, language, source, target) where status = 'proposed' do nothing
   returning proposal_id`,
);

export interface NewProposal {
  externalId: string;
  language: string;
  jobId: string;
  userId: string;
  source: string;
  target: string;
  note: string | undefined;
}

/** Adds a proposal. @returns its id; undefined if the same term is already proposed for the brand */
export async function insertProposal(
  on: Queryable,
  account: AccountRef,
  { externalId, language, jobId, userId, source, target, note }: NewProposal,
): Promise<string | undefined> {
  const [row] = await on.query(INSERT, {
    part: account.part,
    account_id: account.accountId,
    proposal_id: uuidv7(),
    external_id: externalId,
    language,
    job_id: jobId,
    user_id: userId,
    source,
    target,
    note: note ?? null,
  });
  on.changed('job', account, jobId);
  return row?.proposal_id;
}

/** Returns the proposals that were made in a job for a brand, except declined ones, oldest first. */
export const findProposalsOfJob = statement<
  ProposalRow,
  { account: AccountRef; jobId: string; externalId: string }
>(
  'brands.proposals_of_job',
  `select ${COLUMNS}
    where p.part = :part and p.account_id = :account_id and p.job_id = :jobId and p.external_id = :externalId
      and p.status <> 'declined'
    order by p.proposal_id`,
).rows;

/** Returns the proposals for a brand that were neither taken nor declined, oldest first. */
export const findWaitingProposals = statement<
  ProposalRow,
  { account: AccountRef; externalId: string; limit: number }
>(
  'brands.waiting_proposals',
  `select ${COLUMNS}
    where p.part = :part and p.account_id = :account_id and p.external_id = :externalId and p.status = 'proposed'
    order by p.proposal_id limit :limit`,
).rows;

const COUNTS = statement<{ external_id: string; proposals: number }>(
  'brands.count_proposals',
  `select external_id, count(*) as proposals from term_proposals
    where part = $1 and account_id = $2 and status = 'proposed' group by external_id`,
);

/** For each brand with waiting proposals, returns their number. */
export async function countProposals(on: Queryable, account: AccountRef): Promise<Map<string, number>> {
  const rows = await on.query(COUNTS, [account.part, account.accountId]);
  return new Map(rows.map(({ external_id, proposals }) => [external_id, proposals]));
}

/** A proposal that was just decided. */
export interface DecidedRow extends Pick<ProposalRow, 'language' | 'source' | 'target' | 'note' | 'job_id'> {
  /** The external identifier of the brand. */
  external_id: string;
}

const DECIDE = statement<DecidedRow>(
  'brands.decide_proposal',
  `update term_proposals set status = $4, decided_at = now()
    where part = $1 and account_id = $2 and proposal_id = $3 and status = 'proposed'
   returning external_id, language, source, target, note, job_id`,
);

/** Takes or declines a proposal. @returns undefined if there is no such waiting proposal */
export async function decideProposal(
  transaction: Transaction,
  account: AccountRef,
  proposalId: string,
  status: Exclude<ProposalStatus, 'proposed'>,
): Promise<DecidedRow | undefined> {
  const values = [account.part, account.accountId, proposalId, status];
  const [row] = await transaction.query(DECIDE, values);
  if (row !== undefined) transaction.changed('job', account, row.job_id);
  return row;
}

/** Deletes an editor's own proposal. @returns false if there is no such waiting proposal of this editor */
export const deleteProposal = statement<
  { job_id: string },
  { account: AccountRef; jobId: string; proposalId: string; userId: string }
>(
  'brands.delete_proposal',
  `delete from term_proposals
    where part = :part and account_id = :account_id and job_id = :jobId and proposal_id = :proposalId and user_id = :userId and status = 'proposed'
   returning job_id`,
).reporting('job').found;
