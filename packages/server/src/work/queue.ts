/**
 * The lease queue. A row that is work (a job, a message, a delivery) is its own queue entry:
 *
 *   due_at null                  no machine has work on it
 *   due_at <= now                due: whoever claims it first has it
 *   due_at in the future         waiting for its time, or leased: a claim moves `due_at` forward by the lease
 *   lease_token                  fences: every write about leased work says `where lease_token = …`
 *
 * A worker that dies writes nothing more; its work falls due again when the lease runs out. A worker that
 * was only slow finds its token replaced and its writes without effect. Moving `due_at`, rather than
 * filtering a `locked_until`, keeps claimed rows away from the head of the index (measured: 1.5 times the
 * drain rate under a backlog, and it does not decay).
 *
 * Fairness: one index seek an account finds the accounts with due work; they are visited in turn, a few
 * claims each, so that one account's ten thousand jobs do not stand before another's one.
 *
 * Room is also a sum of weights, so that a few large rows fill a worker as many small ones do. A row that is
 * too heavy for the room that is left ends the round, and the next one begins with it: nothing is claimed past
 * it, so the room it needs comes free, however much small work others have.
 *
 * Deliveries are leased alike and claimed otherwise, by hosts and in order: `deliveries/queue.ts`.
 */
import type { AccountRef } from '../base/account.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Database } from '../database/database.ts';
import { type Statement, statement } from '../database/statements.ts';

/** One piece of leased work: whose it is, which row, and the token that proves the lease. */
export interface Lease {
  account: AccountRef;
  id: string;
  token: string;
  /** How often the row has been claimed, this time included. */
  attempts: number;
  /** What it takes of a worker's memory: UTF-16 units of a job's text, bytes of a delivery's body. */
  weight: number;
}

/** What a claim may take besides a number of rows. */
export interface ClaimLimits<L extends Lease = Lease> {
  /** Sum of the weights; one row alone may exceed it when `empty`. */
  weight: number;
  /** Nothing is in hand. */
  empty: boolean;
  /** How many rows more this account may have while others have due work too. */
  shareOf(account: AccountRef): number;
  /**
   * The weight of what this account may have more; it may always have one row. Unlike the share, it holds where
   * nobody else has due work: who comes next shall not wait until a long backlog has been worked.
   */
  weightOf?(account: AccountRef): { left: number; none: boolean };
  /** What is in hand; nothing, where it is not said. */
  held?: Iterable<L>;
}

export interface LeaseQueue<L extends Lease = Lease> {
  /**
   * Claims up to `limit` due rows, visiting the accounts in turn from where the last call ended. An account
   * whose claim fails is logged and passed over: what was claimed for others is theirs to be worked.
   * @returns the leases; empty when nothing is due, or nothing that is due has room
   * @throws the database's error when claims failed and nothing was claimed
   */
  claim(limit: number, room?: ClaimLimits<L>): Promise<L[]>;
  /** Extends leases that are still held. @returns `token + id` of those that are; the others are lost. */
  extend(leases: readonly Lease[]): Promise<Set<string>>;
  /** Gives leases back, due again in `seconds` (0). @param counts the claim counts as a try; not by default */
  release(leases: readonly Lease[], seconds?: number, counts?: boolean): Promise<void>;
  /** A lease that is still held counts as a claim once more (1), or as if it had not been one (-1). */
  adjustAttempts(lease: Lease, by: 1 | -1): Promise<void>;
  readonly leaseSeconds: number;
  /** Nothing at all was due when it was last claimed from: only what is hinted at, or its time, changes that. */
  readonly empty?: boolean;
}

type DueRow = { part: number; account_id: string };
/** A due row that was looked at; without `attempts` it was too heavy and is not claimed. */
type ClaimedRow = { id: string; attempts: number | null; weight: number };

/** Claims of one account in one visit: small, so that turns come often; large enough to be worth a round trip. */
export const CLAIMS_PER_VISIT = 8;
/** Where only one account has due work, nobody waits for a turn. */
const CLAIMS_ALONE = 64;
const ACCOUNTS_A_ROUND = 64;
/** A second failure in one round is the database's, not an account's: the rest of the round would wait for it. */
const FAILURES_A_ROUND = 2;
/** Where accounts are not weighed. */
const UNWEIGHED = { left: Number.MAX_SAFE_INTEGER, none: true };
export const UNLIMITED: ClaimLimits<never> = {
  weight: Number.MAX_SAFE_INTEGER,
  empty: true,
  shareOf: () => CLAIMS_PER_VISIT,
};

/** @param weight SQL; must not read what lies apart from the row (the length of a stored body does not) */
function queueStatements(table: 'jobs' | 'messages', key: 'job_id' | 'message_id', weight: string) {
  // A loose index scan: the next (part, account) after the last, one seek each, however long its backlog.
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
     select part, account_id from due where due_at <= now() limit $3`,
  );
  // The array keeps the update an index scan by key, whatever the planner thinks of the rest.
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
  kind: 'jobs' | 'chats' | 'deliveries';
}

/** How leases on the rows of a table are kept and given back, whoever claims them. */
export function leaseStatements(
  table: 'jobs' | 'messages' | 'deliveries',
  key: 'job_id' | 'message_id' | 'delivery_id',
): LeaseStatements {
  // Locked in the order of the key, as whoever settles many at once locks them: no circle of waiting.
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
  const release: Statement<{ id: string; token: string }> = statement(
    `work.release_${table}`,
    `update ${table} t set due_at = now() + make_interval(secs => $5), lease_token = null,
            attempts = attempts - case when $6 then 0 else 1 end ${held}
     returning t.${key} as id, held.token`,
  );
  const recount: Statement<never> = statement(
    `work.recount_${table}`,
    `update ${table} t set attempts = attempts + $5 ${held}`,
  );
  return { extend, release, recount, kind: table === 'messages' ? 'chats' : table };
}

/** The part of a queue that is the same however its rows are claimed. */
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
      // An attempt at a delivery is on record under its number, so the number is used up.
      const keepsCount = counts || kind === 'deliveries';
      const rows = await database.query(statements.release, [...columns(leases), seconds, keepsCount]);
      if (!counts) return;
      const released = new Set(rows.map(({ id, token }) => token + id));
      for (const { account, id, token } of leases) {
        if (released.has(token + id)) database.changed(kind, account, kind === 'jobs' ? id : undefined);
      }
    },
    async adjustAttempts(lease, by) {
      await database.query(statements.recount, [...columns([lease]), by]);
    },
  };
}

const STATEMENTS = {
  jobs: queueStatements('jobs', 'job_id', 'characters'),
  messages: queueStatements('messages', 'message_id', 'characters'),
};

/** Before every part and account. */
const START = { part: -1, accountId: '00000000-0000-0000-0000-000000000000' };

/**
 * @param name the table whose rows are the work
 * @param leaseSeconds how long a claim lasts without being extended
 */
export function createLeaseQueue(
  database: Database,
  name: keyof typeof STATEMENTS,
  leaseSeconds: number,
  log: Log,
): LeaseQueue {
  const statements = STATEMENTS[name];
  let last: { part: number; accountId: string } = START;
  /** More accounts than one round visits had due work when it was last asked. */
  let many = false;
  let empty = false;

  /** The accounts with due work: those after the last one visited, then those before it. One question, where few have. */
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
              if (row.weight > weight) return leases; // too heavy for now; the next round begins with it
              break; // the account has its share
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
