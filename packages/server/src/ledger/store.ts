/** What is asked of the database about money. One row a transfer; integer cents; no transfer is ever changed. */
import type { AccountRef, Environment } from '../account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { Price, Tier } from './prices.ts';

const OPEN_BALANCE = statement(
  'ledger.open_balance',
  `insert into balances (part, account_id, environment) values ($1, $2, $3)`,
);

export async function openBalance(
  transaction: Transaction,
  account: AccountRef,
  environment: Environment,
): Promise<void> {
  await transaction.query(OPEN_BALANCE, [account.part, account.accountId, environment]);
}

const TOP_UP = statement<{ available_cents: number }>(
  'ledger.top_up',
  `with entry as (
     insert into transfers (part, account_id, transfer_id, environment, kind, debit, credit, amount_cents, memo)
     values ($1, $2, $3, $4, 'top_up', 'funding', 'available', $5, $6))
   update balances set available_cents = available_cents + $5
    where part = $1 and account_id = $2 and environment = $4
   returning available_cents`,
);

/** @returns what there is afterwards */
export async function topUp(
  on: Queryable,
  account: AccountRef,
  entry: { transferId: string; environment: Environment; cents: number; memo: string },
): Promise<number> {
  const [row] = await on.query(TOP_UP, [
    account.part,
    account.accountId,
    entry.transferId,
    entry.environment,
    entry.cents,
    entry.memo,
  ]);
  return row!.available_cents;
}

const ADJUST = statement<{ available_cents: number }>(
  'ledger.adjust',
  `with entry as (
     insert into transfers (part, account_id, transfer_id, environment, kind, debit, credit, amount_cents, memo)
     values ($1, $2, $3, $4, 'adjustment',
       case when $5::bigint > 0 then 'funding' else 'available' end,
       case when $5::bigint > 0 then 'available' else 'funding' end, abs($5::bigint), $6))
   update balances set available_cents = available_cents + $5
    where part = $1 and account_id = $2 and environment = $4
   returning available_cents`,
);

/** @param entry.cents above zero for the customer's good, below zero against it. @returns what there is afterwards */
export async function adjust(
  on: Queryable,
  account: AccountRef,
  entry: { transferId: string; environment: Environment; cents: number; memo: string },
): Promise<number> {
  const { transferId, environment, cents, memo } = entry;
  const [row] = await on.query(ADJUST, [
    account.part,
    account.accountId,
    transferId,
    environment,
    cents,
    memo,
  ]);
  return row!.available_cents;
}

// A refund is worked out from what is there: nobody else's may come in between.
const LOCK_BALANCE = statement(
  'ledger.lock_balance',
  `select from balances where part = $1 and account_id = $2 and environment = $3 for update`,
);

export async function lockBalance(
  transaction: Transaction,
  account: AccountRef,
  environment: Environment,
): Promise<void> {
  await transaction.query(LOCK_BALANCE, [account.part, account.accountId, environment]);
}

// All that was captured for the job, whatever the number of its charges, less what was given back before.
const REFUND = statement<{ amount_cents: number; available_cents: number }>(
  'ledger.refund',
  `with captured as (
     select t.part, t.account_id, t.environment, t.job_id, max(t.charge) filter (where t.kind = 'capture') as charge,
            sum(case t.kind when 'capture' then t.amount_cents else -t.amount_cents end)::bigint as cents
       from transfers t join jobs j using (part, account_id, job_id)
      where t.part = $1 and t.account_id = $2 and j.environment = $3 and j.uid = $4
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
const WAS_REFUNDED = statement(
  'ledger.was_refunded',
  `select from transfers t join jobs j using (part, account_id, job_id)
    where t.part = $1 and t.account_id = $2 and j.environment = $3 and j.uid = $4 and t.kind = 'refund' limit 1`,
);

/** @returns undefined when nothing is left of what was captured for the job, or there is no such job */
export async function refund(
  transaction: Transaction,
  account: AccountRef,
  entry: { transferId: string; environment: Environment; uid: string; memo: string },
): Promise<{ amount_cents: number; available_cents: number } | undefined> {
  const { transferId, environment, uid, memo } = entry;
  await lockBalance(transaction, account, environment);
  const [row] = await transaction.query(REFUND, [
    account.part,
    account.accountId,
    environment,
    uid,
    transferId,
    memo,
  ]);
  return row;
}

/** Whether anything was given back for a job. */
export async function wasRefunded(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
  uid: string,
): Promise<boolean> {
  return (await on.query(WAS_REFUNDED, [account.part, account.accountId, environment, uid])).length > 0;
}

interface JobTransferRow {
  created_at: Date;
  kind: string;
  amount_cents: number;
  memo: string | null;
}

// A job is found by the keys that see to it that it is charged once: one for each kind.
const OF_JOB = statement<JobTransferRow>(
  'ledger.of_job',
  `select created_at, kind, amount_cents, memo, transfer_id from transfers
    where part = $1 and account_id = $2 and job_id = $3 and kind = 'hold'
   union all
   select created_at, kind, amount_cents, memo, transfer_id from transfers
    where part = $1 and account_id = $2 and job_id = $3 and kind in ('capture', 'void')
   union all
   select created_at, kind, amount_cents, memo, transfer_id from transfers
    where part = $1 and account_id = $2 and job_id = $3 and kind = 'refund'
    order by transfer_id`,
);

export function listJobTransfers(
  on: Queryable,
  account: AccountRef,
  jobId: string,
): Promise<JobTransferRow[]> {
  return on.query(OF_JOB, [account.part, account.accountId, jobId]);
}

// Of two that come at once, the second waits for the first one's commit.
const TAKE_REQUEST = statement<{ key: string }>(
  'ledger.take_request',
  `insert into money_requests (part, account_id, key, request_hash) values ($1, $2, $3, $4)
   on conflict (part, account_id, key) do nothing returning key`,
);
const ANSWER_REQUEST = statement(
  'ledger.answer_request',
  'update money_requests set answer = $4 where part = $1 and account_id = $2 and key = $3',
);
const READ_REQUEST = statement<{ request_hash: Buffer; answer: unknown }>(
  'ledger.read_request',
  'select request_hash, answer from money_requests where part = $1 and account_id = $2 and key = $3',
);

/** @returns whether the key was free */
export async function takeRequest(
  transaction: Transaction,
  account: AccountRef,
  key: string,
  requestHash: Buffer,
): Promise<boolean> {
  const values = [account.part, account.accountId, key, requestHash];
  return (await transaction.query(TAKE_REQUEST, values)).length > 0;
}

/** Keeps what a request is answered, for when it is sent again. */
export async function answerRequest(
  transaction: Transaction,
  account: AccountRef,
  key: string,
  answer: object,
): Promise<void> {
  await transaction.query(ANSWER_REQUEST, [account.part, account.accountId, key, JSON.stringify(answer)]);
}

export async function readRequest(
  transaction: Transaction,
  account: AccountRef,
  key: string,
): Promise<{ request_hash: Buffer; answer: unknown } | undefined> {
  const [row] = await transaction.query(READ_REQUEST, [account.part, account.accountId, key]);
  return row;
}

// A statement's questions are asked of one moment.
const SNAPSHOT = statement('ledger.snapshot', 'set transaction isolation level repeatable read, read only');

export async function takeSnapshot(transaction: Transaction): Promise<void> {
  await transaction.query(SNAPSHOT);
}

/** What a transfer does to what the account can spend. */
const CHANGE = `case 'available' when credit then amount_cents when debit then -amount_cents else 0 end`;

const OPENING = statement<{ cents: number }>(
  'ledger.opening',
  `select coalesce(sum(${CHANGE}), 0)::bigint as cents from transfers
    where part = $1 and account_id = $2 and environment = $3 and created_at < $4`,
);

/** What the account could spend at a moment. */
export async function readOpening(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
  at: Date,
): Promise<number> {
  const [row] = await on.query(OPENING, [account.part, account.accountId, environment, at]);
  return row!.cents;
}

export interface LineRow {
  created_at: Date;
  kind: string;
  uid: string | null;
  memo: string | null;
  amount_cents: number;
  change_cents: number;
}

const LINES = statement<LineRow>(
  'ledger.lines',
  `select t.created_at, t.kind, j.uid, t.memo, t.amount_cents, (${CHANGE})::bigint as change_cents
     from transfers t left join jobs j on j.part = t.part and j.account_id = t.account_id and j.job_id = t.job_id
    where t.part = $1 and t.account_id = $2 and t.environment = $3
      and t.created_at >= $4 and t.created_at < $5
    order by t.created_at, t.transfer_id`,
);

/** Every transfer from one moment to before another, in their order. */
export function listLines(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
  from: Date,
  until: Date,
): Promise<LineRow[]> {
  return on.query(LINES, [account.part, account.accountId, environment, from, until]);
}

export interface HoldEntry {
  account: AccountRef;
  transferId: string;
  environment: Environment;
  jobId: string;
  charge: number;
  cents: number;
}

// Balances are locked in the order of their key before they are changed: two batches that share two
// accounts would otherwise wait for each other.
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
     select b.part, b.account_id, b.environment, due.cents
       from balances b join due on b.part = due.part and b.account_id = due.account_id
        and b.environment = due.environment
      order by 1, 2, 3 for update of b)
   update balances b set available_cents = b.available_cents - locked.cents from locked
    where b.part = locked.part and b.account_id = locked.account_id and b.environment = locked.environment
   returning b.part, b.account_id, b.environment, b.available_cents`,
);

/** Writes the holds. @returns what each balance is after them */
export function insertHolds(
  transaction: Transaction,
  entries: readonly HoldEntry[],
): Promise<{ part: number; account_id: string; environment: Environment; available_cents: number }[]> {
  return transaction.query(HOLD, [
    entries.map(({ account }) => account.part),
    entries.map(({ account }) => account.accountId),
    entries.map(({ transferId }) => transferId),
    entries.map(({ environment }) => environment),
    entries.map(({ jobId }) => jobId),
    entries.map(({ cents }) => cents),
    entries.map(({ charge }) => charge),
  ]);
}

// The amount and the environment come from the hold itself: a job without a hold (price 0) ends with nothing.
const CAPTURE_ALL = statement(
  'ledger.capture_all',
  `insert into transfers (part, account_id, transfer_id, environment, job_id, charge, kind, debit, credit, amount_cents)
   select h.part, h.account_id, g.transfer_id, h.environment, h.job_id, h.charge, 'capture', 'held', 'revenue',
          h.amount_cents
     from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::uuid[], $5::smallint[])
       as g (part, account_id, job_id, transfer_id, charge)
     join transfers h on h.part = g.part and h.account_id = g.account_id and h.job_id = g.job_id
      and h.charge = g.charge and h.kind = 'hold'`,
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
}

const VOID = statement(
  'ledger.void',
  `with entry as (
     insert into transfers (part, account_id, transfer_id, environment, job_id, charge, kind, debit, credit, amount_cents)
     select part, account_id, $4, environment, job_id, charge, 'void', 'held', 'available', amount_cents
       from transfers where part = $1 and account_id = $2 and job_id = $3 and charge = $5 and kind = 'hold'
     returning environment, amount_cents)
   update balances b set available_cents = b.available_cents + entry.amount_cents from entry
    where b.part = $1 and b.account_id = $2 and b.environment = entry.environment`,
);

export async function voidHold(
  transaction: Transaction,
  account: AccountRef,
  { jobId, charge }: { jobId: string; charge: number },
  transferId: string,
): Promise<void> {
  await transaction.query(VOID, [account.part, account.accountId, jobId, transferId, charge]);
}

const LAST_CHARGE = statement<{ charge: number }>(
  'ledger.last_charge',
  `select coalesce(max(charge), 1) as charge from transfers where part = $1 and account_id = $2 and job_id = $3`,
);

/** Returns the number of a job's last charge, ended or not; 1 where it has had no price. */
export async function lastCharge(on: Queryable, account: AccountRef, jobId: string): Promise<number> {
  return (await on.query(LAST_CHARGE, [account.part, account.accountId, jobId]))[0]!.charge;
}

const BALANCE = statement<{ available_cents: number; credit_limit_cents: number | null }>(
  'ledger.balance',
  `select available_cents, credit_limit_cents from balances
    where part = $1 and account_id = $2 and environment = $3`,
);

const BALANCES = statement<{
  environment: Environment;
  available_cents: number;
  credit_limit_cents: number | null;
}>(
  'ledger.balances',
  `select environment, available_cents, credit_limit_cents from balances
    where part = $1 and account_id = $2 order by environment`,
);

export function listBalances(
  on: Queryable,
  account: AccountRef,
): Promise<{ environment: Environment; available_cents: number; credit_limit_cents: number | null }[]> {
  return on.query(BALANCES, [account.part, account.accountId]);
}

const SET_CREDIT = statement(
  'ledger.set_credit',
  `update balances set credit_limit_cents = $4 where part = $1 and account_id = $2 and environment = $3`,
);

/** @param cents null: no limit */
export async function setCreditLimit(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
  cents: number | null,
): Promise<void> {
  await on.query(SET_CREDIT, [account.part, account.accountId, environment, cents]);
}

export async function readBalance(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
): Promise<{ available_cents: number; credit_limit_cents: number | null } | undefined> {
  const [row] = await on.query(BALANCE, [account.part, account.accountId, environment]);
  return row;
}

/** A disagreement that verification found. */
export interface Discrepancy {
  rule: string;
  part: number;
  account_id: string;
  subject: string;
  detail: string;
}

/**
 * Re-adds everything from the transfers. Each row of the answer is a broken promise:
 * a balance that is not the sum of its transfers, or is not there; a job whose price and hold differ; a finished
 * job not captured, or captured unfinished; a failed or canceled job, or one that fell back to a machine's draft, not
 * given back; a machine's charge before an upgrade that was not captured, or an upgrade's that was canceled and not given
 * back; a transfer of a job in the other environment's balance; a refund of more than was
 * captured; a balance beyond its credit limit.
 */
const VERIFY = statement<Discrepancy>(
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
          format('price %s, held %s', j.price_cents, coalesce(h.amount_cents, 0))
     from jobs j left join transfers h
       on h.part = j.part and h.account_id = j.account_id and h.job_id = j.job_id and h.charge = j.charge
      and h.kind = 'hold'
    where j.price_cents <> coalesce(h.amount_cents, 0)
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
    where (h.charge > j.charge and j.tier <> 'machine')
       or e.kind is distinct from case when h.charge = 1 then 'capture' else 'void' end
   union all
   select 'amount', e.part, e.account_id, e.job_id::text,
          format('held %s, ended with %s', h.amount_cents, e.amount_cents)
     from transfers e left join transfers h
       on h.part = e.part and h.account_id = e.account_id and h.job_id = e.job_id and h.charge = e.charge
      and h.kind = 'hold'
    where e.kind in ('capture', 'void') and e.amount_cents is distinct from h.amount_cents
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
);

export function findDiscrepancies(on: Queryable): Promise<Discrepancy[]> {
  return on.query(VERIFY);
}

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

export interface PriceRow {
  price_id: string;
  tier: Tier;
  part: number | null;
  account_id: string | null;
  source_language: string | null;
  target_language: string | null;
  cents_per_word: number;
  valid_from: Date;
  valid_until: Date | null;
}

const LIST_PRICES = statement<PriceRow>(
  'ledger.prices',
  `select price_id, tier, part, account_id, source_language, target_language, cents_per_word, valid_from, valid_until
     from prices where valid_until is null or valid_until > $1
    order by tier, account_id nulls first, source_language nulls first, target_language nulls first, valid_from`,
);

/** The prices that have not ended at a moment, of every account. */
export function listPrices(on: Queryable, at: Date): Promise<PriceRow[]> {
  return on.query(LIST_PRICES, [at]);
}

// Readers do not wait for it; whoever sets a price sees the one before.
const LOCK_PRICES = statement('ledger.lock_prices', 'lock table prices in share row exclusive mode');

export async function lockPrices(transaction: Transaction): Promise<void> {
  await transaction.query(LOCK_PRICES);
}

const INSERT_PRICE = statement(
  'ledger.insert_price',
  `insert into prices (price_id, tier, part, account_id, source_language, target_language, cents_per_word,
     valid_from, valid_until) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

export async function insertPrice(transaction: Transaction, price: Price & { id: string }): Promise<void> {
  await transaction.query(INSERT_PRICE, [
    price.id,
    price.tier,
    price.account?.part ?? null,
    price.account?.accountId ?? null,
    price.pair?.sourceLanguage ?? null,
    price.pair?.targetLanguage ?? null,
    price.centsPerWord,
    price.from,
    price.until ?? null,
  ]);
}

const END_PRICE = statement('ledger.end_price', `update prices set valid_until = $2 where price_id = $1`);
const REMOVE_PRICE = statement('ledger.remove_price', `delete from prices where price_id = $1`);

export async function endPrice(transaction: Transaction, priceId: string, at: Date): Promise<void> {
  await transaction.query(END_PRICE, [priceId, at]);
}

export async function removePrice(transaction: Transaction, priceId: string): Promise<void> {
  await transaction.query(REMOVE_PRICE, [priceId]);
}
