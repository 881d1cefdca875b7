/** SQL statements that upgrade machine jobs to human jobs and cancel upgrades. */
import type { AccountRef } from '../base/account.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { NewJob } from './insert-store.ts';
import type { JobStatus } from './states.ts';

export interface UpgradeFields {
  jobId: string;
  /** The job after the upgrade, with tier `human`. */
  job: NewJob;
  hash: Buffer;
  /** The sequence number of the charge of the job: 1 for the machine job, and one more for each upgrade. */
  charge: number;
  from: readonly JobStatus[];
  to: JobStatus;
  actor: string;
}

// The machine's result becomes the draft, like a supplied translation.
const UPGRADE = statement<{ charge: number }>(
  'jobs.upgrade',
  `with before as (
     select part, account_id, job_id, status, tier,
            jsonb_build_object('charge', charge, 'price_cents', price_cents, 'cents_per_word', cents_per_word, 'discounts', discounts, 'words', words, 'untranslated', untranslated, 'tone', tone,
              'topics', topics, 'brand', brand, 'default_brand', default_brand, 'document_settings', document_settings, 'callback_url', callback_url,
              'hold_until', hold_until, 'finished_at', finished_at, 'instructions', (
                select body from job_texts t
                 where t.part = :part and t.account_id = :account_id and t.job_id = :job_id and t.kind = 'instructions')) as before_upgrade
       from jobs
      where part = :part and account_id = :account_id and job_id = :job_id and tier = 'machine' and status = any(:from_statuses) for update),
   moved as (
     update jobs j set tier = :tier, status = :to_status, charge = :charge, before_upgrade = b.before_upgrade,
            price_cents = :price_cents, cents_per_word = :cents_per_word, discounts = :discounts::jsonb, words = :words, tone = :tone, topics = :topics, brand = :brand, default_brand = :default_brand, document_settings = :document_settings, callback_url = :callback_url, upgrade_hash = :upgrade_hash,
            hold_until = case when :hold_seconds > 0 then now() + make_interval(secs => :hold_seconds) end,
            finished_at = null, due_at = now(), attempts = 0
       from before b
      where j.part = :part and j.account_id = b.account_id and j.job_id = b.job_id
     returning j.part, j.account_id, j.job_id, j.environment, j.source_language, j.target_language, j.charge,
       b.status as from_status, b.tier as from_tier),
   counted as (
     insert into job_counts (part, account_id, environment, tier, status, source_language, target_language, jobs)
     select m.part, m.account_id, m.environment, c.tier, c.status, m.source_language, m.target_language, c.jobs
       from moved m,
            lateral (values (m.from_tier, m.from_status, -1), (:tier, :to_status, 1)) as c (tier, status, jobs)),
   event as (
     insert into job_events (part, account_id, event_id, job_id, from_status, to_status, actor, detail)
     select part, account_id, :event_id, job_id, from_status, :to_status, :actor, 'upgrade' from moved),
   draft as (
     update job_texts t set kind = 'supplied' from moved m
      where t.part = :part and t.account_id = m.account_id and t.job_id = m.job_id and t.kind = 'result'),
   instructed as (
     insert into job_texts (part, account_id, job_id, kind, body)
     select part, account_id, job_id, 'instructions', :instructions from moved where :instructions::text is not null
     on conflict (part, account_id, job_id, kind) do update set body = excluded.body)
   select charge from moved`,
);

/**
 * Turns a machine job into a human job. @returns false if the job is not a machine job, or if its status does
 * not allow the upgrade
 */
export async function writeUpgrade(
  transaction: Transaction,
  account: AccountRef,
  { job, ...upgrade }: UpgradeFields,
): Promise<boolean> {
  const rows = await transaction.query(UPGRADE, {
    part: account.part,
    account_id: account.accountId,
    job_id: upgrade.jobId,
    from_statuses: upgrade.from,
    to_status: upgrade.to,
    tier: job.tier,
    price_cents: job.priceCents,
    cents_per_word: job.centsPerWord,
    discounts: job.discounts === undefined ? null : JSON.stringify(job.discounts),
    words: job.words,
    tone: job.tone ?? null,
    topics: job.topics ?? null,
    brand: job.brand ?? null,
    default_brand: job.defaultBrand ?? null,
    document_settings: job.documentSettings ?? null,
    callback_url: job.callbackUrl ?? null,
    upgrade_hash: upgrade.hash,
    hold_seconds: job.holdSeconds,
    event_id: uuidv7(),
    actor: upgrade.actor,
    instructions: job.instructions ?? null,
    charge: upgrade.charge,
  });
  if (rows.length > 0) transaction.changed('jobs', account, upgrade.jobId);
  return rows.length > 0;
}

const CANCEL_UPGRADE = statement<{ instructions: string | null }>(
  'jobs.cancel_upgrade',
  `with before as (
     select part, account_id, job_id, status, tier, before_upgrade from jobs
      where part = :part and account_id = :account_id and job_id = :job_id and before_upgrade is not null and status = any(:from_statuses)
        and (:lease_token::uuid is null or lease_token = :lease_token) for update),
   moved as (
     update jobs j set tier = 'machine', status = :to_status, charge = k.charge, price_cents = k.price_cents, cents_per_word = k.cents_per_word,
            discounts = k.discounts, words = k.words, untranslated = k.untranslated,
            tone = k.tone, topics = k.topics, brand = k.brand, default_brand = k.default_brand, document_settings = k.document_settings,
            callback_url = k.callback_url, hold_until = k.hold_until, finished_at = k.finished_at,
            upgrade_hash = null, before_upgrade = null, redraft = null, due_at = null, lease_token = null, attempts = 0
       from before b, jsonb_to_record(b.before_upgrade) as k (charge smallint, price_cents bigint, cents_per_word bigint, discounts jsonb, words integer,
            untranslated jsonb, tone text, topics text[], brand text, default_brand text, document_settings text, callback_url text, hold_until timestamptz,
            finished_at timestamptz, instructions text)
      where j.part = :part and j.account_id = b.account_id and j.job_id = b.job_id
     returning j.part, j.account_id, j.job_id, j.environment, j.source_language, j.target_language, j.tier, j.status,
       b.tier as from_tier, b.status as from_status, k.instructions),
   counted as (
     insert into job_counts (part, account_id, environment, tier, status, source_language, target_language, jobs)
     select m.part, m.account_id, m.environment, c.tier, c.status, m.source_language, m.target_language, c.jobs
       from moved m,
            lateral (values (m.from_tier, m.from_status, -1), (m.tier, m.status, 1)) as c (tier, status, jobs)),
   event as (
     insert into job_events (part, account_id, event_id, job_id, from_status, to_status, actor, detail)
     select part, account_id, :event_id, job_id, from_status, status, :actor, :detail from moved)
   select instructions from moved`,
);
// Deletes a result that the sandbox may have stored before the delivery delay ended. The machine job's result
// stays: it was stored as the supplied translation.
const DROP_UPGRADE_TEXTS = statement(
  'jobs.drop_upgrade_texts',
  `delete from job_texts
    where part = $1 and account_id = $2 and job_id = $3 and kind in ('result', 'instructions')`,
);
const RESTORE_TEXTS = statement(
  'jobs.restore_texts',
  `with result as (
     update job_texts set kind = 'result'
      where part = $1 and account_id = $2 and job_id = $3 and kind = 'supplied')
   insert into job_texts (part, account_id, job_id, kind, body)
   select $1, $2, $3, 'instructions', $4 where $4::text is not null`,
);

/**
 * Restores the completed machine job that was upgraded.
 * @param move if it has a `leaseToken`, that lease must still be valid
 * @returns false if there is no upgrade to cancel
 */
export async function cancelUpgrade(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  move: {
    from: readonly JobStatus[];
    to: JobStatus;
    actor: string;
    detail: string;
    leaseToken: string | undefined;
  },
): Promise<boolean> {
  const key = [account.part, account.accountId, jobId];
  const [row] = await transaction.query(CANCEL_UPGRADE, {
    part: account.part,
    account_id: account.accountId,
    job_id: jobId,
    from_statuses: move.from,
    to_status: move.to,
    event_id: uuidv7(),
    actor: move.actor,
    detail: move.detail,
    lease_token: move.leaseToken ?? null,
  });
  if (row === undefined) return false;
  transaction.changed('jobs', account, jobId);
  await transaction.query(DROP_UPGRADE_TEXTS, key);
  await transaction.query(RESTORE_TEXTS, [...key, row.instructions]);
  return true;
}
