/** What is asked of the database when a machine's job goes on to a human, and when that is taken back. */
import type { AccountRef } from '../account.ts';
import type { Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { uuidv7 } from '../ids.ts';
import type { Status } from './states.ts';
import type { NewJob } from './store.ts';

export interface UpgradeFields {
  jobId: string;
  /** The job anew, as a human's. */
  job: NewJob;
  hash: Buffer;
  /** The number of its charge. */
  charge: number;
  from: readonly Status[];
  to: Status;
  actor: string;
}

// The machine's result becomes the draft that an editor corrects: what it is for a job that came with one.
const UPGRADE = statement<{ charge: number }>(
  'jobs.upgrade',
  `with before as (
     select part, account_id, job_id, status, tier,
            jsonb_build_object('charge', charge, 'price_cents', price_cents, 'words', words, 'tone', tone,
              'topics', topics, 'brand', brand, 'default_brand', default_brand, 'callback_url', callback_url,
              'hold_until', hold_until, 'finished_at', finished_at, 'instructions', (
                select body from job_texts t
                 where t.part = $1 and t.account_id = $2 and t.job_id = $3 and t.kind = 'instructions')) as before_upgrade
       from jobs
      where part = $1 and account_id = $2 and job_id = $3 and tier = 'machine' and status = any($4) for update),
   moved as (
     update jobs j set tier = $6, status = $5, charge = $19, before_upgrade = b.before_upgrade, price_cents = $7, words = $8, tone = $9,
            topics = $10, brand = $11, default_brand = $12, callback_url = $13, upgrade_hash = $14,
            hold_until = case when $15 > 0 then now() + make_interval(secs => $15) end,
            finished_at = null, due_at = now(), attempts = 0
       from before b
      where j.part = b.part and j.account_id = b.account_id and j.job_id = b.job_id
     returning j.part, j.account_id, j.job_id, j.environment, j.source_language, j.target_language, j.charge,
       b.status as from_status, b.tier as from_tier),
   counted as (
     insert into job_counts (part, account_id, environment, tier, status, source_language, target_language, jobs)
     select m.part, m.account_id, m.environment, c.tier, c.status, m.source_language, m.target_language, c.jobs
       from moved m,
            lateral (values (m.from_tier, m.from_status, -1), ($6, $5, 1)) as c (tier, status, jobs)),
   event as (
     insert into job_events (part, account_id, event_id, job_id, from_status, to_status, actor, detail)
     select part, account_id, $16, job_id, from_status, $5, $17, 'upgrade' from moved),
   draft as (
     update job_texts t set kind = 'supplied' from moved m
      where t.part = m.part and t.account_id = m.account_id and t.job_id = m.job_id and t.kind = 'result'),
   instructed as (
     insert into job_texts (part, account_id, job_id, kind, body)
     select part, account_id, job_id, 'instructions', $18 from moved where $18::text is not null
     on conflict (part, account_id, job_id, kind) do update set body = excluded.body)
   select charge from moved`,
);

/** Makes a machine's job a human's. @returns whether it was; it may not be one that can be upgraded */
export async function upgradeJob(
  transaction: Transaction,
  account: AccountRef,
  { job, ...upgrade }: UpgradeFields,
): Promise<boolean> {
  const rows = await transaction.query(UPGRADE, [
    account.part,
    account.accountId,
    upgrade.jobId,
    upgrade.from,
    upgrade.to,
    job.tier,
    job.priceCents,
    job.words,
    job.tone ?? null,
    job.topics ?? null,
    job.brand ?? null,
    job.defaultBrand ?? null,
    job.callbackUrl ?? null,
    upgrade.hash,
    job.holdSeconds,
    uuidv7(),
    upgrade.actor,
    job.instructions ?? null,
    upgrade.charge,
  ]);
  return rows.length > 0;
}

const CANCEL_UPGRADE = statement<{ instructions: string | null }>(
  'jobs.cancel_upgrade',
  `with before as (
     select part, account_id, job_id, status, tier, before_upgrade from jobs
      where part = $1 and account_id = $2 and job_id = $3 and before_upgrade is not null and status = any($4)
        for update),
   moved as (
     update jobs j set tier = 'machine', status = $5, charge = k.charge, price_cents = k.price_cents, words = k.words,
            tone = k.tone, topics = k.topics, brand = k.brand, default_brand = k.default_brand,
            callback_url = k.callback_url, hold_until = k.hold_until, finished_at = k.finished_at,
            upgrade_hash = null, before_upgrade = null, redraft = null, due_at = null, lease_token = null, attempts = 0
       from before b, jsonb_to_record(b.before_upgrade) as k (charge smallint, price_cents bigint, words integer,
            tone text, topics text[], brand text, default_brand text, callback_url text, hold_until timestamptz,
            finished_at timestamptz, instructions text)
      where j.part = b.part and j.account_id = b.account_id and j.job_id = b.job_id
     returning j.part, j.account_id, j.job_id, j.environment, j.source_language, j.target_language, j.tier, j.status,
       b.tier as from_tier, b.status as from_status, k.instructions),
   counted as (
     insert into job_counts (part, account_id, environment, tier, status, source_language, target_language, jobs)
     select m.part, m.account_id, m.environment, c.tier, c.status, m.source_language, m.target_language, c.jobs
       from moved m,
            lateral (values (m.from_tier, m.from_status, -1), (m.tier, m.status, 1)) as c (tier, status, jobs)),
   event as (
     insert into job_events (part, account_id, event_id, job_id, from_status, to_status, actor, detail)
     select part, account_id, $6, job_id, from_status, status, $7, 'upgrade canceled' from moved)
   select instructions from moved`,
);
// In the sandbox a result may be made and held; what the machine delivered is beside it, as the draft.
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

/** Makes an upgraded job the machine's again, as it was. @returns whether it was; there may be no upgrade to cancel */
export async function cancelUpgrade(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  move: { from: readonly Status[]; to: Status; actor: string },
): Promise<boolean> {
  const key = [account.part, account.accountId, jobId];
  const [row] = await transaction.query(CANCEL_UPGRADE, [...key, move.from, move.to, uuidv7(), move.actor]);
  if (row === undefined) return false;
  await transaction.query(DROP_UPGRADE_TEXTS, key);
  await transaction.query(RESTORE_TEXTS, [...key, row.instructions]);
  return true;
}
