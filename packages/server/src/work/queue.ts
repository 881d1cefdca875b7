/**
 * The lease queue. A row that is work (a job, a delivery) is its own queue entry:
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
 */
import type { AccountRef } from '../account.ts';
import type { Database } from '../database/database.ts';
import { type Statement, statement } from '../database/statements.ts';
import { uuidv7 } from '../ids.ts';

/** One piece of leased work: whose it is, which row, and the token that proves the lease. */
export interface Lease {
  account: AccountRef;
  id: string;
  token: string;
  /** How often the row has been claimed, this time included. */
  attempts: number;
}

export interface Queue {
  /**
   * Claims up to `limit` due rows, visiting the accounts in turn from where the last call ended.
   * @returns the leases; empty when nothing is due
   */
  claim(limit: number): Promise<Lease[]>;
  /** Extends leases that are still held. @returns `token + id` of those that are; the others are lost. */
  extend(leases: readonly Lease[]): Promise<Set<string>>;
  /** Gives leases back before they run out; a job's as if it had never been claimed. */
  release(leases: readonly Lease[]): Promise<void>;
  readonly leaseSeconds: number;
}

type DueRow = { part: number; account_id: string };
type ClaimedRow = { id: string; attempts: number };

/** Claims of one account in one visit: small, so that turns come often; large enough to be worth a round trip. */
const CLAIMS_A_VISIT = 8;
const ACCOUNTS_A_ROUND = 64;

function queueStatements(table: 'jobs' | 'deliveries', key: 'job_id' | 'delivery_id') {
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
  const claim: Statement<ClaimedRow> = statement(
    `work.claim_${table}`,
    `update ${table} set due_at = now() + make_interval(secs => $5), lease_token = $4, attempts = attempts + 1
      where part = $1 and account_id = $2
        and ${key} = any(array(
          select ${key} from ${table}
           where part = $1 and account_id = $2 and due_at <= now()
           order by due_at limit $3 for update skip locked))
     returning ${key} as id, attempts`,
  );
  const held = `from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::uuid[]) as held (part, account_id, id, token)
      where t.part = held.part and t.account_id = held.account_id and t.${key} = held.id
        and t.lease_token = held.token`;
  const extend: Statement<{ id: string; token: string }> = statement(
    `work.extend_${table}`,
    `update ${table} t set due_at = now() + make_interval(secs => $5) ${held}
     returning t.${key} as id, t.lease_token as token`,
  );
  // An attempt at a delivery is on record under its number, so the number is used up.
  const attempts = table === 'deliveries' ? 'attempts' : 'attempts - 1';
  const release: Statement<never> = statement(
    `work.release_${table}`,
    `update ${table} t set due_at = now(), lease_token = null, attempts = ${attempts} ${held}`,
  );
  return { due, claim, extend, release };
}

const STATEMENTS = {
  jobs: queueStatements('jobs', 'job_id'),
  deliveries: queueStatements('deliveries', 'delivery_id'),
};

/** Before every part and account. */
const START = { part: -1, accountId: '00000000-0000-0000-0000-000000000000' };

/**
 * @param name the table whose rows are the work
 * @param leaseSeconds how long a claim lasts without being extended
 */
export function createQueue(database: Database, name: keyof typeof STATEMENTS, leaseSeconds: number): Queue {
  const statements = STATEMENTS[name];
  let last: { part: number; accountId: string } = START;

  async function accountsInTurn(): Promise<AccountRef[]> {
    const after = async (from: typeof START) => {
      const rows = await database.query(statements.due, [from.part, from.accountId, ACCOUNTS_A_ROUND]);
      return rows.map((row) => ({ part: row.part, accountId: row.account_id }) as AccountRef);
    };
    const found = await after(last);
    if (found.length > 0 || last === START) return found;
    last = START;
    return after(START);
  }

  return {
    leaseSeconds,
    async claim(limit) {
      const leases: Lease[] = [];
      const accounts = await accountsInTurn();
      for (const account of accounts) {
        const wanted = Math.min(limit - leases.length, CLAIMS_A_VISIT);
        if (wanted <= 0) break;
        const token = uuidv7();
        const rows = await database.query(statements.claim, [
          account.part,
          account.accountId,
          wanted,
          token,
          leaseSeconds,
        ]);
        for (const row of rows) leases.push({ account, id: row.id, token, attempts: row.attempts });
        last = account;
      }
      return leases;
    },
    async extend(leases) {
      const rows = await database.query(statements.extend, [...columns(leases), leaseSeconds]);
      return new Set(rows.map(({ id, token }) => token + id));
    },
    async release(leases) {
      if (leases.length > 0) await database.query(statements.release, columns(leases));
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
