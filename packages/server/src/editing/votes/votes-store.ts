/** SQL statements about votes and the propagation queue. */
import type { Piece } from '@dragoman/documents';
import type { AccountRef } from '../../base/account.ts';
import { uuidv7 } from '../../base/ids.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { statement } from '../../database/statements.ts';
import type { Lease } from '../../work/queue.ts';
import { type DueJob, jobsByAccount } from '../model/due-store.ts';
import type { SegmentPlace } from './fills-store.ts';
import type { CountedVote } from './vote-rules.ts';

export interface NewVote {
  position: number;
  editorId: string;
  reviewed: boolean;
  target: readonly Piece[];
  targetHash: Buffer;
  acknowledged: readonly string[];
}

// Each segment has at most one vote: confirming the segment again changes the vote but keeps its id, because
// fills refer to it. A segment without a reading gets no vote; that is the case if its job has ended, or was
// drafted before readings existed.
const CAST_VOTE = statement(
  'editing.cast_vote',
  `with voted as (
     insert into votes (part, account_id, vote_id, job_id, position, reading, context, editor_id, reviewed, target,
       target_hash, acknowledged)
     select part, account_id, :vote_id, job_id, position, reading, context, :editor_id, :reviewed, :target,
            :target_hash, :acknowledged
       from readings
      where part = :part and account_id = :account_id and job_id = :job_id and position = :position
     on conflict (part, account_id, job_id, position) do update
        set editor_id = excluded.editor_id, reviewed = excluded.reviewed, target = excluded.target,
            target_hash = excluded.target_hash, acknowledged = excluded.acknowledged, withdrawn_at = null,
            voted_at = excluded.voted_at
     returning part, account_id, reading)
   insert into propagations (part, account_id, reading) select part, account_id, reading from voted`,
);

/** Stores the vote of a confirmed segment, and queues the propagation. */
export async function castVote(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  vote: NewVote,
): Promise<void> {
  await transaction.query(CAST_VOTE, {
    part: account.part,
    account_id: account.accountId,
    vote_id: uuidv7(),
    job_id: jobId,
    position: vote.position,
    editor_id: vote.editorId,
    reviewed: vote.reviewed,
    target: JSON.stringify(vote.target),
    target_hash: vote.targetHash,
    acknowledged: vote.acknowledged,
  });
}

const WITHDRAW_VOTES = statement(
  'editing.withdraw_votes',
  `with gone as (
     update votes v set withdrawn_at = now()
       from unnest($4::integer[], $5::integer[]) as g (first, last)
      where v.part = $1 and v.account_id = $2 and v.job_id = $3 and v.position between g.first and g.last
        and v.withdrawn_at is null
     returning v.part, v.account_id, v.reading)
   insert into propagations (part, account_id, reading) select distinct part, account_id, reading from gone`,
);

/** Withdraws the votes of segments whose texts are not confirmed any more, and queues the propagation. */
export async function withdrawVotes(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  ranges: readonly { first: number; last: number }[],
): Promise<void> {
  const key = [account.part, account.accountId, jobId];
  const columns = [ranges.map(({ first }) => first), ranges.map(({ last }) => last)];
  await transaction.query(WITHDRAW_VOTES, [...key, ...columns]);
}

interface WithdrawnVote {
  vote_id: string;
  job_id: string;
  position: number;
}

/**
 * Withdraws votes and all votes for the same texts on the same readings, and queues the propagation.
 * @returns these votes, also those that were withdrawn before; empty if no such votes exist
 */
export const withdrawText = statement<
  WithdrawnVote,
  { account: AccountRef; voteIds: readonly string[] },
  Transaction
>(
  'editing.withdraw_text',
  `with same as (
     select distinct o.part, o.account_id, o.vote_id, o.reading, o.job_id, o.position
       from votes v join votes o on o.part = :part and o.account_id = v.account_id and o.reading = v.reading
        and o.target_hash = v.target_hash
      where v.part = :part and v.account_id = :account_id and v.vote_id = any(:voteIds)),
   gone as (
     update votes w set withdrawn_at = now() from same s
      where w.part = :part and w.account_id = s.account_id and w.vote_id = s.vote_id and w.withdrawn_at is null),
   queued as (
     insert into propagations (part, account_id, reading) select distinct part, account_id, reading from same)
   select vote_id, job_id, position from same`,
).rows;

const VOTES_OF = statement<{ vote_id: string }>(
  'editing.votes_of',
  `select v.vote_id from votes v join unnest($3::uuid[], $4::integer[]) as g (job_id, position)
       on g.job_id = v.job_id and g.position = v.position
    where v.part = $1 and v.account_id = $2 and v.target_hash = $5`,
);

/** Returns the ids of the votes of these segments for one text. */
export async function listVotesOf(
  on: Queryable,
  account: AccountRef,
  segments: readonly { job_id: string; position: number }[],
  targetHash: Buffer,
): Promise<string[]> {
  const columns = [segments.map(({ job_id }) => job_id), segments.map(({ position }) => position)];
  const rows = await on.query(VOTES_OF, [account.part, account.accountId, ...columns, targetHash]);
  return rows.map(({ vote_id }) => vote_id);
}

export interface FoundVoteRow {
  vote: string;
  uid: string;
  source_language: string;
  target_language: string;
  source: Piece[];
  target: Piece[];
  editor: string;
  voted_at: Date;
  withdrawn_at: Date | null;
  segments: number;
}

// A customer has not paid for the texts of an upgrade that was canceled. Its job is a machine job again.
const foundVotes = (condition: string) =>
  `select v.vote_id as vote, j.uid, j.source_language, j.target_language, coalesce(s.joined->'own'->'source', s.source) as source, v.target,
          coalesce(u.name, '') as editor, v.voted_at, v.withdrawn_at,
          (select count(*) from fills f
            where f.part = $1 and f.account_id = v.account_id and f.vote_id = v.vote_id
              and f.job_id <> v.job_id and f.under_rule is null) as segments
     from votes v
     join jobs j on j.part = $1 and j.account_id = v.account_id and j.job_id = v.job_id
     join segments s on s.part = $1 and s.account_id = v.account_id and s.job_id = v.job_id
      and s.position = v.position
     left join users u on u.user_id = v.editor_id
    where v.part = $1 and v.account_id = $2 and ($3::text[] is null or (j.status = any($3) and j.tier <> 'machine')) ${condition}
    order by v.vote_id desc limit $4`;
const FIND_VOTES = statement<FoundVoteRow>('editing.find_votes', foundVotes(''));
// Most votes fill no segment, so the query starts from the table of fills.
const FIND_FILLING = statement<FoundVoteRow>(
  'editing.find_filling_votes',
  foundVotes(
    `and v.vote_id in (select f.vote_id from fills f
       join votes o on o.part = $1 and o.account_id = f.account_id and o.vote_id = f.vote_id and o.job_id <> f.job_id
      where f.part = $1 and f.account_id = $2 and f.under_rule is null)`,
  ),
);

export interface VoteSearch {
  /** True to select only votes whose text segments of other jobs hold. */
  filling: boolean;
  /** Selects only votes of jobs in these statuses. */
  statuses?: readonly string[];
  limit: number;
}

/** Returns votes, latest first. */
export function findVoteRows(
  on: Queryable,
  account: AccountRef,
  { filling, statuses, limit }: VoteSearch,
): Promise<FoundVoteRow[]> {
  const values = [account.part, account.accountId, statuses ?? null, limit];
  return on.query(filling ? FIND_FILLING : FIND_VOTES, values);
}

/** A vote with the source that its target translates. */
export interface VoteRow extends CountedVote, Pick<SegmentPlace, 'job_id'> {
  reading: Buffer;
  source: Piece[];
  target: Piece[];
  acknowledged: string[];
  name: string;
  withdrawn: boolean;
}

/**
 * Returns the SQL of the latest vote of the next editor for the next text, found with one search of the index. Withdrawn
 * votes are searched apart from the others. Reading all votes would take long, because a common source has many votes
 * of few editors for few texts.
 */
const nextText = (of: string, condition: string) =>
  `select v.reading, v.context, v.editor_id, v.target_hash, v.withdrawn_at is null as counts, v.vote_id from votes v
    where v.part = $1 and v.account_id = $2 and v.reading = ${of}.reading ${condition}
    order by v.context, v.editor_id, v.target_hash, (v.withdrawn_at is null), v.voted_at desc, v.vote_id desc limit 1`;
const AFTER_LATEST = `and (v.context, v.editor_id, v.target_hash, (v.withdrawn_at is null))
      > (l.context, l.editor_id, l.target_hash, l.counts)`;

// The array makes PostgreSQL find each vote and its segment by their keys.
const VOTES_FOR = statement<VoteRow>(
  'editing.votes_for',
  `with recursive latest as (
     select n.* from (select distinct unnest($3::bytea[]) as reading) r cross join lateral (${nextText('r', '')}) n
     union all
     select n.* from latest l cross join lateral (${nextText('l', AFTER_LATEST)}) n)
   select v.vote_id, v.job_id, v.reading, v.context, v.editor_id, v.reviewed, v.target, v.target_hash, v.acknowledged,
          v.voted_at, v.withdrawn_at is not null as withdrawn, coalesce(s.joined->'own'->'source', s.source) as source, coalesce(u.name, '') as name
     from votes v
     join segments s on s.part = $1 and s.account_id = v.account_id and s.job_id = v.job_id
      and s.position = v.position
     left join users u on u.user_id = v.editor_id
    where v.part = $1 and v.account_id = $2 and v.vote_id = any(array(select vote_id from latest) || $4::uuid[])`,
);

/**
 * Returns the latest vote of each editor for each text of these readings, in each place, and the latest withdrawn one.
 * @param voteIds votes that are returned in addition, also if they are not the latest
 */
export function listAllVotes(
  on: Queryable,
  account: AccountRef,
  readings: readonly Buffer[],
  voteIds: readonly string[],
): Promise<VoteRow[]> {
  return on.query(VOTES_FOR, [account.part, account.accountId, readings, voteIds]);
}

/** Returns the latest vote of each editor for each text of these readings, in each place, without withdrawn votes. */
export async function listVotes(
  on: Queryable,
  account: AccountRef,
  readings: readonly Buffer[],
): Promise<VoteRow[]> {
  return (await listAllVotes(on, account, readings, [])).filter(({ withdrawn }) => !withdrawn);
}

/** Marks the votes of a job as approved by a reviewer, and queues the propagation. */
export const approveVotes = statement<never, { account: AccountRef; jobId: string }, Transaction>(
  'editing.approve_votes',
  `with approved as (
     update votes set reviewed = true
      where part = :part and account_id = :account_id and job_id = :jobId and withdrawn_at is null and not reviewed
     returning part, account_id, reading)
   insert into propagations (part, account_id, reading) select distinct part, account_id, reading from approved`,
).run;

const QUEUE_JOBS = statement(
  'editing.queue_jobs',
  `insert into propagations (part, account_id, job_id)
   select $1, $2, job_id from unnest($3::uuid[]) as g (job_id)
    where exists (select from readings where part = $1 and account_id = $2 and job_id = g.job_id)`,
);

/** Queues the waiting segments of jobs, because votes for them may exist. */
export async function queueWaitingJobs(transaction: Transaction, jobs: readonly DueJob[]): Promise<void> {
  for (const [{ part, accountId }, jobIds] of jobsByAccount(jobs)) {
    await transaction.query(QUEUE_JOBS, [part, accountId, jobIds]);
  }
}

/** Queued work: the segments that share a reading, or the segments of one job. */
export type Propagation = { reading: Buffer; jobId?: undefined } | { reading?: undefined; jobId: string };

const OPEN_PROPAGATION = statement<{ reading: Buffer | null; job_id: string | null }>(
  'editing.open_propagation',
  `with same as (
     delete from propagations d
      using (select l.part, l.account_id, d.propagation_id
               from propagations l join propagations d on d.part = $1 and d.account_id = l.account_id
                and (d.reading = l.reading or d.job_id = l.job_id) and d.propagation_id <> l.propagation_id
                and d.lease_token is null
              where l.part = $1 and l.account_id = $2 and l.propagation_id = $3 and l.lease_token = $4
                and l.attempts <= $5
                for update of d skip locked) o
      where d.part = $1 and d.account_id = o.account_id and d.propagation_id = o.propagation_id)
   select reading, job_id from propagations
    where part = $1 and account_id = $2 and propagation_id = $3 and lease_token = $4`,
);

/**
 * Reads the leased work, and deletes other queued work for the same reading or job, because the leased work includes
 * it.
 * @param mostClaims leased work that was claimed more often will be given up, so it deletes no other work
 * @returns undefined if the lease is lost
 */
export async function openPropagation(
  on: Queryable,
  lease: Lease,
  mostClaims: number,
): Promise<Propagation | undefined> {
  const [row] = await on.query(OPEN_PROPAGATION, [...leaseKey(lease), mostClaims]);
  if (row === undefined) return undefined;
  return row.reading === null ? { jobId: row.job_id! } : { reading: row.reading };
}

const END_PROPAGATION = statement(
  'editing.end_propagation',
  `delete from propagations where part = $1 and account_id = $2 and propagation_id = $3 and lease_token = $4`,
);

export async function endPropagation(on: Queryable, lease: Lease): Promise<void> {
  await on.query(END_PROPAGATION, leaseKey(lease));
}

const leaseKey = ({ account, id, token }: Lease) => [account.part, account.accountId, id, token];
