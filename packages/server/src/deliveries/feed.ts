/**
 * The event feed: every event of an account and environment, in an order that never changes.
 *
 * Ids and times are assigned before the commit, so a slow transaction may commit an event that is older than
 * events already read. Readers who page by id or time would miss it. Therefore an event gets its feed
 * position after its commit, at the next read: under a lock on the feed's row, committed events without a
 * position get the next numbers. Unlike a limit based on transaction ids, these numbers survive a dump and
 * restore, and long transactions elsewhere do not delay them.
 */
import type { AccountRef, Environment } from '../base/account.ts';
import type { Database, Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { EventType } from './event-types.ts';
import type { DeliveryStatus } from './log.ts';

interface FeedRow {
  position: number;
  event_id: string;
  type: EventType;
  uid: string | null;
  tier: 'human' | 'machine' | null;
  chat_id: string | null;
  message_id: string | null;
  created_at: Date;
  delivery_status: DeliveryStatus | null;
}

const PAGE = statement<FeedRow>(
  'deliveries.feed_page',
  `select e.position, e.event_id, e.type, j.uid, j.tier, e.chat_id, e.message_id, e.created_at,
          d.status as delivery_status
     from events e
     left join jobs j on j.part = $1 and j.account_id = e.account_id and j.job_id = e.job_id
     left join deliveries d on d.part = $1 and d.account_id = e.account_id and d.delivery_id = e.event_id
    where e.part = $1 and e.account_id = $2 and e.environment = $3 and e.position > $4
    order by e.position limit $5`,
);

const HAS_UNPLACED = statement<{ one: number }>(
  'deliveries.feed_has_unplaced',
  `select 1 as one from events
    where part = $1 and account_id = $2 and environment = $3 and position is null limit 1`,
);

const LOCK = statement<{ last_position: number }>(
  'deliveries.feed_lock',
  `insert into feeds (part, account_id, environment) values ($1, $2, $3)
   on conflict (part, account_id, environment) do update set last_position = feeds.last_position
   returning last_position`,
);

// Runs as a separate statement after the lock, so that its snapshot includes what the previous lock holder
// wrote.
const PLACE = statement<never>(
  'deliveries.feed_place',
  `with fresh as materialized (
     select event_id, row_number() over (order by created_at, event_id) as place from events
      where part = $1 and account_id = $2 and environment = $3 and position is null
      order by created_at, event_id limit $5),
   placed as (
     update events e set position = $4::bigint + f.place from fresh f
      where e.part = $1 and e.account_id = $2 and e.event_id = f.event_id)
   update feeds set last_position = $4::bigint + (select count(*) from fresh)
    where part = $1 and account_id = $2 and environment = $3`,
);

/** An event in the feed. The event names the job or message. Clients read its state with another request. */
export interface FeedItem {
  id: string;
  type: EventType;
  created_at: string;
  job?: { uid: string; tier: 'human' | 'machine' };
  message?: { chat_id: string; id: string };
  /** The status of the delivery with the same id; absent if the event has no delivery. */
  delivery?: { status: DeliveryStatus };
}

/**
 * Returns up to `limit` events after a position.
 * @returns `last`: the position to continue from; unchanged if there are no events
 */
export async function readFeed(
  database: Database,
  account: AccountRef,
  environment: Environment,
  after: number,
  limit: number,
): Promise<{ items: FeedItem[]; last: number }> {
  const key = [account.part, account.accountId, environment];
  // Assigns positions before it reads the page, so that the page includes the newly placed events.
  if ((await database.query(HAS_UNPLACED, key)).length > 0) {
    await database.transaction(async (transaction) => {
      const [feed] = await transaction.query(LOCK, key);
      await transaction.query(PLACE, [...key, feed!.last_position, PLACED_AT_ONCE]);
    });
  }
  const rows = await database.query(PAGE, [...key, after, limit]);
  return { items: rows.map(present), last: rows.at(-1)?.position ?? after };
}

/**
 * The maximum number of events that get a position in one transaction. It is larger than a page, so that a
 * reader who starts at the beginning does not cause a write for every page.
 */
const PLACED_AT_ONCE = 5_000;

const LAST = statement<{ last_position: number }>(
  'deliveries.feed_last',
  'select last_position from feeds where part = $1 and account_id = $2 and environment = $3',
);

/** Returns the last position of the feed. A cursor with a higher position comes from another feed. */
export async function lastPosition(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
): Promise<number> {
  const [row] = await on.query(LAST, [account.part, account.accountId, environment]);
  return row?.last_position ?? 0;
}

function present(row: FeedRow): FeedItem {
  return {
    id: row.event_id,
    type: row.type,
    created_at: row.created_at.toISOString(),
    ...(row.uid === null ? {} : { job: { uid: row.uid, tier: row.tier! } }),
    ...(row.message_id === null ? {} : { message: { chat_id: row.chat_id!, id: row.message_id } }),
    ...(row.delivery_status === null ? {} : { delivery: { status: row.delivery_status } }),
  };
}

const CURSOR = /^e1-(\d{1,15})$/;

/** Encodes a position as an opaque cursor. */
export function writeCursor(position: number): string {
  return Buffer.from(`e1-${position}`).toString('base64url');
}

export function readCursor(cursor: string): number | undefined {
  const found = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1];
  return found === undefined || writeCursor(Number(found)) !== cursor ? undefined : Number(found);
}
