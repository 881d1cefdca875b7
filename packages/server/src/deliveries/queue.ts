/**
 * The sender's queue: deliveries are leased as all work is (`work/queue.ts`), and claimed by lanes, one for each
 * account and host. Lanes are visited in turn, a few claims each, so that neither an account nor a host with ten
 * thousand deliveries stands before another's one; a host has so many under way at a time and no more, shared by the
 * accounts that send to it (`places.ts`), and a host whose breaker is open none. A look costs one index seek a lane, however long the backlogs are.
 *
 * Order: of the deliveries with one `order_key`, only the first that is pending may be claimed. One that is due
 * behind another is parked: due again when that one is. When the first one ends, the next is made due at once.
 */
import type { AccountRef, Environment } from '../account.ts';
import type { Database } from '../database/database.ts';
import { type Statement, statement } from '../database/statements.ts';
import { uuidv7 } from '../ids.ts';
import type { Log } from '../log.ts';
import {
  BOUNDLESS,
  CLAIMS_A_VISIT,
  keepLeases,
  type Lease,
  leaseStatements,
  type Queue,
  type Room,
} from '../work/queue.ts';
import { isOpening } from './breaker.ts';
import { createPlaces } from './places.ts';

/** A leased delivery. */
export interface DeliveryLease extends Lease {
  host: string;
  environment: Environment;
  /** The one that a half-open breaker lets through. */
  probe: boolean;
  /**
   * The host gave a sign of life, and has a place for another while that is written down. After a failure it has none
   * before its breaker knows.
   */
  answered?: boolean;
}

interface Lane {
  part: number;
  account_id: string;
  host: string;
  failures: number;
}

/** A row that was looked at; without `attempts` it was too heavy, or parked, and is not claimed. */
interface LookedAt {
  /** Of its lane among those of the claim, from 1. */
  turn: number;
  id: string;
  attempts: number | null;
  weight: number;
  parked: boolean;
  environment: Environment;
}

/** A lane, and how many of it may be claimed now. */
interface Visit {
  lane: Lane;
  most: number;
  probe: boolean;
}

const LANES_A_ROUND = 256;
/** A second failure in one round is the database's, not a lane's: the rest of the round would wait for it. */
const FAILURES_A_ROUND = 2;
/**
 * Due rows of a lane that a claim looks at when the first few all waited behind others of their order: those are parked
 * meanwhile. It locks what it looks at, so it begins with twice as many as it may take.
 */
const LOOKED_AT = 64;
/** What waits for one that is under way is due again this soon, should nobody make it due when that one ends. */
const PARKED_SECONDS = 1;

const DUE: Statement<Lane> = statement(
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
    where d.due_at <= now() and (b.open_until is null or b.open_until <= now()) limit $4`,
);

// Of all workers that find a breaker half open, one gets the row. Should it die, the next may when a lease's time
// has passed.
const TAKE_PROBE: Statement<{ failures: number }> = statement(
  'deliveries.take_probe',
  `update breakers set open_until = now() + make_interval(secs => $4)
    where part = $1 and account_id = $2 and host = $3 and open_until <= now() returning failures`,
);

const RETURN_PROBE: Statement<never> = statement(
  'deliveries.return_probe',
  `update breakers set open_until = now() where part = $1 and account_id = $2 and host = $3`,
);

// The lanes of one account, in turn. The arrays keep the updates index scans by key, whatever the planner thinks of the
// rest. The sum of the weights goes through all lanes, so nothing is claimed past a row that is too heavy.
const CLAIM: Statement<LookedAt> = statement(
  'deliveries.claim',
  `with lanes as materialized (
     select * from unnest($3::text[], $4::integer[]) with ordinality as l (host, most, turn)),
   due as materialized (
     select l.turn, l.most, d.* from lanes l cross join lateral (
       select delivery_id, due_at, octet_length(body) as weight, order_key, queued_at, environment
         from deliveries
        where part = $1 and account_id = $2 and host = l.host and due_at <= now()
        order by due_at limit coalesce($10::integer, 2 * l.most) for update skip locked) d),
   standing as materialized (
     select due.*, first.due_at as first_due, first.lease_token is not null as under_way
       from due left join lateral (
         select e.due_at, e.lease_token from deliveries e
          where e.part = $1 and e.account_id = $2 and e.order_key = due.order_key and e.status = 'pending'
            and (e.queued_at, e.delivery_id) < (due.queued_at, due.delivery_id)
          order by e.queued_at, e.delivery_id limit 1) first on true),
   parked as (
     update deliveries d
        set due_at = (select case when s.under_way or s.first_due <= now() then now() else s.first_due end
                        from standing s where s.delivery_id = d.delivery_id) + make_interval(secs => $9)
      where d.part = $1 and d.account_id = $2
        and d.delivery_id = any(array(select delivery_id from standing where first_due is not null))),
   placed as (
     select standing.*, row_number() over (partition by turn order by due_at, delivery_id) as place
       from standing where first_due is null),
   summed as materialized (
     select delivery_id, sum(weight) over in_turn as total, row_number() over in_turn as place
       from placed where place <= most
     window in_turn as (order by turn, due_at, delivery_id rows unbounded preceding)),
   claimed as (
     update deliveries set due_at = now() + make_interval(secs => $5), lease_token = $6, attempts = attempts + 1
      where part = $1 and account_id = $2
        and delivery_id = any(array(select delivery_id from summed
                                     where total <= $7 or (place = 1 and $8)))
     returning delivery_id, attempts)
   select s.turn::int, s.delivery_id as id, c.attempts, s.weight::int, s.first_due is not null as parked,
          s.environment
     from standing s left join summed p using (delivery_id) left join claimed c using (delivery_id)
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

/** In the order of the index: all of it compares by bytes. */
function isAfter(lane: Lane, other: Lane): boolean {
  if (lane.part !== other.part) return lane.part > other.part;
  if (lane.account_id !== other.account_id) return lane.account_id > other.account_id;
  return lane.host > other.host;
}

export interface DeliveryQueueOptions {
  database: Database;
  leaseSeconds: number;
  /** Deliveries under way to one host at a time, of all accounts, from this worker. */
  perHost: number;
  log: Log;
}

export function createDeliveryQueue(options: DeliveryQueueOptions): Queue<DeliveryLease> {
  const { database, leaseSeconds, perHost, log } = options;
  let last = START;

  /** The lanes with due work: those after the last one visited, then those before it. */
  async function lanesInTurn(): Promise<Lane[]> {
    const after = ({ part, account_id, host }: Lane) =>
      database.query(DUE, [part, account_id, host, LANES_A_ROUND]);
    const all = await after(START);
    if (all.length < LANES_A_ROUND) {
      const next = all.findIndex((lane) => isAfter(lane, last));
      return next <= 0 ? all : [...all.slice(next), ...all.slice(0, next)];
    }
    const found = await after(last);
    if (found.length === LANES_A_ROUND || last === START) return found;
    const key = ({ account_id, host }: Lane) => `${account_id} ${host}`;
    const names = new Set(found.map(key));
    return [...found, ...all.filter((lane) => !names.has(key(lane)))];
  }

  /** Of lanes that are half open, those alone whose probe is ours. */
  async function withProbes(visits: readonly Visit[]): Promise<Visit[]> {
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

  /** Claims of lanes of one account. @returns what was claimed, and the first visit that found no room for a row */
  async function claimOf(
    wanted: readonly Visit[],
    room: { weight: number; empty: boolean },
  ): Promise<{ leases: DeliveryLease[]; noRoom: Visit | undefined }> {
    const visits = await withProbes(wanted);
    if (visits.length === 0) return { leases: [], noRoom: undefined };
    const { part, account_id } = visits[0]!.lane;
    const token = uuidv7();
    const lanes = [visits.map(({ lane }) => lane.host), visits.map(({ most }) => most)];
    const limits = [leaseSeconds, token, room.weight, room.empty, PARKED_SECONDS];
    const look = (rows: number | null) =>
      database.query(CLAIM, [part, account_id, ...lanes, ...limits, rows]);
    let rows = await look(null);
    // A lane may have hundreds that wait behind others before one that may be sent.
    while (rows.length > 0 && rows.every(({ parked }) => parked)) rows = await look(LOOKED_AT);
    const account = { part, accountId: account_id } as AccountRef;
    const leases = rows.flatMap(({ turn, id, attempts, weight, environment }) => {
      const { lane, probe } = visits[turn - 1]!;
      return attempts === null
        ? []
        : [{ account, id, token, attempts, weight, host: lane.host, environment, probe }];
    });
    for (const { lane, probe } of visits) {
      if (!probe || leases.some(({ host }) => host === lane.host)) continue;
      await database.query(RETURN_PROBE, [part, account_id, lane.host]);
    }
    const refused = rows.find(({ attempts, parked }) => attempts === null && !parked);
    return { leases, noRoom: refused && visits[refused.turn - 1] };
  }

  return {
    ...keepLeases(database, LEASES, leaseSeconds),
    async claim(limit: number, room: Room<DeliveryLease> = BOUNDLESS) {
      const leases: DeliveryLease[] = [];
      const failures: unknown[] = [];
      let { weight } = room;
      const claimed = new Map<string, number>();
      const lanes = await lanesInTurn();
      const places = createPlaces(perHost, room.held ?? [], lanes);
      const accounts = new Set(lanes.map(({ account_id }) => account_id)).size;
      for (let at = 0; at < lanes.length; ) {
        if (leases.length >= limit || failures.length >= FAILURES_A_ROUND) break;
        // The next lanes of one account together, as many as there is room for.
        const { part, account_id } = lanes[at]!;
        const account = { part, accountId: account_id } as AccountRef;
        const share = accounts > 1 ? room.shareOf(account) - (claimed.get(account_id) ?? 0) : limit;
        let left = Math.min(limit - leases.length, share);
        const visits: Visit[] = [];
        for (; at < lanes.length && lanes[at]!.account_id === account_id; at++) {
          const lane = lanes[at]!;
          if (left <= 0 && share > 0) break;
          const probe = isOpening(lane.failures);
          const most = Math.min(left, CLAIMS_A_VISIT, places.freeFor(lane), probe ? 1 : CLAIMS_A_VISIT);
          if (most <= 0) continue;
          visits.push({ lane, most, probe });
          left -= most;
        }
        if (visits.length === 0) continue;
        try {
          const got = await claimOf(visits, { weight, empty: room.empty && leases.length === 0 });
          for (const lease of got.leases) {
            leases.push(lease);
            weight = Math.max(0, weight - lease.weight);
            places.take(lease);
          }
          claimed.set(account_id, (claimed.get(account_id) ?? 0) + got.leases.length);
          if (got.noRoom !== undefined) {
            last = visits[visits.indexOf(got.noRoom) - 1]?.lane ?? last;
            return leases; // the next round begins with it
          }
        } catch (error) {
          failures.push(error);
          log.warn({ error, name: 'deliveries', account: account_id }, 'could not claim work of an account');
        }
        last = visits.at(-1)!.lane;
      }
      if (leases.length === 0 && failures.length > 0) throw failures[0];
      return leases;
    },
  };
}
