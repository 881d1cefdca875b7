import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';

/** A rule that the transfers of an account violate. */
export interface Discrepancy {
  rule: string;
  part: number;
  account_id: string;
  subject: string;
  detail: string;
}

/**
 * Recalculates everything from the transfers. Each row of the result is a violated rule:
 * - a balance that is missing or not the sum of its transfers
 * - a job whose price is not its hold without the released part
 * - a job whose price is not that of its words, the price of a word, and its discounts, now or before an upgrade
 * - a completed job that was not captured, or a job that was captured before it completed
 * - a released part of a job that has no untranslated segments or is not completed
 * - a failed or canceled job, or a fallback to a machine draft, whose hold was not voided
 * - a machine charge that was not captured before an upgrade, or a canceled upgrade that was not voided
 * - a transfer of a job in the balance of the other environment
 * - a refund above the captured amount
 * - a balance beyond its credit limit
 */
export const findDiscrepancies = statement<Discrepancy>(
  'ledger.verify',
  `select 'balance' as rule, coalesce(b.part, t.part) as part, coalesce(b.account_id, t.account_id) as account_id,
          coalesce(b.environment, t.environment) as subject,
          format('balance says %s, transfers say %s',
                 coalesce(b.available_cents::text, 'nothing'), coalesce(t.cents, 0)) as detail
     from balances b full join (
       select part, account_id, environment,
              sum(case 'available' when credit then amount_cents when debit then -amount_cents else 0 end) as cents
         from transfers group by 1, 2, 3) t
       on t.part = b.part and t.account_id = b.account_id and t.environment = b.environment
    where b.available_cents is distinct from coalesce(t.cents, 0)
   union all
   select 'hold', j.part, j.account_id, j.job_id::text,
          format('price %s, held %s', j.price_cents, coalesce(h.amount_cents, 0) - coalesce(r.amount_cents, 0))
     from jobs j left join transfers h
       on h.part = j.part and h.account_id = j.account_id and h.job_id = j.job_id and h.charge = j.charge
      and h.kind = 'hold'
     left join transfers r
       on r.part = j.part and r.account_id = j.account_id and r.job_id = j.job_id and r.charge = j.charge
      and r.kind = 'release'
    where j.price_cents <> coalesce(h.amount_cents, 0) - coalesce(r.amount_cents, 0)
   union all
   select 'release', j.part, j.account_id, j.job_id::text,
          format('status %s, %s untranslated, released %s', j.status,
                 coalesce(j.untranslated->>'segments', '0'), r.amount_cents)
     from transfers r join jobs j
       on j.part = r.part and j.account_id = r.account_id and j.job_id = r.job_id and j.charge = r.charge
    where r.kind = 'release'
      and (j.untranslated is null or j.status not in ('completed', 'accepted', 'rejected'))
   union all
   select 'price', j.part, j.account_id, j.job_id::text,
          format('price %s, words and discounts say %s', j.price_cents, j.cents)
     from (
       select c.*, greatest(floor(c.hundredths / 100), least(c.hundredths, 1)) as cents from (
         select p.part, p.account_id, p.job_id, p.price_cents,
                (p.words * 100 - coalesce(sum(d.words * (100 - d.share)), 0)) * p.cents_per_word as hundredths
           from (
             select part, account_id, job_id, price_cents, words::bigint, cents_per_word, discounts, false as earlier
               from jobs
             union all
             select part, account_id, job_id, (before_upgrade->>'price_cents')::bigint,
                    (before_upgrade->>'words')::bigint, (before_upgrade->>'cents_per_word')::bigint,
                    nullif(before_upgrade->'discounts', 'null'), true
               from jobs where before_upgrade is not null) p
           left join lateral jsonb_to_recordset(p.discounts) as d (words bigint, share bigint) on true
          group by p.part, p.account_id, p.job_id, p.earlier, p.price_cents, p.words, p.cents_per_word) c) j
    where j.price_cents <> j.cents
   union all
   select 'end', j.part, j.account_id, j.job_id::text,
          format('status %s%s, price %s, ended by %s', j.status, case when j.fell_back then ', fell back' end,
                 j.price_cents, coalesce(e.kind, 'nothing'))
     from jobs j left join transfers e
       on e.part = j.part and e.account_id = j.account_id and e.job_id = j.job_id and e.charge = j.charge
      and e.kind in ('capture', 'void')
    where j.price_cents > 0
      and coalesce(e.kind, 'nothing') <> case
            when j.status in ('failed', 'canceled') or j.fell_back then 'void'
            when j.status in ('completed', 'accepted', 'rejected') then 'capture'
            else 'nothing' end
   union all
   select 'earlier', j.part, j.account_id, j.job_id::text,
          format('charge %s of %s, ended by %s', h.charge, j.charge, coalesce(e.kind, 'nothing'))
     from jobs j join transfers h
       on h.part = j.part and h.account_id = j.account_id and h.job_id = j.job_id and h.charge <> j.charge
      and h.kind = 'hold'
     left join transfers e
       on e.part = h.part and e.account_id = h.account_id and e.job_id = h.job_id and e.charge = h.charge
      and e.kind in ('capture', 'void')
     left join transfers r
       on r.part = h.part and r.account_id = h.account_id and r.job_id = h.job_id and r.charge = h.charge
      and r.kind = 'release'
    where (h.charge > j.charge and j.tier <> 'machine')
       or e.kind is distinct from case when r.amount_cents = h.amount_cents then null
                                       when h.charge = 1 then 'capture' else 'void' end
   union all
   select 'amount', e.part, e.account_id, e.job_id::text,
          format('held %s, ended with %s', h.amount_cents - coalesce(r.amount_cents, 0), e.amount_cents)
     from transfers e left join transfers h
       on h.part = e.part and h.account_id = e.account_id and h.job_id = e.job_id and h.charge = e.charge
      and h.kind = 'hold'
     left join transfers r
       on r.part = e.part and r.account_id = e.account_id and r.job_id = e.job_id and r.charge = e.charge
      and r.kind = 'release'
    where e.kind in ('capture', 'void')
      and e.amount_cents is distinct from h.amount_cents - coalesce(r.amount_cents, 0)
   union all
   select 'environment', t.part, t.account_id, t.job_id::text,
          format('job of %s, %s in %s', j.environment, t.kind, t.environment)
     from transfers t join jobs j
       on j.part = t.part and j.account_id = t.account_id and j.job_id = t.job_id
    where t.environment <> j.environment
   union all
   select 'refund', r.part, r.account_id, r.job_id::text,
          format('captured %s, refunded %s', coalesce(c.cents, 0), r.amount_cents)
     from (
       select part, account_id, job_id, sum(amount_cents) as amount_cents
         from transfers where kind = 'refund' group by 1, 2, 3) r
     left join (
       select part, account_id, job_id, sum(amount_cents) as cents
         from transfers where kind = 'capture' group by 1, 2, 3) c
       on c.part = r.part and c.account_id = r.account_id and c.job_id = r.job_id
    where r.amount_cents > coalesce(c.cents, 0)
   union all
   select 'credit', part, account_id, environment,
          format('balance %s, may owe %s', available_cents, credit_limit_cents)
     from balances where available_cents < -credit_limit_cents`,
).rows;

const TOTALS = statement<{ accounts: number; transfers: number; cents: number }>(
  'ledger.totals',
  `select count(distinct (part, account_id)) as accounts, count(*) as transfers,
          coalesce(sum(amount_cents), 0)::bigint as cents from transfers`,
);

export async function readTotals(
  on: Queryable,
): Promise<{ accounts: number; transfers: number; cents: number }> {
  const [row] = await on.query(TOTALS);
  return row!;
}
