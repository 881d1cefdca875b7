/**
 * The SQL statements about transfers and balances. Each transfer is one row with whole cents, and rows never
 * change.
 */
import type { AccountRef, Environment } from '../base/account.ts';
import type { Transaction } from '../database/database.ts';
import { AS_TEXT, statement } from '../database/statements.ts';
import type { EditedWordCounts } from '../http/schemas.ts';
import type { Discount } from './prices.ts';

/** Inserts an empty balance. @param limit the credit limit in cents; null means no limit */
export const openBalance = statement<
  never,
  { account: AccountRef; environment: Environment; limit: number | null },
  Transaction
>(
  'ledger.open_balance',
  `insert into balances (part, account_id, environment, credit_limit_cents) values (:part, :account_id, :environment, :limit)`,
).reporting('balance').run;

/** Inserts a top-up. @returns the new balance in cents */
export const insertTopUp = statement<
  { available_cents: number },
  { account: AccountRef; transferId: string; environment: Environment; cents: number; memo: string }
>(
  'ledger.top_up',
  `with entry as (
     insert into transfers (part, account_id, transfer_id, environment, kind, debit, credit, amount_cents, memo)
     values (:part, :account_id, :transferId, :environment, 'top_up', 'funding', 'available', :cents, :memo))
   update balances set available_cents = available_cents + :cents
    where part = :part and account_id = :account_id and environment = :environment
   returning available_cents`,
).reporting('balance').value;

/** Inserts an adjustment. @param cents may be negative. @returns the new balance in cents */
export const insertAdjustment = statement<
  { available_cents: number },
  { account: AccountRef; transferId: string; environment: Environment; cents: number; memo: string }
>(
  'ledger.adjust',
  `with entry as (
     insert into transfers (part, account_id, transfer_id, environment, kind, debit, credit, amount_cents, memo)
     values (:part, :account_id, :transferId, :environment, 'adjustment',
       case when :cents::bigint > 0 then 'funding' else 'available' end,
       case when :cents::bigint > 0 then 'available' else 'funding' end, abs(:cents::bigint), :memo))
   update balances set available_cents = available_cents + :cents
    where part = :part and account_id = :account_id and environment = :environment
   returning available_cents`,
).reporting('balance').value;

// The amount of a refund depends on earlier transfers, so the balance is locked to prevent a concurrent
// refund.
export const lockBalance = statement<never, { account: AccountRef; environment: Environment }, Transaction>(
  'ledger.lock_balance',
  `select from balances where part = :part and account_id = :account_id and environment = :environment for update`,
).run;

// Refunds the captured amounts of all charges of a job, minus its earlier refunds.
const REFUND = statement<{ amount_cents: number; available_cents: number }>(
  'ledger.refund',
  `with captured as (
     select t.part, t.account_id, t.environment, t.job_id, max(t.charge) filter (where t.kind = 'capture') as charge,
            sum(case t.kind when 'capture' then t.amount_cents else -t.amount_cents end)::bigint as cents
       from transfers t join jobs j using (part, account_id, job_id)
      where j.part = $1 and t.part = $1 and t.account_id = $2 and j.environment = $3 and j.uid = $4
        and t.kind in ('capture', 'refund')
      group by 1, 2, 3, 4),
   entry as (
     insert into transfers (part, account_id, transfer_id, environment, job_id, charge, kind, debit, credit,
       amount_cents, memo)
     select part, account_id, $5, environment, job_id, charge, 'refund', 'revenue', 'available', cents, $6
       from captured where cents > 0
     returning environment, amount_cents)
   update balances b set available_cents = b.available_cents + entry.amount_cents from entry
    where b.part = $1 and b.account_id = $2 and b.environment = entry.environment
   returning entry.amount_cents, b.available_cents`,
);
/** Finds a job, and whether anything was refunded for it. */
export const findRefundableJob = statement<
  { refunded: boolean },
  { account: AccountRef; environment: Environment; uid: string }
>(
  'ledger.find_job',
  `select exists (
     select from transfers t
      where t.part = :part and t.account_id = j.account_id and t.job_id = j.job_id and t.kind = 'refund')
     as refunded
     from jobs j where j.part = :part and j.account_id = :account_id and j.environment = :environment and j.uid = :uid`,
).first;

/** Inserts the refund of a job. @returns undefined when nothing is left to refund or the job does not exist */
export async function insertRefund(
  transaction: Transaction,
  account: AccountRef,
  entry: { transferId: string; environment: Environment; uid: string; memo: string },
): Promise<{ amount_cents: number; available_cents: number } | undefined> {
  const { transferId, environment, uid, memo } = entry;
  await lockBalance(transaction, { account, environment });
  const [row] = await transaction.query(REFUND, [
    account.part,
    account.accountId,
    environment,
    uid,
    transferId,
    memo,
  ]);
  if (row !== undefined) transaction.changed('balance', account);
  return row;
}

interface JobTransferRow {
  created_at: Date;
  kind: string;
  amount_cents: number;
  memo: string | null;
}

// The query has one branch for each unique key of a job's transfers, so that each branch uses its index.
export const selectJobTransfers = statement<JobTransferRow, { account: AccountRef; jobId: string }>(
  'ledger.of_job',
  `select created_at, kind, amount_cents, memo, transfer_id from transfers
    where part = :part and account_id = :account_id and job_id = :jobId and kind = 'hold'
   union all
   select created_at, kind, amount_cents, memo, transfer_id from transfers
    where part = :part and account_id = :account_id and job_id = :jobId and kind in ('capture', 'void')
   union all
   select created_at, kind, amount_cents, memo, transfer_id from transfers
    where part = :part and account_id = :account_id and job_id = :jobId and kind = 'release'
   union all
   select created_at, kind, amount_cents, memo, transfer_id from transfers
    where part = :part and account_id = :account_id and job_id = :jobId and kind = 'refund'
    order by transfer_id`,
).rows;

// With this isolation level all queries of the transaction see the same snapshot.
export const takeSnapshot = statement<never, object, Transaction>(
  'ledger.snapshot',
  'set transaction isolation level repeatable read, read only',
).run;

/** SQL: the change of the available balance by a transfer. */
const CHANGE = `case 'available' when credit then amount_cents when debit then -amount_cents else 0 end`;

/** Returns the available balance at a moment. */
export const readOpening = statement<
  { cents: number },
  { account: AccountRef; environment: Environment; at: Date }
>(
  'ledger.opening',
  `select coalesce(sum(${CHANGE}), 0)::bigint as cents from transfers
    where part = :part and account_id = :account_id and environment = :environment and created_at < :at`,
).value;

export interface LineRow {
  created_at: Date;
  kind: string;
  uid: string | null;
  memo: string | null;
  amount_cents: number;
  change_cents: number;
  discounts: Discount[] | null;
  edited_words: EditedWordCounts;
}

/** Lists every transfer in `[from, until)`, in order. */
export const listLines = statement<
  LineRow,
  { account: AccountRef; environment: Environment; from: Date; until: Date }
>(
  'ledger.lines',
  `select t.created_at, t.kind, j.uid, t.memo, t.amount_cents, (${CHANGE})::bigint as change_cents,
          case when t.charge = j.charge and (t.kind = 'capture' or t.kind = 'hold' and j.untranslated is null)
            then j.discounts end as discounts,
          case when t.charge = j.charge and t.kind = 'capture' then j.edited_words end as edited_words
     from transfers t left join jobs j on j.part = :part and j.account_id = t.account_id and j.job_id = t.job_id
    where t.part = :part and t.account_id = :account_id and t.environment = :environment
      and t.created_at >= :from and t.created_at < :until
    order by t.created_at, t.transfer_id`,
).rows;

export interface HoldEntry {
  account: AccountRef;
  transferId: string;
  environment: Environment;
  jobId: string;
  charge: number;
  cents: number;
}

// Locks balances in the order of their key. Otherwise two batches with two accounts in common could deadlock.
const HOLD = statement<{
  part: number;
  account_id: string;
  environment: Environment;
  available_cents: number;
}>(
  'ledger.hold',
  `with entry (part, account_id, transfer_id, environment, job_id, cents, charge) as (
     select * from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::bigint[], $7::smallint[])),
   written as (
     insert into transfers (part, account_id, transfer_id, environment, job_id, charge, kind, debit, credit, amount_cents)
     select part, account_id, transfer_id, environment, job_id, charge, 'hold', 'available', 'held', cents from entry),
   due as (
     select part, account_id, environment, sum(cents)::bigint as cents from entry group by 1, 2, 3),
   locked as (
     select b.part, b.account_id, b.environment, due.cents, ${AS_TEXT}
       from balances b join due on b.part = due.part and b.account_id = due.account_id
        and b.environment = due.environment
      order by 1, 2, 3 for update of b)
   update balances b set available_cents = b.available_cents - locked.cents from locked
    where b.part = locked.part and b.account_id = locked.account_id and b.environment = locked.environment
   returning b.part, b.account_id, b.environment, b.available_cents`,
);

/** Inserts holds. @returns the new balance of each account */
export async function insertHolds(
  transaction: Transaction,
  entries: readonly HoldEntry[],
): Promise<{ part: number; account_id: string; environment: Environment; available_cents: number }[]> {
  const rows = await transaction.query(HOLD, [
    entries.map(({ account }) => account.part),
    entries.map(({ account }) => account.accountId),
    entries.map(({ transferId }) => transferId),
    entries.map(({ environment }) => environment),
    entries.map(({ jobId }) => jobId),
    entries.map(({ cents }) => cents),
    entries.map(({ charge }) => charge),
  ]);
  for (const { account } of entries) transaction.changed('balance', account);
  return rows;
}

const COUNT_ORDERS = statement(
  'ledger.count_orders',
  `with ordered as (
     select part, account_id, key_id, sum(cents)::bigint as cents
       from unnest($1::smallint[], $2::uuid[], $3::text[], $4::bigint[]) as g (part, account_id, key_id, cents)
      group by 1, 2, 3)
   update keys k
      set ordered_on = greatest(k.ordered_on, (now() at time zone 'UTC')::date),
          -- A transaction that began before midnight may come after one of the new day.
          ordered_cents = o.cents
            + case when k.ordered_on >= (now() at time zone 'UTC')::date then k.ordered_cents else 0 end
     from ordered o
    where k.part = o.part and k.account_id = o.account_id and k.key_id = o.key_id`,
);

/** Counts orders for the daily limits of their keys. @throws the check violation of `keys_daily_limit` */
export async function countOrders(
  transaction: Transaction,
  orders: readonly (Pick<HoldEntry, 'account' | 'cents'> & { limitedKey?: string | undefined })[],
): Promise<void> {
  await transaction.query(COUNT_ORDERS, [
    orders.map(({ account }) => account.part),
    orders.map(({ account }) => account.accountId),
    orders.map(({ limitedKey }) => limitedKey),
    orders.map(({ cents }) => cents),
  ]);
}

// Copies environment and amount from the hold, without the released part. A free job has no hold, so it gets no transfer.
const CAPTURE_ALL = statement(
  'ledger.capture_all',
  `insert into transfers (part, account_id, transfer_id, environment, job_id, charge, kind, debit, credit, amount_cents)
   select h.part, h.account_id, g.transfer_id, h.environment, h.job_id, h.charge, 'capture', 'held', 'revenue',
          h.amount_cents - coalesce(r.amount_cents, 0)
     from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::uuid[], $5::smallint[])
       as g (part, account_id, job_id, transfer_id, charge)
     join transfers h on h.part = g.part and h.account_id = g.account_id and h.job_id = g.job_id
      and h.charge = g.charge and h.kind = 'hold'
     left join transfers r on r.part = g.part and r.account_id = g.account_id and r.job_id = g.job_id
      and r.charge = g.charge and r.kind = 'release'
    where h.amount_cents > coalesce(r.amount_cents, 0)`,
);

export async function captureAll(
  transaction: Transaction,
  entries: readonly { account: AccountRef; jobId: string; charge: number; transferId: string }[],
): Promise<void> {
  await transaction.query(CAPTURE_ALL, [
    entries.map(({ account }) => account.part),
    entries.map(({ account }) => account.accountId),
    entries.map(({ jobId }) => jobId),
    entries.map(({ transferId }) => transferId),
    entries.map(({ charge }) => charge),
  ]);
  for (const { account, jobId } of entries) transaction.changed('balance', account, jobId);
}

const GIVE_BACK = statement(
  'ledger.give_back',
  `with held as materialized (
     select part, account_id, environment, job_id, charge, coalesce($7, amount_cents) as amount_cents from transfers
      where part = $1 and account_id = $2 and job_id = $3 and charge = $5 and kind = 'hold'),
   entry as (
     insert into transfers (part, account_id, transfer_id, environment, job_id, charge, kind, debit, credit, amount_cents)
     select part, account_id, $4, environment, job_id, charge, $6, 'held', 'available', amount_cents from held)
   update balances b set available_cents = b.available_cents + held.amount_cents from held
    where b.part = $1 and b.account_id = $2 and b.environment = held.environment`,
);

/** Gives a hold back. @param cents the released part of the hold; undefined to void all of it */
export async function giveBack(
  transaction: Transaction,
  account: AccountRef,
  { jobId, charge, cents }: { jobId: string; charge: number; cents: number | undefined },
  transferId: string,
): Promise<void> {
  const kind = cents === undefined ? 'void' : 'release';
  const values = [account.part, account.accountId, jobId, transferId, charge, kind, cents ?? null];
  await transaction.query(GIVE_BACK, values);
  transaction.changed('balance', account, jobId);
}

/**
 * Returns the number of a job's latest charge, also if it is captured or voided. Returns 1 for a job without transfers,
 * because the number 1 belongs to the job's creation even if it was free.
 */
export const lastCharge = statement<{ charge: number }, { account: AccountRef; jobId: string }>(
  'ledger.last_charge',
  `select coalesce(max(charge), 1) as charge from transfers where part = :part and account_id = :account_id
    and job_id = :jobId`,
).value;

export const readBalance = statement<
  { available_cents: number; credit_limit_cents: number | null },
  { account: AccountRef; environment: Environment }
>(
  'ledger.balance',
  `select available_cents, credit_limit_cents from balances
    where part = :part and account_id = :account_id and environment = :environment`,
).first;

export const listBalances = statement<
  {
    environment: Environment;
    available_cents: number;
    credit_limit_cents: number | null;
  },
  { account: AccountRef }
>(
  'ledger.balances',
  `select environment, available_cents, credit_limit_cents from balances
    where part = :part and account_id = :account_id order by environment`,
).rows;

/** Returns the cents that were charged since the transfer with the id `since`, less refunds, by environment. */
export const sumCharged = statement<
  { environment: Environment; cents: number },
  { account: AccountRef; since: string }
>(
  'ledger.charged',
  `select environment, sum(case kind when 'capture' then amount_cents else -amount_cents end)::bigint as cents
     from transfers
    where part = :part and account_id = :account_id and transfer_id >= :since and kind in ('capture', 'refund')
    group by environment`,
).rows;

/** Returns the cents that the unfinished jobs of an account hold. An environment without such jobs is left out. */
export const sumHeld = statement<{ environment: Environment; cents: number }, { account: AccountRef }>(
  'ledger.held',
  `select environment, sum(price_cents)::bigint as cents from jobs
    where part = :part and account_id = :account_id and tier in ('human', 'machine')
      and status in ('new', 'machine_translate_in_progress', 'translating')
    group by environment`,
).rows;

/**
 * Lists accounts that are not overdrawn but can spend less than was held for their jobs since `since`.
 * @param since the id of the first transfer that counts
 */
export const selectLowBalances = statement<
  { username: string; cents: number },
  { since: string; limit: number }
>(
  'ledger.low_balances',
  `select a.username, b.available_cents + b.credit_limit_cents as cents
     from balances b
     join accounts a on a.part = b.part and a.account_id = b.account_id
     cross join lateral (
       select sum(t.amount_cents) as cents from transfers t
        where t.part = b.part and t.account_id = b.account_id and t.transfer_id >= :since and t.kind = 'hold'
          and t.environment = 'production') spent
    where b.environment = 'production' and b.available_cents >= 0 and b.credit_limit_cents is not null
      and b.available_cents + b.credit_limit_cents < spent.cents
    order by cents limit :limit`,
).rows;

/** Changes the credit limit of a balance. @param cents the credit limit; null means no limit */
export const updateCreditLimit = statement<
  never,
  { account: AccountRef; environment: Environment; cents: number | null }
>(
  'ledger.set_credit',
  `update balances set credit_limit_cents = :cents where part = :part and account_id = :account_id
    and environment = :environment`,
).reporting('balance').run;
