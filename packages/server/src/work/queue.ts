/**
 * The lease queue. A row that needs work (a job, a message, a delivery) is its own queue entry:
 *
 *   due_at null                  no worker needs to process the row
 *   due_at <= now                due: the next worker that claims the row gets it
 *   due_at in the future         scheduled for later, or leased: a claim moves `due_at` to the end of the lease
 *   lease_token                  fencing token: every write of a worker has the condition `lease_token = …`
 *
 * When a worker dies, its rows become due again as their leases expire. A worker that was only slow finds the
 * token replaced, so its writes change nothing. Moving `due_at`, instead of filtering by a `locked_until`
 * column, keeps claimed rows away from the head of the index. Measured: 1.5 times the throughput with many
 * waiting rows, and no decrease over time.
 *
 * Fairness: one index seek per account finds the accounts with due rows. The queue visits these accounts in
 * turn and makes a few claims for each, so that ten thousand jobs of one account do not delay the single job
 * of another.
 *
 * A worker's capacity is also limited by a sum of weights, so that a few large rows fill the worker like many
 * small rows. A row that is too heavy for the free weight ends the round, and the next round begins with this
 * row. No other row is claimed before it, so enough weight becomes free for it, however many small rows other
 * accounts have.
 *
 * Deliveries use the same leases, but `deliveries/queue.ts` claims them by host and in order.
 */
import type { AccountRef } from '../base/account.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Database } from '../database/database.ts';
import { type Statement, statement } from '../database/statements.ts';

/** A leased row: its account, its id, and the token that proves the lease. */
export interface Lease {
  account: AccountRef;
  id: string;
  token: string;
  /** Number of claims of the row, including this one. */
  attempts: number;
  /** Memory that the row needs in a worker: UTF-16 code units of a job's text, or bytes of a delivery's body. */
  weight: number;
}

/** Limits of a claim, in addition to the number of rows. */
export interface ClaimLimits<L extends Lease = Lease> {
  /** Maximum sum of the weights. A single row may exceed it when `empty` is true. */
  weight: number;
  /** True when the worker holds no rows. The worker may then claim a single row of any weight. */
  empty: boolean;
  /** Returns how many more rows this account may hold while other accounts have due rows. */
  shareOf(account: AccountRef): number;
  /**
   * Returns how much more weight this account may hold (`left`), and whether it holds no row (`none`), because one
   * row is always allowed. Unlike `shareOf`, this limit also applies when no other account has due rows, so that
   * capacity is left for a new account.
   */
  weightOf?(account: AccountRef): { left: number; none: boolean };
  /** The leases that the worker holds; none by default. */
  held?: Iterable<L>;
}

export interface LeaseQueue<L extends Lease = Lease> {
  /**
   * Claims up to `limit` due rows. It visits the accounts in turn, beginning after the last account of the
   * previous call. When the claim for one account fails, logs the error and returns the rows of the other
   * accounts.
   * @returns the leases; empty when no row is due, or when no due row fits the limits
   * @throws the database's error when claims failed and no row was claimed
   */
  claim(limit: number, room?: ClaimLimits<L>): Promise<L[]>;
  /** Extends leases that are still held. @returns `token + id` of each; leases that are absent are lost */
  extend(leases: readonly Lease[]): Promise<Set<string>>;
  /**
   * Releases leases; the rows are due again in `seconds`, by default at once. @param counts whether the
   * claim counts as an attempt
   */
  release(leases: readonly L[], seconds?: number, counts?: boolean): Promise<void>;
  /** Adds 1 or -1 to the number of claims of a row, if its lease is still held. */
  adjustAttempts(lease: Lease, by: 1 | -1): Promise<void>;
  readonly leaseSeconds: number;
  /** Whether the last claim found no account with due rows. Undefined if the queue does not report this. */
  readonly empty?: boolean;
}

type DueRow = { part: number; account_id: string };
/** A due row that a claim has read. If `attempts` is null, the row was too heavy and was not claimed. */
type ClaimedRow = { id: string; attempts: number | null; weight: number };

/**
 * Number of claims per visit of an account: few, so that each account is visited often, but enough to be
 * worth a round trip.
 */
export const CLAIMS_PER_VISIT = 8;
/** Number of claims per visit when only one account has due rows, because then no other account waits. */
const CLAIMS_ALONE = 64;
const ACCOUNTS_A_ROUND = 64;
/**
 * A round stops after this many failed claims. If the claims for two accounts fail, the cause is probably the
 * database.
 */
const FAILURES_A_ROUND = 2;
/** The weight that an account may still hold when the weight of its rows is not limited. */
const UNWEIGHED = { left: Number.MAX_SAFE_INTEGER, none: true };
export const UNLIMITED: ClaimLimits<never> = {
  weight: Number.MAX_SAFE_INTEGER,
  empty: true,
  shareOf: () => CLAIMS_PER_VISIT,
};

/**
 * SQL condition: the account of the row `alias` is not suspended. The queues of suspended accounts stand still.
 * @param seconds a parameter of the statement, in seconds; accounts that were resumed within this time are excluded
 * too
 */
export const ofActiveAccount = (alias: string, seconds?: string): string => {
  const resumed = seconds === undefined ? '' : ` or s.resumed_at > now() - make_interval(secs => ${seconds})`;
  return `not exists (select from accounts s
    where s.account_id = ${alias}.account_id and (s.status = 'suspended'${resumed}))`;
};

/**
 * Creates the statements that claim rows of a table.
 * @param weight an SQL expression that reads only the row itself, not a text stored outside the row (TOAST)
 */
function queueStatements(
  table: 'jobs' | 'messages' | 'propagations',
  key: 'job_id' | 'message_id' | 'propagation_id',
  weight: string,
) {
  // Loose index scan: finds each next account, by its key `(part, account_id)`, with one index seek, however many rows
  // the account has.
  const due: Statement<DueRow> = statement(
    `work.due_${table}`,
    `with recursive due as (
       (select part, account_id, due_at from ${table}
         where due_at is not null and (part, account_id) > ($1, $2)
         order by part, account_id, due_at limit 1)
       union all
       select n.part, n.account_id, n.due_at from due d, lateral
         (select part, account_id, due_at from ${table}
           where due_at is not null and (part, account_id) > (d.part, d.account_id)
           order by part, account_id, due_at limit 1) n
     )
     select part, account_id from due where due_at <= now() and ${ofActiveAccount('due')} limit $3`,
    `select part, account_id from ${table}
      where due_at <= now() and (part, account_id) > ($1, $2) and ${ofActiveAccount(table)}
      group by part, account_id order by part, account_id limit $3`,
  );
  // Because of `= any(array(…))`, PostgreSQL always finds the rows to update by an index scan on the key, whatever plan
  // it chooses for the rest of the statement.
  const claim: Statement<ClaimedRow> = statement(
    `work.claim_${table}`,
    `with due as materialized (
       select ${key}, due_at, ${weight} as weight from ${table}
        where part = $1 and account_id = $2 and due_at <= now()
        order by due_at limit $3 for update skip locked),
     summed as (
       select ${key}, weight, sum(weight) over in_turn as total, row_number() over in_turn as place
         from due window in_turn as (order by due_at, ${key} rows unbounded preceding)),
     claimed as (
       update ${table} set due_at = now() + make_interval(secs => $5), lease_token = $4, attempts = attempts + 1
        where part = $1 and account_id = $2
          and ${key} = any(array(select ${key} from summed
             where total <= least($6::bigint, $8::bigint) or (place = 1 and ($7::boolean or ($9::boolean and total <= $6)))))
       returning ${key}, attempts)
     select ${key} as id, c.attempts, s.weight from summed s left join claimed c using (${key}) order by place`,
  );
  return { due, claim, ...leaseStatements(table, key) };
}

interface LeaseStatements {
  extend: Statement<{ id: string; token: string }>;
  release: Statement<{ id: string; token: string }>;
  recount: Statement<never>;
  /** The kind of the live update when a row is released; undefined if no page shows the rows. */
  kind: 'jobs' | 'chats' | 'deliveries' | undefined;
}

/** Creates the statements that extend and release leases. They are the same for all queues. */
export function leaseStatements(
  table: 'jobs' | 'messages' | 'deliveries' | 'propagations',
  key: 'job_id' | 'message_id' | 'delivery_id' | 'propagation_id',
): LeaseStatements {
  // Rows are locked in the order of the key. Statements that store many outcomes lock them in the same order, so that
  // no deadlock occurs.
  const held = `from (select h.* from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::uuid[]) as h (part, account_id, id, token)
        join ${table} l on l.part = h.part and l.account_id = h.account_id and l.${key} = h.id
       order by l.part, l.account_id, l.${key} for update of l) held
      where t.part = held.part and t.account_id = held.account_id and t.${key} = held.id
        and t.lease_token = held.token`;
  const extend: Statement<{ id: string; token: string }> = statement(
    `work.extend_${table}`,
    `update ${table} t set due_at = now() + make_interval(secs => $5) ${held}
     returning t.${key} as id, t.lease_token as token`,
  );
  // A claim of a delivery also begins an attempt. If the claim does not count, no request was sent.
  const started =
    table === 'deliveries' ? ', attempt_started_at = case when $6 then attempt_started_at end' : '';
  const release: Statement<{ id: string; token: string }> = statement(
    `work.release_${table}`,
    `update ${table} t set due_at = now() + make_interval(secs => $5), lease_token = null,
            attempts = attempts - case when $6 then 0 else 1 end${started} ${held}
     returning t.${key} as id, held.token`,
  );
  const recount: Statement<never> = statement(
    `work.recount_${table}`,
    `update ${table} set attempts = attempts + $5
      where part = $1 and account_id = $2 and ${key} = $3 and lease_token = $4`,
  );
  const kinds = {
    jobs: 'jobs',
    messages: 'chats',
    deliveries: 'deliveries',
    propagations: undefined,
  } as const;
  return { extend, release, recount, kind: kinds[table] };
}

/** Creates the operations that all queues share, however their rows are claimed. */
export function leaseOperations(
  database: Database,
  statements: LeaseStatements,
  leaseSeconds: number,
): Pick<LeaseQueue, 'extend' | 'release' | 'adjustAttempts' | 'leaseSeconds'> {
  return {
    leaseSeconds,
    async extend(leases) {
      const rows = await database.query(statements.extend, [...columns(leases), leaseSeconds]);
      return new Set(rows.map(({ id, token }) => token + id));
    },
    async release(leases, seconds = 0, counts = false) {
      if (leases.length === 0) return;
      const { kind } = statements;
      const rows = await database.query(statements.release, [...columns(leases), seconds, counts]);
      // A claim that does not count changes only what the pages of deliveries show: the attempt.
      if (kind === undefined || (!counts && kind !== 'deliveries')) return;
      const released = new Set(rows.map(({ id, token }) => token + id));
      for (const { account, id, token } of leases) {
        if (released.has(token + id)) database.changed(kind, account, kind === 'jobs' ? id : undefined);
      }
    },
    async adjustAttempts({ account, id, token }, by) {
      await database.query(statements.recount, [account.part, account.accountId, id, token, by]);
    },
  };
}

const STATEMENTS = {
  jobs: queueStatements('jobs', 'job_id', 'characters'),
  messages: queueStatements('messages', 'message_id', 'characters'),
  propagations: queueStatements('propagations', 'propagation_id', '1'),
};

/** The starting point of the first round, which sorts before every account. */
const START = { part: -1, accountId: '00000000-0000-0000-0000-000000000000' };

/**
 * Creates the lease queue of a table.
 * @param name the table that contains the rows
 * @param leaseSeconds the duration of a lease that is not extended
 */
export function createLeaseQueue(
  database: Database,
  name: keyof typeof STATEMENTS,
  leaseSeconds: number,
  log: Log,
): LeaseQueue {
  const statements = STATEMENTS[name];
  let last: { part: number; accountId: string } = START;
  /** Whether the last call found more accounts with due rows than one round visits. */
  let many = false;
  let empty = false;

  /**
   * Returns the accounts with due rows: first the accounts after the last visited account, then the other
   * accounts. If there are few accounts, this takes one query.
   */
  async function accountsInTurn(): Promise<AccountRef[]> {
    const after = async (from: typeof START) => {
      const rows = await database.query(statements.due, [from.part, from.accountId, ACCOUNTS_A_ROUND]);
      return rows.map((row) => ({ part: row.part, accountId: row.account_id }) as AccountRef);
    };
    const isLater = (account: AccountRef) =>
      account.part > last.part || (account.part === last.part && account.accountId > last.accountId);
    if (!many) {
      const all = await after(START);
      many = all.length === ACCOUNTS_A_ROUND;
      if (!many) return [...all.filter(isLater), ...all.filter((account) => !isLater(account))];
    }
    const found = await after(last);
    if (found.length === ACCOUNTS_A_ROUND) return found;
    const before = (await after(START)).filter((account) => !isLater(account));
    many = before.length + found.length >= ACCOUNTS_A_ROUND;
    return [...found, ...before];
  }

  return {
    ...leaseOperations(database, statements, leaseSeconds),
    get empty() {
      return empty;
    },
    async claim(limit, room = UNLIMITED) {
      const leases: Lease[] = [];
      const failures: unknown[] = [];
      let { weight } = room;
      const accounts = await accountsInTurn();
      empty = accounts.length === 0;
      for (const account of accounts) {
        if (leases.length >= limit || failures.length >= FAILURES_A_ROUND) break;
        const visit = accounts.length > 1 ? Math.min(CLAIMS_PER_VISIT, room.shareOf(account)) : CLAIMS_ALONE;
        const wanted = Math.min(limit - leases.length, visit);
        const own = room.weightOf?.(account) ?? UNWEIGHED;
        if (wanted <= 0 || (own.left <= 0 && !own.none)) continue;
        const token = uuidv7();
        try {
          const alone = room.empty && leases.length === 0;
          const rows = await database.query(statements.claim, [
            account.part,
            account.accountId,
            wanted,
            token,
            leaseSeconds,
            weight,
            alone,
            own.left,
            own.none,
          ]);
          for (const row of rows) {
            if (row.attempts === null) {
              // A row that exceeds the free weight ends the round, and the next round begins with it.
              if (row.weight > weight) return leases;
              break; // The account has reached its own limit of weight.
            }
            leases.push({ account, id: row.id, token, attempts: row.attempts, weight: row.weight });
            weight = Math.max(0, weight - row.weight);
          }
        } catch (error) {
          failures.push(error);
          log.warn({ error, name, account: account.accountId }, 'could not claim work of an account');
        }
        last = account;
      }
      if (leases.length === 0 && failures.length > 0) throw failures[0];
      return leases;
    },
  };
}

function columns(leases: readonly Lease[]): unknown[] {
  return [
    leases.map(({ account }) => account.part),
    leases.map(({ account }) => account.accountId),
    leases.map(({ id }) => id),
    leases.map(({ token }) => token),
  ];
}
