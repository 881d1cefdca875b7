/**
 * The queue of the sender. Deliveries are leased like other work (`work/queue.ts`). The due deliveries of one
 * account to one host are a lane. Claims visit lanes in turn and take a few deliveries from each, so that no
 * account and no host with ten thousand deliveries delays another. Accounts share the slots of a host
 * (`host-slots.ts`); a host with an open circuit breaker gets no deliveries. A poll costs one index seek per
 * lane, however long the backlog is.
 *
 * Order: `order_key` is the job or the chat of a delivery. Only its first pending delivery may be claimed. A
 * due delivery behind it is parked: it becomes due again when the first one is due, or at once when the first
 * one ends.
 */
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { AccountRef, Environment } from '../base/account.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Database, Queryable } from '../database/database.ts';
import { type Statement, statement } from '../database/statements.ts';
import {
  CLAIMS_PER_VISIT,
  type ClaimLimits,
  type Lease,
  type LeaseQueue,
  leaseOperations,
  leaseStatements,
  ofActiveAccount,
  UNLIMITED,
} from '../work/queue.ts';
import { isOpening } from './breaker.ts';
import { createHostSlots, type HostSlots } from './host-slots.ts';
import type { DeliveryRow } from './store.ts';

export interface DeliveryLease extends Lease {
  host: string;
  environment: Environment;
  /** The delivery to send, as the claim read it; undefined if it was leased by its insert (`outbox.ts`). */
  delivery?: DeliveryRow;
  /** True for the one delivery that a half-open breaker lets through. */
  probe: boolean;
  /**
   * True once the host has answered. The slot is then free while the result is recorded. A failing host gets
   * its slot back only after its breaker was updated.
   */
  answered?: boolean;
}

/** The due deliveries of one account to one host. */
interface Lane {
  part: number;
  account_id: string;
  host: string;
  failures: number;
}

/**
 * A row that a claim examined. If `attempts` is null, the row was not claimed: its body exceeded the memory
 * limit, or it was parked until an earlier delivery of the same job or chat has ended.
 */
interface ExaminedRow extends DeliveryRow {
  /** The number of the visit that found the row, from 1. */
  turn: number;
  id: string;
  attempts: number | null;
  weight: number;
  parked: boolean;
}

/** A lane (an account and a host) in a round, with the maximum number of its deliveries that the round leases. */
interface Visit {
  lane: Lane;
  most: number;
  probe: boolean;
}

const MAX_ROUND_LANES = 256;
/**
 * The number of failed claims after which a round ends: two failures suggest a problem of the whole database,
 * not of one account.
 */
const MAX_ROUND_FAILURES = 2;
/**
 * The maximum number of due rows of one account and host that a claim examines. A claim locks the rows that
 * it examines, so it first examines only twice as many as it may take, and more only if all of those were
 * parked.
 */
const MAX_EXAMINED = 64;
/** The maximum total size, in bytes, of the bodies that a claim of several deliveries returns. */
const MAX_CLAIM_BYTES = 8 * 1024 * 1024;
/**
 * Seconds after which a delivery that was parked behind an earlier one becomes due again if nothing makes it
 * due earlier.
 */
const PARKED_SECONDS = 1;

const DUE_LANES: Statement<Lane> = statement(
  'deliveries.due_lanes',
  `with recursive due as (
     (select part, account_id, host, due_at from deliveries
       where due_at is not null and (part, account_id, host) > ($1, $2, $3)
       order by part, account_id, host, due_at limit 1)
     union all
     select n.part, n.account_id, n.host, n.due_at from due d, lateral
       (select part, account_id, host, due_at from deliveries
         where due_at is not null and (part, account_id, host) > (d.part, d.account_id, d.host)
         order by part, account_id, host, due_at limit 1) n
   )
   select d.part, d.account_id, d.host, coalesce(b.failures, 0) as failures
     from due d left join breakers b on b.part = d.part and b.account_id = d.account_id and b.host = d.host
    where d.due_at <= now() and (b.open_until is null or b.open_until <= now()) and ${ofActiveAccount('d')} limit $4`,
  `select d.part, d.account_id, d.host, coalesce(max(b.failures), 0) as failures
     from deliveries d left join breakers b on b.part = d.part and b.account_id = d.account_id and b.host = d.host
    where d.due_at <= now() and (d.part, d.account_id, d.host) > ($1, $2, $3)
      and (b.open_until is null or b.open_until <= now()) and ${ofActiveAccount('d')}
    group by d.part, d.account_id, d.host order by d.part, d.account_id, d.host limit $4`,
);

// Only one worker may send through a half-open breaker. If that worker dies, another worker may send a delivery
// after the lease has expired.
const TAKE_PROBE: Statement<{ failures: number }> = statement(
  'deliveries.take_probe',
  `update breakers set open_until = now() + make_interval(secs => $4)
    where part = $1 and account_id = $2 and host = $3 and open_until <= now() returning failures`,
);

/** Makes an open breaker half open: the next due delivery to the host is its probe. */
export const halfOpen = statement<never, { account: AccountRef; host: string }>(
  'deliveries.half_open',
  `update breakers set open_until = now()
    where part = :part and account_id = :account_id and host = :host and open_until > now()`,
).reporting('deliveries').run;

// Claims deliveries of one account, host by host. Array parameters let PostgreSQL update by index scans on
// the key, whatever plan it chooses for the rest. Body sizes are summed over all hosts, so that nothing is
// claimed after the first row that exceeds the memory limit.
//
// The claim is also the record that an attempt begins: a request is sent only after it. If the previous attempt has no
// end, because its worker died or stopped, it gets its row in `attempts` now. The lock lets that worker insert the row
// at the same time.
const CLAIM: Statement<ExaminedRow> = statement(
  'deliveries.claim',
  `with lanes as materialized (
     select * from unnest(:hosts::text[], :most::integer[]) with ordinality as l (host, most, turn)),
   due as materialized (
     select l.turn, l.most, d.* from lanes l cross join lateral (
       select delivery_id, due_at, octet_length(body) as weight, order_key, queued_at, environment,
              attempts as attempts_made, attempt_started_at
         from deliveries
        where part = :part and account_id = :account_id and host = l.host and due_at <= now()
        order by due_at limit coalesce(:max_examined::integer, 2 * l.most) for no key update skip locked) d),
   standing as materialized (
     select due.*, first.due_at as first_due,
            case when first.lease_token is not null or first.due_at <= now() then now() else first.due_at end
              + make_interval(secs => :parked_seconds) as again_at
       from due left join lateral (
         select e.due_at, e.lease_token from deliveries e
          where e.part = :part and e.account_id = :account_id and e.order_key = due.order_key
            and e.status = 'pending' and (e.queued_at, e.delivery_id) < (due.queued_at, due.delivery_id)
          order by e.queued_at, e.delivery_id limit 1) first on true),
   parked as (
     update deliveries d
        set due_at = (select s.again_at from standing s where s.delivery_id = d.delivery_id)
      where d.part = :part and d.account_id = :account_id
        and d.delivery_id = any(array(select delivery_id from standing where first_due is not null))),
   placed as (
     select standing.*, row_number() over (partition by turn order by due_at, delivery_id) as place
       from standing where first_due is null),
   summed as materialized (
     select delivery_id, sum(weight) over in_turn as total, row_number() over in_turn as place
       from placed where place <= most
     window in_turn as (order by turn, due_at, delivery_id rows unbounded preceding)),
   claimed as (
     update deliveries
        set due_at = now() + make_interval(secs => :lease_seconds), lease_token = :token, attempts = attempts + 1,
            attempt_started_at = statement_timestamp()
      where part = :part and account_id = :account_id
        and delivery_id = any(array(select delivery_id from summed
                                     where total <= :max_weight and (place = 1 or total <= :max_bytes)
                                        or (place = 1 and :empty)))
     returning delivery_id, attempts, event, url, content_type, headers, body, message_id, attempts_before,
               scheduled_at, endpoint_id),
   interrupted as (
     insert into attempts (part, account_id, delivery_id, attempt, started_at)
     select :part, :account_id, s.delivery_id, s.attempts_made, s.attempt_started_at
       from standing s join claimed using (delivery_id) where s.attempt_started_at is not null
      order by s.delivery_id
     on conflict do nothing)
   select s.turn::int, s.delivery_id as id, c.attempts, s.weight::int, s.first_due is not null as parked,
          s.environment, c.url, c.content_type, c.headers, c.body, s.queued_at, c.message_id, c.attempts_before,
          c.scheduled_at, c.endpoint_id,
          c.endpoint_id is not null and c.event <> 'test' and w.status is distinct from 'active' as unwanted
     from standing s left join summed p using (delivery_id) left join claimed c using (delivery_id)
     left join webhook_endpoints w on w.part = :part and w.account_id = :account_id and w.endpoint_id = c.endpoint_id
    where s.first_due is not null or p.place is not null
    order by p.place`,
);

const LEASES = leaseStatements('deliveries', 'delivery_id');

const START: Lane = {
  part: -1,
  account_id: '00000000-0000-0000-0000-000000000000',
  host: '',
  failures: 0,
};

/** Returns true if `lane` comes after `other` in the index, which compares bytes. */
function isAfter(lane: Lane, other: Lane): boolean {
  if (lane.part !== other.part) return lane.part > other.part;
  if (lane.account_id !== other.account_id) return lane.account_id > other.account_id;
  return lane.host > other.host;
}

export interface DeliveryQueueOptions {
  database: Database;
  leaseSeconds: number;
  /** The maximum number of deliveries, of all accounts, that this worker sends to one host at a time. */
  perHost: number;
  log: Log;
}

export interface DeliveryQueue extends LeaseQueue<DeliveryLease> {
  /** Returns whether the last claim saw due deliveries to a host: of one account, or of any account. */
  sawDue(host: string, accountId?: string): boolean;
}

export function createDeliveryQueue(options: DeliveryQueueOptions): DeliveryQueue {
  const { database, leaseSeconds, perHost, log } = options;
  let last = START;
  let empty = false;
  let due = new Set<string>();

  /**
   * Claims due deliveries, account by account and host by host, until the limit or the capacity is used up.
   */
  async function claimLanes(
    lanes: readonly Lane[],
    limit: number,
    room: ClaimLimits<DeliveryLease>,
  ): Promise<{ leases: DeliveryLease[]; failures: unknown[] }> {
    const leases: DeliveryLease[] = [];
    const failures: unknown[] = [];
    let { weight } = room;
    const claimed = new Map<string, number>();
    const slots = createHostSlots(perHost, room.held ?? [], lanes);
    const isShared = lanes.some(({ account_id }) => account_id !== lanes[0]!.account_id);
    for (let at = 0; at < lanes.length; ) {
      if (leases.length >= limit || failures.length >= MAX_ROUND_FAILURES) break;
      const { part, account_id } = lanes[at]!;
      const account = { part, accountId: account_id } as AccountRef;
      const share = isShared ? room.shareOf(account) - (claimed.get(account_id) ?? 0) : limit;
      const planned = planVisits(lanes, at, Math.min(limit - leases.length, share), share > 0, slots);
      at = planned.next;
      const { visits } = planned;
      if (visits.length === 0) continue;
      try {
        const got = await claimVisits(options, visits, { weight, empty: room.empty && leases.length === 0 });
        for (const lease of got.leases) {
          leases.push(lease);
          weight = Math.max(0, weight - lease.weight);
          slots.take(lease);
        }
        claimed.set(account_id, (claimed.get(account_id) ?? 0) + got.leases.length);
        if (got.noRoom !== undefined) {
          last = visits[visits.indexOf(got.noRoom) - 1]?.lane ?? last;
          return { leases, failures }; // The next round begins with this account and host.
        }
        if (got.rest !== undefined) {
          // The lane has had its turn if one of its deliveries was claimed. Other hosts of the account come next.
          const { lane } = got.rest;
          const isVisited = got.leases.some(({ host }) => host === lane.host);
          at = lanes.indexOf(lane) + (isVisited ? 1 : 0);
          last = lanes[at - 1]!;
          continue;
        }
      } catch (error) {
        failures.push(error);
        log.warn({ error, name: 'deliveries', account: account_id }, 'could not claim work of an account');
      }
      last = visits.at(-1)!.lane;
    }
    return { leases, failures };
  }

  const operations = leaseOperations(database, LEASES, leaseSeconds);
  return {
    ...operations,
    async release(leases, seconds = 0, counts = false) {
      await operations.release(leases, seconds, counts);
      if (counts) return;
      // No request was sent, so another delivery may be the probe.
      for (const { account, host, probe } of leases) if (probe) await halfOpen(database, { account, host });
    },
    get empty() {
      return empty;
    },
    sawDue: (host, accountId = '') => due.has(`${accountId} ${host}`),
    async claim(limit: number, room: ClaimLimits<DeliveryLease> = UNLIMITED) {
      const lanes = await listLanesInTurn(database, last);
      empty = lanes.length === 0;
      due = new Set(lanes.flatMap(({ account_id, host }) => [` ${host}`, `${account_id} ${host}`]));
      const { leases, failures } = await claimLanes(lanes, limit, room);
      if (leases.length === 0 && failures.length > 0) throw failures[0];
      return leases;
    },
  };
}

/**
 * Returns the accounts and hosts with due deliveries: first those after `last` in key order, then the others.
 */
async function listLanesInTurn(database: Database, last: Lane): Promise<Lane[]> {
  const after = ({ part, account_id, host }: Lane) =>
    database.query(DUE_LANES, [part, account_id, host, MAX_ROUND_LANES]);
  const all = await after(START);
  if (all.length < MAX_ROUND_LANES) {
    const next = all.findIndex((lane) => isAfter(lane, last));
    return next <= 0 ? all : [...all.slice(next), ...all.slice(0, next)];
  }
  const found = await after(last);
  if (found.length === MAX_ROUND_LANES || last === START) return found;
  const key = ({ account_id, host }: Lane) => `${account_id} ${host}`;
  const names = new Set(found.map(key));
  return [...found, ...all.filter((lane) => !names.has(key(lane)))];
}

/** Leaves out hosts with a half-open breaker to which another worker is already sending. */
async function takeProbes(
  { database, leaseSeconds }: DeliveryQueueOptions,
  visits: readonly Visit[],
): Promise<Visit[]> {
  const taken: Visit[] = [];
  for (const visit of visits) {
    const { part, account_id, host } = visit.lane;
    if (
      !visit.probe ||
      (await database.query(TAKE_PROBE, [part, account_id, host, leaseSeconds])).length > 0
    ) {
      taken.push(visit);
    }
  }
  return taken;
}

/**
 * Claims deliveries of one account to several hosts.
 * @returns the leases; `noRoom`: the first visit with a delivery that exceeds the memory limit; `rest`: the first visit
 * with a delivery that exceeds only the limit of this claim
 */
async function claimVisits(
  options: DeliveryQueueOptions,
  wanted: readonly Visit[],
  room: { weight: number; empty: boolean },
): Promise<{ leases: DeliveryLease[]; noRoom?: Visit; rest?: Visit }> {
  const { database, leaseSeconds } = options;
  const visits = await takeProbes(options, wanted);
  if (visits.length === 0) return { leases: [] };
  const { part, account_id } = visits[0]!.lane;
  const token = uuidv7();
  const claim = (maxExamined: number | null) =>
    database.query(CLAIM, {
      part,
      account_id,
      hosts: visits.map(({ lane }) => lane.host),
      most: visits.map(({ most }) => most),
      lease_seconds: leaseSeconds,
      token,
      max_weight: room.weight,
      max_bytes: MAX_CLAIM_BYTES,
      empty: room.empty,
      parked_seconds: PARKED_SECONDS,
      max_examined: maxExamined,
    });
  let rows = await claim(null);
  // Hundreds of parked deliveries may precede one that may be sent, so the claim is repeated.
  while (rows.length > 0 && rows.every(({ parked }) => parked)) rows = await claim(MAX_EXAMINED);
  const account = { part, accountId: account_id } as AccountRef;
  const leases = rows.flatMap(({ turn, id, attempts, weight, parked, ...delivery }) => {
    const { lane, probe } = visits[turn - 1]!;
    const { environment } = delivery;
    return attempts === null
      ? []
      : [{ account, id, token, attempts, weight, host: lane.host, environment, probe, delivery }];
  });
  for (const { lane, probe } of visits) {
    if (!probe || leases.some(({ host }) => host === lane.host)) continue;
    await halfOpen(database, { account, host: lane.host });
  }
  const refused = rows.find(({ attempts, parked }) => attempts === null && !parked);
  if (refused === undefined) return { leases };
  const visit = visits[refused.turn - 1]!;
  const weight = leases.reduce((sum, lease) => sum + lease.weight, refused.weight);
  return weight > room.weight ? { leases, noRoom: visit } : { leases, rest: visit };
}

/**
 * Plans how many deliveries to each host a claim takes for one account.
 * @param at index of the account's first lane
 * @param most the maximum number of deliveries to claim
 * @param stops true if the account's remaining hosts are left for the next round once `most` is reached
 * @returns the visits, and the index of the first lane that was not planned
 */
function planVisits(
  lanes: readonly Lane[],
  at: number,
  most: number,
  stops: boolean,
  slots: HostSlots,
): { visits: Visit[]; next: number } {
  const { account_id } = lanes[at]!;
  const visits: Visit[] = [];
  let left = most;
  let next = at;
  for (; next < lanes.length && lanes[next]!.account_id === account_id; next++) {
    const lane = lanes[next]!;
    if (left <= 0 && stops) break;
    const probe = isOpening(lane.failures);
    const count = Math.min(left, CLAIMS_PER_VISIT, slots.freeFor(lane), probe ? 1 : CLAIMS_PER_VISIT);
    if (count <= 0) continue;
    visits.push({ lane, most: count, probe });
    left -= count;
  }
  return { visits, next };
}

// A leased delivery keeps its `due_at`, the end of its lease, so that no other worker sends it too.
const SKIP_TIME: Statement<{ delivery_id: string }> = statement(
  'deliveries.skip_time',
  `update deliveries d
      set queued_at = e.queued_at, due_at = e.due_at, scheduled_at = e.scheduled_at
     from (select delivery_id, queued_at - make_interval(secs => $3::float8) as queued_at,
                  case when lease_token is null then due_at - make_interval(secs => $3::float8) else due_at end as due_at,
                  scheduled_at - make_interval(secs => $3::float8) as scheduled_at
             from deliveries
            where part = $1 and account_id = $2 and environment = 'sandbox' and status = 'pending'
            order by delivery_id for update) e
    where d.part = $1 and d.account_id = $2 and d.delivery_id = e.delivery_id
   returning d.delivery_id`,
);

/** Makes pending deliveries of a sandbox account due earlier by `seconds`. @returns the number of deliveries */
export async function skipTime(on: Queryable, account: AccountRef, seconds: number): Promise<number> {
  const skipped = await on.query(SKIP_TIME, [account.part, account.accountId, seconds]);
  if (skipped.length > 0) on.changed('deliveries', account);
  return skipped.length;
}

// An attempt that is requested before a retry uses up no step of the schedule: if it fails, the retry
// keeps its time.
const SEND_NOW = statement<{ host: string }>(
  'deliveries.send_now',
  `with due as (
     update deliveries
        set due_at = now(),
            (scheduled_at, attempts_before) = (
              select case when early then due_at else scheduled_at end, attempts_before + early::integer
                from (select due_at > now() and attempts > attempts_before as early) retry)
      where part = $1 and account_id = $2 and delivery_id = $3 and status = 'pending' and lease_token is null
     returning host),
   tried as (
     update breakers set open_until = now()
      where part = $1 and account_id = $2 and host in (select host from due) and open_until > now())
   select host from due`,
);

/**
 * Makes an attempt of a pending delivery due at once. If it fails, the schedule goes on as before.
 * @returns false if the delivery is not pending, or an attempt is in progress
 */
export function sendNow(
  database: Database,
  by: Actor,
  account: AccountRef,
  deliveryId: string,
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const [row] = await transaction.query(SEND_NOW, [account.part, account.accountId, deliveryId]);
    if (row === undefined) return false;
    transaction.changed('deliveries', account);
    const detail = { host: row.host };
    await recordAudit(transaction, by, { action: 'delivery.replayed', account, subject: deliveryId, detail });
    return true;
  });
}
